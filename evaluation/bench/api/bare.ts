import { createServer, type IncomingMessage } from 'node:http';
import { json } from 'node:stream/consumers';
import { ConnectionWatchdog } from '@itsm-api/server/database/client/connection-watchdog.ts';
import { TenantPool } from '@itsm-api/server/database/client/pool.ts';
import { withinTenant } from '@itsm-api/server/database/client/tenant-context.ts';
import { requestRole } from '@itsm-api/server/database/roles.ts';
import { toTenantId } from '@itsm-api/server/shared/tenant-id.ts';
import pg from 'pg';

/*
 * A reference server that uses node:http and runs the same SQL as the API, with prepared statements of pg. It has no
 * API keys, validation, limits or totals. If ROW_LEVEL_SECURITY is set, the server connects as `itsm_request` and sets
 * the tenant in each statement, as the API does. The parent process stops the server.
 */
const connectionString = process.env.DATABASE_URL ?? '';
const pool: pg.Pool = process.env.ROW_LEVEL_SECURITY
  ? new TenantPool({
      connectionString,
      application_name: 'bare pg under row-level security',
      role: requestRole,
      max: 10,
      timeouts: { statementMs: 60_000, lockMs: 60_000 },
      watchdog: new ConnectionWatchdog(),
      onConnectionError: () => undefined,
    })
  : new pg.Pool({ connectionString, max: 10 });
pg.types.setTypeParser(20, Number);

const columns = `t.id, t.type, t.number, t.title, t.description, t.status, t.priority, t.category,
  t.category_config_id AS "categoryConfigId", t.requester_id AS "requesterId", t.assignee_id AS "assigneeId",
  t.parent_id AS "parentId", t.custom_fields AS "customFields", t.resolution, t.resolved_at AS "resolvedAt",
  t.closed_at AS "closedAt", t.created_at AS "createdAt", t.updated_at AS "updatedAt",
  t.watcher_ids AS "watcherUserIds"`;

const statements = {
  get: `SELECT ${columns} FROM tickets t WHERE tenant_id = $1 AND id = $2`,
  list: `SELECT ${columns} FROM tickets t WHERE tenant_id = $1 ORDER BY id DESC LIMIT 20`,
  byStatus: `SELECT ${columns} FROM tickets t WHERE tenant_id = $1 AND status = $2 ORDER BY id DESC LIMIT 20`,
  byAssignee: `SELECT ${columns} FROM tickets t WHERE tenant_id = $1 AND assignee_id = $2 ORDER BY id DESC LIMIT 20`,
  deep: `SELECT ${columns} FROM (SELECT tenant_id, id FROM tickets WHERE tenant_id = $1 ORDER BY id DESC LIMIT 20 OFFSET $2) p
    JOIN tickets t USING (tenant_id, id) ORDER BY t.id DESC`,
  number: `UPDATE ticket_sequences SET total = total + 1, incident = incident + 1 WHERE tenant_id = $1 RETURNING total, incident`,
  insert: `INSERT INTO tickets AS t (tenant_id, ordinal, type, number, title, description, category, requester_id, updated_at)
    VALUES ($1, $2, 'INCIDENT', $3, $4, $5, $6, 1, now()) RETURNING ${columns}`,
  lock: `SELECT ${columns} FROM tickets t WHERE tenant_id = $1 AND id = $2 FOR NO KEY UPDATE`,
  update: `UPDATE tickets t SET title = $3, updated_at = now() WHERE tenant_id = $1 AND id = $2 RETURNING ${columns}`,
};

type Name = keyof typeof statements;

async function run(name: Name, values: unknown[], on: pg.Pool | pg.PoolClient = pool): Promise<object[]> {
  return (await on.query({ name, text: statements[name], values })).rows;
}

/** Runs a read query. With row-level security, one statement sets the tenant and reads the rows, as in the API. */
async function read(name: Name, values: unknown[]): Promise<object[]> {
  if (!(pool instanceof TenantPool)) return run(name, values);
  const [result] = await pool.runPipeline([{ name, text: settingTheTenant(statements[name]), values }], {
    setsTenant: true,
  });
  return result?.rows ?? [];
}

function settingTheTenant(text: string): string {
  return `WITH s AS MATERIALIZED (SELECT set_config('itsm.tenant_id', $1::text, true)::bigint AS tenant_id)
    SELECT r.* FROM s CROSS JOIN LATERAL (${text.replaceAll('tenant_id = $1', 'tenant_id = s.tenant_id')}) AS r`;
}

async function inTransaction(work: (client: pg.PoolClient) => Promise<object[]>): Promise<object[]> {
  const client = await pool.connect();
  try {
    await client.query({ text: 'BEGIN' });
    const rows = await work(client);
    await client.query({ text: 'COMMIT' });
    return rows;
  } catch (error) {
    await client.query({ text: 'ROLLBACK' });
    throw error;
  } finally {
    client.release();
  }
}

async function handle(request: IncomingMessage): Promise<object> {
  const [path = '', query] = (request.url ?? '').split('/api/public/v1')[1]?.split('?') ?? [];
  if (path === '/ping') return { status: 'ok', version: 'v1' };
  const id = path.split('/')[2];
  if (request.method === 'POST') {
    const { title, description, category } = (await json(request)) as Record<string, string>;
    const rows = await inTransaction(async (client) => {
      const [next] = (await run('number', [1], client)) as [{ total: number; incident: number }];
      return run('insert', [1, next.total, next.incident, title, description, category], client);
    });
    return rows[0] ?? {};
  }
  if (request.method === 'PATCH') {
    const { title } = (await json(request)) as Record<string, string>;
    const rows = await inTransaction(async (client) => {
      await run('lock', [1, id], client);
      return run('update', [1, id, title], client);
    });
    return rows[0] ?? {};
  }
  if (id !== undefined) return (await read('get', [1, id]))[0] ?? {};
  if (query === undefined) return read('list', [1]);
  const [name, value] = query.split('=');
  if (name === 'status') return read('byStatus', [1, value]);
  if (name === 'assigneeId') return read('byAssignee', [1, value]);
  return read('deep', [1, (Number(value) - 1) * 20]);
}

createServer((request, response) => {
  withinTenant(toTenantId(1), () => handle(request)).then(
    (data) => response.setHeader('content-type', 'application/json').end(JSON.stringify({ success: true, data })),
    (error) => response.writeHead(500).end(String(error)),
  );
}).listen(Number(process.env.PORT), '127.0.0.1', () => process.stdout.write('ready\n'));
