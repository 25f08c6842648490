import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { countTokens } from 'gpt-tokenizer';
import { afterAll, expect } from 'vitest';
import { api, it, workspace } from '../support/fixture.ts';
import { createWorkspace } from '../support/workspace.ts';

/* Tests the MCP resources, which contain the documentation. */
let client: Client;

it.beforeAll(async () => {
  const origin = await api.app.listen({ host: '127.0.0.1', port: 0 });
  client = new Client({ name: 'reader', version: '1.0.0' }, { versionNegotiation: { mode: 'auto' } });
  const requestInit = { headers: { authorization: `Bearer ${workspace.key}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(`${origin}/mcp`), { requestInit }));
});
afterAll(async () => {
  await client.close();
});

async function read(uri: string): Promise<string> {
  const { contents } = await client.readResource({ uri });
  expect(contents).toHaveLength(1);
  return (contents[0] as { text: string }).text;
}

it('serves MCP resources with the same text as the pages of the site', async () => {
  const listed = (await client.listResources()).resources;
  const resources = listed.filter(({ uri }) => uri !== 'itsm://custom-fields');
  for (const { uri } of resources) {
    const text = await read(uri);
    expect(text, uri).toBe((await api.call({ method: 'GET', path: new URL(uri).pathname })).text);
    expect(countTokens(text), uri).toBeLessThan(20_000);
  }
  // Each path in llms.txt is also the path of an MCP resource.
  const guides = (await read('itsm:///llms.txt')).match(/\/docs\/guides\/[\w-]+\.md/g) ?? [];
  expect(guides.length).toBeGreaterThan(10);
  const named = guides.map((path) => new URL(path, 'itsm:///llms.txt').href);
  expect(resources.map(({ uri }) => uri)).toEqual(['itsm:///llms.txt', ...named]);
});

it('serves the custom fields of the workspace as an MCP resource', async () => {
  const other = await createWorkspace(api);
  await other.createField();
  expect(await read('itsm://custom-fields')).toBe('No custom fields are defined. They can have any names and values.');
  const options = Array.from({ length: 200 }, (_, index) => ({ value: `${index}`, label: `Room ${index}` }));
  await workspace.createField({ key: 'floor', type: 'NUMBER', label: 'Floor', required: true });
  for (const key of ['room1', 'room2', 'room3']) {
    await workspace.createField({
      resource: 'ASSET',
      key,
      type: 'SELECT',
      label: 'Room',
      description: 'Where?',
      options,
    });
  }
  const text = await read('itsm://custom-fields');
  const lines = text.split('\n').map((line) => JSON.parse(line));
  expect(lines).toHaveLength(4);
  expect(lines[0]).toMatchObject({
    resource: 'ASSET',
    key: 'room1',
    type: 'SELECT',
    label: 'Room',
    description: 'Where?',
  });
  expect([lines[0].options['0'], Object.keys(lines[0].options).length, lines[0].omittedOptions]).toEqual([
    'Room 0',
    166,
    34,
  ]);
  expect(lines[3]).toEqual({ resource: 'TICKET', key: 'floor', type: 'NUMBER', label: 'Floor', required: true });
  expect(countTokens(text)).toBeLessThan(20_000);
  await workspace.createField({ key: 'zone', label: 'Zone\u2028{}\n{}' });
  expect((await read('itsm://custom-fields')).split(/[\n\u2028\u2029]/)).toHaveLength(5);
});

it('returns an error for an unknown MCP resource', async () => {
  await expect(read('itsm:///../../package.json')).rejects.toThrow('Unknown resource. Call resources/list');
});
