import type { DestinationStream } from 'pino';
import sonicBoom from 'sonic-boom';

/** Maximum time that the process waits at exit for a slow reader of the log. Milliseconds. */
const maxExitWaitMs = 1500;

let opened: DestinationStream | undefined;

/**
 * Returns the log destination of the process: standard output with a buffer. A full disk or a closed pipe neither
 * blocks nor ends the process. If a write fails, the process retries with the next lines and at exit.
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
    // If the buffer has this size, SonicBoom drops new lines. Bytes.
    maxLength: 8 * 2 ** 20,
    retryEAGAIN: () => performance.now() < exitDeadline,
  });
  output.on('error', () => undefined);
  process.on('exit', () => {
    exitDeadline = performance.now() + maxExitWaitMs;
    try {
      output.flushSync();
    } catch {
      // The error can't be logged, because the log itself is the destination that failed.
    }
  });
  return output;
}
