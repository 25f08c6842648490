import type { Context } from '../../context.ts';
import { selectRows, selectTogether } from '../../database/statements.ts';

/*
 * The CSV file that a user of the developer area has sent, and looks at before it is imported: one for each user, kept for
 * a day (docs/decisions/assets.md#csv).
 */

type OwnContext = Pick<Context, 'db'> & { userId: bigint };

const own = 'tenant_id = $1 AND user_id = $2';
const keptFor = "interval '1 day'";

/** Keeps a file in place of the one before; what others of the workspace have left lying about goes. */
export async function keepUpload({ db, userId }: OwnContext, content: Uint8Array): Promise<void> {
  await selectTogether(db, [
    {
      text: `DELETE FROM asset_uploads WHERE tenant_id = $1 AND created_at < now() - ${keptFor}`,
      values: [db.$tenantId],
    },
    {
      text: `INSERT INTO asset_uploads (tenant_id, user_id, content) VALUES ($1, $2, $3)
        ON CONFLICT (tenant_id, user_id) DO UPDATE SET content = excluded.content, created_at = now()`,
      values: [db.$tenantId, userId, content],
    },
  ]);
}

/** The user's file; undefined where there is none, or it has grown old. */
export async function findUpload({ db, userId }: OwnContext): Promise<Uint8Array | undefined> {
  const text = `SELECT content FROM asset_uploads WHERE ${own} AND created_at >= now() - ${keptFor}`;
  const [row] = await selectRows<{ content: Uint8Array }>(db, { text, values: [db.$tenantId, userId] });
  return row?.content;
}

/** Takes the file away: of two who ask for it at once, one gets it. Undefined where there is none. */
export async function takeUpload({ db, userId }: OwnContext): Promise<Uint8Array | undefined> {
  const text = `DELETE FROM asset_uploads WHERE ${own} RETURNING content`;
  const [row] = await selectRows<{ content: Uint8Array }>(db, { text, values: [db.$tenantId, userId] });
  return row?.content;
}
