import { ApiError } from '../errors.ts';
import { lazily } from '../lazily.ts';
import type { Drawing } from './chart.ts';

/** Drawings that may wait for their turn. */
const longestQueue = 100;

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

/** Draws a chart as SVG. @throws ApiError RATE_LIMIT_EXCEEDED while too many wait */
export async function drawChart(drawing: Drawing): Promise<string> {
  const pool = await threads();
  if (pool.queueSize >= longestQueue) {
    const message = `${longestQueue} charts wait to be drawn already. Ask for this one again in 1 second.`;
    throw new ApiError('RATE_LIMIT_EXCEEDED', message, { retryAfterSeconds: 1 });
  }
  return pool.run(drawing);
}
