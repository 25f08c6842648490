import { deliverySchedule } from '@itsm-api/contract';
import type { FastifyBaseLogger } from 'fastify';
import type { Databases } from '../database/client/databases.ts';
import type { SystemClient } from '../database/client/prisma.ts';
import { listen } from '../database/listener.ts';
import type { HealthCheck } from '../shared/lifecycle.ts';
import { endsWithin } from '../shared/timeout.ts';
import { Worker, type WorkerOptions } from './delivery/delivery-worker.ts';
import { type AgentOptions, createAgent } from './delivery/http-agent.ts';
import { wakeChannel } from './outbox/dispatch-jobs.ts';

export interface WebhooksOptions {
  prisma: SystemClient;
  databases: Pick<Databases, 'options'>;
  services: Omit<
    WorkerOptions,
    'prisma' | 'agent' | 'logger' | 'isOutage' | 'limits' | 'maxPendingDeliveries' | 'schedule' | 'observer' | 'tracer'
  >;
  logger: FastifyBaseLogger;
  /** The process's health checks. `startWebhooks` adds its own checks to this list. */
  checks?: HealthCheck[];
  maxPendingDeliveries?: WorkerOptions['maxPendingDeliveries'];
  schedule?: WorkerOptions['schedule'];
  /** Callbacks for the stages of an attempt. */
  observer?: WorkerOptions['observer'];
  /** Traces each delivery attempt. */
  tracer?: WorkerOptions['tracer'];
  /** Replaces the DNS resolver or adds a trusted certificate. For tests. */
  connection?: Omit<AgentOptions, 'targets'>;
}

/**
 * The maximum number of milliseconds that a shutdown waits for deliveries in flight. It is the attempt timeout plus 1
 * second to record the result.
 */
const maxStopMs = deliverySchedule.attemptTimeout + 1000;

/**
 * Starts webhook delivery in a process with the role `worker`. Resolves to a function that stops the delivery and waits
 * up to `maxStopMs` for deliveries in flight. Another worker sends the unfinished deliveries again.
 */
export async function startWebhooks(options: WebhooksOptions): Promise<() => Promise<void>> {
  const { prisma, databases, services, logger, checks, observer, tracer, maxPendingDeliveries, schedule } = options;
  const agent = createAgent({ ...options.connection, targets: services.targets });
  const isOutage = (error: unknown) => databases.options.outages.explains(error, 'loop steps');
  const given = { prisma, agent, logger, isOutage, observer, tracer, maxPendingDeliveries, schedule };
  const worker = new Worker({ ...services, ...given });
  const listener = listen({
    ...databases.options,
    channel: wakeChannel,
    onNotify: () => worker.wake(),
    onUnavailable: (err) => logger.warn({ err }, 'Lost the notification channel. The worker polls for due deliveries.'),
    onAvailable: () => logger.warn('Restored the notification channel. Workers send due deliveries immediately.'),
  });
  checks?.push(
    { name: 'workerLoops', run: () => ({ ok: Object.values(worker.health).every(({ ok }) => ok), ...worker.health }) },
    // If this health check fails, the worker still finds due deliveries by polling.
    { name: 'wakeListener', run: () => ({ ok: listener.listening }) },
  );
  return async () => {
    await endsWithin(maxStopMs, Promise.all([listener.close(), worker.stop()]));
    await agent.destroy();
  };
}
