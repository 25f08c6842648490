import { context, ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { tenantIdToJson } from '../../shared/tenant-id.ts';
import type { AttemptTracer } from '../../webhooks/delivery/delivery-worker.ts';
import { parseTraceParent } from './trace-parent.ts';

/**
 * Creates a span for each delivery attempt. The parent span is the request that wrote the event. The span contains the
 * subscription id. It omits the URL and error messages, because they can contain secrets or host names. The webhook
 * request contains no trace headers.
 */
export function createAttemptTracer(): AttemptTracer {
  const tracer = trace.getTracer('itsm-api');
  return {
    traceAttempt(delivery, attempt) {
      const { traceParent, eventType, eventId, tenantId, subscriptionId, id, attempt: number } = delivery;
      const request =
        traceParent === null ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, parseTraceParent(traceParent));
      const span = tracer.startSpan(
        `deliver ${eventType}`,
        {
          kind: SpanKind.CLIENT,
          attributes: {
            'http.request.method': 'POST',
            'itsm.event.id': eventId,
            'itsm.event.type': eventType,
            'itsm.tenant.id': tenantIdToJson(tenantId),
            'itsm.subscription.id': String(subscriptionId),
            'itsm.delivery.id': String(id),
            'itsm.delivery.attempt': number,
          },
        },
        request,
      );
      return context.with(trace.setSpan(request, span), () =>
        attempt(({ delivered, status }) => {
          if (status !== null) span.setAttribute('http.response.status_code', status);
          if (!delivered) {
            span.setAttribute('error.type', status === null ? 'no response' : String(status));
            span.setStatus({ code: SpanStatusCode.ERROR });
          }
          span.end();
        }),
      );
    },
  };
}
