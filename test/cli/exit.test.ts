import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sendTestEvent } from '@itsm-api/server/resources/deliveries/queries.ts';
import { createTenant, tenantContext } from '@itsm-api/server/resources/tenants/queries.ts';
import { createWebhook, updateWebhook } from '@itsm-api/server/resources/webhooks/webhook-management.ts';
import { createSecretCipher } from '@itsm-api/server/webhooks/secrets/secret-cipher.ts';
import pg from 'pg';
import { afterAll, describe, expect } from 'vitest';
import { processCommandLine, secretKey, spawnCommand } from '../support/command-process.ts';
import { api } from '../support/fixture.ts';
import { unique } from '../support/workspace.ts';
import { folder, itWithCommands as it, itsm } from './itsm.ts';

let worker: pg.Client;

it.beforeAll(async () => {
  worker = new pg.Client({ connectionString: api.databaseUrl });
  await worker.connect();
  await worker.query('LISTEN webhook_dispatch');
});

afterAll(async () => {
  await worker.end();
});

/** Creates a tenant with a pending delivery and a webhook subscription to `asset.created`. */
async function createSubscribedTenant() {
  const name = `T${unique()}`;
  await createTenant(api.prisma, { name, adminEmail: `${name.toLowerCase()}@example.com` });
  const services = { ...api.services, secretCipher: createSecretCipher([secretKey]), wakeWorkers: () => undefined };
  const context = await tenantContext({ databases: api.databases, services }, name);
  const url = 'https://hooks.example.com/itsm';
  const { id } = await createWebhook(context, { url, secret: 'a secret of the test', events: ['asset.created'] });
  const delivery = await sendTestEvent(context, id);
  return { name, context, webhookId: id, deliveryId: delivery.id };
}
type Subscribed = Awaited<ReturnType<typeof createSubscribedTenant>>;

async function writeAssets(): Promise<string> {
  const file = join(folder, `${unique()}.csv`);
  await writeFile(file, 'assetTag,name,type\nLT-1,Laptop,LAPTOP\nLT-2,Phone,MOBILE\n');
  return file;
}

interface Case {
  command: string;
  before?: (tenant: Subscribed) => Promise<unknown>;
  args: (tenant: Subscribed) => string[] | Promise<string[]>;
}

const cases: Case[] = [
  { command: 'assets create', args: () => ['--name', 'Laptop', '--asset-tag', 'LT-1', '--type', 'LAPTOP'] },
  { command: 'assets import', args: async () => [await writeAssets()] },
  { command: 'webhooks test', args: ({ webhookId }) => [String(webhookId)] },
  {
    command: 'webhooks update',
    before: ({ context, webhookId }) => updateWebhook(context, webhookId, { paused: true }),
    args: ({ webhookId }) => [String(webhookId), '--paused', 'false'],
  },
  {
    command: 'deliveries replay',
    before: ({ context, deliveryId }) =>
      context.db.delivery.updateMany({
        where: { id: BigInt(deliveryId) },
        data: { state: 'EXHAUSTED', settledAt: new Date() },
      }),
    args: ({ deliveryId }) => [String(deliveryId)],
  },
];

describe('a command that wakes the workers', () => {
  it.each(cases)('exits soon after the last output of `$command`', async ({ command, before, args }) => {
    const tenant = await createSubscribedTenant();
    await before?.(tenant);
    const woken = once(worker, 'notification');
    const child = spawnCommand(
      [...command.split(' '), ...(await args(tenant)), '--tenant', tenant.name],
      api.databaseUrl,
    );
    const startedAt = performance.now();
    let lastOutputAt = Number.NaN;
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', () => {
        lastOutputAt = performance.now();
      });
    }
    expect(await once(child, 'exit')).toEqual([0, null]);
    // A ratio, because both take longer on a busy machine. An idle connection would delay the exit by seconds.
    expect(performance.now() - lastOutputAt).toBeLessThan(lastOutputAt - startedAt);
    await woken;
  });
});

// Most other tests run commands in the test process. These tests check that a separate process prints the same output.
describe('a command in a separate process', () => {
  it.each(['tenants list', 'users list', 'keys list', 'projects list', 'deliveries list'])(
    'prints the same output for `%s` in a separate process as in the test process',
    async (command) => {
      const { name } = await createSubscribedTenant();
      const args = command === 'tenants list' ? ['--json'] : ['--tenant', name, '--json'];
      const outcome = await processCommandLine(api.databaseUrl)(command, ...args);
      expect(outcome).toEqual(await itsm(command, ...args));
      expect(outcome).toMatchObject({ code: 0, stderr: '' });
    },
  );
});
