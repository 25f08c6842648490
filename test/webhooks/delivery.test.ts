import { createHmac, timingSafeEqual } from 'node:crypto';
import { deliveryBody, type EventType, events } from '@itsm-api/contract';
import { createLogger } from '@itsm-api/server/http/logging/logger.ts';
import { startWebhooks } from '@itsm-api/server/webhooks/start-webhooks.ts';
import { type CloudEvent, HTTP } from 'cloudevents';
import { Webhook as StandardWebhook } from 'standardwebhooks';
import { Webhook as SvixWebhook } from 'svix';
import { afterAll, describe, expect } from 'vitest';
import { api, it as itBase, workspace } from '../support/fixture.ts';
import { type Received, type Receiver, type Respond, startReceiver } from '../support/receiver.ts';
import { eventually, startSender } from '../support/sender.ts';
import { createWorkspace, type Workspace } from '../support/workspace.ts';

let stopDelivery: () => Promise<void>;
let receiver: Receiver;

const it = itBase.extend(
  'options',
  { scope: 'file' },
  { ownDatabase: true, env: { WEBHOOK_ALLOW_PRIVATE_TARGETS: 'true' } },
);
it.beforeAll(async () => {
  stopDelivery = await startWebhooks({ ...api, logger: createLogger('error') });
  receiver = await startReceiver();
});
afterAll(async () => {
  await stopDelivery();
  await receiver.close();
});

describe('delivery', () => {
  it.each(['a plain secret', `whsec_${Buffer.alloc(24, 7).toString('base64')}`])(
    'signs a webhook delivery with %s',
    async (secret) => {
      receiver.received.length = 0;
      const subscription = await workspace.createWebhook({ url: receiver.url, secret, events: ['ticket.created'] });
      const ticket = await workspace.createTicket();
      await expect.poll(() => receiver.received).toHaveLength(1);
      const { headers, body } = receiver.received[0] as Received;

      const event = deliveryBody('ticket.created').parse(JSON.parse(body));
      expect(event).toMatchObject({ type: 'ticket.created', ticket });
      expect(headers).toMatchObject({
        'content-type': 'application/json; charset=utf-8',
        'webhook-id': event.id,
        'x-service-event': 'ticket.created',
        'x-service-attempt': '1',
      });

      // Verifies the signature in the same way as the example in the guide verify-signatures.
      const given = Buffer.from(headers['x-service-signature'] ?? '', 'hex');
      const right = createHmac('sha256', secret).update(body).digest();
      expect(given.length === right.length && timingSafeEqual(given, right)).toBe(true);

      const encoded = secret.startsWith('whsec_') ? secret : `whsec_${Buffer.from(secret).toString('base64')}`;
      expect(new StandardWebhook(encoded).verify(body, headers)).toMatchObject({ id: event.id });
      expect(() => new SvixWebhook(encoded).verify(body, headers)).not.toThrow();
      expect(() => new StandardWebhook(encoded).verify(`${body} `, headers)).toThrow();
      await workspace.call('DELETE', `/webhooks/${subscription.id}`);
    },
  );
});

it('sends events that the CloudEvents library accepts', async () => {
  const publicUrl = 'https://itsm.example.com';
  const sender = await startSender({ env: { PUBLIC_URL: publicUrl } });
  try {
    await sender.startWorker();
    const workspace = await createWorkspace(sender.api);
    const receiver = await startReceiver((_, response) => response.writeHead(204).end());
    const types = Object.keys(events) as EventType[];
    await workspace.createWebhook({ url: receiver.url, events: types });
    const { id } = await workspace.createTicket();
    await workspace.call('PATCH', `/tickets/${id}`, { title: 'Changed' });
    await workspace.createAsset();
    const task = await workspace.createTask();
    await workspace.call('PATCH', `/tasks/${task.id}`, { title: 'Changed' });
    await expect.poll(() => receiver.received).toHaveLength(types.length);
    const accepted = receiver.received.map(({ headers, body }) => {
      const event = HTTP.toEvent<{ id: string; timestamp: string }>({ headers, body }) as CloudEvent<{
        id: string;
        timestamp: string;
      }>;
      expect(event).toMatchObject({
        id: event.data?.id,
        time: event.data?.timestamp,
        source: `${publicUrl}/api/public/v1`,
      });
      return event.type;
    });
    expect(accepted.toSorted()).toEqual(types.toSorted());
    await receiver.close();
  } finally {
    await sender.close();
  }
});

it('sends the same body and event id in every attempt of a delivery', async () => {
  const secret = 'a secret of several attempts';
  const statuses = [500, 503, 302];
  const flaky = await startReceiver((_, response, { length }) => response.writeHead(statuses[length - 1] ?? 200).end());
  const sender = await startSender();
  try {
    await sender.startWorker();
    const { id } = await sender.workspace.createWebhook({ url: flaky.url, secret });
    await sender.workspace.createTicket({ title: 'Ünïcödé 🔑 "\\u0000"' });
    const times: { from: number; to: number }[] = [];
    for (const wait of [0, 6_000, 6 * 60_000, 36 * 60_000]) {
      const from = Math.floor(Date.now() / 1000);
      await sender.advance(wait);
      await eventually(() => expect(flaky.received).toHaveLength(times.length + 1));
      times.push({ from, to: Math.floor(Date.now() / 1000) });
      await sender.settled(id);
    }

    const [first] = flaky.received;
    const { id: eventId } = JSON.parse(first?.body ?? '');
    expect(eventId).toMatch(/^evt_/);
    const delivery = first?.headers['x-service-delivery'];
    for (const [index, { headers, body }] of flaky.received.entries()) {
      expect(body).toBe(first?.body);
      const timestamp = headers['webhook-timestamp'] ?? '';
      expect(Number(timestamp)).toBeGreaterThanOrEqual(times[index]?.from ?? Number.NaN);
      expect(Number(timestamp)).toBeLessThanOrEqual(times[index]?.to ?? Number.NaN);
      const signed = createHmac('sha256', secret).update(`${eventId}.${timestamp}.${body}`).digest('base64');
      expect(headers).toMatchObject({
        'webhook-id': eventId,
        'webhook-timestamp': timestamp,
        'webhook-signature': `v1,${signed}`,
        'x-service-signature': first?.headers['x-service-signature'],
        'x-service-event': 'ticket.created',
        'x-service-delivery': delivery,
        'x-service-attempt': String(index + 1),
      });
    }
    const [settled] = await sender.settled(id);
    expect(settled).toMatchObject({ state: 'DELIVERED', attempts: 4 });
    expect(settled?.history.map(({ number, status }) => [number, status])).toEqual([
      [1, 500],
      [2, 503],
      [3, 302],
      [4, 200],
    ]);
  } finally {
    await flaky.close();
    await sender.close();
  }
});

it('delivers to healthy receivers while other receivers hang or respond slowly', async () => {
  // The first response is a success, because a receiver gets more concurrent deliveries after its first 2xx response.
  const drip: Respond = (_, response, received) => {
    if (received.length === 1) return response.end();
    const timer = setInterval(() => response.write('.'), 1000);
    response.writeHead(200).once('close', () => clearInterval(timer));
  };
  const [hanging, dripping] = [await startReceiver(() => undefined), await startReceiver(drip)];
  const healthy = await startReceiver();
  const sender = await startSender();
  try {
    await sender.startWorker();
    const { api } = sender;
    const others: Workspace[] = [];
    for (let i = 0; i < 5; i++) others.push(await createWorkspace(api));
    for (const other of others) await other.createWebhook({ url: healthy.url });
    for (const bad of [hanging, dripping]) {
      const owner = await createWorkspace(api);
      await owner.createWebhook({ url: bad.url });
      for (let i = 0; i < 40; i++) await owner.createTicket();
      // A failing receiver must not delay other subscriptions of the same tenant.
      await owner.createWebhook({ url: healthy.url });
      others.push(owner);
    }
    // Each failing receiver has the maximum number of concurrent deliveries: 2 before the first success, or 16
    // afterwards.
    await eventually(() => expect([hanging.received.length, dripping.received.length]).toEqual([2, 1 + 16]));

    const rounds = 5;
    for (let round = 0; round < rounds; round++) await Promise.all(others.map((other) => other.createTicket()));
    await eventually(() => expect(healthy.received).toHaveLength(rounds * others.length));
    // An attempt to the hanging receiver takes 15 seconds.
    for (const { body, at } of healthy.received)
      expect(at - Date.parse(JSON.parse(body).timestamp)).toBeLessThan(12_000);
    expect([hanging.received.length, dripping.received.length]).toEqual([2, 1 + 16]);
  } finally {
    await Promise.all([hanging, dripping, healthy].map((each) => each.close()));
    await sender.close();
  }
});

it('sends each delivery once if two workers run concurrently', async () => {
  const receivers = [await startReceiver(), await startReceiver(), await startReceiver()];
  const sender = await startSender();
  try {
    const { workspace } = sender;
    for (const each of receivers) await workspace.createWebhook({ url: each.url });
    const create = async (count: number) => {
      for (let i = 0; i < count; i++) await workspace.createTicket();
    };
    // Some deliveries are pending when the workers start. The test emits more events while the workers run.
    await create(60);
    await Promise.all([sender.startWorker(), sender.startWorker(), create(20), create(20)]);
    const states = () => sender.api.prisma.delivery.groupBy({ by: ['state', 'attempts'], _count: true });
    await eventually(async () => expect(await states()).toEqual([{ state: 'DELIVERED', attempts: 1, _count: 300 }]));
    for (const { received: got } of receivers) {
      expect(got).toHaveLength(100);
      expect(new Set(got.map(({ headers }) => headers['webhook-id'])).size).toBe(100);
    }
  } finally {
    await Promise.all(receivers.map((each) => each.close()));
    await sender.close();
  }
});

it("sends each delivery once even if one worker's clock is a minute ahead", async () => {
  // The receiver takes longer to respond than the sweep interval, so both workers find deliveries in flight.
  const slow = await startReceiver((_, response) => setTimeout(() => response.end(), 1500));
  const refusing = await startReceiver((_, response) => response.writeHead(500).end());
  const sender = await startSender();
  try {
    const { api, workspace } = sender;
    const events = 12;
    await workspace.createWebhook({ url: slow.url });
    await workspace.createWebhook({ url: refusing.url });
    const minuteAhead = () => new Date(Date.now() + 60_000);
    await Promise.all([sender.startWorker(), sender.startWorker({ now: minuteAhead })]);
    for (let i = 0; i < events; i++) await workspace.createTicket();
    await eventually(async () => {
      expect(await api.prisma.delivery.count({ where: { state: 'DELIVERED' } })).toBe(events);
    });

    const times = Map.groupBy(slow.received, ({ headers }) => headers['webhook-id']);
    expect([...times.values()].map(({ length }) => length)).toEqual(Array(events).fill(1));
    // Workers use the database clock for due times and stored times.
    const now = Date.now();
    const failed = await api.prisma.delivery.findMany({ where: { state: 'PENDING' }, include: { history: true } });
    expect(failed).toHaveLength(events);
    for (const { nextAttemptAt, history } of failed) {
      for (const { startedAt } of history) expect(startedAt.getTime()).toBeLessThanOrEqual(now);
      if (history.length === 1) expect(nextAttemptAt.getTime()).toBeLessThanOrEqual(now + 6000);
    }
  } finally {
    await Promise.all([slow, refusing].map((each) => each.close()));
    await sender.close();
  }
});

it('logs a warning with the delivery id and without secrets when an attempt fails', async () => {
  const statuses = [500, 410];
  const failing = await startReceiver((_, response, { length }) =>
    response.writeHead(statuses[length - 1] ?? 200).end(),
  );
  const gone = await startReceiver();
  await gone.close();
  const sender = await startSender();
  const lines: Record<string, unknown>[] = [];
  const stream = { write: (line: string) => lines.push(JSON.parse(line)) };
  try {
    const { workspace } = sender;
    const secret = 'what the log must never hold';
    const { id } = await workspace.createWebhook({ url: `${failing.url}?token=hidden`, secret });
    const { id: unreachable } = await workspace.createWebhook({ url: `${gone.url}?token=hidden`, secret });
    await sender.startWorker({ logger: createLogger('warn', stream) });
    await workspace.createTicket();
    const [delivery] = await eventually(async () => {
      const deliveries = [...(await sender.settled(id)), ...(await sender.settled(unreachable))];
      expect(deliveries.map(({ attempts }) => attempts)).toEqual([1, 1]);
      return deliveries;
    });
    await eventually(() => expect(lines).toHaveLength(2));
    expect(lines.find(({ status }) => status !== undefined)).toMatchObject({
      level: 40,
      tenantId: String(workspace.tenantId),
      subscriptionId: String(id),
      deliveryId: String(delivery?.id),
      attempt: 1,
      status: 500,
      state: 'PENDING',
      nextAttemptAt: delivery?.nextAttemptAt.toISOString(),
      msg: 'a webhook delivery failed',
    });
    expect(lines.find(({ error }) => error !== undefined)).toMatchObject({
      subscriptionId: String(unreachable),
      error: expect.stringContaining('ECONNREFUSED'),
    });
    expect(JSON.stringify(lines)).not.toMatch(/hidden|what the log/);

    // The next attempt is the last attempt, so its log line contains no time for a further attempt.
    await sender.api.prisma.delivery.updateMany({ where: { subscriptionId: id }, data: { attempts: 9 } });
    await sender.advance(60_000);
    await eventually(() =>
      expect(lines).toContainEqual(
        expect.objectContaining({ attempt: 10, status: 410, state: 'EXHAUSTED', nextAttemptAt: null }),
      ),
    );
  } finally {
    await failing.close();
    await sender.close();
  }
});
