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

/**
 * Finds an order of the steps in which each was answered what the model says, one after the other, and in which none stands
 * before one that had been answered when it was sent (Wing and Gong 1993). Undefined where there is none.
 */
export function linearize<State>(
  initial: State | undefined,
  steps: readonly Step<State>[],
): Placed<State>[] | undefined {
  /** What has been tried in vain: the steps that were left, and the state. */
  const failed = new Set<string>();
  const numbers = new Map(steps.map((step, index) => [step, index]));

  function place(state: State | undefined, rest: readonly Step<State>[]): Placed<State>[] | undefined {
    const certain = rest.filter(({ isCertain }) => isCertain);
    if (certain.length === 0) return [];
    const first = Math.min(...certain.map(({ end }) => end));
    const keyOf = () => `${rest.map((step) => numbers.get(step)).join()} ${JSON.stringify(state)}`;
    if (failed.size > 0 && failed.has(keyOf())) return undefined;
    for (const step of rest) {
      if (step.begin > first) continue;
      const next = step.after(state);
      if (next === undefined) continue;
      const others = place(
        next,
        rest.filter((other) => other !== step),
      );
      if (others !== undefined) return [{ step, state: next }, ...others];
    }
    failed.add(keyOf());
    return undefined;
  }

  // What was answered first mostly happened first; of what was never answered nothing is known.
  return place(
    initial,
    steps.toSorted((a, b) => a.end - b.end),
  );
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
