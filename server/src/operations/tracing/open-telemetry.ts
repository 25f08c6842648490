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

/** Follows what a process does from a request to the deliveries that come of it (docs/decisions/observability.md). */
export interface Traces {
  statements: StatementTracer;
  attempts: AttemptTracer;
  /** To be called before any route is registered. @param except routes that are not followed */
  followRequests(app: FastifyInstance, except: readonly string[]): void;
  /** What goes on here, as W3C's `traceparent`; undefined where nothing does. */
  traceParent(): string | undefined;
  /** What a line of the log is to say of what goes on here. */
  logFields(): { trace_id?: string; span_id?: string };
  /** Sends what was recorded, as far as that is possible in `flushMs`. */
  close(): Promise<void>;
}

/** How long a collector may take to be sent the last spans when the process ends. Milliseconds. */
const flushMs = 1500;

/** Trouble is told at most so often: a collector that is away would be a line every few seconds. Milliseconds. */
const troubleEveryMs = 10 * 60_000;

/**
 * Starts OpenTelemetry for traces, and nothing but traces, as its variables say. No module is patched: what is followed
 * tells of itself.
 * @throws SettingsError when one of the variables makes no sense to it
 */
export function startOpenTelemetry(onTrouble: (reason: string) => void): Traces {
  const sdk = new NodeSDK({ metricReaders: [], logRecordProcessors: [], instrumentations: [] });
  const refused: string[] = [];
  listen((reason) => refused.push(reason));
  sdk.start();
  // What it complains of next comes of that.
  if (refused[0] !== undefined) throw new SettingsError(`OTEL_*: ${refused[0]}`);
  const trouble = atMostEvery(troubleEveryMs, onTrouble);
  listen(trouble);

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
      const sent = sdk.shutdown().catch((error: Error) => trouble(error.message));
      if (!(await endsWithin(flushMs, sent)))
        trouble(`The collector didn't take the last of them within ${flushMs} ms.`);
    },
  };
}

/** Has what OpenTelemetry complains of told in words. */
function listen(tell: (reason: string) => void): void {
  const complain = (message: string) => tell(reasonIn(message));
  const ignore = () => undefined;
  const logger: DiagLogger = { error: complain, warn: complain, info: ignore, debug: ignore, verbose: ignore };
  diag.setLogger(logger, { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true });
}

/** It tells of an error as JSON with all that the error carries, stack and answer included. */
function reasonIn(message: string): string {
  try {
    const { message: text, code, name } = JSON.parse(message);
    return text || code || name || message;
  } catch {
    return message;
  }
}

function atMostEvery(ms: number, tell: (reason: string) => void): (reason: string) => void {
  let last: number | undefined;
  return (reason) => {
    if (last !== undefined && performance.now() - last < ms) return;
    last = performance.now();
    tell(reason);
  };
}
