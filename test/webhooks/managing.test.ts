import type { Delivery, Ticket, Webhook } from '@itsm-api/contract';
import { activateWebhook } from '@itsm-api/server/resources/webhooks/webhook-management.ts';
import { pruneSecrets } from '@itsm-api/server/webhooks/maintenance/delivery-retention.ts';
import { Webhook as StandardWebhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { errorOf } from '../support/api.ts';
import { execute } from '../support/database.ts';
import { type Receiver, type Respond, startReceiver } from '../support/receiver.ts';
import { eventually, type Sender, startSender } from '../support/sender.ts';
import { createWorkspace, type Workspace } from '../support/workspace.ts';

/* Tests how changes to a webhook affect the deliveries to its receiver. */
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
  return (_, response) => response.writeHead(status).end('In confidence.');
};

/** Creates a subscription to a new receiver in a new workspace. */
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
  const { status, body: response, text } = await patch(id, body);
  expect(status, text).toBe(200);
  return response.data;
}

/** Waits for at least `count` requests. Returns the ticket titles of all requests so far. */
async function titlesOf({ received }: Receiver, count: number): Promise<string[]> {
  await eventually(() => expect(received.length).toBeGreaterThanOrEqual(count));
  return received.map(({ body }) => JSON.parse(body).ticket.title);
}

describe('PATCH /webhooks/:id', () => {
  it('updates only the webhook fields in the request', async () => {
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
      etag: after.etag,
    });
    expect((await owner.call('GET', '/webhooks')).body.data).toEqual([after]);
  });

  it.each<[string, object, string]>([
    ['a URL that is not HTTP', { url: 'ftp://example.com/' }, 'url'],
    ['the address of a metadata service', { url: 'http://169.254.169.254/' }, 'url'],
    ['an empty secret', { secret: '' }, 'secret'],
    ['no events', { events: [] }, 'events'],
    ['a pause that is not a boolean', { paused: 'yes' }, 'paused'],
    ['null as skipOwn', { skipOwn: null }, 'skipOwn'],
    ['the read-only field active', { active: false, paused: true }, 'active'],
  ])('rejects an update of a webhook with %s', async (_, body, path) => {
    const { id } = await subscribe();
    expect(errorOf(await patch(id, body))).toMatchObject({ code: 'VALIDATION_ERROR', details: [{ path }] });
  });

  it('returns 404 for updates, test events and replays of a deactivated webhook', async () => {
    const { id } = await subscribe();
    await owner.call('DELETE', `/webhooks/${id}`);
    expect((await patch(id, { paused: false })).status).toBe(404);
    expect((await owner.call('POST', `/webhooks/${id}/test`)).status).toBe(404);
    expect((await owner.call('POST', `/webhooks/${id}/replay`, { since: '2026-11-20T10:00:00Z' })).status).toBe(404);
  });

  it('sends pending deliveries to the new URL of a webhook and ends its automatic pause', async () => {
    const { id, receiver } = await subscribe({}, answer(410));
    await owner.createTicket({ title: 'waits' });
    await eventually(async () => {
      expect((await sender.health(id, owner)).pausedReason).toBe('The endpoint returned 410 Gone.');
    });
    const other = await receive();
    expect(await patched(id, { url: other.url })).toMatchObject({ pausedAt: null, pausedReason: null });
    // The worker makes the next attempt at the time that the retry schedule specifies.
    await sender.advance(10_000);
    expect(await titlesOf(other, 1)).toEqual(['waits']);
    expect(receiver.received).toHaveLength(1);
  });
});

describe('paused webhook', () => {
  it('keeps the deliveries of a paused webhook pending until the webhook resumes', async () => {
    const { id, receiver } = await subscribe();
    const paused = await patched(id, { paused: true });
    expect(paused).toMatchObject({ active: true, pausedAt: expect.any(String), pausedReason: 'Paused by its owner.' });
    await owner.createTicket({ title: 'first' });
    const test = (await owner.call('POST', `/webhooks/${id}/test`)).body.data;
    expect(test.state).toBe('PENDING');
    // After 24 hours, an open circuit would be half-open, but the pause continues.
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

  it('sends the events of a webhook that was created paused only after the webhook resumes', async () => {
    const { id, receiver } = await subscribe({ paused: true });
    await owner.createTicket({ title: 'first' });
    await sender.advance(0);
    expect((await deliveries(id)).map(({ state, attemptCount }) => [state, attemptCount])).toEqual([['PENDING', 0]]);
    expect(receiver.connections).toBe(0);
    await patched(id, { paused: false });
    expect(await titlesOf(receiver, 1)).toEqual(['first']);
  });

  it('keeps a webhook paused even if an earlier attempt succeeds after the pause', async () => {
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

  it('resets the failure count when a client resumes an automatically paused webhook', async () => {
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

describe('secret rotation', () => {
  const [first, second, third] = ['one', 'two', 'six'].map(
    (word) => `whsec_${btoa(`a secret number ${word}, long`)}`,
  ) as [string, string, string];

  /** Returns the secrets that the Standard Webhooks library accepts for the signatures of the next delivery. */
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

  it('signs with the new and the previous secret for 24 hours after a change', async () => {
    const { id, receiver } = await subscribe({ secret: first });
    expect(await signers(id, receiver)).toEqual([first]);
    const response = await patch(id, { secret: second });
    expect(response.text).not.toContain(second);
    expect(await signers(id, receiver)).toEqual([first, second]);
    const { headers } = receiver.received.at(-1) ?? {};
    expect(headers?.['webhook-signature']?.split(' ')).toHaveLength(4);

    // If a request sets the current secret again, the previous secret stays valid.
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

describe('webhook secret with a missing encryption key', () => {
  const lose = (id: number) =>
    execute(
      sender.api.databaseUrl,
      `UPDATE webhook_subscriptions SET secret = '\\x00000000' || secret WHERE id = ${id}`,
    );

  it('replaces a webhook secret whose encryption key is missing', async () => {
    const { id, receiver } = await subscribe({ events: ['ticket.created'] });
    await lose(id);
    expect((await owner.call('PATCH', `/webhooks/${id}`, { secret: 'another one' })).status).toBe(200);
    await owner.call('POST', `/webhooks/${id}/test`);
    await eventually(async () => expect(receiver.received).toHaveLength(1));
    expect(receiver.received[0]?.headers['x-service-signature']).toMatch(/^[0-9a-f]{64}$/);
  });

  it("rejects the reactivation of a webhook if the server can't decrypt its secret", async () => {
    const { id } = await subscribe();
    await owner.call('DELETE', `/webhooks/${id}`);
    await lose(id);
    await expect(activateWebhook(owner.context, id)).rejects.toThrow("The signing secret can't be decrypted");
  });
});

describe('POST /webhooks/:id/test', () => {
  it('sends a test event only to the tested webhook, even if the filter does not match', async () => {
    const { id, receiver } = await subscribe({
      events: ['ticket.updated'],
      filter: { priority: ['LOW'] },
      skipOwn: true,
    });
    const other = await receive();
    await owner.createWebhook({ url: other.url, events: ['ticket.updated'] });
    const response = await owner.call('POST', `/webhooks/${id}/test`);
    expect(response.status).toBe(201);
    const delivery = response.body.data;
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

  it('creates the requested test event even if a concurrent request changes the webhook events', async () => {
    const { id } = await subscribe({ events: ['ticket.created'] });
    const { prisma } = sender.api;
    const waiting = () => prisma.$queryRaw<unknown[]>`SELECT FROM pg_locks WHERE NOT granted`;
    let patched = 0;
    const requests = await sender.api.owner.prisma.$transaction(async (tx) => {
      await tx.$executeRaw`LOCK TABLE events IN EXCLUSIVE MODE`;
      const test = owner.call('POST', `/webhooks/${id}/test`);
      await expect.poll(waiting).toHaveLength(1);
      const patch = owner.call('PATCH', `/webhooks/${id}`, { events: ['asset.created'] });
      void patch.finally(() => patched++);
      await expect.poll(async () => (await waiting()).length + patched).toBe(2);
      return [test, patch];
    });
    const [test, patch] = await Promise.all(requests);
    expect([test?.status, patch?.status]).toEqual([201, 200]);
    expect(test?.body.data).toMatchObject({ event: 'ticket.created' });
  });

  it('reports a failed test delivery without the response body of a private network', async () => {
    const { id } = await subscribe({}, answer(500));
    const delivery = (await owner.call('POST', `/webhooks/${id}/test`)).body.data;
    const text = await eventually(async () => {
      const { body, text } = await owner.call('GET', `/deliveries/${delivery.id}`);
      expect(body.data.attempts).toMatchObject([{ status: 500, answer: null }]);
      return text;
    });
    expect(text).not.toContain('confidence');
  });
});

describe('skipOwn', () => {
  it('sends no events for changes by the API key that created a webhook with skipOwn', async () => {
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

  it('skips changes by the creating API key and its replacement if skipOwn is true', async () => {
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

  it('skips the changes of the API key that set skipOwn if no key created the webhook', async () => {
    const { id, receiver } = await subscribe();
    await sender.api.prisma.webhookSubscription.updateMany({ where: { id }, data: { keyId: null } });
    await owner.createTicket({ title: 'delivered' });
    await patched(id, { skipOwn: true });
    await owner.createTicket({ title: 'own' });
    await patched(id, { skipOwn: false });
    await owner.createTicket({ title: 'delivered again' });
    expect((await titlesOf(receiver, 2)).sort()).toEqual(['delivered', 'delivered again']);
  });
});

describe('webhook filter', () => {
  it('delivers events whose current or previous value matches the webhook filter', async () => {
    const { receiver } = await subscribe({ filter: { priority: ['HIGH', 'CRITICAL'] } });
    const create = (title: string, priority: 'LOW' | 'HIGH') => owner.createTicket({ title, priority });
    const high = await create('high', 'HIGH');
    const low = await create('low', 'LOW');
    const change = (id: number, title: string, priority: string) =>
      owner.call('PATCH', `/tickets/${id}`, { title, priority });
    await change(high.id, 'no longer high', 'MEDIUM');
    await change(high.id, 'medium still', 'MEDIUM');
    await change(low.id, 'low to critical', 'CRITICAL');
    expect((await titlesOf(receiver, 3)).sort()).toEqual(['high', 'low to critical', 'no longer high']);
    // The server stores no event if no subscription matches.
    expect(await sender.api.prisma.event.count({ where: { tenantId: owner.tenantId } })).toBe(3);
  });

  it('delivers events if a list has an accepted item before or after the change', async () => {
    const { receiver } = await subscribe({ events: ['ticket.updated'], filter: { tags: ['vip', 'urgent'] } });
    const { id } = await owner.createTicket({ tags: ['vip', 'other'] });
    const rename = (title: string, tags: object) => owner.call('PATCH', `/tickets/${id}`, { title, ...tags });
    await rename('no longer vip', { removeTags: ['vip'] });
    await rename('other', { tags: [] });
    await rename('urgent', { addTags: ['urgent', 'a'] });
    expect((await titlesOf(receiver, 2)).sort()).toEqual(['no longer vip', 'urgent']);
  });

  it('delivers events whose current or previous custom field matches the webhook filter', async () => {
    const filter = { 'customFields.site': ['berlin', 7] };
    const { receiver } = await subscribe({ events: ['ticket.created', 'ticket.updated'], filter });
    const { id } = await owner.createTicket({ title: 'one', customFields: { site: ['bonn', 'berlin'] } });
    await owner.createTicket({ title: 'other', customFields: { site: 'bonn', place: 'berlin' } });
    for (const site of ['bonn', 'kiel', 7]) {
      await owner.call('PATCH', `/tickets/${id}`, { title: String(site), customFields: { site } });
    }
    expect((await titlesOf(receiver, 3)).sort()).toEqual(['7', 'bonn', 'one']);
  });

  it('accepts webhook filter values of the maximum field length', async () => {
    const title = '😀'.repeat(255);
    const { receiver } = await subscribe({ filter: { title: [title, 'short'] } });
    for (const each of [title, 'other', 'short']) await owner.createTicket({ title: each });
    expect((await titlesOf(receiver, 2)).sort()).toEqual(['short', title]);
  });

  it('delivers only events that match all fields of the webhook filter', async () => {
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

  it('applies the filters of 100 webhooks to a bulk update of 100 large tickets', async () => {
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
  });

  it('delivers all events after a client removes the webhook filter', async () => {
    const { id, receiver } = await subscribe({ filter: { priority: ['CRITICAL'] } });
    await owner.createTicket({ title: 'missed' });
    expect(await patched(id, { filter: null })).toMatchObject({ filter: null });
    await owner.createTicket({ title: 'delivered' });
    expect(await titlesOf(receiver, 1)).toEqual(['delivered']);
  });

  it('rejects a new webhook filter value in non-canonical form, but keeps a stored value', async () => {
    const filter = { purchaseCost: ['1499', '1499.00'] };
    const body = { url: 'https://example.com/hook', secret: 'long enough', events: ['asset.created'], filter };
    const rejected = errorOf(await owner.call('POST', '/webhooks', body));
    expect(rejected.details).toEqual([{ path: 'filter.purchaseCost.0', message: 'must be written as "1499.00"' }]);
    // If an earlier release stored an invalid filter, the filter doesn't block other changes to the webhook.
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
      'a field that is neither a scalar nor a list of scalars',
      { customFields: [1] },
      'filter.customFields',
      /is not a filterable field of ticket.created/,
    ],
    [
      'a property name of every object',
      { constructor: ['x'] },
      'filter.constructor',
      /is not a filterable field of ticket.created/,
    ],
    ['an item of the wrong type', { watcherUserIds: [1, 'me'] }, 'filter.watcherUserIds.1', /positive integer/],
    ['null for a custom field', { 'customFields.site': [null] }, 'filter.customFields.site.0', /must be a string/],
    ['a tag in upper case', { tags: ['VIP'] }, 'filter.tags.0', /must be written as "vip"/],
    ['a value outside the enum', { priority: ['HIGH', 'URGENT'] }, 'filter.priority.1', /must be one of LOW/],
    [
      'a time that is not in canonical form',
      { createdAt: ['2026-11-20T10:00:00Z'] },
      'filter.createdAt.0',
      /:00\.000Z/,
    ],
    ['an id as a string', { assigneeId: ['7'] }, 'filter.assigneeId.0', /must be a positive integer/],
    ['null for a field that is never null', { status: [null] }, 'filter.status.0', /must be one of/],
    ['an empty list of values', { priority: [] }, 'filter.priority', /at least 1 item/],
    ['no fields', {}, 'filter', /at least one field/],
    ['a single value instead of an array', { priority: 'HIGH' }, 'filter.priority', /must be an array/],
    ['an object as a value', { priority: [{}] }, 'filter.priority.0', /must be a string/],
    ['101 values', { id: Array.from({ length: 101 }, (_, i) => i + 1) }, 'filter.id', /at most 100/],
    ['a NUL character in a value', { title: ['\0'] }, 'filter.title.0', /must be a string|control/],
    [
      '11 fields',
      Object.fromEntries(Array.from({ length: 11 }, (_, i) => [`f${i}`, [1]])),
      'filter',
      /at most 10 fields/,
    ],
  ])('rejects a webhook filter with %s', async (_, filter, path, message) => {
    const { id } = await subscribe();
    for (const rejected of [
      await patch(id, { filter }),
      await owner.call('POST', '/webhooks', {
        url: 'https://a.example.com',
        secret: 's',
        events: ['ticket.created'],
        filter,
      }),
    ]) {
      expect(rejected.status, rejected.text).toBe(400);
      expect(errorOf(rejected)).toMatchObject({ code: 'VALIDATION_ERROR', details: [{ path }] });
      expect(errorOf(rejected).details?.[0]?.message).toMatch(message);
    }
  });

  it('rejects new event types of a webhook if one of them lacks a field that the filter uses', async () => {
    const { id } = await subscribe({ filter: { category: ['NETWORK'] } });
    const rejected = await patch(id, { events: ['ticket.created', 'asset.created'] });
    expect(errorOf(rejected).details).toEqual([
      { path: 'filter.category', message: expect.stringContaining('is not a filterable field of asset.created') },
    ]);
    const together = { events: ['asset.created'], filter: { type: ['LAPTOP'] } };
    expect(await patched(id, together)).toMatchObject(together);
  });
});
