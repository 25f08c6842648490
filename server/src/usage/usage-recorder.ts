import type { FastifyBaseLogger } from 'fastify';
import type { Databases } from '../database/client/databases.ts';
import { type FlushLoop, startFlushLoop } from '../shared/loops/flush-loop.ts';
import { addCounts, type Counts, UsageAggregator, type UsageKey } from './aggregator.ts';
import { bucketOf } from './dimensions.ts';
import { writeUsage } from './usage-store.ts';

const minuteMs = 60_000;

/**
 * The maximum number of unwritten counts in memory, which use at most 6 MB. During an outage, 10,000 counts are enough
 * for one minute of requests with several thousand API keys.
 */
const maxPendingCounts = 10_000;

/** A completed request with an API key. */
export interface ServedRequest extends UsageKey {
  milliseconds: number;
  /** The usage of the API key's global rate limit window after this request, in percent. */
  globalShare: number;
  /** The usage of the API key's rate limit window for the endpoint group after this request, in percent. */
  groupShare: number;
}

export interface UsageRecorder extends Pick<FlushLoop, 'flush' | 'close'> {
  /** Counts a request that has just completed. */
  record(served: ServedRequest): void;
}

interface RecorderOptions {
  databases: Pick<Databases, 'system' | 'options'>;
  now: () => Date;
  /** Logs failed writes, and the number of requests that could not be counted. */
  logger: Pick<FastifyBaseLogger, 'error' | 'warn'>;
}

/**
 * Counts requests with API keys in memory, and writes the counts every 5 seconds
 * (docs/decisions/usage-statistics.md). If a write fails, the next write includes the counts of the failed write, up to
 * `maxPendingCounts` in total. If the database commits a write but the response is lost, the next write adds the same
 * counts again.
 */
export function createUsageRecorder({ databases, now, logger }: RecorderOptions): UsageRecorder {
  /** The unwritten counts, by the start time of their minute. */
  let pending = new Map<number, UsageAggregator>();
  let size = 0;
  let lost = 0;

  /**
   * Returns the counts for a minute, and creates them if necessary. Returns undefined if `maxPendingCounts` would be
   * exceeded.
   */
  function countsAt(minute: number, place: UsageKey): Counts | undefined {
    const existing = pending.get(minute)?.find(place);
    if (existing !== undefined || size >= maxPendingCounts) return existing;
    const aggregator = pending.get(minute) ?? new UsageAggregator();
    pending.set(minute, aggregator);
    size++;
    return aggregator.begin(place);
  }

  async function write(): Promise<void> {
    if (lost > 0) logger.warn({ requests: lost }, 'usage not counted: too many counts wait to be written');
    lost = 0;
    const batch = [...pending];
    pending = new Map();
    size = 0;
    try {
      for (; batch[0] !== undefined; batch.shift()) await writeUsage(databases.system.prisma, ...batch[0]);
    } catch (err) {
      for (const [minute, aggregator] of batch) restore(minute, aggregator);
      if (!databases.options.outages.explains(err, 'counts of usage')) logger.error({ err }, 'usage not written');
    }
  }

  function restore(minute: number, aggregator: UsageAggregator): void {
    for (const [place, counted] of aggregator) {
      const counts = countsAt(minute, place);
      if (counts === undefined) lost += counted.requests;
      else addCounts(counts, counted);
    }
  }

  return {
    ...startFlushLoop(write),
    record(served) {
      const { milliseconds, globalShare, groupShare } = served;
      const ms = now().getTime();
      const counts = countsAt(ms - (ms % minuteMs), served);
      if (counts === undefined) {
        lost++;
        return;
      }
      counts.requests++;
      const bucket = bucketOf(milliseconds);
      counts.latencies[bucket] = (counts.latencies[bucket] ?? 0) + 1;
      if (globalShare > counts.globalPeak) counts.globalPeak = globalShare;
      if (groupShare > counts.groupPeak) counts.groupPeak = groupShare;
    },
  };
}
