import { createHmac, timingSafeEqual } from 'node:crypto';
import { deliveryBody } from '@itsm-api/contract';
import { createLogger } from '@itsm-api/server/http/logger.ts';
import { startDelivery } from '@itsm-api/server/webhooks/delivery.ts';
import { Webhook as StandardWebhook } from 'standardwebhooks';
import { Webhook as SvixWebhook } from 'svix';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Api, startApi } from '../support/api.ts';
import { type Received, type Receiver, startReceiver } from '../support/receiver.ts';
import { createWorkspace, type Workspace } from '../support/workspace.ts';

let api: Api;
let stopDelivery: () => Promise<void>;
let workspace: Workspace;
let receiver: Receiver;

beforeAll(async () => {
  api = await startApi({ env: { WEBHOOK_ALLOW_PRIVATE_TARGETS: 'true' } });
  stopDelivery = await startDelivery({ ...api, logger: createLogger('error') });
  workspace = await createWorkspace(api);
  receiver = await startReceiver();
});
afterAll(async () => {
  await stopDelivery();
  await receiver.close();
  await api.close();
});

describe('a delivery', () => {
  it.each(['a plain secret', `whsec_${Buffer.alloc(24, 7).toString('base64')}`])('is signed with %s', async (secret) => {
    receiver.received.length = 0;
    const subscription = await workspace.createWebhook({ url: receiver.url, secret, events: ['ticket.created'] });
    const ticket = await workspace.createTicket();
    await expect.poll(() => receiver.received).toHaveLength(1);
    const { headers, body } = receiver.received[0] as Received;

    const event = deliveryBody('ticket.created').parse(JSON.parse(body));
    expect(event).toMatchObject({ type: 'ticket.created', ticket });
    expect(headers).toMatchObject({
      'content-type': 'application/json; charset=utf-8',
      'webhook-id': event.id,
      'x-service-event': 'ticket.created',
      'x-service-attempt': '1',
    });

    // Five lines, as the guide has them.
    const given = Buffer.from(headers['x-service-signature'] ?? '', 'hex');
    const right = createHmac('sha256', secret).update(body).digest();
    expect(given.length === right.length && timingSafeEqual(given, right)).toBe(true);

    const encoded = secret.startsWith('whsec_') ? secret : `whsec_${Buffer.from(secret).toString('base64')}`;
    expect(new StandardWebhook(encoded).verify(body, headers)).toMatchObject({ id: event.id });
    expect(() => new SvixWebhook(encoded).verify(body, headers)).not.toThrow();
    expect(() => new StandardWebhook(encoded).verify(`${body} `, headers)).toThrow();
    await workspace.call('DELETE', `/webhooks/${subscription.id}`);
  });
});
