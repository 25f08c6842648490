import { countReplayable, replayDeliveries } from '@itsm-api/server/resources/deliveries/queries.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { execute } from '../support/database.ts';
import { type Sender, startSender } from '../support/receiver.ts';
import { createWorkspace } from '../support/workspace.ts';

let sender: Sender;

beforeAll(async () => {
  sender = await startSender();
});
afterAll(() => sender.close());

const states = ['PENDING', 'DELIVERED', 'EXHAUSTED', 'CANCELLED'] as const;

/** A workspace with a subscription to which so many deliveries of each state are stored. */
async function start(each: number) {
  const { api } = sender;
  const workspace = await createWorkspace(api);
  const { id } = await workspace.createWebhook();
  const name = `evt_${id}_`;
  await execute(
    api.databaseUrl,
    `INSERT INTO events (tenant_id, public_id, type, body)
       SELECT ${workspace.tenantId}, '${name}' || n, 'ticket.created', '{}' FROM generate_series(1, ${each * states.length}) n;
     INSERT INTO deliveries (tenant_id, subscription_id, event_id, attempts, next_attempt_at)
       SELECT tenant_id, ${id}, id, 3, now() + interval '1 hour' FROM events WHERE public_id LIKE '${name}%'`,
  );
  for (const [place, state] of states.entries()) {
    const settledAt = state === 'PENDING' ? 'NULL' : 'now()';
    const every = `subscription_id = ${id} AND id % ${states.length} = ${place}`;
    await execute(
      api.databaseUrl,
      `UPDATE deliveries SET state = '${state}', settled_at = ${settledAt} WHERE ${every}`,
    );
  }
  const rows = () => api.prisma.delivery.findMany({ where: { subscriptionId: id }, orderBy: { id: 'asc' } });
  const due = async () => (await rows()).filter(({ attempts }) => attempts === 0);
  return { workspace, context: workspace.context, id, rows, due };
}

describe('a replay', () => {
  it('sends again what the filter names, but for what was delivered', async () => {
    const { context, id, due, rows } = await start(3);
    expect(await countReplayable(context, { subscription: id })).toBe(9);
    expect(await replayDeliveries(context, { subscription: id })).toBe(9);
    expect(await due()).toHaveLength(9);
    for (const row of await due()) expect(row).toMatchObject({ state: 'PENDING', attempts: 0, settledAt: null });
    expect((await rows()).filter(({ attempts }) => attempts !== 0).map(({ state }) => state)).toEqual(
      Array(3).fill('DELIVERED'),
    );
  });

  it('sends again what was delivered where that is asked for, or the one', async () => {
    const { context, id, due, rows } = await start(3);
    const delivered = (await rows()).filter(({ state }) => state === 'DELIVERED');
    expect(await replayDeliveries(context, { id: Number(delivered[0]?.id) })).toBe(1);
    expect((await due()).map((row) => row.id)).toEqual([delivered[0]?.id]);
    expect(await replayDeliveries(context, { subscription: id, state: 'DELIVERED' })).toBe(2);
    expect((await due()).map((row) => row.id)).toEqual(delivered.map((row) => row.id));
  });

  it('leaves alone what is on its way, or goes nowhere any more', async () => {
    const { context, id, workspace, due, rows } = await start(1);
    const claim = '00000000-0000-4000-8000-000000000000';
    const inFlight = (await rows()).find(({ state }) => state === 'PENDING');
    await sender.api.prisma.delivery.updateMany({ where: { id: inFlight?.id ?? 0n }, data: { claim } });
    expect(await replayDeliveries(context, { subscription: id })).toBe(2);
    expect((await due()).map((row) => row.id)).not.toContain(inFlight?.id);
    await workspace.call('DELETE', `/webhooks/${id}`);
    expect(await replayDeliveries(context, { subscription: id })).toBe(0);
  });

  it('of more than a statement takes parameters goes through, batch by batch, and is counted truly', {
    timeout: 60_000,
  }, async () => {
    const each = 12_000;
    const { context, id, due, rows } = await start(each);
    const waiting = (await rows()).filter(({ state }) => state !== 'DELIVERED');
    const middle = waiting[waiting.length / 2]?.id;
    // The first batches are committed when a later one fails.
    await execute(
      sender.api.databaseUrl,
      `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'refused'; END $$;
       CREATE TRIGGER refuse BEFORE UPDATE ON deliveries FOR EACH ROW
         WHEN (OLD.id = ${middle}) EXECUTE FUNCTION refuse()`,
    );
    await expect(replayDeliveries(context, { subscription: id })).rejects.toThrow('refused');
    const before = (await due()).length;
    expect(before).toBeGreaterThan(0);
    expect(before).toBeLessThan(3 * each);
    expect(before % 1000).toBe(0);
    await execute(sender.api.databaseUrl, 'DROP FUNCTION refuse CASCADE');

    expect(await replayDeliveries(context, { subscription: id })).toBe(3 * each);
    expect(await due()).toHaveLength(3 * each);
  });
});
