import type { ActivityQuery, AssetActivity, TicketActivity, TicketReference } from '@itsm-api/contract';
import { sql, tenant } from '../../database/client/sql.ts';
import { oneAsJson } from '../../database/client/statements.ts';
import { notFound } from '../../shared/errors.ts';
import { serializeTimestamp } from '../../shared/serialize.ts';
import type { Context } from '../shared/context.ts';
import { maxCounted, type Page, pageMeta } from '../shared/lists.ts';
import { resolveTicketId } from '../shared/ticket-reference.ts';
import type { FeedRows } from '../sync/change-feed.ts';
import type { ActivityResource } from './record.ts';

/** The response types for activities, by resource. */
type Activities = { TICKET: TicketActivity; ASSET: AssetActivity };

const tables = { TICKET: sql`tickets`, ASSET: sql`assets` };
const idNames = { TICKET: sql`"ticketId"`, ASSET: sql`"assetId"` };

const columnsOf = (resource: ActivityResource) =>
  sql`a.id, a.resource_id AS ${idNames[resource]}, a.at, a.action, a.changes, CASE
      WHEN a.actor_user_id IS NULL THEN NULL
      WHEN (SELECT is_import FROM api_keys k WHERE k.tenant_id = a.tenant_id AND k.id = a.actor_key_id)
        THEN json_build_object('userId', a.actor_user_id, 'keyId', a.actor_key_id, 'import', true)
      ELSE json_build_object('userId', a.actor_user_id, 'keyId', a.actor_key_id)
    END AS actor`;

/**
 * Builds the query for a page of activities and their total. If the resource doesn't exist, the query returns no row.
 * If the page is past the end, the query reads only the total. The query counts and skips rows with an index-only scan,
 * and then looks up the rows of the page by primary key, regardless of the planner's estimates. The count has an ORDER BY
 * so that the planner doesn't prefer the index of the feed.
 */
const definePage = <Resource extends ActivityResource>(resource: Resource) =>
  oneAsJson<{ id: number; skip: bigint; take: number }, { counted: number; activities: Activities[Resource][] | null }>(
    ({ id, skip, take }) => {
      const own = sql`a.tenant_id = ${tenant} AND a.resource = ${resource} AND a.resource_id = ${id}`;
      return sql`SELECT counted.n AS counted, CASE WHEN least(counted.n, ${maxCounted}) > ${skip}::bigint THEN (
          SELECT json_agg(activity ORDER BY activity.id DESC) FROM (
            SELECT a.id FROM activities a WHERE ${own}
            ORDER BY a.id DESC OFFSET ${skip}::bigint LIMIT least(${take}::bigint, ${maxCounted} - ${skip}::bigint)
          ) AS page CROSS JOIN LATERAL (
            SELECT ${columnsOf(resource)} FROM activities a WHERE ${own} AND a.id = page.id LIMIT 1
          ) AS activity) END AS activities
        FROM ${tables[resource]} t, (
          SELECT count(*)::int AS n FROM (
            SELECT FROM activities a WHERE ${own} ORDER BY a.id DESC LIMIT ${maxCounted + 1}) AS a
        ) AS counted
        WHERE t.tenant_id = ${tenant} AND t.id = ${id}`;
    },
  );
const selectPage = { TICKET: definePage('TICKET'), ASSET: definePage('ASSET') };

/** Returns a page of a ticket's activities, newest first. @throws ApiError NOT_FOUND if the ticket doesn't exist */
export async function listTicketActivity(
  context: Context,
  reference: TicketReference,
  query: ActivityQuery,
): Promise<Page<TicketActivity>> {
  return listActivity(context, 'TICKET', await resolveTicketId(context, reference), query);
}

/** Returns a page of an asset's activities, newest first. @throws ApiError NOT_FOUND if the asset doesn't exist */
export function listAssetActivity(context: Context, id: number, query: ActivityQuery): Promise<Page<AssetActivity>> {
  return listActivity(context, 'ASSET', id, query);
}

async function listActivity<Resource extends ActivityResource>(
  { db }: Context,
  resource: Resource,
  id: number,
  query: ActivityQuery,
) {
  const { page, perPage } = query;
  const statement = selectPage[resource] as ReturnType<typeof definePage<Resource>>;
  const row = await db.$sql(statement, { id, skip: BigInt(page - 1) * BigInt(perPage), take: perPage });
  if (row === undefined) throw notFound(resource.toLowerCase());
  const total = { totalCount: Math.min(row.counted, maxCounted), isCapped: row.counted > maxCounted };
  return { data: (row.activities ?? []).map(presentActivity), meta: pageMeta(query, total) };
}

function presentActivity<Activity extends { at: string }>(row: Activity): Activity {
  return { ...row, at: serializeTimestamp(row.at) };
}

/** Reads the activities of all resources of a type for incremental sync. */
const feedOf = <Resource extends ActivityResource>(resource: Resource): FeedRows<Activities[Resource]> => ({
  resource,
  positions: ({ resource }) =>
    sql`SELECT *, recorded_at AS changed_at FROM activities WHERE tenant_id = ${tenant} AND resource = ${resource}`,
  selectRows: {
    select: sql`SELECT json_agg(activity) FROM (SELECT ${columnsOf(resource)} FROM page AS a) AS activity`,
    present: (rows) => ((rows ?? []) as Activities[Resource][]).map(presentActivity),
  },
});

/** Functions that read the activities for incremental sync, by type of resource. */
export const activityRows = { TICKET: feedOf('TICKET'), ASSET: feedOf('ASSET') };
