import { sql, tenant } from '../../database/client/sql.ts';
import { type None, rows } from '../../database/client/statements.ts';
import type { TenantClient } from '../../database/client/tenant-client.ts';

const nextId = rows<None, { id: bigint }>(
  // The sequence is the same for all tenants.
  () =>
    sql`SELECT nextval(pg_get_serial_sequence('webhook_subscriptions', 'id')) AS id WHERE ${tenant}::bigint IS NOT NULL`,
);

/** Reserves the id for a new subscription. Encrypting the secret requires the id before the row is inserted. */
export async function newSubscriptionId(db: TenantClient): Promise<bigint> {
  const [row] = await db.$sql(nextId);
  return (row as { id: bigint }).id;
}

const addHours = rows<{ hours: number }, { moment: Date }>(
  ({ hours }) => sql`SELECT now() + ${hours}::int * interval '1 hour' AS moment WHERE ${tenant}::bigint IS NOT NULL`,
);

/** Returns the time that is `hours` hours from now, according to the database clock. */
export async function inHours(db: TenantClient, hours: number): Promise<Date> {
  const [row] = await db.$sql(addHours, { hours });
  return (row as { moment: Date }).moment;
}

/** A replay to insert. */
interface NewReplay {
  subscriptionId: number;
  since: string;
  states: readonly string[];
}

const insert = rows<NewReplay, { id: bigint }>(
  ({ subscriptionId, since, states }) => sql`
    INSERT INTO webhook_replays (tenant_id, subscription_id, since, states)
    VALUES (${tenant}, ${subscriptionId}, ${since}::timestamptz, ${states}) RETURNING id`,
);

/**
 * Inserts a replay. Uses the database clock for the current time, because `settledAt` in deliveries also uses it.
 * Prisma would use the clock of this process.
 */
export async function insertReplay(db: TenantClient, replay: NewReplay): Promise<bigint> {
  const [row] = await db.$sql(insert, replay);
  return (row as { id: bigint }).id;
}
