import type { DestinationStream } from 'pino';
import sonicBoom from 'sonic-boom';

/** The maximum time in milliseconds that an exiting process waits for a slow log reader. */
const maxExitWaitMs = 1500;

let opened: DestinationStream | undefined;

/**
 * Returns the log destination of the process, which is buffered standard output. A full disk or a closed pipe doesn't
 * block or end the process. If a write fails, the process tries again when it writes the next lines and when it exits.
 */
export function standardOutput(): DestinationStream {
  opened ??= openStandardOutput();
  return opened;
}

function openStandardOutput(): DestinationStream {
  let exitDeadline = Number.POSITIVE_INFINITY;
  const output = new sonicBoom.SonicBoom({
    fd: 1,
    minLength: 4096,
    periodicFlush: 100,
    // The maximum buffer size in bytes. If the buffer is full, SonicBoom drops new lines.
    maxLength: 8 * 2 ** 20,
    retryEAGAIN: () => performance.now() < exitDeadline,
  });
  output.on('error', () => undefined);
  process.on('exit', () => {
    exitDeadline = performance.now() + maxExitWaitMs;
    try {
      output.flushSync();
    } catch {
      // The process can't log this error, because the log isn't writable.
    }
  });
  return output;
}
