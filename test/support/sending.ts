import { type ClaimedDelivery, claimDue } from '@itsm-api/server/webhooks/delivery/claim.ts';
import { recordResults } from '@itsm-api/server/webhooks/delivery/record-results.ts';
import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import { execute } from './database.ts';
import { type Receiver, type Respond, startReceiver } from './receiver.ts';
import { eventually, type Sender, startSender } from './sender.ts';
import { createWorkspace } from './workspace.ts';

let sender: Sender;
const receivers: Receiver[] = [];

/** Creates a `Sender` for the tests of a file, and clears its database after each test. */
export function useSender(): void {
  beforeAll(async () => {
    sender = await startSender();
  });
  afterEach(empty);
  afterAll(() => sender.close());
}

async function empty(): Promise<void> {
  // Closes the receivers first. Otherwise, the workers would wait for their responses.
  await Promise.all(receivers.splice(0).map((receiver) => receiver.close()));
  await sender.stopWorkers();
  // pg-boss maintains its queues at most once a minute. Clearing the time of the last maintenance allows maintenance in
  // the next test.
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

/**
 * Creates a workspace with a webhook receiver and a subscription to ticket events. Tests set the response status in
 * `endpoint.status`.
 */
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
    /** Emits events without waiting for their deliveries. */
    async emit(count: number) {
      for (let i = 0; i < count; i++) await workspace.createTicket();
    },
    /** Emits events one at a time. Waits for the first delivery attempt of each event before the next event. */
    async emitOneByOne(count: number) {
      for (let i = 0; i < count; i++) {
        const before = receiver.received.length;
        await workspace.createTicket();
        await eventually(() => expect(receiver.received).toHaveLength(before + 1));
        await sender.settled(id);
      }
    },
    /** Simulates elapsed time. Returns the number of webhook requests that the workers send as a result. */
    async requestsAfter(milliseconds: number) {
      const before = receiver.received.length;
      await sender.advance(milliseconds);
      await sender.settled(id);
      return receiver.received.length - before;
    },
    /** Keeps the circuit open for the given number of milliseconds from now. */
    async holdOpen(milliseconds: number) {
      const ends = `now() + interval '${milliseconds} milliseconds'`;
      await execute(sender.api.databaseUrl, `UPDATE webhook_subscriptions SET open_until = ${ends} WHERE id = ${id}`);
    },
    health: (subscriptionId: number) => sender.health(subscriptionId, workspace),
    row: () => sender.api.prisma.webhookSubscription.findFirstOrThrow({ where: { id } }),
    /** Returns how long the circuit stays open after the last failure, in milliseconds. */
    async opening() {
      const { openUntil, lastFailureAt } = await sender.api.prisma.webhookSubscription.findFirstOrThrow({
        where: { id },
      });
      return Number(openUntil) - Number(lastFailureAt);
    },
  };
}

export type Started = Awaited<ReturnType<typeof start>>;

/** Claims due deliveries like a worker, but doesn't send them. */
export function claim({ api, ref }: Started): Promise<ClaimedDelivery[]> {
  return claimDue(api.prisma, [{ ...ref, slots: 16 }]);
}

/** Records attempts with the given response statuses, as a worker does. */
export async function settleAs(
  { api }: Started,
  results: [status: number, ...claimed: ClaimedDelivery[]][],
): Promise<void> {
  const attempt = { durationMs: 1, error: null, answer: null, publicAnswer: null, retryAfter: undefined };
  const settlements = results.flatMap(([status, ...claimed]) =>
    claimed.map((delivery) => ({ delivery, outcome: { ...attempt, status, delivered: status === 200 } })),
  );
  await recordResults(api.prisma, settlements);
}

/** Creates a trigger that runs `statements`. Then calls `work` and drops the trigger. */
export async function withTrigger<Result>(
  event: string,
  statements: string,
  work: () => Promise<Result>,
): Promise<Result> {
  const { databaseUrl } = sender.api;
  await execute(
    databaseUrl,
    `CREATE FUNCTION test_trigger() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ${statements}; END $$;
     CREATE TRIGGER test_trigger ${event} EXECUTE FUNCTION test_trigger()`,
  );
  try {
    return await work();
  } finally {
    await execute(databaseUrl, 'DROP FUNCTION test_trigger CASCADE');
  }
}

/** Waits until the subscription has exactly `count` deliveries, all with the status DELIVERED. */
export async function expectAllDelivered({ settled, id }: Started, count: number): Promise<void> {
  await eventually(async () => {
    const deliveries = await settled(id);
    expect(deliveries.map(({ state }) => state)).toEqual(Array(count).fill('DELIVERED'));
  });
}
