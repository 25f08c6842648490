import type { NewTicket } from '@itsm-api/contract';
import type { Visitor } from '../../../test/support/visitor.ts';

/** A client with the ids of the rows that its requests use. */
export interface Client {
  /** The API keys that the client uses in turn. */
  keys: string[];
  users: number[];
  tickets: number[];
  /** The ids of tickets with the status OPEN. The client updates each of these tickets once. */
  open: number[];
  assets: number[];
  projectId: number;
  tasks: number[];
  webhookId: number;
  /** The client's cursor in the change feed. */
  cursor: string | undefined;
  /** A completed POST request with an Idempotency-Key, which the client can repeat. */
  response: Pick<Asked, 'body' | 'headers'> | undefined;
  /** A browser that is signed in to the developer area. */
  visitor: Visitor;
}

/**
 * A request. The path is relative to the API prefix. If `elsewhere` is set, the path is relative to the root of the
 * server.
 */
export interface Asked {
  method: 'GET' | 'POST' | 'PATCH';
  path: string;
  elsewhere?: true;
  /** The request body. The client sends an object as JSON, and a string unchanged. */
  body?: object | string;
  headers?: Record<string, string>;
  /** The expected error status of a request that the server must reject. */
  rejected?: number;
  /** Stores values from `data` and `meta` of a successful response. */
  learn?(data: Data, meta: { nextCursor: string }): void;
}

interface Data {
  id: number;
}

/** A kind of request: its share, its name, and a function that creates the request. */
export type Kind = [share: number, name: string, make: (client: Client, count: number) => Asked];

const reads: Kind[] = [
  [22, 'a ticket', ({ tickets }) => get(`/tickets/${pick(tickets)}`)],
  [6, 'tickets by filter', () => list(`/tickets?status=${pick(statuses)}&priority=${pick(priorities)}`)],
  [2, 'tickets by several', () => list('/tickets?status=OPEN,PENDING&category=NETWORK,EMAIL&perPage=50')],
  [2, 'tickets, far', (_, count) => list(`/tickets?page=${1 + (count % 50)}`)],
  [2, 'my tickets', () => get('/tickets?assigneeId=me&perPage=5')],
  [4, 'tickets by word', (_, count) => get(`/tickets?q=${pick(words)}${count % 2 === 0 ? '&status=OPEN' : ''}`)],
  [4, 'changed tickets', follow],
  [1, 'changed assets', () => get(`/assets/changes?since=${new Date(Date.now() - 60_000).toISOString()}`)],
  [3, 'comments', ({ tickets }) => get(`/tickets/${pick(tickets)}/comments`)],
  [2, 'activity', ({ tickets }) => get(`/tickets/${pick(tickets)}/activity`)],
  [2, 'users', (_, count) => get(`/users?q=user${count % 100}`)],
  [2, 'assets', () => get('/assets?q=laptop&perPage=20')],
  [1, 'projects', () => get('/projects')],
  [1, 'tasks', ({ projectId }) => get(`/projects/${projectId}/tasks`)],
  [2, 'deliveries', ({ webhookId }) => get(`/webhooks/${webhookId}/deliveries`)],
  [1, 'who I am', () => get('/me')],
];

const writes: Kind[] = [
  [4, 'create', create],
  [3, 'create under a key', createUnderKey],
  [1, 'the same again', createAgain],
  [6, 'change a ticket', change],
  [2, 'move a ticket', move],
  [3, 'comment', ({ tickets }) => post(`/tickets/${pick(tickets)}/comments`, comment)],
  [0.5, 'create ten', () => post('/tickets/bulk', { tickets: Array.from({ length: 10 }, newTicket) })],
  [0.5, 'change ten', changeTen],
  [0.5, 'create an asset', createAsset],
  [0.5, 'change an asset', ({ assets }, count) => patch(`/assets/${pick(assets)}`, { location: `Room ${count}` })],
  [0.5, 'create a task', createTask],
  [0.5, 'change a task', ({ tasks }, count) => patch(`/tasks/${pick(tasks)}`, { title: `Order cables ${count}` })],
  [
    0.2,
    'a new secret',
    ({ webhookId }, count) => patch(`/webhooks/${webhookId}`, { secret: `a new secret, ${count}` }),
  ],
  [0.2, 'test a webhook', ({ webhookId }) => ({ method: 'POST', path: `/webhooks/${webhookId}/test` })],
];

const others: Kind[] = [
  [1, 'tools of agents', () => message('tools/list', {})],
  [1, 'an agent lists', () => message('tools/call', { name: 'list_tickets', arguments: { status: 'OPEN' } })],
  [1, 'an agent reads', ({ tickets }) => call('get_ticket', { id: pick(tickets) })],
  [1, 'an agent comments', ({ tickets }) => call('comment_on_ticket', { id: pick(tickets), ...comment })],
  [2, 'developer area', visit],
  [1, 'the site', (_, count) => ({ ...get(pick(sitePages, count)), elsewhere: true })],
  [0.5, 'no such ticket', () => ({ ...get('/tickets/999999999'), rejected: 404 })],
  [0.5, 'a wrong ticket', () => ({ ...post('/tickets', { title: 1 }), rejected: 400 })],
  [0.5, 'no such key', () => ({ ...get('/tickets', { authorization: 'Bearer itsm_none' }), rejected: 401 })],
];

/** All kinds of requests with their shares. About two thirds of the requests are reads. */
export const kinds: readonly Kind[] = [...reads, ...writes, ...others];

/** The requests of the example in docs/scaling.md: nine of ten are reads, and two of three reads get a ticket by id. */
export const pageKinds: readonly Kind[] = [
  [60, 'a ticket', ({ tickets }) => get(`/tickets/${pick(tickets)}`)],
  [30, 'tickets', () => get('/tickets')],
  [1.3, 'create', create],
  [6.2, 'change a ticket', change],
  [2.5, 'comment', ({ tickets }) => post(`/tickets/${pick(tickets)}/comments`, comment)],
];

const statuses = ['OPEN', 'IN_PROGRESS', 'PENDING', 'RESOLVED', 'CLOSED', 'CANCELLED'];
const priorities = ['LOW', 'MEDIUM', 'HIGH', 'CRITICAL'] as const;
const categories = ['SOFTWARE', 'HARDWARE', 'NETWORK', 'ACCESS', 'EMAIL', 'OTHER'] as const;
const types = ['INCIDENT', 'PROBLEM', 'CHANGE', 'SERVICE_REQUEST'] as const;
const words = ['printer', 'network', 'connection', 'nowhere', 'vpn drops', 'ticket 1234'];
const comment = { body: 'The gateway was restarted; does it still happen?', visibility: 'PUBLIC' };
const sitePages = ['/', '/docs/', '/docs/guides/first-request', '/llms.txt', '/openapi.json', '/docs/webhooks'];
const areaPages = ['keys', 'usage', 'webhooks', 'deliveries', 'users', 'assets', 'audit'];
/** The maximum number of ids that a client stores per resource. */
const maxKnown = 1000;

function get(path: string, headers?: Record<string, string>): Asked {
  return { method: 'GET', path, headers };
}

/** Returns a GET request for a list. The request accepts a compressed response. */
const list = (path: string) => get(path, { 'accept-encoding': 'gzip' });

function post(path: string, body: object): Asked {
  return { method: 'POST', path, body };
}

function patch(path: string, body: object): Asked {
  return { method: 'PATCH', path, body };
}

function follow(client: Client): Asked {
  const from = client.cursor === undefined ? `since=${new Date().toISOString()}` : `cursor=${client.cursor}`;
  return {
    ...get(`/tickets/changes?${from}`),
    learn(_, { nextCursor }) {
      client.cursor = nextCursor;
    },
  };
}

export function newTicket(): NewTicket {
  return {
    title: `VPN drops on PC-${Math.floor(Math.random() * 10_000)}`,
    description: 'Since this morning the connection is lost about every ten minutes. '.repeat(4),
    type: pick(types),
    category: pick(categories),
    priority: pick(priorities),
    customFields: { floor: 3, building: 'North' },
  };
}

function create(client: Client): Asked {
  return {
    ...post('/tickets', newTicket()),
    learn({ id }) {
      know(client.tickets, id);
      know(client.open, id);
    },
  };
}

function createUnderKey(client: Client): Asked {
  const headers = { authorization: `Bearer ${client.keys[0]}`, 'idempotency-key': crypto.randomUUID() };
  const total = { ...post('/tickets', newTicket()), headers };
  return {
    ...total,
    learn() {
      client.response = total;
    },
  };
}

function createAgain(client: Client): Asked {
  return client.response === undefined ? createUnderKey(client) : { ...post('/tickets', {}), ...client.response };
}

function change({ tickets, users }: Client, count: number): Asked {
  const changes = [
    { title: `VPN drops, again ${count}` },
    { priority: pick(priorities) },
    { category: pick(categories) },
    { assigneeId: pick(users) },
    { customFields: { floor: count % 10 } },
  ];
  return patch(`/tickets/${pick(tickets)}`, pick(changes));
}

function move(client: Client): Asked {
  const id = client.open.pop();
  return id === undefined ? create(client) : patch(`/tickets/${id}`, { status: 'IN_PROGRESS' });
}

function changeTen({ tickets }: Client): Asked {
  const ids = new Set(Array.from({ length: 10 }, () => pick(tickets)));
  return patch('/tickets/bulk', { tickets: [...ids].map((id) => ({ id, priority: pick(priorities) })) });
}

function createAsset({ assets }: Client): Asked {
  const asset = { name: 'Laptop', assetTag: crypto.randomUUID().slice(0, 18), type: 'LAPTOP' };
  return { ...post('/assets', asset), learn: ({ id }) => know(assets, id) };
}

function createTask({ projectId, tasks }: Client): Asked {
  return { ...post(`/projects/${projectId}/tasks`, { title: 'Order cables' }), learn: ({ id }) => know(tasks, id) };
}

/** Returns a request with an MCP message. */
function message(method: string, params: object): Asked {
  const headers = { accept: 'application/json, text/event-stream' };
  return { ...post('/mcp', { jsonrpc: '2.0', id: 1, method, params }), elsewhere: true, headers };
}

function call(name: string, given: object): Asked {
  return message('tools/call', { name, arguments: given });
}

function visit({ visitor }: Client, count: number): Asked {
  const cookie = [...visitor.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  const headers = { host: 'localhost', cookie, 'accept-encoding': 'gzip' };
  return { ...get(`/developer/${pick(areaPages, count)}`, headers), elsewhere: true };
}

/**
 * Returns the item at index `count`, or a random item by default. If `count` exceeds the last index, continues from the
 * first item.
 */
export function pick<Item>(items: readonly Item[], count = Math.floor(Math.random() * items.length)): Item {
  return items[count % items.length] as Item;
}

function know(ids: number[], id: number): void {
  if (ids.length < maxKnown) ids.push(id);
  else ids[Math.floor(Math.random() * maxKnown)] = id;
}
