import type { DestinationStream } from 'pino';
import sonicBoom from 'sonic-boom';

/** Maximum wait at exit for a slow reader of the log. Milliseconds. */
const maxExitWaitMs = 1500;

let opened: DestinationStream | undefined;

/**
 * Returns the log destination of the process: buffered standard output. A full disk or a closed pipe neither blocks nor
 * ends the process: failed lines are retried with later ones and at exit.
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
    // Lines beyond these bytes are dropped.
    maxLength: 8 * 2 ** 20,
    retryEAGAIN: () => performance.now() < exitDeadline,
  });
  output.on('error', () => undefined);
  process.on('exit', () => {
    exitDeadline = performance.now() + maxExitWaitMs;
    try {
      output.flushSync();
    } catch {
      // Nothing is left to report it to.
    }
  });
  return output;
}
