import pg from 'pg';
import type { Subscription } from '../../test/support/subscribed-workspaces.ts';

/** The body of a `ticket.created` event, about 900 bytes long. `loadDeliveries` replaces `{id}` with the event id. */
export const sampleBody = JSON.stringify({
  id: '{id}',
  type: 'ticket.created',
  timestamp: '2026-11-20T09:30:00.000Z',
  ticket: {
    id: 48_211,
    ticketNumber: 'INC-48211',
    title: 'VPN drops every ten minutes for everybody on the third floor',
    description: 'Since this morning the connection is lost about every ten minutes and comes back by itself. '.repeat(
      3,
    ),
    type: 'INCIDENT',
    status: 'OPEN',
    priority: 'HIGH',
    category: 'NETWORK',
    categoryConfigId: null,
    requesterId: 117,
    assigneeId: 42,
    watcherUserIds: [7, 42, 117],
    parentId: null,
    customFields: { floor: 3, building: 'North', affectedUsers: 38 },
    resolution: null,
    resolvedAt: null,
    closedAt: null,
    createdAt: '2026-11-20T09:30:00.000Z',
    updatedAt: '2026-11-20T09:30:00.000Z',
  },
});

/**
 * Inserts `count` events in one transaction. Each event has one pending delivery, and all subscriptions get the same
 * number of deliveries.
 */
export async function loadDeliveries(databaseUrl: string, subscriptions: Subscription[], count: number): Promise<void> {
  const expected = subscriptions.map(({ tenantId, id }) => ({ t: String(tenantId), s: String(id) }));
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    await client.query('BEGIN');
    // Skips the foreign key checks, which would take most of the time. The inserted rows are consistent.
    await client.query('SET LOCAL session_replication_role = replica');
    await client.query(
      `CREATE TEMP TABLE waiting ON COMMIT DROP AS
       SELECT nextval(pg_get_serial_sequence('events', 'id')) AS id, w.t AS tenant_id, w.s AS subscription_id,
         'evt_' || replace(gen_random_uuid()::text, '-', '') AS public_id
       FROM generate_series(0, $2::int - 1) AS n
       JOIN (SELECT row_number() OVER () - 1 AS place, * FROM json_to_recordset($1::json) AS j (t bigint, s bigint)) w
         ON w.place = n % $3::int`,
      [JSON.stringify(expected), count, expected.length],
    );
    await client.query(
      `INSERT INTO events (tenant_id, id, public_id, type, body)
       SELECT tenant_id, id, public_id, 'ticket.created', replace($1, '{id}', public_id) FROM waiting`,
      [sampleBody],
    );
    await client.query(
      `INSERT INTO deliveries (tenant_id, subscription_id, event_id)
       SELECT tenant_id, subscription_id, id FROM waiting`,
    );
    await client.query('COMMIT');
  } finally {
    await client.end();
  }
}
