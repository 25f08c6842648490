import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Counter, Gauge, Histogram } from 'prom-client';
import { onEnd } from '../../shared/request-lifecycle.ts';
import type { TenantId } from '../../shared/tenant-id.ts';
import type { RejectionReason, TenantLimiter } from '../../shared/tenant-limiter.ts';
import type { Metrics } from './metrics.ts';

/** What the parts of the API tell of. */
export interface RequestMeters {
  /** A request was refused for the limits of its key: by one window, or by both. */
  onLimited(windows: ('global' | 'group')[]): void;
  /** A request was refused for fair use, or since too many unknown keys are looked up. */
  onRefused(cause: RejectionReason | 'keys'): void;
  /** A request that had to wait for a place got one. */
  onWaited(milliseconds: number): void;
  /** A request gave its place back. */
  onDone(tenantId: TenantId, milliseconds: number): void;
  watchFairUse(fairUse: Pick<TenantLimiter, 'waiting'>): void;
}

/** One route and method. */
interface Served {
  byStatus: Map<number, number>;
  observe(seconds: number): void;
}

/** What stands for all paths that there are none of, and for all methods that no path has. */
const unknownRoute = 'unknown';
const otherMethod = 'OTHER';
const methods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/**
 * Counts what the API is asked and how long it takes to answer. To be called before any route is registered. A request by
 * id takes 180 µs: what is done for each is one look-up and one observation.
 * @param except routes that are not counted
 */
export function measureRequests(
  app: FastifyInstance,
  { registry, usage }: Metrics,
  except: readonly string[],
): RequestMeters {
  const registers = [registry];
  const served = new Map<string, Map<string, Served>>();

  new Counter({
    name: 'itsm_http_requests_total',
    help: 'Requests that were answered, by route; all paths that there are none of are one. 499: the client was gone before.',
    labelNames: ['method', 'route', 'status'],
    registers,
    collect() {
      this.reset();
      for (const [route, byMethod] of served) {
        for (const [method, { byStatus }] of byMethod) {
          for (const [status, count] of byStatus) this.inc({ method, route, status }, count);
        }
      }
    },
  });
  const durations = new Histogram({
    name: 'itsm_http_request_duration_seconds',
    help: 'From the arrival of a request until its answer was handed to the connection.',
    labelNames: ['method', 'route'],
    buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
    registers,
  });

  function find(route: string, asked: string): Served {
    const method = methods.has(asked) ? asked : otherMethod;
    const byMethod = served.get(route) ?? new Map<string, Served>();
    served.set(route, byMethod);
    const known = byMethod.get(method);
    if (known !== undefined) return known;
    const added = { byStatus: new Map<number, number>(), observe: durations.labels({ method, route }).observe };
    byMethod.set(method, added);
    return added;
  }

  function count(request: FastifyRequest, reply: FastifyReply, status: number): void {
    const route = request.routeOptions.url ?? unknownRoute;
    if (except.includes(route)) return;
    const { byStatus, observe } = served.get(route)?.get(request.method) ?? find(route, request.method);
    byStatus.set(status, (byStatus.get(status) ?? 0) + 1);
    observe(reply.elapsedTime / 1000);
    // An agent's call is counted where it comes to its endpoint.
    if (request.rateLimit !== undefined) usage.add(request.identity.tenantId, 'requests', 1);
  }

  onEnd(app, count);

  const limited = new Counter({
    name: 'itsm_rate_limit_refusals_total',
    help: 'Requests that were refused for the limits of their key, by the window that was used up; two may be.',
    labelNames: ['window'],
    registers,
  });
  for (const window of ['global', 'group']) limited.inc({ window }, 0);

  const refused = new Counter({
    name: 'itsm_fair_use_refusals_total',
    help: 'Requests that were refused for fair use: too many waited (queue), too long (wait), answers unread (unread), unknown keys (keys).',
    labelNames: ['reason'],
    registers,
  });
  for (const reason of ['queue', 'wait', 'unread', 'keys']) refused.inc({ reason }, 0);

  const waits = new Histogram({
    name: 'itsm_fair_use_wait_seconds',
    help: "How long requests waited that had to: for one of their tenant's places.",
    buckets: [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5],
    registers,
  });

  return {
    onLimited(windows) {
      for (const window of windows) limited.inc({ window });
    },
    onRefused: (reason) => refused.inc({ reason }),
    onWaited: (milliseconds) => waits.observe(milliseconds / 1000),
    onDone: (tenantId, milliseconds) => usage.add(tenantId, 'connectionMs', milliseconds),
    watchFairUse(fairUse) {
      new Gauge({
        name: 'itsm_fair_use_waiting',
        help: "Requests that wait for one of their tenant's places.",
        registers,
        collect() {
          this.set(fairUse.waiting);
        },
      });
    },
  };
}
