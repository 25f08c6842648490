import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathPrefix } from '@itsm-api/contract';
import type { Runtime } from '@itsm-api/server/process/runtime.ts';
import { findWrongTotals } from '@itsm-api/server/resources/tickets/counters-check.ts';
import { processCommandLine, spawnCommand } from '../../cli/itsm.ts';
import type { Answer } from '../../support/api.ts';
import { openInstallation } from '../../support/installation.ts';
import { percentiles } from '../../support/percentiles.ts';
import { rawClient } from '../../support/raw-client.ts';
import { type Supervised, supervise } from '../../support/server-process.ts';
import { addWorkspace, subscribe, type Workspace } from '../../support/subscribed-workspaces.ts';
import { fill } from './changes.ts';
import { type CellsHaproxy, startCellsHaproxy } from './haproxy.ts';
import { openReceiver, type Receiver } from './receiver.ts';

/** The commands of a move, in order. The commands of `tenants maintenance` have the name of their state. */
export const commands = ['read-only', 'export', 'import', 'on', 'delete'] as const;
type Command = (typeof commands)[number];

/** The start of the titles of tickets that exist before the test. */
const existingTitle = 'Ticket ';

interface Row {
  id: number;
  number: number;
  title: string;
  priority: string;
}

export interface MovesOptions {
  /** The number of tenants. The tenant at place n has `largest` / n tickets. */
  tenants: number;
  largest: number;
  /** The commands to kill in each move. Tenants at the places 1, 2, 4, 8 … move in turn. */
  moves: Command[][];
  /** The number of tickets that clients of all tenants create and update per second. Clients of a moving tenant send more. */
  perSecond: number;
  /** True if the test changes the start of maintenance, so that the commands wait for 3 instead of 31 seconds. */
  isWaitShortened: boolean;
  onProgress?: (text: string) => void;
}

interface Move {
  tenant: string;
  to: string;
  /** The number of tickets at the end of the move. */
  tickets: number;
  killed: Command[];
  /** The longest time without a successful write and without a successful read, in milliseconds. */
  writePauseMs: number;
  readPauseMs: number;
}

export interface MovesReport {
  tenants: number;
  moves: Move[];
  requests: number;
  /** The number of creates and updates with a 2xx response. */
  acknowledged: number;
  /** The number of 503 responses that announce the maintenance. */
  unavailable: { writes: number; reads: number };
  /** The other requests without a 2xx response. */
  failed: string[];
  /** The acknowledged tickets that are missing or outdated in the database. */
  lost: string[];
  /** The tickets that no acknowledged request created, and the creates that were executed twice. */
  extra: string[];
  /** The acknowledged tickets that are missing or outdated in the copy of a client that follows the change feed. */
  missed: string[];
  /** The creates without an event, and the events that the receiver didn't get. */
  undelivered: string[];
  /** The wrong totals, and the tickets that a tenant left in its old cell. */
  wrong: string[];
  crashes: string[];
}

/** The time between two attempts of a request during maintenance, in milliseconds. */
const retryMs = 50;
/** The pause of the additional clients of a moving tenant after each ticket, in milliseconds. */
const writerPauseMs = 50;
/** The time in which clients use a tenant before and after its move, in milliseconds. */
const calmMs = 1500;
/** The maximum time until the receiver has all events and the copies are complete, in milliseconds. */
const maxEndMs = 60_000;

interface Cell {
  name: string;
  runtime: Runtime;
  env: Record<string, string>;
  server: Supervised;
}

interface Written {
  title: string;
  priority: string;
  etag: string | undefined;
}

type Kind = 'reads' | 'writes';

interface Tenant extends Workspace {
  name: string;
  host: string;
  cell: Cell;
  /** The number of tickets that existed before the test. */
  size: number;
  /** The acknowledged tickets by id. */
  written: Map<number, Written>;
  /** The newest version of each ticket in the change feed. Undefined if no client follows it. */
  copy: Map<number, { etag: string }> | undefined;
  /** The requests that may get a 503 response because of maintenance. */
  announced: Set<Kind>;
  /** When the last request succeeded, and the longest time between two successful requests. */
  lastAt: Record<Kind, number>;
  longestMs: Record<Kind, number>;
}

interface System {
  folder: string;
  cells: readonly [Cell, Cell];
  haproxy: CellsHaproxy;
  receiver: Receiver;
  tenants: Tenant[];
  /** The tenants that move, in order of their size. */
  moving: Tenant[];
  counts: Pick<MovesReport, 'requests' | 'acknowledged' | 'unavailable' | 'failed'>;
  /** True if the test has ended, so that clients no longer wait for the end of maintenance. */
  isStopped: boolean;
}

/**
 * Moves tenants between two cells behind deploy/cells.cfg while clients use all tenants. Kills commands of each move, and
 * runs them again as docs/scaling.md describes. At the end, compares the data with the acknowledged requests.
 */
export async function runMoves(options: MovesOptions): Promise<MovesReport> {
  const stops: (() => Promise<unknown>)[] = [];
  try {
    const system = await startSystem(options, stops);
    const { cells, tenants, moving, counts } = system;
    let isWritten = false;
    const pauseMs = (1000 * tenants.length) / options.perSecond;
    const writers = tenants.map((tenant) => write(system, tenant, { name: 'w', pauseMs, isStopped: () => isWritten }));
    const followers = moving.map((tenant) => follow(system, tenant));
    stops.push(async () => {
      isWritten = true;
      system.isStopped = true;
      await Promise.all([...writers, ...followers]);
    });
    const moves: Move[] = [];
    for (const [i, killed] of options.moves.entries()) {
      const move = await moveTenant(system, moving[i % moving.length] as Tenant, { ...options, number: i, killed });
      moves.push(move);
      options.onProgress?.(
        `move ${i + 1} of ${options.moves.length}: ${formatMove(move)}; ${counts.failed.length} of ${counts.requests} requests failed`,
      );
    }
    isWritten = true;
    await Promise.all(writers);
    const found = await compare(system);
    const crashes = cells.flatMap(({ server }) => server.crashes);
    return { tenants: tenants.length, moves, ...counts, ...found, crashes };
  } finally {
    for (const stop of stops.reverse()) await stop();
  }
}

async function startSystem(options: MovesOptions, stops: (() => Promise<unknown>)[]): Promise<System> {
  const folder = await mkdtemp(join(tmpdir(), 'itsm-moves-'));
  stops.push(() => rm(folder, { recursive: true }));
  const receiver = await openReceiver({ failing: 0, slowest: 100 });
  stops.push(receiver.close);
  const cells = [await openCell(0, stops), await openCell(1, stops)] as const;
  await Promise.all(cells.map(({ server }) => server.ready()));

  const tenants: Tenant[] = [];
  for (let place = 1; place <= options.tenants; place++) {
    const size = Math.ceil(options.largest / place);
    tenants.push(await addTenant(cells[place % 3 === 1 ? 0 : 1], { name: `tenant-${place}`, size }));
  }
  const moving = tenants.filter((_, index) => Number.isInteger(Math.log2(index + 1)));
  for (const tenant of moving) {
    tenant.copy = new Map();
    const { name } = tenant;
    receiver.know(await subscribe(tenant, { name, url: receiver.urlOf(name), events: ['ticket.created'] }));
  }
  const map = tenants.map(({ host, cell }) => `${host} ${cell.name}\n`).join('');
  const [first, second] = cells.map(({ env }) => `127.0.0.1:${env.PORT}`) as [string, string];
  const haproxy = await startCellsHaproxy(folder, map, [first, second]);
  stops.push(haproxy.stop);
  const counts = { requests: 0, acknowledged: 0, unavailable: { writes: 0, reads: 0 }, failed: [] };
  return { folder, cells, haproxy, receiver, tenants, moving, counts, isStopped: false };
}

/** Each cell has the keys of both cells, after its own first key, so that it can decrypt the secrets of the other cell. */
const secretKeys = [1, 2].map((byte) => Buffer.alloc(32, byte).toString('base64'));

async function openCell(number: 0 | 1, stops: (() => Promise<unknown>)[]): Promise<Cell> {
  const WEBHOOK_SECRET_KEY = [secretKeys[number], secretKeys[1 - number]].join(',');
  const { runtime, env } = await openInstallation(stops, {}, { CELL: String(number), WEBHOOK_SECRET_KEY });
  const server = supervise(env);
  stops.push(server.stop);
  return { name: `cell-${number}`, runtime, env, server };
}

async function addTenant(cell: Cell, { name, size }: Pick<Tenant, 'name' | 'size'>): Promise<Tenant> {
  const workspace = await addWorkspace(cell.runtime, name);
  await fill(cell.env.DATABASE_URL as string, workspace, size);
  return {
    ...workspace,
    ...{ name, host: `${name}.example`, cell, size, written: new Map(), copy: undefined, announced: new Set() },
    ...{ lastAt: { reads: 0, writes: 0 }, longestMs: { reads: 0, writes: 0 } },
  };
}

interface Response {
  /** The status, or 0 if the request got no response. */
  status: number;
  headers: IncomingHttpHeaders;
  body: Answer['body'];
}

type Request = [method: string, path: string, body?: object, headers?: object];

/** Sends a request through HAProxy, and repeats it while the tenant is in maintenance. */
async function send(system: System, tenant: Tenant, request: Request): Promise<Response> {
  const { counts, haproxy } = system;
  const [method, path] = request;
  const kind: Kind = method === 'GET' ? 'reads' : 'writes';
  for (;;) {
    const isAnnounced = tenant.announced.has(kind);
    counts.requests++;
    const response = await exchange(haproxy.port, tenant, request).catch(
      (error: Error): Response => ({ status: 0, headers: {}, body: error.message }),
    );
    if (response.status >= 200 && response.status < 300) {
      if (kind === 'writes') counts.acknowledged++;
      const now = performance.now();
      tenant.longestMs[kind] = Math.max(tenant.longestMs[kind], now - tenant.lastAt[kind]);
      tenant.lastAt[kind] = now;
      return response;
    }
    const isUnavailable = response.status === 503 && response.headers['retry-after'] === '30';
    if (!isUnavailable || !(isAnnounced || tenant.announced.has(kind))) {
      const content = JSON.stringify(response.body);
      counts.failed.push(`${tenant.name}: ${method} ${path}: ${response.status} ${content.slice(0, 300)}`);
      return response;
    }
    counts.unavailable[kind]++;
    if (system.isStopped) return response;
    await sleep(retryMs);
  }
}

async function exchange(port: number, { host, key }: Tenant, [method, path, body, more]: Request): Promise<Response> {
  const headers = {
    ...{ host, authorization: `Bearer ${key}`, ...more },
    ...(body && { 'content-type': 'application/json' }),
  };
  const sent = request({ port, host: '127.0.0.1', method, path: `${pathPrefix}${path}`, headers });
  sent.end(body && JSON.stringify(body));
  const [received] = (await once(sent, 'response')) as [IncomingMessage];
  const content = await text(received);
  return { status: received.statusCode ?? 0, headers: received.headers, body: JSON.parse(content) };
}

interface Writer {
  /** The start of the titles of the tickets. */
  name: string;
  /** The average pause after each ticket, in milliseconds. */
  pauseMs: number;
  isStopped: () => boolean;
}

/** Creates and updates tickets until `isStopped` returns true. */
async function write(system: System, tenant: Tenant, { name, pauseMs, isStopped }: Writer): Promise<void> {
  for (let count = 0; !isStopped(); count++) {
    const title = `${name} ${count}`;
    const created = await send(system, tenant, createOf(title));
    if (created.status === 201) {
      const { id, priority } = created.body.data;
      const ticket = { title, priority, etag: created.headers.etag };
      tenant.written.set(id, ticket);
      const change = ['PATCH', `/tickets/${id}`, { priority: 'HIGH' }, { 'if-match': created.headers.etag }] as const;
      const updated = await send(system, tenant, [...change]);
      if (updated.status === 200) Object.assign(ticket, { priority: 'HIGH', etag: updated.headers.etag });
    }
    await sleep(2 * Math.random() * pauseMs);
  }
}

function createOf(title: string): Request {
  const ticket = { title, description: 'x', type: 'INCIDENT', category: 'SOFTWARE', priority: 'LOW' };
  return ['POST', '/tickets', ticket, { 'idempotency-key': title }];
}

/** Follows the change feed of a moving tenant until the end of the test, and stores each ticket in `copy`. */
async function follow(system: System, tenant: Tenant): Promise<void> {
  let cursor = '';
  while (!system.isStopped) {
    const { status, body } = await send(system, tenant, ['GET', `/tickets/changes?perPage=100${cursor}`]);
    if (status === 200) {
      for (const ticket of body.data) tenant.copy?.set(ticket.id, ticket);
      cursor = `&cursor=${body.meta.nextCursor}`;
    }
    if (!body.meta?.hasMore) await sleep(retryMs);
  }
}

interface Moving extends Pick<MovesOptions, 'isWaitShortened'> {
  number: number;
  killed: Command[];
}

/** Moves a tenant to the other cell while additional clients use it. */
async function moveTenant(system: System, tenant: Tenant, moving: Moving): Promise<Move> {
  let isStopped = false;
  const writers = ['a', 'b', 'c'].map((writer) =>
    write(system, tenant, {
      name: `${writer}${moving.number}`,
      pauseMs: writerPauseMs,
      isStopped: () => isStopped || system.isStopped,
    }),
  );
  await sleep(calmMs);
  const now = performance.now();
  tenant.lastAt = { reads: now, writes: now };
  tenant.longestMs = { reads: 0, writes: 0 };
  await runCommands(system, tenant, moving);
  await sleep(calmMs);
  isStopped = true;
  await Promise.all(writers);
  return {
    ...{ tenant: tenant.name, to: tenant.cell.name, tickets: tenant.size + tenant.written.size, killed: moving.killed },
    ...{ writePauseMs: Math.round(tenant.longestMs.writes), readPauseMs: Math.round(tenant.longestMs.reads) },
  };
}

/** Runs the commands of a move as docs/scaling.md describes, and changes the map of HAProxy. */
async function runCommands(system: System, tenant: Tenant, { number, killed, isWaitShortened }: Moving): Promise<void> {
  const { cells, folder, haproxy } = system;
  const { name } = tenant;
  const source = tenant.cell;
  const target = cells[source === cells[0] ? 1 : 0];
  const moved = join(folder, `move-${number}`);
  const step = async (command: Command, cell: Cell, words: string, recover?: () => Promise<void>) => {
    if (killed.includes(command)) {
      await killCommand(cell, words, isDue[command](moved));
      await recover?.();
    }
    await succeed(cell, words);
  };
  const shortenWait = async (column: 'maintenance_since' | 'unavailable_since') => {
    const text = `UPDATE tenants SET ${column} = ${column} - interval '28 seconds' WHERE id = $1`;
    if (isWaitShortened) await rawClient(source.runtime.prisma).$executeRawUnsafe(text, tenant.tenantId);
  };

  tenant.announced.add('writes');
  await step('read-only', source, `tenants maintenance ${name} read-only`);
  await shortenWait('maintenance_since');
  await step('export', source, `tenants export ${name} ${moved}`, async () => {
    if (existsSync(moved)) throw new Error('The export was killed, but its folder looks complete.');
    for (const partial of partialsOf(moved)) await rm(partial, { recursive: true });
  });
  await step('import', target, `tenants import ${moved}`, () => succeed(target, `tenants delete ${name} --yes`));
  tenant.announced.add('reads');
  await step('on', source, `tenants maintenance ${name} on`);
  await haproxy.route(tenant.host, target.name);
  await shortenWait('unavailable_since');
  await step('delete', source, `tenants delete ${name} --moved ${moved} --yes`);
  tenant.cell = target;
  tenant.announced.clear();
  await rm(moved, { recursive: true });
}

async function succeed({ env }: Cell, words: string): Promise<void> {
  const { code, stderr } = await processCommandLine(env.DATABASE_URL as string, env)(words);
  if (code !== 0) throw new Error(`itsm ${words} failed: ${stderr}`);
}

/**
 * For each command, returns a function that returns true when the test kills the command. An export, an import and a
 * deletion are then incomplete. A maintenance command is killed at a random time, before or after its commit.
 */
const isDue: Record<Command, (moved: string) => (output: string, ms: number) => boolean> = {
  'read-only': atRandomTime,
  export: (moved) => () => partialsOf(moved).some((partial) => readdirSync(partial).length > 10),
  import: () => afterLines(/: \d+ rows/g),
  on: atRandomTime,
  delete: () => afterLines(/: deleted /g),
};

/** The approximate duration of a maintenance command, in milliseconds. */
const maintenanceMs = 600;

function atRandomTime() {
  const limit = Math.random() * maintenanceMs;
  return (_: string, ms: number) => ms > limit;
}

/** Every tenant has rows in more than four tables. */
function afterLines(pattern: RegExp) {
  const count = 1 + Math.floor(4 * Math.random());
  return (output: string) => (output.match(pattern)?.length ?? 0) >= count;
}

/** Returns the folders of incomplete exports. */
function partialsOf(moved: string): string[] {
  const folder = dirname(moved);
  const isPartial = (name: string) => name.startsWith(`${basename(moved)}.`);
  return readdirSync(folder)
    .filter(isPartial)
    .map((name) => join(folder, name));
}

/** Runs a command and kills it when it is due. Runs it again if it ends before, which repeated maintenance allows. */
async function killCommand({ env }: Cell, words: string, isDue: (output: string, ms: number) => boolean) {
  for (;;) {
    const since = performance.now();
    const child = spawnCommand(words.split(' '), env.DATABASE_URL as string, env);
    let output = '';
    child.stderr.on('data', (chunk) => {
      output += chunk;
    });
    const exited = once(child, 'exit');
    while (child.exitCode === null && !isDue(output, performance.now() - since)) await sleep(2);
    child.kill('SIGKILL');
    await exited;
    if (child.signalCode === 'SIGKILL') return;
    if (child.exitCode !== 0) throw new Error(`itsm ${words} failed: ${output}`);
  }
}

type Found = Pick<MovesReport, 'lost' | 'extra' | 'missed' | 'undelivered' | 'wrong'>;

/** Compares the databases, the copies of the change feeds and the received events with the acknowledged requests. */
async function compare(system: System): Promise<Found> {
  const { cells, tenants, moving, receiver } = system;
  const found: Found = { lost: [], extra: [], missed: [], undelivered: [], wrong: [] };
  for (const tenant of moving) {
    // The cell returns the stored response of a request, which the client may have sent to the other cell.
    const [id, { title }] = [...tenant.written][0] as [number, Written];
    const repeated = await send(system, tenant, createOf(title));
    if (repeated.body.data?.id !== id) found.extra.push(`${tenant.name}: ${title} was created twice`);
  }
  for (const tenant of tenants) await compareTickets(tenant, found);
  for (const tenant of moving) {
    const { name, tenantId, cell, written, copy } = tenant;
    const isMissed = ([id, { etag }]: [number, Written]) => copy?.get(id)?.etag !== etag;
    const missed = await settle(() => [...written].filter(isMissed).map(([, { title }]) => `${name}: ${title}`));
    found.missed.push(...missed);
    const events = await rawClient(cell.runtime.prisma).$queryRaw<{ id: string }[]>`
      SELECT public_id AS id FROM events WHERE tenant_id = ${tenantId}`;
    const undelivered = await settle(() => {
      const received = new Set(receiver.arrivals.map(({ eventId }) => eventId));
      return events.filter(({ id }) => !received.has(id)).map(({ id }) => `${name}: ${id}`);
    });
    found.undelivered.push(...undelivered);
    if (events.length !== written.size) {
      found.undelivered.push(`${name}: ${written.size} tickets have ${events.length} events`);
    }
  }
  for (const cell of cells) {
    const { name, runtime } = cell;
    const totals = await findWrongTotals(runtime.databases.options);
    found.wrong.push(...totals.map((total) => `${name}: ${JSON.stringify(total)}`));
    const own = tenants.filter((tenant) => tenant.cell === cell).map(({ tenantId }) => tenantId);
    const left = await rawClient(runtime.prisma).$queryRaw<{ id: bigint }[]>`
      SELECT id FROM (SELECT tenant_id AS id FROM tickets UNION SELECT id FROM tenants
        UNION SELECT id FROM deleted_tenants WHERE completed_at IS NULL) AS found
      WHERE NOT id = ANY (${own})`;
    found.wrong.push(...left.map(({ id }) => `${name} contains rows of the tenant ${id}`));
  }
  return found;
}

async function compareTickets({ name, tenantId, cell, size, written }: Tenant, found: Found): Promise<void> {
  const rows = await rawClient(cell.runtime.prisma).$queryRaw<Row[]>`
    SELECT id::float8, number, title, priority FROM tickets WHERE tenant_id = ${tenantId} ORDER BY number`;
  const byId = new Map(rows.map((row) => [row.id, row]));
  for (const [id, { title, priority }] of written) {
    const row = byId.get(id);
    if (row?.title !== title || row.priority !== priority) found.lost.push(`${name}: ${title}`);
  }
  const others = rows.filter(({ id }) => !written.has(id));
  const existing = others.filter(({ title }) => title.startsWith(existingTitle));
  if (existing.length !== size) found.lost.push(`${name}: ${size - existing.length} tickets from before the test`);
  found.extra.push(...others.filter((row) => !existing.includes(row)).map(({ title }) => `${name}: ${title}`));
  if (rows.some(({ number }, index) => number !== index + 1)) found.wrong.push(`${name}: ticket numbers have gaps`);
}

/** Waits until `find` finds nothing, or the timeout expires. Returns what it found last. */
async function settle(find: () => string[]): Promise<string[]> {
  for (const deadline = Date.now() + maxEndMs; ; await sleep(100)) {
    const found = find();
    if (found.length === 0 || Date.now() > deadline) return found;
  }
}

/** Returns true if clients noticed only the announced maintenance. */
export function isUnnoticed(report: MovesReport): boolean {
  const { failed, lost, extra, missed, undelivered, wrong, crashes } = report;
  return [failed, lost, extra, missed, undelivered, wrong, crashes].flat().length === 0;
}

/** Formats the report for a terminal. */
export function formatMoves(report: MovesReport): string {
  const { tenants, moves, requests, acknowledged, unavailable, failed, lost, extra, missed, undelivered, wrong } =
    report;
  const row = (name: string, figure: number | string) => `  ${name.padEnd(52)}${figure}\n`;
  const pause = (name: string, of: (move: Move) => number) => {
    const { p50, max } = percentiles(moves.map(of));
    return row(name, `${seconds(p50)}   ${seconds(max)}`);
  };
  return `
${row('Tenants', tenants)}\
${row('Moves, killed commands', `${moves.length}, ${moves.flatMap(({ killed }) => killed).length}`)}\
${row('Requests, acknowledged writes', `${requests}, ${acknowledged}`)}\
${row('503 during maintenance: writes, reads', `${unavailable.writes}, ${unavailable.reads}`)}\
${pause('Interruption of writes, median and longest', ({ writePauseMs }) => writePauseMs)}\
${pause('Interruption of reads, median and longest', ({ readPauseMs }) => readPauseMs)}
${row('Other failed requests', failed.length)}\
${row('Lost writes', lost.length)}\
${row('Writes without an acknowledgement, or applied twice', extra.length)}\
${row('Missing in the copy of a change feed', missed.length)}\
${row('Events that were not received', undelivered.length)}\
${row('Wrong totals, and rows in the old cell', wrong.length)}\
${[failed, lost, extra, missed, undelivered, wrong]
  .flat()
  .slice(0, 20)
  .map((each) => `\n  ${each}`)
  .join('')}`;
}

/** Describes a move in one line. */
function formatMove({ tenant, tickets, to, killed, writePauseMs, readPauseMs }: Move): string {
  const interrupted = `writes interrupted for ${seconds(writePauseMs)}, reads for ${seconds(readPauseMs)}`;
  return `${tenant} with ${tickets} tickets to ${to}, ${killed.join(', ')} killed, ${interrupted}`;
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}
