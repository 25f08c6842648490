import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { isEncryptionKey, type Settings, SettingsError } from '../../config/env.ts';
import { readOrCreateSecret } from '../../shared/secret-file.ts';
import { keyIdBytes, type SecretCipher } from './secret-cipher.ts';

/**
 * The keys that encrypt webhook secrets: those of `WEBHOOK_SECRET_KEY`, or, with the embedded PostgreSQL, one made once
 * and kept beside its data, readable by the owner alone.
 * @throws SettingsError where that file holds no key
 */
export async function readSecretKeys({ WEBHOOK_SECRET_KEY, DATA_DIR }: Settings): Promise<string[]> {
  if (WEBHOOK_SECRET_KEY.length > 0) return WEBHOOK_SECRET_KEY;
  const file = join(DATA_DIR, 'webhook-secret-key');
  const key = await readOrCreateSecret(file, () => randomBytes(32).toString('base64'));
  if (isEncryptionKey(key)) return [key];
  throw new SettingsError(
    `DATA_DIR: ${file} holds no key of 32 bytes in base64. Put back the one that was there; if nothing was encrypted with one ` +
      'yet, delete the file.',
  );
}

/** What sees all tenants: a pool, or a connection. */
interface Asked {
  query(text: string): Promise<{ rows: unknown[] }>;
}

/** How many stored secrets a key has encrypted. */
export interface KeyUse {
  /** Which of `WEBHOOK_SECRET_KEY` it is, from 1; null when it isn't among them. */
  position: number | null;
  /** What it is known by (secret-cipher.ts), as hex. */
  keyId: string;
  secrets: number;
  /** Those of active subscriptions: nothing is sent to the others any more. */
  active: number;
}

/** The keys that have encrypted something, and those of the cipher that have not, in its order; unknown ones come last. */
export async function readKeyUse(database: Asked, { keyIds }: SecretCipher): Promise<KeyUse[]> {
  const found = await database.query(`
    SELECT encode(substring(stored.secret FROM 1 FOR ${keyIdBytes}), 'hex') AS "keyId", count(*)::int AS secrets,
      (count(*) FILTER (WHERE active))::int AS active
    FROM webhook_subscriptions
    CROSS JOIN LATERAL (VALUES (webhook_subscriptions.secret), (previous_secret)) AS stored (secret)
    WHERE stored.secret IS NOT NULL GROUP BY 1 ORDER BY 1`);
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
