import { Prisma } from '../../../generated/prisma/client.ts';
import type { PrismaClient } from '../../database/client/prisma.ts';
import { toTenantId } from '../../shared/tenant-id.ts';
import { jsonRows } from '../delivery/json-rows.ts';
import type { SubscriptionRef } from '../subscription-ref.ts';
import { keyIdBytes, type SecretCipher } from './secret-cipher.ts';

export interface ReencryptOptions {
  batchSize?: number;
  /** Told after each batch how many secrets have been encrypted anew so far. */
  onBatch?(resealed: number): void;
}

export interface ReencryptedSecrets {
  /** How many secrets were encrypted anew. */
  resealed: number;
  /** Subscriptions whose secret is encrypted with a known key and yet can't be decrypted: it was damaged. */
  damaged: SubscriptionRef[];
}

interface Sealed extends SubscriptionRef {
  secret: Uint8Array;
}

/**
 * Encrypts with the first key what an older one of the cipher's has encrypted. Each batch commits by itself, so that it
 * may be interrupted and run again, and servers may work meanwhile: a secret that changes after it was read is left as it
 * is. It ends when a look through all of them has found nothing more to do.
 */
export async function reencryptSecrets(
  prisma: PrismaClient,
  cipher: SecretCipher,
  { batchSize = 500, onBatch }: ReencryptOptions = {},
): Promise<ReencryptedSecrets> {
  const done: ReencryptedSecrets = { resealed: 0, damaged: [] };
  for (const column of ['secret', 'previous_secret'] as const) {
    const onSecrets = (resealed: number) => onBatch?.(done.resealed + resealed);
    const { resealed, damaged } = await resealColumn(prisma, cipher, { column, batchSize, onBatch: onSecrets });
    done.resealed += resealed;
    done.damaged.push(...damaged);
  }
  return done;
}

/** A column of secrets. */
type Column = 'secret' | 'previous_secret';

async function resealColumn(
  prisma: PrismaClient,
  cipher: SecretCipher,
  { column, batchSize, onBatch }: Required<ReencryptOptions> & { column: Column },
): Promise<ReencryptedSecrets> {
  let resealed = 0;
  for (;;) {
    const before = resealed;
    const damaged: SubscriptionRef[] = [];
    let after: SubscriptionRef = { tenantId: toTenantId(0), subscriptionId: 0n };
    for (;;) {
      const found = await findOlder(prisma, cipher, { column, after, count: batchSize });
      const last = found.at(-1);
      if (last === undefined) break;
      after = last;
      const fresh: Replacement[] = [];
      for (const each of found) {
        const replacement = encryptAnew(cipher, each);
        if (replacement !== undefined) fresh.push(replacement);
        else damaged.push({ tenantId: each.tenantId, subscriptionId: each.subscriptionId });
      }
      resealed += await replace(prisma, column, fresh);
      onBatch(resealed);
    }
    if (resealed === before) return { resealed, damaged };
  }
}

/** The next secrets, in the order of their keys, that an older key of the cipher's has encrypted. */
function findOlder(
  prisma: PrismaClient,
  { keyIds }: SecretCipher,
  { column, after: { tenantId, subscriptionId }, count }: { column: Column; after: SubscriptionRef; count: number },
): Promise<Sealed[]> {
  const older = keyIds.slice(1);
  const secret = Prisma.raw(column);
  return prisma.$queryRaw`
    SELECT tenant_id AS "tenantId", id AS "subscriptionId", ${secret} AS secret FROM webhook_subscriptions
    WHERE (tenant_id, id) > (${tenantId}, ${subscriptionId})
      AND encode(substring(${secret} FROM 1 FOR ${keyIdBytes}::int), 'hex') = ANY (${older}::text[])
    ORDER BY tenant_id, id LIMIT ${count}`;
}

interface Replacement extends SubscriptionRef {
  /** As hex. */
  old: string;
  fresh: string;
}

function encryptAnew(cipher: SecretCipher, { secret, ...ref }: Sealed): Replacement | undefined {
  try {
    const fresh = cipher.encrypt(cipher.decrypt(secret, ref), ref);
    return { ...ref, old: Buffer.from(secret).toString('hex'), fresh: Buffer.from(fresh).toString('hex') };
  } catch {
    return undefined;
  }
}

/**
 * Replaces secrets that are still what they were. They are locked in the order of their keys, so that two who do this at
 * once don't wait for each other. Resolves to how many there were.
 */
function replace(prisma: PrismaClient, column: Column, replacements: Replacement[]): Promise<number> {
  const secret = Prisma.raw(column);
  return prisma.$executeRaw`
    WITH unchanged AS MATERIALIZED (
      SELECT s.tenant_id, s.id, r.fresh
      FROM json_to_recordset(${jsonRows(replacements)}::text::json)
        AS r ("tenantId" bigint, "subscriptionId" bigint, old text, fresh text)
      JOIN webhook_subscriptions s ON s.tenant_id = r."tenantId" AND s.id = r."subscriptionId"
        AND s.${secret} = decode(r.old, 'hex')
      ORDER BY s.tenant_id, s.id
      FOR NO KEY UPDATE OF s
    )
    UPDATE webhook_subscriptions s SET ${secret} = decode(u.fresh, 'hex')
    FROM unchanged u WHERE s.tenant_id = u.tenant_id AND s.id = u.id`;
}
