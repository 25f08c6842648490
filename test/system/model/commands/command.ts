import type { Arbitrary } from 'fast-check';
import type { Turn } from '../turn.ts';

/** A type of command that a client can run. */
export interface Kind<Given = unknown> {
  /** How often the command occurs, relative to other commands. */
  weight: number;
  given: Arbitrary<Given>;
  run(turn: Turn, given: Given): Promise<void>;
}

/** Creates a command type. TypeScript checks that `run` accepts the generated arguments. */
export function kind<Given>(weight: number, given: Arbitrary<Given>, run: Kind<Given>['run']): Kind {
  return { weight, given, run: run as Kind['run'] };
}
