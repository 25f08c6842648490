import type { Asset, ErrorCode, Project, Scope, Task, Ticket, User } from '@itsm-api/contract';
import type { Step } from './linearize.ts';
import type { ListQuery } from './resources/lists.ts';
import type { State } from './resources/rows.ts';
import type { Subscription } from './resources/webhooks.ts';
import type { Answer, Request } from './send.ts';

/** Something that is not as the model says. */
export interface Finding {
  what: string;
  /** The shortest history that shows it, a line each. */
  history: string[];
}

/** A request with what came of it, and its places in the order of the run. */
export interface Sent {
  request: Request;
  begin: number;
  end: number;
  /** The same by the clock: milliseconds. */
  beganAt: number;
  endedAt: number;
  /** Undefined where nobody knows what came of it: there was no answer, or one that says so (5xx). */
  answer: Answer | undefined;
}

export interface Key {
  id: number;
  key: string;
  userId: number;
  scopes: readonly Scope[];
  /** Its own id, and those of the keys that it was rotated from. */
  line: readonly number[];
}

/** What is known of one row: its state at the last quiet point, and what was asked of it since. */
export interface RowHistory<Row> {
  id: number;
  /** Undefined where it was made since. */
  state: State<Row> | undefined;
  steps: Step<State<Row>>[];
  /** Tags that were answered, the last ones. */
  tags: string[];
}

/** A request that may have made a row, of which no answer came. */
export interface Making<Row> {
  /** What tells the row from all others. */
  marker: string;
  /** Those of a request that are made together or not at all have the same. */
  request: number;
  step: (id: number) => Step<State<Row>>;
}

/** A list that was answered while rows were changed. */
export interface ListRead<Row> {
  request: Request;
  begin: number;
  end: number;
  totalCount: number;
  isIn(row: Row): boolean;
}

/** How many of the first rows are asked for much more often than others. */
const first = 6;

/** The rows of one resource of a workspace. */
export class Table<Row extends { id: number }> {
  readonly rows = new Map<number, RowHistory<Row>>();
  /** Rows whose making was answered, in that order: what commands may name. */
  readonly known: number[] = [];
  readonly #known = new Set<number>();
  readonly makings: Making<Row>[] = [];
  readonly lists: ListRead<Row>[] = [];

  of(id: number): RowHistory<Row> {
    let row = this.rows.get(id);
    if (row === undefined) {
      row = { id, state: undefined, steps: [], tags: [] };
      this.rows.set(id, row);
    }
    return row;
  }

  /** Has commands name a row from now on. */
  know(id: number): void {
    if (this.#known.has(id)) return;
    this.#known.add(id);
    this.known.push(id);
  }

  has(id: number): boolean {
    return this.#known.has(id);
  }

  /** One that is known: often one of the first ones, where many clients meet, else rather a new one. @param place from 0 to 1 */
  pick(place: number): number | undefined {
    if (place < 0.3) return this.known[Math.floor((place / 0.3) * Math.min(this.known.length, first))];
    return this.known[this.known.length - 1 - Math.floor(((place - 0.3) / 0.7) ** 3 * this.known.length)];
  }

  /** The rows as they are at a quiet point. */
  current(): Row[] {
    return [...this.rows.values()].flatMap(({ state }) => (state === undefined ? [] : [state.row]));
  }
}

/** One who keeps a copy by `GET …/changes`. */
export interface Walker {
  cursor: string | undefined;
  copy: Map<number, unknown>;
  isBusy: boolean;
}

export const followed = ['tickets', 'assets', 'tasks', 'projects', 'users'] as const;
export type Followed = (typeof followed)[number];

/** A tenant as the model has it. */
export interface Workspace {
  name: string;
  tenantId: bigint;
  /** With all scopes; the second was rotated from the first. */
  members: readonly Key[];
  /** May read and not write. */
  reader: Key;
  users: readonly User[];
  projects: readonly Project[];
  tickets: Table<Ticket>;
  assets: Table<Asset>;
  tasks: Table<Task>;
  webhooks: Table<Subscription>;
  walkers: Record<Followed, Walker[]>;
  /** Parents that tickets have had or may have since the last quiet point. */
  parents: Map<number, Set<number>>;
  /** Deliveries that were asked for by themselves: they must arrive at an active subscription. */
  asked: { webhookId: number; eventId: string }[];
  /** What deliveries are said to hold, by the ids of their events. */
  bodies: Map<string, string>;
}

/** A moment in which something was down. Milliseconds. */
export interface Outage {
  from: number;
  to: number;
}

/** All that one episode knows. */
export class World {
  readonly workspaces: Workspace[] = [];
  readonly findings: Finding[] = [];
  /** How often each operation was answered with success. */
  readonly succeeded = new Map<string, number>();
  /** Requests without an answer, or with one that tells of a fault of the server. */
  readonly failures: Sent[] = [];
  /** What is looked at beside the clients, and must end before the world does. */
  readonly background: Promise<void>[] = [];
  /** Tells the episodes of a run apart, and their rows. */
  readonly name: string;
  #places = 0;

  constructor(name: string) {
    this.name = name;
  }

  /** The next place in the order of all that is sent and answered. */
  next(): number {
    return ++this.#places;
  }

  find(what: string, history: string[] = []): void {
    this.findings.push({ what, history });
  }

  /** Has a request that was answered otherwise than it must be noted. */
  expect(isAsExpected: boolean, what: string, ...sents: (Sent | undefined)[]): void {
    if (!isAsExpected)
      this.find(
        what,
        sents.flatMap((sent) => (sent === undefined ? [] : describe(sent))),
      );
  }
}

/** A request and its answer in a line or two. */
function describe({ request, begin, end, answer }: Sent): string[] {
  return [`${begin}–${end} ${requestText(request)}`, `    ${answerText(answer)}`];
}

export function requestText({ method, path, headers, body }: Request): string {
  const texts = [
    method,
    path.replace(/^\/api\/public\/v1/, ''),
    headers && JSON.stringify(headers),
    body && JSON.stringify(body),
  ];
  return texts.filter((text) => text !== undefined).join(' ');
}

export function answerText(answer: Answer | undefined): string {
  if (answer === undefined) return 'no answer';
  const { status, headers, body } = answer;
  const told = body === undefined ? '' : JSON.stringify(body.error ?? body.data ?? body);
  return `${status}${headers.etag === undefined ? '' : ` ${headers.etag}`} ${told.slice(0, 1500)}`;
}

/** Whether an answer refuses with one of these codes. */
export function isRefused(answer: Answer | undefined, codes: readonly ErrorCode[], status = 400): boolean {
  return answer?.status === status && codes.includes(answer.body?.error?.code);
}

/** A filter of a list as a query has it. */
export function searchOf(query: ListQuery): string {
  const entries = Object.entries(query).filter(([, value]) => value !== undefined);
  return new URLSearchParams(Object.fromEntries(entries.map(([name, value]) => [name, String(value)]))).toString();
}
