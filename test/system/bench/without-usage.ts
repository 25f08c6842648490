import { registerHooks } from 'node:module';

/* Turns off usage recording for a comparison. Import this file into a server process with `--import`. */
registerHooks({
  load(url, context, next) {
    if (!url.endsWith('/usage/request-hook.ts')) return next(url, context);
    return { format: 'module', source: 'export function recordRequests() {}', shortCircuit: true };
  },
});
