import { sql, tenant } from '../../database/client/sql.ts';
import { command, oneAsJson, rows } from '../../database/client/statements.ts';
import type { Context } from '../shared/context.ts';

/* Writes the table `open_hours`, which PostgreSQL derives from the calendar of a workspace. */

const deleteOpenHours = command(() => sql`DELETE FROM open_hours WHERE tenant_id = ${tenant}`);

/** Extends the open hours to three years from now. Corrects rows if the rules of the time zone have changed. */
export const extendOpenHours = rows<{ now: Date }, object>(
  ({ now }) => sql`SELECT write_open_hours(${tenant}, ${now})`,
);

/** Replaces the open hours with those of the current calendar, from two years ago to three years from now. */
export async function rewriteOpenHours({ db, now }: Pick<Context, 'db' | 'now'>): Promise<void> {
  await db.$sql(deleteOpenHours);
  await db.$sql(extendOpenHours, { now: now() });
}

/** The current state of a workspace with a calendar. */
export interface Opening {
  isOpen: boolean;
  /** When the workspace closes if it is open, or opens if it is closed: a timestamp with an offset. */
  until: string;
}

const selectOpening = oneAsJson<{ now: Date }, Opening>(
  ({
    now,
  }) => sql`SELECT opens_at <= ${now} AS "isOpen", CASE WHEN opens_at <= ${now} THEN closes_at ELSE opens_at END AS until
    FROM open_hours WHERE tenant_id = ${tenant} AND closes_at > ${now} ORDER BY opens_at LIMIT 1`,
);

/** Returns whether the workspace is open now, and when this changes. The workspace must have a calendar. */
export async function findOpening({ db, now }: Pick<Context, 'db' | 'now'>): Promise<Opening> {
  return (await db.$sql(selectOpening, { now: now() })) as Opening;
}
