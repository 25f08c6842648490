import { openJobs } from '@itsm-api/server/database/jobs/job-queue.ts';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { type Api, startApi } from '../support/api.ts';

let api: Api;

beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api.close());

it('runs no timer over and over when the clock jumps back by more than a timer can wait', async () => {
  vi.useFakeTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout'] });
  // The pool ends statements after two minutes of the faked time.
  const boss = await openJobs({ pool: api.databases.system.pool, worker: true, onError: () => undefined });
  try {
    vi.setSystemTime(Date.now() - 30 * 86_400_000);
    // By now every timer of pg-boss has fired, and waits for what the clock has lost.
    await vi.advanceTimersByTimeAsync(120_000);
    const setTimer = vi.spyOn(globalThis, 'setTimeout');
    await vi.advanceTimersByTimeAsync(1000);
    expect(setTimer.mock.calls.length).toBeLessThan(10);
  } finally {
    // First the mock: restoring it later would bring the faked timer back for the files that follow.
    vi.restoreAllMocks();
    vi.useRealTimers();
    await boss.stop({ graceful: false });
  }
});
