import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from 'node:crypto';
import type { SubscriptionRef } from '../subscription-ref.ts';

export interface SecretCipher {
  /** Encrypts a secret for one subscription. The result can't be decrypted for any other subscription. */
  encrypt(secret: string, owner: SubscriptionRef): Uint8Array<ArrayBuffer>;
  /**
   * Decrypts a secret.
   * @throws Error if the secret was encrypted with an unknown key or for another subscription
   */
  decrypt(encrypted: Uint8Array, owner: SubscriptionRef): string;
  /**
   * Derives a 32-byte key for another purpose from each encryption key (HKDF, RFC 5869). Keeps the order of the
   * encryption keys.
   */
  deriveKeys(purpose: string): Buffer[];
  /** The ids of the encryption keys, in hexadecimal. The cipher encrypts with the first key. */
  keyIds: readonly string[];
}

/** The number of bytes in a key id. Each encrypted secret starts with a key id. */
export const keyIdBytes = 4;

const algorithm = 'aes-256-gcm';
const ivBytes = 12;
const tagBytes = 16;

/**
 * Creates a cipher for webhook secrets with AES-256-GCM. An encrypted secret consists of the key id (the first 4 bytes
 * of the key's SHA-256 hash), IV, tag and ciphertext. To support key rotation, the cipher encrypts with the first key
 * and can decrypt with every key.
 * @param keys the encryption keys, 32 bytes each, in base64
 */
export function createSecretCipher(keys: readonly string[]): SecretCipher {
  const known = keys.map((text) => {
    const key = Buffer.from(text, 'base64');
    return { key, id: createHash('sha256').update(key).digest().subarray(0, keyIdBytes) };
  });
  const newest = known[0];
  if (newest === undefined) throw new Error('A secret cipher needs at least one key.');
  const findKey = (encrypted: Uint8Array) => known.find(({ id }) => id.equals(encrypted.subarray(0, keyIdBytes)));

  return {
    encrypt(secret, owner) {
      const iv = randomBytes(ivBytes);
      const cipher = createCipheriv(algorithm, newest.key, iv).setAAD(ownerBytes(owner));
      const text = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()]);
      return new Uint8Array(Buffer.concat([newest.id, iv, cipher.getAuthTag(), text]));
    },
    decrypt(encrypted, owner) {
      const found = findKey(encrypted);
      if (found === undefined)
        throw new Error('The webhook secret was encrypted with a key that is not in WEBHOOK_SECRET_KEY. Add that key.');
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
