import type { Delivery } from '@itsm-api/contract';
import { parseLocalTime } from '@itsm-api/server/developer/framework/local-datetime.ts';
import { describe, expect } from 'vitest';
import { execute } from '../support/database.ts';
import { admin, api, itAsAdmin, workspace as mine } from '../support/fixture.ts';
import { signIn } from '../support/visitor.ts';
import { createWorkspace } from '../support/workspace.ts';

/* Tests the delivery pages in a browser without scripts. */

const it = itAsAdmin.extend('options', { scope: 'file' }, { ownDatabase: true });

const list = '/developer/deliveries';
const idsIn = (text: string) => [...text.matchAll(/aria-label="Delivery (\d+)"/g)].map(([, id]) => Number(id));
const found = async (query: string, visitor = admin) => idsIn((await visitor.get(`${list}?${query}`)).text);

/** Sends a test event to a webhook. Then overwrites columns of the delivery and the event in the database. */
async function delivered(webhookId: number, columns: object = {}, event: object = {}): Promise<Delivery> {
  const delivery: Delivery = (await mine.call('POST', `/webhooks/${webhookId}/test`)).body.data;
  await api.prisma.delivery.updateMany({ where: { id: delivery.id }, data: columns });
  await api.prisma.event.updateMany({ where: { publicId: delivery.eventId }, data: event });
  return delivery;
}

describe('/developer/deliveries', () => {
  it('filters the delivery list of the developer area by query parameters', async () => {
    const one = (await mine.createWebhook()).id;
    const two = (await mine.createWebhook({ url: 'https://two.example.com/', events: ['asset.created'] })).id;
    const at = async (createdAt: Date) => delivered(one, { createdAt }, { createdAt });
    const old = await at(new Date('2026-07-01T10:30:00Z'));
    const later = await at(new Date('2026-07-01T10:31:00Z'));
    const failed = await delivered(one, { state: 'EXHAUSTED', settledAt: new Date() });
    const other = await delivered(two);
    const all = [other.id, failed.id, later.id, old.id];
    expect(await found('')).toEqual(all);
    expect(await found(`subscription=${one}&event=&state=&since=&until=`)).toEqual([failed.id, later.id, old.id]);
    expect(await found('state=EXHAUSTED')).toEqual([failed.id]);
    expect(await found('event=asset.created')).toEqual([other.id]);
    expect(await found('event=asset.created&state=EXHAUSTED')).toEqual([]);
    expect(await found(`event=${failed.eventId}`)).toEqual([failed.id]);
    expect(await found(`event=ticket.created&subscription=${one}&until=2026-07-02T00:00`)).toEqual([later.id, old.id]);

    // The filters interpret times in the user's time zone.
    expect(await found('since=2026-07-01T10:30&until=2026-07-01T10:31')).toEqual([old.id]);
    await api.prisma.user.updateMany({ where: { id: mine.userId }, data: { timeZone: 'Europe/Berlin' } });
    const berlin = await admin.get(`${list}?since=2026-07-01T12:30&until=2026-07-01T12:31`);
    expect(idsIn(berlin.text)).toEqual([old.id]);
    expect(berlin.text).toContain('Since (Europe/Berlin)');
    expect(berlin.text).toContain('value="2026-07-01T12:30"');
    expect(await found('since=2026-07-01T12:31')).toEqual(all.slice(0, 3));
    await api.prisma.user.updateMany({ where: { id: mine.userId }, data: { timeZone: null } });

    const none = await admin.get(`${list}?state=CANCELLED`);
    expect(none.text).toContain('Show all deliveries');
    const times = ['since=now', 'since=0000-01-01T00:00', 'until=2026-02-30T00:00', 'until=10000-01-01T00:00'];
    for (const wrong of ['state=LOST', 'subscription=x', 'page=0', 'page=2001', 'event=evt_%00', 'other=1', ...times]) {
      expect((await admin.get(`${list}?${wrong}`)).status, wrong).toBe(400);
    }
  });

  it('paginates a filtered list of deliveries when thousands of other deliveries exist', async () => {
    const many = await createWorkspace(api);
    const { id } = await many.createWebhook();
    await execute(
      api.databaseUrl,
      `WITH event AS (
         INSERT INTO events (tenant_id, public_id, type, body)
           SELECT ${many.tenantId}, 'evt_page_' || n, CASE WHEN n > 120 THEN 'asset.created' ELSE 'ticket.created' END, '{}'
           FROM generate_series(1, 3000) n RETURNING id)
       INSERT INTO deliveries (tenant_id, subscription_id, event_id) SELECT ${many.tenantId}, ${id}, id FROM event ORDER BY id`,
    );
    const visitor = await signIn(api, many);
    const seen: number[] = [];
    for (let address: string | undefined = `${list}?state=PENDING&event=ticket.created`; address !== undefined; ) {
      const { text }: { text: string } = await visitor.get(address);
      seen.push(...idsIn(text));
      address = /href="([^"]+)" rel="next"/.exec(text)?.[1]?.replaceAll('&amp;', '&');
    }
    expect(seen).toHaveLength(120);
    expect(seen).toEqual([...new Set(seen)].sort((a, b) => b - a));
  });

  it('shows users with the role AGENT only deliveries of webhooks that their API keys created', async () => {
    const { id: userId } = await mine.createUser({ role: 'AGENT' });
    const agent = await signIn(api, { tenantId: mine.tenantId, userId });
    const theirs = (await mine.createWebhook()).id;
    const others = await delivered((await mine.createWebhook()).id);
    const key = await api.prisma.apiKey.findFirstOrThrow({ where: { tenantId: mine.tenantId } });
    const made = await api.prisma.apiKey.create({
      data: {
        tenantId: mine.tenantId,
        userId,
        name: 'x',
        hash: new Uint8Array([1]),
        lastFour: 'xxxx',
        scopes: key.scopes,
      },
    });
    await api.prisma.webhookSubscription.updateMany({ where: { id: theirs }, data: { keyId: made.id } });
    const own = await delivered(theirs);
    expect(await found('', agent)).toEqual([own.id]);
    expect((await agent.get(`${list}/${own.id}`)).text).not.toContain('form=replay');
    const token = await agent.tokenOf('/developer/account');
    expect((await agent.submit(`${list}/${own.id}`, 'replay', {}, token)).status).toBe(403);
    expect((await agent.get(`${list}/${others.id}`)).text).toBe((await agent.get(`${list}/999999`)).text);
    expect(await found(`subscription=${others.webhookId}`, agent)).toEqual([]);
  });
});

it('converts local times to UTC around daylight saving changes', () => {
  const berlin = (time: string) => parseLocalTime(time, 'Europe/Berlin').toISOString();
  expect(berlin('2026-03-29T01:59')).toBe('2026-03-29T00:59:00.000Z');
  expect(berlin('2026-03-29T03:00')).toBe('2026-03-29T01:00:00.000Z');
  expect(berlin('2026-10-25T02:30')).toBe('2026-10-25T00:30:00.000Z');
  expect(berlin('2026-10-25T03:00')).toBe('2026-10-25T02:00:00.000Z');
  expect(parseLocalTime('2026-10-25T03:00:01.5', 'America/St_Johns').toISOString()).toBe('2026-10-25T05:30:01.000Z');
  expect(parseLocalTime('2026-10-25T03:00', 'No/Where').toISOString()).toBe('2026-10-25T03:00:00.000Z');
  expect(parseLocalTime('9999-12-31T23:59', null).toISOString()).toBe('9999-12-31T23:59:00.000Z');
  // If daylight saving time skips a local time, the parsed time is at most one hour off.
  expect(Math.abs(Date.parse(berlin('2026-03-29T02:30')) - Date.parse('2026-03-29T01:30Z'))).toBeLessThanOrEqual(
    3_600_000,
  );
});

describe('/developer/deliveries/:id', () => {
  const script = '<script>alert(1)</script>';

  it('escapes the headers and attempts on a delivery page', async () => {
    const { id: webhookId } = await mine.createWebhook({
      url: 'https://hooks.example.com/<script>',
      secret: 'most secret',
    });
    const ticket = { id: 4711, ticketNumber: 'INC-4711', title: script };
    const event = { publicId: 'evt_of_a_ticket', body: JSON.stringify({ type: 'ticket.created', ticket }) };
    const { id } = await delivered(webhookId, { state: 'EXHAUSTED', settledAt: new Date(), attempts: 3 }, event);
    const attempt = { tenantId: mine.tenantId, deliveryId: BigInt(id), startedAt: new Date('2026-11-20T10:00:00Z') };
    await api.prisma.deliveryAttempt.createMany({
      data: [
        { ...attempt, number: 1, durationMs: 15_000, error: `no answer ${script}` },
        { ...attempt, number: 2, durationMs: 7, status: 500, publicAnswer: `${script}${'y'.repeat(1000)}` },
        { ...attempt, number: 3, durationMs: 8, status: 500, answer: 'Sent in confidence' },
      ],
    });
    const { text } = await admin.get(`${list}/${id}`);
    expect(text).not.toContain(script);
    expect(text).not.toContain('in confidence');
    expect(text).not.toContain('most secret');
    expect(text).toContain('href="/developer/tickets/4711">INC-4711');
    expect(text).toContain('Attempt 2</b>');
    expect(text).toContain('took 15000 ms');
    expect(text).toContain('itsm deliveries show');
    for (const header of [
      'x-service-signature: ',
      'webhook-id: evt_of_a_ticket',
      'webhook-timestamp: 1795168800',
      'webhook-signature: v1,',
      'x-service-attempt: 3',
    ]) {
      expect(text).toContain(header);
    }
    expect(text).not.toContain('y'.repeat(400));
    expect((await admin.get(`${list}/${id}?answer=2`)).text).toContain('y'.repeat(1000));
  });

  it('truncates a large delivery body on the page, but not in the download', async () => {
    const { id: webhookId } = await mine.createWebhook();
    const body = `{"type": "ticket.created",  "x":"${'é'.repeat(60_000)}"}`;
    const { id } = await delivered(webhookId, {}, { body, publicId: 'evt_"large\r\n' });
    const { text } = await admin.get(`${list}/${id}`);
    expect(text).toContain('first 16 KiB of 118 KiB');
    expect(/é+/.exec(text)?.[0].length).toBeGreaterThan(8_000);
    expect(/é+/.exec(text)?.[0].length).toBeLessThanOrEqual(8 * 1024);
    expect(text).not.toContain('\ufffd');
    const file = await admin.get(`${list}/${id}?body=file`);
    expect(file.text).toBe(body);
    expect(file.headers['content-type']).toContain('application/json');
    expect(file.headers['content-disposition']).toMatch(/^attachment; filename="evt__large__.json"/);
  });

  it('shows the last 20 delivery attempts, or the last 100 on request', async () => {
    const { id } = await delivered((await mine.createWebhook()).id);
    await execute(
      api.databaseUrl,
      `INSERT INTO delivery_attempts (tenant_id, delivery_id, number, started_at, duration_ms, status, public_answer)
       SELECT ${mine.tenantId}, ${id}, n, now(), n, 500, repeat(md5(n::text), 128) FROM generate_series(1, 100) n`,
    );
    const count = async (query: string) =>
      [...(await admin.get(`${list}/${id}${query}`)).text.matchAll(/id="attempt-/g)].length;
    expect(await count('')).toBe(20);
    expect(await count('?attempts=100')).toBe(100);
  });

  it('numbers delivery attempts consecutively across replays', async () => {
    const { id } = await delivered((await mine.createWebhook()).id);
    await execute(
      api.databaseUrl,
      `INSERT INTO delivery_attempts (tenant_id, delivery_id, number, started_at, duration_ms, status)
       SELECT ${mine.tenantId}, ${id}, n, now(), n, 500 FROM generate_series(1, 13) replay, generate_series(1, 10) n`,
    );
    const { text } = await admin.get(`${list}/${id}?attempts=100`);
    const numbers = [...text.matchAll(/Attempt (\d+)<\/b>/g)].map(([, number]) => Number(number));
    expect([numbers.length, numbers[0], numbers.at(-1)]).toEqual([100, 130, 31]);
  });

  it('shows a delivery as due if its next attempt is in the past', async () => {
    const { id } = await delivered((await mine.createWebhook()).id, {
      nextAttemptAt: new Date('2026-07-01T10:30:00Z'),
    });
    expect((await admin.get(`${list}/${id}`)).text).toContain('<dt>Next attempt</dt><dd>due</dd>');
    expect((await admin.get(list)).text).toContain('<span class="next">next due</span>');
  });

  it('refreshes the page of a replayed delivery while an attempt is due soon', async () => {
    const { id } = await delivered((await mine.createWebhook()).id, {
      state: 'EXHAUSTED',
      settledAt: new Date(),
      attempts: 9,
    });
    const path = `${list}/${id}`;
    expect((await admin.get(path)).text).not.toContain('http-equiv="refresh"');
    const again = await admin.submitAndFollow(path, 'replay');
    expect(again.text).toContain('>pending<');
    expect(again.text).toContain('http-equiv="refresh"');
    await api.prisma.delivery.updateMany({ where: { id }, data: { nextAttemptAt: new Date(Date.now() + 3_600_000) } });
    expect((await admin.get(path)).text).not.toContain('http-equiv="refresh"');
  });

  it('refreshes delivery pages and shows when they were loaded while a delivery is pending', async () => {
    const { id: webhook } = await mine.createWebhook();
    const nextAttemptAt = new Date(Date.now() + 3_600_000);
    const { id } = await delivered(webhook, { state: 'PENDING', settledAt: null, nextAttemptAt });
    const pages = [`${list}/${id}`, `${list}?subscription=${webhook}`, `/developer/webhooks/${webhook}`];
    for (const path of pages) {
      expect((await admin.get(path)).text).toMatch(/<main [^>]*data-reload="10">[\s\S]*As of <time [\s\S]*>Refresh</);
    }
    await api.prisma.delivery.updateMany({ where: { id }, data: { state: 'DELIVERED', settledAt: new Date() } });
    for (const path of pages) expect((await admin.get(path)).text).not.toMatch(/data-reload|As of/);
  });

  it('returns the same 404 page for deliveries of another workspace and unknown deliveries', async () => {
    const { id } = await delivered((await mine.createWebhook()).id);
    const stranger = await signIn(api, await createWorkspace(api));
    const missing = (await stranger.get(`${list}/999999`)).text;
    for (const address of [`${list}/${id}`, `${list}/${id}?body=file`]) {
      const response = await stranger.get(address);
      expect([response.status, response.text]).toEqual([404, missing]);
    }
    const token = await stranger.tokenOf('/developer/account');
    const [theirs, none] = [
      await stranger.submit(`${list}/${id}`, 'replay', {}, token),
      await stranger.submit(`${list}/999999`, 'replay', {}, token),
    ];
    expect([theirs.status, theirs.text]).toEqual([404, none.text]);
    expect(await found('', stranger)).toEqual([]);
  });
});
