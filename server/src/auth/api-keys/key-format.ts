import { hash, randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const prefix = 'itsm_';
const shape = /^itsm_[0-9A-Za-z]{38}$/;

/**
 * A new key: `itsm_`, 32 random base62 characters, and the CRC-32 of all that in 6 more, by which scanners know a
 * key and typing errors are turned away without a query (docs/decisions/api-keys.md).
 */
export function newKey(): string {
  const random = Array.from({ length: 32 }, () => alphabet[randomInt(alphabet.length)]).join('');
  return prefix + random + checksum(prefix + random);
}

/** Whether the text can be a key at all: shape and checksum. */
export function isKey(value: string): boolean {
  return shape.test(value) && checksum(value.slice(0, -6)) === value.slice(-6);
}

/** What is stored of a key (spec §5.3). */
export function hashKey(key: string): Buffer<ArrayBuffer> {
  return hash('sha256', key, 'buffer') as Buffer<ArrayBuffer>;
}

function checksum(value: string): string {
  let rest = crc32(value);
  let digits = '';
  for (let i = 0; i < 6; i++) {
    digits = alphabet[rest % alphabet.length] + digits;
    rest = Math.floor(rest / alphabet.length);
  }
  return digits;
}
