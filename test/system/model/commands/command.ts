import type { Arbitrary } from 'fast-check';
import type { Turn } from '../turn.ts';

/** A type of client request. */
export interface Kind<Given = unknown> {
  /** The frequency of the command relative to other commands. */
  weight: number;
  given: Arbitrary<Given>;
  run(turn: Turn, given: Given): Promise<void>;
}

/** Returns a command whose generated arguments have the parameter type of `run`. */
export function kind<Given>(weight: number, given: Arbitrary<Given>, run: Kind<Given>['run']): Kind {
  return { weight, given, run: run as Kind['run'] };
}
