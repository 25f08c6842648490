import { createMemoryStore } from '@itsm-api/server/http/rate-limit-store.ts';
import { expect, it } from 'vitest';

/*
 * What a process keeps of the windows of its keys; limits.test.ts has them in a running service.
 */
const limits = { global: 3, group: 2, windowSeconds: 60 };

it('takes a request back, but not into a window that has opened anew', async () => {
  let now = 0;
  const store = createMemoryStore(limits, () => now);
  const key = '1:2:tickets';
  const first = await store.take(key);
  const second = await store.take(key);
  expect(second).toMatchObject({ isTaken: true, global: { remaining: 1 }, group: { remaining: 0 } });
  const left = { isTaken: false, global: { remaining: 2 }, group: { remaining: 1 } };
  expect(await store.giveBack(key, second)).toMatchObject(left);
  now = 60_000;
  expect(await store.giveBack(key, first)).toMatchObject({ global: { remaining: 3 }, group: { remaining: 2 } });
  await store.take(key);
  expect(await store.giveBack(key, first)).toMatchObject({ global: { remaining: 2 }, group: { remaining: 1 } });
});

it('is that of one key of one tenant', async () => {
  const store = createMemoryStore(limits, () => 0);
  for (const key of ['1:2:tickets', '1:2:tickets', '1:3:tickets', '2:2:tickets']) await store.take(key);
  expect(await store.take('1:2:users')).toMatchObject({ global: { remaining: 0 }, group: { remaining: 1 } });
  expect(await store.take('2:2:tickets')).toMatchObject({ global: { remaining: 1 }, group: { remaining: 0 } });
});

it('is looked at without taking: a window that nobody has used is whole', async () => {
  let now = 0;
  const store = createMemoryStore(limits, () => now);
  expect(store.state).toBe('memory');
  await store.take('1:2:mcp');
  now = 30_500;
  const unused = { openedAt: undefined, resetSeconds: 60 };
  const used = { openedAt: 0, resetSeconds: 30 };
  expect(await store.look('1:2', ['tickets', 'mcp'])).toEqual([
    { name: 'global', limit: 3, remaining: 2, ...used },
    { name: 'tickets', limit: 2, remaining: 2, ...unused },
    // What agents send that calls no endpoint has as much room as all groups together.
    { name: 'mcp', limit: 3, remaining: 2, ...used },
  ]);
});

it('takes from both windows or from neither', async () => {
  const store = createMemoryStore(limits, () => 0);
  for (let i = 0; i < 2; i++) await store.take('1:2:tickets');
  const full = { isTaken: false, global: { remaining: 1 }, group: { remaining: 0 } };
  for (let i = 0; i < 2; i++) expect(await store.take('1:2:tickets')).toMatchObject(full);
  expect(await store.take('1:2:users')).toMatchObject({ isTaken: true, global: { remaining: 0 } });
  const used = { isTaken: false, global: { remaining: 0 }, group: { remaining: 1 } };
  for (let i = 0; i < 2; i++) expect(await store.take('1:2:users')).toMatchObject(used);
});

it('is bounded: of more keys than that those are forgotten whose windows opened first', async () => {
  let now = 0;
  const store = createMemoryStore(limits, () => now);
  await store.take('1:0:tickets');
  now = 1;
  for (let key = 1; key < 100_000; key++) await store.take(`1:${key}:tickets`);
  now = 60_000;
  // The first one's open anew, and there is one more.
  for (const key of [0, 100_000]) await store.take(`1:${key}:tickets`);
  for (const key of [0, 2, 100_000]) {
    expect(await store.take(`1:${key}:tickets`), `${key}`).toMatchObject({
      global: { remaining: 1 },
      group: { remaining: 0 },
    });
  }
  expect(await store.take('1:1:tickets')).toMatchObject({ global: { remaining: 2 }, group: { remaining: 1 } });
});
