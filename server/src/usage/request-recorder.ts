import type { FastifyBaseLogger } from 'fastify';
import type { Databases } from '../database/client/databases.ts';
import { type FlushLoop, startFlushLoop } from '../shared/loops/flush-loop.ts';
import type { TenantId } from '../shared/tenant-id.ts';
import { toLoggedPath } from './logged-path.ts';
import {
  type CompletedRequest,
  type MinuteTally,
  type PendingRequest,
  type RequestLimits,
  writeRequests,
} from './request-store.ts';

const minuteMs = 60_000;

/** The maximum number of unwritten requests in memory, which use at most 1 MB. */
const maxPendingRequests = 1000;

/** The number of unwritten requests at which a write starts early. */
const earlyFlushRequests = 500;

/** The maximum number of minutes whose counts wait to be written. During a longer outage, the oldest counts are lost. */
const maxPendingMinutes = 60;

export interface RequestRecorder extends Pick<FlushLoop, 'flush' | 'close'> {
  /** Adds a request that has just completed to the request log. */
  record(request: CompletedRequest): void;
  /** The number of requests that the log doesn't contain because too many requests waited to be written. */
  readonly dropped: number;
}

interface RecorderOptions {
  databases: Pick<Databases, 'system' | 'options'>;
  now: () => Date;
  /** Logs failed writes. */
  logger: Pick<FastifyBaseLogger, 'error'>;
  limits: RequestLimits;
}

/**
 * Collects requests in memory, and writes them to the request log every 5 seconds (docs/decisions/request-log.md). Counts the requests of each tenant and minute, and collects only as many successes
 * and errors as `limits` allows. Requests with the status 429 are only counted. If a write fails, the next write
 * includes its requests, up to `maxPendingRequests` in total.
 */
export function createRequestRecorder({ databases, now, logger, limits }: RecorderOptions): RequestRecorder {
  let pending: PendingRequest[] = [];
  /** The counts of each minute, by the start of the minute in milliseconds since 1970. */
  const minutes = new Map<number, Map<TenantId, MinuteTally>>();
  let currentMinute = 0;
  let tallies = new Map<TenantId, MinuteTally>();
  let dropped = 0;

  function enter(minute: number): void {
    currentMinute = minute;
    tallies = minutes.get(minute) ?? new Map();
    minutes.set(minute, tallies);
    const [oldest] = minutes.keys();
    if (minutes.size > maxPendingMinutes && oldest !== undefined) minutes.delete(oldest);
  }

  function tallyOf(tenantId: TenantId): MinuteTally {
    const known = tallies.get(tenantId);
    if (known !== undefined) return known;
    const written = { successes: 0, errors: 0, rateLimited: 0 };
    const tally = { tenantId, minute: currentMinute, ...written, written };
    tallies.set(tenantId, tally);
    return tally;
  }

  async function write(): Promise<void> {
    const requests = pending;
    const changed = [...minutes.values()].flatMap((each) => [...each.values()].filter(isChanged));
    if (changed.length === 0) return;
    const last = currentMinute;
    const counts = changed.map(({ successes, errors, rateLimited }) => ({ successes, errors, rateLimited }));
    pending = [];
    try {
      await writeRequests(databases.system.prisma, { requests, tallies: changed, limits });
      for (const [index, tally] of changed.entries()) tally.written = counts[index] ?? tally.written;
      for (const minute of minutes.keys()) if (minute < last) minutes.delete(minute);
    } catch (err) {
      const waiting = [...requests, ...pending];
      pending = waiting.slice(0, maxPendingRequests);
      dropped += waiting.length - pending.length;
      if (!databases.options.outages.explains(err, 'writes of the request log'))
        logger.error({ err }, 'request log not written');
    }
  }

  const { flush, flushSoon, close } = startFlushLoop(write);

  return {
    record({ tenantId, url, ...request }) {
      const at = now().getTime();
      const minute = at - (at % minuteMs);
      if (minute !== currentMinute) enter(minute);
      const tally = tallyOf(tenantId);
      if (request.status === 429) {
        tally.rateLimited++;
        return;
      }
      const isError = request.errorCode !== null;
      const position = isError ? ++tally.errors : ++tally.successes;
      if (position > (isError ? limits.errors : limits.successes)) return;
      if (pending.length >= maxPendingRequests) {
        dropped++;
        return;
      }
      pending.push({ ...request, path: toLoggedPath(url), at, tally, position });
      // After a failed write, the timer starts the next write, so that an outage doesn't cause a write per request.
      if (pending.length === earlyFlushRequests) flushSoon();
    },
    flush,
    close,
    get dropped() {
      return dropped;
    },
  };
}

function isChanged({ successes, errors, rateLimited, written }: MinuteTally): boolean {
  return successes > written.successes || errors > written.errors || rateLimited > written.rateLimited;
}
