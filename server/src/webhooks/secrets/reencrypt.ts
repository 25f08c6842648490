import type { SystemClient } from '../../database/client/prisma.ts';
import { identifier, jsonRows, sql } from '../../database/client/sql.ts';
import { allTenants } from '../../database/client/statements.ts';
import { toTenantId } from '../../shared/tenant-id.ts';
import type { SubscriptionRef } from '../subscription-ref.ts';
import { keyIdBytes, type SecretCipher } from './secret-cipher.ts';

export interface ReencryptOptions {
  batchSize?: number;
  /** Called after each batch with the number of secrets that have been re-encrypted so far. */
  onBatch?(reencrypted: number): void;
}

export interface ReencryptedSecrets {
  /** The number of re-encrypted secrets. */
  reencrypted: number;
  /** Subscriptions with a damaged secret. The secret has the id of a known encryption key but can't be decrypted. */
  damaged: SubscriptionRef[];
}

interface EncryptedSecret extends SubscriptionRef {
  secret: Uint8Array;
}

/**
 * Finds all secrets that were encrypted with an older key, and re-encrypts them with the first encryption key. Commits
 * each batch separately, so an administrator can interrupt and repeat the command while servers run.
 *
 * Skips secrets that change in the meantime. Therefore, repeats the pass over each column until a pass changes nothing.
 */
export async function reencryptSecrets(
  prisma: SystemClient,
  cipher: SecretCipher,
  { batchSize = 500, onBatch }: ReencryptOptions = {},
): Promise<ReencryptedSecrets> {
  const done: ReencryptedSecrets = { reencrypted: 0, damaged: [] };
  for (const column of ['secret', 'previous_secret'] as const) {
    const onSecrets = (reencrypted: number) => onBatch?.(done.reencrypted + reencrypted);
    const { reencrypted, damaged } = await reencryptColumn(prisma, cipher, { column, batchSize, onBatch: onSecrets });
    done.reencrypted += reencrypted;
    done.damaged.push(...damaged);
  }
  return done;
}

/** A column of `webhook_subscriptions` that contains encrypted secrets. */
type Column = 'secret' | 'previous_secret';

async function reencryptColumn(
  prisma: SystemClient,
  cipher: SecretCipher,
  { column, batchSize, onBatch }: Required<ReencryptOptions> & { column: Column },
): Promise<ReencryptedSecrets> {
  let reencrypted = 0;
  for (;;) {
    const before = reencrypted;
    const damaged: SubscriptionRef[] = [];
    let after: SubscriptionRef = { tenantId: toTenantId(0), subscriptionId: 0n };
    for (;;) {
      const found = await findOlder(prisma, cipher, { column, after, count: batchSize });
      const last = found.at(-1);
      if (last === undefined) break;
      after = last;
      const fresh: Replacement[] = [];
      for (const each of found) {
        const replacement = reencrypt(cipher, each);
        if (replacement !== undefined) fresh.push(replacement);
        else damaged.push({ tenantId: each.tenantId, subscriptionId: each.subscriptionId });
      }
      reencrypted += await replace(prisma, column, fresh);
      onBatch(reencrypted);
    }
    if (reencrypted === before) return { reencrypted, damaged };
  }
}

/** Returns the next secrets that were encrypted with an older encryption key, sorted by primary key. */
function findOlder(
  prisma: SystemClient,
  { keyIds }: SecretCipher,
  { column, after: { tenantId, subscriptionId }, count }: { column: Column; after: SubscriptionRef; count: number },
): Promise<EncryptedSecret[]> {
  return prisma.$sql(statements[column].selectOlder, { tenantId, subscriptionId, older: keyIds.slice(1), count });
}

/** The parameters of the statement that selects secrets: the row before the first one, and the older encryption keys. */
interface Older extends SubscriptionRef {
  older: readonly string[];
  count: number;
}

function defineStatements(column: Column) {
  const secret = identifier(column);
  return {
    selectOlder: allTenants.rows<Older, EncryptedSecret>(
      ({ tenantId, subscriptionId, older, count }) => sql`
        SELECT tenant_id AS "tenantId", id AS "subscriptionId", ${secret} AS secret FROM webhook_subscriptions
        WHERE (tenant_id, id) > (${tenantId}::bigint, ${subscriptionId}::bigint)
          AND encode(substring(${secret} FROM 1 FOR ${keyIdBytes}::int), 'hex') = ANY (${older}::text[])
        ORDER BY tenant_id, id LIMIT ${count}`,
    ),
    // Locks the rows in primary key order to prevent deadlocks between two runs.
    replaceUnchanged: allTenants.command<{ replacements: string }>(
      ({ replacements }) => sql`
        WITH unchanged AS MATERIALIZED (
          SELECT s.tenant_id, s.id, r.fresh
          FROM json_to_recordset(${replacements}::json)
            AS r ("tenantId" bigint, "subscriptionId" bigint, old text, fresh text)
          JOIN webhook_subscriptions s ON s.tenant_id = r."tenantId" AND s.id = r."subscriptionId"
            AND s.${secret} = decode(r.old, 'hex')
          ORDER BY s.tenant_id, s.id
          FOR NO KEY UPDATE OF s
        )
        UPDATE webhook_subscriptions s SET ${secret} = decode(u.fresh, 'hex')
        FROM unchanged u WHERE s.tenant_id = u.tenant_id AND s.id = u.id`,
    ),
  };
}

const statements = { secret: defineStatements('secret'), previous_secret: defineStatements('previous_secret') };

interface Replacement extends SubscriptionRef {
  /** The previous and the new encrypted secret, in hexadecimal. */
  old: string;
  fresh: string;
}

function reencrypt(cipher: SecretCipher, { secret, ...ref }: EncryptedSecret): Replacement | undefined {
  try {
    const fresh = cipher.encrypt(cipher.decrypt(secret, ref), ref);
    return { ...ref, old: Buffer.from(secret).toString('hex'), fresh: Buffer.from(fresh).toString('hex') };
  } catch {
    return undefined;
  }
}

/** Replaces the secrets that haven't changed since they were read. Resolves to the number of replaced secrets. */
function replace(prisma: SystemClient, column: Column, replacements: Replacement[]): Promise<number> {
  return prisma.$sql(statements[column].replaceUnchanged, { replacements: jsonRows(replacements) });
}
