import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { isEncryptionKey, type Settings, SettingsError } from '../../config/env.ts';
import type { SystemClient } from '../../database/client/prisma.ts';
import { sql } from '../../database/client/sql.ts';
import { allTenants, type None } from '../../database/client/statements.ts';
import { readOrCreateSecret } from '../../shared/secret-file.ts';
import { keyIdBytes, type SecretCipher } from './secret-cipher.ts';

/**
 * Reads the keys that encrypt webhook secrets from `WEBHOOK_SECRET_KEY`. If the setting is empty, reads the key from a
 * file in DATA_DIR that only the file's owner can read. If the file doesn't exist, creates it with a new key.
 * @throws SettingsError if the file contains no valid key
 */
export async function readSecretKeys({ WEBHOOK_SECRET_KEY, DATA_DIR }: Settings): Promise<string[]> {
  if (WEBHOOK_SECRET_KEY.length > 0) return WEBHOOK_SECRET_KEY;
  const file = join(DATA_DIR, 'webhook-secret-key');
  const key = await readOrCreateSecret(file, () => randomBytes(32).toString('base64'));
  if (isEncryptionKey(key)) return [key];
  throw new SettingsError(
    `DATA_DIR: ${file} doesn't contain a key of 32 bytes in base64. Restore the original file. If the server has not ` +
      'encrypted any secret yet, delete the file.',
  );
}

/** How many stored secrets were encrypted with a key. */
export interface KeyUse {
  /** The position of the key in `WEBHOOK_SECRET_KEY`, starting at 1. Null if the setting doesn't contain the key. */
  position: number | null;
  /** The key id (secret-cipher.ts), in hexadecimal. */
  keyId: string;
  secrets: number;
  /** The number of secrets that active subscriptions use. Inactive subscriptions get no deliveries. */
  active: number;
}

const countByKey = allTenants.rows<None, Omit<KeyUse, 'position'>>(
  () => sql`
    SELECT encode(substring(stored.secret FROM 1 FOR ${keyIdBytes}), 'hex') AS "keyId", count(*)::int AS secrets,
      (count(*) FILTER (WHERE active))::int AS active
    FROM webhook_subscriptions
    CROSS JOIN LATERAL (VALUES (webhook_subscriptions.secret), (previous_secret)) AS stored (secret)
    WHERE stored.secret IS NOT NULL GROUP BY 1 ORDER BY 1`,
);

/** Counts the stored secrets per key. Returns the cipher's keys in their order, then unknown keys. */
export async function readKeyUse(system: SystemClient, { keyIds }: SecretCipher): Promise<KeyUse[]> {
  const rows = await system.$sql(countByKey);
  const unused = (keyId: string) => ({ keyId, secrets: 0, active: 0 });
  return [
    ...keyIds.map((keyId, index) => ({
      position: index + 1,
      ...(rows.find((row) => row.keyId === keyId) ?? unused(keyId)),
    })),
    ...rows.filter(({ keyId }) => !keyIds.includes(keyId)).map((row) => ({ position: null, ...row })),
  ];
}

/**
 * Checks that the cipher has the encryption keys for the secrets of all active subscriptions.
 * @throws Error if an encryption key is missing
 */
export async function checkSecretKeys(system: SystemClient, cipher: SecretCipher): Promise<void> {
  const use = await readKeyUse(system, cipher);
  if (use.some(({ position, active }) => position === null && active > 0)) {
    throw new Error(
      'WEBHOOK_SECRET_KEY: lacks the key that encrypted the stored webhook secrets. Add the original key.',
    );
  }
}
