import { context, type DiagLogger, DiagLogLevel, diag, isSpanContextValid, trace } from '@opentelemetry/api';
import { NodeSDK } from '@opentelemetry/sdk-node';
import type { FastifyInstance } from 'fastify';
import { SettingsError } from '../../config/env.ts';
import type { StatementTracer } from '../../database/client/statement-tracer.ts';
import { endsWithin } from '../../shared/timeout.ts';
import type { AttemptTracer } from '../../webhooks/delivery/delivery-worker.ts';
import { createAttemptTracer } from './attempt-traces.ts';
import { traceRequests } from './request-traces.ts';
import { createStatementTracer } from './statement-traces.ts';
import { traceParentOf } from './trace-parent.ts';

/** Tracing of the requests, statements and deliveries in a process (docs/decisions/observability.md). */
export interface Traces {
  statements: StatementTracer;
  attempts: AttemptTracer;
  /**
   * Creates a span for each request. Call this function before you register routes.
   * @param except routes without spans
   */
  traceRequests(app: FastifyInstance, except: readonly string[]): void;
  /** Returns the `traceparent` (W3C) of the active span, or undefined if no span is active. */
  traceParent(): string | undefined;
  /** Returns the ids of the active span for log entries. Returns no fields if no span is active. */
  logFields(): { trace_id?: string; span_id?: string };
  /** Sends the recorded spans. Waits for at most `flushMs` milliseconds. */
  close(): Promise<void>;
}

/** The maximum number of milliseconds that a shutdown waits until the last spans are sent. */
const flushMs = 1500;

/**
 * The minimum time in milliseconds between two reported errors. Without this limit, an unreachable collector would
 * cause a log entry every few seconds.
 */
const reportIntervalMs = 10 * 60_000;

/**
 * Starts OpenTelemetry for traces only, with the configuration from the OTEL_* variables. OpenTelemetry doesn't need to
 * patch modules, because the server creates all spans itself.
 * @throws SettingsError if OpenTelemetry rejects an OTEL_* variable
 */
export function startOpenTelemetry(onTrouble: (reason: string) => void): Traces {
  const sdk = new NodeSDK({ metricReaders: [], logRecordProcessors: [], instrumentations: [] });
  const errors: string[] = [];
  listen((reason) => errors.push(reason));
  sdk.start();
  // Reports only the first error, because it causes the later errors.
  if (errors[0] !== undefined) throw new SettingsError(`OTEL_*: ${errors[0]}`);
  const report = throttle(reportIntervalMs, onTrouble);
  listen(report);

  return {
    statements: createStatementTracer(),
    attempts: createAttemptTracer(),
    traceRequests: traceRequests,
    traceParent: () => traceParentOf(trace.getSpanContext(context.active())),
    logFields() {
      const span = trace.getSpanContext(context.active());
      return span === undefined || !isSpanContextValid(span) ? {} : { trace_id: span.traceId, span_id: span.spanId };
    },
    async close() {
      const sent = sdk.shutdown().catch((error: Error) => report(error.message));
      if (!(await endsWithin(flushMs, sent)))
        report(`The collector did not accept the last spans within ${flushMs} ms.`);
    },
  };
}

/** Calls `report` for each OpenTelemetry warning and error. */
function listen(report: (reason: string) => void): void {
  const forward = (message: string) => report(toReason(message));
  const ignore = () => undefined;
  const logger: DiagLogger = { error: forward, warn: forward, info: ignore, debug: ignore, verbose: ignore };
  diag.setLogger(logger, { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true });
}

/**
 * Extracts the message from an error that OpenTelemetry has logged as JSON. The JSON contains all properties of the
 * error, including the stack and the response.
 */
function toReason(message: string): string {
  try {
    const { message: text, code, name } = JSON.parse(message);
    return text || code || name || message;
  } catch {
    return message;
  }
}

function throttle(ms: number, report: (reason: string) => void): (reason: string) => void {
  let last: number | undefined;
  return (reason) => {
    if (last !== undefined && performance.now() - last < ms) return;
    last = performance.now();
    report(reason);
  };
}
