import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Runtime } from '@itsm-api/server/process/runtime.ts';
import { openInstallation } from '../../../support/installation.ts';
import { type Supervised, supervise } from '../../../support/server-process.ts';
import { addWorkspace, subscribe, type Workspace } from '../../../support/subscribed-workspaces.ts';
import { fill } from '../changes.ts';
import { type CellsHaproxy, startCellsHaproxy } from '../haproxy.ts';
import { openReceiver, type Receiver } from '../receiver.ts';

/* Two cells behind deploy/cells.cfg, and their tenants. */

export interface Cell {
  name: string;
  runtime: Runtime;
  env: Record<string, string>;
  server: Supervised;
}

export interface Written {
  title: string;
  priority: string;
  etag: string | undefined;
}

export type Kind = 'reads' | 'writes';

export interface Tenant extends Workspace {
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

/** The requests of all clients. */
export interface Counts {
  requests: number;
  /** The number of creates and updates with a 2xx response. */
  acknowledged: number;
  /** The number of 503 responses that announce the maintenance. */
  unavailable: { writes: number; reads: number };
  /** The other requests without a 2xx response. */
  failed: string[];
}

export interface System {
  folder: string;
  cells: readonly [Cell, Cell];
  haproxy: CellsHaproxy;
  receiver: Receiver;
  tenants: Tenant[];
  /** The tenants that move, in order of their size. */
  moving: Tenant[];
  counts: Counts;
  /** True if the test has ended, so that clients no longer wait for the end of maintenance. */
  isStopped: boolean;
}

export interface SystemOptions {
  /** The number of tenants. The tenant at place n has `largest` / n tickets. */
  tenants: number;
  largest: number;
}

/** Starts the cells and HAProxy, and creates the tenants. Tenants at the places 1, 2, 4, 8 … can move. */
export async function startSystem(options: SystemOptions, stops: (() => Promise<unknown>)[]): Promise<System> {
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
