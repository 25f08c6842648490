import { context, ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import type { StatementTracer } from '../../database/client/statement-tracer.ts';
import { errorCode } from '../../shared/pg-errors.ts';

/**
 * A span for each round trip to PostgreSQL that is part of a trace, named by what its statements do to which tables. Their
 * values are never told, nor is their text, nor what PostgreSQL says of an error: it quotes values.
 */
export function createStatementTracer(): StatementTracer {
  const tracer = trace.getTracer('itsm-api');
  return {
    begin(texts) {
      // What a request has set going and goes on after its answer is nothing that it waited for.
      if (!trace.getActiveSpan()?.isRecording()) return undefined;
      const summary = texts.map(summaryOf).join('; ').slice(0, longestSummary);
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

/** Characters, as OpenTelemetry has it. */
const longestSummary = 255;

const summaries = new Map<string, string>();

/** Fixed texts are a few hundred; more would be a text that is composed. */
const summariesKept = 2000;

const name = String.raw`(?:"?\w+"?\.)*"?(\w+)"?`;
/** What a statement does, and the tables that it names; a function isn't one, and `FOR UPDATE` is no update. */
const steps = new RegExp(
  String.raw`\b(SELECT)\b|\b(?:(INSERT) INTO|(DELETE) FROM|(?<!(?:FOR|KEY|DO) )(UPDATE))\s+${name}|\b(?:FROM|JOIN)\s+${name}(?![\w".]|\s*\()`,
  'gi',
);

/** What a statement does to which tables, in the order of its text: `INSERT events SELECT matching`. */
function summaryOf(text: string): string {
  const known = summaries.get(text);
  if (known !== undefined) return known;
  const [first = ''] = /\w+/.exec(text) ?? [];
  // What is left, such as BEGIN, may carry a value in its text, and isn't worth being kept.
  if (!/^(SELECT|INSERT|UPDATE|DELETE|WITH)$/i.test(first)) return first;
  const words = [...text.matchAll(steps)].flatMap(([, ...found]) => found.filter((word) => word !== undefined));
  const summary = words.filter((word, i) => word !== words[i - 1]).join(' ');
  if (summaries.size < summariesKept) summaries.set(text, summary);
  return summary;
}
