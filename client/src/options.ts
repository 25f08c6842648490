import type { ApiResponse } from './api-promise.ts';

export interface ClientOptions {
  /** The workspace's own address, such as `https://acme.example.com`, without `/api/public/v1`. */
  baseUrl: string;
  /** Every operation but ping needs one. It is sent as a bearer token and appears in no log and no error. */
  apiKey?: string | undefined;
  /** How long one attempt may take, the reading of its answer included, in milliseconds. 30,000 by default. */
  timeoutMs?: number | undefined;
  /** How often a failed request is repeated, at most. 2 by default, 0 for never. Waiting is none. */
  maxRetries?: number | undefined;
  /**
   * How long a call may wait for the rate limits, or for the first of two requests under one `idempotencyKey`, in
   * milliseconds. 600,000 by default, which is ten minutes. With 0 it is sent at once, whatever is left, and either is an
   * error.
   */
  maxWaitMs?: number | undefined;
  /** In place of the global `fetch`: for a proxy, or for tests. */
  fetch?: ((url: string, init: RequestInit) => Promise<Response>) | undefined;
  /** Told of each answer (debug), of each repetition and of waiting (warn): `console`, or any other with these two. */
  logger?: Logger | undefined;
  /** Names your program in `User-Agent`, before the client's own name. Browsers send theirs. */
  userAgent?: string | undefined;
}

export interface Logger {
  /** Each answer, with its duration and the id of its request. */
  debug(message: string): void;
  /** Each repetition, and when calls begin to wait for a rate limit. */
  warn(message: string): void;
}

/** What may be said of every call. */
export interface CallOptions {
  /** Ends the call, its waiting included, with an `AbortError`. */
  signal?: AbortSignal | undefined;
  /** In place of the client's, for one attempt, in milliseconds. */
  timeoutMs?: number | undefined;
  /** In place of the client's. */
  maxRetries?: number | undefined;
  /** In place of the client's, in milliseconds. */
  maxWaitMs?: number | undefined;
  /** Sent beside the client's own, such as an `x-request-id`. */
  headers?: Record<string, string> | undefined;
}

/** What may be said of one request. */
export interface RequestOptions extends CallOptions {
  /** Change it only in this state: the `etag` that an answer told. Else a `PreconditionFailedError`. */
  ifMatch?: string | undefined;
  /**
   * An answer to the same call. While nothing has changed since, its data is answered again, with the status 304: the
   * server does not send it a second time.
   */
  ifNoneMatch?: ApiResponse<unknown> | undefined;
}

/** What may be said of a call that makes something. */
export interface PostOptions extends RequestOptions {
  /**
   * Names what is made, so that it is made once however often it is asked for within 24 hours: any text of your own, at
   * most 255 ASCII characters, that you use for nothing else. By default one that holds for this call and its
   * repetitions; one of your own holds when your program is started again, too.
   */
  idempotencyKey?: string | undefined;
}

/** What may be said of many changes in one call. */
export interface BulkOptions extends CallOptions {
  /** Told after each request how far it is. */
  onProgress?: ((progress: BulkProgress) => void) | undefined;
  /**
   * How many requests are under way at once, at most. 1 by default: then items are done in their order. More is faster
   * where the limits of the key are wide.
   */
  concurrency?: number | undefined;
}

/** What may be said of many that are made in one call. */
export interface BulkPostOptions extends BulkOptions {
  /**
   * Names the whole, so that a program which was interrupted can be run again with the same items within 24 hours: what
   * was made before is answered again. At most 230 ASCII characters. By default one that holds for this call.
   */
  idempotencyKey?: string | undefined;
}

/** How far many changes are. */
export interface BulkProgress {
  /** Items that were done. */
  done: number;
  /** Items that were refused or failed. */
  failed: number;
  /** All items, those to come included. */
  total: number;
}
