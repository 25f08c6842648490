import { hash } from 'node:crypto';

/** A request that reads or changes one row, together with its response. */
export interface Step<State> {
  /** Describes the request and the response for the report. */
  describe(): string;
  /**
   * The positions of the request and of the response in the sequence of the run. The step takes effect between them.
   */
  begin: number;
  end: number;
  /** True if the step certainly took effect. False if the request got no response. */
  isCertain: boolean;
  /** True if the step doesn't change the row. */
  isRead: boolean;
  /**
   * Returns the state of the row after the step, or undefined if the response contradicts the model.
   * @param state the state of the row before the step, or undefined before the row exists
   */
  after(state: State | undefined): State | undefined;
}

/** A step in a valid order, with the state of the row after the step. */
export interface Placed<State> {
  step: Step<State>;
  state: State;
}

/** The maximum number of dead ends in a search. Runs against this server need fewer. */
const maxTries = 200_000;

/**
 * Finds an order of the steps in which each response matches the model (Wing and Gong 1993). If a response came before
 * another request, their steps keep this order. Returns undefined if no such order exists, or after `maxTries` dead
 * ends.
 *
 * Few steps without a response took effect. So the search first tries orders without these steps, then with one of
 * them, then with two, and so on.
 */
export function linearize<State>(
  initial: State | undefined,
  steps: readonly Step<State>[],
): Placed<State>[] | undefined {
  // Most steps take effect in the order of their responses, so the search starts with this order.
  const ordered = steps.toSorted((a, b) => a.end - b.end);
  const unanswered = steps.filter(({ isCertain }) => !isCertain).length;
  const search: Search<State> = { numbers: new Map(ordered.map((step, index) => [step, index])), tried: 0 };
  for (let happened = 0; happened <= unanswered && search.tried < maxTries; happened++) {
    const placed = place(search, { state: initial, rest: ordered, happened }, new Set());
    if (placed !== undefined) return placed;
  }
  return undefined;
}

interface Search<State> {
  numbers: ReadonlyMap<Step<State>, number>;
  /** The number of dead ends that the search has found. */
  tried: number;
}

interface Situation<State> {
  state: State | undefined;
  /** The steps that the order doesn't contain yet. */
  rest: readonly Step<State>[];
  /** The maximum number of further steps without a response. */
  happened: number;
}

/** @param failed the keys of situations for which the search has found no order */
function place<State>(
  search: Search<State>,
  { state, rest, happened }: Situation<State>,
  failed: Set<string>,
): Placed<State>[] | undefined {
  const certain = rest.filter(({ isCertain }) => isCertain);
  if (certain.length === 0) return [];
  if (search.tried >= maxTries) return undefined;
  const first = Math.min(...certain.map(({ end }) => end));
  const keyOf = () => {
    const left = rest.map((step) => search.numbers.get(step)).join();
    return hash('sha1', `${left} ${JSON.stringify(state)}`, 'base64');
  };
  if (failed.size > 0 && failed.has(keyOf())) return undefined;
  for (const step of rest) {
    if (step.begin > first || (!step.isCertain && happened === 0)) continue;
    const next = step.after(state);
    // Skips a step without a response that doesn't change the row, because its outcome doesn't matter.
    if (next === undefined || (!step.isCertain && next === state)) continue;
    const others = place(
      search,
      {
        state: next,
        rest: rest.filter((other) => other !== step),
        happened: step.isCertain ? happened : happened - 1,
      },
      failed,
    );
    if (others !== undefined) return [{ step, state: next }, ...others];
  }
  failed.add(keyOf());
  search.tried++;
  return undefined;
}

/**
 * Returns a small part of the steps that has no valid order. Omits the steps after the first response that no order
 * explains, and the reads that are not needed.
 */
export function shortestWithoutOrder<State>(
  initial: State | undefined,
  steps: readonly Step<State>[],
): readonly Step<State>[] {
  const ends = steps.filter(({ isCertain }) => isCertain).map(({ end }) => end);
  const until = ends.toSorted((a, b) => a - b).find((end) => linearize(initial, stepsUntil(steps, end)) === undefined);
  let shortest = until === undefined ? steps : stepsUntil(steps, until);
  for (const read of shortest.filter(({ isRead }) => isRead)) {
    const without = shortest.filter((step) => step !== read);
    if (linearize(initial, without) === undefined) shortest = without;
  }
  return shortest;
}

/**
 * Returns the steps whose requests were sent until a position. Steps with a later response count as steps without a
 * response.
 */
function stepsUntil<State>(steps: readonly Step<State>[], moment: number): Step<State>[] {
  return steps
    .filter(({ begin }) => begin <= moment)
    .map((step) => (step.end <= moment ? step : { ...step, isCertain: false, end: Number.POSITIVE_INFINITY }));
}
