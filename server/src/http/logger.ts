import { type DestinationStream, type Logger, pino, stdTimeFunctions } from 'pino';
import pretty from 'pino-pretty';
import type { Settings } from '../env.ts';

/**
 * The log of the process: JSON lines on standard output, or readable ones where a person is watching.
 * @param destination where it goes instead
 */
export function createLogger(level: Settings['LOG_LEVEL'], destination?: DestinationStream): Logger {
  const options = {
    level,
    base: undefined,
    timestamp: stdTimeFunctions.isoTime,
    // Errors are the only thing logged that others made. Redacting in all that is logged would double what a line takes.
    redact: ['err.authorization', 'err["x-api-key"]', 'err.secret', 'err.password'],
  };
  if (destination !== undefined) return pino(options, destination);
  if (process.stdout.isTTY) return pino(options, pretty({ sync: true, singleLine: true }));
  // One write for many lines: one for each would take a tenth of a request's time. What is left is written at exit.
  return pino(options, pino.destination({ minLength: 4096, periodicFlush: 100 }));
}
