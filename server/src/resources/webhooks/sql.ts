import { rawClient, type TenantClient } from '../../database/tenant-client.ts';

/** The id of a subscription that is about to be made: its secret is encrypted for that id. */
export async function newSubscriptionId(db: TenantClient): Promise<bigint> {
  const rows = await rawClient(db).$queryRaw<[{ id: bigint }]>`
    SELECT nextval(pg_get_serial_sequence('webhook_subscriptions', 'id')) AS id`;
  return rows[0].id;
}

/** The moment in so many hours, by the clock of the database. */
export async function inHours(db: TenantClient, hours: number): Promise<Date> {
  const rows = await rawClient(db).$queryRaw<[{ moment: Date }]>`
    SELECT now() + ${hours}::int * interval '1 hour' AS moment`;
  return rows[0].moment;
}
