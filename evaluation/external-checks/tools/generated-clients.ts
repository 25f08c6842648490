import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathPrefix } from '@itsm-api/contract';
import {
  type ExternalCheck,
  inFolder,
  openApiPath,
  type Product,
  type Result,
  run,
  toResult,
  versionReader,
} from '../external-check.ts';

/** The calls of each client. A program prints the name of a call that returns what it should. */
const calls = ['ping', 'create', 'update', 'list', 'error'];
const about = `The generated client. The checks are the compilation, and the calls ${calls.join(', ')}.`;

const prelude = `
  declare const process: { env: Record<string, string> };
  const expect = (name: string, passed: boolean) => console.log(passed ? name : '');
  const fields = { title: 'Generated', description: 'By a client', type: 'INCIDENT', category: 'NETWORK' } as const;
`;

const orvalProgram = `
  import { pingGet, ticketsCreate, ticketsGet, ticketsList, ticketsUpdate } from './generated.js';
  ${prelude}
  const options = { headers: { authorization: \`Bearer \${process.env.ITSM_KEY}\` } };
  const ping = await pingGet();
  expect('ping', ping.status === 200 && ping.data.data.version === 'v1');
  const created = await ticketsCreate(fields, options);
  if (created.status !== 201) throw new Error(JSON.stringify(created));
  const { id } = created.data.data;
  expect('create', created.data.data.category === 'NETWORK');
  const changed = await ticketsUpdate(id, { status: 'RESOLVED', assigneeId: null }, options);
  expect('update', changed.status === 200 && changed.data.data.status === 'RESOLVED');
  const listed = await ticketsList({ status: ['OPEN', 'RESOLVED'], perPage: 5 }, options);
  expect('list', listed.status === 200 && listed.data.data.some((ticket) => ticket.id === id));
  const missing = await ticketsGet(9007199254740991, options);
  expect('error', missing.status === 404 && missing.data.error.code === 'NOT_FOUND');
`;

const openapiFetchProgram = `
  import createClient from 'openapi-fetch';
  import type { paths } from './generated.js';
  ${prelude}
  const { GET, POST, PATCH } = createClient<paths>({
    baseUrl: process.env.BASE_URL!,
    headers: { authorization: \`Bearer \${process.env.ITSM_KEY}\` },
  });
  expect('ping', (await GET('/ping')).data?.data.version === 'v1');
  const created = await POST('/tickets', { body: fields });
  if (created.data === undefined) throw new Error(JSON.stringify(created.error));
  const { id } = created.data.data;
  expect('create', created.data.data.category === 'NETWORK');
  const changed = await PATCH('/tickets/{id}', {
    params: { path: { id } },
    body: { status: 'RESOLVED', assigneeId: null },
  });
  expect('update', changed.data?.data.status === 'RESOLVED');
  const listed = await GET('/tickets', { params: { query: { status: ['OPEN', 'RESOLVED'], perPage: 5 } } });
  expect('list', listed.data?.data.some((ticket) => ticket.id === id) === true);
  const missing = await GET('/tickets/{id}', { params: { path: { id: 9007199254740991 } } });
  expect('error', missing.error?.error.code === 'NOT_FOUND');
`;

const compilerOptions = {
  target: 'es2023',
  lib: ['es2023', 'dom', 'dom.iterable'],
  module: 'nodenext',
  strict: true,
  types: [],
  skipLibCheck: false,
};

/** orval with its client for `fetch`. */
export const orval: ExternalCheck = {
  name: 'orval',
  about,
  version: versionReader('orval'),
  run: (product) =>
    inFolder(async (folder) => {
      const baseUrl = product.origin + pathPrefix;
      const output = { target: join(folder, 'generated.ts'), client: 'fetch', baseUrl };
      const settings = join(folder, 'orval.config.mjs');
      await writeFile(settings, `export default { api: ${JSON.stringify({ input: openApiPath, output })} };`);
      await run('orval', ['--config', settings]);
      return compileAndCall(product, folder, orvalProgram);
    }),
};

/** openapi-fetch with the types of openapi-typescript. */
export const openapiFetch: ExternalCheck = {
  name: 'openapi-fetch',
  about,
  version: versionReader('openapi-fetch'),
  run: (product) =>
    inFolder(async (folder) => {
      await run('openapi-typescript', [openApiPath, '--output', join(folder, 'generated.d.ts')]);
      return compileAndCall(product, folder, openapiFetchProgram);
    }),
};

/** Compiles a generated client and a program that uses it, and runs the program. */
async function compileAndCall({ origin, key }: Product, folder: string, program: string): Promise<Result> {
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }');
  await writeFile(join(folder, 'use.ts'), program);
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions }));
  const errors = await run('tsc', ['--project', folder, '--pretty', 'false']);
  const env = { ITSM_KEY: key, BASE_URL: origin + pathPrefix };
  const passed = (await run(process.execPath, [join(folder, 'use.js')], { env })).split('\n');
  const failed = calls.filter((name) => !passed.includes(name)).map((rule) => ({ rule, message: 'failed' }));
  const compilation = errors === '' ? [] : [{ rule: 'compilation', message: errors }];
  return toResult(1 + calls.length, [...compilation, ...failed]);
}
