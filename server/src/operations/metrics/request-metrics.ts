import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Counter, Gauge, Histogram } from 'prom-client';
import type { RejectionCause, TenantLimiter } from '../../shared/limiters/tenant-limiter.ts';
import { onEnd } from '../../shared/request-lifecycle.ts';
import type { TenantId } from '../../shared/tenant-id.ts';
import type { Metrics } from './metrics.ts';

/** Callbacks that count rejected and queued requests. */
export interface RequestMeters {
  /** Called with the exceeded windows if a request exceeds the rate limits of its key. */
  onLimited(windows: ('global' | 'group')[]): void;
  /**
   * Called if the server rejects a request because of the concurrency limit, or because too many lookups of unknown
   * keys are queued.
   */
  onRejected(cause: RejectionCause | 'keys'): void;
  /** Called when a queued request starts, with the time that it waited. */
  onWaited(milliseconds: number): void;
  /** Called when a request releases its concurrency slot, with the time for which it held the slot. */
  onDone(tenantId: TenantId, milliseconds: number): void;
  watchTenantLimiter(tenantLimiter: Pick<TenantLimiter, 'waiting'>): void;
  watchRequestLog(requestLog: { readonly dropped: number }): void;
}

/** The counts of the requests with the same route and method. */
interface RouteCounts {
  byStatus: Map<number, number>;
  observe(seconds: number): void;
}

/**
 * The labels for unknown paths and methods. Without these labels, clients could create an unlimited number of time
 * series.
 */
const unknownRoute = 'unknown';
const otherMethod = 'OTHER';
const methods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/**
 * Counts requests and measures their latency. Call this function before you register routes. A fast request takes only
 * 180 µs, so the function does only one lookup and one observation per request.
 * @param except routes that this function doesn't count
 */
export function measureRequests(
  app: FastifyInstance,
  { registry, usage }: Metrics,
  except: readonly string[],
): RequestMeters {
  const registers = [registry];
  const counts = new Map<string, Map<string, RouteCounts>>();

  new Counter({
    name: 'itsm_http_requests_total',
    help: 'Completed requests by method, route and status. Unknown paths share one route. Status 499: the client disconnected.',
    labelNames: ['method', 'route', 'status'],
    registers,
    collect() {
      this.reset();
      for (const [route, byMethod] of counts) {
        for (const [method, { byStatus }] of byMethod) {
          for (const [status, count] of byStatus) this.inc({ method, route, status }, count);
        }
      }
    },
  });
  const durations = new Histogram({
    name: 'itsm_http_request_duration_seconds',
    help: 'Time from the arrival of a request until its response was passed to the connection.',
    labelNames: ['method', 'route'],
    buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
    registers,
  });

  function find(route: string, requestMethod: string): RouteCounts {
    const method = methods.has(requestMethod) ? requestMethod : otherMethod;
    const byMethod = counts.get(route) ?? new Map<string, RouteCounts>();
    counts.set(route, byMethod);
    const existing = byMethod.get(method);
    if (existing !== undefined) return existing;
    const added = { byStatus: new Map<number, number>(), observe: durations.labels({ method, route }).observe };
    byMethod.set(method, added);
    return added;
  }

  function count(request: FastifyRequest, reply: FastifyReply, status: number): void {
    const route = request.routeOptions.url ?? unknownRoute;
    if (except.includes(route)) return;
    const { byStatus, observe } = counts.get(route)?.get(request.method) ?? find(route, request.method);
    byStatus.set(status, (byStatus.get(status) ?? 0) + 1);
    observe(reply.elapsedTime / 1000);
    // A tool call from an MCP client counts once, as a request to the endpoint that the tool calls.
    if (request.rateLimit !== undefined) usage.add(request.identity.tenantId, 'requests', 1);
  }

  onEnd(app, count);

  const limited = new Counter({
    name: 'itsm_rate_limit_rejections_total',
    help: 'Requests rejected by the rate limits of their key, by exceeded window. A request can exceed both windows.',
    labelNames: ['window'],
    registers,
  });
  for (const window of ['global', 'group']) limited.inc({ window }, 0);

  const rejected = new Counter({
    name: 'itsm_tenant_concurrency_rejections_total',
    help: 'Requests rejected by the concurrency limit: full queue (queue), long wait (wait), unread responses (unread), concurrent uploads or downloads (transfers), unknown keys (keys).',
    labelNames: ['reason'],
    registers,
  });
  for (const reason of ['queue', 'wait', 'unread', 'transfers', 'keys']) rejected.inc({ reason }, 0);

  const waits = new Histogram({
    name: 'itsm_tenant_concurrency_wait_seconds',
    help: 'Wait time of requests that exceeded the concurrency limit of their tenant.',
    buckets: [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5],
    registers,
  });

  return {
    onLimited(windows) {
      for (const window of windows) limited.inc({ window });
    },
    onRejected: (reason) => rejected.inc({ reason }),
    onWaited: (milliseconds) => waits.observe(milliseconds / 1000),
    onDone: (tenantId, milliseconds) => usage.add(tenantId, 'connectionMs', milliseconds),
    watchRequestLog(requestLog) {
      new Counter({
        name: 'itsm_request_log_dropped_total',
        help: 'Requests that are missing in the request log, because 1,000 requests already waited to be written.',
        registers,
        collect() {
          this.reset();
          this.inc(requestLog.dropped);
        },
      });
    },
    watchTenantLimiter(tenantLimiter) {
      new Gauge({
        name: 'itsm_tenant_concurrency_waiting',
        help: 'Requests that wait for the concurrency limit of their tenant.',
        registers,
        collect() {
          this.set(tenantLimiter.waiting);
        },
      });
    },
  };
}
