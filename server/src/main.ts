import { seed } from '../../prisma/seed.ts';
import { buildApp } from './app.ts';
import { readSettings, type Settings } from './env.ts';
import { greeting } from './greeting.ts';
import { createLogger } from './http/logger.ts';
import { openRuntime } from './runtime.ts';

/** Starts what the settings ask for and says where it is; resolves to what stops it again. */
async function start(settings: Settings): Promise<() => Promise<void>> {
  const logger = createLogger(settings.LOG_LEVEL);
  const { HOST, PORT } = settings;
  const runtime = await openRuntime(settings, {
    holder: { kind: 'server', address: `http://${HOST}:${PORT}` },
    onConnectionError: (err) => logger.warn({ err }, 'a connection to PostgreSQL broke'),
  });
  try {
    const demo = runtime.embedded ? await seed(runtime.prisma) : undefined;
    const app = await buildApp({ ...runtime, logger, settings });
    const origin = await app.listen({ port: PORT, host: HOST }).catch((error) => {
      throw error.code === 'EADDRINUSE' ? new Error(`PORT: ${PORT} is in use on ${HOST}; set another one`) : error;
    });
    process.stdout.write(greeting({ origin, settings, demo }));
    return async () => {
      await app.close();
      await runtime.close();
    };
  } catch (error) {
    await runtime.close();
    throw error;
  }
}

/** Ends the process well on the first signal, and at once on a second one. */
function stopOnSignal(stop: () => Promise<void>): void {
  const onSignal = () => {
    process.once('SIGINT', () => process.exit(130));
    process.stderr.write('\nStopping …\n');
    stop().then(
      () => process.exit(0),
      (error) => fail(error),
    );
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, onSignal);
}

function fail(error: unknown): never {
  process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
  process.exit(1);
}

try {
  stopOnSignal(await start(readSettings(process.env)));
} catch (error) {
  fail(error);
}
