/** Traces the statements that are sent to PostgreSQL (docs/decisions/observability.md). */
export interface StatementTracer {
  /**
   * Starts a trace of statements that share one round trip.
   * @returns the function to call when the statements finish, or undefined if no trace is active
   */
  begin(texts: readonly string[]): ((error?: unknown) => void) | undefined;
  /** Runs `work` outside of the current trace. */
  outside<Result>(work: () => Result): Result;
  /** Binds a callback to the current trace. */
  keep<Callback>(callback: Callback): Callback;
}

/** The first argument of pg's `query`: SQL text, a query config, or a `QueryPipeline`. */
type QueryArgument = string | { text?: string; texts?: readonly string[]; callback?: Callback | undefined };

type Callback = (error: unknown, ...rest: unknown[]) => void;

/**
 * Traces one call of pg's `query`. pg passes the result to the callback among the arguments or to the callback of the
 * query. Without a callback, pg returns a promise.
 * @param args the arguments of the call; if they contain a callback, this function replaces it
 */
export function traceStatement(tracer: StatementTracer, args: unknown[], send: () => unknown): unknown {
  const query = args[0] as QueryArgument;
  const end = tracer.begin(getTexts(query));
  if (end === undefined) return send();

  const traced = (callback: Callback): Callback => {
    return (error, ...rest) => {
      end(error ?? undefined);
      callback(error, ...rest);
    };
  };
  const callbackIndex = args.findIndex((each) => typeof each === 'function');
  if (callbackIndex >= 0) args[callbackIndex] = traced(args[callbackIndex] as Callback);
  else if (typeof query === 'object' && query.callback !== undefined) query.callback = traced(query.callback);
  const result = send();
  if (result instanceof Promise) result.then(() => end(), end);
  return result;
}

function getTexts(query: QueryArgument): readonly string[] {
  if (typeof query === 'string') return [query];
  return query.texts ?? [query.text ?? ''];
}
