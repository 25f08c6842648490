import { hash } from 'node:crypto';

/** Something that was asked of one row, and what was answered. */
export interface Step<State> {
  /** What was asked and answered, for people. */
  describe(): string;
  /** Places in the order of all that was sent and answered in the run. It happened somewhere between the two. */
  begin: number;
  end: number;
  /** False where no answer came: it may have happened or not. */
  isCertain: boolean;
  /** Whether it leaves the row as it is. */
  isRead: boolean;
  /**
   * What the row is afterwards, if it was `state` before; undefined where that can't have been answered so.
   * @param state undefined while there is no row
   */
  after(state: State | undefined): State | undefined;
}

/** A step at its place, and what the row was then. */
export interface Placed<State> {
  step: Step<State>;
  state: State;
}

/** What is tried before an order counts as not to be found: what takes more is no history of this server. */
const mostTried = 200_000;

/**
 * Finds an order of the steps in which each was answered what the model says, one after the other, and in which none stands
 * before one that had been answered when it was sent (Wing and Gong 1993). Undefined where there is none, or `mostTried` were in
 * vain.
 *
 * Of what was not answered little has happened: orders with none of it are tried first, then those with one, and so on. To try
 * each in each place, wherever an answer doesn't fit, would take for ever.
 */
export function linearize<State>(
  initial: State | undefined,
  steps: readonly Step<State>[],
): Placed<State>[] | undefined {
  // What was answered first mostly happened first.
  const ordered = steps.toSorted((a, b) => a.end - b.end);
  const unanswered = steps.filter(({ isCertain }) => !isCertain).length;
  const search: Search<State> = { numbers: new Map(ordered.map((step, index) => [step, index])), tried: 0 };
  for (let happened = 0; happened <= unanswered && search.tried < mostTried; happened++) {
    const placed = place(search, { state: initial, rest: ordered, happened }, new Set());
    if (placed !== undefined) return placed;
  }
  return undefined;
}

interface Search<State> {
  numbers: ReadonlyMap<Step<State>, number>;
  /** How many situations have been tried in vain. */
  tried: number;
}

interface Situation<State> {
  state: State | undefined;
  /** The steps that are left. */
  rest: readonly Step<State>[];
  /** How many of those that were not answered may have happened. */
  happened: number;
}

/** @param failed situations that have been tried in vain */
function place<State>(
  search: Search<State>,
  { state, rest, happened }: Situation<State>,
  failed: Set<string>,
): Placed<State>[] | undefined {
  const certain = rest.filter(({ isCertain }) => isCertain);
  if (certain.length === 0) return [];
  if (search.tried >= mostTried) return undefined;
  const first = Math.min(...certain.map(({ end }) => end));
  const keyOf = () => {
    const left = rest.map((step) => search.numbers.get(step)).join();
    return hash('sha1', `${left} ${JSON.stringify(state)}`, 'base64');
  };
  if (failed.size > 0 && failed.has(keyOf())) return undefined;
  for (const step of rest) {
    if (step.begin > first || (!step.isCertain && happened === 0)) continue;
    const next = step.after(state);
    // That nobody knows whether it happened matters only where it changed something.
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
 * The shortest part of steps without an order that has none itself: the steps until the first answer that nothing explains,
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

/** What had been sent at a moment; what was answered later may have happened or not. */
function stepsUntil<State>(steps: readonly Step<State>[], moment: number): Step<State>[] {
  return steps
    .filter(({ begin }) => begin <= moment)
    .map((step) => (step.end <= moment ? step : { ...step, isCertain: false, end: Number.POSITIVE_INFINITY }));
}
