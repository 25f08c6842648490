import { createHmac } from 'node:crypto';
import { pathPrefix } from '@itsm-api/contract';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { answerOf, startApi } from '../support/api.ts';
import { cloneDatabase, type TestDatabase } from '../support/database.ts';
import { type PgBouncer, skipUnlessPgBouncer, startPgBouncer } from '../support/pgbouncer.ts';
import { steadyPort } from '../support/postgres-server.ts';
import { type Received, startReceiver } from '../support/receiver.ts';
import { spawnServer } from '../support/server-process.ts';
import { createWorkspace, ticket, webhook } from '../support/workspace.ts';

/** Tests a server process that connects to PostgreSQL through PgBouncer. */

const WEBHOOK_SECRET_KEY = Buffer.alloc(32, 1).toString('base64');

describe('behind PgBouncer', skipUnlessPgBouncer(), () => {
  let database: TestDatabase;
  let pooler: PgBouncer;

  beforeEach(async () => {
    database = await cloneDatabase();
  });
  afterEach(async () => {
    await pooler.close();
    await database.drop();
  });

  it('serves requests and delivers webhooks behind PgBouncer in session mode', async () => {
    pooler = await startPgBouncer(database.url, 'session');
    const receiver = await startReceiver();
    const direct = await startApi({ databaseUrl: database.url });
    const { tenantId, key } = await createWorkspace(direct);
    const port = await steadyPort();
    const server = spawnServer({
      DATABASE_URL: pooler.url,
      WEBHOOK_SECRET_KEY,
      PORT: String(port),
      WEBHOOK_ALLOW_PRIVATE_TARGETS: 'true',
      RATE_LIMIT_GLOBAL: '1000',
      RATE_LIMIT_GROUP: '1000',
    });
    await server.ready;
    const call = async (method: string, path: string, body?: object) =>
      answerOf(
        await fetch(`http://127.0.0.1:${port}${pathPrefix}${path}`, {
          method,
          headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
          ...(body && { body: JSON.stringify(body) }),
        }),
      );

    expect(await call('POST', '/webhooks', { ...webhook, url: receiver.url })).toMatchObject({ status: 201 });
    const made = await call('POST', '/tickets', ticket);
    expect(made).toMatchObject({ status: 201, body: { data: ticket } });
    const { id } = made.body.data;
    expect(await call('GET', `/tickets/${id}`)).toMatchObject({ status: 200, body: { data: made.body.data } });
    // Concurrent requests reuse the database connections of earlier requests.
    const many = await Promise.all(Array.from({ length: 100 }, () => call('GET', '/tickets?status=OPEN')));
    expect(new Set(many.map(({ status }) => status))).toEqual(new Set([200]));

    await expect.poll(() => receiver.received).toHaveLength(1);
    const { headers, body } = receiver.received[0] as Received;
    expect(headers['x-service-signature']).toBe(createHmac('sha256', webhook.secret).update(body).digest('hex'));

    await direct.prisma.apiKey.updateMany({ where: { tenantId }, data: { revokedAt: new Date() } });
    await expect.poll(async () => (await call('GET', '/tickets')).status).toBe(401);

    server.child.kill('SIGTERM');
    await server.exited;
    await receiver.close();
    await direct.close();
  });

  it('exits with an error if PgBouncer is in transaction mode', async () => {
    pooler = await startPgBouncer(database.url, 'transaction');
    const server = spawnServer({ DATABASE_URL: pooler.url, WEBHOOK_SECRET_KEY, PORT: '0' });
    await server.exited;
    expect(server.child.exitCode).toBe(1);
    expect(server.output()).toMatch(/^DATABASE_URL: points to a pooler .*PgBouncer: pool_mode=transaction.*\n$/);
  });
});
