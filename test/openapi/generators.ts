import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { createClient } from '@hey-api/openapi-ts';
import type { OpenApi } from '@itsm-api/contract/openapi';
import openapiTypescript, { astToString } from 'openapi-typescript';
import { generate } from 'orval';

export type Generator = 'hey-api' | 'openapi-typescript' | 'orval';

/**
 * The client generators. Each generator creates a client from an OpenAPI document and writes the client to a folder.
 */
export const generators: Record<Generator, (document: OpenApi, into: string) => Promise<unknown>> = {
  'hey-api': (document, into) =>
    createClient({
      input: document as unknown as Record<string, unknown>,
      output: { path: join(into, 'generated'), module: { extension: '.js' } },
      plugins: ['@hey-api/client-fetch', '@hey-api/sdk', '@hey-api/typescript'],
      logs: { level: 'silent', file: false },
    }),
  'openapi-typescript': async (document, into) => {
    const generated = await openapiTypescript(JSON.stringify(document));
    await writeFile(join(into, 'generated.d.ts'), astToString(generated));
  },
  orval: async (document, into) => {
    await writeFile(join(into, 'document.json'), JSON.stringify(document));
    await generate({ input: 'document.json', output: { target: 'generated.ts', client: 'fetch' } }, into, {
      logLevel: 'silent',
    } as never);
  },
};

/** The imports of a program that uses the types of a workspace's custom fields. */
export const fieldTypes: Record<Generator, string> = {
  'hey-api': `
    import type { NewProposal, NewTicket, Ticket, TicketPatch, TicketsListData } from './generated/types.gen.js';
    import type { Asset, AssetPatch, AssetsListData, NewAsset } from './generated/types.gen.js';
    import type { RequestFormsSubmitNewLaptopData } from './generated/types.gen.js';
    type Submission = RequestFormsSubmitNewLaptopData['body'];
    type Query = TicketsListData['query'];
    type AssetQuery = AssetsListData['query'];
  `,
  'openapi-typescript': `
    import type { components, operations } from './generated.js';
    type Query = operations['tickets_list']['parameters']['query'];
    type NewProposal = components['schemas']['NewProposal'];
    type NewTicket = components['schemas']['NewTicket'];
    type Ticket = components['schemas']['Ticket'];
    type TicketPatch = components['schemas']['TicketPatch'];
    type AssetQuery = operations['assets_list']['parameters']['query'];
    type NewAsset = components['schemas']['NewAsset'];
    type Asset = components['schemas']['Asset'];
    type AssetPatch = components['schemas']['AssetPatch'];
    type Submission = operations['requestForms_submit_new_laptop']['requestBody']['content']['application/json'];
  `,
  orval: `
    import type { NewProposal, NewTicket, Ticket, TicketPatch, TicketsListParams as Query } from './generated.js';
    import type { Asset, AssetPatch, AssetsListParams as AssetQuery, NewAsset } from './generated.js';
    import type { requestFormsSubmitNewLaptop } from './generated.js';
    type Submission = Parameters<typeof requestFormsSubmitNewLaptop>[0];
  `,
};

/** Creates a folder in `node_modules`, where the generated code can import packages. */
export async function createProjectFolder(): Promise<string> {
  const folder = await mkdtemp(join(import.meta.dirname, '../node_modules/.clients-'));
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }');
  return folder;
}

const compiler = join(import.meta.dirname, '../../tools/node_modules/.bin/tsc');
const compilerOptions = {
  target: 'es2023',
  lib: ['es2023', 'dom', 'dom.iterable'],
  module: 'nodenext',
  strict: true,
  types: ['node'],
  skipLibCheck: false,
};

/** Compiles the programs in a folder and its subfolders. Resolves to the errors of the compiler. */
export async function compile(folder: string, options: object = {}): Promise<string> {
  await writeFile(
    join(folder, 'tsconfig.json'),
    JSON.stringify({ compilerOptions: { ...compilerOptions, ...options } }),
  );
  return run(compiler, ['-p', folder]);
}

/** Runs a program and returns its output. */
export async function run(command: string, args: string[], env: Record<string, string> = {}): Promise<string> {
  const child = spawn(command, args, {
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  return output + errors;
}
