import type { FastifyBaseLogger } from 'fastify';
import type { PrismaClient } from '../../database/client/prisma.ts';
import { createLoop, type LoopHealth } from '../../shared/polling-loop.ts';
import type { SubscriptionSignal } from './record-health.ts';
import { type DeliveryResult, type RecordedResults, recordResults } from './record-results.ts';

export interface ResultRecorder {
  /** Resolves when it has been settled, to what was recorded: nothing where another worker has taken the delivery over. */
  add(settlement: DeliveryResult): Promise<RecordedResults | undefined>;
  readonly health: LoopHealth;
  /** Settles no more. */
  stop(): Promise<void>;
}

interface SettlerOptions {
  prisma: PrismaClient;
  logger: Pick<FastifyBaseLogger, 'error'>;
  isOutage(error: unknown): boolean;
}

const batchSize = 500;
/** How long results are gathered before they are settled together. Milliseconds. */
const gatherFor = 5;
/** When what the database didn't take is tried again. Milliseconds. */
const retryAfter = 500;

/** Settles attempts in batches. What the database didn't take is tried again until it does. */
export function createResultRecorder({ prisma, logger, isOutage }: SettlerOptions): ResultRecorder {
  const waiting: { settlement: DeliveryResult; onSettled: (settled?: RecordedResults) => void }[] = [];
  /** What attempts told of subscriptions that were locked. */
  let unrecorded: SubscriptionSignal[] = [];

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
      const result = await recordResults(prisma, settlements, unrecorded);
      unrecorded = result.unrecorded;
      const settled = new Map(result.settled.map((each) => [each.delivery, each]));
      for (const { settlement, onSettled } of waiting.splice(0, batch.length))
        onSettled(settled.get(settlement.delivery));
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
