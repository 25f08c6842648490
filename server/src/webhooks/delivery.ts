import type { FastifyBaseLogger } from 'fastify';
import type { PgBoss } from 'pg-boss';
import type { Databases } from '../database/databases.ts';
import { listen } from '../database/listener.ts';
import type { PrismaClient } from '../database/prisma.ts';
import { type ConnectionOptions, createConnections } from './connection.ts';
import { wakeChannel } from './lanes.ts';
import { scheduleRetention } from './retention.ts';
import { startWorker, type WorkerOptions } from './worker.ts';

export interface DeliveryOptions {
  prisma: PrismaClient;
  databases: Pick<Databases, 'options'>;
  boss: PgBoss;
  services: Omit<WorkerOptions, 'prisma' | 'connections' | 'logger' | 'limits'>;
  logger: FastifyBaseLogger;
  /** How targets are reached, where a test has its own resolver or certificates. */
  connection?: Omit<ConnectionOptions, 'allowPrivateTargets'>;
}

/** Starts all that a process of the role `worker` does; resolves to what stops it, when nothing is in flight any more. */
export async function startDelivery(options: DeliveryOptions): Promise<() => Promise<void>> {
  const { prisma, databases, boss, services, logger } = options;
  const { allowPrivateTargets } = services;
  const connections = createConnections({ ...options.connection, allowPrivateTargets });
  const worker = startWorker({ ...services, prisma, connections, logger });
  const listener = listen({ ...databases.options, channel: wakeChannel, onNotify: worker.wake });
  await scheduleRetention(boss, { prisma, now: services.now });
  return async () => {
    await listener.close();
    await worker.stop();
    await connections.destroy();
  };
}
