import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from 'node:crypto';
import type { SubscriptionRef } from '../subscription-ref.ts';

export interface SecretCipher {
  /** Encrypts a secret for one subscription: it can't be decrypted as another's. */
  encrypt(secret: string, owner: SubscriptionRef): Uint8Array<ArrayBuffer>;
  /** Throws when the secret was encrypted with a key that isn't known here, or for another subscription. */
  decrypt(encrypted: Uint8Array, owner: SubscriptionRef): string;
  /** A key of 32 bytes for another purpose from each of the keys, in their order (HKDF, RFC 5869). */
  deriveKeys(purpose: string): Buffer[];
  /** What the keys are known by, as hex. The first encrypts. */
  keyIds: readonly string[];
}

/** How many bytes of an encrypted secret say which key encrypted it. */
export const keyIdBytes = 4;

const algorithm = 'aes-256-gcm';
const ivBytes = 12;
const tagBytes = 16;

/**
 * Encrypts webhook secrets with AES-256-GCM. An encrypted secret is key id (4 bytes of the key's SHA-256), IV, tag and
 * ciphertext. The first key encrypts; all of them decrypt, so that a key can be changed.
 * @param keys 32 bytes each, in base64
 */
export function createSecretCipher(keys: readonly string[]): SecretCipher {
  const known = keys.map((text) => {
    const key = Buffer.from(text, 'base64');
    return { key, id: createHash('sha256').update(key).digest().subarray(0, keyIdBytes) };
  });
  const newest = known[0];
  if (newest === undefined) throw new Error('A secret cipher needs at least one key.');
  const keyOf = (encrypted: Uint8Array) => known.find(({ id }) => id.equals(encrypted.subarray(0, keyIdBytes)));

  return {
    encrypt(secret, owner) {
      const iv = randomBytes(ivBytes);
      const cipher = createCipheriv(algorithm, newest.key, iv).setAAD(ownerBytes(owner));
      const text = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()]);
      return new Uint8Array(Buffer.concat([newest.id, iv, cipher.getAuthTag(), text]));
    },
    decrypt(encrypted, owner) {
      const found = keyOf(encrypted);
      if (found === undefined) throw new Error('The webhook secret was encrypted with another WEBHOOK_SECRET_KEY.');
      const [ivEnd, tagEnd] = [keyIdBytes + ivBytes, keyIdBytes + ivBytes + tagBytes];
      const decipher = createDecipheriv(algorithm, found.key, encrypted.subarray(keyIdBytes, ivEnd))
        .setAAD(ownerBytes(owner))
        .setAuthTag(encrypted.subarray(ivEnd, tagEnd));
      return Buffer.concat([decipher.update(encrypted.subarray(tagEnd)), decipher.final()]).toString('utf8');
    },
    deriveKeys: (purpose) => known.map(({ key }) => Buffer.from(hkdfSync('sha256', key, '', purpose, 32))),
    keyIds: known.map(({ id }) => id.toString('hex')),
  };
}

function ownerBytes({ tenantId, subscriptionId }: SubscriptionRef): Buffer {
  return Buffer.from(`${tenantId}:${subscriptionId}`);
}
