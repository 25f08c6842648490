import type { Arbitrary } from 'fast-check';
import type { Turn } from '../turn.ts';

/** A type of command that a client can run. */
export interface Kind<Input = unknown> {
  /** How often the command occurs, relative to other commands. */
  weight: number;
  given: Arbitrary<Input>;
  run(turn: Turn, given: Input): Promise<void>;
  /** True if no other command of the workspace may run at the same time. */
  isAlone?: boolean;
}

/** Creates a command type. TypeScript checks that `run` accepts the generated arguments. */
export function kind<Input>(weight: number, given: Arbitrary<Input>, run: Kind<Input>['run']): Kind {
  return { weight, given, run: run as Kind['run'] };
}
