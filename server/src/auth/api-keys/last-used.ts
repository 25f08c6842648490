import type { SystemClient } from '../../database/client/prisma.ts';
import { sql } from '../../database/client/sql.ts';
import { allTenants } from '../../database/client/statements.ts';
import { notInMaintenance } from '../../database/tenant-maintenance.ts';
import { type FlushLoop, startFlushLoop } from '../../shared/loops/flush-loop.ts';
import type { TenantId } from '../../shared/tenant-id.ts';

const minuteMs = 60_000;

export interface LastUsed extends Pick<FlushLoop, 'flush' | 'close'> {
  /**
   * Records in memory that a client has just used an API key. `flush` writes the time and the client's IP address to
   * the database.
   */
  touch(key: { tenantId: TenantId; keyId: bigint }, client: { readonly ip: string }): void;
}

interface LastUsedOptions {
  prisma: SystemClient;
  now: () => Date;
  onError: (error: unknown) => void;
}

/** The uses of keys, as lists of equal length. */
interface Uses {
  tenantIds: TenantId[];
  ids: bigint[];
  times: Date[];
  addresses: string[];
}

const writeUses = allTenants.command<Uses>(
  ({ tenantIds, ids, times, addresses }) => sql`
    UPDATE api_keys SET last_used_at = used.at, last_used_address = used.address
    FROM unnest(${tenantIds}::bigint[], ${ids}::bigint[], ${times}::timestamptz[], ${addresses}::text[])
      AS used (tenant_id, id, at, address)
      JOIN tenants t ON t.id = used.tenant_id AND ${notInMaintenance}
    WHERE api_keys.tenant_id = used.tenant_id AND api_keys.id = used.id
      AND (last_used_at IS NULL OR last_used_at < used.at)`,
);

/**
 * Tracks when and from which address API keys were last used. Records at most one use per key and minute. Each flush
 * writes the uses of all keys in one SQL statement, except keys of tenants in maintenance.
 */
export function createLastUsed({ prisma, now, onError }: LastUsedOptions): LastUsed {
  // Two tenants can have a key with the same id, because a tenant that moves to another cell keeps its ids.
  const writtenAt = new Map<string, number>();
  const pending = new Map<string, { tenantId: TenantId; id: bigint; at: Date; address: string }>();

  async function write(): Promise<void> {
    if (pending.size === 0) return;
    // All processes update API keys in the same order. Otherwise, concurrent updates could cause a deadlock.
    const used = [...pending.values()].sort((a, b) => Number(a.tenantId - b.tenantId || a.id - b.id));
    pending.clear();
    for (const [name, at] of writtenAt) {
      if (now().getTime() - at >= minuteMs) writtenAt.delete(name);
    }
    const lists = {
      tenantIds: used.map(({ tenantId }) => tenantId),
      ids: used.map(({ id }) => id),
      times: used.map(({ at }) => at),
      addresses: used.map(({ address }) => address),
    };
    await prisma.$sql(writeUses, lists).catch((error: unknown) => {
      // After an error, keeps these times for the next flush, except for keys for which a newer time has been recorded.
      for (const use of used) {
        const name = `${use.tenantId}:${use.id}`;
        if (!pending.has(name)) pending.set(name, use);
      }
      onError(error);
    });
  }

  return {
    ...startFlushLoop(write),
    touch({ tenantId, keyId }, client) {
      const at = now();
      const name = `${tenantId}:${keyId}`;
      const last = writtenAt.get(name);
      if (last !== undefined && at.getTime() - last < minuteMs) return;
      writtenAt.set(name, at.getTime());
      pending.set(name, { tenantId, id: keyId, at, address: client.ip });
    },
  };
}
