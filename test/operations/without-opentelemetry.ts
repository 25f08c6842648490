import { registerHooks } from 'node:module';

/**
 * Simulates that OpenTelemetry is not installed if a process imports this file before the program. Only prom-client can
 * still import an OpenTelemetry package.
 */
registerHooks({
  resolve(specifier, context, next) {
    if (!specifier.startsWith('@opentelemetry/') || context.parentURL?.includes('/prom-client/')) {
      return next(specifier, context);
    }
    throw Object.assign(new Error(`Cannot find package '${specifier}'`), { code: 'ERR_MODULE_NOT_FOUND' });
  },
});
