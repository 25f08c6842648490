/** The number of bytes between two garbage collections. */
const intervalBytes = 24 * 2 ** 20;

/**
 * Returns a function that counts received bytes, and regularly frees the buffers that are no longer used.
 *
 * By default, V8 frees buffers with a garbage collection of the whole heap when they use 64 MB. If clients upload
 * 87 MB/s, it runs three such collections per second, which delay other requests by up to 20 ms. A collection of the
 * young generation takes a millisecond. Without the option `--expose-gc` of Node.js, the function has no effect.
 */
export function createBufferCollector(): (bytes: number) => void {
  const { gc } = globalThis;
  if (gc === undefined) return () => undefined;
  let uncollected = 0;
  return (bytes) => {
    uncollected += bytes;
    if (uncollected < intervalBytes) return;
    uncollected = 0;
    gc({ type: 'minor' });
  };
}
