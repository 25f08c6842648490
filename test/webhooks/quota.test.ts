import type { Webhook } from '@itsm-api/contract';
import { enforceQuota } from '@itsm-api/server/webhooks/outbox/quota.ts';
import { expect, it } from 'vitest';
import { eventually } from '../support/sender.ts';
import { start, useSender } from '../support/sending.ts';

/*
 * Tests the limit for pending deliveries per workspace. If a workspace reaches the limit, workers stop the subscription
 * with the most pending deliveries.
 */
useSender();

const limit = 10;

/**
 * Creates a workspace with two subscriptions. The first subscription gets every event. The second subscription gets
 * only events of tickets with the priority HIGH.
 */
async function startTwo() {
  const test = await start({ worker: false });
  const { workspace, id } = test;
  const { id: other } = await workspace.createWebhook({ url: test.receiver.url, filter: { priority: ['HIGH'] } });
  const warnings: object[] = [];
  const logger = { warn: (...line: unknown[]) => void warnings.push(line[0] as object) };
  const read = async (webhook: number): Promise<Webhook> =>
    (await workspace.call('GET', `/webhooks/${webhook}`)).body.data;
  return {
    ...test,
    other,
    warnings,
    read,
    /** Checks the number of pending deliveries as a worker does, but without waiting for the time of the next check. */
    async count() {
      await test.age(10_000);
      await enforceQuota({ prisma: test.api.databases.system.prisma, logger, maxPendingDeliveries: limit });
    },
    async stopped() {
      const reasons = await Promise.all([id, other].map(async (each) => (await read(each)).pausedReason));
      return reasons.map((reason) => reason === 'QUOTA');
    },
    async emitHigh(count: number) {
      for (let i = 0; i < count; i++) await workspace.createTicket({ priority: 'HIGH' });
    },
    pendingOf: (webhook: number) =>
      test.api.prisma.delivery.count({ where: { subscriptionId: webhook, state: 'PENDING' } }),
  };
}

it('stops only the subscription with the most pending deliveries when the workspace reaches the limit', async () => {
  const { emit, emitHigh, count, stopped, pendingOf, warnings, read, id, other, workspace } = await startTwo();
  await emit(7);
  await emitHigh(1);
  await count();
  expect(await stopped()).toEqual([false, false]);
  await emit(1);
  await count();
  expect(await stopped()).toEqual([true, false]);
  expect(await read(id)).toMatchObject({ health: 'PAUSED', pausedAt: expect.any(String), active: true });
  expect(warnings).toEqual([
    { tenantId: String(workspace.tenantId), subscriptionId: String(id), pending: limit, maxPendingDeliveries: limit },
  ]);
  await emitHigh(1);
  expect([await pendingOf(id), await pendingOf(other)]).toEqual([9, 2]);
});

it('stops a second subscription only if pending deliveries continue to increase', async () => {
  const { emit, emitHigh, count, stopped, pendingOf, api, id } = await startTwo();
  await emit(9);
  await emitHigh(1);
  await count();
  // Simulates a transaction that began before the check and commits a delivery after the check.
  const [copied] = await api.prisma.$queryRaw<{ id: bigint }[]>`
    WITH event AS (
      INSERT INTO events (tenant_id, public_id, type, body)
      SELECT tenant_id, 'evt_late', type, body FROM events WHERE tenant_id = (
        SELECT tenant_id FROM webhook_subscriptions WHERE id = ${id}) LIMIT 1 RETURNING tenant_id, id
    ) INSERT INTO deliveries (tenant_id, subscription_id, event_id) SELECT tenant_id, ${id}, id FROM event RETURNING id`;
  expect(copied).toBeDefined();
  await count();
  await count();
  expect(await stopped()).toEqual([true, false]);
  await emitHigh(1);
  expect(await pendingOf(id)).toBe(11);
  await count();
  expect(await stopped()).toEqual([true, true]);
});

it('resumes a stopped subscription when it has fewer pending deliveries than half of the limit', async () => {
  const { emit, count, stopped, startWorker, stopWorkers, endpoint, api, id, receiver, pendingOf } = await startTwo();
  await emit(limit);
  await count();
  // A subscription resumes only below half of the limit. At exactly half of the limit, it stays stopped.
  const half = {
    subscriptionId: id,
    id: { in: (await api.prisma.delivery.findMany({ take: limit / 2 })).map((row) => row.id) },
  };
  await api.prisma.delivery.updateMany({ where: half, data: { state: 'CANCELLED', settledAt: new Date() } });
  await count();
  expect(await stopped()).toEqual([true, false]);
  endpoint.status = 200;
  await startWorker();
  await eventually(() => expect(receiver.received).toHaveLength(limit / 2));
  await stopWorkers();
  await count();
  expect(await stopped()).toEqual([false, false]);
  await emit(1);
  expect(await pendingOf(id)).toBe(1);
});

it('enforces the limit for pending deliveries in a running worker, but still accepts test events', async () => {
  const test = await start({ worker: false });
  await test.workspace.call('PATCH', `/webhooks/${test.id}`, { paused: true });
  await test.emit(3);
  await test.startWorker({ maxPendingDeliveries: 3 });
  await eventually(async () => expect(await test.health(test.id)).toMatchObject({ pausedReason: 'QUOTA' }));
  const { status, text } = await test.workspace.call('POST', `/webhooks/${test.id}/test`);
  expect(status, text).toBe(201);
});
