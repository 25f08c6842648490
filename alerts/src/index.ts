import { ItsmClient } from '@itsm-api/client';
import fastify, { LogController } from 'fastify';
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

/** The maximum time in milliseconds for which a request waits for a rate limit, whose windows last one minute. */
const maxWaitMs = 65_000;

/**
 * Receives webhooks, stores their alerts in the spool, and sends them to the service.
 * @throws Error if another program uses the spool or the port
 */
export async function startAlerts(settings: Settings, logLevel = 'info'): Promise<Alerts> {
  const logController = new LogController({ disableRequestLogging: true });
  const app = fastify({ logger: { level: logLevel }, logController, bodyLimit });
  const { log: logger } = app;
  const client = new ItsmClient({
    baseUrl: settings.ITSM_URL,
    apiKey: settings.ITSM_KEY,
    userAgent: 'itsm-alerts',
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
