import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyBaseLogger } from 'fastify';
import type { Dispatcher } from 'undici';
import type { PrismaClient } from '../database/prisma.ts';
import { type Lane, type LaneJobs, laneKey } from './lanes.ts';
import { createLoop } from './loop.ts';
import { type ClaimedDelivery, claimDue, findDueLanes, type LaneSlots } from './outbox.ts';
import { attemptTimeout, sweepInterval } from './schedule.ts';
import type { SecretSealer } from './secret.ts';
import { type Outcome, send } from './send.ts';
import { createSettler } from './settler.ts';
import { signatureHeaders } from './sign.ts';

/** Requests in flight at once: in all, of one tenant, and to one subscription. */
export interface InFlightLimits {
  total: number;
  tenant: number;
  subscription: number;
  /** To one that has not answered well since it last failed, or ever: many may hang at once. */
  doubtful: number;
}

export interface WorkerOptions {
  prisma: PrismaClient;
  lanes: LaneJobs;
  sealer: SecretSealer;
  connections: Dispatcher;
  allowPrivateTargets: boolean;
  logger: Pick<FastifyBaseLogger, 'error'>;
  now(): Date;
  limits?: InFlightLimits;
}

export interface Worker {
  /** Looks for work now instead of at the next poll. */
  wake(): void;
  /** Takes nothing more and waits for what is in flight, for half a minute at most. */
  stop(): Promise<void>;
}

/** A lane that this process is working on. */
interface OpenLane extends Lane {
  inFlight: number;
  /** Whether there may be more due in it than has been taken. */
  more: boolean;
}

const pollInterval = 100;
const lanesAtOnce = 200;

/**
 * Delivers what is due: takes lanes that wait, claims deliveries out of them within the limits, sends them side by
 * side, and settles what came of them in batches. A slow lane holds its own slots and nobody else's.
 */
export function startWorker(options: WorkerOptions): Worker {
  const { prisma, lanes: laneJobs, logger, now } = options;
  const limits = options.limits ?? { total: 1024, tenant: 64, subscription: 16, doubtful: 2 };
  const open = new Map<string, OpenLane>();
  const inFlightOfTenant = new Map<bigint, number>();
  /** The lanes whose last attempt here was a success. */
  const healthy = new Set<string>();
  let inFlight = 0;

  const settler = createSettler(options);
  const pump = createLoop(pollInterval, step, (err) => logger.error({ err }, 'webhook deliveries not taken'));
  const sweep = createLoop(sweepInterval, addDueLanes, (err) => logger.error({ err }, 'due webhooks not looked for'));

  /** Takes lanes, then deliveries; resolves to whether there is more to take at once. */
  async function step(): Promise<boolean> {
    const taken = inFlight < limits.total ? await laneJobs.take(lanesAtOnce) : [];
    for (const { lane } of taken) openLane(lane);
    const claimed = await claim();
    // What was taken is claimed, or stays due: from here on the jobs are of no use.
    await laneJobs.remove(taken.map(({ job }) => job));
    return taken.length > 0 || claimed > 0;
  }

  async function claim(): Promise<number> {
    const wanted = slots();
    if (wanted.length === 0) return 0;
    const deliveries = await claimDue(prisma, wanted, now());
    const counts = Map.groupBy(deliveries, laneKey);
    for (const lane of wanted) {
      const key = laneKey(lane);
      const current = open.get(key);
      if (current === undefined) continue;
      current.more = (counts.get(key)?.length ?? 0) === lane.slots;
      // To the end of the row, so that the next round begins with others.
      open.delete(key);
      open.set(key, current);
      closeIfDone(current);
    }
    for (const delivery of deliveries) void attempt(delivery);
    return deliveries.length;
  }

  /** How many deliveries may be taken from each open lane, in turn until the limits are used up. */
  function slots(): LaneSlots[] {
    let free = limits.total - inFlight;
    const freeOfTenant = new Map<bigint, number>();
    const wanted: LaneSlots[] = [];
    for (const lane of open.values()) {
      if (free <= 0) break;
      if (!lane.more) continue;
      const ofTenant = freeOfTenant.get(lane.tenantId) ?? limits.tenant - (inFlightOfTenant.get(lane.tenantId) ?? 0);
      const atOnce = healthy.has(laneKey(lane)) ? limits.subscription : limits.doubtful;
      const count = Math.min(free, ofTenant, atOnce - lane.inFlight);
      if (count <= 0) continue;
      free -= count;
      freeOfTenant.set(lane.tenantId, ofTenant - count);
      wanted.push({ tenantId: lane.tenantId, subscriptionId: lane.subscriptionId, slots: count });
    }
    return wanted;
  }

  async function attempt(delivery: ClaimedDelivery): Promise<void> {
    count(delivery, 1);
    const outcome = await deliver(options, delivery);
    if (outcome.delivered) healthy.add(laneKey(delivery));
    else healthy.delete(laneKey(delivery));
    await settler.add({ delivery, outcome });
    count(delivery, -1);
    pump.wake();
  }

  function count(lane: Lane, change: 1 | -1): void {
    const ofTenant = (inFlightOfTenant.get(lane.tenantId) ?? 0) + change;
    if (ofTenant === 0) inFlightOfTenant.delete(lane.tenantId);
    else inFlightOfTenant.set(lane.tenantId, ofTenant);
    inFlight += change;
    const current = openLane(lane, false);
    current.inFlight += change;
    closeIfDone(current);
  }

  function openLane({ tenantId, subscriptionId }: Lane, more = true): OpenLane {
    const key = laneKey({ tenantId, subscriptionId });
    const lane = open.get(key) ?? { tenantId, subscriptionId, inFlight: 0, more };
    lane.more ||= more;
    open.set(key, lane);
    return lane;
  }

  function closeIfDone(lane: OpenLane): void {
    if (!lane.more && lane.inFlight === 0) open.delete(laneKey(lane));
  }

  /** The floor under the jobs: retries whose time has come, and what no job tells of. */
  async function addDueLanes(): Promise<boolean> {
    const working = [...open.values()].filter((lane) => lane.more);
    await laneJobs.add(await findDueLanes(prisma, working, now()));
    pump.wake();
    return false;
  }

  return {
    wake: pump.wake,
    async stop() {
      await Promise.all([pump.stop(), sweep.stop()]);
      // What can't be settled, since PostgreSQL is gone, is delivered again by another worker.
      for (const end = Date.now() + 2 * attemptTimeout; inFlight > 0 && Date.now() < end; ) await sleep(20);
      await settler.stop();
    },
  };
}

/** Signs and sends one attempt. */
function deliver(options: WorkerOptions, delivery: ClaimedDelivery): Promise<Outcome> {
  const { id, attempt, body, eventId, eventType, url, tenantId, subscriptionId } = delivery;
  return send(options, () => {
    const secret = options.sealer.open(delivery.secret, { tenantId, subscriptionId });
    return {
      url,
      body,
      headers: {
        'content-type': 'application/json; charset=utf-8',
        'user-agent': 'itsm-webhooks/1.0',
        'x-service-event': eventType,
        'x-service-delivery': String(id),
        'x-service-attempt': String(attempt),
        ...signatureHeaders(secret, { id: eventId, timestamp: options.now(), body }),
      },
    };
  });
}
