import { writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { steadyPort } from '../../support/postgres-server.ts';
import { skipUnlessInstalled } from '../../support/programs.ts';
import { startProxy } from '../../support/proxy-process.ts';

const programs = ['haproxy'];

/** Returns options that skip tests unless HAProxy is installed. */
export const skipUnlessHaproxy = () => skipUnlessInstalled(programs);

export interface Haproxy {
  /** The URL at which HAProxy uses the configuration for operators (deploy/haproxy.cfg). */
  deployed: string;
  /** The URL at which HAProxy uses a configuration without retries (plain-balancer.cfg). */
  plain: string;
  stop(): Promise<void>;
}

/**
 * Starts HAProxy with deploy/haproxy.cfg and plain-balancer.cfg. `processes` contains the addresses of the two API
 * processes as `host:port`.
 */
export async function startHaproxy(processes: [string, string]): Promise<Haproxy> {
  const [deployed, plain] = [await steadyPort(), await steadyPort()].map((port) => `127.0.0.1:${port}`);
  const stop = await run(['../../../deploy/haproxy.cfg', './plain-balancer.cfg'], deployed as string, {
    BIND: deployed as string,
    BIND_PLAIN: plain as string,
    API_1: processes[0],
    API_2: processes[1],
  });
  return { deployed: `http://${deployed}`, plain: `http://${plain}`, stop };
}

/**
 * The port of a PostgreSQL server, and the port of its health check. Like Patroni, the health check reports whether the
 * server is the primary.
 */
export interface Candidate {
  port: number;
  statusPort: number;
}

interface PostgresHaproxy {
  /** The HAProxy port that forwards to the primary. */
  port: number;
  stop(): Promise<void>;
}

/** Starts HAProxy with deploy/haproxy-postgresql.cfg for two PostgreSQL servers. */
export async function startPostgresHaproxy(first: Candidate, second: Candidate): Promise<PostgresHaproxy> {
  const port = await steadyPort();
  const address = `127.0.0.1:${port}`;
  const stop = await run(['../../../deploy/haproxy-postgresql.cfg'], address, {
    BIND: address,
    POSTGRES_1: `127.0.0.1:${first.port}`,
    POSTGRES_2: `127.0.0.1:${second.port}`,
    PATRONI_PORT_1: String(first.statusPort),
    PATRONI_PORT_2: String(second.statusPort),
  });
  return { port, stop };
}

export interface CellsHaproxy {
  port: number;
  /** Routes the requests for a host to another cell, as an operator does. */
  route(host: string, cell: string): Promise<void>;
  stop(): Promise<void>;
}

/** Starts HAProxy with deploy/cells.cfg for two cells. Writes the map to `folder`. */
export async function startCellsHaproxy(folder: string, map: string, cells: [string, string]): Promise<CellsHaproxy> {
  const port = await steadyPort();
  const address = `127.0.0.1:${port}`;
  const [CELLS_MAP, ADMIN_SOCKET] = [join(folder, 'cells.map'), join(folder, 'admin.sock')];
  await writeFile(CELLS_MAP, map);
  const stop = await run(['../../../deploy/cells.cfg'], address, {
    ...{ BIND: address, CELLS_MAP, ADMIN_SOCKET, CELL_0: cells[0], CELL_1: cells[1] },
  });
  const route = async (host: string, cell: string) => {
    const socket = connect(ADMIN_SOCKET).end(`set map ${CELLS_MAP} ${host} ${cell}\n`);
    const reply = (await text(socket)).trim();
    if (reply !== '') throw new Error(reply);
  };
  return { port, route, stop };
}

/** Starts HAProxy and waits until HAProxy listens on `address`. Returns a function that stops HAProxy. */
function run(configs: string[], address: string, env: Record<string, string>): Promise<() => Promise<void>> {
  const paths = configs.map((path) => fileURLToPath(new URL(path, import.meta.url)));
  return startProxy(programs, ['-db', ...paths.flatMap((path) => ['-f', path])], address, env);
}
