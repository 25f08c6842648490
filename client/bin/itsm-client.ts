#!/usr/bin/env node

/* The program of the package. Loads only the code of the given command. */
await (process.argv[2] === 'types' ? import('./field-types.ts') : import('./listen.ts'));
