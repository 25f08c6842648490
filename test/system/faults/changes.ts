import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { pathPrefix, type Ticket } from '@itsm-api/contract';
import { exportRows } from '@itsm-api/server/resources/sync/export-batches.ts';
import { ticketRows } from '@itsm-api/server/resources/tickets/queries.ts';
import pg from 'pg';
import { openInstallation } from '../../support/installation.ts';
import type { Postgres } from '../../support/postgres-server.ts';
import { type Supervised, supervise } from '../../support/server-process.ts';
import { addWorkspace, type Workspace } from '../../support/subscribed-workspaces.ts';

export interface ChangesOptions {
  /** The minimum number of row changes that the writers commit. */
  changes: number;
  /**
   * The average time between two kills, in milliseconds. A kill ends the API, one PostgreSQL backend or the PostgreSQL
   * server.
   */
  betweenKills: number;
  onProgress?: (text: string) => void;
}

export interface ChangesReport {
  /**
   * The number of row changes in committed and in rolled back transactions. Excludes changes with an unknown outcome.
   */
  committed: number;
  rolledBack: number;
  kills: number;
  /** The number of change feed pages and rows that the client read. */
  pages: number;
  rows: number;
  /** The number of tickets in the table at the end of the run. */
  tickets: number;
  /** The ids of tickets that are missing or outdated in the client's copy. */
  missed: number[];
  /** The ids of tickets that are in the client's copy but not in the table. */
  extra: number[];
  crashes: string[];
}

const sqlWriters = 5;
const apiWriters = 3;
/** The timeout of an API request, in milliseconds. */
const timeoutMs = 15_000;
/** The maximum time from the last write until the client has read all changes, in milliseconds. */
const maxEndMs = 60_000;

/** The state that all writers share. */
interface Writing {
  workspace: Workspace;
  apiUrl: string;
  databaseUrl: string;
  /** The ids of the tickets to change. */
  ids: number[];
  count: { committed: number; rolledBack: number };
  stopped: boolean;
}

/**
 * A client follows a workspace's tickets with `GET /tickets/changes`. At the same time, eight writers change tickets
 * through the API and with SQL transactions of random length, and the test kills the API and PostgreSQL. At the end,
 * the test compares the client's copy with the table.
 */
export async function runChanges({ changes, betweenKills, onProgress }: ChangesOptions): Promise<ChangesReport> {
  const stops: (() => Promise<unknown>)[] = [];
  try {
    const { postgres, runtime, apiUrl, env } = await openInstallation(stops);
    const workspace = await addWorkspace(runtime, 'Followed');
    const ids = await fill(postgres.url, workspace, Math.ceil(changes / 5));
    const api = supervise({ ...env, LOG_LEVEL: 'fatal', ROLES: 'api' });
    stops.push(api.stop);
    await api.ready();

    const count = { committed: 0, rolledBack: 0 };
    const writing: Writing = { workspace, apiUrl, databaseUrl: postgres.url, ids, count, stopped: false };
    const walker = startWalker(apiUrl, workspace);
    stops.push(walker.stop);
    const writers = Promise.all([
      ...Array.from({ length: sqlWriters }, () => writeSql(writing)),
      ...Array.from({ length: apiWriters }, () => writeThroughApi(writing)),
    ]);
    stops.push(async () => {
      writing.stopped = true;
      await writers;
    });
    const tell = () =>
      onProgress?.(`${count.committed} changes, ${walker.seen.rows} rows on ${walker.seen.pages} pages`);
    const ticker = setInterval(tell, 1000);
    stops.push(async () => clearInterval(ticker));
    const kills = await killInTurn({ postgres, api, betweenKills, until: () => count.committed >= changes });

    writing.stopped = true;
    await writers;
    const table = await readTable(workspace);
    const { missed, extra } = await walker.settle(table);
    const { pages, rows } = walker.seen;
    return { ...count, kills, pages, rows, tickets: table.size, missed, extra, crashes: api.crashes };
  } finally {
    for (const stop of stops.reverse()) await stop();
  }
}

/** Inserts tickets with the titles `Ticket 1`, `Ticket 2` and so on. Returns their ids. */
export async function fill(url: string, { tenantId, userId }: Workspace, count: number): Promise<number[]> {
  return withClient(url, async (client) => {
    const { rows } = await client.query<{ id: string }>(
      `WITH sequence AS (INSERT INTO ticket_sequences (tenant_id, total, incident) VALUES ($1, $3, $3))
       INSERT INTO tickets (tenant_id, ordinal, number, type, title, description, category, requester_id, updated_at)
       SELECT $1, i, i, 'INCIDENT', 'Ticket ' || i, 'Followed.', 'OTHER', $2, now() FROM generate_series(1, $3::int) i
       RETURNING id`,
      [tenantId, userId, count],
    );
    return rows.map(({ id }) => Number(id));
  });
}

/** Runs transactions with 1 to 40 changes each. Keeps some transactions open for seconds, and rolls some back. */
async function writeSql(writing: Writing): Promise<void> {
  const { databaseUrl, count } = writing;
  while (!writing.stopped) {
    await withClient(databaseUrl, async (client) => {
      while (!writing.stopped) {
        const changed = await writeTransaction(client, writing);
        const isCommitted = Math.random() > 0.15;
        await client.query(isCommitted ? 'COMMIT' : 'ROLLBACK');
        count[isCommitted ? 'committed' : 'rolledBack'] += changed;
      }
    }).catch(() => sleep(100));
  }
}

async function writeTransaction(client: pg.Client, { workspace, ids, count }: Writing): Promise<number> {
  const { tenantId, userId } = workspace;
  const some = Array.from({ length: 1 + Math.floor(Math.random() * 40) }, () => pick(ids)).sort((a, b) => a - b);
  await client.query('BEGIN');
  // A pause before the first write delays the assignment of the transaction id. A pause after the writes lets later
  // transactions commit first.
  if (Math.random() < 0.05) await sleep(Math.random() * 500);
  for (const id of some) {
    const title = `Change ${count.committed} ${Math.random()}`;
    if (Math.random() < 0.9) {
      const update = 'UPDATE tickets SET title = $3, updated_at = now() WHERE tenant_id = $1 AND id = $2';
      await client.query(update, [tenantId, id, title]);
    } else {
      await client.query(
        `UPDATE tickets SET watcher_ids = CASE watcher_ids WHEN '{}' THEN ARRAY[$3::bigint] ELSE '{}' END
         WHERE tenant_id = $1 AND id = $2`,
        [tenantId, id, userId],
      );
    }
    if (Math.random() < 0.01) await sleep(Math.random() * 50);
  }
  if (Math.random() < 0.03) await sleep(500 + Math.random() * 3000);
  return some.length;
}

/** Creates and updates tickets through the API. */
async function writeThroughApi(writing: Writing): Promise<void> {
  const { workspace, apiUrl, ids, count } = writing;
  while (!writing.stopped) {
    const isNew = Math.random() < 0.3;
    const title = `Change ${Math.random()}`;
    const response = await fetch(`${apiUrl}${pathPrefix}/tickets${isNew ? '' : `/${pick(ids)}`}`, {
      method: isNew ? 'POST' : 'PATCH',
      headers: { authorization: `Bearer ${workspace.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        title,
        ...(isNew && {
          description: 'Created while a client follows the changes.',
          type: 'INCIDENT',
          category: 'NETWORK',
        }),
      }),
      signal: AbortSignal.timeout(timeoutMs),
    })
      .then(async (response) => ({ ok: response.ok, body: (await response.json()) as { data?: { id: number } } }))
      .catch(() => undefined);
    if (response?.ok) count.committed++;
    else await sleep(50);
    if (isNew && response?.body.data !== undefined) ids.push(response.body.data.id);
  }
}

export interface Walker {
  seen: { pages: number; rows: number };
  /** Waits until the client's copy equals the table or the timeout expires. Returns the differences. */
  settle(table: Map<number, Ticket>): Promise<{ missed: number[]; extra: number[] }>;
  stop(): Promise<void>;
}

/** Starts a client that reads the change feed page by page and stores the newest version of each ticket. */
export function startWalker(apiUrl: string, { key }: Workspace): Walker {
  const copy = new Map<number, Ticket>();
  const seen = { pages: 0, rows: 0 };
  let cursor: string | undefined;
  let stopped = false;

  async function step(): Promise<boolean> {
    const query = cursor === undefined ? '' : `?cursor=${cursor}`;
    const response = await fetch(`${apiUrl}${pathPrefix}/tickets/changes${query}`, {
      headers: { authorization: `Bearer ${key}` },
      signal: AbortSignal.timeout(timeoutMs),
    });
    if (!response.ok) throw new Error(`GET /tickets/changes returned ${response.status}.`);
    const { data, meta } = (await response.json()) as {
      data: Ticket[];
      meta: { nextCursor: string; hasMore: boolean };
    };
    for (const ticket of data) copy.set(ticket.id, ticket);
    seen.pages++;
    seen.rows += data.length;
    cursor = meta.nextCursor;
    return meta.hasMore;
  }

  const walking = (async () => {
    while (!stopped) {
      const hasMore = await step().catch(() => false);
      if (!hasMore) await sleep(20);
    }
  })();

  const difference = (table: Map<number, Ticket>) => ({
    missed: [...table].filter(([id, ticket]) => !isDeepStrictEqual(copy.get(id), ticket)).map(([id]) => id),
    extra: [...copy.keys()].filter((id) => !table.has(id)),
  });
  return {
    seen,
    async settle(table) {
      for (const deadline = Date.now() + maxEndMs; ; await sleep(500)) {
        const found = difference(table);
        if (found.missed.length + found.extra.length === 0 || Date.now() > deadline) return found;
      }
    },
    async stop() {
      stopped = true;
      await walking;
    },
  };
}

interface Killing {
  postgres: Postgres;
  api: Supervised;
  betweenKills: number;
  /** Returns true when the writers have committed the minimum number of changes. */
  until(): boolean;
}

/**
 * Kills the API, one PostgreSQL backend and the PostgreSQL server in turn. After the last kill, waits until the API is
 * ready and returns the number of kills.
 */
async function killInTurn({ postgres, api, betweenKills, until }: Killing): Promise<number> {
  let kills = 0;
  for (let next = Date.now() + betweenKills; !until(); await sleep(50)) {
    if (Date.now() < next) continue;
    if (kills % 3 === 0) api.kill();
    else if (kills % 3 === 1) while (!(await postgres.killOne())) await sleep(20);
    else {
      postgres.kill();
      await postgres.start();
    }
    kills++;
    next = Date.now() + Math.random() * 2 * betweenKills;
  }
  await api.ready();
  return kills;
}

/** Reads all tickets of a workspace from the database. */
export async function readTable({ context }: Workspace): Promise<Map<number, Ticket>> {
  const table = new Map<number, Ticket>();
  await exportRows(context.db, ticketRows, async (batch) => {
    for (const ticket of batch) table.set(ticket.id, ticket);
  });
  return table;
}

async function withClient<Result>(url: string, work: (client: pg.Client) => Promise<Result>): Promise<Result> {
  const client = new pg.Client({ connectionString: url, application_name: 'writer' });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return await work(client);
  } finally {
    await client.end().catch(() => undefined);
  }
}

function pick(ids: number[]): number {
  return ids[Math.floor(Math.random() * ids.length)] as number;
}

/** Formats the report for a terminal. */
export function formatChanges(report: ChangesReport): string {
  const { committed, rolledBack, kills, pages, rows, tickets, missed, extra } = report;
  return `
  ${committed} changes committed and ${rolledBack} rolled back by eight writers, ${kills} kills
  ${rows} rows on ${pages} pages of GET /tickets/changes

  Missed                      ${missed.length}   of ${tickets} tickets
  Only in the copy            ${extra.length}
`;
}

export function isCopyComplete({ missed, extra, crashes }: ChangesReport): boolean {
  return missed.length + extra.length + crashes.length === 0;
}
