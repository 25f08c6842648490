import { type DestinationStream, type Logger, pino, stdTimeFunctions } from 'pino';
import pretty from 'pino-pretty';
import type { Settings } from '../config/env.ts';
import { standardOutput } from './log-destination.ts';

/** Whether a person is watching what is printed; else each line of it is JSON, for whatever gathers logs. */
export function isWatched(): boolean {
  return process.stdout.isTTY;
}

/**
 * The log of the process: JSON lines on standard output, or readable ones where a person is watching.
 * @param destination where it goes instead
 * @param fields what each line says beside what it is about, asked when it is written
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
    serializers: { err: presentError },
  };
  if (destination !== undefined) return pino(options, destination);
  if (isWatched()) return pino(options, pretty({ sync: true, singleLine: true }));
  return pino(options, standardOutput());
}

/** What is logged of an error. What else it carries may be rows and parameters, or a request's headers. */
function presentError(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const { type, message, stack } = pino.stdSerializers.err(error);
  return { type, message, stack, ...('code' in error && { code: error.code }) };
}
