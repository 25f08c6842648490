import { Counter, Gauge, Histogram } from 'prom-client';
import type { Pool } from '../../database/client/pool.ts';
import { endsWithin } from '../../shared/timeout.ts';
import type { WorkerObserver } from '../../webhooks/delivery/delivery-worker.ts';
import type { RecordedResults } from '../../webhooks/delivery/record-results.ts';
import { type Backlog, readBacklog } from '../../webhooks/maintenance/backlog.ts';
import type { Metrics } from './metrics.ts';

/** What became of the delivery that an attempt was made for. */
const outcomes: Record<RecordedResults['state'], string> = {
  DELIVERED: 'delivered',
  PENDING: 'failed',
  EXHAUSTED: 'exhausted',
  CANCELLED: 'cancelled',
};

/** Counts what a worker delivers, and tells of what there is to deliver in the whole database. */
export function measureDeliveries({ registry, usage }: Metrics, pool: Pool): WorkerObserver {
  const registers = [registry];
  const attempts = new Counter({
    name: 'itsm_deliveries_total',
    help: 'Attempts to deliver: delivered, failed (and to be tried again), exhausted (the last one failed), cancelled meanwhile.',
    labelNames: ['outcome'],
    registers,
  });
  for (const outcome of Object.values(outcomes)) attempts.inc({ outcome }, 0);

  const inFlight = new Gauge({
    name: 'itsm_delivery_attempts_in_flight',
    help: 'Attempts that were begun and are not recorded yet.',
    registers,
  });
  const receipts = new Histogram({
    name: 'itsm_delivery_receipt_seconds',
    help: 'From the change until the receiver had said that it has the delivery, of those that arrived at the first attempt.',
    buckets: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 60, 300],
    registers,
  });
  measureBacklog(registers, pool);

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

/** The database is asked at most so often, by however many who ask for metrics, and waited for so long. Milliseconds. */
const readEveryMs = 5000;
const patienceMs = 2000;

/** Tells of the backlog; where the database doesn't say, the metrics aren't there, rather than of another time. */
function measureBacklog(registers: Metrics['registry'][], pool: Pool): void {
  let reading: Promise<Backlog | undefined> | undefined;

  async function look(): Promise<Backlog | undefined> {
    reading ??= readBacklog(pool)
      .catch(() => undefined)
      .finally(() => setTimeout(() => (reading = undefined), readEveryMs).unref());
    return (await endsWithin(patienceMs, reading)) ? reading : undefined;
  }

  function gauge(name: string, help: string, valueIn: (backlog: Backlog) => number): void {
    new Gauge({
      name,
      help,
      registers,
      async collect() {
        const backlog = await look();
        if (backlog === undefined) this.remove();
        else this.set(valueIn(backlog));
      },
    });
  }

  gauge(
    'itsm_deliveries_due',
    'Deliveries that may be sent now, of all workspaces; beyond 100,000 not all are counted.',
    ({ due }) => due,
  );
  gauge(
    'itsm_deliveries_waiting',
    'Deliveries that are in flight, to be tried again or held back; beyond 100,000 not all are counted.',
    ({ waiting }) => waiting,
  );
  gauge(
    'itsm_deliveries_oldest_due_seconds',
    'For how long the oldest delivery that may be sent has been due.',
    ({ oldestDueSeconds }) => oldestDueSeconds,
  );
  new Gauge({
    name: 'itsm_jobs_waiting',
    help: 'Jobs that wait for a worker, by queue.',
    labelNames: ['queue'],
    registers,
    async collect() {
      const backlog = await look();
      this.reset();
      for (const [queue, count] of Object.entries(backlog?.jobs ?? {})) this.set({ queue }, count);
    },
  });
}
