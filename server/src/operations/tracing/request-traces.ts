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

/**
 * Returns the route of a request. Returns undefined for unknown paths, and for CORS preflight requests, which have the
 * route `*`.
 */
const getRoute = ({ routeOptions }: FastifyRequest) => (routeOptions.url === '*' ? undefined : routeOptions.url);

const methods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/**
 * Creates a span for each request. The span continues the trace from the `traceparent` header. Spans never contain
 * query strings, headers, bodies or unknown paths, because these can contain keys, secrets and personal data.
 * @param except routes without spans
 */
export function traceRequests(app: FastifyInstance, except: readonly string[]): void {
  const tracer = trace.getTracer('itsm-api');
  const contexts = new WeakMap<FastifyRequest, Context>();

  app.addHook('onRequest', (request, _reply, done) => {
    const route = getRoute(request);
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
    const spanContext = trace.setSpan(caller, span);
    contexts.set(request, spanContext);
    context.with(spanContext, done);
  });

  /**
   * Ends the span of a request.
   * @param error the value of `error.type` if the request failed
   */
  function end(request: FastifyRequest, spanContext: Context, error?: string): void {
    const span = trace.getSpan(spanContext) as Span;
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
    const spanContext = contexts.get(request);
    if (spanContext !== undefined) end(request, spanContext, 'client_closed');
  });
  app.addHook('onResponse', (request, reply, done) => {
    const spanContext = contexts.get(request);
    if (spanContext === undefined) return done();
    const { statusCode } = reply;
    trace.getSpan(spanContext)?.setAttribute('http.response.status_code', statusCode);
    end(request, spanContext, statusCode >= 500 ? String(statusCode) : undefined);
    // Runs the next hook within the context of the span, because that hook writes the log entry of the request.
    context.with(spanContext, done);
  });
}
