import { type ErrorCode, type ErrorDetail, errors } from '@itsm-api/contract';

/**
 * What a handler or query throws to be answered as an error; the code decides the status (contract/src/errors.ts).
 * The message says what was wrong and what would be right. It never repeats an id: the answer for another tenant's
 * id must be that for an id that doesn't exist (docs/decisions/tickets.md).
 */
export class ApiError extends Error {
  override name = 'ApiError';
  readonly code: ErrorCode;
  readonly details: readonly ErrorDetail[] | undefined;
  readonly retryAfterSeconds: number | undefined;

  constructor(code: ErrorCode, message: string, extra: { details?: ErrorDetail[]; retryAfterSeconds?: number } = {}) {
    super(message);
    this.code = code;
    this.details = extra.details;
    this.retryAfterSeconds = extra.retryAfterSeconds;
  }

  get status(): number {
    return errors[this.code].status;
  }
}

/** The row that a path names is not there, or another tenant's. */
export function notFound(resource: string): ApiError {
  return new ApiError('NOT_FOUND', `There is no such ${resource} in this workspace.`);
}

/** One field is wrong in a way that only the row or the database shows. */
export function invalidField(code: ErrorCode, path: string, message: string): ApiError {
  return new ApiError(code, `${path} ${message}`, { details: [{ path, message }] });
}
