import { Readable } from 'node:stream';
import {
  ApiPromise,
  InsufficientScopeError,
  InvalidApiKeyError,
  InvalidTransitionError,
  ItsmClient,
  isItsmError,
  type NewTicket,
  NotFoundError,
  PreconditionFailedError,
  RateLimitError,
  type Ticket,
  type TicketQuery,
  type TicketType,
  ValidationError,
} from '@itsm-api/client';
import { beforeEach, describe, expect } from 'vitest';
import { startApi } from '../support/api.ts';
import { api, itInNewWorkspace as it, workspace } from '../support/fixture.ts';
import { createWorkspace, ticket, webhook } from '../support/workspace.ts';

let baseUrl: string;
let client: ItsmClient;

it.beforeAll(async () => {
  baseUrl = await api.app.listen({ port: 0, host: '127.0.0.1' });
});
beforeEach(async () => {
  client = new ItsmClient({ baseUrl, apiKey: workspace.key });
});

describe('client operations', () => {
  it('sends a ping request without an API key', async () => {
    expect(await new ItsmClient({ baseUrl: `${baseUrl}/` }).ping.get()).toEqual({ status: 'ok', version: 'v1' });
  });

  it('creates, reads, updates and lists tickets with the client', async () => {
    const created = await client.tickets.create(ticket);
    expect(created).toMatchObject({ ...ticket, status: 'OPEN' });
    expect(await client.tickets.get(created.id)).toEqual(created);
    const updated = await client.tickets.update(created.id, { status: 'IN_PROGRESS' });
    expect(updated.status).toBe('IN_PROGRESS');
    const page = await client.tickets.list({ status: ['OPEN', 'IN_PROGRESS'], assigneeId: undefined, perPage: 5 });
    expect(page).toMatchObject({ data: [{ id: created.id }], meta: { page: 1, perPage: 5, totalCount: 1 } });
    expect(await client.tickets.list({ status: 'CLOSED' })).toMatchObject({ data: [], hasNext: false });
  });

  it('uploads files from a File, bytes and a stream, and downloads them as a stream', async () => {
    const { id } = await client.tickets.create(ticket);
    const log = 'Connection lost.';
    const made = await client.tickets.attach(id, new File([log], 'März.log', { type: 'text/plain' }));
    expect(made).toMatchObject({ name: 'März.log', contentType: 'text/plain', size: 16, ticketId: id });
    const bytes = new TextEncoder().encode(log);
    const stream = {
      name: 'b',
      type: 'text/x-log',
      content: Readable.from([bytes.slice(0, 5), bytes.slice(5)]),
      size: 16,
    };
    const once = { idempotencyKey: 'once' };
    const all = [
      await client.tickets.attach(id, { name: 'a', content: bytes }, once),
      await client.tickets.attach(id, { name: 'a', content: new Blob([bytes]) }, once),
      await client.tickets.attach(id, stream),
    ];
    expect(all[1]).toEqual(all[0]);
    expect(all.map(({ sha256 }) => sha256)).toEqual(Array(3).fill(made.sha256));
    const { body, ...file } = await client.attachments.download(made.id);
    expect(file).toEqual({ name: 'März.log', type: 'text/plain', size: 16 });
    expect(await new Response(body).text()).toBe(log);
    expect((await client.attachments.list(id)).data.map(({ name }) => name)).toEqual(['b', 'a', 'März.log']);
    expect(await client.attachments.delete(made.id)).toEqual(made);
    await expect(client.attachments.download(made.id)).rejects.toBeInstanceOf(NotFoundError);
    const withoutSize = { name: 'a', content: Readable.from([bytes]) };
    await expect(client.tickets.attach(id, withoutSize)).rejects.toThrow('size is missing');
  });

  it('retries the upload of a file, but not of a stream', async () => {
    const { id } = await client.tickets.create(ticket);
    const uploadWith = (content: Blob | AsyncIterable<Uint8Array>) => {
      let attempts = 0;
      const failing = new ItsmClient({
        ...{ baseUrl, apiKey: workspace.key },
        fetch: (url, init) =>
          attempts++ === 0 ? Promise.resolve(new Response('', { status: 502 })) : fetch(url, init),
      });
      return failing.tickets.attach(id, { name: 'a', content, size: 1 });
    };
    expect(await uploadWith(new Blob(['x']))).toMatchObject({ size: 1 });
    await expect(uploadWith(Readable.from([Buffer.from('x')]))).rejects.toMatchObject({ status: 502 });
  });

  it('creates a ticket once if the caller repeats the call with the same idempotency key', async () => {
    const first = await client.tickets.create(ticket, { idempotencyKey: 'once' });
    const { data, headers } = await client.tickets.create(ticket, { idempotencyKey: 'once' }).withResponse();
    expect(data).toEqual(first);
    expect(headers.get('idempotent-replayed')).toBe('true');
    const other = client.tickets.create({ ...ticket, title: 'Another' }, { idempotencyKey: 'once' });
    await expect(other).rejects.toMatchObject({ name: 'IdempotencyKeyReusedError', status: 400 });
  });

  it('accepts ticket numbers and list filters in the ticket methods of the client', async () => {
    const [first, second] = [await client.tickets.create(ticket), await client.tickets.create(ticket)];
    expect(await client.tickets.get('INC-1')).toEqual(first);
    expect(await client.tickets.update('INC-2', { assigneeId: second.requesterId })).toMatchObject({ id: second.id });
    const idsOf = async (query: TicketQuery) => (await client.tickets.list(query)).data.map(({ id }) => id);
    expect(await idsOf({ assigneeId: 'me' })).toEqual([second.id]);
    expect(await idsOf({ assigneeId: ['none', second.requesterId], sort: 'id' })).toEqual([first.id, second.id]);
    expect(await idsOf({ q: 'INC-1' })).toEqual([first.id]);
    await expect((async () => client.tickets.get('../users' as never))()).rejects.toThrow(TypeError);
  });

  it('ignores changes that the caller makes to the arguments after a client call', async () => {
    const given: NewTicket = { ...ticket };
    const titles = ['row 0', 'row 1', 'row 2', 'row 3'];
    const made = titles.map((title) => {
      given.title = title;
      return client.tickets.create(given);
    });
    given.title = '';
    expect((await Promise.all(made)).map(({ title }) => title)).toEqual(titles);
    const type: TicketType[] = [ticket.type];
    const query = { perPage: 1, type };
    const walked: number[] = [];
    for await (const { id } of client.tickets.list(query)) {
      type[0] = 'PROBLEM';
      query.perPage = 3;
      walked.push(id);
    }
    expect(walked).toHaveLength(4);
  });

  it('rejects an empty filter array, because it would match all rows', async () => {
    await expect(client.tickets.list({ assigneeId: [] })).rejects.toThrow(
      new TypeError('assigneeId is empty. Pass a value or omit it.'),
    );
  });

  it('returns the API key and its user from me.get()', async () => {
    expect(await client.me.get()).toMatchObject({ key: { name: 'test' }, user: { role: 'ADMIN' } });
  });

  it('reads assets, tasks, users and webhooks by id with the client', async () => {
    const made = await client.assets.create({ name: 'Laptop', assetTag: 'LT-1', type: 'LAPTOP' });
    expect(await client.assets.get(made.id)).toEqual(made);
    const task = await workspace.createTask();
    expect(await client.tasks.get(task.id)).toEqual(task);
    const user = await workspace.createUser();
    expect(await client.users.get(user.id)).toEqual(user);
    const subscription = await workspace.createWebhook();
    expect(await client.webhooks.get(subscription.id)).toEqual(subscription);
  });

  it('lists and updates assets with the client', async () => {
    const { id } = await workspace.createAsset();
    expect((await client.assets.list({ status: 'IN_STOCK' })).data.map((asset) => asset.id)).toEqual([id]);
    expect(await client.assets.update(id, { location: 'Berlin' })).toMatchObject({ id, location: 'Berlin' });
  });

  it('provides client methods for projects and tasks', async () => {
    const project = await workspace.createProject();
    expect((await client.projects.list()).data).toEqual([await client.projects.get(project.id)]);
    const task = await client.tasks.create(project.id, { title: 'Order cables' });
    expect(await client.tasks.update(task.id, { status: 'DONE' })).toMatchObject({ status: 'DONE' });
    expect((await client.tasks.list(project.id, { status: 'DONE' })).data).toMatchObject([{ id: task.id }]);
    expect((await client.tasks.list(String(project.id), { status: 'TODO' })).data).toEqual([]);
  });

  it('lists the users of a workspace with the client', async () => {
    const { email } = await workspace.createUser({ role: 'REQUESTER' });
    expect((await client.users.list({ role: 'REQUESTER', active: true, email })).data).toMatchObject([{ email }]);
  });

  it('creates, lists and deactivates webhook subscriptions with the client', async () => {
    const created = await client.webhooks.create({ ...webhook, events: ['ticket.created'] });
    expect((await client.webhooks.list()).data).toEqual([created]);
    expect(await client.webhooks.delete(created.id)).toMatchObject({ id: created.id, active: false });
    expect((await client.webhooks.list()).data).toEqual([]);
  });
});

describe('result of a client method', () => {
  it('supports then, catch and finally on the promise of a client call', async () => {
    const promise = client.tickets.create(ticket);
    expect(promise).toBeInstanceOf(ApiPromise);
    let ended = false;
    const { id } = await promise.finally(() => {
      ended = true;
    });
    expect(ended).toBe(true);
    // A client call sends only one request, even if the caller awaits its promise several times.
    expect((await promise).id).toBe(id);
    expect((await client.tickets.list()).meta.totalCount).toBe(1);
    expect(await client.tickets.get(id + 1_000_000).catch((error: Error) => error.name)).toBe('NotFoundError');
  });

  it('returns the status, headers, request id and rate limits from withResponse()', async () => {
    const { data, status, headers, requestId, rateLimits } = await client.tickets.create(ticket).withResponse();
    expect(data.title).toBe(ticket.title);
    expect(status).toBe(201);
    expect(headers.get('x-request-id')).toBe(requestId);
    expect(rateLimits).toEqual([
      { name: 'global', limit: 1_000_000, remaining: 999_999, resetSeconds: 60, windowSeconds: 60 },
      { name: 'tickets', limit: 1_000_000, remaining: 999_999, resetSeconds: 60, windowSeconds: 60 },
    ]);
    const ping = await client.ping.get().withResponse();
    expect(ping).toMatchObject({ status: 200, rateLimits: [] });
  });

  it('updates a ticket only if ifMatch equals its current ETag', async () => {
    const { data, etag } = await client.tickets.create(ticket).withResponse();
    const changed = await client.tickets.update(data.id, { title: 'Mine' }, { ifMatch: etag }).withResponse();
    expect(changed.etag).not.toBe(etag);
    const rejected = await client.tickets
      .update(data.id, { title: 'Theirs' }, { ifMatch: etag })
      .catch((error) => error);
    expect(rejected).toBeInstanceOf(PreconditionFailedError);
    expect(rejected).toMatchObject({ status: 412, docs: `${baseUrl}/docs/errors#PRECONDITION_FAILED` });
    expect((await client.tickets.get(data.id)).title).toBe('Mine');
  });

  it('returns the data of the ifNoneMatch response if the resource has not changed', async () => {
    const { id } = await client.tickets.create(ticket);
    const first = await client.tickets.get(id).withResponse();
    const again = await client.tickets.get(id, { ifNoneMatch: first }).withResponse();
    expect([again.status, again.data, again.etag]).toEqual([304, first.data, first.etag]);
    expect(await client.tickets.get(id, { ifNoneMatch: again })).toEqual(first.data);
    await client.tickets.update(id, { title: 'Other' });
    const changedAgain = await client.tickets.get(id, { ifNoneMatch: again }).withResponse();
    expect([changedAgain.status, changedAgain.data.title]).toEqual([200, 'Other']);
  });

  it('sends the headers that the caller passes to a client call', async () => {
    const { requestId } = await client.ping.get({ headers: { 'X-Request-Id': 'mine-1' } }).withResponse();
    expect(requestId).toBe('mine-1');
  });
});

describe('client lists', () => {
  const ids = (rows: Ticket[]) => rows.map(({ id }) => id);
  let newestFirst: number[];

  beforeEach(async () => {
    newestFirst = [];
    for (let count = 0; count < 7; count += 1) newestFirst.unshift((await workspace.createTicket()).id);
  });

  it('fetches the pages of a list with next() until the last page', async () => {
    const first = await client.tickets.list({ perPage: 3 });
    expect(ids(first.data)).toEqual(newestFirst.slice(0, 3));
    expect(first).toMatchObject({ hasNext: true, meta: { page: 1, perPage: 3, totalCount: 7 } });
    const third = await (await first.next())?.next();
    expect(ids(third?.data ?? [])).toEqual(newestFirst.slice(6));
    expect(third?.hasNext).toBe(false);
    expect(await third?.next()).toBeUndefined();
  });

  it('returns a list page and the HTTP status from withResponse()', async () => {
    const { data, status } = await client.tickets.list({ perPage: 3, page: 3 }).withResponse();
    expect([ids(data.data), status]).toEqual([newestFirst.slice(6), 200]);
  });

  it('iterates over the rows or the pages of a list', async () => {
    const rows: Ticket[] = [];
    for await (const row of client.tickets.list({ perPage: 2 })) rows.push(row);
    expect(ids(rows)).toEqual(newestFirst);

    const pages: number[] = [];
    for await (const page of client.tickets.list({ perPage: 3, page: 2 }).pages()) pages.push(page.data.length);
    expect(pages).toEqual([3, 1]);
  });

  it('returns the rows of a list as an array, up to the given limit', async () => {
    const list = client.tickets.list();
    expect(ids(await list.toArray())).toEqual(newestFirst);
    expect(ids(await list.toArray({ limit: 3 }))).toEqual(newestFirst.slice(0, 3));
    expect(await list.toArray({ limit: 0 })).toEqual([]);
    await expect(list.toArray({ limit: Number.NaN })).rejects.toThrow(TypeError);
  });

  it('yields each row of a list once, even if rows are inserted during the iteration', async () => {
    const walked: number[] = [];
    for await (const { id } of client.tickets.list({ perPage: 2 })) {
      walked.push(id);
      if (walked.length <= 4) await workspace.createTicket();
    }
    expect(walked).toEqual(newestFirst);
  });

  it('throws QueryTooBroadError after the last available page of a list', async () => {
    const other = await createWorkspace(api);
    const { id } = await other.createProject();
    await api.owner.pool.query(`INSERT INTO tasks (tenant_id, project_id, title, updated_at)
      SELECT ${other.tenantId}, ${id}, 'Order switch ' || i, now() FROM generate_series(1, 10050) AS i`);
    const { tasks } = new ItsmClient({ baseUrl, apiKey: other.key });
    let read = 0;
    const walk = async () => {
      for await (const page of tasks.list(id, { q: 'switch' }).pages()) read += page.data.length;
    };
    await expect(walk()).rejects.toMatchObject({
      code: 'QUERY_TOO_BROAD',
      name: 'QueryTooBroadError',
      message: expect.stringContaining('Narrow the filters'),
      path: `/projects/${id}/tasks`,
    });
    expect(read).toBe(10_000);
    expect(await tasks.list(id, { q: 'switch', page: 99 }).toArray({ limit: 200 })).toHaveLength(200);
  });

  it('sends no request for a list before the caller awaits it or iterates over it', async () => {
    const urls: string[] = [];
    const watched = new ItsmClient({
      baseUrl,
      apiKey: workspace.key,
      fetch: (url, init) => {
        urls.push(new URL(url).search);
        return fetch(url, init);
      },
    });
    const list = watched.tickets.list({ status: 'OPEN' });
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect(urls).toEqual([]);
    await list.toArray();
    await list;
    await list;
    expect(urls).toEqual(['?status=OPEN&page=1&perPage=100', '?status=OPEN']);
  });
});

describe('client errors', () => {
  it('throws a different error class for each error code', async () => {
    const { id } = await workspace.createTicket();
    const wrong = new ItsmClient({ baseUrl, apiKey: 'itsm_wrong' });
    await expect(wrong.tickets.get(id)).rejects.toBeInstanceOf(InvalidApiKeyError);
    await expect(client.tickets.update(id, { status: 'CLOSED' })).rejects.toBeInstanceOf(InvalidTransitionError);
    await expect(client.projects.get(1)).rejects.toMatchObject({ name: 'NotFoundError', status: 404 });
    await expect(client.projects.get(1)).rejects.toBeInstanceOf(NotFoundError);
  });

  it("includes invalid fields, the request and the server's message in a client error", async () => {
    const error = await client.tickets.create({ ...ticket, title: '' }).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(ValidationError);
    expect(error).toMatchObject({
      code: 'VALIDATION_ERROR',
      status: 400,
      details: [{ path: 'title', message: 'must have at least 1 character' }],
      requestId: expect.stringMatching(/^\w{32}$/),
      rateLimits: [{ name: 'global' }, { name: 'tickets' }],
    });
    expect(String(error)).toBe('ValidationError: title must have at least 1 character');
  });

  it('names the missing scope in a client error', async () => {
    const apiKey = await workspace.createKey({ scopes: ['tickets:read'] });
    const error = await new ItsmClient({ baseUrl, apiKey }).webhooks.delete(1).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(InsufficientScopeError);
    expect(error).toMatchObject({ status: 403, requiredScope: 'webhooks:manage' });
  });

  it('returns true from isItsmError only for client errors', async () => {
    const error = await client.tickets.get(1).catch((reason: unknown) => reason);
    expect([isItsmError(error), isItsmError(error, 'NOT_FOUND'), isItsmError(error, 'TIMEOUT')]).toEqual([
      true,
      true,
      false,
    ]);
    expect(
      [new Error('no'), null, undefined, 'NOT_FOUND', { code: 'NOT_FOUND' }].some((each) => isItsmError(each)),
    ).toBe(false);
  });

  it('rejects a client call if an id would change the request path', async () => {
    for (const id of ['..', '', '1/../2', '1?x=1', Number.NaN, -1]) {
      await expect(client.tickets.get(id as number)).rejects.toThrow('id in /tickets/:id must be a positive integer.');
    }
  });
});

describe('client rate limits', () => {
  it('completes an iteration that needs more requests than a rate limit window allows', async () => {
    for (let count = 0; count < 12; count += 1) await workspace.createTicket();
    const limited = await startApi({ env: { RATE_LIMIT_GROUP: '4', RATE_LIMIT_WINDOW_SECONDS: '1' } });
    const warnings: string[] = [];
    const walker = new ItsmClient({
      baseUrl: await limited.app.listen({ port: 0, host: '127.0.0.1' }),
      apiKey: workspace.key,
      logger: { debug: () => undefined, warn: (message) => warnings.push(message) },
    });
    try {
      const rows = await walker.tickets.list({ perPage: 1 }).toArray();
      expect(new Set(rows.map(({ id }) => id)).size).toBe(12);
      expect(warnings.length).toBeGreaterThanOrEqual(1);
      expect(warnings[0]).toMatch(
        /^waiting for the rate limit "tickets" of 4 in 1 s \(calls: 1, next one in \d s, about \d s left\)$/,
      );
    } finally {
      await limited.close();
    }
  });

  it('waits for the rate limit by default, but not if maxWaitMs is 0', async () => {
    const limited = await startApi({ env: { RATE_LIMIT_GROUP: '1', RATE_LIMIT_WINDOW_SECONDS: '3' } });
    const url = await limited.app.listen({ port: 0, host: '127.0.0.1' });
    const hasty = new ItsmClient({ baseUrl: url, apiKey: workspace.key });
    try {
      await hasty.tickets.create(ticket);
      const error = await hasty.tickets.create(ticket, { maxWaitMs: 0 }).catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(RateLimitError);
      expect(error).toMatchObject({
        status: 429,
        retryAfterSeconds: expect.toBeOneOf([1, 2, 3]),
        rateLimits: [{ name: 'global' }, { name: 'tickets', limit: 1, remaining: 0, windowSeconds: 3 }],
      });
      await expect(hasty.tickets.list({}, { maxWaitMs: 0 }).toArray()).rejects.toMatchObject({ page: 1, status: 429 });
      expect((await hasty.tickets.create(ticket)).status).toBe('OPEN');
    } finally {
      await limited.close();
    }
  });
});
