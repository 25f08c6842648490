/**
 * Returns a function that creates a value on its first call and caches it. If `create` fails, the next call runs
 * `create` again.
 */
export function lazy<T>(create: () => T | Promise<T>): () => Promise<T> {
  let cached: Promise<T> | undefined;
  return () => {
    cached ??= Promise.resolve()
      .then(create)
      .catch((error: unknown) => {
        cached = undefined;
        throw error;
      });
    return cached;
  };
}
