import type { FastifyBaseLogger } from 'fastify';
import type { SystemClient } from '../../database/client/prisma.ts';
import { createLoop, type LoopHealth } from '../../shared/loops/polling-loop.ts';
import type { SubscriptionSignal } from './record-health.ts';
import { type DeliveryResult, type RecordedResults, recordResults } from './record-results.ts';
import type { RetrySchedule } from './retry-schedule.ts';

export interface ResultRecorder {
  /**
   * Adds a result to the next batch. Resolves to the recorded result after the database has stored it. Resolves to
   * undefined if another worker has claimed the delivery in the meantime.
   */
  add(settlement: DeliveryResult): Promise<RecordedResults | undefined>;
  readonly health: LoopHealth;
  /** Stops the loop that records results. */
  stop(): Promise<void>;
}

interface ResultRecorderOptions {
  prisma: SystemClient;
  logger: Pick<FastifyBaseLogger, 'error'>;
  isOutage(error: unknown): boolean;
  schedule?: RetrySchedule | undefined;
}

const batchSize = 500;
/** How many milliseconds the recorder collects results for one batch. */
const batchWindowMs = 5;
/** The minimum number of milliseconds before the recorder retries a batch after a database error. */
const retryAfter = 500;

/** Creates a recorder that stores results in batches. The recorder retries a batch until the database accepts it. */
export function createResultRecorder({ prisma, logger, isOutage, schedule }: ResultRecorderOptions): ResultRecorder {
  const waiting: { settlement: DeliveryResult; onSettled: (settled?: RecordedResults) => void }[] = [];
  /**
   * The health signals that the last batch could not store because another transaction had locked their subscriptions.
   */
  let unrecorded: SubscriptionSignal[] = [];

  let isBatchPending = false;
  const loop = createLoop({
    name: 'settle attempts',
    interval: retryAfter,
    logger,
    isOutage,
    step: async () => {
      isBatchPending = false;
      const batch = waiting.slice(0, batchSize);
      if (batch.length + unrecorded.length === 0) return false;
      const settlements = batch.map(({ settlement }) => settlement);
      const result = await recordResults(prisma, settlements, unrecorded, schedule);
      unrecorded = result.unrecorded;
      const settled = new Map(result.settled.map((each) => [each.delivery, each]));
      for (const { settlement, onSettled } of waiting.splice(0, batch.length))
        onSettled(settled.get(settlement.delivery));
      return waiting.length >= batchSize;
    },
  });

  return {
    add: (settlement) => {
      if (!isBatchPending) setTimeout(loop.wake, batchWindowMs);
      isBatchPending = true;
      return new Promise((onSettled) => waiting.push({ settlement, onSettled }));
    },
    get health() {
      return loop.health;
    },
    stop: loop.stop,
  };
}
