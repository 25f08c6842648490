import { write, writeSync } from 'node:fs';
import type { DestinationStream } from 'pino';
import { codeOf } from '../error-code.ts';

/** Lines are written when there are so many characters of them, or that much later. Milliseconds. */
const enough = 4096;
const longestWaitMs = 100;

/** Of lines that can't be written about so many characters are kept; what comes after is lost. */
const mostKept = 8 * 2 ** 20;

/** How long a reader that is slow is waited for at exit, and how long until the next try. Milliseconds. */
const longestEndMs = 1500;
const pauseMs = 10;

/** So much is written at once: what is under way at exit may be lost. Bytes. */
const atOnce = 16 * 2 ** 10;

const descriptor = 1;

/**
 * Standard output for a log, many lines to a write: one for each would take a tenth of a request's time. A disk that is
 * full and a reader that is gone end nothing and hold nobody up, as pino's own destination would have them do: lines are
 * tried again with those that come after, and at exit once.
 */
class StandardOutput implements DestinationStream {
  #lines = '';
  /** What is being written, or was and could not be. */
  #writing = Buffer.alloc(0);
  #busy = false;

  constructor() {
    setInterval(() => this.#flush(), longestWaitMs).unref();
    process.on('exit', () => this.#end());
  }

  write(line: string): void {
    if (this.#writing.length + this.#lines.length < mostKept) this.#lines += line;
    if (this.#lines.length >= enough) this.#flush();
  }

  #flush(): void {
    if (this.#busy) return;
    if (this.#writing.length === 0) {
      this.#writing = Buffer.from(this.#lines);
      this.#lines = '';
    }
    if (this.#writing.length === 0) return;
    this.#busy = true;
    write(descriptor, this.#writing, 0, Math.min(this.#writing.length, atOnce), (error, written) => {
      this.#busy = false;
      if (error !== null) return;
      this.#writing = this.#writing.subarray(written);
      if (this.#writing.length > 0 || this.#lines.length >= enough) this.#flush();
    });
  }

  #end(): void {
    const left = Buffer.concat([this.#writing.subarray(this.#busy ? atOnce : 0), Buffer.from(this.#lines)]);
    const deadline = performance.now() + longestEndMs;
    for (let written = 0; written < left.length; ) {
      try {
        written += writeSync(descriptor, left, written);
      } catch (error) {
        // A pipe that is full for the moment is waited for; of all else there is nowhere left to tell.
        if (codeOf(error) !== 'EAGAIN' || performance.now() > deadline) return;
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, pauseMs);
      }
    }
  }
}

let opened: StandardOutput | undefined;

/** The one of the process. */
export function standardOutput(): DestinationStream {
  opened ??= new StandardOutput();
  return opened;
}
