import { setTimeout as sleep } from 'node:timers/promises';
import { openGround } from './ground.ts';
import { startHaproxy } from './haproxy.ts';
import { steadyPort } from './postgres.ts';
import { type ServerProcess, spawnServer } from './server.ts';
import { startTraffic, type Traffic } from './traffic.ts';
import { addWorkspace } from './workspaces.ts';

export interface RollingOptions {
  /** Requests per second, reads and writes. */
  perSecond: number;
  /** Requests at least; both processes are restarted once at least. */
  requests: number;
  drainSeconds: number;
  onProgress?: (text: string) => void;
}

export interface RollingReport {
  requests: number;
  writes: number;
  restarts: number;
  /** Requests that were not answered 2xx, and what they were answered. */
  failed: string[];
  /** The longest that a request took. Milliseconds. */
  longest: number;
  /** From SIGTERM to the end of each process. Milliseconds. */
  endedAfter: number[];
  /** What a process said that didn't end with 0. */
  crashes: string[];
}

/** How long HAProxy takes at most to see that a process is ready: it asks every second. Milliseconds. */
const noticeMs = 2000;
const patience = 30_000;

/** A busy machine makes requests slow, and a tenant of many slow ones is refused some: that is not what is counted. */
const fairUseOutOfTheWay = { FAIR_USE_WORK_MS: '600000', FAIR_USE_QUEUE: '10000', FAIR_USE_WAIT_MS: '30000' };

/**
 * Restarts two API processes below HAProxy, one after the other, while clients read and write, until enough requests have
 * been sent; tells of those that were not answered as if nothing were.
 */
export async function runRolling(options: RollingOptions): Promise<RollingReport> {
  const { perSecond, requests, drainSeconds, onProgress } = options;
  const stops: (() => Promise<unknown>)[] = [];
  try {
    const { runtime, env } = await openGround(stops);
    const workspaces = [await addWorkspace(runtime, 'First'), await addWorkspace(runtime, 'Second')];
    const ports = [await steadyPort(), await steadyPort()] as const;
    const spawn = (port: number) =>
      spawnServer({
        ...env,
        ...fairUseOutOfTheWay,
        ROLES: 'api',
        PORT: String(port),
        DRAIN_SECONDS: String(drainSeconds),
      });
    const processes = ports.map(spawn);
    stops.push(() => Promise.all(processes.map(kill)));
    await Promise.all(processes.map(({ ready }) => ready));
    const haproxy = await startHaproxy([`127.0.0.1:${ports[0]}`, `127.0.0.1:${ports[1]}`]);
    stops.push(haproxy.stop);
    const traffic = await startTraffic({ apiUrl: haproxy.url, workspaces, perSecond, patience });
    stops.push(traffic.stop);

    const endedAfter: number[] = [];
    const crashes: string[] = [];
    await sleep(noticeMs);
    while (endedAfter.length < ports.length || traffic.answers.length < requests) {
      const turn = endedAfter.length % ports.length;
      const old = processes[turn] as ServerProcess;
      const since = performance.now();
      old.child.kill('SIGTERM');
      await old.exited;
      endedAfter.push(Math.round(performance.now() - since));
      if (old.child.exitCode !== 0) crashes.push(old.output());
      const next = spawn(ports[turn] as number);
      processes[turn] = next;
      await next.ready;
      await sleep(noticeMs);
      onProgress?.(
        `restart ${endedAfter.length}: ${traffic.answers.length} requests, ${failures(traffic).length} failed`,
      );
    }
    await traffic.stop();
    return {
      requests: traffic.answers.length,
      writes: traffic.answers.filter(({ request }) => !request.startsWith('GET')).length,
      restarts: endedAfter.length,
      failed: failures(traffic),
      longest: Math.round(traffic.answers.reduce((max, { took }) => Math.max(max, took), 0)),
      endedAfter,
      crashes,
    };
  } finally {
    for (const stop of stops.reverse()) await stop();
  }
}

function failures({ answers }: Traffic): string[] {
  return answers
    .filter(({ status = 0 }) => status < 200 || status > 299)
    .map(({ request, status, took }) => `${request}: ${status ?? 'no answer'} after ${Math.round(took)} ms`);
}

async function kill({ child, exited }: ServerProcess): Promise<void> {
  child.kill('SIGKILL');
  await exited;
}

/** Whether nobody has noticed. */
export function isUnnoticed({ failed, crashes }: RollingReport): boolean {
  return failed.length + crashes.length === 0;
}

/** The figures as a person reads them. */
export function formatRolling(report: RollingReport): string {
  const { requests, writes, restarts, failed, longest, endedAfter } = report;
  const row = (name: string, figure: number | string) => `  ${name.padEnd(44)}${figure}\n`;
  return `
${row('Restarts of two processes below HAProxy', restarts)}\
${row('Requests, writes among them', `${requests}, ${writes}`)}\
${row('Failed', failed.length)}\
${failed
  .slice(0, 10)
  .map((each) => `    ${each}\n`)
  .join('')}\
${row('Longest request, milliseconds', longest)}\
${row('Ended after SIGTERM, milliseconds', endedAfter.join('   '))}`;
}
