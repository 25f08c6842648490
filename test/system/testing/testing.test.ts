import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { ItsmClient } from '@itsm-api/client';
import { type Itsm, startItsm, type Workspace } from '@itsm-api/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { eventually } from '../../support/sender.ts';
import { ticket } from '../../support/workspace.ts';

let itsm: Itsm;
let workspace: Workspace;
let client: ItsmClient;

beforeAll(async () => {
  itsm = await startItsm();
});
afterAll(() => itsm.stop());
beforeEach(async () => {
  workspace = await itsm.createWorkspace();
  client = clientOf(workspace);
});

const clientOf = ({ url }: Workspace, apiKey = workspace.key) =>
  new ItsmClient({ baseUrl: url, apiKey, maxRetries: 0 });
const titles = async () => (await client.tickets.list().toArray()).map(({ title }) => title);

describe('a workspace', () => {
  it('is created in the time that 20 tickets take', async () => {
    /** Returns the shortest of ten durations, because other processes can delay single calls. */
    const durationOf = async (call: () => Promise<unknown>) => {
      const durations: number[] = [];
      for (let count = 0; count < 10; count++) {
        const startedAt = performance.now();
        await call();
        durations.push(performance.now() - startedAt);
      }
      return Math.min(...durations);
    };
    const ofTicket = await durationOf(() => client.tickets.create(ticket));
    expect(await durationOf(() => itsm.createWorkspace())).toBeLessThan(20 * ofTicket);
  });

  it("is empty and can't be accessed from another workspace", async () => {
    const { id } = await client.tickets.create(ticket);
    const other = await itsm.createWorkspace();
    const foreign = clientOf(other, other.key);
    expect(await foreign.tickets.list().toArray()).toEqual([]);
    await expect(foreign.tickets.get(id)).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  it('creates keys with scopes, an expiry and a user', async () => {
    const user = await workspace.createUser({ role: 'REQUESTER', name: 'Ada Okafor' });
    expect(user).toMatchObject({ role: 'REQUESTER', name: 'Ada Okafor', active: true });
    const key = await workspace.createKey({ scopes: ['tickets:read'], user });
    expect(await clientOf(workspace, key).me.get()).toMatchObject({ key: { scopes: ['tickets:read'] }, user });

    const expired = await workspace.createKey({ expiresAt: new Date(Date.now() - 1000) });
    await expect(clientOf(workspace, expired).me.get()).rejects.toMatchObject({ code: 'INVALID_API_KEY' });
    await expect(workspace.createKey({ scopes: [] })).rejects.toThrow('scopes must contain at least one scope');
  });

  it('has no rate limits by default', async () => {
    await Promise.all(Array.from({ length: 70 }, () => client.me.get()));
  });
});

describe('a receiver', () => {
  it('returns each event once and rejects other requests', async () => {
    const receiver = await workspace.receiver({ events: ['ticket.created'] });
    await client.tickets.create(ticket);
    await client.tickets.create({ ...ticket, title: 'Second' });
    await receiver.waitFor('ticket.created');
    await receiver.waitFor('ticket.created');
    expect(receiver.events.map((event) => event.type === 'ticket.created' && event.ticket.title).sort()).toEqual([
      'Second',
      ticket.title,
    ]);
    expect((await fetch(receiver.url, { method: 'POST', body: '{}' })).status).toBe(400);
    await expect(receiver.waitFor('ticket.created', { timeoutMs: 50 })).rejects.toThrow(
      'No ticket.created arrived within 50 ms. The receiver got: ticket.created, ticket.created.',
    );
  });

  it('gets failed deliveries again', async () => {
    const attempts: unknown[] = [];
    let status = 500;
    const server = createServer((request, response) => {
      attempts.push(request.headers['x-service-attempt']);
      request.resume().on('end', () => response.writeHead(status).end());
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    await client.webhooks.create({ url, events: ['ticket.created'] });
    await client.tickets.create(ticket);
    await eventually(() => expect(attempts).toEqual(['1']));

    // Without the replay, the next attempt would be the second one, and follow after several seconds.
    status = 204;
    await workspace.retryDeliveries();
    await eventually(() => expect(attempts).toEqual(['1', '1']));
    server.close();
  });
});

describe('failNext', () => {
  it('responds with the errors of the API', async () => {
    workspace.failNext({ status: 429, retryAfterSeconds: 3 });
    workspace.failNext({ status: 500 });
    workspace.failNext({ status: 502 });
    await expect(client.tickets.create(ticket, { maxWaitMs: 0 })).rejects.toMatchObject({
      ...{ status: 429, code: 'RATE_LIMIT_EXCEEDED', retryAfterSeconds: 3 },
    });
    await expect(client.tickets.create(ticket)).rejects.toMatchObject({ status: 500, code: 'INTERNAL_ERROR' });
    await expect(client.tickets.create(ticket)).rejects.toMatchObject({ status: 502, code: 'UNEXPECTED_ANSWER' });
    expect(await titles()).toEqual([]);
  });

  it('drops a connection after the server has processed the request', async () => {
    workspace.failNext({ disconnect: true });
    await expect(client.tickets.create(ticket)).rejects.toMatchObject({ code: 'CONNECTION_FAILED' });
    expect(await titles()).toEqual([ticket.title]);
  });

  it('delays a request', async () => {
    workspace.failNext({ delayMs: 300 });
    await expect(client.tickets.list({}, { timeoutMs: 100 })).rejects.toMatchObject({ code: 'TIMEOUT' });
    workspace.failNext({ delayMs: 50 });
    expect(await titles()).toEqual([]);
  });
});

it('limits requests with `rateLimits`, and ends with the process that started it', async () => {
  const program = `
    import { startItsm } from '${fileURLToPath(import.meta.resolve('@itsm-api/testing'))}';
    const itsm = await startItsm({ rateLimits: true });
    const { url, key } = await itsm.createWorkspace();
    console.log(JSON.stringify({ server: itsm.url, url, key }));
    setInterval(() => undefined, 1000);`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = await once(child.stdout, 'data');
  const { server, url, key } = JSON.parse(String(line));
  const limited = new ItsmClient({ baseUrl: url, apiKey: key, maxWaitMs: 0 });
  for (let count = 0; count < 30; count++) await limited.tickets.list({ perPage: 1 });
  await expect(limited.tickets.list()).rejects.toMatchObject({ code: 'RATE_LIMIT_EXCEEDED' });

  const folders = () => readdirSync(tmpdir()).filter((name) => name.startsWith('itsm-postgres-'));
  const before = folders().filter((name) => existsSync(`${tmpdir()}/${name}/postgres/postmaster.pid`));
  child.kill('SIGKILL');
  await eventually(async () => {
    await expect(fetch(server)).rejects.toThrow();
    expect(folders().filter((name) => before.includes(name)).length).toBeLessThan(before.length);
  });
});
