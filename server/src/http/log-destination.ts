import type { DestinationStream } from 'pino';
import sonicBoom from 'sonic-boom';

/** The maximum time in milliseconds that the process waits at exit for a slow reader of the log. */
const maxExitWaitMs = 1500;

let opened: DestinationStream | undefined;

/**
 * Returns the log destination of the process: standard output with a buffer. A full disk or a closed pipe doesn't block
 * or end the process. If a write fails, the process writes the same lines again with the next lines and at exit.
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
    // The maximum size of the buffer in bytes. If the buffer is full, SonicBoom drops new lines.
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
