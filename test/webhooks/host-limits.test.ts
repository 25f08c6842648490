import type { ServerResponse } from 'node:http';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type Receiver, type Respond, startReceiver } from '../support/receiver.ts';
import { eventually, type Sender, startSender } from '../support/sender.ts';
import { createWorkspace } from '../support/workspace.ts';

const maxConcurrent = 3;
const maxPerSecond = 20;

let sender: Sender;
const receivers: Receiver[] = [];

beforeAll(async () => {
  sender = await startSender({
    env: { WEBHOOK_HOST_CONCURRENCY: String(maxConcurrent), WEBHOOK_HOST_PER_SECOND: String(maxPerSecond) },
  });
});
afterEach(async () => {
  await Promise.all(receivers.splice(0).map((receiver) => receiver.close()));
  await sender.stopWorkers();
});
afterAll(() => sender.close());

async function receive(respond?: Respond): Promise<Receiver> {
  const receiver = await startReceiver(respond);
  receivers.push(receiver);
  return receiver;
}

describe('webhook limits per target host', () => {
  it("limits a workspace's concurrent deliveries to a host across subscriptions and ports", async () => {
    const held: ServerResponse[] = [];
    let holds = true;
    const hold: Respond = (_, response) => (holds ? held.push(response) : response.end());
    const [first, second, other] = [await receive(hold), await receive(hold), await receive()];
    const owner = await createWorkspace(sender.api);
    const neighbour = await createWorkspace(sender.api);
    const ids: number[] = [];
    for (const { url } of [first, second]) ids.push((await owner.createWebhook({ url })).id);
    await neighbour.createWebhook({ url: other.url });
    for (let count = 0; count < 4; count++) await owner.createTicket();

    await sender.startWorker();
    await eventually(() => expect(held.length).toBeGreaterThanOrEqual(maxConcurrent));
    await neighbour.createTicket();
    await eventually(() => expect(other.received).toHaveLength(1));
    expect(held).toHaveLength(maxConcurrent);

    // Each completed delivery releases one slot for the host.
    held.shift()?.end();
    await eventually(() => expect(held).toHaveLength(maxConcurrent));
    holds = false;
    for (const response of held) response.end();
    await eventually(async () => {
      const states = (await Promise.all(ids.map((id) => sender.settled(id)))).flat().map(({ state }) => state);
      expect(states).toEqual(Array(8).fill('DELIVERED'));
    });
  });

  it('limits the number of webhook requests per second to a host', async () => {
    const receiver = await receive();
    const owner = await createWorkspace(sender.api);
    const { id } = await owner.createWebhook({ url: receiver.url });
    for (let count = 0; count <= 2 * maxPerSecond; count++) await owner.createTicket();
    await sender.startWorker();
    await eventually(() => expect(receiver.received).toHaveLength(2 * maxPerSecond + 1));
    const times = receiver.received.map(({ at }) => at);
    // The rate limit spreads the requests over two seconds. The tolerance of 0.2 seconds allows for different
    // latencies.
    expect(Math.max(...times) - Math.min(...times)).toBeGreaterThan(1800);
    const states = (await sender.settled(id)).map(({ state }) => state);
    expect(states).toEqual(Array(2 * maxPerSecond + 1).fill('DELIVERED'));
  });
});
