import { Gauge } from 'prom-client';
import type { SystemClient } from '../../database/client/prisma.ts';
import { readHorizon, type TransactionHorizon } from '../../database/transaction-horizon.ts';
import { endsWithin } from '../../shared/timeout.ts';
import type { Metrics } from './metrics.ts';

/** The maximum time in milliseconds to wait for a response from the database. */
const maxReadMs = 2000;

/** Measures how long an open transaction delays the change feed (docs/decisions/change-feed.md). */
export function measureChanges({ registry }: Metrics, system: SystemClient, now = () => performance.now()): void {
  const computeLag = createLagEstimator();
  new Gauge({
    name: 'itsm_changes_lag_seconds',
    help: 'Minimum age of the oldest open write transaction. The change feed does not yet contain newer changes.',
    registers: [registry],
    async collect() {
      const reading = readHorizon(system).catch(() => undefined);
      const horizon = (await endsWithin(maxReadMs, reading)) ? await reading : undefined;
      if (horizon === undefined) this.remove();
      else this.set(computeLag(horizon, now()) / 1000);
    },
  });
}

/** The maximum number of stored readings. */
const maxReadings = 1000;

/**
 * Returns a function that estimates the age of the oldest open transaction in milliseconds. The estimate is the time
 * since the first reading in which a newer transaction had already ended. Unlike a query of `pg_stat_activity`, the
 * function needs no permission to see other sessions.
 */
function createLagEstimator(): (horizon: TransactionHorizon, at: number) => number {
  let readings: { at: number; ended: bigint }[] = [];
  return ({ oldest, ended }, at) => {
    readings = [...readings.filter((reading) => reading.ended > oldest), { at, ended }];
    // The function keeps readings while a transaction is open, which can take weeks. If there are too many readings,
    // the function removes every second one, but never the first.
    if (readings.length > maxReadings) readings = readings.filter((_, index) => index % 2 === 0);
    return at - (readings[0]?.at ?? at);
  };
}
