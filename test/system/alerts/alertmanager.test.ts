import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openInstallation } from '../../support/installation.ts';
import { isNightly } from '../../support/nightly.ts';
import { skipUnlessInstalled } from '../../support/programs.ts';
import { supervise } from '../../support/server-process.ts';
import { addKey, addWorkspace } from '../../support/subscribed-workspaces.ts';
import { alertmanager, alertmanagerNames, alertsProgram, type Killable } from './programs.ts';

const count = isNightly ? 500 : 150;

it(`has one resolved ticket for each of ${count} alerts after each process was killed`, {
  ...skipUnlessInstalled(alertmanagerNames),
}, async () => {
  const stops: (() => Promise<unknown>)[] = [];
  try {
    const { postgres, runtime, apiUrl, env } = await openInstallation(stops);
    const { RATE_LIMIT_GLOBAL, RATE_LIMIT_GROUP, TENANT_CONCURRENCY_SHARE, ...withDefaultLimits } = env;
    const workspace = await addWorkspace(runtime, 'Monitored');
    const api = supervise({ ...withDefaultLimits, LOG_LEVEL: 'fatal', ROLES: 'api' });
    stops.push(api.stop);
    await api.ready();

    const folder = await mkdtemp(join(tmpdir(), 'itsm-alertmanager-'));
    stops.push(() => rm(folder, { recursive: true }));
    const open = async <Process extends Killable>(process: Process) => {
      stops.push(process.kill);
      await process.start();
      return process;
    };
    const { key: secondKey } = await addKey(workspace, { rotated: false });
    const first = await open(await alertsProgram({ folder: join(folder, 'first'), apiUrl, key: workspace.key }));
    const second = await open(await alertsProgram({ folder: join(folder, 'second'), apiUrl, key: secondKey }));
    const manager = await open(await alertmanager(folder, [first.url, second.url]));

    const { prisma } = runtime;
    const where = { tenantId: workspace.tenantId };
    const startedAt = performance.now();
    const log = (text: string) => console.log(`${((performance.now() - startedAt) / 1000).toFixed(1)} s: ${text}`);
    const created = () => prisma.ticket.count({ where }).catch(() => 0);
    const resolved = () => prisma.ticket.count({ where: { ...where, status: 'RESOLVED' } }).catch(() => 0);
    const waiting = async ({ url }: Killable) => JSON.parse(await (await fetch(`${url}/healthz`)).text()).waiting;
    const received = async ({ url }: Killable) => {
      const text = await (await fetch(`${url}/metrics`)).text();
      return Number(/^itsm_alerts_received_total\{.*status="firing"\} (\d+)$/m.exec(text)?.[1] ?? 0);
    };
    const until = (read: () => Promise<number>) => expect.poll(read, { interval: 20 });

    // Prometheus repeats the start of an alert with each notification.
    const startsAt = new Date().toISOString();
    const alerts = Array.from({ length: count }, (_, index) => ({
      labels: { alertname: 'DiskFull', instance: `host-${index}`, rack: `rack-${index % 10}` },
      annotations: { summary: `The disk of host-${index} is full` },
      startsAt,
    }));
    await manager.post(alerts);
    await until(created).toBeGreaterThan(0);
    await first.kill();
    log(`killed a program after ${await created()} tickets`);
    await first.start();
    await until(created).toBeGreaterThan(count / 4);
    postgres.kill();
    log('killed PostgreSQL');
    await postgres.start();
    await until(created).toBe(count);
    log(`created ${count} tickets`);

    await manager.kill();
    await manager.forget();
    await manager.start();
    // A Prometheus that has lost its state sends a new start.
    await manager.post(alerts.map((alert) => ({ ...alert, startsAt: new Date().toISOString() })));
    for (const program of [first, second]) await until(() => received(program)).toBeGreaterThan(2 * count - 1);
    for (const program of [first, second]) await until(() => waiting(program)).toBe(0);
    expect(await created()).toBe(count);
    log('repeated all alerts, also without the state of Alertmanager');

    const endsAt = new Date().toISOString();
    await manager.post(alerts.map((alert) => ({ ...alert, endsAt })));
    await until(resolved).toBeGreaterThan(0);
    api.kill();
    log(`killed the server after ${await resolved()} resolved tickets`);
    await until(resolved).toBe(count);
    for (const program of [first, second]) await until(() => waiting(program)).toBe(0);
    log(`resolved ${count} tickets`);

    const tickets = await prisma.ticket.findMany({ where, select: { title: true, externalId: true, status: true } });
    expect(new Set(tickets.map(({ title }) => title)).size).toBe(count);
    expect(tickets.filter(({ externalId, status }) => !externalId?.endsWith(':1') || status !== 'RESOLVED')).toEqual(
      [],
    );
    expect(tickets).toHaveLength(count);
    expect(api.crashes).toEqual([]);
  } finally {
    for (const stop of stops.reverse()) await stop();
  }
});
