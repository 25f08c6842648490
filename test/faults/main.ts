import { parseArgs } from 'node:util';
import { formatChanges, isFollowed, runChanges } from './changes.ts';
import { type FailoverOptions, formatFailovers, isFailedOver, runFailovers } from './failover.ts';
import { type FaultReport, type Progress, runFaults } from './faults.ts';
import { formatFigures } from './figures.ts';
import { formatIdempotency, isMadeOnce, runIdempotency } from './idempotency.ts';
import { formatReplay, isSentAgain, runReplay } from './replay.ts';
import { formatRolling, isUnnoticed, type RollingOptions, runRolling } from './rolling.ts';
import { formatSilence, isSilenceSurvived, runSilence } from './silence.ts';

const usage = `Makes things fail that fail in production, and counts what becomes of requests and events.

  pnpm faults [--kills 200] [--events 10000] [--json]
      Kills API, worker and PostgreSQL at random moments, while tickets are written in every way, and subscriptions
      are paused and given new secrets.

  pnpm faults silence [--silences 3] [--rate 300] [--timeout 10000] [--json]
      Has all connections to PostgreSQL fall silent under so many requests per second; --timeout is
      STATEMENT_TIMEOUT_MS.

  pnpm faults idempotency [--creates 10000] [--kills 40] [--bulk 1] [--json]
      Has tickets made under an Idempotency-Key, --bulk a request, each request sent until it is answered, while answers
      are cut off and API and PostgreSQL are killed.

  pnpm faults rolling [--requests 10000] [--rate 100] [--drain 5] [--json]
      Restarts two API processes under so many requests per second, half of them through deploy/haproxy.cfg, half through
      a balancer that sends each request once; --drain is DRAIN_SECONDS. Then the same without a drain, once each:
      the run fails where that isn't noticed.

  pnpm faults replay [--deliveries 100000] [--kills 40] [--json]
      Has so many deliveries sent again by POST /webhooks/{id}/replay while two workers are killed.

  pnpm faults changes [--changes 100000] [--json]
      Follows GET /tickets/changes while eight write in transactions of random length and API and PostgreSQL are killed.

  pnpm faults failover [--failovers 20] [--rate 40] [--json]
      Loses the primary of two PostgreSQL servers under so many changes per second, by turns killed and silent, promotes
      its standby behind deploy/haproxy-postgresql.cfg, and has the lost one come back, and then be the standby. Every
      third time it is the standby that is lost. Then once where commits wait for no standby: the run fails where nothing
      is lost then.
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
  json: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
} as const;

interface Outcome {
  /** The text for a terminal. */
  table: string;
  /** The report for programs. */
  report: { crashes: string[] };
  good: boolean;
}

const { values, positionals } = parseArgs({ allowPositionals: true, options });

/** The faults of `pnpm faults` by their first argument. */
const faults: Record<string, () => Promise<Outcome>> = {
  kills: killAll,
  silence: fallSilent,
  rolling: restartInTurn,
  changes: follow,
  idempotency: makeOnce,
  replay: sendAgain,
  failover: failOver,
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
  const { lost, madeTwice, sentForUndone, unsigned, unexplained, unexpected, drainSeconds } = report;
  const wrong = [lost, madeTwice, sentForUndone, unsigned, unexplained, unexpected].flat();
  return wrong.length === 0 && drainSeconds !== null && drainSeconds <= 90;
}

function show({ kills, committed, arrivals, pending }: Progress): void {
  const waiting = pending === undefined ? '' : `, ${pending} pending`;
  process.stderr.write(`\r\x1b[K${kills} kills, ${committed} changes, ${arrivals} deliveries arrived${waiting}`);
}

async function fallSilent(): Promise<Outcome> {
  const report = await runSilence({
    statementTimeoutMs: Number(values.timeout),
    perSecond: Number(values.rate ?? 300),
    silences: Number(values.silences),
    onProgress: (text) => process.stderr.write(`${text}\n`),
  });
  return { table: formatSilence(report), report, good: isSilenceSurvived(report) };
}

async function makeOnce(): Promise<Outcome> {
  const report = await runIdempotency({
    creates: Number(values.creates),
    kills: Number(values.kills ?? 40),
    perRequest: Number(values.bulk),
    onProgress: (text) => process.stderr.write(`${text}\n`),
  });
  return { table: formatIdempotency(report), report, good: isMadeOnce(report) };
}

async function sendAgain(): Promise<Outcome> {
  const report = await runReplay({
    deliveries: Number(values.deliveries),
    kills: Number(values.kills ?? 40),
    betweenKills: 400,
    onProgress: (text) => process.stderr.write(`${text}\n`),
  });
  return { table: formatReplay(report), report, good: isSentAgain(report) };
}

async function restartInTurn(): Promise<Outcome> {
  const restart = (given: Pick<RollingOptions, 'requests' | 'drainSeconds'>) =>
    runRolling({
      ...given,
      perSecond: Number(values.rate ?? 100),
      onProgress: (text) => process.stderr.write(`${text}\n`),
    });
  const report = await restart({ requests: Number(values.requests), drainSeconds: Number(values.drain) });
  // The control run must fail. Otherwise the test could not detect lost requests.
  const control = await restart({ requests: 0, drainSeconds: 0 });
  const both = { ...report, control };
  return {
    table: `${formatRolling(report)}\n  The same without a drain, where requests must fail:\n${formatRolling(control)}`,
    report: both,
    good: isUnnoticed(report) && !isUnnoticed(control),
  };
}

async function follow(): Promise<Outcome> {
  const report = await runChanges({
    changes: Number(values.changes),
    betweenKills: 10_000,
    onProgress: (text) => process.stderr.write(`${text}\n`),
  });
  return { table: formatChanges(report), report, good: isFollowed(report) };
}

async function failOver(): Promise<Outcome> {
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
  // The control run must lose data. Otherwise the test could not detect a loss.
  const control = await lose({ losses: ['killed'], synchronous: false });
  const both = { ...report, control };
  return {
    table: `${formatFailovers(report)}\n  The same where commits wait for nobody, and writes must be lost:\n${formatFailovers(control)}`,
    report: both,
    good: isFailedOver(report) && control.lost.length > 0,
  };
}

const run = faults[positionals[0] ?? 'kills'];
if (values.help || run === undefined) {
  process.stdout.write(usage);
  process.exitCode = values.help ? 0 : 1;
} else {
  // An exit stops the processes that were started here.
  process.once('SIGINT', () => process.exit(130)).once('SIGTERM', () => process.exit(143));
  const { table, report, good } = await run();
  process.stdout.write(values.json ? `${JSON.stringify(report, null, 2)}\n` : table);
  for (const crash of report.crashes) process.stderr.write(`\nA server process ended by itself:\n${crash}\n`);
  process.exitCode = good ? 0 : 1;
}
