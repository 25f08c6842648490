import { Counter, Gauge, Histogram } from 'prom-client';
import type { SystemClient } from '../../database/client/prisma.ts';
import { endsWithin } from '../../shared/timeout.ts';
import type { WorkerObserver } from '../../webhooks/delivery/delivery-worker.ts';
import type { RecordedResults } from '../../webhooks/delivery/record-results.ts';
import { type Backlog, readBacklog } from '../../webhooks/maintenance/backlog.ts';
import type { Metrics } from './metrics.ts';

/** The metric label for each delivery status after an attempt. */
const outcomes: Record<RecordedResults['state'], string> = {
  DELIVERED: 'delivered',
  PENDING: 'failed',
  EXHAUSTED: 'exhausted',
  CANCELLED: 'cancelled',
};

/** Counts the delivery attempts of this worker, and measures the backlog of the whole database. */
export function measureDeliveries({ registry, usage }: Metrics, system: SystemClient): WorkerObserver {
  const registers = [registry];
  const attempts = new Counter({
    name: 'itsm_deliveries_total',
    help: 'Delivery attempts by outcome: delivered, failed (will be retried), exhausted (the last attempt failed), cancelled during the attempt.',
    labelNames: ['outcome'],
    registers,
  });
  for (const outcome of Object.values(outcomes)) attempts.inc({ outcome }, 0);

  const inFlight = new Gauge({
    name: 'itsm_delivery_attempts_in_flight',
    help: 'Delivery attempts that have started and whose result is not yet recorded.',
    registers,
  });
  const receipts = new Histogram({
    name: 'itsm_delivery_receipt_seconds',
    help: 'Time from the change until the receiver acknowledged the delivery, for deliveries that succeeded at the first attempt.',
    buckets: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 60, 300],
    registers,
  });
  measureBacklog(registers, system);

  return {
    onBegin: () => inFlight.inc(),
    onReceived: ({ attempt }, milliseconds) => {
      if (attempt === 1) receipts.observe(milliseconds / 1000);
    },
    onSettled: ({ delivery, state }) => {
      attempts.inc({ outcome: outcomes[state] });
      usage.add(delivery.tenantId, 'deliveries', 1);
    },
    onEnd: () => inFlight.dec(),
  };
}

/**
 * The minimum time in milliseconds between two reads of the backlog. Between reads, clients get the values of the last
 * read.
 */
const readIntervalMs = 5000;
/** The maximum time in milliseconds to wait for a response from the database. */
const maxReadMs = 2000;

/**
 * Measures the backlog. If the database doesn't respond, omits the metrics, because the last values may be outdated.
 */
function measureBacklog(registers: Metrics['registry'][], system: SystemClient): void {
  let reading: Promise<Backlog | undefined> | undefined;

  async function getBacklog(): Promise<Backlog | undefined> {
    reading ??= readBacklog(system)
      .catch(() => undefined)
      .finally(() => setTimeout(() => (reading = undefined), readIntervalMs).unref());
    return (await endsWithin(maxReadMs, reading)) ? reading : undefined;
  }

  function gauge(name: string, help: string, getValue: (backlog: Backlog) => number): void {
    new Gauge({
      name,
      help,
      registers,
      async collect() {
        const backlog = await getBacklog();
        if (backlog === undefined) this.remove();
        else this.set(getValue(backlog));
      },
    });
  }

  gauge(
    'itsm_deliveries_due',
    'Deliveries of all tenants that can be sent now. Counts at most about 100,000.',
    ({ due }) => due,
  );
  gauge(
    'itsm_deliveries_waiting',
    'Deliveries that are in flight, waiting for a retry, or held back by an open circuit, a pause or a deactivation. Counts at most about 100,000.',
    ({ waiting }) => waiting,
  );
  gauge(
    'itsm_deliveries_oldest_due_seconds',
    'Seconds since the oldest due delivery became due.',
    ({ oldestDueSeconds }) => oldestDueSeconds,
  );
  new Gauge({
    name: 'itsm_jobs_waiting',
    help: 'Jobs that wait for a worker, by queue.',
    labelNames: ['queue'],
    registers,
    async collect() {
      const backlog = await getBacklog();
      this.reset();
      for (const [queue, count] of Object.entries(backlog?.jobs ?? {})) this.set({ queue }, count);
    },
  });
}
