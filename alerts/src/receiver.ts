import { createHash, timingSafeEqual } from 'node:crypto';
import type { FastifyError, FastifyInstance } from 'fastify';
import * as z from 'zod';
import type { Metrics } from './metrics.ts';
import { forms } from './payloads.ts';
import type { Settings } from './settings.ts';
import type { Spool } from './spool.ts';

/** Adds the routes of the webhooks, and `/healthz` and `/metrics`. */
export function addRoutes(app: FastifyInstance, settings: Settings, spool: Spool, metrics: Metrics): void {
  const isAllowed = createAuthenticator(settings);
  for (const [form, parse] of Object.entries(forms)) {
    app.post(`/${form}`, {
      onRequest: async ({ headers }, reply) => {
        if (isAllowed(headers.authorization)) return;
        reply.code(401).header('www-authenticate', 'Bearer, Basic realm="itsm-alerts"');
        return reply.send({ error: 'Send ALERTS_TOKEN as a bearer token, or ALERTS_USER and ALERTS_PASSWORD.' });
      },
      handler: async ({ body }) => {
        const alerts = parse(body, settings.identity);
        spool.put(alerts);
        for (const { status } of alerts) metrics.received.inc({ form, status });
        return { received: alerts.length };
      },
    });
  }
  app.get('/healthz', async () => ({ status: 'ok', ...spool.backlog }));
  app.get('/metrics', async (_, reply) => reply.type(metrics.contentType).send(await metrics.format()));

  app.setErrorHandler((error: FastifyError, request, reply) => {
    if (error instanceof z.ZodError) {
      return reply.code(400).send({ error: `The webhook is invalid. ${z.prettifyError(error)}` });
    }
    const { statusCode = 503, message } = error;
    if (statusCode < 500) return reply.code(statusCode).send({ error: message });
    request.log.error(error, 'The spool is not usable.');
    return reply.code(503).send({ error: `The spool is not usable: ${message}. Repeat the request later.` });
  });
}

/** Returns a function that checks the header `Authorization`. The comparison takes the same time for each value. */
function createAuthenticator({ ALERTS_TOKEN, ALERTS_USER, ALERTS_PASSWORD }: Settings): (given?: string) => boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  const basic = Buffer.from(`${ALERTS_USER}:${ALERTS_PASSWORD}`).toString('base64');
  const allowed = [ALERTS_TOKEN && `Bearer ${ALERTS_TOKEN}`, ALERTS_USER && ALERTS_PASSWORD && `Basic ${basic}`];
  const digests = allowed.flatMap((each) => (each ? [digest(each)] : []));
  return (given = '') => digests.some((each) => timingSafeEqual(each, digest(given)));
}
