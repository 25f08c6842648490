import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { getEditableArticle, updateArticle } from '@itsm-api/server/resources/articles/queries.ts';
import { expect } from 'vitest';
import { api } from '../support/fixture.ts';
import { createWorkspace, type Workspace } from '../support/workspace.ts';
import { folder, itWithCommands as it, itsm } from './itsm.ts';

let workspace: Workspace;

it.beforeAll(async () => {
  workspace = await createWorkspace(api);
});

async function write(files: Record<string, string | Uint8Array>): Promise<void> {
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), content);
  }
}

const importFolder = () => itsm(`articles import ${folder} --tenant ${workspace.tenantId}`);
const list = async () => (await workspace.call('GET', '/articles?perPage=100')).body.data;

it('imports Markdown files, and repeats the import with only the changed files', async () => {
  await write({
    'vpn.md': '---\ntitle: Reset the VPN\ncategory: Network\n---\n\nRestart it.\n',
    'printers/floor-2/jam.md': '# Clear a *jam*\r\n\r\nOpen the flap.\r\n',
    'printers/toner.md': 'Order toner.\n\n## Toner\n\nAsk IT.\n',
    'notes.txt': 'No article',
    '.git/README.md': 'Hidden',
  });
  expect(await importFolder()).toMatchObject({ code: 0, stdout: 'Created: 3. Updated: 0. Unchanged: 0.\n' });
  const articles = await list();
  expect(articles).toMatchObject([
    { title: 'Reset the VPN', category: 'Network' },
    { title: 'Toner', category: 'printers' },
    { title: 'Clear a *jam*', category: 'printers' },
  ]);
  const bodies = [];
  for (const { id } of articles) bodies.push((await workspace.call('GET', `/articles/${id}`)).body.data.body);
  expect(bodies).toEqual(['Restart it.', 'Order toner.\n\n## Toner\n\nAsk IT.', 'Open the flap.']);
  expect(await importFolder()).toMatchObject({ stdout: 'Created: 0. Updated: 0. Unchanged: 3.\n' });
  expect(await list()).toEqual(articles);

  // The import doesn't overwrite changes in the developer area, unless the file has changed.
  const [vpn, toner, jam] = articles.map(({ id }: { id: number }) => id);
  await updateArticle(workspace.context, vpn, { body: 'Edited' });
  await updateArticle(workspace.context, toner, { status: 'ARCHIVED' });
  await write({ 'printers/toner.md': '# Toner\n\nOrder it online.\n' });
  await rm(join(folder, 'printers/floor-2/jam.md'));
  const again = await importFolder();
  expect(again.stdout).toBe('Created: 0. Updated: 1. Unchanged: 1.\n');
  expect(again.stderr).toContain('which stay unchanged: printers/floor-2/jam.md. To hide an article, archive it');
  const read = (id: number) => getEditableArticle(workspace.context, id);
  expect(await read(vpn)).toMatchObject({ body: 'Edited', path: 'vpn.md' });
  expect(await read(toner)).toMatchObject({ body: 'Order it online.', status: 'ARCHIVED' });
  expect(await read(jam)).toMatchObject({ status: 'PUBLISHED' });
});

it('imports nothing if a file is invalid, and prints each problem', async () => {
  const before = await list();
  await write({
    'good.md': '# Good\n\nText',
    'bad/no-title.md': 'Only text',
    'bad/empty.md': '# Only a title',
    'bad/yaml.md': '---\ntitle: [\n---\nText',
    'bad/utf8.md': new Uint8Array([0xff, 0xfe]),
    'a,b/comma.md': '# Title\n\nText',
  });
  const { code, stderr } = await importFolder();
  expect(code).toBe(1);
  expect(stderr).toContain('bad/no-title.md: title is required');
  expect(stderr).toContain('bad/empty.md: body must');
  for (const name of ['bad/yaml.md: ', 'bad/utf8.md: ', 'a,b/comma.md: category must not contain a comma']) {
    expect(stderr).toContain(name);
  }
  expect(stderr).toContain('nothing was imported');
  expect(stderr).not.toContain('good.md');
  expect(await list()).toEqual(before);
  expect(await itsm(`articles import ${folder}/nothing --tenant ${workspace.tenantId}`)).toMatchObject({ code: 1 });
});
