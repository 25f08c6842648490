import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { isSigned } from './signatures.ts';
import type { Subscription } from './workspaces.ts';

/** A delivery as it arrived. */
export interface Arrival {
  subscription: string;
  /** The header `webhook-id`. */
  eventId: string;
  /** The title of the ticket in the body: which change it tells of. */
  change: string;
  /** When it was there in full. Milliseconds. */
  at: number;
  /** When it was answered. */
  answeredAt: number;
  accepted: boolean;
  /** Which attempt it was, from 1. */
  attempt: number;
  /** Whether it was signed as its subscription is to sign. */
  signed: boolean;
}

export interface Receiver {
  /** Whose signatures are looked at, from now on. */
  know(subscription: Subscription): void;
  /** Where a subscription of this name is to deliver to. */
  urlOf(subscription: string): string;
  arrivals: Arrival[];
  close(): Promise<void>;
}

interface ReceiverOptions {
  /** How many of the first attempts fail, from 0 to 1: half of them are answered 500, half are reset. */
  failing: number;
  /** The longest time to an answer, in milliseconds; each takes some part of it. */
  slowest: number;
}

/**
 * Counts every delivery. Only a first attempt is made to fail: the wait after a second one would be minutes, and so
 * would be the end of the test.
 */
export async function openReceiver({ failing, slowest }: ReceiverOptions): Promise<Receiver> {
  const arrivals: Arrival[] = [];
  const known = new Map<string, Subscription>();
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk) => chunks.push(chunk));
    // The worker may be killed while it sends.
    request.on('error', () => undefined);
    request.on('end', () => {
      const accepted = request.headers['x-service-attempt'] !== '1' || Math.random() >= failing;
      const arrival = arrivalOf(request, Buffer.concat(chunks).toString(), { accepted, known });
      arrivals.push(arrival);
      setTimeout(() => {
        arrival.answeredAt = Date.now();
        answer(response, accepted);
      }, Math.random() * slowest);
    });
  });
  // A connection that is closed just when it is used again would be one more failed attempt.
  server.keepAliveTimeout = 60_000;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    know: (subscription) => known.set(subscription.name, subscription),
    urlOf: (subscription) => `http://127.0.0.1:${port}/${subscription}`,
    arrivals,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

interface Known {
  accepted: boolean;
  known: Map<string, Subscription>;
}

function arrivalOf({ url = '', headers }: IncomingMessage, body: string, { accepted, known }: Known): Arrival {
  const at = Date.now();
  const subscription = url.slice(1);
  return {
    subscription,
    eventId: String(headers['webhook-id']),
    change: JSON.parse(body).ticket.title,
    at,
    answeredAt: at,
    accepted,
    attempt: Number(headers['x-service-attempt']),
    signed: isSigned({ headers, body, at }, known.get(subscription)?.secrets ?? []),
  };
}

function answer(response: ServerResponse, accepted: boolean): void {
  if (accepted) response.end();
  else if (Math.random() < 0.5) response.writeHead(500).end();
  else response.destroy();
}
