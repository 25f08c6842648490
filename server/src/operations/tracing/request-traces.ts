import {
  type Context,
  context,
  propagation,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { onAbort } from '../../shared/request-lifecycle.ts';
import { tenantIdToJson } from '../../shared/tenant-id.ts';

/** The route of a request; that of CORS for questions before a request, `*`, is none. */
const routeOf = ({ routeOptions }: FastifyRequest) => (routeOptions.url === '*' ? undefined : routeOptions.url);

const methods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/**
 * A span for each request, which goes on with the trace that its caller names in `traceparent`. The query, headers, bodies
 * and the paths that there are none of are never told: they may hold keys, secrets and people's data.
 * @param except routes that are not followed
 */
export function traceRequests(app: FastifyInstance, except: readonly string[]): void {
  const tracer = trace.getTracer('itsm-api');
  const followed = new WeakMap<FastifyRequest, Context>();

  app.addHook('onRequest', (request, _reply, done) => {
    const route = routeOf(request);
    if (route !== undefined && except.includes(route)) return done();
    const caller = propagation.extract(ROOT_CONTEXT, request.headers);
    const method = methods.has(request.method) ? request.method : '_OTHER';
    const name = `${method === '_OTHER' ? 'HTTP' : method}${route === undefined ? '' : ` ${route}`}`;
    const span = tracer.startSpan(name, { kind: SpanKind.SERVER }, caller);
    if (span.isRecording()) {
      span.setAttributes({
        'http.request.method': method,
        'url.scheme': request.protocol,
        'itsm.request.id': request.id,
        ...(route !== undefined && { 'http.route': route, 'url.path': request.url.split('?', 1)[0] }),
      });
    }
    const within = trace.setSpan(caller, span);
    followed.set(request, within);
    context.with(within, done);
  });

  /** Ends a request's span. @param error where it came to no good end */
  function end(request: FastifyRequest, within: Context, error?: string): void {
    const span = trace.getSpan(within) as Span;
    if (error !== undefined) {
      span.setAttribute('error.type', error);
      span.setStatus({ code: SpanStatusCode.ERROR });
    }
    if (request.identity !== undefined) {
      span.setAttribute('itsm.tenant.id', tenantIdToJson(request.identity.tenantId));
      span.setAttribute('itsm.key.id', String(request.identity.keyId));
    }
    span.end();
  }

  onAbort(app, (request) => {
    const within = followed.get(request);
    if (within !== undefined) end(request, within, 'client_closed');
  });
  app.addHook('onResponse', (request, reply, done) => {
    const within = followed.get(request);
    if (within === undefined) return done();
    const { statusCode } = reply;
    trace.getSpan(within)?.setAttribute('http.response.status_code', statusCode);
    end(request, within, statusCode >= 500 ? String(statusCode) : undefined);
    // For the line of the log that comes next.
    context.with(within, done);
  });
}
