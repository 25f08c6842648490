import { expect, it } from 'vitest';
import { linearize } from './linearize.ts';
import type { State } from './resources/rows.ts';
import { changed, conditionalReadStep } from './steps.ts';
import type { Sent } from './world.ts';

interface Row {
  id: number;
  title: string;
  etag: string;
  updatedAt: string;
}

const now = Date.now();
const row = (title: string, etag: string, ago: number): Row => {
  return { id: 1, title, etag, updatedAt: new Date(now - ago).toISOString() };
};
const before: State<Row> = {
  row: row('first', '"1"', 20),
  formerTags: [],
  mutations: [],
  comments: [],
  links: [],
  attachments: [],
};

function sent(begin: number, end: number, status: number, data?: Row): Sent {
  const request = { method: 'GET', path: '/rows/1' };
  return { request, begin, end, beganAt: now, endedAt: now, answer: { status, headers: {}, body: { data } } };
}

it('orders a read with a 304 response before a concurrent change of the row', () => {
  // The 304 response arrives after the response to the change.
  const unchanged = conditionalReadStep<Row>(sent(1, 9, 304), '"1"');
  const written = sent(2, 3, 200, row('second', '"2"', 10));
  const change = changed<Row>(
    { sent: written, answer: written.answer },
    { actor: null, change: () => ({ row: { ...row('second', '(unknownText)', 10), updatedAt: '(unknownText)' } }) },
  );
  const placed = linearize(before, [unchanged, change]);
  expect(placed?.map(({ step }) => step)).toEqual([unchanged, change]);
  expect(placed?.at(-1)?.state).toMatchObject({ row: { etag: '"2"' }, formerTags: ['"1"'] });
});
