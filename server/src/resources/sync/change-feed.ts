import type { ChangesMeta, ChangesQuery } from '@itsm-api/contract';
import { type Parameter, type Sql, sql, tenant } from '../../database/client/sql.ts';
import { type None, oneAsJson, type Statement } from '../../database/client/statements.ts';
import type { TenantClient } from '../../database/client/tenant-client.ts';
import { invalidField } from '../../shared/errors.ts';
import type { Context } from '../shared/context.ts';
import { type CursorPosition, readCursor, writeCursor } from './change-cursor.ts';

/*
 * Reads changes in the order of their transactions. Database triggers store this order. Stops before the first
 * transaction that may still be running (docs/decisions/change-feed.md).
 */

/** Functions that read rows of a resource for incremental sync. The rows have the API format. */
export interface FeedRows<Row> {
  /** The name of the feed, and the value of `resource` in the table that contains the positions. */
  resource: string;
  /**
   * Builds SQL that selects all rows of the feed with the columns `position`, `id`, `horizon` and `changed_at`, and with
   * the columns that `selectRows` needs. Default: the table `changes`. Comments and activities contain their own
   * positions, so the statement reads a page of them without a join.
   */
  positions?: (given: Record<'resource', Parameter>) => Sql;
  /**
   * Either a function that returns the existing rows with the given ids in any order, or SQL that selects these rows.
   * The statement that finds the changes contains this SQL.
   */
  selectRows: ((db: TenantClient, ids: number[]) => Promise<Row[]>) | InStatement<Row>;
}

/** Functions that read rows of a resource for incremental sync and exports. */
export interface Rows<Row> extends FeedRows<Row> {
  /** Returns up to `take` rows with ids greater than `id`, in ascending order. */
  after(db: TenantClient, id: number, take: number): Promise<Row[]>;
}

/** The arguments with which `rowsOf` reads the rows of a model. */
interface ModelPage {
  where: { id: { in: number[] } | { gt: number } };
  orderBy?: { id: 'asc' };
  take?: number;
}

/**
 * Returns functions that read the rows of a model for incremental sync and exports.
 * @param find reads rows with a model of the tenant client
 */
export function rowsOf<Stored, Row>(
  resource: string,
  find: (db: TenantClient, page: ModelPage) => PromiseLike<Stored[]>,
  present: (row: Stored) => Row,
): Rows<Row> {
  return {
    resource,
    selectRows: async (db, ids) => (await find(db, { where: { id: { in: ids } } })).map(present),
    after: async (db, id, take) => {
      return (await find(db, { where: { id: { gt: id } }, orderBy: { id: 'asc' }, take })).map(present);
    },
  };
}

/**
 * SQL that is part of the statement that finds the changes. It reads the changed rows without another database round
 * trip.
 */
interface InStatement<Row> {
  /**
   * SQL that selects the rows as a JSON array. The CTE `page` contains their ids, or all columns of `positions`.
   */
  select: Sql;
  /** Serializes the rows for API responses. @param rows the selected array, or null if there are no rows */
  present(rows: unknown): Row[];
}

/**
 * Returns a page of a resource's change feed.
 * @throws ApiError VALIDATION_ERROR if `since` or `cursor` is invalid
 */
export async function listChanges<Row extends { id: number }>(
  { db, now }: Context,
  rows: FeedRows<Row>,
  { since, cursor, perPage }: ChangesQuery,
): Promise<{ data: Row[]; meta: ChangesMeta }> {
  const feed = { tenantId: db.$tenantId, resource: rows.resource };
  const start = cursor === undefined ? startSince(since, now()) : startAt(readCursor(feed, cursor));
  const { selectRows } = rows;
  const given = { ...start.given, resource: rows.resource, take: perPage + 1 };
  const found = await db.$sql(getPageStatement(rows, start.name), given);
  if (found === undefined) throw new Error('The query for the change feed returned no row.');

  const places = (found.changes ?? []).map(([position, id]): CursorPosition => ({ position, id }));
  const visible = places.slice(0, perPage);
  const ids = visible.map(({ id }) => id);
  // Reads the positions first and then the rows. If a row changes in between, its new version gets a later position, so
  // no change is lost.
  const readRows =
    typeof selectRows === 'function'
      ? await (ids.length === 0 ? [] : selectRows(db, ids))
      : selectRows.present(found.rows);
  const byId = new Map(readRows.map((row) => [row.id, row]));
  const nextCursor = writeCursor(feed, { startedAt: found.startedAt, ...(visible.at(-1) ?? found.start) });
  return {
    // Deleted rows still have a position in the feed, but aren't returned.
    data: ids.flatMap((id) => byId.get(id) ?? []),
    meta: { nextCursor, hasMore: places.length > visible.length },
  };
}

/**
 * Returns a cursor for the current end of a resource's change feed. If a client reads all rows after this call and then
 * reads the changes after the cursor, the client misses no changes.
 */
export async function cursorOfNow(db: TenantClient, resource: string): Promise<string> {
  const now = await db.$sql(selectNow);
  if (now === undefined) throw new Error('The query for the change feed returned no row.');
  const { startedAt, horizon } = now;
  return writeCursor({ tenantId: db.$tenantId, resource }, { startedAt, position: horizon, id: 0 });
}

/** The result of the SQL statement that reads a page. */
interface PageResult {
  startedAt: string;
  /** The position after which the page begins. */
  start: CursorPosition;
  /** The position and id of each change. */
  changes: [number, number][] | null;
  /** The rows that the statement has read. Null if `selectRows` is a function. */
  rows: unknown;
}

/** The position after which a page begins: the name of the SQL that finds it, and the values of its parameters. */
interface Start {
  name: keyof typeof starts;
  given: object;
}

/** The maximum expected clock difference between clients, the server and PostgreSQL, in milliseconds. */
const clockMarginMs = 60_000;

/** The minimum value for `since`, because PostgreSQL has no year 0. */
const firstMoment = Date.parse('0001-01-01T00:00:00Z');

function startSince(since: string | undefined, now: Date): Start {
  if (since === undefined) return { name: 'beginning', given: {} };
  if (Date.parse(since) > now.getTime() + clockMarginMs) {
    throw invalidField(
      'VALIDATION_ERROR',
      'since',
      `must not be in the future. The server time is ${now.toISOString()}.`,
    );
  }
  const moment = Math.max(Date.parse(since) - clockMarginMs, firstMoment);
  return { name: 'time', given: { since: new Date(moment).toISOString() } };
}

function startAt({ startedAt, position, id }: ReturnType<typeof readCursor>): Start {
  return { name: 'cursor', given: { position, id, startedAt } };
}

/**
 * Selects the newest epoch. `horizon` is the position of the oldest transaction that may still be running. After
 * PostgreSQL starts or recovers, the first transaction that reads or writes changes begins a new epoch.
 */
const epoch = sql`
  epoch AS MATERIALIZED (
    SELECT started_at, position_offset + pg_snapshot_xmin(pg_current_snapshot())::text::bigint AS horizon
    FROM current_change_epoch()
  )`;

const microseconds = (moment: Sql) => sql`(extract(epoch FROM ${moment}) * 1000000)::bigint`;
const startOf = sql`${microseconds(sql`started_at`)}::text`;

const selectNow = oneAsJson<None, { startedAt: string; horizon: number }>(
  // The epoch is the same for all tenants.
  () => sql`WITH ${epoch} SELECT ${startOf} AS "startedAt", horizon FROM epoch WHERE ${tenant}::bigint IS NOT NULL`,
);

type PageStatement = Statement<{ resource: string; take: number }, PageResult, 'oneAsJson'>;

/** The statements that `getPageStatement` has already built, by feed and start. */
const pages = new Map<string, PageStatement>();

function getPageStatement(rows: FeedRows<unknown>, start: Start['name']): PageStatement {
  const key = `${rows.resource} ${start}`;
  const page =
    pages.get(key) ?? oneAsJson((given) => buildPage(given as unknown as PageParameters, rows, starts[start]));
  pages.set(key, page as PageStatement);
  return page as PageStatement;
}

/** The parameters of a page. `since`, or `position`, `id` and `startedAt`, describe its start. */
type PageParameters = Record<'resource' | 'take' | 'since' | 'position' | 'id' | 'startedAt', Parameter>;

/**
 * Builds the SQL statement that reads a page.
 * @param start builds CTEs that end with the CTE `start`; its only row is the position after which the page begins
 */
function buildPage(
  given: PageParameters,
  { positions, selectRows }: FeedRows<unknown>,
  start: (given: PageParameters) => Sql,
): Sql {
  const entries = (positions ?? storedPositions)(given);
  return sql`WITH RECURSIVE entries AS NOT MATERIALIZED (${entries}), ${epoch}, ${start(given)}, page AS MATERIALIZED (
    SELECT ${positions === undefined ? sql`position, id` : sql`*`} FROM entries
      WHERE (position, id) > ((SELECT position FROM start), (SELECT id FROM start))
      AND position < (SELECT horizon FROM epoch)
    ORDER BY position, id LIMIT ${given.take}
  )
  SELECT (SELECT ${startOf} FROM epoch) AS "startedAt",
    (SELECT json_build_object('position', position, 'id', id) FROM start) AS start,
    (SELECT json_agg(json_build_array(position, id) ORDER BY position, id) FROM page) AS changes,
    (${typeof selectRows === 'function' ? sql`NULL` : selectRows.select}) AS rows`;
}

const storedPositions = ({ resource }: PageParameters) =>
  sql`SELECT position, id, horizon, changed_at FROM changes WHERE tenant_id = ${tenant} AND resource = ${resource}`;

/** A position before all other positions. It is the smallest integer that a JavaScript number can represent exactly. */
const firstPosition = Number.MIN_SAFE_INTEGER;

const startAtBeginning = () => sql`start AS (SELECT ${firstPosition}::bigint AS position, 0::bigint AS id)`;

/**
 * CTEs that start a page at a cursor with a position and an id. `startedAt` is the start time of the epoch in which the
 * cursor was created. The page starts at the beginning of the feed if PostgreSQL has lost changes before the cursor,
 * for example by a recovery to an earlier time. Rows can then have older versions than in the copy of the client. The
 * following facts show that changes are lost:
 *
 * - The epoch of the cursor is unknown.
 * - A later epoch began before the cursor. Epochs are compared by start time, because two transactions can record the
 *   same recovery in either order.
 * - A transaction of another epoch that is still running is before the cursor. The statement doesn't see an epoch that
 *   it creates itself, so it compares the horizon.
 * - The row of a cursor from another epoch is gone, or has an earlier position. Transactions that change nothing in
 *   the feed can take the first transaction ids of an epoch, so the epoch can seem to begin after the cursor.
 */
const startAtCursor = ({ position, id, startedAt }: PageParameters) => sql`start AS MATERIALIZED (
    SELECT CASE WHEN is_lost THEN ${firstPosition} ELSE ${position}::bigint END AS position,
      CASE WHEN is_lost THEN 0 ELSE ${id}::bigint END AS id
    FROM (SELECT NOT EXISTS (
        SELECT FROM change_epochs WHERE ${microseconds(sql`started_at`)} = ${startedAt}::bigint
      ) OR EXISTS (
        SELECT FROM change_epochs WHERE ${microseconds(sql`started_at`)} > ${startedAt}::bigint
          AND (${position}::bigint, ${id}::bigint) > (begins_at, 0)
      ) OR EXISTS (
        SELECT FROM epoch WHERE ${microseconds(sql`started_at`)} <> ${startedAt}::bigint
          AND ((${position}::bigint, ${id}::bigint) > (horizon, 0)
            OR ${id}::bigint <> 0 AND NOT EXISTS (
              SELECT FROM entries WHERE id = ${id}::bigint AND position >= ${position}::bigint))
      ) AS is_lost) AS found
  )`;

/**
 * CTEs that start a page at a point in time. Except for long transactions, positions and times have the same
 * order. Therefore, a binary search can find a row that changed shortly before the given time. The page starts at the
 * horizon that is stored with this row. All transactions that were still running when the row changed, or that started
 * later, have positions at or after this horizon.
 */
const startAtTime = ({ since }: PageParameters) => sql`halves (low, high, horizon) AS (
    SELECT first.position, last.position, first.horizon
    FROM (SELECT * FROM entries ORDER BY position, id LIMIT 1) AS first,
      (SELECT * FROM entries ORDER BY position DESC, id DESC LIMIT 1) AS last
    WHERE first.changed_at < ${since}::timestamptz
    UNION ALL
    SELECT CASE WHEN is_before THEN middle ELSE low END, CASE WHEN is_before THEN high ELSE found.position - 1 END,
      CASE WHEN is_before THEN found.horizon ELSE halves.horizon END
    FROM (SELECT *, low + (high - low + 1) / 2 AS middle FROM halves WHERE low < high) AS halves
    CROSS JOIN LATERAL (
      SELECT position, horizon, changed_at < ${since}::timestamptz AS is_before FROM entries
      WHERE position <= middle ORDER BY position DESC, id DESC LIMIT 1
    ) AS found
  ), start AS MATERIALIZED (
    SELECT COALESCE((SELECT horizon FROM halves WHERE low >= high), ${firstPosition}) AS position, 0::bigint AS id
  )`;

const starts = { beginning: startAtBeginning, time: startAtTime, cursor: startAtCursor };
