import { setTimeout as sleep } from 'node:timers/promises';
import { transaction } from '@itsm-api/server/context.ts';
import { deactivateTenant } from '@itsm-api/server/resources/tenants/queries.ts';
import { activateWebhook } from '@itsm-api/server/resources/webhooks/queries.ts';
import { type ClaimedDelivery, claimDue } from '@itsm-api/server/webhooks/claim.ts';
import { emit } from '@itsm-api/server/webhooks/emit.ts';
import { cancelPending } from '@itsm-api/server/webhooks/pending.ts';
import { pruneSettled } from '@itsm-api/server/webhooks/retention.ts';
import { settle } from '@itsm-api/server/webhooks/settle.ts';
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
  // The next test has the same pg-boss, which else would see to its queues once a minute.
  await execute(
    sender.api.databaseUrl,
    `TRUNCATE delivery_attempts, deliveries, events, webhook_replays, webhook_subscriptions, pgboss.job;
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
    ref: { tenantId: workspace.tenantId, subscriptionId: BigInt(id) },
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
    /** Lets time pass; resolves to how many requests came of it. */
    async requestsAfter(milliseconds: number) {
      const before = receiver.received.length;
      await sender.advance(milliseconds);
      await sender.settled(id);
      return receiver.received.length - before;
    },
    /** Has the circuit be open for so much longer, as long as the test may take. */
    async holdOpen(milliseconds: number) {
      const ends = `now() + interval '${milliseconds} milliseconds'`;
      await execute(sender.api.databaseUrl, `UPDATE webhook_subscriptions SET open_until = ${ends} WHERE id = ${id}`);
    },
    health: (subscriptionId: number) => sender.health(subscriptionId, workspace),
    row: () => sender.api.prisma.webhookSubscription.findFirstOrThrow({ where: { id } }),
    /** For how long the circuit opened at the last failure. */
    async opening() {
      const { openUntil, lastFailureAt } = await sender.api.prisma.webhookSubscription.findFirstOrThrow({
        where: { id },
      });
      return Number(openUntil) - Number(lastFailureAt);
    },
  };
}

type Started = Awaited<ReturnType<typeof start>>;

/** Claims what is due as a worker does, which then does nothing with it. */
function claim({ api, ref }: Started): Promise<ClaimedDelivery[]> {
  return claimDue(api.prisma, [{ ...ref, slots: 16 }]);
}

/** Settles attempts as a worker does that was answered with these statuses. */
async function settleAs({ api }: Started, answers: [status: number, ...claimed: ClaimedDelivery[]][]): Promise<void> {
  const attempt = { durationMs: 1, error: null, answer: null, publicAnswer: null, retryAfter: undefined };
  const settlements = answers.flatMap(([status, ...claimed]) =>
    claimed.map((delivery) => ({ delivery, outcome: { ...attempt, status, delivered: status === 200 } })),
  );
  await settle(api.prisma, settlements);
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

describe('an endpoint that fails', { timeout: 60_000 }, () => {
  it('has its circuit opened after five failures in a row, longer each time, and one delivery is tried after it', async () => {
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

    for (const opening of [5, 10, 20, 40, 80, 160, 300, 300]) {
      expect(await test.opening()).toBe(opening * second);
      await test.holdOpen(minute);
      expect(await requestsAfter(0), `in the ${opening} s`).toBe(0);
      expect(await requestsAfter(minute), `after the ${opening} s`).toBe(1);
    }
    // What waits behind has used up nothing but the probes: those ten were attempted, and of the others one at a time.
    const deliveries = await settled(id);
    const attempts = deliveries.reduce((sum, delivery) => sum + delivery.attempts, 0);
    expect(attempts).toBe(10 + 8);
    expect(deliveries.slice(10).every((delivery) => delivery.attempts <= 1)).toBe(true);

    endpoint.status = 200;
    await test.holdOpen(minute);
    expect(await requestsAfter(0)).toBe(0);
    expect(await requestsAfter(minute)).toBeGreaterThanOrEqual(1);
    expect(await test.row()).toMatchObject({ failures: 0, failingSince: null, openUntil: null, openings: 0 });
    // Those that were never tried go at once. One that is still under way in an hour would be sent again.
    await eventually(async () => expect((await settled(id)).filter(({ attempts }) => attempts === 0)).toEqual([]));
    await test.advance(hour);
    await expectAllDelivered(test, 10 + waiting);

    // From the beginning again.
    endpoint.status = 500;
    await test.emitOneByOne(5);
    expect(await test.opening()).toBe(5 * second);
    expect(receiver.received).toHaveLength(10 + 8 + 24 - 1 + 5);
  });

  it('does not use up the attempts of many that wait when it begins to fail', async () => {
    const test = await start({ worker: false });
    await test.emit(150);
    await test.startWorker();
    await eventually(async () => expect((await test.row()).openUntil).not.toBeNull());
    await test.holdOpen(minute);
    const deliveries = await test.settled(test.id);
    // 16 are in flight at once, and until five are known to have failed others take their places.
    expect(deliveries.filter(({ attempts }) => attempts > 0).length).toBeLessThanOrEqual(2 * 16);
    expect(await test.requestsAfter(0)).toBe(0);
  });

  it('is tried by one of two workers when its circuit is half-open', async () => {
    const test = await start({ worker: false });
    await test.emit(20);
    for (let round = 0; round < 5; round++) {
      await test.holdOpen(0);
      const claimed = await Promise.all([claim(test), claim(test), claim(test)]);
      expect(claimed.flat()).toHaveLength(1);
    }
  });

  it('is tried at the times of the schedule, and given up after ten attempts', async () => {
    const test = await start();
    const { settled, id, receiver } = test;
    await test.emitOneByOne(1);
    const waits = [5 * second, 5 * minute, 30 * minute, 2 * hour, 5 * hour, 10 * hour, 14 * hour, 20 * hour, 24 * hour];
    for (const [index, wait] of waits.entries()) {
      const [delivery] = await settled(id);
      expect(delivery).toMatchObject({ state: 'PENDING', attempts: index + 1, settledAt: null });
      const { lastFailureAt, openUntil } = await test.row();
      const next = Number(delivery?.nextAttemptAt) - Number(lastFailureAt);
      expect(next).toBeGreaterThanOrEqual(0.8 * wait);
      expect(next).toBeLessThanOrEqual(1.2 * wait);
      const due = Math.max(Number(delivery?.nextAttemptAt), Number(openUntil)) - Date.now();
      expect(await test.requestsAfter(due - minute), `before attempt ${index + 2}`).toBe(0);
      expect(await test.requestsAfter(minute), `attempt ${index + 2}`).toBe(1);
    }
    const [delivery] = await settled(id);
    expect(delivery).toMatchObject({ state: 'EXHAUSTED', attempts: 10, settledAt: (await test.row()).lastFailureAt });
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
    const before = (await settled(id)).length;
    const paused = await test.row();
    expect(paused).toMatchObject({ active: true, pausedReason, pausedAt: paused.lastFailureAt });
    // Both age alike.
    const pausedAfter = Number(paused.pausedAt) - Number(paused.createdAt);
    await test.emit(20);
    expect(await requestsAfter(0)).toBe(0);
    for (let tries = 0; tries < 3; tries++) {
      // A plain failure leaves it paused, for the reason that it was paused for.
      endpoint.status = 500;
      expect(await test.opening()).toBe(hour);
      expect(await requestsAfter(hour - minute)).toBe(0);
      expect(await requestsAfter(minute)).toBe(1);
      const still = await test.row();
      expect(still).toMatchObject({ active: true, pausedReason });
      expect(Number(still.pausedAt) - Number(still.createdAt)).toBe(pausedAfter);
    }
    expect(await health(id)).toMatchObject({ active: true, pausedAt: expect.any(String), pausedReason });
    endpoint.status = 200;
    expect(await requestsAfter(hour - minute)).toBe(0);
    expect(await requestsAfter(minute)).toBeGreaterThanOrEqual(1);
    expect(await health(id)).toMatchObject({ pausedAt: null, pausedReason: null, lastSuccessAt: expect.any(String) });
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
    expect(await requestsAfter(5 * day - minute)).toBe(1);
    await test.emitOneByOne(1);
    expect(await health(id)).toMatchObject({ pausedAt: null, pausedReason: null });
    // The second one is tried again, and that is the failure that pauses.
    expect(await requestsAfter(minute)).toBe(1);
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
    const { pausedAt, lastFailureAt, lastSuccessAt } = await test.row();
    expect(pausedAt).toBeNull();
    expect(Number(lastFailureAt)).toBeGreaterThan(Number(lastSuccessAt));
  });
});

describe('what nobody may receive any more', () => {
  it('is cancelled after the DELETE of its subscription, also what is in flight', async () => {
    const test = await start({ worker: false });
    const { api, workspace, settled } = test;
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
      data: { openUntil: new Date(Date.now() + hour) },
    });
    await test.emit(3);

    expect((await workspace.call('DELETE', `/webhooks/${id}`)).status).toBe(200);
    const states = () => api.prisma.delivery.findMany({ where: { subscriptionId: id }, include: { history: true } });
    const cancelled = { state: 'CANCELLED', settledAt: expect.any(Date), history: [] };
    await eventually(async () => expect(await states()).toEqual(Array(4).fill(expect.objectContaining(cancelled))));
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

  it('is left to the workers by the DELETE, which touches no delivery, however many there are', async () => {
    const waiting = 20_000;
    const test = await start({ worker: false });
    const { api, workspace, id, receiver } = test;
    test.endpoint.status = 200;
    await execute(
      api.databaseUrl,
      `INSERT INTO events (tenant_id, public_id, type, body)
         SELECT ${workspace.tenantId}, 'evt_many_' || n, 'ticket.created', '{}' FROM generate_series(1, ${waiting}) n;
       INSERT INTO deliveries (tenant_id, subscription_id, event_id)
         SELECT tenant_id, ${id}, id FROM events WHERE public_id LIKE 'evt_many_%'`,
    );
    await withTrigger('BEFORE UPDATE ON deliveries', "RAISE 'refused'", async () => {
      expect((await workspace.call('DELETE', `/webhooks/${id}`)).status).toBe(200);
    });
    const count = (state: string) =>
      api.prisma.delivery.count({ where: { subscriptionId: id, state: state as 'PENDING' } });
    expect(await count('PENDING')).toBe(waiting);
    // Not one is claimed from then on.
    expect(await claim(test)).toEqual([]);

    const other = await receive();
    await workspace.createWebhook({ url: other.url });
    await test.startWorker();
    await eventually(async () => expect(await count('CANCELLED')).toBeGreaterThan(0));
    await test.emit(1);
    await eventually(() => expect(other.received).toHaveLength(1));
    await eventually(async () => expect(await count('CANCELLED')).toBe(waiting), 18_000);
    expect(receiver.received).toEqual([]);
  });

  it('is cancelled in batches that each stand for themselves', async () => {
    const test = await start({ worker: false });
    await test.emit(5);
    await test.workspace.call('DELETE', `/webhooks/${test.id}`);
    expect(await cancelPending(test.api.prisma, test.ref, 2)).toBe(2);
    const states = async () => (await test.settled(test.id)).map(({ state }) => state).toSorted();
    expect(await states()).toEqual(['CANCELLED', 'CANCELLED', 'PENDING', 'PENDING', 'PENDING']);
    expect(await cancelPending(test.api.prisma, test.ref, 5)).toBe(3);
    expect(await cancelPending(test.api.prisma, test.ref, 5)).toBe(0);
  });

  it('is cancelled no more once its subscription is active again', async () => {
    const test = await start({ worker: false });
    await test.emit(3);
    await test.workspace.call('DELETE', `/webhooks/${test.id}`);
    expect(await cancelPending(test.api.prisma, test.ref, 2)).toBe(2);
    await activateWebhook(test.workspace.context, test.id);
    await test.emit(1);
    expect(await cancelPending(test.api.prisma, test.ref, 5)).toBe(0);
  });

  it('does not hold up attempts that are being settled, nor does the DELETE', async () => {
    const test = await start({ worker: false });
    const { api, workspace } = test;
    await test.emit(1);
    const claimed = await claim(test);
    // The settlement comes while the DELETE has deactivated the subscription and is not yet committed.
    const lingering = 'AFTER UPDATE OF active ON webhook_subscriptions';
    await withTrigger(lingering, 'PERFORM pg_sleep(3); RETURN NULL', async () => {
      let deleted: number | undefined;
      const deleting = workspace.call('DELETE', `/webhooks/${test.id}`).then(({ status }) => {
        deleted = status;
      });
      await eventually(async () => {
        const [row] = await api.prisma.$queryRaw<[{ sleeping: bigint }]>`
          SELECT count(*) AS sleeping FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND datname = current_database()`;
        expect(row.sleeping).toBe(1n);
      });
      const settlement = {
        status: 500,
        delivered: false,
        durationMs: 1,
        error: null,
        answer: null,
        publicAnswer: null,
        retryAfter: undefined,
      };
      const settlements = claimed.map((delivery) => ({ delivery, outcome: settlement }));
      const { settled, unrecorded } = await settle(api.prisma, settlements);
      expect(settled).toMatchObject([{ state: 'PENDING' }]);
      expect(deleted).toBeUndefined();
      // What it told of the subscription is kept for later.
      expect(unrecorded).toMatchObject([{ delivered: false }]);
      await deleting;
      expect(deleted).toBe(200);
      expect(await settle(api.prisma, [], unrecorded)).toEqual({ settled: [], unrecorded: [] });
    });
    expect(await test.row()).toMatchObject({ active: false, failures: 1 });
    expect(await cancelPending(api.prisma, test.ref, 10)).toBe(1);
    expect(await test.settled(test.id)).toMatchObject([{ state: 'CANCELLED' }]);
  });

  it('is cancelled when it was emitted beside the DELETE, or stays unsent', async () => {
    const test = await start();
    const { api, workspace, receiver } = test;
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
    await eventually(async () => expect(await api.prisma.delivery.count({ where: { state: 'PENDING' } })).toBe(0));
    expect(receiver.received).toHaveLength(sent);
  });

  it('waits while its tenant is inactive', async () => {
    const test = await start();
    const { api, workspace, endpoint, receiver, requestsAfter } = test;
    await test.emitOneByOne(1);
    await test.holdOpen(minute);
    await test.emit(2);
    await deactivateTenant(api.prisma, String(workspace.tenantId));
    endpoint.status = 200;
    expect(await requestsAfter(2 * day)).toBe(0);
    expect(receiver.received).toHaveLength(1);

    await api.prisma.tenant.update({ where: { id: workspace.tenantId }, data: { active: true } });
    await test.advance(minute);
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
    const { settled, id } = test;
    test.endpoint.status = 200;
    await test.emit(1);
    const [claimed, ...others] = await claim(test);
    expect(others).toEqual([]);
    expect(claimed).toMatchObject({ attempt: 1, probe: false });
    const row = await test.api.prisma.delivery.findFirstOrThrow();
    // Both are the same moment of the database, which stores it to the nearest millisecond.
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

  it('does not keep an endpoint that it was trying from being tried again', async () => {
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

  it('changes nothing when it comes back', async () => {
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
    expect(await test.health(id)).toMatchObject({ lastSuccessAt: expect.any(String), lastFailureAt: null });
  });
});

describe('retention', () => {
  it('prunes what was settled 30 days ago, and never what is pending', async () => {
    const test = await start({ worker: false });
    const { api, workspace, id } = test;
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

    // A batch of two takes more than one round.
    expect(await pruneSettled(prisma, 2)).toBe(4);
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
    const { api } = test;
    await test.emit(1);
    await test.settled(test.id);
    await api.prisma.delivery.updateMany({ data: { state: 'DELIVERED', settledAt: new Date(Date.now() - 31 * day) } });
    expect(await api.boss.getSchedules('webhook-retention')).toMatchObject([{ cron: expect.any(String) }]);
    await api.boss.send('webhook-retention', {});
    await eventually(async () => expect(await api.prisma.delivery.count()).toBe(0));
  });

  it('that fails is told', async () => {
    const test = await start();
    const { api } = test;
    await test.emit(1);
    await test.settled(test.id);
    await api.prisma.delivery.updateMany({ data: { state: 'DELIVERED', settledAt: new Date(Date.now() - 31 * day) } });
    const told: string[] = [];
    const tell = ({ message }: Error) => told.push(message);
    api.boss.on('error', tell);
    await withTrigger('BEFORE DELETE ON deliveries FOR EACH ROW', "RAISE 'not today'", async () => {
      await api.boss.send('webhook-retention', {});
      await eventually(() => expect(told).toEqual([expect.stringMatching(/webhook-retention failed: .*not today/s)]));
    });
    api.boss.off('error', tell);
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
    ['was taken by a worker that is gone', ({ api }) => api.services.dispatchJobs.take(10)],
    [
      'was taken by a worker that is gone, and has expired since',
      async ({ api }) => {
        await api.services.dispatchJobs.take(10);
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
    const jobs = () => api.boss.findJobs('webhook-dispatch');
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
