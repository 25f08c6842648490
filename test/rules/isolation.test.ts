import { hasBody, isImportField } from '@itsm-api/contract';
import { describe, expect } from 'vitest';
import type { ZodArray, ZodCatch, ZodObject, ZodPipe, ZodType } from 'zod';
import { type Answer, errorOf } from '../support/api.ts';
import { api, it, workspace as mine } from '../support/fixture.ts';
import { callOf, keyedEndpoints, type SampledEndpoint } from '../support/samples.ts';
import { createWorkspace, ticket, unique, type Workspace, webhook } from '../support/workspace.ts';

/**
 * Tests that tenants are isolated. If a path, body field or filter contains an id of another tenant or the email
 * address of its user, the response must be the same as for an unknown id or address. The request must change nothing.
 */
let theirs: Workspace;
let importKey: string;
/** For each resource, the id or key of one row of the other tenant. */
let their: Record<
  | 'user'
  | 'team'
  | 'ticket'
  | 'comment'
  | 'asset'
  | 'project'
  | 'task'
  | 'webhook'
  | 'delivery'
  | 'link'
  | 'article'
  | 'attachment'
  | 'approval'
  | 'proposal'
  | 'category',
  number
> &
  Record<'request-form', string>;
const unknownId = 9007199254740991;
const unknownEmail = 'nobody@example.com';
let theirEmail: string;

/** The resource that each id field refers to. */
const fieldResources: Record<string, keyof typeof their> = {
  assigneeId: 'user',
  approverId: 'user',
  authorId: 'user',
  assignedToId: 'user',
  proposedById: 'user',
  teamId: 'team',
  watcherUserIds: 'user',
  assetIds: 'asset',
  attachmentIds: 'attachment',
  parentId: 'ticket',
  ticketId: 'ticket',
  requesterId: 'user',
  watcherUserId: 'user',
  assetId: 'asset',
  categoryConfigId: 'category',
};

/** An id of a row in the own workspace, for each field that contains a list of ids. */
let own: Record<string, number>;

it.beforeAll(async () => {
  theirs = await createWorkspace(api);
  importKey = await mine.createKey({ isImport: true });
  own = { watcherUserIds: mine.userId, assetIds: (await mine.createAsset()).id };
  const project = await theirs.createProject();
  const delivery = await theirs.createDelivery();
  const team = await theirs.createTeam({ memberIds: [theirs.userId] });
  await theirs.createField();
  // Requests accept a number as the id of a ticket category. With a category, a workspace rejects unknown ids.
  const category = Number((await theirs.createTicketCategory({ id: '4711' })).id);
  await mine.createTicketCategory();
  const ticket = await theirs.createTicket({
    ...{ assigneeId: theirs.userId, teamId: team.id, watcherUserIds: [theirs.userId] },
  });
  their = {
    user: theirs.userId,
    team: team.id,
    ticket: ticket.id,
    comment: (await theirs.createComment(ticket.id)).id,
    asset: (await theirs.createAsset({ assignedToId: theirs.userId })).id,
    project: project.id,
    task: (await theirs.createTask({ assigneeId: theirs.userId }, project)).id,
    webhook: delivery.webhookId,
    delivery: delivery.id,
    link: 0,
    approval: 0,
    proposal: 0,
    category,
    'request-form': (await theirs.createForm({ key: 'theirs' })).key,
    article: (await theirs.createArticle()).id,
    attachment: (await theirs.createAttachment(ticket.id)).id,
  };
  their.link = (await theirs.createLink(their.ticket)).id;
  their.approval = (await theirs.createApproval(theirs.userId)).id;
  await theirs.call('PATCH', `/approvals/${their.approval}`, { decision: 'APPROVED' });
  their.proposal = (await theirs.createProposal()).id;
  await theirs.call('PATCH', `/proposals/${their.proposal}`, { decision: 'ACCEPTED' });
  theirEmail = (await theirs.call('GET', `/users/${their.user}`)).body.data.email;
});

/** The data of the other tenant after the last check, or undefined if a test has changed it since. */
let theirData: unknown[] | undefined;

/** Reads all data of the other tenant from the API to detect changes. */
async function readTheirData(): Promise<unknown[]> {
  const paths = [
    '/tickets',
    '/assets',
    '/projects',
    `/projects/${their.project}/tasks`,
    '/users',
    '/teams',
    '/approvals',
    '/proposals',
    '/custom-fields',
    '/ticket-categories',
    '/request-forms',
    '/request-forms/theirs',
    '/webhooks',
  ];
  paths.push(
    `/tickets/${their.ticket}/comments`,
    `/tickets/${their.ticket}/activity`,
    `/tickets/${their.ticket}/links`,
    `/tickets/${their.ticket}/attachments`,
  );
  paths.push(`/assets/${their.asset}/activity`, '/articles', `/articles/${their.article}`);
  paths.push(`/webhooks/${their.webhook}/deliveries`, `/deliveries/${their.delivery}`);
  const answers = await Promise.all(paths.map((path) => theirs.call('GET', path)));
  const file = await theirs.call('GET', `/attachments/${their.attachment}/content`);
  return [...answers.map(({ status, body }) => ({ status, data: body.data })), file.text];
}

/** Fails if the data of the other tenant isn't `before`. */
async function expectUnchanged(before: unknown[]): Promise<void> {
  theirData = await readTheirData();
  expect(theirData).toEqual(before);
}

/**
 * Sends a request with an id of the other tenant and a request with an unknown id. Fails if the responses differ. For a
 * user, also sends the email address of the other tenant's user and an unknown address. Returns the first response.
 */
async function expectSameResponse(
  foreignId: number | string,
  send: (reference: number | string) => Promise<Answer>,
  { field }: { field?: string } = {},
): Promise<Answer> {
  const before = theirData ?? (await readTheirData());
  const foreign = await send(foreignId);
  const addresses = fieldResources[field ?? ''] === 'user' ? [theirEmail, unknownEmail] : [];
  for (const reference of [unknownId, ...addresses]) {
    const other = await send(reference);
    expect(other.text).toBe(foreign.text);
    expect(comparable(other)).toEqual(comparable(foreign));
  }
  await expectUnchanged(before);
  return foreign;
}

/** Returns a response without the date header and the rate limit headers, which change with every request. */
function comparable({ status, headers }: Answer) {
  const kept = Object.entries(headers).filter(([name]) => !/ratelimit|^date$/.test(name));
  return { status, headers: Object.fromEntries(kept) };
}

function call(
  endpoint: SampledEndpoint,
  sample: Parameters<typeof callOf>[1],
  { query = '', key = mine.key } = {},
): Promise<Answer> {
  const request = callOf(endpoint, sample, query);
  return api.call({ ...request, key, headers: { ...request.headers, 'x-request-id': 'the-same-for-both' } });
}

/** Returns the fields of a request schema that accept an id or a list of ids. */
function idFields(schema: unknown): { name: string; many: boolean; isImport: boolean }[] {
  const { shape = {} } = schema as Partial<ZodObject>;
  return Object.entries(shape).flatMap(([name, field]) => {
    const takes = (value: unknown) => (field as ZodType).safeParse(value).success;
    if (!/Ids?$/.test(name) || (!takes(1) && !takes([1]))) return [];
    if (fieldResources[name] === undefined) throw new Error(`Add ${name} to fieldResources.`);
    return [{ name, many: !takes(1), isImport: isImportField(field as ZodType) }];
  });
}

/** Returns the resource that the id in an endpoint's path refers to. */
function getResource({ route }: SampledEndpoint): keyof typeof their {
  const name = route.path.split('/')[4]?.replace(/ies$/, 'y').replace(/s$/, '');
  return name as keyof typeof their;
}

const withId = keyedEndpoints.filter(({ route }) => route.path.includes('/:'));

describe.each(withId)("$title with the other tenant's id", (endpoint) => {
  it('returns the same 404 error for an id of another tenant and an unknown id', async () => {
    const { params = {}, ...sample } = await endpoint.sample(mine);
    const [name = ''] = Object.keys(params);
    const resource = getResource(endpoint);
    const answer = await expectSameResponse(their[resource], (id) => {
      const value = name === 'key' ? String(id).replace(String(unknownId), 'unknown') : Number(id);
      return call(endpoint, { params: { ...params, [name]: value }, ...sample });
    });
    expect(answer.status).toBe(404);
    expect(errorOf(answer).code).toBe('NOT_FOUND');
  });
});

it('returns the same 404 error for a link of another tenant and an unknown link', async () => {
  const endpoint = withId.find(({ title }) => title.includes(':linkId')) as SampledEndpoint;
  const { id } = await mine.createTicket();
  const answer = await expectSameResponse(their.link, (linkId) =>
    call(endpoint, { params: { id, linkId: Number(linkId) } }),
  );
  expect(answer.status).toBe(404);
});

const patches = withId.filter(({ route }) => route.method === 'PATCH');

describe.each(patches)("$title with the values of the other tenant's row", (endpoint) => {
  it("returns 404 for another tenant's id, even if a PATCH contains the current values", async () => {
    const { params = {}, body = {} } = await endpoint.sample(mine);
    const resource = getResource(endpoint);
    const list = resource === 'task' ? `/projects/${their.project}/tasks` : `/${resource}s`;
    const rows: Record<string, unknown>[] = (await theirs.call('GET', list)).body.data;
    const found = rows.find(({ id }) => id === their[resource]) ?? {};
    // The status of a proposal is the decision about it.
    const row: Record<string, unknown> = { decision: found.status, ...found };
    const same = Object.fromEntries(Object.keys(body).map((field) => [field, row[field]]));
    expect(Object.values(same)).not.toContain(undefined);
    const answer = await expectSameResponse(their[resource], (id) => {
      return call(endpoint, { params: { [Object.keys(params)[0] ?? '']: Number(id) }, body: same });
    });
    expect(answer.status).toBe(404);
  });
});

const bodyFields = keyedEndpoints.flatMap((endpoint) => {
  const fields = hasBody(endpoint.route) ? idFields(endpoint.route.body) : [];
  return fields.map((field) => ({ ...endpoint, endpoint, field }));
});

describe.each(bodyFields)("$title with the other tenant's id as $field.name", ({ endpoint, field }) => {
  it('returns INVALID_REFERENCE for an id of another tenant, as for an unknown id', async () => {
    const sample = await endpoint.sample(mine);
    const foreignId = their[fieldResources[field.name] as keyof typeof their];
    const sendWith = async (reference: number | string) => {
      const { params } = await endpoint.sample(mine);
      const ownId =
        field.name === 'attachmentIds' ? (await mine.createAttachment(Number(params?.id))).id : own[field.name];
      const value = field.many ? [ownId, reference] : reference;
      const key = field.isImport ? importKey : mine.key;
      return call(endpoint, { params, body: { ...sample.body, [field.name]: value } }, { key });
    };
    const answer = await expectSameResponse(foreignId, sendWith, { field: field.name });
    expect(answer.status).toBe(400);
    expect(errorOf(answer).code).toBe('INVALID_REFERENCE');
    expect(errorOf(answer).details?.[0]?.path).toBe(field.many ? `${field.name}.1` : field.name);
  });
});

/** The bulk endpoints for tickets and assets, each with the id fields of its items. */
const bulks = keyedEndpoints.flatMap((endpoint) => {
  const shape = hasBody(endpoint.route) ? ((endpoint.route.body as ZodObject).shape ?? {}) : {};
  const items = ['tickets', 'assets'].find((name) => name in shape);
  if (items === undefined) return [];
  const item = ((shape[items] as ZodPipe).out as ZodArray<ZodCatch>).element.unwrap();
  const names = Object.keys((item as ZodObject).shape);
  return [{ ...endpoint, endpoint, items, names, fields: [...idFields(item), ...rowIds(item)] }];
});

/** Returns the `id` field if the items of a bulk request have one. Otherwise, returns an empty list. */
function rowIds(item: unknown) {
  return 'id' in (item as ZodObject).shape ? [{ name: 'id', many: false, isImport: false }] : [];
}

const bulkFields = bulks.flatMap(({ fields, ...bulk }) => fields.map((field) => ({ ...bulk, field })));

describe.each(bulkFields)(
  "$title with the other tenant's id as $field.name of an item",
  ({ endpoint, items, field }) => {
    it("returns the same error for a bulk item with an unknown or another tenant's id", async () => {
      const sample = async () => {
        const { body = {} } = await endpoint.sample(mine);
        return (body[items] as object[])[0] ?? {};
      };
      const [item, other] = [await sample(), await sample()];
      const answer = await expectSameResponse(
        their[field.name === 'id' ? 'ticket' : (fieldResources[field.name] ?? 'user')],
        async (id) => {
          const value = field.many ? [own[field.name], id] : id;
          const answer = await call(endpoint, { body: { [items]: [{ ...item, [field.name]: value }, other] } });
          const [refused, done] = answer.body.data;
          expect([200, 201]).toContain(done.status);
          // Compares only the rejected item, because the other item succeeds with different values each time.
          return { ...answer, text: JSON.stringify(refused), headers: {}, body: refused };
        },
        { field: field.name },
      );
      const code = field.name === 'id' ? 'NOT_FOUND' : 'INVALID_REFERENCE';
      expect(answer.body).toMatchObject({ status: field.name === 'id' ? 404 : 400, error: { code } });
    });
  },
);

describe("a webhook filter with the other tenant's ids", () => {
  it.each(['POST', 'PATCH'])(
    "delivers nothing if a %s request sets a webhook filter with another tenant's ids",
    async (method) => {
      const fields = { id: 'ticket', requesterId: 'user', assigneeId: 'user', teamId: 'team' } as const;
      for (const [field, resource] of Object.entries(fields)) {
        const known = await mine.createWebhook();
        const ids: number[] = [];
        const answer = await expectSameResponse(their[resource], async (id) => {
          const filter = { [field]: [id] };
          const { status, body } = await (method === 'POST'
            ? mine.call('POST', '/webhooks', { ...webhook, filter })
            : mine.call('PATCH', `/webhooks/${known.id}`, { filter }));
          ids.push(body.data.id);
          expect(body.data.filter).toEqual(filter);
          return { status, text: '', headers: {}, body: undefined };
        });
        expect(answer.status).toBe(method === 'POST' ? 201 : 200);
        await theirs.call('PATCH', `/tickets/${their.ticket}`, { title: `For ${field}` });
        theirData = undefined;
        for (const id of new Set(ids)) {
          expect((await mine.call('GET', `/webhooks/${id}/deliveries`)).body.data).toEqual([]);
          await mine.call('DELETE', `/webhooks/${id}`);
        }
      }
    },
  );
});

describe.each(keyedEndpoints.filter(({ route }) => route.method === 'POST'))(
  "$title with the other tenant's Idempotency-Key",
  (endpoint) => {
    it('treats the Idempotency-Key of another tenant as a new key', async () => {
      const send = async (workspace: Workspace, idempotencyKey: string) => {
        const headers = { 'idempotency-key': idempotencyKey };
        return api.call({ ...callOf(endpoint, await endpoint.sample(workspace)), key: workspace.key, headers });
      };
      const [used, fresh] = [`${unique()} of theirs`, unique()];
      expect((await send(theirs, used)).status).toBe(endpoint.success);
      const before = await readTheirData();
      for (const idempotencyKey of [used, fresh]) {
        const { status, headers } = await send(mine, idempotencyKey);
        expect([status, headers['idempotent-replayed']]).toEqual([endpoint.success, undefined]);
      }
      await expectUnchanged(before);
    });
  },
);

const filters = keyedEndpoints
  .filter(({ route }) => route.method === 'GET')
  .flatMap((endpoint) => idFields(endpoint.route.query).map((field) => ({ ...endpoint, endpoint, field })));

describe.each(filters)("$title filtered by the other tenant's id as $field.name", ({ endpoint, field }) => {
  it("returns an empty page if a filter contains another tenant's id", async () => {
    const sample = await endpoint.sample(mine);
    const foreignId = their[fieldResources[field.name] as keyof typeof their];
    const answer = await expectSameResponse(
      foreignId,
      (reference) => call(endpoint, sample, { query: `${field.name}=${reference}` }),
      { field: field.name },
    );
    expect(answer).toMatchObject({ status: 200, body: { data: [], meta: { totalCount: 0 } } });
  });
});

const lists = keyedEndpoints.filter(({ route }) => 'page' in ((route.query as ZodObject).shape ?? {}));

describe.each(lists)('$title', (endpoint) => {
  it('lists no rows of another tenant', async () => {
    // A new workspace, because other tests have created more than a page of rows.
    const own = await createWorkspace(api);
    const answer = await call(endpoint, await endpoint.sample(own), { query: 'perPage=100', key: own.key });
    const ids = answer.body.data.map(({ id }: { id: number }) => id);
    const resource = endpoint.route.path.split('/').at(-1)?.slice(0, -1);
    expect(ids).not.toContain(their[resource as keyof typeof their]);
    expect(answer.body.meta.totalCount).toBe(ids.length);
  });
});

const feeds = keyedEndpoints.filter(({ route }) => 'cursor' in ((route.query as ZodObject).shape ?? {}));

describe.each(feeds)('$title', (endpoint) => {
  it('lists no rows of another tenant in the change feed', async () => {
    const own = await endpoint.sample(mine);
    const [name, kind] = endpoint.route.path.split('/').slice(4);
    const resource = name?.slice(0, -1);
    const field = kind === 'activity' ? `${resource}Id` : 'id';
    for (const query of ['', 'since=2020-01-01T00:00:00Z']) {
      const { status, body } = await call(endpoint, own, { query });
      expect(status).toBe(200);
      const ids = body.data.map((row: Record<string, number>) => row[field]);
      expect(ids).not.toContain(their[resource as keyof typeof their]);
    }
  });

  it('rejects the cursor of another tenant like an invalid cursor', async () => {
    const { params = {} } = await endpoint.sample(theirs);
    const { path } = callOf(endpoint, { params });
    const given = (await api.call({ method: 'GET', path, key: theirs.key })).body.meta.nextCursor;
    const [foreign, made] = await Promise.all(
      [given, `${given}A`].map((cursor) => call(endpoint, { params }, { query: `cursor=${cursor}` })),
    );
    expect(errorOf(foreign as Answer)).toMatchObject({ code: 'VALIDATION_ERROR', details: [{ path: 'cursor' }] });
    expect(foreign?.text).toBe(made?.text);
  });
});

it('allows two workspaces to use the same externalId, and finds only the own resource', async () => {
  const externalId = unique();
  const { id } = await mine.createTicket();
  const created = async (workspace: Workspace, ticketId: number) => [
    await workspace.createTicket({ externalId }),
    await workspace.createAsset({ externalId }),
    await workspace.createComment(ticketId, { externalId }),
  ];
  await created(theirs, their.ticket);
  const own = await created(mine, id);
  for (const [index, path] of ['/tickets', '/assets', `/tickets/${id}/comments`].entries()) {
    const { data, meta } = (await mine.call('GET', `${path}?externalId=${externalId}`)).body;
    expect(data.map((row: { id: number }) => row.id)).toEqual([own[index]?.id]);
    expect(meta.totalCount).toBe(1);
  }
});

it("rejects the ticket category of another tenant like an unknown one, and doesn't list it", async () => {
  const [owner, other] = [await createWorkspace(api), await createWorkspace(api)];
  await owner.createTicketCategory({ id: 'own' });
  const { id: foreign } = await other.createTicketCategory({ category: 'NETWORK' });
  await other.createTicket({ categoryConfigId: foreign });
  const { id } = await owner.createTicket({ category: 'OTHER', categoryConfigId: 'own' });
  const headers = { 'x-request-id': 'the-same-for-both' };
  for (const send of [
    (categoryConfigId: string) => owner.call('POST', '/tickets', { ...ticket, categoryConfigId }, headers),
    (categoryConfigId: string) => owner.call('PATCH', `/tickets/${id}`, { categoryConfigId }, headers),
    (categoryConfigId: string) => owner.call('GET', `/tickets?categoryConfigId=${categoryConfigId}`),
  ]) {
    const [found, unknown] = [await send(foreign), await send('unknown')];
    expect(found.text).toBe(unknown.text);
  }
  expect((await owner.call('GET', '/ticket-categories')).body.data).toMatchObject([{ id: 'own' }]);
});

it('tests every body field and filter whose name ends with Id, except text', () => {
  const schemas = keyedEndpoints.flatMap(({ route }) => [route.query, ...(hasBody(route) ? [route.body] : [])]);
  const named = schemas.flatMap((schema) => Object.keys((schema as Partial<ZodObject>).shape ?? {}));
  const inItems = bulks.flatMap(({ names }) => names);
  const tested = new Set([...bodyFields, ...bulkFields, ...filters].map(({ field }) => field.name));
  const untested = [...named, ...inItems].filter((name) => /Ids?$/.test(name) && !tested.has(name));
  expect(new Set(untested)).toEqual(new Set(['externalId']));
});
