import { deliverySchedule } from '@itsm-api/contract';
import type { FastifyBaseLogger } from 'fastify';
import type { PgBoss } from 'pg-boss';
import type { Databases } from '../database/client/databases.ts';
import type { PrismaClient } from '../database/client/prisma.ts';
import { listen } from '../database/listener.ts';
import type { HealthCheck } from '../shared/lifecycle.ts';
import { endsWithin } from '../shared/timeout.ts';
import { Worker, type WorkerOptions } from './delivery/delivery-worker.ts';
import { type AgentOptions, createAgent } from './delivery/http-agent.ts';
import { scheduleRetention } from './maintenance/delivery-retention.ts';
import { wakeChannel } from './outbox/dispatch-jobs.ts';

export interface WebhooksOptions {
  prisma: PrismaClient;
  databases: Pick<Databases, 'options'>;
  boss: PgBoss;
  services: Omit<
    WorkerOptions,
    'prisma' | 'agent' | 'logger' | 'isOutage' | 'limits' | 'maxPendingDeliveries' | 'observer' | 'tracer'
  >;
  logger: FastifyBaseLogger;
  /** Where it is added what delivering stands on. */
  checks?: HealthCheck[];
  maxPendingDeliveries?: WorkerOptions['maxPendingDeliveries'];
  /** Told of what the worker does. */
  observer?: WorkerOptions['observer'];
  /** Told of each attempt. */
  tracer?: WorkerOptions['tracer'];
  /** How targets are reached, where a test has its own resolver or certificates. */
  connection?: Omit<AgentOptions, 'targets'>;
}

/** How long what is in flight is waited for: an attempt, and the settling of it. Milliseconds. */
const longestStopMs = deliverySchedule.attemptTimeout + 1000;

/**
 * Starts all that a process of the role `worker` does; resolves to what stops it, when nothing is in flight any more. What
 * a receiver or PostgreSQL withholds for too long is given up then: another worker delivers it again.
 */
export async function startWebhooks(options: WebhooksOptions): Promise<() => Promise<void>> {
  const { prisma, databases, boss, services, logger, checks, observer, tracer, maxPendingDeliveries } = options;
  const agent = createAgent({ ...options.connection, targets: services.targets });
  const isOutage = (error: unknown) => databases.options.reachability.explains(error, 'loop steps');
  const given = { prisma, agent, logger, isOutage, observer, tracer, maxPendingDeliveries };
  const worker = new Worker({ ...services, ...given });
  const listener = listen({
    ...databases.options,
    channel: wakeChannel,
    onNotify: () => worker.wake(),
    onAway: (err) => logger.warn({ err }, 'no notifications arrive: what is due is found a moment later'),
    onBack: () => logger.warn('notifications arrive again: what is due is heard of at once'),
  });
  checks?.push(
    { name: 'workerLoops', look: () => ({ ok: Object.values(worker.health).every(({ ok }) => ok), ...worker.health }) },
    // Without it a worker finds what is due a moment later, by itself.
    { name: 'wakeListener', look: () => ({ ok: listener.listening }) },
  );
  await scheduleRetention(boss, prisma);
  return async () => {
    await endsWithin(longestStopMs, Promise.all([listener.close(), worker.stop()]));
    await agent.destroy();
  };
}
