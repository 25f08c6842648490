import { setTimeout as sleep } from 'node:timers/promises';
import { createLoop } from '@itsm-api/server/shared/loops/polling-loop.ts';
import { expect, it, onTestFinished, vi } from 'vitest';
import { eventually } from '../support/sender.ts';

/** Starts a worker loop and collects its log lines. */
function startLoop(step: (run: number) => Promise<boolean>, isOutage = (_: unknown) => false) {
  const logged: [details: object, text: string][] = [];
  let runs = 0;
  const logger = { error: (details: object, text: string) => logged.push([details, text]) } as never;
  const loop = createLoop({ name: 'test', interval: 5, logger, isOutage, step: () => step(++runs) });
  return { loop, logged, runs: () => runs };
}

it('continues a worker loop after a step fails', async () => {
  const { loop, logged, runs } = startLoop(async (run) => {
    if (run < 3) throw new Error(`run ${run}`);
    return false;
  });
  await eventually(() => expect(runs()).toBeGreaterThan(5));
  await loop.stop();
  expect(logged).toMatchObject([
    [{ loop: 'test', err: { message: 'run 1' } }, 'a loop step failed'],
    [{ loop: 'test', err: { message: 'run 2' } }, 'a loop step failed'],
  ]);
});

it('logs a slow step of a worker loop every 30 seconds', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] });
  onTestFinished(() => void vi.useRealTimers());
  let end = () => {};
  const { loop, logged, runs } = startLoop((run) =>
    run === 1 ? new Promise((resolve) => (end = () => resolve(false))) : Promise.resolve(false),
  );
  vi.advanceTimersByTime(29_000);
  expect(loop.health).toEqual({ ok: true, stepSeconds: 29 });
  expect(logged).toEqual([]);
  vi.advanceTimersByTime(31_000);
  expect(loop.health).toEqual({ ok: false, stepSeconds: 60 });
  const text = 'a loop step is taking longer than 30 seconds';
  expect(logged).toEqual([
    [{ loop: 'test', seconds: 30 }, text],
    [{ loop: 'test', seconds: 60 }, text],
  ]);
  loop.wake();
  expect(runs()).toBe(1);
  end();
  await eventually(() => expect(runs()).toBeGreaterThan(1));
  await loop.stop();
});

it('delays the steps of a woken worker loop while the database is unavailable', async () => {
  let away = true;
  const { loop, logged, runs } = startLoop(
    async () => {
      if (away) throw new Error('away');
      return false;
    },
    () => true,
  );
  for (const end = Date.now() + 1500; Date.now() < end; await sleep(5)) loop.wake();
  // The first three waits of the loop take 0.25 to 0.5 s, 0.5 to 1 s, and 1 to 2 s.
  expect(runs()).toBeGreaterThanOrEqual(2);
  expect(runs()).toBeLessThanOrEqual(3);
  away = false;
  await eventually(() => expect(runs()).toBeGreaterThan(10));
  await loop.stop();
  expect(logged).toEqual([]);
});
