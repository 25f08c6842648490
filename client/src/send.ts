import type { ApiResponse } from './api-promise.ts';
import { checkNumbers, createAttempt, type Request } from './attempt.ts';
import { asOutcome, type ItsmError, isTransient } from './errors.ts';
import type { ClientOptions } from './options.ts';
import type { RateLimitQueue } from './pacing.ts';
import { aborted, backoffMs, sleep } from './wait.ts';

export type Send = <Envelope>(request: Request) => Promise<ApiResponse<Envelope>>;

/** Creates a function that sends requests within the rate limits. The function retries a request if a retry is safe. */
export function createSend(client: ClientOptions, pacing: RateLimitQueue): Send {
  const attempt = createAttempt(client);

  return async function send<Envelope>(request: Request) {
    const { method, path, group, options = {} } = request;
    checkNumbers(options);
    const { signal, maxRetries = client.maxRetries ?? 2, maxWaitMs = client.maxWaitMs ?? 600_000 } = options;
    const call = { method, path, group, signal, order: pacing.nextOrder(), deadline: performance.now() + maxWaitMs };
    const idempotencyKey = options.idempotencyKey ?? randomKey();
    const requestToSend = method === 'POST' ? { ...request, options: { ...options, idempotencyKey } } : request;
    for (let retries = 0, pauses = 0; ; ) {
      if (signal?.aborted) throw aborted(signal, request);
      let startedAt = 0;
      const outcome: ApiResponse<Envelope> | ItsmError = await pacing.run(call, () => {
        startedAt = performance.now();
        return attempt<Envelope>(requestToSend).catch(asOutcome);
      });
      const latencyMs = Math.round(performance.now() - startedAt);
      const summary = `${method} ${path}: ${outcome instanceof Error ? outcome.code : outcome.status}`;
      client.logger?.debug(`${summary} after ${latencyMs} ms, request ${outcome.requestId ?? '?'}`);
      if (!(outcome instanceof Error)) return outcome;
      // The attempt has consumed the stream.
      if (request.file?.content instanceof ReadableStream) throw outcome;

      const retryAfterMs = (outcome.retryAfterSeconds ?? 0) * 1000;
      let wait = Math.max(retryAfterMs, backoffMs(pauses));
      // If the server names a time, the pause doesn't grow.
      if (retryAfterMs === 0) pauses += 1;
      // After a 429 or SERVICE_UNAVAILABLE, a retry is always safe, because the server didn't process the request.
      // After IDEMPOTENCY_IN_PROGRESS, the idempotency key prevents a duplicate.
      if (outcome.status === 429 || /^(IDEMPOTENCY_IN_PROGRESS|SERVICE_UNAVAILABLE)$/.test(outcome.code)) {
        const remainingMs = call.deadline - performance.now();
        if (retryAfterMs >= remainingMs) throw outcome;
        wait = Math.min(wait, remainingMs);
      } else {
        // A repeated GET changes nothing, and the idempotency key prevents duplicates of a POST. The client doesn't
        // retry other writes, because they may already have taken effect.
        const isRepeatable = /GET|POST/.test(method) && isTransient(outcome);
        if (!isRepeatable || retries >= maxRetries || retryAfterMs > maxWaitMs) throw outcome;
        retries += 1;
      }
      // After a 429, the rate limit queue reports the wait, and waits before the next attempt.
      if (outcome.status === 429) continue;
      client.logger?.warn(`${summary}; retrying in ${(wait / 1000).toFixed(1)} s`);
      await sleep(wait, signal, request);
    }
  };
}

/**
 * Returns a random idempotency key. Doesn't use `crypto.randomUUID`, because browsers provide it only on HTTPS pages.
 */
export function randomKey(): string {
  return crypto.getRandomValues(new Uint32Array(4)).join('-');
}
