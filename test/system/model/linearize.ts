import { hash } from 'node:crypto';

/** A request that reads or changes one row, together with its response. */
export interface Step<State> {
  /** Describes the request and the response for the report. */
  describe(): string;
  /**
   * The positions of the request and the response in the run's sequence of requests and responses. The step takes
   * effect between these positions.
   */
  begin: number;
  end: number;
  /** True if the step certainly took effect. False if the request got no response. */
  isCertain: boolean;
  /** True if the step doesn't change the row. */
  isRead: boolean;
  /**
   * Returns the state of the row after the step, or undefined if the response contradicts the model.
   * @param state the state of the row before the step, or undefined if the row doesn't exist yet
   */
  after(state: State | undefined): State | undefined;
}

/** A step in a valid order, with the state of the row after the step. */
export interface Placed<State> {
  step: Step<State>;
  state: State;
}

/** The maximum number of dead ends in a search. Normal runs reach fewer. */
const maxTries = 200_000;

/**
 * Finds an order of the steps that explains all responses (Wing and Gong 1993). If a request was sent after the
 * response to another request, its step comes after the other step. Returns undefined if no such order exists, or after
 * `maxTries` dead ends.
 *
 * Most steps without a response didn't take effect. The search therefore first tries orders that contain none of them,
 * then orders that contain one of them, and so on.
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
  /** The number of dead ends that the search has reached. */
  tried: number;
}

interface Situation<State> {
  state: State | undefined;
  /** The steps that have no position in the order yet. */
  rest: readonly Step<State>[];
  /** How many more steps without a response the order may contain. */
  happened: number;
}

/** @param failed the keys of the states from which the search found no valid order of the remaining steps */
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
    // Skips steps that contradict the model. Also skips steps that got no response and don't change the row, because
    // their outcome doesn't matter.
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
 * Returns a small subset of the steps that has no valid order. Omits all steps after the first response that no order
 * explains, and all unnecessary reads.
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
 * Returns the steps of all requests up to a position. If a response came later, treats its step as a step without a
 * response.
 */
function stepsUntil<State>(steps: readonly Step<State>[], moment: number): Step<State>[] {
  return steps
    .filter(({ begin }) => begin <= moment)
    .map((step) => (step.end <= moment ? step : { ...step, isCertain: false, end: Number.POSITIVE_INFINITY }));
}
