import type { FastifyBaseLogger } from 'fastify';
import type { Databases } from '../database/databases.ts';
import { bucketOf } from './shape.ts';
import { writeUsage } from './store.ts';
import { type Place, Tally } from './tally.ts';

const minuteMs = 60_000;
const flushEveryMs = 5000;

/** Counts that may wait to be written: 4 MB, or what some thousand keys use in a minute of an outage. */
const mostWaiting = 10_000;

/** A request that was answered. */
export interface Served extends Omit<Place, 'at'> {
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
 * Counts what is asked for with keys (docs/decisions/usage.md): in memory, which every request costs some look-ups, and
 * every few seconds into the database. What can't be written waits for the next time, as much as there is room for. Where
 * it was written and the answer lost, it is counted twice.
 */
export function createUsageRecorder({ databases, now, logger }: RecorderOptions): UsageRecorder {
  let waiting = new Tally(mostWaiting);
  let writing: Promise<void> | undefined;
  let lost = 0;

  async function write(): Promise<void> {
    if (lost > 0) logger.warn({ requests: lost }, 'usage not counted: too much of it waits to be written');
    lost = 0;
    if (waiting.size === 0) return;
    const taken = waiting;
    waiting = new Tally(mostWaiting);
    try {
      await writeUsage(databases.system.pool, taken);
    } catch (err) {
      for (const [place, counts] of taken) if (!waiting.add(place, counts)) lost += counts.requests;
      if (!databases.options.reachability.explains(err, 'counts of usage')) logger.error({ err }, 'usage not written');
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
    record({ tenantId, keyId, kind, milliseconds, globalShare, groupShare }) {
      const ms = now().getTime();
      const counts = waiting.at({ tenantId, at: ms - (ms % minuteMs), keyId, kind });
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
