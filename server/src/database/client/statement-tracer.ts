/** Traces the statements that are sent to PostgreSQL (docs/decisions/observability.md). */
export interface StatementTracer {
  /**
   * Starts to trace statements that are sent in one round trip.
   * @returns the function to call when the statements finish, or undefined if there is no current trace
   */
  begin(texts: readonly string[]): ((error?: unknown) => void) | undefined;
  /** Runs `work` outside of the current trace. */
  outside<Result>(work: () => Result): Result;
  /** Binds a callback to the current trace. */
  keep<Callback>(callback: Callback): Callback;
}

/** The first argument of pg's `query`: SQL, a query, or a `QueryPipeline`. */
type QueryArgument = string | { text?: string; texts?: readonly string[]; callback?: Callback | undefined };

type Callback = (error: unknown, ...rest: unknown[]) => void;

/**
 * Traces one call of pg's `query`. The call passes its result to a callback argument or to the callback of the query,
 * or returns a promise.
 * @param args the arguments of the call; this function replaces a callback among them
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
