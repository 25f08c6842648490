import { registerHooks } from 'node:module';

/*
 * `--import` of a server that counts no usage, to be compared with one that does.
 */
registerHooks({
  load(url, context, next) {
    if (!url.endsWith('/usage/follow-requests.ts')) return next(url, context);
    return { format: 'module', source: 'export function followRequests() {}', shortCircuit: true };
  },
});
