import PQueue from 'p-queue';
import { ApiError } from './errors.ts';
import { lazy } from './lazy.ts';
import type { TenantId } from './tenant-id.ts';

export interface WorkerPoolOptions {
  /** The URL of the module that runs in the background thread. The pool calls its default export with each task. */
  worker: URL;
  /** Maximum queued tasks of all tenants. */
  maxQueued: number;
  /** Maximum queued and running tasks of one tenant. */
  maxPerTenant: number;
  /** Returns the error message for too many tasks. `count` is the exceeded limit. */
  tooMany(count: number): string;
  /** The maximum duration of a running task, and the error of a task that exceeds this duration. Default: no limit. */
  timeout?: { maxMs: number; tooLong(): ApiError };
  /** The number of seconds in the `Retry-After` header of the error for too many tasks. */
  retryAfterSeconds: number;
}

/**
 * Creates a pool with one background thread for CPU-heavy tasks, so that these tasks don't block requests. Tasks run
 * one at a time. The thread starts with the first task and stops after 60 idle seconds. The young generation of the
 * thread's heap has at most 16 MB. By default, V8 would let it grow to 200 MB.
 * @returns a function that runs a task of a tenant. The function throws ApiError RATE_LIMIT_EXCEEDED if the queue is
 * full, or the error of `timeout` if the task takes too long.
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
    // A timeout terminates the thread. The next task starts another thread.
    const signal = timeout === undefined ? null : AbortSignal.timeout(timeout.maxMs);
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
