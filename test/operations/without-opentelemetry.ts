import { registerHooks } from 'node:module';

/**
 * Makes imports of OpenTelemetry packages fail, as if the packages were not installed. Only prom-client can still
 * import them.
 */
registerHooks({
  resolve(specifier, context, next) {
    if (!specifier.startsWith('@opentelemetry/') || context.parentURL?.includes('/prom-client/')) {
      return next(specifier, context);
    }
    throw Object.assign(new Error(`Cannot find package '${specifier}'`), { code: 'ERR_MODULE_NOT_FOUND' });
  },
});
