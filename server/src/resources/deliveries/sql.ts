import { join, type Sql, sql, tenant } from '../../database/client/sql.ts';
import { dynamic, oneAsJson } from '../../database/client/statements.ts';
import type { TenantClient } from '../../database/client/tenant-client.ts';

/*
 * Reads deliveries in SQL. A subscription can have millions of deliveries, so the statements use index-only scans to
 * count and skip rows, and process each status separately.
 */

/** Selects a range of a subscription's deliveries, newest first. */
interface Range {
  subscriptionId: number;
  /** The statuses to include, or undefined to include all statuses. */
  states: readonly string[] | undefined;
  skip: number;
  take: number;
}

type PageOf = { subscriptionId: number; skip: number; take: number };
type Ids = { ids: number[] };

const selectOfAny = oneAsJson<PageOf, Ids>(
  ({ subscriptionId, skip, take }) => sql`SELECT ARRAY(
    SELECT id FROM deliveries WHERE tenant_id = ${tenant} AND subscription_id = ${subscriptionId}
    ORDER BY id DESC OFFSET ${skip}::int LIMIT ${take}::int) AS ids`,
);

const selectOfStates = oneAsJson<PageOf & { states: string[] }, Ids>(
  ({ subscriptionId, skip, take, states }) => sql`SELECT ARRAY(
    SELECT d.id FROM unnest(${states}::text[]) AS requested (state) CROSS JOIN LATERAL (
      SELECT id FROM deliveries
      WHERE tenant_id = ${tenant} AND subscription_id = ${subscriptionId} AND state = requested.state
      ORDER BY id DESC LIMIT ${skip}::int + ${take}::int
    ) d
    ORDER BY id DESC OFFSET ${skip}::int LIMIT ${take}::int) AS ids`,
);

/** Returns the ids of the selected deliveries, newest first. */
export async function selectPage(db: TenantClient, { states, ...page }: Range): Promise<number[]> {
  const row = await (states === undefined
    ? db.$sql(selectOfAny, page)
    : db.$sql(selectOfStates, { ...page, states: [...new Set(states)] }));
  return row?.ids ?? [];
}

type CountOf = { subscriptionId: number; limit: number };
type Count = { count: number };

const countOfAny = oneAsJson<CountOf, Count>(
  ({ subscriptionId, limit }) => sql`SELECT count(*)::int AS count FROM (
    SELECT FROM deliveries WHERE tenant_id = ${tenant} AND subscription_id = ${subscriptionId} LIMIT ${limit}::int
  ) d`,
);

const countOfStates = oneAsJson<CountOf & { states: string[] }, Count>(
  ({ subscriptionId, limit, states }) => sql`SELECT count(*)::int AS count
    FROM unnest(${states}::text[]) AS requested (state) CROSS JOIN LATERAL (
      SELECT FROM deliveries
      WHERE tenant_id = ${tenant} AND subscription_id = ${subscriptionId} AND state = requested.state
      LIMIT ${limit}::int
    ) d`,
);

/**
 * Counts a subscription's deliveries. Counts at most `limit` deliveries per status or, if `states` is undefined, at
 * most `limit` in total.
 */
export async function countDeliveries(
  db: TenantClient,
  { states, ...of }: Pick<Range, 'subscriptionId' | 'states'> & { limit: number },
): Promise<number> {
  const row = await (states === undefined
    ? db.$sql(countOfAny, of)
    : db.$sql(countOfStates, { ...of, states: [...new Set(states)] }));
  return row?.count ?? 0;
}

const countSince = oneAsJson<CountOf & { states: string[]; since: string }, Count>(
  ({ subscriptionId, states, since, limit }) => sql`SELECT least(count(*), ${limit}::int)::int AS count
    FROM unnest(${states}::text[]) AS requested (state) CROSS JOIN LATERAL (
      SELECT created_at FROM deliveries
      WHERE tenant_id = ${tenant} AND subscription_id = ${subscriptionId} AND state = requested.state
      ORDER BY id DESC LIMIT ${limit}::int
    ) d WHERE created_at >= ${since}::timestamptz`,
);

/**
 * Counts a subscription's deliveries with one of the given statuses that were created at or after `since`. Checks only
 * the newest `limit` deliveries of each status.
 */
export async function countMadeSince(
  db: TenantClient,
  of: { subscriptionId: number; states: string[]; since: string; limit: number },
): Promise<number> {
  return (await db.$sql(countSince, of))?.count ?? 0;
}

/** A filter for a tenant's deliveries. */
export interface DeliverySelection {
  subscription?: number | undefined;
  /** Limits the result to deliveries of subscriptions that were created with one of this user's API keys. */
  madeBy?: bigint | undefined;
  /** An event type, such as `ticket.created`. */
  event?: string | undefined;
  /** The public id of an event, such as `evt_…`. */
  eventId?: string | undefined;
  state?: string | undefined;
  /** Selects deliveries that were created at or after `since` and before `until`. */
  since?: Date | undefined;
  until?: Date | undefined;
}

/** The exclusive bounds for delivery ids. Null means no bound. */
interface Bounds {
  after?: bigint | null;
  before?: bigint | null;
}

/**
 * Finds delivery ids just outside a time range. Uses the index on the creation time of events, because deliveries have
 * no index on their creation time. Ids and creation times have the same order, except for overlapping transactions. No
 * transaction takes an hour, so a margin of one hour is enough.
 */
async function findBounds(db: TenantClient, { since, until }: DeliverySelection): Promise<Bounds> {
  if ((since ?? until) === undefined) return {};
  const firstWhere = (condition: Sql) => sql`
    SELECT d.id FROM events e JOIN deliveries d ON d.tenant_id = e.tenant_id AND d.event_id = e.id
    WHERE e.tenant_id = ${tenant} AND d.tenant_id = ${tenant} AND ${condition} LIMIT 1`;
  const bounds = dynamic<Bounds>(
    () => sql`SELECT
      (${firstWhere(sql`e.created_at < ${since ?? null}::timestamptz - interval '1 hour' ORDER BY e.created_at DESC`)}) AS after,
      (${firstWhere(sql`e.created_at > ${until ?? null}::timestamptz + interval '1 hour' ORDER BY e.created_at`)}) AS before`,
  );
  const [found] = await db.$sql(bounds);
  return found ?? {};
}

type Condition<Value> = (value: NonNullable<Value>) => Sql;

/** The SQL condition for each filter except the event type. */
const conditions: {
  [Name in keyof (Omit<DeliverySelection, 'event'> & Bounds)]-?: Condition<(DeliverySelection & Bounds)[Name]>;
} = {
  subscription: (id) => sql`d.subscription_id = ${id}`,
  madeBy: (userId) => sql`d.subscription_id = ANY (ARRAY(
    SELECT s.id FROM webhook_subscriptions s JOIN api_keys k ON k.tenant_id = s.tenant_id AND k.id = s.key_id
    WHERE s.tenant_id = ${tenant} AND k.tenant_id = ${tenant} AND k.user_id = ${userId}))`,
  eventId: (id) => sql`d.event_id = (
    SELECT id FROM events WHERE tenant_id = ${tenant} AND public_id = ${id})`,
  state: (state) => sql`d.state = ${state}`,
  since: (moment) => sql`d.created_at >= ${moment}`,
  until: (moment) => sql`d.created_at < ${moment}`,
  after: (id) => sql`d.id > ${id}`,
  before: (id) => sql`d.id < ${id}`,
};

/** The number of newest deliveries whose event types `selectDeliveries` checks first. */
const maxNewestChecked = 2000;

/**
 * Returns the ids of the matching deliveries, newest first. PostgreSQL creates a plan for the given filter values. For
 * a filter by event type, first checks only the newest deliveries, because event types are stored in another table. If
 * too few of these deliveries have the event type, reads all deliveries that match the other filters.
 */
export async function selectDeliveries(
  db: TenantClient,
  { event, ...selection }: DeliverySelection,
  { skip, take }: Pick<Range, 'skip' | 'take'>,
): Promise<bigint[]> {
  const given = Object.entries({ ...selection, ...(await findBounds(db, selection)) }).flatMap(([name, value]) => {
    const isGiven = value !== undefined && value !== null;
    return isGiven ? conditions[name as keyof typeof conditions](value as never) : [];
  });
  const where = join([sql`d.tenant_id = ${tenant}`, ...given], ' AND ');
  const select = async (ids: Sql) => {
    const rows = await db.$sql(dynamic<{ id: bigint }>(() => sql`${ids} DESC OFFSET ${skip} LIMIT ${take}`));
    return rows.map(({ id }) => id);
  };
  if (event === undefined) return select(sql`SELECT d.id FROM deliveries d WHERE ${where} ORDER BY d.id`);

  const events = sql`JOIN events e ON e.tenant_id = ${tenant} AND e.id = d.event_id AND e.type = ${event}`;
  const newest = sql`SELECT d.id, d.event_id FROM deliveries d WHERE ${where} ORDER BY d.id DESC LIMIT ${maxNewestChecked}`;
  const recent = await select(sql`SELECT d.id FROM (${newest}) d ${events} ORDER BY d.id`);
  if (recent.length === take) return recent;
  // No index has the order `id + 0`, so the planner expects to read all rows. For the order `id`, the planner would
  // expect to find enough rows early, and would look up the event of each delivery.
  return select(sql`SELECT d.id FROM deliveries d ${events} WHERE ${where} ORDER BY (d.id + 0)`);
}
