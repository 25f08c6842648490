import type { FastifyBaseLogger } from 'fastify';
import type { PrismaClient } from '../database/prisma.ts';
import { createLoop, type LoopHealth } from './loop.ts';
import type { SubscriptionSign } from './record-health.ts';
import { type Settled, type Settlement, settle } from './settle.ts';

export interface Settler {
  /** Resolves when it has been settled. */
  add(settlement: Settlement): Promise<void>;
  readonly health: LoopHealth;
  /** Settles no more. */
  stop(): Promise<void>;
}

interface SettlerOptions {
  prisma: PrismaClient;
  logger: Pick<FastifyBaseLogger, 'error' | 'warn'>;
  isOutage(error: unknown): boolean;
  /** Told of each attempt that was recorded. */
  onSettled?(settled: Settled): void;
}

const batchSize = 500;
/** How long results are gathered before they are settled together. Milliseconds. */
const gatherFor = 5;
/** When what the database didn't take is tried again. Milliseconds. */
const retryAfter = 500;

/** Settles attempts in batches. What the database didn't take is tried again until it does. */
export function createSettler({ prisma, logger, isOutage, onSettled: tell }: SettlerOptions): Settler {
  const waiting: { settlement: Settlement; onSettled: () => void }[] = [];
  /** What attempts told of subscriptions that were locked. */
  let unrecorded: SubscriptionSign[] = [];

  let gathering = false;
  const loop = createLoop({
    name: 'settle attempts',
    interval: retryAfter,
    logger,
    isOutage,
    step: async () => {
      gathering = false;
      const batch = waiting.slice(0, batchSize);
      if (batch.length + unrecorded.length === 0) return false;
      const settlements = batch.map(({ settlement }) => settlement);
      const result = await settle(prisma, settlements, unrecorded);
      unrecorded = result.unrecorded;
      for (const { onSettled } of waiting.splice(0, batch.length)) onSettled();
      for (const settled of result.settled) {
        warnOfFailure(logger, settled);
        tell?.(settled);
      }
      return waiting.length >= batchSize;
    },
  });

  return {
    add: (settlement) => {
      if (!gathering) setTimeout(loop.wake, gatherFor);
      gathering = true;
      return new Promise((onSettled) => waiting.push({ settlement, onSettled }));
    },
    get health() {
      return loop.health;
    },
    stop: loop.stop,
  };
}

/** A line for each failed attempt, without the URL: its query may hold what must not be logged. */
function warnOfFailure(logger: Pick<FastifyBaseLogger, 'warn'>, { delivery, outcome, state, nextAttemptAt }: Settled) {
  if (outcome.delivered) return;
  const { tenantId, subscriptionId, id, attempt } = delivery;
  const { status, error } = outcome;
  logger.warn(
    {
      tenantId: String(tenantId),
      subscriptionId: String(subscriptionId),
      deliveryId: String(id),
      attempt,
      ...(status === null ? { error } : { status }),
      state,
      nextAttemptAt,
    },
    'a webhook delivery failed',
  );
}
