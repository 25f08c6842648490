import {
  createTenantLimiter,
  type Rejection,
  type TenantLimiterOptions,
} from '@itsm-api/server/shared/limiters/tenant-limiter.ts';
import { type TenantId, toTenantId } from '@itsm-api/server/shared/tenant-id.ts';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';

/**
 * Tests the tenant limiter without a database and with fake timers. tenant-concurrency.test.ts tests the limiter in a
 * running server.
 */
const rejections: Rejection[] = [];
const waits: number[] = [];
const done: [tenantId: TenantId, milliseconds: number][] = [];

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }).advanceTimersByTime(5000);
  for (const recorded of [rejections, waits, done]) recorded.length = 0;
});
afterEach(() => vi.useRealTimers());

/** Creates a limiter and functions that start and end work. */
function open(options: Partial<TenantLimiterOptions> = {}) {
  const tenantLimiter = createTenantLimiter({
    ...{
      maxConcurrent: 4,
      share: 0.5,
      workMs: 100,
      maxQueued: 2,
      waitMs: 1000,
      maxUnreadBytes: 0,
      getUnreadBytes: () => 0,
    },
    onRejected: (rejection) => rejections.push(rejection),
    onWaited: (milliseconds) => waits.push(milliseconds),
    onDone: (...each) => done.push(each),
    ...options,
  });
  const running: string[] = [];
  const ends = new Map<string, () => void>();
  return {
    tenantLimiter,
    running,
    /** Queues work. The first letter of the name identifies the tenant. */
    async ask(name: string) {
      const answer = tenantLimiter.run(toTenantId(name.charCodeAt(0)), async () => {
        running.push(name);
        await new Promise<void>((resolve) => ends.set(name, resolve));
        running.splice(running.indexOf(name), 1);
      });
      const error = answer.then(
        () => undefined,
        (error: Error) => error,
      );
      await vi.advanceTimersByTimeAsync(0);
      return { error };
    },
    async end(name: string) {
      ends.get(name)?.();
      await vi.advanceTimersByTimeAsync(0);
    },
  };
}

it('limits the concurrency of each tenant and runs the queued work of all tenants in turn', async () => {
  const { tenantLimiter, running, ask, end } = open();
  for (const name of ['a1', 'a2', 'a3', 'a4', 'b1', 'b2', 'b3']) await ask(name);
  expect(running).toEqual(['a1', 'a2', 'b1', 'b2']);
  expect(tenantLimiter.waiting).toBe(3);
  // All slots are in use, so other tenants wait for a free slot.
  for (const name of ['c1', 'd1']) await ask(name);
  await vi.advanceTimersByTimeAsync(40);
  await end('b1');
  expect(running).toEqual(['a1', 'a2', 'b2', 'b3']);
  await end('b2');
  expect(running).toEqual(['a1', 'a2', 'b3', 'c1']);
  await end('a1');
  expect(running).toEqual(['a2', 'b3', 'c1', 'a3']);
  await end('c1');
  expect(running).toEqual(['a2', 'b3', 'a3', 'd1']);
  expect(tenantLimiter.waiting).toBe(1);
  expect(waits).toEqual([40, 40, 40, 40]);
  expect(done).toEqual([
    [98n, 40],
    [98n, 40],
    [97n, 40],
    [99n, 0],
  ]);
  expect(rejections).toEqual([]);
});

it('gives free slots to waiting tenants in turn, even if one tenant uses all slots', async () => {
  const { running, ask, end } = open({ maxConcurrent: 2, share: 1 });
  for (const name of ['a1', 'a2', 'a3', 'a4', 'b1', 'b2']) await ask(name);
  for (const name of ['a1', 'a2']) await end(name);
  expect(running).toEqual(['a3', 'b1']);
  for (const name of ['a3', 'b1']) await end(name);
  expect(running).toEqual(['a4', 'b2']);
});

it("rejects a tenant's work if the queue is full or the wait is too long", async () => {
  const { tenantLimiter, running, ask, end } = open({ maxConcurrent: 1 });
  await ask('b1');
  const first = await ask('a1');
  await vi.advanceTimersByTimeAsync(500);
  await ask('a2');
  const third = await ask('a3');
  const queue = { tenantId: 97n, cause: 'queue', reason: '2 requests are already waiting' };
  expect(rejections).toEqual([queue]);
  await vi.advanceTimersByTimeAsync(499);
  expect(tenantLimiter.waiting).toBe(2);
  await vi.advanceTimersByTimeAsync(1);
  expect(tenantLimiter.waiting).toBe(1);
  const wait = { tenantId: 97n, cause: 'wait', reason: 'this request waited 1000 ms and could not start' };
  expect(rejections).toEqual([queue, wait]);
  for (const [{ error }, { reason }] of [[third, queue] as const, [first, wait] as const]) {
    expect(await error).toMatchObject({
      code: 'RATE_LIMIT_EXCEEDED',
      message: `Too many concurrent requests for this workspace: ${reason}. Reduce concurrency and retry in 1 second.`,
      retryAfterSeconds: 1,
    });
  }
  await end('b1');
  expect(running).toEqual(['a2']);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(rejections).toHaveLength(2);
});

it("lowers a tenant's concurrency limit for slow work and raises the limit for fast work", async () => {
  const { running, ask, end } = open({ share: 1 });
  for (const name of ['a1', 'a2']) await ask(name);
  await vi.advanceTimersByTimeAsync(250);
  await end('a2');
  // After `a2`, the average duration is 50 ms, which allows two concurrent requests. After `a3`, the average is 40 ms.
  for (const name of ['a3', 'a4']) await ask(name);
  expect(running).toEqual(['a1', 'a3']);
  await end('a3');
  expect(running).toEqual(['a1', 'a4']);
  await vi.advanceTimersByTimeAsync(1000);
  await end('a4');
  for (const name of ['a5', 'a6']) await ask(name);
  expect(running).toEqual(['a1']);
  await end('a1');
  expect(running).toEqual(['a5']);
  for (const name of ['a5', 'a6']) await end(name);
  for (const name of ['a7', 'a8', 'a9']) await ask(name);
  expect(running).toEqual(['a7', 'a8', 'a9']);
});

it("releases a tenant's slot when the work fails", async () => {
  const { tenantLimiter, running, ask } = open({ maxConcurrent: 1, onWaited: undefined, onDone: undefined });
  const failing = expect(
    tenantLimiter.run(toTenantId(97), () => Promise.reject(new Error('It failed.'))),
  ).rejects.toThrow('It failed.');
  await ask('b1');
  await failing;
  expect(running).toEqual(['b1']);
});
