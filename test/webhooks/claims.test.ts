import { type ClaimedDelivery, claimDue } from '@itsm-api/server/webhooks/delivery/claim.ts';
import type { SubscriptionSignal } from '@itsm-api/server/webhooks/delivery/record-health.ts';
import { type DeliveryResult, recordResults } from '@itsm-api/server/webhooks/delivery/record-results.ts';
import pg from 'pg';
import { describe, expect } from 'vitest';
import { execute } from '../support/database.ts';
import { api, itWithApi as it } from '../support/fixture.ts';
import { createWorkspace } from '../support/workspace.ts';

/*
 * Tests without a running worker how workers claim deliveries and record results. health.test.ts tests a running
 * worker.
 */
const second = 1000;
const lease = 30 * second;

/**
 * Creates a workspace with a subscription. The subscription has `due` deliveries, which are due in the order of their
 * ids.
 */
async function subscribe(due: number) {
  const workspace = await createWorkspace(api);
  const { id } = await workspace.createWebhook();
  for (let i = 0; i < due; i++) await workspace.createTicket();
  const ref = { tenantId: workspace.tenantId, subscriptionId: BigInt(id) };
  const inDatabase = (sql: string) => execute(api.databaseUrl, sql);
  await inDatabase(
    `UPDATE deliveries SET next_attempt_at = now() - interval '1 hour' + id * interval '1 millisecond'
     WHERE subscription_id = ${id}`,
  );
  return {
    workspace,
    ref,
    inDatabase,
    /** Claims due deliveries and returns them in the order of their ids. */
    claim: async (slots = 16) =>
      (await claimDue(api.prisma, [{ ...ref, slots }])).sort((a, b) => Number(a.id) - Number(b.id)),
    change: (set: string) => inDatabase(`UPDATE webhook_subscriptions SET ${set} WHERE id = ${id}`),
    row: () => api.prisma.webhookSubscription.findFirstOrThrow({ where: { id } }),
    deliveries: () =>
      api.prisma.delivery.findMany({
        where: { subscriptionId: id },
        include: { history: { orderBy: { number: 'asc' } } },
        orderBy: { id: 'asc' },
      }),
  };
}

type Subscribed = Awaited<ReturnType<typeof subscribe>>;

const openFor = (interval: string) => `open_until = now() + interval '${interval}'`;

/** Returns the delivery result that a worker records for a response. */
function toResult(delivery: ClaimedDelivery, status: number, retryAfter?: number): DeliveryResult {
  const outcome = { durationMs: 7, error: null, answer: null, publicAnswer: null, retryAfter };
  return { delivery, outcome: { ...outcome, status, delivered: status === 200 } };
}

describe('claimDue', () => {
  it("claims the deliveries that have been due the longest, within each subscription's free slots", async () => {
    const [first, second] = [await subscribe(3), await subscribe(3)];
    const claimed = await claimDue(api.prisma, [
      { ...first.ref, slots: 2 },
      { ...second.ref, slots: 1 },
    ]);
    const of = ({ ref }: Subscribed) => claimed.filter(({ tenantId }) => tenantId === ref.tenantId);
    const due = async (test: Subscribed, count: number) => (await test.deliveries()).slice(0, count);
    for (const [test, count] of [[first, 2] as const, [second, 1] as const]) {
      const ids = of(test).map(({ id }) => id);
      expect(ids.sort()).toEqual((await due(test, count)).map(({ id }) => id));
    }
    const { url, secret } = await first.row();
    const [delivery] = await first.deliveries();
    const expected = { ...first.ref, attempt: 1, probe: false, url, secret: Buffer.from(secret), previousSecret: null };
    expect(of(first).find(({ id }) => id === delivery?.id)).toMatchObject({ ...expected, claim: delivery?.claim });
    // The function `subscribe` sets the due time of the deliveries to one hour ago.
    for (const { dueSince } of claimed) {
      expect((performance.now() - dueSince) / 60_000).toBeGreaterThan(59);
      expect((performance.now() - dueSince) / 60_000).toBeLessThan(62);
    }
    expect(await first.claim()).toHaveLength(1);
    expect(await first.claim()).toEqual([]);
  });

  it('requests slots at the target host only for subscriptions that can receive deliveries', async () => {
    const all = await Promise.all(Array.from({ length: 6 }, () => subscribe(12)));
    const [closed, open, halfOpen, unproven, used, inactive] = all as [
      Subscribed,
      Subscribed,
      Subscribed,
      ...Subscribed[],
    ];
    await closed.change('first_succeeded_at = now()');
    await open.change(`first_succeeded_at = now(), ${openFor('1 minute')}`);
    await halfOpen.change(`first_succeeded_at = now(), ${openFor('-1 minute')}`);
    await used?.claim(10);
    await inactive?.change('active = false');
    const requested: unknown[] = [];
    const requests = all.map(({ ref }) => ({ ...ref, slots: 16 }));
    const claimed = await claimDue(api.prisma, requests, ({ subscriptionId, slots }) => {
      requested.push([subscriptionId, slots]);
      return slots - 1;
    });
    const idOf = (test?: Subscribed) => test?.ref.subscriptionId;
    expect(requested).toEqual([
      [idOf(closed), 16],
      [idOf(halfOpen), 1],
      [idOf(unproven), 10],
    ]);
    const counts = all.map((test) => claimed.filter(({ subscriptionId }) => subscriptionId === idOf(test)).length);
    expect(counts).toEqual([12, 0, 0, 9, 0, 0]);
  });

  it('claims no deliveries of inactive tenants, inactive subscriptions or open circuits', async () => {
    const [open, inactive, gone] = [await subscribe(1), await subscribe(1), await subscribe(1)];
    await open.change(openFor('1 minute'));
    await inactive.change('active = false');
    await gone.inDatabase(`UPDATE tenants SET active = false WHERE id = ${gone.ref.tenantId}`);
    for (const test of [open, inactive, gone]) expect(await test.claim()).toEqual([]);
  });

  it("claims only one probe for a half-open circuit until the probe's lease ends", async () => {
    const [closed, halfOpen, idle] = [await subscribe(2), await subscribe(2), await subscribe(0)];
    for (const test of [halfOpen, idle]) await test.change(openFor('-1 minute'));
    const [before, idleBefore] = [await halfOpen.row(), await idle.row()];
    const claimed = await claimDue(
      api.prisma,
      [closed, halfOpen, idle].map(({ ref }) => ({ ...ref, slots: 16 })),
    );
    const probes = (test: Subscribed) =>
      claimed.filter(({ tenantId }) => tenantId === test.ref.tenantId).map(({ probe }) => probe);
    expect([closed, halfOpen, idle].map(probes)).toEqual([[false, false], [true], []]);
    expect(Number((await halfOpen.row()).openUntil) - Number(before.openUntil)).toBeGreaterThanOrEqual(60_000 + lease);
    expect(await halfOpen.claim()).toEqual([]);
    // If no delivery is due, claiming returns no probe and must not change the circuit.
    expect(await idle.row()).toEqual(idleBefore);
  });

  it('records an attempt as lost only after the claim expires', async () => {
    const test = await subscribe(2);
    const [lost] = await test.claim(1);
    await test.inDatabase(`UPDATE deliveries SET next_attempt_at = now() - interval '1 second' WHERE id = ${lost?.id}`);
    const claimed = await test.claim();
    expect(claimed.map(({ attempt }) => attempt).sort()).toEqual([1, 2]);
    const error = { number: 1, durationMs: lease, status: null, error: 'the worker was lost' };
    expect((await test.deliveries()).map(({ history }) => history)).toMatchObject([[error], []]);
  });

  it('does not count lost attempts toward the maximum number of delivery attempts', async () => {
    const test = await subscribe(1);
    await test.change('first_succeeded_at = now()');
    const makeDue = () => test.inDatabase("UPDATE deliveries SET next_attempt_at = now() - interval '1 second'");
    for (let lost = 0; lost < 12; lost++) {
      await test.claim();
      await makeDue();
    }
    const states = [];
    for (let attempts = 0; attempts < 10; attempts++) {
      const [delivery] = (await test.claim()) as [ClaimedDelivery];
      const { settled } = await recordResults(api.prisma, [toResult(delivery, 500)]);
      const [{ state, nextAttemptAt }] = settled as [(typeof settled)[0]];
      states.push([state, nextAttemptAt === null ? null : Math.round((Number(nextAttemptAt) - Date.now()) / second)]);
      await test.change('open_until = NULL, failures = 0');
      await makeDue();
    }
    const [first, ...others] = states;
    expect(first?.[0]).toBe('PENDING');
    // The first retry is due after 5 s ± 20%, even though 12 attempts were lost. A second retry would be due after 5
    // minutes.
    expect(first?.[1]).toBeLessThanOrEqual(6);
    expect(others.map(([state]) => state)).toEqual([...Array(8).fill('PENDING'), 'EXHAUSTED']);
    expect(await test.deliveries()).toMatchObject([{ attempts: 22, lost: 12, history: { length: 22 } }]);
  });
});

describe('recordResults', () => {
  it('records the results of delivered, failed and exhausted deliveries', async () => {
    const test = await subscribe(4);
    const [first, second, third, last] = (await test.claim()) as [
      ClaimedDelivery,
      ClaimedDelivery,
      ClaimedDelivery,
      ClaimedDelivery,
    ];
    const { settled, unrecorded } = await recordResults(api.prisma, [
      toResult(first, 200),
      toResult(second, 500),
      toResult(third, 503, 60_000),
      toResult({ ...last, attempt: 10 }, 500),
    ]);
    expect(unrecorded).toEqual([]);
    expect(settled.map(({ state }) => state)).toEqual(['DELIVERED', 'PENDING', 'PENDING', 'EXHAUSTED']);
    expect(settled.map(({ settledAt }) => settledAt !== null)).toEqual([true, false, false, true]);
    const wait = (index: number) => Number(settled[index]?.nextAttemptAt) - Number(settled[0]?.settledAt);
    expect(wait(1)).toBeGreaterThanOrEqual(4 * 1000);
    expect(wait(1)).toBeLessThanOrEqual(6 * 1000);
    expect(wait(2)).toBe(60_000);
    const rows = new Map((await test.deliveries()).map((row) => [row.id, row]));
    for (const { delivery, outcome, state, nextAttemptAt, settledAt } of settled) {
      const history = [{ number: delivery.attempt, durationMs: 7, status: outcome.status }];
      expect(rows.get(delivery.id)).toMatchObject({ state, claim: null, settledAt, history });
      if (nextAttemptAt !== null) expect(rows.get(delivery.id)).toMatchObject({ nextAttemptAt });
    }
    // `recordResults` records the results in order: one success and then three failures.
    expect(await test.row()).toMatchObject({ failures: 3, lastSuccessAt: settled[0]?.settledAt, pausedAt: null });
  });

  it('ignores the result of a delivery that is settled, deleted or claimed by another worker', async () => {
    const test = await subscribe(3);
    const claimed = await test.claim();
    const [foreign, done, gone] = claimed as [ClaimedDelivery, ClaimedDelivery, ClaimedDelivery];
    await test.inDatabase(
      `UPDATE deliveries SET state = 'DELIVERED', settled_at = now() WHERE id = ${done.id};
       DELETE FROM deliveries WHERE id = ${gone.id}`,
    );
    const before = { deliveries: await test.deliveries(), row: await test.row() };
    const settlements = [toResult({ ...foreign, claim: crypto.randomUUID() }, 410), toResult(done, 500)];
    expect(await recordResults(api.prisma, [...settlements, toResult(gone, 500)])).toEqual({
      settled: [],
      unrecorded: [],
    });
    expect({ deliveries: await test.deliveries(), row: await test.row() }).toEqual(before);
  });

  it('records an attempt of a cancelled delivery without changing the webhook health', async () => {
    const test = await subscribe(1);
    const [delivery] = (await test.claim()) as [ClaimedDelivery];
    await test.inDatabase(
      `UPDATE deliveries SET state = 'CANCELLED', claim = NULL, settled_at = now() - interval '1 minute'
       WHERE id = ${delivery.id}`,
    );
    const before = { row: await test.row(), settledAt: (await test.deliveries())[0]?.settledAt };
    const { settled } = await recordResults(api.prisma, [toResult(delivery, 410)]);
    expect(settled).toMatchObject([{ state: 'CANCELLED', nextAttemptAt: null }]);
    expect(await test.deliveries()).toMatchObject([
      { state: 'CANCELLED', settledAt: before.settledAt, history: [{ number: 1, status: 410 }] },
    ]);
    expect(await test.row()).toEqual(before.row);
  });

  it('pauses a subscription after a 410 and doubles the open time after a failed probe', async () => {
    const [gone, halfOpen] = [await subscribe(1), await subscribe(1)];
    await halfOpen.change(`${openFor('-1 minute')}, openings = 2, failures = 6`);
    const [first] = (await gone.claim()) as [ClaimedDelivery];
    const [probe] = (await halfOpen.claim()) as [ClaimedDelivery];
    await recordResults(api.prisma, [toResult(first, 410), toResult(probe, 500)]);
    expect(await gone.row()).toMatchObject({
      pausedReason: 'The endpoint returned 410 Gone.',
      pausedAt: expect.any(Date),
    });
    const { openUntil, lastFailureAt, openings } = await halfOpen.row();
    expect({ openings, opening: Number(openUntil) - Number(lastFailureAt) }).toEqual({ openings: 3, opening: 20_000 });
  });

  it('does not update the health of a subscription after an attempt to the previous URL', async () => {
    const moved = await subscribe(3);
    const [gone, slow, good] = (await moved.claim()) as [ClaimedDelivery, ClaimedDelivery, ClaimedDelivery];
    await moved.change("url = 'https://new.example.com/hook'");
    await recordResults(api.prisma, [toResult(gone, 410), toResult(slow, 500), toResult(good, 200)]);
    expect(await moved.row()).toMatchObject({ failures: 0, lastFailureAt: null, lastSuccessAt: null, pausedAt: null });
    const states = (await moved.deliveries()).map(({ state, history }) => [state, history.length]);
    expect(states).toEqual([
      ['PENDING', 1],
      ['PENDING', 1],
      ['DELIVERED', 1],
    ]);
  });

  it('postpones the health changes of a locked subscription to a later call', async () => {
    const [held, free] = [await subscribe(2), await subscribe(1)];
    const [first, second] = (await held.claim()) as [ClaimedDelivery, ClaimedDelivery];
    const [other] = (await free.claim()) as [ClaimedDelivery];
    const lock = new pg.Client({ connectionString: api.databaseUrl });
    await lock.connect();
    await lock.query('BEGIN');
    await lock.query('SELECT FROM webhook_subscriptions WHERE id = $1 FOR UPDATE', [held.ref.subscriptionId]);
    const { url } = await held.row();
    const sign = (gone: boolean): SubscriptionSignal => ({ ...held.ref, url, probe: false, delivered: false, gone });
    try {
      const { settled, unrecorded } = await recordResults(api.prisma, [toResult(first, 500), toResult(other, 500)]);
      expect(settled.map(({ state }) => state)).toEqual(['PENDING', 'PENDING']);
      expect(unrecorded).toEqual([sign(false)]);
      const next = await recordResults(api.prisma, [toResult(second, 410)], unrecorded);
      expect(next.unrecorded).toEqual([sign(false), sign(true)]);
      await lock.query('ROLLBACK');
      expect(await recordResults(api.prisma, [], next.unrecorded)).toEqual({ settled: [], unrecorded: [] });
    } finally {
      await lock.end();
    }
    expect(await held.row()).toMatchObject({ failures: 2, pausedReason: 'The endpoint returned 410 Gone.' });
    expect(await free.row()).toMatchObject({ failures: 1, pausedReason: null });
  });
});

describe('subscription whose URL has never responded with 2xx', () => {
  const setAge = (interval: string) =>
    `trial_attempts = ARRAY(SELECT now() - interval '${interval}' FROM unnest(trial_attempts))`;

  it('claims at most 10 deliveries per minute to an unverified URL across all workers', async () => {
    const { claim, change } = await subscribe(13);
    const claims = await Promise.all([claim(8), claim(8)]);
    expect(claims.flat().length).toBeLessThanOrEqual(10);
    await claim();
    expect(await claim()).toEqual([]);
    await change(setAge('59 seconds'));
    expect(await claim()).toEqual([]);
    await change(setAge('61 seconds'));
    expect(await claim()).toHaveLength(3);
  });

  it('counts a probe to an unverified URL toward the limit of 10 deliveries per minute', async () => {
    const { claim, change } = await subscribe(12);
    expect(await claim()).toHaveLength(10);
    await change(`open_until = now() - interval '1 second'`);
    expect(await claim()).toEqual([]);
    await change(setAge('61 seconds'));
    expect(await claim()).toHaveLength(1);
  });

  it('removes the limit of 10 deliveries per minute after a 2xx response until the URL changes', async () => {
    const { claim, change, workspace, ref } = await subscribe(30);
    const [first] = await claim(1);
    await recordResults(api.prisma, [toResult(first as ClaimedDelivery, 200)]);
    expect(await claim(18)).toHaveLength(18);
    const url = 'https://example.com/moved';
    const { status } = await workspace.call('PATCH', `/webhooks/${ref.subscriptionId}`, { url });
    expect(status).toBe(200);
    await change(setAge('61 seconds'));
    expect(await claim()).toHaveLength(10);
  });
});
