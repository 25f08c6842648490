import type { FastifyRequest } from 'fastify';
import { ApiError } from '../../shared/errors.ts';
import { errorCode } from '../../shared/pg-errors.ts';
import { hasRole } from '../ui/layout.ts';
import type { AnyPage } from './page.ts';
import type { RequestContext } from './request-context.ts';

/*
 * Who and what is turned away, and what is said of it.
 */

/** What a form with a file may send: beside the file there is little to say. */
export const uploadLimits = {
  ...{ fileSize: 10 * 2 ** 20, files: 1 },
  ...{ fieldSize: 1000, fields: 5, parts: 6, headerPairs: 20 },
};

/** @throws ApiError INSUFFICIENT_SCOPE for somebody in another role; who isn't signed in is led to signing in before */
export function assertRole(roles: AnyPage['roles'], { user }: RequestContext): void {
  if (user !== undefined && !hasRole(roles, user.account.role))
    throw forbidden('Only administrators can do this. Ask an administrator of your workspace.');
}

export function forbidden(message: string): ApiError {
  return new ApiError('INSUFFICIENT_SCOPE', message);
}

export function notAForm(): ApiError {
  return new ApiError(
    'UNSUPPORTED_MEDIA_TYPE',
    'The content type of this form is not supported. Send it as application/x-www-form-urlencoded.',
  );
}

/** What is wrong with a form before its fields are looked at: undefined where it is something else. */
export function pageErrorOf(thrown: unknown, request: FastifyRequest): ApiError | undefined {
  const code = errorCode(thrown) ?? '';
  if (code.startsWith('FST_CSRF_')) {
    return forbidden('The page was open for too long. Reload it and submit the form again.');
  }
  if (code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') return notAForm();
  if (uploadFaults.includes(code)) {
    return new ApiError(
      'PAYLOAD_TOO_LARGE',
      `The form is too large. Send one file of at most ${uploadLimits.fileSize} bytes and at most ${uploadLimits.fields} fields.`,
    );
  }
  // The parser of forms with files throws errors of no kind.
  const isBroken = request.method === 'POST' && request.visit !== undefined && request.isMultipart() && !request.isRead;
  return isBroken
    ? new ApiError(
        'VALIDATION_ERROR',
        'The form is incomplete or malformed. Reload the page and submit the form again.',
      )
    : undefined;
}

const uploadFaults = ['FST_REQ_FILE_TOO_LARGE', 'FST_FILES_LIMIT', 'FST_PARTS_LIMIT', 'FST_FIELDS_LIMIT'];
