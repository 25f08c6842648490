import type { ErrorDetail } from '@itsm-api/contract';
import { type Command, CommanderError } from 'commander';
import { SettingsError } from '../../config/env.ts';
import { ApiError } from '../../shared/errors.ts';

/**
 * The exit codes of all commands: 0 for success, 1 for a failure, 2 for a usage error. After a signal, the exit code is
 * 128 plus the signal number.
 */
const failure = 1;
const usageError = 2;

/** The error for an invalid option or argument. The exit code is 2. */
export class UsageError extends Error {
  override name = 'UsageError';
  readonly details: readonly ErrorDetail[];

  constructor(details: ErrorDetail[]) {
    super('The options or arguments of the command are invalid.');
    this.details = details;
  }
}

/**
 * The error for a problem outside the command line, such as a missing file. Each string in `lines` describes a problem.
 */
export class CommandError extends Error {
  override name = 'CommandError';
  readonly lines: readonly string[];
  /** The problems in `lines` as objects, for the option `--json`. */
  readonly details: readonly object[] | undefined;

  constructor(lines: string | string[], details?: object[]) {
    super('The command failed.');
    this.lines = [lines].flat();
    this.details = details;
  }
}

/** The signals that end a command. */
export const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
export type Signal = (typeof signals)[number];

/** The error for a command that a signal has ended. */
export class Interrupted extends Error {
  override name = 'Interrupted';
  readonly exitCode: number;

  constructor(signal: Signal) {
    super('Interrupted.');
    this.exitCode = 128 + { SIGHUP: 1, SIGINT: 2, SIGTERM: 15 }[signal];
  }
}

interface Report {
  exitCode: number;
  code: string;
  lines: readonly string[];
  details?: readonly object[] | undefined;
}

interface ReportOptions {
  /** The command that failed. Undefined if Commander couldn't parse the command line. */
  command: Command | undefined;
  json: boolean;
}

/** Prints an error on stderr, either as JSON or as text with one line per problem. Returns the exit code. */
export function reportError(error: unknown, { command, json }: ReportOptions): number {
  const { exitCode, code, lines, details } = describe(error, command);
  const text = json
    ? `${JSON.stringify({ error: { code, message: lines.join('; '), details } }, undefined, 2)}\n`
    : lines.map((line) => `error: ${printable(line)}\n`).join('');
  if (lines.length > 0) process.stderr.write(text);
  return exitCode;
}

/** Replaces control characters with spaces, because a terminal would interpret them. */
export function printable(text: string): string {
  return text.replace(/\p{Cc}+/gu, ' ');
}

function describe(error: unknown, command: Command | undefined): Report {
  if (error instanceof CommanderError) {
    const exitCode = error.exitCode === 0 ? 0 : usageError;
    // If the user requested help, prints no error, because Commander has already printed the help.
    const isHelp = error.exitCode === 0 || error.code === 'commander.help';
    return {
      exitCode,
      code: 'USAGE',
      lines: isHelp ? [] : [error.message.replace(/^error: /, '').replace(/\s+/g, ' ')],
    };
  }
  if (error instanceof UsageError || error instanceof ApiError) {
    const exitCode = error instanceof UsageError ? usageError : failure;
    const code = error instanceof UsageError ? 'USAGE' : error.code;
    const lines = error.details?.map(({ path, message }) => `${findLabel(path, command)} ${message}`) ?? [
      error.message,
    ];
    return { exitCode, code, lines, details: error.details };
  }
  if (error instanceof SettingsError)
    return { exitCode: usageError, code: 'SETTINGS', lines: error.message.split('\n') };
  if (error instanceof Interrupted) return { exitCode: error.exitCode, code: 'INTERRUPTED', lines: [error.message] };
  if (error instanceof CommandError) {
    return { exitCode: failure, code: 'FAILED', lines: error.lines, details: error.details };
  }
  return { exitCode: failure, code: 'FAILED', lines: [messageOf(error)] };
}

/**
 * Returns the option or argument for an invalid field. For example, the option for `assetTag` is `--asset-tag`, the
 * option for `managerId` is `--manager`, and the option for `memberIds` is `--members`.
 */
function findLabel(path: string, command: Command | undefined): string {
  const [field, ...rest] = path.split('.');
  const option = command?.options.find((each) => {
    const name = each.attributeName();
    return [name, `${name}Id`, name.replace(/s$/, 'Ids')].includes(field ?? '');
  });
  const argument = command?.registeredArguments.find((each) => each.name() === field);
  const label = option?.long ?? (argument && `<${argument.name()}>`);
  return label === undefined ? path : [label, ...rest.filter((part) => !/^\d+$/.test(part))].join(' ');
}

/** Returns the message of an unexpected error, without the code location that Prisma adds. */
function messageOf(error: unknown): string {
  // If Node.js can't connect to any address of a host, it throws an AggregateError without a message.
  if (error instanceof AggregateError && error.message === '') return messageOf(error.errors[0]);
  if (!(error instanceof Error)) return String(error);
  return error.message.replace(/^\s*Invalid `prisma[^`]*` invocation:/, '').trim();
}
