import { execFileSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { firstStart } from '../../test/support/first-start.ts';
import type { ExternalCheck, Product } from './external-check.ts';
import { type Outcome, reportFile, toMarkdown, toTable, unexpectedOf } from './report.ts';
import { attw } from './tools/attw.ts';
import { cloudEvents } from './tools/cloud-events.ts';
import { openapiFetch, orval } from './tools/generated-clients.ts';
import { htmlValidate, linkinator } from './tools/html.ts';
import { lighthouse } from './tools/lighthouse.ts';
import { mcpConformance } from './tools/mcp-conformance.ts';
import { ibm, owasp, redocly, spectral } from './tools/openapi.ts';
import { perl } from './tools/openapi-client-perl.ts';
import { portman } from './tools/portman.ts';
import { rjsf } from './tools/rjsf.ts';
import { structuredHeaders } from './tools/structured-headers.ts';

/*
 * Runs tools that others wrote, and prints what they find: `pnpm external-checks [--only tool,tool] [--json]`
 * A run of all tools writes docs/external-checks.md. The command fails if a tool finds more than exceptions.ts allows.
 */
const tools: Record<string, ExternalCheck> = {
  redocly,
  spectral,
  ibm,
  owasp,
  portman,
  perl,
  orval,
  'openapi-fetch': openapiFetch,
  rjsf,
  cloudevents: cloudEvents,
  'mcp-conformance': mcpConformance,
  'structured-headers': structuredHeaders,
  'html-validate': htmlValidate,
  linkinator,
  attw,
  lighthouse,
};

const { values } = parseArgs({ options: { only: { type: 'string' }, json: { type: 'boolean', default: false } } });
const names = values.only?.split(',') ?? Object.keys(tools);
const unknown = names.filter((name) => tools[name] === undefined);
if (unknown.length > 0) throw new Error(`Unknown tool ${unknown.join()}. Use: ${Object.keys(tools).join(', ')}`);

const onProgress = (text: string) => process.stderr.write(text);

onProgress('Installing the tools …\n');
// The scripts of these packages only download programs that no tool needs.
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
    const tool = tools[name] as ExternalCheck;
    onProgress(`${index + 1}/${names.length} ${tool.name} …`);
    const startedAt = performance.now();
    outcomes.push(await checkProduct(tool, server));
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

/** Runs a tool. If it can't run, the outcome contains the error instead of a result. */
async function checkProduct(tool: ExternalCheck, product: Product): Promise<Outcome> {
  const { name, about } = tool;
  try {
    const version = await tool.version();
    return { tool: name, about, version, ...(await tool.run(product)) };
  } catch (error) {
    return { tool: name, about, version: '', checks: 0, failed: 0, failures: [], error: (error as Error).message };
  }
}
