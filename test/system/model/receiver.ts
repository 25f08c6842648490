import type { EventType } from '@itsm-api/contract';
import { type Received, startReceiver } from '../../support/receiver.ts';

/** The body of a delivery. */
export interface RowResponse {
  type: EventType;
  actor: unknown;
  changes?: unknown;
  comment?: unknown;
  [resource: string]: unknown;
}

/** A received delivery. */
export interface Arrival extends Received {
  reported: RowResponse;
}

export interface Receiver {
  url: string;
  /** Returns the deliveries of an episode, grouped by the subscription name in the URL. */
  of(world: string): Map<string, Arrival[]>;
  forget(world: string): void;
  close(): Promise<void>;
}

/** The receiver responds with 500 to every 150th first attempt. */
const failsOnceIn = 150;

/** Starts a receiver for deliveries to `<url>/<world>/<subscription>/<any>`. */
export async function openReceiver(): Promise<Receiver> {
  const worlds = new Map<string, Map<string, Arrival[]>>();
  const of: Receiver['of'] = (world) => {
    const arrivals = worlds.get(world) ?? new Map<string, Arrival[]>();
    worlds.set(world, arrivals);
    return arrivals;
  };
  let count = 0;
  const { port, close } = await startReceiver(({ url = '' }, response, received) => {
    const [, world = '', subscription = ''] = url.split('/');
    // Removes the delivery, so that the receiver doesn't keep the deliveries of all episodes.
    const delivery = received.pop() as Received;
    const fails = delivery.headers['x-service-attempt'] === '1' && ++count % failsOnceIn === 0;
    if (!fails) {
      const arrivals = of(world);
      const arrival = { ...delivery, reported: JSON.parse(delivery.body) };
      const before = arrivals.get(subscription);
      if (before === undefined) arrivals.set(subscription, [arrival]);
      else before.push(arrival);
    }
    response.writeHead(fails ? 500 : 200).end();
  });
  return { url: `http://127.0.0.1:${port}`, of, forget: (world) => worlds.delete(world), close };
}
