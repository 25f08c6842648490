import { context, ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import type { StatementTracer } from '../../database/client/statement-tracer.ts';
import { errorCode } from '../../shared/error-codes.ts';

/**
 * Within a trace, creates a span for each round trip to PostgreSQL. The span name lists the operations and tables of
 * the statements. Spans never contain values, SQL texts or PostgreSQL's error messages, because error messages can
 * quote values.
 */
export function createStatementTracer(): StatementTracer {
  const tracer = trace.getTracer('itsm-api');
  return {
    begin(texts) {
      // Creates no span after the response has been sent, because later work doesn't increase the request's latency.
      if (!trace.getActiveSpan()?.isRecording()) return undefined;
      const summary = texts.map(toSummary).join('; ').slice(0, maxSummaryLength);
      const span = tracer.startSpan(summary, {
        kind: SpanKind.CLIENT,
        attributes: {
          'db.system.name': 'postgresql',
          'db.query.summary': summary,
          ...(texts.length > 1 && { 'db.operation.batch.size': texts.length }),
        },
      });
      return (error) => {
        if (error !== undefined) {
          span.setStatus({ code: SpanStatusCode.ERROR });
          span.setAttribute('error.type', errorCode(error) ?? 'unknown');
        }
        span.end();
      };
    },
    outside: (work) => context.with(ROOT_CONTEXT, work),
    keep: (callback) => context.bind(context.active(), callback),
  };
}

/** The maximum length of a summary in characters, as OpenTelemetry recommends. */
const maxSummaryLength = 255;

const summaries = new Map<string, string>();

/**
 * The maximum number of cached summaries. The server has a few hundred fixed statements. Without a limit, generated
 * statements could fill the memory.
 */
const maxSummaries = 2000;

const name = String.raw`(?:"?\w+"?\.)*"?(\w+)"?`;
/** Matches the operations and table names in an SQL text. Doesn't match function names or `FOR UPDATE`. */
const stepPattern = new RegExp(
  String.raw`\b(SELECT)\b|\b(?:(INSERT) INTO|(DELETE) FROM|(?<!(?:FOR|KEY|DO) )(UPDATE))\s+${name}|\b(?:FROM|JOIN)\s+${name}(?![\w".]|\s*\()`,
  'gi',
);

/**
 * Returns a statement's operations and tables in the order of the SQL text, such as `INSERT events SELECT matching`.
 */
function toSummary(text: string): string {
  const cached = summaries.get(text);
  if (cached !== undefined) return cached;
  const [first = ''] = /\w+/.exec(text) ?? [];
  // Texts that start with another keyword can contain values, for example a BEGIN that also sets the tenant. Such texts
  // are not cached.
  if (!/^(SELECT|INSERT|UPDATE|DELETE|WITH)$/i.test(first)) return first;
  const words = [...text.matchAll(stepPattern)].flatMap(([, ...found]) => found.filter((word) => word !== undefined));
  const summary = words.filter((word, i) => word !== words[i - 1]).join(' ');
  if (summaries.size < maxSummaries) summaries.set(text, summary);
  return summary;
}
