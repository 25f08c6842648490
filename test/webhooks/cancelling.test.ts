import { setTimeout as sleep } from 'node:timers/promises';
import { transaction } from '@itsm-api/server/resources/shared/context.ts';
import { deactivateTenant } from '@itsm-api/server/resources/tenants/queries.ts';
import { activateWebhook } from '@itsm-api/server/resources/webhooks/webhook-management.ts';
import { recordResults } from '@itsm-api/server/webhooks/delivery/record-results.ts';
import { emit } from '@itsm-api/server/webhooks/outbox/emit.ts';
import { cancelPending } from '@itsm-api/server/webhooks/outbox/pending.ts';
import { describe, expect, it } from 'vitest';
import { execute } from '../support/database.ts';
import { eventually } from '../support/sender.ts';
import { claim, expectAllDelivered, receive, settleAs, start, useSender, withTrigger } from '../support/sending.ts';

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

useSender();

describe('cancellation of deliveries', () => {
  it('cancels the pending deliveries of a deleted subscription, even while a worker sends a delivery', async () => {
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
    // The late response adds an attempt to the history but doesn't change the delivery status.
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

  it('deletes a subscription without waiting for the cancellation of its deliveries', async () => {
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
    await withTrigger('BEFORE UPDATE ON deliveries', "RAISE 'update failed'", async () => {
      expect((await workspace.call('DELETE', `/webhooks/${id}`)).status).toBe(200);
    });
    const count = (state: string) =>
      api.prisma.delivery.count({ where: { subscriptionId: id, state: state as 'PENDING' } });
    expect(await count('PENDING')).toBe(waiting);
    // Workers no longer claim the deliveries of the deleted subscription.
    expect(await claim(test)).toEqual([]);

    const other = await receive();
    await workspace.createWebhook({ url: other.url });
    await test.startWorker();
    await eventually(async () => expect(await count('CANCELLED')).toBeGreaterThan(0));
    await test.emit(1);
    await eventually(() => expect(other.received).toHaveLength(1));
    await eventually(async () => expect(await count('CANCELLED')).toBe(waiting));
    expect(receiver.received).toEqual([]);
  });

  it('commits each batch of cancelled deliveries in a separate transaction', async () => {
    const test = await start({ worker: false });
    await test.emit(5);
    await test.workspace.call('DELETE', `/webhooks/${test.id}`);
    expect(await cancelPending(test.api.prisma, test.ref, 2)).toBe(2);
    const states = async () => (await test.settled(test.id)).map(({ state }) => state).toSorted();
    expect(await states()).toEqual(['CANCELLED', 'CANCELLED', 'PENDING', 'PENDING', 'PENDING']);
    expect(await cancelPending(test.api.prisma, test.ref, 5)).toBe(3);
    expect(await cancelPending(test.api.prisma, test.ref, 5)).toBe(0);
  });

  it('stops cancelling the deliveries of a subscription after the subscription is reactivated', async () => {
    const test = await start({ worker: false });
    await test.emit(3);
    await test.workspace.call('DELETE', `/webhooks/${test.id}`);
    expect(await cancelPending(test.api.prisma, test.ref, 2)).toBe(2);
    await activateWebhook(test.workspace.context, test.id);
    await test.emit(1);
    expect(await cancelPending(test.api.prisma, test.ref, 5)).toBe(0);
  });

  it('deletes a subscription and cancels its deliveries while workers record attempts', async () => {
    const test = await start({ worker: false });
    const { api, workspace } = test;
    await test.emit(1);
    const claimed = await claim(test);
    // The trigger delays the commit of the DELETE request. During the delay, the test records a delivery result.
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
      const { settled, unrecorded } = await recordResults(api.prisma, settlements);
      expect(settled).toMatchObject([{ state: 'PENDING' }]);
      expect(deleted).toBeUndefined();
      // The subscription row is locked, so the worker records the health later.
      expect(unrecorded).toMatchObject([{ delivered: false }]);
      await deleting;
      expect(deleted).toBe(200);
      expect(await recordResults(api.prisma, [], unrecorded)).toEqual({ settled: [], unrecorded: [] });
    });
    expect(await test.row()).toMatchObject({ active: false, failures: 1 });
    expect(await cancelPending(api.prisma, test.ref, 10)).toBe(1);
    expect(await test.settled(test.id)).toMatchObject([{ state: 'CANCELLED' }]);
  });

  it('leaves no pending deliveries if events are emitted during the deletion of a webhook', async () => {
    const test = await start();
    const { api, workspace, receiver } = test;
    test.endpoint.status = 200;
    // Workers claim and record deliveries while the test deletes the subscriptions.
    const ids: number[] = [];
    for (let i = 0; i < 20; i++) ids.push((await workspace.createWebhook({ url: receiver.url })).id);
    const emitting = Promise.all(Array.from({ length: 4 }, () => test.emit(10)));
    const responses = await Promise.all(ids.map((id) => workspace.call('DELETE', `/webhooks/${id}`)));
    expect(responses.map(({ status }) => status)).toEqual(Array(ids.length).fill(200));
    await emitting;
    await expectAllDelivered(test, 40);
    const sent = receiver.received.length;
    await test.advance(0);
    await eventually(async () => expect(await api.prisma.delivery.count({ where: { state: 'PENDING' } })).toBe(0));
    expect(receiver.received).toHaveLength(sent);
  });

  it('sends no deliveries of an inactive tenant until the tenant is active again', async () => {
    const test = await start();
    const { api, workspace, endpoint, receiver, requestsAfter } = test;
    await test.emitOneByOne(1);
    await test.holdOpen(minute);
    await test.emit(2);
    await deactivateTenant(api, String(workspace.tenantId));
    endpoint.status = 200;
    expect(await requestsAfter(2 * day)).toBe(0);
    expect(receiver.received).toHaveLength(1);

    await api.prisma.tenant.update({ where: { id: workspace.tenantId }, data: { active: true } });
    await test.advance(minute);
    await expectAllDelivered(test, 3);
    expect(receiver.received).toHaveLength(4);
  });
});

it('records an attempt without waiting for a transaction that adds an event to the subscription', async () => {
  const test = await start({ worker: false });
  const payload = await test.workspace.createTicket();
  const claimed = await claim(test);
  await transaction(test.workspace.context, async (context) => {
    await emit(context, 'ticket.created', { payload });
    // Recording an attempt must not wait for a transaction that adds an event. Otherwise, deliveries and ticket
    // creation would delay each other.
    const settling = settleAs(test, [[200, ...claimed]]).then(() => 'settled');
    expect(await Promise.race([settling, sleep(3 * second, 'waiting')])).toBe('settled');
  });
});

it('delivers to a subscription even if the API key that created it is revoked', async () => {
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
