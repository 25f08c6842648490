import { serializeId } from '../../shared/serialize.ts';
import type { TenantId } from '../../shared/tenant-id.ts';
/** The usage of a tenant. */
export interface Usage {
  /** The number of requests with a valid API key. */
  requests: number;
  /**
   * How many milliseconds the tenant's requests used database connections
   * (docs/decisions/rate-and-concurrency-limits.md).
   */
  connectionMs: number;
  /** The number of delivery attempts of the tenant's webhooks. */
  deliveries: number;
}

type Measure = keyof Usage;
const measures: Measure[] = ['requests', 'connectionMs', 'deliveries'];

/**
 * For each measure, the tenants with the highest usage in the last `minutes` minutes. The tenant with the highest usage
 * is first.
 */
export type TopTenants = { minutes: number } & Record<Measure, (Usage & { tenantId: number })[]>;

export interface TenantUsage {
  add(tenantId: TenantId, measure: Measure, amount: number): void;
  top(): TopTenants;
}

const windowMinutes = 5;
const minuteMs = 60_000;
const maxTopTenants = 10;

/**
 * The maximum number of tenants per minute. If another tenant is added, `add` evicts the tenants with the lowest usage.
 */
const maxTenants = 10_000;
/** The number of tenants that an eviction keeps for each measure. It keeps the tenants with the highest usage. */
const retainedTenants = 1000;

/**
 * Counts the usage of each tenant in the last `windowMinutes` minutes. `maxTenants` limits memory use.
 * @param clock a monotonic clock in milliseconds
 */
export function createTenantUsage(clock: () => number = () => performance.now()): TenantUsage {
  /** The usage of each minute, newest first. */
  let minutes: { since: number; tenants: Map<TenantId, Usage> }[] = [];

  function currentTenants(): Map<TenantId, Usage> {
    const now = clock();
    const [current] = minutes;
    if (current !== undefined && now - current.since < minuteMs) return current.tenants;
    const tenants = new Map<TenantId, Usage>();
    minutes = [{ since: now, tenants }, ...lastMinutes(now)].slice(0, windowMinutes);
    return tenants;
  }

  function lastMinutes(now: number) {
    return minutes.filter(({ since }) => now - since < windowMinutes * minuteMs);
  }

  return {
    add(tenantId, measure, amount) {
      const tenants = currentTenants();
      let usage = tenants.get(tenantId);
      if (usage === undefined) {
        if (tenants.size >= maxTenants) evictLowest(tenants);
        usage = createUsage();
        tenants.set(tenantId, usage);
      }
      usage[measure] += amount;
    },

    top() {
      const sums = new Map<TenantId, Usage>();
      for (const { tenants } of lastMinutes(clock())) {
        for (const [tenantId, usage] of tenants) {
          const sum = sums.get(tenantId) ?? createUsage();
          for (const measure of measures) sum[measure] += usage[measure];
          sums.set(tenantId, sum);
        }
      }
      const getTop = (measure: Measure) =>
        largest(sums, measure, maxTopTenants).map(([tenantId, usage]) => ({
          tenantId: serializeId(tenantId),
          ...usage,
          connectionMs: Math.round(usage.connectionMs),
        }));
      return {
        minutes: windowMinutes,
        requests: getTop('requests'),
        connectionMs: getTop('connectionMs'),
        deliveries: getTop('deliveries'),
      };
    },
  };
}

function createUsage(): Usage {
  return { requests: 0, connectionMs: 0, deliveries: 0 };
}

function largest(tenants: Map<TenantId, Usage>, measure: Measure, count: number): [TenantId, Usage][] {
  const using = [...tenants].filter(([, usage]) => usage[measure] > 0);
  return using.sort(([, a], [, b]) => b[measure] - a[measure]).slice(0, count);
}

function evictLowest(tenants: Map<TenantId, Usage>): void {
  const retained = new Map(measures.flatMap((measure) => largest(tenants, measure, retainedTenants)));
  for (const tenantId of tenants.keys()) {
    if (!retained.has(tenantId)) tenants.delete(tenantId);
  }
}
