import { createHash, timingSafeEqual } from 'node:crypto';
import type { FastifyError, FastifyInstance } from 'fastify';
import type { Metrics } from './metrics.ts';
import { forms } from './payloads.ts';
import type { Settings } from './settings.ts';
import type { Spool } from './spool.ts';

/** Adds the routes of the webhooks, and `/healthz`, `/readyz` and `/metrics`. */
export function addRoutes(app: FastifyInstance, settings: Settings, spool: Spool, metrics: Metrics): void {
  const isAllowed = createAuthenticator(settings);
  for (const [form, parse] of Object.entries(forms)) {
    app.post(`/${form}`, {
      onRequest: async ({ headers }, reply) => {
        if (isAllowed(headers.authorization)) return;
        reply.code(401).header('www-authenticate', 'Bearer, Basic realm="itsm-alerts"');
        return reply.send({ error: 'Send ALERTS_TOKEN as a bearer token, or ALERTS_USER and ALERTS_PASSWORD.' });
      },
      handler: async ({ body, log }, reply) => {
        const { alerts, skipped, faults } = parse(body, settings.identity);
        if (skipped > 0) {
          metrics.unreadable.inc({ form }, skipped);
          log.warn({ form, skipped, faults }, 'Unreadable alerts of a webhook were skipped.');
        }
        if (alerts.length === 0) {
          return reply.code(400).send({ error: `The webhook has no readable alert. ${faults.join('; ')}` });
        }
        spool.put(alerts);
        for (const { status } of alerts) metrics.received.inc({ form, status });
        return { received: alerts.length, ...(skipped > 0 && { skipped, faults }) };
      },
    });
  }
  app.get('/healthz', async () => ({ status: 'ok', ...spool.backlog }));
  app.get('/readyz', async (_, reply) => {
    try {
      spool.check();
      return { status: 'ready' };
    } catch (error) {
      return reply.code(503).send({ status: 'unavailable', reason: (error as Error).message });
    }
  });
  app.get('/metrics', async (_, reply) => reply.type(metrics.contentType).send(await metrics.format()));

  app.setErrorHandler((error: FastifyError, request, reply) => {
    const { statusCode = 503, message } = error;
    if (statusCode < 500) return reply.code(statusCode).send({ error: message });
    request.log.error(error, 'The spool is not usable.');
    const reason = message.replace(/\.$/, '');
    return reply.code(503).send({ error: `The spool is not usable: ${reason}. Repeat the request later.` });
  });
}

/**
 * Returns a function that checks the header `Authorization`, whose scheme can have any case (RFC 9110 §11.1). The
 * comparison takes the same time for each value.
 */
function createAuthenticator({ ALERTS_TOKEN, ALERTS_USER, ALERTS_PASSWORD }: Settings): (given?: string) => boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  const basic = Buffer.from(`${ALERTS_USER}:${ALERTS_PASSWORD}`).toString('base64');
  const allowed = [ALERTS_TOKEN && `bearer ${ALERTS_TOKEN}`, ALERTS_USER && ALERTS_PASSWORD && `basic ${basic}`];
  const digests = allowed.flatMap((each) => (each ? [digest(each)] : []));
  return (given = '') => {
    const header = digest(given.replace(/^\S+ +/, (scheme) => `${scheme.trim().toLowerCase()} `));
    return digests.some((each) => timingSafeEqual(each, header));
  };
}
