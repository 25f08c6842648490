import type { ErrorCode, ErrorDetail, Open, Scope } from './generated.ts';
import type { RateLimit } from './rate-limits.ts';

/**
 * `Symbol.for` returns the same symbol in every copy of this package, so each copy recognizes the errors of other
 * copies.
 */
const brand = Symbol.for('@itsm-api/client/error');

/** The last sentence of the remedies for CONNECTION_FAILED and TIMEOUT. */
const checkBeforeRetry = 'A write may have taken effect: check before you retry it.';

/** The properties of a new `ItsmError`. */
export interface Failure {
  code: string;
  method: string;
  path: string;
  status?: number | undefined;
  headers?: Headers | undefined;
  requestId?: string | undefined;
  requestUrl?: string | undefined;
  retryAfterSeconds?: number | undefined;
  requiredScope?: string | undefined;
  details?: ErrorDetail[] | undefined;
  docs?: string | undefined;
  remedy?: string | undefined;
  rateLimits?: RateLimit[] | undefined;
  cause?: unknown;
}

/**
 * The error of a failed call. If an argument is invalid, the call rejects with a `TypeError` instead. Each error code
 * has its own subclass. An error with an unknown code from a newer server has the class `ItsmError`.
 */
export class ItsmError extends Error {
  /** The error code of the API, or a code that the client defines, such as `TIMEOUT`. */
  declare readonly code: string;
  /** The HTTP method of the request. */
  declare readonly method: string;
  /** The path of the request without `/api/public/v1` and without the query. */
  declare readonly path: string;
  /** The HTTP status of the response. Undefined if there was no response. */
  declare readonly status: number | undefined;
  /** The headers of the response. Undefined if there was no response. */
  declare readonly headers: Headers | undefined;
  /** The request id. Include it when you report a problem to the server's operator. */
  declare readonly requestId: string | undefined;
  /**
   * The URL of the request in the request log. Administrators and the user of the API key can open it. Undefined if the
   * API sent no response.
   */
  declare readonly requestUrl: string | undefined;
  /** The number of seconds to wait before a retry. Undefined if the response doesn't specify it. */
  declare readonly retryAfterSeconds: number | undefined;
  /** The invalid fields and parameters. Empty if all fields and parameters are valid. */
  declare readonly details: ErrorDetail[];
  /** The URL of the page that explains the error code. Undefined if the API sent no response. */
  declare readonly docs: string | undefined;
  /** How to correct the error. Undefined if the message already describes the correction. */
  declare readonly remedy: string | undefined;
  /** The rate limits of the API key. Empty if the response doesn't contain them. */
  declare readonly rateLimits: RateLimit[];
  /** The page at which an iteration over a list failed. To continue, pass this page to `list({ page })`. */
  declare page: number | undefined;
  /** The cursor at which an iteration over changes failed. To continue, pass this cursor to `changes({ cursor })`. */
  declare cursor: string | undefined;

  constructor(message: string, failure: Failure) {
    const { cause, ...properties } = failure;
    super(message, cause === undefined ? undefined : { cause });
    Object.assign(this, { remedy: remedies.get(properties.code), ...properties, details: properties.details ?? [] });
    this.rateLimits ??= [];
    Object.defineProperty(this, brand, { value: true });
  }

  /** Returns all properties of the error except the headers. `JSON.stringify(error)` calls this method. */
  toJSON(): Record<string, unknown> {
    const { name, message, headers: _, cause, ...rest } = this;
    return { name, message, ...rest, cause: serializeCause(cause) };
  }

  /** Implements `instanceof`, which also recognizes errors from another copy of this package. */
  static override [Symbol.hasInstance](error: unknown): boolean {
    return (
      super[Symbol.hasInstance](error) || (isItsmError(error) && (this === ItsmError || this === classOf(error.code)))
    );
  }

  static {
    // Stack traces contain the `name` of the prototype. An explicit name stays the same if a minifier renames the
    // class.
    ItsmError.prototype.name = 'ItsmError';
  }
}

/** A field, query parameter or path id is invalid. `details` lists each invalid value. */
export class ValidationError extends ItsmError {
  declare readonly code: 'VALIDATION_ERROR';
}

/** The body of the request is missing, or it is not valid JSON. */
export class InvalidJsonError extends ItsmError {
  declare readonly code: 'INVALID_JSON';
}

/** The body of the request is not JSON in UTF-8, or it is compressed. */
export class UnsupportedMediaTypeError extends ItsmError {
  declare readonly code: 'UNSUPPORTED_MEDIA_TYPE';
}

/** The body or the headers of the request are too large, or the JSON has too many values or levels. */
export class PayloadTooLargeError extends ItsmError {
  declare readonly code: 'PAYLOAD_TOO_LARGE';
}

/**
 * The resource can't change from its current status to the requested status. The message lists the allowed statuses.
 */
export class InvalidTransitionError extends ItsmError {
  declare readonly code: 'INVALID_TRANSITION';
}

/** An id in the body matches no resource of this workspace, or it is the id of an inactive user. */
export class InvalidReferenceError extends ItsmError {
  declare readonly code: 'INVALID_REFERENCE';
}

/** Another resource has the `externalId`. `details[0].id` is the id of that resource. */
export class ExternalIdExistsError extends ItsmError {
  declare readonly code: 'EXTERNAL_ID_EXISTS';
}

/** The attachments of the workspace would need more bytes than its quota allows. Delete attachments. */
export class QuotaExceededError extends ItsmError {
  declare readonly code: 'QUOTA_EXCEEDED';
}

/** The query of a list takes too long, or the list has more rows than the API returns. Narrow the filters. */
export class QueryTooBroadError extends ItsmError {
  declare readonly code: 'QUERY_TOO_BROAD';
}

/** The API key of the request is missing, malformed, unknown, expired or revoked. */
export class InvalidApiKeyError extends ItsmError {
  declare readonly code: 'INVALID_API_KEY';
}

/** The API key lacks the required scope. */
export class InsufficientScopeError extends ItsmError {
  declare readonly code: 'INSUFFICIENT_SCOPE';
  /** The scope that the API key needs. */
  declare readonly requiredScope: Open<Scope>;
}

/** The API key isn't allowed from the IP address of the client. */
export class AddressNotAllowedError extends ItsmError {
  declare readonly code: 'ADDRESS_NOT_ALLOWED';
}

/** The resource doesn't exist in this workspace, or the endpoint doesn't exist. */
export class NotFoundError extends ItsmError {
  declare readonly code: 'NOT_FOUND';
}

/** The idempotency key was already used for a different request. */
export class IdempotencyKeyReusedError extends ItsmError {
  declare readonly code: 'IDEMPOTENCY_KEY_REUSED';
}

/** The server is still processing an earlier request with the same idempotency key, even after the client's retries. */
export class IdempotencyInProgressError extends ItsmError {
  declare readonly code: 'IDEMPOTENCY_IN_PROGRESS';
  declare readonly retryAfterSeconds: number;
}

/** The ETag of the resource no longer matches `ifMatch`. The server made no changes. */
export class PreconditionFailedError extends ItsmError {
  declare readonly code: 'PRECONDITION_FAILED';
}

/** A rate limit or concurrency limit doesn't allow the call within `maxWaitMs`. */
export class RateLimitError extends ItsmError {
  declare readonly code: 'RATE_LIMIT_EXCEEDED';
  declare readonly retryAfterSeconds: number;
}

/** An unexpected error occurred on the server. */
export class InternalError extends ItsmError {
  declare readonly code: 'INTERNAL_ERROR';
}

/**
 * The server is starting or the workspace is in maintenance, and did not become available within `maxWaitMs`. The
 * server did not process the request.
 */
export class ServiceUnavailableError extends ItsmError {
  declare readonly code: 'SERVICE_UNAVAILABLE';
  declare readonly retryAfterSeconds: number;
}

/** The connection failed. Check the URL, the network and the server. A write may have taken effect. */
export class ConnectionError extends ItsmError {
  declare readonly code: 'CONNECTION_FAILED';
}

/** The client received no complete response within `timeoutMs`. A write may have taken effect. */
export class TimeoutError extends ItsmError {
  declare readonly code: 'TIMEOUT';
}

/** Your `signal` aborted the call. `cause` is the abort reason. A write may have taken effect. */
export class AbortError extends ItsmError {
  declare readonly code: 'ABORTED';
}

/** The response is not from this API. It may be from a proxy, a sign-in page or another service. */
export class UnexpectedAnswerError extends ItsmError {
  declare readonly code: 'UNEXPECTED_ANSWER';
}

const classes = {
  VALIDATION_ERROR: ValidationError,
  INVALID_JSON: InvalidJsonError,
  UNSUPPORTED_MEDIA_TYPE: UnsupportedMediaTypeError,
  PAYLOAD_TOO_LARGE: PayloadTooLargeError,
  INVALID_TRANSITION: InvalidTransitionError,
  INVALID_REFERENCE: InvalidReferenceError,
  EXTERNAL_ID_EXISTS: ExternalIdExistsError,
  QUOTA_EXCEEDED: QuotaExceededError,
  QUERY_TOO_BROAD: QueryTooBroadError,
  INVALID_API_KEY: InvalidApiKeyError,
  INSUFFICIENT_SCOPE: InsufficientScopeError,
  ADDRESS_NOT_ALLOWED: AddressNotAllowedError,
  NOT_FOUND: NotFoundError,
  IDEMPOTENCY_KEY_REUSED: IdempotencyKeyReusedError,
  IDEMPOTENCY_IN_PROGRESS: IdempotencyInProgressError,
  PRECONDITION_FAILED: PreconditionFailedError,
  RATE_LIMIT_EXCEEDED: RateLimitError,
  INTERNAL_ERROR: InternalError,
  SERVICE_UNAVAILABLE: ServiceUnavailableError,
  CONNECTION_FAILED: ConnectionError,
  TIMEOUT: TimeoutError,
  ABORTED: AbortError,
  UNEXPECTED_ANSWER: UnexpectedAnswerError,
} satisfies Record<ErrorCode, typeof ItsmError> & Record<string, typeof ItsmError>;

for (const [code, Class] of Object.entries(classes)) Class.prototype.name = toClassName(code);

/**
 * Returns the class name of an error code, for example `NotFoundError` for `NOT_FOUND`. The class names of
 * `RATE_LIMIT_EXCEEDED`, `CONNECTION_FAILED` and `ABORTED` are shorter than the codes.
 */
function toClassName(code: string): string {
  const words = code.replace(/_ERROR$|(?<=^(RATE_LIMIT|CONNECTION|ABORT)).+/, '').toLowerCase();
  return `${words.replace(/(?:^|_)(.)/g, (_, letter: string) => letter.toUpperCase())}Error`;
}

/** The error class of each error code. */
export type ErrorClasses = typeof classes;

/** Creates an error with the class for the given code. If the code is unknown, the class is `ItsmError`. */
export function createError(message: string, failure: Failure): ItsmError {
  return new (classOf(failure.code))(message, failure);
}

function classOf(code: string): typeof ItsmError {
  return Object.hasOwn(classes, code) ? classes[code as keyof ErrorClasses] : ItsmError;
}

/**
 * Returns true if an error is an `ItsmError`, also from another copy of this package. If you pass a code, the error must
 * also have this code.
 *
 * @example
 * try {
 *   await client.tickets.get(38);
 * } catch (error) {
 *   if (isItsmError(error, 'NOT_FOUND')) console.log('It is gone.');
 *   else throw error;
 * }
 */
export function isItsmError(error: unknown): error is ItsmError;
export function isItsmError<Code extends keyof ErrorClasses>(
  error: unknown,
  code: Code,
): error is InstanceType<ErrorClasses[Code]>;
export function isItsmError(error: unknown, code?: string): boolean {
  if (typeof error !== 'object' || error === null || !(brand in error)) return false;
  return code === undefined || (error as { code?: unknown }).code === code;
}

/** Returns the error if it is an `ItsmError`. Rethrows other errors, because the caller caused them. */
export function asOutcome(error: unknown): ItsmError {
  if (isItsmError(error)) return error;
  throw error;
}

/**
 * Returns true if a later retry may succeed, except for errors of a rate limit. Also checks the error code, because some errors that the client creates
 * have no HTTP status.
 */
export function isTransient({ code, status = 0 }: ItsmError): boolean {
  return /^(CONNECTION_FAILED|TIMEOUT)$/.test(code) || status === 408 || status >= 500;
}

/** Maps error codes to remedies. For all other codes, the error message already describes the remedy. */
const remedies = new Map([
  ['INSUFFICIENT_SCOPE', 'Pass a key that has requiredScope.'],
  ['RATE_LIMIT_EXCEEDED', 'Raise maxWaitMs, or use createMany.'],
  ['CONNECTION_FAILED', `Check baseUrl and the network. ${checkBeforeRetry}`],
  ['TIMEOUT', `Raise timeoutMs. ${checkBeforeRetry}`],
  ['UNEXPECTED_ANSWER', 'Pass the URL of the workspace as baseUrl.'],
]);

/** Converts an error's cause and all nested causes to objects that JSON can represent. */
function serializeCause(cause: unknown): unknown {
  if (!isError(cause)) return cause;
  return Object.assign({ name: cause.name, message: cause.message }, cause, { cause: serializeCause(cause.cause) });
}

/**
 * Returns true if a value is an error or a `DOMException`. Doesn't use `instanceof`, because errors of another realm, such
 * as those of `fetch` in Jest, aren't instances of this realm's `Error`.
 */
export function isError(value: unknown): value is Error {
  return /(Error|Exception)\]$/.test(Object.prototype.toString.call(value));
}
