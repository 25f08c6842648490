import { setTimeout as sleep } from 'node:timers/promises';
import { type Priority, pathPrefix } from '@itsm-api/contract';
import { createTicket } from '@itsm-api/server/resources/tickets/ticket-creation.ts';
import type { DispatchJobs } from '@itsm-api/server/webhooks/outbox/dispatch-jobs.ts';
import type { Workspace } from '../../support/subscribed-workspaces.ts';

/** The names of changes, grouped by outcome. The name of a change is the title of its ticket. */
export interface Changes {
  /** Changes with a 2xx response. Their events must arrive. */
  committed: Set<string>;
  /** Changes with a 4xx response, and rolled back changes. Events of these changes must not arrive. */
  undone: Set<string>;
  /**
   * Changes with a 5xx response or without a response. Only the database shows whether these changes were committed.
   */
  unknown: Set<string>;
  /** The bodies of comments whose requests got a 2xx response. */
  comments: Set<string>;
}

export interface Driver {
  changes: Changes;
  /** Stops sending changes. Resolves when every request has ended. */
  stop(): Promise<void>;
}

interface DriverOptions {
  apiUrl: string;
  workspaces: Driven[];
  /** The maximum number of requests per second. The rate is lower while requests get no response. */
  perSecond: number;
}

/** A workspace and its API keys. The driver chooses a random key for each request. */
export interface Driven {
  workspace: Workspace;
  keys: string[];
}

/** A request and the names of its changes. A bulk request has one name per item. */
interface Writing {
  method: 'POST' | 'PATCH';
  path: string;
  body: object;
  names: string[];
  /**
   * True if the request has an Idempotency-Key. The driver repeats a request with a key until it gets a final response.
   */
  isKeyed: boolean;
}

interface Result {
  status: number;
  /** The created or updated ticket, or one result per item of a bulk request. */
  data: { id: number } | { status: number; data?: { id: number } }[];
}

const clients = 24;
const requestTimeoutMs = 15_000;
/** How long the driver retries a request, in milliseconds. */
const maxRetryMs = 180_000;

/**
 * Creates tickets, updates tickets and adds comments at a constant rate, with single and bulk requests. Every tenth
 * write must fail, because it is invalid or its transaction is rolled back.
 */
export function startDriver({ apiUrl, workspaces, perSecond }: DriverOptions): Driver {
  const changes: Changes = { committed: new Set(), undone: new Set(), unknown: new Set(), comments: new Set() };
  const tickets = new Map<Driven, number[]>(workspaces.map((driven) => [driven, []]));
  let next = Date.now();
  let count = 0;
  let stopped = false;

  async function client(): Promise<void> {
    for (;;) {
      // Each client takes the next start time from a shared schedule, so the rate stays constant while a client waits.
      next = Math.max(next + 1000 / perSecond, Date.now() - 1000);
      await sleep(Math.max(0, next - Date.now()));
      if (stopped) return;
      const name = `change ${count++}`;
      const driven = workspaces[count % workspaces.length] as Driven;
      if (count % 20 === 0) await rollBack(driven, name);
      else if (count % 20 === 10) await write(driven, single(driven, name), { assigneeId: 2 ** 40 });
      else if (count % 20 === 5) await comment(driven, name);
      else if (count % 20 === 15) await write(driven, count % 40 === 15 ? bulkOfNew(name) : bulkOfKnown(driven, name));
      else await write(driven, single(driven, name));
    }
  }

  const known = (driven: Driven) => tickets.get(driven) as number[];

  /** Returns a request that creates a ticket or changes the title and priority of a ticket. */
  function single(driven: Driven, name: string): Writing {
    const id = Math.random() < 0.4 ? pick(known(driven)) : undefined;
    if (id !== undefined) {
      return { method: 'PATCH', path: `/tickets/${id}`, body: changed(name), names: [name], isKeyed: false };
    }
    return { method: 'POST', path: '/tickets', body: made(name), names: [name], isKeyed: Math.random() < 0.5 };
  }

  /** Returns a bulk request that creates five tickets, one of which is invalid. */
  function bulkOfNew(name: string): Writing {
    const names = Array.from({ length: 5 }, (_, i) => `${name}.${i}`);
    const items = names.map((each, i) => ({ ...made(each), ...(i === 2 && { assigneeId: 2 ** 40 }) }));
    return { method: 'POST', path: '/tickets/bulk', body: { tickets: items }, names, isKeyed: true };
  }

  function bulkOfKnown(driven: Driven, name: string): Writing {
    const ids = [...new Set(Array.from({ length: 4 }, () => pick(known(driven))))].filter((id) => id !== undefined);
    if (ids.length === 0) return single(driven, name);
    const names = ids.map((id) => `${name}.${id}`);
    const items = ids.map((id, i) => ({ id, ...changed(names[i] as string) }));
    return { method: 'PATCH', path: '/tickets/bulk', body: { tickets: items }, names, isKeyed: false };
  }

  async function write(driven: Driven, { names, ...writing }: Writing, faulty: object = {}): Promise<void> {
    const response = await send(driven, { ...writing, body: { ...writing.body, ...faulty }, names });
    const items = Array.isArray(response?.data) ? response.data : names.map(() => response);
    for (const [i, name] of names.entries()) {
      const item = items[i];
      note(name, item?.status);
      if (item?.status === 201 && item.data !== undefined) known(driven).push((item.data as { id: number }).id);
    }
    if (response === undefined) await sleep(50);
  }

  function note(name: string, status = 500): void {
    if (status >= 500) changes.unknown.add(name);
    else if (status >= 400) changes.undone.add(name);
    else changes.committed.add(name);
  }

  async function comment(driven: Driven, body: string): Promise<void> {
    const id = pick(known(driven));
    if (id === undefined) return;
    const content = { body, visibility: 'PUBLIC' };
    const path = `/tickets/${id}/comments`;
    const response = await send(driven, { method: 'POST', path, body: content, names: [body], isKeyed: true });
    if (response?.status === 201) changes.comments.add(body);
  }

  /**
   * Sends a request. If the request has an Idempotency-Key, repeats it until it gets a final response. Returns
   * undefined if the request gets no response.
   */
  async function send(driven: Driven, writing: Writing): Promise<Result | undefined> {
    // A retry uses the API key of the first request, because an Idempotency-Key is valid only for one API key.
    const key = pick(driven.keys) as string;
    for (const deadline = Date.now() + maxRetryMs; ; await sleep(50)) {
      const response = await call(key, writing).catch(() => undefined);
      const isOpen = response === undefined || response.status >= 500 || response.status === 409;
      if (!isOpen || !writing.isKeyed || Date.now() > deadline) return response;
    }
  }

  async function call(key: string, { method, path, body, names, isKeyed }: Writing): Promise<Result> {
    const response = await fetch(`${apiUrl}${pathPrefix}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
        ...(isKeyed && { 'idempotency-key': names.join() }),
      },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(requestTimeoutMs),
    });
    const { data } = (await response.json()) as Pick<Result, 'data'>;
    return { status: response.status, data };
  }

  async function rollBack({ workspace }: Driven, title: string): Promise<void> {
    changes.undone.add(title);
    await createAndRollBack(workspace, title);
  }

  const running = Promise.all(Array.from({ length: clients }, client));
  return {
    changes,
    async stop() {
      stopped = true;
      await running;
    },
  };
}

const priorities: Priority[] = ['LOW', 'MEDIUM', 'HIGH'];

const changed = (title: string) => ({ title, priority: pick(priorities) });

const made = (title: string) => ({
  ...changed(title),
  description: 'Created during faults.',
  type: 'INCIDENT',
  category: 'NETWORK',
});

function pick<Item>(items: readonly Item[]): Item | undefined {
  return items[Math.floor(Math.random() * items.length)];
}

/** Creates a ticket with its event, deliveries and jobs in a transaction that fails at the end. */
async function createAndRollBack({ context }: Workspace, title: string): Promise<void> {
  const addWithin: DispatchJobs['addWithin'] = async (...added) => {
    await context.dispatchJobs.addWithin(...added);
    throw new Error('rolled back');
  };
  const ticket = { title, description: 'Rolled back.', type: 'INCIDENT', category: 'OTHER' } as const;
  const result = await createTicket({ ...context, dispatchJobs: { ...context.dispatchJobs, addWithin } }, ticket).catch(
    () => undefined,
  );
  if (result !== undefined) throw new Error('A transaction that must fail was committed.');
}
