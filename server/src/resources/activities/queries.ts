import type { ActivityQuery, AssetActivity, TicketActivity, TicketReference } from '@itsm-api/contract';
import type { Context } from '../../context.ts';
import type { Activity as Columns } from '../../database/generated/client.ts';
import { selectRows } from '../../database/statements.ts';
import { notFound } from '../../errors.ts';
import { presentTimestamp } from '../../present.ts';
import type { Page } from '../lists.ts';
import { ticketIdOf } from '../tickets/reference.ts';
import type { Recorded } from './record.ts';

/** What each kind of activity is answered as. */
type Activities = { TICKET: TicketActivity; ASSET: AssetActivity };

/** A row of activity as JSON. */
interface ActivityRow<Changes> extends Pick<Columns, 'action'> {
  id: number;
  at: string;
  actorUserId: number | null;
  actorKeyId: number | null;
  changes: Changes;
}

const tables: Record<Recorded, string> = { TICKET: 'tickets', ASSET: 'assets' };

/** Nothing where there is no such resource; a page past the end is not looked for. */
const textFor = (resource: Recorded) => {
  const own = `tenant_id = $1 AND resource = '${resource}' AND resource_id = $2`;
  return `SELECT total.n AS "totalCount", CASE WHEN total.n > $3::bigint THEN (
      SELECT json_agg(activity) FROM (
        SELECT id, at, action, actor_user_id AS "actorUserId", actor_key_id AS "actorKeyId", changes
        FROM activities WHERE ${own} ORDER BY id DESC OFFSET $3::bigint LIMIT $4::int) AS activity) END AS activities
    FROM ${tables[resource]} t, (SELECT count(*)::int AS n FROM activities WHERE ${own}) AS total
    WHERE t.tenant_id = $1 AND t.id = $2`;
};
const texts: Record<Recorded, string> = { TICKET: textFor('TICKET'), ASSET: textFor('ASSET') };

/** A page of what was done to one ticket, newest first. @throws ApiError NOT_FOUND for the ticket */
export async function listTicketActivity(
  context: Context,
  reference: TicketReference,
  query: ActivityQuery,
): Promise<Page<TicketActivity>> {
  return listActivity(context, 'TICKET', await ticketIdOf(context, reference), query);
}

/** The same of one asset. @throws ApiError NOT_FOUND for the asset */
export function listAssetActivity(context: Context, id: number, query: ActivityQuery): Promise<Page<AssetActivity>> {
  return listActivity(context, 'ASSET', id, query);
}

async function listActivity<Resource extends Recorded>(
  { db }: Context,
  resource: Resource,
  id: number,
  { page, perPage }: ActivityQuery,
) {
  type Rows = ActivityRow<Activities[Resource]['changes']>[];
  const [row] = await selectRows<{ totalCount: number; activities: Rows | null }>(db, {
    text: texts[resource],
    values: [db.$tenantId, id, BigInt(page - 1) * BigInt(perPage), perPage],
  });
  if (row === undefined) throw notFound(resource.toLowerCase());
  return { data: (row.activities ?? []).map(presentActivity), meta: { page, perPage, totalCount: row.totalCount } };
}

function presentActivity<Changes>({ id, at, action, actorUserId, actorKeyId, changes }: ActivityRow<Changes>) {
  const actor = actorUserId === null ? null : { userId: actorUserId, keyId: actorKeyId };
  return { id, at: presentTimestamp(at), action, actor, changes };
}
