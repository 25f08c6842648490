import { openJobs } from '@itsm-api/server/database/jobs/job-queue.ts';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { type Api, startApi } from '../support/api.ts';

let api: Api;

beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api.close());

it('sets fewer than 10 timers per second in pg-boss after the clock goes back by 30 days', async () => {
  vi.useFakeTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout'] });
  // The connection pool cancels statements after two minutes, even if these minutes are fake time.
  const boss = await openJobs({ pool: api.databases.system.pool, worker: true, onError: () => undefined });
  try {
    vi.setSystemTime(Date.now() - 30 * 86_400_000);
    // After two minutes, each timer of pg-boss has fired at least once and waits until the clock has caught up.
    await vi.advanceTimersByTimeAsync(120_000);
    const setTimer = vi.spyOn(globalThis, 'setTimeout');
    await vi.advanceTimersByTimeAsync(1000);
    expect(setTimer.mock.calls.length).toBeLessThan(10);
  } finally {
    // If the real timers were restored first, restoring the spy would bring back the fake timer for later test files.
    vi.restoreAllMocks();
    vi.useRealTimers();
    await boss.stop({ graceful: false });
  }
});
