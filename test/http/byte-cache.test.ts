import { createByteCache } from '@itsm-api/server/shared/content/byte-cache.ts';
import { expect, it } from 'vitest';

/** Returns a cache of 10 bytes. It creates values of the given length, and records their names. */
function startCache() {
  const find = createByteCache(10);
  const created: string[] = [];
  const read = async (name: string, length = 4) => {
    const value = await find(name, async () => {
      created.push(name);
      return Buffer.alloc(length);
    });
    expect(value).toHaveLength(length);
  };
  return { find, read, created };
}

it('evicts the least recently used values if they exceed the maximum number of bytes', async () => {
  const { read, created } = startCache();
  for (const name of ['a', 'b', 'a', 'c', 'a', 'b']) await read(name);
  expect(created).toEqual(['a', 'b', 'c', 'b']);
  // A value that is larger than the cache evicts all others, and isn't cached itself.
  for (const name of ['large', 'large']) await read(name, 11);
  await read('a');
  expect(created.slice(4)).toEqual(['large', 'large', 'a']);
});

it('creates a value once for concurrent calls, and again after an error', async () => {
  const { find, read, created } = startCache();
  await Promise.all([read('a'), read('a')]);
  expect(created).toEqual(['a']);
  const fail = () => find('b', () => Promise.reject(new Error('Unreachable')));
  await expect(Promise.all([fail(), fail()])).rejects.toThrow('Unreachable');
  await read('b');
  expect(created).toEqual(['a', 'b']);
});
