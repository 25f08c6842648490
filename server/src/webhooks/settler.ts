import type { FastifyBaseLogger } from 'fastify';
import type { PrismaClient } from '../database/prisma.ts';
import { createLoop } from './loop.ts';
import { type Settlement, settle } from './outbox.ts';

export interface Settler {
  /** Resolves when it has been settled. */
  add(settlement: Settlement): Promise<void>;
  /** Settles no more. */
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
  const waiting: { settlement: Settlement; settled: () => void }[] = [];

  let gathering = false;
  const loop = createLoop(
    retryAfter,
    async () => {
      gathering = false;
      const batch = waiting.slice(0, batchSize);
      if (batch.length === 0) return false;
      await settle(
        prisma,
        batch.map(({ settlement }) => settlement),
        now(),
      );
      for (const { settled } of waiting.splice(0, batch.length)) settled();
      return waiting.length >= batchSize;
    },
    (err) => logger.error({ err, waiting: waiting.length }, 'webhook attempts not settled'),
  );

  return {
    add: (settlement) => {
      if (!gathering) setTimeout(loop.wake, gatherFor);
      gathering = true;
      return new Promise((settled) => waiting.push({ settlement, settled }));
    },
    stop: loop.stop,
  };
}
