import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { EventType } from '@itsm-api/contract';

/** The body of a delivery. */
export interface RowResponse {
  type: EventType;
  actor: unknown;
  changes?: unknown;
  comment?: unknown;
  [resource: string]: unknown;
}

/** A received delivery. */
export interface Arrival {
  headers: IncomingHttpHeaders;
  body: string;
  reported: RowResponse;
  /** When the delivery arrived, in milliseconds since 1970. */
  at: number;
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
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk) => chunks.push(chunk));
    // The test can kill the worker while the worker sends a request.
    request.on('error', () => undefined);
    request.on('end', () => {
      const [, world = '', subscription = ''] = (request.url ?? '').split('/');
      const fails = request.headers['x-service-attempt'] === '1' && ++count % failsOnceIn === 0;
      const arrivals = of(world);
      const body = Buffer.concat(chunks).toString();
      const arrival: Arrival = { headers: request.headers, body, reported: JSON.parse(body), at: Date.now() };
      if (!fails) {
        const before = arrivals.get(subscription);
        if (before === undefined) arrivals.set(subscription, [arrival]);
        else before.push(arrival);
      }
      response.writeHead(fails ? 500 : 200).end();
    });
  });
  // Keeps idle connections open, because an attempt that reuses a closed connection would fail.
  server.keepAliveTimeout = 60_000;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    of,
    forget: (world) => worlds.delete(world),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
