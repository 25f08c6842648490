import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Cluster } from '@itsm-api/server/embedded-postgres/cluster.ts';
import { temporaryDataDir } from '@itsm-api/server/embedded-postgres/temporary.ts';
import type pg from 'pg';
import { createCluster, postgresOf, steadyPort, urlOf } from '../../support/postgres-server.ts';
import { type Candidate, startPostgresHaproxy } from './haproxy.ts';
import { attachStandby, leave, type Member, turnOffSynchronousCommits, withAdmin } from './standby.ts';

/**
 * The kind of failure. 'killed': the primary is killed while the standby lags. 'silent': the primary is frozen, so its
 * connections stay open without data. 'standby': the standby is killed.
 */
export type Loss = 'killed' | 'silent' | 'standby';

/**
 * A PostgreSQL primary and its standby behind deploy/haproxy-postgresql.cfg. The test decides which server is the
 * primary, as Patroni does in production.
 */
export interface Pair {
  /** The URL of the database `itsm` on the current primary. */
  url: string;
  /** Stops the primary or the standby. While a synchronous standby is stopped, commits on the primary wait. */
  lose(loss: Loss): Promise<void>;
  /**
   * Makes HAProxy forward to the standby, waits for `readOnlyMs` milliseconds, and then promotes the standby. If the
   * standby was stopped, turns off synchronous commits instead. Returns the start time of the promotion or of the
   * change to asynchronous commits, in milliseconds since 1970.
   */
  promote(readOnlyMs: number): Promise<number>;
  /**
   * Restarts the stopped server with its old files. Returns the number of sessions that the service opens on this
   * server after the restart.
   */
  comeBack(): Promise<number>;
  /** Makes the stopped server the standby of the primary. Commits then wait for this standby. */
  restore(): Promise<void>;
}

/** Keeps enough WAL for a lagging standby, so the test needs no WAL archive. */
const settings = { wal_keep_size: '1GB' };

/** How long `comeBack` waits before it counts new sessions, in milliseconds. */
const lookMs = 2500;

/** The time from the end of the replication to the kill of the primary, in milliseconds. */
const behindMs = 500;

/**
 * Starts a PostgreSQL primary and its standby. Adds cleanup functions to `stops`. The caller calls these functions in
 * reverse order.
 * @param synchronous true if commits wait for the standby
 */
export async function openPair(stops: (() => Promise<unknown>)[], synchronous: boolean): Promise<Pair> {
  const cluster = await createCluster(settings);
  const first = await addMember(cluster, stops);
  const second = await addMember({ ...cluster, name: 'the other', dataDir: temporaryDataDir() }, stops);
  const roles = { primary: first, standby: second };
  await first.postgres.start();
  await attachStandby(first, second);
  if (!synchronous) await turnOffSynchronousCommits(first);

  const candidates = [first, second].map(async (member) => {
    const statusPort = await serveStatus(member, () => roles.primary === member, stops);
    return { port: member.port, statusPort };
  }) as [Promise<Candidate>, Promise<Candidate>];
  const haproxy = await startPostgresHaproxy(await candidates[0], await candidates[1]);
  stops.push(haproxy.stop);
  /** Waits until HAProxy forwards only to the expected server. */
  const leadsTo = async (expected: 'primary' | 'standby') => {
    for (let inTurn = 0; inTurn < 4; await sleep(20)) {
      const found = await withAdmin({ ...first, port: haproxy.port }, kindOf).catch(() => undefined);
      inTurn = found === expected ? inTurn + 1 : 0;
    }
  };
  // Before its first health checks, HAProxy forwards to both servers.
  await leadsTo('primary');

  let lost: { loss: Loss; at: Date } | undefined;
  let thaw: (() => void) | undefined;
  stops.push(async () => thaw?.());
  return {
    url: urlOf(cluster, haproxy.port),
    async lose(loss) {
      const primary = roles.primary.postgres;
      const standby = roles.standby.postgres;
      if (loss === 'standby') await standby.killAll();
      else if (loss === 'silent') thaw = await primary.freeze();
      else {
        await leave(roles.standby);
        await sleep(behindMs);
        await primary.killAll();
      }
      lost = { loss, at: new Date() };
    },
    async promote(readOnlyMs) {
      if (lost?.loss !== 'standby') {
        [roles.primary, roles.standby] = [roles.standby, roles.primary];
        await leadsTo('standby');
        await sleep(readOnlyMs);
      }
      const beganAt = Date.now();
      if (lost?.loss === 'standby') await turnOffSynchronousCommits(roles.primary);
      else await withAdmin(roles.primary, (client) => client.query('SELECT pg_promote()'));
      return beganAt;
    },
    async comeBack() {
      thaw?.();
      thaw = undefined;
      await roles.standby.postgres.start();
      await sleep(lookMs);
      return withAdmin(roles.standby, async (client) => {
        const { rows } = await client.query(
          `SELECT count(*)::int FROM pg_stat_activity WHERE application_name LIKE 'itsm-api%' AND backend_start > $1`,
          [lost?.at],
        );
        return rows[0].count;
      });
    },
    async restore() {
      await roles.standby.postgres.killAll();
      await attachStandby(roles.primary, roles.standby);
    },
  };
}

async function addMember(cluster: Cluster, stops: (() => Promise<unknown>)[]): Promise<Member> {
  const port = await steadyPort();
  const postgres = postgresOf(cluster, port);
  stops.push(postgres.remove);
  return { cluster, port, postgres };
}

/** Returns whether a connection leads to the primary or the standby. */
async function kindOf(client: pg.Client): Promise<'primary' | 'standby'> {
  const { rows } = await client.query('SELECT pg_is_in_recovery() AS standby');
  return rows[0].standby ? 'standby' : 'primary';
}

/**
 * Serves the health check of a PostgreSQL server, like Patroni's REST API. Responds with 200 if PostgreSQL runs and is
 * the leader, and with 503 otherwise. If PostgreSQL is frozen, the health check doesn't respond in time. Returns the
 * port of the health check.
 */
async function serveStatus(
  member: Member,
  isLeader: () => boolean,
  stops: (() => Promise<unknown>)[],
): Promise<number> {
  const server = createServer((_, response) => {
    withAdmin(member, (client) => client.query('SELECT')).then(
      () => response.writeHead(isLeader() ? 200 : 503).end(),
      () => response.writeHead(503).end(),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  stops.push(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return (server.address() as AddressInfo).port;
}
