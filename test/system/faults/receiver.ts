import type { ServerResponse } from 'node:http';
import { type Received, startReceiver } from '../../support/receiver.ts';
import type { Subscription } from '../../support/subscribed-workspaces.ts';
import { isSigned } from './signatures.ts';

/** A received delivery. */
export interface Arrival {
  subscription: string;
  /** The header `webhook-id`. */
  eventId: string;
  /** The title of the ticket in the body, which identifies the change. */
  change: string;
  /** When the receiver received the whole body, in milliseconds since 1970. */
  at: number;
  /** When the receiver sent the response, in milliseconds since 1970. */
  respondedAt: number;
  accepted: boolean;
  /** The attempt number, starting at 1. */
  attempt: number;
  /** True if the delivery has a valid signature with a secret of its subscription. */
  signed: boolean;
}

export interface Receiver {
  /** Adds a subscription, so the receiver can check the signatures of its deliveries. */
  know(subscription: Subscription): void;
  /** Returns the URL that receives the deliveries of the subscription with this name. */
  urlOf(subscription: string): string;
  arrivals: Arrival[];
  close(): Promise<void>;
}

interface ReceiverOptions {
  /**
   * The share of first attempts that fail, from 0 to 1. For half of the failed attempts, the receiver responds with
   * 500. For the other half, it closes the connection.
   */
  failing: number;
  /** The maximum response time in milliseconds. Response times are random, between zero and this maximum. */
  slowest: number;
}

/**
 * Starts a receiver that records every delivery. Only first attempts can fail, because a second failure would delay the
 * end of the test by minutes.
 */
export async function openReceiver({ failing, slowest }: ReceiverOptions): Promise<Receiver> {
  const arrivals: Arrival[] = [];
  const known = new Map<string, Subscription>();
  const { port, close } = await startReceiver(({ url = '' }, response, received) => {
    const delivery = received.pop() as Received;
    const accepted = delivery.headers['x-service-attempt'] !== '1' || Math.random() >= failing;
    const arrival = arrivalOf(url.slice(1), delivery, { accepted, known });
    arrivals.push(arrival);
    setTimeout(() => {
      arrival.respondedAt = Date.now();
      answer(response, accepted);
    }, Math.random() * slowest);
  });
  return {
    know: (subscription) => known.set(subscription.name, subscription),
    urlOf: (subscription) => `http://127.0.0.1:${port}/${subscription}`,
    arrivals,
    close,
  };
}

interface Known {
  accepted: boolean;
  known: Map<string, Subscription>;
}

function arrivalOf(subscription: string, delivery: Received, { accepted, known }: Known): Arrival {
  const { headers, body, at } = delivery;
  return {
    subscription,
    eventId: String(headers['webhook-id']),
    change: JSON.parse(body).ticket.title,
    at,
    respondedAt: at,
    accepted,
    attempt: Number(headers['x-service-attempt']),
    signed: isSigned(delivery, known.get(subscription)?.secrets ?? []),
  };
}

function answer(response: ServerResponse, accepted: boolean): void {
  if (accepted) response.end();
  else if (Math.random() < 0.5) response.writeHead(500).end();
  else response.destroy();
}
