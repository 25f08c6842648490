import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { parseArgs } from 'node:util';

/* Runs the long forms of tests, of which `pnpm test` and `pnpm test:system` run short forms. */

interface Part {
  /** The arguments of pnpm. */
  args: string[];
  env?: Record<string, string>;
}

const parts: Record<string, Part> = {
  conformance: { args: ['test', 'openapi/conformance'], env: { CONFORMANCE_RUNS: '1000' } },
  answers: { args: ['test', 'api/request-form-answers'], env: { ANSWER_RUNS: '10000' } },
  calendars: { args: ['test', 'api/open-hours'], env: { CALENDAR_RUNS: '2000' } },
  names: { args: ['test', 'openapi/hostile-names'], env: { GENERATOR_DOCUMENTS: '100' } },
  packages: { args: ['test:release'] },
  runtimes: { args: ['test', 'client/package'] },
  image: { args: ['test', 'start/image'] },
  system: { args: ['test:system'] },
  upgrade: { args: ['test:release', 'upgrade'], env: { UPGRADE_REHEARSAL: 'yes' } },
  python: { args: ['bench', 'python'] },
  model: { args: ['model'] },
  faults: { args: ['faults'] },
  idempotency: { args: ['faults', 'idempotency'] },
  changes: { args: ['faults', 'changes'] },
  replay: { args: ['faults', 'replay'] },
  silence: { args: ['faults', 'silence'] },
  rolling: { args: ['faults', 'rolling'] },
  failover: { args: ['faults', 'failover'] },
  moves: { args: ['faults', 'moves'] },
  external: { args: ['external-checks'] },
};

const usage = `Runs the long forms of tests. Takes some hours without a name.

  pnpm test:nightly [${Object.keys(parts).join('|')} …]
`;

const { values, positionals } = parseArgs({ allowPositionals: true, options: { help: { type: 'boolean' } } });
const unknown = positionals.filter((name) => !(name in parts));
if (values.help || unknown.length > 0) {
  process.stderr.write(unknown.length > 0 ? `There is no part ${unknown.join(', ')}.\n\n${usage}` : usage);
  process.exit(unknown.length > 0 ? 2 : 0);
}

const failed: string[] = [];
for (const [name, { args, env }] of Object.entries(parts)) {
  if (positionals.length > 0 && !positionals.includes(name)) continue;
  process.stderr.write(`\n${name}\n`);
  const child = spawn('npx', ['-y', 'pnpm@12.21.0', ...args], {
    stdio: 'inherit',
    env: { ...process.env, NIGHTLY: 'true', ...env },
  });
  const [status] = await once(child, 'exit');
  if (status !== 0) failed.push(name);
}
process.stderr.write(failed.length === 0 ? '\nAll parts passed.\n' : `\nFailed: ${failed.join(', ')}\n`);
process.exitCode = failed.length === 0 ? 0 : 1;
