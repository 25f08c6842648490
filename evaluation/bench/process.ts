import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { median } from '../../test/support/percentiles.ts';
import { pnpmCommand } from '../../test/support/pnpm.ts';
import { openPostgres, steadyPort } from '../../test/support/postgres-server.ts';
import { dataDir, migratedDataDir, stopStarted } from '../../test/support/start-process.ts';
import { v8Options } from '../../testing/src/v8-options.ts';
import { type Data, loadData } from './api/data.ts';
import { combinations, filterValues } from './api/filters.ts';
import { startServer, stopAtExit, webhookSecretKey } from './api/servers.ts';
import { cpuOf, cpuOfChildren, cpuOfTree, residentOf } from './api/usage.ts';
import { type ClientJob, runClient } from './fairness/client.ts';
import { describeRun, writeSection } from './performance-page.ts';

interface Options {
  tickets: number;
  rounds: number;
  /** The length of each load in seconds. */
  seconds: number;
  onProgress: (text: string) => void;
}

/** The time until a program has done its work, and the CPU time of all its processes, in seconds. */
interface Start {
  name: string;
  seconds: number;
  cpuSeconds: number;
}

/** The memory of a server in MB, and its CPU time. */
interface Memory {
  /** The resident memory of the idle server, and the sizes of the young and the old generation of its heap. */
  idle: number;
  young: number;
  old: number;
  /** The resident memory after ticket lists over 16 connections. */
  lists: number;
  /** The resident memory after reads over 1,000 connections. All database connections for requests are in use. */
  connections: number;
  /** The CPU time of the process for a ticket list, in milliseconds. */
  cpuMs: number;
}

const root = fileURLToPath(new URL('../..', import.meta.url));
/** The time in milliseconds after which a started server is idle. */
const settleMs = 10_000;

/** The options that make a server fit into a container of 256 MB. */
const smallOptions = ['--max-semi-space-size=2', '--max-old-space-size=128'];

/** The options of V8 for each measured server. */
const variants: Record<string, string[]> = {
  'as shipped': v8Options,
  ...Object.fromEntries(
    v8Options.map((option) => [`without \`${option}\``, v8Options.filter((other) => other !== option)]),
  ),
  'with `--max-semi-space-size=16`': [...v8Options, '--max-semi-space-size=16'],
  'with `--max-semi-space-size=8`': [...v8Options, '--max-semi-space-size=8'],
  [`with \`${smallOptions.join(' ')}\``]: [...v8Options, ...smallOptions],
};

/** Measures starts, and the memory of a server with different options of V8 (evaluation/bench/README.md). */
export async function benchProcess(
  options: Options,
): Promise<{ table: string; result: { starts: Start[]; memory: Record<string, Memory> } }> {
  const { onProgress, rounds } = options;
  const postgres = await openPostgres({ shared_buffers: '512MB' });
  try {
    const data = await loadData(postgres.url, options.tickets, onProgress);
    const starts = await measureStarts(postgres.url, options);
    const runs: Record<string, Memory[]> = Object.fromEntries(Object.keys(variants).map((name) => [name, []]));
    for (let round = 1; round <= rounds; round++) {
      for (const [name, nodeOptions] of Object.entries(variants)) {
        onProgress(`round ${round} of ${rounds}: ${name}`);
        runs[name]?.push(await measureMemory({ databaseUrl: postgres.url, nodeOptions, data, ...options }));
      }
    }
    const memory = Object.fromEntries(Object.entries(runs).map(([name, each]) => [name, mediansOf(each)]));
    await writeSection('Starts and memory', sectionOf(starts, memory));
    return { table: tableOf(starts, memory), result: { starts, memory } };
  } finally {
    await postgres.remove();
  }
}

function mediansOf(runs: Memory[]): Memory {
  const names = Object.keys(runs[0] ?? {}) as (keyof Memory)[];
  return Object.fromEntries(names.map((name) => [name, median(runs.map((run) => run[name]))])) as unknown as Memory;
}

/** Measures the starts in turn. The first round isn't counted, because it fills the caches. */
async function measureStarts(databaseUrl: string, { rounds, onProgress }: Options): Promise<Start[]> {
  const [pnpm, ...first] = pnpmCommand;
  const serverFile = ['server/src/main.ts'];
  const programs: Record<string, () => Promise<Omit<Start, 'name'>>> = {
    '`pnpm start` to the first 200': async () =>
      untilFirstResponse([pnpm, ...first, 'start'], { DATA_DIR: await migratedDataDir() }),
    'server with its own PostgreSQL to the first 200': async () =>
      untilFirstResponse([process.execPath, ...v8Options, ...serverFile], { DATA_DIR: await migratedDataDir() }),
    'server with `DATABASE_URL` to the first 200': () =>
      untilFirstResponse([process.execPath, ...v8Options, ...serverFile], { DATABASE_URL: databaseUrl }),
    '`./itsm keys list --tenant 1`': () => untilExit(['./itsm', 'keys', 'list', '--tenant', '1'], databaseUrl),
  };
  const runs: Start[] = [];
  for (let round = 0; round <= rounds; round++) {
    for (const [name, run] of Object.entries(programs)) {
      onProgress(`starts, round ${round} of ${rounds}: ${name}`);
      const measured = { name, ...(await run()) };
      if (round > 0) runs.push(measured);
    }
  }
  await stopStarted();
  return Object.keys(programs).map((name) => {
    const own = runs.filter((run) => run.name === name);
    const middle = (of: (run: Start) => number) => median(own.map(of));
    return { name, seconds: middle(({ seconds }) => seconds), cpuSeconds: middle(({ cpuSeconds }) => cpuSeconds) };
  });
}

function spawnProgram([file = '', ...args]: string[], env: Record<string, string>): ChildProcess {
  const child = spawn(file, args, {
    cwd: root,
    env: { ...process.env, WEBHOOK_SECRET_KEY: webhookSecretKey, ...env },
    stdio: 'ignore',
    // The signal that ends the program then reaches all its processes.
    detached: true,
  });
  stopAtExit(child);
  return child;
}

async function untilFirstResponse(command: string[], env: Record<string, string>): Promise<Omit<Start, 'name'>> {
  const port = String(await steadyPort());
  const [attachments, began] = [await dataDir(), performance.now()];
  const child = spawnProgram(command, { PORT: port, ATTACHMENTS_DIR: attachments, DRAIN_SECONDS: '0', ...env });
  const isUp = () =>
    fetch(`http://127.0.0.1:${port}/api/public/v1/ping`).then(
      ({ status }) => status === 200,
      () => false,
    );
  while (!(await isUp())) {
    if (child.exitCode !== null) throw new Error(`${command.join(' ')} exited with ${child.exitCode}.`);
    await sleep(10);
  }
  const seconds = (performance.now() - began) / 1000;
  const cpuSeconds = cpuOfTree(child.pid ?? 0) / 1e6;
  const exited = once(child, 'exit');
  process.kill(-(child.pid ?? 0), 'SIGTERM');
  await exited;
  return { seconds, cpuSeconds };
}

async function untilExit(command: string[], databaseUrl: string): Promise<Omit<Start, 'name'>> {
  const [began, cpuBefore] = [performance.now(), cpuOfChildren(process.pid)];
  const [code] = await once(spawnProgram(command, { DATABASE_URL: databaseUrl }), 'exit');
  if (code !== 0) throw new Error(`${command.join(' ')} exited with ${code}.`);
  return { seconds: (performance.now() - began) / 1000, cpuSeconds: (cpuOfChildren(process.pid) - cpuBefore) / 1e6 };
}

async function measureMemory({
  databaseUrl,
  nodeOptions,
  data,
  seconds,
}: Pick<Options, 'seconds'> & { databaseUrl: string; nodeOptions: string[]; data: Data }): Promise<Memory> {
  const operationsPort = await steadyPort();
  const server = await startServer('api', databaseUrl, {
    v8Options: nodeOptions,
    env: { OPERATIONS_PORT: String(operationsPort) },
  });
  try {
    await sleep(settleMs);
    const idle = residentOf(server.pid);
    const { young, old } = await readGenerations(operationsPort);
    const job = { url: server.url, seconds };
    const cpuBefore = cpuOf(server.pid);
    const sent = await send({ ...job, connections: 16, requests: listsOf(data) });
    const cpuMs = (cpuOf(server.pid) - cpuBefore) / 1000 / sent;
    const lists = residentOf(server.pid);
    const paths = data.ticketIds.slice(0, 500).map((id) => `/tickets/${id}`);
    await send({ ...job, connections: 1000, requests: requestsOf(paths, data) });
    return { idle, young, old, lists, connections: residentOf(server.pid), cpuMs };
  } finally {
    await server.stop();
  }
}

/** Returns the sizes of the generations of the heap in MB. */
async function readGenerations(operationsPort: number): Promise<Pick<Memory, 'young' | 'old'>> {
  const text = await (await fetch(`http://127.0.0.1:${operationsPort}/metrics`)).text();
  const sizeOf = (space: string) => {
    const size = new RegExp(`^nodejs_heap_space_size_total_bytes\\{space="${space}"[^}]*\\} (.+)$`, 'm').exec(
      text,
    )?.[1];
    if (size === undefined) throw new Error(`/metrics has no size of the heap space ${space}.`);
    return Math.round(Number(size) / 2 ** 20);
  };
  return { young: sizeOf('new'), old: sizeOf('old') };
}

/**
 * Sends requests. With many connections, the server rejects some of them.
 * @returns the number of successful responses
 */
async function send(job: ClientJob): Promise<number> {
  const { statuses } = await runClient(job);
  const { 200: succeeded = 0, 429: _rejected, ...others } = statuses;
  if (Object.keys(others).length > 0) throw new Error(`Requests failed: ${JSON.stringify(others)}.`);
  return succeeded;
}

/** Returns pages of 100 tickets, with one and with several values for each combination of filters, and with words. */
function listsOf(data: Data): ClientJob['requests'] {
  const names = Object.keys(filterValues) as (keyof typeof filterValues)[];
  const queries = combinations(names).flatMap((chosen) =>
    [0, 1].map((which) => chosen.map((name) => `${name}=${filterValues[name][which]}`).join('&')),
  );
  const words = ['connection', 'floors', 'minutes'].map((word) => `q=${word}`);
  const paths = [...queries, ...words].map((query, i) => `/tickets?${query}&perPage=100&page=${1 + (i % 3)}`);
  return requestsOf(paths, data);
}

function requestsOf(paths: string[], { keys }: Data): ClientJob['requests'] {
  return paths.map((path) => ({ method: 'GET', path, keys }));
}

function sectionOf(starts: Start[], memory: Record<string, Memory>): string {
  return `\`pnpm bench process\` measures starts, and the memory of a server with different options of V8
([method](../evaluation/bench/README.md#starts-and-memory)). This run was ${describeRun()}:

${tableOf(starts, memory)}
The young generation of the heap contains new objects. A larger one needs more memory, and less CPU time for garbage
collections. \`--max-semi-space-size\` limits it to twice this number of MB. For a container with 256 MB, set
\`NODE_OPTIONS='${smallOptions.join(' ')}'\`. Requests then need more CPU time.`;
}

function tableOf(starts: Start[], memory: Record<string, Memory>): string {
  const started = starts.map(
    ({ name, seconds, cpuSeconds }) => `| ${name} | ${seconds.toFixed(1)} | ${cpuSeconds.toFixed(1)} |`,
  );
  const rows = Object.entries(memory).map(
    ([name, { idle, young, old, lists, connections, cpuMs }]) =>
      `| ${[name, idle, young, old, lists, connections, cpuMs.toFixed(2)].join(' | ')} |`,
  );
  return [
    '| start | seconds | CPU seconds |',
    '| --- | ---: | ---: |',
    ...started,
    '',
    '| options of V8 | idle MB | young MB | old MB | lists MB | 1,000 connections MB | CPU ms of a list |',
    '| --- | ---: | ---: | ---: | ---: | ---: | ---: |',
    ...rows,
    '',
  ].join('\n');
}
