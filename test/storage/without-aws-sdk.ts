import { registerHooks } from 'node:module';

/** Makes imports of the AWS SDK fail, as if its packages were not installed. */
registerHooks({
  resolve(specifier, context, next) {
    if (!specifier.startsWith('@aws-sdk/')) return next(specifier, context);
    throw Object.assign(new Error(`Cannot find package '${specifier}'`), { code: 'ERR_MODULE_NOT_FOUND' });
  },
});
