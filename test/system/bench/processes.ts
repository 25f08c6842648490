import { readFileSync } from 'node:fs';
import { Agent } from 'node:http';
import { join } from 'node:path';
import { openEmbedded } from '@itsm-api/server/embedded-postgres/embedded.ts';
import { migrateDatabase } from '@itsm-api/server/process/ensure-schema.ts';
import { median } from '../../support/percentiles.ts';
import { openRedis } from '../../support/redis.ts';
import { type Data, loadData } from './api/data.ts';
import { type Measured, startServer } from './api/servers.ts';
import { cpuOf, cpuOfFamily } from './api/usage.ts';
import { send } from './send.ts';

/** The CPU cost of a request with a number of API processes. The figures are medians of the rounds. */
export interface ProcessCost {
  request: string;
  processes: number;
  /** The CPU time per request of all API processes and of PostgreSQL, in microseconds. */
  apiUs: number;
  postgresUs: number;
  /** The sum of both, divided by the sum with one process in the same round. The median of all rounds. */
  ratio: number;
}

interface ProcessesOptions {
  dataDir: string;
  tickets: number;
  rounds: number;
  onProgress: (text: string) => void;
}

const counts = [1, 2, 4];
/** The number of concurrent requests to all processes together. */
const concurrency = 16;
const perRound = 4000;
/** How often the benchmark sends `perRound` requests to all processes before it measures, so that V8 compiles the code. */
const warmUps = 8;

interface Sent {
  request: string;
  ask(data: Data, place: number): { method: string; path: string; body?: object };
}

const ticket = { title: 'VPN drops', description: 'Every ten minutes.', type: 'INCIDENT', category: 'NETWORK' };
const requests: Sent[] = [
  {
    request: 'ticket by id',
    ask: ({ ticketIds }, place) => ({ method: 'GET', path: `/tickets/${ticketIds[place % ticketIds.length]}` }),
  },
  { request: 'create', ask: () => ({ method: 'POST', path: '/tickets', body: ticket }) },
];

/**
 * Measures the CPU time per request with one, two and four API processes, which share PostgreSQL and Redis. Each round
 * measures every number of processes.
 */
export async function benchProcesses(options: ProcessesOptions): Promise<{ table: string; result: ProcessCost[] }> {
  const { dataDir, tickets, onProgress } = options;
  const stops: (() => Promise<unknown>)[] = [];
  try {
    const settings = { max_connections: '150' };
    const database = await openEmbedded({ dataDir, holder: { type: 'command' }, settings });
    stops.push(() => database.stop());
    await migrateDatabase(database.url);
    const data = await loadData(database.url, tickets, onProgress);
    const redis = await openRedis();
    await redis.start();
    stops.push(redis.kill);
    const servers: Measured[] = [];
    for (let count = 0; count < Math.max(...counts); count++) {
      const env = { RATE_LIMIT_STORE: 'redis', REDIS_URL: redis.url };
      const server = await startServer('api', database.url, { env });
      stops.push(server.stop);
      servers.push(server);
    }
    const postgres = Number.parseInt(readFileSync(join(dataDir, 'postgres/postmaster.pid'), 'utf8'), 10);
    const result = await measure({ servers, postgres, data }, options);
    return { table: tableOf(result), result };
  } finally {
    for (const stop of stops.reverse()) await stop();
  }
}

interface Measurement {
  servers: Measured[];
  postgres: number;
  data: Data;
}

async function measure(
  measurement: Measurement,
  { rounds, onProgress }: Pick<ProcessesOptions, 'rounds' | 'onProgress'>,
): Promise<ProcessCost[]> {
  const measured = requests.flatMap((sent) =>
    counts.map((processes) => ({ ...sent, processes, api: [] as number[], postgres: [] as number[] })),
  );
  onProgress('warming up');
  for (let count = 0; count < warmUps; count++) {
    for (const sent of requests) await sendSome({ ...sent, processes: Math.max(...counts) }, measurement);
  }
  for (let round = 1; round <= rounds; round++) {
    onProgress(`round ${round} of ${rounds}`);
    // Alternates the order, because tables grow during a round.
    for (const each of round % 2 === 0 ? measured : measured.toReversed()) {
      const { api, postgres } = await sendSome(each, measurement);
      each.api.push(api);
      each.postgres.push(postgres);
    }
  }
  return measured.map(({ request, processes, api, postgres }) => {
    const base = measured.find((each) => each.request === request) as (typeof measured)[number];
    const sumOf = (each: typeof base, round: number) => (each.api[round] ?? 0) + (each.postgres[round] ?? 0);
    const own = { api, postgres } as typeof base;
    const ratio = median(api.map((_, round) => sumOf(own, round) / sumOf(base, round)));
    return { request, processes, apiUs: Math.round(median(api)), postgresUs: Math.round(median(postgres)), ratio };
  });
}

/**
 * Sends the requests of a round to the first processes in turn. Returns the CPU time per request, in microseconds.
 */
async function sendSome({ ask, processes }: Sent & { processes: number }, { servers, postgres, data }: Measurement) {
  const used = servers.slice(0, processes);
  const agent = new Agent({ keepAlive: true, maxSockets: concurrency / processes });
  const cpu = () => ({ api: used.reduce((sum, { pid }) => sum + cpuOf(pid), 0), postgres: cpuOfFamily(postgres) });
  const before = cpu();
  let place = 0;
  const work = async () => {
    while (place < perRound) {
      const { url } = used[place % used.length] as Measured;
      const authorization = `Bearer ${data.keys[place % data.keys.length]}`;
      const { method, path, body } = ask(data, place++);
      const headers = { authorization, 'content-type': 'application/json' };
      await send(new URL(`/api/public/v1${path}`, url), { agent, method, headers }, body && JSON.stringify(body));
    }
  };
  await Promise.all(Array.from({ length: concurrency }, work));
  agent.destroy();
  const after = cpu();
  return { api: (after.api - before.api) / perRound, postgres: (after.postgres - before.postgres) / perRound };
}

function tableOf(costs: ProcessCost[]): string {
  const lines = costs.map(({ request, processes, apiUs, postgresUs, ratio }) =>
    [
      request.padEnd(20),
      ...[processes, apiUs, postgresUs, apiUs + postgresUs, ratio.toFixed(2)].map((each) => String(each).padStart(12)),
    ].join(''),
  );
  const head = ['processes', 'API µs', 'PostgreSQL', 'sum µs', '× one'].map((each) => each.padStart(12)).join('');
  return `${''.padEnd(20)}${head}\n${lines.join('\n')}\n`;
}
