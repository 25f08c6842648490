/** Made when it is first asked for, and then kept. */
export function lazily<T>(make: () => T | Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= Promise.resolve().then(make);
    return made;
  };
}
