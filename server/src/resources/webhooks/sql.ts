import { rawClient, type TenantClient } from '../../database/client/tenant-client.ts';

/** Reserves the id for a new subscription. Encrypting the secret requires the id before the row is inserted. */
export async function newSubscriptionId(db: TenantClient): Promise<bigint> {
  const rows = await rawClient(db).$queryRaw<[{ id: bigint }]>`
    SELECT nextval(pg_get_serial_sequence('webhook_subscriptions', 'id')) AS id`;
  return rows[0].id;
}

/** Returns the time that is `hours` hours from now, according to the database clock. */
export async function inHours(db: TenantClient, hours: number): Promise<Date> {
  const rows = await rawClient(db).$queryRaw<[{ moment: Date }]>`
    SELECT now() + ${hours}::int * interval '1 hour' AS moment`;
  return rows[0].moment;
}

/**
 * Inserts a replay. Uses the database clock for the current time, because `settledAt` in deliveries also uses it.
 * Prisma would use the clock of this process.
 */
export async function insertReplay(
  db: TenantClient,
  { subscriptionId, since, states }: { subscriptionId: number; since: string; states: readonly string[] },
): Promise<bigint> {
  const rows = await rawClient(db).$queryRaw<[{ id: bigint }]>`
    INSERT INTO webhook_replays (tenant_id, subscription_id, since, states)
    VALUES (${db.$tenantId}, ${subscriptionId}, ${since}::timestamptz, ${states}) RETURNING id`;
  return rows[0].id;
}
