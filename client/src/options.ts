import type { ApiResponse } from './api-promise.ts';
import type { RateLimit } from './rate-limits.ts';

export interface ClientOptions {
  /** The URL of the workspace, such as `https://acme.example.com`, without `/api/public/v1`. */
  baseUrl: string;
  /**
   * The API key. Every operation except ping requires an API key. The client sends the key as a bearer token, and never
   * includes the key in logs or errors.
   */
  apiKey?: string | undefined;
  /** Timeout of one attempt in milliseconds, including the time to read the response. Default: 30,000. */
  timeoutMs?: number | undefined;
  /**
   * Maximum number of retries of a failed request. Default: 2. With 0, the client doesn't retry. A wait for a rate
   * limit doesn't count as a retry.
   */
  maxRetries?: number | undefined;
  /**
   * Maximum time in milliseconds that a call waits for a rate limit, a starting server, the end of maintenance, or an
   * earlier request with the same `idempotencyKey`. Default: 600,000 (10 minutes). With 0, the client sends the request immediately, and the
   * call rejects if the response requires a wait.
   */
  maxWaitMs?: number | undefined;
  /** The function that the client calls instead of the global `fetch`, for example to use a proxy. */
  fetch?: ((url: string, init: RequestInit) => Promise<Response>) | undefined;
  /**
   * The logger of the client. The client logs responses with `debug`, and retries and waits with `warn`. Pass
   * `console`, or any object with these two methods.
   */
  logger?: Logger | undefined;
  /**
   * The client calls this function when calls start to wait for a rate limit, and then again while calls wait. For each
   * endpoint group, it calls the function at most every 30 seconds. Use it to show how long an import still takes.
   */
  onWait?: ((wait: RateLimitWait) => void) | undefined;
  /**
   * Name of your program. The client sends this name before its own name in the `User-Agent` header. In a browser, the
   * client doesn't set this header.
   */
  userAgent?: string | undefined;
}

/** The calls of an endpoint group that wait for a rate limit. */
export interface RateLimitWait {
  /** The rate limits without remaining quota. Empty if the responses don't report the rate limits. */
  rateLimits: Pick<RateLimit, 'name' | 'limit' | 'windowSeconds'>[];
  /** Number of calls that wait. */
  waiting: number;
  /** Seconds until the next of these calls starts. */
  nextSeconds: number;
  /**
   * Estimated seconds until all these calls have started. The estimate assumes that no other program uses the API key,
   * and ignores `maxWaitMs`. Undefined if the responses don't report the rate limits.
   */
  remainingSeconds: number | undefined;
}

export interface Logger {
  /** Logs a message about a response, with its latency and request id. */
  debug(message: string): void;
  /** Logs a message about a retry, or about calls that wait for a rate limit. */
  warn(message: string): void;
}

/** The options that every call accepts. */
export interface CallOptions {
  /** The signal that aborts the call, even during a wait. An aborted call rejects with an `AbortError`. */
  signal?: AbortSignal | undefined;
  /** Timeout of each attempt in milliseconds. Overrides the client's `timeoutMs`. */
  timeoutMs?: number | undefined;
  /** Maximum number of retries of the call. Overrides the client's `maxRetries`. */
  maxRetries?: number | undefined;
  /** Maximum time in milliseconds that the call waits. Overrides the client's `maxWaitMs`. */
  maxWaitMs?: number | undefined;
  /** Additional request headers, such as `x-request-id`. */
  headers?: Record<string, string> | undefined;
}

/** Options of a single request. */
export interface RequestOptions extends CallOptions {
  /**
   * The `etag` of an earlier response. If the resource has a different ETag now, the server doesn't change the
   * resource, and the call rejects with a `PreconditionFailedError`.
   */
  ifMatch?: string | undefined;
  /**
   * An earlier response to the same call. If the resource is unchanged, the server responds with 304 and doesn't send
   * the data again. The call then resolves to the data of the earlier response.
   */
  ifNoneMatch?: ApiResponse<unknown> | undefined;
}

/** Options of a call that sends a POST request. */
export interface PostOptions extends RequestOptions {
  /**
   * The key that makes the call idempotent. Calls with the same key within 24 hours create the resource only once. Use
   * at most 255 ASCII characters, and a different key for each resource. By default, the client generates a key for the
   * call and its retries. Your own key prevents duplicates even if your program restarts.
   */
  idempotencyKey?: string | undefined;
}

/** Options of a bulk call. `Result` is the type of an item's result. */
export interface BulkOptions<Result = unknown> extends CallOptions {
  /** The client calls this function with the progress after each request, and for items that it rejects itself. */
  onProgress?: ((progress: BulkProgress) => void) | undefined;
  /**
   * The client calls this function with the results of items: after each request, and for items that it rejects itself.
   */
  onBatch?: ((results: Result[]) => void) | undefined;
  /**
   * Maximum number of concurrent requests. Default: 1, so the client processes the items in order. With a higher value,
   * the call is faster if the rate limits allow more requests.
   */
  concurrency?: number | undefined;
}

/** Options of a bulk call that creates resources. */
export interface BulkPostOptions<Result = unknown> extends BulkOptions<Result> {
  /**
   * The key that makes the whole call idempotent. If your program was interrupted, run it again within 24 hours, with
   * the same items and the same key. For items that already exist, the call returns the earlier results. Use at most
   * 230 ASCII characters. By default, the client generates a key for each call.
   */
  idempotencyKey?: string | undefined;
}

/** Options of a bulk call that creates or updates resources. */
export interface BulkUpsertOptions<Match, Result = unknown> extends BulkPostOptions<Result> {
  /**
   * The field by which the API finds the existing resource of an item. If items have the same value, the client sends
   * only the first, and the others fail.
   */
  matchBy?: Match | undefined;
}

/** Progress of a bulk call. */
export interface BulkProgress {
  /** Number of items that succeeded. */
  done: number;
  /** Number of items that failed. */
  failed: number;
  /** Total number of items, including pending items. */
  total: number;
}
