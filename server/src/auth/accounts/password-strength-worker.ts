import { ZxcvbnFactory } from '@zxcvbn-ts/core';
import * as common from '@zxcvbn-ts/language-common';
import * as english from '@zxcvbn-ts/language-en';

/*
 * Estimates how easily passwords are guessed: what the thread of password-strength.ts runs.
 */

/** What is asked of the thread. */
export interface Estimating {
  password: string;
  /** What who guesses would try first: names of whom it belongs to. */
  known: string[];
}

/** How good a password is, and what would be better. */
export interface Estimate {
  /** Of 0 to 4, as zxcvbn has it. */
  score: number;
  advice: string;
}

const estimator = new ZxcvbnFactory({
  dictionary: { ...common.dictionary, ...english.dictionary },
  graphs: common.adjacencyGraphs,
  translations: english.translations,
  // Of 200 letters, a hundred ways to read their signs take some seconds. What begins well is good enough.
  maxLength: 64,
  l33tMaxSubstitutions: 20,
});

export default function estimate({ password, known }: Estimating): Estimate {
  const { score, feedback } = estimator.check(password, known);
  return { score, advice: [feedback.warning, ...feedback.suggestions].filter(Boolean).join(' ') };
}
