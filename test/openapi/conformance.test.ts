import { downgrade } from '@itsm-api/contract/openapi';
import { Ajv } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Answer, type Api, startApi } from '../support/api.ts';
import { type Demo, startDemo } from '../support/demo.ts';
import { createWorkspace, type Workspace } from '../support/workspace.ts';
import type { KnownIds } from './arbitraries.ts';
import { type DocumentedOperation, demoOrder, document, operations, specifiedStatuses } from './operations.ts';
import { callOf, mutatedRequests, type Request, validRequests } from './requests.ts';

/**
 * Tests that responses match the OpenAPI document. Sends the example requests of the document, and generated valid and
 * invalid requests. CONFORMANCE_RUNS sets the number of generated requests per operation. To repeat a failed run, set
 * CONFORMANCE_SEED.
 */
const runs = Number(process.env.CONFORMANCE_RUNS ?? 25);
const seed = process.env.CONFORMANCE_SEED;

/** Validators for the OpenAPI 3.1 and 3.0 versions of the document. */
const validators = [
  { version: '3.1', ajv: new Ajv2020({ strict: false, allErrors: true }), components: document.components },
  // OpenAPI 3.0 uses an older JSON Schema draft and `nullable`. The class `Ajv` supports both.
  { version: '3.0', ajv: new Ajv({ strict: false, allErrors: true }), components: downgrade(document).components },
];
for (const { ajv, components } of validators) {
  formats.default(ajv);
  ajv.addSchema({ $id: 'openapi.json', components });
}

/** Returns the differences between a response and the OpenAPI document. */
function findFaults(operation: DocumentedOperation, { status, headers, body }: Answer): string[] {
  const documented = operation.responses[status];
  // Statuses such as 304 and 412 require request headers that the tests don't send.
  const isSpecified = specifiedStatuses.includes(status) || (status === 412 && operation.id === 'proposals_create');
  if (!isSpecified) return [`status ${status} is none of the specification`];
  if (documented === undefined) return [`status ${status} is not documented`];
  const faults: string[] = [];
  for (const { version, ajv } of validators) {
    // The body of a download is not JSON.
    if (documented.schema.$ref === undefined) continue;
    // Passes the schema by name, because ajv would compile a schema object again for every response.
    if (ajv.validate(`openapi.json${documented.schema.$ref}`, body)) continue;
    faults.push(`the body is not as ${version} says: ${ajv.errorsText()}`);
  }
  if (status >= 400 && !documented.examples.includes(body?.error?.code)) faults.push('the code is not documented');
  // If the server rejects a request before authentication, the response has no rate limit headers.
  const promised = [200, 201, 401, 429].includes(status) ? documented.headers : ['x-request-id'];
  for (const name of promised) {
    if (headers[name.toLowerCase()] === undefined) faults.push(`there is no ${name}`);
  }
  return faults;
}

describe('the examples of the document', () => {
  let demo: Demo;

  beforeAll(async () => {
    demo = await startDemo();
  });
  afterAll(() => demo.close());

  it.each(demoOrder)('accepts the documented example request of $id in the demo workspace', async (operation) => {
    const examples = (place: 'path' | 'query') =>
      operation.parameters
        .filter((each) => each.in === place && each.required)
        .map(({ name, schema }): [string, unknown] => [name, exampleOf(schema)]);
    const body = operation.isUpload ? 'The content of a file.' : operation.body?.example;
    const request: Request = { path: Object.fromEntries(examples('path')), query: examples('query'), body };
    await demo.prepare(operation.id);
    const response = await demo.api.call(callOf(operation, request, { full: demo.key }));
    const advice = 'Add a row with the id of the example to prisma/demo-data.ts.';
    expect(String(response.status), `${response.text} ${advice}`).toBe(Object.keys(operation.responses)[0]);
    expect(findFaults(operation, response)).toEqual([]);
  });

  function exampleOf({ examples }: Record<string, unknown>): unknown {
    return (examples as unknown[])[0];
  }
});

describe('the conformance check', () => {
  const operation = operations.find(({ id }) => id === 'ping_get') as DocumentedOperation;
  const good: Answer = {
    status: 200,
    headers: { 'x-request-id': 'x' },
    text: '',
    body: { success: true, data: { status: 'ok', version: 'v1' } },
  };
  const error = { success: false, error: { code: 'NOT_FOUND', message: 'x', docs: 'x', requestId: 'x' } };

  it.each<[Partial<Answer>, string[]]>([
    [{}, []],
    [{ status: 412 }, ['status 412 is none of the specification']],
    [{ status: 404 }, ['status 404 is not documented']],
    [{ headers: {} }, ['there is no x-request-id']],
    [
      { body: { success: true, data: {} } },
      [expect.stringContaining('not as 3.1 says'), expect.stringContaining('not as 3.0 says')],
    ],
    [{ status: 500, body: error }, ['the code is not documented']],
  ])('reports a response that differs from the OpenAPI document by %j', (difference, faults) => {
    expect(findFaults(operation, { ...good, ...difference })).toEqual(faults);
  });
});

describe('a key that has used up its limit', () => {
  it('returns the documented 429 response if a request exceeds a rate limit', async () => {
    const api = await startApi({ env: { RATE_LIMIT_GLOBAL: '1' } });
    const { key } = await createWorkspace(api);
    const operation = operations.find(({ id }) => id === 'tickets_list') as DocumentedOperation;
    const call = callOf(operation, { path: {}, query: [] }, { full: key });
    await api.call(call);
    const refused = await api.call(call);
    expect(refused.status).toBe(429);
    expect(findFaults(operation, refused)).toEqual([]);
    await api.close();
  });
});

describe('requests generated from the document', () => {
  let api: Api;
  const counts: string[] = [];

  beforeAll(async () => {
    api = await startApi();
  });
  afterAll(async () => {
    await api.close();
    console.log(`Requests made from the document, per operation:\n${counts.join('\n')}`);
  });

  it.each(operations)(
    'responds to generated requests for $id as the OpenAPI document describes',
    async (operation) => {
      const workspace = await createWorkspace(api);
      const keys = {
        full: workspace.key,
        scopeless: await workspace.createKey({ scopes: ['kb:read'] }),
        wrong: `${workspace.key.slice(0, -1)}!`,
      };
      const ids = await fill(workspace, operation);
      const count = { valid: 0, succeeded: 0, mutated: 0 };
      const requests = fc.oneof(
        validRequests(operation, ids).map((request) => ({ request, kind: 'valid' as const })),
        mutatedRequests(operation, ids).map((request) => ({ request, kind: 'mutated' as const })),
      );
      const property = fc.asyncProperty(requests, async ({ request, kind }) => {
        const response = await api.call(callOf(operation, request, keys));
        count[kind] += 1;
        if (kind === 'valid' && response.status < 300) count.succeeded += 1;
        expect(findFaults(operation, response), response.text.slice(0, 1000)).toEqual([]);
      });
      await fc.assert(property, { numRuns: runs, ...(seed !== undefined && { seed: Number(seed) }) });
      counts.push(`  ${operation.id}: ${count.valid} valid (${count.succeeded} succeeded), ${count.mutated} mutated`);
      // A long run must check enough successful responses. In a short run, all valid requests can fail by chance.
      if (runs >= 100) expect(count.succeeded).toBeGreaterThan(Math.min(20, count.valid / 10));
    },
    runs * 1000 + 60_000,
  );

  /** Creates rows for an operation. Returns their ids by the name of the field that accepts them. */
  async function fill(workspace: Workspace, { path }: DocumentedOperation): Promise<KnownIds> {
    // Creates many rows, because the requests change some of them to a final status.
    const idsOf = (make: () => Promise<{ id: number }>) => {
      return Promise.all(Array.from({ length: 20 }, async () => (await make()).id));
    };
    const project = await workspace.createProject();
    const team = await workspace.createTeam();
    const category = await workspace.createTicketCategory();
    await workspace.createField({ key: 'site' });
    const form = await workspace.createForm({ fields: [{ key: 'site' }] });
    const [users, tickets] = [await idsOf(() => workspace.createUser()), await idsOf(() => workspace.createTicket())];
    const assets = await idsOf(() => workspace.createAsset());
    const inPath: Record<string, () => Promise<number[]>> = {
      tickets: async () => tickets,
      assets: async () => assets,
      articles: () => idsOf(() => workspace.createArticle()),
      // One after another, because a workspace can have only a few concurrent uploads.
      attachments: async () => {
        const ids: number[] = [];
        for (const ticketId of tickets) ids.push((await workspace.createAttachment(ticketId)).id);
        return ids;
      },
      projects: async () => [project.id],
      users: async () => users,
      teams: async () => [team.id],
      proposals: async () => (path === '/proposals' ? tickets : idsOf(() => workspace.createProposal())),
      approvals: () => idsOf(() => workspace.createApproval(workspace.userId)),
      tasks: () => idsOf(() => workspace.createTask({}, project)),
      webhooks: () => idsOf(() => workspace.createWebhook()),
      deliveries: () => idsOf(() => workspace.createDelivery()),
    };
    const addLinks = async () => {
      const { id } = await workspace.createTicket();
      return { id: [id], linkId: await idsOf(() => workspace.createLink(id)) };
    };
    // JSON Schema can't express which characters a tag can have.
    const tags = ['vip', 'Leased', 'site:berlin', '日本'];
    const named = (await inPath[path.split('/')[1] ?? '']?.()) ?? [];
    return {
      id: named,
      key: [form.key],
      answers: [{}, { site: 'Berlin' }],
      taskId: named,
      requesterId: users,
      teamId: [team.id],
      categoryConfigId: [category.id],
      assigneeId: users,
      approverId: users,
      assignedToId: users,
      watcherUserId: users,
      watcherUserIds: users,
      assetId: assets,
      assetIds: assets,
      ...{ tag: tags, tags, addTags: tags.slice(0, 2), removeTags: tags.slice(2) },
      parentId: tickets,
      ticketId: tickets,
      since: [new Date(Date.now() - 3_600_000).toISOString()],
      ...(path.endsWith('/{linkId}') && (await addLinks())),
      ...(path.endsWith('/approvals') &&
        path.startsWith('/tickets') && { id: await idsOf(() => workspace.createTicket({ type: 'CHANGE' })) }),
      ...(/^\/[\w-]+\/(changes|activity)$/.test(path) && {
        cursor: [(await workspace.call('GET', path)).body.meta.nextCursor],
      }),
    };
  }
});
