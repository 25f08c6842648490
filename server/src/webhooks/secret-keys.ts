import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { isEncryptionKey, type Settings, SettingsError } from '../env.ts';
import { readMadeOnce } from '../made-once.ts';
import { sealedColumns, webhookSecrets } from './sealed-columns.ts';
import { keyIdBytes, type SecretCipher } from './secret-cipher.ts';

/**
 * The keys that encrypt webhook secrets: those of `WEBHOOK_SECRET_KEY`, or, with the embedded PostgreSQL, one made once
 * and kept beside its data, readable by the owner alone.
 * @throws SettingsError where that file holds no key
 */
export async function readSecretKeys({ WEBHOOK_SECRET_KEY, DATA_DIR }: Settings): Promise<string[]> {
  if (WEBHOOK_SECRET_KEY.length > 0) return WEBHOOK_SECRET_KEY;
  const file = join(DATA_DIR, 'webhook-secret-key');
  const key = await readMadeOnce(file, () => randomBytes(32).toString('base64'));
  if (isEncryptionKey(key)) return [key];
  throw new SettingsError(
    `DATA_DIR: ${file} holds no key of 32 bytes in base64. Put back the one that was there; if nothing was encrypted with one ` +
      'yet, delete the file.',
  );
}

/** What sees all tenants: a pool, or a connection. */
interface Asked {
  query(text: string, values?: unknown[]): Promise<{ rows: unknown[] }>;
}

/** How much of what is stored a key has encrypted: secrets of webhooks, and addresses of other cells. */
export interface KeyUse {
  /** Which of `WEBHOOK_SECRET_KEY` it is, from 1; null when it isn't among them. */
  position: number | null;
  /** What it is known by (secret-cipher.ts), as hex. */
  keyId: string;
  secrets: number;
  /** Those of active subscriptions: nothing is sent to the others any more, and an address is asked for where it is known. */
  active: number;
}

/**
 * The keys that have encrypted something, and those of the cipher that have not, in its order; unknown ones come last.
 * @param tenantId of whose webhooks' secrets alone it is
 */
export async function readKeyUse(database: Asked, { keyIds }: SecretCipher, tenantId?: bigint): Promise<KeyUse[]> {
  const sealed = (tenantId === undefined ? sealedColumns : webhookSecrets).map(
    (each) => `
      SELECT ${each.tenantId} AS tenant_id, stored.${each.column} AS secret, ${each.isNeeded} AS active
      FROM ${each.table} AS stored WHERE stored.${each.column} IS NOT NULL`,
  );
  const found = await database.query(
    `SELECT encode(substring(secret FROM 1 FOR ${keyIdBytes}), 'hex') AS "keyId", count(*)::int AS secrets,
      (count(*) FILTER (WHERE active))::int AS active
    FROM (${sealed.join(' UNION ALL ')}) AS sealed
    WHERE $1::bigint IS NULL OR tenant_id = $1 GROUP BY 1 ORDER BY 1`,
    [tenantId ?? null],
  );
  const rows = found.rows as Omit<KeyUse, 'position'>[];
  const unused = (keyId: string) => ({ keyId, secrets: 0, active: 0 });
  return [
    ...keyIds.map((keyId, index) => ({
      position: index + 1,
      ...(rows.find((row) => row.keyId === keyId) ?? unused(keyId)),
    })),
    ...rows.filter(({ keyId }) => !keyIds.includes(keyId)).map((row) => ({ position: null, ...row })),
  ];
}

/** Throws when a secret that is needed was encrypted with a key that isn't among the cipher's. */
export async function checkSecretKeys(database: Asked, cipher: SecretCipher): Promise<void> {
  const use = await readKeyUse(database, cipher);
  if (use.some(({ position, active }) => position === null && active > 0)) {
    throw new Error(
      'WEBHOOK_SECRET_KEY: is not the key that encrypted the stored webhook secrets; set that one (again)',
    );
  }
}

/** Has the database know which keys its processes have, for whoever moves a tenant there. */
export async function noteSecretKeys(database: Asked, { keyIds }: SecretCipher): Promise<void> {
  await database.query(
    `WITH gone AS (DELETE FROM webhook_secret_keys WHERE key_id <> ALL ($1))
     INSERT INTO webhook_secret_keys (key_id) SELECT unnest($1::text[]) ORDER BY 1 ON CONFLICT DO NOTHING`,
    [keyIds],
  );
}

/** The ids of the keys that the process of that database has that was started last; none where it was of a release before. */
export async function readNotedKeys(database: Asked): Promise<string[]> {
  const { rows } = await database.query('SELECT key_id FROM webhook_secret_keys');
  return (rows as { key_id: string }[]).map(({ key_id }) => key_id);
}
