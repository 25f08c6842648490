import { setTimeout as sleep } from 'node:timers/promises';
import { pathPrefix } from '@itsm-api/contract';
import type { Runtime } from '@itsm-api/server/process/runtime.ts';
import { findWrongTotals } from '@itsm-api/server/resources/tickets/counters-check.ts';
import { openGround } from './ground.ts';
import type { Postgres } from './postgres.ts';
import { type Supervised, supervise } from './server.ts';
import { addWorkspace, subscribe, type Workspace } from './workspaces.ts';

export interface IdempotencyOptions {
  /** Tickets to be made, each once. */
  creates: number;
  /** Of the API and of PostgreSQL, in turn. */
  kills: number;
  /** Tickets that one request makes; more than one goes to the bulk endpoint. */
  perRequest?: number;
  onProgress?: (text: string) => void;
}

export interface IdempotencyReport {
  creates: number;
  kills: number;
  /** Requests sent for them. */
  attempts: number;
  /** Requests whose answer was cut off. */
  cut: number;
  /** Answers that said that they were given before. */
  replayed: number;
  /** Answers 409: the request before was still being answered. */
  inProgress: number;
  /** Tickets that are not there, or not told of. */
  missing: string[];
  /** Tickets that are there, or told of, more than once. */
  repeated: string[];
  /** What is written beside tickets, and their totals, where there is more or less of it than there are tickets. */
  miscounted: string[];
  /** Whatever else was answered. */
  unexpected: string[];
  /** Last words of server processes that ended without having been killed. */
  crashes: string[];
}

const clients = 16;
const answerPatience = 15_000;

/**
 * Has tickets made over HTTP, each request under an Idempotency-Key and again until it is answered, while answers are cut
 * off and API and PostgreSQL are killed at random moments; then counts tickets, events, and what is written beside them.
 */
export async function runIdempotency(options: IdempotencyOptions): Promise<IdempotencyReport> {
  const { creates, kills, perRequest = 1, onProgress } = options;
  const stops: (() => Promise<unknown>)[] = [];
  try {
    const { postgres, runtime, apiUrl, env } = await openGround(stops);
    const workspace = await addWorkspace(runtime, 'Retrying');
    // Nobody delivers: the events are what counts.
    await subscribe(workspace, { name: 'all', url: 'http://127.0.0.1:9/all', events: ['ticket.created'] });
    // What is cut off while it waits for a place was never begun: nothing waits for one here.
    const fairUse = { FAIR_USE_SHARE: '1', FAIR_USE_WORK_MS: '60000' };
    const api = supervise({ ...env, ...fairUse, LOG_LEVEL: 'fatal', ROLES: 'api' });
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
  /** How many tickets there are to be. */
  total: number;
  /** How many of them were answered. */
  made(): number;
  ended: Promise<void>;
}

interface MakerOptions {
  apiUrl: string;
  workspace: Workspace;
  creates: number;
  perRequest: number;
}

/** Makes tickets, side by side; each request is sent until it is answered. */
function startMaker({ apiUrl, workspace, creates, perRequest }: MakerOptions): Maker {
  const counts = { attempts: 0, cut: 0, replayed: 0, inProgress: 0 };
  const unexpected: string[] = [];
  let next = 0;
  let made = 0;
  /** How long the last request took that was answered with success. Milliseconds. */
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
      // Cut off at any moment of a request, on a machine as slow as this one is now, and while its answer is on its way.
      const patience = Math.random() < 0.5 ? Math.ceil(Math.random() * 1.5 * lastTookMs) : answerPatience;
      const sentAt = performance.now();
      const answer = await send(numbers, patience).catch((error: Error) => error.name);
      if (typeof answer === 'string') {
        if (answer === 'TimeoutError') counts.cut++;
        else await sleep(50);
      } else if (answer.status < 300) {
        if (answer.replayed) counts.replayed++;
        else lastTookMs = performance.now() - sentAt;
        made += numbers.length;
        return;
      } else if (answer.status === 409) {
        counts.inProgress++;
        await sleep(20);
      } else if (answer.status >= 500) await sleep(50);
      else {
        unexpected.push(`${titleOf(numbers[0] ?? 0)}: ${answer.status} ${answer.text}`);
        return;
      }
    }
  }

  async function send(numbers: number[], patience: number) {
    const tickets = numbers.map((number) => ({
      title: titleOf(number),
      description: 'Made once.',
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
      signal: AbortSignal.timeout(patience),
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
 * Kills API and PostgreSQL in turn, each at some moment of its share of the work; each is started again. Resolves, when all
 * is made, to how many kills there were.
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

/** What the database holds, against what was asked for. */
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

/** Whatever is written beside a ticket, or counts them, where it is not as it is for each once. */
async function miscount({ prisma, databases }: Runtime, { tenantId }: Workspace, options: IdempotencyOptions) {
  const { creates, perRequest = 1 } = options;
  const where = { tenantId };
  const counts: Record<string, [found: number, wanted: number]> = {
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
      .filter(([, [found, wanted]]) => found !== wanted)
      .map(([what, [found, wanted]]) => `${found} ${what}, not ${wanted}`),
    ...(await findWrongTotals(databases.options)).map(
      ({ what, kept, counted }) => `a total of ${what} of ${kept}, not ${counted}`,
    ),
  ];
}

/** The figures as a person reads them. */
export function formatIdempotency(report: IdempotencyReport): string {
  const { missing, repeated, miscounted, unexpected } = report;
  return `
  ${report.creates} tickets to be made once, ${report.attempts} requests, ${report.cut} answers cut off, ${report.kills} kills of API and PostgreSQL

  Missing           ${missing.length}   tickets and events
  More than once    ${repeated.length}
  Miscounted        ${miscounted.length}   totals, texts, changes, activities, deliveries, answers kept
  Unexpected        ${unexpected.length}   answers
  Answered again    ${report.replayed}
  Still under way   ${report.inProgress}
${[...missing, ...repeated, ...miscounted, ...unexpected].map((each) => `\n  ${each}`).join('')}`;
}

/** Whether everything was made once. */
export function isMadeOnce(report: IdempotencyReport): boolean {
  const { missing, repeated, miscounted, unexpected, crashes, replayed } = report;
  const wrong = [missing, repeated, miscounted, unexpected, crashes].flat();
  return wrong.length === 0 && replayed > 0;
}
