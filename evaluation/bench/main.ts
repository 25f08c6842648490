import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { benchApi } from './api/api.ts';
import { tablesOf, writeReport } from './api/report.ts';
import { benchFairness } from './fairness/fairness.ts';
import { benchPacing } from './pacing.ts';
import { benchProcess } from './process.ts';
import { benchPython } from './python-client.ts';
import { benchRestore } from './restore.ts';
import { benchSizes } from './sizes.ts';
import { benchSlowest } from './slowest/slowest.ts';
import { benchCapacity } from './soak/capacity.ts';
import { benchSoak } from './soak/soak.ts';
import { benchWebhooks } from './webhooks.ts';
import { benchWrites } from './writes.ts';

const usage = `pnpm bench [--tickets 10k|1m|10m] [--data folder to keep] [--rounds count] [--seconds of a round] [--json]
pnpm bench capacity [--only maximum,example] [--minutes 10] [--tickets 200k] [--json]
pnpm bench fairness [--tickets 1m] [--rounds count] [--seconds of a part of a round] [--only load,load]
    [--profile folder] [--json]
pnpm bench pacing [--creates 200] [--clients 1] [--limit 30] [--window 60] [--json]
pnpm bench process [--tickets 100k] [--rounds count] [--seconds of a load] [--json]
pnpm bench python [--json]
pnpm bench restore [--tickets 1m] [--creates 50000] [--json]
pnpm bench sizes --data folder that is kept [--tickets 10k] [--rounds count] [--seconds of a round] [--json]
pnpm bench slowest [--tickets 10m] [--data folder to keep] [--seed 1] [--only kind,kind] [--json]
pnpm bench soak [--minutes 60] [--rate per second] [--tickets 200k] [--json]
pnpm bench webhooks [--only part,part] [--profile folder] [--json]
pnpm bench writes [--tickets 200k] [--rounds count] [--json]

See evaluation/bench/README.md.
`;

const options = {
  json: { type: 'boolean', default: false },
  tickets: { type: 'string' },
  data: { type: 'string' },
  rate: { type: 'string' },
  rounds: { type: 'string', default: '5' },
  seconds: { type: 'string' },
  only: { type: 'string' },
  creates: { type: 'string' },
  clients: { type: 'string', default: '1' },
  minutes: { type: 'string' },
  limit: { type: 'string', default: '30' },
  window: { type: 'string', default: '60' },
  profile: { type: 'string' },
  seed: { type: 'string', default: '1' },
} as const;

interface Printed {
  /** The results as text for a terminal. */
  table: string;
  /** The results as JSON for programs. */
  result: unknown;
  /** False if a result exceeds its limit. */
  good?: boolean;
}

const { values, positionals } = parseArgs({ allowPositionals: true, options });
const onProgress = (text: string) => process.stderr.write(`${text}\n`);

/** The benchmarks. The first argument of `pnpm bench` selects a benchmark. */
const benches: Record<string, () => Promise<Printed>> = {
  api: measureApi,
  capacity: () =>
    benchCapacity({
      minutes: Number(values.minutes ?? '10'),
      tickets: countOf('tickets', values.tickets ?? '200k'),
      only: values.only?.split(','),
      onProgress,
    }),
  fairness: measureFairness,
  pacing: measurePacing,
  process: () => benchProcess({ ...sizesOf({ tickets: '100k', seconds: '10' }), onProgress }),
  python: benchPython,
  restore: () =>
    benchRestore({
      tickets: countOf('tickets', values.tickets ?? '1m'),
      creates: Number(values.creates ?? '50000'),
      onProgress,
    }),
  sizes: () => {
    const { data } = values;
    if (data === undefined) throw new Error('--data must be a folder that `pnpm bench --tickets 10m --data` has kept.');
    const { tickets, ...sizes } = sizesOf({ tickets: '10k', seconds: '4' });
    return inFolder((fewDir) => benchSizes({ ...sizes, few: tickets, fewDir, manyDir: resolve(data), onProgress }));
  },
  slowest: measureSlowest,
  soak: () =>
    benchSoak({
      minutes: Number(values.minutes ?? '60'),
      perSecond: values.rate === undefined ? undefined : Number(values.rate),
      tickets: countOf('tickets', values.tickets ?? '200k'),
      onProgress,
    }),
  webhooks: () => benchWebhooks({ only: values.only?.split(','), profile: values.profile, onProgress }),
  writes: () =>
    inFolder((dataDir) => benchWrites({ ...sizesOf({ tickets: '200k', seconds: '1' }), dataDir, onProgress })),
};

async function measureApi(): Promise<Printed> {
  const sizes = sizesOf({ tickets: '10k', seconds: '3' });
  const measure = async (dataDir: string) => {
    const result = await benchApi({ ...sizes, dataDir, onProgress });
    await writeReport(result);
    return { table: tablesOf(result), result };
  };
  return values.data === undefined ? inFolder(measure) : measure(resolve(values.data));
}

async function measureFairness(): Promise<Printed> {
  const sizes = sizesOf({ tickets: '1m', seconds: '10' });
  return inFolder((dataDir) =>
    benchFairness({ ...sizes, dataDir, only: values.only?.split(','), profile: values.profile, onProgress }),
  );
}

function measurePacing(): Promise<Printed> {
  const { creates = '200', clients, limit, window } = values;
  return benchPacing({
    creates: Number(creates),
    clients: Number(clients),
    limit: Number(limit),
    windowSeconds: Number(window),
  });
}

async function measureSlowest(): Promise<Printed> {
  const { data, only } = values;
  const tickets = countOf('tickets', values.tickets ?? '10m');
  const measure = (dataDir: string) =>
    benchSlowest({ dataDir, tickets, seed: Number(values.seed), only: only?.split(','), onProgress });
  return data === undefined ? inFolder(measure) : measure(resolve(data));
}

/**
 * Returns the number of tickets, rounds and seconds from the command-line options. Missing options get the benchmark's
 * default values.
 */
function sizesOf(usual: { tickets: string; seconds: string }): { tickets: number; rounds: number; seconds: number } {
  const { tickets = usual.tickets, seconds = usual.seconds, rounds } = values;
  return { tickets: countOf('tickets', tickets), rounds: Number(rounds), seconds: Number(seconds) };
}

/** Parses a count such as `10k` or `1m`. */
function countOf(option: string, text: string): number {
  const [, count, unit = ''] = /^(\d+)([km]?)$/.exec(text) ?? [];
  if (count === undefined) throw new Error(`--${option}: must be a number such as 10k or 10m, not ${text}`);
  return Number(count) * (unit === 'k' ? 1000 : unit === 'm' ? 1_000_000 : 1);
}

/** Runs a benchmark with a temporary folder for PostgreSQL, and removes the folder afterwards. */
async function inFolder<Result>(measure: (dataDir: string) => Promise<Result>): Promise<Result> {
  const folder = await mkdtemp(join(tmpdir(), 'itsm-bench-'));
  // If root runs the benchmark, PostgreSQL runs as another user, which needs access to the folder.
  await chmod(folder, 0o755);
  try {
    return await measure(join(folder, 'data'));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const bench = benches[positionals[0] ?? 'api'];
if (bench === undefined) {
  process.stderr.write(usage);
  process.exitCode = 1;
} else {
  // `process.exit` runs the exit handlers, which stop the processes that the benchmark started.
  process.once('SIGINT', () => process.exit(130)).once('SIGTERM', () => process.exit(143));
  const { table, result, good = true } = await bench();
  process.stdout.write(values.json ? `${JSON.stringify(result, null, 2)}\n` : table);
  process.exitCode = good ? 0 : 1;
}
