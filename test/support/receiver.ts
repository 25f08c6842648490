import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer, type ServerOptions } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Prisma } from '@itsm-api/server/database/generated/client.ts';
import { createLogger } from '@itsm-api/server/http/logger.ts';
import { type DeliveryOptions, startDelivery } from '@itsm-api/server/webhooks/delivery.ts';
import { expect, vi } from 'vitest';
import { type Api, startApi } from './api.ts';
import { cloneDatabase } from './database.ts';
import { createWorkspace, type Workspace } from './workspace.ts';

/** One request as it arrived. */
export interface Received {
  headers: Record<string, string>;
  body: string;
  at: number;
}

export interface Receiver {
  url: string;
  port: number;
  received: Received[];
  /** TCP connections that were ever made to it. */
  readonly connections: number;
  close(): Promise<void>;
}

/** Answers a request; the body has been read. Without one every request is answered 200. */
export type Respond = (request: IncomingMessage, response: ServerResponse, received: Received[]) => void;

interface ReceiverOptions {
  /** Where it listens; the loopback of IPv4 unless a test needs more. */
  host?: string;
  /** Key and certificate, where it speaks https. */
  tls?: ServerOptions;
}

/** A webhook receiver on a loopback port that remembers what it got. */
export async function startReceiver(
  respond: Respond = (_, response) => response.end(),
  { host = '127.0.0.1', tls }: ReceiverOptions = {},
): Promise<Receiver> {
  const received: Received[] = [];
  let connections = 0;
  const listener = (request: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('error', () => undefined);
    request.on('end', () => {
      const headers = request.headers as Record<string, string>;
      received.push({ headers, body: Buffer.concat(chunks).toString(), at: Date.now() });
      respond(request, response, received);
    });
  };
  const server = tls ? createTlsServer(tls, listener) : createServer(listener);
  server.on('connection', () => (connections += 1));
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `${tls ? 'https' : 'http'}://127.0.0.1:${port}/hook`,
    port,
    received,
    get connections() {
      return connections;
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** A delivery with its attempts, the first one first. */
type SentDelivery = Prisma.DeliveryGetPayload<{ include: { history: true } }>;

/** An API that sends, over a database of its own: its workers see nothing of other tests, its clock is the test's. */
export interface Sender {
  api: Api;
  workspace: Workspace;
  /** The sender's time, in milliseconds; it stands still, unless the sender was started with the real one. */
  clock: { time: number };
  /** Starts one more worker. */
  startWorker(): Promise<void>;
  /** Ends the workers, when nothing is in flight any more. */
  stopWorkers(): Promise<void>;
  /** Moves the clock, then has the workers look at every lane as their next sweep would, and waits until they have. */
  advance(milliseconds: number): Promise<void>;
  /** The deliveries to a subscription in the order of their events, when nothing is in flight. */
  settled(subscriptionId: number): Promise<SentDelivery[]>;
  /** A subscription as GET /webhooks answers it. */
  health(subscriptionId: number, owner?: Workspace): Promise<Record<string, unknown>>;
  close(): Promise<void>;
}

interface SenderOptions {
  /** On unless a test is about targets: its receivers are on loopback. */
  allowPrivateTargets?: boolean;
  connection?: DeliveryOptions['connection'];
  /** Where time passes by itself. */
  realClock?: boolean;
}

/** A clock that stands still says to the millisecond when the next attempt is. */
export async function startSender(options: SenderOptions = {}): Promise<Sender> {
  const { allowPrivateTargets = true, connection, realClock = false } = options;
  const clock = { time: Date.UTC(2026, 10, 20, 10) };
  const database = await cloneDatabase();
  const api = await startApi({
    databaseUrl: database.url,
    env: { WEBHOOK_ALLOW_PRIVATE_TARGETS: String(allowPrivateTargets) },
    ...(!realClock && { now: () => new Date(clock.time) }),
  });
  const { prisma, services } = api;
  const workspace = await createWorkspace(api);
  const stops: (() => Promise<void>)[] = [];
  const stopWorkers = async () => {
    await Promise.all(stops.splice(0).map((stop) => stop()));
  };

  return {
    api,
    workspace,
    clock,
    async startWorker() {
      stops.push(await startDelivery({ ...api, logger: createLogger('error'), ...(connection && { connection }) }));
    },
    stopWorkers,
    async advance(milliseconds) {
      clock.time += milliseconds;
      const subscriptions = await prisma.webhookSubscription.findMany({ select: { tenantId: true, id: true } });
      await services.lanes.add(subscriptions.map(({ tenantId, id }) => ({ tenantId, subscriptionId: id })));
      services.wakeWorkers();
      // A job goes when its lane has been looked at and what was to be claimed has been.
      await eventually(async () => {
        const [jobs] = await prisma.$queryRaw<[{ count: bigint }]>`
          SELECT count(*) FROM pgboss.job WHERE name = 'webhook-lanes'`;
        expect(jobs.count).toBe(0n);
      });
    },
    settled: (subscriptionId) =>
      eventually(async () => {
        const query = {
          where: { subscriptionId },
          include: { history: { orderBy: { id: 'asc' } } },
          orderBy: { id: 'asc' },
        } as const;
        // The attempts come of a second statement, and are to be of the same moment.
        const deliveries = await prisma.$transaction((tx) => tx.delivery.findMany(query), {
          isolationLevel: 'RepeatableRead',
        });
        expect(deliveries.filter(({ state, claim }) => state === 'PENDING' && claim !== null)).toEqual([]);
        return deliveries;
      }),
    async health(subscriptionId, owner = workspace) {
      const { body } = await owner.call('GET', '/webhooks?perPage=100');
      return body.data.find(({ id }: { id: number }) => id === subscriptionId);
    },
    async close() {
      await stopWorkers();
      await api.close();
      await database.drop();
    },
  };
}

/** Waits until `check` throws no more; resolves to its result. Longer than a slow machine takes. */
export function eventually<Result>(check: () => Result | Promise<Result>, timeout = 10_000): Promise<Result> {
  return vi.waitFor(check, { timeout, interval: 20 });
}
