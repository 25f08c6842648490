import { Gauge } from 'prom-client';
import type { Pool } from '../../database/client/pool.ts';
import { readHorizon, type TransactionHorizon } from '../../database/transaction-horizon.ts';
import { endsWithin } from '../../shared/timeout.ts';
import type { Metrics } from './metrics.ts';

/** How long the database is waited for. Milliseconds. */
const patienceMs = 2000;

/** Tells how far a transaction that stays open keeps back what the changes show (docs/decisions/change-feed.md). */
export function measureChanges({ registry }: Metrics, pool: Pool, now = () => performance.now()): void {
  const lagOf = createLag();
  new Gauge({
    name: 'itsm_changes_lag_seconds',
    help: 'For how long at least the oldest transaction that writes has been open: changes that are newer are not shown yet.',
    registers: [registry],
    async collect() {
      const reading = readHorizon(pool).catch(() => undefined);
      const horizon = (await endsWithin(patienceMs, reading)) ? await reading : undefined;
      if (horizon === undefined) this.remove();
      else this.set(lagOf(horizon, now()) / 1000);
    },
  });
}

/** So many readings are remembered at most. */
const mostSeen = 1000;

/**
 * Reckons it from what was seen before: since the first time that something had ended which began after the oldest
 * transaction. That needs no right to see what others do. Milliseconds in and out.
 */
function createLag(): (horizon: TransactionHorizon, at: number) => number {
  let seen: { at: number; ended: bigint }[] = [];
  return ({ oldest, ended }, at) => {
    seen = [...seen.filter((each) => each.ended > oldest), { at, ended }];
    // While a transaction stays open for weeks nothing is forgotten by itself: of what came after the first fewer do.
    if (seen.length > mostSeen) seen = seen.filter((_, index) => index % 2 === 0);
    return at - (seen[0]?.at ?? at);
  };
}
