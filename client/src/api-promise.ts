import type { RateLimit } from './rate-limits.ts';

/** What was answered, with what the envelope and the headers say of it. */
export interface ApiResponse<Data> {
  /** What the call itself resolves to. */
  data: Data;
  /** The HTTP status; 304 where `ifNoneMatch` still holds. */
  status: number;
  /** All headers of the answer; a page in a browser may read those that the service allows. */
  headers: Headers;
  /** Names the state that a single resource is in, for `ifMatch`; undefined on lists. */
  etag: string | undefined;
  /** Names the request to whoever runs the service; undefined where a page may not read the header. */
  requestId: string | undefined;
  /** The limits of the key, the global one first; empty on ping. */
  rateLimits: RateLimit[];
}

/** A promise of what was answered, the envelope taken off. */
export class ApiPromise<Data> implements Promise<Data> {
  readonly [Symbol.toStringTag] = 'ApiPromise';
  readonly #send: () => Promise<ApiResponse<Data>>;
  #response: Promise<ApiResponse<Data>> | undefined;

  /** @internal */
  constructor(send: () => Promise<ApiResponse<Data>>) {
    this.#send = send;
  }

  /**
   * The answer with its status and headers.
   *
   * @example
   * const { data, status, requestId, rateLimits } = await client.tickets.get(1042).withResponse();
   */
  withResponse(): Promise<ApiResponse<Data>> {
    this.#response ??= this.#send();
    return this.#response;
  }

  /** What is done with the data, as of every promise. */
  // biome-ignore lint/suspicious/noThenProperty: it is a promise
  readonly then: Promise<Data>['then'] = (onFulfilled, onRejected) =>
    this.withResponse()
      .then(({ data }) => data)
      .then(onFulfilled, onRejected);

  /** What is done with an `ItsmError`. */
  readonly catch: Promise<Data>['catch'] = (onRejected) => this.then(null, onRejected);

  /** What is done either way. */
  readonly finally: Promise<Data>['finally'] = (onFinally) => this.then().finally(onFinally);
}
