import { createHmac, timingSafeEqual } from 'node:crypto';
import type { SecretCipher } from '../../webhooks/secrets/secret-cipher.ts';

/* Signs exports (docs/decisions/tenant-transfer.md, "Signature"). */

/**
 * Returns the content of `manifest.sig` for the content of `manifest.json`: the id of the first key of
 * `WEBHOOK_SECRET_KEY`, and an HMAC-SHA-256 with a key that is derived from it. Both are in hexadecimal.
 */
export function signManifest(manifest: Buffer, cipher: SecretCipher): string {
  return `${cipher.keyIds[0]} ${computeMacs(manifest, cipher)[0]?.toString('hex')}\n`;
}

/**
 * Checks the signature of an export with every key of `WEBHOOK_SECRET_KEY`.
 * @param signature the content of `manifest.sig`, or undefined if the file is missing
 * @param purpose what the export is read for. The errors contain the remedy for it
 * @throws Error if the signature is missing or wrong, or if the setting lacks its key
 */
export function verifyManifest(
  manifest: Buffer,
  signature: string | undefined,
  cipher: SecretCipher,
  purpose: Purpose,
): void {
  if (signature === undefined) {
    throw new Error(
      `The export has no signature (manifest.sig), because an earlier release made it. Export ${remedies[purpose]}.`,
    );
  }
  const [, keyId = '', hex = ''] = /^([\da-f]{8}) ([\da-f]{64})\n$/.exec(signature) ?? [];
  const given = Buffer.from(hex, 'hex');
  if (computeMacs(manifest, cipher).some((mac) => mac.length === given.length && timingSafeEqual(mac, given))) return;
  if (keyId !== '' && !cipher.keyIds.includes(keyId)) {
    throw new Error(
      `WEBHOOK_SECRET_KEY: lacks the key with the id ${keyId}, which signed the export. Add the keys of the other ` +
        `installation at the end of the setting. If a key is lost, export ${remedies[purpose]}.`,
    );
  }
  throw new Error(
    'The signature of the export is wrong: manifest.json or manifest.sig has changed. Export the tenant again.',
  );
}

export type Purpose = 'import' | 'deletion';

const remedies: Record<Purpose, string> = {
  import:
    'the tenant again, or import this folder with `--manifest-sha256` and the SHA-256 of manifest.json from the ' +
    'installation that made the export',
  deletion: 'and import the tenant again',
};

/** Returns the HMAC for each key of `WEBHOOK_SECRET_KEY`, in the order of the keys. */
function computeMacs(manifest: Buffer, cipher: SecretCipher): Buffer[] {
  const keys = cipher.deriveKeys('itsm signatures of tenant exports');
  return keys.map((key) => createHmac('sha256', key).update(manifest).digest());
}
