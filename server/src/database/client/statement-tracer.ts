/** Who follows what PostgreSQL is asked (docs/decisions/observability.md). */
export interface StatementTracer {
  /**
   * Statements are sent in one round trip.
   * @returns what is to be told when they are answered; undefined where nobody wants to know
   */
  begin(texts: readonly string[]): ((error?: unknown) => void) | undefined;
  /** Runs `work` on behalf of nobody. */
  outside<Result>(work: () => Result): Result;
  /** Has a callback run on behalf of who asks now, whoever calls it. */
  keep<Callback>(callback: Callback): Callback;
}

/** What pg's `query` is asked first: SQL, a query, or a `Batch`. */
type Asked = string | { text?: string; texts?: readonly string[]; callback?: Callback | undefined };

type Callback = (error: unknown, ...rest: unknown[]) => void;

/**
 * Has a tracer told of one call of pg's `query`, which says in one of three ways what came of it: to the callback among
 * its arguments, to that of the query, or by a promise.
 * @param args of the call; a callback among them is put in the place of
 */
export function traceStatement(tracer: StatementTracer, args: unknown[], ask: () => unknown): unknown {
  const asked = args[0] as Asked;
  const end = tracer.begin(textsOf(asked));
  if (end === undefined) return ask();

  const telling = (callback: Callback): Callback => {
    return (error, ...rest) => {
      end(error ?? undefined);
      callback(error, ...rest);
    };
  };
  const place = args.findIndex((each) => typeof each === 'function');
  if (place >= 0) args[place] = telling(args[place] as Callback);
  else if (typeof asked === 'object' && asked.callback !== undefined) asked.callback = telling(asked.callback);
  const answer = ask();
  if (answer instanceof Promise) answer.then(() => end(), end);
  return answer;
}

function textsOf(asked: Asked): readonly string[] {
  if (typeof asked === 'string') return [asked];
  return asked.texts ?? [asked.text ?? ''];
}
