/*
 * `--import` of a process with `--expose-gc` that is to tell once a minute what it holds, and not what it hasn't thrown away
 * yet.
 */
setInterval(() => globalThis.gc?.(), 60_000).unref();
