import { setTimeout as sleep } from 'node:timers/promises';
import { median } from '../../../test/support/percentiles.ts';
import { startServer } from '../api/servers.ts';
import { type ClientJob, type ClientResult, runClient } from '../fairness/client.ts';
import type { SkewedData } from './data.ts';
import type { Ranked } from './measure.ts';

/** The latency of another tenant's requests while the largest tenant sends its slowest requests. */
export interface Beside {
  /** Whether the rate limits have their default values. */
  hasRateLimits: boolean;
  /** The requests of the other tenant. */
  reads: 'by id' | 'lists';
  p99Alone: number;
  p99: number;
  ratio: number;
  /** The number of responses to each tenant, by status. */
  statuses: { slow: Record<string, number>; other: Record<string, number> };
}

const [connections, rounds, seconds] = [16, 5, 8];
/** The requests of the other tenant per second. With 64 keys, it stays below the default rate limits. */
const perSecond = 20;
export const allowedRatio = 3;

interface Options {
  databaseUrl: string;
  data: SkewedData;
  slowest: Ranked[];
  onProgress: (text: string) => void;
}

/**
 * Measures the latency of the other tenant without load, and while 16 connections send the slowest requests in turn.
 * The server has its default settings, first with rate limits and then without.
 */
export async function measureBeside({ databaseUrl, data, slowest, onProgress }: Options): Promise<Beside[]> {
  const results: Beside[] = [];
  for (const hasRateLimits of [true, false]) {
    const env = { STATEMENT_TIMEOUT_MS: '', ...(hasRateLimits && { RATE_LIMIT_GLOBAL: '', RATE_LIMIT_GROUP: '' }) };
    const server = await startServer('apiDefaultShare', databaseUrl, { env });
    const get = (path: string, keys: string[]) => ({ method: 'GET' as const, path, keys });
    const slow = slowest.map(({ request }) => get(request.replace('GET ', ''), data.keys));
    const reads = {
      'by id': data.otherTicketIds.map((id) => get(`/tickets/${id}`, data.otherKeys)),
      lists: ['', 'status=OPEN', 'priority=HIGH&type=INCIDENT'].map((query) =>
        get(`/tickets?${query}`, data.otherKeys),
      ),
    };
    try {
      for (const name of ['by id', 'lists'] as const) {
        onProgress(`beside others: ${name}, ${hasRateLimits ? 'with' : 'without'} rate limits`);
        const other = { url: server.url, connections: 64, perSecond, requests: reads[name] };
        results.push({
          hasRateLimits,
          reads: name,
          ...(await compare(other, { ...other, perSecond: undefined, connections, requests: slow })),
        });
      }
    } finally {
      await server.stop();
    }
  }
  return results;
}

async function compare(other: Omit<ClientJob, 'seconds'>, slow: Omit<ClientJob, 'seconds'>) {
  const runs: { alone: ClientResult; beside: ClientResult; slow: ClientResult }[] = [];
  // Warms up the server. V8 compiles the code, and PostgreSQL reads the pages of the slow requests.
  for (const job of [slow, other]) await runClient({ ...job, seconds });
  for (let round = 1; round <= rounds; round++) {
    const alone = await runClient({ ...other, seconds });
    const load = runClient({ ...slow, seconds: seconds + 2 });
    await sleep(1000);
    runs.push({ alone, beside: await runClient({ ...other, seconds }), slow: await load });
  }
  const [p99Alone, p99] = [median(runs.map(({ alone }) => alone.p99)), median(runs.map(({ beside }) => beside.p99))];
  const sum = (counts: Record<string, number>[]) => {
    const names = new Set(counts.flatMap(Object.keys));
    return Object.fromEntries(
      [...names].map((name) => [name, counts.reduce((all, each) => all + (each[name] ?? 0), 0)]),
    );
  };
  const statuses = {
    slow: sum(runs.map(({ slow }) => slow.statuses)),
    other: sum(runs.map(({ beside }) => beside.statuses)),
  };
  return { p99Alone, p99, ratio: p99 / p99Alone, statuses };
}
