import { registerHooks } from 'node:module';

/**
 * Import this file before a program to simulate that OpenTelemetry is not installed. Only the API package, which
 * prom-client needs, can be imported.
 */
registerHooks({
  resolve(specifier, context, next) {
    if (!specifier.startsWith('@opentelemetry/') || context.parentURL?.includes('/prom-client/')) {
      return next(specifier, context);
    }
    throw Object.assign(new Error(`Cannot find package '${specifier}'`), { code: 'ERR_MODULE_NOT_FOUND' });
  },
});
