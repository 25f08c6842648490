import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { ItsmClient, type Scope, type User, type UserRole } from '@itsm-api/client';
import type { EventType } from '@itsm-api/client/webhooks';
import { type Fault, startFaultProxy } from './fault-proxy.ts';
import type { JobName } from './job-name.ts';
import { type Receiver, startReceiver } from './receiver.ts';

/** A workspace for a test, with an administrator and an API key that has all scopes. */
export interface Workspace {
  readonly id: number;
  /** The base URL for clients. `failNext` injects faults into requests to this URL. */
  readonly url: string;
  /** An API key of the administrator with all scopes. */
  readonly key: string;
  readonly admin: User;
  /** Creates an API key. By default, it belongs to the administrator, has all scopes and never expires. */
  createKey(options?: NewTestKey): Promise<string>;
  /** Creates a user. By default, it is an agent with a generated name and email address. */
  createUser(options?: NewTestUser): Promise<User>;
  /**
   * Starts a webhook receiver on this machine and registers it.
   * @param options `events` are the subscribed event types; by default, all
   */
  receiver(options?: { events?: EventType[] }): Promise<Receiver>;
  /**
   * Replays the pending and exhausted deliveries of all webhooks of the workspace, without waiting for the next
   * scheduled attempt. Resolves before the deliveries arrive.
   */
  retryDeliveries(): Promise<void>;
  /**
   * Moves the stored times of a ticket, an API key, a delivery or an idempotency key back. For example, a ticket that is
   * due tomorrow is overdue after `age({ ticket: id }, '2d')`.
   * @throws Error if the workspace has no such row
   */
  age(what: Aged, by: Duration): Promise<void>;
  /** Makes the next request to `url` fail. If you call it several times, the faults apply to one request each. */
  failNext(fault: Fault): void;
  /** Closes the receivers and `url`. Optional, because they don't keep the test process alive. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** A row to age: the id of a ticket or a delivery, an API key as `createKey` returned it, or an idempotency key. */
export type Aged = { ticket: number } | { apiKey: string } | { delivery: number } | { idempotencyKey: string };

/** A number of minutes, hours or days, such as `30m`, `2h` or `3d`. */
export type Duration = `${number}${'m' | 'h' | 'd'}`;

export interface NewTestKey {
  scopes?: Scope[];
  /** When the key expires. A time in the past creates an expired key. */
  expiresAt?: Date | string;
  /** The user of the key. */
  user?: Pick<User, 'email'>;
}

export interface NewTestUser {
  role?: UserRole;
  name?: string;
  email?: string;
}

/**
 * Creates an empty workspace on a server, for example in a test worker that didn't start the server.
 * @param serverUrl the `url` of the server
 * @param receiverHost the name of this machine for the server, if the server runs in a container
 */
export async function createWorkspace(serverUrl: string, receiverHost?: string): Promise<Workspace> {
  const [{ id, key, admin }, proxy] = await Promise.all([
    post<{ id: number; key: string; admin: User }>(serverUrl, '/testing/workspaces', {}),
    startFaultProxy(serverUrl),
  ]);
  const path = `/testing/workspaces/${id}`;
  const client = new ItsmClient({ baseUrl: serverUrl, apiKey: key });
  const closes = [proxy.close];
  const close = async () => {
    await Promise.all(closes.splice(0).map((each) => each()));
  };
  return {
    ...{ id, url: proxy.url, key, admin, failNext: proxy.failNext, close },
    async createKey({ user = admin, expiresAt, ...options } = {}) {
      const input = { ...options, user: user.email, expiresAt: expiresAt && new Date(expiresAt).toISOString() };
      return (await post<{ key: string }>(serverUrl, `${path}/keys`, input)).key;
    },
    createUser: (options = {}) =>
      post(serverUrl, `${path}/users`, {
        ...{ role: 'AGENT', name: 'Test User', email: `user-${randomUUID()}@example.com`, ...options },
      }),
    async receiver({ events } = {}) {
      const receiver = await startReceiver(client, { events, host: receiverHost });
      closes.push(receiver.close);
      return receiver;
    },
    async retryDeliveries() {
      const since = '2000-01-01T00:00:00Z';
      for await (const { id } of client.webhooks.list()) {
        for await (const delivery of client.deliveries.list(id, { state: 'PENDING' }))
          await waitForResult(client, delivery.id);
        await client.webhooks.replay(id, { since, states: ['PENDING', 'EXHAUSTED'] });
      }
    },
    async age(what, by) {
      await post(serverUrl, `${path}/age`, { ...what, by });
    },
    [Symbol.asyncDispose]: close,
  };
}

/**
 * Runs a scheduled job of a server now, for all workspaces. Resolves when the job has ended.
 * @param serverUrl the `url` of the server
 * @param name the name of a job, or `retention` for all jobs that delete old rows
 */
export async function runJobs(serverUrl: string, name: JobName): Promise<void> {
  await post(serverUrl, `/testing/jobs/${encodeURIComponent(name)}`, {});
}

/** Waits for the result of an attempt in progress, because a replay skips such a delivery. */
async function waitForResult(client: ItsmClient, deliveryId: number): Promise<void> {
  for (;;) {
    const { attemptCount, attempts } = await client.deliveries.get(deliveryId);
    if (attemptCount === 0 || attempts.at(-1)?.number === attemptCount) return;
    await sleep(20);
  }
}

async function post<Result>(serverUrl: string, path: string, body: object): Promise<Result> {
  const response = await fetch(new URL(path, serverUrl), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`POST ${path} returned ${response.status}: ${await response.text()}`);
  return (await response.json()) as Result;
}
