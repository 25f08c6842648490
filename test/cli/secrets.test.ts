import { createHmac, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { readSettings } from '@itsm-api/server/config/env.ts';
import { createLogger } from '@itsm-api/server/http/logging/logger.ts';
import { type TenantId, toTenantId } from '@itsm-api/server/shared/tenant-id.ts';
import { reencryptSecrets } from '@itsm-api/server/webhooks/secrets/reencrypt.ts';
import { createSecretCipher } from '@itsm-api/server/webhooks/secrets/secret-cipher.ts';
import { readKeyUse, readSecretKeys } from '@itsm-api/server/webhooks/secrets/secret-keys.ts';
import { startWebhooks } from '@itsm-api/server/webhooks/start-webhooks.ts';
import pg from 'pg';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type Api, startApi } from '../support/api.ts';
import { spawnCommand } from '../support/command-process.ts';
import { cloneDatabase, type TestDatabase } from '../support/database.ts';
import { type Received, startReceiver } from '../support/receiver.ts';
import { createWorkspace } from '../support/workspace.ts';
import { commandLine } from './itsm.ts';

/*
 * Tests the rotation of WEBHOOK_SECRET_KEY. The administrator adds a new key, runs `itsm secrets re-encrypt`, and
 * removes the old key.
 */
const [oldKey, newKey] = [1, 2].map(() => randomBytes(32).toString('base64')) as [string, string];
const changing = { WEBHOOK_SECRET_KEY: `${newKey},${oldKey}` };

let database: TestDatabase;
const apis: Api[] = [];

beforeEach(async () => {
  database = await cloneDatabase();
});
afterEach(async () => {
  for (const api of apis.splice(0)) await api.close();
  await database.drop();
});

async function open(...secretKeys: string[]): Promise<Api> {
  const env = { WEBHOOK_ALLOW_PRIVATE_TARGETS: 'true' };
  const api = await startApi({ databaseUrl: database.url, secretKeys, env });
  apis.push(api);
  return api;
}

/** Inserts `count` subscriptions. Each secret contains the subscription ID and is encrypted with `key`. */
async function insertSecrets({ prisma }: Api, count: number, key: string): Promise<TenantId> {
  const name = `Tenant ${randomBytes(6).toString('hex')}`;
  const { id } = await prisma.tenant.create({ data: { name, nameKey: name.toLowerCase() } });
  const tenantId = toTenantId(id);
  const cipher = createSecretCipher([key]);
  await prisma.webhookSubscription.createMany({
    data: Array.from({ length: count }, (_, index) => {
      const id = BigInt(index + 1);
      const secret = cipher.encrypt(`secret ${id}`, { tenantId, subscriptionId: id });
      return {
        tenantId,
        id,
        url: 'https://hooks.example.com',
        secret,
        events: ['ticket.created'],
        active: index % 2 === 0,
      };
    }),
  });
  return tenantId;
}

/** Decrypts all webhook secrets of a tenant with one key. */
async function decryptAll({ prisma }: Api, tenantId: TenantId, key: string): Promise<string[]> {
  const cipher = createSecretCipher([key]);
  const rows = await prisma.webhookSubscription.findMany({ where: { tenantId }, orderBy: { id: 'asc' } });
  return rows.map(({ id, secret }) => cipher.decrypt(secret, { tenantId, subscriptionId: id }));
}

/** Waits until a database session waits for a lock. */
async function untilSessionWaits({ prisma }: Api): Promise<void> {
  const waiting = () => prisma.$queryRaw<object[]>`
    SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
  await expect.poll(async () => (await waiting()).length).toBeGreaterThan(0);
}

const secretsUpTo = (count: number) => Array.from({ length: count }, (_, index) => `secret ${index + 1}`);

it('creates the encryption key file only once, even with concurrent calls', async () => {
  const DATA_DIR = await mkdtemp(join(tmpdir(), 'itsm-key-'));
  const settings = readSettings({ DATA_DIR });
  const made = await Promise.all(Array.from({ length: 20 }, () => readSecretKeys(settings)));
  expect(new Set(made.flat()).size).toBe(1);
  expect(Buffer.from(made[0]?.[0] ?? '', 'base64')).toHaveLength(32);
  expect(await readdir(DATA_DIR)).toEqual(['webhook-secret-key']);
  for (const text of ['', '\n', 'c2hvcnQ=']) {
    await writeFile(join(DATA_DIR, 'webhook-secret-key'), text);
    await expect(readSecretKeys(settings)).rejects.toThrow(
      /^DATA_DIR: .*webhook-secret-key doesn't contain a key of 32 bytes/,
    );
  }
  await rm(DATA_DIR, { recursive: true });
});

it('re-encrypts the current and previous signing secrets of webhooks', async () => {
  const api = await open(newKey, oldKey);
  const tenantId = await insertSecrets(api, 3, oldKey);
  const subscription = { tenantId, subscriptionId: 2n };
  const previousSecret = createSecretCipher([oldKey]).encrypt('secret before', subscription);
  await api.prisma.webhookSubscription.updateMany({ where: { tenantId, id: 2n }, data: { previousSecret } });
  const { secretCipher } = api.services;
  expect(await readKeyUse(api.databases.system.prisma, secretCipher)).toMatchObject([{ secrets: 0 }, { secrets: 4 }]);
  const progress: number[] = [];
  const reencrypted = await reencryptSecrets(api.prisma, secretCipher, {
    batchSize: 2,
    onBatch: (count) => progress.push(count),
  });
  expect(reencrypted).toEqual({ reencrypted: 4, damaged: [] });
  expect(progress).toEqual([2, 3, 4]);
  expect(await readKeyUse(api.databases.system.prisma, secretCipher)).toMatchObject([{ secrets: 4 }, { secrets: 0 }]);
  expect(await decryptAll(api, tenantId, newKey)).toEqual(secretsUpTo(3));
  const row = await api.prisma.webhookSubscription.findFirstOrThrow({ where: { tenantId, id: 2n } });
  const stored = row.previousSecret ?? new Uint8Array();
  expect(createSecretCipher([newKey]).decrypt(stored, subscription)).toBe('secret before');
});

it('signs webhooks with the same secret before and after `secrets re-encrypt`', async () => {
  const receiver = await startReceiver();
  const secret = 'a secret that outlives its key';
  const sent = async (api: Api, createTicket: () => Promise<unknown>) => {
    receiver.received.length = 0;
    const stop = await startWebhooks({ ...api, logger: createLogger('error') });
    await createTicket();
    await expect.poll(() => receiver.received).toHaveLength(1);
    await stop();
    const { headers, body } = receiver.received[0] as Received;
    expect(headers['x-service-signature']).toBe(createHmac('sha256', secret).update(body).digest('hex'));
  };

  const before = await open(oldKey);
  const workspace = await createWorkspace(before);
  const { id, updatedAt } = await workspace.createWebhook({ url: receiver.url, secret, events: ['ticket.created'] });
  const createTicket = () => workspace.createTicket();
  await sent(before, createTicket);

  const itsm = commandLine(database.url, changing);
  await sent(await open(newKey, oldKey), createTicket);
  expect(await itsm('secrets re-encrypt')).toEqual({
    code: 0,
    stderr: 'Re-encrypted 1 of 1 …\n',
    stdout:
      'Re-encrypted 1 webhook secret.\nAll secrets are encrypted with the first key of WEBHOOK_SECRET_KEY. After every ' +
      'server has been restarted with this key first, remove the other keys.\n',
  });
  const again = await itsm('secrets re-encrypt --json');
  expect(again).toMatchObject({ code: 0, stderr: '' });
  expect(JSON.parse(again.stdout)).toMatchObject({
    reencrypted: 0,
    keys: [
      { position: 1, secrets: 1, active: 1 },
      { position: 2, secrets: 0, active: 0 },
    ],
  });

  await sent(await open(newKey), createTicket);
  // Re-encrypting a secret must not change `updatedAt` of the subscription.
  expect((await workspace.call('GET', '/webhooks')).body.data).toMatchObject([{ id, updatedAt }]);
  expect(await commandLine(database.url, { WEBHOOK_SECRET_KEY: oldKey })('secrets re-encrypt')).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(
      /^error: WEBHOOK_SECRET_KEY: lacks the key that encrypted the stored webhook secrets\. .*\n$/,
    ),
  });
  await receiver.close();
});

it('completes the re-encryption if `secrets re-encrypt` runs again after it was killed', async () => {
  const api = await open(newKey, oldKey);
  const count = 1200;
  const tenantId = await insertSecrets(api, count, oldKey);
  const holder = new pg.Client({ connectionString: database.url });
  await holder.connect();
  await holder.query('BEGIN');
  await holder.query('SELECT FROM webhook_subscriptions WHERE tenant_id = $1 AND id = 800 FOR UPDATE', [tenantId]);

  const child = spawnCommand(['secrets', 're-encrypt'], database.url, changing);
  const stderr = text(child.stderr);
  await untilSessionWaits(api);
  child.kill('SIGKILL');
  await once(child, 'exit');
  // While a statement waits for a lock, PostgreSQL doesn't notice that the client has exited. So the test cancels the
  // statement.
  await api.prisma.$queryRaw`
    SELECT pg_cancel_backend(pid) FROM pg_stat_activity
    WHERE datname = current_database() AND wait_event_type = 'Lock'`;
  await holder.query('ROLLBACK');
  await holder.end();
  expect(await stderr).toBe('Re-encrypted 500 of 1200 …\n');
  const use = async () =>
    (await readKeyUse(api.databases.system.prisma, api.services.secretCipher)).map(({ secrets }) => secrets);
  expect(await use()).toEqual([500, 700]);

  const { stdout } = await commandLine(database.url, changing)('secrets re-encrypt --json');
  expect(JSON.parse(stdout)).toMatchObject({ reencrypted: 700 });
  expect(await use()).toEqual([1200, 0]);
  expect(await decryptAll(api, tenantId, newKey)).toEqual(secretsUpTo(count));
});

it('re-encrypts a webhook secret that changes during the re-encryption', async () => {
  const api = await open(newKey, oldKey);
  const tenantId = await insertSecrets(api, 3, oldKey);
  const changed = createSecretCipher([oldKey]).encrypt('changed', { tenantId, subscriptionId: 2n });
  const other = new pg.Client({ connectionString: database.url });
  await other.connect();
  await other.query('BEGIN');
  const change = 'UPDATE webhook_subscriptions SET secret = $2 WHERE tenant_id = $1 AND id = 2';
  await other.query(change, [tenantId, Buffer.from(changed)]);

  const progress: number[] = [];
  const reencryption = reencryptSecrets(api.prisma, api.services.secretCipher, {
    onBatch: (done) => progress.push(done),
  });
  await untilSessionWaits(api);
  await other.query('COMMIT');
  await other.end();
  expect(await reencryption).toEqual({ reencrypted: 3, damaged: [] });
  expect(progress).toEqual([2, 3]);
  expect(await decryptAll(api, tenantId, newKey)).toEqual(['secret 1', 'changed', 'secret 3']);
});

it('re-encrypts each webhook secret only once if several re-encryptions run concurrently', async () => {
  const api = await open(newKey, oldKey);
  const tenantId = await insertSecrets(api, 100, oldKey);
  const run = () => reencryptSecrets(api.prisma, api.services.secretCipher, { batchSize: 7 });
  const done = await Promise.all([run(), run(), run()]);
  expect(done.reduce((sum, { reencrypted }) => sum + reencrypted, 0)).toBe(100);
  expect(await decryptAll(api, tenantId, newKey)).toEqual(secretsUpTo(100));
});

it('reports damaged webhook secrets and re-encrypts all others', async () => {
  const api = await open(newKey, oldKey);
  const tenantId = await insertSecrets(api, 3, oldKey);
  await api.prisma.$executeRaw`
    UPDATE webhook_subscriptions SET secret = substring(secret FROM 1 FOR 39) WHERE tenant_id = ${tenantId} AND id = 2`;
  const { code, stderr } = await commandLine(database.url, changing)('secrets re-encrypt --json');
  expect(code).toBe(1);
  expect(JSON.parse(stderr).error).toMatchObject({
    message: expect.stringContaining('Re-encrypted 2 webhook secrets.; The secret of subscription 2 of tenant'),
    details: [{ tenantId: Number(tenantId), subscriptionId: 2 }],
  });
  expect(await readKeyUse(api.databases.system.prisma, api.services.secretCipher)).toMatchObject([
    { secrets: 2 },
    { secrets: 1 },
  ]);
});
