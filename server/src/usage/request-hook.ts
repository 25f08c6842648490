import type { Endpoint, ErrorCode } from '@itsm-api/contract';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { clientClosed, onEnd } from '../shared/request-lifecycle.ts';
import { kindOf } from './aggregator.ts';
import { keyedEndpoints, type Outcome, outcomes } from './dimensions.ts';
import type { LoggedErrorCode } from './logged-error-codes.ts';
import type { RequestRecorder } from './request-recorder.ts';
import type { UsageRecorder } from './usage-recorder.ts';

const outcomeNumbers = new Map(outcomes.map((outcome, number) => [outcome, number]));

export interface Recorders {
  /** Counts the requests. If undefined, they aren't counted. */
  usage?: Pick<UsageRecorder, 'record'> | undefined;
  /** Adds the requests to the request log. If undefined, they aren't logged. */
  requestLog?: Pick<RequestRecorder, 'record'> | undefined;
}

/**
 * Records every request with a valid API key when the response finishes or the client disconnects. Call this function
 * before you register routes.
 */
export function recordRequests(app: FastifyInstance, { usage, requestLog }: Recorders): void {
  const endpoints = new Map<Endpoint, number>(keyedEndpoints.map(({ route }, number) => [route, number]));

  function count(request: FastifyRequest, reply: FastifyReply, status: number): void {
    const { identity, rateLimit } = request;
    const endpoint = identity && endpoints.get(request.routeOptions.config.tsRestRoute);
    if (endpoint === undefined) return;
    const { tenantId, keyId } = identity;
    const milliseconds = reply.elapsedTime;
    usage?.record({
      tenantId,
      keyId,
      kind: kindOf(endpoint, outcomeNumbers.get(toOutcome(status, rateLimit)) as number),
      milliseconds,
      globalShare: toPercent(rateLimit?.global),
      groupShare: toPercent(rateLimit?.group),
    });
    requestLog?.record({
      tenantId,
      keyId,
      requestId: request.id,
      method: request.method,
      url: request.url,
      status,
      errorCode: toErrorCode(status, request.errorCode),
      milliseconds,
      address: request.ip,
    });
  }

  onEnd(app, count);
}

/** Returns the error code of a request, or null if the request succeeded. */
function toErrorCode(status: number, code: ErrorCode | undefined): LoggedErrorCode | null {
  if (status === clientClosed) return 'CLIENT_DISCONNECTED';
  return status < 400 ? null : (code ?? 'INTERNAL_ERROR');
}

type RateLimit = FastifyRequest['rateLimit'];

/**
 * Returns the outcome of a request. If a limit rejected the request, the remaining quota shows which limit it was. A
 * rate limit rejects requests only if its window has no remaining quota. After the concurrency limit rejects a request,
 * both windows have remaining quota, because the server refunds the request.
 */
function toOutcome(status: number, rateLimit: RateLimit): Outcome {
  if (status === 429 && rateLimit?.isCounted === false) {
    if (rateLimit.global.remaining === 0) return 'GLOBAL_LIMIT';
    return rateLimit.group.remaining === 0 ? 'GROUP_LIMIT' : 'CONCURRENCY_LIMIT';
  }
  if (status >= 500) return 'SERVER_ERROR';
  if (status >= 400) return 'CLIENT_ERROR';
  return status >= 300 ? 'REDIRECTION' : 'SUCCESSFUL';
}

/** Returns the usage of a rate limit window in percent. */
function toPercent(window: NonNullable<RateLimit>['global'] | undefined): number {
  return window === undefined ? 0 : Math.floor(((window.limit - window.remaining) * 100) / window.limit);
}
