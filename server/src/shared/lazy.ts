/** Made when it is first asked for, and then kept; what could not be made is tried again by whoever asks next. */
export function lazy<T>(make: () => T | Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= Promise.resolve()
      .then(make)
      .catch((error: unknown) => {
        made = undefined;
        throw error;
      });
    return made;
  };
}
