import type { Arbitrary } from 'fast-check';
import type { Turn } from '../turn.ts';

/** A type of client request. */
export interface Kind<Given = unknown> {
  /** Its frequency relative to the other commands. */
  weight: number;
  given: Arbitrary<Given>;
  run(turn: Turn, given: Given): Promise<void>;
}

/** Returns the commands of one resource by name, each type-checked separately. */
export function kind<Given>(weight: number, given: Arbitrary<Given>, run: Kind<Given>['run']): Kind {
  return { weight, given, run: run as Kind['run'] };
}
