/**
 * Creates a cache for bytes. It keeps at most `maxBytes` in total, and evicts the least recently used values first.
 * @returns a function that returns the value with a name. If the cache lacks the value, calls `create`. Concurrent calls
 * for the same name share one call of `create`.
 */
export function createByteCache(maxBytes: number): (name: string, create: () => Promise<Buffer>) => Promise<Buffer> {
  /** The values, the least recently used one first. */
  const cached = new Map<string, Buffer>();
  const pending = new Map<string, Promise<Buffer>>();
  let bytes = 0;

  function add(name: string, value: Buffer): void {
    cached.set(name, value);
    bytes += value.length;
    for (const [oldest, { length }] of cached) {
      if (bytes <= maxBytes) return;
      cached.delete(oldest);
      bytes -= length;
    }
  }

  async function load(name: string, create: () => Promise<Buffer>): Promise<Buffer> {
    try {
      const value = await create();
      add(name, value);
      return value;
    } finally {
      pending.delete(name);
    }
  }

  return async (name, create) => {
    const value = cached.get(name);
    if (value !== undefined) {
      cached.delete(name);
      cached.set(name, value);
      return value;
    }
    const loading = pending.get(name) ?? load(name, create);
    pending.set(name, loading);
    return loading;
  };
}
