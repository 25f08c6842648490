import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';

/** Tests the shutdown and the exit code of a process without a server. start.test.ts and stop.test.ts test a server. */
const shutdown = JSON.stringify(new URL('../../server/src/process/shutdown.ts', import.meta.url).href);

/** Spawns a process whose shutdown takes `stopMs` milliseconds. */
function spawnStoppable(stopMs: number) {
  const script = `
    import { setTimeout as sleep } from 'node:timers/promises';
    import { handleShutdown } from ${shutdown};
    const stop = async () => {
      await sleep(${stopMs});
      console.log('stopped');
    };
    handleShutdown({ stop, maxShutdownMs: 10_000 });
    process.stdin.once('data', () => { throw new Error('of this test'); });
    console.log('ready');`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', script]);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
  return { child, exited: once(child, 'exit'), output: () => output };
}

it('exits with code 1 after an error even if a signal arrives during the shutdown', async () => {
  const { child, exited, output } = spawnStoppable(1000);
  await expect.poll(output).toContain('ready');
  child.stdin.write('go');
  await expect.poll(output).toContain('Stopping after an error: Error: of this test');
  child.kill('SIGTERM');
  expect(await exited).toEqual([1, null]);
  expect(output()).toContain('stopped');
  expect(output().match(/Stopping/g)).toHaveLength(1);
});

it('logs the shutdown as JSON if there is no terminal', async () => {
  const { child, exited, output } = spawnStoppable(0);
  await expect.poll(output).toContain('ready');
  child.kill('SIGTERM');
  expect(await exited).toEqual([0, null]);
  const lines = output().split('\n').filter(Boolean);
  expect(lines.filter((line) => !/^(ready|stopped)$/.test(line)).map((line) => JSON.parse(line))).toEqual([
    { level: 30, time: expect.any(String), msg: 'Stopping …' },
  ]);
});

it('exits immediately on a second signal during a shutdown after an error', async () => {
  const { child, exited, output } = spawnStoppable(9000);
  await expect.poll(output).toContain('ready');
  child.stdin.write('go');
  await expect.poll(output).toContain('Stopping after an error');
  child.kill('SIGTERM');
  await sleep(1500);
  expect(child.exitCode).toBeNull();
  child.kill('SIGTERM');
  expect(await exited).toEqual([130, null]);
  expect(output()).not.toContain('stopped');
});
