import { createError, type ItsmError } from './errors.ts';

/** Maximum delay of a JavaScript timer in milliseconds: about 25 days. */
export const maxDelayMs = 2 ** 31 - 1;

/** The method and path of the request, for the `AbortError`. */
interface RequestLine {
  method: string;
  path: string;
}

/** Resolves after `ms` milliseconds, or rejects with an `AbortError` when the signal aborts. */
export function sleep(ms: number, signal: AbortSignal | undefined, request: RequestLine): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(aborted(signal as AbortSignal, request));
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
 * Returns the number of milliseconds to wait before a retry. The delay starts at 500, doubles with each retry, and is
 * at most 8,000. A random reduction of up to half prevents clients from retrying at the same time.
 * @param times the number of earlier retries
 */
export function backoffMs(times: number): number {
  return Math.min(500 * 2 ** times, 8000) * (1 - Math.random() / 2);
}

export function aborted({ reason }: AbortSignal, { method, path }: RequestLine): ItsmError {
  return createError('The call was aborted.', { code: 'ABORTED', method, path, cause: reason });
}
