import { parseArgs } from 'node:util';
import { formatChanges, isCopyComplete, runChanges } from './changes.ts';
import { type FailoverOptions, formatFailovers, isFailedOver, runFailovers } from './failover.ts';
import { type FaultReport, type Progress, runFaults } from './faults.ts';
import { formatFigures } from './figures.ts';
import { formatIdempotency, isCreatedOnce, runIdempotency } from './idempotency.ts';
import { commands } from './moves/commands.ts';
import { runMoves } from './moves/moves.ts';
import { formatMoves, isUnnoticed } from './moves/report.ts';
import { recordRun } from './record.ts';
import { formatReplay, isReplayed, runReplay } from './replay.ts';
import { formatRolling, hasNoFailures, type RollingOptions, runRolling } from './rolling.ts';
import { formatSilence, isWithinLimits, runSilence } from './silence.ts';

const usage = `Causes faults that occur in production, and checks requests, events and deliveries. With --record,
writes the results to docs/measurements.md.

  pnpm faults [--kills 200] [--events 10000] [--json]
      Kills the API, the worker and PostgreSQL at random times, while clients write tickets, pause subscriptions and
      replace their secrets.

  pnpm faults silence [--silences 3] [--rate 300] [--timeout 10000] [--json]
      Silences all connections to PostgreSQL at --rate requests per second. --timeout is STATEMENT_TIMEOUT_MS.

  pnpm faults idempotency [--creates 10000] [--kills 40] [--bulk 1] [--json]
      Creates tickets with an Idempotency-Key, --bulk per request, and repeats each request until it gets a response,
      while responses are dropped and the API and PostgreSQL are killed.

  pnpm faults rolling [--requests 10000] [--rate 100] [--drain 5] [--json]
      Restarts two API processes at --rate requests per second, half of them through deploy/haproxy.cfg, half through a
      balancer without retries. --drain is DRAIN_SECONDS. Then restarts each once without a drain: the run fails if no
      request fails there.

  pnpm faults replay [--deliveries 100000] [--kills 40] [--json]
      Replays deliveries by POST /webhooks/{id}/replay while two workers are killed.

  pnpm faults changes [--changes 100000] [--json]
      Follows GET /tickets/changes while eight writers run transactions of random length and the API and PostgreSQL are
      killed.

  pnpm faults failover [--failovers 20] [--rate 40] [--json]
      Kills or freezes the primary of two PostgreSQL servers at --rate changes per second, promotes its standby behind
      deploy/haproxy-postgresql.cfg, and makes the old primary the standby. Every third time, kills the standby. Then
      runs once with asynchronous commits: the run fails if no data is lost there.

  pnpm faults moves [--tenants 200] [--moves 20] [--rate 20] [--json]
      Moves tenants between two cells behind deploy/cells.cfg while clients of all tenants create and update tickets,
      --rate per second. Kills one command of each move, and runs it again.
`;

const options = {
  kills: { type: 'string' },
  creates: { type: 'string', default: '10000' },
  bulk: { type: 'string', default: '1' },
  events: { type: 'string', default: '10000' },
  silences: { type: 'string', default: '3' },
  rate: { type: 'string' },
  timeout: { type: 'string', default: '10000' },
  requests: { type: 'string', default: '10000' },
  drain: { type: 'string', default: '5' },
  deliveries: { type: 'string', default: '100000' },
  changes: { type: 'string', default: '100000' },
  failovers: { type: 'string', default: '20' },
  tenants: { type: 'string', default: '200' },
  moves: { type: 'string', default: '20' },
  json: { type: 'boolean', default: false },
  record: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
} as const;

interface Outcome {
  /** The results as text for a terminal. */
  table: string;
  /** The results as JSON for programs. */
  report: { crashes: string[] };
  good: boolean;
}

const { values, positionals } = parseArgs({ allowPositionals: true, options });

/** The tests. The first argument of `pnpm faults` selects a test. */
const faults: Record<string, () => Promise<Outcome>> = {
  kills: killAll,
  silence: testSilence,
  rolling: testRollingRestart,
  changes: testChangeFeed,
  idempotency: testIdempotency,
  replay: testReplay,
  failover: testFailover,
  moves: testMoves,
};

async function killAll(): Promise<Outcome> {
  const report = await runFaults({
    kills: Number(values.kills ?? 200),
    events: Number(values.events),
    betweenKills: 3000,
    ...(process.stderr.isTTY && { onProgress: show }),
  });
  if (process.stderr.isTTY) process.stderr.write('\r\x1b[K');
  return { table: formatFigures(report), report, good: isGood(report) };
}

function isGood(report: FaultReport): boolean {
  const { lost, createdTwice, falseDeliveries, unsigned, unexplained, unexpected, drainSeconds } = report;
  const wrong = [lost, createdTwice, falseDeliveries, unsigned, unexplained, unexpected].flat();
  return wrong.length === 0 && drainSeconds !== null && drainSeconds <= 90;
}

function show({ kills, committed, arrivals, pending }: Progress): void {
  const waiting = pending === undefined ? '' : `, ${pending} pending`;
  process.stderr.write(`\r\x1b[K${kills} kills, ${committed} changes, ${arrivals} deliveries arrived${waiting}`);
}

async function testSilence(): Promise<Outcome> {
  const report = await runSilence({
    statementTimeoutMs: Number(values.timeout),
    perSecond: Number(values.rate ?? 300),
    silences: Number(values.silences),
    onProgress: (text) => process.stderr.write(`${text}\n`),
  });
  return { table: formatSilence(report), report, good: isWithinLimits(report) };
}

async function testIdempotency(): Promise<Outcome> {
  const report = await runIdempotency({
    creates: Number(values.creates),
    kills: Number(values.kills ?? 40),
    perRequest: Number(values.bulk),
    onProgress: (text) => process.stderr.write(`${text}\n`),
  });
  return { table: formatIdempotency(report), report, good: isCreatedOnce(report) };
}

async function testReplay(): Promise<Outcome> {
  const report = await runReplay({
    deliveries: Number(values.deliveries),
    kills: Number(values.kills ?? 40),
    betweenKills: 400,
    onProgress: (text) => process.stderr.write(`${text}\n`),
  });
  return { table: formatReplay(report), report, good: isReplayed(report) };
}

async function testRollingRestart(): Promise<Outcome> {
  const restart = (given: Pick<RollingOptions, 'requests' | 'drainSeconds'>) =>
    runRolling({
      ...given,
      perSecond: Number(values.rate ?? 100),
      onProgress: (text) => process.stderr.write(`${text}\n`),
    });
  const report = await restart({ requests: Number(values.requests), drainSeconds: Number(values.drain) });
  // Requests must fail in the control run. Otherwise, the test could not detect lost requests.
  const control = await restart({ requests: 0, drainSeconds: 0 });
  const both = { ...report, control };
  return {
    table: `${formatRolling(report)}\n  Control run without a drain, in which requests must fail:\n${formatRolling(control)}`,
    report: both,
    good: hasNoFailures(report) && !hasNoFailures(control),
  };
}

async function testChangeFeed(): Promise<Outcome> {
  const report = await runChanges({
    changes: Number(values.changes),
    betweenKills: 10_000,
    onProgress: (text) => process.stderr.write(`${text}\n`),
  });
  return { table: formatChanges(report), report, good: isCopyComplete(report) };
}

async function testFailover(): Promise<Outcome> {
  const lose = (given: Pick<FailoverOptions, 'losses' | 'synchronous'>) =>
    runFailovers({
      ...given,
      perSecond: Number(values.rate ?? 40),
      calmMs: 5000,
      noticeMs: 3000,
      readOnlyMs: 1000,
      onProgress: (text) => process.stderr.write(`${text}\n`),
    });
  const inTurn = ['killed', 'silent', 'standby'] as const;
  const losses = Array.from({ length: Number(values.failovers) }, (_, i) => inTurn[i % 3] ?? 'killed');
  const report = await lose({ losses, synchronous: true });
  // The control run must lose data. Otherwise, the test could not detect lost data.
  const control = await lose({ losses: ['killed'], synchronous: false });
  const both = { ...report, control };
  return {
    table: `${formatFailovers(report)}\n  Control run with asynchronous commits, which must lose writes:\n${formatFailovers(control)}`,
    report: both,
    good: isFailedOver(report) && control.lost.length > 0,
  };
}

async function testMoves(): Promise<Outcome> {
  const report = await runMoves({
    tenants: Number(values.tenants),
    largest: 20_000,
    moves: Array.from({ length: Number(values.moves) }, (_, i) => [commands[i % commands.length] ?? 'export']),
    perSecond: Number(values.rate ?? 20),
    isWaitShortened: false,
    onProgress: (text) => process.stderr.write(`${text}\n`),
  });
  return { table: formatMoves(report), report, good: isUnnoticed(report) };
}

const run = faults[positionals[0] ?? 'kills'];
if (values.help || run === undefined) {
  process.stdout.write(usage);
  process.exitCode = values.help ? 0 : 1;
} else {
  // `process.exit` runs the exit handlers, which stop the processes that the test started.
  process.once('SIGINT', () => process.exit(130)).once('SIGTERM', () => process.exit(143));
  const { table, report, good } = await run();
  process.stdout.write(values.json ? `${JSON.stringify(report, null, 2)}\n` : table);
  const name = positionals[0] ?? 'kills';
  const command = ['pnpm', 'faults', ...process.argv.slice(2).filter((each) => each !== '--record')].join(' ');
  if (values.record && good) await recordRun(name, command, table);
  for (const crash of report.crashes) process.stderr.write(`\nA server process ended unexpectedly:\n${crash}\n`);
  process.exitCode = good ? 0 : 1;
}
