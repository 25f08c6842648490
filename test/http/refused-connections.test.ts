import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect } from 'vitest';
import { api, it, workspace as owner } from '../support/fixture.ts';
import { createWorkspace, ticket } from '../support/workspace.ts';

/**
 * Tests connections that the server rejects before it has received a complete request. Rejected connections must not
 * affect other clients.
 */
let port: number;

it.beforeAll(async () => {
  port = Number(new URL(await api.app.listen({ host: '127.0.0.1', port: 0 })).port);
});

async function open(): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  return socket;
}

const connections = () => new Promise<number>((resolve) => api.app.server.getConnections((_, count) => resolve(count)));

it('continues to serve requests after clients reset rejected connections', async () => {
  for (let round = 0; round < 30; round++) {
    const socket = await open();
    socket.write('CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n');
    if (round % 2 === 0) await once(socket, 'data');
    socket.resetAndDestroy();
  }
  await expect.poll(connections).toBe(0);
  const headers = { connection: 'close' };
  expect((await fetch(`http://127.0.0.1:${port}/api/public/v1/ping`, { headers })).status).toBe(200);
});

it('rejects a request if the API key is revoked before the whole body has arrived', async () => {
  const { key, context } = await createWorkspace(api);
  const body = JSON.stringify(ticket);
  const head = `POST /api/public/v1/tickets HTTP/1.1\r\nHost: x\r\nX-API-Key: ${key}\r\nContent-Type: application/json`;
  const socket = await open();
  socket.write(`${head}\r\nConnection: close\r\nContent-Length: ${body.length}\r\n\r\n${body.slice(0, -1)}`);
  await sleep(600);
  await api.prisma.apiKey.updateMany({ where: { id: context.keyId }, data: { revokedAt: new Date() } });
  const read = () => api.call({ method: 'GET', path: '/api/public/v1/tickets', key });
  await expect.poll(async () => (await read()).status).toBe(401);
  socket.write(body.slice(-1));
  const [answer] = await once(socket, 'data');
  expect(String(answer)).toMatch(/^HTTP\/1.1 401 .*INVALID_API_KEY/s);
});

describe('a connection whose request times out', () => {
  const timeouts = () => {
    const { requestTimeout, headersTimeout } = api.app.server;
    return { requestTimeout, headersTimeout };
  };
  let original: ReturnType<typeof timeouts>;
  beforeEach(() => {
    original = timeouts();
  });
  afterEach(() => Object.assign(api.app.server, original));

  it('closes a connection after a request timeout and ignores later data', async () => {
    Object.assign(api.app.server, { requestTimeout: 300, headersTimeout: 300 });
    const body = JSON.stringify(ticket);
    const head = `POST /api/public/v1/tickets HTTP/1.1\r\nHost: x\r\nX-API-Key: ${owner.key}\r\nContent-Type: application/json`;
    const socket = await open();
    socket.write(`${head}\r\nContent-Length: ${body.length}\r\n\r\n${body.slice(0, -1)}`);
    const [answer] = await once(socket, 'data');
    expect(String(answer)).toMatch(/^HTTP\/1.1 400 .*The request did not arrive within 30 seconds/s);
    socket.write(body.slice(-1));
    await expect.poll(connections).toBe(0);
    expect((await owner.call('GET', '/tickets')).body.data).toEqual([]);
  });

  it('allows an upload more time than other requests, but not unlimited time', async () => {
    const { key, ...uploader } = await createWorkspace(api);
    const { id } = await uploader.createTicket();
    const upload = async () => {
      const socket = await open();
      const head = `POST /api/public/v1/tickets/${id}/attachments?name=a HTTP/1.1\r\nHost: x\r\nX-API-Key: ${key}`;
      socket.write(`${head}\r\nContent-Length: 4\r\n\r\nVPN`);
      return socket;
    };
    Object.assign(api.app.server, { headersTimeout: 1000 });
    const slow = await upload();
    await sleep(2000);
    slow.write('s');
    expect(String((await once(slow, 'data'))[0])).toMatch(/^HTTP\/1.1 201 /);

    Object.assign(api.app.server, { requestTimeout: 300 });
    expect(String((await once(await upload(), 'data'))[0])).toMatch(/^HTTP\/1.1 400 .*or 15 minutes for an upload/s);
    await expect.poll(connections).toBeLessThanOrEqual(1);
    expect((await uploader.call('GET', `/tickets/${id}`)).body.data).toMatchObject({ attachmentCount: 1 });
  });
});
