import type { Prisma } from '../../../generated/prisma/client.ts';
import { sql, tenant } from '../../database/client/sql.ts';
import { rows } from '../../database/client/statements.ts';
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

/** Returns the condition for pending proposals that have not expired. */
export function wherePending(at: Date) {
  return { status: 'PENDING', expiresAt: { gt: at } } as const;
}

/** Withdraws the pending proposals of a revoked key, unless a key that counts as the same key still works. */
export async function withdrawOfKey({ db, now }: ChangeContext, keyId: bigint | number): Promise<void> {
  await lockTenant(db, 'proposals');
  const id = { in: await findSameKeys(db, keyId) };
  const isWorking = { revokedAt: null, OR: [{ expiresAt: null }, { expiresAt: { gt: now() } }] };
  if ((await db.apiKey.count({ where: { id, ...isWorking } })) === 0) await withdraw(db, { keyId: id }, now());
}

/** Withdraws the pending proposals of a deactivated user. */
export async function withdrawOfUser({ db, now }: ChangeContext, userId: bigint | number): Promise<void> {
  await lockTenant(db, 'proposals');
  await withdraw(db, { proposedById: userId }, now());
}

interface ChangeContext {
  db: TenantClient;
  now(): Date;
}

async function withdraw(db: TenantClient, where: Prisma.ProposalWhereInput, at: Date): Promise<void> {
  await db.proposal.updateMany({
    where: { ...where, ...wherePending(at) },
    data: { status: 'WITHDRAWN', endedAt: at },
  });
}
