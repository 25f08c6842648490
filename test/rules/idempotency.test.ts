import { createHash } from 'node:crypto';
import { pruneIdempotencyKeys } from '@itsm-api/server/resources/idempotency/idempotency-retention.ts';
import pg from 'pg';
import { describe, expect } from 'vitest';
import { type Answer, errorOf, startApi } from '../support/api.ts';
import { api, it, workspace } from '../support/fixture.ts';
import { callOf, keyedEndpoints, type Sample } from '../support/samples.ts';
import { requestsWaiting } from '../support/waiting.ts';
import { createWorkspace, ticket, unique, type Workspace } from '../support/workspace.ts';

/**
 * The server must run a POST request with an Idempotency-Key only once, even if the client repeats the request
 * (docs/decisions/idempotency.md).
 */

const posts = keyedEndpoints.filter(({ route }) => route.method === 'POST');

it('detects a different signing secret without storing a guessable fingerprint', async () => {
  const body = { url: 'https://example.com/hook', events: ['ticket.created'], secret: 'weak' };
  const headers = { 'idempotency-key': unique() };
  const post = (secret = body.secret) =>
    api.call({
      method: 'POST',
      path: '/api/public/v1/webhooks',
      key: workspace.key,
      headers,
      body: { ...body, secret },
    });
  const made = await post();
  expect(made.status, made.text).toBe(201);
  const { fingerprint } = await api.prisma.idempotencyKey.findFirstOrThrow({
    where: { key: headers['idempotency-key'] },
  });
  const inOrder = JSON.stringify({ events: body.events, secret: body.secret, url: body.url });
  const guess = createHash('sha256').update(`POST /api/public/v1/webhooks\n${inOrder}`).digest('hex');
  expect(Buffer.from(fingerprint).toString('hex')).not.toBe(guess);
  expect((await post()).body).toEqual(made.body);
  expect(errorOf(await post('other')).code).toBe('IDEMPOTENCY_KEY_REUSED');
});

describe('a webhook whose secret the server generated', () => {
  const body = { url: 'https://example.com/hook', events: ['ticket.created'] };

  async function create() {
    const headers = { 'idempotency-key': unique() };
    const post = (more: object = {}) => workspace.call('POST', '/webhooks', { ...body, ...more }, headers);
    const made = await post();
    expect(made.status, made.text).toBe(201);
    const { secret, ...webhook } = made.body.data;
    return { headers, post, made, secret, webhook };
  }

  it('returns a generated secret again for the same Idempotency-Key without storing a copy', async () => {
    const { headers, post, made, secret } = await create();
    const replayed = await post();
    expect(replayed.headers).toMatchObject({ 'idempotent-replayed': 'true', etag: made.headers.etag });
    expect(replayed.body).toEqual(made.body);
    const { answer } = await api.prisma.idempotencyKey.findFirstOrThrow({ where: { key: headers['idempotency-key'] } });
    expect(answer).toContain(body.url);
    expect(answer).not.toContain(secret);
    expect(errorOf(await post({ secret: 'given' })).code).toBe('IDEMPOTENCY_KEY_REUSED');
  });

  it.each([
    ['the secret was changed', 'PATCH', { secret: 'another secret' }],
    ['the subscription was deactivated', 'DELETE', undefined],
  ] as const)('omits the secret from a replayed response for a new webhook after %s', async (_, method, change) => {
    const { post, webhook } = await create();
    expect((await workspace.call(method, `/webhooks/${webhook.id}`, change)).status).toBe(200);
    const replayed = await post();
    expect(replayed.status).toBe(201);
    expect(replayed.body.data).toEqual(webhook);
  });
});

/** Counts the rows of a workspace in each table that POST endpoints add rows to. */
async function countRows({ tenantId }: Workspace): Promise<number[]> {
  const where = { tenantId };
  const { ticket, comment, asset, task, webhookSubscription, delivery, webhookReplay, attachment, proposal } =
    api.prisma;
  return Promise.all([
    ticket.count({ where }),
    comment.count({ where }),
    asset.count({ where }),
    task.count({ where }),
    webhookSubscription.count({ where }),
    delivery.count({ where }),
    webhookReplay.count({ where }),
    attachment.count({ where }),
    proposal.count({ where }),
  ]);
}

describe.each(posts)('$title', (endpoint) => {
  const sender = (sample: Sample) => {
    const call = callOf(endpoint, sample);
    return (idempotencyKey: string, changed: Partial<typeof call> = {}) =>
      api.call({ ...call, key: workspace.key, ...changed, headers: { 'idempotency-key': idempotencyKey } });
  };

  it('replays the first response for a repeated Idempotency-Key without creating another resource', async () => {
    const send = sender(await endpoint.sample(workspace));
    const key = unique();
    const first = await send(key);
    expect(first.status, first.text).toBe(endpoint.success);
    expect(first.headers).not.toHaveProperty('idempotent-replayed');
    const rows = await countRows(workspace);
    const again = await send(key);
    expect(again).toMatchObject({ status: endpoint.success, text: first.text });
    expect(again.headers).toMatchObject({
      'idempotent-replayed': 'true',
      'content-type': first.headers['content-type'],
    });
    expect(again.headers['x-request-id']).not.toBe(first.headers['x-request-id']);
    expect(await countRows(workspace)).toEqual(rows);
  });

  it('runs a repeated request again if the Idempotency-Key is different or missing', async () => {
    const sample = await endpoint.sample(workspace);
    const send = sender(sample);
    const first = await send(unique());
    const second = await send(unique());
    const third = await api.call({ ...callOf(endpoint, sample), key: workspace.key });
    for (const { headers } of [first, second, third]) expect(headers).not.toHaveProperty('idempotent-replayed');
  });

  it('accepts a used Idempotency-Key if only the order of the fields differs', async () => {
    const sample = await endpoint.sample(workspace);
    const send = sender(sample);
    const key = unique();
    const { text } = await send(key);
    const turned = sample.file?.content ?? (sample.body && Object.fromEntries(Object.entries(sample.body).reverse()));
    expect((await send(key, { body: turned })).text).toBe(text);
    // The next check needs a request body, but some endpoints have no body.
    if (sample.body === undefined && sample.file === undefined) return;
    const [name = '', value] = Object.entries(sample.body ?? {})[0] ?? [];
    const otherOf = (value: unknown) => {
      if (typeof value === 'object') return { ...value, other: 'x' };
      return typeof value === 'number' ? value + 1 : `${value}/x`;
    };
    const other = sample.file
      ? 'Another file.'
      : { ...sample.body, [name]: Array.isArray(value) ? value.slice(1).concat(value) : otherOf(value) };
    const refused = await send(key, { body: other });
    expect(refused.status, refused.text).toBe(400);
    expect(errorOf(refused).code).toBe('IDEMPOTENCY_KEY_REUSED');
    expect(refused.headers).not.toHaveProperty('idempotent-replayed');
  });

  it('returns 400 for an invalid Idempotency-Key', async () => {
    const send = sender(await endpoint.sample(workspace));
    for (const key of ['', 'x'.repeat(256), 'a\tb', 'ä', 'a\u007f']) {
      const refused = await send(key);
      expect.soft(refused.status, `${JSON.stringify(key)}: ${refused.text}`).toBe(400);
      expect.soft(errorOf(refused), JSON.stringify(key)).toMatchObject({
        code: 'VALIDATION_ERROR',
        message: 'idempotency-key must be 1 to 255 printable ASCII characters',
        details: [{ path: 'idempotency-key' }],
      });
    }
  });

  it('returns 409 while the first request with the Idempotency-Key is in progress', async () => {
    const send = sender(await endpoint.sample(workspace));
    const key = unique();
    const stored = await blockStorage();
    const first = send(key);
    try {
      await stored.awaited();
      const second = await send(key);
      expect(second.status, second.text).toBe(409);
      expect(errorOf(second)).toMatchObject({ code: 'IDEMPOTENCY_IN_PROGRESS', retryAfterSeconds: 1 });
      expect(second.headers['retry-after']).toBe('1');
    } finally {
      await stored.release();
    }
    expect((await first).status).toBe(endpoint.success);
    expect((await send(key)).text).toBe((await first).text);
  });
});

/** Locks the table of stored responses. Requests then wait before they store their responses. */
async function blockStorage() {
  const client = new pg.Client({ connectionString: api.databaseUrl });
  await client.connect();
  await client.query('BEGIN; LOCK TABLE idempotency_keys IN SHARE ROW EXCLUSIVE MODE');
  const waiting = `SELECT count(*)::int AS count FROM pg_locks
    WHERE relation = 'idempotency_keys'::regclass AND NOT granted`;
  return {
    awaited: () => expect.poll(async () => (await client.query(waiting)).rows[0].count).toBe(1),
    /** Copies the stored response of one Idempotency-Key to another key. */
    store: (key: string, other: string) =>
      client.query(
        `INSERT INTO idempotency_keys (tenant_id, key_id, key, fingerprint, status, answer)
         SELECT tenant_id, key_id, $2, fingerprint, status, answer FROM idempotency_keys WHERE key = $1`,
        [key, other],
      ),
    release: () => client.query('COMMIT').then(() => client.end()),
  };
}

const post = (body: object, key: string, of: Workspace = workspace): Promise<Answer> =>
  of.call('POST', '/tickets', body, { 'idempotency-key': key });

it('accepts every printable ASCII character in an Idempotency-Key', async () => {
  const printable = Array.from({ length: 95 }, (_, i) => String.fromCharCode(32 + i)).join('');
  for (const key of [printable.trim(), 'x', 'x'.repeat(255)]) {
    const { text } = await post(ticket, key);
    expect((await post(ticket, key)).text).toBe(text);
  }
});

it('runs only one of 20 concurrent requests with the same Idempotency-Key', async () => {
  const key = unique();
  const title = `Once ${key}`;
  const answers = await Promise.all(Array.from({ length: 20 }, () => post({ ...ticket, title }, key)));
  const done = answers.filter(({ status }) => status === 201);
  expect(done.length).toBeGreaterThan(0);
  expect(new Set(done.map(({ text }) => text)).size).toBe(1);
  for (const { status } of answers) expect([201, 409]).toContain(status);
  expect(await api.prisma.ticket.count({ where: { title } })).toBe(1);
});

it('rolls back a request if a duplicate request stores its response first', async () => {
  const [earlier, key, title] = [unique(), unique(), unique()];
  const first = await post({ ...ticket, title }, earlier);
  const stored = await blockStorage();
  const second = post({ ...ticket, title }, key);
  try {
    await stored.awaited();
    await stored.store(earlier, key);
  } finally {
    await stored.release();
  }
  expect((await second).text).toBe(first.text);
  expect((await second).headers['idempotent-replayed']).toBe('true');
  expect(await api.prisma.ticket.count({ where: { title } })).toBe(1);
});

it('replays the stored response if a concurrent duplicate request violates a constraint', async () => {
  const [earlier, key] = [unique(), unique()];
  const asset = { name: 'Laptop', assetTag: unique(), type: 'LAPTOP' };
  const send = (key: string) => workspace.call('POST', '/assets', asset, { 'idempotency-key': key });
  const first = await send(earlier);
  const client = new pg.Client({ connectionString: api.databaseUrl });
  await client.connect();
  await client.query('BEGIN; LOCK TABLE assets IN ACCESS EXCLUSIVE MODE');
  const second = send(key);
  await expect.poll(() => requestsWaiting(api)).toBe(1);
  await client.query('UPDATE idempotency_keys SET key = $2 WHERE key = $1', [earlier, key]);
  await client.query('COMMIT');
  await client.end();
  expect((await second).text).toBe(first.text);
  expect((await second).headers['idempotent-replayed']).toBe('true');
});

it('accepts a corrected request with the same Idempotency-Key after an error response', async () => {
  const key = unique();
  expect((await post({ ...ticket, title: '' }, key)).status).toBe(400);
  expect((await post({ ...ticket, assigneeId: 2 ** 40 }, key)).status).toBe(400);
  expect((await post({ ...ticket, parentId: 2 ** 40 }, key)).status).toBe(400);
  const made = await post(ticket, key);
  expect(made.status).toBe(201);
  expect((await post(ticket, key)).text).toBe(made.text);
});

it('rolls back all writes and the Idempotency-Key if the request fails at the end', async () => {
  const key = unique();
  const title = `Fails ${key}`;
  await api.owner.pool.query(`ALTER TABLE idempotency_keys ADD CONSTRAINT none CHECK (key <> '${key}') NOT VALID`);
  expect((await post({ ...ticket, title }, key)).status).toBe(500);
  expect(await api.prisma.ticket.count({ where: { title } })).toBe(0);
  await api.owner.pool.query('ALTER TABLE idempotency_keys DROP CONSTRAINT none');
  expect((await post({ ...ticket, title }, key)).status).toBe(201);
});

it('emits only one event for repeated requests with the same Idempotency-Key', async () => {
  const own = await createWorkspace(api);
  await own.createWebhook({ events: ['ticket.created'] });
  const key = unique();
  const { body } = await post(ticket, key, own);
  await post(ticket, key, own);
  const events = await api.prisma.event.findMany({ where: { tenantId: own.tenantId } });
  expect(events.map((event) => JSON.parse(event.body).ticket)).toEqual([body.data]);
});

it('accepts an Idempotency-Key that another API key or another workspace has used', async () => {
  const key = unique();
  const other = await createWorkspace(api);
  const otherKey = await workspace.createKey();
  const first = await post(ticket, key);
  const second = await workspace.call('POST', '/tickets', ticket, {
    'idempotency-key': key,
    authorization: `Bearer ${otherKey}`,
  });
  const third = await post(ticket, key, other);
  expect([first.status, second.status, third.status]).toEqual([201, 201, 201]);
  expect(new Set([first.body.data.id, second.body.data.id, third.body.data.id]).size).toBe(3);
});

it('checks the API key, scope and rate limit before replaying a stored response', async () => {
  const limited = await startApi({ env: { RATE_LIMIT_GROUP: '2' }, databaseUrl: api.databaseUrl });
  const idempotencyKey = { 'idempotency-key': unique() };
  const call = (key: string) =>
    limited.call({ method: 'POST', path: '/api/public/v1/tickets', body: ticket, key, headers: idempotencyKey });
  const [revoked, reader] = [
    await workspace.createKey({ revokedAt: new Date(0) }),
    await workspace.createKey({ scopes: ['tickets:read'] }),
  ];
  expect([(await call(revoked)).status, (await call(reader)).status]).toEqual([401, 403]);
  const answers = [await call(workspace.key), await call(workspace.key), await call(workspace.key)];
  expect(answers.map(({ status }) => status)).toEqual([201, 201, 429]);
  await limited.close();
});

it('replays the response to a bulk request with the current values of the tickets', async () => {
  const headers = { 'idempotency-key': unique() };
  const body = { tickets: [ticket, { ...ticket, title: '' }, { ...ticket, title: 'Second' }] };
  const first = await workspace.call('POST', '/tickets/bulk', body, headers);
  const [{ id }] = first.body.data.map(({ data }: { data: unknown }) => data);
  const changed = await workspace.call('PATCH', `/tickets/${id}`, { status: 'IN_PROGRESS' });
  const again = await workspace.call('POST', '/tickets/bulk', body, headers);
  expect(again.headers['idempotent-replayed']).toBe('true');
  expect(again.body.data).toEqual([{ status: 201, data: changed.body.data }, ...first.body.data.slice(1)]);
  const kept = await api.prisma.idempotencyKey.findFirstOrThrow({ where: { key: headers['idempotency-key'] } });
  expect(kept.answer).not.toContain(ticket.description);
});

describe('expiry after 24 hours', () => {
  const age = (key: string, hours: number) =>
    api.owner.pool.query(
      "UPDATE idempotency_keys SET created_at = now() - $2::int * interval '1 hour' - interval '1 second' WHERE key = $1",
      [key, hours],
    );

  it('accepts a used Idempotency-Key for a new request after 24 hours', async () => {
    const key = unique();
    const first = await post(ticket, key);
    await age(key, 23);
    expect((await post(ticket, key)).text).toBe(first.text);
    await age(key, 24);
    const other = { ...ticket, title: 'Another' };
    const second = await post(other, key);
    expect(second).toMatchObject({ status: 201, body: { data: { title: 'Another' } } });
    expect((await post(other, key)).text).toBe(second.text);
  });

  it('deletes stored responses in batches after 24 hours', async () => {
    await pruneIdempotencyKeys(api.prisma);
    const prefix = unique();
    const own = await createWorkspace(api);
    for (let i = 0; i < 12; i++) {
      await post(ticket, `${prefix}-${i}`, i % 2 === 0 ? workspace : own);
      if (i < 9) await age(`${prefix}-${i}`, 24);
    }
    expect(await pruneIdempotencyKeys(api.prisma, 2)).toBe(9);
    const left = await api.prisma.idempotencyKey.findMany({ where: { key: { startsWith: prefix } } });
    expect(left.map(({ key }) => key).sort()).toEqual([`${prefix}-10`, `${prefix}-11`, `${prefix}-9`]);
  });
});
