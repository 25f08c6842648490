import { inOwnThread } from '../own-thread.ts';
import type { Drawing } from './chart.ts';

/*
 * Loading what draws takes a second of CPU time, and each drawing as much as a hundred requests. The thread takes 60 MB, and
 * 100 after many.
 */
const draw = inOwnThread<Drawing, string>({
  worker: new URL('./chart-worker.ts', import.meta.url),
  longestQueue: 100,
  mostOfTenant: 10,
  tooMany: (count) => `${count} charts wait to be drawn already. Ask for this one again in 1 second.`,
  retryAfterSeconds: 1,
});

/** Draws a chart of a tenant as SVG. @throws ApiError RATE_LIMIT_EXCEEDED while too many wait, of all or of the tenant's */
export function drawChart(tenantId: bigint, drawing: Drawing): Promise<string> {
  return draw(tenantId, drawing);
}
