import { createMemoryCounter } from '@itsm-api/server/http/rate-limit/rate-limit-windows.ts';
import { expect, it } from 'vitest';

/** Tests rate limit windows in the memory of a process. rules/limits.test.ts tests rate limits in a running server. */
const windowMs = 60_000;
const max = 2;

function openCounter() {
  const clock = { now: 0 };
  const counter = createMemoryCounter(() => clock.now);
  const count = (key: string, step: 1 | 0 | -1) => counter(key, windowMs, max, step);
  return { clock, count };
}

it('counts only allowed requests in a rate limit window', () => {
  const { clock, count } = openCounter();
  expect(count('a', 1)).toEqual({ current: 1, ttl: 60_000 });
  clock.now = 500;
  expect(count('a', 1)).toEqual({ current: 2, ttl: 59_500 });
  for (let i = 0; i < 2; i++) expect(count('a', 1)).toEqual({ current: 3, ttl: 59_500 });
  expect(count('a', 0)).toEqual({ current: 2, ttl: 59_500 });
});

it('counts requests in a separate rate limit window for each name', () => {
  const { count } = openCounter();
  count('a', 1);
  expect(count('b', 1)).toEqual({ current: 1, ttl: 60_000 });
});

it('starts a new rate limit window exactly when the previous window ends', () => {
  const { clock, count } = openCounter();
  count('a', 1);
  clock.now = 59_999;
  expect(count('a', 1)).toEqual({ current: 2, ttl: 1 });
  clock.now = 60_000;
  expect(count('a', 0)).toEqual({ current: 0, ttl: 60_000 });
  expect(count('a', 1)).toEqual({ current: 1, ttl: 60_000 });
});

it('subtracts refunded requests from a rate limit window, but never below zero', () => {
  const { count } = openCounter();
  expect(count('a', -1)).toEqual({ current: 0, ttl: 60_000 });
  for (let i = 0; i < 2; i++) count('a', 1);
  for (const current of [1, 0, 0]) expect(count('a', -1)).toEqual({ current, ttl: 60_000 });
});

it('evicts the oldest rate limit window if there are more than 200,000 windows', () => {
  const { clock, count } = openCounter();
  count('0', 1);
  clock.now = 1;
  for (let key = 1; key < 200_000; key++) count(String(key), 1);
  clock.now = 60_000;
  // Restarts the first window, which has ended. Then one more window evicts the oldest window.
  count('0', 1);
  count('200000', 1);
  expect(count('1', 0).current).toBe(0);
  for (const key of ['0', '2', '200000']) expect(count(key, 0).current, key).toBe(1);
});
