/*
 * Import this file with `--import` and `--expose-gc` to collect garbage once a minute, so that the heap metrics exclude
 * garbage.
 */
setInterval(() => globalThis.gc?.(), 60_000).unref();
