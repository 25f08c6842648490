import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import type { ItsmClient } from '@itsm-api/client';
import { type EventType, eventTypes, unwrap, type WebhookEvent } from '@itsm-api/client/webhooks';

type EventOf<Type extends EventType> = Extract<WebhookEvent, { type: Type }>;

/** A webhook receiver on this machine. */
export interface Receiver {
  /** The id of the webhook. */
  readonly id: number;
  readonly url: string;
  readonly secret: string;
  /**
   * The received events with a valid signature, in the order of their arrival. The server delivers an event more than
   * once if it gets no response.
   */
  readonly events: readonly WebhookEvent[];
  /**
   * Returns the next event of a type. Each event is returned once, so a second call waits for a second event.
   * @throws Error if the event doesn't arrive within `timeoutMs`, by default 5000
   */
  waitFor<Type extends EventType>(type: Type, options?: { timeoutMs?: number }): Promise<EventOf<Type>>;
  /** Stops the receiver, so that deliveries to it fail. The webhook stays registered. */
  close(): Promise<void>;
}

interface ReceiverOptions {
  events?: EventType[] | undefined;
  /** The name of this machine for a server in a container. By default, the server runs on this machine. */
  host?: string | undefined;
}

export async function startReceiver(
  client: ItsmClient,
  { events: subscribed = [...eventTypes], host }: ReceiverOptions,
): Promise<Receiver> {
  const secret = `whsec_${randomBytes(32).toString('base64')}`;
  const events: WebhookEvent[] = [];
  const returned = new Set<WebhookEvent>();
  const arrivals = new EventTarget();
  const server = createServer(async (request, response) => {
    try {
      const event = await unwrap(await buffer(request), request.headers, secret);
      events.push(event);
      response.writeHead(204).end();
      arrivals.dispatchEvent(new Event('arrival'));
    } catch (error) {
      response.writeHead(400).end(String(error));
    }
  });
  // An open connection would also keep the process alive, until its keep-alive time ends.
  server.on('connection', (socket) => socket.unref());
  server.unref().listen(0, host === undefined ? '127.0.0.1' : '0.0.0.0');
  await once(server, 'listening');
  const url = `http://${host ?? '127.0.0.1'}:${(server.address() as AddressInfo).port}/`;
  const { id } = await client.webhooks.create({ url, secret, events: subscribed });

  async function waitFor<Type extends EventType>(
    type: Type,
    { timeoutMs = 5000 }: { timeoutMs?: number } = {},
  ): Promise<EventOf<Type>> {
    const deadline = AbortSignal.timeout(timeoutMs);
    // Unlike the signal, a timer keeps the process alive.
    const timer = setTimeout(() => undefined, timeoutMs);
    try {
      for (;;) {
        const found = events.find((event): event is EventOf<Type> => event.type === type && !returned.has(event));
        if (found !== undefined) {
          returned.add(found);
          return found;
        }
        await once(arrivals, 'arrival', { signal: deadline });
      }
    } catch (error) {
      if (!deadline.aborted) throw error;
      const types = events.map((event) => event.type).join(', ') || 'nothing';
      throw new Error(`No ${type} arrived within ${timeoutMs} ms. The receiver got: ${types}.`);
    } finally {
      clearTimeout(timer);
    }
  }

  return {
    ...{ id, url, secret, events, waitFor },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
