import { isSpanContextValid, type SpanContext } from '@opentelemetry/api';

/** Formats a span as `traceparent` (W3C Trace Context, version 00). */
export function traceParentOf(span: SpanContext | undefined): string | undefined {
  if (span === undefined || !isSpanContextValid(span)) return undefined;
  return `00-${span.traceId}-${span.spanId}-${span.traceFlags.toString(16).padStart(2, '0')}`;
}

/** Parses a `traceparent` that `traceParentOf` has created. */
export function parseTraceParent(traceParent: string): SpanContext {
  const [, traceId = '', spanId = '', flags = ''] = traceParent.split('-');
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true };
}
