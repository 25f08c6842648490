import { setTimeout as sleep } from 'node:timers/promises';
import type { CustomFieldResource, User } from '@itsm-api/contract';
import { contract } from '@itsm-api/contract/ts-rest';
import { hasEmail, withEmails } from './addresses.ts';
import type { HoursSetting } from './resources/business-hours.ts';
import { scopeOf } from './resources/keys.ts';
import { isSame } from './resources/rows.ts';
import type { References } from './resources/users.ts';
import { type Answer, type Request, send } from './send.ts';
import { isRejection, type Key, type Sent, type Workspace, type World } from './world.ts';

/** The sender of a request, and the index of the workspace. */
export interface Sender {
  workspace: number;
  /**
   * The API key of the request: the index of a key with all scopes, an import key, a read-only key, an unknown key, or
   * no key.
   */
  who: number | 'importer' | 'reader' | 'stranger' | 'none';
}

/**
 * How to send a POST request: without an Idempotency-Key (`plain`), with a new key (`keyed`), twice concurrently
 * (`twice`), again after the response (`again`), or again with another body (`other`).
 */
export type PostMode = 'plain' | 'keyed' | 'twice' | 'again' | 'other';

export interface RequestOptions {
  params?: Record<string, number | string>;
  /** The query string. */
  search?: string;
  headers?: Record<string, string>;
  body?: unknown;
  sending?: PostMode;
  /** Another valid body, which `other` sends with the same Idempotency-Key. */
  other?: unknown;
}

/** The servers that commands use. */
export interface Servers {
  /** The URLs of the API processes. The second process has the rate limits from the specification. */
  apiUrls: readonly [string, string];
  /** The base URL of the webhook receiver that all subscriptions use. */
  receiverUrl: string;
  /** Creates a key with all scopes. Returns undefined if the database is unavailable. */
  newKey(workspace: Workspace): Promise<Key | undefined>;
  /** Revokes an API key. Returns false if the key may still be valid. */
  revokeKey(workspace: Workspace, key: Key): Promise<boolean>;
  /** Turns the filter of lists by a custom field on or off. Returns false if the filter may be in any state. */
  setFilter(
    workspace: Workspace,
    field: { resource: CustomFieldResource; key: string },
    isOn: boolean,
  ): Promise<boolean>;
  /** Sets the business hours and the targets. Earlier requests of the workspace no longer take effect. */
  setHours(workspace: Workspace, setting: HoursSetting): Promise<void>;
  /**
   * Withdraws an approval for an administrator, as the developer area does. Resolves to the error code if the server
   * rejects it, and to undefined if the outcome is unknown.
   */
  withdrawApproval(workspace: Workspace, id: number): Promise<'done' | 'NOT_FOUND' | undefined>;
  /**
   * Lets a pending proposal expire, and sometimes runs the nightly job. Returns false if the proposal may still be
   * pending.
   */
  expireProposal(workspace: Workspace, id: number): Promise<boolean>;
  /** Demotes a user to REQUESTER, or deactivates the user. Resolves to all users of the workspace. */
  removeApprover(workspace: Workspace, userId: number, how: 'demote' | 'deactivate'): Promise<User[]>;
}

const strangeKey = 'itsm_0000000000000000000000000000000000000';
/** How long to retry a request with an Idempotency-Key, in milliseconds. */
const maxRetryMs = 120_000;

/** The context of one command. Sends the command's requests and records them for the model. */
export class Turn {
  readonly world: World;
  readonly workspace: Workspace;
  /** The index of the command in the episode. Rows that the command creates contain this number. */
  readonly number: number;
  readonly servers: Servers;
  readonly #by: Sender;

  constructor(world: World, servers: Servers, number: number, by: Sender) {
    this.world = world;
    this.servers = servers;
    this.number = number;
    this.#by = by;
    this.workspace = world.workspaces[by.workspace] as Workspace;
  }

  /** The API key that the command uses. */
  get key(): Key {
    const { members, importer, reader } = this.workspace;
    const { who } = this.#by;
    if (typeof who === 'number') return members[who % members.length] as Key;
    return who === 'importer' ? importer : reader;
  }

  get actor() {
    const { id, userId, isImport } = this.key;
    return { userId, keyId: id, ...(isImport && { import: true as const }) };
  }

  /** Another workspace. The sender must never see rows of this workspace. */
  get other(): Workspace {
    return this.world.workspaces[(this.#by.workspace + 1) % this.world.workspaces.length] as Workspace;
  }

  /** Functions that check whether an id in a request body is the id of a user, a team, a ticket, an asset or a ticket category. */
  get references(): References {
    const { users, teams, tickets, assets, categories } = this.workspace;
    return {
      hasChangePolicy: this.workspace.hasChangePolicy && !this.key.isImport,
      hours: this.workspace.hours,
      isActiveUser: (id) => users.some((user) => user.id === id && user.active),
      isUser: (id) => users.some((user) => user.id === id),
      isApprover: (id) => users.some((user) => user.id === id && user.active && user.role !== 'REQUESTER'),
      isActiveTeam: (id) => teams.some((team) => team.id === id && team.active),
      isTicket: (id) => tickets.has(id),
      isAsset: (id) => assets.has(id),
      isActiveCategory: (id) => categories.length === 0 || categories.some((each) => each.id === id && each.active),
      refinedCategory: (id) => categories.find((each) => each.id === id)?.category ?? null,
    };
  }

  /**
   * Sends a request for an operation of the contract, such as `tickets.list`. Every third command sends the email
   * addresses of users instead of their ids. Checks the errors for a missing or invalid key and for a missing scope.
   * @returns the request with its response, or undefined if the server had to reject the API key or its scopes
   */
  async ask(operation: string, given: RequestOptions = {}): Promise<Sent | undefined> {
    // The filters of webhooks accept only ids.
    const isById = this.number % 3 !== 0 || operation.startsWith('webhooks.');
    const options = isById ? given : withEmails(given, this.workspace.users);
    const request = this.#requestOf(operation, options);
    const sent = await this.#sendAs(request, options);
    const { answer } = sent;
    if (answer === undefined) return sent;
    if (answer.status < 300) this.world.succeeded.set(operation, (this.world.succeeded.get(operation) ?? 0) + 1);
    if (operation === 'ping.get') return sent;

    if (this.#by.who === 'stranger' || this.#by.who === 'none') {
      this.world.expect(
        isRejection(answer, ['INVALID_API_KEY'], 401),
        'a request without a valid key was not rejected',
        sent,
      );
      return undefined;
    }
    const scope = scopeOf(operation);
    const scopes = [scope ?? [], hasEmail(options) ? ('users:read' as const) : []].flat();
    if (scopes.some((each) => !this.key.scopes.includes(each))) {
      // The operation in the body determines the scope, so the server parses the body first.
      const isInvalid = operation === 'proposals.create' && isRejection(answer, ['VALIDATION_ERROR']);
      this.world.expect(
        isInvalid || isRejection(answer, ['INSUFFICIENT_SCOPE'], 403),
        'a key without the scope was not rejected',
        sent,
      );
      return undefined;
    }
    return sent;
  }

  /**
   * Sends a request once. Records the times of the request and its response, and their positions in the run's sequence
   * of requests and responses.
   */
  async sendOnce(request: Request, apiUrl = this.servers.apiUrls[0]): Promise<Sent> {
    const { world } = this;
    const [begin, beganAt] = [world.next(), Date.now()];
    const answer = await send(apiUrl, request);
    const [end, endedAt] = [world.next(), Date.now()];
    const isKnown = answer !== undefined && answer.status < 500;
    const sent: Sent = { request, begin, end, beganAt, endedAt, answer: isKnown ? answer : undefined };
    if (!isKnown) {
      world.failures.push({ ...sent, answer });
      await sleep(100);
    }
    return sent;
  }

  #requestOf(operation: string, { params = {}, search, headers, body }: RequestOptions): Request {
    const [resource = '', name = ''] = operation.split('.');
    const routes = contract as unknown as Record<string, Record<string, { method: string; path: string }>>;
    const route = routes[resource]?.[name];
    if (route === undefined) throw new Error(`The contract has no operation ${operation}.`);
    const path = route.path.replace(/:(\w+)/g, (_, param: string) => String(params[param]));
    const { who } = this.#by;
    return {
      method: route.method,
      path: search ? `${path}?${search}` : path,
      ...(who !== 'none' && { key: who === 'stranger' ? strangeKey : this.key.key }),
      ...(headers && { headers }),
      ...(body !== undefined && { body }),
    };
  }

  async #sendAs(request: Request, { sending = 'plain', other }: RequestOptions): Promise<Sent> {
    if (sending === 'plain') return this.sendOnce(request);
    const named = { ...request, headers: { ...request.headers, 'idempotency-key': `command ${this.number}` } };
    if (sending !== 'twice') {
      const sent = await this.#sendUntilAnswered(named);
      const isDone = sent.answer !== undefined && sent.answer.status < 300;
      if (isDone && sending === 'again') this.#expectSame(sent, await this.#sendUntilAnswered(named));
      if (isDone && sending === 'other') await this.#sendOther({ ...named, body: other });
      return sent;
    }
    const [first, second] = await Promise.all([this.#sendUntilAnswered(named), this.#sendUntilAnswered(named)]);
    this.#expectSame(first, second);
    // The request took effect exactly once, in one of the two attempts and before the first response.
    const answered = [first, second].filter(({ answer }) => answer !== undefined);
    const [earliest = first] = answered.toSorted((a, b) => a.end - b.end);
    return {
      ...earliest,
      begin: Math.min(first.begin, second.begin),
      beganAt: Math.min(first.beganAt, second.beganAt),
    };
  }

  /** Repeats a request with its Idempotency-Key until its outcome is known. */
  async #sendUntilAnswered(request: Request): Promise<Sent> {
    const deadline = Date.now() + maxRetryMs;
    const first = await this.sendOnce(request);
    let last = first;
    // 429 means that too many uploads of the workspace are running.
    const isOpenIn = ({ answer }: Sent) => answer === undefined || answer.status === 409 || answer.status === 429;
    while (isOpenIn(last) && Date.now() < deadline) {
      await sleep(20);
      last = await this.sendOnce(request);
    }
    return { ...last, begin: first.begin, beganAt: first.beganAt, answer: isOpenIn(last) ? undefined : last.answer };
  }

  /**
   * Sends a different body with a used Idempotency-Key. The server must reject the request
   * (docs/decisions/idempotency.md).
   */
  async #sendOther(request: Request): Promise<void> {
    const sent = await this.#sendUntilAnswered(request);
    if (sent.answer === undefined) return;
    const isRight = isRejection(sent.answer, ['IDEMPOTENCY_KEY_REUSED']);
    this.world.expect(isRight, 'another request with a used Idempotency-Key was not rejected', sent);
  }

  #expectSame(first: Sent, second: Sent): void {
    const [one, other] = [first.answer, second.answer];
    if (one === undefined || other === undefined) return;
    // A replayed bulk response contains the current state of the tickets, so it can differ from the first response.
    const isBulk = Array.isArray(one.body?.data);
    const isSameAnswer = one.status === other.status && (isBulk || one.status >= 400 || isSame(one.body, other.body));
    this.world.expect(isSameAnswer, 'a request with an Idempotency-Key got two different responses', first, second);
    const isReplay = [one, other].some((answer: Answer) => answer.headers['idempotent-replayed'] === 'true');
    this.world.expect(
      one.status >= 400 || isReplay,
      'two requests with one Idempotency-Key both took effect',
      first,
      second,
    );
  }
}
