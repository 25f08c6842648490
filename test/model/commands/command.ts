import type { Arbitrary } from 'fast-check';
import type { Turn } from '../turn.ts';

/** Something that clients do. */
export interface Kind<Given = unknown> {
  /** How often it is done, beside the others. */
  weight: number;
  given: Arbitrary<Given>;
  run(turn: Turn, given: Given): Promise<void>;
}

/** The kinds of one resource by their names, each checked by itself. */
export function kind<Given>(weight: number, given: Arbitrary<Given>, run: Kind<Given>['run']): Kind {
  return { weight, given, run: run as Kind['run'] };
}
