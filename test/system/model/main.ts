import { parseArgs } from 'node:util';
import { formatModel, runModel } from './run.ts';

const usage = `Compares the server with an in-memory model of the specification and the decisions. Eight clients run random commands in
three workspaces, while the API, the worker and PostgreSQL are killed and notifications are dropped.

  pnpm model [--commands 20000] [--seed 0] [--shrink 120] [--json]
      --seed is the first episode of 2,000 commands. --shrink is the number of seconds to shrink a failing history.
`;

const options = {
  commands: { type: 'string', default: '20000' },
  seed: { type: 'string', default: '0' },
  shrink: { type: 'string', default: '120' },
  json: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
} as const;

const { values } = parseArgs({ options });
if (values.help) {
  process.stdout.write(usage);
} else {
  // `process.exit` runs the exit handlers, which stop the processes that the run started.
  process.once('SIGINT', () => process.exit(130)).once('SIGTERM', () => process.exit(143));
  const report = await runModel({
    commands: Number(values.commands),
    seed: Number(values.seed),
    shrinkFor: Number(values.shrink) * 1000,
    onProgress: ({ commands, requests, failures, findings, seconds }) => {
      const figures = `${commands} commands, ${requests} requests, ${failures} failures, ${findings} findings`;
      process.stderr.write(`${seconds.toFixed(0).padStart(6)} s  ${figures}\n`);
    },
  });
  process.stdout.write(values.json ? `${JSON.stringify(report, null, 2)}\n` : formatModel(report));
  for (const crash of report.crashes) process.stderr.write(`\nA server process ended unexpectedly:\n${crash}\n`);
  process.exitCode = report.findings.length + report.crashes.length === 0 ? 0 : 1;
}
