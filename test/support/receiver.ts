import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer, type ServerOptions } from 'node:https';
import type { AddressInfo } from 'node:net';
import { createLogger } from '@itsm-api/server/http/logger.ts';
import { toTenantId } from '@itsm-api/server/shared/tenant-id.ts';
import { startWebhooks, type WebhooksOptions } from '@itsm-api/server/webhooks/start-webhooks.ts';
import type { Logger } from 'pino';
import { expect, vi } from 'vitest';
import type { Prisma } from '../../server/generated/prisma/client.ts';
import { type Api, startApi } from './api.ts';
import { cloneDatabase, execute } from './database.ts';
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

/** An API that sends, over a database of its own: its workers see nothing of other tests, and its past can be moved. */
export interface Sender {
  api: Api;
  workspace: Workspace;
  /** Starts one more worker, with another clock or log where a test needs one. */
  startWorker(options?: { now?: () => Date; logger?: Logger; maxPendingDeliveries?: number }): Promise<void>;
  /** Ends the workers, when nothing is in flight any more. */
  stopWorkers(): Promise<void>;
  /** Makes all that the database holds of webhooks so much older, as if that much time had passed. */
  age(milliseconds: number): Promise<void>;
  /** Ages, then has the workers look at every subscription as their next sweep would, and waits until they have. */
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
  connection?: WebhooksOptions['connection'];
  /** Other settings of the server. */
  env?: Record<string, string>;
}

export async function startSender(options: SenderOptions = {}): Promise<Sender> {
  const { allowPrivateTargets = true, connection, env } = options;
  const database = await cloneDatabase();
  const api = await startApi({
    databaseUrl: database.url,
    env: { WEBHOOK_ALLOW_PRIVATE_TARGETS: String(allowPrivateTargets), ...env },
  });
  const { prisma, services } = api;
  const workspace = await createWorkspace(api);
  const stops: (() => Promise<void>)[] = [];
  const age = (milliseconds: number) => execute(database.url, agedBy(milliseconds));
  const stopWorkers = async () => {
    await Promise.all(stops.splice(0).map((stop) => stop()));
  };

  return {
    api,
    workspace,
    async startWorker({ now = services.now, logger = createLogger('error'), maxPendingDeliveries } = {}) {
      const given = { ...api, services: { ...services, now }, logger, maxPendingDeliveries };
      stops.push(await startWebhooks({ ...given, ...(connection && { connection }) }));
    },
    stopWorkers,
    age,
    async advance(milliseconds) {
      await age(milliseconds);
      const subscriptions = await prisma.webhookSubscription.findMany({ select: { tenantId: true, id: true } });
      await services.dispatchJobs.add(
        subscriptions.map(({ tenantId, id }) => ({ tenantId: toTenantId(tenantId), subscriptionId: id })),
      );
      services.wakeWorkers();
      // A job goes when its subscription has been looked at and what was to be claimed has been.
      await eventually(async () => {
        const [jobs] = await prisma.$queryRaw<[{ count: bigint }]>`
          SELECT count(*) FROM pgboss.job WHERE name = 'webhook-dispatch'`;
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

/** The columns that tell when something was or is to be. */
const moments = {
  webhook_subscriptions: [
    'last_success_at',
    'last_failure_at',
    'failing_since',
    'open_until',
    'paused_at',
    'quota_reached_at',
    'created_at',
    'updated_at',
  ],
  events: ['created_at'],
  deliveries: ['next_attempt_at', 'created_at', 'settled_at'],
  delivery_attempts: ['started_at'],
};

function agedBy(milliseconds: number): string {
  const updates = Object.entries(moments).map(([table, columns]) => {
    const aged = columns.map((column) => `${column} = ${column} - interval '${milliseconds} milliseconds'`);
    return `UPDATE ${table} SET ${aged.join(', ')}`;
  });
  const trials = `SELECT began - interval '${milliseconds} milliseconds' FROM unnest(trial_attempts) AS began`;
  return [...updates, `UPDATE webhook_subscriptions SET trial_attempts = ARRAY(${trials})`].join(';');
}

/** Waits until `check` throws no more; resolves to its result. Longer than a slow machine takes. */
export function eventually<Result>(check: () => Result | Promise<Result>, timeout = 10_000): Promise<Result> {
  return vi.waitFor(check, { timeout, interval: 20 });
}
