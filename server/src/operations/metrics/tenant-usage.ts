import { serializeId } from '../../shared/serialize.ts';
import type { TenantId } from '../../shared/tenant-id.ts';
/** What a tenant used. */
export interface Usage {
  /** Requests with a valid key. */
  requests: number;
  /** For how long its requests held places at the database (docs/decisions/rate-and-concurrency-limits.md). */
  connectionMs: number;
  /** Attempts to deliver its webhooks. */
  deliveries: number;
}

type Measure = keyof Usage;
const measures: Measure[] = ['requests', 'connectionMs', 'deliveries'];

/** Who used most of each in the last minutes, the largest first. */
export type TopTenants = { minutes: number } & Record<Measure, (Usage & { tenantId: number })[]>;

export interface TenantUsage {
  add(tenantId: TenantId, measure: Measure, amount: number): void;
  top(): TopTenants;
}

const minutesKept = 5;
const minuteMs = 60_000;
const topShown = 10;

/** Tenants that are counted in a minute; when there are more, those that use least are forgotten. */
const tenantsKept = 10_000;
/** How many of each measure stay then. */
const tenantsSpared = 1000;

/**
 * Counts what each tenant uses, for the last minutes and in a bounded memory.
 * @param clock milliseconds by a clock that is never set
 */
export function createTenantUsage(clock: () => number = () => performance.now()): TenantUsage {
  /** The current one first. */
  let minutes: { since: number; tenants: Map<TenantId, Usage> }[] = [];

  function currentTenants(): Map<TenantId, Usage> {
    const now = clock();
    const [current] = minutes;
    if (current !== undefined && now - current.since < minuteMs) return current.tenants;
    const tenants = new Map<TenantId, Usage>();
    minutes = [{ since: now, tenants }, ...lastMinutes(now)].slice(0, minutesKept);
    return tenants;
  }

  function lastMinutes(now: number) {
    return minutes.filter(({ since }) => now - since < minutesKept * minuteMs);
  }

  return {
    add(tenantId, measure, amount) {
      const tenants = currentTenants();
      let usage = tenants.get(tenantId);
      if (usage === undefined) {
        if (tenants.size >= tenantsKept) forgetLeast(tenants);
        usage = noUsage();
        tenants.set(tenantId, usage);
      }
      usage[measure] += amount;
    },

    top() {
      const sums = new Map<TenantId, Usage>();
      for (const { tenants } of lastMinutes(clock())) {
        for (const [tenantId, usage] of tenants) {
          const sum = sums.get(tenantId) ?? noUsage();
          for (const measure of measures) sum[measure] += usage[measure];
          sums.set(tenantId, sum);
        }
      }
      const topOf = (measure: Measure) =>
        largest(sums, measure, topShown).map(([tenantId, usage]) => ({
          tenantId: serializeId(tenantId),
          ...usage,
          connectionMs: Math.round(usage.connectionMs),
        }));
      return {
        minutes: minutesKept,
        requests: topOf('requests'),
        connectionMs: topOf('connectionMs'),
        deliveries: topOf('deliveries'),
      };
    },
  };
}

function noUsage(): Usage {
  return { requests: 0, connectionMs: 0, deliveries: 0 };
}

function largest(tenants: Map<TenantId, Usage>, measure: Measure, count: number): [TenantId, Usage][] {
  const using = [...tenants].filter(([, usage]) => usage[measure] > 0);
  return using.sort(([, a], [, b]) => b[measure] - a[measure]).slice(0, count);
}

function forgetLeast(tenants: Map<TenantId, Usage>): void {
  const spared = new Map(measures.flatMap((measure) => largest(tenants, measure, tenantsSpared)));
  for (const tenantId of tenants.keys()) {
    if (!spared.has(tenantId)) tenants.delete(tenantId);
  }
}
