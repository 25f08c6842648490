import { readFileSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { cpus, totalmem } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { openEmbedded } from '../../../server/src/embedded-postgres/embedded.ts';
import { migrateDatabase } from '../../../server/src/process/ensure-schema.ts';
import { median } from '../../../test/support/percentiles.ts';
import { type Data, loadData } from './data.ts';
import { type FilterResult, measureFilters } from './filters.ts';
import { type FindingResult, measureFinding } from './finding.ts';
import { type MeasuredPath, measuredPaths } from './paths.ts';
import { type Measured, serverNames, startServer } from './servers.ts';
import { requestsOf, type Shot, shoot } from './shots.ts';
import { cpuOf, cpuOfFamily } from './usage.ts';

/** The results for one path. The request rate, the latencies and the CPU time are those of the API. */
interface PathResult {
  path: string;
  rps: number;
  p50Ms: number;
  p99Ms: number;
  /** The CPU time per request of the API process and of PostgreSQL, in microseconds. */
  cpuUs: { process: number; postgres: number };
  /**
   * The requests per second of the API divided by those of the bare pg server. Null if the bare pg server returned no
   * successful response.
   */
  ratioToBarePg: number | null;
  ratioToPlainStack: number | null;
  /**
   * The requests per second of the bare pg server with row-level security, divided by the requests per second without
   * it.
   */
  ratioOfSecuredPg: number | null;
}

export interface ApiResult {
  machine: string;
  tickets: number;
  paths: PathResult[];
  filters: FilterResult[];
  finding: FindingResult[];
}

export interface ApiBenchOptions {
  tickets: number;
  /** How long each round measures a path, in seconds. */
  seconds: number;
  rounds: number;
  /** The PostgreSQL data folder. If it contains data from an earlier run, the benchmark uses that data. */
  dataDir: string;
  onProgress(text: string): void;
}

const connections = 16;

/**
 * Compares the API with the reference servers. All servers use the same PostgreSQL server and data. Each round measures
 * one path on every server, so other load on the machine affects all servers alike. Returns the medians of the rounds.
 */
export async function benchApi(options: ApiBenchOptions): Promise<ApiResult> {
  const settings = { shared_buffers: '2GB', max_wal_size: '8GB', max_connections: '150' };
  const database = await openEmbedded({ dataDir: options.dataDir, holder: { type: 'command' }, settings });
  const servers: Measured[] = [];
  try {
    await migrateDatabase(database.url);
    const data = await loadOnce(database.url, options);
    for (const name of serverNames) servers.push(await startServer(name, database.url));
    const postgres = Number.parseInt(readFileSync(join(options.dataDir, 'postgres/postmaster.pid'), 'utf8'), 10);

    const paths: PathResult[] = [];
    const measurement = { servers, data, postgres, databaseUrl: database.url, options };
    for (const path of measuredPaths) paths.push(await measurePath(path, measurement));
    const [api] = servers as [Measured];
    const filters = await measureFilters(api, { data, onProgress: options.onProgress });
    const finding = await measureFinding(api, { data, onProgress: options.onProgress });
    return { machine: describeMachine(), tickets: options.tickets, paths, filters, finding };
  } finally {
    for (const server of servers) await server.stop();
    await database.stop();
  }
}

/** Loads the data if the folder is new. Otherwise, reads the description of the data that an earlier run loaded. */
async function loadOnce(databaseUrl: string, { tickets, dataDir, onProgress }: ApiBenchOptions): Promise<Data> {
  const file = join(dataDir, 'bench-data.json');
  const known = await readFile(file, 'utf8').catch(() => undefined);
  if (known === undefined) {
    const data = await loadData(databaseUrl, tickets, onProgress);
    await writeFile(file, JSON.stringify(data));
    return data;
  }
  const data: Data = JSON.parse(known);
  if (data.tickets !== tickets) throw new Error(`${dataDir} has ${data.tickets} tickets instead of ${tickets}`);
  return data;
}

interface Measurement {
  servers: Measured[];
  data: Data;
  /** The process id of the postmaster. */
  postgres: number;
  databaseUrl: string;
  options: ApiBenchOptions;
}

interface Round extends Shot {
  processUs: number;
  postgresUs: number;
}

async function measurePath(path: MeasuredPath, measurement: Measurement): Promise<PathResult> {
  const { data, postgres, databaseUrl, options } = measurement;
  const api = path.server ?? 'api';
  const servers = measurement.servers.filter(({ name }) => name === api || !name.startsWith('api'));
  const rounds = Object.fromEntries(serverNames.map((name) => [name, [] as Round[]])) as Record<
    Measured['name'],
    Round[]
  >;
  const job = { connections, requests: requestsOf(path, data) };
  // Warms up the servers. V8 compiles their code, and PostgreSQL prepares its query plans.
  for (const server of servers) await shoot(server, { ...job, seconds: 10 });
  await untilIdle(databaseUrl);
  for (let round = 1; round <= options.rounds; round++) {
    options.onProgress(`${path.name}: round ${round} of ${options.rounds}`);
    for (const server of servers) {
      const before = { process: cpuOf(server.pid), postgres: cpuOfFamily(postgres) };
      const shot = await shoot(server, { ...job, seconds: options.seconds });
      rounds[server.name].push({
        ...shot,
        processUs: (cpuOf(server.pid) - before.process) / shot.requests,
        postgresUs: (cpuOfFamily(postgres) - before.postgres) / shot.requests,
      });
      await untilIdle(databaseUrl);
    }
  }
  const of = (name: Measured['name'], figure: keyof Round) => median(rounds[name].map((round) => round[figure]));
  const ratio = (name: Measured['name'], to: Measured['name']) => {
    const ratio = median(rounds[name].map(({ rps }, round) => rps / (rounds[to][round]?.rps ?? 0)));
    return Number.isFinite(ratio) ? rounded(ratio) : null;
  };
  return {
    path: path.name,
    rps: Math.round(of(api, 'rps')),
    p50Ms: rounded(of(api, 'p50Ms')),
    p99Ms: rounded(of(api, 'p99Ms')),
    cpuUs: { process: Math.round(of(api, 'processUs')), postgres: Math.round(of(api, 'postgresUs')) },
    ratioToBarePg: ratio(api, 'barePg'),
    ratioToPlainStack: ratio(api, 'plainStack'),
    ratioOfSecuredPg: ratio('securedPg', 'barePg'),
  };
}

/** Waits until PostgreSQL has no running queries. The last queries of a slow server can continue after the round. */
async function untilIdle(databaseUrl: string): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  const others = "SELECT 1 FROM pg_stat_activity WHERE state = 'active' AND pid <> pg_backend_pid()";
  while ((await client.query(others)).rowCount !== 0) await sleep(50);
  await client.end();
}

/** Describes the machine for reports: processors, memory and the version of Node.js. */
export function describeMachine(): string {
  const [cpu] = cpus();
  return `${cpus().length} × ${cpu?.model.trim()}, ${Math.round(totalmem() / 2 ** 30)} GiB, Node.js ${process.version}`;
}

function rounded(value: number): number {
  return Math.round(value * 100) / 100;
}
