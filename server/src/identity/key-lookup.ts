import { Scope } from '@itsm-api/contract';
import { listen } from '../database/listener.ts';
import type { PrismaClient } from '../database/prisma.ts';
import { type TenantClient, tenantClient } from '../database/tenant-client.ts';
import { hashKey, isKey } from './key-format.ts';

/** Who a valid key speaks for, and what it may do. */
export interface KeyIdentity {
  keyId: bigint;
  tenantId: bigint;
  userId: bigint;
  scopes: ReadonlySet<Scope>;
  expiresAt: Date | null;
  /** The tenant's data. */
  db: TenantClient;
}

/** Keys remembered at once; the one remembered longest goes first. */
const cacheSize = 10_000;

export interface KeyLookup {
  /** Resolves to undefined when the key is malformed, unknown, expired or revoked, or its user or tenant inactive. */
  find(key: string): Promise<KeyIdentity | undefined>;
  close(): Promise<void>;
}

interface LookupOptions {
  prisma: PrismaClient;
  databaseUrl: string;
  now: () => Date;
}

/**
 * Finds keys by their hash and remembers them, for as long as a listener tells of every revocation within a second
 * (docs/decisions/keys.md). While the listener is down each request asks the database.
 */
export function createKeyLookup({ prisma, databaseUrl, now }: LookupOptions): KeyLookup {
  const cache = new Map<string, KeyIdentity>();
  let generation = 0;

  // The triggers in prisma/migrations notify on whatever may end a key: its own change, its user's or its tenant's.
  const onNotify = () => {
    generation++;
    cache.clear();
  };
  const listener = listen({ databaseUrl, channel: 'api_keys', onNotify });

  async function load(key: string): Promise<KeyIdentity | undefined> {
    const row = await prisma.apiKey.findUnique({
      where: { hash: hashKey(key), revokedAt: null, user: { active: true }, tenant: { active: true } },
      select: { id: true, tenantId: true, userId: true, scopes: true, expiresAt: true },
    });
    if (row === null) return undefined;
    return {
      keyId: row.id,
      tenantId: row.tenantId,
      userId: row.userId,
      scopes: new Set(row.scopes.map((scope) => Scope.parse(scope))),
      expiresAt: row.expiresAt,
      db: tenantClient(prisma, row.tenantId),
    };
  }

  async function findActive(key: string): Promise<KeyIdentity | undefined> {
    const known = listener.listening ? cache.get(key) : undefined;
    if (known !== undefined) return known;
    if (!isKey(key)) return undefined;

    const before = generation;
    const identity = await load(key);
    // What was read before a change may be what the change took away: then it serves this request only.
    if (identity !== undefined && listener.listening && generation === before) {
      if (cache.size >= cacheSize) cache.delete(cache.keys().next().value as string);
      cache.set(key, identity);
    }
    return identity;
  }

  return {
    async find(key) {
      const identity = await findActive(key);
      const expired = identity?.expiresAt != null && identity.expiresAt <= now();
      return expired ? undefined : identity;
    },
    close: () => listener.close(),
  };
}
