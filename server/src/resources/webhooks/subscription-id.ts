import { rawClient, type TenantClient } from '../../database/tenant-client.ts';

/** The id of a subscription that is about to be made: its secret is encrypted for that id. */
export async function newSubscriptionId(db: TenantClient): Promise<bigint> {
  const rows = await rawClient(db).$queryRaw<[{ id: bigint }]>`
    SELECT nextval(pg_get_serial_sequence('webhook_subscriptions', 'id')) AS id`;
  return rows[0].id;
}
