import { scheduleJobs } from '@itsm-api/server/process/scheduled-jobs.ts';
import { pruneSettled } from '@itsm-api/server/webhooks/maintenance/delivery-retention.ts';
import { sendAgain } from '@itsm-api/server/webhooks/maintenance/replay.ts';
import { describe, expect, it } from 'vitest';
import type { Api } from '../support/api.ts';
import { eventually } from '../support/sender.ts';
import { start, useSender, withTrigger } from '../support/sending.ts';

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

useSender();

function schedule({ boss, databases, services }: Api): Promise<void> {
  return scheduleJobs(boss, {
    runtime: { databases, services, prisma: databases.system.prisma },
    settings: { REQUEST_LOG_DAYS: 7, AUDIT_RETENTION_DAYS: 400 },
    onWrongTotals: () => undefined,
  });
}

describe('pruning of deliveries', () => {
  it('prunes deliveries that settled more than 30 days ago, but no pending deliveries', async () => {
    const test = await start({ worker: false });
    const { api, workspace, id } = test;
    const { prisma } = api;
    await test.emit(8);
    // The second subscription also gets a delivery of the last event.
    const { id: second } = await workspace.createWebhook();
    await test.emit(1);
    const deliveries = await prisma.delivery.findMany({ where: { subscriptionId: id }, orderBy: { id: 'asc' } });
    const settledAgo: [
      state: 'DELIVERED' | 'EXHAUSTED' | 'CANCELLED' | 'PENDING',
      days: number | null,
      kept: boolean,
    ][] = [
      ['DELIVERED', 30.001, false],
      ['EXHAUSTED', 30.001, false],
      ['CANCELLED', 30.001, false],
      ['DELIVERED', 29.999, true],
      ['EXHAUSTED', 29.999, true],
      ['CANCELLED', 29.999, true],
      ['PENDING', null, true],
      ['PENDING', null, true],
      ['DELIVERED', 400, false],
    ];
    for (const [index, [state, days]] of settledAgo.entries()) {
      const delivery = deliveries[index];
      if (delivery === undefined) throw new Error('There are fewer deliveries than expected.');
      const settledAt = days === null ? null : new Date(Date.now() - days * day);
      await prisma.delivery.updateMany({ where: { id: delivery.id }, data: { state, settledAt } });
      const attempt = { number: 1, startedAt: new Date(0), durationMs: 1, status: 500 };
      await prisma.deliveryAttempt.create({
        data: { tenantId: delivery.tenantId, deliveryId: delivery.id, ...attempt },
      });
    }
    const longAgo = new Date(Date.now() - 400 * day);
    await prisma.event.updateMany({ data: { createdAt: longAgo } });
    await prisma.delivery.updateMany({ data: { createdAt: longAgo, nextAttemptAt: longAgo } });

    // Pruning needs several batches, because each batch contains two deliveries.
    expect(await pruneSettled(prisma, 2)).toBe(4);
    const kept = deliveries.filter((_, index) => settledAgo[index]?.[2]);
    const left = await prisma.delivery.findMany({ where: { subscriptionId: id }, orderBy: { id: 'asc' } });
    expect(left.map((each) => each.id)).toEqual(kept.map((each) => each.id));
    expect(await prisma.deliveryAttempt.count()).toBe(kept.length);
    // Pruning keeps an event while a delivery of the event to another subscription is pending.
    const [waiting] = await prisma.delivery.findMany({ where: { subscriptionId: second } });
    const events = await prisma.event.findMany({ orderBy: { id: 'asc' } });
    expect(events.map((event) => event.id)).toEqual([...kept.map(({ eventId }) => eventId), waiting?.eventId]);

    // The worker delivers a pending event even if the event is older than the retention time.
    test.endpoint.status = 200;
    await test.startWorker();
    await eventually(() => expect(test.receiver.received).toHaveLength(2));
  });

  it('does not prune a delivery that a concurrent replay has locked', async () => {
    const test = await start({ worker: false });
    const { api } = test;
    await test.emit(3);
    await api.prisma.delivery.updateMany({ data: { state: 'EXHAUSTED', settledAt: new Date(Date.now() - 31 * day) } });
    const [, held] = await api.prisma.delivery.findMany({ orderBy: { id: 'asc' } });
    await api.prisma.$transaction(async () => {
      await sendAgain(api.prisma.$tenant(test.ref.tenantId), { ids: [held?.id ?? 0n] });
      expect(await pruneSettled(api.databases.system.prisma)).toBe(2);
    });
    expect(await api.prisma.delivery.findMany()).toMatchObject([{ id: held?.id, state: 'PENDING' }]);
    expect(await pruneSettled(api.prisma)).toBe(0);
  });

  it('schedules the job that prunes deliveries and runs the job in a worker', async () => {
    const test = await start();
    await schedule(test.api);
    const { api } = test;
    await test.emit(1);
    await test.settled(test.id);
    await api.prisma.delivery.updateMany({ data: { state: 'DELIVERED', settledAt: new Date(Date.now() - 31 * day) } });
    expect(await api.boss.getSchedules('webhook-retention')).toMatchObject([{ cron: expect.any(String) }]);
    await api.boss.send('webhook-retention', {});
    await eventually(async () => expect(await api.prisma.delivery.count()).toBe(0));
  });

  it('emits an error event if the job that prunes deliveries fails', async () => {
    const test = await start();
    await schedule(test.api);
    const { api } = test;
    await test.emit(1);
    await test.settled(test.id);
    await api.prisma.delivery.updateMany({ data: { state: 'DELIVERED', settledAt: new Date(Date.now() - 31 * day) } });
    const messages: string[] = [];
    const onError = ({ message }: Error) => messages.push(message);
    api.boss.on('error', onError);
    await withTrigger('BEFORE DELETE ON deliveries FOR EACH ROW', "RAISE 'not today'", async () => {
      await api.boss.send('webhook-retention', {});
      await eventually(() =>
        expect(messages).toEqual([expect.stringMatching(/webhook-retention failed: .*not today/s)]),
      );
    });
    api.boss.off('error', onError);
  });
});
