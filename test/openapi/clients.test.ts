import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathPrefix } from '@itsm-api/contract';
import { downgrade, openApiDocument } from '@itsm-api/contract/openapi';
import { setStrictMode } from '@itsm-api/server/resources/custom-fields/strict-mode.ts';
import { afterAll, describe, expect } from 'vitest';
import { api, itWithApi as it } from '../support/fixture.ts';
import { createWorkspace } from '../support/workspace.ts';
import { compile, createProjectFolder, fieldTypes, type Generator, generators, run } from './generators.ts';

/**
 * Tests third-party client generators. Generates clients from the OpenAPI document, compiles them, and runs them
 * against a server.
 */
let origin: string;
let folder: string;

it.beforeAll(async () => {
  origin = await api.app.listen({ host: '127.0.0.1', port: 0 });
  folder = await createProjectFolder();
});
afterAll(async () => {
  await rm(folder, { recursive: true });
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
  export const submitted: Submission = { answers: { site: 'berlin', floor: 3, rooms: ['a'] }, title: 'Mine' };
  export const short: Submission = { answers: { site: 'bonn' } };
  // @ts-expect-error an answer that there is not
  export const wrongAnswer: Submission = { answers: { site: 'berlin', flor: 3 } };
  // @ts-expect-error an option that there is not
  export const wrongOptionOfAnswer: Submission = { answers: { site: 'berlim' } };
  // @ts-expect-error an option of a list that there is not
  export const wrongItem: Submission = { answers: { site: 'berlin', rooms: ['c'] } };
  // @ts-expect-error an answer of another type
  export const wrongTypeOfAnswer: Submission = { answers: { site: 'berlin', floor: '3' } };
  // @ts-expect-error a required answer is missing
  export const incompleteAnswers: Submission = { answers: { floor: 3 } };
  // @ts-expect-error a field that there is not
  export const wrongFieldOfForm: Submission = { answers: { site: 'berlin' }, titel: 'Mine' };
  // @ts-expect-error a category that there is not
  export const wrongCategory: NewTicket = { ...created, categoryConfigId: 'vpm' };
  const reason = 'The router was replaced.';
  export const proposed: NewProposal = { operation: 'tickets_update', params: { id: 38 }, body: changed, reason };
  export const proposedSubmission: NewProposal = {
    ...{ operation: 'requestForms_submit', params: { key: 'new-laptop' }, body: { answers: {} }, reason },
  };
  export const proposedTicket: NewProposal = { operation: 'tickets_create', body: created, reason };
  // @ts-expect-error the body of another operation
  export const wrongBody: NewProposal = { operation: 'tickets_update', params: { id: 38 }, body: { name: 'A' }, reason };
  // @ts-expect-error an option that there is not
  export const wrongProposal: NewProposal = { operation: 'tickets_create', body: { ...given, customFields: { site: 'berlim' } }, reason };
  // @ts-expect-error an operation that cannot be proposed
  export const wrongOperation: NewProposal = { operation: 'links_delete', params: { id: 38 }, body: {}, reason };
`;

describe("types that are generated from a workspace's document", () => {
  it.each(Object.keys(generators) as Generator[])(
    'accept only the custom fields and options of the workspace, with %s',
    async (generator) => {
      const { createField, createForm, createTicketCategory, context, key } = await createWorkspace(api);
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
      const fields = [{ key: 'floor', default: 2, help: 'From 0' }, { key: 'rooms' }];
      await createForm({ key: 'new-laptop', fields });
      await createTicketCategory({ id: 'vpn' });
      await setStrictMode(context, true);
      const { body } = await api.call({ method: 'GET', path: `${pathPrefix}/openapi.json`, key });
      const own = await mkdtemp(join(folder, 'fields-'));
      await generators[generator](body, own);
      await writeFile(join(own, 'use.ts'), fieldTypes[generator] + usedFields);
      expect(await compile(own)).toBe('');
    },
  );
});

describe.each(Object.keys(uses) as (keyof typeof uses)[])('a client generated by %s', (generator) => {
  it.each([
    ['3.1', () => openApiDocument()],
    ['3.0', () => downgrade(openApiDocument())],
  ])('generates a client from OpenAPI %s that compiles and calls the API', async (_, make) => {
    const own = await mkdtemp(join(folder, 'client-'));
    await generators[generator](make(), own);
    await writeFile(join(own, 'use.ts'), uses[generator]);
    expect(await compile(own)).toBe('');

    const { key } = await createWorkspace(api);
    const printed = await run(process.execPath, [join(own, 'use.js')], {
      BASE_URL: `${origin}/api/public/v1`,
      KEY: key,
    });
    expect(printed.split('\n')).toEqual(['v1', 'null RESOLVED true', '1 1', 'NOT_FOUND id', 'VALIDATION_ERROR', '']);
  });
});
