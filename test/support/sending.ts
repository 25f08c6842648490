import { type ClaimedDelivery, claimDue } from '@itsm-api/server/webhooks/delivery/claim.ts';
import { recordResults } from '@itsm-api/server/webhooks/delivery/record-results.ts';
import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import { execute } from './database.ts';
import { eventually, type Receiver, type Respond, type Sender, startReceiver, startSender } from './receiver.ts';
import { createWorkspace } from './workspace.ts';

let sender: Sender;
const receivers: Receiver[] = [];

/** Has the tests of a file send from a database of their own, where nothing is left of the test before. */
export function useSender(): void {
  beforeAll(async () => {
    sender = await startSender();
  });
  afterEach(empty);
  afterAll(() => sender.close());
}

async function empty(): Promise<void> {
  // First what a worker would wait for.
  await Promise.all(receivers.splice(0).map((receiver) => receiver.close()));
  await sender.stopWorkers();
  // The next test has the same pg-boss, which else would see to its queues once a minute.
  await execute(
    sender.api.databaseUrl,
    `TRUNCATE delivery_attempts, deliveries, events, webhook_replays, webhook_subscriptions, pgboss.job;
     UPDATE pgboss.queue SET maintain_on = NULL, monitor_on = NULL`,
  );
}

export async function receive(respond?: Respond): Promise<Receiver> {
  const receiver = await startReceiver(respond);
  receivers.push(receiver);
  return receiver;
}

/** A workspace with a subscription to tickets, and a receiver that answers with a status that can be changed. */
export async function start({ worker = true }: { worker?: boolean } = {}) {
  if (worker) await sender.startWorker();
  const workspace = await createWorkspace(sender.api);
  const endpoint = { status: 500 };
  const receiver = await receive((_, response) => response.writeHead(endpoint.status).end());
  const { id } = await workspace.createWebhook({ url: receiver.url });

  return {
    ...sender,
    workspace,
    id,
    receiver,
    endpoint,
    ref: { tenantId: workspace.tenantId, subscriptionId: BigInt(id) },
    /** Emits so many events without waiting for anything. */
    async emit(count: number) {
      for (let i = 0; i < count; i++) await workspace.createTicket();
    },
    /** Emits events, each when the one before has been attempted. */
    async emitOneByOne(count: number) {
      for (let i = 0; i < count; i++) {
        const before = receiver.received.length;
        await workspace.createTicket();
        await eventually(() => expect(receiver.received).toHaveLength(before + 1));
        await sender.settled(id);
      }
    },
    /** Lets time pass; resolves to how many requests came of it. */
    async requestsAfter(milliseconds: number) {
      const before = receiver.received.length;
      await sender.advance(milliseconds);
      await sender.settled(id);
      return receiver.received.length - before;
    },
    /** Has the circuit be open for so much longer, as long as the test may take. */
    async holdOpen(milliseconds: number) {
      const ends = `now() + interval '${milliseconds} milliseconds'`;
      await execute(sender.api.databaseUrl, `UPDATE webhook_subscriptions SET open_until = ${ends} WHERE id = ${id}`);
    },
    health: (subscriptionId: number) => sender.health(subscriptionId, workspace),
    row: () => sender.api.prisma.webhookSubscription.findFirstOrThrow({ where: { id } }),
    /** For how long the circuit opened at the last failure. */
    async opening() {
      const { openUntil, lastFailureAt } = await sender.api.prisma.webhookSubscription.findFirstOrThrow({
        where: { id },
      });
      return Number(openUntil) - Number(lastFailureAt);
    },
  };
}

export type Started = Awaited<ReturnType<typeof start>>;

/** Claims what is due as a worker does, which then does nothing with it. */
export function claim({ api, ref }: Started): Promise<ClaimedDelivery[]> {
  return claimDue(api.prisma, [{ ...ref, slots: 16 }]);
}

/** Settles attempts as a worker does that was answered with these statuses. */
export async function settleAs(
  { api }: Started,
  answers: [status: number, ...claimed: ClaimedDelivery[]][],
): Promise<void> {
  const attempt = { durationMs: 1, error: null, answer: null, publicAnswer: null, retryAfter: undefined };
  const settlements = answers.flatMap(([status, ...claimed]) =>
    claimed.map((delivery) => ({ delivery, outcome: { ...attempt, status, delivered: status === 200 } })),
  );
  await recordResults(api.prisma, settlements);
}

/** Has the database do something on a statement for as long as `work` takes. */
export async function withTrigger<Result>(
  event: string,
  statements: string,
  work: () => Promise<Result>,
): Promise<Result> {
  const { databaseUrl } = sender.api;
  await execute(
    databaseUrl,
    `CREATE FUNCTION interfere() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ${statements}; END $$;
     CREATE TRIGGER interfere ${event} EXECUTE FUNCTION interfere()`,
  );
  try {
    return await work();
  } finally {
    await execute(databaseUrl, 'DROP FUNCTION interfere CASCADE');
  }
}

/** Everything is delivered in the end. */
export async function expectAllDelivered({ settled, id }: Started, count: number): Promise<void> {
  await eventually(async () => {
    const deliveries = await settled(id);
    expect(deliveries.map(({ state }) => state)).toEqual(Array(count).fill('DELIVERED'));
  });
}
