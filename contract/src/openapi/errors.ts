import { docsOf, type ErrorCode, type ErrorEnvelope, errors } from '../errors.ts';
import { rateLimits, requestLimits } from '../limits.ts';
import { ticketTransitions } from '../tickets.ts';
import type { Content, Example, Reference } from './types.ts';

export const errorCodes = Object.keys(errors) as ErrorCode[];

type Said = Omit<ErrorEnvelope['error'], 'code' | 'docs' | 'requestId'>;

/** An example of the error with each code. */
const said: Record<ErrorCode, Said> = {
  VALIDATION_ERROR: detailed('perPage', 'must be a whole number from 1 to 100'),
  INVALID_JSON: { message: 'The body is empty; send a JSON object.' },
  UNSUPPORTED_MEDIA_TYPE: {
    message: 'Send the body as JSON in UTF-8, with `Content-Type: application/json`.',
  },
  PAYLOAD_TOO_LARGE: { message: `The body is larger than ${requestLimits.bodyBytes} bytes.` },
  INVALID_TRANSITION: detailed(
    'status',
    `cannot become OPEN: the ticket is RESOLVED, from which it can become ${ticketTransitions.RESOLVED.join(', ')}`,
  ),
  INVALID_REFERENCE: detailed('assigneeId', 'names no active user of this workspace'),
  QUERY_TOO_BROAD: {
    message: 'This list takes too long to find. Ask for fewer rows: add a filter, or another word to `q`.',
  },
  INVALID_API_KEY: { message: 'The API key is not valid.' },
  INSUFFICIENT_SCOPE: { message: 'This key lacks the scope tickets:write.' },
  NOT_FOUND: { message: 'There is no such ticket in this workspace.' },
  IDEMPOTENCY_KEY_REUSED: {
    message:
      'This Idempotency-Key has been used for another request. ' +
      'Repeat a request with the same path and body, and send a new one with a new key.',
  },
  IDEMPOTENCY_IN_PROGRESS: {
    message:
      'Another request with this Idempotency-Key is still being answered. ' +
      'Send this one again in 1 second, with the same key.',
    retryAfterSeconds: 1,
  },
  PRECONDITION_FAILED: {
    message: '`If-Match` names another state than the one that this is in: it was changed meanwhile. Read it again.',
  },
  RATE_LIMIT_EXCEEDED: {
    message:
      `This key has used its ${rateLimits.group} requests per ${rateLimits.windowSeconds} seconds on tickets ` +
      'endpoints. Try again in 17 seconds.',
    retryAfterSeconds: 17,
  },
  INTERNAL_ERROR: { message: 'Something failed on our side. Please try again.' },
  SERVICE_UNAVAILABLE: { message: 'The server is starting. Retry in 5 seconds.', retryAfterSeconds: 5 },
};

function detailed(path: string, message: string): Said {
  return { message: `${path} ${message}`, details: [{ path, message }] };
}

/** An example of every error response, referenced by its code. */
export const errorExamples: Record<string, Example> = Object.fromEntries(
  errorCodes.map((code) => {
    const error = { code, ...said[code], docs: docsOf(code), requestId: '01994f6a8d9c7e0f8a2b3c4d5e6f7a8b' };
    return [code, { summary: errors[code].when, value: { success: false, error } satisfies ErrorEnvelope }];
  }),
);

/** Returns the body of a response with one of these codes. */
export function errorContent(codes: readonly ErrorCode[]): Content {
  const examples = codes.map((code): [string, Reference] => [code, { $ref: `#/components/examples/${code}` }]);
  return {
    'application/json': {
      schema: { $ref: '#/components/schemas/ErrorEnvelope' },
      examples: Object.fromEntries(examples),
    },
  };
}

/** Lists the codes and the condition of each. */
export function describeErrors(codes: readonly ErrorCode[]): string {
  return codes.map((code) => `- \`${code}\`: ${errors[code].when}`).join('\n');
}
