import { execFileSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { firstStart } from '../support/first-start.ts';
import type { Judge, Product } from './judge.ts';
import { attw } from './judges/attw.ts';
import { cloudEvents } from './judges/cloud-events.ts';
import { openapiFetch, orval } from './judges/generated-clients.ts';
import { htmlValidate, linkinator } from './judges/html.ts';
import { mcpConformance } from './judges/mcp-conformance.ts';
import { ibm, owasp, redocly } from './judges/openapi.ts';
import { perl } from './judges/openapi-client-perl.ts';
import { portman } from './judges/portman.ts';
import { structuredHeaders } from './judges/structured-headers.ts';
import { type Outcome, reportFile, toMarkdown, toTable, unexpectedOf } from './report.ts';

/*
 * Runs judges that others wrote, and prints what they find: `pnpm yardsticks [--only judge,judge] [--json]`
 * A run of all judges writes docs/yardsticks.md. The command fails if a judge finds more than exceptions.ts allows.
 */
const judges: Record<string, Judge> = {
  redocly,
  ibm,
  owasp,
  portman,
  perl,
  orval,
  'openapi-fetch': openapiFetch,
  cloudevents: cloudEvents,
  'mcp-conformance': mcpConformance,
  'structured-headers': structuredHeaders,
  'html-validate': htmlValidate,
  linkinator,
  attw,
};

const { values } = parseArgs({ options: { only: { type: 'string' }, json: { type: 'boolean', default: false } } });
const names = values.only?.split(',') ?? Object.keys(judges);
const unknown = names.filter((name) => judges[name] === undefined);
if (unknown.length > 0) throw new Error(`Unknown judge ${unknown.join()}. Use: ${Object.keys(judges).join(', ')}`);

const onProgress = (text: string) => process.stderr.write(text);

onProgress('Installing the judges …\n');
// The scripts of these packages only download programs that no judge needs.
execFileSync('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'], {
  cwd: import.meta.dirname,
  stdio: ['ignore', 'ignore', 'inherit'],
});

onProgress('Starting a server …\n');
const unlimited = '1000000000';
const server = await firstStart({
  ...{ RATE_LIMIT_GLOBAL: unlimited, RATE_LIMIT_GROUP: unlimited, RATE_LIMIT_PAGES: unlimited },
});
let output: string | undefined;
server.exited.then((text) => (output = text));
const outcomes: Outcome[] = [];
try {
  for (const [index, name] of names.entries()) {
    const judge = judges[name] as Judge;
    onProgress(`${index + 1}/${names.length} ${judge.name} …`);
    const startedAt = performance.now();
    outcomes.push(await judgeProduct(judge, server));
    if (output !== undefined) throw new Error(`The server ended during ${name}:\n${output}`);
    onProgress(` ${((performance.now() - startedAt) / 1000).toFixed(1)} s\n`);
  }
} finally {
  await server.stop();
}

process.stdout.write(values.json ? `${JSON.stringify(outcomes, undefined, 2)}\n` : toTable(outcomes));
if (values.only === undefined) await writeFile(join(import.meta.dirname, reportFile), toMarkdown(outcomes, new Date()));
const unexpected = unexpectedOf(outcomes);
for (const line of unexpected) process.stderr.write(`${line}\n`);
process.exitCode = unexpected.length === 0 ? 0 : 1;

/** Runs a judge. If it can't run, the outcome contains the error instead of a result. */
async function judgeProduct(judge: Judge, product: Product): Promise<Outcome> {
  const { name, about } = judge;
  try {
    const version = await judge.version();
    return { judge: name, about, version, ...(await judge.run(product)) };
  } catch (error) {
    return { judge: name, about, version: '', checks: 0, failed: 0, failures: [], error: (error as Error).message };
  }
}
