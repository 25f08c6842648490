import { Prisma } from '../../../generated/prisma/client.ts';
import { queryOne, queryRows, queryWithCustomPlan, tenantQuery } from '../../database/client/raw-sql.ts';
import type { TenantClient } from '../../database/client/tenant-client.ts';
import type { TenantId } from '../../shared/tenant-id.ts';

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

const ofAny = tenantQuery(`SELECT ARRAY(
  SELECT id FROM deliveries WHERE tenant_id = $1 AND subscription_id = $2
  ORDER BY id DESC OFFSET $3::int LIMIT $4::int) AS ids`);

const ofStates = tenantQuery(`SELECT ARRAY(
  SELECT d.id FROM unnest($5::text[]) AS wanted (state) CROSS JOIN LATERAL (
    SELECT id FROM deliveries WHERE tenant_id = $1 AND subscription_id = $2 AND state = wanted.state
    ORDER BY id DESC LIMIT $3::int + $4::int
  ) d
  ORDER BY id DESC OFFSET $3::int LIMIT $4::int) AS ids`);

/** The ids of a page of deliveries, newest first. */
export async function selectPage(db: TenantClient, { subscriptionId, states, skip, take }: Range): Promise<number[]> {
  const values = [subscriptionId, skip, take];
  const row = await (states === undefined
    ? queryOne<{ ids: number[] }>(db, ofAny, values)
    : queryOne<{ ids: number[] }>(db, ofStates, [...values, [...new Set(states)]]));
  return row?.ids ?? [];
}

const countOfAny = tenantQuery(`
  SELECT count(*)::int AS count FROM (
    SELECT FROM deliveries WHERE tenant_id = $1 AND subscription_id = $2 LIMIT $3::int
  ) d`);

const countOfStates = tenantQuery(`
  SELECT count(*)::int AS count FROM unnest($4::text[]) AS wanted (state) CROSS JOIN LATERAL (
    SELECT FROM deliveries WHERE tenant_id = $1 AND subscription_id = $2 AND state = wanted.state LIMIT $3::int
  ) d`);

/** How many deliveries there are; of each state at most so many are counted. */
export async function countDeliveries(
  db: TenantClient,
  { subscriptionId, states, limit }: Pick<Range, 'subscriptionId' | 'states'> & { limit: number },
): Promise<number> {
  const values = [subscriptionId, limit];
  const row = await (states === undefined
    ? queryOne<{ count: number }>(db, countOfAny, values)
    : queryOne<{ count: number }>(db, countOfStates, [...values, [...new Set(states)]]));
  return row?.count ?? 0;
}

const matching = tenantQuery(`
  SELECT least(count(*), $5::int)::int AS matching FROM unnest($3::text[]) AS wanted (state) CROSS JOIN LATERAL (
    SELECT created_at FROM deliveries WHERE tenant_id = $1 AND subscription_id = $2 AND state = wanted.state
    ORDER BY id DESC LIMIT $5::int
  ) d WHERE created_at >= $4::timestamptz`);

/** How many deliveries in these states were made since a moment; of each state the newest, at most so many, are asked. */
export async function countMadeSince(
  db: TenantClient,
  {
    subscriptionId,
    states,
    since,
    limit,
  }: { subscriptionId: number; states: string[]; since: string; limit: number },
): Promise<number> {
  const row = await queryOne<{ matching: number }>(db, matching, [subscriptionId, states, since, limit]);
  return row?.matching ?? 0;
}

/** Which of a tenant's deliveries. */
export interface Wanted {
  subscription?: number | undefined;
  /** Those to subscriptions that a key of this user made. */
  madeBy?: bigint | undefined;
  /** An event's type. */
  event?: string | undefined;
  /** `evt_…` */
  eventId?: string | undefined;
  state?: string | undefined;
  /** Made then or later; made before. */
  since?: Date | undefined;
  until?: Date | undefined;
}

const { join, sql } = Prisma;

/** Between which ids they are; null where there is none. */
interface Bounds {
  after?: string | null;
  before?: string | null;
}

/**
 * The last delivery before all that were made since a moment, and the first behind all that were made until one. Ids are
 * given out in the order of time but for transactions that overlap, none of which takes an hour; and it is events that have
 * an index of their times.
 */
async function boundsOf(db: TenantClient, { since, until }: Wanted): Promise<Bounds> {
  if ((since ?? until) === undefined) return {};
  const firstWhere = (condition: Prisma.Sql) => sql`
    SELECT d.id FROM events e JOIN deliveries d ON d.tenant_id = e.tenant_id AND d.event_id = e.id
    WHERE e.tenant_id = ${db.$tenantId} AND d.tenant_id = ${db.$tenantId} AND ${condition} LIMIT 1`;
  const [found] = await queryRows<Bounds>(
    db,
    sql`SELECT
      (${firstWhere(sql`e.created_at < ${since ?? null}::timestamptz - interval '1 hour' ORDER BY e.created_at DESC`)}) AS after,
      (${firstWhere(sql`e.created_at > ${until ?? null}::timestamptz + interval '1 hour' ORDER BY e.created_at`)}) AS before`,
  );
  return found ?? {};
}

type Condition<Value> = (value: NonNullable<Value>, tenantId: TenantId) => Prisma.Sql;

/** The condition of each thing that may be wanted, but for the type. */
const conditions: { [Name in keyof (Omit<Wanted, 'event'> & Bounds)]-?: Condition<(Wanted & Bounds)[Name]> } = {
  subscription: (id) => sql`d.subscription_id = ${id}`,
  madeBy: (userId, tenantId) => sql`d.subscription_id = ANY (ARRAY(
    SELECT s.id FROM webhook_subscriptions s JOIN api_keys k ON k.tenant_id = s.tenant_id AND k.id = s.key_id
    WHERE s.tenant_id = ${tenantId} AND k.tenant_id = ${tenantId} AND k.user_id = ${userId}))`,
  eventId: (id, tenantId) => sql`d.event_id = (
    SELECT id FROM events WHERE tenant_id = ${tenantId} AND public_id = ${id})`,
  state: (state) => sql`d.state = ${state}`,
  since: (moment) => sql`d.created_at >= ${moment}`,
  until: (moment) => sql`d.created_at < ${moment}`,
  after: (id) => sql`d.id > ${id}`,
  before: (id) => sql`d.id < ${id}`,
};

/** How many of the newest are looked at one by one, in the hope that enough of them are of a type. */
const lookedAt = 2000;

/**
 * The ids of deliveries, newest first; planned for what is wanted, which decides where they are best looked for. The type
 * is the event's: where few of the newest are of it, all that match are read, since to look the event of each of very many
 * up costs more.
 */
export async function selectWanted(
  db: TenantClient,
  { event, ...wanted }: Wanted,
  { skip, take }: Pick<Range, 'skip' | 'take'>,
): Promise<bigint[]> {
  const tenantId = db.$tenantId;
  const asked = Object.entries({ ...wanted, ...(await boundsOf(db, wanted)) }).flatMap(([name, value]) => {
    const isAsked = value !== undefined && value !== null;
    return isAsked ? conditions[name as keyof typeof conditions](value as never, tenantId) : [];
  });
  const where = join([sql`d.tenant_id = ${tenantId}`, ...asked], ' AND ');
  const select = async (ids: Prisma.Sql) => {
    const rows = await queryWithCustomPlan<{ id: string }>(db, sql`${ids} DESC OFFSET ${skip} LIMIT ${take}`);
    return rows.map(({ id }) => BigInt(id));
  };
  if (event === undefined) return select(sql`SELECT d.id FROM deliveries d WHERE ${where} ORDER BY d.id`);

  const events = sql`JOIN events e ON e.tenant_id = ${tenantId} AND e.id = d.event_id AND e.type = ${event}`;
  const newest = sql`SELECT d.id, d.event_id FROM deliveries d WHERE ${where} ORDER BY d.id DESC LIMIT ${lookedAt}`;
  const near = await select(sql`SELECT d.id FROM (${newest}) d ${events} ORDER BY d.id`);
  if (near.length === take) return near;
  // By an order that no index has, so that the best way to all of them is taken, not one that hopes to end early.
  return select(sql`SELECT d.id FROM deliveries d ${events} WHERE ${where} ORDER BY (d.id + 0)`);
}
