import { ApiError } from '../errors.ts';
import type { TenantId } from '../tenant-id.ts';

export interface TenantLimiterOptions {
  /**
   * The maximum number of concurrent requests for all tenants combined. Equals the number of database connections for
   * requests.
   */
  maxConcurrent: number;
  /** The maximum share of `maxConcurrent` that one tenant can use, from 0 to 1. */
  share: number;
  /**
   * The maximum amount of concurrent work per tenant, in milliseconds. The amount of work is the number of concurrent
   * requests multiplied by their average duration. One request can always run.
   */
  workMs: number;
  /** The maximum number of queued requests per tenant. */
  maxQueued: number;
  /** The maximum time in milliseconds that a request waits in the queue. */
  waitMs: number;
  /** The maximum number of unread response bytes per tenant. */
  maxUnreadBytes: number;
  /** Returns the number of response bytes that a tenant's clients have not read yet. */
  getUnreadBytes(tenantId: TenantId): number;
  /** Called for each rejected request. */
  onRejected(rejection: Rejection): void;
  /** Called with the wait time in milliseconds when a queued request starts. */
  onWaited?: ((milliseconds: number) => void) | undefined;
  /** Called with the duration in milliseconds when a request finishes. */
  onDone?: ((tenantId: TenantId, milliseconds: number) => void) | undefined;
}

/**
 * The limit that a rejected request exceeded. The limits are the number of queued requests (`queue`), the wait time in
 * the queue (`wait`), the unread response bytes (`unread`) and the number of uploads or downloads (`transfers`).
 */
export type RejectionCause = 'queue' | 'wait' | 'unread' | 'transfers';

export interface Rejection {
  tenantId: TenantId;
  cause: RejectionCause;
  /** The reason for the rejection, as text for the error message and the log. */
  reason: string;
}

/**
 * The error for a request that exceeds one of the limits in `RejectionCause`. The request doesn't count toward rate
 * limits.
 */
export class TenantLimitExceeded extends ApiError {
  constructor({ cause, reason }: Rejection) {
    const message =
      cause === 'unread'
        ? `Too many unread responses: ${reason}. Read those responses to the end, then retry in 1 second.`
        : `Too many concurrent requests for this workspace: ${reason}. Reduce concurrency and retry in 1 second.`;
    super('RATE_LIMIT_EXCEEDED', message, { retryAfterSeconds: 1 });
  }
}

export interface TenantLimiter {
  /**
   * Runs `work` immediately, or queues it until the tenant has capacity.
   * @throws TenantLimitExceeded if the queue is full, the request waits too long, or the tenant has too many unread
   * response bytes
   */
  run<Result>(tenantId: TenantId, work: () => Promise<Result>): Promise<Result>;
  /** The total number of queued requests for all tenants. */
  readonly waiting: number;
}

interface QueuedRequest {
  start(): void;
}

/** The running and queued requests of a tenant. */
interface TenantQueue {
  running: number;
  /** The moving average of the tenant's request durations, in milliseconds. */
  usualMs: number;
  waiting: Set<QueuedRequest>;
}

/** The weight of the last request in the moving average of request durations. */
const weightOfLast = 0.2;

/**
 * Limits the concurrent requests of each tenant, so that no tenant can use all database connections
 * (docs/decisions/rate-and-concurrency-limits.md). The limiter selects tenants with queued requests in round-robin
 * order. Requests of one tenant start in the order of arrival.
 */
export function createTenantLimiter(options: TenantLimiterOptions): TenantLimiter {
  const { maxConcurrent, share, workMs, maxQueued, waitMs, maxUnreadBytes, getUnreadBytes, onRejected } = options;
  const { onWaited, onDone } = options;
  const maxPerTenant = Math.max(1, Math.floor(maxConcurrent * share));
  /** The tenants' queues in round-robin order. `startNext` begins with the first queue. */
  const queues = new Map<TenantId, TenantQueue>();
  let free = maxConcurrent;

  function hasRoom({ running, usualMs }: TenantQueue): boolean {
    return running < Math.min(maxPerTenant, Math.max(1, Math.floor(workMs / usualMs)));
  }

  function reject(rejection: Rejection): TenantLimitExceeded {
    onRejected(rejection);
    return new TenantLimitExceeded(rejection);
  }

  function checkUnread(tenantId: TenantId): void {
    const bytes = getUnreadBytes(tenantId);
    if (bytes <= maxUnreadBytes) return;
    const reason = `clients of this workspace have not read ${bytes} bytes of earlier responses`;
    throw reject({ tenantId, cause: 'unread', reason });
  }

  function wait(tenantId: TenantId, { waiting }: TenantQueue): Promise<void> {
    if (waiting.size >= maxQueued) {
      throw reject({ tenantId, cause: 'queue', reason: `${waiting.size} requests are already waiting` });
    }
    const queuedAt = performance.now();
    return new Promise((resolve, fail) => {
      const timer = setTimeout(() => {
        waiting.delete(entry);
        fail(reject({ tenantId, cause: 'wait', reason: `this request waited ${waitMs} ms and could not start` }));
      }, waitMs);
      const entry = {
        start() {
          clearTimeout(timer);
          waiting.delete(entry);
          onWaited?.(performance.now() - queuedAt);
          resolve();
        },
      };
      waiting.add(entry);
    });
  }

  /** Starts queued requests while there is capacity, one per tenant in turn. */
  function startNext(): void {
    for (const [tenantId, queue] of queues) {
      if (free === 0) return;
      const [next] = queue.waiting;
      if (next === undefined || !hasRoom(queue)) continue;
      acquire(queue);
      next.start();
      // Moves the tenant to the end of the round-robin order.
      queues.delete(tenantId);
      queues.set(tenantId, queue);
    }
  }

  function acquire(queue: TenantQueue): void {
    free--;
    queue.running++;
  }

  function release(queue: TenantQueue, durationMs: number): void {
    free++;
    queue.running--;
    queue.usualMs += weightOfLast * (durationMs - queue.usualMs);
    startNext();
  }

  return {
    async run(tenantId, work) {
      checkUnread(tenantId);
      const queue = queues.get(tenantId) ?? { running: 0, usualMs: 0, waiting: new Set<QueuedRequest>() };
      queues.set(tenantId, queue);
      try {
        // If the tenant has capacity, no request of the tenant is queued, because `release` would already have started
        // it.
        if (free > 0 && hasRoom(queue)) acquire(queue);
        else await wait(tenantId, queue);
        const startedAt = performance.now();
        try {
          // Checks again, because the number of unread bytes may have grown while the request was waiting.
          checkUnread(tenantId);
          return await work();
        } finally {
          const durationMs = performance.now() - startedAt;
          release(queue, durationMs);
          onDone?.(tenantId, durationMs);
        }
      } finally {
        if (queue.running === 0 && queue.waiting.size === 0) queues.delete(tenantId);
      }
    },

    get waiting() {
      return [...queues.values()].reduce((sum, { waiting }) => sum + waiting.size, 0);
    },
  };
}
