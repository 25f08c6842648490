import type { Asset, ErrorCode, Project, Scope, Task, Ticket, User } from '@itsm-api/contract';
import type { Step } from './linearize.ts';
import type { ListQuery } from './resources/lists.ts';
import type { State } from './resources/rows.ts';
import type { Subscription } from './resources/webhooks.ts';
import type { Answer, Request } from './send.ts';

/** A contradiction between the responses of the server and the model. */
export interface Finding {
  what: string;
  /** The shortest history that shows the contradiction, one line per step. */
  history: string[];
}

/** A request with its response, and the positions of both in the sequence of the run. */
export interface Sent {
  request: Request;
  begin: number;
  end: number;
  /** The wall-clock times of the request and the response, in milliseconds. */
  beganAt: number;
  endedAt: number;
  /** The response, or undefined if the outcome is unknown: no response, or a 5xx. */
  answer: Answer | undefined;
}

export interface Key {
  id: number;
  key: string;
  userId: number;
  scopes: readonly Scope[];
  /** The id of the key, and the ids of the keys that it replaced in rotations. */
  line: readonly number[];
}

/** The state of a row at the last checkpoint, and the requests since then. */
export interface RowHistory<Row> {
  id: number;
  /** The state, or undefined if the row was created after the checkpoint. */
  state: State<Row> | undefined;
  steps: Step<State<Row>>[];
  /** The recent ETags of the row from responses. */
  tags: string[];
}

/** A create request without a response. */
export interface Creation<Row> {
  /** The marker that identifies the row. */
  marker: string;
  /** The number of the request. A bulk request creates all of its rows or none. */
  request: number;
  step: (id: number) => Step<State<Row>>;
}

/** A list that was read concurrently with changes. */
export interface ListRead<Row> {
  request: Request;
  begin: number;
  end: number;
  totalCount: number;
  isIn(row: Row): boolean;
}

/** The number of first rows that commands reference more often. */
const first = 6;

/** The rows of one resource of a workspace. */
export class Table<Row extends { id: number }> {
  readonly rows = new Map<number, RowHistory<Row>>();
  /** The ids of rows that commands can reference, in the order of the responses to their creation. */
  readonly known: number[] = [];
  readonly #known = new Set<number>();
  readonly creations: Creation<Row>[] = [];
  readonly lists: ListRead<Row>[] = [];

  of(id: number): RowHistory<Row> {
    let row = this.rows.get(id);
    if (row === undefined) {
      row = { id, state: undefined, steps: [], tags: [] };
      this.rows.set(id, row);
    }
    return row;
  }

  /** Makes a row available to commands. */
  know(id: number): void {
    if (this.#known.has(id)) return;
    this.#known.add(id);
    this.known.push(id);
  }

  has(id: number): boolean {
    return this.#known.has(id);
  }

  /**
   * Returns the id of a known row: often one of the first rows, so that clients conflict, otherwise mostly a recent
   * row. @param place from 0 to 1
   */
  pick(place: number): number | undefined {
    if (place < 0.3) return this.known[Math.floor((place / 0.3) * Math.min(this.known.length, first))];
    return this.known[this.known.length - 1 - Math.floor(((place - 0.3) / 0.7) ** 3 * this.known.length)];
  }

  /** Returns the current rows of the model. Call it only while all clients are paused. */
  current(): Row[] {
    return [...this.rows.values()].flatMap(({ state }) => (state === undefined ? [] : [state.row]));
  }
}

/** A client that copies a resource by `GET …/changes`. */
export interface Walker {
  cursor: string | undefined;
  copy: Map<number, unknown>;
  isBusy: boolean;
}

export const followed = ['tickets', 'assets', 'tasks', 'projects', 'users'] as const;
export type Followed = (typeof followed)[number];

/** A tenant of the model. */
export interface Workspace {
  name: string;
  tenantId: bigint;
  /** Keys with all scopes. The second was rotated from the first. */
  members: readonly Key[];
  /** A key without write scopes. */
  reader: Key;
  users: readonly User[];
  projects: readonly Project[];
  tickets: Table<Ticket>;
  assets: Table<Asset>;
  tasks: Table<Task>;
  webhooks: Table<Subscription>;
  walkers: Record<Followed, Walker[]>;
  /** The parents that tickets have or may have had since the last checkpoint. */
  parents: Map<number, Set<number>>;
  /** Deliveries that clients requested by a test event or a replay. They must arrive if the subscription is active. */
  options: { webhookId: number; eventId: string }[];
  /** The bodies of deliveries that the API returned, by event id. */
  bodies: Map<string, string>;
}

/** The start and the end of a fault, in milliseconds since 1970. */
export interface Outage {
  from: number;
  to: number;
}

/** The state of an episode. */
export class World {
  readonly workspaces: Workspace[] = [];
  readonly findings: Finding[] = [];
  /** The number of successful requests per operation. */
  readonly succeeded = new Map<string, number>();
  /** Requests without a response, or with a response that reports an error of the server. */
  readonly failures: Sent[] = [];
  /** Background checks, which must end before the world is closed. */
  readonly background: Promise<void>[] = [];
  /** The name of the episode, which is unique in a run. */
  readonly name: string;
  #places = 0;

  constructor(name: string) {
    this.name = name;
  }

  /** Returns the next position in the sequence of all requests and responses. */
  next(): number {
    return ++this.#places;
  }

  find(what: string, history: string[] = []): void {
    this.findings.push({ what, history });
  }

  /** Reports a finding with the given requests unless `isAsExpected` is true. */
  expect(isAsExpected: boolean, what: string, ...sents: (Sent | undefined)[]): void {
    if (!isAsExpected)
      this.find(
        what,
        sents.flatMap((sent) => (sent === undefined ? [] : describe(sent))),
      );
  }
}

/** Formats a request and its response in one or two lines. */
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
  const reported = body === undefined ? '' : JSON.stringify(body.error ?? body.data ?? body);
  return `${status}${headers.etag === undefined ? '' : ` ${headers.etag}`} ${reported.slice(0, 1500)}`;
}

/** Returns whether a response is an error with one of these codes. */
export function isRejection(answer: Answer | undefined, codes: readonly ErrorCode[], status = 400): boolean {
  return answer?.status === status && codes.includes(answer.body?.error?.code);
}

/** Formats the query parameters of a list as a query string. */
export function searchOf(query: ListQuery): string {
  const entries = Object.entries(query).filter(([, value]) => value !== undefined);
  return new URLSearchParams(Object.fromEntries(entries.map(([name, value]) => [name, String(value)]))).toString();
}
