import { once } from 'node:events';
import { type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathPrefix } from '@itsm-api/contract';
import type { Answer } from '../../../support/api.ts';
import type { Kind, System, Tenant } from './system.ts';

/* The clients of the tenants. */

/** The time between two attempts of a request during maintenance, in milliseconds. */
const retryMs = 50;

interface Response {
  /** The status, or 0 if the request got no response. */
  status: number;
  headers: IncomingHttpHeaders;
  body: Answer['body'];
}

type Request = [method: string, path: string, body?: object, headers?: object];

/** Sends a request through HAProxy, and repeats it while the tenant is in maintenance. */
export async function send(system: System, tenant: Tenant, request: Request): Promise<Response> {
  const { counts, haproxy } = system;
  const [method, path] = request;
  const kind: Kind = method === 'GET' ? 'reads' : 'writes';
  for (;;) {
    const isAnnounced = tenant.announced.has(kind);
    counts.requests++;
    const response = await exchange(haproxy.port, tenant, request).catch(
      (error: Error): Response => ({ status: 0, headers: {}, body: error.message }),
    );
    if (response.status >= 200 && response.status < 300) {
      if (kind === 'writes') counts.acknowledged++;
      const now = performance.now();
      tenant.longestMs[kind] = Math.max(tenant.longestMs[kind], now - tenant.lastAt[kind]);
      tenant.lastAt[kind] = now;
      return response;
    }
    const isUnavailable = response.status === 503 && response.headers['retry-after'] === '30';
    if (!isUnavailable || !(isAnnounced || tenant.announced.has(kind))) {
      const content = JSON.stringify(response.body);
      counts.failed.push(`${tenant.name}: ${method} ${path}: ${response.status} ${content.slice(0, 300)}`);
      return response;
    }
    counts.unavailable[kind]++;
    if (system.isStopped) return response;
    await sleep(retryMs);
  }
}

async function exchange(port: number, { host, key }: Tenant, [method, path, body, more]: Request): Promise<Response> {
  const headers = {
    ...{ host, authorization: `Bearer ${key}`, ...more },
    ...(body && { 'content-type': 'application/json' }),
  };
  const sent = request({ port, host: '127.0.0.1', method, path: `${pathPrefix}${path}`, headers });
  sent.end(body && JSON.stringify(body));
  const [received] = (await once(sent, 'response')) as [IncomingMessage];
  const content = await text(received);
  return { status: received.statusCode ?? 0, headers: received.headers, body: JSON.parse(content) };
}

interface Writer {
  /** The start of the titles of the tickets. */
  name: string;
  /** The average pause after each ticket, in milliseconds. */
  pauseMs: number;
  isStopped: () => boolean;
}

/** Creates and updates tickets until `isStopped` returns true. */
export async function write(system: System, tenant: Tenant, { name, pauseMs, isStopped }: Writer): Promise<void> {
  for (let count = 0; !isStopped(); count++) {
    const title = `${name} ${count}`;
    const created = await send(system, tenant, createOf(title));
    if (created.status === 201) {
      const { id, priority } = created.body.data;
      const ticket = { title, priority, etag: created.headers.etag };
      tenant.written.set(id, ticket);
      const change = ['PATCH', `/tickets/${id}`, { priority: 'HIGH' }, { 'if-match': created.headers.etag }] as const;
      const updated = await send(system, tenant, [...change]);
      if (updated.status === 200) Object.assign(ticket, { priority: 'HIGH', etag: updated.headers.etag });
    }
    await sleep(2 * Math.random() * pauseMs);
  }
}

export function createOf(title: string): Request {
  const ticket = { title, description: 'x', type: 'INCIDENT', category: 'SOFTWARE', priority: 'LOW' };
  return ['POST', '/tickets', ticket, { 'idempotency-key': title }];
}

/** Follows the change feed of a moving tenant until the end of the test, and stores each ticket in `copy`. */
export async function follow(system: System, tenant: Tenant): Promise<void> {
  let cursor = '';
  while (!system.isStopped) {
    const { status, body } = await send(system, tenant, ['GET', `/tickets/changes?perPage=100${cursor}`]);
    if (status === 200) {
      for (const ticket of body.data) tenant.copy?.set(ticket.id, ticket);
      cursor = `&cursor=${body.meta.nextCursor}`;
    }
    if (!body.meta?.hasMore) await sleep(retryMs);
  }
}
