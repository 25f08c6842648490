import { parseArgs } from 'node:util';
import { type FaultReport, type Progress, runFaults } from './faults.ts';
import { formatFigures } from './figures.ts';

const usage = `Kills API, worker and PostgreSQL at random moments and counts what becomes of the events.

  pnpm faults [--kills 200] [--events 10000] [--json]
`;

/** Resolves to whether all is as it must be. */
function isGood({ lost, sentForUndone, unexplained, drainSeconds }: FaultReport): boolean {
  return lost.length + sentForUndone.length + unexplained.length === 0 && drainSeconds !== null && drainSeconds <= 90;
}

function show({ kills, committed, arrivals, pending }: Progress): void {
  const waiting = pending === undefined ? '' : `, ${pending} pending`;
  process.stderr.write(`\r\x1b[K${kills} kills, ${committed} changes, ${arrivals} deliveries arrived${waiting}`);
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      kills: { type: 'string', default: '200' },
      events: { type: 'string', default: '10000' },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    process.stdout.write(usage);
    return;
  }
  // An exit lets what was started here be ended.
  process.once('SIGINT', () => process.exit(130)).once('SIGTERM', () => process.exit(143));
  const report = await runFaults({
    kills: Number(values.kills),
    events: Number(values.events),
    betweenKills: 3000,
    ...(process.stderr.isTTY && { onProgress: show }),
  });
  if (process.stderr.isTTY) process.stderr.write('\r\x1b[K');
  process.stdout.write(values.json ? `${JSON.stringify(report, null, 2)}\n` : formatFigures(report));
  for (const crash of report.crashes) process.stderr.write(`\nA server process ended by itself:\n${crash}\n`);
  process.exitCode = isGood(report) ? 0 : 1;
}

await main();
