import { deliverySchedule } from '@itsm-api/contract';
import {
  claimLease,
  nextWait,
  parseRetryAfter,
  scaleSchedule,
} from '@itsm-api/server/webhooks/delivery/retry-schedule.ts';
import { describe, expect, it } from 'vitest';

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

const at = new Date('2026-11-20T10:00:00.000Z');

/** Returns the time between an attempt and the retry, in milliseconds. `random` is the random number for the jitter. */
const waitAfter = (attempt: number, random: number, retryAfter?: number) =>
  nextWait({ attempt, retryAfter }, deliverySchedule, () => random);

describe('retry schedule', () => {
  it.each([
    [1, 5 * second],
    [2, 5 * minute],
    [3, 30 * minute],
    [4, 2 * hour],
    [5, 5 * hour],
    [6, 10 * hour],
    [7, 14 * hour],
    [8, 20 * hour],
    [9, 24 * hour],
  ])('schedules the retry after attempt %i in %i ms ± 20 %%', (attempt, wait) => {
    expect([0, 0.5, 1].map((random) => waitAfter(attempt, random))).toEqual([0.8 * wait, wait, 1.2 * wait]);
    const drawn = Array.from({ length: 200 }, () => nextWait({ attempt }) ?? Number.NaN);
    expect(Math.min(...drawn)).toBeGreaterThanOrEqual(0.8 * wait);
    expect(Math.max(...drawn)).toBeLessThanOrEqual(1.2 * wait);
    // The jitter spreads the retries of deliveries that failed at the same time.
    expect(new Set(drawn).size).toBeGreaterThan(100);
  });

  it('ignores lost attempts in the retry schedule', () => {
    const wait = (attempt: number, lost: number) => nextWait({ attempt, lost }, deliverySchedule, () => 0.5);
    expect([wait(2, 1), wait(12, 10)]).toEqual([5 * second, 5 * minute]);
    expect([wait(19, 10), wait(20, 10)]).toEqual([24 * hour, undefined]);
  });

  it.each([10, 11, 1000])('schedules no retry after attempt %i, even if the response has a Retry-After', (attempt) => {
    expect(nextWait({ attempt })).toBeUndefined();
    expect(nextWait({ attempt, retryAfter: hour })).toBeUndefined();
  });

  it.each([
    ['a longer Retry-After exactly', 1, minute, minute],
    ['the schedule if its wait is longer', 3, minute, 24 * minute],
    ['the schedule if Retry-After is 0', 1, 0, 4 * second],
    ['at most one day', 9, day, day],
  ])('combines the retry schedule with the Retry-After header: uses %s', (_, attempt, retryAfter, wait) => {
    expect(waitAfter(attempt, 0, retryAfter)).toBe(wait);
  });
});

describe('scaled schedule', () => {
  it('changes the circuit breaker, the pause and the trials in proportion to the delays', () => {
    const [first, ...others] = deliverySchedule.waits;
    const { breaker, pauseAfter, pausedOpening, maxTrialsPerMinute } = scaleSchedule([
      first / 100,
      ...others.map((wait) => wait / 100),
    ]);
    expect(breaker).toEqual({ failures: 5, firstOpening: second / 20, maxOpening: 3 * second });
    expect({ pauseAfter, pausedOpening }).toEqual({ pauseAfter: 1.2 * hour, pausedOpening: 36 * second });
    expect(maxTrialsPerMinute).toBe(1000);
  });

  it('keeps circuits open for at least the first delay', () => {
    const { breaker, pausedOpening, pauseAfter } = scaleSchedule([50, 100, 200]);
    expect({ ...breaker, pausedOpening }).toEqual({
      ...{ failures: 5, firstOpening: 50, maxOpening: 50, pausedOpening: 50 },
    });
    expect(pauseAfter).toBe(556);
  });
});

it('leases a claimed delivery for twice the attempt timeout', () => {
  expect(claimLease).toBe(2 * deliverySchedule.attemptTimeout);
});

describe('parseRetryAfter', () => {
  it.each<[string, string | undefined, number | undefined]>([
    ['missing', undefined, undefined],
    ['seconds', '120', 120 * second],
    ['seconds surrounded by spaces', ' 120\t', 120 * second],
    ['zero', '0', 0],
    ['leading zeros', '007', 7 * second],
    ['a day', '86400', day],
    ['one second more than a day', '86401', day],
    ['seconds beyond the number range', '9'.repeat(400), day],
    ['an HTTP date', 'Fri, 20 Nov 2026 10:01:30 GMT', 90 * second],
    ['an HTTP date of RFC 850', 'Friday, 20-Nov-26 10:01:30 GMT', 90 * second],
    ['an HTTP date of asctime', 'Fri Nov 20 10:01:30 2026', 90 * second],
    ['a date that has passed', 'Thu, 19 Nov 2026 10:00:00 GMT', 0],
    ['a date many years ago', 'Sun, 06 Nov 1994 08:49:37 GMT', 0],
    ['a date far in the future', 'Fri, 31 Dec 9999 23:59:59 GMT', day],
    ['an empty string', '', undefined],
    ['garbage', 'soon', undefined],
    ['garbage that begins like a date', 'Friday or so', undefined],
    ['a negative number', '-5', undefined],
    ['a signed number', '+5', undefined],
    ['a fraction', '1.5', undefined],
    ['a number with a unit', '5s', undefined],
    ['an exponent', '1e3', undefined],
    ['hex', '0x10', undefined],
    ['two values in one header', '60, 120', undefined],
    ['a date without the day of the week', '20 Nov 2026 10:01:30 GMT', undefined],
    ['a date with one letter as the day of the week', 'F, 20 Nov 2026 10:01:30 GMT', undefined],
    ["an ISO date, which HTTP doesn't allow", '2026-11-20T10:01:30Z', undefined],
  ])('parses a Retry-After header (%s)', (_, header, wait) => {
    expect(parseRetryAfter(header, at)).toBe(wait);
  });

  it('parses a Retry-After date as UTC in every time zone', () => {
    const { TZ } = process.env;
    try {
      process.env.TZ = 'America/New_York';
      // RFC 9110 §5.6.7 requires recipients to accept all three date formats. All dates are in UTC.
      for (const date of [
        'Fri, 20 Nov 2026 10:01:30 GMT',
        'Friday, 20-Nov-26 10:01:30 GMT',
        'Fri Nov 20 10:01:30 2026',
      ]) {
        expect(parseRetryAfter(date, at), date).toBe(90 * second);
      }
    } finally {
      if (TZ === undefined) delete process.env.TZ;
      else process.env.TZ = TZ;
    }
  });
});
