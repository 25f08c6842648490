import type {
  Article,
  Asset,
  CategoryConfig,
  CustomFieldDefinition,
  ErrorCode,
  Project,
  ProposalPreview,
  RequestForm,
  Scope,
  Task,
  Team,
  Ticket,
  User,
} from '@itsm-api/contract';
import type { Gate } from './gate.ts';
import type { Step } from './linearize.ts';
import type { HoursSetting } from './resources/business-hours.ts';
import type { ListQuery } from './resources/lists.ts';
import type { State } from './resources/rows.ts';
import type { Subscription } from './resources/webhooks.ts';
import type { Answer, Request } from './send.ts';

/** A contradiction between the server and the model. */
export interface Finding {
  what: string;
  /** A short history that shows the contradiction, with one line per step. */
  history: string[];
}

/**
 * A request with its response. `begin` and `end` are their positions in the run's sequence of requests and responses.
 */
export interface Sent {
  request: Request;
  begin: number;
  end: number;
  /** When the request was sent and when the response arrived, in milliseconds since 1970. */
  beganAt: number;
  endedAt: number;
  /** The response, or undefined if the outcome is unknown because of a 5xx response or no response. */
  answer: Answer | undefined;
}

export interface Key {
  id: number;
  key: string;
  userId: number;
  scopes: readonly Scope[];
  /** True for an import key (docs/decisions/imports.md). */
  isImport: boolean;
  /** The id of the key, and the ids of the keys that it replaced in rotations. */
  line: readonly number[];
}

/** The state of a row at the previous checkpoint, and the steps of all requests since that checkpoint. */
export interface RowHistory<Row> {
  id: number;
  /** The state at the previous checkpoint, or undefined if the row did not exist. */
  state: State<Row> | undefined;
  steps: Step<State<Row>>[];
  /** Recent ETags of the row, from responses. */
  tags: string[];
}

/** A request that may have created a row, but got no response. */
export interface Creation<Row> {
  /** The marker in the row, which identifies the request. */
  marker: string;
  /**
   * The number of the command, which is the same for all rows of a bulk request. A bulk request creates all of these
   * rows or none. Undefined if the request may have created the other rows but not this one.
   */
  request: number | undefined;
  step: (id: number) => Step<State<Row>>;
}

/** An attachment that a response contained. */
export interface KnownAttachment {
  id: number;
  ticketId: number;
  content: string;
  size: number;
  /** Whether a request that deletes the attachment was sent. */
  isDeleted: boolean;
}

/** A pending proposal. */
export interface KnownProposal {
  id: number;
  operation: string;
  /** The path parameters: none for a new row, and otherwise the id of the row. */
  params: Record<string, number>;
  body: object;
  preview: ProposalPreview;
  /** The key that proposed it. */
  key: Key;
}

/** A list page that was read during concurrent changes. */
export interface ListRead<Row> {
  request: Request;
  begin: number;
  end: number;
  totalCount: number;
  /** Returns undefined if it depends on an unknown time. */
  isIn(row: Row): boolean | undefined;
}

/** The number of rows at the start of `known` that commands reference often. */
const first = 6;

/** The rows of one resource in a workspace. */
export class Table<Row extends { id: number }> {
  readonly rows = new Map<number, RowHistory<Row>>();
  /** The ids of the rows that commands can reference, in the order in which they first appeared in responses. */
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

  /** Allows commands to reference a row. */
  know(id: number): void {
    if (this.#known.has(id)) return;
    this.#known.add(id);
    this.known.push(id);
  }

  has(id: number): boolean {
    return this.#known.has(id);
  }

  /**
   * Selects a known row and returns its id. Often selects one of the first rows, so that different clients change the
   * same rows. In the other cases, usually selects a recent row.
   * @param place a number from 0 to 1 that determines the row
   */
  pick(place: number): number | undefined {
    if (place < 0.3) return this.known[Math.floor((place / 0.3) * Math.min(this.known.length, first))];
    return this.known[this.known.length - 1 - Math.floor(((place - 0.3) / 0.7) ** 3 * this.known.length)];
  }

  /** Returns the current rows of the model. Call this function only while all clients pause. */
  current(): Row[] {
    return [...this.rows.values()].flatMap(({ state }) => (state === undefined ? [] : [state.row]));
  }
}

/** A client that copies a resource from its change feed. */
export interface Walker {
  cursor: string | undefined;
  copy: Map<number, unknown>;
  isBusy: boolean;
}

/** The operations of the change feeds whose rows can change, by resource. */
export const followed = {
  tickets: 'tickets.changes',
  assets: 'assets.changes',
  tasks: 'tasks.changes',
  projects: 'projects.changes',
  users: 'users.changes',
  teams: 'teams.changes',
  articles: 'articles.changes',
  requestForms: 'requestForms.changes',
} as const;
/** The operations of the change feeds whose rows never change. */
export const followedLogs = {
  comments: 'comments.changes',
  ticketActivity: 'activities.ofTickets',
  assetActivity: 'activities.ofAssets',
} as const;
const fixed = ['projects', 'users', 'teams', 'articles', 'requestForms'] as const;
/** Returns true if no endpoint changes the rows of a resource, so that they stay the same in an episode. */
export function isFixed(resource: string): resource is (typeof fixed)[number] {
  return fixed.some((each) => each === resource);
}
export type Followed = keyof typeof followed | keyof typeof followedLogs;

/** A workspace, with the state that the model predicts. */
/** The filter of lists by a custom field. */
interface FieldFilter {
  state: 'on' | 'off' | 'unknown';
  /** Whether a command is turning the filter on or off. */
  isChanging: boolean;
  /** How often commands have begun to turn the filter on or off. */
  changes: number;
}

export interface Workspace {
  name: string;
  tenantId: bigint;
  /**
   * The keys with all scopes. The second key replaced the first key in a rotation. The others belong to an AGENT, to a
   * REQUESTER, and to the users in `leaving`.
   */
  members: readonly Key[];
  /** The approvers who become a REQUESTER and who are deactivated between two rounds of commands. */
  leaving: { demote: number; deactivate: number };
  /** A key without write scopes. */
  reader: Key;
  importer: Key;
  users: readonly User[];
  teams: readonly Team[];
  /** The definitions of custom fields, in the order of their resources and keys. */
  fields: readonly CustomFieldDefinition[];
  /** The filters by custom fields, by resource and key, such as `TICKET.site`. */
  filters: Readonly<Record<string, FieldFilter>>;
  /** The ticket categories, in the order of their ids. One workspace has none. */
  categories: readonly CategoryConfig[];
  projects: readonly Project[];
  articles: readonly Article[];
  /** The request forms, in the order of their keys. */
  requestForms: readonly RequestForm[];
  tickets: Table<Ticket>;
  assets: Table<Asset>;
  tasks: Table<Task>;
  webhooks: Table<Subscription>;
  walkers: Record<Followed, Walker[]>;
  /** The links that responses contained, with the ids of their tickets. Some of them may be deleted. */
  links: { id: number; tickets: readonly [number, number] }[];
  /** Whether work on a change can start only if it is approved and within its window. */
  hasChangePolicy: boolean;
  hours: HoursSetting;
  /** Lets the command that sets the business hours run alone. */
  gate: Gate;
  /** The ids of the tickets of the type CHANGE that responses contained. */
  changes: number[];
  /** The proposals that responses contained, without those about which a command has decided. */
  proposals: KnownProposal[];
  /** The approvals that responses contained. Some of them may be withdrawn. */
  approvals: { id: number; ticketId: number; approverId: number }[];
  /** The external ids for which the server rejected a comment, with the id of the comment that it named. */
  taken: { externalId: string; id: number }[];
  attachments: KnownAttachment[];
  /** The parents that each ticket has or may have had since the previous checkpoint. */
  parents: Map<number, Set<number>>;
  /**
   * Deliveries that a client requested with a test event or a replay. They must arrive if the subscription stays
   * active.
   */
  options: { webhookId: number; eventId: string }[];
  /** The delivery bodies that the API returned, by event id. */
  bodies: Map<string, string>;
}

/** The start and the end of an outage, in milliseconds since 1970. */
export interface Outage {
  from: number;
  to: number;
}

/** The state that all commands of an episode share. */
export class World {
  readonly workspaces: Workspace[] = [];
  readonly findings: Finding[] = [];
  /** The number of successful requests per operation. */
  readonly succeeded = new Map<string, number>();
  /** Requests without a response or with a 5xx response. */
  readonly failures: Sent[] = [];
  /** Background checks, which must end before the episode ends. */
  readonly background: Promise<void>[] = [];
  /** The name of the episode, which is unique within a run. */
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

  /** If `isAsExpected` is false, reports a violation with the given requests. */
  expect(isAsExpected: boolean, what: string, ...sents: (Sent | undefined)[]): void {
    if (!isAsExpected)
      this.find(
        what,
        sents.flatMap((sent) => (sent === undefined ? [] : describe(sent))),
      );
  }
}

/** Formats a request and its response in two lines. */
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

/** Returns true if a response is an error with the given status and one of the given codes. */
export function isRejection(answer: Answer | undefined, codes: readonly ErrorCode[], status = 400): boolean {
  return answer?.status === status && codes.includes(answer.body?.error?.code);
}

/** Formats the query parameters of a list as a query string. */
export function searchOf(query: ListQuery): string {
  const entries = Object.entries(query).filter(([, value]) => value !== undefined);
  return new URLSearchParams(Object.fromEntries(entries.map(([name, value]) => [name, String(value)]))).toString();
}
