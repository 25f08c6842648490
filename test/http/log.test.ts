import { Writable } from 'node:stream';
import { createLogger } from '@itsm-api/server/http/logger.ts';
import { expect, it } from 'vitest';
import { startApi } from '../support/api.ts';
import { cloneDatabase } from '../support/database.ts';
import { createWorkspace, ticket, webhook } from '../support/workspace.ts';

it('tells every request by its id, and no key, secret, body or query', async () => {
  let log = '';
  const stream = new Writable({
    write(chunk, _, done) {
      log += chunk;
      done();
    },
  });
  const database = await cloneDatabase();
  const api = await startApi({ databaseUrl: database.url, logger: createLogger('trace', stream) });
  const workspace = await createWorkspace(api);
  const secrets = { secret: 'a-secret-of-this-test', title: 'a title of this test', email: 'a-person@example.com' };

  await workspace.call('POST', '/webhooks', { ...webhook, secret: secrets.secret });
  await workspace.call('POST', '/tickets', { ...ticket, title: secrets.title });
  await workspace.call('GET', `/users?email=${secrets.email}`);
  await workspace.call('GET', '/tickets', undefined, { 'x-api-key': workspace.key, 'x-request-id': 'my-own-id' });
  // PostgreSQL quotes the row that it refuses.
  await api.prisma.$executeRaw`ALTER TABLE tickets ADD CHECK (title <> 'a title of this test') NOT VALID`;
  const refused = await workspace.call('POST', '/tickets', { ...ticket, title: secrets.title });
  expect(refused.status).toBe(500);
  await database.drop();
  const failed = await workspace.call('POST', '/tickets', { ...ticket, title: secrets.title });
  expect(failed.status).toBe(500);
  await api.close();

  for (const text of [workspace.key, ...Object.values(secrets)]) expect(log).not.toContain(text);
  const lines = log
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(lines).toContainEqual(
    expect.objectContaining({
      requestId: 'my-own-id',
      method: 'GET',
      route: '/api/public/v1/tickets',
      status: 200,
      tenantId: String(workspace.tenantId),
    }),
  );
  expect(lines).toContainEqual(
    expect.objectContaining({
      requestId: failed.headers['x-request-id'],
      msg: 'request failed',
      err: expect.anything(),
    }),
  );
});
