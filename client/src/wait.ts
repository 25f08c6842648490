import { createError, type ItsmError } from './errors.ts';

/** Maximum delay of a JavaScript timer in milliseconds: about 25 days. */
export const maxDelayMs = 2 ** 31 - 1;

/** The method and path of the request, for the error message. */
interface Named {
  method: string;
  path: string;
}

/** Resolves after the given milliseconds, or rejects with an `AbortError` when the signal aborts. */
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

/**
 * Returns about 500, 1000, 2000, 4000 and then always 8000 milliseconds. Up to half is subtracted at random, so that
 * clients don't retry at the same time.
 */
export function backoffMs(times: number): number {
  return Math.min(500 * 2 ** times, 8000) * (1 - Math.random() / 2);
}

export function aborted({ reason }: AbortSignal, { method, path }: Named): ItsmError {
  return createError('The call was aborted.', { code: 'ABORTED', method, path, cause: reason });
}
