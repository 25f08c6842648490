import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { delimiter, dirname, join } from 'node:path';
import type { FirstStart } from '../../test/support/first-start.ts';

/** The server that the tools examine, with demo data. */
export type Product = Pick<FirstStart, 'origin' | 'key' | 'link'>;

/** A rule or a check that failed, and how often. */
export interface Failure {
  rule: string;
  count: number;
  /** The first message of the tool, for readers of the terminal. */
  example: string;
}

/** The result of a tool. A check is a rule, a request or a page, depending on the tool. */
export interface Result {
  checks: number;
  failed: number;
  failures: Failure[];
}

/** A program of others that examines the product. */
export interface ExternalCheck {
  name: string;
  /** What the tool examines, and what one of its checks is. */
  about: string;
  version(): Promise<string>;
  run(product: Product): Promise<Result>;
}

const root = join(import.meta.dirname, '../..');

/** The path of the OpenAPI document. */
export const openApiPath = join(root, 'contract/openapi.json');

/** Loads a module of a tool. The types are unknown, because `pnpm types` runs without the packages of the tools. */
export const load = createRequire(import.meta.url);

/** Returns a function that returns the version of an npm package. */
export function versionReader(name: string): () => Promise<string> {
  return async () => load(join(import.meta.dirname, 'node_modules', name, 'package.json')).version as string;
}

interface RunOptions {
  /** The working directory, by default this folder. */
  folder?: string;
  /** Additional environment variables. */
  env?: Record<string, string>;
}

/**
 * Runs a program of a tool and returns its output. Tools exit with other codes than 0 if they find something, so the
 * exit code isn't checked if there is output.
 */
export function run(program: string, args: string[], { folder, env = {} }: RunOptions = {}): Promise<string> {
  const path = [join(import.meta.dirname, 'node_modules/.bin'), dirname(process.execPath), process.env.PATH];
  const options = {
    cwd: folder ?? import.meta.dirname,
    env: { ...process.env, PATH: path.join(delimiter), NODE_NO_WARNINGS: '1', REDOCLY_TELEMETRY: 'off', ...env },
    maxBuffer: 2 ** 28,
    timeout: 300_000,
  };
  return new Promise((resolve, reject) => {
    execFile(program, args, options, (error, stdout, stderr) => {
      if (error === null || stdout !== '') resolve(stdout);
      else reject(new Error(`${program} printed no result: ${stderr || error.message}`));
    });
  });
}

/** Calls `use` with a new folder, and deletes the folder afterwards. Packages of the tools resolve in this folder. */
export async function inFolder<Value>(use: (folder: string) => Promise<Value>): Promise<Value> {
  const folder = await mkdtemp(join(import.meta.dirname, 'node_modules/.checked-'));
  try {
    return await use(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

interface Finding {
  rule: string;
  message: string;
}

/** Returns the result of a tool whose checks are rules. A rule that fails several times is one failed check. */
export function toRuleResult(rules: number, findings: readonly Finding[]): Result {
  const failures = groupByRule(findings);
  return { checks: rules, failed: failures.length, failures };
}

/** Returns the result of a tool that reports each failed check. */
export function toResult(checks: number, findings: readonly Finding[]): Result {
  return { checks, failed: findings.length, failures: groupByRule(findings) };
}

function groupByRule(findings: readonly Finding[]): Failure[] {
  return [...Map.groupBy(findings, ({ rule }) => rule)].map(([rule, same]) => ({
    rule,
    count: same.length,
    example: same[0]?.message ?? '',
  }));
}
