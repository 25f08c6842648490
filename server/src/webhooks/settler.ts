import type { FastifyBaseLogger } from 'fastify';
import type { PrismaClient } from '../data/prisma.ts';
import { createLoop } from './loop.ts';
import { type Settlement, settle } from './outbox.ts';

export interface Settler {
  add(settlement: Settlement): void;
  /** Settles what is left and takes no more. */
  stop(): Promise<void>;
}

interface SettlerOptions {
  prisma: PrismaClient;
  logger: Pick<FastifyBaseLogger, 'error'>;
  now(): Date;
}

const batchSize = 500;
/** How long results are gathered before they are settled together. Milliseconds. */
const gatherFor = 5;
/** When what the database didn't take is tried again. Milliseconds. */
const retryAfter = 500;

/** Settles attempts in batches. What the database didn't take is tried again until it does. */
export function createSettler({ prisma, logger, now }: SettlerOptions): Settler {
  const waiting: Settlement[] = [];

  let gathering = false;
  const loop = createLoop(
    retryAfter,
    async () => {
      gathering = false;
      const batch = waiting.slice(0, batchSize);
      if (batch.length === 0) return false;
      await settle(prisma, batch, now());
      waiting.splice(0, batch.length);
      return waiting.length >= batchSize;
    },
    (err) => logger.error({ err, waiting: waiting.length }, 'webhook attempts not settled'),
  );

  return {
    add: (settlement) => {
      waiting.push(settlement);
      if (!gathering) setTimeout(loop.wake, gatherFor);
      gathering = true;
    },
    async stop() {
      await loop.stop();
      while (waiting.length > 0) await settle(prisma, waiting.splice(0, batchSize), now());
    },
  };
}
