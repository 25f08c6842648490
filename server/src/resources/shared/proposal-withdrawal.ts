import { sql, tenant } from '../../database/client/sql.ts';
import { command, rows } from '../../database/client/statements.ts';
import type { TenantClient } from '../../database/client/tenant-client.ts';
import { lockTenant } from '../../database/row-lock.ts';

/*
 * Withdraws the pending proposals of API keys and users that lose their rights (docs/decisions/proposals-design.md).
 * The files of proposals can't do this, because they import the resources of users.
 *
 * The caller has already changed the keys or the user. The lock `proposals` orders these changes and new proposals, so
 * that no proposal of a revoked key stays pending.
 */

/** The ids of the keys that a key replaced or that replaced it, and its own. */
const lineOfKey = rows<{ keyId: bigint | number }, { id: bigint }>(
  ({ keyId }) => sql`WITH RECURSIVE line AS (
      SELECT id, rotated_from FROM api_keys WHERE tenant_id = ${tenant} AND id = ${keyId}
      UNION
      SELECT k.id, k.rotated_from FROM line JOIN api_keys k ON k.tenant_id = ${tenant}
        AND (k.id = line.rotated_from OR k.rotated_from = line.id)
    ) SELECT id FROM line`,
);

/** Returns the ids of the keys that count as the same key because of rotations. */
export async function findSameKeys(db: TenantClient, keyId: bigint | number): Promise<bigint[]> {
  return (await db.$sql(lineOfKey, { keyId })).map(({ id }) => id);
}

const withdrawOfKeys = command<{ keyIds: bigint[]; at: Date }>(
  ({ keyIds, at }) => sql`UPDATE proposals SET status = 'WITHDRAWN', ended_at = ${at}, updated_at = ${at}
    WHERE tenant_id = ${tenant} AND status = 'PENDING' AND expires_at > ${at} AND key_id = ANY (${keyIds}::bigint[])
      AND NOT EXISTS (SELECT FROM api_keys k WHERE k.tenant_id = ${tenant} AND k.id = ANY (${keyIds}::bigint[])
        AND k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > ${at}))`,
);

/** Withdraws the pending proposals of a revoked key, unless a key that counts as the same key still works. */
export async function withdrawOfKey(
  { db, now }: { db: TenantClient; now(): Date },
  keyId: bigint | number,
): Promise<void> {
  await lockTenant(db, 'proposals');
  await db.$sql(withdrawOfKeys, { keyIds: await findSameKeys(db, keyId), at: now() });
}

const withdrawOfProposer = command<{ userId: bigint | number; at: Date }>(
  ({ userId, at }) => sql`UPDATE proposals SET status = 'WITHDRAWN', ended_at = ${at}, updated_at = ${at}
    WHERE tenant_id = ${tenant} AND status = 'PENDING' AND expires_at > ${at} AND proposed_by_id = ${userId}`,
);

/** Withdraws the pending proposals of a deactivated user. */
export async function withdrawOfUser(
  { db, now }: { db: TenantClient; now(): Date },
  userId: bigint | number,
): Promise<void> {
  await lockTenant(db, 'proposals');
  await db.$sql(withdrawOfProposer, { userId, at: now() });
}
