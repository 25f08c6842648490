import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { isWebhookError, unwrap, type WebhookEvent } from '@itsm-api/client/webhooks';

/**
 * Receives webhooks and believes none without a signature.
 *
 *     WEBHOOK_SECRET=… node examples/webhook-receiver.ts
 *
 * Subscribe it with the same secret: `client.webhooks.create({ url, secret, events })`. While a secret is being
 * changed, give the old one as WEBHOOK_SECRET_OLD.
 */
const { PORT = '4000', WEBHOOK_SECRET, WEBHOOK_SECRET_OLD } = process.env;
const secrets = [WEBHOOK_SECRET, WEBHOOK_SECRET_OLD].filter((secret): secret is string => Boolean(secret));

/** Deliveries come at least once. Keep this where your data is, if twice must never be. */
const handled = new Set<string>();

const server = createServer(async (request, response) => {
  try {
    const event = await unwrap(await buffer(request), request.headers, secrets);
    if (!handled.has(event.id)) handle(event);
    handled.add(event.id);
    response.writeHead(204).end();
  } catch (error) {
    // Anything but a 2xx is sent again, later.
    console.error(isWebhookError(error) ? `${error.code}: ${error.message}` : error);
    response.writeHead(isWebhookError(error) ? 400 : 500).end();
  }
});
server.listen(Number(PORT), '127.0.0.1', () => {
  console.log(`Listening on http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
});

function handle(event: WebhookEvent): void {
  switch (event.type) {
    case 'ticket.created':
      console.log(`${event.ticket.ticketNumber} is new: ${event.ticket.title}`);
      break;
    case 'ticket.updated':
      console.log(`${event.ticket.ticketNumber} has another ${Object.keys(event.changes).join(', ')}`);
      break;
    case 'asset.created':
      console.log(`${event.asset.assetTag} is new: ${event.asset.name}`);
      break;
    case 'task.updated':
      console.log(`Task ${event.task.id} is ${event.task.status}`);
      break;
    case 'unknown':
      console.log(`${event.body.type} is newer than this program`);
  }
}
