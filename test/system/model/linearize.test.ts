import { describe, expect, it } from 'vitest';
import { linearize, type Step } from './linearize.ts';

/* The tests use a register that stores one text. Clients read and write the text. */
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
const writeWithoutResponse = (text: string, begin: number) => write(text, begin, Number.POSITIVE_INFINITY);
const order = (steps: readonly Step<string>[]) => linearize(undefined, steps)?.map(({ step }) => step.describe());

describe('linearize', () => {
  it('finds an order of concurrent steps that explains all responses', () => {
    expect(order([write('a', 1, 2), write('b', 3, 9), read('a', 4, 10), read('b', 11, 12)])).toEqual([
      ...['write a', 'read a', 'write b', 'read b'],
    ]);
  });

  it.each([
    ['a read of a value that was never written', [write('a', 1, 2), read('b', 3, 4)]],
    ['a read of an overwritten value', [write('a', 1, 2), write('b', 3, 4), read('a', 5, 6)]],
    ['reads that return an older value later', [write('a', 1, 2), write('b', 3, 20), read('b', 4, 5), read('a', 6, 7)]],
    [
      'a read before the write of its value, which got no response',
      [write('a', 1, 2), read('b', 3, 4), writeWithoutResponse('b', 5)],
    ],
  ])('finds no valid order of steps for %s', (_, steps) => {
    expect(order(steps)).toBeUndefined();
  });

  it('uses a step without a response only if the step explains a later response', () => {
    const steps = [
      write('a', 1, 2),
      writeWithoutResponse('b', 3),
      writeWithoutResponse('c', 4),
      read('a', 5, 6),
      read('b', 7, 8),
    ];
    expect(order(steps)).toEqual(['write a', 'read a', 'write b', 'read b']);
  });

  it('finds an order of 44 steps although 40 of them have no response', () => {
    const many = Array.from({ length: 40 }, (_, index) => writeWithoutResponse(`lost ${index}`, 3));
    const steps = [write('a', 1, 2), ...many, write('b', 10, 20), read('a', 11, 21), read('lost 7', 22, 23)];
    expect(order(steps)).toEqual(['write a', 'read a', 'write b', 'write lost 7', 'read lost 7']);
  });
});
