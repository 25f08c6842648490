import { setTimeout as sleep } from 'node:timers/promises';
import { pathPrefix, type Ticket } from '@itsm-api/contract';
import { expect, it } from 'vitest';
import { openInstallation } from '../support/installation.ts';
import { startReceiver } from '../support/receiver.ts';
import { supervise } from '../support/server-process.ts';
import { addWorkspace, subscribe } from '../support/subscribed-workspaces.ts';
import { ticket } from '../support/workspace.ts';

/* Kills each process once. `pnpm test:system` kills processes hundreds of times in many situations. */
it('loses no acknowledged ticket or event if the API, worker and PostgreSQL are killed', async () => {
  const stops: (() => unknown)[] = [];
  try {
    const { postgres, runtime, apiUrl, env } = await openInstallation(stops as (() => Promise<unknown>)[]);
    const workspace = await addWorkspace(runtime, 'Killed');
    const receiver = await startReceiver();
    stops.push(receiver.close);
    await subscribe(workspace, { name: 'all', url: receiver.url, events: ['ticket.created'] });
    const [api, worker] = [supervise({ ...env, ROLES: 'api' }), supervise({ ...env, ROLES: 'worker' })];
    stops.push(api.stop, worker.stop);
    await Promise.all([api.ready(), worker.ready()]);

    const headers = { 'x-api-key': workspace.key, 'content-type': 'application/json' };
    const acknowledged: number[] = [];
    const create = async () => {
      const body = JSON.stringify({ ...ticket, title: 'Created beside a kill' });
      const response = await fetch(`${apiUrl}${pathPrefix}/tickets`, { method: 'POST', headers, body }).catch(() => {});
      if (response?.status === 201) acknowledged.push(((await response.json()) as { data: Ticket }).data.id);
      else await sleep(50);
    };
    /** Creates tickets until the API has acknowledged 40 more tickets. Calls `kill` after the first 20 tickets. */
    const createWhile = async (kill: () => unknown) => {
      const from = acknowledged.length;
      let killing: unknown;
      await expect
        .poll(
          async () => {
            await Promise.all([create(), create(), create(), create()]);
            if (acknowledged.length >= from + 20) killing ??= kill();
            return acknowledged.length;
          },
          { interval: 1 },
        )
        .toBeGreaterThanOrEqual(from + 40);
      await killing;
    };
    // A killed worker holds its claims for 30 seconds. The test moves the ends of the leases instead of waiting.
    const endLeases = () =>
      runtime.prisma.delivery.updateMany({ where: { claim: { not: null } }, data: { nextAttemptAt: new Date() } });
    await createWhile(api.kill);
    await createWhile(worker.kill);
    await endLeases();
    await createWhile(async () => {
      await postgres.killAll();
      await postgres.start();
    });

    await endLeases();

    const stored = await runtime.prisma.ticket.findMany({ select: { id: true } });
    expect(stored.map(({ id }) => Number(id))).toEqual(expect.arrayContaining(acknowledged));
    const delivered = () => new Set(receiver.received.map(({ body }) => JSON.parse(body).ticket.id));
    await expect.poll(() => acknowledged.filter((id) => !delivered().has(id))).toEqual([]);
    expect([...api.crashes, ...worker.crashes]).toEqual([]);
  } finally {
    for (const stop of stops.reverse()) await stop();
  }
});
