import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { FastifyInstance } from 'fastify';
import inject, { type InjectOptions } from 'light-my-request';

/** Sends a request to an endpoint within the process and resolves to the response. */
export type InternalRequest = (options: InjectOptions) => Promise<{ headers: OutgoingHttpHeaders; body: unknown }>;

/**
 * Takes the body before it is serialized, because parsing the JSON again would be wasteful. Call it before the
 * endpoints and any hook that serializes responses are registered.
 */
export function internalRequest(app: FastifyInstance): InternalRequest {
  const bodies = new WeakMap<IncomingMessage, unknown>();

  app.addHook('preSerialization', ({ raw }, _reply, body, done) => {
    if (!bodies.has(raw)) return done(null, body);
    bodies.set(raw, body);
    done(null, null);
  });

  // `app.inject` rejects requests during a graceful shutdown, but accepted requests must finish.
  const dispatch = (request: IncomingMessage, response: ServerResponse) => {
    bodies.set(request, undefined);
    app.routing(request, response);
  };

  return async (options) => {
    const { headers, raw, json } = await inject(dispatch, options);
    // Fastify's fallback error handler sends serialized JSON.
    return { headers, body: bodies.get(raw.req) ?? json() };
  };
}
