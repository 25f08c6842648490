import { describe, expect, it } from 'vitest';
import { linearize, type Step } from './linearize.ts';

/* A row that holds one text, written and read. */
const write = (text: string, begin: number, end: number): Step<string> => ({
  describe: () => `write ${text}`,
  ...{ begin, end, isCertain: Number.isFinite(end), isRead: false },
  after: () => text,
});
const read = (text: string, begin: number, end: number): Step<string> => ({
  describe: () => `read ${text}`,
  ...{ begin, end, isCertain: true, isRead: true },
  after: (state) => (state === text ? state : undefined),
});
const unanswered = (text: string, begin: number) => write(text, begin, Number.POSITIVE_INFINITY);
const told = (steps: readonly Step<string>[]) => linearize(undefined, steps)?.map(({ step }) => step.describe());

describe('linearize', () => {
  it('puts what was asked at once in the order that the answers tell', () => {
    expect(told([write('a', 1, 2), write('b', 3, 9), read('a', 4, 10), read('b', 11, 12)])).toEqual([
      ...['write a', 'read a', 'write b', 'read b'],
    ]);
  });

  it.each([
    ['a read of what was never written', [write('a', 1, 2), read('b', 3, 4)]],
    ['a read of what had been written over', [write('a', 1, 2), write('b', 3, 4), read('a', 5, 6)]],
    ['reads that go back', [write('a', 1, 2), write('b', 3, 20), read('b', 4, 5), read('a', 6, 7)]],
    ['a write that was not answered, before it was sent', [write('a', 1, 2), read('b', 3, 4), unanswered('b', 5)]],
  ])('finds none for %s', (_, steps) => {
    expect(told(steps)).toBeUndefined();
  });

  it('has what was not answered happen late, or never', () => {
    const steps = [write('a', 1, 2), unanswered('b', 3), unanswered('c', 4), read('a', 5, 6), read('b', 7, 8)];
    expect(told(steps)).toEqual(['write a', 'read a', 'write b', 'read b']);
  });

  it('takes no longer for very many that were not answered', () => {
    const many = Array.from({ length: 40 }, (_, index) => unanswered(`lost ${index}`, 3));
    const steps = [write('a', 1, 2), ...many, write('b', 10, 20), read('a', 11, 21), read('lost 7', 22, 23)];
    expect(told(steps)).toEqual(['write a', 'read a', 'write b', 'write lost 7', 'read lost 7']);
  });
});
