import { createError, type ItsmError } from './errors.ts';

/** The longest delay that timers take: about 25 days. Milliseconds. */
export const maxDelayMs = 2 ** 31 - 1;

/** What waits or is sent, for errors. */
interface Named {
  method: string;
  path: string;
}

/** Ends after so many milliseconds, or rejects with an `AbortError` when the signal does. */
export function sleep(ms: number, signal: AbortSignal | undefined, request: Named): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      if (signal !== undefined) reject(aborted(signal, request));
    };
    const timer = setTimeout(
      () => {
        signal?.removeEventListener('abort', stop);
        resolve();
      },
      Math.min(ms, maxDelayMs),
    );
    signal?.addEventListener('abort', stop, { once: true });
    if (signal?.aborted) stop();
  });
}

/** Milliseconds: about 500, 1000, 2000, 4000, 8000, and never more; up to half less, so that clients come apart. */
export function backoffMs(times: number): number {
  return Math.min(500 * 2 ** times, 8000) * (1 - Math.random() / 2);
}

export function aborted({ reason }: AbortSignal, { method, path }: Named): ItsmError {
  return createError('The call was aborted.', { code: 'ABORTED', method, path, cause: reason });
}
