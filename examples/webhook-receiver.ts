import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { isWebhookError, unwrap, type WebhookEvent } from '@itsm-api/client/webhooks';

/**
 * Receives webhooks and verifies their signatures.
 *
 *     WEBHOOK_SECRET=… node examples/webhook-receiver.ts
 *
 * Create a subscription with the same signing secret: `client.webhooks.create({ url, secret, events })`. To rotate the
 * signing secret, set WEBHOOK_SECRET to the new secret, and WEBHOOK_SECRET_OLD to the old secret.
 */
const { PORT = '4000', WEBHOOK_SECRET, WEBHOOK_SECRET_OLD } = process.env;
const secrets = [WEBHOOK_SECRET, WEBHOOK_SECRET_OLD].filter((secret): secret is string => Boolean(secret));

/**
 * The ids of processed events. The receiver skips an event if its id is in this set, because the server may deliver an
 * event more than once. In production, store the ids in your database.
 */
const handled = new Set<string>();

const server = createServer(async (request, response) => {
  try {
    const event = await unwrap(await buffer(request), request.headers, secrets);
    if (!handled.has(event.id)) handle(event);
    handled.add(event.id);
    response.writeHead(204).end();
  } catch (error) {
    // The server retries the delivery after any status other than 2xx.
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
      console.log(`Created ${event.ticket.ticketNumber}: ${event.ticket.title}`);
      break;
    case 'ticket.updated':
      console.log(`Updated ${event.ticket.ticketNumber}: ${Object.keys(event.changes).join(', ')}`);
      break;
    case 'asset.created':
      console.log(`Created ${event.asset.assetTag}: ${event.asset.name}`);
      break;
    case 'task.updated':
      console.log(`Task ${event.task.id} has status ${event.task.status}`);
      break;
    case 'unknown':
      console.log(`Unknown event type: ${event.body.type}`);
  }
}
