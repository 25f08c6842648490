import type { ApiResponse } from './api-promise.ts';
import { checkNumbers, createAttempt, type Request } from './attempt.ts';
import { asOutcome, type ItsmError, isPassing } from './errors.ts';
import type { ClientOptions } from './options.ts';
import type { RateLimitQueue } from './pacing.ts';
import { aborted, backoffMs, sleep } from './wait.ts';

export type Send = <Envelope>(request: Request) => Promise<ApiResponse<Envelope>>;

/** What sends requests when the limits let it, and repeats them where that is safe. */
export function createSend(client: ClientOptions, pacing: RateLimitQueue): Send {
  const attempt = createAttempt(client);

  return async function send<Envelope>(request: Request) {
    const { method, path, group, options = {} } = request;
    checkNumbers(options);
    const { signal, maxRetries = client.maxRetries ?? 2, maxWaitMs = client.maxWaitMs ?? 600_000 } = options;
    const call = { method, path, group, signal, order: pacing.nextOrder(), deadline: performance.now() + maxWaitMs };
    const idempotencyKey = options.idempotencyKey ?? randomKey();
    const sent = method === 'POST' ? { ...request, options: { ...options, idempotencyKey } } : request;
    for (let retries = 0; ; ) {
      if (signal?.aborted) throw aborted(signal, request);
      let began = 0;
      const outcome: ApiResponse<Envelope> | ItsmError = await pacing.run(call, () => {
        began = performance.now();
        return attempt<Envelope>(sent).catch(asOutcome);
      });
      const took = Math.round(performance.now() - began);
      const what = `${method} ${path}: ${outcome instanceof Error ? outcome.code : outcome.status}`;
      client.logger?.debug(`${what} after ${took} ms, request ${outcome.requestId ?? '?'}`);
      if (!(outcome instanceof Error)) return outcome;

      const asked = (outcome.retryAfterSeconds ?? 0) * 1000;
      const wait = Math.max(asked, backoffMs(retries));
      // The server did not process these, or is still processing the first one: any method is safe to send again.
      if (outcome.status === 429 || /^(IDEMPOTENCY_IN_PROGRESS|SERVICE_UNAVAILABLE)$/.test(outcome.code)) {
        if (asked >= call.deadline - performance.now()) throw outcome;
      } else {
        // Reading does no harm, and a POST is done once by its key. Another write may have been done, whatever came of it.
        const isRepeatable = /GET|POST/.test(method) && isPassing(outcome);
        if (!isRepeatable || retries >= maxRetries || asked > maxWaitMs) throw outcome;
        retries += 1;
        client.logger?.warn(`${what}; again in ${(wait / 1000).toFixed(1)} s`);
      }
      // The limits are waited for in turn.
      if (outcome.status !== 429) await sleep(wait, signal, request);
    }
  };
}

/** As good as a UUID, and also made where a page is not served over HTTPS. */
export function randomKey(): string {
  return crypto.getRandomValues(new Uint32Array(4)).join('-');
}
