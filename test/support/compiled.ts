import { join } from 'node:path';

/**
 * Environment variables that enable a shared Node.js compile cache for server processes and examples. The cache reduces the start
 * time by a third.
 */
export const compiled = { NODE_COMPILE_CACHE: join(import.meta.dirname, '../node_modules/.cache/compiled') };
