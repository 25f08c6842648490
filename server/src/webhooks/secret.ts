import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';

/** The subscription that a secret belongs to: sealed for one, it can't be opened as another's. */
export interface SecretOwner {
  tenantId: bigint;
  subscriptionId: bigint;
}

export interface SecretSealer {
  seal(secret: string, owner: SecretOwner): Uint8Array<ArrayBuffer>;
  /** Throws when the secret was sealed with a key that isn't known here, or for another owner. */
  open(sealed: Uint8Array, owner: SecretOwner): string;
  /** Whether the key that sealed it is known here. */
  knows(sealed: Uint8Array): boolean;
}

const algorithm = 'aes-256-gcm';
const keyIdBytes = 4;
const ivBytes = 12;
const tagBytes = 16;

/**
 * Seals webhook secrets with AES-256-GCM. A sealed secret is key id (4 bytes of the key's SHA-256), IV, tag and
 * ciphertext. The first key seals; all of them open, so that a key can be changed.
 * @param keys 32 bytes each, in base64
 */
export function createSecretSealer(keys: readonly string[]): SecretSealer {
  const known = keys.map((text) => {
    const key = Buffer.from(text, 'base64');
    return { key, id: createHash('sha256').update(key).digest().subarray(0, keyIdBytes) };
  });
  const sealing = known[0];
  if (sealing === undefined) throw new Error('A secret sealer needs at least one key.');
  const keyOf = (sealed: Uint8Array) => known.find(({ id }) => id.equals(sealed.subarray(0, keyIdBytes)));

  return {
    seal(secret, owner) {
      const iv = randomBytes(ivBytes);
      const cipher = createCipheriv(algorithm, sealing.key, iv).setAAD(ownerBytes(owner));
      const text = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()]);
      return new Uint8Array(Buffer.concat([sealing.id, iv, cipher.getAuthTag(), text]));
    },
    open(sealed, owner) {
      const found = keyOf(sealed);
      if (found === undefined) throw new Error('The webhook secret was sealed with another WEBHOOK_SECRET_KEY.');
      const [ivEnd, tagEnd] = [keyIdBytes + ivBytes, keyIdBytes + ivBytes + tagBytes];
      const decipher = createDecipheriv(algorithm, found.key, sealed.subarray(keyIdBytes, ivEnd))
        .setAAD(ownerBytes(owner))
        .setAuthTag(sealed.subarray(ivEnd, tagEnd));
      return Buffer.concat([decipher.update(sealed.subarray(tagEnd)), decipher.final()]).toString('utf8');
    },
    knows: (sealed) => keyOf(sealed) !== undefined,
  };
}

function ownerBytes({ tenantId, subscriptionId }: SecretOwner): Buffer {
  return Buffer.from(`${tenantId}:${subscriptionId}`);
}
