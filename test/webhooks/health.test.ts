import { describe, expect, it } from 'vitest';
import { eventually } from '../support/sender.ts';
import { claim, expectAllDelivered, type Started, start, useSender } from '../support/sending.ts';

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

useSender();

describe('failing endpoint', () => {
  it('opens the circuit after five consecutive failures and doubles the open time after failed probes', async () => {
    const test = await start();
    const { endpoint, receiver, requestsAfter, settled, id } = test;
    // A successful attempt between the failures resets the failure count.
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
    // The worker made ten attempts before the circuit opened, and one probe after each open time.
    const deliveries = await settled(id);
    const attempts = deliveries.reduce((sum, delivery) => sum + delivery.attempts, 0);
    expect(attempts).toBe(10 + 8);
    expect(deliveries.slice(10).every((delivery) => delivery.attempts <= 1)).toBe(true);

    endpoint.status = 200;
    await test.holdOpen(minute);
    expect(await requestsAfter(0)).toBe(0);
    expect(await requestsAfter(minute)).toBeGreaterThanOrEqual(1);
    expect(await test.row()).toMatchObject({ failures: 0, failingSince: null, openUntil: null, openings: 0 });
    // Waits for the first attempt of every delivery. Otherwise, an attempt in progress would count as lost when the
    // test moves the time by an hour.
    await eventually(async () => expect((await settled(id)).filter(({ attempts }) => attempts === 0)).toEqual([]));
    await test.advance(hour);
    await expectAllDelivered(test, 10 + waiting);

    // A success resets the open time, so after the next failures the circuit opens for the shortest time.
    endpoint.status = 500;
    await test.emitOneByOne(5);
    expect(await test.opening()).toBe(5 * second);
    expect(receiver.received).toHaveLength(10 + 8 + 24 - 1 + 5);
  });

  it('attempts at most 32 of 150 pending deliveries before the circuit opens', async () => {
    const test = await start({ worker: false });
    await test.emit(150);
    await test.startWorker();
    await eventually(async () => expect((await test.row()).openUntil).not.toBeNull());
    await test.holdOpen(minute);
    const deliveries = await test.settled(test.id);
    // The worker sends at most 16 deliveries concurrently. Until it records five failures, it starts a new delivery
    // when a delivery ends.
    expect(deliveries.filter(({ attempts }) => attempts > 0).length).toBeLessThanOrEqual(2 * 16);
    expect(await test.requestsAfter(0)).toBe(0);
  });

  it('claims only one probe for a half-open circuit if three claims run concurrently', async () => {
    const test = await start({ worker: false });
    await test.emit(20);
    for (let round = 0; round < 5; round++) {
      await test.holdOpen(0);
      const claimed = await Promise.all([claim(test), claim(test), claim(test)]);
      expect(claimed.flat()).toHaveLength(1);
    }
  });

  it('retries a delivery according to the retry schedule and marks it EXHAUSTED after ten attempts', async () => {
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

describe('paused subscription', () => {
  /**
   * Checks that the subscription is paused, that the worker sends one probe per hour while events wait, and that a
   * successful probe resumes the deliveries.
   */
  async function expectPaused(test: Started, pausedReason: string): Promise<void> {
    const { settled, id, endpoint, requestsAfter, health } = test;
    const before = (await settled(id)).length;
    const paused = await test.row();
    expect(paused).toMatchObject({ active: true, pausedReason, pausedAt: paused.lastFailureAt });
    // `advance` moves `pausedAt` and `createdAt` back by the same duration, so their difference must not change.
    const pausedAfter = Number(paused.pausedAt) - Number(paused.createdAt);
    await test.emit(20);
    expect(await requestsAfter(0)).toBe(0);
    for (let tries = 0; tries < 3; tries++) {
      // A failed probe doesn't change the pause or the pause reason.
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

  it('pauses a subscription after a 410 response until an hourly probe succeeds', async () => {
    const test = await start();
    test.endpoint.status = 410;
    await test.emitOneByOne(1);
    await expectPaused(test, 'The endpoint returned 410 Gone.');
  });

  it('pauses a subscription after five days without a success', async () => {
    const test = await start();
    const { requestsAfter, health, id } = test;
    await test.emitOneByOne(1);
    expect(await requestsAfter(5 * day - minute)).toBe(1);
    await test.emitOneByOne(1);
    expect(await health(id)).toMatchObject({ pausedAt: null, pausedReason: null });
    // The failure of the second attempt of the second delivery pauses the subscription.
    expect(await requestsAfter(minute)).toBe(1);
    await expectPaused(test, 'Every attempt failed for 5 days.');
  });

  it('does not pause a subscription that had a success between failures', async () => {
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

describe('recovered receiver', () => {
  const longAgo = '2026-11-20T10:00:00Z';

  /**
   * Creates a subscription with a circuit that is open for an hour. Five deliveries have failed, and three deliveries
   * have no attempt yet.
   */
  async function startOpen() {
    const test = await start();
    await test.emitOneByOne(5);
    await test.holdOpen(hour);
    await test.emit(3);
    const call = (path: string, body?: object) => test.workspace.call('POST', path, body);
    return { ...test, call, before: test.receiver.received.length };
  }

  it('reports the health CIRCUIT_OPEN and the time of the next attempt for a failing webhook', async () => {
    const { health, id, row } = await startOpen();
    const nextAttemptAt = (await row()).openUntil?.toISOString();
    expect(await health(id)).toMatchObject({ health: 'CIRCUIT_OPEN', nextAttemptAt, pausedAt: null });
  });

  it('delivers a replay and closes the circuit if the endpoint has recovered', async () => {
    const test = await startOpen();
    test.endpoint.status = 200;
    const answer = await test.call(`/webhooks/${test.id}/replay`, { since: longAgo, states: ['PENDING'] });
    expect(answer.body.data).toMatchObject({ matching: 8, paused: false });
    await expectAllDelivered(test, 8);
    expect(await test.health(test.id)).toMatchObject({ health: 'HEALTHY', nextAttemptAt: null });
  });

  it('sends only one replayed delivery while the circuit is open and the endpoint still fails', async () => {
    const test = await startOpen();
    await test.call(`/webhooks/${test.id}/replay`, { since: longAgo });
    await eventually(() => expect(test.receiver.received).toHaveLength(test.before + 1));
    await test.settled(test.id);
    expect(await test.health(test.id)).toMatchObject({ health: 'CIRCUIT_OPEN', nextAttemptAt: expect.any(String) });
    expect(await test.requestsAfter(0)).toBe(0);
  });

  it('sends a replayed delivery before all pending deliveries', async () => {
    const test = await startOpen();
    test.endpoint.status = 200;
    const last = (await test.settled(test.id)).at(-1);
    await test.call(`/deliveries/${last?.id}/replay`);
    await eventually(() => expect(test.receiver.received.length).toBeGreaterThan(test.before));
    expect(test.receiver.received[test.before]?.headers['x-service-delivery']).toBe(String(last?.id));
  });

  it('sends a test event before all pending deliveries and closes the circuit after a success', async () => {
    const test = await startOpen();
    test.endpoint.status = 200;
    const { body } = await test.call(`/webhooks/${test.id}/test`);
    await eventually(() => expect(test.receiver.received.length).toBeGreaterThan(test.before));
    expect(test.receiver.received[test.before]?.headers['webhook-id']).toBe(body.data.eventId);
    await eventually(async () => expect(await test.row()).toMatchObject({ failures: 0, openUntil: null }));
  });

  it('sends no replays or test events to the endpoint of a subscription that a user paused', async () => {
    const test = await startOpen();
    await test.workspace.call('PATCH', `/webhooks/${test.id}`, { paused: true });
    const answer = await test.call(`/webhooks/${test.id}/replay`, { since: longAgo, states: ['PENDING'] });
    expect(answer.body.data).toMatchObject({ matching: 8, paused: true });
    await test.call(`/webhooks/${test.id}/test`);
    await eventually(async () => {
      const pending = await test.settled(test.id);
      expect(pending.filter(({ attempts }) => attempts === 0)).toHaveLength(9);
    });
    expect(await test.requestsAfter(day)).toBe(0);
    expect(await test.health(test.id)).toMatchObject({ health: 'PAUSED', nextAttemptAt: null });
  });
});
