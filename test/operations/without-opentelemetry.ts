import { registerHooks } from 'node:module';

/**
 * Import this file before a program to simulate that OpenTelemetry is not installed. Only prom-client can then import
 * an OpenTelemetry package.
 */
registerHooks({
  resolve(specifier, context, next) {
    if (!specifier.startsWith('@opentelemetry/') || context.parentURL?.includes('/prom-client/')) {
      return next(specifier, context);
    }
    throw Object.assign(new Error(`Cannot find package '${specifier}'`), { code: 'ERR_MODULE_NOT_FOUND' });
  },
});
