import { Writable } from 'node:stream';
import { createLogger } from '@itsm-api/server/http/logging/logger.ts';
import { openStartupServer } from '@itsm-api/server/http/server/startup-server.ts';
import { openOperationsServer } from '@itsm-api/server/operations/operations-server.ts';
import { Lifecycle, type Phase } from '@itsm-api/server/shared/lifecycle.ts';
import { describe, expect } from 'vitest';
import { api, itWithApi } from '../support/fixture.ts';

let log = '';
const stream = new Writable({
  write(chunk, _, done) {
    log += chunk;
    done();
  },
});

const it = itWithApi.extend('options', { scope: 'file' }, { logger: createLogger('info', stream) });

describe('health endpoints on the API port', () => {
  it('returns ok from /livez and /readyz without authentication or rate limits', async () => {
    for (const path of ['/livez', '/readyz']) {
      const answer = await api.call({ method: 'GET', path });
      expect(answer).toMatchObject({ status: 200, text: 'ok' });
      expect(answer.headers).toMatchObject({ 'content-type': 'text/plain', 'cache-control': 'no-store' });
      expect(Object.keys(answer.headers).filter((name) => name.includes('limit'))).toEqual([]);
      expect(await api.call({ method: 'HEAD', path })).toMatchObject({ status: 200, text: '' });
      expect(await api.call({ method: 'POST', path, body: {} })).toMatchObject({
        status: 404,
        headers: { allow: 'GET, HEAD' },
      });
    }
  });

  it('does not log health check requests', async () => {
    log = '';
    await api.call({ method: 'GET', path: '/readyz' });
    await api.call({ method: 'GET', path: '/api/public/v1/ping' });
    expect(log.trim().split('\n')).toHaveLength(1);
  });

  it('omits health endpoints from the OpenAPI document', async () => {
    const { text } = await api.call({ method: 'GET', path: '/openapi.json' });
    expect(text).not.toMatch(/livez|readyz/);
  });

  it.each<Phase>(['starting', 'migrating'])('returns 503 from /readyz and the API in phase %s', async (phase) => {
    log = '';
    const { app } = openStartupServer({ logger: createLogger('warn', stream), lifecycle: new Lifecycle(phase) });
    expect(await app.inject('/livez')).toMatchObject({ statusCode: 200, body: 'ok' });
    expect(await app.inject('/readyz')).toMatchObject({ statusCode: 503, body: phase });
    const answer = await app.inject({ method: 'POST', url: '/api/public/v1/tickets', payload: '{' });
    expect(answer).toMatchObject({ statusCode: 503, headers: { 'retry-after': '5', connection: 'close' } });
    expect(answer.json()).toEqual({
      success: false,
      error: {
        code: 'SERVICE_UNAVAILABLE',
        message: 'The server is starting. Retry in 5 seconds.',
        retryAfterSeconds: 5,
        docs: '/docs/errors#SERVICE_UNAVAILABLE',
        requestId: answer.headers['x-request-id'],
      },
    });
    await app.close();
    expect(log).toBe('');
  });
});

describe('health endpoints on the operations port', () => {
  const logger = createLogger('silent');

  it('stays ready on the operations port if a health check fails', async () => {
    const checks = [
      { name: 'fine', run: () => ({ ok: true, milliseconds: 1 }) },
      { name: 'absent', run: () => Promise.reject(new Error('unreachable')) },
      { name: 'silent', run: () => new Promise<never>(() => undefined) },
    ];
    const app = openOperationsServer({ logger, lifecycle: new Lifecycle('ready'), checks });
    const answer = await app.inject('/readyz');
    expect(answer.statusCode).toBe(200);
    expect(answer.json()).toEqual({
      status: 'degraded',
      checks: {
        fine: { ok: true, milliseconds: 1 },
        absent: { ok: false, error: 'unreachable' },
        silent: { ok: false, error: 'no response within 1000 ms' },
      },
    });
    checks.splice(1);
    expect((await app.inject('/readyz')).json()).toMatchObject({ status: 'ok' });
    await app.close();
  });

  it.each<Phase>(['starting', 'migrating', 'stopping'])(
    'returns 503 from /readyz on the operations port while the server is %s',
    async (phase) => {
      const app = openOperationsServer({ logger, lifecycle: new Lifecycle(phase), checks: [] });
      expect(await app.inject('/readyz')).toMatchObject({ statusCode: 503 });
      expect((await app.inject('/readyz')).json()).toEqual({ status: phase, checks: {} });
      expect((await app.inject('/livez')).json()).toMatchObject({ status: 'ok', pid: process.pid });
      await app.close();
    },
  );
});
