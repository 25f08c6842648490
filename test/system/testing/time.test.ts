import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ItsmClient } from '@itsm-api/client';
import { type Aged, type Duration, type Itsm, type JobName, startItsm, type Workspace } from '@itsm-api/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { eventually } from '../../support/sender.ts';
import { ticket } from '../../support/workspace.ts';

/** Tests what happens after hours or days, with times that a test moves back and with a shorter retry schedule. */
let itsm: Itsm;
let workspace: Workspace;
let client: ItsmClient;

beforeAll(async () => {
  itsm = await startItsm({ retrySchedule: [50, 100, 200] });
});
afterAll(() => itsm.stop());
beforeEach(async () => {
  workspace = await itsm.createWorkspace();
  client = clientOf();
});

const clientOf = (apiKey = workspace.key) => new ItsmClient({ baseUrl: workspace.url, apiKey, maxRetries: 0 });
const hours = (count: number) => new Date(Date.now() + count * 3_600_000);

/** Registers a webhook for created tickets. Its receiver responds with `endpoint.status`. */
async function startEndpoint(status: number) {
  const endpoint = { status, attempts: [] as unknown[] };
  const server = createServer((request, response) => {
    endpoint.attempts.push(request.headers['x-service-attempt']);
    request.resume().on('end', () => response.writeHead(endpoint.status).end());
  }).listen(0, '127.0.0.1');
  server.unref();
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const { id } = await client.webhooks.create({ url, events: ['ticket.created'] });
  return {
    ...{ endpoint, id },
    health: async () => (await client.webhooks.get(id)).health,
    deliveries: () => client.deliveries.list(id).toArray(),
  };
}

describe('age', () => {
  it('makes a ticket overdue', async () => {
    const { id, dueAt } = await client.tickets.create({ ...ticket, dueAt: hours(24).toISOString() });
    const overdue = async () => (await client.tickets.list({ overdue: true }).toArray()).map((each) => each.id);
    expect(await overdue()).toEqual([]);
    await workspace.age({ ticket: id }, '2d');
    expect(await overdue()).toEqual([id]);
    const aged = await client.tickets.get(id);
    expect(Date.parse(dueAt as string) - Date.parse(aged.dueAt as string)).toBe(48 * 3_600_000);
  });

  it('expires an API key that the server has just accepted', async () => {
    const key = await workspace.createKey({ expiresAt: hours(1) });
    await clientOf(key).me.get();
    await workspace.age({ apiKey: key }, '30m');
    await clientOf(key).me.get();
    await workspace.age({ apiKey: key }, '30m');
    await expect(clientOf(key).me.get()).rejects.toMatchObject({ code: 'INVALID_API_KEY' });
  });

  it('makes the server forget an idempotency key', async () => {
    const create = () => client.tickets.create(ticket, { idempotencyKey: 'alert-7' });
    const { id } = await create();
    expect(await create()).toMatchObject({ id });
    await workspace.age({ idempotencyKey: 'alert-7' }, '24h');
    expect((await create()).id).not.toBe(id);
  });

  it.each<[Aged, Duration, string]>([
    [{ ticket: 999 }, '1d', 'Ticket not found in this workspace. Check the id.'],
    [{ apiKey: 'itsm_unknown' }, '1d', 'API key not found in this workspace. Check the key.'],
    [{ delivery: 999 }, '1d', 'Delivery not found in this workspace. Check the id.'],
    [{ idempotencyKey: 'unknown' }, '1d', 'Idempotency key not found in this workspace. Check the key.'],
    [{ ticket: 1 }, '1.5d', 'by must be a duration such as 30m, 2h or 3d'],
    [{} as Aged, '1d', 'must contain one of ticket, apiKey, delivery and idempotencyKey'],
    [{ user: 1 } as unknown as Aged, '1d', 'user is not a field of this request'],
  ])('reports the problem of %j, %s', async (what, by, message) => {
    await expect(workspace.age(what, by)).rejects.toThrow(message);
  });

  it("doesn't change a ticket of another workspace", async () => {
    const { id, dueAt } = await client.tickets.create(ticket);
    await expect((await itsm.createWorkspace()).age({ ticket: id }, '1d')).rejects.toThrow('Ticket not found');
    expect(await client.tickets.get(id)).toMatchObject({ dueAt });
  });
});

describe('runJobs', () => {
  it('deletes only deliveries that were completed 30 days ago', async () => {
    const { deliveries } = await startEndpoint(204);
    await client.tickets.create(ticket);
    await client.tickets.create(ticket);
    await eventually(async () =>
      expect((await deliveries()).map(({ state }) => state)).toEqual(Array(2).fill('DELIVERED')),
    );
    const [kept, old] = await deliveries();
    await workspace.age({ delivery: old?.id as number }, '31d');
    expect(await deliveries()).toHaveLength(2);
    await itsm.runJobs('retention');
    expect(await deliveries()).toEqual([kept]);
  });

  it('runs each job', async () => {
    for (const name of ['attachment-cleanup', 'totals-check', 'nonconforming-check', 'filter-backfill'] as const)
      await itsm.runJobs(name);
  });

  it('lists the names of all jobs if a name is unknown', async () => {
    await expect(itsm.runJobs('cleanup' as JobName)).rejects.toThrow(
      'No scheduled job has this name. Use retention, webhook-retention, attachment-cleanup, ',
    );
  });
});

describe('retrySchedule', () => {
  it('ends the attempts of a delivery within seconds', async () => {
    const { endpoint, deliveries } = await startEndpoint(500);
    await client.tickets.create(ticket);
    await eventually(async () => expect(await deliveries()).toMatchObject([{ state: 'EXHAUSTED', attemptCount: 4 }]));
    expect(endpoint.attempts).toEqual(['1', '2', '3', '4']);
  });

  it('pauses a failing webhook, and resumes it after a success', async () => {
    const { endpoint, deliveries, health, id } = await startEndpoint(500);
    await eventually(async () => {
      await client.tickets.create(ticket);
      expect(await health()).toBe('PAUSED');
    });
    expect(await client.webhooks.get(id)).toMatchObject({ pausedReason: 'Every attempt failed for 556 milliseconds.' });
    endpoint.status = 204;
    await client.tickets.create(ticket);
    await eventually(async () => expect(await health()).toBe('HEALTHY'));
    await eventually(async () => expect((await deliveries())[0]).toMatchObject({ state: 'DELIVERED' }));
  });

  it.each([[[]], [[50, 9]], [[0.5]]])('is rejected at the start if it is %j', async (retrySchedule) => {
    await expect(startItsm({ retrySchedule })).rejects.toThrow(
      'retrySchedule must list delays in milliseconds from 10 to 86400000, such as 50, 100 and 200.',
    );
  });
});
