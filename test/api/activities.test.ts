import type { AssetActivity, TicketActivity } from '@itsm-api/contract';
import { updateAsset } from '@itsm-api/server/resources/assets/queries.ts';
import { describe, expect } from 'vitest';
import { api, it, workspace } from '../support/fixture.ts';
import { createWorkspace } from '../support/workspace.ts';

type Activity = TicketActivity | AssetActivity;

let actor: Activity['actor'];

it.beforeAll(async () => {
  actor = { userId: workspace.userId, keyId: Number(workspace.context.keyId) };
});

async function listActivity(path: string): Promise<Activity[]> {
  const { status, body, text } = await workspace.call('GET', `${path}/activity`);
  expect(status, text).toBe(200);
  expect(body.meta.totalCount).toBe(body.data.length);
  return body.data;
}

/** Removes the activity fields that differ between test runs. */
const withoutIds = (all: Activity[]) => all.map(({ action, actor, changes }) => ({ action, actor, changes }));

describe('GET /tickets/{id}/activity', () => {
  it('lists the changes of a ticket with their actors, newest first', async () => {
    const ticket = await workspace.createTicket();
    const patched = (await workspace.call('PATCH', `/tickets/${ticket.id}`, { status: 'RESOLVED', title: 'Other' }))
      .body;
    await workspace.createComment(ticket.id);
    const all = await listActivity(`/tickets/${ticket.id}`);
    const changes = {
      status: { from: 'OPEN', to: 'RESOLVED' },
      title: { from: ticket.title, to: 'Other' },
      resolvedAt: { from: null, to: patched.data.resolvedAt },
    };
    expect(withoutIds(all)).toEqual([
      { action: 'COMMENTED', actor, changes: { commentCount: { from: 0, to: 1 } } },
      { action: 'UPDATED', actor, changes },
      { action: 'CREATED', actor, changes: {} },
    ]);
    expect(all.map(({ at }) => at).slice(1)).toEqual([patched.data.updatedAt, ticket.createdAt]);
    const ids = all.map(({ id }) => id);
    expect(ids).toEqual([...ids].sort((a, b) => b - a));
  });

  it('records a ticket change only once, even if a webhook also receives the change', async () => {
    const owner = await createWorkspace(api);
    await owner.createWebhook();
    const { id } = await owner.createTicket();
    await owner.call('PATCH', `/tickets/${id}`, { title: 'Other' });
    const { data } = (await owner.call('GET', `/tickets/${id}/activity`)).body;
    expect(data.map(({ action }: Activity) => action)).toEqual(['UPDATED', 'CREATED']);
  });

  it('records no activity if a request is rejected or changes no field', async () => {
    const { id, title } = await workspace.createTicket();
    for (const body of [{ title }, { status: 'CLOSED' }, { assigneeId: 1e15 }, { title: '' }]) {
      await workspace.call('PATCH', `/tickets/${id}`, body);
    }
    expect(await listActivity(`/tickets/${id}`)).toHaveLength(1);
  });

  it('truncates long texts in activities', async () => {
    const description = `${'a'.repeat(999)}😀${'b'.repeat(60_000)}`;
    const { id } = await workspace.createTicket();
    await workspace.call('PATCH', `/tickets/${id}`, { description });
    const [{ changes }] = (await listActivity(`/tickets/${id}`)) as [Activity];
    expect(changes.description).toEqual({ from: 'Every ten minutes.', to: `${'a'.repeat(999)}\ufffd…` });
  });

  it.each(['tickets', 'assets'])('records only the changed custom fields of %s in an activity', async (of) => {
    const given = { same: 'x'.repeat(5000), gone: 1, list: ['a', 'b'], text: 'before' };
    const { id } = await (of === 'tickets' ? workspace.createTicket : workspace.createAsset)({ customFields: given });
    const list = Array.from({ length: 500 }, (_, i) => i);
    const customFields = { gone: null, list, text: 'c'.repeat(9000), made: [true, null] };
    await workspace.call('PATCH', `/${of}/${id}`, { customFields });
    const [{ changes }] = (await listActivity(`/${of}/${id}`)) as [Activity];
    expect(changes.customFields).toEqual({
      from: { gone: 1, list: ['a', 'b'], text: 'before' },
      to: { list: `${JSON.stringify(list).slice(0, 250)}…`, text: `${'c'.repeat(250)}…`, made: [true, null] },
    });
  });

  it('limits activity lists to 100,000 activities', async () => {
    const { id } = await workspace.createTicket();
    await api.owner.pool.query(`INSERT INTO activities (tenant_id, resource, resource_id, action, at)
      SELECT ${workspace.tenantId}, 'TICKET', ${id}, 'UPDATED', now() FROM generate_series(1, 100000)`);
    const list = async (query: string) => (await workspace.call('GET', `/tickets/${id}/activity?${query}`)).body;
    const { meta } = await list('');
    expect(meta).toEqual({ page: 1, perPage: 20, totalCount: 100_000, totalCountCapped: true });
    const [last, beyond] = [await list('perPage=60&page=1667'), await list('perPage=60&page=1668')];
    expect([last.data.length, beyond.data.length]).toEqual([40, 0]);
    // The ticket has 100,001 activities, so the list omits the oldest activity (CREATED).
    expect(last.data.at(-1).action).toBe('UPDATED');
    await api.prisma.$executeRaw`DELETE FROM activities WHERE resource_id = ${id} AND action = 'CREATED'`;
    expect((await list('')).meta).toEqual({ page: 1, perPage: 20, totalCount: 100_000 });
  });

  it('returns the requested page of an activity list', async () => {
    const { id } = await workspace.createTicket();
    for (const title of ['A', 'B', 'C']) await workspace.call('PATCH', `/tickets/${id}`, { title });
    const { data, meta } = (await workspace.call('GET', `/tickets/${id}/activity?page=2&perPage=3`)).body;
    expect(meta).toEqual({ page: 2, perPage: 3, totalCount: 4 });
    expect(data.map(({ action }: Activity) => action)).toEqual(['CREATED']);
  });

  it('returns an empty activity list for a ticket without activities', async () => {
    const { id } = await workspace.createTicket();
    await api.prisma.activity.deleteMany({ where: { resource: 'TICKET', resourceId: id } });
    expect(await listActivity(`/tickets/${id}`)).toEqual([]);
  });
});

describe('GET /assets/{id}/activity', () => {
  it('lists the actor of each asset change, or null for changes from the command line', async () => {
    const { userId: _, keyId: __, ...nobody } = workspace.context;
    const { id } = await workspace.createAsset();
    await workspace.call('PATCH', `/assets/${id}`, { status: 'LOST' });
    await updateAsset(nobody, id, { status: 'IN_USE', location: 'Berlin' });
    expect(withoutIds(await listActivity(`/assets/${id}`))).toEqual([
      {
        action: 'UPDATED',
        actor: null,
        changes: { status: { from: 'LOST', to: 'IN_USE' }, location: { from: null, to: 'Berlin' } },
      },
      { action: 'UPDATED', actor, changes: { status: { from: 'IN_STOCK', to: 'LOST' } } },
      { action: 'CREATED', actor, changes: {} },
    ]);
  });

  it('excludes ticket activities from the activity list of an asset with the same id', async () => {
    const { id } = await workspace.createAsset();
    await api.prisma.$executeRaw`INSERT INTO activities (tenant_id, resource, resource_id, action, at)
      VALUES (${workspace.tenantId}, 'TICKET', ${id}, 'UPDATED', now())`;
    expect(withoutIds(await listActivity(`/assets/${id}`)).map(({ action }) => action)).toEqual(['CREATED']);
  });
});
