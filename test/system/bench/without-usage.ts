import { registerHooks } from 'node:module';

/* Import this file with `--import` in a server to turn off the recording of usage for a comparison. */
registerHooks({
  load(url, context, next) {
    if (!url.endsWith('/usage/request-hook.ts')) return next(url, context);
    return { format: 'module', source: 'export function recordRequests() {}', shortCircuit: true };
  },
});
