import { deliverySchedule, inWords } from '../delivery-schedule.ts';

const {
  attemptTimeout,
  connectTimeout,
  waits,
  jitter,
  maxRetryAfter,
  breaker,
  pauseAfter,
  pausedOpening,
  maxTrialsPerMinute,
} = deliverySchedule;
const attempts = waits.length + 1;
const everyHour = `every ${inWords(pausedOpening).replace(/^1 /, '')}`;

/** Sentences that describe the delivery schedule, for the API reference and the guides. */
export const scheduleForReceivers = {
  success: `Respond with a 2xx within ${inWords(attemptTimeout)}`,
  retries:
    `Otherwise, the server retries the delivery: ${attempts} attempts in all, over more than ${inDays(sum(waits))}. ` +
    'The server respects `Retry-After`.',
  breaker:
    'The circuit breaker of a subscription stops deliveries after consecutive failures. ' +
    'While the circuit is open, the server sends nothing. ' +
    'While the circuit is half-open, the server sends one delivery as a test.',
  pause:
    `After a 410 response, or ${inDays(pauseAfter)} without a success, the server pauses the subscription. ` +
    `During the pause, the server sends only one event ${everyHour} as a test. One success resumes all deliveries.`,
  trials: `Until your URL first responds with 2xx, it receives at most ${maxTrialsPerMinute} deliveries per minute.`,
};

/** All rules of the delivery schedule as list items, for docs/decisions/webhook-deliveries.md. */
export const scheduleRules = [
  `An attempt succeeds if the receiver responds with a 2xx and the complete body within ${inWords(attemptTimeout)}. The connection timeout is ${inWords(connectTimeout)}.`,
  `A delivery has up to ${attempts} attempts. The delays between them are ${waits.map(inWords).join(', ')}, with a jitter of ±${100 * jitter} %. The server respects \`Retry-After\` up to ${inWords(maxRetryAfter)}.`,
  `After ${breaker.failures} consecutive failures, the circuit breaker of the subscription opens for ${inWords(breaker.firstOpening)}. Each time the circuit opens again, this time doubles, up to ${inWords(breaker.maxOpening)}. After this time, the circuit is half-open, and a worker sends one delivery. A success closes the circuit, and a failure opens it again.`,
  `The server pauses a subscription after a 410, or if every attempt failed for ${inWords(pauseAfter)} since the last success. During the pause, a worker sends one delivery ${everyHour}. A success resumes all deliveries.`,
  `Until the URL of a subscription first responds with 2xx, the URL receives at most ${maxTrialsPerMinute} deliveries per minute.`,
];

/** Formats a duration in whole days, for example as `three days`. Rounds the duration down. */
function inDays(milliseconds: number): string {
  const numerals = ['no', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine'];
  return `${numerals[Math.floor(milliseconds / (24 * 60 * 60 * 1000))]} days`;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
