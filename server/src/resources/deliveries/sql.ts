import { selectRows } from '../../database/statements.ts';
import type { TenantClient } from '../../database/tenant-client.ts';

/*
 * Deliveries in SQL. A subscription may have millions: what is skipped or counted is read from an index alone, and from
 * one index for each state. Every statement filters by tenant itself.
 */

/** Which of a subscription's deliveries, and how many of them are passed over. */
interface Range {
  subscriptionId: number;
  /** All unless given. */
  states: readonly string[] | undefined;
  skip: number;
  take: number;
}

const ofAny = `
  SELECT id FROM deliveries WHERE tenant_id = $1 AND subscription_id = $2
  ORDER BY id DESC OFFSET $3::int LIMIT $4::int`;

const ofStates = `
  SELECT d.id FROM unnest($5::text[]) AS wanted (state) CROSS JOIN LATERAL (
    SELECT id FROM deliveries WHERE tenant_id = $1 AND subscription_id = $2 AND state = wanted.state
    ORDER BY id DESC LIMIT $3::int + $4::int
  ) d
  ORDER BY id DESC OFFSET $3::int LIMIT $4::int`;

/** The ids of a page of deliveries, newest first. */
export async function selectPage(db: TenantClient, { subscriptionId, states, skip, take }: Range): Promise<bigint[]> {
  const values = [db.$tenantId, subscriptionId, skip, take];
  const statement =
    states === undefined ? { text: ofAny, values } : { text: ofStates, values: [...values, [...new Set(states)]] };
  const rows = await selectRows<{ id: string }>(db, statement);
  return rows.map(({ id }) => BigInt(id));
}

const countOfAny = `
  SELECT count(*)::int AS count FROM (
    SELECT FROM deliveries WHERE tenant_id = $1 AND subscription_id = $2 LIMIT $3::int
  ) d`;

const countOfStates = `
  SELECT count(*)::int AS count FROM unnest($4::text[]) AS wanted (state) CROSS JOIN LATERAL (
    SELECT FROM deliveries WHERE tenant_id = $1 AND subscription_id = $2 AND state = wanted.state LIMIT $3::int
  ) d`;

/** How many deliveries there are; of each state at most so many are counted. */
export async function countDeliveries(
  db: TenantClient,
  { subscriptionId, states, atMost }: Pick<Range, 'subscriptionId' | 'states'> & { atMost: number },
): Promise<number> {
  const values = [db.$tenantId, subscriptionId, atMost];
  const [row] = await selectRows<{ count: number }>(
    db,
    states === undefined
      ? { text: countOfAny, values }
      : { text: countOfStates, values: [...values, [...new Set(states)]] },
  );
  return row?.count ?? 0;
}

const matching = `
  SELECT least(count(*), $5::int)::int AS matching FROM unnest($3::text[]) AS wanted (state) CROSS JOIN LATERAL (
    SELECT created_at FROM deliveries WHERE tenant_id = $1 AND subscription_id = $2 AND state = wanted.state
    ORDER BY id DESC LIMIT $5::int
  ) d WHERE created_at >= $4::timestamptz`;

/** How many deliveries in these states were made since a moment; of each state the newest, at most so many, are asked. */
export async function countMadeSince(
  db: TenantClient,
  {
    subscriptionId,
    states,
    since,
    atMost,
  }: { subscriptionId: number; states: string[]; since: string; atMost: number },
): Promise<number> {
  const values = [db.$tenantId, subscriptionId, states, since, atMost];
  const [row] = await selectRows<{ matching: number }>(db, { text: matching, values });
  return row?.matching ?? 0;
}
