import { docsOf, type ErrorCode, type ErrorEnvelope, errors } from '../errors.ts';
import { rateLimits, requestLimits } from '../limits.ts';
import { ticketTransitions } from '../resources/tickets.ts';
import type { Content, Example, Reference } from './types.ts';

export const errorCodes = Object.keys(errors) as ErrorCode[];

type ErrorExample = Omit<ErrorEnvelope['error'], 'code' | 'docs' | 'requestId'>;

/** Example messages and details, by error code. */
const examplesByCode: Record<ErrorCode, ErrorExample> = {
  VALIDATION_ERROR: detailed('perPage', 'must be a whole number from 1 to 100'),
  INVALID_JSON: { message: 'The body is empty. Send a JSON object.' },
  UNSUPPORTED_MEDIA_TYPE: {
    message: 'The body is not declared as JSON in UTF-8. Send it with `Content-Type: application/json`.',
  },
  PAYLOAD_TOO_LARGE: {
    message: `The body is larger than ${requestLimits.bodyBytes} bytes. Send less data in each request.`,
  },
  INVALID_TRANSITION: detailed(
    'status',
    `can't change from RESOLVED to OPEN. Allowed values: ${ticketTransitions.RESOLVED.join(', ')}.`,
  ),
  INVALID_REFERENCE: detailed('assigneeId', 'must be an active user of this workspace'),
  EXTERNAL_ID_EXISTS: detailed(
    'externalId',
    'is already used by another ticket. Use that ticket, or choose a different value.',
    38,
  ),
  QUOTA_EXCEEDED: {
    message:
      'The attachments of this workspace would exceed its quota of 5368709120 bytes. Delete attachments, then retry.',
  },
  QUERY_TOO_BROAD: {
    message: 'The query took too long. Narrow it: add a filter, or add a word to `q`.',
  },
  INVALID_API_KEY: {
    message: 'The API key is invalid, expired or revoked. Send the complete key, or create a new one.',
  },
  INSUFFICIENT_SCOPE: { message: 'This API key lacks the scope tickets:write. Use a key that has it.' },
  ADDRESS_NOT_ALLOWED: {
    message:
      "This API key isn't allowed from the address 203.0.113.7. " +
      'Send the request from an allowed network, or ask an administrator to allow the address.',
  },
  NOT_FOUND: { message: 'Ticket not found in this workspace. Check the id or ticket number.' },
  IDEMPOTENCY_KEY_REUSED: {
    message:
      'This `Idempotency-Key` was already used for a request with a different path, body or file type. ' +
      'Use a new key for a new request. To retry the first request, send it unchanged.',
  },
  IDEMPOTENCY_IN_PROGRESS: {
    message: 'A request with this `Idempotency-Key` is still in progress. Retry in 1 second with the same key.',
    retryAfterSeconds: 1,
  },
  PRECONDITION_FAILED: {
    message:
      "The resource has changed: `If-Match` doesn't match its current `ETag`. " +
      'Get the resource again, check your change, and retry with the new `ETag`.',
  },
  RATE_LIMIT_EXCEEDED: {
    message:
      `This API key has reached its limit of ${rateLimits.group} requests per ${rateLimits.windowSeconds} seconds ` +
      'for the endpoint group `tickets`. Retry in 17 seconds.',
    retryAfterSeconds: 17,
  },
  INTERNAL_ERROR: {
    message:
      'An unexpected error occurred on the server. ' +
      'You can retry a read, or a write with the same `Idempotency-Key`. ' +
      'If it happens again, report the request id to the operator of the server.',
  },
  SERVICE_UNAVAILABLE: { message: 'The server is starting. Retry in 5 seconds.', retryAfterSeconds: 5 },
};

function detailed(path: string, message: string, id?: number): ErrorExample {
  return { message: `${path} ${message}`, details: [{ path, message, ...(id !== undefined && { id }) }] };
}

/** Example bodies of error responses for the OpenAPI document, by error code. */
export const errorExamples: Record<string, Example> = Object.fromEntries(
  errorCodes.map((code) => {
    const error = { code, ...examplesByCode[code], docs: docsOf(code), requestId: '01994f6a8d9c7e0f8a2b3c4d5e6f7a8b' };
    return [code, { summary: errors[code].when, value: { success: false, error } satisfies ErrorEnvelope }];
  }),
);

/** Returns the OpenAPI content of an error response that can have the given error codes. */
export function errorContent(codes: readonly ErrorCode[]): Content {
  const examples = codes.map((code): [string, Reference] => [code, { $ref: `#/components/examples/${code}` }]);
  return {
    'application/json': {
      schema: { $ref: '#/components/schemas/ErrorEnvelope' },
      examples: Object.fromEntries(examples),
    },
  };
}

/** Returns a description that lists the error codes and the condition for each code. */
export function describeErrors(codes: readonly ErrorCode[]): string {
  return codes.map((code) => `- \`${code}\`: ${errors[code].when}`).join('\n');
}
