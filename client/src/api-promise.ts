import type { RateLimit } from './rate-limits.ts';

/** An API response with its data, status, headers and rate limits. */
export interface ApiResponse<Data> {
  /** The data. Without `withResponse()`, the call resolves to this data. */
  data: Data;
  /** The HTTP status. The status is 304 if the resource has not changed since the response in `ifNoneMatch`. */
  status: number;
  /** The response headers. In a browser, only the headers that the server exposes with CORS. */
  headers: Headers;
  /** The ETag of the resource. You can pass it as `ifMatch`. Undefined for lists. */
  etag: string | undefined;
  /**
   * The request id. Include it when you report a problem to the server's operator. Undefined in a browser if the server
   * doesn't expose the `x-request-id` header with CORS.
   */
  requestId: string | undefined;
  /** The rate limits of the API key. The global limit is first. Empty for ping. */
  rateLimits: RateLimit[];
}

/** The promise that client methods return. It resolves to the data of the response. */
export class ApiPromise<Data> implements Promise<Data> {
  readonly [Symbol.toStringTag] = 'ApiPromise';
  readonly #send: () => Promise<ApiResponse<Data>>;
  #response: Promise<ApiResponse<Data>> | undefined;

  /** @internal */
  constructor(send: () => Promise<ApiResponse<Data>>) {
    this.#send = send;
  }

  /**
   * Returns a promise that resolves to the data, the status and the headers of the response.
   *
   * @example
   * const { data, status, requestId, rateLimits } = await client.tickets.get(38).withResponse();
   */
  withResponse(): Promise<ApiResponse<Data>> {
    this.#response ??= this.#send();
    return this.#response;
  }

  /** Attaches callbacks for the data and for the error, like `Promise.prototype.then`. */
  // biome-ignore lint/suspicious/noThenProperty: it is a promise
  readonly then: Promise<Data>['then'] = (onFulfilled, onRejected) =>
    this.withResponse()
      .then(({ data }) => data)
      .then(onFulfilled, onRejected);

  /** Attaches a callback that runs if the call fails, usually with an `ItsmError`. */
  readonly catch: Promise<Data>['catch'] = (onRejected) => this.then(null, onRejected);

  /** Attaches a callback that runs when the call succeeds or fails. */
  readonly finally: Promise<Data>['finally'] = (onFinally) => this.then().finally(onFinally);
}
