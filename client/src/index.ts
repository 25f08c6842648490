export { ApiPromise, type ApiResponse } from './api-promise.ts';
export { ItsmClient } from './client.ts';
export {
  AbortError,
  ConnectionError,
  type ErrorClasses,
  IdempotencyInProgressError,
  IdempotencyKeyReusedError,
  InsufficientScopeError,
  InternalError,
  InvalidApiKeyError,
  InvalidJsonError,
  InvalidReferenceError,
  InvalidTransitionError,
  ItsmError,
  isItsmError,
  NotFoundError,
  PayloadTooLargeError,
  PreconditionFailedError,
  QueryTooBroadError,
  RateLimitError,
  TimeoutError,
  UnexpectedAnswerError,
  UnsupportedMediaTypeError,
  ValidationError,
} from './errors.ts';
export type * from './generated.ts';
export type * from './generated-resources.ts';
export type { ClientOptions, Logger, PostOptions, RequestOptions } from './http.ts';
export { ApiList, type ChangesPage, type Page } from './list.ts';
export type { RateLimit } from './rate-limits.ts';
