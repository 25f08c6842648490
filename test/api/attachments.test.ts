import { hash } from 'node:crypto';
import { connect } from 'node:net';
import { PassThrough } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Attachment, pathPrefix } from '@itsm-api/contract';
import { describe, expect, vi } from 'vitest';
import { errorOf, startApi } from '../support/api.ts';
import { api, it as itBase, workspace } from '../support/fixture.ts';
import { createWorkspace, ticket, unique, type Workspace } from '../support/workspace.ts';

let origin: string;

const quotaBytes = 1_000_000;

// The server has one database connection, so a transfer that held it would block all other requests.
const env = { DATABASE_POOL_SIZE: '1', ATTACHMENTS_MAX_BYTES: '300000', ATTACHMENTS_QUOTA_BYTES: String(quotaBytes) };
const it = itBase.extend('options', { scope: 'file' }, { env });
it.beforeAll(async () => {
  origin = await api.app.listen({ port: 0, host: '127.0.0.1' });
});

const text = { 'content-type': 'text/plain' };
const attach = (id: number | string, content: string | Buffer, headers: Record<string, string> = {}, name = 'a.txt') =>
  workspace.call('POST', `/tickets/${id}/attachments?name=${encodeURIComponent(name)}`, content, {
    ...text,
    ...headers,
  });
const read = async (path: string) => (await workspace.call('GET', path)).body.data;

/** Returns the number of files of a workspace in the storage, and the number of temporary files of this process. */
async function countFiles(of: Workspace = workspace): Promise<number> {
  let count = 0;
  for await (const { key } of api.services.storage.list()) if (key.startsWith(`${of.tenantId}/`)) count++;
  return count;
}

async function listTemporary(): Promise<string[]> {
  const keys: string[] = [];
  for await (const { key } of api.services.storage.list()) if (key.startsWith('temporary/')) keys.push(key);
  return keys;
}

/** Starts an upload whose content the test writes to `body`. */
function startUpload(id: number | string, length: number, { key, ...headers }: Record<string, string> = {}) {
  const body = new PassThrough();
  const response = api.app.inject({
    method: 'POST',
    url: `${pathPrefix}/tickets/${id}/attachments?name=slow.txt`,
    headers: { authorization: `Bearer ${key ?? workspace.key}`, 'content-length': String(length), ...headers },
    payload: body,
  });
  return { body, response };
}

describe('POST /tickets/{id}/attachments', () => {
  it('returns the new attachment, and lists it with the newest first', async () => {
    const { id, ticketNumber } = await workspace.createTicket();
    const first = await attach(id, 'Connection lost.');
    expect(first.status, first.text).toBe(201);
    expect(first.body.data).toEqual({
      id: expect.any(Number),
      ticketId: id,
      name: 'a.txt',
      contentType: 'text/plain',
      size: 16,
      sha256: '610d5eb0f98b773189ce92688c55e5dcc2e6f6669633beab54447b411aa3f38b',
      uploaderId: workspace.userId,
      createdAt: expect.stringMatching(/^\d{4}-.*\.\d{3}Z$/),
    });
    const { body, response } = startUpload(ticketNumber, 6);
    body.end('Second');
    const second = { body: JSON.parse((await response).payload) };
    expect(second.body.data.contentType).toBe('application/octet-stream');
    const list = (await workspace.call('GET', `/tickets/${ticketNumber}/attachments?perPage=1`)).body;
    expect(list).toMatchObject({ data: [second.body.data], meta: { totalCount: 2 } });
    expect(await read(`/attachments/${first.body.data.id}`)).toEqual(first.body.data);
  });

  it.each([
    ['text/plain', 'text/plain'],
    ['TEXT/HTML ; charset="utf-8";v=1', 'TEXT/HTML ; charset="utf-8";v=1'],
    ['application/vnd.acme.report+json', 'application/vnd.acme.report+json'],
    ['text/plain;', 'text/plain'],
    ['text/plain; charset=utf-8 ; ', 'text/plain; charset=utf-8'],
    ...[
      '*/*',
      'text/*',
      '*/plain',
      'text/*+xml',
      'text/*;q=1',
      'a/b; c',
      'a/b; c=',
      'a/b; c="d',
      "a/'b'",
      'a/b;;c',
    ].map((type) => [type, 'application/octet-stream']),
  ] as [string, string][])('stores and serves the type %j of a file as %j', async (type, stored) => {
    const { id } = await workspace.createTicket();
    const { status, body } = await attach(id, 'x', { 'content-type': type });
    expect([status, body.data.contentType]).toEqual([201, stored]);
    expect((await read(`/tickets/${id}/attachments`))[0].contentType).toBe(stored);
    const served = await workspace.call('GET', `/attachments/${body.data.id}/content`);
    expect(served.headers['content-type']).toBe(stored);
  });

  it('changes the ticket, and records the attachment in the activity, the change feed and an event', async () => {
    const own = await createWorkspace(api);
    await own.createWebhook({ events: ['ticket.updated'] });
    const before = await own.createTicket();
    const { nextCursor } = (await own.call('GET', '/tickets/changes')).body.meta;
    const { id, name } = await own.createAttachment(before.id);
    const { data: after } = (await own.call('GET', `/tickets/${before.id}`)).body;
    expect(after).toEqual({ ...before, attachmentCount: 1, updatedAt: expect.any(String), etag: expect.any(String) });
    expect(after.etag).not.toBe(before.etag);
    const changes = { attachmentCount: { from: 0, to: 1 }, attachments: { from: null, to: { id, name } } };
    const [activity] = (await own.call('GET', `/tickets/${before.id}/activity`)).body.data;
    expect(activity).toMatchObject({ action: 'UPDATED', changes });
    // The feed waits for older transactions in other databases of the PostgreSQL server.
    const feed = async () => (await own.call('GET', `/tickets/changes?cursor=${nextCursor}`)).body.data;
    await expect.poll(feed).toEqual([after]);
    const [event] = await api.prisma.event.findMany({ where: { tenantId: own.tenantId } });
    expect(JSON.parse(event?.body ?? '')).toMatchObject({ type: 'ticket.updated', ticket: after, changes });
  });

  it.each([
    [
      'no Content-Length',
      '',
      { 'transfer-encoding': 'chunked', 'content-length': '' },
      'VALIDATION_ERROR',
      'content-length',
    ],
    ['an empty file', '', {}, 'VALIDATION_ERROR', undefined],
    ['a file above the limit', 'x'.repeat(300_001), {}, 'PAYLOAD_TOO_LARGE', undefined],
    ['a long type', 'x', { 'content-type': `text/plain; a=${'x'.repeat(250)}` }, 'VALIDATION_ERROR', 'content-type'],
    ['a malformed type', 'x', { 'content-type': 'text' }, 'UNSUPPORTED_MEDIA_TYPE', undefined],
    ['a form', 'x', { 'content-type': 'multipart/form-data; boundary=a' }, 'UNSUPPORTED_MEDIA_TYPE', undefined],
    ['a compressed body', 'x', { 'content-encoding': 'gzip' }, 'UNSUPPORTED_MEDIA_TYPE', undefined],
  ])('returns 400 for %s', async (_, content, headers, code, path) => {
    const { id } = await workspace.createTicket();
    const given = Object.fromEntries(Object.entries({ ...text, ...headers }).filter(([, value]) => value !== ''));
    const response = await workspace.call('POST', `/tickets/${id}/attachments?name=a`, content, given as typeof text);
    expect(response.status, response.text).toBe(400);
    expect(errorOf(response)).toMatchObject({ code, ...(path && { details: [{ path }] }) });
    expect(await read(`/tickets/${id}`)).toMatchObject({ attachmentCount: 0 });
  });

  it.each(['', ' ', 'a/b', 'a\\b', '..', 'a\nb', 'x'.repeat(256)])('returns 400 for the file name %j', async (name) => {
    const { id } = await workspace.createTicket();
    const response = await attach(id, 'x', {}, name);
    expect(errorOf(response)).toMatchObject({ code: 'VALIDATION_ERROR', details: [{ path: 'name' }] });
  });

  it('holds no database connection while files arrive, and allows four uploads of a workspace', async () => {
    const { id } = await workspace.createTicket();
    const other = await createWorkspace(api);
    const uploads = Array.from({ length: 4 }, () => startUpload(id, 10));
    for (const { body } of uploads) body.write('12345');
    await expect.poll(async () => (await listTemporary()).length).toBeGreaterThanOrEqual(4);
    const fifth = await attach(id, 'x');
    expect(fifth).toMatchObject({ status: 429, headers: { 'retry-after': '1' } });
    expect(errorOf(fifth).message).toContain('4 uploads are already running');
    expect(await read(`/tickets/${id}`)).toMatchObject({ attachmentCount: 0 });
    await other.createAttachment();
    for (const { body } of uploads) body.end('67890');
    const responses = await Promise.all(uploads.map(({ response }) => response));
    expect(responses.map(({ statusCode }) => statusCode)).toEqual([201, 201, 201, 201]);
    expect((await attach(id, 'x')).status).toBe(201);
  });

  it('leaves nothing if the connection closes before the end of the file', async () => {
    const { id } = await workspace.createTicket();
    const [before, temporary] = [await countFiles(), await listTemporary()];
    const socket = connect(Number(new URL(origin).port), '127.0.0.1');
    socket.on('error', () => undefined);
    const path = `${pathPrefix}/tickets/${id}/attachments?name=broken.bin`;
    socket.write(`POST ${path} HTTP/1.1\r\nHost: x\r\nX-API-Key: ${workspace.key}\r\nContent-Length: 200000\r\n\r\n`);
    socket.write('x'.repeat(100_000));
    await expect.poll(async () => (await listTemporary()).length).toBe(temporary.length + 1);
    socket.destroy();
    await expect.poll(() => listTemporary()).toEqual(temporary);
    expect(await countFiles()).toBe(before);
    expect(await read(`/tickets/${id}`)).toMatchObject({ attachmentCount: 0 });
    expect((await attach(id, 'x')).status).toBe(201);
  });

  it('rejects an upload if the API key is revoked while the file arrives', async () => {
    const { id } = await workspace.createTicket();
    const [key, before] = [await workspace.createKey(), await countFiles()];
    const { body, response } = startUpload(id, 10, { key });
    body.write('12345');
    await sleep(600);
    await api.prisma.apiKey.updateMany({
      where: { tenantId: workspace.tenantId, id: { not: workspace.context.keyId } },
      data: { revokedAt: new Date() },
    });
    const call = () => api.call({ method: 'GET', path: `${pathPrefix}/me`, key });
    await expect.poll(async () => (await call()).status).toBe(401);
    body.end('67890');
    expect((await response).statusCode).toBe(401);
    expect(await countFiles()).toBe(before);
  });
});

describe('the quota', () => {
  it('rejects files above the quota, also if they arrive at the same time', async () => {
    const own = await createWorkspace(api);
    const tickets = await Promise.all(Array.from({ length: 4 }, () => own.createTicket()));
    const content = 'x'.repeat(300_000);
    const post = ({ id }: { id: number }) => own.call('POST', `/tickets/${id}/attachments?name=a`, content, text);
    const answers = await Promise.all(tickets.map(post));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 201, 201, 400]);
    expect(errorOf(answers.find(({ status }) => status === 400) ?? (answers[0] as never))).toMatchObject({
      code: 'QUOTA_EXCEEDED',
      message: `The attachments of this workspace would exceed its quota of ${quotaBytes} bytes. Delete attachments, then retry.`,
    });
    expect(await countFiles(own)).toBe(3);
    const [deleted] = answers.filter(({ status }) => status === 201).map(({ body }) => body.data as Attachment);
    expect((await own.call('DELETE', `/attachments/${deleted?.id}`)).status).toBe(200);
    expect((await post(tickets[0] as { id: number })).status).toBe(201);
  });
});

describe('Idempotency-Key', () => {
  it('returns the stored response for the same file, even if the quota is used up, and stores no second file', async () => {
    const own = await createWorkspace(api);
    const { id } = await own.createTicket();
    const headers = { ...text, 'idempotency-key': unique() };
    const post = (content: string, sent: Record<string, string> = headers) =>
      own.call('POST', `/tickets/${id}/attachments?name=a`, content, sent);
    const first = await post('Once');
    for (const _ of [1, 2, 3]) await post('x'.repeat(300_000), text);
    await post('x'.repeat(99_990), text);
    expect((await post('Once', text)).status).toBe(201);
    expect(errorOf(await post('More', text)).code).toBe('QUOTA_EXCEEDED');
    const files = await countFiles(own);
    const again = await post('Once');
    expect(again).toMatchObject({ status: 201, text: first.text, headers: { 'idempotent-replayed': 'true' } });
    expect(errorOf(await post('Other')).code).toBe('IDEMPOTENCY_KEY_REUSED');
    expect(await countFiles(own)).toBe(files);
  });

  it('rejects the same file with another type, but not another spelling of the stored type', async () => {
    const { id } = await workspace.createTicket();
    const key = { 'idempotency-key': unique() };
    const post = (type: string) => attach(id, 'x', { ...key, 'content-type': type });
    const first = await post('text/*');
    expect(errorOf(await post('text/plain')).code).toBe('IDEMPOTENCY_KEY_REUSED');
    for (const type of ['*/*', 'application/octet-stream']) {
      expect(await post(type)).toMatchObject({ text: first.text, headers: { 'idempotent-replayed': 'true' } });
    }
  });

  it('returns a response that the previous release stored with a fingerprint without the type', async () => {
    const { id } = await workspace.createTicket();
    const key = unique();
    const first = await attach(id, 'Once', { 'idempotency-key': key });
    const request = `POST ${pathPrefix}/tickets/${id}/attachments?name=a.txt\n{"sha256":"${first.body.data.sha256}"}`;
    const fingerprint = hash('sha256', request, 'buffer');
    await api.prisma.idempotencyKey.updateMany({ where: { key }, data: { fingerprint } });
    const again = await attach(id, 'Once', { 'idempotency-key': key });
    expect(again).toMatchObject({ status: 201, text: first.text, headers: { 'idempotent-replayed': 'true' } });
    expect(errorOf(await attach(id, 'Other', { 'idempotency-key': key })).code).toBe('IDEMPOTENCY_KEY_REUSED');
  });
});

describe('GET /attachments/{id}/content', () => {
  it('returns the content with its declared type, as a file that browsers only save', async () => {
    const content = Buffer.from('<script>alert(1)</script>'.repeat(4000));
    const name = 'Bericht „März“ (1).html';
    const { id } = await workspace.createTicket();
    const { data } = (await attach(id, content, { 'content-type': 'text/html; charset=utf-8' }, name)).body;
    // Uses a real connection, because `inject` doesn't report when the client has read a part of the response.
    const get = (method: 'GET' | 'HEAD') =>
      fetch(`${origin}${pathPrefix}/attachments/${data.id}/content`, {
        method,
        headers: { 'x-api-key': workspace.key },
      });
    const response = await get('GET');
    expect(response.status).toBe(200);
    expect(Buffer.from(await response.arrayBuffer()).equals(content)).toBe(true);
    const headers = {
      'content-type': 'text/html; charset=utf-8',
      'content-length': String(content.length),
      'content-disposition':
        'attachment; filename="Bericht__M_rz___1_.html"; ' +
        "filename*=UTF-8''Bericht%20%E2%80%9EM%C3%A4rz%E2%80%9C%20%281%29.html",
      'content-security-policy': 'sandbox',
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store',
    };
    expect(Object.fromEntries(response.headers)).toMatchObject(headers);
    expect(response.headers.has('content-encoding')).toBe(false);
    const head = await get('HEAD');
    expect([head.status, await head.text()]).toEqual([200, '']);
    expect(Object.fromEntries(head.headers)).toMatchObject(headers);
  });

  it('encodes every ASCII character of a file name as RFC 8187 requires', async () => {
    // The contract rejects slashes and control characters.
    const ascii = Array.from({ length: 95 }, (_, index) => String.fromCharCode(0x20 + index)).join('');
    const name = `a${ascii.replace(/[/\\]/g, '')}`;
    const { id } = await workspace.createTicket();
    const { data } = (await attach(id, 'x', {}, name)).body;
    const { headers } = await workspace.call('GET', `/attachments/${data.id}/content`);
    const [, encoded = ''] =
      /; filename\*=UTF-8''((?:[\w!#$&+.^`|~-]|%[\dA-F]{2})+)$/.exec(headers['content-disposition'] ?? '') ?? [];
    expect(decodeURIComponent(encoded), headers['content-disposition']).toBe(name);
  });

  it('holds no database connection during downloads, and allows four downloads of a workspace', async () => {
    const { id } = await workspace.createAttachment();
    const contents: PassThrough[] = [];
    const read = vi.spyOn(api.services.storage, 'read').mockImplementation(async () => {
      const content = new PassThrough();
      contents.push(content);
      return content;
    });
    const get = () => workspace.call('GET', `/attachments/${id}/content`);
    const downloads = Array.from({ length: 4 }, get);
    await expect.poll(() => contents.length).toBe(4);
    const fifth = await get();
    expect(fifth).toMatchObject({ status: 429, headers: { 'retry-after': '1' } });
    expect((await workspace.call('GET', `/attachments/${id}`)).status).toBe(200);
    read.mockRestore();
    for (const content of contents) content.end('Connection lost.');
    expect((await Promise.all(downloads)).map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    await expect.poll(async () => (await get()).status).toBe(200);
  });

  it('ends after DOWNLOAD_IDLE_SECONDS if the client reads nothing, and allows another download', async () => {
    const slow = await startApi({ env: { DOWNLOAD_IDLE_SECONDS: '1' } });
    const own = await createWorkspace(slow);
    const ticket = await own.createTicket();
    const content = Buffer.alloc(20 * 2 ** 20);
    const { data } = (await own.call('POST', `/tickets/${ticket.id}/attachments?name=a`, content, text)).body;
    const path = `/attachments/${data.id}/content`;
    const { port } = new URL(await slow.app.listen({ port: 0, host: '127.0.0.1' }));
    const sockets = [1, 2, 3, 4].map(() => connect(Number(port), '127.0.0.1').pause());
    const connections = () => new Promise((done) => slow.app.server.getConnections((_, count) => done(count)));
    for (const socket of sockets) {
      socket.on('error', () => undefined);
      socket.write(`GET ${pathPrefix}${path} HTTP/1.1\r\nHost: x\r\nX-API-Key: ${own.key}\r\n\r\n`);
    }
    await expect.poll(connections).toBe(4);
    // Other responses end after 30 seconds.
    await expect.poll(connections).toBe(0);
    await expect.poll(async () => (await own.call('HEAD', path)).status).toBe(200);
    await slow.close();
  });
});

describe('DELETE /attachments/{id}', () => {
  it('deletes the attachment and its file, and changes the ticket', async () => {
    const attached = await workspace.createAttachment();
    const files = await countFiles();
    const before = await read(`/tickets/${attached.ticketId}`);
    const path = `/attachments/${attached.id}`;
    expect((await workspace.call('DELETE', path)).body.data).toEqual(attached);
    for (const [method, below] of [
      ['GET', ''],
      ['GET', '/content'],
      ['DELETE', ''],
    ] as const) {
      expect((await workspace.call(method, path + below)).status).toBe(404);
    }
    await expect.poll(() => countFiles()).toBe(files - 1);
    const after = await read(`/tickets/${attached.ticketId}`);
    expect(after).toMatchObject({ attachmentCount: 0 });
    expect(after.etag).not.toBe(before.etag);
    const [activity] = await read(`/tickets/${attached.ticketId}/activity`);
    const { id, name } = attached;
    expect(activity.changes).toEqual({
      attachmentCount: { from: 1, to: 0 },
      attachments: { from: { id, name }, to: null },
    });
  });
});

describe('attachmentIds of a comment', () => {
  const comment = (id: number, attachmentIds: unknown) =>
    workspace.call('POST', `/tickets/${id}/comments`, { body: 'See the log.', visibility: 'PUBLIC', attachmentIds });

  it('names attachments of the ticket, and keeps the id of a deleted attachment', async () => {
    const { id } = await workspace.createTicket();
    const [a, b] = [await workspace.createAttachment(id), await workspace.createAttachment(id)];
    const made = await comment(id, [b.id, a.id, b.id]);
    expect(made.status, made.text).toBe(201);
    expect(made.body.data.attachmentIds).toEqual([a.id, b.id]);
    await workspace.call('DELETE', `/attachments/${a.id}`);
    expect(await read(`/tickets/${id}/comments`)).toEqual([made.body.data]);
    const since = new Date(Date.now() - 60_000).toISOString();
    await expect.poll(() => read(`/comments/changes?since=${since}`)).toContainEqual(made.body.data);
  });

  it('returns 400 for an attachment of another ticket, a deleted attachment, and more than 50 attachments', async () => {
    const [own, foreign] = [await workspace.createAttachment(), await workspace.createAttachment()];
    const rejected = await comment(own.ticketId, [own.id, foreign.id]);
    const details = [{ path: 'attachmentIds.1', message: 'must be an attachment of this ticket' }];
    expect(errorOf(rejected)).toMatchObject({ code: 'INVALID_REFERENCE', details });
    await workspace.call('DELETE', `/attachments/${own.id}`);
    expect(errorOf(await comment(own.ticketId, [own.id])).code).toBe('INVALID_REFERENCE');
    const many = Array.from({ length: 51 }, (_, i) => i + 1);
    expect(errorOf(await comment(own.ticketId, many)).code).toBe('VALIDATION_ERROR');
  });

  it('checks each item of a bulk request', async () => {
    const { id, ticketId } = await workspace.createAttachment();
    const comments = [[id], [id, 1], []].map((attachmentIds) => ({ body: 'x', visibility: 'PUBLIC', attachmentIds }));
    const { body } = await workspace.call('POST', `/tickets/${ticketId}/comments/bulk`, { comments });
    expect(body.data.map(({ status }: { status: number }) => status)).toEqual([201, 400, 201]);
    const tickets = [{ ...ticket, comments: [comments[0]] }];
    const [refused] = (await workspace.call('POST', '/tickets/bulk', { tickets })).body.data;
    expect(refused.error).toMatchObject({
      code: 'INVALID_REFERENCE',
      details: [{ path: 'comments.0.attachmentIds.0' }],
    });
  });
});
