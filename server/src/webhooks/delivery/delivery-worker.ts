import { setTimeout as sleep } from 'node:timers/promises';
import { maxPendingDeliveries as defaultMaxPending, deliverySchedule } from '@itsm-api/contract';
import type { FastifyBaseLogger } from 'fastify';
import type { Dispatcher } from 'undici';
import type { SystemClient } from '../../database/client/prisma.ts';
import { createLoop, type Loop, type LoopHealth } from '../../shared/loops/polling-loop.ts';
import { tenantIdToJson } from '../../shared/tenant-id.ts';
import { replaySome } from '../maintenance/replay.ts';
import type { DispatchJobs } from '../outbox/dispatch-jobs.ts';
import { cancelPending, findPending } from '../outbox/pending.ts';
import { enforceQuota, quotaInterval } from '../outbox/quota.ts';
import type { SecretCipher } from '../secrets/secret-cipher.ts';
import { refKey, type SubscriptionRef } from '../subscription-ref.ts';
import { attemptDelivery } from './attempt.ts';
import { type ClaimedDelivery, claimDue, type Grant } from './claim.ts';
import { type HostLimits, InFlight, type InFlightLimits } from './in-flight.ts';
import type { RecordedResults } from './record-results.ts';
import { createResultRecorder, type ResultRecorder } from './result-recorder.ts';
import type { RetrySchedule } from './retry-schedule.ts';
import { RoundRobin } from './round-robin.ts';
import type { Outcome } from './send.ts';
import type { TargetPolicy } from './target.ts';

export interface WorkerOptions {
  prisma: SystemClient;
  dispatchJobs: DispatchJobs;
  secretCipher: SecretCipher;
  agent: Dispatcher;
  targets: TargetPolicy;
  logger: Pick<FastifyBaseLogger, 'error' | 'warn'>;
  /** Returns true if a database outage caused the error. The worker doesn't log such errors. */
  isOutage(error: unknown): boolean;
  /** Returns the current time of this process's clock. The worker uses it only for timestamps in signatures. */
  now(): Date;
  /** The base URL of the server, for the source of events. */
  publicUrl?: string | undefined;
  limits?: InFlightLimits;
  /** The maximum number of pending deliveries per tenant. */
  maxPendingDeliveries?: number | undefined;
  /** The retry schedule. Servers for tests shorten it. */
  schedule?: RetrySchedule | undefined;
  hostLimits: HostLimits;
  observer?: WorkerObserver | undefined;
  tracer?: AttemptTracer | undefined;
}

/** Callbacks for the stages of an attempt. */
export interface WorkerObserver {
  onBegin(delivery: ClaimedDelivery): void;
  /** Called when the receiver has accepted a delivery. @param milliseconds the time since the delivery became due */
  onReceived(delivery: ClaimedDelivery, milliseconds: number): void;
  /** Called when the worker has stored the result of an attempt. */
  onSettled(settled: RecordedResults): void;
  /** Called when an attempt has ended and no longer counts toward the concurrency limits. */
  onEnd(delivery: ClaimedDelivery): void;
}

/** Adds each attempt to the trace of the request that caused the event (docs/decisions/observability.md). */
export interface AttemptTracer {
  /**
   * Runs an attempt within its span.
   * @param attempt calls `onOutcome` with the outcome, then records the result
   */
  traceAttempt(
    delivery: ClaimedDelivery,
    attempt: (onOutcome: (outcome: Outcome) => void) => Promise<void>,
  ): Promise<void>;
}

/** The milliseconds between two polls if no notification arrives, and the maximum number of jobs per poll. */
const pollInterval = 100;
const jobBatchSize = 200;

/**
 * The milliseconds between two sweeps, or less if the shortest retry delay is less. A sweep finds due deliveries without a
 * job, and pending deliveries of inactive subscriptions.
 */
const sweepInterval = 1000;

/** The maximum number of deliveries that the worker cancels per batch, and the milliseconds between two batches. */
const cancelBatchSize = 1000;
const cancelInterval = 50;

/** The milliseconds between two checks for replays. */
const replayInterval = 500;

/** The maximum number of milliseconds at shutdown to store the results of finished attempts. */
const maxSettleMs = 1000;

/**
 * Delivers due webhooks. The worker takes jobs, claims deliveries within the concurrency limits, sends them
 * concurrently, and records the results in batches. A slow endpoint occupies only the slots of its own subscription.
 */
export class Worker {
  readonly #options: WorkerOptions;
  readonly #inFlight: InFlight;
  readonly #subscriptions = new RoundRobin();
  readonly #recorder: ResultRecorder;
  readonly #pump: Loop;
  readonly #sweep: Loop;
  readonly #cancel: Loop;
  readonly #replay: Loop;
  readonly #quota: Loop;
  /** The inactive subscriptions with pending deliveries that the last sweep found. */
  #inactive: SubscriptionRef[] = [];

  constructor(options: WorkerOptions) {
    const { logger, isOutage, schedule = deliverySchedule } = options;
    const loop = (name: string, interval: number, step: () => Promise<boolean>) =>
      createLoop({ name, interval, logger, isOutage, step });
    this.#options = options;
    const limits = options.limits ?? { total: 1024, tenant: 64, subscription: 16, doubtful: 2 };
    this.#inFlight = new InFlight(limits, options.hostLimits);
    this.#recorder = createResultRecorder(options);
    this.#pump = loop('deliver', pollInterval, () => this.#takeAndSend());
    this.#sweep = loop('sweep', Math.min(sweepInterval, ...schedule.waits), () => this.#addDue());
    this.#cancel = loop('cancel', cancelInterval, () => this.#cancelSome());
    this.#replay = loop('replay', replayInterval, () => this.#replaySome());
    this.#quota = loop('quota', quotaInterval, () => this.#enforceQuota());
  }

  /** Makes the worker claim deliveries immediately instead of at the next poll. */
  wake(): void {
    this.#pump.wake();
  }

  /** The health of each background loop. */
  get health(): Record<'deliver' | 'sweep' | 'cancel' | 'replay' | 'quota' | 'settle', LoopHealth> {
    return {
      deliver: this.#pump.health,
      sweep: this.#sweep.health,
      cancel: this.#cancel.health,
      replay: this.#replay.health,
      quota: this.#quota.health,
      settle: this.#recorder.health,
    };
  }

  /**
   * Stops claiming deliveries, and then waits for the attempts in flight, at most for the attempt timeout plus
   * `maxSettleMs`.
   */
  async stop(): Promise<void> {
    const loops = [this.#pump, this.#sweep, this.#cancel, this.#replay, this.#quota];
    await Promise.all(loops.map((loop) => loop.stop()));
    // If PostgreSQL is unreachable during this wait, the results of the attempts are lost, and another worker repeats
    // the attempts.
    const end = performance.now() + deliverySchedule.attemptTimeout + maxSettleMs;
    while (this.#inFlight.total > 0 && performance.now() < end) await sleep(20);
    await this.#recorder.stop();
  }

  /** Takes jobs, claims deliveries and starts their attempts. Resolves to true if more deliveries may be due now. */
  async #takeAndSend(): Promise<boolean> {
    const { dispatchJobs } = this.#options;
    const taken = this.#inFlight.isFull ? [] : await dispatchJobs.take(jobBatchSize);
    for (const { subscription } of taken) this.#subscriptions.add(subscription);
    const claimed = await this.#claim();
    for (const delivery of claimed) void this.#begin(delivery);
    // Removes the jobs, because the worker has claimed their deliveries or has their subscriptions in its own queue.
    await dispatchJobs.remove(taken.map(({ job }) => job));
    return taken.length > 0 || claimed.length > 0;
  }

  async #claim(): Promise<ClaimedDelivery[]> {
    const requests = this.#inFlight.slotsFor(this.#subscriptions);
    if (requests.length === 0) return [];
    const limitHost = this.#inFlight.limitHosts();
    const granted = new Map<string, number>();
    const grant: Grant = (each, url) => {
      const slots = limitHost(each, url);
      granted.set(refKey(each), slots);
      return slots;
    };
    const claimed = await claimDue(this.#options.prisma, requests, grant, this.#options.schedule);
    const counts = Map.groupBy(claimed, refKey);
    // A subscription may have more due deliveries if it has used all its slots. This includes a subscription that got
    // no slots because its target host has reached a limit.
    const hasMore = (key: string) => granted.get(key) === (counts.get(key)?.length ?? 0);
    for (const each of requests) this.#subscriptions.next(each, hasMore(refKey(each)));
    return claimed;
  }

  #begin(delivery: ClaimedDelivery): Promise<void> {
    const { tracer } = this.#options;
    if (tracer === undefined) return this.#attempt(delivery);
    return tracer.traceAttempt(delivery, (onOutcome) => this.#attempt(delivery, onOutcome));
  }

  async #attempt(delivery: ClaimedDelivery, onOutcome?: (outcome: Outcome) => void): Promise<void> {
    const { observer, logger } = this.#options;
    this.#inFlight.begin(delivery);
    observer?.onBegin(delivery);
    const outcome = await attemptDelivery(this.#options, delivery);
    onOutcome?.(outcome);
    if (outcome.delivered) observer?.onReceived(delivery, performance.now() - delivery.dueSince);
    this.#inFlight.trust(delivery, outcome.delivered);
    const settled = await this.#recorder.add({ delivery, outcome });
    if (settled !== undefined) {
      warnOfFailure(logger, settled);
      observer?.onSettled(settled);
    }
    this.#inFlight.end(delivery);
    observer?.onEnd(delivery);
    this.wake();
  }

  /**
   * Queues the subscriptions that have due deliveries. They have no job if the delivery is a retry or if the job was
   * lost.
   */
  async #addDue(): Promise<boolean> {
    const { due, inactive } = await findPending(this.#options.prisma, [...this.#subscriptions]);
    this.#inactive = inactive;
    // Adds the subscriptions to this worker's queue instead of inserting jobs, because an insert would wait for all
    // uncommitted transactions that have inserted a job for the same subscription.
    for (const subscription of due) this.#subscriptions.add(subscription);
    this.wake();
    return false;
  }

  /**
   * Cancels one batch of an inactive subscription's pending deliveries. The pause before the next batch leaves database
   * capacity for other queries.
   */
  async #cancelSome(): Promise<boolean> {
    const [first] = this.#inactive;
    if (first === undefined) return false;
    const cancelled = await cancelPending(this.#options.prisma, first, cancelBatchSize);
    if (cancelled < cancelBatchSize) this.#inactive = this.#inactive.filter((each) => each !== first);
    return false;
  }

  async #enforceQuota(): Promise<boolean> {
    const { prisma, logger, maxPendingDeliveries = defaultMaxPending } = this.#options;
    await enforceQuota({ prisma, logger, maxPendingDeliveries });
    return false;
  }

  /** Processes one batch of the next replay. Resolves to true if a replay was in progress. */
  async #replaySome(): Promise<boolean> {
    const { prisma, dispatchJobs } = this.#options;
    const due = await replaySome(prisma);
    if (due) {
      await dispatchJobs.add([due]);
      this.wake();
    }
    return due !== undefined;
  }
}

/** Logs a failed attempt. The log entry omits the URL, because the query string may contain credentials. */
function warnOfFailure(
  logger: Pick<FastifyBaseLogger, 'warn'>,
  { delivery, outcome, state, nextAttemptAt }: RecordedResults,
) {
  if (outcome.delivered) return;
  const { tenantId, subscriptionId, id, attempt } = delivery;
  const { status, error } = outcome;
  logger.warn(
    {
      tenantId: tenantIdToJson(tenantId),
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
