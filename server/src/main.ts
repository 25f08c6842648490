import { buildApp } from './app.ts';
import { readSettings } from './config/env.ts';
import { loadEnvFile } from './config/env-file.ts';
import { handleShutdown } from './process/shutdown.ts';
import { start } from './process/start.ts';
import { Lifecycle } from './shared/lifecycle.ts';

/**
 * The maximum time in milliseconds between the end of the drain and the exit of the process. With the default
 * `DRAIN_SECONDS`, a shutdown takes at most 24 seconds.
 */
const afterDrainMs = 19_000;

function fail(error: unknown): never {
  process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
  process.exit(1);
}

// Ignores errors on stderr, such as EPIPE after the program that reads stderr has exited.
process.stderr.on('error', () => undefined);

try {
  await loadEnvFile();
  const settings = readSettings(process.env);
  const lifecycle = new Lifecycle();
  const starting = start(settings, lifecycle, buildApp);
  handleShutdown({
    maxShutdownMs: Math.max(settings.DRAIN_SECONDS, 5) * 1000 + afterDrainMs,
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
