import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInvitation } from '@itsm-api/server/auth/accounts/invitations.ts';
import { createLastUsed } from '@itsm-api/server/auth/api-keys/last-used.ts';
import { commands } from '@itsm-api/server/cli/command-table.ts';
import { scheduleJobs } from '@itsm-api/server/process/scheduled-jobs.ts';
import { setBusinessHours } from '@itsm-api/server/resources/business-hours/queries.ts';
import { type Maintenance, setMaintenance } from '@itsm-api/server/resources/tenants/maintenance.ts';
import type { WrongTotal } from '@itsm-api/server/resources/tickets/counters-check.ts';
import { claimDue } from '@itsm-api/server/webhooks/delivery/claim.ts';
import { recordResults } from '@itsm-api/server/webhooks/delivery/record-results.ts';
import { dispatchQueue } from '@itsm-api/server/webhooks/outbox/dispatch-jobs.ts';
import { enforceQuota } from '@itsm-api/server/webhooks/outbox/quota.ts';
import { startWebhooks } from '@itsm-api/server/webhooks/start-webhooks.ts';
import type { PgBoss } from 'pg-boss';
import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { commandLine } from '../cli/itsm.ts';
import { type Api, errorOf, startApi } from '../support/api.ts';
import { secretKey } from '../support/command-process.ts';
import { execute, query } from '../support/database.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { callOf, keyedEndpoints } from '../support/samples.ts';
import { eventually } from '../support/sender.ts';
import { openBrowser, signIn, upload } from '../support/visitor.ts';
import { createWorkspace, ticket, type Workspace } from '../support/workspace.ts';

/* Tests that nothing writes to a workspace in maintenance: requests, workers, scheduled jobs and commands. */
const silent = pino({ level: 'silent' });
const message = 'This workspace is in maintenance. Retry in 30 seconds.';
const commandMessage = /^error: (?:This workspace|The tenant .*) is in maintenance\. Retry in 30 seconds\.$/m;
const password = 'seven wandering walruses';
let api: Api;
let folder: string;
let receiver: Receiver;
let mine: Workspace;
let itsm: ReturnType<typeof commandLine>;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'itsm-maintenance-'));
  const env = { WEBHOOK_ALLOW_PRIVATE_TARGETS: 'true', ATTACHMENTS_DIR: folder };
  api = await startApi({ ownDatabase: true, secretKeys: [secretKey], env });
  receiver = await startReceiver();
  itsm = commandLine(api.databaseUrl, env);
});
beforeEach(async () => {
  mine = await createWorkspace(api);
});
afterAll(async () => {
  await receiver.close();
  await api.close();
  await rm(folder, { recursive: true });
});

/** Sets the maintenance of the workspace `mine`. */
const maintain = (state: Maintenance) => setMaintenance(api, String(mine.tenantId), state);

/**
 * Returns all rows of the workspace, by table. Each row includes the id of the transaction that wrote it, so a write
 * that changes no value also changes the result.
 */
async function rowsOf({ tenantId }: Workspace): Promise<Record<string, string[]>> {
  const tables = await query<{ name: string }>(
    api.databaseUrl,
    `SELECT attrelid::regclass::text AS name FROM pg_attribute JOIN pg_class c ON c.oid = attrelid
     WHERE attname = 'tenant_id' AND relkind IN ('r', 'p') AND NOT relispartition AND relnamespace = 'public'::regnamespace
     ORDER BY 1`,
  );
  const selects = tables.map(
    ({ name }) =>
      `SELECT '${name}' AS name, array(SELECT xmin || ' ' || r::text FROM ${name} r WHERE tenant_id = $1 ORDER BY 1) AS rows`,
  );
  const found = await query<{ name: string; rows: string[] }>(api.databaseUrl, selects.join(' UNION ALL '), [tenantId]);
  return Object.fromEntries(found.map(({ name, rows }) => [name, rows]));
}

/** Returns the names of the tables whose rows differ. */
function changedTables(before: Record<string, string[]>, after: Record<string, string[]>): string[] {
  return Object.keys(after).filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]));
}

/** Waits until the server rejects the API key, which it may have cached. */
const untilRejected = () => expect.poll(async () => (await mine.call('GET', '/me')).status).toBe(503);

async function emailOf({ tenantId, userId }: Workspace): Promise<string> {
  return (await api.prisma.user.findFirstOrThrow({ where: { tenantId, id: userId } })).email;
}

/** Sets the password of the workspace's administrator. */
async function setPassword(workspace: Workspace): Promise<void> {
  const token = await createInvitation(workspace.context, workspace.userId);
  const { status } = await openBrowser(api).submit(`/developer/join?token=${token}`, 'password', { password });
  expect(status).toBe(303);
}

describe('requests', () => {
  it('returns 503 for requests of the API, and writes no row', async () => {
    const { id } = await mine.createTicket();
    const lastUsed = createLastUsed({
      ...{ prisma: api.databases.system.prisma, now: () => new Date() },
      onError: (error) => expect.unreachable(String(error)),
    });
    lastUsed.touch({ tenantId: mine.tenantId, keyId: mine.context.keyId }, { ip: '192.0.2.1' });
    await maintain('on');
    const before = await rowsOf(mine);
    await untilRejected();
    const answers = [
      await mine.call('GET', `/tickets/${id}`),
      await mine.call('POST', '/tickets', ticket, { 'idempotency-key': 'once' }),
      await mine.call('PATCH', '/tickets/bulk', { tickets: [{ id, title: 'Other' }] }),
      await mine.call('POST', `/tickets/${id}/attachments?name=a.txt`, 'text', { 'content-type': 'text/plain' }),
      await mine.call('GET', '/webhooks'),
    ];
    for (const answer of answers) {
      expect([answer.status, answer.headers['retry-after'], answer.headers.ratelimit]).toEqual([503, '30', undefined]);
      expect(errorOf(answer)).toMatchObject({ code: 'SERVICE_UNAVAILABLE', message, retryAfterSeconds: 30 });
    }
    await Promise.all([api.usage.flush(), api.requestLog.flush(), lastUsed.close()]);
    expect(changedTables(before, await rowsOf(mine))).toEqual([]);

    await maintain('off');
    await expect.poll(async () => (await mine.call('GET', `/tickets/${id}`)).status).toBe(200);
    await api.usage.flush();
    expect(changedTables(before, await rowsOf(mine))).toContain('usage_minutes');
  });

  it('returns 503 for messages to the MCP server', async () => {
    await maintain('on');
    const answer = await api.call({
      ...{ method: 'POST', path: '/mcp', key: mine.key, headers: { accept: 'application/json, text/event-stream' } },
      body: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'list_tickets', arguments: {} } },
    });
    expect([answer.status, answer.headers['retry-after'], answer.headers.ratelimit]).toEqual([503, '30', undefined]);
    expect(answer.body.error).toMatchObject({ message, data: { code: 'SERVICE_UNAVAILABLE' } });
  });

  it('returns the error page for pages and forms of the developer area, and writes no row', async () => {
    const visitor = await signIn(api, mine);
    const token = await visitor.tokenOf('/developer/keys/new');
    await execute(api.databaseUrl, `UPDATE sessions SET last_seen_at = now() - interval '5 minutes'`);
    await maintain('on');
    const before = await rowsOf(mine);
    const fields = { name: 'export', expiresInDays: '90', scopes: ['tickets:read'] };
    const answers = [
      await visitor.get('/developer/keys'),
      await visitor.get('/developer/account'),
      await visitor.submit('/developer/keys/new', 'create', fields, token),
    ];
    for (const { status, headers, text } of answers) {
      expect([status, headers['retry-after'], text.includes(message)]).toEqual([503, '30', true]);
    }
    expect(changedTables(before, await rowsOf(mine))).toEqual([]);
  });

  it('rejects an upload if maintenance begins while the server stores the file', async () => {
    const { id } = await mine.createTicket();
    const visitor = await signIn(api, mine);
    const path = `/developer/tickets/${id}`;
    const { storage } = api.services;
    const { writeTemporary } = storage;
    let before: Record<string, string[]> = {};
    vi.spyOn(storage, 'writeTemporary').mockImplementationOnce(async (...given) => {
      await maintain('on');
      before = await rowsOf(mine);
      return writeTemporary(...given);
    });
    const answer = await upload(visitor, path, 'text', { name: 'a.txt', form: 'attach' });
    expect([answer.status, answer.headers['retry-after'], answer.text.includes(message)]).toEqual([503, '30', true]);
    expect(changedTables(before, await rowsOf(mine))).toEqual([]);
  });

  it('returns 503 for a sign-in only with the correct password or a valid invitation', async () => {
    await setPassword(mine);
    const email = await emailOf(mine);
    const token = await createInvitation(mine.context, (await mine.createUser()).id);
    await maintain('on');
    const before = await rowsOf(mine);
    const failures = () => query(api.databaseUrl, 'SELECT * FROM sign_in_failures WHERE failures > 0');
    const failed = await failures();
    const attempt = (entered: string) =>
      openBrowser(api).submit('/developer/sign-in', 'password', { email, password: entered });
    const correct = await attempt(password);
    expect([correct.status, correct.text.includes(message)]).toEqual([503, true]);
    expect(await failures()).toEqual(failed);
    const wrong = await attempt('nine patient lighthouses');
    expect([wrong.status, wrong.text.includes('maintenance')]).toEqual([400, false]);
    expect((await openBrowser(api).get(`/developer/join?token=${token}`)).status).toBe(503);
    expect(changedTables(before, await rowsOf(mine))).toEqual([]);
  });

  it('signs a person in to the workspace that is not in maintenance', async () => {
    const other = await createWorkspace(api);
    const email = await emailOf(mine);
    await api.prisma.user.updateMany({ where: { tenantId: other.tenantId, id: other.userId }, data: { email } });
    await setPassword(mine);
    await setPassword(other);
    await maintain('on');
    const visitor = openBrowser(api);
    const sent = await visitor.submit('/developer/sign-in', 'password', { email, password });
    expect(sent).toMatchObject({ status: 303, headers: { location: '/developer/overview' } });
    expect((await visitor.get('/developer/keys')).status).toBe(200);
  });
});

describe('reads of a read-only workspace', () => {
  const status = async (method: string, path: string, body?: object) => (await mine.call(method, path, body)).status;
  /**
   * Waits until the server rejects writes of the API key, which it may have cached. The body is invalid, so that a
   * request before this time creates no ticket.
   */
  const untilReadOnly = () => expect.poll(() => status('POST', '/tickets', {})).toBe(503);
  const callTool = (name: string, given: object) =>
    api.call({
      ...{ method: 'POST', path: '/mcp', key: mine.key, headers: { accept: 'application/json, text/event-stream' } },
      body: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: given } },
    });

  it('succeed for every GET endpoint and write no row, and every other endpoint returns 503', async () => {
    const calls = [];
    for (const endpoint of keyedEndpoints) calls.push(callOf(endpoint, await endpoint.sample(mine)));
    await maintain('read-only');
    const before = await rowsOf(mine);
    await untilReadOnly();
    for (const call of calls) {
      const answer = await api.call({ ...call, key: mine.key });
      expect([call.method, call.path, answer.status]).toEqual([
        ...[call.method, call.path],
        call.method === 'GET' ? 200 : 503,
      ]);
      if (call.method !== 'GET') expect(errorOf(answer)).toMatchObject({ code: 'SERVICE_UNAVAILABLE', message });
    }
    expect(await status('HEAD', '/tickets')).toBe(200);
    await Promise.all([api.usage.flush(), api.requestLog.flush()]);
    expect(changedTables(before, await rowsOf(mine))).toEqual([]);
  });

  it('succeed for the reading tools of the MCP server', async () => {
    const { id } = await mine.createTicket();
    await maintain('read-only');
    const before = await rowsOf(mine);
    await untilReadOnly();
    const read = await callTool('get_ticket', { id });
    expect([read.status, read.body.result.isError]).toEqual([200, undefined]);
    const written = await callTool('update_ticket', { id, title: 'Other' });
    expect(written.headers['retry-after']).toBe('30');
    expect(written.body.result).toMatchObject({ isError: true, content: [{ text: expect.stringContaining(message) }] });
    await Promise.all([api.usage.flush(), api.requestLog.flush()]);
    expect(changedTables(before, await rowsOf(mine))).toEqual([]);
  });

  it('return cursors of change feeds that stay valid after the maintenance', async () => {
    const { id } = await mine.createTicket();
    const changes = async (cursor = '') => (await mine.call('GET', `/tickets/changes${cursor}`)).body;
    const idsOf = ({ data }: Awaited<ReturnType<typeof changes>>) => data.map((each: { id: number }) => each.id);
    await expect.poll(async () => idsOf(await changes())).toEqual([id]);
    await maintain('read-only');
    await untilReadOnly();
    const { meta } = await changes();
    await maintain('off');
    const create = async () => {
      const { status, body } = await mine.call('POST', '/tickets', ticket);
      expect(status).toBe(201);
      return body.data.id;
    };
    const later = await vi.waitFor(create, { timeout: 60_000 });
    const after = async () => idsOf(await changes(`?cursor=${meta.nextCursor}`));
    await expect.poll(after).toEqual([later]);
  });

  it('fail in the developer area, whose pages write', async () => {
    const visitor = await signIn(api, mine);
    await maintain('read-only');
    const before = await rowsOf(mine);
    expect(await visitor.get('/developer/keys')).toMatchObject({ status: 503, headers: { 'retry-after': '30' } });
    expect(changedTables(before, await rowsOf(mine))).toEqual([]);
  });

  it.each([
    ['after a change to the maintenance `on`', () => maintain('on')],
    [
      'while an import or a deletion is incomplete',
      () => execute(api.databaseUrl, `UPDATE tenants SET incomplete = true WHERE id = ${mine.tenantId}`),
    ],
  ])('fail %s', async (_when, change) => {
    await maintain('read-only');
    await untilReadOnly();
    expect(await status('GET', '/me')).toBe(200);
    await change();
    await untilRejected();
  });
});

describe('scheduled jobs', () => {
  const jobs = new Map<string, () => Promise<unknown>>();
  let wrong: WrongTotal[] = [];

  beforeAll(async () => {
    const boss = {
      work: async (name: string, run: () => Promise<unknown>) => void jobs.set(name, run),
      schedule: async () => undefined,
      emit: (_name: string, error: Error) => expect.unreachable(String(error.cause ?? error)),
    };
    await scheduleJobs(boss as unknown as PgBoss, {
      runtime: { ...api, prisma: api.databases.system.prisma },
      settings: { REQUEST_LOG_DAYS: 7, AUDIT_RETENTION_DAYS: 400 },
      onWrongTotals: (found) => (wrong = found),
    });
  });

  const runAll = async () => {
    for (const run of jobs.values()) await run();
  };

  it('has one queue for each scheduled job', async () => {
    const queues = await query(api.databaseUrl, `SELECT name FROM pgboss.queue WHERE name NOT LIKE '\\_\\_%'`);
    expect([...jobs.keys(), dispatchQueue.name].sort()).toEqual(queues.map(({ name }) => name).sort());
  });

  it('changes no row and no file of a workspace in maintenance', async () => {
    await fillWithOldRows();
    const [file, deleted] = [`${mine.tenantId}/${randomUUID()}`, `${mine.tenantId}/${randomUUID()}`];
    await mkdir(join(folder, String(mine.tenantId)), { recursive: true });
    for (const each of [file, deleted]) await writeFile(join(folder, each), 'unused');
    await utimes(join(folder, file), new Date(0), new Date(0));
    await api.prisma.deletedAttachment.create({
      data: { tenantId: mine.tenantId, ticketId: 1, id: 1, storageKey: deleted },
    });
    await maintain('on');
    const before = await rowsOf(mine);
    await runAll();
    expect(changedTables(before, await rowsOf(mine))).toEqual([]);
    for (const each of [file, deleted]) expect((await stat(join(folder, each))).size).toBe(6);
    expect(wrong.filter(({ tenantId }) => tenantId === mine.tenantId)).toEqual([]);

    await maintain('off');
    const served = await rowsOf(mine);
    await runAll();
    // The API writes the last use of keys once per minute, independent of the jobs.
    const changed = changedTables(served, await rowsOf(mine)).filter((table) => table !== 'api_keys');
    expect(changed).toEqual([
      ...['audit_entries', 'custom_field_definitions', 'deleted_attachments', 'deliveries', 'events'],
      ...[
        'idempotency_keys',
        'open_hours',
        'proposals',
        'request_log',
        'request_log_minutes',
        'usage_hours',
        'usage_minutes',
      ],
      ...['webhook_replays', 'webhook_subscriptions'],
    ]);
    for (const each of [file, deleted])
      await expect(stat(join(folder, each))).rejects.toMatchObject({ code: 'ENOENT' });
    expect(wrong.filter(({ tenantId }) => tenantId === mine.tenantId)).not.toEqual([]);
  });

  /** Creates rows that every job would change. */
  async function fillWithOldRows(): Promise<void> {
    const { tenantId } = mine;
    await mine.call('POST', '/tickets', { ...ticket, customFields: { site: 1 } }, { 'idempotency-key': 'once' });
    await mine.createField({ key: 'site' });
    const { webhookId } = await mine.createDelivery();
    await mine.createProposal();
    const calendar = { timeZone: 'UTC', intervals: [{ weekday: 'MONDAY' as const, opens: '09:00', closes: '17:30' }] };
    await setBusinessHours(mine.context, { calendar });
    await Promise.all([api.usage.flush(), api.requestLog.flush()]);
    await api.prisma.auditEntry.create({
      data: { tenantId, action: 'session.began', address: '', userAgent: '' },
    });
    const past = `now() - interval '500 days'`;
    await execute(
      api.databaseUrl,
      `UPDATE audit_entries SET at = ${past}; UPDATE idempotency_keys SET created_at = ${past};
       UPDATE usage_minutes SET at = ${past}; UPDATE usage_hours SET at = ${past};
       UPDATE request_log SET at = ${past}; UPDATE request_log_minutes SET at = ${past};
       UPDATE events SET created_at = ${past}; UPDATE proposals SET expires_at = ${past};
       UPDATE deliveries SET state = 'DELIVERED', settled_at = ${past}, created_at = ${past};
       UPDATE webhook_subscriptions SET previous_secret = secret, previous_secret_until = ${past};
       UPDATE ticket_counts SET count = count + 1; DELETE FROM open_hours WHERE opens_at > now();
       INSERT INTO webhook_replays (tenant_id, subscription_id, since, states, finished_at)
         VALUES (${tenantId}, ${webhookId}, ${past}, '{}', ${past})`,
    );
  }
});

describe('workers', () => {
  it('skips a workspace in maintenance, and sends its pending deliveries after the end', async () => {
    const other = await createWorkspace(api);
    const prepared = new Map<Workspace, { active: number; inactive: number }>();
    for (const workspace of [mine, other]) {
      const { id: inactive } = await workspace.createWebhook({ url: `${receiver.url}/inactive` });
      const { id: active } = await workspace.createWebhook({ url: `${receiver.url}/${workspace.tenantId}` });
      await workspace.createTicket();
      const { tenantId } = workspace;
      await execute(
        api.databaseUrl,
        `UPDATE webhook_subscriptions SET active = false WHERE id = ${inactive};
         INSERT INTO webhook_replays (tenant_id, subscription_id, since, states)
           VALUES (${tenantId}, ${active}, now() - interval '1 hour', '{DELIVERED}')`,
      );
      prepared.set(workspace, { active, inactive });
    }
    await maintain('on');
    const before = await rowsOf(mine);
    const stop = await startWebhooks({ ...api, logger: silent, maxPendingDeliveries: 1 });
    try {
      await untilProcessed(other);
      expect(changedTables(before, await rowsOf(mine))).toEqual([]);
      await maintain('off');
      await untilProcessed(mine);
    } finally {
      await stop();
    }

    async function untilProcessed(workspace: Workspace): Promise<void> {
      const { active, inactive } = prepared.get(workspace) ?? { active: 0, inactive: 0 };
      const { tenantId } = workspace;
      await eventually(async () => {
        const states = (id: number) => api.prisma.delivery.findMany({ where: { tenantId, subscriptionId: id } });
        expect((await states(active)).map(({ state }) => state)).toEqual(['DELIVERED']);
        expect((await states(inactive)).map(({ state }) => state)).toEqual(['CANCELLED']);
        expect(await api.prisma.webhookReplay.count({ where: { tenantId, finishedAt: null } })).toBe(0);
      });
    }
  });
});

it('changes no quota if maintenance begins after the worker has found the workspace', async () => {
  await mine.createDelivery();
  const before = await rowsOf(mine);
  const { prisma } = api.databases.system;
  const late = {
    ...{ $sql: prisma.$sql, $tenant: prisma.$tenant },
    $transaction: async (...given: Parameters<typeof prisma.$transaction>) => {
      await maintain('on');
      return prisma.$transaction(...given);
    },
  };
  await enforceQuota({ prisma: late as unknown as typeof prisma, logger: silent, maxPendingDeliveries: 1 });
  expect(changedTables(before, await rowsOf(mine))).toEqual(['audit_entries']);
});

it('records the result of a delivery attempt that began before the maintenance', async () => {
  const { id, webhookId } = await mine.createDelivery();
  const request = { tenantId: mine.tenantId, subscriptionId: BigInt(webhookId), slots: 1 };
  const [delivery] = await claimDue(api.prisma, [request]);
  if (delivery === undefined) throw new Error('No delivery is due.');
  await maintain('on');
  expect(await claimDue(api.prisma, [request])).toEqual([]);
  const outcome = { delivered: true, status: 200, durationMs: 1, error: null, answer: null, publicAnswer: null };
  await recordResults(api.prisma, [{ delivery, outcome: { ...outcome, retryAfter: undefined } }]);
  expect(await api.prisma.delivery.findFirst({ where: { id } })).toMatchObject({ state: 'DELIVERED' });
});

describe('commands', () => {
  /** The verbs that change no row of an existing workspace. */
  const reading = [
    ...['list', 'show', 'export', 'template', 'tenants create', 'tenants maintenance'],
    // test/cli/tenant-transfer.test.ts tests these commands.
    ...['tenants import', 'tenants delete'],
    ...['cells status', 'cells find', 'seed', 'doctor', 'migrate', 'completion'],
  ];
  /** The other commands. `T` is the workspace, and the other capital letters are ids of its objects. */
  const writing = [
    ...['tenants update T --target-high 240', 'tenants update T --max-key-days 365'],
    'tenants update T --strict-fields true',
    'business-hours set --tenant T --time-zone UTC --intervals mon-fri,09:00-17:30',
    'business-hours clear --tenant T',
    ...['tenants deactivate T', 'tenants activate T'],
    'users create --tenant T --name Grace --email grace@example.com --role AGENT',
    ...['users update U --tenant T --phone 1234567', 'users deactivate U --tenant T', 'users activate U --tenant T'],
    ...['users invite U --tenant T', 'users erase U --tenant T --yes'],
    ...['tickets redact 1 --tenant T --yes', 'comments redact 1 --tenant T --yes'],
    'keys create --tenant T --user E --name export --scopes tickets:read --expires-in-days 7',
    ...['keys update K --name other', 'keys rotate K --overlap-hours 1', 'keys revoke K', 'keys deactivate K'],
    'teams create --tenant T --name Network',
    ...['create network', 'update vpn'].map((verb) => `categories ${verb} --tenant T --name Network`),
    ...['deactivate', 'activate'].map((verb) => `categories ${verb} vpn --tenant T`),
    'categories import FOLDER/categories.csv --tenant T',
    ...['teams update M --tenant T --name Network', 'teams deactivate M --tenant T', 'teams activate M --tenant T'],
    'fields create TICKET floor --tenant T --type NUMBER --label Floor',
    ...['fields update TICKET site --tenant T --label Place', 'fields deactivate TICKET site --tenant T'],
    'fields activate TICKET site --tenant T',
    'forms create phone --tenant T --name Phone --type SERVICE_REQUEST',
    ...['update laptop --name Laptop', 'deactivate laptop', 'activate laptop'].map(
      (call) => `forms ${call} --tenant T`,
    ),
    'projects create --tenant T --key MOVE --name Move',
    ...[
      'projects update P --tenant T --name Move',
      'projects deactivate P --tenant T',
      'projects activate P --tenant T',
    ],
    'projects import FOLDER/projects.csv --tenant T',
    'assets create --tenant T --asset-tag LT-9 --name Laptop --type LAPTOP',
    ...['assets update A --tenant T --name Other', 'assets deactivate A --tenant T', 'assets activate A --tenant T'],
    'assets import FOLDER/assets.csv --tenant T',
    'articles import FOLDER/articles --tenant T',
    'webhooks create --tenant T --url https://hooks.example.com/ --events ticket.created',
    ...['webhooks update W --tenant T --paused true', 'webhooks test W --tenant T'],
    ...['webhooks deactivate W --tenant T', 'webhooks activate W --tenant T'],
    'deliveries replay D --tenant T',
    'listen --tenant T --subscribe ticket.created',
    'secrets re-encrypt',
  ];
  const nameOf = (command: string) => command.split(' ').slice(0, 2).join(' ');

  it('has a sample of every command that writes', async () => {
    const all = await Promise.all(
      Object.entries(commands).map(async ([noun, entry]) => {
        const loaded = await entry.load();
        return 'verbs' in loaded ? Object.keys(loaded.verbs).map((verb) => `${noun} ${verb}`) : [noun];
      }),
    );
    const isReading = (name: string) => reading.includes(name) || reading.includes(name.split(' ')[1] ?? name);
    const names = writing.map((command) => (command.startsWith('listen') ? 'listen' : nameOf(command)));
    expect([...new Set(names)].sort()).toEqual(
      all
        .flat()
        .filter((name) => !isReading(name))
        .sort(),
    );
  });

  it('fails if a command writes to a workspace in maintenance, and changes no row', async () => {
    const files = join(folder, 'files');
    await mkdir(join(files, 'articles'), { recursive: true });
    await writeFile(join(files, 'articles', 'vpn.md'), '# VPN\n\nRestart it.\n');
    await writeFile(join(files, 'projects.csv'), 'key,name\nOFFICE,Office\n');
    await writeFile(join(files, 'categories.csv'), 'id,name\nwlan,WLAN\n');
    await writeFile(join(files, 'assets.csv'), 'assetTag,name,type\nLT-8,Laptop,LAPTOP\n');
    await mine.createTicketCategory({ id: 'vpn' });
    await mine.createForm({ key: 'laptop' });
    const { id, webhookId } = await mine.createDelivery();
    await mine.createField({ key: 'site' });
    const ids: Record<string, string | number | bigint> = {
      ...{
        T: String(mine.tenantId),
        U: mine.userId,
        E: await emailOf(mine),
        K: mine.context.keyId,
        D: id,
        W: webhookId,
        FOLDER: files,
      },
      ...{ P: (await mine.createProject()).id, A: (await mine.createAsset()).id, M: (await mine.createTeam()).id },
    };
    const run = (command: string) =>
      itsm(command.replace(/\b([TUEKDWPAM]|FOLDER)(?=[ /]|$)/g, (name) => `${ids[name]}`));
    expect(await run('tenants maintenance T on')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('is in maintenance.'),
    });
    const before = await rowsOf(mine);
    for (const command of writing) {
      const { code, stderr } = await run(command);
      expect([code, commandMessage.test(stderr)], command).toEqual([1, true]);
    }
    for (const command of ['tenants list', 'tenants show T', 'deliveries show D --tenant T', 'users list --tenant T']) {
      const { code, stdout, stderr } = await run(command);
      expect(code, stderr).toBe(0);
      if (command.startsWith('tenants')) expect(stdout, command).toContain('maintenance');
    }
    expect(changedTables(before, await rowsOf(mine))).toEqual([]);

    const { maintenanceSince } = JSON.parse((await run('tenants show T --json')).stdout);
    for (const [state, name] of Object.entries({ 'read-only': 'read-only', on: 'in maintenance' })) {
      expect((await run(`tenants maintenance T ${state}`)).stdout).toContain(`is ${name}.`);
      expect(JSON.parse((await run('tenants show T --json')).stdout).maintenanceSince).toBe(maintenanceSince);
    }
    expect(await run('tenants maintenance T off')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('is no longer in maintenance.'),
    });
    expect((await run('users update U --tenant T --phone 1234567')).code).toBe(0);
    const entries = await api.prisma.auditEntry.findMany({
      where: { tenantId: mine.tenantId },
      orderBy: { id: 'asc' },
    });
    const actions = entries.map(({ action }) => action).filter((action) => action.startsWith('maintenance'));
    expect(actions).toEqual(['maintenance.began', 'maintenance.ended']);
  });
});
