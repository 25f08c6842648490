import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { createLogger } from '@itsm-api/server/http/logging/logger.ts';
import { signatureHeaders } from '@itsm-api/server/webhooks/delivery/sign.ts';
import { createSecretCipher } from '@itsm-api/server/webhooks/secrets/secret-cipher.ts';
import { startWebhooks } from '@itsm-api/server/webhooks/start-webhooks.ts';
import { afterAll, describe, expect } from 'vitest';
import { secretKey, spawnCommand } from '../support/command-process.ts';
import { api, it as itBase, workspace } from '../support/fixture.ts';
import { commandLine } from './itsm.ts';

/*
 * Tests `itsm listen --subscribe` with a server that delivers webhooks.
 */
let stopDelivery: () => Promise<void>;
const env = { WEBHOOK_ALLOW_PRIVATE_TARGETS: 'true' };

const it = itBase.extend('options', { scope: 'file' }, { ownDatabase: true, env });
it.beforeAll(async () => {
  // The worker needs the encryption key of the command to decrypt the webhook secret.
  const services = { ...api.services, secretCipher: createSecretCipher([secretKey]) };
  stopDelivery = await startWebhooks({ ...api, services, logger: createLogger('silent') });
});
afterAll(async () => {
  await stopDelivery();
});

describe('listen --subscribe', () => {
  it('prints the deliveries of a temporary subscription with `listen --subscribe`', async () => {
    const { id } = await workspace.createTicket({ title: 'Wi-Fi is slow', priority: 'LOW' });
    const args = ['listen', '--tenant', String(workspace.tenantId), '--subscribe', 'ticket.*'];
    const child = spawnCommand(args, api.databaseUrl, env);
    const ended = once(child, 'exit');
    const [firstLine] = await once(createInterface(child.stderr), 'line');
    expect(firstLine).toMatch(
      /^Subscription \d+ sends ticket\.created, ticket\.updated of \d+ to http:\/\/127\.0\.0\.1:\d+\/\./,
    );

    const printed = createInterface(child.stdout)[Symbol.asyncIterator]();
    // If the URL is public, other clients can also send requests to the command.
    const url = /http:\S+\//.exec(firstLine)?.[0] ?? '';
    await fetch(url, { method: 'POST', body: '{"ticket":null,"changes":{"title":null}}' });
    expect((await printed.next()).value).toMatch(/no event {2}SIGNATURE INVALID/);
    // Both signature headers must be valid, because the id and the timestamp are only in one of the signatures.
    const { tenantId } = workspace;
    const { id: subscriptionId, secret } = await api.prisma.webhookSubscription.findFirstOrThrow({
      where: { tenantId },
    });
    const key = createSecretCipher([secretKey]).decrypt(secret, { tenantId, subscriptionId });
    const headers = signatureHeaders(key, { id: 'evt_1', timestamp: new Date(), body: '{}' });
    await fetch(url, { method: 'POST', body: '{}', headers: { ...headers, 'webhook-id': 'evt_2' } });
    expect((await printed.next()).value).toMatch(/SIGNATURE INVALID {2}evt_2/);
    await api.call({
      method: 'PATCH',
      path: `/api/public/v1/tickets/${id}`,
      key: workspace.key,
      body: { priority: 'HIGH' },
    });
    const [head, change] = [(await printed.next()).value, (await printed.next()).value];
    expect(head).toMatch(/^\d\d:\d\d:\d\d {2}ticket\.updated {2}\w+-\d+ Wi-Fi is slow {2}signatures valid {2}evt_/);
    expect(String(change).trim()).toBe('priority: "LOW" → "HIGH"');

    child.kill('SIGINT');
    expect(await ended).toEqual([0, null]);
    const left = await api.prisma.webhookSubscription.findMany({ where: { tenantId: workspace.tenantId } });
    expect(left).toMatchObject([{ active: false }]);
  });

  it('suggests --url in `listen` if the server sends webhooks only to public hosts', async () => {
    const itsm = commandLine(api.databaseUrl, { WEBHOOK_ALLOW_PRIVATE_TARGETS: 'false' });
    expect(await itsm(`listen --tenant ${workspace.tenantId} --subscribe *`)).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^error: The server sends webhooks to public hosts only\. Use --url with /),
    });
    expect(await itsm('listen --subscribe *')).toMatchObject({
      code: 2,
      stderr: 'error: --tenant is required with --subscribe\n',
    });
  });
});
