import { ZxcvbnFactory } from '@zxcvbn-ts/core';
import * as common from '@zxcvbn-ts/language-common';
import * as english from '@zxcvbn-ts/language-en';

/*
 * The worker of password-strength.ts, which estimates how easily passwords can be guessed.
 */

/** The input of the worker. */
export interface Estimating {
  password: string;
  /** Words that an attacker would try first, such as the name of the user. */
  known: string[];
}

/** The strength of a password, and advice to improve it. */
export interface Estimate {
  /** From 0 to 4, as zxcvbn defines it. */
  score: number;
  advice: string;
}

const estimator = new ZxcvbnFactory({
  dictionary: { ...common.dictionary, ...english.dictionary },
  graphs: common.adjacencyGraphs,
  translations: english.translations,
  // zxcvbn needs some seconds for 200 letters with 100 possible substitutions. It checks only the first 64 characters.
  maxLength: 64,
  l33tMaxSubstitutions: 20,
});

export default function estimate({ password, known }: Estimating): Estimate {
  const { score, feedback } = estimator.check(password, known);
  return { score, advice: [feedback.warning, ...feedback.suggestions].filter(Boolean).join(' ') };
}
