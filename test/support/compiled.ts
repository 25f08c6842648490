import { join } from 'node:path';

/**
 * Environment variables that make server processes share a compile cache of Node.js. The cache reduces the start time
 * by a third.
 */
export const compiled = { NODE_COMPILE_CACHE: join(import.meta.dirname, '../node_modules/.cache/compiled') };
