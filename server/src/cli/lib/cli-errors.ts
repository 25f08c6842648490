import type { ErrorDetail } from '@itsm-api/contract';
import { type Command, CommanderError } from 'commander';
import { SettingsError } from '../../config/env.ts';
import { ApiError } from '../../shared/errors.ts';

/** Exit codes: 0 is done, 1 failed, 2 called wrongly, 128 and the signal's number when interrupted. */
const failed = 1;
const calledWrongly = 2;

/** An option or argument that can't be used: found before anything is opened. */
export class UsageError extends Error {
  override name = 'UsageError';
  readonly details: readonly ErrorDetail[];

  constructor(details: ErrorDetail[]) {
    super('The command was called wrongly.');
    this.details = details;
  }
}

/** Something outside is not as the command needs it, such as a file. Each line says one thing that is wrong. */
export class CommandError extends Error {
  override name = 'CommandError';
  readonly lines: readonly string[];
  /** The same for programs. */
  readonly details: readonly object[] | undefined;

  constructor(lines: string | string[], details?: object[]) {
    super('The command failed.');
    this.lines = [lines].flat();
    this.details = details;
  }
}

/** The person or the machine wants the command to end. */
export class Interrupted extends Error {
  override name = 'Interrupted';
  readonly exitCode: number;

  constructor(signal: 'SIGINT' | 'SIGTERM' | 'SIGHUP') {
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
  /** The command that failed; none when it never came to that. */
  command: Command | undefined;
  json: boolean;
}

/** Says on stderr what went wrong, a line for each thing or as JSON, and returns the exit code. */
export function reportError(error: unknown, { command, json }: ReportOptions): number {
  const { exitCode, code, lines, details } = describe(error, command);
  const text = json
    ? `${JSON.stringify({ error: { code, message: lines.join('; '), details } }, undefined, 2)}\n`
    : lines.map((line) => `error: ${printable(line)}\n`).join('');
  if (lines.length > 0) process.stderr.write(text);
  return exitCode;
}

/** Text from outside on one line and without control characters, which a terminal would obey. */
export function printable(text: string): string {
  return text.replace(/\p{Cc}+/gu, ' ');
}

function describe(error: unknown, command: Command | undefined): Report {
  if (error instanceof CommanderError) {
    const exitCode = error.exitCode === 0 ? 0 : calledWrongly;
    // Help has been printed already, be it asked for or because a command is missing.
    const isHelp = error.exitCode === 0 || error.code === 'commander.help';
    return {
      exitCode,
      code: 'USAGE',
      lines: isHelp ? [] : [error.message.replace(/^error: /, '').replace(/\s+/g, ' ')],
    };
  }
  if (error instanceof UsageError || error instanceof ApiError) {
    const exitCode = error instanceof UsageError ? calledWrongly : failed;
    const code = error instanceof UsageError ? 'USAGE' : error.code;
    const lines = error.details?.map(({ path, message }) => `${labelOf(path, command)} ${message}`) ?? [error.message];
    return { exitCode, code, lines, details: error.details };
  }
  if (error instanceof SettingsError)
    return { exitCode: calledWrongly, code: 'SETTINGS', lines: error.message.split('\n') };
  if (error instanceof Interrupted) return { exitCode: error.exitCode, code: 'INTERRUPTED', lines: [error.message] };
  if (error instanceof CommandError) {
    return { exitCode: failed, code: 'FAILED', lines: error.lines, details: error.details };
  }
  return { exitCode: failed, code: 'FAILED', lines: [messageOf(error)] };
}

/** The option or argument that a field came from: `assetTag` from `--asset-tag`, `managerId` from `--manager`. */
function labelOf(path: string, command: Command | undefined): string {
  const [field, ...rest] = path.split('.');
  const option = command?.options.find((each) =>
    [each.attributeName(), `${each.attributeName()}Id`].includes(field ?? ''),
  );
  const argument = command?.registeredArguments.find((each) => each.name() === field);
  const label = option?.long ?? (argument && `<${argument.name()}>`);
  return label === undefined ? path : [label, ...rest.filter((part) => !/^\d+$/.test(part))].join(' ');
}

/** What an error of another library says, without what only a developer wants to know. */
function messageOf(error: unknown): string {
  // Of a connection that fails at several addresses.
  if (error instanceof AggregateError && error.message === '') return messageOf(error.errors[0]);
  if (!(error instanceof Error)) return String(error);
  return error.message.replace(/^\s*Invalid `prisma[^`]*` invocation:/, '').trim();
}
