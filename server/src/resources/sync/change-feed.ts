import type { ChangesMeta, ChangesQuery } from '@itsm-api/contract';
import { queryOne, tenantQuery } from '../../database/client/raw-sql.ts';
import type { TenantClient } from '../../database/client/tenant-client.ts';
import { invalidField } from '../../shared/errors.ts';
import type { Context } from '../shared/context.ts';
import { type CursorPosition, readCursor, writeCursor } from './change-cursor.ts';

/*
 * What has changed, in the order of the transactions that changed it, up to the first that may still be running
 * (docs/decisions/change-feed.md). Triggers keep the order.
 */

/** The rows of a resource as the API answers them, as those who keep a copy read them. */
export interface Rows<Row> {
  /** Their table. */
  resource: string;
  /** Those with these ids that there are, in whatever order; or what reads them in the statement that finds their ids. */
  named: ((db: TenantClient, ids: number[]) => Promise<Row[]>) | InStatement<Row>;
  /** Some of those behind an id, in the order of the ids. */
  after(db: TenantClient, id: number, take: number): Promise<Row[]>;
}

/** Rows that are read with their places, without a round trip of their own. */
interface InStatement<Row> {
  /** SQL that selects them as one array of JSON; `page` has their ids, $1 is the tenant. */
  text: string;
  /** @param rows what it selects; null for none */
  present(rows: unknown): Row[];
}

/** A page of what has changed in a resource. @throws ApiError VALIDATION_ERROR for `since` or `cursor` */
export async function listChanges<Row extends { id: number }>(
  { db, now }: Context,
  rows: Rows<Row>,
  { since, cursor, perPage }: ChangesQuery,
): Promise<{ data: Row[]; meta: ChangesMeta }> {
  const followed = { tenantId: db.$tenantId, resource: rows.resource };
  const start = cursor === undefined ? startSince(since, now()) : startAt(readCursor(followed, cursor));
  const { named } = rows;
  const page = tenantQuery(pageText(start.text, typeof named === 'function' ? 'NULL' : named.text));
  const found = await queryOne<Found>(db, page, [rows.resource, perPage + 1, ...start.values]);
  if (found === undefined) throw new Error('There is no epoch of changes.');

  const places = (found.changes ?? []).map(([position, id]): CursorPosition => ({ position, id }));
  const shown = places.slice(0, perPage);
  const ids = shown.map(({ id }) => id);
  // Read after their places they are at least as new: what is newer has another place, further on.
  const several =
    typeof named === 'function' ? await (ids.length === 0 ? [] : named(db, ids)) : named.present(found.rows);
  const byId = new Map(several.map((row) => [row.id, row]));
  const nextCursor = writeCursor(followed, { startedAt: found.startedAt, ...(shown.at(-1) ?? found.start) });
  return {
    // One that is gone has a place, and nothing to show there.
    data: ids.flatMap((id) => byId.get(id) ?? []),
    meta: { nextCursor, hasMore: places.length > shown.length },
  };
}

/** A cursor behind all that is committed now: what is read after it was given, and what comes after it, are all. */
export async function cursorOfNow(db: TenantClient, resource: string): Promise<string> {
  const now = await queryOne<{ startedAt: string; horizon: number }>(db, readingNow, []);
  if (now === undefined) throw new Error('There is no epoch of changes.');
  const { startedAt, horizon } = now;
  return writeCursor({ tenantId: db.$tenantId, resource }, { startedAt, position: horizon, id: 0 });
}

/** What one statement finds. */
interface Found {
  startedAt: string;
  /** Behind which it looked. */
  start: CursorPosition;
  /** Positions and ids. */
  changes: [number, number][] | null;
  /** Those that are read in the same statement. */
  rows: unknown;
}

/** Where to read from: CTEs, and the values of their parameters. */
interface Start {
  text: string;
  values: unknown[];
}

/** The clocks of clients, of servers and of PostgreSQL may differ by so much. Milliseconds. */
const clockMarginMs = 60_000;

/** PostgreSQL has no year 0. */
const firstMoment = Date.parse('0001-01-01T00:00:00Z');

function startSince(since: string | undefined, now: Date): Start {
  if (since === undefined) return { text: fromBeginning, values: [] };
  if (Date.parse(since) > now.getTime() + clockMarginMs) {
    throw invalidField(
      'VALIDATION_ERROR',
      'since',
      `must not be in the future. The server time is ${now.toISOString()}.`,
    );
  }
  const moment = Math.max(Date.parse(since) - clockMarginMs, firstMoment);
  return { text: fromTime, values: [new Date(moment).toISOString()] };
}

function startAt({ startedAt, position, id }: ReturnType<typeof readCursor>): Start {
  return { text: fromCursor, values: [position, id, startedAt] };
}

/**
 * The newest epoch, and the position of the first transaction that may still be running in the statement's snapshot. After
 * a start or a recovery of PostgreSQL the first who asks or writes begins another one.
 */
const epoch = `
  epoch AS MATERIALIZED (
    SELECT started_at, position_offset + pg_snapshot_xmin(pg_current_snapshot())::text::bigint AS horizon
    FROM current_change_epoch()
  )`;

const microseconds = (moment: string) => `(extract(epoch FROM ${moment}) * 1000000)::bigint`;
const startOf = `${microseconds('started_at')}::text`;

const readingNow = tenantQuery(`WITH ${epoch} SELECT ${startOf} AS "startedAt", horizon FROM epoch`);

/**
 * The parameters: $1 is the tenant, $2 the resource, $3 how many; those of `start` follow.
 * @param start ends with a CTE of one row, the place behind which to read
 * @param rows what else to read of the page
 */
function pageText(start: string, rows: string): string {
  return `WITH RECURSIVE ${epoch}, ${start}, page AS MATERIALIZED (
    SELECT position, id FROM changes WHERE tenant_id = $1 AND resource = $2
      AND (position, id) > ((SELECT position FROM start), (SELECT id FROM start))
      AND position < (SELECT horizon FROM epoch)
    ORDER BY position, id LIMIT $3
  )
  SELECT (SELECT ${startOf} FROM epoch) AS "startedAt",
    (SELECT json_build_object('position', position, 'id', id) FROM start) AS start,
    (SELECT json_agg(json_build_array(position, id) ORDER BY position, id) FROM page) AS changes,
    (${rows}) AS rows`;
}

/** Before every position; a number that JSON holds exactly. */
const beginning = Number.MIN_SAFE_INTEGER;

const fromBeginning = `start AS (SELECT ${beginning}::bigint AS position, 0::bigint AS id)`;

/**
 * $4 and $5 are the place, $6 the run of PostgreSQL in which it was given. If there was another one after it, what that
 * one gave is read from its first position on: something may have been lost in between, and the places given anew. Which
 * came after which says the time that each is called by: two who note the same recovery may note it in another order than
 * that of their transactions. A run that nobody remembers was lost itself: then all is read. The statement doesn't see a run
 * that it is the first to note, nor may all have ended that began before its first position: a place behind the horizon is
 * no place of it.
 */
const fromCursor = `start AS MATERIALIZED (
    SELECT position, id FROM (
      SELECT $4::bigint AS position, $5::bigint AS id
      UNION ALL
      SELECT min(begins_at), 0 FROM change_epochs WHERE ${microseconds('started_at')} > $6::bigint
      UNION ALL
      SELECT horizon, 0 FROM epoch WHERE ${microseconds('started_at')} <> $6::bigint
      UNION ALL
      SELECT ${beginning}, 0 WHERE NOT EXISTS (
        SELECT FROM change_epochs WHERE ${microseconds('started_at')} = $6::bigint)
    ) AS places WHERE position IS NOT NULL ORDER BY position, id LIMIT 1
  )`;

/**
 * $4 is the time. Positions and times are in one order but for what long transactions mix up, so a search by halves finds
 * some last row that was written before: whatever was running then, or later, is at its horizon or behind.
 */
const fromTime = `halves (low, high, horizon) AS (
    SELECT first.position, last.position, first.horizon
    FROM (SELECT * FROM changes WHERE tenant_id = $1 AND resource = $2 ORDER BY position, id LIMIT 1) AS first,
      (SELECT * FROM changes WHERE tenant_id = $1 AND resource = $2 ORDER BY position DESC, id DESC LIMIT 1) AS last
    WHERE first.changed_at < $4::timestamptz
    UNION ALL
    SELECT CASE WHEN is_before THEN middle ELSE low END, CASE WHEN is_before THEN high ELSE found.position - 1 END,
      CASE WHEN is_before THEN found.horizon ELSE halves.horizon END
    FROM (SELECT *, low + (high - low + 1) / 2 AS middle FROM halves WHERE low < high) AS halves
    CROSS JOIN LATERAL (
      SELECT position, horizon, changed_at < $4::timestamptz AS is_before FROM changes
      WHERE tenant_id = $1 AND resource = $2 AND position <= middle ORDER BY position DESC, id DESC LIMIT 1
    ) AS found
  ), start AS MATERIALIZED (
    SELECT COALESCE((SELECT horizon FROM halves WHERE low >= high), ${beginning}) AS position, 0::bigint AS id
  )`;
