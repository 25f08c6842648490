import { ApiError } from './errors.ts';
import type { TenantId } from './tenant-id.ts';

export interface TenantLimiterOptions {
  /** How many requests may use the database at once: the connections for requests. */
  places: number;
  /** The part of them that one tenant may hold at once, from 0 to 1. */
  share: number;
  /**
   * How much work of one tenant may be under way at once: the longer its requests have been taking, the fewer run side by
   * side, and one always does. Milliseconds.
   */
  workMs: number;
  /** Requests of one tenant that may wait for a place. */
  longestQueue: number;
  /** How long one may wait. Milliseconds. */
  waitMs: number;
  /** How much of a tenant's answers may wait to be read by its clients, and how much does. Bytes. */
  mostUnread: number;
  unreadOf(tenantId: TenantId): number;
  /** Told of each refusal. */
  onRefused(refusal: Rejection): void;
  /** Told how long a request waited that had to, when it got its place. Milliseconds. */
  onWaited?: ((milliseconds: number) => void) | undefined;
  /** Told how long a request had its place. Milliseconds. */
  onDone?: ((tenantId: TenantId, milliseconds: number) => void) | undefined;
}

/** What a tenant had too much of: requests that wait (`queue`), or wait too long (`wait`), or answers that nobody reads. */
export type RejectionReason = 'queue' | 'wait' | 'unread';

export interface Rejection {
  tenantId: TenantId;
  cause: RejectionReason;
  /** For the client and the log. */
  reason: string;
}

/** A tenant asks for more at once than is its share. The request costs it nothing of its limits. */
export class TenantLimitExceeded extends ApiError {
  constructor(reason: string) {
    const message = `Too many concurrent requests for this workspace: ${reason}. Reduce concurrency and retry in 1 second.`;
    super('RATE_LIMIT_EXCEEDED', message, { retryAfterSeconds: 1 });
  }
}

export interface TenantLimiter {
  /**
   * Runs `work` in a place of the tenant's, at once or when it is its turn.
   * @throws TenantLimitExceeded when too many of the tenant's wait already, it waited too long, or answers wait to be read
   */
  run<Result>(tenantId: TenantId, work: () => Promise<Result>): Promise<Result>;
  /** Requests that wait for a place. */
  readonly waiting: number;
}

interface Waiting {
  start(): void;
}

/** One tenant that has something running or waiting. */
interface Line {
  running: number;
  /** How long its requests take, those of late above all. Milliseconds. */
  usualMs: number;
  waiting: Set<Waiting>;
}

/** How much the last request counts in what is usual. */
const weightOfLast = 0.2;

/**
 * Keeps one tenant from using the database up (docs/decisions/rate-and-concurrency-limits.md): each holds a share of the places, the
 * tenants that wait are served in turn, and within a tenant who came first goes first.
 */
export function createTenantLimiter(options: TenantLimiterOptions): TenantLimiter {
  const { places, share, workMs, longestQueue, waitMs, mostUnread, unreadOf, onRefused, onWaited, onDone } = options;
  const ofTenant = Math.max(1, Math.floor(places * share));
  /** In the order of their turns. */
  const lines = new Map<TenantId, Line>();
  let free = places;

  function hasRoom({ running, usualMs }: Line): boolean {
    return running < Math.min(ofTenant, Math.max(1, Math.floor(workMs / usualMs)));
  }

  function refuse(refusal: Rejection): TenantLimitExceeded {
    onRefused(refusal);
    return new TenantLimitExceeded(refusal.reason);
  }

  function refuseUnread(tenantId: TenantId): void {
    const bytes = unreadOf(tenantId);
    if (bytes <= mostUnread) return;
    throw refuse({ tenantId, cause: 'unread', reason: `its clients have not read ${bytes} bytes of responses` });
  }

  function wait(tenantId: TenantId, { waiting }: Line): Promise<void> {
    if (waiting.size >= longestQueue) {
      throw refuse({ tenantId, cause: 'queue', reason: `${waiting.size} requests are already waiting` });
    }
    const since = performance.now();
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        waiting.delete(mine);
        reject(refuse({ tenantId, cause: 'wait', reason: `this request waited ${waitMs} ms` }));
      }, waitMs);
      const mine = {
        start() {
          clearTimeout(timer);
          waiting.delete(mine);
          onWaited?.(performance.now() - since);
          resolve();
        },
      };
      waiting.add(mine);
    });
  }

  /** Gives free places to those that wait, a tenant after the other. */
  function startNext(): void {
    for (const [tenantId, line] of lines) {
      if (free === 0) return;
      const [next] = line.waiting;
      if (next === undefined || !hasRoom(line)) continue;
      take(line);
      next.start();
      // To the end of the row.
      lines.delete(tenantId);
      lines.set(tenantId, line);
    }
  }

  function take(line: Line): void {
    free--;
    line.running++;
  }

  function giveBack(line: Line, tookMs: number): void {
    free++;
    line.running--;
    line.usualMs += weightOfLast * (tookMs - line.usualMs);
    startNext();
  }

  return {
    async run(tenantId, work) {
      refuseUnread(tenantId);
      const line = lines.get(tenantId) ?? { running: 0, usualMs: 0, waiting: new Set<Waiting>() };
      lines.set(tenantId, line);
      try {
        // Nobody waits where there is room: whoever gave a place back has seen to that.
        if (free > 0 && hasRoom(line)) take(line);
        else await wait(tenantId, line);
        const began = performance.now();
        try {
          // Those before it may have been answered while it waited.
          refuseUnread(tenantId);
          return await work();
        } finally {
          const tookMs = performance.now() - began;
          giveBack(line, tookMs);
          onDone?.(tenantId, tookMs);
        }
      } finally {
        if (line.running === 0 && line.waiting.size === 0) lines.delete(tenantId);
      }
    },

    get waiting() {
      return [...lines.values()].reduce((sum, { waiting }) => sum + waiting.size, 0);
    },
  };
}
