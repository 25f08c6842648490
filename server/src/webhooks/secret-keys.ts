import { randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { PrismaClient } from '../database/prisma.ts';
import type { Settings } from '../env.ts';
import type { SecretCipher } from './secret-cipher.ts';

/**
 * The keys that encrypt webhook secrets: those of `WEBHOOK_SECRET_KEY`, or, with the embedded PostgreSQL, one made once
 * and kept beside its data, readable by the owner alone.
 */
export async function readSecretKeys({ WEBHOOK_SECRET_KEY, DATA_DIR }: Settings): Promise<string[]> {
  if (WEBHOOK_SECRET_KEY.length > 0) return WEBHOOK_SECRET_KEY;
  const file = join(DATA_DIR, 'webhook-secret-key');
  // `wx` fails where the file exists, so of two processes that start at once one makes the key.
  await writeFile(file, `${randomBytes(32).toString('base64')}\n`, { mode: 0o600, flag: 'wx' }).catch((error) => {
    if (error.code !== 'EEXIST') throw error;
  });
  return [(await readFile(file, 'utf8')).trim()];
}

/** Throws when a stored secret was encrypted with a key that isn't among the cipher's. */
export async function checkSecretKeys(prisma: PrismaClient, cipher: SecretCipher): Promise<void> {
  const encrypted = await prisma.$queryRaw<{ secret: Uint8Array }[]>`
    SELECT DISTINCT ON (substring(secret FROM 1 FOR 4)) secret FROM webhook_subscriptions WHERE active`;
  if (!encrypted.every(({ secret }) => cipher.knows(secret))) {
    throw new Error(
      'WEBHOOK_SECRET_KEY: is not the key that encrypted the stored webhook secrets; set that one (again)',
    );
  }
}
