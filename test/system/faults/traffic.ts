import { setTimeout as sleep } from 'node:timers/promises';
import { type EventType, pathPrefix } from '@itsm-api/contract';
import type { TenantId } from '@itsm-api/server/shared/tenant-id.ts';
import type { Workspace } from '../../support/subscribed-workspaces.ts';

/** A request and its result. Durations are in milliseconds. Times are from `performance.now()`. */
export interface Answer {
  /** The method and path, for example `GET /tickets`. */
  request: string;
  sentAt: number;
  took: number;
  /** The response status, or undefined if the connection broke or the request timed out. */
  status: number | undefined;
}

/** A change with a 2xx response. The server must deliver the event of this change. */
interface AcknowledgedChange {
  /** The title of the ticket, which is unique for each change. */
  title: string;
  tenantId: TenantId;
  type: EventType;
}

export interface Traffic {
  /** The results of all requests after the warm-up. */
  results: Answer[];
  acknowledged: AcknowledgedChange[];
  /** Stops the requests. Resolves when every request has ended. */
  stop(): Promise<void>;
}

interface TrafficOptions {
  apiUrl: string;
  workspaces: Workspace[];
  perSecond: number;
  /** The request timeout, in milliseconds. */
  timeoutMs: number;
}

/** The requests that clients send in turn: eight reads and two writes. */
const requests: ((title: string, ticketId: number | undefined) => [method: string, path: string, body?: object])[] = [
  (title) => [
    'POST',
    '/tickets',
    { title, description: 'Created during a silence.', type: 'INCIDENT', category: 'NETWORK' },
  ],
  (_, id) => ['GET', `/tickets/${id}`],
  () => ['GET', '/tickets'],
  (title, id) => ['PATCH', `/tickets/${id}`, { title }],
  () => ['GET', '/tickets?status=OPEN&perPage=5'],
  (_, id) => ['GET', `/tickets/${id}`],
  () => ['GET', '/users'],
  () => ['GET', '/tickets?perPage=100'],
  (_, id) => ['GET', `/tickets/${id}`],
  () => ['GET', '/tickets?priority=MEDIUM&type=INCIDENT'],
];

/**
 * Sends read and write requests at a constant rate, without waiting for responses. Resolves after a warm-up, which
 * sends requests one after another. During the warm-up, the client creates a ticket in each workspace, and V8 compiles
 * the server's code.
 */
export async function startTraffic({ apiUrl, workspaces, perSecond, timeoutMs }: TrafficOptions): Promise<Traffic> {
  const results: Answer[] = [];
  const acknowledged: AcknowledgedChange[] = [];
  const tickets = new Map<Workspace, number[]>(workspaces.map((workspace) => [workspace, []]));
  const underWay = new Set<Promise<unknown>>();
  let stopped = false;

  async function send(count: number): Promise<Answer> {
    const place = count % workspaces.length;
    const workspace = workspaces[place] as Workspace;
    const known = tickets.get(workspace) ?? [];
    const id = known[Math.floor(Math.random() * known.length)];
    // In a workspace without tickets, the first request creates a ticket. In other workspaces, the offset `place`
    // prevents identical requests at the same time.
    const turn = id === undefined ? 0 : (place + Math.floor(count / workspaces.length)) % requests.length;
    const title = `change ${count}`;
    const [method, path, body] = (requests[turn] as (typeof requests)[number])(title, id);
    const sentAt = performance.now();
    const response = await call(workspace, method, path, body).catch(() => undefined);
    const took = performance.now() - sentAt;
    if (method !== 'GET' && response !== undefined && response.status < 300) {
      if (method === 'POST') known.push(response.id);
      const type = method === 'POST' ? 'ticket.created' : 'ticket.updated';
      acknowledged.push({ title, tenantId: workspace.tenantId, type });
    }
    return { request: `${method} ${path.replace(/\/\d+$/, '/{id}')}`, sentAt, took, status: response?.status };
  }

  async function call({ key }: Workspace, method: string, path: string, body: object | undefined) {
    const response = await fetch(`${apiUrl}${pathPrefix}${path}`, {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(timeoutMs),
    });
    // Responses from HAProxy itself are text, not JSON.
    const { data } = JSON.parse(response.ok ? await response.text() : '{}') as { data?: { id: number } };
    return { status: response.status, id: data?.id ?? 0 };
  }

  const first = Math.max(2 * workspaces.length, 300);
  for (let count = 0; count < first; count++) {
    const { request, status = 'nothing' } = await send(count);
    if (status !== 200 && status !== 201) throw new Error(`${request} returned ${status} before the first fault.`);
  }

  const sending = (async () => {
    const began = performance.now();
    for (let count = 0; !stopped; count++) {
      const wait = began + (count * 1000) / perSecond - performance.now();
      if (wait > 0) await sleep(wait);
      const sent = send(first + count)
        .then((response) => results.push(response))
        .finally(() => underWay.delete(sent));
      underWay.add(sent);
    }
  })();

  return {
    results,
    acknowledged,
    async stop() {
      stopped = true;
      await sending;
      await Promise.all(underWay);
    },
  };
}
