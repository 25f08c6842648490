import type { ErrorCode, ErrorDetail, Open, Scope } from './generated.ts';
import type { RateLimit } from './rate-limits.ts';

/** The same in every copy of this package, so that an error of one is known to another. */
const brand = Symbol.for('@itsm-api/client/error');

/** What holds of every write without an answer. */
const doubt = 'A write may have been done: look before you repeat it.';

/** What is known of a failure. */
export interface Failure {
  code: string;
  method: string;
  path: string;
  status?: number | undefined;
  headers?: Headers | undefined;
  requestId?: string | undefined;
  retryAfterSeconds?: number | undefined;
  requiredScope?: string | undefined;
  details?: ErrorDetail[] | undefined;
  docs?: string | undefined;
  remedy?: string | undefined;
  rateLimits?: RateLimit[] | undefined;
  cause?: unknown;
}

/**
 * Whatever a method of the client rejects with, but for a `TypeError` on arguments that can't be sent.
 * Each code has a class of its own; a code of a newer server is a plain `ItsmError`.
 */
export class ItsmError extends Error {
  /** What went wrong, for programs: a code of the API, or one of the client's own, such as `TIMEOUT`. */
  declare readonly code: string;
  /** The HTTP method of the request. */
  declare readonly method: string;
  /** Its path, without `/api/public/v1` and without its query. */
  declare readonly path: string;
  /** The HTTP status; undefined where no answer came. */
  declare readonly status: number | undefined;
  /** The headers of the answer. */
  declare readonly headers: Headers | undefined;
  /** Names the request to whoever runs the service. */
  declare readonly requestId: string | undefined;
  /** How long to wait before the request may be repeated, where the answer says it. */
  declare readonly retryAfterSeconds: number | undefined;
  /** What is wrong with which field or parameter; empty where nothing is named. */
  declare readonly details: ErrorDetail[];
  /** The page on which the server says what the code means. Undefined where no answer of the API came. */
  declare readonly docs: string | undefined;
  /** What to do about it, where the message doesn't say it. */
  declare readonly remedy: string | undefined;
  /** The limits of the key, where the answer tells them. */
  declare readonly rateLimits: RateLimit[];
  /** Where a walk over a list stopped: give it to `list({ page })` to go on from there. */
  declare page: number | undefined;
  /** Where following changes stopped: give it to `changes({ cursor })` to go on from there. */
  declare cursor: string | undefined;

  constructor(message: string, failure: Failure) {
    const { cause, ...known } = failure;
    super(message, cause === undefined ? undefined : { cause });
    Object.assign(this, { remedy: remedies.get(known.code), ...known, details: known.details ?? [] });
    this.rateLimits ??= [];
    Object.defineProperty(this, brand, { value: true });
  }

  /** All of it but the headers, for logs: `JSON.stringify(error)`. */
  toJSON(): Record<string, unknown> {
    const { name, message, headers: _, cause, ...rest } = this;
    return { name, message, ...rest, cause: plain(cause) };
  }

  static {
    // On the prototype, where a stack trace finds it, and as text, which minifying leaves alone.
    ItsmError.prototype.name = 'ItsmError';
  }
}

/** A field, query parameter or path id is wrong; `details` names each. */
export class ValidationError extends ItsmError {
  declare readonly code: 'VALIDATION_ERROR';
}

/** The body was not JSON, or empty where one is needed. */
export class InvalidJsonError extends ItsmError {
  declare readonly code: 'INVALID_JSON';
}

/** The body was of another content type than JSON. */
export class UnsupportedMediaTypeError extends ItsmError {
  declare readonly code: 'UNSUPPORTED_MEDIA_TYPE';
}

/** The body, a header, or the nesting or values of the JSON were over the limit. */
export class PayloadTooLargeError extends ItsmError {
  declare readonly code: 'PAYLOAD_TOO_LARGE';
}

/** The state cannot change as asked; the message names the allowed states. */
export class InvalidTransitionError extends ItsmError {
  declare readonly code: 'INVALID_TRANSITION';
}

/** An id in the body names nothing in this workspace. */
export class InvalidReferenceError extends ItsmError {
  declare readonly code: 'INVALID_REFERENCE';
}

/** The list takes too long to find, or may have more rows than are told of it: it needs narrower filters. */
export class QueryTooBroadError extends ItsmError {
  declare readonly code: 'QUERY_TOO_BROAD';
}

/** The API key is missing, malformed, unknown, expired or revoked. */
export class InvalidApiKeyError extends ItsmError {
  declare readonly code: 'INVALID_API_KEY';
}

/** The API key lacks the scope that the operation needs. */
export class InsufficientScopeError extends ItsmError {
  declare readonly code: 'INSUFFICIENT_SCOPE';
  /** What the key has to be granted. */
  declare readonly requiredScope: Open<Scope>;
}

/** There is no such row in this workspace, or no such endpoint. */
export class NotFoundError extends ItsmError {
  declare readonly code: 'NOT_FOUND';
}

/** The idempotency key has been used for another request. */
export class IdempotencyKeyReusedError extends ItsmError {
  declare readonly code: 'IDEMPOTENCY_KEY_REUSED';
}

/** A request with this idempotency key is still being answered, and repeating did not help. */
export class IdempotencyInProgressError extends ItsmError {
  declare readonly code: 'IDEMPOTENCY_IN_PROGRESS';
  declare readonly retryAfterSeconds: number;
}

/** The resource is no longer in the state that `ifMatch` names: it was changed meanwhile. Nothing was done. */
export class PreconditionFailedError extends ItsmError {
  declare readonly code: 'PRECONDITION_FAILED';
}

/** A rate limit is exceeded, and repeating did not help. */
export class RateLimitError extends ItsmError {
  declare readonly code: 'RATE_LIMIT_EXCEEDED';
  declare readonly retryAfterSeconds: number;
}

/** Something failed in the service. */
export class InternalError extends ItsmError {
  declare readonly code: 'INTERNAL_ERROR';
}

/** The server is starting, and did not become ready within `maxWaitMs`. It did not process the request. */
export class ServiceUnavailableError extends ItsmError {
  declare readonly code: 'SERVICE_UNAVAILABLE';
  declare readonly retryAfterSeconds: number;
}

/** No answer came: the address, the network or the service is not there. A write may have arrived all the same. */
export class ConnectionError extends ItsmError {
  declare readonly code: 'CONNECTION_FAILED';
}

/** No whole answer came within `timeoutMs`. A write may have arrived all the same. */
export class TimeoutError extends ItsmError {
  declare readonly code: 'TIMEOUT';
}

/** The caller's `signal` was aborted; its reason is the `cause`. A write may have arrived all the same. */
export class AbortError extends ItsmError {
  declare readonly code: 'ABORTED';
}

/** Something answered that does not speak this API: a proxy, a sign-in page, another service. */
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
  QUERY_TOO_BROAD: QueryTooBroadError,
  INVALID_API_KEY: InvalidApiKeyError,
  INSUFFICIENT_SCOPE: InsufficientScopeError,
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

for (const [code, Class] of Object.entries(classes)) Class.prototype.name = nameOf(code);

/** `NotFoundError` of `NOT_FOUND`; three leave out the end of their code. */
function nameOf(code: string): string {
  const words = code.replace(/_ERROR$|(?<=^(RATE_LIMIT|CONNECTION|ABORT)).+/, '').toLowerCase();
  return `${words.replace(/(?:^|_)(.)/g, (_, letter: string) => letter.toUpperCase())}Error`;
}

/** The class of each code. */
export type ErrorClasses = typeof classes;

/** The error of a code, in its class. */
export function createError(message: string, failure: Failure): ItsmError {
  const Class: typeof ItsmError = Object.hasOwn(classes, failure.code)
    ? classes[failure.code as keyof typeof classes]
    : ItsmError;
  return new Class(message, failure);
}

/**
 * Whether the client threw this, and with this code. Unlike `instanceof` it also holds for an error of another copy of
 * this package.
 *
 * @example
 * try {
 *   await client.tickets.get(1042);
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

/** For `catch`: what a request may end with, as a value. Anything else is the caller's mistake and goes to them. */
export function asOutcome(error: unknown): ItsmError {
  if (isItsmError(error)) return error;
  throw error;
}

/** Whether the same may succeed a little later. The first code is also that of a call whose turn would come too late. */
export function isPassing({ code, status = 0 }: ItsmError): boolean {
  return (
    /^(RATE_LIMIT_EXCEEDED|CONNECTION_FAILED|TIMEOUT)$/.test(code) || status === 408 || status === 429 || status >= 500
  );
}

/** What a user of the client does about a code, where the message doesn't say it. */
const remedies = new Map([
  ['INSUFFICIENT_SCOPE', 'Pass a key that has requiredScope.'],
  ['RATE_LIMIT_EXCEEDED', 'Raise maxWaitMs, or pass many to createMany.'],
  ['CONNECTION_FAILED', `Check baseUrl and the network. ${doubt}`],
  ['TIMEOUT', `Raise timeoutMs. ${doubt}`],
  ['UNEXPECTED_ANSWER', "Pass the workspace's own address as baseUrl."],
]);

/** An error as JSON has it, with those that it comes of. */
function plain(cause: unknown): unknown {
  if (!(cause instanceof Error)) return cause;
  return Object.assign({ name: cause.name, message: cause.message }, cause, { cause: plain(cause.cause) });
}
