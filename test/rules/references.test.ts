import {
  isImportField,
  type ProposalOperation,
  proposalVariants,
  type ReferencePath,
  referencesIn,
  type Scope,
} from '@itsm-api/contract';
import { definedStatements } from '@itsm-api/server/database/client/statements.ts';
import pg from 'pg';
import { describe, expect, type Mock, vi } from 'vitest';
import type { ZodObject, ZodType } from 'zod';
import { type Answer, errorOf } from '../support/api.ts';
import { api, it, workspace as mine } from '../support/fixture.ts';
import { proposedRequests } from '../support/proposals.ts';
import { callOf, keyedEndpoints, type Sample, type SampledEndpoint } from '../support/samples.ts';
import { comment, ticket, unique } from '../support/workspace.ts';

/**
 * Tests the email addresses in requests, for every place at which the contract accepts them
 * (docs/decisions/api-conventions.md).
 */
let importKey: string;
const writeScopes: Scope[] = ['tickets:write', 'assets:write', 'projects:write'];
let active: { id: number; email: string };
let inactive: { id: number; email: string };

it.beforeAll(async () => {
  importKey = await mine.createKey({ isImport: true });
  active = await mine.createUser();
  inactive = await mine.createUser();
  await api.prisma.user.updateMany({
    where: { tenantId: mine.tenantId, id: BigInt(inactive.id) },
    data: { active: false },
  });
});

/** Returns a copy of a value with a reference at the given place. Creates missing arrays with one element. */
function withReference(value: unknown, [field, ...rest]: readonly string[], reference: unknown): unknown {
  if (field === undefined) return reference;
  if (field !== '*') return { ...Object(value), [field]: withReference(Object(value)[field], rest, reference) };
  const [first = comment, ...others] = Array.isArray(value) ? value : [];
  return [withReference(first, rest, reference), ...others];
}

/** Returns an endpoint for each operation that can be proposed. The others stay as they are. */
function withOperations(endpoint: SampledEndpoint): SampledEndpoint[] {
  if (endpoint.title !== 'POST /proposals') return [endpoint];
  return Object.entries(proposedRequests).map(([operation, make]) => ({
    ...endpoint,
    title: `${endpoint.title} of ${operation}`,
    route: { ...endpoint.route, body: proposalVariants[operation as ProposalOperation] } as never,
    sample: async (workspace) => ({ body: { operation, reason: 'Clearer.', ...(await make(workspace)) } }),
  }));
}

const places = keyedEndpoints.flatMap(withOperations).flatMap((endpoint) =>
  referencesIn(endpoint.route)
    // A proposal can't import the author of a comment.
    .filter(({ kind, path }) => kind === 'user' && path.join('.') !== 'body.body.authorId')
    .map(({ path }) => ({ title: endpoint.title, endpoint, path, place: path.join('.') })),
);

async function requestWith(endpoint: SampledEndpoint, [part, ...path]: ReferencePath['path'], reference: unknown) {
  const sample: Sample = await endpoint.sample(mine);
  if (part === 'query') return callOf(endpoint, sample, `${path[0]}=${encodeURIComponent(String(reference))}`);
  return callOf(endpoint, { ...sample, body: withReference(sample.body, path, reference) as Record<string, unknown> });
}

async function send(endpoint: SampledEndpoint, path: ReferencePath['path'], reference: unknown): Promise<Answer> {
  const { body } = endpoint.route as { body?: ZodType };
  const field = path.at(-1) ?? '';
  const isImport = field === 'authorId' || isImportField(((body as ZodObject)?.shape ?? {})[field] as ZodType);
  const request = await requestWith(endpoint, path, reference);
  return api.call({ ...request, key: isImport ? importKey : mine.key });
}

/** Returns a response without the values that differ between two new rows. */
function comparable({ status, body }: Answer) {
  const own = ['id', 'ticketId', 'projectId', 'ticketNumber', 'assetTag', 'formKey', 'etag', 'requestId'];
  own.push('externalId', 'params', 'target');
  const times = ['createdAt', 'updatedAt', 'firstRespondedAt', 'expiresAt'];
  const text = JSON.stringify(body, (name, value) => ([...own, ...times].includes(name) ? undefined : value));
  return { status, body: JSON.parse(text) };
}

describe.each(places)('$title with an email address as $place', ({ endpoint, path }) => {
  it.each(['active', 'inactive'])(
    'returns the same response for the address and the id of an %s user',
    async (kind) => {
      const { id, email } = kind === 'active' ? active : inactive;
      const byId = await send(endpoint, path, id);
      expect(comparable(await send(endpoint, path, email))).toEqual(comparable(byId));
      expect(comparable(await send(endpoint, path, email.toUpperCase()))).toEqual(comparable(byId));
      if (kind === 'active') expect(byId.status).toBe(endpoint.success);
    },
  );

  it('returns 403 without users:read, before it looks up the address', async () => {
    const { scope } = endpoint.route.metadata;
    const scopes = scope === 'any' ? writeScopes : [scope as Scope];
    const key = await mine.createKey({ scopes, isImport: true });
    const answers: Answer[] = [];
    for (const address of [active.email, 'nobody@example.com']) {
      const request = await requestWith(endpoint, path, address);
      const headers = { 'x-request-id': 'the-same-for-both', 'idempotency-key': unique() };
      const { answer, statements } = await record(() => api.call({ ...request, key, headers }));
      expect(statements).toEqual([]);
      answers.push(answer);
    }
    const [known, unknown] = answers as [Answer, Answer];
    expect(known.status).toBe(403);
    expect(errorOf(known)).toMatchObject({ code: 'INSUFFICIENT_SCOPE', message: /users:read/ });
    expect(unknown.text).toBe(known.text);
  });
});

/** The names of the statements that a request runs. A new connection also runs statements without such a name. */
async function record(run: () => Promise<Answer>): Promise<{ answer: Answer; statements: string[] }> {
  const bind = vi.spyOn(pg.Connection.prototype as never, 'bind') as Mock<(message: { statement?: string }) => void>;
  const answer = await run();
  const names = new Set(definedStatements.map(({ name }) => name));
  const statements = bind.mock.calls.flatMap(([{ statement }]) => (names.has(statement) ? (statement as string) : []));
  bind.mockRestore();
  return { answer, statements };
}

describe('the statements of a request', () => {
  const lookUp = definedStatements.find(({ text }) => text.includes('AS requested (name, type, number)'))?.name;

  type Request = readonly [method: string, path: string, body?: unknown];

  /** Fails unless the second request runs only one statement more, which looks up names. */
  async function expectOneMore(first: Request, second: Request) {
    const statementsOf = async (request: Request) => {
      const { answer, statements } = await record(() => mine.call(...request));
      expect(answer.status, answer.text).toBeLessThan(300);
      return statements;
    };
    const [byId, byName] = [await statementsOf(first), await statementsOf(second)];
    expect(byId).not.toContain(lookUp);
    expect(byName.filter((name) => name === lookUp)).toHaveLength(1);
    expect(byName.filter((name) => name !== lookUp).toSorted()).toEqual(byId.toSorted());
  }

  it('include one more if it has email addresses or ticket numbers', async () => {
    const { id: parentId, ticketNumber } = await mine.createTicket();
    const { email: other, id: otherId } = await mine.createUser();
    const fields = (...[assigneeId, watcher, parent]: unknown[]) => {
      return { assigneeId, watcherUserIds: [watcher], parentId: parent };
    };
    const ids = fields(active.id, otherId, parentId);
    const names = fields(active.email, other, ticketNumber);
    const create = (given: typeof ids) => ['POST', '/tickets', { ...ticket, ...given }] as const;
    await expectOneMore(create(ids), create(names));
    const createMany = (...items: (typeof ids)[]) => {
      return ['POST', '/tickets/bulk', { tickets: items.map((item) => ({ ...ticket, ...item })) }] as const;
    };
    await expectOneMore(createMany(ids, ids), createMany(names, { ...names, assigneeId: other }));
    const list = (given: typeof ids) => {
      const filters = `assigneeId=${given.assigneeId}&watcherUserId=${given.watcherUserIds}&parentId=${given.parentId}`;
      return ['GET', `/tickets?${filters}`] as const;
    };
    await expectOneMore(list(ids), list(names));
  });

  it('look up the ticket number in the path together with the names in the body', async () => {
    const { id, ticketNumber } = await mine.createTicket();
    const { id: ticketId, ticketNumber: other } = await mine.createTicket();
    await expectOneMore(
      ['POST', `/tickets/${id}/links`, { ticketId, type: 'RELATES_TO' }],
      ['POST', `/tickets/${ticketNumber}/links`, { ticketId: other, type: 'BLOCKS' }],
    );
  });
});

it('replays the response to a repeated request whose address has changed', async () => {
  const user = await mine.createUser();
  const headers = { 'idempotency-key': unique() };
  const post = (assigneeId: unknown) => mine.call('POST', '/tickets', { ...ticket, assigneeId }, headers);
  const first = await post(user.email);
  expect(first.body.data.assigneeId).toBe(user.id);
  const where = { tenantId: mine.tenantId, id: BigInt(user.id) };
  await api.prisma.user.updateMany({ where, data: { email: `${unique()}@example.com` } });
  const again = await post(user.email);
  expect(again.headers['idempotent-replayed']).toBe('true');
  expect(again.body).toEqual(first.body);
  expect(errorOf(await post(user.id)).code).toBe('IDEMPOTENCY_KEY_REUSED');
});

it('returns 403 without users:read for a bulk request whose only address is in an invalid item', async () => {
  const key = await mine.createKey({ scopes: ['tickets:write'] });
  const tickets = [ticket, { assigneeId: active.email }];
  const answer = await api.call({ method: 'POST', path: '/api/public/v1/tickets/bulk', key, body: { tickets } });
  expect(errorOf(answer).code).toBe('INSUFFICIENT_SCOPE');
  expect((await mine.call('POST', '/tickets/bulk', { tickets })).body.data[1].error.code).toBe('VALIDATION_ERROR');
});

it('does not confuse two unknown ticket numbers of a bulk update', async () => {
  const tickets = ['CHG-8001', 'PRB-8001'].map((id) => ({ id, title: 'Changed' }));
  const { body } = await mine.call('PATCH', '/tickets/bulk', { tickets });
  expect(body.data.map(({ error }: { error: { code: string } }) => error.code)).toEqual(['NOT_FOUND', 'NOT_FOUND']);
});

it.each(['ada', 'ada@', '@example.com', 'a da@example.com', `${'a'.repeat(250)}@example.com`, 'ada@example.com\u0000'])(
  'rejects %j as an email address',
  async (assigneeId) => {
    const error = errorOf(await mine.call('POST', '/tickets', { ...ticket, assigneeId }));
    expect(error).toMatchObject({ code: 'VALIDATION_ERROR', details: [{ path: 'assigneeId' }] });
  },
);
