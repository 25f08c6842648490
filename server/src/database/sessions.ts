import type pg from 'pg';

/** A session of PostgreSQL, for whoever waits for it. What only its own role may see is null. */
export interface Session {
  /** 0 for a transaction that was prepared: it has no session. */
  pid: number;
  application: string | null;
  address: string | null;
  /** As in `idle in transaction`. */
  state: string | null;
  /** How long it has been in this state. Milliseconds. */
  inStateMs: number | null;
  transactionSince: Date | null;
  statementSince: Date | null;
  isAutovacuum: boolean;
}

/** Autovacuum alone works for no role. */
const columns = `w.pid, application_name AS application, host(client_addr) AS address, state,
  (extract(epoch FROM clock_timestamp() - state_change) * 1000)::float8 AS "inStateMs",
  xact_start AS "transactionSince", query_start AS "statementSince",
  a.pid IS NOT NULL AND usesysid IS NULL AS "isAutovacuum"`;

/** The sessions that keep one waiting for a lock. */
export async function findBlockers(client: pg.ClientBase, pid: number): Promise<Session[]> {
  const { rows } = await client.query<Session>(
    `SELECT ${columns} FROM (SELECT DISTINCT unnest(pg_blocking_pids($1)) AS pid) w
     LEFT JOIN pg_stat_activity a ON a.pid = w.pid WHERE a.pid IS NOT NULL OR w.pid = 0 ORDER BY w.pid`,
    [pid],
  );
  return rows;
}

/** The session that holds an advisory lock of two numbers in this database; undefined where none does. */
export async function findLockHolder(client: pg.ClientBase, first: number, second: number) {
  const { rows } = await client.query<Session>(
    `SELECT ${columns} FROM pg_locks w LEFT JOIN pg_stat_activity a ON a.pid = w.pid
     WHERE w.locktype = 'advisory' AND w.granted AND w.classid = $1 AND w.objid = $2 AND w.objsubid = 2
       AND w.database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
    [first, second],
  );
  return rows[0];
}

/** As in `pid 4711 ("report" from 10.0.0.4, idle in transaction, transaction since 2026-11-22T12:00:03Z)`. */
export function describe(session: Session): string {
  const { pid, application, address, state, transactionSince, statementSince, isAutovacuum } = session;
  if (pid === 0) return 'a prepared transaction, which pg_prepared_xacts shows';
  if (isAutovacuum) return `pid ${pid} (autovacuum)`;
  const place = [application && `"${application}"`, address && `from ${address}`].filter(Boolean).join(' ');
  const times = [
    transactionSince && `transaction since ${secondOf(transactionSince)}`,
    statementSince && `last statement at ${secondOf(statementSince)}`,
  ];
  return `pid ${pid} (${[place, state, ...times].filter(Boolean).join(', ')})`;
}

/** What ends them. */
export function ending(sessions: Session[]): string {
  return sessions
    .map(({ pid }) => (pid === 0 ? 'ROLLBACK PREPARED' : `SELECT pg_terminate_backend(${pid})`))
    .join('; ');
}

function secondOf(date: Date): string {
  return date.toISOString().replace(/\.\d+/, '');
}
