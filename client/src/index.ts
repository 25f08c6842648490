export { ApiPromise, type ApiResponse } from './api-promise.ts';
export type {
  BulkDone,
  BulkFailed,
  BulkItemResult,
  BulkResult,
  BulkUpsertResult,
  UpsertDone,
  UpsertItemResult,
} from './bulk.ts';
export { ApiChanges, type ChangesPage, type FollowQuery } from './changes.ts';
export { ItsmClient } from './client.ts';
export {
  AbortError,
  AddressNotAllowedError,
  ConnectionError,
  type ErrorClasses,
  ExternalIdExistsError,
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
  QuotaExceededError,
  RateLimitError,
  ServiceUnavailableError,
  TimeoutError,
  UnexpectedAnswerError,
  UnsupportedMediaTypeError,
  ValidationError,
} from './errors.ts';
export type { Download, FileUpload, NamedContent } from './files.ts';
export type * from './generated.ts';
export type * from './generated-resources.ts';
export { ApiList, type ArrayOptions, type Identified, type Page } from './list.ts';
export type {
  BulkOptions,
  BulkPostOptions,
  BulkProgress,
  BulkUpsertOptions,
  CallOptions,
  ClientOptions,
  Logger,
  PostOptions,
  RateLimitWait,
  RequestOptions,
} from './options.ts';
export type { PacedLimit } from './pacing.ts';
export type { RateLimit } from './rate-limits.ts';
