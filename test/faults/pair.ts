import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Cluster, prepareCluster } from '@itsm-api/server/embedded-postgres/cluster.ts';
import { temporaryDataDir } from '@itsm-api/server/embedded-postgres/temporary.ts';
import type pg from 'pg';
import { type Candidate, startPostgresHaproxy } from './haproxy.ts';
import { createDatabase, postgresOf, steadyPort, urlOf } from './postgres.ts';
import { follow, leave, type Member, waitForNobody, withAdmin } from './standby.ts';

/**
 * What is lost, and how: the primary, of which all processes are killed while the standby is behind, or stand still so that
 * its connections fall silent; or the standby, which is killed.
 */
export type Loss = 'killed' | 'silent' | 'standby';

/**
 * Two PostgreSQL servers, the one the synchronous standby of the other, behind deploy/haproxy-postgresql.cfg. Who is the
 * primary is decided here, as by Patroni elsewhere.
 */
export interface Pair {
  /** Of the database `itsm` of whichever is the primary. */
  url: string;
  /** Loses one of the two. Without its standby the primary takes no more writes. */
  lose(loss: Loss): Promise<void>;
  /**
   * Has HAProxy lead to the standby, which still is one for so long, and promotes it then; or, where it is the standby that
   * was lost, has commits wait for nobody. Milliseconds; resolves to when the promotion began.
   */
  promote(readOnlyMs: number): Promise<number>;
  /** Has the server that was lost go on as it was; resolves to how many sessions of ours were begun on it since. */
  comeBack(): Promise<number>;
  /** Makes the server that was lost the standby of the other, for which commits then wait. */
  restore(): Promise<void>;
}

/** What a standby may lack is kept: no archive is needed. */
const settings = { wal_keep_size: '1GB' };

/** For how long it is looked at who comes to a server that is back. Milliseconds. */
const lookMs = 2500;

/** How long the standby has received nothing when the primary is killed. Milliseconds. */
const behindMs = 500;

/**
 * Opens the two. What stops them is added to `stops`, which are called last first.
 * @param synchronous whether commits wait for the standby
 */
export async function openPair(stops: (() => Promise<unknown>)[], synchronous: boolean): Promise<Pair> {
  const cluster = await prepareCluster(temporaryDataDir(), settings);
  const first = await addMember(cluster, stops);
  const second = await addMember({ ...cluster, name: 'the other', dataDir: temporaryDataDir() }, stops);
  const roles = { primary: first, standby: second };
  await first.postgres.start();
  await createDatabase(urlOf(cluster, first.port, 'postgres'));
  await follow(first, second);
  if (!synchronous) await waitForNobody(first);

  const candidates = [first, second].map(async (member) => {
    const statusPort = await serveStatus(member, () => roles.primary === member, stops);
    return { port: member.port, statusPort };
  }) as [Promise<Candidate>, Promise<Candidate>];
  const haproxy = await startPostgresHaproxy(await candidates[0], await candidates[1]);
  stops.push(haproxy.stop);
  /** Waits until HAProxy leads nowhere else. */
  const leadsTo = async (wanted: 'primary' | 'standby') => {
    for (let inTurn = 0; inTurn < 4; await sleep(20)) {
      const found = await withAdmin({ ...first, port: haproxy.port }, kindOf).catch(() => undefined);
      inTurn = found === wanted ? inTurn + 1 : 0;
    }
  };
  // Before it has asked both, it leads to the one and the other in turn.
  await leadsTo('primary');

  let lost: { loss: Loss; at: Date } | undefined;
  let thaw: (() => void) | undefined;
  stops.push(async () => thaw?.());
  return {
    url: urlOf(cluster, haproxy.port, 'itsm'),
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
      if (lost?.loss === 'standby') await waitForNobody(roles.primary);
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
      await follow(roles.primary, roles.standby);
    },
  };
}

async function addMember(cluster: Cluster, stops: (() => Promise<unknown>)[]): Promise<Member> {
  const port = await steadyPort();
  const postgres = postgresOf(cluster, port);
  stops.push(postgres.remove);
  return { cluster, port, postgres };
}

/** Which of the two a server is. */
async function kindOf(client: pg.Client): Promise<'primary' | 'standby'> {
  const { rows } = await client.query('SELECT pg_is_in_recovery() AS standby');
  return rows[0].standby ? 'standby' : 'primary';
}

/**
 * Answers what Patroni does on its REST API: 200 where the server holds the leader's key and runs, else 503. One that
 * stands still says nothing, as its whole machine would.
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
