import { sql, tenant } from '../../database/client/sql.ts';
import { command, rows } from '../../database/client/statements.ts';
import type { Context } from '../shared/context.ts';

/* Writes the table `open_hours`, which PostgreSQL derives from the calendar of a workspace. */

const deleteOpenHours = command(() => sql`DELETE FROM open_hours WHERE tenant_id = ${tenant}`);

/** Adds the days up to three years from now, and corrects rows if the rules of the time zone have changed. */
export const extendOpenHours = rows<{ now: Date }, object>(
  ({ now }) => sql`SELECT write_open_hours(${tenant}, ${now})`,
);

/** Writes the open hours of a new calendar, from two years ago to three years from now. Deletes the others. */
export async function rewriteOpenHours({ db, now }: Pick<Context, 'db' | 'now'>): Promise<void> {
  await db.$sql(deleteOpenHours);
  await db.$sql(extendOpenHours, { now: now() });
}
