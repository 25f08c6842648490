import { hash } from 'node:crypto';

/** A request that reads or changes one row, and its response. */
export interface Step<State> {
  /** Describes the request and the response for the report. */
  describe(): string;
  /** The positions of the request and the response in the sequence of the run. The step took effect between them. */
  begin: number;
  end: number;
  /** Whether the step certainly took effect. False if the request got no response. */
  isCertain: boolean;
  /** Whether the step leaves the row unchanged. */
  isRead: boolean;
  /**
   * Returns the row after the step if it was `state` before, or undefined if the response contradicts the model.
   * @param state undefined before the row exists
   */
  after(state: State | undefined): State | undefined;
}

/** A step of the order, and the state of the row after the step. */
export interface Placed<State> {
  step: Step<State>;
  state: State;
}

/** The maximum number of tries of the search. Real histories of this server need fewer. */
const maxTries = 200_000;

/**
 * Finds an order of the steps in which each response matches the model, and no step precedes a step whose
 * response came before its request (Wing and Gong 1993). Returns undefined if there is none, or after `maxTries`
 * tries.
 *
 * Few of the steps without a response took effect. The search tries orders with none of them first, then with one, and
 * so on. Trying each one at every place would take too long.
 */
export function linearize<State>(
  initial: State | undefined,
  steps: readonly Step<State>[],
): Placed<State>[] | undefined {
  // Most steps take effect in the order of their responses, so this order needs few tries.
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
  /** The remaining steps. */
  rest: readonly Step<State>[];
  /** The maximum number of steps without a response that the order may contain. */
  happened: number;
}

/** @param failed situations for which the search has already found no order */
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
 * Returns a minimal part of the steps that has no order: the steps up to the first response without an explanation,
 * without the reads that don't matter.
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

/** Returns the steps sent before a position. Marks steps with a later response as uncertain. */
function stepsUntil<State>(steps: readonly Step<State>[], moment: number): Step<State>[] {
  return steps
    .filter(({ begin }) => begin <= moment)
    .map((step) => (step.end <= moment ? step : { ...step, isCertain: false, end: Number.POSITIVE_INFINITY }));
}
