import { EventType, type Proposal, proposable, type Scope, type Ticket } from '@itsm-api/contract';
import { contract } from '@itsm-api/contract/ts-rest';
import { getKey, narrowKey, revokeKey, rotateKey } from '@itsm-api/server/auth/api-keys/api-keys.ts';
import { listKeys } from '@itsm-api/server/auth/api-keys/key-list.ts';
import { updateCustomFieldDefinition } from '@itsm-api/server/resources/custom-fields/queries.ts';
import { redact } from '@itsm-api/server/resources/privacy/redaction.ts';
import { pruneProposals } from '@itsm-api/server/resources/proposals/proposal-retention.ts';
import { createUser, deactivateUser } from '@itsm-api/server/resources/users/user-management.ts';
import pg from 'pg';
import { afterAll, describe, expect, vi } from 'vitest';
import { errorOf } from '../support/api.ts';
import { query } from '../support/database.ts';
import { api, it, workspace } from '../support/fixture.ts';
import { proposedRequests } from '../support/proposals.ts';
import { comment, createWorkspace, ticket, unique } from '../support/workspace.ts';

const prefix = '/api/public/v1';
const reason = 'The user asked for it.';

/** Sends a request with another key of the workspace. */
function callWith(key: string, in_ = workspace) {
  return (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
    api.call({ method, path: prefix + path, key, body, headers: { ...headers, 'x-workspace': String(in_.tenantId) } });
}

const read = async (id: number): Promise<Ticket> => (await workspace.call('GET', `/tickets/${id}`)).body.data;
const show = async (id: number): Promise<Proposal> => (await workspace.call('GET', `/proposals/${id}`)).body.data;
const decide = (id: number, decision: string, note?: string) =>
  workspace.call('PATCH', `/proposals/${id}`, { decision, ...(note && { note }) });
const change = (id: number | string, body: object, more: object = {}) => ({
  ...{ operation: 'tickets_update', params: { id }, body, reason },
  ...more,
});

it('marks the proposable endpoints with their operationId', () => {
  const marked = Object.entries(contract).flatMap(([resource, routes]) =>
    Object.entries(routes).flatMap(([name, { metadata }]) => {
      return 'proposable' in metadata ? [[`${resource}_${name}`, metadata.proposable]] : [];
    }),
  );
  expect(marked.map(([operation]) => operation).sort()).toEqual(Object.keys(proposable).sort());
  for (const [operation, mark] of marked) expect(mark).toBe(operation);
});

let client: pg.Client;
let selectAll: string;
it.beforeAll(async () => {
  client = new pg.Client({ connectionString: api.databaseUrl });
  await client.connect();
  await client.query('LISTEN api_keys');
  const { rows } = await client.query(
    `SELECT table_name AS name FROM information_schema.columns
     WHERE table_schema = 'public' AND column_name = 'tenant_id' AND table_name !~ '^(proposals$|request_log|usage_)'
     ORDER BY 1`,
  );
  const tables = rows.map(({ name }) => {
    // The server records the last use of a key once per minute.
    const row = `(to_jsonb(t) - 'last_used_at' - 'last_used_address')::text`;
    return `SELECT '${name}' AS name, md5(coalesce(string_agg(${row}, ',' ORDER BY ${row}), '')) AS rows
      FROM "${name}" t WHERE tenant_id = ${workspace.tenantId}`;
  });
  selectAll = [...tables, `SELECT 'jobs', count(*)::text FROM pgboss.job`].join(' UNION ALL ');
});
afterAll(() => client.end());

/** Waits until a number of statements wait for locks. */
async function untilWaiting(count: number): Promise<void> {
  await expect
    .poll(
      async () => {
        const [found] = await query<{ count: number }>(
          api.databaseUrl,
          `SELECT count(*)::int FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
        );
        return found?.count;
      },
      { interval: 20 },
    )
    .toBe(count);
}

/** Starts each step while the lock for proposals is held, after the previous step waits for it. Then releases the lock. */
async function whileLocked(tenantId: number | bigint, ...steps: (() => Promise<unknown>[])[]): Promise<unknown[]> {
  await client.query('BEGIN');
  await client.query(`SELECT pg_advisory_xact_lock(hashtextextended('proposals:' || $1::bigint, 13))`, [tenantId]);
  const started: Promise<unknown>[] = [];
  try {
    for (const step of steps) {
      started.push(...step());
      await untilWaiting(started.length);
    }
  } finally {
    await client.query('COMMIT');
  }
  return Promise.all(started);
}

/** Reads everything that a request could change: the rows of all tables, jobs and files. */
async function readAll(): Promise<Record<string, unknown>> {
  const { rows } = await client.query<{ name: string; rows: string }>(selectAll);
  const files: string[] = [];
  for await (const { key } of api.services.storage.list()) {
    if (key.startsWith(`${workspace.tenantId}/`)) files.push(key);
  }
  return { ...Object.fromEntries(rows.map(({ name, rows }) => [name, rows])), files: files.sort() };
}

describe.each(Object.entries(proposedRequests))('a proposal of %s', (operation, make) => {
  it('changes nothing before a person accepts it, and then what its preview shows', async () => {
    const body = { operation, reason, ...(await make(workspace)) };
    const { id: webhookId } = await workspace.createWebhook({ events: EventType.options });
    const notifications: unknown[] = [];
    client.removeAllListeners('notification').on('notification', ({ payload = '' }) => {
      if (!payload.startsWith('heartbeat')) notifications.push(payload);
    });
    const wake = vi.spyOn(api.services, 'wakeWorkers');
    const before = await readAll();
    const created = await workspace.call('POST', '/proposals', body);
    expect(created.status, created.text).toBe(201);
    expect(await readAll()).toEqual(before);
    expect(notifications).toEqual([]);
    expect(wake).not.toHaveBeenCalled();

    const { id, preview } = created.body.data as Proposal;
    expect(preview.flatMap(({ changes }) => Object.keys(changes))).not.toEqual([]);
    const { data } = (await decide(id, 'ACCEPTED')).body;
    expect(data).toMatchObject({ status: 'ACCEPTED', result: null, decidedById: workspace.userId });
    const after = await readAll();
    expect(after).not.toEqual(before);
    expect(wake.mock.calls.length > 0).toBe(!['tasks_create', 'assets_update'].includes(operation));
    expect(data.createdId === null).toBe(/update|upsert/.test(operation));
    // Accepting it again writes nothing.
    expect((await decide(id, 'ACCEPTED')).body.data).toEqual(data);
    expect(await readAll()).toEqual(after);
    wake.mockRestore();
    await workspace.call('DELETE', `/webhooks/${webhookId}`);
  });
});

describe('POST /proposals', () => {
  it('stores ids instead of addresses and numbers, and shows each changed field', async () => {
    const { id, ticketNumber } = await workspace.createTicket();
    const { email, id: userId } = await workspace.createUser();
    const response = await workspace.call(
      'POST',
      '/proposals',
      change(ticketNumber, { assigneeId: email, title: 'New' }),
    );
    expect(response.status).toBe(201);
    expect(response.body.data).toEqual({
      ...{ id: expect.any(Number), operation: 'tickets_update', params: { id }, reason, ifMatch: null },
      ...{ body: { assigneeId: userId, title: 'New' }, status: 'PENDING', target: `TICKET:${id}` },
      preview: [
        {
          ...{ target: `TICKET:${id}`, status: 'OPEN' },
          changes: { title: { from: ticket.title, to: 'New' }, assigneeId: { from: null, to: userId } },
        },
      ],
      ...{ result: null, createdId: null, note: null, decidedById: null, endedAt: null },
      ...{ proposedById: workspace.userId, keyId: Number(workspace.context.keyId) },
      ...{ createdAt: expect.any(String), updatedAt: expect.any(String), etag: expect.any(String) },
      expiresAt: expect.any(String),
    });
    expect(await show(response.body.data.id)).toEqual(response.body.data);
    expect(Date.parse(response.body.data.expiresAt) - Date.parse(response.body.data.createdAt)).toBeCloseTo(
      7 * 86_400_000,
      -4,
    );
  });

  it.each([
    [{ title: '' }, 'VALIDATION_ERROR', 'body.title'],
    [{ title: 'New', colour: 'red' }, 'VALIDATION_ERROR', 'body.colour'],
    [{ assigneeId: 999_999 }, 'INVALID_REFERENCE', 'body.assigneeId'],
    [{ status: 'CLOSED' }, 'INVALID_TRANSITION', 'body.status'],
  ])('returns the error of the request for the body %o', async (body, code, path) => {
    const { id } = await workspace.createTicket({ priority: 'LOW' });
    await workspace.call('PATCH', `/tickets/${id}`, { status: 'CANCELLED' });
    const response = await workspace.call('POST', '/proposals', change(id, body));
    expect(errorOf(response)).toMatchObject({ code, details: [{ path }] });
    expect(errorOf(response).message.startsWith(path)).toBe(true);
  });

  it('rejects unknown operations, parameters and targets, and invalid items of an upsert', async () => {
    const send = async (body: object) => errorOf(await workspace.call('POST', '/proposals', { reason, ...body }));
    const { id } = await workspace.createTicket();
    expect(await send({ operation: 'webhooks_create', body: {} })).toMatchObject({
      details: [{ path: 'operation', message: expect.stringContaining('tickets_create') }],
    });
    expect(await send({ operation: 'tickets_update', params: { id: 'x' }, body: { title: 'A' } })).toMatchObject({
      details: [{ path: 'params.id' }],
    });
    expect(
      await send({ operation: 'tickets_update', params: { id: 999_999_999 }, body: { title: 'A' } }),
    ).toMatchObject({ code: 'NOT_FOUND' });
    expect(await send({ ...change(id, { title: 'A' }), ifMatch: '"0-abc"' })).toMatchObject({
      code: 'PRECONDITION_FAILED',
    });
    const item = { assetTag: unique(), name: 'Laptop', type: 'LAPTOP' };
    expect(
      await send({ operation: 'assets_upsertMany', body: { assets: [item, { assetTag: unique() }] } }),
    ).toMatchObject({
      code: 'VALIDATION_ERROR',
      details: [{ path: 'body.assets.1.name' }, { path: 'body.assets.1.type' }],
    });
  });

  it('returns the stored proposal for a repeated Idempotency-Key, without running the request again', async () => {
    const { id } = await workspace.createTicket();
    const headers = { 'idempotency-key': unique() };
    const body = change(id, { title: 'New' });
    const first = await workspace.call('POST', '/proposals', body, headers);
    // The request would fail now.
    await workspace.call('PATCH', `/tickets/${id}`, { status: 'CANCELLED' });
    const again = await workspace.call('POST', '/proposals', body, headers);
    expect(again.headers['idempotent-replayed']).toBe('true');
    expect(again.body).toEqual(first.body);
  });

  it('requires the scope of the operation, and users:read for email addresses', async () => {
    const { id } = await workspace.createTicket();
    const { email } = await workspace.createUser();
    const reader = callWith(await workspace.createKey({ scopes: ['tickets:read'] }));
    const writer = callWith(await workspace.createKey({ scopes: ['tickets:write'] }));
    for (const [call, body, scope] of [
      [reader, change(id, { title: 'New' }), 'tickets:write'],
      [writer, change(id, { assigneeId: email }), 'users:read'],
      [
        writer,
        { operation: 'assets_create', body: { name: 'A', assetTag: unique(), type: 'OTHER' }, reason },
        'assets:write',
      ],
    ] as const) {
      expect(errorOf(await call('POST', '/proposals', body))).toMatchObject({
        code: 'INSUFFICIENT_SCOPE',
        message: expect.stringContaining(scope),
      });
    }
  });

  it('skips no ticket number, also if the request fails', async () => {
    const first = await workspace.createTicket({ type: 'PROBLEM' });
    const body = { ...ticket, type: 'PROBLEM' };
    await workspace.createProposal({ operation: 'tickets_create', body });
    await workspace.call('POST', '/proposals', {
      ...{ operation: 'tickets_create', reason },
      body: { ...body, assigneeId: 999_999 },
    });
    const second = await workspace.createTicket({ type: 'PROBLEM' });
    const numberOf = ({ ticketNumber }: Ticket) => Number(ticketNumber.split('-')[1]);
    expect(numberOf(second)).toBe(numberOf(first) + 1);
  });

  it('limits the size of a proposal, so that a page of proposals stays small', async () => {
    const assets = [0, 1, 2].map(() => ({ assetTag: unique(), name: 'A', type: 'OTHER', notes: 'x'.repeat(60_000) }));
    const response = await workspace.call('POST', '/proposals', {
      ...{ operation: 'assets_upsertMany', body: { assets }, reason },
    });
    expect(errorOf(response)).toMatchObject({ code: 'VALIDATION_ERROR', details: [{ path: 'body' }] });
    const { id } = await workspace.createTicket({ description: 'x'.repeat(65_000) });
    const { status } = await workspace.call('POST', '/proposals', change(id, { description: 'y'.repeat(65_000) }));
    expect(status).toBe(201);
  });

  it('limits the pending proposals of a key and of a workspace', async () => {
    const own = await createWorkspace(api);
    const { id } = await own.createProposal();
    const fill = (count: number, keyId: number | bigint) =>
      query(
        api.databaseUrl,
        `INSERT INTO proposals (tenant_id, operation, params, reason, preview, proposed_by_id, key_id, expires_at, updated_at)
         SELECT tenant_id, operation, params, reason, preview, proposed_by_id, $2, expires_at, now() FROM proposals
         CROSS JOIN generate_series(1, $3) WHERE tenant_id = $1 AND id = $4`,
        [own.tenantId, keyId, count, id],
      );
    await fill(99, own.context.keyId);
    const body = change((await own.createTicket()).id, { title: 'New' });
    expect(errorOf(await own.call('POST', '/proposals', body)).message).toContain('API key has 100');
    const other = callWith(await own.createKey(), own);
    expect((await other('POST', '/proposals', body)).status).toBe(201);
    const [key] = (await listKeys(own.context, { page: 1, perPage: 1 })).data;
    await fill(399, key?.id ?? 0);
    expect(errorOf(await other('POST', '/proposals', body)).message).toContain('workspace has 500');
  });
});

describe('a proposing key', () => {
  it('reads, and proposes instead of writing', async () => {
    const call = callWith(await workspace.createKey({ isProposing: true }));
    const { id } = await workspace.createTicket();
    expect((await call('GET', `/tickets/${id}`)).status).toBe(200);
    expect((await call('GET', '/me')).body.data.key).toMatchObject({ proposing: true, import: false });
    const direct = await call('PATCH', `/tickets/${id}`, { title: 'New' });
    expect(direct.status).toBe(403);
    expect(errorOf(direct)).toMatchObject({
      code: 'INSUFFICIENT_SCOPE',
      message:
        'This API key can only propose changes. Send `POST /proposals` with the `operation` tickets_update, its ' +
        '`params` and `body`, and a `reason`.',
    });
    expect(errorOf(await call('POST', '/tickets/bulk', { tickets: [ticket] })).message).toContain("can't be proposed");
    expect((await read(id)).title).toBe(ticket.title);
    const { body } = await call('POST', '/proposals', change(id, { title: 'New' }));
    for (const decision of ['ACCEPTED', 'REJECTED']) {
      const response = await call('PATCH', `/proposals/${body.data.id}`, { decision });
      expect(errorOf(response)).toMatchObject({
        code: 'INSUFFICIENT_SCOPE',
        message: expect.stringContaining('person'),
      });
    }
    expect((await decide(body.data.id, 'ACCEPTED')).body.data.status).toBe('ACCEPTED');
    expect((await read(id)).title).toBe('New');
  });

  it('keeps its mark when it is rotated, and counts as the same key', async () => {
    const key = await workspace.createKey({ isProposing: true });
    const { body } = await callWith(key)(
      'POST',
      '/proposals',
      change((await workspace.createTicket()).id, { title: 'A' }),
    );
    const { key: next, ...successor } = await rotateKey(workspace.context, body.data.keyId, { overlapHours: 0 });
    expect(successor.isProposing).toBe(true);
    expect((await show(body.data.id)).status).toBe('PENDING');
    const other = callWith(await workspace.createKey({ isProposing: true }));
    expect(errorOf(await other('DELETE', `/proposals/${body.data.id}`)).code).toBe('VALIDATION_ERROR');
    const { data } = (await callWith(next)('DELETE', `/proposals/${body.data.id}`)).body;
    expect(data).toMatchObject({ status: 'WITHDRAWN', endedAt: expect.any(String) });
    expect((await callWith(next)('DELETE', `/proposals/${body.data.id}`)).body.data).toEqual(data);
    expect(errorOf(await decide(body.data.id, 'ACCEPTED')).message).toContain('WITHDRAWN');
  });

  it('withdraws its pending proposals when it is revoked, unless another key has replaced it', async () => {
    const key = await workspace.createKey({ isProposing: true });
    const { id } = await workspace.createTicket();
    const { body } = await callWith(key)('POST', '/proposals', change(id, { title: 'A' }));
    const { id: next } = await rotateKey(workspace.context, body.data.keyId, { overlapHours: 1 });
    await revokeKey(workspace.context, body.data.keyId);
    expect((await show(body.data.id)).status).toBe('PENDING');
    await revokeKey(workspace.context, next);
    expect((await show(body.data.id)).status).toBe('WITHDRAWN');
    expect((await getKey(workspace.context, next)).isProposing).toBe(true);
  });

  it('withdraws its pending proposals when all keys of its line are revoked at once, or have expired', async () => {
    for (const overlapHours of [1, 720]) {
      const key = await workspace.createKey({ isProposing: true });
      const { id: ticketId } = await workspace.createTicket();
      const { body } = await callWith(key)('POST', '/proposals', change(ticketId, { title: 'A' }));
      const { id, keyId } = body.data as Proposal;
      const { id: nextId } = await rotateKey(workspace.context, keyId, { overlapHours });
      if (overlapHours === 1) {
        await query(api.databaseUrl, 'UPDATE api_keys SET expires_at = now() WHERE id = $1', [keyId]);
        await revokeKey(workspace.context, nextId);
      } else {
        await whileLocked(workspace.tenantId, () => [
          revokeKey(workspace.context, keyId),
          revokeKey(workspace.context, nextId),
        ]);
      }
      expect((await show(id)).status).toBe('WITHDRAWN');
    }
  });

  it.each(['proposal', 'revocation'])(
    'leaves no pending proposal if the %s is first of both at the same time',
    async (first) => {
      const key = await workspace.createKey({ isProposing: true });
      const { id: ticketId } = await workspace.createTicket();
      const { body } = await callWith(key)('POST', '/proposals', change(ticketId, { title: 'A' }));
      const propose = () => callWith(key)('POST', '/proposals', change(ticketId, { title: 'B' }));
      const revoke = () => revokeKey(workspace.context, body.data.keyId);
      const steps = first === 'proposal' ? [propose, revoke] : [revoke, propose];
      const results = await whileLocked(workspace.tenantId, ...steps.map((step) => () => [step()]));
      const proposed = results.find((result) => 'text' in (result as object));
      expect(proposed).toMatchObject({ status: first === 'proposal' ? 201 : 401 });
      const pending = await workspace.call('GET', `/proposals?status=PENDING&target=TICKET:${ticketId}`);
      expect(pending.body.meta.totalCount).toBe(0);
    },
  );

  it('can be revoked while its user is deactivated', async () => {
    const { id: userId } = await workspace.createUser();
    await workspace.createKey({ isProposing: true });
    const [key] = await query<{ id: number }>(
      api.databaseUrl,
      `UPDATE api_keys SET user_id = $1 WHERE tenant_id = $2
         AND id = (SELECT max(id) FROM api_keys WHERE tenant_id = $2) RETURNING id::int`,
      [userId, workspace.tenantId],
    );
    const results = await whileLocked(
      workspace.tenantId,
      () => [deactivateUser(workspace.context, userId)],
      () => [revokeKey(workspace.context, key?.id ?? 0)],
    );
    expect(results).toMatchObject([{ active: false }, { state: 'revoked' }]);
  });

  it('withdraws its pending proposals when its user is deactivated, also if the keys are kept', async () => {
    const { id: userId } = await workspace.createUser();
    const { id } = await workspace.createProposal();
    await query(api.databaseUrl, 'UPDATE proposals SET proposed_by_id = $1 WHERE tenant_id = $2 AND id = $3', [
      ...[userId, workspace.tenantId, id],
    ]);
    await deactivateUser(workspace.context, userId, { keepKeys: true });
    expect((await show(id)).status).toBe('WITHDRAWN');
  });
});

describe('PATCH /proposals/{id}', () => {
  it('runs the request in the name of the proposer, and names the person who accepted it', async () => {
    const proposer = await workspace.createUser();
    const webhook = await workspace.createWebhook({ events: ['ticket.created'], filter: { title: ['By an agent'] } });
    const [key] = await query<{ id: number }>(
      api.databaseUrl,
      `INSERT INTO api_keys (tenant_id, user_id, name, hash, last_four, scopes, is_proposing, updated_at)
       VALUES ($1, $2, 'agent', sha256($3), 'abcd', '{tickets:write}', true, now()) RETURNING id::int`,
      [workspace.tenantId, proposer.id, Buffer.from(unique())],
    );
    const { id } = await workspace.createProposal({
      ...{ operation: 'tickets_create', body: { ...ticket, title: 'By an agent' } },
    });
    await query(
      api.databaseUrl,
      `UPDATE proposals SET proposed_by_id = $1, key_id = $2,
         preview = jsonb_set(preview::jsonb, '{0,changes,requesterId,to}', to_jsonb($1::bigint))::json
       WHERE tenant_id = $3 AND id = $4`,
      [proposer.id, key?.id, workspace.tenantId, id],
    );
    const { data } = (await decide(id, 'ACCEPTED', 'Fine.')).body;
    expect(data).toMatchObject({ status: 'ACCEPTED', note: 'Fine.', createdId: expect.any(Number) });
    expect(await read(data.createdId)).toMatchObject({ requesterId: proposer.id, title: 'By an agent' });
    const actor = { userId: workspace.userId, keyId: key?.id };
    const activity = await workspace.call('GET', `/tickets/${data.createdId}/activity`);
    expect(activity.body.data).toMatchObject([{ action: 'CREATED', actor }]);
    const { body } = await workspace.call('GET', `/webhooks/${webhook.id}/deliveries`);
    const delivery = await workspace.call('GET', `/deliveries/${body.data[0].id}`);
    expect(JSON.parse(delivery.body.data.body).actor).toEqual(actor);
    await workspace.call('DELETE', `/webhooks/${webhook.id}`);
    const [entry] = await query(
      api.databaseUrl,
      `SELECT user_id::int, changes FROM audit_entries
       WHERE tenant_id = $1 AND action = 'proposal.decided' AND target_id = $2`,
      [workspace.tenantId, id],
    );
    expect(entry).toMatchObject({
      user_id: workspace.userId,
      changes: {
        status: { from: 'PENDING', to: 'ACCEPTED' },
        proposedById: { to: proposer.id },
        keyId: { to: key?.id },
      },
    });
  });

  it('records a rejection with its note, which is final', async () => {
    const { id } = await workspace.createProposal();
    const { data } = (await decide(id, 'REJECTED', 'Not now.')).body;
    expect(data).toMatchObject({ status: 'REJECTED', note: 'Not now.', endedAt: expect.any(String) });
    expect((await decide(id, 'REJECTED')).body.data).toEqual(data);
    expect(errorOf(await decide(id, 'ACCEPTED'))).toMatchObject({ code: 'VALIDATION_ERROR' });
  });

  it.each<[string, object, object]>([
    ['a field of the preview', { title: 'Other' }, { changes: { title: { from: 'Other', to: 'New' } } }],
    ['the status', { status: 'IN_PROGRESS' }, { status: 'IN_PROGRESS' }],
  ])('becomes STALE if %s has changed', async (_, edit, now) => {
    const { id: ticketId } = await workspace.createTicket();
    const { id } = await workspace.createProposal(change(ticketId, { title: 'New' }));
    await workspace.call('PATCH', `/tickets/${ticketId}`, edit);
    const before = await read(ticketId);
    const { status, body } = await decide(id, 'ACCEPTED');
    expect(status).toBe(200);
    expect(body.data).toMatchObject({ status: 'STALE', result: { preview: [now], error: null } });
    expect(await read(ticketId)).toEqual(before);
    expect(errorOf(await decide(id, 'ACCEPTED')).message).toContain('STALE');
  });

  it('ignores changes of other fields, unless the proposal has an ETag', async () => {
    const { id: ticketId, etag } = await workspace.createTicket();
    const [plain, strict] = [
      await workspace.createProposal(change(ticketId, { title: 'New' })),
      await workspace.createProposal(change(ticketId, { title: 'New' }, { ifMatch: etag })),
    ];
    await workspace.call('PATCH', `/tickets/${ticketId}`, { description: 'More details.' });
    expect((await decide(strict.id, 'ACCEPTED')).body.data).toMatchObject({
      status: 'STALE',
      result: { preview: null, error: { code: 'PRECONDITION_FAILED' } },
    });
    expect((await decide(plain.id, 'ACCEPTED')).body.data.status).toBe('ACCEPTED');
    expect(await read(ticketId)).toMatchObject({ title: 'New', description: 'More details.' });
  });

  it('becomes STALE if another request creates the asset of an upsert at the same time', async () => {
    const assetTag = unique();
    const body = { assets: [{ assetTag, name: 'Router', type: 'NETWORK' }] };
    const { id } = await workspace.createProposal({ operation: 'assets_upsertMany', body });
    await client.query('BEGIN');
    await client.query('SELECT FROM proposals WHERE tenant_id = $1 AND id = $2 FOR UPDATE', [workspace.tenantId, id]);
    const decided = decide(id, 'ACCEPTED');
    await untilWaiting(1);
    const { id: assetId } = await workspace.createAsset({ assetTag, name: 'By a person', type: 'NETWORK' });
    await client.query('COMMIT');
    expect((await decided).body.data).toMatchObject({
      status: 'STALE',
      result: { preview: [{ target: `ASSET:${assetId}` }] },
    });
    expect((await workspace.call('GET', `/assets/${assetId}`)).body.data.name).toBe('By a person');
  });

  it('stays PENDING if the server fails', async () => {
    const { id, target } = await workspace.createProposal();
    const ticketId = Number(target?.split(':')[1]);
    const condition = `CHECK (title <> 'Changed' OR id <> ${ticketId}) NOT VALID`;
    await client.query(`ALTER TABLE tickets ADD CONSTRAINT fails ${condition}`);
    expect((await decide(id, 'ACCEPTED')).status).toBe(500);
    await client.query('ALTER TABLE tickets DROP CONSTRAINT fails');
    expect((await show(id)).status).toBe('PENDING');
    expect((await decide(id, 'ACCEPTED')).body.data.status).toBe('ACCEPTED');
    expect((await read(ticketId)).title).toBe('Changed');
  });

  it('stays PENDING during maintenance', async () => {
    const own = await createWorkspace(api);
    const { id } = await own.createProposal();
    const accept = () => own.call('PATCH', `/proposals/${id}`, { decision: 'ACCEPTED' });
    const setMaintenance = async (since: 'now()' | 'NULL', status: number) => {
      await query(api.databaseUrl, `UPDATE tenants SET maintenance_since = ${since} WHERE id = $1`, [own.tenantId]);
      const write = async () => (await own.call('PATCH', '/tickets/999999', { title: 'A' })).status;
      await expect.poll(write).toBe(status);
    };
    await setMaintenance('now()', 503);
    expect(errorOf(await accept()).code).toBe('SERVICE_UNAVAILABLE');
    expect((await own.call('GET', `/proposals/${id}`)).body.data.status).toBe('PENDING');
    await setMaintenance('NULL', 404);
    expect((await accept()).body.data.status).toBe('ACCEPTED');
  });

  it('becomes STALE if a custom field of its body was redefined', async () => {
    const own = await createWorkspace(api);
    const option = (value: string) => ({ value, label: value });
    const field = { resource: 'TICKET', key: 'site' } as const;
    await own.createField({ ...field, type: 'SELECT', options: [option('berlin'), option('paris')] });
    const { id: ticketId } = await own.createTicket();
    const { id } = await own.createProposal(change(ticketId, { title: 'New', customFields: { site: 'paris' } }));
    await updateCustomFieldDefinition(own.context, field, { options: [option('berlin')] });
    const { data } = (await own.call('PATCH', `/proposals/${id}`, { decision: 'ACCEPTED' })).body;
    expect(data).toMatchObject({
      status: 'STALE',
      result: { preview: null, error: { code: 'VALIDATION_ERROR', details: [{ path: 'body.customFields.site' }] } },
    });
    const after = (await own.call('GET', `/tickets/${ticketId}`)).body.data;
    expect(after).toMatchObject({ title: ticket.title, customFields: {} });
  });

  it('becomes STALE if the API key that proposed it has lost the scope of the operation', async () => {
    const scopes: Scope[] = ['tickets:read', 'tickets:write'];
    const call = callWith(await workspace.createKey({ isProposing: true, scopes }));
    const { id: ticketId } = await workspace.createTicket();
    const { body } = await call('POST', '/proposals', change(ticketId, { title: 'New' }));
    const { id, keyId } = body.data as Proposal;
    await narrowKey(workspace.context, keyId, ['tickets:read']);
    expect((await decide(id, 'ACCEPTED')).body.data).toMatchObject({
      status: 'STALE',
      result: {
        preview: null,
        error: { code: 'INSUFFICIENT_SCOPE', message: expect.stringContaining('tickets:write') },
      },
    });
    expect((await read(ticketId)).title).toBe(ticket.title);
  });

  it('becomes STALE with the error that the request would return now', async () => {
    const { id: assigneeId } = await workspace.createUser();
    const { id: ticketId } = await workspace.createTicket();
    const { id } = await workspace.createProposal(change(ticketId, { assigneeId }));
    await deactivateUser(workspace.context, assigneeId);
    expect((await decide(id, 'ACCEPTED')).body.data).toMatchObject({
      status: 'STALE',
      result: { preview: null, error: { code: 'INVALID_REFERENCE', details: [{ path: 'body.assigneeId' }] } },
    });
  });

  it('writes once if two people accept at the same time, and loses no edit', async () => {
    const outcomes = new Set<string>();
    for (let round = 0; round < 5; round++) {
      const { id: ticketId } = await workspace.createTicket();
      const { id } = await workspace.createProposal({
        ...{ operation: 'comments_create', params: { id: ticketId }, body: comment },
      });
      const title = await workspace.createProposal(change(ticketId, { title: 'By an agent' }));
      const [first, second, third] = await Promise.all([
        decide(id, 'ACCEPTED'),
        decide(id, 'ACCEPTED'),
        decide(title.id, 'ACCEPTED'),
        workspace.call('PATCH', `/tickets/${ticketId}`, { title: 'By a person' }),
      ]);
      expect([first.body.data.status, second.body.data.status]).toEqual(['ACCEPTED', 'ACCEPTED']);
      const after = await read(ticketId);
      expect(after.commentCount).toBe(1);
      // The person's edit wins in both orders.
      expect(after.title).toBe('By a person');
      outcomes.add(third.body.data.status);
    }
    for (const status of outcomes) expect(['ACCEPTED', 'STALE']).toContain(status);
  });

  it('rejects service accounts, keys without the scope, and another version', async () => {
    const { id, etag } = await workspace.createProposal();
    const reader = callWith(await workspace.createKey({ scopes: ['tickets:read'] }));
    expect(errorOf(await reader('PATCH', `/proposals/${id}`, { decision: 'ACCEPTED' })).message).toContain(
      'tickets:write',
    );
    const { id: robot } = await createUser(workspace.context, {
      ...{ name: 'Robot', email: `${unique()}@example.com`, role: 'AGENT', kind: 'SERVICE' },
    });
    const key = await workspace.createKey();
    await query(
      api.databaseUrl,
      'UPDATE api_keys SET user_id = $1 WHERE tenant_id = $2 AND id = (SELECT max(id) FROM api_keys WHERE tenant_id = $2)',
      [...[robot, workspace.tenantId]],
    );
    expect(errorOf(await callWith(key)('PATCH', `/proposals/${id}`, { decision: 'REJECTED' })).code).toBe(
      'INSUFFICIENT_SCOPE',
    );
    const wrong = await workspace.call(
      'PATCH',
      `/proposals/${id}`,
      { decision: 'REJECTED' },
      { 'if-match': '"9-abc-"' },
    );
    expect(wrong.status).toBe(412);
    const right = await workspace.call('PATCH', `/proposals/${id}`, { decision: 'REJECTED' }, { 'if-match': etag });
    expect(right.status).toBe(200);
    // The client may have lost the response, so the repetition needs no current ETag.
    const again = await workspace.call('PATCH', `/proposals/${id}`, { decision: 'REJECTED' }, { 'if-match': etag });
    expect(again.body.data).toEqual(right.body.data);
  });
});

describe('GET /proposals', () => {
  it('filters by status, operation, target and proposer', async () => {
    const own = await createWorkspace(api);
    const { id: ticketId } = await own.createTicket();
    const first = await own.createProposal(change(ticketId, { title: 'A' }));
    const second = await own.createProposal();
    await own.call('PATCH', `/proposals/${second.id}`, { decision: 'REJECTED' });
    const find = async (filter: string) =>
      (await own.call('GET', `/proposals?${filter}`)).body.data.map(({ id }: Proposal) => id);
    expect(await find('')).toEqual([second.id, first.id]);
    expect(await find('status=PENDING')).toEqual([first.id]);
    expect(await find('status=REJECTED,EXPIRED')).toEqual([second.id]);
    expect(await find(`target=TICKET:${ticketId}`)).toEqual([first.id]);
    expect(await find('operation=tickets_create')).toEqual([]);
    expect(await find(`proposedById=${own.userId}`)).toEqual([second.id, first.id]);
    expect(errorOf(await own.call('GET', '/proposals?target=ticket'))).toMatchObject({ details: [{ path: 'target' }] });
  });

  it('shows only the operations whose resource the key can read', async () => {
    const own = await createWorkspace(api);
    const { id } = await own.createProposal();
    const call = callWith(await own.createKey({ scopes: ['assets:read'] }), own);
    expect((await call('GET', '/proposals')).body).toMatchObject({ data: [], meta: { totalCount: 0 } });
    for (const [method, body] of [['GET'], ['DELETE'], ['PATCH', { decision: 'REJECTED' }]] as const) {
      const responses = [await call(method, `/proposals/${id}`, body), await call(method, '/proposals/999999', body)];
      const [found, unknown] = responses.map((each) => ({ ...errorOf(each), requestId: '' }));
      expect(found).toEqual(unknown);
      expect(found?.code).toBe('NOT_FOUND');
    }
  });

  it('names the missing scope to the key that has proposed the request', async () => {
    const call = callWith(await workspace.createKey({ isProposing: true, scopes: ['tickets:write'] }));
    const { body } = await call('POST', '/proposals', change((await workspace.createTicket()).id, { title: 'A' }));
    const path = `/proposals/${body.data.id}`;
    expect(errorOf(await call('GET', path)).message).toContain('tickets:read');
    expect((await call('DELETE', path)).body.data.status).toBe('WITHDRAWN');
  });

  it('expires proposals after 7 days, and deletes them 90 days after their end', async () => {
    const own = await createWorkspace(api);
    const { id, etag } = await own.createProposal();
    const age = (column: string, days: number) =>
      query(
        api.databaseUrl,
        `UPDATE proposals SET ${column} = ${column} - interval '${days} days' WHERE tenant_id = $1 AND id = $2`,
        [own.tenantId, id],
      );
    await age('expires_at', 8);
    const path = `/proposals/${id}`;
    const get = await own.call('GET', path, undefined, { 'if-none-match': etag });
    expect(get.body.data).toMatchObject({ status: 'EXPIRED' });
    expect((await own.call('GET', '/proposals?status=EXPIRED')).body.meta.totalCount).toBe(1);
    expect((await own.call('GET', '/proposals?status=PENDING')).body.meta.totalCount).toBe(0);
    expect(errorOf(await own.call('PATCH', path, { decision: 'ACCEPTED' })).message).toContain('EXPIRED');
    await pruneProposals(api.databases.system.prisma);
    expect((await own.call('GET', path)).body.data).toMatchObject({ status: 'EXPIRED', endedAt: expect.any(String) });
    await age('ended_at', 91);
    await pruneProposals(api.databases.system.prisma);
    expect((await own.call('GET', path)).status).toBe(404);
  });
});

it('empties the proposals of a redacted ticket and of the ticket that they created', async () => {
  const { id: ticketId } = await workspace.createTicket();
  const pending = await workspace.createProposal(change(ticketId, { title: 'A secret' }));
  const created = await workspace.createProposal({
    operation: 'tickets_create',
    body: { ...ticket, title: 'A secret' },
  });
  const { createdId } = (await decide(created.id, 'ACCEPTED', 'A secret')).body.data;
  const commented = await workspace.createProposal({
    ...{ operation: 'comments_create', params: { id: ticketId }, body: comment },
  });
  const { createdId: commentId } = (await decide(commented.id, 'ACCEPTED')).body.data;
  const context = { ...workspace.context, db: api.databases.system.prisma.$tenant(workspace.tenantId) };
  await redact(context, { tickets: [ticketId, createdId] });
  const empty = { body: null, preview: [], reason: '[redacted]' };
  expect(await show(pending.id)).toMatchObject({ ...empty, status: 'STALE' });
  expect(await show(created.id)).toMatchObject({ ...empty, note: '[redacted]', status: 'ACCEPTED' });
  expect(await show(commented.id)).toMatchObject({ ...empty, status: 'ACCEPTED' });
  expect(commentId).toEqual(expect.any(Number));
  expect(errorOf(await decide(pending.id, 'ACCEPTED')).message).toContain('STALE');
});
