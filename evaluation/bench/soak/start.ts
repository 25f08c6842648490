import type { Runtime } from '@itsm-api/server/process/runtime.ts';
import pg from 'pg';
import { openInstallation } from '../../../test/support/installation.ts';
import { steadyPort } from '../../../test/support/postgres-server.ts';
import { type ServerProcess, spawnServer } from '../../../test/support/server-process.ts';
import { loadData } from '../api/data.ts';
import { cpuOf, cpuOfFamily } from '../api/usage.ts';
import { type Receivers, startReceivers } from '../receiver.ts';
import { createClients } from './clients.ts';
import type { Client } from './requests.ts';
import type { Watched } from './samples.ts';

/** The service under load: its processes, its receivers, and a database connection for the samples. */
export interface Soaked {
  apiUrl: string;
  clients: Client[];
  servers: Started[];
  runtime: Runtime;
  client: pg.Client;
  receivers: Receivers;
}

export interface Started {
  server: ServerProcess;
  watched: Watched;
}

interface StartOptions {
  tickets: number;
  /** The files that change the processes. */
  imports: readonly URL[];
  onProgress: (text: string) => void;
}

const collectGarbage = new URL('./collect-garbage.ts', import.meta.url);
const shortRetention = new URL('./short-retention.ts', import.meta.url);

/** The imports of the soak test. */
export const soakImports: readonly URL[] = [collectGarbage, shortRetention];
/** The imports of the soak test, without the short retention times. */
export const productionRetention: readonly URL[] = [collectGarbage];

const tenants = 6;

/** Loads tickets, starts the processes, and creates a client for each of the first tenants. */
export async function startSoaked(options: StartOptions, stops: (() => Promise<unknown>)[]): Promise<Soaked> {
  const { tickets, imports, onProgress } = options;
  const { postgres, runtime, apiUrl, env } = await openInstallation(stops);
  await loadData(postgres.url, tickets, onProgress);
  const client = new pg.Client({ connectionString: postgres.url });
  await client.connect();
  stops.push(() => client.end());
  const receivers = startReceivers();
  stops.push(async () => receivers.close());
  const servers = await startServers(env, imports, stops);
  const clients = await createClients({ runtime, client, apiUrl, receivers, tenants });
  return { apiUrl, clients, servers, runtime, client, receivers };
}

/** Starts the API and the worker with production settings, and with the given imports. */
async function startServers(
  env: Record<string, string>,
  files: readonly URL[],
  stops: (() => Promise<unknown>)[],
): Promise<Started[]> {
  const imports = files.map((file) => `--import=${file}`);
  const started: Started[] = [];
  for (const name of ['api', 'worker']) {
    const port = await steadyPort();
    const settings = { ...env, ROLES: name, OPERATIONS_PORT: String(port), TENANT_CONCURRENCY_SHARE: '' };
    const server = spawnServer(settings, imports);
    stops.push(async () => {
      server.child.kill('SIGKILL');
      await server.exited;
    });
    await server.ready;
    started.push({ server, watched: { name, pid: server.child.pid ?? 0, operationsUrl: `http://127.0.0.1:${port}` } });
  }
  return started;
}

/** The CPU time of each process in microseconds. */
export interface CpuTimes {
  api: number;
  worker: number;
  postgres: number;
}

/** Returns the CPU time of the processes so far. */
export async function readCpu({
  servers: [api, worker],
  client,
}: Pick<Soaked, 'servers' | 'client'>): Promise<CpuTimes> {
  const { rows } = await client.query<{ pid: number }>(
    "SELECT split_part(pg_read_file('postmaster.pid'), E'\\n', 1)::int AS pid",
  );
  const of = (started: Started | undefined) => cpuOf(started?.server.child.pid ?? 0);
  return { api: of(api), worker: of(worker), postgres: cpuOfFamily(rows[0]?.pid ?? 0) };
}
