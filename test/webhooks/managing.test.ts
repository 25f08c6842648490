import type { Delivery, Ticket, Webhook } from '@itsm-api/contract';
import { activateWebhook } from '@itsm-api/server/resources/webhooks/queries.ts';
import { pruneSecrets } from '@itsm-api/server/webhooks/maintenance/delivery-retention.ts';
import { Webhook as StandardWebhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { errorOf } from '../support/api.ts';
import { execute } from '../support/database.ts';
import {
  eventually,
  type Receiver,
  type Respond,
  type Sender,
  startReceiver,
  startSender,
} from '../support/receiver.ts';
import { createWorkspace, type Workspace } from '../support/workspace.ts';

/*
 * What integrators do to their subscriptions, seen from the receiver.
 */
let sender: Sender;
let owner: Workspace;
const receivers: Receiver[] = [];

beforeAll(async () => {
  sender = await startSender();
  owner = sender.workspace;
  await sender.startWorker();
});
afterAll(async () => {
  await Promise.all(receivers.map((receiver) => receiver.close()));
  await sender.close();
});

async function receive(respond?: Respond): Promise<Receiver> {
  const receiver = await startReceiver(respond);
  receivers.push(receiver);
  return receiver;
}

const answer = (status: number): Respond => {
  return (_, response) => response.writeHead(status).end('Told in confidence.');
};

/** A subscription of a workspace of its own, to a receiver of its own. */
async function subscribe(fields: Parameters<Workspace['createWebhook']>[0] = {}, respond?: Respond) {
  owner = await createWorkspace(sender.api);
  const receiver = await receive(respond);
  const { id } = await owner.createWebhook({ url: receiver.url, ...fields });
  return { id, receiver };
}

const patch = (id: number, body: object) => owner.call('PATCH', `/webhooks/${id}`, body);
const deliveries = async (id: number): Promise<Delivery[]> =>
  (await owner.call('GET', `/webhooks/${id}/deliveries`)).body.data;

async function patched(id: number, body: object): Promise<Webhook> {
  const { status, body: answered, text } = await patch(id, body);
  expect(status, text).toBe(200);
  return answered.data;
}

/** Waits until so many have arrived, and a little longer for one too many; what they tell of. */
async function titlesOf({ received }: Receiver, count: number): Promise<string[]> {
  await eventually(() => expect(received.length).toBeGreaterThanOrEqual(count));
  return received.map(({ body }) => JSON.parse(body).ticket.title);
}

describe('PATCH /webhooks/:id', () => {
  it('changes what is named, answers it, and says nothing new where nothing is', async () => {
    const { id } = await subscribe();
    const [before] = (await owner.call('GET', '/webhooks')).body.data;
    expect(await patched(id, { events: before.events, url: before.url, paused: false, filter: null })).toEqual(before);
    const fields = { url: 'https://other.example.com/', filter: { priority: ['HIGH'] }, skipOwn: true };
    const after = await patched(id, { ...fields, events: ['task.updated', 'ticket.created', 'task.updated'] });
    expect(after).toEqual({
      ...before,
      ...fields,
      events: ['task.updated', 'ticket.created'],
      updatedAt: after.updatedAt,
    });
    expect((await owner.call('GET', '/webhooks')).body.data).toEqual([after]);
  });

  it.each<[string, object, string]>([
    ['no https nor http', { url: 'ftp://example.com/' }, 'url'],
    ['an address of a cloud', { url: 'http://169.254.169.254/' }, 'url'],
    ['an empty secret', { secret: '' }, 'secret'],
    ['no events', { events: [] }, 'events'],
    ['a pause that is no boolean', { paused: 'yes' }, 'paused'],
    ['null as skipOwn', { skipOwn: null }, 'skipOwn'],
    ['active', { active: false, paused: true }, 'active'],
  ])('refuses %s', async (_, body, path) => {
    const { id } = await subscribe();
    expect(errorOf(await patch(id, body))).toMatchObject({ code: 'VALIDATION_ERROR', details: [{ path }] });
  });

  it('finds none that was deactivated, nor does a test or a replay', async () => {
    const { id } = await subscribe();
    await owner.call('DELETE', `/webhooks/${id}`);
    expect((await patch(id, { paused: false })).status).toBe(404);
    expect((await owner.call('POST', `/webhooks/${id}/test`)).status).toBe(404);
    expect((await owner.call('POST', `/webhooks/${id}/replay`, { since: '2026-11-20T10:00:00Z' })).status).toBe(404);
  });

  it('sends what waits to the new URL, which begins without the failures of the old one', async () => {
    const { id, receiver } = await subscribe({}, answer(410));
    await owner.createTicket({ title: 'waits' });
    await eventually(async () => {
      expect((await sender.health(id, owner)).pausedReason).toBe('The endpoint returned 410 Gone.');
    });
    const other = await receive();
    expect(await patched(id, { url: other.url })).toMatchObject({ pausedAt: null, pausedReason: null });
    // Its next attempt comes when the schedule says so.
    await sender.advance(10_000);
    expect(await titlesOf(other, 1)).toEqual(['waits']);
    expect(receiver.received).toHaveLength(1);
  });
});

describe('a pause', () => {
  it('has events queue and nothing sent, until it ends', async () => {
    const { id, receiver } = await subscribe();
    const paused = await patched(id, { paused: true });
    expect(paused).toMatchObject({ active: true, pausedAt: expect.any(String), pausedReason: 'Paused by its owner.' });
    await owner.createTicket({ title: 'first' });
    const test = (await owner.call('POST', `/webhooks/${id}/test`)).body.data;
    expect(test.state).toBe('PENDING');
    // Longer than the endpoint would be left alone for if it had failed.
    await sender.advance(24 * 60 * 60 * 1000);
    await sender.advance(0);
    expect((await deliveries(id)).map(({ state, attemptCount }) => [state, attemptCount])).toEqual([
      ['PENDING', 0],
      ['PENDING', 0],
    ]);
    expect(receiver.connections).toBe(0);

    expect(await patched(id, { paused: false })).toMatchObject({ pausedAt: null, pausedReason: null });
    expect(await titlesOf(receiver, 2)).toContain('first');
  });

  it('stays one when the attempt ends that was under way', async () => {
    let finish = () => {};
    const { id, receiver } = await subscribe({}, (_, response) => {
      finish = () => response.end();
    });
    await owner.createTicket();
    await eventually(() => expect(receiver.received).toHaveLength(1));
    await patched(id, { paused: true });
    finish();
    await eventually(async () => expect((await deliveries(id))[0]?.state).toBe('DELIVERED'));
    expect(await sender.health(id, owner)).toMatchObject({
      lastSuccessAt: expect.any(String),
      pausedReason: 'Paused by its owner.',
    });
    await owner.createTicket();
    await sender.advance(0);
    expect(receiver.received).toHaveLength(1);
  });

  it('that the breaker made ends, too, and its failures count no more', async () => {
    let status = 410;
    const { id, receiver } = await subscribe({}, (request, response) => answer(status)(request, response, []));
    await owner.createTicket({ title: 'waits' });
    await eventually(async () => expect((await sender.health(id, owner)).pausedAt).not.toBeNull());
    status = 200;
    await patched(id, { paused: false });
    const row = await sender.api.prisma.webhookSubscription.findFirstOrThrow({ where: { id } });
    expect(row).toMatchObject({ failures: 0, failingSince: null, openUntil: null, openings: 0, held: false });
    await owner.createTicket({ title: 'at once' });
    expect(await titlesOf(receiver, 2)).toEqual(['waits', 'at once']);
  });
});

describe('a new secret', () => {
  const [first, second, third] = ['one', 'two', 'six'].map(
    (word) => `whsec_${btoa(`a secret number ${word}, long`)}`,
  ) as [string, string, string];

  /** Which of the secrets a receiver may check the next delivery with, as the standard's own library does. */
  async function signers(id: number, { received }: Receiver): Promise<string[]> {
    const before = received.length;
    await owner.call('POST', `/webhooks/${id}/test`);
    const { headers, body } = await eventually(() => {
      const delivery = received[before];
      if (delivery === undefined) throw new Error('Nothing has arrived.');
      return delivery;
    });
    return [first, second, third].filter((secret) => {
      try {
        new StandardWebhook(secret).verify(body, headers);
        return true;
      } catch {
        return false;
      }
    });
  }

  it('signs beside the one before for 24 hours of the database, and then alone', async () => {
    const { id, receiver } = await subscribe({ secret: first });
    expect(await signers(id, receiver)).toEqual([first]);
    const answered = await patch(id, { secret: second });
    expect(answered.text).not.toContain(second);
    expect(await signers(id, receiver)).toEqual([first, second]);
    const { headers } = receiver.received.at(-1) ?? {};
    expect(headers?.['webhook-signature']?.split(' ')).toHaveLength(4);

    // The same again replaces nothing.
    await patched(id, { secret: second });
    expect(await signers(id, receiver)).toEqual([first, second]);
    await patched(id, { secret: third });
    expect(await signers(id, receiver)).toEqual([second, third]);
    const pass = (hours: number) =>
      execute(
        sender.api.databaseUrl,
        `UPDATE webhook_subscriptions SET previous_secret_until = previous_secret_until - interval '${hours} hours'`,
      );
    await pass(23);
    expect(await signers(id, receiver)).toEqual([second, third]);
    await pass(1);
    expect(await signers(id, receiver)).toEqual([third]);

    expect(await pruneSecrets(sender.api.prisma)).toBe(1);
    const row = await sender.api.prisma.webhookSubscription.findFirstOrThrow({ where: { id } });
    expect(row).toMatchObject({ previousSecret: null, previousSecretUntil: null });
  });
});

describe('a secret whose encryption key is gone', () => {
  const lose = (id: number) =>
    execute(
      sender.api.databaseUrl,
      `UPDATE webhook_subscriptions SET secret = '\\x00000000' || secret WHERE id = ${id}`,
    );

  it('may be replaced', async () => {
    const { id, receiver } = await subscribe({ events: ['ticket.created'] });
    await lose(id);
    expect((await owner.call('PATCH', `/webhooks/${id}`, { secret: 'another one' })).status).toBe(200);
    await owner.call('POST', `/webhooks/${id}/test`);
    await eventually(async () => expect(receiver.received).toHaveLength(1));
    expect(receiver.received[0]?.headers['x-service-signature']).toMatch(/^[0-9a-f]{64}$/);
  });

  it('keeps its subscription from being used again: no process would start any more', async () => {
    const { id } = await subscribe();
    await owner.call('DELETE', `/webhooks/${id}`);
    await lose(id);
    await expect(activateWebhook(owner.context, id)).rejects.toThrow("The signing secret can't be decrypted");
  });
});

describe('POST /webhooks/:id/test', () => {
  it('sends an example of the first event, whatever the filter, to this one alone', async () => {
    const { id, receiver } = await subscribe({
      events: ['ticket.updated'],
      filter: { priority: ['LOW'] },
      skipOwn: true,
    });
    const other = await receive();
    await owner.createWebhook({ url: other.url, events: ['ticket.updated'] });
    const answered = await owner.call('POST', `/webhooks/${id}/test`);
    expect(answered.status).toBe(201);
    const delivery = answered.body.data;
    expect(delivery).toMatchObject({ webhookId: id, event: 'ticket.updated', state: 'PENDING' });
    await eventually(async () => expect((await deliveries(id))[0]?.state).toBe('DELIVERED'));
    expect(receiver.received.map(({ headers, body }) => [headers['webhook-id'], JSON.parse(body).id])).toEqual([
      [delivery.eventId, delivery.eventId],
    ]);
    expect(delivery.eventId).toMatch(/^evt_test_/);
    const { attempts } = (await owner.call('GET', `/deliveries/${delivery.id}`)).body.data;
    expect(attempts).toMatchObject([{ number: 1, status: 200, error: null }]);
    expect(other.received).toEqual([]);
  });

  it('sends what was wanted when it was asked, where that is changed meanwhile', async () => {
    const { id } = await subscribe({ events: ['ticket.created'] });
    const { prisma } = sender.api;
    const waiting = () => prisma.$queryRaw<unknown[]>`SELECT FROM pg_locks WHERE NOT granted`;
    let patched = 0;
    const asked = await prisma.$transaction(async (tx) => {
      await tx.$executeRaw`LOCK TABLE events IN EXCLUSIVE MODE`;
      const test = owner.call('POST', `/webhooks/${id}/test`);
      await expect.poll(waiting).toHaveLength(1);
      const patch = owner.call('PATCH', `/webhooks/${id}`, { events: ['asset.created'] });
      void patch.finally(() => patched++);
      await expect.poll(async () => (await waiting()).length + patched).toBe(2);
      return [test, patch];
    });
    expect((await Promise.all(asked)).map(({ status }) => status)).toEqual([201, 200]);
  });

  it('tells of failures without what a private network answered', async () => {
    const { id } = await subscribe({}, answer(500));
    const delivery = (await owner.call('POST', `/webhooks/${id}/test`)).body.data;
    const told = await eventually(async () => {
      const { body, text } = await owner.call('GET', `/deliveries/${delivery.id}`);
      expect(body.data.attempts).toMatchObject([{ status: 500, answer: null }]);
      return text;
    });
    expect(told).not.toContain('confidence');
  });
});

describe('skipOwn', () => {
  it('spares a key what it does itself, and nothing else', async () => {
    const { receiver } = await subscribe({ skipOwn: true });
    const everything = await receive();
    await owner.createWebhook({ url: everything.url });
    const own = await owner.createTicket({ title: 'own' });
    const key = await owner.createKey();
    const call = { method: 'PATCH', path: `/api/public/v1/tickets/${own.id}`, key, body: { title: "another's" } };
    await sender.api.call(call);
    await owner.call('PATCH', `/tickets/${own.id}`, { title: 'own again' });
    expect(await titlesOf(everything, 3)).toHaveLength(3);
    expect(await titlesOf(receiver, 1)).toEqual(["another's"]);
  });

  it('spares what keys do, too, that were rotated from it, and not the one that it was rotated from', async () => {
    const { api } = sender;
    owner = await createWorkspace(api);
    const keys = [await owner.createKey(), await owner.createKey(), await owner.createKey()];
    const rows = await api.prisma.apiKey.findMany({
      where: { tenantId: owner.tenantId },
      orderBy: { id: 'desc' },
      take: 3,
    });
    const [third, second, first] = rows.map(({ id }) => id);
    await api.prisma.apiKey.updateMany({ where: { id: third ?? 0n }, data: { rotatedFrom: second ?? null } });
    await api.prisma.apiKey.updateMany({ where: { id: second ?? 0n }, data: { rotatedFrom: first ?? null } });
    const receiver = await receive();
    const by = (key: string | undefined, path: string, body: object) =>
      api.call({ method: 'POST', path: `/api/public/v1${path}`, key, body });
    const url = receiver.url;
    await by(keys[1], '/webhooks', { url, secret: 'of the second', events: ['ticket.created'], skipOwn: true });
    const ticket = { description: 'By each.', type: 'INCIDENT', category: 'NETWORK' };
    for (const [index, key] of keys.entries()) await by(key, '/tickets', { ...ticket, title: `by key ${index + 1}` });
    await owner.createTicket({ title: 'by another' });
    expect((await titlesOf(receiver, 2)).sort()).toEqual(['by another', 'by key 1']);
  });

  it('goes by the key that turns it on if the subscription was created without a key', async () => {
    const { id, receiver } = await subscribe();
    await sender.api.prisma.webhookSubscription.updateMany({ where: { id }, data: { keyId: null } });
    await owner.createTicket({ title: 'told' });
    await patched(id, { skipOwn: true });
    await owner.createTicket({ title: 'own' });
    await patched(id, { skipOwn: false });
    await owner.createTicket({ title: 'told again' });
    expect((await titlesOf(receiver, 2)).sort()).toEqual(['told', 'told again']);
  });
});

describe('a filter', () => {
  it('lets through what is one of its values, or was', async () => {
    const { receiver } = await subscribe({ filter: { priority: ['HIGH', 'CRITICAL'] } });
    const create = (title: string, priority: 'LOW' | 'HIGH') => owner.createTicket({ title, priority });
    const high = await create('high', 'HIGH');
    const low = await create('low', 'LOW');
    const change = (id: number, title: string, priority: string) =>
      owner.call('PATCH', `/tickets/${id}`, { title, priority });
    await change(high.id, 'high no more', 'MEDIUM');
    await change(high.id, 'medium still', 'MEDIUM');
    await change(low.id, 'low to critical', 'CRITICAL');
    expect((await titlesOf(receiver, 3)).sort()).toEqual(['high', 'high no more', 'low to critical']);
    // What nobody takes is no event.
    expect(await sender.api.prisma.event.count({ where: { tenantId: owner.tenantId } })).toBe(3);
  });

  it('has values of as many characters as texts may have', async () => {
    const title = '😀'.repeat(255);
    const { receiver } = await subscribe({ filter: { title: [title, 'short'] } });
    for (const each of [title, 'other', 'short']) await owner.createTicket({ title: each });
    expect((await titlesOf(receiver, 2)).sort()).toEqual(['short', title]);
  });

  it('has all of its fields agree, with null and numbers, too', async () => {
    owner = await createWorkspace(sender.api);
    const receiver = await receive();
    const filter = { assigneeId: [owner.userId, null], type: ['INCIDENT'] };
    await owner.createWebhook({ url: receiver.url, filter });
    const { id: other } = await owner.createUser();
    await owner.createTicket({ title: 'nobody' });
    await owner.createTicket({ title: 'me', assigneeId: owner.userId });
    await owner.createTicket({ title: 'another', assigneeId: other });
    await owner.createTicket({ title: 'no incident', type: 'CHANGE' });
    expect((await titlesOf(receiver, 2)).sort()).toEqual(['me', 'nobody']);
  });

  it('looks at no text that is longer than its own, of many large tickets that change at once', async () => {
    const longest = 'x'.repeat(255);
    const { id: one } = await subscribe({ events: ['ticket.updated'], filter: { categoryConfigId: [longest] } });
    const filter = { description: ['a', 'b'], resolution: ['c', null], categoryConfigId: ['d'], priority: ['LOW'] };
    for (let i = 0; i < 99; i++) await owner.createWebhook({ events: ['ticket.updated'], filter });
    const of = { description: 'word'.repeat(16_000) };
    const tickets: Ticket[] = [];
    for (let i = 0; i < 100; i++) tickets.push(await owner.createTicket(of));
    const changed = tickets.map(({ id }, i) => ({ id, categoryConfigId: i === 0 ? longest : 'other' }));
    const { status, body, text } = await owner.call('PATCH', '/tickets/bulk', { tickets: changed });
    expect(status, text.slice(0, 500)).toBe(200);
    expect(new Set(body.data.map((each: { status: number }) => each.status))).toEqual(new Set([200]));
    const [event, ...others] = await sender.api.prisma.event.findMany({ where: { tenantId: owner.tenantId } });
    expect(others).toEqual([]);
    expect(await deliveries(one)).toMatchObject([{ eventId: event?.publicId }]);
  }, 60_000);

  it('that is taken away filters no more', async () => {
    const { id, receiver } = await subscribe({ filter: { priority: ['CRITICAL'] } });
    await owner.createTicket({ title: 'missed' });
    expect(await patched(id, { filter: null })).toMatchObject({ filter: null });
    await owner.createTicket({ title: 'told' });
    expect(await titlesOf(receiver, 1)).toEqual(['told']);
  });

  it('is refused with how a value is written, where it is written otherwise than given', async () => {
    const filter = { purchaseCost: ['1499', '1499.00'] };
    const body = { url: 'https://example.com/hook', secret: 'long enough', events: ['asset.created'], filter };
    const refused = errorOf(await owner.call('POST', '/webhooks', body));
    expect(refused.details).toEqual([{ path: 'filter.purchaseCost.0', message: 'must be written as "1499.00"' }]);
    // One that was taken before that was looked at hinders no other change.
    const made = await owner.call('POST', '/webhooks', { ...body, filter: { purchaseCost: ['1499.00'] } });
    const { id } = made.body.data;
    const before = { purchaseCost: ['1499'] };
    await sender.api.prisma.webhookSubscription.updateMany({ where: { id }, data: { filter: before } });
    expect(await patched(id, { paused: true })).toMatchObject({ pausedReason: expect.any(String), filter: before });
  });

  it.each<[string, object, string, RegExp]>([
    [
      'an unknown field',
      { prioritty: ['HIGH'] },
      'filter.prioritty',
      /is not a filterable field of ticket.created. Use one of: id, .*priority/,
    ],
    [
      'a field that is no scalar',
      { watcherUserIds: [1] },
      'filter.watcherUserIds',
      /is not a filterable field of ticket.created/,
    ],
    [
      'a name of every object',
      { constructor: ['x'] },
      'filter.constructor',
      /is not a filterable field of ticket.created/,
    ],
    ['a value that never comes', { priority: ['HIGH', 'URGENT'] }, 'filter.priority.1', /must be one of LOW/],
    ['a time as no event spells it', { createdAt: ['2026-11-20T10:00:00Z'] }, 'filter.createdAt.0', /:00\.000Z/],
    ['an id as text', { assigneeId: ['7'] }, 'filter.assigneeId.0', /must be a positive integer/],
    ['null where it is never null', { status: [null] }, 'filter.status.0', /must be one of/],
    ['no values', { priority: [] }, 'filter.priority', /at least 1 item/],
    ['no fields', {}, 'filter', /at least one field/],
    ['a value alone', { priority: 'HIGH' }, 'filter.priority', /must be an array/],
    ['an object as value', { priority: [{}] }, 'filter.priority.0', /must be a string/],
    ['101 values', { id: Array.from({ length: 101 }, (_, i) => i + 1) }, 'filter.id', /at most 100/],
    ['NUL in a value', { title: ['\0'] }, 'filter.title.0', /must be a string|control/],
    [
      '11 fields',
      Object.fromEntries(Array.from({ length: 11 }, (_, i) => [`f${i}`, [1]])),
      'filter',
      /at most 10 fields/,
    ],
  ])('is refused: %s', async (_, filter, path, message) => {
    const { id } = await subscribe();
    for (const refused of [
      await patch(id, { filter }),
      await owner.call('POST', '/webhooks', {
        url: 'https://a.example.com',
        secret: 's',
        events: ['ticket.created'],
        filter,
      }),
    ]) {
      expect(refused.status, refused.text).toBe(400);
      expect(errorOf(refused)).toMatchObject({ code: 'VALIDATION_ERROR', details: [{ path }] });
      expect(errorOf(refused).details?.[0]?.message).toMatch(message);
    }
  });

  it('must fit every event, also when the events change under it', async () => {
    const { id } = await subscribe({ filter: { category: ['NETWORK'] } });
    const refused = await patch(id, { events: ['ticket.created', 'asset.created'] });
    expect(errorOf(refused).details).toEqual([
      { path: 'filter.category', message: expect.stringContaining('is not a filterable field of asset.created') },
    ]);
    const together = { events: ['asset.created'], filter: { type: ['LAPTOP'] } };
    expect(await patched(id, together)).toMatchObject(together);
  });
});
