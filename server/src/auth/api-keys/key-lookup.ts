import type { Scope } from '@itsm-api/contract';
import type { Databases } from '../../database/client/databases.ts';
import { statementName } from '../../database/client/statement-name.ts';
import { type TenantClient, tenantClient } from '../../database/client/tenant-client.ts';
import { listen } from '../../database/listener.ts';
import { type TenantId, toTenantId } from '../../shared/tenant-id.ts';
import { type KeyDetails, readKeyDetails } from './key-details.ts';
import { hashKey, isKey } from './key-format.ts';
import { knownScopes } from './known-scopes.ts';
import { createLookupQueue } from './lookup-queue.ts';

/** Who a valid key speaks for, and what it may do. */
export interface KeyIdentity {
  /** The hash of the key. */
  hash: Buffer;
  keyId: bigint;
  tenantId: TenantId;
  userId: bigint;
  scopes: ReadonlySet<Scope>;
  expiresAt: Date | null;
  /** The tenant's data. */
  db: TenantClient;
}

/** Keys remembered at once; the one remembered longest goes first. */
const cacheSize = 10_000;

export interface KeyLookup {
  /**
   * Resolves to undefined when the key is malformed, unknown, expired or revoked, or its user or tenant inactive.
   * @param beforeUnknown called before the query for a key that wasn't valid within the hour, which it stops by throwing
   * @throws ApiError RATE_LIMIT_EXCEEDED when too many keys that were not valid lately are looked up at once
   */
  find(key: string, beforeUnknown?: () => Promise<void>): Promise<KeyIdentity | undefined>;
  /** Resolves to what a key that was found is now, or to undefined as `find` does. */
  findAgain(identity: KeyIdentity): Promise<KeyIdentity | undefined>;
  /** What may be told of a key that was found to whoever holds it. */
  describe(identity: KeyIdentity): Promise<KeyDetails>;
  /** True while keys are remembered, since every revocation is heard of. */
  readonly listening: boolean;
  close(): Promise<void>;
}

interface LookupOptions {
  databases: Pick<Databases, 'requests' | 'keyLookups' | 'options'>;
  now: () => Date;
  /** Told when a key is not looked up, since too many are that were not valid lately. */
  onTurnedAway?: (() => void) | undefined;
  /** Told when nothing is heard of revocations, and every request asks the database; and when that is over. */
  onAway?: ((reason: unknown) => void) | undefined;
  onBack?: (() => void) | undefined;
}

/**
 * Finds keys by their hash and remembers them, for as long as a listener tells of every revocation within a second
 * (docs/decisions/api-keys.md). While the listener is down each request asks the database.
 */
export function createKeyLookup({ databases, now, onTurnedAway, onAway, onBack }: LookupOptions): KeyLookup {
  const { requests, keyLookups, options } = databases;
  /** By their hash in base64: no key stays in memory for longer than its request. */
  const cache = new Map<string, KeyIdentity>();
  const queue = createLookupQueue({ atOnce: keyLookups.options.max, onTurnedAway });
  let generation = 0;

  // The triggers in prisma/migrations notify on whatever may end a key, its own change, its user's or its tenant's, and say
  // of which tenant it is.
  const onNotify = (changed?: string) => {
    generation++;
    queue.forget();
    if (!changed) return cache.clear();
    const tenantId = toTenantId(changed);
    for (const [hash, identity] of cache) if (identity.tenantId === tenantId) cache.delete(hash);
  };
  const listener = listen({ ...options, channel: 'api_keys', onNotify, onAway, onBack });

  async function load(hash: Buffer): Promise<KeyIdentity | undefined> {
    const { rows }: { rows: KeyRow[] } = await keyLookups.query({
      name: statementName(byHash),
      text: byHash,
      values: [hash],
    });
    const [row] = rows;
    if (row === undefined) return undefined;
    const tenantId = toTenantId(row.tenant_id);
    return {
      hash,
      keyId: BigInt(row.id),
      tenantId,
      userId: BigInt(row.user_id),
      scopes: new Set(knownScopes(row.scopes)),
      expiresAt: row.expires_at,
      db: tenantClient(requests, tenantId),
    };
  }

  async function findValid(hash: Buffer, beforeUnknown?: () => Promise<void>): Promise<KeyIdentity | undefined> {
    const identity = await findActive(hash, beforeUnknown);
    const expired = identity?.expiresAt != null && identity.expiresAt <= now();
    return expired ? undefined : identity;
  }

  async function findActive(hash: Buffer, beforeUnknown?: () => Promise<void>): Promise<KeyIdentity | undefined> {
    const name = hash.toString('base64');
    const known = listener.listening ? cache.get(name) : undefined;
    if (known !== undefined) return known;

    if (!queue.wasValid(name)) await beforeUnknown?.();
    const before = generation;
    const identity = await queue.run(name, () => load(hash));
    // What was read before a change may be what the change took away: then it serves this request only.
    if (identity !== undefined && listener.listening && generation === before) {
      if (cache.size >= cacheSize) cache.delete(cache.keys().next().value as string);
      cache.set(name, identity);
    }
    return identity;
  }

  return {
    find: async (key, beforeUnknown) => (isKey(key) ? findValid(hashKey(key), beforeUnknown) : undefined),
    findAgain: ({ hash }) => findValid(hash),
    describe: (identity) => queue.run(`facts of ${identity.keyId}`, () => readKeyDetails(keyLookups, identity), true),
    get listening() {
      return listener.listening;
    },
    close: () => listener.close(),
  };
}

/** As pg reads it: 64 bits as text. */
interface KeyRow {
  id: string;
  tenant_id: string;
  user_id: string;
  scopes: string[];
  expires_at: Date | null;
}

const byHash = `
  SELECT k.id, k.tenant_id, k.user_id, k.scopes, k.expires_at FROM api_keys k
  JOIN users u ON u.tenant_id = k.tenant_id AND u.id = k.user_id AND u.active
  JOIN tenants t ON t.id = k.tenant_id AND t.active
  WHERE k.hash = $1 AND k.revoked_at IS NULL`;
