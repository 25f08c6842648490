import { openJobs } from '@itsm-api/server/database/jobs/job-queue.ts';
import { expect, vi } from 'vitest';
import { api, itWithApi as it } from '../support/fixture.ts';

it('sets fewer than 10 pg-boss timers per second after the clock is set back', async () => {
  vi.useFakeTimers({ toFake: ['Date', 'setTimeout', 'clearTimeout'] });
  // Ignores errors, because the connection pool cancels statements after two minutes of fake time.
  const boss = await openJobs({ pool: api.databases.system.pool, worker: true, onError: () => undefined });
  try {
    let timers = 0;
    const setTimer = globalThis.setTimeout;
    vi.spyOn(globalThis, 'setTimeout').mockImplementation((...given) => {
      // The API of this process also sets timers.
      if (new Error().stack?.includes('pg-boss')) timers++;
      return setTimer(...given);
    });
    vi.setSystemTime(Date.now() - 30 * 86_400_000);
    // After two minutes, each pg-boss timer has fired at least once. pg-boss then waits until the clock reaches its
    // previous time.
    await vi.advanceTimersByTimeAsync(120_000);
    expect(timers).toBeGreaterThan(0);
    timers = 0;
    await vi.advanceTimersByTimeAsync(1000);
    expect(timers).toBeLessThan(10);
  } finally {
    // Restores the spy before the real timers. Otherwise, the spy would restore the fake timer for later test files.
    vi.restoreAllMocks();
    vi.useRealTimers();
    await boss.stop({ graceful: false });
  }
});
