import type { Asset, Task, Webhook } from '@itsm-api/contract';
import { createStatementNames } from '@itsm-api/server/database/client/statement-name.ts';
import { expect } from 'vitest';
import { api, it as itBase, workspace } from '../support/fixture.ts';

/**
 * PostgreSQL keeps a named statement and its plans until the connection closes. Requests with other values must reuse
 * the existing statements.
 */
let asset: Asset;
let task: Task;
let webhook: Webhook;

const it = itBase.extend('options', { scope: 'file' }, { env: { DATABASE_POOL_SIZE: '1' } });
it.beforeAll(async () => {
  asset = await workspace.createAsset();
  const { id } = await workspace.createProject();
  task = (await workspace.call('POST', `/projects/${id}/tasks`, { title: 'Order the switch' })).body.data;
  webhook = await workspace.createWebhook();
});

const choices = {
  status: ['OPEN', 'IN_PROGRESS', 'PENDING', 'RESOLVED', 'CLOSED', 'CANCELLED'],
  priority: ['LOW', 'MEDIUM', 'HIGH', 'CRITICAL'],
  type: ['INCIDENT', 'PROBLEM', 'CHANGE', 'SERVICE_REQUEST'],
  category: ['SOFTWARE', 'HARDWARE', 'NETWORK', 'ACCESS', 'EMAIL', 'OTHER'],
};

const some = (count: number, make: (i: number) => unknown) =>
  Array.from({ length: count }, (_, i) => make(i)).join(',');

/** Returns a request for each `i`. The requests differ in their filters and in the number of filter values. */
function request(i: number): [method: string, path: string, body?: unknown] {
  const filters = Object.entries(choices)
    .filter((_, which) => ((i >> which) & 1) === 1)
    .map(([name, values]) => `${name}=${values.slice(0, 1 + (i % values.length)).join(',')}`);
  const count = 1 + (i % 50);
  switch (i % 10) {
    case 0:
      return ['GET', `/tickets?page=${1 + (i % 3)}&${filters.join('&')}`];
    case 1:
      return ['GET', `/tickets?assigneeId=${some(count, (n) => i + n + 1)}&${filters.join('&')}`];
    case 2:
      return ['GET', `/users?email=${some(count, (n) => `user${i}-${n}@example.com`)}`];
    case 3:
      return ['GET', `/assets?assignedToId=${some(count, (n) => i + n + 1)}`];
    case 4:
      return ['GET', `/tickets?requesterId=${some(count, (n) => i + n + 1)}&q=word${i}&${filters.join('&')}`];
    case 5:
      return ['GET', `/assets?q=word${i}&assignedToId=${some(count, (n) => i + n + 1)}`];
    case 6:
      return ['PATCH', `/assets/${asset.id}`, createAssetPatch(i)];
    case 7:
      return ['PATCH', `/tasks/${task.id}`, createTaskPatch(i)];
    case 8:
      return ['PATCH', `/webhooks/${webhook.id}`, createWebhookPatch(i)];
    default:
      return [
        'POST',
        '/tickets',
        { title: 'x', description: 'x', type: 'INCIDENT', category: 'OTHER', watcherUserIds: unknownIds(count, i) },
      ];
  }
}

/** Creates the body of a PATCH request that changes several asset fields. Each `i` results in new values. */
function createAssetPatch(i: number): object {
  const texts = ['name', 'serialNumber', 'manufacturer', 'model', 'location', 'notes'].map((field) => [
    field,
    `${field} ${i}`,
  ]);
  const day = new Date(i * 86_400_000).toISOString();
  const fields = [
    ...texts,
    ['purchaseCost', String(i)],
    ['purchaseDate', day.slice(0, 10)],
    ['warrantyExpiresAt', day],
  ];
  return pickFields(fields, i);
}

function createTaskPatch(i: number): object {
  const day = new Date(i * 86_400_000).toISOString().slice(0, 10);
  const fields = [
    ...[
      ['title', `Order ${i}`],
      ['description', `Of ${i}`],
      ['priority', choices.priority[i % 4]],
      ['dueDate', day],
    ],
  ];
  return pickFields(fields, i);
}

function createWebhookPatch(i: number): object {
  const fields = [
    ...[
      ['url', `https://example.com/${i}`],
      ['secret', `secret of ${i}`],
      ['skipOwn', (i & 16) === 0],
      ['paused', (i & 32) === 0],
    ],
    ['events', i & 64 ? ['ticket.created'] : ['ticket.updated']],
  ];
  return pickFields(fields, i);
}

/** Returns a different combination of `fields` for each `i`. */
function pickFields(fields: unknown[][], i: number): object {
  const chosen = (Math.floor(i / 10) % (2 ** fields.length - 1)) + 1;
  return Object.fromEntries(fields.filter((_, which) => (chosen >> which) & 1));
}

/** Returns unknown user ids. The server looks up the ids and then rejects the request. */
const unknownIds = (count: number, from: number) => Array.from({ length: count }, (_, n) => 900_000_000 + from + n);

async function send(from: number, to: number): Promise<void> {
  for (let i = from; i < to; i++) {
    const [method, ...rest] = request(i);
    const { status, text } = await workspace.call(method, ...rest);
    expect(method === 'POST' ? [400] : [200], text).toContain(status);
  }
}

/**
 * Returns the number of prepared statements and the number of bytes of memory that a database session uses. Ignores
 * allocated but unused memory, because PostgreSQL allocates memory in blocks of growing size.
 */
async function measureMemory(): Promise<{ statements: number; bytes: number }> {
  const connection = await api.databases.requests.pool.connect();
  try {
    // Only roles that can read the statistics of the PostgreSQL server can see the memory of a session.
    await connection.query('RESET ROLE');
    const { rows } = await connection.query(
      `SELECT (SELECT count(*)::int FROM pg_prepared_statements) AS statements,
        (SELECT sum(used_bytes)::float8 FROM pg_backend_memory_contexts) AS bytes`,
    );
    return rows[0] as { statements: number; bytes: number };
  } finally {
    await connection.query('SET ROLE itsm_request');
    connection.release();
  }
}

it('does not use more prepared statements or memory after 1,400 further requests', async () => {
  await send(0, 600);
  const before = await measureMemory();
  await send(600, 2000);
  const after = await measureMemory();
  expect(after.statements).toBe(before.statements);
  expect(after.bytes).toBeLessThan(before.bytes * 1.1);
});

it('names at most 1,000 prepared statements and excludes statements with a parameter list', () => {
  const statementName = createStatementNames();
  for (let length = 2; length < 2000; length++) {
    const parameters = Array.from({ length }, (_, i) => `$${i + 1}`).join(', ');
    expect(statementName(`SELECT 1 WHERE id IN (${parameters})`)).toBeUndefined();
  }
  expect(statementName('SELECT fixed')).toMatch(/^itsm_[\w-]{22}$/);
  const names = Array.from({ length: 1000 }, (_, i) => statementName(`SELECT ${i}`));
  expect(names[0]).toBeDefined();
  expect(names.at(-1)).toBeUndefined();
  expect(statementName('SELECT fixed')).toBeDefined();
});
