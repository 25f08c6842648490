import { join } from 'node:path';

/**
 * The environment of server processes with a shared compile cache of Node.js, which reduces their start time by a
 * third.
 */
export const compiled = { NODE_COMPILE_CACHE: join(import.meta.dirname, '../node_modules/.cache/compiled') };
