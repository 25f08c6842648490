import { type Logger, pino, stdTimeFunctions } from 'pino';
import pretty from 'pino-pretty';
import type { Settings } from '../env.ts';

/** The log of the process, on standard output: JSON lines, or readable ones where a person is watching. */
export function createLogger(level: Settings['LOG_LEVEL']): Logger {
  const options = {
    level,
    base: undefined,
    timestamp: stdTimeFunctions.isoTime,
    redact: ['*.authorization', '*["x-api-key"]', '*.secret', '*.password'],
  };
  return process.stdout.isTTY ? pino(options, pretty({ sync: true, singleLine: true })) : pino(options);
}
