import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { pathPrefix, type Ticket } from '@itsm-api/contract';
import { percentiles } from '../support/percentiles.ts';
import type { Workspace } from './workspaces.ts';

/*
 * What goes on in a workspace while it is moved: requests at a steady rate, and a walk of its changes.
 */

/** For an answer, for a decision, and for the ends. A worker looks every two seconds. Milliseconds. */
export const patience = 60_000;

/** Asks once. A POST that is sent again with the same body is done once. */
export async function ask(apiUrl: string, key: string, method: string, path: string, body?: object) {
  const response = await fetch(`${apiUrl}${pathPrefix}${path}`, {
    method,
    headers: {
      authorization: `Bearer ${key}`,
      ...(body && { 'content-type': 'application/json' }),
      ...(method === 'POST' && { 'idempotency-key': JSON.stringify(body) }),
    },
    ...(body && { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(patience),
  });
  return { status: response.status, body: (await response.json()) as { data: Ticket & Ticket[]; meta: Meta } };
}

interface Meta {
  nextCursor: string;
  hasMore: boolean;
}

/** Requests that go on by themselves, and what became of them. */
export interface Load {
  /** The titles that each ticket was given and that were acknowledged, the last one last. */
  titles: Map<number, string[]>;
  unexpected: string[];
  written(): number;
  heldBack(): number;
  late(): number;
  /** What was answered since the last mark is of this name. */
  mark(name: string): void;
  p99(name: string): number;
  stop(): Promise<void>;
}

/** As many as wait for a move of some seconds; on a machine that is too busy for more, none are added. */
const mostUnderWay = 150;

/** Creates, changes and reads tickets at a steady rate. What is answered 429 is asked again, wherever it belongs then. */
export function startLoad(url: () => string, { key }: Workspace, perSecond: number): Load {
  const titles = new Map<number, string[]>();
  const unexpected: string[] = [];
  const marks = new Map<string, number[]>();
  let took: number[] = [];
  let [written, heldBack, late, stopped, count] = [0, 0, 0, false, 0];
  const underWay = new Set<Promise<void>>();
  const busy = new Set<number>();

  /** On a machine that is too busy a statement may take too long, or a connection: that is asked again, too. */
  async function once(method: string, path: string, body?: { title: string }) {
    for (const deadline = Date.now() + patience; ; ) {
      const began = performance.now();
      const answer = await ask(url(), key, method, path, body);
      const isLate = answer.status === 500 || answer.status === 409;
      if (isLate && Date.now() < deadline) late++;
      else if (answer.status === 429) heldBack++;
      else {
        took.push(performance.now() - began);
        return answer;
      }
      await sleep(1000 + Math.random() * 1000);
    }
  }

  async function send(number: number): Promise<void> {
    const ids = [...titles.keys()].filter((id) => !busy.has(id));
    const id = ids[Math.floor(Math.random() * ids.length)];
    const title = `Change ${number}`;
    if (id === undefined || number % 4 === 0) {
      const body = { title, description: 'Made while it moves.', type: 'INCIDENT', category: 'NETWORK' };
      const answer = await once('POST', '/tickets', body);
      if (answer.status !== 201) return void unexpected.push(`POST: ${answer.status} ${JSON.stringify(answer.body)}`);
      titles.set(answer.body.data.id, [title]);
      written++;
    } else if (number % 4 === 1) {
      busy.add(id);
      const answer = await once('PATCH', `/tickets/${id}`, { title }).finally(() => busy.delete(id));
      if (answer.status !== 200) return void unexpected.push(`PATCH: ${answer.status} ${JSON.stringify(answer.body)}`);
      titles.get(id)?.push(title);
      written++;
    } else {
      const answer = await once('GET', `/tickets/${id}`);
      if (answer.status !== 200) unexpected.push(`GET: ${answer.status} ${JSON.stringify(answer.body)}`);
    }
  }

  const timer = setInterval(() => {
    if (underWay.size >= mostUnderWay) return;
    const sent = send(count++).catch((error: Error) => void unexpected.push(`not answered: ${error.message}`));
    underWay.add(sent);
    void sent.finally(() => underWay.delete(sent));
  }, 1000 / perSecond);

  return {
    titles,
    unexpected,
    written: () => written,
    heldBack: () => heldBack,
    late: () => late,
    mark(name) {
      marks.set(name, took);
      took = [];
    },
    p99(name) {
      return Math.round(percentiles(marks.get(name) ?? []).p99);
    },
    async stop() {
      if (stopped) return;
      stopped = true;
      clearInterval(timer);
      await Promise.all(underWay);
    },
  };
}

/** Follows `GET /tickets/changes`. */
export interface Walker {
  /** Walks on until the copy is the table, or patience ends; resolves to the tickets that are not the same. */
  settle(table: Map<number, Ticket>): Promise<number[]>;
  stop(): Promise<void>;
}

/** Follows changes, with the cursor of one cell in the other, too. */
export function startWalker(url: () => string, { key }: Workspace): Walker {
  const copy = new Map<number, Ticket>();
  let cursor: string | undefined;
  let stopped = false;
  async function step(): Promise<boolean> {
    const query = cursor === undefined ? '' : `?cursor=${cursor}`;
    const { status, body } = await ask(url(), key, 'GET', `/tickets/changes${query}`);
    if (status !== 200) return false;
    for (const ticket of body.data) copy.set(ticket.id, ticket);
    cursor = body.meta.nextCursor;
    return body.meta.hasMore;
  }
  const walking = (async () => {
    while (!stopped) if (!(await step().catch(() => false))) await sleep(50);
  })();
  return {
    async settle(table) {
      const differing = () => [...table].filter(([id, row]) => !isDeepStrictEqual(copy.get(id), row)).map(([id]) => id);
      for (const deadline = Date.now() + patience; differing().length > 0 && Date.now() < deadline; ) await sleep(200);
      return differing();
    },
    async stop() {
      stopped = true;
      await walking;
    },
  };
}
