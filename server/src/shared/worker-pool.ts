import PQueue from 'p-queue';
import { ApiError } from './errors.ts';
import { lazy } from './lazy.ts';
import type { TenantId } from './tenant-id.ts';

export interface WorkerPool {
  /** What it runs: its default export gets each task. */
  worker: URL;
  /** Tasks that may wait for their turn, and how many of one tenant may be under way. */
  longestQueue: number;
  mostOfTenant: number;
  /** What is said of too many tasks. */
  tooMany(count: number): string;
  /** How long a task may take once it has begun, and the error of a task that takes longer. Without it there is no limit. */
  time?: { mostMs: number; tooLong(): ApiError };
  /** When to ask again after too many tasks. */
  retryAfterSeconds: number;
}

/**
 * Has what takes much CPU time done in a thread of its own, one task after the other, so that no request waits for it. The
 * thread starts with the first task, and gives its memory back when there was none in a minute. Left to itself V8 would let
 * what is young in it grow to 200 MB before it looks what is in use.
 * @returns does a task of a tenant, or throws ApiError RATE_LIMIT_EXCEEDED while too many wait, or the error of `time` when it
 * took too long
 */
export function createWorkerPool<Task, Result>(
  options: WorkerPool,
): (tenantId: TenantId, task: Task) => Promise<Result> {
  const { worker, longestQueue, mostOfTenant, tooMany, time, retryAfterSeconds } = options;
  const threads = lazy(async () => {
    const { Piscina } = await import('piscina');
    return new Piscina<Task, Result>({
      filename: worker.href,
      minThreads: 0,
      maxThreads: 1,
      idleTimeout: 60_000,
      resourceLimits: { maxYoungGenerationSizeMb: 16 },
    });
  });
  // Its own queue forgets who waits behind a task that is given up.
  const turns = new PQueue({ concurrency: 1 });
  const underWay = new Map<TenantId, number>();
  const refused = (message: string) => new ApiError('RATE_LIMIT_EXCEEDED', message, { retryAfterSeconds });

  async function run(task: Task): Promise<Result> {
    const pool = await threads();
    // A task whose time is over ends with the thread; the next one gets another.
    const signal = time === undefined ? null : AbortSignal.timeout(time.mostMs);
    try {
      return await pool.run(task, { signal });
    } catch (error) {
      throw time !== undefined && signal?.aborted === true ? time.tooLong() : error;
    }
  }

  return async (tenantId, task) => {
    const others = underWay.get(tenantId) ?? 0;
    if (others >= mostOfTenant) throw refused(tooMany(mostOfTenant));
    if (turns.size >= longestQueue) throw refused(tooMany(longestQueue));
    underWay.set(tenantId, others + 1);
    try {
      return await turns.add(() => run(task));
    } finally {
      const left = (underWay.get(tenantId) ?? 1) - 1;
      if (left === 0) underWay.delete(tenantId);
      else underWay.set(tenantId, left);
    }
  };
}
