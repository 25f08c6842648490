import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { updateCustomFieldDefinition } from '@itsm-api/server/resources/custom-fields/queries.ts';
import { updateForm } from '@itsm-api/server/resources/request-forms/queries.ts';
import { afterAll, expect } from 'vitest';
import { api, it, workspace } from '../support/fixture.ts';

/** Runs the command `types` of `@itsm-api/client`, and compiles a program with the types that it writes. */
const program = fileURLToPath(new URL('../../client/bin/itsm-client.ts', import.meta.url));
const compiler = join(import.meta.dirname, '../../tools/node_modules/.bin/tsc');
let baseUrl: string;
/** A folder in the tests, where programs can import `@itsm-api/client`. */
let folder: string;

it.beforeAll(async () => {
  baseUrl = await api.app.listen({ port: 0, host: '127.0.0.1' });
  folder = await mkdtemp(join(import.meta.dirname, '../node_modules/.field-types-'));
});
afterAll(async () => {
  await rm(folder, { recursive: true });
});

/** Runs a program, and returns its exit code and its output. */
function run(file: string, args: string[], env: Record<string, string> = {}) {
  return promisify(execFile)(file, args, { env: { PATH: process.env.PATH, ...env } })
    .then(({ stdout, stderr }) => ({ code: 0, stdout, stderr }))
    .catch(({ code, stdout, stderr }) => ({ code, stdout, stderr }));
}
const runTypes = (args: string[], env: Record<string, string> = {}) =>
  run(process.execPath, [program, 'types', ...args], { ITSM_KEY: workspace.key, ...env });

it('writes types with which a misspelled field or option does not compile', async () => {
  const options = ['berlin', "it's */ 5 %", 'old'].map((value) => ({ value, label: value }));
  await workspace.createField({
    key: 'site',
    type: 'SELECT',
    label: 'Site',
    description: 'Where?',
    required: true,
    options,
  });
  await workspace.createField({ key: 'rooms', type: 'MULTI_SELECT', label: 'Comment ends */\nhere', options });
  await workspace.createField({ key: 'floor', type: 'NUMBER', label: 'Floor' });
  await workspace.createField({ key: 'legacy', type: 'NUMBER', label: 'Legacy' });
  await workspace.createField({ key: 'constructor', label: 'Maker' });
  const { context } = workspace;
  await updateCustomFieldDefinition(context, { resource: 'TICKET', key: 'site' }, { options: options.slice(0, 2) });
  await updateCustomFieldDefinition(context, { resource: 'TICKET', key: 'legacy' }, { active: false });
  const fields = [{ key: 'rooms' }, { key: 'floor', required: true }];
  await workspace.createForm({ key: 'new-laptop', fields });
  await workspace.createForm({ key: 'old' });
  const fixed = { key: 'site', fixed: 'berlin' };
  await workspace.createForm({ key: 'plain', fields: [fixed] });
  await workspace.createForm({ key: 'inherited', fields: [fixed, { key: 'constructor' }] });
  await updateForm(context, 'old', { active: false });
  const { code, stdout } = await runTypes(['--url', baseUrl]);
  expect(code).toBe(0);
  expect(stdout).toContain(`export interface TicketFields {
  /** Maker */
  constructor?: string | null | undefined | Object['constructor'];
  /** Floor */
  floor?: number | null | undefined;
  /** Legacy (inactive) */
  legacy?: CustomFieldValue | null | undefined;
  /** Comment ends *\\/ here */
  rooms?: readonly Open<"berlin" | "it's */ 5 %" | "old">[] | null | undefined;
  /** Site: Where? */
  site: Open<"berlin" | "it's */ 5 %">;
}`);
  expect(stdout).toContain('export type AssetFields = CustomFields;');
  expect(stdout).toContain(`export interface Forms {
  'inherited': {
    /** Maker */
    constructor?: string | Object['constructor'] | undefined;
  };
  'new-laptop': {
    /** Floor */
    floor: number;
    /** Comment ends *\\/ here */
    rooms?: readonly ("berlin" | "it's */ 5 %" | "old")[] | undefined;
    /** Site */
    site: ("berlin" | "it's */ 5 %");
  };
  'plain': Record<string, never>;
}`);

  await writeFile(join(folder, 'itsm-fields.d.ts'), stdout);
  await writeFile(
    join(folder, 'program.ts'),
    `import { ItsmClient } from '@itsm-api/client';
    import type { AssetFields, Forms, TicketFields } from './itsm-fields.d.ts';
    type Types = { ticket: TicketFields; asset: AssetFields; forms: Forms };
    const client = new ItsmClient<Types>({ baseUrl: '', apiKey: '' });
    await client.tickets.update(1, { customFields: { site: 'berlin', rooms: [], legacy: ['x'] } });
    await client.assets.update(1, { customFields: { anything: 3 } });
    const { customFields } = await client.requestForms.submit('new-laptop', { answers: { floor: 3, site: 'berlin' } });
    customFields.site?.length;
    // @ts-expect-error a form that is inactive
    await client.requestForms.submit('old', { answers: {} });
    // @ts-expect-error an answer that there is not
    await client.requestForms.submit('new-laptop', { answers: { flor: 3, floor: 3, site: 'berlin' } });
    // @ts-expect-error an answer that is an inactive option
    await client.requestForms.submit('new-laptop', { answers: { floor: 3, site: 'old' } });
    // @ts-expect-error a required answer is missing
    await client.requestForms.submit('new-laptop', { answers: { site: 'berlin' } });
    await client.requestForms.submit('plain', { answers: {} });
    await client.requestForms.submit('inherited', { answers: { constructor: 'ACME' } });
    // @ts-expect-error an answer to a form without questions
    await client.requestForms.submit('plain', { answers: { floor: 3 } });
    const anyForm = new ItsmClient({ baseUrl: '', apiKey: '' });
    await anyForm.requestForms.submit('any', { answers: { anything: ['x', 3] } });
    // @ts-expect-error an option that is inactive
    await client.tickets.update(1, { customFields: { site: 'old' } });
    // @ts-expect-error a field that there is not
    await client.tickets.update(1, { customFields: { flor: 3 } });`,
  );
  const compilerOptions = {
    ...{ strict: true, noEmit: true, module: 'nodenext', target: 'es2023', types: [] },
    allowImportingTsExtensions: true,
  };
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions }));
  expect(await run(compiler, ['-p', folder])).toEqual({ code: 0, stdout: '', stderr: '' });
});

it('reports a wrong option, API key or server without a stack trace', async () => {
  expect((await runTypes(['--help'])).stdout).toMatch(/^Usage: npx --no @itsm-api\/client types /);
  const wrong = await runTypes([], { ITSM_URL: baseUrl, ITSM_KEY: 'itsm_wrong' });
  expect(wrong).toEqual({
    code: 1,
    stdout: '',
    stderr: expect.stringMatching(/^The API key is invalid.*\(INVALID_API_KEY, request \w+\)\n$/),
  });
  expect(await runTypes(['--server'])).toMatchObject({ code: 2, stderr: expect.stringContaining('Usage: ') });
  expect(await runTypes(['--url', 'nowhere'])).toMatchObject({ code: 2, stderr: expect.stringContaining('baseUrl') });
});
