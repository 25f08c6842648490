import type { RateLimit } from './rate-limits.ts';

/** A response of the API with its data, status, headers and rate limits. */
export interface ApiResponse<Data> {
  /** The data to which the call resolves without `withResponse()`. */
  data: Data;
  /** The HTTP status. It is 304 if the resource is unchanged since `ifNoneMatch`. */
  status: number;
  /** The response headers. In a browser, only the headers that the server exposes with CORS. */
  headers: Headers;
  /** The ETag of a single resource, for `ifMatch`. Undefined for lists. */
  etag: string | undefined;
  /**
   * The request id. Include it when you report a problem to the operator of the server. Undefined if a browser page may
   * not read the header.
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
   * Returns a promise of the data together with the status and headers of the response.
   *
   * @example
   * const { data, status, requestId, rateLimits } = await client.tickets.get(1042).withResponse();
   */
  withResponse(): Promise<ApiResponse<Data>> {
    this.#response ??= this.#send();
    return this.#response;
  }

  /** Attaches callbacks for the data and for an error, like `Promise.prototype.then`. */
  // biome-ignore lint/suspicious/noThenProperty: it is a promise
  readonly then: Promise<Data>['then'] = (onFulfilled, onRejected) =>
    this.withResponse()
      .then(({ data }) => data)
      .then(onFulfilled, onRejected);

  /** Attaches a callback for an error, which is usually an `ItsmError`. */
  readonly catch: Promise<Data>['catch'] = (onRejected) => this.then(null, onRejected);

  /** Attaches a callback that runs after success and after an error. */
  readonly finally: Promise<Data>['finally'] = (onFinally) => this.then().finally(onFinally);
}
