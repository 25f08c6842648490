import type { FastifyRequest } from 'fastify';
import { errorCode } from '../../shared/error-codes.ts';
import { ApiError } from '../../shared/errors.ts';
import { type AnyPage, hasRole } from './page.ts';
import type { RequestContext } from './request-context.ts';

/** Limits for forms that upload a file and have few other fields. `fileSize` and `fieldSize` are in bytes. */
export const uploadLimits = {
  ...{ fileSize: 10 * 2 ** 20, files: 1 },
  ...{ fieldSize: 1000, fields: 5, parts: 6, headerPairs: 20 },
};

/**
 * Checks the role of a signed-in user. Without a session, checks nothing.
 * @throws ApiError INSUFFICIENT_SCOPE
 */
export function assertRole(roles: AnyPage['roles'], { user }: RequestContext): void {
  if (user !== undefined && !hasRole(roles, user.account.role))
    throw forbiddenError('Only administrators can do this. Ask an administrator of your workspace.');
}

export function forbiddenError(message: string): ApiError {
  return new ApiError('INSUFFICIENT_SCOPE', message);
}

export function unsupportedFormError(): ApiError {
  return new ApiError(
    'UNSUPPORTED_MEDIA_TYPE',
    'The content type of this form is not supported. Send it as application/x-www-form-urlencoded.',
  );
}

/** Returns the limits for the forms of a page. */
export function limitsOf({ forms = {} }: AnyPage, { maxBytes }: { maxBytes: number }): typeof uploadLimits {
  const hasAttachment = Object.values(forms).some(({ upload }) => upload === 'attachment');
  return hasAttachment ? { ...uploadLimits, fileSize: maxBytes } : uploadLimits;
}

/** Converts errors from the CSRF check and the body parsers to API errors. Returns undefined for other errors. */
export function toPageError(thrown: unknown, request: FastifyRequest): ApiError | undefined {
  const code = errorCode(thrown) ?? '';
  if (code.startsWith('FST_CSRF_')) {
    return forbiddenError('The page was open for too long. Reload it and submit the form again.');
  }
  if (code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') return unsupportedFormError();
  if (uploadErrors.includes(code)) {
    const { fileSize: maxBytes } = request.routeOptions.config.multipartOptions?.limits ?? uploadLimits;
    return new ApiError(
      'PAYLOAD_TOO_LARGE',
      `The form is too large. Send at most ${uploadLimits.fields} fields, and one file of at most ${maxBytes} bytes.`,
    );
  }
  // Errors from the multipart parser have no code. The only sign of such an error is a multipart body that was not read
  // completely.
  const isBroken =
    request.method === 'POST' && request.visit !== undefined && request.isMultipart() && !request.isBodyRead;
  return isBroken
    ? new ApiError(
        'VALIDATION_ERROR',
        'The form is incomplete or malformed. Reload the page and submit the form again.',
      )
    : undefined;
}

const uploadErrors = ['FST_REQ_FILE_TOO_LARGE', 'FST_FILES_LIMIT', 'FST_PARTS_LIMIT', 'FST_FIELDS_LIMIT'];
