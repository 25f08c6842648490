import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { onEnd } from '../../shared/request-lifecycle.ts';
import { tenantIdToJson } from '../../shared/tenant-id.ts';
import { healthPaths } from '../health.ts';

/**
 * Logs one line per request when the response ends or the client disconnects. Health checks aren't logged. Log lines
 * omit the query, headers and body, because they can contain API keys, secrets and personal data.
 */
export function addRequestLog(app: FastifyInstance): void {
  function log(request: FastifyRequest, reply: FastifyReply, status: number): void {
    if (healthPaths.includes(request.routeOptions.url ?? '')) return;
    request.log.info(
      {
        requestId: request.id,
        method: request.method,
        route: request.routeOptions.url,
        status,
        milliseconds: Math.round(reply.elapsedTime),
        tenantId: request.identity && tenantIdToJson(request.identity.tenantId),
        keyId: request.identity?.keyId.toString(),
      },
      'request',
    );
  }

  onEnd(app, log);
}
