import { median } from '../../../test/support/percentiles.ts';
import { runTimeOfFamily } from '../api/usage.ts';
import type { Drawn, WantedPage } from './draw.ts';

/** The latency of a request without other load. */
export interface Ranked {
  kind: Drawn['kind'];
  /** The method and path with the query. */
  request: string;
  status: number;
  ms: number;
  /** The CPU time of the server and PostgreSQL in milliseconds. Other programs hardly change it. */
  cpuMs: number;
  /** The number of runs. `ms` and `cpuMs` are their medians. */
  runs: number;
  found?: number | undefined;
  isCapped?: boolean | undefined;
}

/** The maximum latencies in milliseconds, without other load on a quiet machine. */
export const limits = { p50: 10, p99: 250, max: 500 } as const;

/** The slowest requests run again, because other programs on the machine can delay one run. */
const [repeated, repetitions] = [100, 30];
/** The maximum time for the runs of one request. */
const maxRepeatMs = 15_000;

interface Target {
  url: string;
  key: string;
  /** The process ids of the server and of PostgreSQL. */
  pids: number[];
  onProgress: (text: string) => void;
}

/**
 * Sends one request at a time. Before the measurement, sends each request once without its page or cursor, which finds
 * them and loads data from the disk. Then repeats the slowest requests. Returns all requests, the slowest first.
 */
export async function rankRequests(drawn: Drawn[], target: Target): Promise<Ranked[]> {
  const { onProgress } = target;
  const measured: { ranked: Ranked; send: () => Promise<Response> }[] = [];
  for (const [i, request] of drawn.entries()) {
    if (i % 100 === 0) onProgress(`requests: ${i} of ${drawn.length}`);
    const each = await measureTwice(request, target);
    if (each.ranked.ms > limits.max) onProgress(`${each.ranked.ms.toFixed(0)} ms: ${each.ranked.request}`);
    measured.push(each);
  }
  measured.sort((a, b) => b.ranked.ms - a.ranked.ms);
  for (const [i, { ranked, send }] of measured.slice(0, repeated).entries()) {
    if (i % 10 === 0) onProgress(`repeating the slowest: ${i} of ${repeated}`);
    const runs: Response[] = [];
    for (const end = performance.now() + maxRepeatMs; runs.length < repetitions && performance.now() < end; ) {
      runs.push(await send());
    }
    const [ms, cpuMs] = [median(runs.map(({ ms }) => ms)), median(runs.map(({ cpuMs }) => cpuMs))];
    Object.assign(ranked, { ms, cpuMs, runs: runs.length });
  }
  return measured.map(({ ranked }) => ranked).sort((a, b) => b.ms - a.ms);
}

interface Response {
  status: number;
  ms: number;
  cpuMs: number;
  meta: { totalCount?: number; totalCountCapped?: boolean; nextCursor?: string } | undefined;
}

async function measureTwice(drawn: Drawn, target: Target): Promise<{ ranked: Ranked; send: () => Promise<Response> }> {
  let run = Date.now();
  const sendTo = (path: string) => sendRequest(target, drawn.method, path, drawn.body?.(run++));
  const first = await sendTo(drawn.path);
  const path = drawn.position === undefined ? withPage(drawn, first) : await withCursor(drawn, sendTo);
  if (path !== drawn.path) await sendTo(path);
  const { status, ms, cpuMs, meta } = await sendTo(path);
  const { kind, method } = drawn;
  return {
    ranked: {
      kind,
      request: `${method} ${path}`,
      status,
      ms,
      cpuMs,
      runs: 1,
      found: meta?.totalCount,
      isCapped: meta?.totalCountCapped,
    },
    send: () => sendTo(path),
  };
}

/** Adds the number of the page, which depends on the total. */
function withPage({ path, page = 'first' }: Drawn, { meta }: Response): string {
  if (page === 'first' || meta?.totalCount === undefined) return path;
  const perPage = Number(/perPage=(\d+)/.exec(path)?.[1] ?? 20);
  const last = Math.max(1, Math.ceil(meta.totalCount / perPage));
  return `${path}&page=${page === 'last' ? last : Math.ceil(last / 2)}`;
}

/** Adds the cursor of the position in a feed. */
async function withCursor({ path, position }: Drawn, send: (path: string) => Promise<Response>): Promise<string> {
  const since: Record<WantedPage, string> = {
    first: '',
    middle: '?since=2023-01-01T00:00:00Z',
    last: `?since=${new Date().toISOString()}`,
  };
  const { meta } = await send(`${path}${since[position ?? 'first']}`);
  return `${path}?cursor=${meta?.nextCursor}`;
}

async function sendRequest(
  { url, key, pids }: Target,
  method: string,
  path: string,
  body: object | undefined,
): Promise<Response> {
  const content = body && JSON.stringify(body);
  const cpuBefore = cpuOf(pids);
  const began = performance.now();
  const response = await fetch(`${url}/api/public/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, ...(content && { 'content-type': 'application/json' }) },
    ...(content && { body: content }),
  });
  const text = await response.text();
  const ms = performance.now() - began;
  const { meta, data } = text.startsWith('{') ? (JSON.parse(text) as Partial<Response> & { data?: unknown }) : {};
  // A bulk write is as good as its items.
  const failed = method !== 'GET' && Array.isArray(data) ? data.find((item) => item.status >= 400) : undefined;
  return { status: failed?.status ?? response.status, ms, cpuMs: cpuOf(pids) - cpuBefore, meta };
}

function cpuOf(pids: number[]): number {
  return pids.reduce((sum, pid) => sum + runTimeOfFamily(pid), 0);
}
