import type { ApiResponse } from './api-promise.ts';
import { createError, type Failure, type ItsmError, isItsmError } from './errors.ts';
import { pathPrefix, version } from './generated.ts';
import { readRateLimits } from './rate-limits.ts';

export interface ClientOptions {
  /** The workspace's own address, such as `https://acme.example.com`, without `/api/public/v1`. */
  baseUrl: string;
  /** Every operation but ping needs one. It is sent as a bearer token and appears in no log and no error. */
  apiKey?: string | undefined;
  /** How long one attempt may take, the reading of its answer included. 30,000 by default. */
  timeoutMs?: number | undefined;
  /** How often a failed request is repeated, at most: 2 by default, 0 for never. */
  maxRetries?: number | undefined;
  /** In place of the global `fetch`: for a proxy, or for tests. */
  fetch?: ((url: string, init: RequestInit) => Promise<Response>) | undefined;
  /** Told of each answer (debug) and of each repetition (warn): `console`, or any other with these two. */
  logger?: Logger | undefined;
  /** Names your program in `User-Agent`, before the client's own name. Browsers send theirs. */
  userAgent?: string | undefined;
}

export interface Logger {
  debug(message: string): void;
  warn(message: string): void;
}

/** What may be said of one call. */
export interface RequestOptions {
  /** Ends the call, its waiting included, with an `AbortError`. */
  signal?: AbortSignal | undefined;
  timeoutMs?: number | undefined;
  maxRetries?: number | undefined;
  /** Change it only in this state: the `etag` that an answer told. Else a `PreconditionFailedError`. */
  ifMatch?: string | undefined;
  /**
   * An answer to the same call. While nothing has changed since, its data is answered again, with the status 304: the
   * server does not send it a second time.
   */
  ifNoneMatch?: ApiResponse<unknown> | undefined;
  /** Sent beside the client's own, such as an `x-request-id`. */
  headers?: Record<string, string> | undefined;
}

/** What may be said of a call that makes something. */
export interface PostOptions extends RequestOptions {
  /**
   * Names the request, so that it is done once however often it is sent: any text of your own that you use for nothing
   * else, such as a UUID. With it the call is repeated as reading is, where nobody knows whether it arrived.
   */
  idempotencyKey?: string | undefined;
}

interface Request {
  method: string;
  path: string;
  scope?: string | undefined;
  query?: object | undefined;
  body?: unknown;
  options?: PostOptions | undefined;
  /** A 429 that says how long to wait is waited for as often as it comes, and is none of the retries. */
  patient?: boolean | undefined;
}

export type Send = <Envelope>(request: Request) => Promise<ApiResponse<Envelope>>;

/** The longest delay that timers take: about 25 days. */
const longestDelay = 2 ** 31 - 1;

/** A longer `Retry-After` is not waited for: the error tells it at once. */
const longestWaitSeconds = 600;

/** What sends requests, repeats them where that is safe, and turns what isn't a success into an `ItsmError`. */
export function createSend(client: ClientOptions): Send {
  const baseUrl = checkBaseUrl(client.baseUrl);
  const apiKey = checkApiKey(client.apiKey);
  const ownHeaders = headersOf(client, apiKey);

  /** Whatever others put into their messages, the key does not get out. */
  const hideKey = (text: string) => (apiKey === undefined ? text : text.replaceAll(apiKey, '[API key]'));
  const fail = (message: string, failure: Failure) => createError(hideKey(message), failure);

  async function attempt<Envelope>(request: Request): Promise<ApiResponse<Envelope>> {
    const { method, path, query, body, options = {} } = request;
    const { signal, timeoutMs = client.timeoutMs ?? 30_000 } = options;
    const headers = new Headers(ownHeaders);
    if (body !== undefined) headers.set('content-type', 'application/json');
    if (options.idempotencyKey !== undefined) headers.set('idempotency-key', options.idempotencyKey);
    if (options.ifMatch !== undefined) headers.set('if-match', options.ifMatch);
    if (options.ifNoneMatch?.etag !== undefined) headers.set('if-none-match', options.ifNoneMatch.etag);
    for (const [name, value] of Object.entries(options.headers ?? {})) headers.set(name, value);
    const payload = body === undefined ? {} : { body: JSON.stringify(body) };
    const url = baseUrl + pathPrefix + path;

    const controller = new AbortController();
    const abort = () => controller.abort(signal?.reason);
    const timer = setTimeout(() => controller.abort(), Math.min(timeoutMs, longestDelay));
    signal?.addEventListener('abort', abort);
    let response: Response;
    let text: string;
    try {
      const send = client.fetch ?? globalThis.fetch;
      response = await send(url + queryString(query), {
        method,
        headers,
        signal: controller.signal,
        redirect: 'manual',
        ...payload,
      });
      text = await response.text();
    } catch (error) {
      if (signal?.aborted) throw aborted(signal);
      const cause = copyOf(error, hideKey);
      if (controller.signal.aborted) {
        throw fail(`${baseUrl} did not answer ${method} ${path} within ${timeoutMs} ms.`, { code: 'TIMEOUT', cause });
      }
      const reason = reasonOf(cause);
      throw fail(`${method} ${path} did not reach ${baseUrl}: ${reason}`, { code: 'CONNECTION_FAILED', cause });
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', abort);
    }

    const { status } = response;
    const rateLimits = readRateLimits(response.headers);
    const unchanged = status === 304 && options.ifNoneMatch !== undefined;
    const envelope = unchanged ? { success: true, data: options.ifNoneMatch?.data } : parse(text);
    if ((response.ok || unchanged) && envelope?.success === true) {
      const etag = response.headers.get('etag') ?? undefined;
      const requestId = response.headers.get('x-request-id') ?? undefined;
      return { data: envelope as Envelope, status, headers: response.headers, etag, requestId, rateLimits };
    }
    // A proxy's page of errors may repeat the request.
    const answered = new Headers(
      Array.from(response.headers, ([name, value]): [string, string] => [name, hideKey(value)]),
    );
    const error = parse(hideKey(text))?.error;
    const failure = {
      status,
      headers: answered,
      requestId: answered.get('x-request-id') ?? error?.requestId,
      rateLimits,
      retryAfterSeconds: retryAfter(answered) ?? error?.retryAfterSeconds,
    };
    if (typeof error?.code !== 'string') {
      throw fail(unexpected(request, url, response), { ...failure, code: 'UNEXPECTED_ANSWER' });
    }
    const { code, message, details, docs } = error;
    throw fail(message, { ...failure, code, details, docs, requiredScope: request.scope });
  }

  return async function send<Envelope>(request: Request) {
    const { method, path, options = {}, patient = false } = request;
    const maxRetries = options.maxRetries ?? client.maxRetries ?? 2;
    for (let retries = 0; ; ) {
      if (options.signal?.aborted) throw aborted(options.signal);
      const began = Date.now();
      const outcome = await attempt<Envelope>(request).catch(expected);
      const what = `${method} ${path}: ${outcome instanceof Error ? outcome.code : outcome.status}`;
      client.logger?.debug(`${what} after ${Date.now() - began} ms, request ${outcome.requestId ?? 'without an id'}`);
      if (!(outcome instanceof Error)) return outcome;

      const free = patient && maxRetries > 0 && outcome.status === 429 && outcome.retryAfterSeconds !== undefined;
      const seconds = Math.max(outcome.retryAfterSeconds ?? 0, backOff(retries));
      if (!isRepeatable(request, outcome) || seconds > longestWaitSeconds) throw outcome;
      if (!free && retries >= maxRetries) throw outcome;
      if (!free) retries += 1;
      client.logger?.warn(`${what}; again in ${seconds.toFixed(1)} s`);
      await sleep(seconds, options.signal);
    }
  };
}

/** What an attempt may end with; anything else is the caller's mistake and goes straight to them. */
function expected(error: unknown): ItsmError {
  if (isItsmError(error)) return error;
  throw error;
}

/** A write is repeated only where it is certain that it was not done, or is not done again. */
function isRepeatable({ method, options }: Request, { code, status = 0 }: ItsmError): boolean {
  if (status === 429 || code === 'IDEMPOTENCY_IN_PROGRESS') return true;
  const harmless = method === 'GET' || (method === 'POST' && options?.idempotencyKey !== undefined);
  return harmless && (status === 408 || status >= 500 || code === 'CONNECTION_FAILED' || code === 'TIMEOUT');
}

/** Seconds: about 0.5, 1, 2, 4, 8, and never more; up to half less, so that clients don't come back together. */
function backOff(retries: number): number {
  return Math.min(0.5 * 2 ** retries, 8) * (1 - Math.random() / 2);
}

function sleep(seconds: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      if (signal !== undefined) reject(aborted(signal));
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, seconds * 1000);
    signal?.addEventListener('abort', stop, { once: true });
    if (signal?.aborted) stop();
  });
}

function aborted({ reason }: AbortSignal): ItsmError {
  return createError('The call was aborted by its signal.', { code: 'ABORTED', cause: reason });
}

/** Seconds, from a number of them or a date. */
function retryAfter(headers: Headers): number | undefined {
  const value = headers.get('retry-after');
  if (value === null || value === '') return undefined;
  const seconds = /^\d+$/.test(value) ? Number(value) : (Date.parse(value) - Date.now()) / 1000;
  return Number.isNaN(seconds) ? undefined : Math.max(0, Math.ceil(seconds));
}

/** Several values of a filter are separated by commas. */
function queryString(query: object | undefined): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query ?? {})) {
    if (value !== undefined) parameters.set(name, String(value));
  }
  return parameters.size === 0 ? '' : `?${parameters}`;
}

interface AnyEnvelope {
  success?: unknown;
  error?: Failure & { message: string };
}

function parse(text: string): AnyEnvelope | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

function unexpected({ method }: Request, url: string, response: Response): string {
  const { status, headers, type } = response;
  const location = headers.get('location');
  const what =
    type === 'opaqueredirect' || location !== null
      ? `a redirect${location === null ? '' : ` to ${location}`}`
      : `${status} and ${headers.get('content-type') ?? 'no content'}`;
  return `${method} ${url} was answered with ${what}, not as this API does. Is baseUrl the workspace's own address?`;
}

/** A copy, since what a given `fetch` throws may hold the request and with it the key. */
function copyOf(error: unknown, hideKey: (text: string) => string): Error {
  const { name, message, code, cause }: NodeError = error instanceof Error ? error : new Error(String(error));
  const copy = new Error(hideKey(message), cause === undefined ? undefined : { cause: copyOf(cause, hideKey) });
  return Object.assign(copy, { name, ...(code !== undefined && { code }) });
}

/** Node's `fetch` says "fetch failed" and has the reason in its cause. */
function reasonOf({ cause, message, code }: NodeError): string {
  return cause instanceof Error ? reasonOf(cause) : message || code || 'no reason is known';
}

interface NodeError extends Error {
  code?: string;
}

function headersOf({ userAgent }: ClientOptions, apiKey: string | undefined): Record<string, string> {
  // A browser would not send another name, but ask the server whether it may.
  const inBrowser = globalThis.navigator?.userAgent?.startsWith('Mozilla/');
  const agent = [userAgent, `itsm-api-client/${version}`].filter(Boolean).join(' ');
  return {
    accept: 'application/json',
    ...(apiKey !== undefined && { authorization: `Bearer ${apiKey}` }),
    ...(!inBrowser && { 'user-agent': agent }),
  };
}

function checkBaseUrl(baseUrl: string): string {
  // What was given is not repeated: it may be the key, put in the wrong place.
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined;
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.password || url.search || url.hash) {
    throw new TypeError("baseUrl must be the workspace's own address, such as https://acme.example.com.");
  }
  const path = url.pathname.replace(/\/+$/, '');
  if (path.endsWith(pathPrefix)) throw new TypeError(`baseUrl must be without ${pathPrefix}: the client adds it.`);
  return url.origin + path;
}

function checkApiKey(given: string | undefined): string | undefined {
  const apiKey = given?.trim();
  if (apiKey !== undefined && !/^[\x21-\x7e]+$/.test(apiKey)) {
    throw new TypeError('apiKey must be one word of ASCII characters, as it was shown when the key was made.');
  }
  return apiKey;
}
