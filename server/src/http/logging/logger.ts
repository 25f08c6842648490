import { type DestinationStream, type Logger, pino, stdTimeFunctions } from 'pino';
import pretty from 'pino-pretty';
import type { Settings } from '../../config/env.ts';
import { standardOutput } from './log-destination.ts';

/** Returns whether standard output is a terminal. If it isn't, the log is in JSON. */
export function isTerminal(): boolean {
  return process.stdout.isTTY;
}

/**
 * Creates the logger of the process. In a terminal, the logger writes formatted lines. Otherwise, it writes each line
 * as JSON.
 * @param destination where to write the log; default: standard output
 * @param fields returns additional fields for a log line; called for each line
 */
export function createLogger(
  level: Settings['LOG_LEVEL'],
  destination?: DestinationStream,
  fields?: () => object,
): Logger {
  const options = {
    level,
    ...(fields && { mixin: fields }),
    base: undefined,
    timestamp: stdTimeFunctions.isoTime,
    serializers: { err: serializeError },
  };
  if (destination !== undefined) return pino(options, destination);
  if (isTerminal()) return pino(options, pretty({ sync: true, singleLine: true }));
  return pino(options, standardOutput());
}

/**
 * Serializes only the safe properties of an error. Other properties can contain rows, query parameters or request
 * headers.
 */
function serializeError(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const { type, message, stack } = pino.stdSerializers.err(error);
  return { type, message, stack, ...('code' in error && { code: error.code }) };
}
