import type { ApiResponse } from './api-promise.ts';

export interface ClientOptions {
  /** The URL of the workspace, such as `https://acme.example.com`, without `/api/public/v1`. */
  baseUrl: string;
  /**
   * The API key. Every operation except ping requires an API key. The client sends the key as a bearer token, and never
   * includes the key in logs or errors.
   */
  apiKey?: string | undefined;
  /** Timeout of one attempt in milliseconds, including reading the response. Default: 30,000. */
  timeoutMs?: number | undefined;
  /**
   * Maximum retries of a failed request. Default: 2. With 0, the client doesn't retry. Waiting for a rate limit is not
   * a retry.
   */
  maxRetries?: number | undefined;
  /**
   * Maximum time in milliseconds that a call waits for the rate limits, or for a concurrent request with the same
   * `idempotencyKey`. Default: 600,000 (10 minutes). With 0, the client sends the call immediately, and the call
   * rejects if it would have to wait.
   */
  maxWaitMs?: number | undefined;
  /** The function that the client calls instead of the global `fetch`, for example for a proxy or in tests. */
  fetch?: ((url: string, init: RequestInit) => Promise<Response>) | undefined;
  /**
   * The logger of the client. The client logs responses with `debug`, and retries and waits with `warn`. Pass `console`
   * or any object with these two methods.
   */
  logger?: Logger | undefined;
  /**
   * Name of your program. The client sends this name before its own name in the `User-Agent` header. In a browser, the
   * client doesn't set this header.
   */
  userAgent?: string | undefined;
}

export interface Logger {
  /** Logs a message about a response, with its latency and request id. */
  debug(message: string): void;
  /** Logs a message about a retry, or about calls that wait for a rate limit. */
  warn(message: string): void;
}

/** Options of every call. */
export interface CallOptions {
  /** Aborts the call, even while the call waits for a rate limit or a retry. The call rejects with an `AbortError`. */
  signal?: AbortSignal | undefined;
  /** Timeout of each attempt in milliseconds. Overrides `timeoutMs` of the client. */
  timeoutMs?: number | undefined;
  /** Maximum retries of this call. Overrides `maxRetries` of the client. */
  maxRetries?: number | undefined;
  /** Maximum time in milliseconds that this call waits. Overrides `maxWaitMs` of the client. */
  maxWaitMs?: number | undefined;
  /** Additional request headers, such as `x-request-id`. */
  headers?: Record<string, string> | undefined;
}

/** Options of a single request. */
export interface RequestOptions extends CallOptions {
  /**
   * Updates the resource only if its ETag still equals this `etag` of a response. Otherwise, the call rejects with a
   * `PreconditionFailedError`.
   */
  ifMatch?: string | undefined;
  /**
   * An earlier response to the same call. If the resource is unchanged, the call resolves to the data of that response
   * with the status 304, and the server doesn't send the data again.
   */
  ifNoneMatch?: ApiResponse<unknown> | undefined;
}

/** Options of a call that sends a POST request. */
export interface PostOptions extends RequestOptions {
  /**
   * Makes the call idempotent: calls with the same key within 24 hours create the resource once. Use a text of at most
   * 255 ASCII characters, and use each text for one resource only. By default, the client generates a key for the call
   * and its retries. Your own key prevents duplicates even if your program restarts.
   */
  idempotencyKey?: string | undefined;
}

/** Options of a bulk call. */
export interface BulkOptions extends CallOptions {
  /** The client calls this function with the progress after each request. */
  onProgress?: ((progress: BulkProgress) => void) | undefined;
  /**
   * Maximum concurrent requests. Default: 1, which processes the items in order. Higher values are faster if the rate
   * limits of the key allow it.
   */
  concurrency?: number | undefined;
}

/** Options of a bulk call that creates resources. */
export interface BulkPostOptions extends BulkOptions {
  /**
   * Makes the whole call idempotent: if your program was interrupted, run it again with the same items within 24 hours.
   * Items that were already created return their earlier results. At most 230 ASCII characters. By default, the client
   * generates a key for this call.
   */
  idempotencyKey?: string | undefined;
}

/** Progress of a bulk call. */
export interface BulkProgress {
  /** Number of items that succeeded. */
  done: number;
  /** Number of items that failed. */
  failed: number;
  /** Number of all items, including pending items. */
  total: number;
}
