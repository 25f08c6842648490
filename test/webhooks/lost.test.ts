import { describe, expect, it } from 'vitest';
import { execute } from '../support/database.ts';
import { claim, expectAllDelivered, type Started, settleAs, start, useSender } from '../support/sending.ts';

const second = 1000;

useSender();

describe('lost worker', () => {
  const lease = 30 * second;

  it("claims a lost worker's delivery again after its lease expires", async () => {
    const test = await start({ worker: false });
    const { settled, id } = test;
    test.endpoint.status = 200;
    await test.emit(1);
    const [claimed, ...others] = await claim(test);
    expect(others).toEqual([]);
    expect(claimed).toMatchObject({ attempt: 1, probe: false });
    const row = await test.api.prisma.delivery.findFirstOrThrow();
    // PostgreSQL computes `nextAttemptAt` and `claimedAt` from the same time and rounds the values to milliseconds.
    expect(Math.abs(Number(row.nextAttemptAt) - Number(claimed?.claimedAt) - lease)).toBeLessThanOrEqual(1);
    await test.startWorker();
    await test.advance(0);
    expect(test.receiver.received).toHaveLength(0);
    await test.advance(lease);
    await expectAllDelivered(test, 1);
    const [delivery] = await settled(id);
    expect(delivery).toMatchObject({ attempts: 2 });
    const startedAt = new Date(Number(row.nextAttemptAt) - 2 * lease);
    expect(delivery?.history).toMatchObject([
      { number: 1, startedAt, durationMs: lease, status: null, error: 'the worker was lost', answer: null },
      { number: 2, startedAt: expect.any(Date), status: 200, error: null },
    ]);
    expect(test.receiver.received.map(({ headers }) => headers['x-service-attempt'])).toEqual(['2']);
  });

  it('sends another probe if the worker that claimed the first probe is lost', async () => {
    const test = await start({ worker: false });
    test.endpoint.status = 200;
    await test.emit(3);
    await test.holdOpen(0);
    expect(await claim(test)).toMatchObject([{ attempt: 1, probe: true }]);
    expect(await claim(test)).toEqual([]);
    await test.startWorker();
    await test.advance(0);
    expect(test.receiver.received).toEqual([]);
    await test.advance(lease);
    await test.advance(second);
    await expectAllDelivered(test, 3);
  });

  it('ignores the results of a worker whose lease has expired', async () => {
    const test = await start({ worker: false });
    const { api, id, row } = test;
    await test.emit(2);
    const late = await claim(test);
    await test.age(lease);
    const current = await claim(test);
    expect(current.map(({ attempt }) => attempt)).toEqual([2, 2]);
    const stored = async () => ({
      deliveries: await api.prisma.delivery.findMany({ include: { history: true }, orderBy: { id: 'asc' } }),
      subscription: await row(),
    });
    const before = await stored();
    for (const status of [200, 500, 410]) {
      await settleAs(test, [[status, ...late]]);
      expect(await stored()).toEqual(before);
    }
    // The batch contains the results of an expired claim and of the current claim. Only the result of the current claim
    // counts.
    await settleAs(test, [
      [410, ...late],
      [200, ...current],
    ]);
    const after = await stored();
    expect(after.deliveries.map(({ state, history }) => [state, history.length])).toEqual(
      Array(2).fill(['DELIVERED', 2]),
    );
    expect(after.subscription).toMatchObject({ failures: 0, pausedAt: null, lastFailureAt: null });
    // A later result doesn't change a settled delivery.
    await settleAs(test, [[500, ...current]]);
    expect(await stored()).toEqual(after);
    expect(await test.health(id)).toMatchObject({ lastSuccessAt: expect.any(String), lastFailureAt: null });
  });
});

describe('lost dispatch job', () => {
  it.each<[string, (test: Started) => Promise<unknown>]>([
    [
      'is older than the retention of pg-boss',
      ({ api }) =>
        execute(
          api.databaseUrl,
          `UPDATE pgboss.job SET created_on = created_on - interval '400 days',
             start_after = start_after - interval '400 days', keep_until = keep_until - interval '400 days'`,
        ),
    ],
    ['is held by a lost worker', ({ api }) => api.services.dispatchJobs.take(10)],
    [
      'is held by a lost worker and has expired',
      async ({ api }) => {
        await api.services.dispatchJobs.take(10);
        await execute(
          api.databaseUrl,
          `UPDATE pgboss.job SET started_on = started_on - interval '2 hours', created_on = created_on - interval '2 hours'`,
        );
      },
    ],
  ])('delivers all events if a dispatch job %s', async (_, age) => {
    const test = await start({ worker: false });
    const { api } = test;
    test.endpoint.status = 200;
    await test.emit(3);
    const jobs = () => api.boss.findJobs('webhook-dispatch');
    expect(await jobs()).toHaveLength(1);
    await age(test);
    await api.boss.supervise();
    expect((await jobs()).filter(({ state }) => state === 'created')).toEqual([]);
    // The test emits no event and doesn't advance the time, so only the worker's sweep can find the deliveries.
    await test.startWorker();
    await expectAllDelivered(test, 3);
    expect(test.receiver.received).toHaveLength(3);
  });
});
