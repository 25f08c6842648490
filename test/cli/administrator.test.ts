import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Comment, type NewComment, pathPrefix, type Ticket, type TicketActivity } from '@itsm-api/contract';
import { createKey } from '@itsm-api/server/auth/api-keys/api-keys.ts';
import { keepUpload } from '@itsm-api/server/resources/csv/csv-uploads.ts';
import { redact } from '@itsm-api/server/resources/privacy/redaction.ts';
import { claimDue } from '@itsm-api/server/webhooks/delivery/claim.ts';
import { recordResults } from '@itsm-api/server/webhooks/delivery/record-results.ts';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { type Api, startApi } from '../support/api.ts';
import { secretKey } from '../support/command-process.ts';
import { signIn } from '../support/visitor.ts';
import { requestsWaiting } from '../support/waiting.ts';
import { comment, createWorkspace, ticket, unique, type Workspace } from '../support/workspace.ts';
import { commandLine } from './itsm.ts';

/** Tests the tasks of an administrator with the command line, the API and SQL. */
let api: Api;
let mine: Workspace;
let theirs: Workspace;
let folder: string;
let itsm: ReturnType<typeof commandLine>;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'itsm-administrator-'));
  const env = { ATTACHMENTS_DIR: join(folder, 'attachments') };
  api = await startApi({ ownDatabase: true, secretKeys: [secretKey], env });
  [mine, theirs] = [await createWorkspace(api), await createWorkspace(api)];
  itsm = commandLine(api.databaseUrl, env);
});
afterAll(async () => {
  await api.close();
  await rm(folder, { recursive: true });
});

/** Runs a command in the workspace `mine`, and returns the JSON that it prints. */
async function run(command: string, ...more: string[]) {
  const { code, stdout, stderr } = await itsm(`${command} --tenant ${mine.tenantId} --json`, ...more);
  expect(code, stderr).toBe(0);
  return JSON.parse(stdout);
}

async function post(path: string, body: unknown, headers: Record<string, string> = {}) {
  const response = await mine.call('POST', path, body, headers);
  expect(response.status, response.text).toBeLessThan(300);
  return response.body.data;
}

/** Returns the rows of a list or of a change feed. */
async function read<Row extends { id: number }>(path: string): Promise<Row[]> {
  return (await mine.call('GET', `${path}?perPage=100`)).body.data;
}

it('finds a failed request by its id', async () => {
  const { body } = await mine.call('GET', '/assets/2147483647');
  await api.requestLog.flush();
  const [found] = await run(`requests show ${body.error.requestId}`);
  expect(found).toMatchObject({ status: 404, errorCode: 'NOT_FOUND', path: `${pathPrefix}/assets/2147483647` });
});

it('exports the audit log', async () => {
  const file = join(folder, 'audit.jsonl');
  const { exported, sha256 } = await run(`audit export ${file}`);
  const content = await readFile(file, 'utf8');
  expect(content.trim().split('\n')).toHaveLength(exported);
  expect(createHash('sha256').update(content).digest('hex')).toBe(sha256);
});

it('creates a service account with an API key for one network', async () => {
  const email = 'it@acme.example';
  const account = await run(`users create --email ${email} --role AGENT --kind SERVICE`, '--name', 'Nightly export');
  expect(account.kind).toBe('SERVICE');
  const { key } = await run(
    `keys create --user ${email} --name export --scopes tickets:read --expires-in-days 30 --allowed-networks 192.0.2.0/24`,
  );
  const { status, body } = await api.call({ method: 'GET', path: `${pathPrefix}/tickets`, key });
  expect([status, body.error.code]).toEqual([403, 'ADDRESS_NOT_ALLOWED']);
});

const email = 'wilhelmina.quist@acme.example';
const names = ['Wilhelmina', 'Quist'];

/** Returns the columns that contain a part of the name or of the email address, from all tables of the database. */
async function findNames(): Promise<string[]> {
  const columns = await api.prisma.$queryRawUnsafe<{ table: string; column: string; type: string }[]>(
    `SELECT a.attrelid::regclass::text AS table, quote_ident(a.attname) AS column, a.atttypid::regtype::text AS type
     FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE c.relkind IN ('r', 'p') AND a.attnum > 0 AND NOT a.attisdropped
       AND n.nspname NOT LIKE 'pg\\_%' AND n.nspname <> 'information_schema' ORDER BY 1, 2`,
  );
  expect(columns.length).toBeGreaterThan(300);
  const selects = columns.map(({ table, column, type }) => {
    const text = type === 'bytea' ? `encode(${column}, 'escape')` : `${column}::text`;
    return `SELECT '${table}.${column}' AS name WHERE EXISTS (SELECT FROM ${table}
      WHERE ${names.map((name) => `${text} ILIKE '%${name}%'`).join(' OR ')})`;
  });
  const found = await api.prisma.$queryRawUnsafe<{ name: string }[]>(selects.join(' UNION ALL '));
  return found.map(({ name }) => name).sort();
}

it('erases a user, and redacts the tickets and comments that name the user', async () => {
  const person = await run(`users create --email ${email} --role AGENT --phone 1234567`, '--name', 'Wilhelmina Quist');
  const admin = { db: mine.context.db, userId: mine.context.userId };

  // Everything that stores copies.
  await mine.createWebhook({ events: ['ticket.created', 'ticket.updated'] });
  await createKey(mine.context, { user: email, name: "Wilhelmina's script", scopes: ['tickets:read'] });
  await signIn(api, { tenantId: mine.tenantId, userId: person.id });
  const credentials = { tenantId: mine.tenantId, userId: BigInt(person.id) };
  await api.prisma.password.create({ data: { ...credentials, hash: 'x' } });
  await api.prisma.passkey.create({
    data: {
      ...credentials,
      credentialId: Buffer.from('1'),
      publicKey: Buffer.from('1'),
      transports: [],
      name: 'Quist',
    },
  });
  const preview = { lines: 0, first: [], problems: 0, firstProblems: [] };
  await keepUpload(admin, 'assets', { content: Buffer.from(`name,assignedTo\nLaptop,${email}`), preview });
  await api.prisma.auditEntry.createMany({
    data: [email, 'Jonas'].map((subject) => {
      return { tenantId: mine.tenantId, action: 'user.changed', subject, address: '', userAgent: '' };
    }),
  });
  const named: Ticket = await post(
    '/tickets',
    { ...ticket, title: 'Laptop of Wilhelmina Quist', customFields: { contact: email, site: 'Bonn' } },
    { 'idempotency-key': 'ticket' },
  );
  await mine.call('PATCH', `/tickets/${named.id}`, {
    description: `Ask quist, wilhelmina.`,
    customFields: { contact: null },
  });
  await mine.call('PATCH', `/tickets/${named.id}`, { status: 'RESOLVED', resolution: 'Called Wilhelmina.' });
  const upload = `/tickets/${named.id}/attachments?name=Wilhelmina%20Quist.pdf`;
  const attached = await post(upload, 'x', { 'content-type': 'text/plain', 'idempotency-key': 'attachment' });
  const other = await mine.createTicket();
  const naming: NewComment = { body: 'Wrote to Wilhelmina.QUIST@acme.example today.', visibility: 'INTERNAL' };
  const first = await post(`/tickets/${other.id}/comments`, naming, { 'idempotency-key': 'comment' });
  const [second, unrelated] = await post(
    `/tickets/${other.id}/comments/bulk`,
    { comments: [naming, comment] },
    { 'idempotency-key': 'comments' },
  );
  await api.prisma.deliveryAttempt.createMany({
    data: (await api.prisma.delivery.findMany({ where: { event: { body: { contains: 'Quist' } } } })).map(
      ({ id: deliveryId }) => {
        return {
          tenantId: mine.tenantId,
          deliveryId,
          number: 1,
          startedAt: new Date(),
          durationMs: 1,
          answer: 'Quist',
          publicAnswer: 'Quist',
        };
      },
    ),
  });
  await mine.call('GET', `/users?email=${email}&q=wilhelmina`);
  await api.requestLog.flush();
  expect(await findNames()).toEqual([
    'activities.changes',
    'api_keys.name',
    'attachments.name',
    'audit_entries.subject',
    'comments.body',
    'csv_uploads.content',
    'delivery_attempts.answer',
    'delivery_attempts.public_answer',
    'events.body',
    'idempotency_keys.answer',
    'passkeys.name',
    'texts.document',
    'tickets.description',
    'tickets.resolution',
    'tickets.title',
    'users.email',
    'users.name',
  ]);
  const countRows = async () => [
    await api.prisma.event.count(),
    await api.prisma.delivery.count(),
    (await mine.call('GET', '/tickets')).body.meta,
    (await read<Ticket>('/tickets')).map(({ id, ticketNumber, commentCount }) => [id, ticketNumber, commentCount]),
  ];
  const before = await countRows();

  const unconfirmed = await itsm(`users erase ${email} --tenant ${mine.tenantId}`);
  expect([unconfirmed.code, unconfirmed.stderr.includes('--yes is required')]).toEqual([2, true]);
  const erased = await run(`users erase ${email} --yes`);
  expect(erased).toMatchObject({
    ...{ id: person.id, name: `Erased user ${person.id}`, email: `erased-${person.id}@erased.invalid` },
    ...{ active: false, phone: null, revokedKeys: [expect.anything()], isCapped: false },
    tickets: [{ id: named.id, ticketNumber: named.ticketNumber }],
    comments: [first, second.data].map(({ id }) => ({ id, ticketId: other.id })),
    attachments: [{ id: attached.id, ticketId: named.id }],
  });
  for (const table of ['session', 'passkey', 'password', 'invitation', 'csvUpload'] as const) {
    const where = { userId: BigInt(person.id) };
    expect(await (api.prisma[table] as typeof api.prisma.session).count({ where }), table).toBe(0);
  }
  const ids = (rows: { id: number }[]) => rows.map(({ id }) => id);
  const attachments = ids(erased.attachments).join(',');
  await run(`tickets redact ${ids(erased.tickets).join(' ')} --attachments ${attachments} --yes`);
  await run(`comments redact ${ids(erased.comments).join(' ')} --yes`);

  expect(await findNames()).toEqual([]);
  expect(await countRows()).toEqual(before);
  expect(await run(`users erase ${person.id} --yes`)).toMatchObject({ id: person.id, revokedKeys: [], tickets: [] });
  const byAddress = await itsm(`users erase ${email} --tenant ${mine.tenantId} --yes`);
  expect(byAddress.code).toBe(1);
  expect(byAddress.stderr).toMatch(new RegExp(`User not found.*enter the ID instead.*: ${person.id} \\(20`));
  expect(await api.prisma.auditEntry.count({ where: { action: 'user.erased' } })).toBe(1);
  expect(await api.prisma.apiKey.findMany({ where: { userId: person.id, lastUsedAddress: { not: null } } })).toEqual(
    [],
  );
  const { body } = await mine.call('GET', `/tickets/${named.id}`);
  expect(body.data).toMatchObject({
    ...{ title: '[redacted]', description: '[redacted]', resolution: '[redacted]', attachmentCount: 0 },
    ...{ customFields: { site: 'Bonn' }, redactedAt: expect.stringMatching(/^20.*Z$/) },
  });
  const search = async (q: string) => ids((await mine.call('GET', `/tickets?q=${q}`)).body.data);
  expect([await search('wilhelmina'), await search('redacted')]).toEqual([[], [named.id]]);
  // The feeds return rows after all transactions of the server that were running at that moment, also of other tests.
  const changed = await vi.waitUntil(async () => {
    const changed = {
      tickets: await read<Ticket>('/tickets/changes'),
      comments: await read<Comment>('/comments/changes'),
      activity: await read<TicketActivity>('/tickets/activity'),
    };
    const isComplete = changed.tickets.length === 2 && changed.comments.length === 3;
    return isComplete && changed.activity.some(({ changes }) => 'redactedAt' in changes) && changed;
  }, 60_000);
  expect(changed.tickets.at(-1)).toEqual(body.data);
  const redacted = { body: '[redacted]', redactedAt: expect.any(String) };
  expect(changed.comments).toMatchObject([
    { id: unrelated.data.id, body: comment.body, redactedAt: null },
    { ...redacted, id: first.id },
    { ...redacted, id: second.data.id },
  ]);
  expect(changed.activity.map(({ changes }) => changes)).toContainEqual({
    description: { from: '[redacted]', to: '[redacted]' },
    customFields: { from: {}, to: {} },
  });
  expect(changed.activity.at(-1)?.changes).toEqual({
    redactedAt: { from: null, to: body.data.redactedAt },
    attachmentCount: { from: 1, to: 0 },
  });
  const repeated = await post(
    '/tickets',
    { ...ticket, title: 'Laptop of Wilhelmina Quist', customFields: { contact: email, site: 'Bonn' } },
    { 'idempotency-key': 'ticket' },
  );
  expect(repeated).toMatchObject({ id: named.id, title: '[redacted]', customFields: { site: 'Bonn' } });
  expect((await mine.call('GET', `/attachments/${attached.id}`)).status).toBe(404);
  const subjects = await api.prisma.auditEntry.findMany({ where: { action: 'user.changed' }, orderBy: { id: 'asc' } });
  expect(subjects.map(({ subject }) => subject)).toEqual([null, 'Jonas']);
  const audited = await api.prisma.auditEntry.findMany({ orderBy: { id: 'desc' }, take: 6 });
  expect(audited.map(({ action, targetId }) => [action, Number(targetId)]).reverse()).toEqual([
    ['key.revoked', erased.revokedKeys[0].id],
    ['user.erased', person.id],
    ['ticket.redacted', named.id],
    ['attachment.redacted', named.id],
    ['comment.redacted', first.id],
    ['comment.redacted', second.data.id],
  ]);
});

it('rejects rows of another workspace, and the last administrator', async () => {
  const { id } = await theirs.createTicket();
  const written = await theirs.createComment(id);
  const attached = await theirs.createAttachment(id);
  const own = await mine.createTicket();
  for (const [command, message] of [
    [`users erase ${theirs.userId}`, 'User not found'],
    [`users erase ${mine.userId}`, 'the last active administrator'],
    [`tickets redact ${own.id} ${id}`, 'Ticket not found'],
    [`comments redact ${written.id}`, 'Comment not found'],
    [`tickets redact ${own.id} --attachments ${attached.id}`, 'must be an attachment of this ticket'],
  ] as const) {
    const { code, stderr } = await itsm(`${command} --tenant ${mine.tenantId} --yes`);
    expect([code, stderr]).toEqual([1, expect.stringContaining(message)]);
  }
  expect((await mine.call('GET', `/tickets/${own.id}`)).body.data).toEqual(own);
  expect((await theirs.call('GET', `/tickets/${id}/comments`)).body.data).toEqual([written]);
});

it('redacts the names of attachments that were deleted before', async () => {
  await mine.createWebhook();
  const name = `Deleted ${unique()}.pdf`;
  const { id } = await mine.createTicket();
  const path = `/tickets/${id}/attachments?name=${encodeURIComponent(name)}`;
  const headers = { 'content-type': 'text/plain', 'idempotency-key': unique() };
  const { id: attachmentId } = await post(path, 'x', headers);
  await mine.call('DELETE', `/attachments/${attachmentId}`);
  const kept = await mine.createAttachment(id, { name: 'kept.pdf' });
  await redact(mine.context, { tickets: [id] });
  const { data } = (await mine.call('GET', `/tickets/${id}/activity`)).body;
  expect(JSON.stringify(data)).not.toContain(name);
  expect(data).toContainEqual(
    expect.objectContaining({
      changes: expect.objectContaining({ attachments: { from: null, to: { id: kept.id, name: 'kept.pdf' } } }),
    }),
  );
  expect(await api.prisma.event.count({ where: { body: { contains: name } } })).toBe(0);
  expect(await post(path, 'x', headers)).toMatchObject({ id: attachmentId, name: '[redacted]' });
});

it('does not change the stored response of a link that has the id of a redacted ticket', async () => {
  const other = await createWorkspace(api);
  const { id } = await other.createTicket();
  await api.owner.pool.query(`SELECT setval('ticket_links_id_seq', $1, false)`, [id]);
  const second = await other.createTicket();
  const create = () =>
    other.call('POST', `/tickets/${id}/links`, { type: 'BLOCKS', ticketId: second.id }, { 'idempotency-key': 'link' });
  const { body } = await create();
  expect(body.data.id).toBe(id);
  await redact(other.context, { tickets: [id] });
  expect((await create()).body).toEqual(body);
});

it('keeps no response of a receiver to an event that a worker is sending during the redaction', async () => {
  const other = await createWorkspace(api);
  const { id: webhookId } = await other.createWebhook();
  const { id } = await other.createTicket();
  const { tenantId } = other;
  const [delivery] = await claimDue(api.prisma, [{ tenantId, subscriptionId: BigInt(webhookId), slots: 1 }]);
  if (delivery === undefined) throw new Error('No delivery is due.');
  await redact(other.context, { tickets: [id] });
  const outcome = {
    delivered: true,
    status: 200,
    durationMs: 1,
    error: null,
    answer: null,
    publicAnswer: ticket.title,
  };
  await recordResults(api.prisma, [{ delivery, outcome: { ...outcome, retryAfter: undefined } }]);
  const attempts = await api.prisma.deliveryAttempt.findMany({ where: { tenantId } });
  expect(attempts.map(({ publicAnswer }) => publicAnswer)).not.toContain(ticket.title);
});

it('ends only after the storage has deleted the files', async () => {
  const { id, ticketId } = await mine.createAttachment();
  const { storage } = mine.context;
  let isDeleted = false;
  const deleteLater = async (key: string) => {
    await sleep(50);
    await storage.delete(key);
    isDeleted = true;
  };
  await redact(
    { ...mine.context, storage: { ...storage, delete: deleteLater } },
    { tickets: [ticketId], attachments: [id] },
  );
  expect(isDeleted).toBe(true);
});

it('deletes the remaining files if a redaction is repeated after it was killed', async () => {
  const { id, ticketId } = await mine.createAttachment();
  const { storageKey } = await api.prisma.attachment.findFirstOrThrow({ where: { id } });
  const other = await mine.createAttachment();
  const { storage } = mine.context;
  const killed = { ...storage, delete: () => Promise.reject(new Error('The process was killed.')) };
  await redact({ ...mine.context, storage: killed }, { tickets: [ticketId], attachments: [id] });
  (await storage.read(storageKey)).destroy();

  const { code, stderr } = await itsm(
    `tickets redact ${ticketId} --attachments ${id},${other.id} --tenant ${mine.tenantId} --yes`,
  );
  expect([code, stderr]).toEqual([1, expect.stringContaining('must be an attachment of this ticket')]);
  const redaction = { tickets: [ticketId], comments: [], attachments: [id], remainingFiles: 0 };
  for (let count = 0; count < 2; count++) {
    expect(await run(`tickets redact ${ticketId} --attachments ${id} --yes`)).toEqual(redaction);
  }
  await expect(storage.read(storageKey)).rejects.toThrow('is missing');
  const audited = { action: 'attachment.redacted', targetId: ticketId };
  expect(await api.prisma.auditEntry.count({ where: audited })).toBe(1);
});

it('reports the files that a redaction could not delete', async () => {
  const { id, ticketId } = await mine.createAttachment();
  const command = `tickets redact ${ticketId} --attachments ${id} --tenant ${mine.tenantId} --yes`;
  await rename(join(folder, 'attachments'), join(folder, 'elsewhere'));
  const { code, stdout, stderr } = await itsm(command);
  await rename(join(folder, 'elsewhere'), join(folder, 'attachments'));
  expect(code).toBe(0);
  expect(stdout).toContain('Redacted 1 ticket and deleted 1 attachment. Files that could not be deleted: 1.');
  expect(stderr).toContain('lacks the file installation-id');
  expect((await itsm(command)).stdout).toBe('Redacted 1 ticket and deleted 1 attachment.\n');
});

it('does not block uploads to other tickets while a redaction searches the events', async () => {
  await mine.createWebhook();
  const { id, ticketId } = await mine.createAttachment();
  const other = await mine.createTicket();
  const connection = await api.owner.pool.connect();
  await connection.query('BEGIN');
  await connection.query('SELECT FROM events WHERE tenant_id = $1 FOR UPDATE', [mine.tenantId]);
  const redaction = redact(mine.context, { tickets: [ticketId], attachments: [id] });
  try {
    await expect.poll(() => requestsWaiting(api, 'system')).toBe(1);
    await mine.createAttachment(other.id);
  } finally {
    await connection.query('ROLLBACK');
    connection.release();
    await redaction;
  }
});
