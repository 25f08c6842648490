import { hash, randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const prefix = 'itsm_';
const shape = /^itsm_[0-9A-Za-z]{38}$/;

/**
 * Generates an API key: `itsm_`, 32 random base62 characters, and a CRC-32 checksum in 6 more characters. With the
 * checksum, secret scanners can recognize keys, and the server can reject mistyped keys without a database query
 * (docs/decisions/api-keys-design.md).
 */
export function newKey(): string {
  const random = Array.from({ length: 32 }, () => alphabet[randomInt(alphabet.length)]).join('');
  return prefix + random + checksum(prefix + random);
}

/** Returns whether a text has the format of an API key and a correct checksum. */
export function isKey(value: string): boolean {
  return shape.test(value) && checksum(value.slice(0, -6)) === value.slice(-6);
}

/** Returns the hash that the database stores for an API key (spec §5.3). */
export function hashKey(key: string): Buffer<ArrayBuffer> {
  return hash('sha256', key, 'buffer') as Buffer<ArrayBuffer>;
}

function checksum(value: string): string {
  let remaining = crc32(value);
  let digits = '';
  for (let i = 0; i < 6; i++) {
    digits = alphabet[remaining % alphabet.length] + digits;
    remaining = Math.floor(remaining / alphabet.length);
  }
  return digits;
}
