import { type ErrorCode, type ErrorDetail, errors } from '@itsm-api/contract';

/**
 * An error for the client. Its `code` determines the HTTP status (contract/src/errors.ts). The message says what is
 * wrong, then what to do. The message never contains the rejected id, because the responses for an id of another tenant
 * and for an id that doesn't exist must be the same (docs/decisions/tickets.md).
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

/**
 * The error for a file that the store of attachments lacks, although the store is available. A retry can't help, so the
 * error has no `retryAfterSeconds`.
 */
export class MissingFileError extends ApiError {
  /** The key of the file in the store. */
  readonly key: string;

  constructor(key: string) {
    const next = 'Report the request id to the operator of the server.';
    super('INTERNAL_ERROR', `The file of this attachment is missing in the attachment store. ${next}`);
    this.key = key;
  }
}

/**
 * Returns the error for an id that doesn't exist or belongs to another tenant.
 * @param reference what identifies the resource, such as `id`
 */
export function notFound(resource: string, reference = resource === 'ticket' ? 'id or ticket number' : 'id'): ApiError {
  const name = `${resource.charAt(0).toUpperCase()}${resource.slice(1)}`;
  return new ApiError('NOT_FOUND', `${name} not found in this workspace. Check the ${reference}.`);
}

/** Returns the row that a query has found. @throws ApiError NOT_FOUND if it has found none */
export function requireRow<Row>(row: Row | null | undefined, resource: string, reference?: string): Row {
  if (row === null || row === undefined) throw notFound(resource, reference);
  return row;
}

/**
 * Returns the error for a request or a command that finds a tenant in maintenance (docs/decisions/maintenance.md).
 * @param tenant the tenant, as the message names it
 */
export function maintenanceError(tenant = 'This workspace'): ApiError {
  const message = `${tenant} is in maintenance. Retry in ${formatSeconds(maintenanceRetrySeconds)}.`;
  return new ApiError('SERVICE_UNAVAILABLE', message, { retryAfterSeconds: maintenanceRetrySeconds });
}

const maintenanceRetrySeconds = 30;

/** Returns the error for an action that a deactivated webhook subscription doesn't allow. */
export function deactivatedSubscription(): ApiError {
  return new ApiError(
    'NOT_FOUND',
    'This webhook subscription is deactivated. Reactivate it in the developer area or on the command line.',
  );
}

/** Formats a number of seconds for an error message, for example as `1 second` or `5 seconds`. */
export function formatSeconds(seconds: number): string {
  return `${seconds} ${seconds === 1 ? 'second' : 'seconds'}`;
}

/**
 * Returns the error message for a value that must be unique but is already in use.
 * @param resource the type of the resource, such as `asset`
 */
export function takenBy(resource: string, value: string): string {
  return `${value} is already used by another ${resource}. Choose a different value.`;
}

/** Returns the error for a field value that is invalid for a reason that the schema can't check. */
export function invalidField(code: ErrorCode, path: string, message: string): ApiError {
  return new ApiError(code, `${path} ${message}`, { details: [{ path, message }] });
}
