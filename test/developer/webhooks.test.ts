import { replaySome } from '@itsm-api/server/webhooks/maintenance/replay.ts';
import { Webhook as StandardWebhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Answer } from '../support/api.ts';
import { execute } from '../support/database.ts';
import { type Receiver, type Respond, startReceiver } from '../support/receiver.ts';
import { eventually, type Sender, startSender } from '../support/sender.ts';
import { etagOf, type Fields, signIn, type Visitor } from '../support/visitor.ts';
import { createWorkspace, type Workspace } from '../support/workspace.ts';

/* Tests the webhook pages as an administrator in a browser without scripts. */
let sender: Sender;
let mine: Workspace;
let admin: Visitor;
const receivers: Receiver[] = [];

beforeAll(async () => {
  sender = await startSender();
  mine = await createWorkspace(sender.api);
  admin = await signIn(sender.api, mine);
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

const list = '/developer/webhooks';
const pathOf = (id: number) => `${list}/${id}`;
const secretIn = ({ text }: Answer) => /whsec_[\w+/]+=*/.exec(text)?.[0];

/** Creates a webhook in the workspace and a receiver for its deliveries. */
async function webhook(respond?: Respond) {
  const receiver = await receive(respond);
  const { id } = await mine.createWebhook({ url: receiver.url });
  return { id, path: pathOf(id), receiver };
}

describe('/developer/webhooks/new', () => {
  it('shows the signing secret of a new webhook once, and the response to a test event', async () => {
    const receiver = await receive();
    const fields = { url: receiver.url, events: ['ticket.created', 'asset.created'], filter: '', secret: '' };
    const made = await admin.submit(`${list}/new`, 'create', fields);
    expect(made.status).toBe(303);
    const shown = await admin.get(made.headers.location as string);
    const secret = secretIn(shown) ?? '';
    expect(shown.headers['cache-control']).toBe('no-store');
    // The page must not refresh itself, because a refreshed page no longer contains the secret.
    expect(shown.text).not.toContain('http-equiv="refresh"');
    expect(secretIn(await admin.get(made.headers.location as string))).toBeUndefined();

    const page = await eventually(async () => {
      const { text } = await admin.get(made.headers.location as string);
      expect(text).toMatch(/Test event:<\/b> <span class="badge good">200<\/span> in \d+ ms/);
      return text;
    });
    expect(page).not.toContain('http-equiv="refresh"');
    const [first] = receiver.received;
    expect(new StandardWebhook(secret).verify(first?.body ?? '', first?.headers ?? {})).toMatchObject({
      type: 'ticket.created',
    });
    expect((await admin.get(list)).text).toContain(`127.0.0.1:${receiver.port}/hook`);
  });

  it('shows all errors of a webhook form at once, next to the fields and clears the entered secret', async () => {
    const before = (await mine.call('GET', '/webhooks')).body.meta.totalCount;
    const typed = { url: 'ftp://<script>x', events: ['ticket.created'], filter: 'priority=', secret: 'x'.repeat(300) };
    const rejected = await admin.submit(`${list}/new`, 'create', typed);
    expect(rejected.status).toBe(400);
    expect(rejected.text).toContain('value="ftp://&lt;script&gt;x"');
    expect(rejected.text).not.toContain('x'.repeat(300));
    for (const name of ['url', 'filter', 'secret']) expect(rejected.text).toContain(`id="error-${name}"`);
    const url = 'https://hooks.example.com/';
    for (const [field, sent, message] of [
      ['url', { url: 'http://169.254.169.254/', events: ['ticket.created'] }, 'has a host that this server blocks'],
      ['events', { url }, 'at least 1'],
      ['filter', { url, events: ['ticket.created'], filter: 'priority=URGENT' }, 'LOW'],
      ['filter', { url, events: ['ticket.created'], filter: '{"priority": ' }, 'JSON'],
      ['filter', { url, events: ['ticket.created'], filter: 'priority=LOW\r\npriority=HIGH' }, 'priority twice'],
      [
        'filter',
        { url, events: ['ticket.created', 'task.updated'], filter: 'category=NETWORK' },
        'is not a filterable field of',
      ],
    ] as const) {
      const { status, text } = await admin.submit(`${list}/new`, 'create', { filter: '', secret: '', ...sent });
      expect(status).toBe(400);
      expect(/id="error-(\w+)">([^<]*)/.exec(text)?.slice(1), field).toEqual([field, expect.stringContaining(message)]);
    }
    expect((await mine.call('GET', '/webhooks')).body.meta.totalCount).toBe(before);
  });

  it('creates a filter from selected values and from text, and shows both again', async () => {
    const fields = {
      ...{
        url: 'https://hooks.example.com/',
        events: 'ticket.created',
        secret: '',
        'filter.priority': ['HIGH', 'LOW'],
      },
      ...{ 'filter.status': 'OPEN', filter: 'assigneeId=null\r\npriority=CRITICAL' },
    };
    const { headers } = await admin.submit(`${list}/new`, 'create', fields);
    const path = String(headers.location).split('?')[0] as string;
    const read = async () => (await mine.call('GET', path.replace('/developer', ''))).body.data.filter;
    const filter = { priority: ['CRITICAL', 'HIGH', 'LOW'], status: ['OPEN'], assigneeId: [null] };
    expect(await read()).toEqual(filter);
    const { text } = await admin.get(path);
    expect(text).toMatch(/name="filter.priority" value="LOW" checked/);
    expect(text).toContain('>\nassigneeId=null</textarea>');
    const etag = await etagOf(admin, path);
    const change = { url: fields.url, events: fields.events, 'filter.priority': 'URGENT', filter: '', etag };
    expect((await admin.submit(path, 'change', change)).text).toContain('id="error-filter">priority');
    await admin.submit(path, 'change', { ...change, 'filter.priority': [] });
    expect(await read()).toBeNull();
  });
});

describe('/developer/webhooks/:id', () => {
  it('shows why a webhook is paused and resumes the webhook', async () => {
    let status = 410;
    const { path } = await webhook((_, response) => response.writeHead(status).end());
    expect((await admin.get(path)).text).toContain('>HEALTHY<');
    await admin.submitAndFollow(path, 'test');
    const paused = await eventually(async () => {
      const { text } = await admin.get(path);
      expect(text).toContain(
        '<span class="badge bad">PAUSED</span> The endpoint returned 410 Gone. Next attempt <time',
      );
      return text;
    });
    expect(paused).toContain('form=resume');
    status = 200;
    await admin.submitAndFollow(path, 'resume');
    await sender.advance(10_000);
    await eventually(async () => expect((await admin.get(path)).text).toContain('>delivered<'));

    const held = await admin.submitAndFollow(path, 'pause');
    expect(held.text).toContain('<span class="badge bad">PAUSED</span> Paused by its owner.</dd>');
    expect((await admin.get(list)).text).toContain('Paused by its owner.');
    expect((await admin.submitAndFollow(path, 'resume')).text).toContain('>HEALTHY<');
  });

  it('changes a webhook, and rejects a change with an outdated ETag', async () => {
    const { id, path } = await webhook();
    await mine.call('PATCH', `/webhooks/${id}`, { filter: { title: ['a, b', 'c'], type: ['INCIDENT'] } });
    const zeros = await mine.createWebhook({ events: ['ticket.created'], filter: { categoryConfigId: ['0042', '7'] } });
    const shown = await admin.get(`${list}/${zeros.id}`);
    expect([shown.status, shown.text]).toEqual([200, expect.stringContaining('0042')]);
    const { text } = await admin.get(path);
    // If a filter value contains a comma, the page shows the value as JSON.
    expect(text).toContain('&quot;a, b&quot;');
    const etag = /name="etag" value="([^"]*)"/.exec(text)?.[1]?.replaceAll('&quot;', '"') ?? '';
    const fields = { url: 'https://hooks.example.com/new', events: 'ticket.updated', etag };
    const changed = await admin.submitAndFollow(path, 'change', {
      ...fields,
      filter: 'priority=HIGH,CRITICAL\r\nassigneeId=null',
    });
    expect(changed.text).toContain('priority=HIGH,CRITICAL');
    expect((await mine.call('GET', `/webhooks/${id}`)).body.data).toMatchObject({
      url: 'https://hooks.example.com/new',
      events: ['ticket.updated'],
      filter: { priority: ['HIGH', 'CRITICAL'], assigneeId: [null] },
    });
    const late = await admin.submit(path, 'change', { ...fields, filter: '' });
    expect(late.status).toBe(412);
    expect(late.text).toContain('changed since you opened the page');
  });

  it('shows a rotated signing secret once, and signs with the new and the previous secret', async () => {
    const { path, receiver } = await webhook();
    const secrets: string[] = [];
    for (let times = 0; times < 2; times++) {
      secrets.push(secretIn(await admin.submitAndFollow(path, 'secret', { secret: '' })) ?? 'none');
    }
    expect(secretIn(await admin.get(path))).toBeUndefined();
    await admin.submit(path, 'test');
    const { headers, body } = await eventually(() => {
      expect(receiver.received).toHaveLength(1);
      return receiver.received[0] as Receiver['received'][0];
    });
    for (const secret of secrets) expect(() => new StandardWebhook(secret).verify(body, headers)).not.toThrow();
  });

  it('deactivates a webhook after a confirmation and reactivates it', async () => {
    const { path } = await webhook();
    const unconfirmed = await admin.submit(path, 'delete');
    expect(unconfirmed).toMatchObject({
      status: 400,
      text: expect.stringContaining('<a href="#field-sure">Confirmation</a> must be selected'),
    });
    const left = await admin.submitAndFollow(path, 'delete', { sure: 'yes' });
    expect(left.text).not.toContain(`href="${path}"`);
    expect((await admin.get(`${list}?all=yes`)).text).toContain(`href="${path}"`);
    expect((await admin.get(path)).text).toContain('This webhook was deactivated');
    expect((await admin.submitAndFollow(path, 'activate')).text).toContain('>HEALTHY<');
  });
});

describe('replays', () => {
  it('shows the progress of a replay until it finishes', async () => {
    await sender.stopWorkers();
    const { id, path } = await webhook();
    await execute(
      sender.api.databaseUrl,
      `WITH event AS (
         INSERT INTO events (tenant_id, public_id, type, body)
           SELECT ${mine.tenantId}, 'evt_replay_' || n, 'ticket.created', '{}' FROM generate_series(1, 1500) n RETURNING id)
       INSERT INTO deliveries (tenant_id, subscription_id, event_id, state, settled_at)
         SELECT ${mine.tenantId}, ${id}, id, 'EXHAUSTED', now() FROM event`,
    );
    const late = await admin.submit(path, 'replay', { since: '2999-01-01T00:00' });
    expect([late.status, late.text.includes('must not be in the future')]).toEqual([400, true]);
    const started = await admin.submit(path, 'replay', { since: '2020-01-01T00:00' });
    const progress = started.headers.location as string;
    const at = async () => (await admin.get(progress)).text;
    expect(await at()).toMatch(/http-equiv="refresh" content="1"[\s\S]*Counting failed deliveries/);
    await replaySome(sender.api.prisma);
    expect(await at()).toMatch(/<progress max="1500" value="1000"[\s\S]*1000 of 1500 deliveries queued again/);
    await replaySome(sender.api.prisma);
    const done = await at();
    expect(done).toMatch(/<progress max="1" value="1"[\s\S]*1500 deliveries queued again/);
    expect(done).not.toContain('http-equiv="refresh"');
    expect((await admin.get(path)).text).toContain(`href="${progress}"`);
    await sender.startWorker();
  });
});

describe('permissions', () => {
  it('returns the same 404 page for webhooks of another workspace and unknown webhooks', async () => {
    const { id, path } = await webhook();
    await mine.call('POST', `/webhooks/${id}/replay`, { since: '2020-01-01T00:00:00Z' });
    const replay = await sender.api.prisma.webhookReplay.findFirstOrThrow({ where: { subscriptionId: id } });
    const stranger = await signIn(sender.api, await createWorkspace(sender.api));
    const token = await stranger.tokenOf(`${list}/new`);
    const own = await webhookOf(stranger);
    const none = 999_999;
    for (const [address, missing] of [
      [path, pathOf(none)],
      [`${path}/replays/${replay.id}`, `${pathOf(none)}/replays/${none}`],
      [`${own}/replays/${replay.id}`, `${own}/replays/${none}`],
      [`${own}?test=${await testOf(id)}`, `${own}?test=${none}`],
      [`${list}/x`, pathOf(0)],
    ] as const) {
      const [there, absent] = [await stranger.get(address), await stranger.get(missing)];
      expect([there.status, there.text], address).toEqual([404, absent.text]);
    }
    const changes = { url: 'https://a.example.com/', events: 'ticket.created', filter: '', etag: '"x"' };
    const forms: Record<string, Fields> = {
      ...{ test: {}, pause: {}, resume: {}, activate: {}, change: changes, delete: { sure: 'yes' } },
      ...{ secret: { secret: '' }, replay: { since: '2020-01-01T00:00' } },
    };
    for (const [form, fields] of Object.entries(forms)) {
      const theirs = await stranger.submit(path, form, fields, token);
      const unknown = await stranger.submit(pathOf(none), form, fields, token);
      expect([theirs.status, theirs.text], form).toEqual([404, unknown.text]);
    }
    expect((await mine.call('GET', `/webhooks/${id}`)).body.data).toMatchObject({ active: true, pausedAt: null });
  });

  it('returns 403 for webhook pages and forms to users with the role AGENT', async () => {
    const { path } = await webhook();
    const { id: userId } = await mine.createUser({ role: 'AGENT' });
    const agent = await signIn(sender.api, { tenantId: mine.tenantId, userId });
    const token = await agent.tokenOf('/developer/account');
    for (const address of [list, `${list}/new`, path]) {
      const { status, text } = await agent.get(address);
      expect([status, text.includes('Only administrators')], address).toEqual([403, true]);
    }
    expect((await agent.submit(path, 'pause', {}, token)).status).toBe(403);
    expect((await agent.get('/developer/account')).text).not.toContain(`href="${list}"`);
  });
});

/** Creates a webhook in another workspace. Returns the path of its page. */
async function webhookOf(stranger: Visitor): Promise<string> {
  const fields = { url: 'https://a.example.com/', events: 'ticket.created', filter: '', secret: 'of a stranger' };
  const { headers } = await stranger.submit(`${list}/new`, 'create', fields);
  return (headers.location as string).split('?')[0] as string;
}

async function testOf(webhookId: number): Promise<number> {
  return (await mine.call('POST', `/webhooks/${webhookId}/test`)).body.data.id;
}
