import { isSpanContextValid, type SpanContext } from '@opentelemetry/api';

/** A span by the name that other processes know it by: `traceparent` of W3C Trace Context, version 00. */
export function traceParentOf(span: SpanContext | undefined): string | undefined {
  if (span === undefined || !isSpanContextValid(span)) return undefined;
  return `00-${span.traceId}-${span.spanId}-${span.traceFlags.toString(16).padStart(2, '0')}`;
}

/** The span of another process that `traceParentOf` named. */
export function spanNamed(traceParent: string): SpanContext {
  const [, traceId = '', spanId = '', flags = ''] = traceParent.split('-');
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true };
}
