import { createHash, randomBytes } from 'node:crypto';
import { type TenantId, toTenantId } from '../../shared/tenant-id.ts';

/** A secret token, which contains the tenant id, and its hash. The database stores only the hash. */
export interface Token {
  text: string;
  hash: Uint8Array<ArrayBuffer>;
}

/** The values by which the database finds a token. */
export interface TokenKey {
  tenantId: TenantId;
  hash: Uint8Array<ArrayBuffer>;
}

/** Creates a token that consists of the tenant id, a dot, and 32 random bytes in base64url. */
export function newToken(tenantId: TenantId): Token {
  const text = `${tenantId}.${randomBytes(32).toString('base64url')}`;
  return { text, hash: sha256(text) };
}

/** Returns the tenant id in a token and the hash of the token. Returns undefined if the text isn't a token. */
export function readToken(text: unknown): TokenKey | undefined {
  const tenantId = typeof text === 'string' ? /^(\d{1,18})\.[\w-]{43}$/.exec(text)?.[1] : undefined;
  return tenantId === undefined ? undefined : { tenantId: toTenantId(tenantId), hash: sha256(text as string) };
}

export function sha256(text: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(createHash('sha256').update(text).digest());
}
