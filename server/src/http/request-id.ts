import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

export const requestIdHeader = 'x-request-id';

/** Returns the client's `x-request-id` if it is valid, otherwise a new id (docs/decisions/api-conventions.md). */
export function requestIdOf(request: Pick<IncomingMessage, 'headers'>): string {
  const provided = request.headers[requestIdHeader];
  return typeof provided === 'string' && /^[A-Za-z0-9_-]{1,64}$/.test(provided)
    ? provided
    : randomUUID().replaceAll('-', '');
}
