import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { createClient } from '@hey-api/openapi-ts';
import { pathPrefix } from '@itsm-api/contract';
import { downgrade, type OpenApi, openApiDocument } from '@itsm-api/contract/openapi';
import { setStrictMode } from '@itsm-api/server/resources/custom-fields/strict-mode.ts';
import openapiTypescript, { astToString } from 'openapi-typescript';
import { generate } from 'orval';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Api, startApi } from '../support/api.ts';
import { createWorkspace } from '../support/workspace.ts';

/**
 * Tests third-party client generators. Generates clients from the OpenAPI document, compiles them, and runs them
 * against a server.
 */
const modules = join(import.meta.dirname, '../node_modules');
const compiler = join(import.meta.dirname, '../../tools/node_modules/.bin/tsc');

let api: Api;
let origin: string;
/** A folder in `node_modules`, where the generated code can import packages. */
let folder: string;

beforeAll(async () => {
  api = await startApi();
  origin = await api.app.listen({ host: '127.0.0.1', port: 0 });
  folder = await mkdtemp(join(modules, '.clients-'));
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }');
});
afterAll(async () => {
  await rm(folder, { recursive: true });
  await api.close();
});

/** Programs that use a generated client to list, filter, create and update resources, and to read errors. */
const uses = {
  'hey-api': `
    import { client } from './generated/client.gen.js';
    import { pingGet, ticketsCreate, ticketsGet, ticketsList, ticketsUpdate, usersList, webhooksDelete } from './generated/sdk.gen.js';
    import type { Ticket } from './generated/types.gen.js';

    client.setConfig({ baseUrl: process.env.BASE_URL!, auth: () => process.env.KEY! });
    console.log((await pingGet({ throwOnError: true })).data.data.version);
    const made = await ticketsCreate({
      body: { title: 'Generated', description: 'By hey-api', type: 'INCIDENT', categoryConfigId: 'c1' },
      throwOnError: true,
    });
    const ticket: Ticket = made.data.data;
    const category: 'SOFTWARE' | 'HARDWARE' | 'NETWORK' | 'ACCESS' | 'EMAIL' | 'OTHER' | null = ticket.category;
    const changed = await ticketsUpdate({ path: { id: ticket.id }, body: { status: 'RESOLVED', assigneeId: null } });
    console.log(category, changed.data?.data.status, changed.response?.headers.get('x-ratelimit-remaining') !== null);
    const page = await ticketsList({ query: { status: ['OPEN', 'RESOLVED'], perPage: 5 } });
    console.log(page.data?.meta.totalCount, (await usersList({ query: { active: [true] } })).data?.data.length);
    const { error } = await ticketsGet({ path: { id: 9007199254740991 } });
    console.log(error?.error.code, (await webhooksDelete({ path: { id: 0 } })).error?.error.details?.[0]?.path);
    // @ts-expect-error a status that there is not
    const wrong = await ticketsUpdate({ path: { id: ticket.id }, body: { status: 'DONE' } });
    console.log(wrong.error?.error.code);
  `,
  'openapi-typescript': `
    import createClient from 'openapi-fetch';
    import type { components, paths } from './generated.js';

    const { GET, POST, PATCH, DELETE } = createClient<paths>({
      baseUrl: process.env.BASE_URL!,
      headers: { 'x-api-key': process.env.KEY! },
    });
    console.log((await GET('/ping')).data?.data.version);
    const made = await POST('/tickets', {
      body: { title: 'Generated', description: 'By openapi-typescript', type: 'INCIDENT', categoryConfigId: 'c1' },
    });
    const ticket: components['schemas']['Ticket'] = made.data!.data;
    const category: components['schemas']['TicketCategory'] | null = ticket.category;
    const params = { path: { id: ticket.id } };
    const changed = await PATCH('/tickets/{id}', { params, body: { status: 'RESOLVED', assigneeId: null } });
    console.log(category, changed.data?.data.status, changed.response.headers.get('x-ratelimit-remaining') !== null);
    const page = await GET('/tickets', { params: { query: { status: ['OPEN', 'RESOLVED'], perPage: 5 } } });
    const users = await GET('/users', { params: { query: { active: [true] } } });
    console.log(page.data?.meta.totalCount, users.data?.data.length);
    const { error } = await GET('/tickets/{id}', { params: { path: { id: 9007199254740991 } } });
    const rejected = await DELETE('/webhooks/{id}', { params: { path: { id: 0 } } });
    console.log(error?.error.code, rejected.error?.error.details?.[0]?.path);
    // @ts-expect-error a status that there is not
    const wrong = await PATCH('/tickets/{id}', { params, body: { status: 'DONE' } });
    console.log(wrong.error?.error.code);
  `,
};

/**
 * The client generators. Each generator creates a client from an OpenAPI document and writes the client to a folder.
 */
const generators: Record<keyof typeof uses | 'orval', (document: OpenApi, into: string) => Promise<unknown>> = {
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
const fieldTypes: Record<keyof typeof generators, string> = {
  'hey-api': `
    import type { NewTicket, Ticket, TicketPatch, TicketsListData } from './generated/types.gen.js';
    type Query = TicketsListData['query'];
  `,
  'openapi-typescript': `
    import type { components, operations } from './generated.js';
    type Query = operations['tickets_list']['parameters']['query'];
    type NewTicket = components['schemas']['NewTicket'];
    type Ticket = components['schemas']['Ticket'];
    type TicketPatch = components['schemas']['TicketPatch'];
  `,
  orval: `
    import type { NewTicket, Ticket, TicketPatch, TicketsListParams as Query } from './generated.js';
  `,
};

const usedFields = `
  const given = { title: 'VPN drops', description: 'Since this morning.', type: 'INCIDENT', categoryConfigId: 'vpn' } as const;
  export const created: NewTicket = { ...given, customFields: { site: 'berlin', floor: 3, since: '2026-11-20' } };
  export const changed: TicketPatch = { customFields: { site: null, rooms: ['a', 'b'], owner: 1, urgent: true } };
  export const readSite = ({ customFields }: Ticket): unknown => customFields.site;
  export const filtered: Query = { 'customFields[site]': ['berlin', 'bonn'], status: ['OPEN'] };
  // @ts-expect-error a filter that there is not
  export const wrongFilter: Query = { 'customFields[sites]': ['berlin'] };
  // @ts-expect-error an option that there is not
  export const wrongValue: Query = { 'customFields[site]': ['berlim'] };
  // @ts-expect-error the required field is missing
  export const incomplete: NewTicket = given;
  // @ts-expect-error an option that there is not
  export const wrongOption: TicketPatch = { customFields: { site: 'berlim' } };
  // @ts-expect-error a field that there is not
  export const wrongField: TicketPatch = { customFields: { sites: 'berlin' } };
  // @ts-expect-error a value of another type
  export const wrongType: TicketPatch = { customFields: { floor: '3' } };
  // @ts-expect-error a category that there is not
  export const wrongCategory: NewTicket = { ...created, categoryConfigId: 'vpm' };
`;

describe("types that are generated from a workspace's document", { timeout: 120_000 }, () => {
  it.each(Object.keys(generators) as (keyof typeof generators)[])(
    'accept only the custom fields and options of the workspace, with %s',
    async (generator) => {
      const { createField, createTicketCategory, context, key } = await createWorkspace(api);
      const toOptions = (values: string[]) => values.map((value) => ({ value, label: value }));
      await createField({
        key: 'site',
        type: 'SELECT',
        options: toOptions(['berlin', 'bonn']),
        required: true,
        filterable: true,
      });
      await createField({ key: 'rooms', type: 'MULTI_SELECT', options: toOptions(['a', 'b']) });
      for (const [name, type] of [
        ['floor', 'NUMBER'],
        ['since', 'DATE'],
        ['owner', 'USER'],
        ['urgent', 'BOOLEAN'],
      ] as const) {
        await createField({ key: name, type });
      }
      await createTicketCategory({ id: 'vpn' });
      await setStrictMode(context, true);
      const { body } = await api.call({ method: 'GET', path: `${pathPrefix}/openapi.json`, key });
      const own = await mkdtemp(join(folder, 'fields-'));
      await generators[generator](body, own);
      await writeFile(join(own, 'use.ts'), fieldTypes[generator] + usedFields);
      await writeFile(join(own, 'tsconfig.json'), JSON.stringify({ compilerOptions }));
      expect(await run(compiler, ['-p', own])).toBe('');
    },
  );
});

describe.each(Object.keys(uses) as (keyof typeof uses)[])(
  'a client generated by %s',
  { timeout: 120_000 },
  (generator) => {
    it.each([
      ['3.1', () => openApiDocument()],
      ['3.0', () => downgrade(openApiDocument())],
    ])('generates a client from OpenAPI %s that compiles and calls the API', async (_, make) => {
      const own = await mkdtemp(join(folder, 'client-'));
      await generators[generator](make(), own);
      await writeFile(join(own, 'use.ts'), uses[generator]);
      await writeFile(join(own, 'tsconfig.json'), JSON.stringify({ compilerOptions }));
      expect(await run(compiler, ['-p', own])).toBe('');

      const { key } = await createWorkspace(api);
      const printed = await run(process.execPath, [join(own, 'use.js')], {
        BASE_URL: `${origin}/api/public/v1`,
        KEY: key,
      });
      expect(printed.split('\n')).toEqual(['v1', 'null RESOLVED true', '1 1', 'NOT_FOUND id', 'VALIDATION_ERROR', '']);
    });
  },
);

const compilerOptions = {
  target: 'es2023',
  lib: ['es2023', 'dom', 'dom.iterable'],
  module: 'nodenext',
  strict: true,
  types: ['node'],
  skipLibCheck: false,
};

/** Runs a program and returns its output. */
async function run(command: string, args: string[], env: Record<string, string> = {}): Promise<string> {
  const child = spawn(command, args, {
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  return output + errors;
}
