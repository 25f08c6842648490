/*
 * Collects garbage once a minute, so the heap metrics exclude garbage. Import this file with `--import` and
 * `--expose-gc`.
 */
setInterval(() => globalThis.gc?.(), 60_000).unref();
