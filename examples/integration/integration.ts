import { createServer, type Server } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { ItsmClient, type Ticket } from '@itsm-api/client';
import { isWebhookError, unwrap } from '@itsm-api/client/webhooks';

export interface Alert {
  /** The id in the monitoring system. */
  id: string;
  title: string;
  description: string;
}

/** Creates a ticket for each alert of a monitoring system, and keeps a copy of the tickets up to date. */
export class Integration {
  /** The copy of the tickets, by id. */
  readonly tickets = new Map<number, Ticket>();
  readonly #client: ItsmClient;
  #cursor: string | undefined;

  constructor(baseUrl: string, apiKey: string) {
    this.#client = new ItsmClient({ baseUrl, apiKey, userAgent: 'integration', timeoutMs: 5000 });
  }

  /** Copies the tickets that have changed since the previous call. Returns the number of changes. */
  async sync(): Promise<number> {
    const changes = this.#client.tickets.changes({ cursor: this.#cursor });
    let count = 0;
    for await (const ticket of changes) {
      this.#store(ticket);
      count += 1;
    }
    this.#cursor = changes.cursor;
    return count;
  }

  /** Creates a ticket for an alert. The idempotency key prevents a second ticket for the same alert. */
  async report({ id, title, description }: Alert): Promise<Ticket> {
    const ticket = { title, description, type: 'INCIDENT', category: 'NETWORK', externalId: `alert:${id}` } as const;
    return await this.#client.tickets.create(ticket, { idempotencyKey: `alert-${id}` });
  }

  /** Returns an HTTP server that receives webhooks and updates the copy. */
  createReceiver(secret: string): Server {
    return createServer(async (request, response) => {
      try {
        const event = await unwrap(await buffer(request), request.headers, secret);
        if (event.type === 'ticket.created' || event.type === 'ticket.updated') this.#store(event.ticket);
        response.writeHead(204).end();
      } catch (error) {
        response.writeHead(isWebhookError(error) ? 400 : 500).end();
      }
    });
  }

  /** Ignores a version that is older than the copy, because events can arrive late, repeatedly and in any order. */
  #store(ticket: Ticket): void {
    const stored = this.tickets.get(ticket.id);
    if (stored === undefined || stored.updatedAt <= ticket.updatedAt) this.tickets.set(ticket.id, ticket);
  }
}
