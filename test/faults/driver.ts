import { setTimeout as sleep } from 'node:timers/promises';
import { type Priority, pathPrefix } from '@itsm-api/contract';
import { createTicket } from '@itsm-api/server/resources/tickets/queries.ts';
import type { DispatchJobs } from '@itsm-api/server/webhooks/outbox/dispatch-jobs.ts';
import type { Workspace } from './workspaces.ts';

/** What the one who makes changes knows of them, each by its name, which is the title of the ticket. */
export interface Changes {
  /** Answered 2xx: they must be told of. */
  committed: Set<string>;
  /** Refused with 4xx, or surely rolled back: they must not be told of. */
  undone: Set<string>;
  /** Answered 5xx or not at all: nobody knows, and the database decides. */
  unknown: Set<string>;
  /** The bodies of comments that were answered 2xx. */
  comments: Set<string>;
}

export interface Driver {
  changes: Changes;
  /** Makes no more changes; resolves when the last has been answered, or has not. */
  stop(): Promise<void>;
}

interface DriverOptions {
  apiUrl: string;
  workspaces: Driven[];
  /** Requests that are begun in a second, as long as enough of them are answered. */
  perSecond: number;
}

/** A workspace, and the keys with which it is changed in turn. */
export interface Driven {
  workspace: Workspace;
  keys: string[];
}

/** A request that makes changes, and their names: the one of its ticket, or one for each item in bulk. */
interface Writing {
  method: 'POST' | 'PATCH';
  path: string;
  body: object;
  names: string[];
  /** Whether it is sent under an Idempotency-Key, until it is answered. */
  isKeyed: boolean;
}

interface Answered {
  status: number;
  /** Of a bulk request an answer for each item. */
  data: { id: number } | { status: number; data?: { id: number } }[];
}

const clients = 24;
const answerPatience = 15_000;
/** Whoever sends a request until it is answered gives up after this. */
const retryPatience = 180_000;

/**
 * Creates, updates and comments on tickets over HTTP at a steady pace, one or many at a time; every tenth change is made to
 * be undone.
 */
export function startDriver({ apiUrl, workspaces, perSecond }: DriverOptions): Driver {
  const changes: Changes = { committed: new Set(), undone: new Set(), unknown: new Set(), comments: new Set() };
  const tickets = new Map<Driven, number[]>(workspaces.map((driven) => [driven, []]));
  let next = Date.now();
  let count = 0;
  let stopped = false;

  async function client(): Promise<void> {
    for (;;) {
      // Every client takes the next moment; those that wait for an answer have the others go on.
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

  /** A new ticket, or a new title and priority of one. */
  function single(driven: Driven, name: string): Writing {
    const id = Math.random() < 0.4 ? pick(known(driven)) : undefined;
    if (id !== undefined) {
      return { method: 'PATCH', path: `/tickets/${id}`, body: changed(name), names: [name], isKeyed: false };
    }
    return { method: 'POST', path: '/tickets', body: made(name), names: [name], isKeyed: Math.random() < 0.5 };
  }

  /** Some tickets and, amidst of them, one that is refused. */
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
    const answer = await send(driven, { ...writing, body: { ...writing.body, ...faulty }, names });
    const items = Array.isArray(answer?.data) ? answer.data : names.map(() => answer);
    for (const [i, name] of names.entries()) {
      const item = items[i];
      note(name, item?.status);
      if (item?.status === 201 && item.data !== undefined) known(driven).push((item.data as { id: number }).id);
    }
    if (answer === undefined) await sleep(50);
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
    const answer = await send(driven, { method: 'POST', path, body: content, names: [body], isKeyed: true });
    if (answer?.status === 201) changes.comments.add(body);
  }

  /** Sends a request, once or until it is answered; undefined where it is not. */
  async function send(driven: Driven, writing: Writing): Promise<Answered | undefined> {
    // An Idempotency-Key belongs to its API key.
    const key = pick(driven.keys) as string;
    for (const deadline = Date.now() + retryPatience; ; await sleep(50)) {
      const answer = await call(key, writing).catch(() => undefined);
      const isOpen = answer === undefined || answer.status >= 500 || answer.status === 409;
      if (!isOpen || !writing.isKeyed || Date.now() > deadline) return answer;
    }
  }

  async function call(key: string, { method, path, body, names, isKeyed }: Writing): Promise<Answered> {
    const response = await fetch(`${apiUrl}${pathPrefix}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
        ...(isKeyed && { 'idempotency-key': names.join() }),
      },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(answerPatience),
    });
    const { data } = (await response.json()) as Pick<Answered, 'data'>;
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
  description: 'Made while things fail.',
  type: 'INCIDENT',
  category: 'NETWORK',
});

function pick<Item>(items: readonly Item[]): Item | undefined {
  return items[Math.floor(Math.random() * items.length)];
}

/** All that creating a ticket does, its event, deliveries and jobs included, and then the transaction fails. */
async function createAndRollBack({ context }: Workspace, title: string): Promise<void> {
  const addWithin: DispatchJobs['addWithin'] = async (...added) => {
    await context.dispatchJobs.addWithin(...added);
    throw new Error('rolled back');
  };
  const ticket = { title, description: 'Never was.', type: 'INCIDENT', category: 'OTHER' } as const;
  const result = await createTicket({ ...context, dispatchJobs: { ...context.dispatchJobs, addWithin } }, ticket).catch(
    () => undefined,
  );
  if (result !== undefined) throw new Error('a transaction that was to fail was committed');
}
