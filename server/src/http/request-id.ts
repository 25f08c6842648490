import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

export const requestIdHeader = 'x-request-id';

/**
 * Returns the client's `x-request-id` if it is valid and doesn't look like an API key, which logs must not contain.
 * Otherwise, returns a new UUID version 7 without hyphens (docs/decisions/api-conventions.md). New ids start with the
 * time, so that PostgreSQL adds the rows of the request log
 * at the end of an index.
 */
export function requestIdOf(request: Pick<IncomingMessage, 'headers'>): string {
  const provided = request.headers[requestIdHeader];
  const isValid = typeof provided === 'string' && /^[A-Za-z0-9_-]{1,64}$/.test(provided) && !provided.includes('itsm_');
  return isValid ? provided : createRequestId();
}

/** Returns a UUID version 7 (RFC 9562 §5.7) without hyphens. */
function createRequestId(): string {
  const uuid = randomUUID();
  const random = uuid.slice(15, 18) + uuid.slice(19, 23) + uuid.slice(24);
  return `${Date.now().toString(16).padStart(12, '0')}7${random}`;
}
