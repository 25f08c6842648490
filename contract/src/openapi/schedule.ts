import { deliverySchedule, inWords } from '../delivery-schedule.ts';

const {
  attemptTimeout,
  connectTimeout,
  waits,
  jitter,
  longestRetryAfter,
  breaker,
  pauseAfter,
  pausedOpening,
  maxTrialsPerMinute,
} = deliverySchedule;
const attempts = waits.length + 1;
const everyHour = `every ${inWords(pausedOpening).replace(/^1 /, '')}`;

/** What a receiver has to know of the schedule, in sentences: for the reference and the guides. */
export const scheduleForReceivers = {
  success: `Answer with a 2xx within ${inWords(attemptTimeout)}`,
  retries:
    `Anything else is tried again, ${attempts} times in all over more than ${inDays(sum(waits))}; ` +
    '`Retry-After` is honoured.',
  pause:
    `A 410, or ${inDays(pauseAfter)} without a success, pauses the subscription: one event is tried ${everyHour}, and ` +
    'a success resumes all.',
  trials: `Until your URL has responded with 2xx for the first time, it gets at most ${maxTrialsPerMinute} deliveries a minute.`,
};

/** All of it, a rule each: for the decision (docs/decisions/webhook-deliveries.md). */
export const scheduleRules = [
  `Success is a 2xx within ${inWords(attemptTimeout)} (connect ${inWords(connectTimeout)}), body included.`,
  `Retries after ${waits.map(inWords).join(', ')}: ${attempts} attempts, ±${100 * jitter} % jitter. \`Retry-After\` is honoured up to ${inWords(longestRetryAfter)}.`,
  `After ${breaker.failures} failures in a row the circuit of a subscription opens: for ${inWords(breaker.firstOpening)}, doubled up to ${inWords(breaker.longestOpening)}. Then it is half-open: one delivery is tried. A success closes it, a failure opens it again.`,
  `A subscription pauses after a 410, or when every attempt has failed for ${inWords(pauseAfter)} since the last success. Then one is tried ${everyHour}. A success resumes all.`,
  `Until the URL of a subscription has responded with 2xx for the first time, it gets at most ${maxTrialsPerMinute} deliveries a minute.`,
];

/** A length of time in whole days, rounded down, as prose has it. */
function inDays(milliseconds: number): string {
  const numerals = ['no', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine'];
  return `${numerals[Math.floor(milliseconds / (24 * 60 * 60 * 1000))]} days`;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
