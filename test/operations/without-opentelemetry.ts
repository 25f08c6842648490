import { registerHooks } from 'node:module';

/** To be imported before a program: as if OpenTelemetry were not installed, but for the interface that prom-client has. */
registerHooks({
  resolve(specifier, context, next) {
    if (!specifier.startsWith('@opentelemetry/') || context.parentURL?.includes('/prom-client/')) {
      return next(specifier, context);
    }
    throw Object.assign(new Error(`Cannot find package '${specifier}'`), { code: 'ERR_MODULE_NOT_FOUND' });
  },
});
