import { setTimeout as sleep } from 'node:timers/promises';
import type { Runtime } from '@itsm-api/server/process/runtime.ts';
import { openInstallation } from '../../support/installation.ts';
import { steadyPort } from '../../support/postgres-server.ts';
import { type ServerProcess, spawnServer } from '../../support/server-process.ts';
import { addWorkspace, type Workspace } from '../../support/subscribed-workspaces.ts';
import { startHaproxy } from './haproxy.ts';
import { startTraffic, type Traffic } from './traffic.ts';

export interface RollingOptions {
  /** The number of requests per second. Each load balancer gets half of the requests. */
  perSecond: number;
  /** The minimum number of requests. The test restarts both processes at least once. */
  requests: number;
  drainSeconds: number;
  onProgress?: (text: string) => void;
}

export interface RollingReport {
  /** The results for the HAProxy configuration in deploy/, and for a configuration without retries. */
  balancers: { deployed: BalancerReport; plain: BalancerReport };
  workspaces: number;
  restarts: number;
  /** The time from SIGTERM to the exit of each process, in milliseconds. */
  endedAfter: number[];
  /** The output of processes that exited with an error. */
  crashes: string[];
}

interface BalancerReport {
  requests: number;
  writes: number;
  /** Descriptions of the requests that got no 2xx response. */
  failed: string[];
  /** The longest response time, in milliseconds. */
  maxDurationMs: number;
}

/** The maximum time in milliseconds until HAProxy detects that a process is ready. HAProxy checks every second. */
const noticeMs = 2000;
const timeoutMs = 30_000;

/**
 * The number of requests per minute and API key. 90% of these requests use one endpoint group, which has a rate limit
 * of 30.
 */
const perMinuteAndKey = 24;

/** Restores the default limits. The server treats an empty variable as unset. */
const defaultLimits = { RATE_LIMIT_GLOBAL: '', RATE_LIMIT_GROUP: '', TENANT_CONCURRENCY_SHARE: '' };

/**
 * Restarts two API processes behind load balancers, one process after the other, while clients of many workspaces send
 * requests. Stops after the minimum number of requests. Reports failed requests.
 */
export async function runRolling(options: RollingOptions): Promise<RollingReport> {
  const { perSecond, requests, drainSeconds, onProgress } = options;
  const stops: (() => Promise<unknown>)[] = [];
  try {
    const { runtime, env } = await openInstallation(stops);
    const workspaces = await addWorkspaces(runtime, Math.ceil((perSecond * 60) / perMinuteAndKey));
    const half = Math.ceil(workspaces.length / 2);
    const ports = [await steadyPort(), await steadyPort()] as const;
    const spawn = (port: number) =>
      spawnServer({
        ...env,
        ...defaultLimits,
        ROLES: 'api',
        PORT: String(port),
        DRAIN_SECONDS: String(drainSeconds),
      });
    const processes = ports.map(spawn);
    stops.push(() => Promise.all(processes.map(kill)));
    await Promise.all(processes.map(({ ready }) => ready));
    const haproxy = await startHaproxy([`127.0.0.1:${ports[0]}`, `127.0.0.1:${ports[1]}`]);
    stops.push(haproxy.stop);
    const begin = (apiUrl: string, workspaces: Workspace[]) =>
      startTraffic({ apiUrl, workspaces, perSecond: perSecond / 2, timeoutMs });
    const [deployed, plain] = await Promise.all([
      begin(haproxy.deployed, workspaces.slice(half)),
      begin(haproxy.plain, workspaces.slice(0, half)),
    ]);
    const traffics = [deployed, plain];
    const stopTraffic = () => Promise.all(traffics.map(({ stop }) => stop()));
    stops.push(stopTraffic);

    const endedAfter: number[] = [];
    const crashes: string[] = [];
    await sleep(noticeMs);
    while (endedAfter.length < ports.length || sumOf(traffics) < requests) {
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
        `restart ${endedAfter.length}: ${progressOf(deployed)} through deploy/haproxy.cfg, ${progressOf(plain)} without retries`,
      );
    }
    await stopTraffic();
    return {
      balancers: { deployed: reportOf(deployed), plain: reportOf(plain) },
      workspaces: workspaces.length,
      restarts: endedAfter.length,
      endedAfter,
      crashes,
    };
  } finally {
    for (const stop of stops.reverse()) await stop();
  }
}

async function addWorkspaces(runtime: Runtime, count: number): Promise<Workspace[]> {
  const workspaces: Workspace[] = [];
  while (workspaces.length < count) {
    workspaces.push(await addWorkspace(runtime, `Workspace ${workspaces.length + 1}`));
  }
  return workspaces;
}

function sumOf(traffics: Traffic[]): number {
  return traffics.reduce((sum, { results }) => sum + results.length, 0);
}

function reportOf(traffic: Traffic): BalancerReport {
  const { results } = traffic;
  return {
    requests: results.length,
    writes: results.filter(({ request }) => !request.startsWith('GET')).length,
    failed: failures(traffic),
    maxDurationMs: Math.round(results.reduce((max, { took }) => Math.max(max, took), 0)),
  };
}

function progressOf(traffic: Traffic): string {
  return `${failures(traffic).length} of ${traffic.results.length} failed`;
}

function failures({ results }: Traffic): string[] {
  return results
    .filter(({ status = 0 }) => status < 200 || status > 299)
    .map(({ request, status, took }) => `${request}: ${status ?? 'no response'} after ${Math.round(took)} ms`);
}

async function kill({ child, exited }: ServerProcess): Promise<void> {
  child.kill('SIGKILL');
  await exited;
}

/** Returns true if no request failed and no process exited with an error. */
export function hasNoFailures({ balancers: { deployed, plain }, crashes }: RollingReport): boolean {
  return deployed.failed.length + plain.failed.length + crashes.length === 0;
}

/** Formats the figures for a terminal. */
export function formatRolling({ balancers, workspaces, restarts, endedAfter }: RollingReport): string {
  const row = (name: string, figure: number | string) => `  ${name.padEnd(44)}${figure}\n`;
  const formatBalancer = (title: string, { requests, writes, failed, maxDurationMs }: BalancerReport) => `
${row(`${title}: requests, writes`, `${requests}, ${writes}`)}\
${row('  Failed', failed.length)}\
${failed
  .slice(0, 10)
  .map((each) => `      ${each}\n`)
  .join('')}\
${row('  Longest request, milliseconds', maxDurationMs)}`;
  return `
${row('Restarts of two processes behind HAProxy', restarts)}\
${row('Exited after SIGTERM, milliseconds', endedAfter.join('   '))}\
${row('Workspaces, with one key each', workspaces)}\
${formatBalancer('deploy/haproxy.cfg', balancers.deployed)}\
${formatBalancer('Without retries', balancers.plain)}`;
}
