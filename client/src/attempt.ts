import type { ApiResponse } from './api-promise.ts';
import { createError, type Failure, isError } from './errors.ts';
import { type FileBody, toDownload } from './files.ts';
import { pathPrefix, version } from './generated.ts';
import type { ClientOptions, PostOptions } from './options.ts';
import { readRateLimits } from './rate-limits.ts';
import { aborted, maxDelayMs } from './wait.ts';

/** A request that the client sends to the API. */
export interface Request {
  method: string;
  path: string;
  /** The rate limit group of the endpoint, and the scope that it requires. Both are undefined for ping. */
  group?: string | undefined;
  scope?: string | undefined;
  query?: object | undefined;
  /**
   * The body as JSON text. The client serializes the body when the call starts, so later changes to the passed object
   * have no effect.
   */
  body?: string | undefined;
  /** The file to send instead of a JSON body. */
  file?: FileBody | undefined;
  /** Whether the body of a successful response is a file. */
  isDownload?: boolean | undefined;
  options?: PostOptions | undefined;
}

/** The default timeout of an upload in milliseconds. The server allows the same time. */
const maxUploadMs = 15 * 60_000;

/** Validates the options of a client. @throws TypeError if `baseUrl`, `apiKey` or a numeric option is invalid */
export function checkOptions(options: ClientOptions): ClientOptions {
  checkNumbers(options);
  return { ...options, baseUrl: checkBaseUrl(options.baseUrl), apiKey: checkApiKey(options.apiKey) };
}

/**
 * Rejects options that are NaN, for example `Number(undefined)`.
 * @throws TypeError
 */
export function checkNumbers(options: object): void {
  for (const [name, value] of Object.entries(options)) {
    if (Number.isNaN(value)) throw new TypeError(`${name} is NaN. Pass a number.`);
  }
}

/** Sends a request once, without retries. @throws ItsmError if the request fails; TypeError for an invalid parameter */
export type Attempt = <Envelope>(request: Request) => Promise<ApiResponse<Envelope>>;

/** Creates the function that sends a request with `fetch`. No other client code accesses the network. */
export function createAttempt(client: ClientOptions): Attempt {
  const { baseUrl, apiKey } = client;
  const ownHeaders = createHeaders(client);

  /** Removes the API key from a text. Messages from a proxy or from a custom `fetch` may contain the key. */
  const hideKey = (text: string) => (apiKey === undefined ? text : text.replaceAll(apiKey, '[API key]'));

  return async function attempt<Envelope>(request: Request): Promise<ApiResponse<Envelope>> {
    const { method, path, options = {} } = request;
    const { response, text } = await fetchText(request);
    const { status } = response;
    const rateLimits = readRateLimits(response.headers);
    const isUnchanged = status === 304 && options.ifNoneMatch !== undefined;
    const envelope = isUnchanged
      ? { success: true, data: options.ifNoneMatch?.data }
      : text === undefined
        ? { success: true, data: toDownload(response) }
        : parse(text);
    if ((response.ok || isUnchanged) && envelope?.success === true) {
      const etag = response.headers.get('etag') ?? undefined;
      const requestId = response.headers.get('x-request-id') ?? undefined;
      return { data: envelope as Envelope, status, headers: response.headers, etag, requestId, rateLimits };
    }
    // An error response from a proxy may repeat the request headers, which contain the API key.
    const headers = new Headers(
      Array.from(response.headers, ([name, value]): [string, string] => [name, hideKey(value)]),
    );
    const error = parse(hideKey(text ?? ''))?.error;
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
      const message = hideKey(describeUnexpected(`${method} ${baseUrl}${pathPrefix}${path}`, response));
      throw createError(message, { ...failure, code: 'UNEXPECTED_ANSWER' });
    }
    const { code, details, docs } = error;
    const message = String(error.message ?? code);
    const rejection = {
      ...failure,
      code,
      details,
      docs: docs && baseUrl + docs,
      requestUrl:
        failure.requestId && `${baseUrl}/developer/requests?requestId=${encodeURIComponent(failure.requestId)}`,
      requiredScope: code === 'INSUFFICIENT_SCOPE' ? request.scope : undefined,
    };
    if (status !== 401 || apiKey !== undefined) throw createError(message, rejection);
    const remedy = 'Pass apiKey to new ItsmClient({ baseUrl, apiKey }).';
    throw createError(`${method} ${path} requires an API key.`, { ...rejection, remedy });
  };

  /** Sends a request and reads the response as text. Doesn't read the content of a download. */
  async function fetchText({ method, path, query, body, file, isDownload, options = {} }: Request) {
    const { signal, timeoutMs = client.timeoutMs ?? (file ? maxUploadMs : 30_000) } = options;
    const headers = new Headers(ownHeaders);
    const requestHeaders = {
      accept: isDownload ? '*/*' : undefined,
      'content-type': body && 'application/json',
      ...file?.headers,
      'idempotency-key': method === 'POST' ? options.idempotencyKey : undefined,
      'if-match': options.ifMatch,
      'if-none-match': options.ifNoneMatch?.etag,
      ...options.headers,
    };
    for (const [name, value] of Object.entries(requestHeaders)) if (value !== undefined) headers.set(name, value);
    const url = baseUrl + pathPrefix + path + queryString(query);

    let isStreaming = false;
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
        body: file?.content ?? body,
        // `fetch` requires this option for a stream.
        ...(file?.content instanceof ReadableStream && { duplex: 'half' }),
      });
      isStreaming = isDownload === true && response.ok;
      return { response, text: isStreaming ? undefined : await response.text() };
    } catch (error) {
      if (signal?.aborted) throw aborted(signal, { method, path });
      const cause = copyError(error, hideKey);
      const failure = { method, path, cause };
      if (controller.signal.aborted) {
        const message = `${baseUrl} did not respond to ${method} ${path} within ${timeoutMs} ms.`;
        throw createError(message, { ...failure, code: 'TIMEOUT' });
      }
      const message = `${method} ${path} did not reach ${baseUrl}: ${getReason(cause)}`;
      throw createError(message, { ...failure, code: 'CONNECTION_FAILED' });
    } finally {
      clearTimeout(timer);
      // The signal also aborts a download while the caller reads its content.
      if (!isStreaming) signal?.removeEventListener('abort', abort);
    }
  }
}

/** Parses the `Retry-After` header, which contains seconds or a date. Returns seconds. */
function retryAfter(headers: Headers): number | undefined {
  const value = headers.get('retry-after');
  if (!value) return undefined;
  const seconds = /^\d+$/.test(value) ? Number(value) : (Date.parse(value) - Date.now()) / 1000;
  return Number.isNaN(seconds) ? undefined : Math.max(0, Math.ceil(seconds));
}

/**
 * Serializes the query of a URL. If a value is an array, repeats the parameter for each element. The fields of an
 * object become parameters such as `customFields[site]`.
 */
function queryString(query: object | undefined): string {
  const parameters = new URLSearchParams();
  const flat = Object.entries(query ?? {}).flatMap(([name, value]): [string, unknown][] =>
    value instanceof Object && !Array.isArray(value)
      ? Object.entries(value).map(([key, each]) => [`${name}[${key}]`, each])
      : [[name, value]],
  );
  for (const [name, values] of flat) {
    const all = [values].flat();
    // An empty array would add no parameter, so the API would ignore the filter and return all rows.
    if (all.length === 0) throw new TypeError(`${name} is empty. Pass a value or omit it.`);
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
    // `null` is valid JSON, but callers expect undefined instead of null.
    return JSON.parse(text) ?? undefined;
  } catch {
    return undefined;
  }
}

function describeUnexpected(request: string, { status, headers, type }: Response): string {
  const location = headers.get('location');
  const what =
    type === 'opaqueredirect' || location !== null
      ? `a redirect to ${location ?? 'another page'}`
      : `${status} and ${headers.get('content-type') ?? 'no content'}`;
  return `${request} returned ${what}, not a response of this API.`;
}

/**
 * Copies only the name, message, code and causes of an error, and removes the API key from them. Other properties of an
 * error from a custom `fetch` may contain the request.
 */
function copyError(error: unknown, hideKey: (text: string) => string): Error {
  const { name, message, code, cause }: NodeError = isError(error) ? error : new Error(String(error));
  const copy = new Error(hideKey(message), cause === undefined ? undefined : { cause: copyError(cause, hideKey) });
  return Object.assign(copy, { name, ...(code !== undefined && { code }) });
}

/**
 * Returns the message of the innermost cause of a network error. The message of Node's `fetch` itself is only "fetch
 * failed".
 */
function getReason({ cause, message, code }: NodeError): string {
  return cause instanceof Error ? getReason(cause) : message || code || 'unknown';
}

interface NodeError extends Error {
  code?: string;
}

function createHeaders({ userAgent, apiKey }: ClientOptions): Record<string, string> {
  // In a browser, a custom `User-Agent` header would trigger a CORS preflight request.
  const isBrowser = globalThis.navigator?.userAgent?.startsWith('Mozilla/');
  const agent = [userAgent, `itsm-api-client/${version}`].filter(Boolean).join(' ');
  return {
    accept: 'application/json',
    ...(apiKey !== undefined && { authorization: `Bearer ${apiKey}` }),
    ...(!isBrowser && { 'user-agent': agent }),
  };
}

function checkBaseUrl(baseUrl: string): string {
  // The error message doesn't repeat the value of `baseUrl`, because a developer may have passed the API key instead of
  // the URL.
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined;
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.password || url.search || url.hash) {
    throw new TypeError('baseUrl is invalid. Pass the URL of the workspace, such as https://acme.example.com.');
  }
  const path = url.pathname.replace(/\/+$/, '');
  if (path.endsWith(pathPrefix)) throw new TypeError(`baseUrl must not contain ${pathPrefix}.`);
  return url.origin + path;
}

function checkApiKey(value: string | undefined): string | undefined {
  const apiKey = value?.trim();
  if (apiKey !== undefined && !/^[\x21-\x7e]+$/.test(apiKey)) {
    throw new TypeError('apiKey is invalid. Pass the complete key.');
  }
  return apiKey;
}
