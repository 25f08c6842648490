import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Ticket } from '@itsm-api/contract';
import { sweepMoved } from '@itsm-api/server/resources/tenants/move-settle.ts';
import { tenantContext } from '@itsm-api/server/resources/tenants/queries.ts';
import { makeDemoTickets } from '@itsm-api/server/resources/tickets/demo.ts';
import { ticketRows } from '@itsm-api/server/resources/tickets/queries.ts';
import { findWrongTotals } from '@itsm-api/server/resources/tickets/totals.ts';
import { ask, type Load, patience, startLoad, startWalker, type Walker } from './cells-load.ts';
import { type Ground, openGround } from './ground.ts';
import { cutAtSwitch, moveAndKill, moveWhole } from './movers.ts';
import { openReceiver, type Receiver } from './receiver.ts';
import { type Supervised, supervise } from './server.ts';
import { addWorkspace, subscribe, type Workspace } from './workspaces.ts';

export interface CellsOptions {
  /** Of the command that moves, at random points. */
  kills: number;
  /** Tickets that the workspace has before. */
  tickets: number;
  /** Requests, of the workspace that moves and of one that stays, each. */
  perSecond: number;
  onProgress?: (text: string) => void;
}

export interface CellsReport {
  kills: number;
  /** Where the tenant was when the mover was dead and all was decided. */
  stayed: number;
  moved: number;
  /** Moves that were not killed, and how long each took: seconds. */
  seconds: number[];
  /** Writes that were acknowledged, and how often one was answered 429. */
  acknowledged: number;
  heldBack: number;
  /** Answers 500 and 409, of both workspaces, that were another one when asked again. */
  late: number;
  /** Titles of changes that are not there, there more than once, on both sides, or never told of. */
  lost: string[];
  doubled: string[];
  untold: string[];
  /** Tickets that who follows changes hasn't, or has otherwise. */
  unfollowed: number[];
  /** Kills after which the workspace could be written on no side, or on both. */
  broken: string[];
  /** Whatever was answered otherwise, of both workspaces. */
  unexpected: string[];
  wrongTotals: object[];
  /** Of the one that stays, milliseconds: while nothing is moved, and while something is. */
  othersP99: { before: number; meanwhile: number };
  crashes: string[];
}

/** A cell: its database and a process before it. */
export interface Cell extends Ground {
  server: Supervised;
}

/**
 * Has a workspace move between two cells, to and fro, under load, while it is followed and webhooks are sent, and kills
 * the command that moves at random points; then counts what is lost and what is there twice.
 */
export async function runCells(
  { first, second }: Cells,
  { kills, tickets, perSecond, onProgress }: CellsOptions,
): Promise<CellsReport> {
  const stops: (() => Promise<unknown>)[] = [];
  try {
    const moving = await addWorkspace(first.runtime, 'Moving');
    const staying = await addWorkspace(first.runtime, 'Staying');
    const receiver = await openReceiver({ failing: 0.1, slowest: 30 });
    stops.push(receiver.close);
    const events = ['ticket.created', 'ticket.updated'] as const;
    receiver.know(await subscribe(moving, { name: 'all', url: receiver.urlOf('all'), events: [...events] }));
    await fill(first, moving, tickets);

    const proxy = { leadsTo: first };
    const load = startLoad(() => proxy.leadsTo.apiUrl, moving, perSecond);
    const others = startLoad(() => first.apiUrl, staying, perSecond);
    const walker = startWalker(() => proxy.leadsTo.apiUrl, moving);
    stops.push(load.stop, others.stop, walker.stop);
    // First answers take long: nothing is compiled, or in memory.
    await sleep(3000);
    others.mark('warming');
    await sleep(4000);
    others.mark('before');

    const seconds: number[] = [];
    const outcome = { kills: 0, stayed: 0, moved: 0, broken: [] as string[] };
    const otherCell = () => (proxy.leadsTo === first ? second : first);
    while (outcome.kills < kills) {
      if (seconds.length === 0) {
        seconds.push(await moveWhole(proxy.leadsTo, otherCell()));
        onProgress?.(`Moved within ${seconds[0]?.toFixed(1)} s.`);
        proxy.leadsTo = otherCell();
      }
      const [from, to] = [proxy.leadsTo, otherCell()];
      const point = (0.1 + 0.9 * Math.random()) * (seconds[0] ?? 0) * 1000;
      const isKilled = await moveAndKill(from, to, point);
      if (isKilled) outcome.kills++;
      const place = await placeOf(moving, from, to);
      if (place === undefined) outcome.broken.push(`killed after ${Math.round(point)} ms`);
      if (isKilled) outcome[place === to ? 'moved' : 'stayed']++;
      if (place === to) proxy.leadsTo = to;
      onProgress?.(
        `${outcome.kills} kills: ${outcome.stayed} stayed, ${outcome.moved} moved; ${load.written()} writes`,
      );
    }
    for (const decided of [false, true]) {
      const [from, to] = [proxy.leadsTo, otherCell()];
      await cutAtSwitch(moving, { from, to, decided });
      const place = await placeOf(moving, from, to);
      if (place !== (decided ? to : from)) outcome.broken.push(`cut ${decided ? 'behind' : 'before'} the decision`);
      if (place === to) proxy.leadsTo = to;
    }
    seconds.push(await moveWhole(proxy.leadsTo, otherCell()));
    proxy.leadsTo = otherCell();
    others.mark('meanwhile');
    await Promise.all([load.stop(), others.stop()]);

    return {
      ...outcome,
      seconds,
      acknowledged: load.written(),
      heldBack: load.heldBack(),
      late: load.late() + others.late(),
      ...(await compare({ moving, load, walker, receiver, here: proxy.leadsTo, there: otherCell() })),
      unexpected: [...load.unexpected, ...others.unexpected],
      wrongTotals: (
        await Promise.all([first, second].map(({ runtime }) => findWrongTotals(runtime.databases.options)))
      ).flat(),
      othersP99: { before: others.p99('before'), meanwhile: others.p99('meanwhile') },
      crashes: [...first.server.crashes, ...second.server.crashes],
    };
  } finally {
    for (const stop of stops.reverse()) await stop();
  }
}

/** Two cells that are opened for a test, each with a process for all. */
export interface Cells {
  first: Cell;
  second: Cell;
  close(): Promise<void>;
}

export async function openCells(): Promise<Cells> {
  const stops: (() => Promise<unknown>)[] = [];
  const close = async () => {
    for (const stop of stops.toReversed()) await stop();
  };
  const WEBHOOK_SECRET_KEY = randomBytes(32).toString('base64');
  const PUBLIC_URL = 'http://localhost';
  const open = (CELL: string) =>
    openCell(stops, { WEBHOOK_SECRET_KEY, CELL, PUBLIC_URL, STATEMENT_TIMEOUT_MS: '60000', LOCK_TIMEOUT_MS: '60000' });
  try {
    const [first, second] = await Promise.all([open('1'), open('2')]);
    return { first, second, close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function openCell(stops: (() => Promise<unknown>)[], given: Record<string, string>): Promise<Cell> {
  const ground = await openGround(stops, {}, given);
  const server = supervise({ ...ground.env, LOG_LEVEL: 'fatal' });
  stops.push(server.stop);
  await server.ready();
  return { ...ground, server };
}

/** Tickets without events, each third below the one before it. */
export async function fill(
  { runtime }: Pick<Cell, 'runtime'>,
  { tenantId, context }: Workspace,
  count: number,
): Promise<void> {
  const to = new Date();
  const from = new Date(to.getTime() - 365 * 86_400_000);
  const { db } = await tenantContext(runtime, String(tenantId));
  await makeDemoTickets(db, { count, from, to, onProgress: () => undefined });
  const { pool } = runtime.databases.system;
  const values = [tenantId, context.userId];
  // Parents that came later than what stands below them, too.
  await pool.query('UPDATE tickets SET parent_id = id + 1 WHERE tenant_id = $1 AND ordinal % 3 = 1 AND ordinal < $2', [
    tenantId,
    count,
  ]);
  await pool.query('UPDATE tickets SET comment_count = 1 WHERE tenant_id = $1 AND ordinal % 2 = 0', [tenantId]);
  await pool.query(
    'INSERT INTO ticket_watchers SELECT $1, id, $2 FROM tickets WHERE tenant_id = $1 AND ordinal % 5 = 0',
    values,
  );
  await pool.query(
    `INSERT INTO comments (tenant_id, ticket_id, author_id, body, visibility)
     SELECT $1, id, $2, 'Said before the move.', 'PUBLIC' FROM tickets WHERE tenant_id = $1 AND ordinal % 2 = 0`,
    values,
  );
}

/** The one side on which the workspace can be written; undefined where that doesn't come to be. */
async function placeOf({ key }: Workspace, ...cells: [Cell, Cell]): Promise<Cell | undefined> {
  for (const deadline = Date.now() + patience; Date.now() < deadline; await sleep(50)) {
    const writable = await Promise.all(cells.map(({ apiUrl }) => isWritable(apiUrl, key)));
    if (writable[0] !== writable[1]) return writable[0] ? cells[0] : cells[1];
    if (writable[0]) return undefined;
  }
  return undefined;
}

/** A PATCH of a user's own row would be told of; an asset is not. */
async function isWritable(apiUrl: string, key: string): Promise<boolean> {
  const body = { name: 'Probe', assetTag: `probe ${Math.random()}`, type: 'LAPTOP' };
  return (await ask(apiUrl, key, 'POST', '/assets', body)).status === 201;
}

interface Compared {
  moving: Workspace;
  load: Load;
  walker: Walker;
  receiver: Receiver;
  here: Cell;
  there: Cell;
}

/** What there is on the side where the workspace is at the end, against what was acknowledged. */
async function compare({ moving, load, walker, receiver, here, there }: Compared) {
  const table = await readTable(here, moving);
  // As its worker does, a minute later.
  await sweepMoved(there.runtime, { afterSeconds: 0 });
  const left = await there.runtime.prisma.ticket.count({ where: { tenantId: moving.tenantId } });
  const lost = [...load.titles]
    .filter(([id, titles]) => table.get(id)?.title !== titles.at(-1))
    .map(([id, titles]) => `${titles.at(-1)}, ticket ${id}: ${table.get(id)?.title}`);
  const shown = Map.groupBy(
    [...table.values()].filter(({ title }) => title.startsWith('Change ')),
    ({ title }) => title,
  );
  const doubled = [...shown].filter(([, found]) => found.length > 1).map(([title]) => title);
  const unfollowed = await walker.settle(table);
  const all = [...load.titles.values()].flat();
  const told = () => new Set(receiver.arrivals.filter(({ accepted }) => accepted).map(({ change }) => change));
  for (const deadline = Date.now() + patience; Date.now() < deadline; await sleep(200)) {
    const arrived = told();
    if (all.every((title) => arrived.has(title))) break;
  }
  const arrived = told();
  return {
    lost,
    doubled: left === 0 ? doubled : [...doubled, `${left} tickets are on the other side, too`],
    untold: all.filter((title) => !arrived.has(title)),
    unfollowed,
  };
}

async function readTable({ runtime }: Cell, { tenantId }: Workspace): Promise<Map<number, Ticket>> {
  const table = new Map<number, Ticket>();
  const context = await tenantContext(runtime, String(tenantId));
  for (let after = 0; ; ) {
    const rows = await ticketRows.after(context.db, after, 1000);
    if (rows.length === 0) return table;
    for (const row of rows) table.set(row.id, row);
    after = rows.at(-1)?.id ?? after;
  }
}

/** The figures as a person reads them. */
export function formatCells(report: CellsReport): string {
  const { lost, doubled, untold, unfollowed, broken, unexpected, othersP99 } = report;
  const faults = [lost, doubled, untold, unfollowed.map(String), broken, unexpected].flat();
  return `
  ${report.kills} kills of the command that moves: the workspace stayed ${report.stayed} times, and had moved ${report.moved} times
  A move that is let be takes ${report.seconds.map((each) => each.toFixed(1)).join(' s, ')} s

  Acknowledged      ${report.acknowledged}   writes, ${report.heldBack} answers 429 meanwhile, ${report.late} that came too late
  Lost              ${lost.length}
  Doubled           ${doubled.length}
  Not told          ${untold.length}   to the webhook
  Not followed      ${unfollowed.length}   by GET /tickets/changes
  Not on one side   ${broken.length}
  Unexpected        ${unexpected.length}   answers
  Wrong totals      ${report.wrongTotals.length}
  Others' p99       ${othersP99.before} ms before, ${othersP99.meanwhile} ms meanwhile
${faults.map((each) => `\n  ${each}`).join('')}`;
}

/** Whether the workspace was whole and on one side, each time. */
export function isMovedWhole(report: CellsReport): boolean {
  const { lost, doubled, untold, unfollowed, broken, unexpected, wrongTotals, crashes } = report;
  return [lost, doubled, untold, unfollowed, broken, unexpected, wrongTotals, crashes].flat().length === 0;
}
