import type { Delivery, DeliveryState } from '@itsm-api/contract';
import { describe, expect } from 'vitest';
import { errorOf } from '../support/api.ts';
import { execute } from '../support/database.ts';
import { api, it as itBase, workspace } from '../support/fixture.ts';

const it = itBase.extend('options', { scope: 'file' }, { ownDatabase: true });

/** Creates a subscription with one delivery for each given state. The first delivery is the oldest. */
async function createDeliveries(...states: DeliveryState[]): Promise<{ id: number; made: Delivery[] }> {
  const { id } = await workspace.createWebhook();
  const made: Delivery[] = [];
  for (const state of states) {
    const delivery = (await workspace.call('POST', `/webhooks/${id}/test`)).body.data;
    const settledAt = state === 'PENDING' ? null : new Date();
    await api.prisma.delivery.updateMany({ where: { id: delivery.id }, data: { state, settledAt, attempts: 10 } });
    made.push((await get(delivery.id)).body.data);
  }
  return { id, made };
}

const get = (id: number) => workspace.call('GET', `/deliveries/${id}`);
const list = (id: number, query = '') => workspace.call('GET', `/webhooks/${id}/deliveries${query}`);

describe('GET /webhooks/:id/deliveries', () => {
  it('lists deliveries newest first, optionally filtered by state', async () => {
    const { id, made } = await createDeliveries('DELIVERED', 'EXHAUSTED', 'PENDING', 'EXHAUSTED');
    await createDeliveries('EXHAUSTED');
    const rows = made.map(({ body: _, attempts: __, ...row }: Delivery & { body?: string; attempts?: unknown }) => row);
    const answer = await list(id);
    expect(answer.body).toEqual({
      success: true,
      data: rows.toReversed(),
      meta: { page: 1, perPage: 20, totalCount: 4 },
    });
    expect(answer.body.data[0]).toEqual({
      id: expect.any(Number),
      webhookId: id,
      eventId: expect.stringMatching(/^evt_test_\w+$/),
      event: 'ticket.created',
      state: 'EXHAUSTED',
      attemptCount: 10,
      nextAttemptAt: null,
      createdAt: expect.any(String),
      settledAt: expect.any(String),
    });
    expect((await list(id, '?state=EXHAUSTED')).body.data).toEqual([rows[3], rows[1]]);
    expect((await list(id, '?state=PENDING,DELIVERED&perPage=1&page=2')).body).toMatchObject({
      data: [{ id: rows[0]?.id, nextAttemptAt: null }],
      meta: { totalCount: 2 },
    });
    expect((await list(id, '?state=DELIVERED,PENDING,DELIVERED')).body.data).toEqual([rows[2], rows[0]]);
    expect((await list(id, '?state=CANCELLED')).body.data).toEqual([]);
    expect((await list(id, '?page=9')).body).toMatchObject({ data: [], meta: { totalCount: 4 } });
  });

  it('limits delivery lists to 100,000 deliveries', async () => {
    const { id } = await workspace.createWebhook();
    await execute(
      api.databaseUrl,
      `SET session_replication_role = replica; WITH event AS (
         INSERT INTO events (tenant_id, public_id, type, body)
           SELECT ${workspace.tenantId}, 'evt_many_' || n, 'ticket.created', '{}' FROM generate_series(1, 100001) n
           RETURNING id)
       INSERT INTO deliveries (tenant_id, subscription_id, event_id) SELECT ${workspace.tenantId}, ${id}, id FROM event`,
    );
    expect((await list(id)).body.meta).toEqual({ page: 1, perPage: 20, totalCount: 100_000, totalCountCapped: true });
    const [last, beyond] = [await list(id, '?perPage=60&page=1667'), await list(id, '?perPage=60&page=1668')];
    expect([last.body.data.length, beyond.body.data.length]).toEqual([40, 0]);
  });
});

describe('GET /deliveries/:id', () => {
  it('hides responses from private networks in the attempts of a delivery', async () => {
    const { made } = await createDeliveries('EXHAUSTED');
    const deliveryId = made[0]?.id ?? 0;
    const startedAt = new Date('2026-11-20T10:00:00Z');
    const attempt = { tenantId: workspace.tenantId, deliveryId: BigInt(deliveryId), startedAt, durationMs: 12 };
    await api.prisma.deliveryAttempt.createMany({
      data: [
        { ...attempt, number: 1, error: 'no response within 15 seconds' },
        { ...attempt, number: 2, status: 500, publicAnswer: 'told' },
        // The API never returns `answer`, because it can contain a response from a private network.
        { ...attempt, number: 3, status: 500, answer: 'hidden' },
      ],
    });
    const answer = await get(deliveryId);
    expect(answer.body.data).toEqual({
      ...made[0],
      body: expect.stringContaining('"type":"ticket.created"'),
      attempts: [
        { number: 1, status: null, error: 'no response within 15 seconds', answer: null },
        { number: 2, status: 500, error: null, answer: 'told' },
        { number: 3, status: 500, error: null, answer: null },
      ].map((each) => ({ ...each, startedAt: startedAt.toISOString(), durationMs: 12 })),
    });
    expect(JSON.parse(answer.body.data.body).id).toBe(answer.body.data.eventId);
    expect(answer.text).not.toContain('hidden');
  });

  it('returns only the last 100 attempts of a delivery', async () => {
    const { made } = await createDeliveries('EXHAUSTED');
    const deliveryId = made[0]?.id ?? 0;
    await execute(
      api.databaseUrl,
      `INSERT INTO delivery_attempts (tenant_id, delivery_id, number, started_at, duration_ms)
       SELECT ${workspace.tenantId}, ${deliveryId}, n, now(), n FROM generate_series(1, 150) n`,
    );
    const { attempts } = (await get(deliveryId)).body.data;
    expect(attempts.map(({ number }: { number: number }) => number)).toEqual(
      Array.from({ length: 100 }, (_, i) => 51 + i),
    );
  });
});

describe('POST /deliveries/:id/replay', () => {
  it.each(['DELIVERED', 'EXHAUSTED', 'CANCELLED', 'PENDING'] as const)(
    'replays a delivery with the status %s',
    async (state) => {
      const { made } = await createDeliveries(state);
      const { id, eventId } = made[0] as Delivery;
      const answer = await workspace.call('POST', `/deliveries/${id}/replay`);
      expect(answer.status).toBe(200);
      expect(answer.body.data).toMatchObject({ id, eventId, state: 'PENDING', attemptCount: 0, settledAt: null });
      expect(Date.parse(answer.body.data.nextAttemptAt)).toBeLessThanOrEqual(Date.now());
    },
  );

  it('ignores a replay request for a delivery that a worker is sending', async () => {
    const { made } = await createDeliveries('PENDING');
    const { id } = made[0] as Delivery;
    const claim = '00000000-0000-4000-8000-000000000000';
    await api.prisma.delivery.updateMany({ where: { id }, data: { claim } });
    const answer = await workspace.call('POST', `/deliveries/${id}/replay`);
    expect(answer.body.data).toMatchObject({ state: 'PENDING', attemptCount: 10 });
    expect(await api.prisma.delivery.findFirst({ where: { id } })).toMatchObject({ claim });
  });

  it('rejects a replay request if the subscription is deactivated', async () => {
    const { id: webhookId, made } = await createDeliveries('EXHAUSTED');
    await workspace.call('DELETE', `/webhooks/${webhookId}`);
    const answer = await workspace.call('POST', `/deliveries/${made[0]?.id}/replay`);
    expect(answer.status).toBe(400);
    expect(errorOf(answer)).toMatchObject({
      code: 'VALIDATION_ERROR',
      message: expect.stringContaining('deactivated'),
    });
    expect((await list(webhookId)).body.data).toMatchObject([{ state: 'EXHAUSTED' }]);
  });
});
