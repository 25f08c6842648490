import { deliveryBody, EventType, type Webhook } from '@itsm-api/contract';
import { toTenantId } from '@itsm-api/server/shared/tenant-id.ts';
import { describe, expect } from 'vitest';
import { errorOf, startApi } from '../support/api.ts';
import { api, it, workspace } from '../support/fixture.ts';
import { createWorkspace, ticket, type Workspace, webhook } from '../support/workspace.ts';

const create = (fields: object = {}, owner = workspace) => owner.call('POST', '/webhooks', { ...webhook, ...fields });
const list = (owner: Workspace, query = '') => owner.call('GET', `/webhooks${query}`);

const storedRow = (id: number) => api.prisma.webhookSubscription.findFirstOrThrow({ where: { id } });

describe('POST /webhooks', () => {
  it('returns a new subscription as active and without its secret', async () => {
    const answer = await create({ url: 'https://hooks.example.com:8443/a%20b?x=1&y=ü#z' });
    expect(answer.status).toBe(201);
    const timestamp = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    expect(answer.body).toEqual({
      success: true,
      data: {
        id: expect.any(Number),
        url: 'https://hooks.example.com:8443/a%20b?x=1&y=ü#z',
        events: ['ticket.created', 'ticket.updated'],
        filter: null,
        skipOwn: false,
        active: true,
        health: 'HEALTHY',
        nextAttemptAt: null,
        lastSuccessAt: null,
        lastFailureAt: null,
        pausedAt: null,
        pausedReason: null,
        createdAt: timestamp,
        updatedAt: timestamp,
        etag: expect.any(String),
      },
    });
  });

  it('returns a generated signing secret only when a subscription is created', async () => {
    const owner = await createWorkspace(api);
    const made = await create({ secret: undefined }, owner);
    expect(made.status, made.text).toBe(201);
    const { secret, ...webhook } = made.body.data;
    const { id } = webhook;
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    const row = await storedRow(id);
    const place = { tenantId: owner.tenantId, subscriptionId: BigInt(id) };
    expect(api.services.secretCipher.decrypt(row.secret, place)).toBe(secret);
    expect((await owner.call('GET', `/webhooks/${id}`)).body.data).toEqual(webhook);
    expect((await create({ secret: undefined }, owner)).body.data.secret).not.toBe(secret);
  });

  it('creates a paused subscription that PATCH resumes', async () => {
    const owner = await createWorkspace(api);
    const { status, body } = await create({ paused: true }, owner);
    expect(status).toBe(201);
    const pause = { health: 'PAUSED', pausedAt: expect.any(String), pausedReason: 'Paused by its owner.' };
    expect(body.data).toMatchObject({ active: true, ...pause, nextAttemptAt: null });
    expect((await list(owner)).body.data).toEqual([body.data]);
    const resumed = await owner.call('PATCH', `/webhooks/${body.data.id}`, { paused: false });
    expect(resumed.body.data).toMatchObject({ health: 'HEALTHY', pausedAt: null, pausedReason: null });
    expect((await create({ paused: false }, owner)).body.data.health).toBe('HEALTHY');
  });

  it('removes duplicate event types from a new subscription', async () => {
    const { data } = (await create({ events: ['task.updated', 'asset.created', 'task.updated'] })).body;
    expect(data.events).toEqual(['task.updated', 'asset.created']);
    expect((await create({ events: EventType.options })).body.data.events).toEqual(EventType.options);
  });

  it.each<[string, object, string]>([
    ['a missing url', { url: undefined }, 'url'],
    ['missing events', { events: undefined }, 'events'],
    ['null as url', { url: null }, 'url'],
    ['an empty secret', { secret: '' }, 'secret'],
    ['a secret of 257 characters', { secret: 'x'.repeat(257) }, 'secret'],
    ['NUL in the secret', { secret: 'hidden\0' }, 'secret'],
    ['a lone surrogate in the secret', { secret: 'hidden\ud800' }, 'secret'],
    ['a secret that is not a string', { secret: 12345 }, 'secret'],
    ['a pause that is not a boolean', { paused: 'yes' }, 'paused'],
    ['no events', { events: [] }, 'events'],
    ['an event without an array', { events: 'ticket.created' }, 'events'],
    ['an unknown event', { events: ['ticket.created', 'ticket.deleted'] }, 'events.1'],
    ['a wildcard event', { events: ['*'] }, 'events.0'],
    ['active', { active: true }, 'active'],
  ])('rejects a subscription with %s', async (_, fields, path) => {
    const answer = await create(fields);
    expect(errorOf(answer)).toMatchObject({ code: 'VALIDATION_ERROR', details: [{ path }] });
    expect(answer.text).not.toMatch(/hidden|12345/);
  });

  it.each([
    ['one character', 's'],
    ['a space', ' '],
    ['spaces around it', '  not trimmed\n'],
    ['non-ASCII characters', 'ünïcödé 🔑'],
    ['256 characters', 's3cr3t!!'.repeat(32)],
  ])('stores a signing secret with %s, but never returns it', async (_, secret) => {
    const owner = await createWorkspace(api);
    const made = await create({ secret }, owner);
    expect(made.status, made.text).toBe(201);
    const { id } = made.body.data;
    const row = await storedRow(id);
    const place = { tenantId: owner.tenantId, subscriptionId: BigInt(id) };
    expect(api.services.secretCipher.decrypt(row.secret, place)).toBe(secret);
    expect(() => api.services.secretCipher.decrypt(row.secret, { ...place, subscriptionId: BigInt(id + 1) })).toThrow();
    expect(() =>
      api.services.secretCipher.decrypt(row.secret, { ...place, tenantId: toTenantId(owner.tenantId + 1n) }),
    ).toThrow();
    for (const answer of [made, await list(owner), await owner.call('DELETE', `/webhooks/${id}`)]) {
      expect(answer.text).not.toMatch(/secret/i);
      if (secret.length > 1) expect(answer.text).not.toContain(JSON.stringify(secret).slice(1, -1));
    }
  });

  it('stores signing secrets only in encrypted form', async () => {
    const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
    const [first, second] = [(await create({ secret })).body.data, (await create({ secret })).body.data];
    const [a, b] = [await storedRow(first.id), await storedRow(second.id)];
    // Encrypting a secret twice must create different ciphertexts.
    expect(Buffer.from(a.secret).equals(Buffer.from(b.secret))).toBe(false);
    const [{ text } = { text: '' }] = await api.prisma.$queryRaw<{ text: string }[]>`
      SELECT encode(secret, 'escape') || row_to_json(w)::text AS text FROM webhook_subscriptions w WHERE id = ${first.id}`;
    for (const encoding of ['utf8', 'hex', 'base64'] as const) {
      expect(text).not.toContain(Buffer.from(secret).toString(encoding));
      expect(text).not.toContain(Buffer.from(secret.slice('whsec_'.length)).toString(encoding));
    }
  });

  describe('url', () => {
    const noUrl = [
      '',
      'hooks.example.com',
      '/hook',
      '//example.com',
      'https:example.com',
      ' https://example.com',
      'https://exam\nple.com',
      'https://',
      'https:///',
      'https://a b.example.com',
      'https://example.com:99999',
      'https://256.256.256.256',
      'https://[::g]',
      'https://exa\0mple.com',
      'https://example.com/\ud800',
    ];
    const otherScheme = [
      'ftp://example.com',
      'file:///etc/passwd',
      'javascript:alert(1)',
      'ws://example.com',
      'wss://example.com',
      'data:text/plain,x',
      'gopher://example.com',
    ];
    const userInfo = [
      'https://user@example.com',
      'https://user:password@example.com',
      'https://:password@example.com',
      'https://example.com@evil.example.com',
    ];
    const privateV4 = [
      '127.0.0.1',
      '127.1',
      '127.0.1',
      '2130706433',
      '0x7f000001',
      '0x7f.0.0.1',
      '0177.0.0.1',
      '017700000001',
      '127.0.0.1.',
      '127.0.0.1..',
      '①②⑦.⓪.⓪.①',
      '%31%32%37.0.0.1',
      '127。0。0。1',
      '127.255.255.254',
      '0.0.0.0',
      '0',
      '10.0.0.1',
      '0xa000001',
      '172.16.0.1',
      '172.31.255.255',
      '192.168.1.1',
      '169.254.169.254',
      '100.64.0.1',
      '192.0.0.1',
      '192.0.2.1',
      '198.18.0.1',
      '198.51.100.1',
      '203.0.113.1',
      '224.0.0.1',
      '240.0.0.1',
      '255.255.255.255',
    ];
    const privateV6 = [
      '::1',
      '::',
      '0:0:0:0:0:0:0:1',
      '::ffff:127.0.0.1',
      '::ffff:7f00:1',
      '::ffff:10.0.0.1',
      '::127.0.0.1',
      '::a00:1',
      'fe80::1',
      'fec0::1',
      'fc00::1',
      'fd12:3456::1',
      'ff02::1',
      '100::1',
      '2001:db8::1',
      '2001::1',
      '64:ff9b::127.0.0.1',
      '64:ff9b:1::a00:1',
      '2002:7f00:1::',
    ];
    const names = [
      'localhost',
      'LOCALHOST',
      'localhost.',
      'localhost..',
      'app.localhost',
      'ｌocalhost',
      'intranet',
      'intranet.',
      'nas.local',
      'db.internal',
      'router.home.arpa',
    ];

    it.each([
      ...noUrl,
      ...otherScheme,
      ...userInfo,
      'http://example.com',
      ...[...privateV4, ...privateV6.map((address) => `[${address}]`), ...names].map((host) => `https://${host}/hook`),
    ])('rejects the webhook URL %j', async (url) => {
      const answer = await create({ url });
      expect(answer.status, answer.text).toBe(400);
      expect(errorOf(answer)).toMatchObject({ code: 'VALIDATION_ERROR', details: [{ path: 'url' }] });
    });

    it.each([
      'https://example.com',
      'HTTPS://Example.COM/',
      'https://münchen.example/ö',
      'https://1.1.1.1/',
      'https://172.32.0.1',
      'https://[2606:4700:4700::1111]/',
      'https://localhost.example.com',
    ])('accepts the webhook URL %j and returns it unchanged', async (url) => {
      const answer = await create({ url });
      expect(answer.status, answer.text).toBe(201);
      expect(answer.body.data.url).toBe(url);
    });

    it('rejects a webhook URL of more than 2,048 characters', async () => {
      const urls = [2048, 2049].map((length) => 'https://example.com/'.padEnd(length, 'x'));
      const [longest, tooLong] = [await create({ url: urls[0] }), await create({ url: urls[1] })];
      expect(longest.body.data.url).toBe(urls[0]);
      expect(errorOf(tooLong)).toMatchObject({ code: 'VALIDATION_ERROR', details: [{ path: 'url' }] });
    });

    it('allows http URLs and private targets if WEBHOOK_ALLOW_PRIVATE_TARGETS is set', async () => {
      const open = await startApi({ env: { WEBHOOK_ALLOW_PRIVATE_TARGETS: 'true' } });
      const owner = await createWorkspace(open);
      const hosts = ['localhost:8080', '127.0.0.1', '10.0.0.1', '[::1]', 'intranet', 'hooks.example.com'];
      for (const url of hosts.flatMap((host) => [`http://${host}/hook`, `https://${host}/hook`])) {
        const answer = await create({ url }, owner);
        expect(answer.status, `${url} answered ${answer.text}`).toBe(201);
        expect(answer.body.data.url).toBe(url);
      }
      for (const url of [...noUrl, ...otherScheme, ...userInfo, 'http://user@localhost/']) {
        expect((await create({ url }, owner)).status, url).toBe(400);
      }
      await open.close();
    });
  });

  it('limits a workspace to 100 active subscriptions, even with concurrent requests', async () => {
    const owner = await createWorkspace(api);
    const others = await createWorkspace(api);
    for (let i = 0; i < 19; i++) await Promise.all(Array.from({ length: 5 }, () => owner.createWebhook()));
    const answers = await Promise.all(Array.from({ length: 10 }, () => create({}, owner)));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(5);
    const rejected = answers.filter(({ status }) => status !== 201).map(errorOf);
    expect(rejected.map(({ code }) => code)).toEqual(Array(5).fill('VALIDATION_ERROR'));
    expect(rejected[0]?.message).toContain('100');
    const { body } = await list(owner, '?perPage=100');
    expect([body.data.length, body.meta.totalCount]).toEqual([100, 100]);
    expect((await list(owner)).body.data).toEqual(body.data.slice(0, 20));

    await others.createWebhook();
    await owner.call('DELETE', `/webhooks/${body.data[0].id}`);
    expect([(await create({}, owner)).status, (await create({}, owner)).status]).toEqual([201, 400]);
  });
});

describe('GET /webhooks', () => {
  it('lists active subscriptions newest first', async () => {
    const owner = await createWorkspace(api);
    const made: Webhook[] = [];
    for (let i = 0; i < 5; i++) made.unshift(await owner.createWebhook());
    const gone = made.splice(2, 1)[0] as Webhook;
    await owner.call('DELETE', `/webhooks/${gone.id}`);
    expect((await list(owner)).body).toEqual({
      success: true,
      data: made,
      meta: { page: 1, perPage: 20, totalCount: 4 },
    });
  });

  it('lists a paused subscription as active, with its delivery health', async () => {
    const owner = await createWorkspace(api);
    const made = await owner.createWebhook();
    const health = { lastSuccessAt: 1, lastFailureAt: 2, pausedAt: 3 };
    const moments = Object.entries(health).map(([name, day]) => [name, `2026-11-0${day}T10:00:00.000Z`]);
    const paused = { ...Object.fromEntries(moments), pausedReason: 'The endpoint returned 410 Gone.' };
    await api.prisma.webhookSubscription.updateMany({ where: { id: made.id }, data: paused });
    const { data } = (await list(owner)).body;
    expect(data).toEqual([{ ...made, ...paused, health: 'PAUSED', updatedAt: data[0].updatedAt, etag: data[0].etag }]);
  });
});

describe('GET /webhooks/:id', () => {
  it('returns active and deactivated subscriptions by id, without their secrets', async () => {
    const owner = await createWorkspace(api);
    const made = await owner.createWebhook();
    expect((await owner.call('GET', `/webhooks/${made.id}`)).body).toEqual({ success: true, data: made });
    const deleted = await owner.call('DELETE', `/webhooks/${made.id}`);
    expect((await owner.call('GET', `/webhooks/${made.id}`)).body).toEqual(deleted.body);
  });
});

describe('DELETE /webhooks/:id', () => {
  it('deactivates a subscription on DELETE and removes it from the list', async () => {
    const owner = await createWorkspace(api);
    const { id, ...made } = await owner.createWebhook();
    const first = await owner.call('DELETE', `/webhooks/${id}`);
    expect(first.status).toBe(200);
    const { updatedAt, etag } = first.body.data;
    expect(first.body).toEqual({
      success: true,
      data: { ...made, id, active: false, health: 'INACTIVE', updatedAt, etag },
    });
    expect((await owner.call('DELETE', `/webhooks/${id}`)).body).toEqual(first.body);
    expect((await list(owner)).body).toMatchObject({ data: [], meta: { totalCount: 0 } });
  });
});

describe('the events in the outbox', () => {
  /**
   * Returns the events of a workspace, oldest first. Each event has its webhook body and the ids of its subscriptions.
   */
  async function readOutbox({ tenantId }: Workspace) {
    const rows = await api.prisma.event.findMany({
      where: { tenantId },
      include: { deliveries: { orderBy: { subscriptionId: 'asc' } } },
      orderBy: { id: 'asc' },
    });
    return rows.map(({ type, body, publicId, deliveries }) => {
      const sent = JSON.parse(body);
      // The schema rejects fields that the contract doesn't define.
      expect(deliveryBody(EventType.parse(type)).parse(sent)).toEqual(sent);
      expect(sent).toMatchObject({ id: publicId, type });
      expect(deliveries.every(({ state, tenantId: owner }) => state === 'PENDING' && owner === tenantId)).toBe(true);
      return { sent, to: deliveries.map(({ subscriptionId }) => Number(subscriptionId)) };
    });
  }

  /** Creates a workspace with one subscription, by default to all event types. */
  async function createSubscribedWorkspace(events: EventType[] = EventType.options) {
    const owner = await createWorkspace(api);
    return { owner, hook: await owner.createWebhook({ events }) };
  }

  const envelope = (type: EventType, { context: { userId, keyId } }: Workspace) => ({
    id: expect.stringMatching(/^evt_\w{16,}$/),
    type,
    timestamp: expect.any(String),
    actor: { userId: Number(userId), keyId: Number(keyId) },
  });

  it('emits ticket.created with the ticket that POST /tickets returned', async () => {
    const { owner, hook } = await createSubscribedWorkspace();
    const made = await owner.createTicket({ watcherUserIds: [owner.userId], customFields: { a: [1, 'ä', null] } });
    expect(await readOutbox(owner)).toEqual([
      { sent: { ...envelope('ticket.created', owner), ticket: made }, to: [hook.id] },
    ]);
  });

  it('emits ticket.updated with the changes and the ticket that PATCH returned', async () => {
    const { owner, hook } = await createSubscribedWorkspace(['ticket.updated']);
    const { id: parentId } = await owner.createTicket();
    const { id: assigneeId } = await owner.createUser();
    const before = await owner.createTicket({ customFields: { a: 1 } });
    const fields = { title: ' Other ', description: before.description, priority: 'MEDIUM', category: 'EMAIL' };
    const more = { status: 'RESOLVED', resolution: 'Done.', categoryConfigId: 'cfg', assigneeId, parentId };
    const body = { ...fields, ...more, watcherUserIds: [assigneeId], customFields: { b: [2] } };
    const { data } = (await owner.call('PATCH', `/tickets/${before.id}`, body)).body;
    const changes = {
      title: { from: 'VPN drops', to: 'Other' },
      category: { from: 'NETWORK', to: 'EMAIL' },
      status: { from: 'OPEN', to: 'RESOLVED' },
      resolution: { from: null, to: 'Done.' },
      categoryConfigId: { from: null, to: 'cfg' },
      assigneeId: { from: null, to: assigneeId },
      parentId: { from: null, to: parentId },
      watcherUserIds: { from: [], to: [assigneeId] },
      customFields: { from: { a: 1 }, to: { a: 1, b: [2] } },
      resolvedAt: { from: null, to: data.resolvedAt },
    };
    expect(await readOutbox(owner)).toEqual([
      { sent: { ...envelope('ticket.updated', owner), ticket: data, changes }, to: [hook.id] },
    ]);
  });

  it('emits task.updated with the changes and the task that PATCH returned', async () => {
    const { owner, hook } = await createSubscribedWorkspace();
    const { id } = await owner.createTask({ dueDate: '2026-11-27' });
    const body = { status: 'DONE', dueDate: '2026-11-28', title: 'Order cables' };
    const { data } = (await owner.call('PATCH', `/tasks/${id}`, body)).body;
    const changes = {
      status: { from: 'TODO', to: 'DONE' },
      dueDate: { from: '2026-11-27', to: '2026-11-28' },
      completedAt: { from: null, to: data.completedAt },
    };
    expect(await readOutbox(owner)).toEqual([
      { sent: { ...envelope('task.updated', owner), task: data, changes }, to: [hook.id] },
    ]);
  });

  it('emits asset.created with the asset that the asset list returns', async () => {
    const { owner, hook } = await createSubscribedWorkspace();
    await owner.createAsset({ purchaseCost: '7.5', purchaseDate: '2026-11-20', customFields: { a: 1 } });
    const [asset] = (await owner.call('GET', '/assets')).body.data;
    expect(await readOutbox(owner)).toEqual([{ sent: { ...envelope('asset.created', owner), asset }, to: [hook.id] }]);
  });

  it('creates a delivery only for active subscriptions to the event type', async () => {
    const owner = await createWorkspace(api);
    await createSubscribedWorkspace();
    const hooks: Webhook[] = [];
    for (const events of [
      ['ticket.created'],
      ['ticket.updated', 'ticket.created'],
      ['ticket.created', 'ticket.created'],
      ['ticket.updated', 'task.updated', 'asset.created'],
      ['ticket.created'],
      ['ticket.created'],
    ] satisfies EventType[][]) {
      hooks.push(await owner.createWebhook({ events }));
    }
    const [only, both, twice, other, paused, gone] = hooks.map(({ id }) => id);
    await api.prisma.webhookSubscription.updateMany({ where: { id: paused }, data: { pausedAt: new Date() } });
    await owner.call('DELETE', `/webhooks/${gone}`);

    const { id } = await owner.createTicket();
    await owner.call('PATCH', `/tickets/${id}`, { title: 'Changed' });
    expect((await readOutbox(owner)).map(({ sent, to }) => [sent.type, to])).toEqual([
      ['ticket.created', [only, both, twice, paused]],
      ['ticket.updated', [both, other]],
    ]);
  });

  it.each<[string, (owner: Workspace) => Promise<unknown>, EventType[]]>([
    ['a rejected ticket', (owner) => owner.call('POST', '/tickets', { ...ticket, title: '' }), []],
    [
      'a ticket with an unknown assignee',
      (owner) => owner.call('POST', '/tickets', { ...ticket, assigneeId: Number.MAX_SAFE_INTEGER }),
      [],
    ],
    [
      'ticket changes that are rejected or empty',
      async (owner) => {
        const { id } = await owner.createTicket();
        const patches = [
          [{ status: 'CLOSED', title: 'Changed' }, 400],
          [{ category: null }, 400],
          [{ parentId: id }, 400],
          [{ assigneeId: Number.MAX_SAFE_INTEGER, title: 'Changed' }, 400],
          [{ title: ` ${ticket.title} `, status: 'OPEN', watcherUserIds: [], customFields: { never: null } }, 200],
        ] as const;
        for (const [body, status] of patches) {
          expect((await owner.call('PATCH', `/tickets/${id}`, body)).status, JSON.stringify(body)).toBe(status);
        }
      },
      ['ticket.created'],
    ],
    [
      'a new task and task changes that are rejected or empty',
      async (owner) => {
        const { id } = await owner.createTask();
        expect((await owner.call('PATCH', `/tasks/${id}`, { status: 'TODO', dueDate: null })).status).toBe(200);
        expect((await owner.call('PATCH', `/tasks/${id}`, { status: 'NEW' })).status).toBe(400);
        expect((await owner.call('PATCH', `/tasks/${id}`, { assigneeId: 1e15, title: 'x' })).status).toBe(400);
      },
      [],
    ],
    [
      'a changed asset',
      async (owner) => {
        const { id } = await owner.createAsset();
        expect((await owner.call('PATCH', `/assets/${id}`, { status: 'LOST' })).status).toBe(200);
      },
      ['asset.created'],
    ],
    [
      'a second asset with the same tag in the API',
      async (owner) => {
        const body = { name: 'Laptop', assetTag: 'LT-1', type: 'LAPTOP' };
        expect((await owner.call('POST', '/assets', body)).status).toBe(201);
        expect((await owner.call('POST', '/assets', body)).status).toBe(400);
      },
      ['asset.created'],
    ],
    [
      'a rejected asset',
      async (owner) => {
        await owner.createAsset({ assetTag: 'TWICE' });
        await expect(owner.createAsset({ assetTag: 'TWICE' })).rejects.toThrow();
      },
      ['asset.created'],
    ],
    ['users, projects and subscriptions', async (owner) => [await owner.createUser(), await owner.createProject()], []],
  ])('emits no event for %s', async (_, act, types) => {
    const { owner } = await createSubscribedWorkspace();
    await act(owner);
    expect((await readOutbox(owner)).map(({ sent }) => sent.type)).toEqual(types);
  });

  it('emits an event with the correct old value for each concurrent ticket change', async () => {
    const { owner } = await createSubscribedWorkspace(['ticket.updated']);
    const { id } = await owner.createTicket();
    const titles = Array.from({ length: 10 }, (_, i) => `Title ${i}`);
    await Promise.all(titles.map((title) => owner.call('PATCH', `/tickets/${id}`, { title })));
    const events = await readOutbox(owner);
    const changed = events.map(({ sent }) => sent.changes.title);
    expect(changed.map(({ to }) => to).sort()).toEqual(titles);
    expect(changed.map(({ from }) => from)).toEqual([ticket.title, ...changed.slice(0, -1).map(({ to }) => to)]);
    expect(new Set(events.map(({ sent }) => sent.id)).size).toBe(10);
  });
});
