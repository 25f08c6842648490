import { setFlagsFromString } from 'node:v8';
import { buildApp } from './app.ts';
import { readSettings } from './config/env.ts';
import { loadEnvFile } from './config/env-file.ts';
import { handleShutdown } from './process/shutdown.ts';
import { start } from './process/start.ts';
import { Lifecycle } from './shared/lifecycle.ts';

/**
 * What all the rest may take after the drain, and a margin: 24 seconds in all where the drain is that of the default.
 * Milliseconds.
 */
const afterDrainMs = 19_000;

function fail(error: unknown): never {
  process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
  process.exit(1);
}

// V8 would let the heap grow to three times what is in use before it looks for what is not, and the process with it.
setFlagsFromString('--heap-growing-percent=30');
// What a request needs while it waits for the database V8 would take for long-lived, since much of it was still in use
// when the heap was small. Placed among what stays, all that hangs on it stays, too: it costs a tenth of the CPU time.
setFlagsFromString('--no-allocation-site-pretenuring');

// Whoever read what is said may be gone: that ends nothing.
process.stderr.on('error', () => undefined);

try {
  await loadEnvFile();
  const settings = readSettings(process.env);
  const lifecycle = new Lifecycle();
  const starting = start(settings, lifecycle, buildApp);
  handleShutdown({
    byNpm: process.env.npm_config_npm_version !== undefined,
    longestMs: Math.max(settings.DRAIN_SECONDS, 5) * 1000 + afterDrainMs,
    async stop({ drain }) {
      const serves = lifecycle.phase === 'ready' && settings.ROLES.includes('api');
      lifecycle.enter('stopping');
      const stop = await starting;
      await stop(drain && serves ? settings.DRAIN_SECONDS * 1000 : 0);
    },
  });
  await starting;
} catch (error) {
  fail(error);
}
