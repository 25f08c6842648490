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

/** Traces requests, statements and deliveries of a process (docs/decisions/observability.md). */
export interface Traces {
  statements: StatementTracer;
  attempts: AttemptTracer;
  /** Must be called before any route is registered. @param except routes without spans */
  followRequests(app: FastifyInstance, except: readonly string[]): void;
  /** Returns the `traceparent` (W3C) of the active span, or undefined if there is none. */
  traceParent(): string | undefined;
  /** Returns the fields that log lines have within a span. */
  logFields(): { trace_id?: string; span_id?: string };
  /** Sends the recorded spans. Waits at most `flushMs`. */
  close(): Promise<void>;
}

/** Maximum time to send the last spans when the process ends. Milliseconds. */
const flushMs = 1500;

/**
 * Minimum time between reports. An unreachable collector would otherwise cause a log line every few seconds.
 * Milliseconds.
 */
const reportIntervalMs = 10 * 60_000;

/**
 * Starts OpenTelemetry for traces only, configured by its variables. No module is patched, because the server creates
 * all spans itself.
 * @throws SettingsError if OpenTelemetry rejects one of the variables
 */
export function startOpenTelemetry(onTrouble: (reason: string) => void): Traces {
  const sdk = new NodeSDK({ metricReaders: [], logRecordProcessors: [], instrumentations: [] });
  const errors: string[] = [];
  listen((reason) => errors.push(reason));
  sdk.start();
  // Further errors are consequences of the first one.
  if (errors[0] !== undefined) throw new SettingsError(`OTEL_*: ${errors[0]}`);
  const report = throttle(reportIntervalMs, onTrouble);
  listen(report);

  return {
    statements: createStatementTracer(),
    attempts: createAttemptTracer(),
    followRequests: traceRequests,
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

/** Reports warnings and errors of OpenTelemetry. */
function listen(report: (reason: string) => void): void {
  const forward = (message: string) => report(toReason(message));
  const ignore = () => undefined;
  const logger: DiagLogger = { error: forward, warn: forward, info: ignore, debug: ignore, verbose: ignore };
  diag.setLogger(logger, { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true });
}

/**
 * Extracts the message, because OpenTelemetry logs errors as JSON with all properties, including stack and response.
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
