import { sql } from '@itsm-api/server/database/client/sql.ts';
import { allTenants, type None } from '@itsm-api/server/database/client/statements.ts';
import { countReplayable, replayDeliveries } from '@itsm-api/server/resources/deliveries/queries.ts';
import { getReplay, listReplays, replayWebhook } from '@itsm-api/server/resources/webhooks/webhook-replays.ts';
import { toTenantId } from '@itsm-api/server/shared/tenant-id.ts';
import { claimDue } from '@itsm-api/server/webhooks/delivery/claim.ts';
import { pruneReplays } from '@itsm-api/server/webhooks/maintenance/delivery-retention.ts';
import { replaySome } from '@itsm-api/server/webhooks/maintenance/replay.ts';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { errorOf } from '../support/api.ts';
import { execute } from '../support/database.ts';
import { startReceiver } from '../support/receiver.ts';
import { eventually, type Sender, startSender } from '../support/sender.ts';
import { createWorkspace } from '../support/workspace.ts';

let sender: Sender;

beforeAll(async () => {
  sender = await startSender();
});
afterAll(() => sender.close());

const states = ['PENDING', 'DELIVERED', 'EXHAUSTED', 'CANCELLED'] as const;

/** Creates a workspace with a subscription that has `each` stored deliveries of every status. */
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

describe('replayDeliveries', () => {
  it('replays all deliveries that match the filter, except successful ones', async () => {
    const { context, id, due, rows } = await start(3);
    expect(await countReplayable(context, { subscription: id })).toBe(9);
    expect(await replayDeliveries(context, { subscription: id })).toBe(9);
    expect(await due()).toHaveLength(9);
    for (const row of await due()) expect(row).toMatchObject({ state: 'PENDING', attempts: 0, settledAt: null });
    expect((await rows()).filter(({ attempts }) => attempts !== 0).map(({ state }) => state)).toEqual(
      Array(3).fill('DELIVERED'),
    );
  });

  it('replays a successful delivery if the filter contains its state or id', async () => {
    const { context, id, due, rows } = await start(3);
    const delivered = (await rows()).filter(({ state }) => state === 'DELIVERED');
    expect(await replayDeliveries(context, { id: Number(delivered[0]?.id) })).toBe(1);
    expect((await due()).map((row) => row.id)).toEqual([delivered[0]?.id]);
    expect(await replayDeliveries(context, { subscription: id, state: 'DELIVERED' })).toBe(2);
    expect((await due()).map((row) => row.id)).toEqual(delivered.map((row) => row.id));
  });

  it('replays no deliveries that are in progress or have a deactivated subscription', async () => {
    const { context, id, workspace, due, rows } = await start(1);
    const claim = '00000000-0000-4000-8000-000000000000';
    const inFlight = (await rows()).find(({ state }) => state === 'PENDING');
    await sender.api.prisma.delivery.updateMany({ where: { id: inFlight?.id ?? 0n }, data: { claim } });
    expect(await replayDeliveries(context, { subscription: id })).toBe(2);
    expect((await due()).map((row) => row.id)).not.toContain(inFlight?.id);
    await workspace.call('DELETE', `/webhooks/${id}`);
    expect(await replayDeliveries(context, { subscription: id })).toBe(0);
  });

  it('stores the time of a replay request according to the database clock', async () => {
    const { context, id } = await start(1);
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 3_600_000 });
    const replay = await replayWebhook(context, id, { since: '2026-01-01T00:00:00Z' }).finally(() =>
      vi.useRealTimers(),
    );
    const { requestedAt } = await getReplay(context, id, replay.id);
    expect(Math.abs(Date.parse(requestedAt) - Date.now())).toBeLessThan(60_000);
  });

  it('replays 6,000 deliveries and commits each batch separately', async () => {
    const each = 2000;
    const { context, id, due, rows } = await start(each);
    const waiting = (await rows()).filter(({ state }) => state !== 'DELIVERED');
    const middle = waiting[waiting.length / 2]?.id;
    // Makes a later batch fail. Earlier batches stay committed.
    await execute(
      sender.api.databaseUrl,
      `CREATE FUNCTION fail_update() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'update failed'; END $$;
       CREATE TRIGGER fail_update BEFORE UPDATE ON deliveries FOR EACH ROW
         WHEN (OLD.id = ${middle}) EXECUTE FUNCTION fail_update()`,
    );
    await expect(replayDeliveries(context, { subscription: id })).rejects.toThrow('update failed');
    const before = (await due()).length;
    expect(before).toBeGreaterThan(0);
    expect(before).toBeLessThan(3 * each);
    expect(before % 1000).toBe(0);
    await execute(sender.api.databaseUrl, 'DROP FUNCTION fail_update CASCADE');

    expect(await replayDeliveries(context, { subscription: id })).toBe(3 * each);
    expect(await due()).toHaveLength(3 * each);
  });
});

const longAgo = '2026-11-20T10:00:00Z';

const countUnderWay = () => sender.api.prisma.webhookReplay.count({ where: { finishedAt: null } });

describe('POST /webhooks/:id/replay', () => {
  /** Runs replays as a worker does, until all replays are completed. Returns the number of batches. */
  async function workOff(): Promise<number> {
    for (let steps = 0; ; steps++) if ((await replaySome(sender.api.prisma)) === undefined) return steps;
  }

  const settledAs = (rows: { state: string }[], ...of: string[]) => rows.filter(({ state }) => of.includes(state));

  it('responds to a replay request immediately and replays exhausted deliveries in the background', async () => {
    const { workspace, id, rows, due } = await start(3);
    const exhausted = settledAs(await rows(), 'EXHAUSTED') as Awaited<ReturnType<typeof rows>>;
    const answer = await workspace.call('POST', `/webhooks/${id}/replay`, { since: longAgo });
    expect(answer.status, answer.text).toBe(200);
    expect(answer.body.data).toEqual({
      webhookId: id,
      since: '2026-11-20T10:00:00.000Z',
      states: ['EXHAUSTED'],
      matching: 3,
      paused: false,
    });
    expect(await due()).toEqual([]);
    await workOff();
    expect((await due()).map((row) => row.id)).toEqual(exhausted.map((row) => row.id));
    for (const row of await due()) expect(row).toMatchObject({ state: 'PENDING', settledAt: null });
    expect(await countUnderWay()).toBe(0);
  });

  it('replays only deliveries that match the given creation time and states', async () => {
    const { workspace, id, rows, due } = await start(2);
    const [old] = settledAs(await rows(), 'DELIVERED') as Awaited<ReturnType<typeof rows>>;
    const createdAt = new Date(Date.now() - 3_600_000);
    await sender.api.prisma.delivery.updateMany({ where: { id: old?.id ?? 0n }, data: { createdAt } });
    const since = new Date(createdAt.getTime() + 1).toISOString();
    const body = { since, states: ['DELIVERED', 'CANCELLED', 'DELIVERED'] };
    const answer = await workspace.call('POST', `/webhooks/${id}/replay`, body);
    expect(answer.body.data).toMatchObject({ since, states: ['DELIVERED', 'CANCELLED'], matching: 3 });
    await workOff();
    expect(await due()).toHaveLength(3);
    expect((await due()).map((row) => row.id)).not.toContain(old?.id);
  });

  it('reports the progress of a replay until one day after its completion', async () => {
    const { workspace, context, id } = await start(1500);
    await workspace.call('POST', `/webhooks/${id}/replay`, { since: longAgo });
    const [replay] = await listReplays(context, id, 5);
    expect(replay).toMatchObject({ webhookId: id, matching: null, sent: 0, finishedAt: null });
    const progress = () => getReplay(context, id, replay?.id ?? 0);
    await replaySome(sender.api.prisma);
    expect(await progress()).toMatchObject({ matching: 1500, sent: 1000, finishedAt: null });
    await workOff();
    expect(await progress()).toMatchObject({ matching: 1500, sent: 1500, finishedAt: expect.any(String) });

    const other = await start(1);
    for (const [ofContext, ofWebhook] of [
      [other.context, id],
      [context, other.id],
    ] as const) {
      await expect(getReplay(ofContext, ofWebhook, replay?.id ?? 0)).rejects.toMatchObject({ code: 'NOT_FOUND' });
    }
    await pruneReplays(sender.api.prisma);
    await expect(progress()).resolves.toBeDefined();
    await execute(sender.api.databaseUrl, `UPDATE webhook_replays SET finished_at = finished_at - interval '25 hours'`);
    await pruneReplays(sender.api.prisma);
    await expect(progress()).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  it('replays no deliveries if the subscription is deactivated after the replay request', async () => {
    const { workspace, id, due } = await start(1);
    await workspace.call('POST', `/webhooks/${id}/replay`, { since: longAgo });
    await workspace.call('DELETE', `/webhooks/${id}`);
    await workOff();
    expect(await due()).toEqual([]);
    expect(await countUnderWay()).toBe(0);
  });

  it.each<[string, object, string]>([
    ['no start time', {}, 'since'],
    ['a date without a time', { since: '2026-11-20' }, 'since'],
    ['a time in the future', { since: '2126-11-20T10:00:00Z' }, 'since'],
    ['an empty list of states', { since: longAgo, states: [] }, 'states'],
    ['an unknown state', { since: longAgo, states: ['PAUSED'] }, 'states.0'],
  ])('rejects a replay request with %s', async (_, body, path) => {
    const { workspace, id } = await start(1);
    const answer = await workspace.call('POST', `/webhooks/${id}/replay`, body);
    expect(answer.status).toBe(400);
    expect(errorOf(answer)).toMatchObject({ code: 'VALIDATION_ERROR', details: [{ path }] });
  });

  it('makes pending deliveries due if the replay includes PENDING, except deliveries in progress', async () => {
    const { workspace, id, rows, due } = await start(3);
    const before = await rows();
    const claim = '00000000-0000-4000-8000-000000000000';
    const [inFlight] = before.filter(({ state }) => state === 'PENDING');
    await sender.api.prisma.delivery.updateMany({ where: { id: inFlight?.id ?? 0n }, data: { claim } });
    const states = ['EXHAUSTED', 'PENDING'];
    const answer = await workspace.call('POST', `/webhooks/${id}/replay`, { since: longAgo, states });
    expect(answer.body.data).toMatchObject({ states, matching: 6 });
    await workOff();
    const expected = settledAs(before, ...states) as typeof before;
    expect((await due()).map((row) => row.id)).toEqual(
      expected.map((row) => row.id).filter((each) => each !== inFlight?.id),
    );
    const [replay] = await listReplays(workspace.context, id, 1);
    expect(replay).toMatchObject({ sent: 5 });
  });

  it('rejects a replay request if ten replays of the workspace are in progress', async () => {
    const { workspace, id } = await start(1);
    const startReplay = () => workspace.call('POST', `/webhooks/${id}/replay`, { since: longAgo });
    const responses = [];
    for (let times = 0; times < 11; times++) responses.push(await startReplay());
    expect(responses.map(({ status }) => status)).toEqual([...Array(10).fill(200), 400]);
    expect(errorOf(responses[10] as (typeof responses)[0]).message).toContain('10 replays in progress');
    await workOff();
    expect((await startReplay()).status).toBe(200);
    await workOff();
  });

  it('alternates between the replays of two workspaces after each batch', async () => {
    const [large, small] = [await start(3000), await start(1)];
    for (const { workspace, id } of [large, small]) {
      await workspace.call('POST', `/webhooks/${id}/replay`, { since: longAgo });
    }
    await replaySome(sender.api.prisma);
    await replaySome(sender.api.prisma);
    expect(await large.due()).toHaveLength(1000);
    expect(await small.due()).toHaveLength(1);
    await workOff();
    expect(await large.due()).toHaveLength(3000);
  });

  it('gives each workspace an equal share of replay batches, regardless of the number of replays', async () => {
    const [many, one] = [await start(2000), await start(2000)];
    for (let times = 0; times < 5; times++) {
      await many.workspace.call('POST', `/webhooks/${many.id}/replay`, { since: longAgo, states: ['EXHAUSTED'] });
    }
    await one.workspace.call('POST', `/webhooks/${one.id}/replay`, { since: longAgo, states: ['EXHAUSTED'] });
    for (let steps = 0; steps < 4; steps++) await replaySome(sender.api.prisma);
    expect(await one.due()).toHaveLength(2000);
    await workOff();
    expect(await many.due()).toHaveLength(2000);
  });

  it('continues with other replays if the batches of one replay fail', async () => {
    const [failing, other] = [await start(1), await start(1)];
    for (const { workspace, id } of [failing, other]) {
      await workspace.call('POST', `/webhooks/${id}/replay`, { since: longAgo });
    }
    const { databaseUrl } = sender.api;
    await execute(
      databaseUrl,
      `CREATE FUNCTION fail_update() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'update failed'; END $$;
       CREATE TRIGGER fail_update BEFORE UPDATE ON deliveries FOR EACH ROW
         WHEN (OLD.subscription_id = ${failing.id}) EXECUTE FUNCTION fail_update()`,
    );
    const steps = [];
    for (let times = 0; times < 3; times++) {
      steps.push(await replaySome(sender.api.prisma).catch((error: Error) => error.message));
    }
    expect(steps[0]).toContain('update failed');
    expect(await other.due()).toHaveLength(1);
    await execute(databaseUrl, 'DROP FUNCTION fail_update CASCADE');
    await workOff();
    expect(await failing.due()).toHaveLength(1);
  });

  it('replays all matching deliveries even if their number exceeds the counting limit', async () => {
    const { workspace, context, id, due } = await start(5);
    await workspace.call('POST', `/webhooks/${id}/replay`, { since: longAgo, states: ['EXHAUSTED', 'CANCELLED'] });
    await replaySome(sender.api.prisma, { maxCounted: 3 });
    const [replay] = await listReplays(context, id, 5);
    expect(replay).toMatchObject({ matching: 3, sent: 5 });
    await workOff();
    expect(await due()).toHaveLength(10);
  });

  it('stops the replay of an inactive workspace until the workspace is active again', async () => {
    const { workspace, id, due } = await start(1);
    await workspace.call('POST', `/webhooks/${id}/replay`, { since: longAgo });
    const setActive = (active: boolean) =>
      sender.api.prisma.tenant.update({ where: { id: workspace.tenantId }, data: { active } });
    await setActive(false);
    expect(await workOff()).toBe(0);
    expect(await due()).toEqual([]);
    await setActive(true);
    await workOff();
    expect(await due()).toHaveLength(1);
  });

  it('replays each delivery exactly once while workers lose their database connections', async () => {
    const each = 4000;
    const { api } = sender;
    const { workspace, id } = await start(each);
    // Creates a trigger that immediately marks every replayed delivery as delivered and records its id.
    await execute(
      api.databaseUrl,
      `CREATE TABLE taken (id bigint);
       CREATE FUNCTION take() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
         INSERT INTO taken VALUES (NEW.id);
         NEW.state := 'DELIVERED'; NEW.settled_at := clock_timestamp() + interval '1 ms';
         RETURN NEW;
       END $$;
       CREATE TRIGGER take BEFORE UPDATE ON deliveries FOR EACH ROW
         WHEN (OLD.state <> 'PENDING' AND NEW.state = 'PENDING') EXECUTE FUNCTION take();
       GRANT ALL ON taken TO itsm_system`,
    );
    const states = ['EXHAUSTED', 'DELIVERED', 'CANCELLED'];
    await workspace.call('POST', `/webhooks/${id}/replay`, { since: longAgo, states });
    let failures = 0;
    const work = async () => {
      for (;;) {
        const left = await replaySome(api.databases.system.prisma).catch(() => {
          failures++;
          return null;
        });
        if (left === undefined && (await countUnderWay()) === 0) return;
      }
    };
    let isWorking = true;
    const cut = async () => {
      while (isWorking && failures < 5) {
        await api.prisma.$queryRaw`
          SELECT pg_terminate_backend(pid)::text FROM pg_stat_activity
          WHERE datname = current_database() AND state <> 'idle' AND application_name = 'itsm-api system'`;
        await new Promise((resolve) => setTimeout(resolve, 15));
      }
    };
    const working = Promise.all([work(), work()]).finally(() => {
      isWorking = false;
    });
    await Promise.all([working, cut()]);
    expect(failures).toBeGreaterThan(0);
    const [taken] = await api.prisma.$queryRaw<[{ all: number; different: number }]>`
      SELECT count(*)::int AS all, count(DISTINCT id)::int AS different FROM taken`;
    expect(taken).toEqual({ all: 3 * each, different: 3 * each });
    await execute(api.databaseUrl, 'DROP FUNCTION take CASCADE; DROP TABLE taken');
  });

  it('replays a locked delivery after the locking transaction rolls back', async () => {
    const { workspace, id, rows, due } = await start(3);
    const [held] = settledAs(await rows(), 'EXHAUSTED') as Awaited<ReturnType<typeof rows>>;
    await workspace.call('POST', `/webhooks/${id}/replay`, { since: longAgo });
    const holder = new pg.Client({ connectionString: sender.api.databaseUrl });
    await holder.connect();
    await holder.query(`BEGIN; UPDATE deliveries SET state = 'PENDING' WHERE id = ${held?.id}`);
    const working = workOff();
    const waiting = eventually(async () => {
      const { rows } = await holder.query(
        "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
      );
      expect(rows).toHaveLength(1);
    });
    await Promise.race([working, waiting]);
    await holder.query('ROLLBACK');
    await Promise.all([working, waiting.catch(() => undefined), holder.end()]);
    expect(await due()).toHaveLength(3);
  });

  it('claims deliveries of a large replay without sequential scans', async () => {
    const { workspace, id } = await start(5000);
    const { prisma, databaseUrl } = sender.api;
    await workspace.call('POST', `/webhooks/${id}/replay`, { since: longAgo, states: ['EXHAUSTED', 'DELIVERED'] });
    await workOff();
    await execute(databaseUrl, `UPDATE webhook_subscriptions SET first_succeeded_at = now() WHERE id = ${id}`);
    await execute(databaseUrl, 'ANALYZE deliveries, events');
    let read: object[] = [];
    const selectScanned = allTenants.rows<None, object>(
      () => sql`SELECT relname FROM pg_stat_xact_user_tables
        WHERE seq_scan > 0 AND relname IN ('deliveries', 'events')`,
    );
    const watched = {
      ...{ $sql: prisma.$sql, $tenant: prisma.$tenant },
      $transaction: (work: () => Promise<unknown>) =>
        prisma.$transaction(async () => {
          const taken = await work();
          read = await prisma.$sql(selectScanned);
          return taken;
        }),
    } as unknown as typeof prisma;
    const subscription = { tenantId: toTenantId(workspace.tenantId), subscriptionId: BigInt(id) };
    const taken = await claimDue(watched, [{ ...subscription, slots: 16 }]);
    expect(taken).toHaveLength(16);
    expect(read).toEqual([]);
    await workspace.call('DELETE', `/webhooks/${id}`);
  });

  it('processes a replay in a running worker even without a notification', async () => {
    const receiver = await startReceiver();
    const { workspace, id } = await start(2);
    await workspace.call('PATCH', `/webhooks/${id}`, { url: receiver.url });
    await workspace.call('POST', `/webhooks/${id}/replay`, { since: longAgo });
    await sender.startWorker();
    await eventually(() => expect(receiver.received).toHaveLength(2));
    await sender.stopWorkers();
    await receiver.close();
  });
});
