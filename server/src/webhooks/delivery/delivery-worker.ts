import { setTimeout as sleep } from 'node:timers/promises';
import { maxPendingDeliveries as defaultMaxPending, deliverySchedule } from '@itsm-api/contract';
import type { FastifyBaseLogger } from 'fastify';
import type { Dispatcher } from 'undici';
import type { PrismaClient } from '../../database/client/prisma.ts';
import { createLoop, type Loop, type LoopHealth } from '../../shared/polling-loop.ts';
import { tenantIdToJson } from '../../shared/tenant-id.ts';
import { replaySome } from '../maintenance/replay.ts';
import type { DispatchJobs } from '../outbox/dispatch-jobs.ts';
import { cancelPending, findPending } from '../outbox/pending.ts';
import { enforceQuota, quotaInterval } from '../outbox/quota.ts';
import type { SecretCipher } from '../secrets/secret-cipher.ts';
import { refKey, type SubscriptionRef } from '../subscription-ref.ts';
import { attemptDelivery } from './attempt.ts';
import { type ClaimedDelivery, claimDue } from './claim.ts';
import { type HostLimits, InFlight, type InFlightLimits } from './host-limits.ts';
import type { RecordedResults } from './record-results.ts';
import { createResultRecorder, type ResultRecorder } from './result-recorder.ts';
import { RoundRobin } from './round-robin.ts';
import type { Outcome } from './send.ts';
import type { TargetPolicy } from './target.ts';

export interface WorkerOptions {
  prisma: PrismaClient;
  dispatchJobs: DispatchJobs;
  secretCipher: SecretCipher;
  agent: Dispatcher;
  targets: TargetPolicy;
  logger: Pick<FastifyBaseLogger, 'error' | 'warn'>;
  /** Whether something failed since the database can't be reached; whoever says so has it logged. */
  isOutage(error: unknown): boolean;
  /** The process's clock, which dates signatures and nothing else. */
  now(): Date;
  limits?: InFlightLimits;
  /** The limit of pending deliveries per tenant. */
  maxPendingDeliveries?: number | undefined;
  hostLimits: HostLimits;
  observer?: WorkerObserver | undefined;
  tracer?: AttemptTracer | undefined;
}

/** Who watches a worker at work. */
export interface WorkerObserver {
  onBegin(delivery: ClaimedDelivery): void;
  /** The receiver has it, so many milliseconds after it was due. */
  onReceived(delivery: ClaimedDelivery, milliseconds: number): void;
  /** The attempt was recorded. */
  onSettled(settled: RecordedResults): void;
  /** Nothing of it is under way any more. */
  onEnd(delivery: ClaimedDelivery): void;
}

/** Who follows attempts from the request that they come of (docs/decisions/observability.md). */
export interface AttemptTracer {
  /** @param attempt says at once what came of it, and goes on with recording that */
  follow(delivery: ClaimedDelivery, attempt: (onOutcome: (outcome: Outcome) => void) => Promise<void>): Promise<void>;
}

/** How often a worker looks for jobs when nobody wakes it, and how many it takes at a time. Milliseconds. */
const pollInterval = 100;
const jobsAtOnce = 200;

/** How often due deliveries without a job are looked for, and those that are to be cancelled. Milliseconds. */
const sweepInterval = 1000;

/** How many deliveries are cancelled at a time, and how long others have the database for themselves in between. */
const cancelAtOnce = 1000;
const cancelInterval = 50;

/** How often it is looked for what is to be sent again. Milliseconds. */
const replayInterval = 500;

/** How long attempts that are done may take to be settled when the worker stops. Milliseconds. */
const settlingMs = 1000;

/**
 * Delivers what is due: takes jobs, claims deliveries of their subscriptions within the limits, sends them side by
 * side, and settles what came of them in batches. A slow endpoint holds its own slots and nobody else's.
 */
export class Worker {
  readonly #options: WorkerOptions;
  readonly #inFlight: InFlight;
  readonly #subscriptions = new RoundRobin();
  readonly #settler: ResultRecorder;
  readonly #pump: Loop;
  readonly #sweep: Loop;
  readonly #cancel: Loop;
  readonly #replay: Loop;
  readonly #quota: Loop;
  /** The inactive subscriptions that the last sweep found. */
  #inactive: SubscriptionRef[] = [];

  constructor(options: WorkerOptions) {
    const { logger, isOutage } = options;
    const loop = (name: string, interval: number, step: () => Promise<boolean>) =>
      createLoop({ name, interval, logger, isOutage, step });
    this.#options = options;
    const limits = options.limits ?? { total: 1024, tenant: 64, subscription: 16, doubtful: 2 };
    this.#inFlight = new InFlight(limits, options.hostLimits);
    this.#settler = createResultRecorder(options);
    this.#pump = loop('deliver', pollInterval, () => this.#takeAndSend());
    this.#sweep = loop('sweep', sweepInterval, () => this.#addDue());
    this.#cancel = loop('cancel', cancelInterval, () => this.#cancelSome());
    this.#replay = loop('replay', replayInterval, () => this.#replaySome());
    this.#quota = loop('quota', quotaInterval, () => this.#enforceQuota());
  }

  /** Looks for work now instead of at the next poll. */
  wake(): void {
    this.#pump.wake();
  }

  /** How each of its loops is. */
  get health(): Record<'deliver' | 'sweep' | 'cancel' | 'replay' | 'quota' | 'settle', LoopHealth> {
    return {
      deliver: this.#pump.health,
      sweep: this.#sweep.health,
      cancel: this.#cancel.health,
      replay: this.#replay.health,
      quota: this.#quota.health,
      settle: this.#settler.health,
    };
  }

  /** Takes nothing more and waits for what is in flight, as long as an attempt may take. */
  async stop(): Promise<void> {
    const loops = [this.#pump, this.#sweep, this.#cancel, this.#replay, this.#quota];
    await Promise.all(loops.map((loop) => loop.stop()));
    // What can't be settled, since PostgreSQL is gone, is delivered again by another worker.
    const end = performance.now() + deliverySchedule.attemptTimeout + settlingMs;
    while (this.#inFlight.total > 0 && performance.now() < end) await sleep(20);
    await this.#settler.stop();
  }

  /** Takes jobs, then deliveries; resolves to whether there is more to take at once. */
  async #takeAndSend(): Promise<boolean> {
    const { dispatchJobs } = this.#options;
    const taken = this.#inFlight.isFull ? [] : await dispatchJobs.take(jobsAtOnce);
    for (const { subscription } of taken) this.#subscriptions.add(subscription);
    const claimed = await this.#claim();
    for (const delivery of claimed) void this.#begin(delivery);
    // What was taken is claimed, or stays due: from here on the jobs are of no use.
    await dispatchJobs.remove(taken.map(({ job }) => job));
    return taken.length > 0 || claimed.length > 0;
  }

  async #claim(): Promise<ClaimedDelivery[]> {
    const wanted = this.#inFlight.slotsFor(this.#subscriptions);
    if (wanted.length === 0) return [];
    const limitHost = this.#inFlight.limitHosts();
    const granted = new Map<string, number>();
    const claimed = await claimDue(this.#options.prisma, wanted, (each, url) => {
      const slots = limitHost(each, url);
      granted.set(refKey(each), slots);
      return slots;
    });
    const counts = Map.groupBy(claimed, refKey);
    // One that got all it was granted may have more due, also if its host was busy and it was granted nothing.
    const hasMore = (key: string) => granted.get(key) === (counts.get(key)?.length ?? 0);
    for (const each of wanted) this.#subscriptions.next(each, hasMore(refKey(each)));
    return claimed;
  }

  #begin(delivery: ClaimedDelivery): Promise<void> {
    const { tracer } = this.#options;
    if (tracer === undefined) return this.#attempt(delivery);
    return tracer.follow(delivery, (onOutcome) => this.#attempt(delivery, onOutcome));
  }

  async #attempt(delivery: ClaimedDelivery, onOutcome?: (outcome: Outcome) => void): Promise<void> {
    const { observer, logger } = this.#options;
    this.#inFlight.begin(delivery);
    observer?.onBegin(delivery);
    const outcome = await attemptDelivery(this.#options, delivery);
    onOutcome?.(outcome);
    if (outcome.delivered) observer?.onReceived(delivery, performance.now() - delivery.dueSince);
    this.#inFlight.trust(delivery, outcome.delivered);
    const settled = await this.#settler.add({ delivery, outcome });
    if (settled !== undefined) {
      warnOfFailure(logger, settled);
      observer?.onSettled(settled);
    }
    this.#inFlight.end(delivery);
    observer?.onEnd(delivery);
    this.wake();
  }

  /** The floor under the jobs: retries whose time has come, and what no job tells of. */
  async #addDue(): Promise<boolean> {
    const { due, inactive } = await findPending(this.#options.prisma, [...this.#subscriptions]);
    this.#inactive = inactive;
    // By no job: one would wait for whoever has put in one of the same subscription, and hasn't committed yet.
    for (const subscription of due) this.#subscriptions.add(subscription);
    this.wake();
    return false;
  }

  /** Cancels a batch of what waits for an inactive subscription; the next one after a pause, which others have. */
  async #cancelSome(): Promise<boolean> {
    const [first] = this.#inactive;
    if (first === undefined) return false;
    const cancelled = await cancelPending(this.#options.prisma, first, cancelAtOnce);
    if (cancelled < cancelAtOnce) this.#inactive = this.#inactive.filter((each) => each !== first);
    return false;
  }

  async #enforceQuota(): Promise<boolean> {
    const { prisma, logger, maxPendingDeliveries = defaultMaxPending } = this.#options;
    await enforceQuota({ prisma, logger, maxPendingDeliveries });
    return false;
  }

  /** Has a batch of what was settled sent again. */
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

/** A line for each failed attempt, without the URL: its query may hold what must not be logged. */
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
