import type { FastifyBaseLogger } from 'fastify';
import type { PgBoss } from 'pg-boss';
import type { Databases } from '../database/databases.ts';
import { listen } from '../database/listener.ts';
import type { PrismaClient } from '../database/prisma.ts';
import { type AgentOptions, createAgent } from './agent.ts';
import { wakeChannel } from './dispatch-jobs.ts';
import { scheduleRetention } from './retention.ts';
import { Worker, type WorkerOptions } from './worker.ts';

export interface WebhooksOptions {
  prisma: PrismaClient;
  databases: Pick<Databases, 'options'>;
  boss: PgBoss;
  services: Omit<WorkerOptions, 'prisma' | 'agent' | 'logger' | 'limits' | 'observer'>;
  logger: FastifyBaseLogger;
  observer?: WorkerOptions['observer'] | undefined;
  /** How targets are reached, where a test has its own resolver or certificates. */
  connection?: Omit<AgentOptions, 'targets'>;
}

/** Starts all that a process of the role `worker` does; resolves to what stops it, when nothing is in flight any more. */
export async function startWebhooks(options: WebhooksOptions): Promise<() => Promise<void>> {
  const { prisma, databases, boss, services, logger, observer } = options;
  const agent = createAgent({ ...options.connection, targets: services.targets });
  const worker = new Worker({ ...services, prisma, agent, logger, observer });
  const listener = listen({ ...databases.options, channel: wakeChannel, onNotify: () => worker.wake() });
  await scheduleRetention(boss, prisma);
  return async () => {
    await listener.close();
    await worker.stop();
    await agent.destroy();
  };
}
