import { ItsmClient } from '@itsm-api/client';
import fastify, { LogController } from 'fastify';
import { describeUnfilled, findDefinitions, findUnfilled } from './custom-fields.ts';
import { createMetrics } from './metrics.ts';
import { addRoutes } from './receiver.ts';
import { Sender } from './sender.ts';
import type { Settings } from './settings.ts';
import { Spool } from './spool.ts';

export { readSettings, type Settings, SettingsError } from './settings.ts';

/** A running program that receives alerts. */
export interface Alerts {
  /** The origin of its HTTP server, such as `http://127.0.0.1:9096`. */
  readonly url: string;
  /** Stops the program. The alerts that the service doesn't have yet stay in the spool. */
  close(): Promise<void>;
}

/** The maximum size of a webhook in bytes. 5,000 alerts of Alertmanager need about 5 MiB. */
const bodyLimit = 16 * 2 ** 20;

/** The maximum time in milliseconds in which the headers and the body of a webhook must arrive. */
const maxArrivalMs = 10_000;

/** The maximum time in milliseconds for which a request waits for a rate limit, whose windows last one minute. */
const maxWaitMs = 65_000;

/**
 * Receives webhooks, stores their alerts in the spool, and sends them to the service.
 * @throws Error if another program uses the spool or the port
 */
export async function startAlerts(settings: Settings, logLevel = 'info'): Promise<Alerts> {
  const logController = new LogController({ disableRequestLogging: true });
  const app = fastify({
    ...{ logger: { level: logLevel }, logController, bodyLimit, requestTimeout: maxArrivalMs },
    http: { headersTimeout: maxArrivalMs, connectionsCheckingInterval: 1000 },
    // A label can have any name.
    ...{ onProtoPoisoning: 'remove', onConstructorPoisoning: 'remove' },
  });
  const { log: logger } = app;
  const client = new ItsmClient({
    ...clientOptions(settings),
    maxWaitMs,
    logger: { debug: (message) => logger.debug(message), warn: (message) => logger.warn(message) },
  });
  const spool = new Spool(settings.spool);
  const metrics = createMetrics(spool, client);
  addRoutes(app, settings, spool, metrics);
  const url = await app.listen({ host: settings.host, port: settings.port });
  const stop = new AbortController();
  const ended = new Sender({ client, spool, settings, metrics, logger, signal: stop.signal }).run();
  return {
    url,
    async close() {
      await app.close();
      stop.abort();
      await ended;
      spool.close();
    },
  };
}

/**
 * Returns a warning for each required custom field of tickets that the settings may not fill.
 * @throws ItsmError if the service is unavailable
 */
export async function checkFields(settings: Settings): Promise<string[]> {
  const client = new ItsmClient({ ...clientOptions(settings), timeoutMs: 10_000, maxRetries: 0, maxWaitMs: 0 });
  return findUnfilled(await findDefinitions(client), settings).map(describeUnfilled);
}

function clientOptions({ ITSM_URL, ITSM_KEY }: Settings) {
  return { baseUrl: ITSM_URL, apiKey: ITSM_KEY, userAgent: 'itsm-alerts' };
}
