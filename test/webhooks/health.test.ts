import { setTimeout as sleep } from 'node:timers/promises';
import { transaction } from '@itsm-api/server/context.ts';
import { deactivateTenant } from '@itsm-api/server/resources/tenants/queries.ts';
import { emit } from '@itsm-api/server/webhooks/emit.ts';
import { type ClaimedDelivery, claimDue, settle } from '@itsm-api/server/webhooks/outbox.ts';
import { pruneSettled } from '@itsm-api/server/webhooks/retention.ts';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { execute } from '../support/database.ts';
import {
  eventually,
  type Receiver,
  type Respond,
  type Sender,
  startReceiver,
  startSender,
} from '../support/receiver.ts';
import { createWorkspace } from '../support/workspace.ts';

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

let sender: Sender;
const receivers: Receiver[] = [];

beforeAll(async () => {
  sender = await startSender();
});
afterEach(async () => {
  // First what a worker would wait for.
  await Promise.all(receivers.splice(0).map((receiver) => receiver.close()));
  await sender.stopWorkers();
  // The next test has the same clock and pg-boss, which else would see to its queues once a minute.
  await execute(
    sender.api.databaseUrl,
    `TRUNCATE delivery_attempts, deliveries, events, webhook_subscriptions, pgboss.job;
     UPDATE pgboss.queue SET maintain_on = NULL, monitor_on = NULL`,
  );
});
afterAll(() => sender.close());

async function receive(respond?: Respond): Promise<Receiver> {
  const receiver = await startReceiver(respond);
  receivers.push(receiver);
  return receiver;
}

/** A workspace with a subscription to tickets, and a receiver that answers with a status that can be changed. */
async function start({ worker = true }: { worker?: boolean } = {}) {
  if (worker) await sender.startWorker();
  const workspace = await createWorkspace(sender.api);
  const endpoint = { status: 500 };
  const receiver = await receive((_, response) => response.writeHead(endpoint.status).end());
  const { id } = await workspace.createWebhook({ url: receiver.url });

  return {
    ...sender,
    workspace,
    id,
    receiver,
    endpoint,
    lane: { tenantId: workspace.tenantId, subscriptionId: BigInt(id) },
    /** Emits so many events without waiting for anything. */
    async emit(count: number) {
      for (let i = 0; i < count; i++) await workspace.createTicket();
    },
    /** Emits events, each when the one before has been attempted. */
    async emitOneByOne(count: number) {
      for (let i = 0; i < count; i++) {
        const before = receiver.received.length;
        await workspace.createTicket();
        await eventually(() => expect(receiver.received).toHaveLength(before + 1));
        await sender.settled(id);
      }
    },
    /** Moves the clock; resolves to how many requests came of it. */
    async requestsAfter(milliseconds: number) {
      const before = receiver.received.length;
      await sender.advance(milliseconds);
      await sender.settled(id);
      return receiver.received.length - before;
    },
    iso: (milliseconds = 0) => new Date(sender.clock.time + milliseconds).toISOString(),
    health: (subscriptionId: number) => sender.health(subscriptionId, workspace),
    row: () => sender.api.prisma.webhookSubscription.findFirstOrThrow({ where: { id } }),
  };
}

type Started = Awaited<ReturnType<typeof start>>;

/** Claims what is due as a worker does, which then does nothing with it. */
function claim({ api, clock, lane }: Started): Promise<ClaimedDelivery[]> {
  return claimDue(api.prisma, [{ ...lane, slots: 16 }], new Date(clock.time));
}

/** Settles attempts as a worker does that was answered with these statuses. */
function settleAs({ api, clock }: Started, answers: [status: number, ...claimed: ClaimedDelivery[]][]): Promise<void> {
  const now = new Date(clock.time);
  const attempt = { startedAt: now, durationMs: 1, error: null, answer: null, retryAfter: undefined };
  const settlements = answers.flatMap(([status, ...claimed]) =>
    claimed.map((delivery) => ({ delivery, outcome: { ...attempt, status, delivered: status === 200 } })),
  );
  return settle(api.prisma, settlements, now);
}

/** Has the database do something on a statement for as long as `work` takes. */
async function withTrigger<Result>(event: string, statements: string, work: () => Promise<Result>): Promise<Result> {
  const { databaseUrl } = sender.api;
  await execute(
    databaseUrl,
    `CREATE FUNCTION interfere() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ${statements}; END $$;
     CREATE TRIGGER interfere ${event} EXECUTE FUNCTION interfere()`,
  );
  try {
    return await work();
  } finally {
    await execute(databaseUrl, 'DROP FUNCTION interfere CASCADE');
  }
}

/** Everything is delivered in the end. */
async function expectAllDelivered({ settled, id }: Started, count: number): Promise<void> {
  await eventually(async () => {
    const deliveries = await settled(id);
    expect(deliveries.map(({ state }) => state)).toEqual(Array(count).fill('DELIVERED'));
  });
}

describe('an endpoint that fails', () => {
  it('rests after five failures in a row, longer each time, and one delivery is tried after a rest', async () => {
    const test = await start();
    const { endpoint, receiver, requestsAfter, settled, id } = test;
    // A success in between, and it isn't in a row.
    await test.emitOneByOne(4);
    endpoint.status = 200;
    await test.emitOneByOne(1);
    endpoint.status = 500;
    await test.emitOneByOne(5);
    const waiting = 14;
    await test.emit(waiting);
    expect(await requestsAfter(0)).toBe(0);

    for (const rest of [5, 10, 20, 40, 80, 160, 300, 300]) {
      expect(await requestsAfter(rest * second - 1), `1 ms before ${rest} s`).toBe(0);
      expect(await requestsAfter(1), `after ${rest} s`).toBe(1);
    }
    // What waits behind has used up nothing but the tries: those ten were attempted, and of the others one at a time.
    const deliveries = await settled(id);
    const attempts = deliveries.reduce((sum, delivery) => sum + delivery.attempts, 0);
    expect(attempts).toBe(10 + 8);
    expect(deliveries.slice(10).every((delivery) => delivery.attempts <= 1)).toBe(true);

    endpoint.status = 200;
    expect(await requestsAfter(299 * second)).toBe(0);
    expect(await requestsAfter(second)).toBeGreaterThanOrEqual(1);
    expect(await test.row()).toMatchObject({ failures: 0, failingSince: null, restUntil: null, rests: 0 });
    await test.advance(hour);
    await expectAllDelivered(test, 10 + waiting);

    // From the beginning again.
    endpoint.status = 500;
    await test.emitOneByOne(5);
    expect((await test.row()).restUntil?.toISOString()).toBe(test.iso(5 * second));
    expect(receiver.received).toHaveLength(10 + 8 + 24 - 1 + 5);
  });

  it('does not use up the attempts of many that wait when it begins to fail', async () => {
    const test = await start({ worker: false });
    await test.emit(150);
    await test.startWorker();
    await eventually(async () => expect((await test.row()).restUntil).not.toBeNull());
    const deliveries = await test.settled(test.id);
    // 16 are in flight at once, and until five are known to have failed others take their places.
    expect(deliveries.filter(({ attempts }) => attempts > 0).length).toBeLessThanOrEqual(2 * 16);
    expect(await test.requestsAfter(0)).toBe(0);
  });

  it('is tried by one of two workers after a rest', async () => {
    const test = await start({ worker: false });
    const { api, clock } = test;
    await test.emit(20);
    for (let round = 0; round < 5; round++) {
      await api.prisma.webhookSubscription.updateMany({ data: { restUntil: new Date(clock.time) } });
      const claimed = await Promise.all([claim(test), claim(test), claim(test)]);
      expect(claimed.flat()).toHaveLength(1);
    }
  });

  it('is tried at the times of the schedule, and given up after ten attempts', async () => {
    const test = await start();
    const { clock, settled, id, receiver } = test;
    await test.emitOneByOne(1);
    const waits = [5 * second, 5 * minute, 30 * minute, 2 * hour, 5 * hour, 10 * hour, 14 * hour, 20 * hour, 24 * hour];
    for (const [index, wait] of waits.entries()) {
      const [delivery] = await settled(id);
      expect(delivery).toMatchObject({ state: 'PENDING', attempts: index + 1, settledAt: null });
      const next = Number(delivery?.nextAttemptAt) - clock.time;
      expect(next).toBeGreaterThanOrEqual(0.8 * wait);
      expect(next).toBeLessThanOrEqual(1.2 * wait);
      const rest = Number((await test.row()).restUntil) - clock.time;
      if (rest <= next) expect(await test.requestsAfter(next - 1), `before attempt ${index + 2}`).toBe(0);
      expect(await test.requestsAfter(rest <= next ? 1 : rest), `attempt ${index + 2}`).toBe(1);
    }
    const [delivery] = await settled(id);
    expect(delivery).toMatchObject({ state: 'EXHAUSTED', attempts: 10, settledAt: new Date(clock.time) });
    expect(delivery?.history.map(({ number, status }) => [number, status])).toEqual(
      Array.from({ length: 10 }, (_, index) => [index + 1, 500]),
    );
    expect(await test.requestsAfter(30 * day)).toBe(0);
    expect(receiver.received.map(({ headers }) => Number(headers['x-service-attempt']))).toEqual(
      Array.from({ length: 10 }, (_, index) => index + 1),
    );
    expect(await test.health(id)).toMatchObject({ active: true, lastSuccessAt: null, pausedAt: null });
  });
});

describe('a subscription pauses', () => {
  /** Paused: events queue, one is tried every hour, and a success resumes all. */
  async function expectPaused(test: Started, pausedReason: string): Promise<void> {
    const { settled, id, endpoint, requestsAfter, health } = test;
    const pausedAt = test.iso();
    const before = (await settled(id)).length;
    expect(await health(id)).toMatchObject({ active: true, pausedAt, pausedReason, lastFailureAt: pausedAt });
    await test.emit(20);
    expect(await requestsAfter(0)).toBe(0);
    for (let tries = 0; tries < 3; tries++) {
      // A plain failure leaves it paused, for the reason that it was paused for.
      endpoint.status = 500;
      expect(await requestsAfter(hour - 1)).toBe(0);
      expect(await requestsAfter(1)).toBe(1);
      expect(await health(id)).toMatchObject({ active: true, pausedAt, pausedReason, lastFailureAt: test.iso() });
    }
    endpoint.status = 200;
    expect(await requestsAfter(hour - 1)).toBe(0);
    expect(await requestsAfter(1)).toBeGreaterThanOrEqual(1);
    expect(await health(id)).toMatchObject({ pausedAt: null, pausedReason: null, lastSuccessAt: test.iso() });
    await test.advance(day);
    await expectAllDelivered(test, before + 20);
  }

  it('after a 410', async () => {
    const test = await start();
    test.endpoint.status = 410;
    await test.emitOneByOne(1);
    await expectPaused(test, 'The endpoint answered 410 Gone.');
  });

  it('after five days without a success', async () => {
    const test = await start();
    const { requestsAfter, health, id } = test;
    await test.emitOneByOne(1);
    expect(await requestsAfter(5 * day - 1)).toBe(1);
    await test.emitOneByOne(1);
    expect(await health(id)).toMatchObject({ pausedAt: null, pausedReason: null });
    expect(await requestsAfter(1)).toBe(0);
    await test.emitOneByOne(1);
    await expectPaused(test, 'Every attempt has failed for 5 days.');
  });

  it('not when a success lies between the failures', async () => {
    const test = await start();
    const { endpoint, requestsAfter } = test;
    for (let round = 0; round < 3; round++) {
      endpoint.status = 500;
      await test.emitOneByOne(1);
      expect(await requestsAfter(3 * day)).toBe(1);
      endpoint.status = 200;
      expect(await requestsAfter(10 * minute)).toBe(1);
    }
    endpoint.status = 500;
    await test.emitOneByOne(1);
    expect(await test.health(test.id)).toMatchObject({ pausedAt: null, lastFailureAt: test.iso() });
  });
});

describe('what nobody may receive any more', () => {
  it('is cancelled with the DELETE of its subscription, also what is in flight', async () => {
    const test = await start({ worker: false });
    const { api, workspace, clock, settled } = test;
    let answer = () => {};
    const held = await receive((_, response) => {
      answer = () => response.end();
    });
    const { id } = await workspace.createWebhook({ url: held.url });
    await test.emit(1);
    await test.startWorker();
    await eventually(() => expect(held.received).toHaveLength(1));
    await api.prisma.webhookSubscription.updateMany({
      where: { id },
      data: { restUntil: new Date(clock.time + hour) },
    });
    await test.emit(3);

    expect((await workspace.call('DELETE', `/webhooks/${id}`)).status).toBe(200);
    const states = () => api.prisma.delivery.findMany({ where: { subscriptionId: id }, include: { history: true } });
    const cancelled = { state: 'CANCELLED', settledAt: new Date(clock.time), history: [] };
    expect(await states()).toEqual(Array(4).fill(expect.objectContaining(cancelled)));
    // The answer that comes now is recorded, and changes nothing else.
    answer();
    await test.advance(day);
    await test.emit(1);
    await settled(test.id);
    const { history: _, ...still } = cancelled;
    const after = await states();
    expect(after).toEqual(Array(4).fill(expect.objectContaining(still)));
    expect(after.flatMap(({ history }) => history)).toMatchObject([{ number: 1, status: 200 }]);
    expect(held.received).toHaveLength(1);
  });

  it('is cancelled in the transaction of the DELETE: both or neither', async () => {
    const test = await start({ worker: false });
    await test.emit(2);
    await withTrigger('BEFORE UPDATE ON deliveries', "RAISE 'refused'", async () => {
      expect((await test.workspace.call('DELETE', `/webhooks/${test.id}`)).status).toBe(500);
    });
    expect(await test.health(test.id)).toMatchObject({ active: true });
    expect((await test.settled(test.id)).map(({ state }) => state)).toEqual(['PENDING', 'PENDING']);
  });

  it('is cancelled while an attempt of it is being settled: neither gets in the way of the other', async () => {
    const test = await start({ worker: false });
    await test.emit(1);
    const claimed = await claim(test);
    // The settlement comes after the DELETE has deactivated the subscription and before it is committed.
    const lingering = 'AFTER UPDATE OF active ON webhook_subscriptions';
    const [deleted, settled] = await withTrigger(lingering, 'PERFORM pg_sleep(0.5); RETURN NULL', async () => {
      const deleting = test.workspace.call('DELETE', `/webhooks/${test.id}`);
      await sleep(200);
      return Promise.allSettled([deleting, settleAs(test, [[500, ...claimed]])]);
    });
    expect(deleted).toMatchObject({ value: { status: 200 } });
    expect(settled).toMatchObject({ status: 'fulfilled' });
    expect(await test.settled(test.id)).toMatchObject([{ state: 'CANCELLED' }]);
  });

  it('is cancelled when it was emitted beside the DELETE, or stays unsent', async () => {
    const test = await start();
    const { api, workspace, clock, receiver } = test;
    test.endpoint.status = 200;
    // Deliveries are claimed and settled all the time that subscriptions go.
    const ids: number[] = [];
    for (let i = 0; i < 20; i++) ids.push((await workspace.createWebhook({ url: receiver.url })).id);
    const emitting = Promise.all(Array.from({ length: 4 }, () => test.emit(10)));
    const answers = await Promise.all(ids.map((id) => workspace.call('DELETE', `/webhooks/${id}`)));
    expect(answers.map(({ status }) => status)).toEqual(Array(ids.length).fill(200));
    await emitting;
    await expectAllDelivered(test, 40);
    const sent = receiver.received.length;
    await test.advance(0);
    await pruneSettled({ prisma: api.prisma, now: () => new Date(clock.time) });
    expect(await api.prisma.delivery.count({ where: { state: 'PENDING' } })).toBe(0);
    expect(receiver.received).toHaveLength(sent);
  });

  it('waits while its tenant is inactive', async () => {
    const test = await start();
    const { api, workspace, endpoint, receiver, requestsAfter } = test;
    await test.emitOneByOne(1);
    await api.prisma.webhookSubscription.updateMany({ data: { restUntil: new Date(test.clock.time + second) } });
    await test.emit(2);
    await deactivateTenant(api.prisma, String(workspace.tenantId));
    endpoint.status = 200;
    expect(await requestsAfter(2 * day)).toBe(0);
    expect(receiver.received).toHaveLength(1);

    await api.prisma.tenant.update({ where: { id: workspace.tenantId }, data: { active: true } });
    await test.advance(second);
    await expectAllDelivered(test, 3);
    expect(receiver.received).toHaveLength(4);
  });
});

it('an attempt is settled while an event for the same subscription is not yet committed', async () => {
  const test = await start({ worker: false });
  const payload = await test.workspace.createTicket();
  const claimed = await claim(test);
  await transaction(test.workspace.context, async (context) => {
    await emit(context, 'ticket.created', { payload });
    // Were one to wait for the other, both could: a ticket would not be made because of its webhooks.
    const settling = settleAs(test, [[200, ...claimed]]).then(() => 'settled');
    expect(await Promise.race([settling, sleep(3 * second, 'waiting')])).toBe('settled');
  });
});

it('a subscription outlives the key that made it', async () => {
  const test = await start();
  const { api, workspace } = test;
  test.endpoint.status = 200;
  const other = await receive();
  const key = await workspace.createKey({ scopes: ['webhooks:manage'] });
  const body = { url: other.url, secret: 'of another key', events: ['ticket.created'] };
  const made = await api.call({ method: 'POST', path: '/api/public/v1/webhooks', key, body });
  expect(made.status, made.text).toBe(201);
  await api.prisma.apiKey.updateMany({
    where: { scopes: { equals: ['webhooks:manage'] } },
    data: { revokedAt: new Date(0) },
  });
  await eventually(async () => {
    expect((await api.call({ method: 'GET', path: '/api/public/v1/webhooks', key })).status).toBe(401);
  });
  await test.emit(1);
  await eventually(() => expect(other.received).toHaveLength(1));
});

describe('a worker that is lost', () => {
  const lease = 30 * second;

  it('is replaced when its lease is over, and its attempt recorded as lost', async () => {
    const test = await start({ worker: false });
    const { clock, settled, id } = test;
    test.endpoint.status = 200;
    await test.emit(1);
    const startedAt = new Date(clock.time);
    expect(await claim(test)).toMatchObject([{ attempt: 1, trial: false }]);
    await test.startWorker();
    await test.advance(lease - 1);
    expect(test.receiver.received).toHaveLength(0);
    await test.advance(1);
    await expectAllDelivered(test, 1);
    const [delivery] = await settled(id);
    expect(delivery).toMatchObject({ attempts: 2 });
    expect(delivery?.history).toMatchObject([
      { number: 1, startedAt, durationMs: lease, status: null, error: 'the worker was lost', answer: null },
      { number: 2, startedAt: new Date(clock.time), status: 200, error: null },
    ]);
    expect(test.receiver.received.map(({ headers }) => headers['x-service-attempt'])).toEqual(['2']);
  });

  it('does not keep an endpoint that it was trying from being tried again', async () => {
    const test = await start({ worker: false });
    test.endpoint.status = 200;
    await test.emit(3);
    await test.api.prisma.webhookSubscription.updateMany({ data: { restUntil: new Date(test.clock.time), rests: 1 } });
    expect(await claim(test)).toMatchObject([{ attempt: 1, trial: true }]);
    expect(await claim(test)).toEqual([]);
    await test.startWorker();
    await test.advance(lease - 1);
    expect(test.receiver.received).toEqual([]);
    await test.advance(1);
    await test.advance(second);
    await expectAllDelivered(test, 3);
  });

  it('changes nothing when it comes back', async () => {
    const test = await start({ worker: false });
    const { api, clock, id, row } = test;
    await test.emit(2);
    const late = await claim(test);
    clock.time += lease;
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
    // Both in one batch: only who holds the claim counts.
    await settleAs(test, [
      [410, ...late],
      [200, ...current],
    ]);
    const after = await stored();
    expect(after.deliveries.map(({ state, history }) => [state, history.length])).toEqual(
      Array(2).fill(['DELIVERED', 2]),
    );
    expect(after.subscription).toMatchObject({ failures: 0, pausedAt: null, lastFailureAt: null });
    // And settled is settled.
    await settleAs(test, [[500, ...current]]);
    expect(await stored()).toEqual(after);
    expect(await test.health(id)).toMatchObject({ lastSuccessAt: test.iso(), lastFailureAt: null });
  });
});

describe('retention', () => {
  it('prunes what was settled 30 days ago, and never what is pending', async () => {
    const test = await start({ worker: false });
    const { api, clock, workspace, id } = test;
    const { prisma } = api;
    await test.emit(8);
    // The last event goes to a second subscription too.
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
      const settledAt = days === null ? null : new Date(clock.time - days * day);
      await prisma.delivery.updateMany({ where: { id: delivery.id }, data: { state, settledAt } });
      const attempt = { number: 1, startedAt: new Date(0), durationMs: 1, status: 500 };
      await prisma.deliveryAttempt.create({
        data: { tenantId: delivery.tenantId, deliveryId: delivery.id, ...attempt },
      });
    }
    const longAgo = new Date(clock.time - 400 * day);
    await prisma.event.updateMany({ data: { createdAt: longAgo } });
    await prisma.delivery.updateMany({ data: { createdAt: longAgo, nextAttemptAt: longAgo } });

    // A batch of two takes more than one round.
    expect(await pruneSettled({ prisma, now: () => new Date(clock.time) }, 2)).toBe(4);
    const kept = deliveries.filter((_, index) => settledAgo[index]?.[2]);
    const left = await prisma.delivery.findMany({ where: { subscriptionId: id }, orderBy: { id: 'asc' } });
    expect(left.map((each) => each.id)).toEqual(kept.map((each) => each.id));
    expect(await prisma.deliveryAttempt.count()).toBe(kept.length);
    // The event of a delivery that waits elsewhere stays.
    const [waiting] = await prisma.delivery.findMany({ where: { subscriptionId: second } });
    const events = await prisma.event.findMany({ orderBy: { id: 'asc' } });
    expect(events.map((event) => event.id)).toEqual([...kept.map(({ eventId }) => eventId), waiting?.eventId]);

    // And what has waited for longer than anything is kept is delivered nevertheless.
    test.endpoint.status = 200;
    await test.startWorker();
    await eventually(() => expect(test.receiver.received).toHaveLength(2));
  });

  it('is scheduled, and done by a worker', async () => {
    const test = await start();
    const { api, clock } = test;
    await test.emit(1);
    await test.settled(test.id);
    await api.prisma.delivery.updateMany({ data: { state: 'DELIVERED', settledAt: new Date(clock.time - 31 * day) } });
    expect(await api.boss.getSchedules('webhook-retention')).toMatchObject([{ cron: expect.any(String) }]);
    await api.boss.send('webhook-retention', {});
    await eventually(async () => expect(await api.prisma.delivery.count()).toBe(0));
  });

  it.each<[string, (test: Started) => Promise<unknown>]>([
    [
      'outlived what pg-boss keeps',
      ({ api }) =>
        execute(
          api.databaseUrl,
          `UPDATE pgboss.job SET created_on = created_on - interval '400 days',
             start_after = start_after - interval '400 days', keep_until = keep_until - interval '400 days'`,
        ),
    ],
    ['was taken by a worker that is gone', ({ api }) => api.services.lanes.take(10)],
    [
      'was taken by a worker that is gone, and has expired since',
      async ({ api }) => {
        await api.services.lanes.take(10);
        await execute(
          api.databaseUrl,
          `UPDATE pgboss.job SET started_on = started_on - interval '2 hours', created_on = created_on - interval '2 hours'`,
        );
      },
    ],
  ])('loses nothing when a job %s', async (_, age) => {
    const test = await start({ worker: false });
    const { api } = test;
    test.endpoint.status = 200;
    await test.emit(3);
    const jobs = () => api.boss.findJobs('webhook-lanes');
    expect(await jobs()).toHaveLength(1);
    await age(test);
    await api.boss.supervise();
    expect((await jobs()).filter(({ state }) => state === 'created')).toEqual([]);
    // No event comes and no clock moves: the sweep finds it.
    await test.startWorker();
    await expectAllDelivered(test, 3);
    expect(test.receiver.received).toHaveLength(3);
  });
});
