import { setTimeout as sleep } from 'node:timers/promises';
import { pathPrefix } from '@itsm-api/contract';
import type { Runtime } from '@itsm-api/server/process/runtime.ts';
import { findWrongTotals } from '@itsm-api/server/resources/tickets/counters-check.ts';
import { openInstallation } from '../../support/installation.ts';
import type { Postgres } from '../../support/postgres-server.ts';
import { type Supervised, supervise } from '../../support/server-process.ts';
import { addWorkspace, subscribe, type Workspace } from '../../support/subscribed-workspaces.ts';

export interface IdempotencyOptions {
  /** The number of tickets to create. */
  creates: number;
  /** The number of kills. The test kills the API and PostgreSQL alternately. */
  kills: number;
  /** The number of tickets per request. If this number is more than one, clients use the bulk endpoint. */
  perRequest?: number;
  onProgress?: (text: string) => void;
}

export interface IdempotencyReport {
  creates: number;
  kills: number;
  /** The number of requests that the clients sent. */
  attempts: number;
  /** The number of requests for which a client dropped the connection. */
  cut: number;
  /** The number of responses that the server replayed for a repeated request. */
  replayed: number;
  /** The number of 409 responses, which report that an earlier request with the same Idempotency-Key is in progress. */
  inProgress: number;
  /** Tickets that don't exist or have no event. */
  missing: string[];
  /** Tickets that exist more than once or have more than one created event. */
  repeated: string[];
  /** The tables and totals whose counts don't match the number of tickets. */
  miscounted: string[];
  /** Other unexpected responses. */
  unexpected: string[];
  /** The last output of each server process that exited unexpectedly. */
  crashes: string[];
}

const clients = 16;
const requestTimeoutMs = 15_000;

/**
 * Creates tickets over HTTP. Repeats each request with its Idempotency-Key until it gets a final response. At the same
 * time, drops connections and kills the API and PostgreSQL. Then counts the tickets, events and related rows.
 */
export async function runIdempotency(options: IdempotencyOptions): Promise<IdempotencyReport> {
  const { creates, kills, perRequest = 1, onProgress } = options;
  const stops: (() => Promise<unknown>)[] = [];
  try {
    const { postgres, runtime, apiUrl, env } = await openInstallation(stops);
    const workspace = await addWorkspace(runtime, 'Retrying');
    // No worker runs, because the test doesn't check whether deliveries arrive.
    await subscribe(workspace, { name: 'all', url: 'http://127.0.0.1:9/all', events: ['ticket.created'] });
    // With a high concurrency limit, the server starts each request immediately. Otherwise, clients would drop many
    // requests that are still in the queue.
    const tenantLimiter = { TENANT_CONCURRENCY_SHARE: '1', TENANT_CONCURRENCY_WORK_MS: '60000' };
    const api = supervise({ ...env, ...tenantLimiter, LOG_LEVEL: 'fatal', ROLES: 'api' });
    stops.push(api.stop);
    await api.ready();

    const maker = startMaker({ apiUrl, workspace, creates, perRequest });
    const done = await killWhile(maker, { postgres, api, kills, onProgress });
    await maker.ended;
    await postgres.start();
    const { counts, unexpected } = maker;
    const found = await compare(runtime, workspace, options);
    return { creates, kills: done, ...counts, ...found, unexpected, crashes: api.crashes };
  } finally {
    for (const stop of stops.reverse()) await stop();
  }
}

interface Maker {
  counts: Pick<IdempotencyReport, 'attempts' | 'cut' | 'replayed' | 'inProgress'>;
  unexpected: string[];
  /** The number of tickets to create. */
  total: number;
  /** Returns the number of tickets for which a client got a successful response. */
  made(): number;
  ended: Promise<void>;
}

interface MakerOptions {
  apiUrl: string;
  workspace: Workspace;
  creates: number;
  perRequest: number;
}

/** Creates tickets concurrently. Repeats each request until it gets a final response. */
function startMaker({ apiUrl, workspace, creates, perRequest }: MakerOptions): Maker {
  const counts = { attempts: 0, cut: 0, replayed: 0, inProgress: 0 };
  const unexpected: string[] = [];
  let next = 0;
  let made = 0;
  /** The duration of the last successful request, in milliseconds. */
  let lastTookMs = 30;

  async function client(): Promise<void> {
    while (next < creates) {
      const first = next;
      next = Math.min(next + perRequest, creates);
      await make(Array.from({ length: next - first }, (_, i) => first + i));
    }
  }

  async function make(numbers: number[]): Promise<void> {
    for (;;) {
      counts.attempts++;
      // Half of the requests get a random timeout of up to 1.5 times the duration of the last successful request. The
      // timeout drops the connection during the request or the response.
      const timeoutMs = Math.random() < 0.5 ? Math.ceil(Math.random() * 1.5 * lastTookMs) : requestTimeoutMs;
      const sentAt = performance.now();
      const response = await send(numbers, timeoutMs).catch((error: Error) => error.name);
      if (typeof response === 'string') {
        if (response === 'TimeoutError') counts.cut++;
        else await sleep(50);
      } else if (response.status < 300) {
        if (response.replayed) counts.replayed++;
        else lastTookMs = performance.now() - sentAt;
        made += numbers.length;
        return;
      } else if (response.status === 409) {
        counts.inProgress++;
        await sleep(20);
        // 429: requests that wait for a killed PostgreSQL fill the concurrency limit.
      } else if (response.status >= 500 || response.status === 429) await sleep(50);
      else {
        unexpected.push(`${titleOf(numbers[0] ?? 0)}: ${response.status} ${response.text}`);
        return;
      }
    }
  }

  async function send(numbers: number[], timeoutMs: number) {
    const tickets = numbers.map((number) => ({
      title: titleOf(number),
      description: 'Created once.',
      type: 'INCIDENT',
      category: 'OTHER',
    }));
    const isBulk = perRequest > 1;
    const response = await fetch(`${apiUrl}${pathPrefix}/tickets${isBulk ? '/bulk' : ''}`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${workspace.key}`,
        'content-type': 'application/json',
        'idempotency-key': titleOf(numbers[0] ?? 0),
      },
      body: JSON.stringify(isBulk ? { tickets } : tickets[0]),
      signal: AbortSignal.timeout(timeoutMs),
    });
    const text = await response.text();
    return { status: response.status, text, replayed: response.headers.has('idempotent-replayed') };
  }

  const ended = Promise.all(Array.from({ length: clients }, client)).then(() => undefined);
  return { counts, unexpected, total: creates, made: () => made, ended };
}

const titleOf = (number: number) => `once ${number}`;

interface Killing extends Pick<IdempotencyOptions, 'kills' | 'onProgress'> {
  postgres: Postgres;
  api: Supervised;
}

/**
 * Kills the API and PostgreSQL alternately, at random times, and restarts them. Waits until all tickets are created,
 * and returns the number of kills.
 */
async function killWhile(maker: Maker, { postgres, api, kills, onProgress }: Killing): Promise<number> {
  let isOver = false;
  const over = maker.ended.then(() => {
    isOver = true;
  });
  let done = 0;
  for (; done < kills; done++) {
    const share = (done + Math.random()) / kills;
    while (!isOver && maker.made() < share * maker.total) await sleep(5);
    if (isOver) break;
    onProgress?.(`${done} kills, ${maker.made()} tickets`);
    if (done % 2 === 0) api.kill();
    else {
      postgres.kill();
      await postgres.start();
    }
    await api.ready();
  }
  await over;
  return done;
}

/** Compares the rows in the database with the tickets that clients created. */
async function compare(runtime: Runtime, workspace: Workspace, options: IdempotencyOptions) {
  const { tenantId } = workspace;
  const tickets = await runtime.prisma.ticket.findMany({ where: { tenantId }, select: { title: true } });
  const events = await runtime.prisma.event.findMany({ where: { tenantId }, select: { body: true } });
  const found = {
    ticket: tickets.map(({ title }) => title),
    event: events.map(({ body }) => JSON.parse(body).ticket.title as string),
  };
  const missing: string[] = [];
  const repeated: string[] = [];
  for (const [what, titles] of Object.entries(found)) {
    const counted = Map.groupBy(titles, (title) => title);
    for (let number = 0; number < options.creates; number++) {
      const count = counted.get(titleOf(number))?.length ?? 0;
      if (count === 0) missing.push(`${what} ${titleOf(number)}`);
      if (count > 1) repeated.push(`${what} ${titleOf(number)}: ${count}`);
    }
  }
  return { missing, repeated, miscounted: await miscount(runtime, workspace, options) };
}

/** Returns a description of each table or total with a wrong count. */
async function miscount({ prisma, databases }: Runtime, { tenantId }: Workspace, options: IdempotencyOptions) {
  const { creates, perRequest = 1 } = options;
  const where = { tenantId };
  const counts: Record<string, [found: number, expected: number]> = {
    tickets: [await prisma.ticket.count({ where }), creates],
    'places in the order of changes': [
      await prisma.change.count({ where: { ...where, resource: 'tickets' } }),
      creates,
    ],
    'texts to be found by': [await prisma.text.count({ where: { ...where, resource: 'tickets' } }), creates],
    'activities CREATED': [await prisma.activity.count({ where: { ...where, action: 'CREATED' } }), creates],
    activities: [await prisma.activity.count({ where }), creates],
    deliveries: [await prisma.delivery.count({ where }), creates],
    'answers kept': [await prisma.idempotencyKey.count({ where }), Math.ceil(creates / perRequest)],
  };
  return [
    ...Object.entries(counts)
      .filter(([, [found, expected]]) => found !== expected)
      .map(([what, [found, expected]]) => `${found} ${what}, not ${expected}`),
    ...(await findWrongTotals(databases.options)).map(
      ({ what, kept, counted }) => `the total of ${what} is ${kept}, not ${counted}`,
    ),
  ];
}

/** Formats the figures for a terminal. */
export function formatIdempotency(report: IdempotencyReport): string {
  const { missing, repeated, miscounted, unexpected } = report;
  return `
  ${report.creates} tickets to create, ${report.attempts} requests, ${report.cut} dropped responses, ${report.kills} kills of API and PostgreSQL

  Missing           ${missing.length}   tickets and events
  More than once    ${repeated.length}
  Miscounted        ${miscounted.length}   totals, texts, changes, activities, deliveries, stored responses
  Unexpected        ${unexpected.length}   responses
  Replayed          ${report.replayed}
  In progress       ${report.inProgress}
${[...missing, ...repeated, ...miscounted, ...unexpected].map((each) => `\n  ${each}`).join('')}`;
}

/** Returns true if the server created every ticket exactly once. */
export function isCreatedOnce(report: IdempotencyReport): boolean {
  const { missing, repeated, miscounted, unexpected, crashes, replayed } = report;
  const wrong = [missing, repeated, miscounted, unexpected, crashes].flat();
  return wrong.length === 0 && replayed > 0;
}
