import PQueue from 'p-queue';
import { ApiError } from './errors.ts';
import { lazy } from './lazy.ts';
import type { TenantId } from './tenant-id.ts';

export interface WorkerPoolOptions {
  /** The URL of the module that runs in the background thread. Its default export processes one task. */
  worker: URL;
  /** The maximum number of queued tasks for all tenants. */
  maxQueued: number;
  /** The maximum number of queued and running tasks per tenant. */
  maxPerTenant: number;
  /** Returns the error message if there are too many tasks. `count` is the limit that was exceeded. */
  tooMany(count: number): string;
  /** The maximum duration of a task in milliseconds, and the error for a task that takes longer. Default: no limit. */
  timeout?: { maxMs: number; tooLong(): ApiError };
  /** The value of `Retry-After`, in seconds, if there are too many tasks. */
  retryAfterSeconds: number;
}

/** The maximum number of milliseconds that a thread takes to start. On a busy machine, loading a module takes seconds. */
const maxStartMs = 15_000;

/**
 * Creates a pool with one background thread for CPU-heavy tasks, so that these tasks don't block requests. Tasks run
 * one at a time. The thread starts with the first task and stops after it has been idle for 60 seconds. The young
 * generation of the thread's heap is limited to 16 MB, because V8 would otherwise let it grow to 200 MB.
 * @returns a function that runs a task for a tenant. The function throws ApiError RATE_LIMIT_EXCEEDED if there are too
 * many tasks, or the error from `timeout` if the task takes too long.
 */
export function createWorkerPool<Task, Result>(
  options: WorkerPoolOptions,
): (tenantId: TenantId, task: Task) => Promise<Result> {
  const { worker, maxQueued, maxPerTenant, tooMany, timeout, retryAfterSeconds } = options;
  const getPool = lazy(async () => {
    const { Piscina } = await import('piscina');
    return new Piscina<Task, Result>({
      filename: worker.href,
      minThreads: 0,
      maxThreads: 1,
      idleTimeout: 60_000,
      resourceLimits: { maxYoungGenerationSizeMb: 16 },
    });
  });
  // Doesn't use Piscina's own queue, because that queue loses waiting tasks when a task is aborted.
  const queue = new PQueue({ concurrency: 1 });
  const activeTasks = new Map<TenantId, number>();
  const tooManyTasks = (message: string) => new ApiError('RATE_LIMIT_EXCEEDED', message, { retryAfterSeconds });

  async function run(task: Task): Promise<Result> {
    const pool = await getPool();
    // A timeout terminates the thread. The next task starts a new thread.
    const startMs = pool.threads.length === 0 ? maxStartMs : 0;
    const signal = timeout === undefined ? null : AbortSignal.timeout(timeout.maxMs + startMs);
    try {
      return await pool.run(task, { signal });
    } catch (error) {
      throw timeout !== undefined && signal?.aborted === true ? timeout.tooLong() : error;
    }
  }

  return async (tenantId, task) => {
    const active = activeTasks.get(tenantId) ?? 0;
    if (active >= maxPerTenant) throw tooManyTasks(tooMany(maxPerTenant));
    if (queue.size >= maxQueued) throw tooManyTasks(tooMany(maxQueued));
    activeTasks.set(tenantId, active + 1);
    try {
      return await queue.add(() => run(task));
    } finally {
      const left = (activeTasks.get(tenantId) ?? 1) - 1;
      if (left === 0) activeTasks.delete(tenantId);
      else activeTasks.set(tenantId, left);
    }
  };
}
