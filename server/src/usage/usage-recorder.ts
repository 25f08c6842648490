import type { FastifyBaseLogger } from 'fastify';
import type { Databases } from '../database/client/databases.ts';
import { addCounts, type Counts, type Place, UsageAggregator } from './aggregator.ts';
import { bucketOf } from './dimensions.ts';
import { writeUsage } from './usage-store.ts';

const minuteMs = 60_000;
const flushEveryMs = 5000;

/** Counts that may wait to be written: 6 MB, or what some thousand keys use in a minute of an outage. */
const mostWaiting = 10_000;

/** A request that was answered. */
export interface Served extends Place {
  milliseconds: number;
  /** The share of its windows that its key had used with it. Percent. */
  globalShare: number;
  groupShare: number;
}

export interface UsageRecorder {
  /** Counts a request that was answered now. */
  record(served: Served): void;
  /** Writes what has been counted. */
  flush(): Promise<void>;
  close(): Promise<void>;
}

interface RecorderOptions {
  databases: Pick<Databases, 'system' | 'options'>;
  now: () => Date;
  /** Told of what could not be written, and of what was not counted. */
  logger: Pick<FastifyBaseLogger, 'error' | 'warn'>;
}

/**
 * Counts what is asked for with keys (docs/decisions/usage-statistics.md): in memory, which every request costs some look-ups, and
 * every few seconds into the database. What can't be written waits for the next time, as much as there is room for. Where
 * it was written and the answer lost, it is counted twice.
 */
export function createUsageRecorder({ databases, now, logger }: RecorderOptions): UsageRecorder {
  /** By the beginning of their minute. */
  let waiting = new Map<number, UsageAggregator>();
  let size = 0;
  let writing: Promise<void> | undefined;
  let lost = 0;

  /** Undefined where it would be one too many. */
  function countsAt(minute: number, place: Place): Counts | undefined {
    const known = waiting.get(minute)?.find(place);
    if (known !== undefined || size >= mostWaiting) return known;
    const tally = waiting.get(minute) ?? new UsageAggregator();
    waiting.set(minute, tally);
    size++;
    return tally.begin(place);
  }

  async function write(): Promise<void> {
    if (lost > 0) logger.warn({ requests: lost }, 'usage not counted: too much of it waits to be written');
    lost = 0;
    const taken = [...waiting];
    waiting = new Map();
    size = 0;
    try {
      for (; taken[0] !== undefined; taken.shift()) await writeUsage(databases.system.pool, ...taken[0]);
    } catch (err) {
      for (const [minute, tally] of taken) putBack(minute, tally);
      if (!databases.options.reachability.explains(err, 'counts of usage')) logger.error({ err }, 'usage not written');
    }
  }

  function putBack(minute: number, tally: UsageAggregator): void {
    for (const [place, given] of tally) {
      const counts = countsAt(minute, place);
      if (counts === undefined) lost += given.requests;
      else addCounts(counts, given);
    }
  }

  /** Never two at a time: what the first could not write, the second takes along. */
  async function flush(): Promise<void> {
    await writing;
    writing = write();
    await writing;
    writing = undefined;
  }

  const timer = setInterval(() => {
    if (writing === undefined) flush();
  }, flushEveryMs);
  timer.unref();

  return {
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
    flush,
    async close() {
      clearInterval(timer);
      await flush();
    },
  };
}
