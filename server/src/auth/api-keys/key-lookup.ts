import type { Scope } from '@itsm-api/contract';
import type { Databases } from '../../database/client/databases.ts';
import { sql } from '../../database/client/sql.ts';
import { allTenants } from '../../database/client/statements.ts';
import { type TenantClient, tenantClient } from '../../database/client/tenant-client.ts';
import { listen } from '../../database/listener.ts';
import { isUnavailable, notInMaintenance } from '../../database/tenant-maintenance.ts';
import { type Network, parseNetwork } from '../../shared/network/ip-networks.ts';
import { type TenantId, toTenantId } from '../../shared/tenant-id.ts';
import { type KeyDetails, readKeyDetails } from './key-details.ts';
import { hashKey, isKey } from './key-format.ts';
import { knownScopes } from './known-scopes.ts';
import { createLookupQueue } from './lookup-queue.ts';

/** The user, tenant and scopes of a valid API key. */
export interface KeyIdentity {
  /** The hash of the API key. */
  hash: Buffer;
  keyId: bigint;
  tenantId: TenantId;
  userId: bigint;
  scopes: ReadonlySet<Scope>;
  /** Whether the API key is an import key, and its user is an administrator (docs/decisions/imports.md). */
  isImport: boolean;
  /** Whether the API key can only propose changes (docs/decisions/proposals-design.md). */
  isProposing: boolean;
  /** Whether the tenant is in maintenance, so the server rejects its writes (docs/decisions/maintenance.md). */
  isInMaintenance: boolean;
  /** Whether the server also rejects the tenant's reads. */
  isUnavailable: boolean;
  /** Whether the tenant has rules for custom fields (docs/decisions/custom-fields-design.md). */
  hasFieldRules: boolean;
  /** The networks from which the API key works. If empty, it works from every address. */
  networks: readonly Network[];
  expiresAt: Date | null;
  /** The database client for the tenant's data. */
  db: TenantClient;
}

/** The maximum number of cached API keys. The cache evicts the oldest entry first. */
const cacheSize = 10_000;

export interface KeyLookup {
  /**
   * Looks up an API key. Resolves to undefined if the key isn't valid, or if its user or tenant is inactive.
   * @param beforeUnknown called before the database query if the key was not recently valid. If this function throws,
   * the query doesn't run.
   * @throws ApiError RATE_LIMIT_EXCEEDED if the key was not recently valid and the queue is full
   */
  find(key: string, beforeUnknown?: () => Promise<void>): Promise<KeyIdentity | undefined>;
  /** Looks up an API key again. Resolves to its current identity, or to undefined if the key is no longer valid. */
  findAgain(identity: KeyIdentity): Promise<KeyIdentity | undefined>;
  /** Returns the details of an API key and its workspace. */
  describe(identity: KeyIdentity): Promise<KeyDetails>;
  /**
   * Whether the listener is connected and receives revocations. If it isn't connected, the lookup doesn't use its
   * cache.
   */
  readonly listening: boolean;
  close(): Promise<void>;
}

interface LookupOptions {
  databases: Pick<Databases, 'requests' | 'keyLookups' | 'options'>;
  now: () => Date;
  /** Called when the queue rejects a lookup because too many lookups are waiting. */
  onRejected?: (() => void) | undefined;
  /**
   * Called after the listener has failed to connect several times. Until the lookup calls `onAvailable`, each request
   * queries the database.
   */
  onUnavailable?: ((reason: unknown) => void) | undefined;
  onAvailable?: (() => void) | undefined;
}

/**
 * Creates a lookup that finds API keys by hash and caches them. A listener removes revoked keys from the cache within a
 * second (docs/decisions/api-keys-design.md). While the listener is disconnected, each request queries the database.
 */
export function createKeyLookup({ databases, now, onRejected, onUnavailable, onAvailable }: LookupOptions): KeyLookup {
  const { requests, keyLookups, options } = databases;
  /** The cached identities, by the hash of the API key in base64. The key itself is in memory only during a request. */
  const cache = new Map<string, KeyIdentity>();
  const queue = createLookupQueue({ concurrency: keyLookups.pool.options.max, onRejected });
  let generation = 0;

  // Database triggers in prisma/migrations send a notification when a change to a key, its user or its tenant can
  // change the identity. The payload is the tenant id.
  const onNotify = (changed?: string) => {
    generation++;
    queue.forget();
    if (!changed) return cache.clear();
    const tenantId = toTenantId(changed);
    for (const [hash, identity] of cache) if (identity.tenantId === tenantId) cache.delete(hash);
  };
  const listener = listen({ ...options, channel: 'api_keys', onNotify, onUnavailable, onAvailable });

  async function load(hash: Buffer): Promise<KeyIdentity | undefined> {
    const [row] = await keyLookups.$sql(selectByHash, { hash });
    if (row === undefined) return undefined;
    const tenantId = toTenantId(row.tenant_id);
    return {
      hash,
      keyId: row.id,
      tenantId,
      userId: row.user_id,
      scopes: new Set(knownScopes(row.scopes)),
      isImport: row.is_import,
      isProposing: row.is_proposing,
      isInMaintenance: row.is_in_maintenance,
      isUnavailable: row.is_unavailable,
      hasFieldRules: row.has_field_rules,
      networks: row.allowed_networks.map(parseNetwork),
      expiresAt: row.expires_at,
      db: tenantClient(requests, tenantId),
    };
  }

  async function findValid(hash: Buffer, beforeUnknown?: () => Promise<void>): Promise<KeyIdentity | undefined> {
    const identity = await findActive(hash, beforeUnknown);
    const isExpired = identity?.expiresAt != null && identity.expiresAt <= now();
    return isExpired ? undefined : identity;
  }

  async function findActive(hash: Buffer, beforeUnknown?: () => Promise<void>): Promise<KeyIdentity | undefined> {
    const name = hash.toString('base64');
    const cached = listener.listening ? cache.get(name) : undefined;
    if (cached !== undefined) return cached;

    if (!queue.wasValid(name)) await beforeUnknown?.();
    const generationBefore = generation;
    const identity = await queue.run(name, () => load(hash));
    // If a change notification arrives during the query, the result may be outdated, so it isn't cached.
    if (identity !== undefined && listener.listening && generation === generationBefore) {
      if (cache.size >= cacheSize) cache.delete(cache.keys().next().value as string);
      cache.set(name, identity);
    }
    return identity;
  }

  return {
    find: async (key, beforeUnknown) => (isKey(key) ? findValid(hashKey(key), beforeUnknown) : undefined),
    findAgain: ({ hash }) => findValid(hash),
    describe: (identity) => {
      const name = `details of ${identity.tenantId}:${identity.keyId}`;
      return queue.run(name, () => readKeyDetails(keyLookups, identity), true);
    },
    get listening() {
      return listener.listening;
    },
    close: () => listener.close(),
  };
}

/** The database row of an API key. */
interface KeyRow {
  id: bigint;
  tenant_id: bigint;
  user_id: bigint;
  scopes: string[];
  is_import: boolean;
  is_proposing: boolean;
  is_in_maintenance: boolean;
  is_unavailable: boolean;
  has_field_rules: boolean;
  allowed_networks: string[];
  expires_at: Date | null;
}

const selectByHash = allTenants.rows<{ hash: Buffer }, KeyRow>(
  ({ hash }) => sql`
  SELECT k.id, k.tenant_id, k.user_id, k.scopes, k.is_import AND u.role = 'ADMIN' AS is_import, k.is_proposing,
    k.allowed_networks, k.expires_at, NOT (${notInMaintenance}) AS is_in_maintenance, ${isUnavailable} AS is_unavailable,
    EXISTS (SELECT FROM custom_field_definitions WHERE tenant_id = t.id)
      OR EXISTS (SELECT FROM ticket_sequences WHERE tenant_id = t.id AND strict_custom_fields) AS has_field_rules
  FROM api_keys k
  JOIN users u ON u.tenant_id = k.tenant_id AND u.id = k.user_id AND u.active
  JOIN tenants t ON t.id = k.tenant_id AND t.active
  WHERE k.hash = ${hash} AND k.revoked_at IS NULL`,
);
