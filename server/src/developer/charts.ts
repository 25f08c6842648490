import { ApiError } from '../errors.ts';
import { lazily } from '../lazily.ts';
import type { Drawing } from './chart.ts';

/** Drawings that may wait for their turn, and how many of one tenant may be under way. */
const longestQueue = 100;
const mostOfTenant = 10;

/*
 * Charts are drawn in a thread of its own: loading what draws takes a second of CPU time, and each drawing as much as a
 * hundred requests. It starts with the first chart, and gives its memory back when none was asked for in a minute: 60 MB,
 * and 100 after many. Left to itself V8 would let what is young in it grow to 200 MB before it looks what is in use.
 */
const threads = lazily(async () => {
  const { Piscina } = await import('piscina');
  return new Piscina<Drawing, string>({
    filename: new URL('./chart-worker.ts', import.meta.url).href,
    minThreads: 0,
    maxThreads: 1,
    idleTimeout: 60_000,
    resourceLimits: { maxYoungGenerationSizeMb: 16 },
  });
});

const underWay = new Map<bigint, number>();

/** Draws a chart of a tenant as SVG. @throws ApiError RATE_LIMIT_EXCEEDED while too many wait, of all or of the tenant's */
export async function drawChart(tenantId: bigint, drawing: Drawing): Promise<string> {
  const pool = await threads();
  const others = underWay.get(tenantId) ?? 0;
  if (others >= mostOfTenant) throw refused(mostOfTenant);
  if (pool.queueSize >= longestQueue) throw refused(longestQueue);
  underWay.set(tenantId, others + 1);
  try {
    return await pool.run(drawing);
  } finally {
    const left = (underWay.get(tenantId) ?? 1) - 1;
    if (left === 0) underWay.delete(tenantId);
    else underWay.set(tenantId, left);
  }
}

function refused(count: number): ApiError {
  const message = `${count} charts wait to be drawn already. Ask for this one again in 1 second.`;
  return new ApiError('RATE_LIMIT_EXCEEDED', message, { retryAfterSeconds: 1 });
}
