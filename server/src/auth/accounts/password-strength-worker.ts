import { ZxcvbnFactory } from '@zxcvbn-ts/core';
import * as common from '@zxcvbn-ts/language-common';
import * as english from '@zxcvbn-ts/language-en';

/*
 * The code that password-strength.ts runs in a worker thread. It estimates how easy passwords are to guess.
 */

/** The input for the worker thread: a password and words related to its user. */
export interface EstimateInput {
  password: string;
  /** Words that an attacker would try first, such as the user's name. */
  known: string[];
}

/** The strength of a password, and advice on how to improve it. */
export interface Estimate {
  /** The zxcvbn score, from 0 (easily guessed) to 4. */
  score: number;
  advice: string;
}

const estimator = new ZxcvbnFactory({
  dictionary: { ...common.dictionary, ...english.dictionary },
  graphs: common.adjacencyGraphs,
  translations: english.translations,
  // Limits zxcvbn to the first 64 characters. Without a limit, checking 200 letters with 100 possible substitutions
  // would take several seconds.
  maxLength: 64,
  l33tMaxSubstitutions: 20,
});

export default function estimate({ password, known }: EstimateInput): Estimate {
  const { score, feedback } = estimator.check(password, known);
  return { score, advice: [feedback.warning, ...feedback.suggestions].filter(Boolean).join(' ') };
}
