import type { ApiResponse } from './api-promise.ts';
import { createError, type Failure } from './errors.ts';
import { pathPrefix, version } from './generated.ts';
import type { ClientOptions, PostOptions } from './options.ts';
import { readRateLimits } from './rate-limits.ts';
import { aborted, maxDelayMs } from './wait.ts';

/** What is to be sent. */
export interface Request {
  method: string;
  path: string;
  /** Whose limit holds it, and what the key needs; both undefined on ping. */
  group?: string | undefined;
  scope?: string | undefined;
  query?: object | undefined;
  /** As JSON: what becomes of the object that was given changes nothing. */
  body?: string | undefined;
  options?: PostOptions | undefined;
}

/** The options of a client, looked at. @throws TypeError for a `baseUrl`, an `apiKey` or a number that can't be one */
export function checkOptions(given: ClientOptions): ClientOptions {
  checkNumbers(given);
  return { ...given, baseUrl: checkBaseUrl(given.baseUrl), apiKey: checkApiKey(given.apiKey) };
}

/** @throws TypeError for NaN, which is what becomes of a number that an environment doesn't have */
export function checkNumbers(options: object): void {
  for (const [name, value] of Object.entries(options)) {
    if (Number.isNaN(value)) throw new TypeError(`${name} is NaN.`);
  }
}

/** Sends a request once. @throws ItsmError on whatever is no success; TypeError on what can't be sent */
export type Attempt = <Envelope>(request: Request) => Promise<ApiResponse<Envelope>>;

/** The one place that speaks to the network. */
export function createAttempt(client: ClientOptions): Attempt {
  const { baseUrl, apiKey } = client;
  const ownHeaders = headersOf(client);

  /** Whatever others put into their messages, the key does not get out. */
  const hideKey = (text: string) => (apiKey === undefined ? text : text.replaceAll(apiKey, '[API key]'));

  return async function attempt<Envelope>(request: Request): Promise<ApiResponse<Envelope>> {
    const { method, path, options = {} } = request;
    const { response, text } = await fetchText(request);
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
    const headers = new Headers(
      Array.from(response.headers, ([name, value]): [string, string] => [name, hideKey(value)]),
    );
    const error = parse(hideKey(text))?.error;
    const failure = {
      method,
      path,
      status,
      headers,
      requestId: headers.get('x-request-id') ?? error?.requestId,
      rateLimits,
      retryAfterSeconds: retryAfter(headers) ?? error?.retryAfterSeconds,
    };
    if (typeof error?.code !== 'string') {
      const message = hideKey(unexpected(`${method} ${baseUrl}${pathPrefix}${path}`, response));
      throw createError(message, { ...failure, code: 'UNEXPECTED_ANSWER' });
    }
    const { code, details, docs } = error;
    const message = String(error.message ?? code);
    const refused = {
      ...failure,
      code,
      details,
      docs: docs && baseUrl + docs,
      requiredScope: status === 403 ? request.scope : undefined,
    };
    if (status !== 401 || apiKey !== undefined) throw createError(message, refused);
    const remedy = 'Pass apiKey to new ItsmClient({ baseUrl, apiKey }).';
    throw createError(`${method} ${path} needs an API key.`, { ...refused, remedy });
  };

  async function fetchText({ method, path, query, body, options = {} }: Request) {
    const { signal, timeoutMs = client.timeoutMs ?? 30_000 } = options;
    const headers = new Headers(ownHeaders);
    const ofRequest = {
      'content-type': body && 'application/json',
      'idempotency-key': method === 'POST' ? options.idempotencyKey : undefined,
      'if-match': options.ifMatch,
      'if-none-match': options.ifNoneMatch?.etag,
      ...options.headers,
    };
    for (const [name, value] of Object.entries(ofRequest)) if (value !== undefined) headers.set(name, value);
    const url = baseUrl + pathPrefix + path + queryString(query);

    const controller = new AbortController();
    const abort = () => controller.abort(signal?.reason);
    const timer = setTimeout(() => controller.abort(), Math.min(timeoutMs, maxDelayMs));
    signal?.addEventListener('abort', abort);
    try {
      const send = client.fetch ?? globalThis.fetch;
      const response = await send(url, {
        method,
        headers,
        signal: controller.signal,
        redirect: 'manual',
        body,
      });
      return { response, text: await response.text() };
    } catch (error) {
      if (signal?.aborted) throw aborted(signal, { method, path });
      const cause = copyOf(error, hideKey);
      const failure = { method, path, cause };
      if (controller.signal.aborted) {
        const message = `${baseUrl} did not answer ${method} ${path} within ${timeoutMs} ms.`;
        throw createError(message, { ...failure, code: 'TIMEOUT' });
      }
      const message = `${method} ${path} did not reach ${baseUrl}: ${reasonOf(cause)}`;
      throw createError(message, { ...failure, code: 'CONNECTION_FAILED' });
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', abort);
    }
  }
}

/** Seconds, from a number of them or a date. */
function retryAfter(headers: Headers): number | undefined {
  const value = headers.get('retry-after');
  if (!value) return undefined;
  const seconds = /^\d+$/.test(value) ? Number(value) : (Date.parse(value) - Date.now()) / 1000;
  return Number.isNaN(seconds) ? undefined : Math.max(0, Math.ceil(seconds));
}

/** Several values of a filter are a parameter each. */
function queryString(query: object | undefined): string {
  const parameters = new URLSearchParams();
  for (const [name, values] of Object.entries(query ?? {})) {
    const all = [values].flat();
    // Without a value it would be no filter at all.
    if (all.length === 0) throw new TypeError(`${name} is empty.`);
    for (const value of all) if (value !== undefined) parameters.append(name, String(value));
  }
  return parameters.size === 0 ? '' : `?${parameters}`;
}

interface AnyEnvelope {
  success?: unknown;
  error?: Omit<Failure, 'method' | 'path'> & { message?: string };
}

function parse(text: string): AnyEnvelope | undefined {
  try {
    // Of text and numbers, too, can be asked what they haven't.
    return JSON.parse(text) ?? undefined;
  } catch {
    return undefined;
  }
}

function unexpected(request: string, { status, headers, type }: Response): string {
  const location = headers.get('location');
  const what =
    type === 'opaqueredirect' || location !== null
      ? `a redirect to ${location ?? 'another page'}`
      : `${status} and ${headers.get('content-type') ?? 'no content'}`;
  return `${request} was answered with ${what}, not as this API does.`;
}

/** A copy, since what a given `fetch` throws may hold the request and with it the key. */
function copyOf(error: unknown, hideKey: (text: string) => string): Error {
  const { name, message, code, cause }: NodeError = error instanceof Error ? error : new Error(String(error));
  const copy = new Error(hideKey(message), cause === undefined ? undefined : { cause: copyOf(cause, hideKey) });
  return Object.assign(copy, { name, ...(code !== undefined && { code }) });
}

/** Node's `fetch` says "fetch failed" and has the reason in its cause. */
function reasonOf({ cause, message, code }: NodeError): string {
  return cause instanceof Error ? reasonOf(cause) : message || code || 'unknown';
}

interface NodeError extends Error {
  code?: string;
}

function headersOf({ userAgent, apiKey }: ClientOptions): Record<string, string> {
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
    throw new TypeError('apiKey must be one word, as it was shown.');
  }
  return apiKey;
}
