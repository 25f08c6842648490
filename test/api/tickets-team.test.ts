import type { NewTicket, Team, Ticket } from '@itsm-api/contract';
import { teams } from '@itsm-api/server/resources/teams/queries.ts';
import { describe, expect } from 'vitest';
import { type Answer, errorOf } from '../support/api.ts';
import { api, it, workspace } from '../support/fixture.ts';
import { createWorkspace, ticket, type Workspace } from '../support/workspace.ts';

let team: Team;
let other: Team;
let inactive: Team;

it.beforeAll(async () => {
  [team, other, inactive] = [await addTeam(), await addTeam(), await addTeam()];
  await deactivate(inactive);
});

const addTeam = () => workspace.createTeam();
const deactivate = ({ id }: Team) => teams.update(workspace.context, id, { active: false });
const patch = (id: number, body: object) => workspace.call('PATCH', `/tickets/${id}`, body);

const message = 'must be an active team of this workspace';
function expectInvalid(answer: Answer): void {
  expect(errorOf(answer)).toMatchObject({ code: 'INVALID_REFERENCE', details: [{ path: 'teamId', message }] });
}

describe('teamId of a ticket', () => {
  it('is null by default', async () => {
    expect((await workspace.createTicket()).teamId).toBeNull();
    expect((await workspace.createTicket({ teamId: null })).teamId).toBeNull();
  });

  it('accepts an active team, also if the assignee is not a member', async () => {
    const created = await workspace.createTicket({ teamId: team.id, assigneeId: workspace.userId });
    expect(created).toMatchObject({ teamId: team.id, assigneeId: workspace.userId });
    expect((await workspace.call('GET', `/tickets/${created.id}`)).body.data).toEqual(created);
    const moved = (await patch(created.id, { teamId: other.id })).body.data;
    expect(moved).toMatchObject({ teamId: other.id });
    const cleared = (await patch(created.id, { teamId: null })).body.data;
    expect(cleared).toMatchObject({ teamId: null });
    const { data } = (await workspace.call('GET', `/tickets/${created.id}/activity`)).body;
    expect(data.map(({ changes }: { changes: object }) => changes)).toEqual([
      { teamId: { from: other.id, to: null } },
      { teamId: { from: team.id, to: other.id } },
      {},
    ]);
  });

  it('accepts no inactive team, also from an import key', async () => {
    const importKey = await workspace.createKey({ isImport: true });
    const { id } = await workspace.createTicket({ teamId: team.id });
    expectInvalid(await workspace.call('POST', '/tickets', { ...ticket, teamId: inactive.id }));
    expectInvalid(
      await api.call({
        ...{ method: 'POST', path: '/api/public/v1/tickets', key: importKey },
        body: { ...ticket, teamId: inactive.id },
      }),
    );
    expectInvalid(await patch(id, { teamId: inactive.id }));
    expect((await workspace.call('GET', `/tickets/${id}`)).body.data.teamId).toBe(team.id);
  });

  it('keeps a team that becomes inactive', async () => {
    const dissolved = await addTeam();
    const created = await workspace.createTicket({ teamId: dissolved.id });
    await deactivate(dissolved);
    expect((await patch(created.id, { teamId: dissolved.id })).body.data).toEqual(created);
    expect((await patch(created.id, { teamId: dissolved.id, title: 'Changed' })).body.data).toMatchObject({
      title: 'Changed',
      teamId: dissolved.id,
    });
    await patch(created.id, { teamId: null });
    expectInvalid(await patch(created.id, { teamId: dissolved.id }));
  });

  it('can change in bulk requests, in which only items with another team fail', async () => {
    const teamIds = [team.id, inactive.id, null];
    const created = await workspace.call('POST', '/tickets/bulk', {
      tickets: teamIds.map((teamId) => ({ ...ticket, teamId })),
    });
    const [first, refused, last] = created.body.data;
    expect([first.data.teamId, last.data.teamId]).toEqual([team.id, null]);
    expect(refused).toMatchObject({ status: 400, error: { code: 'INVALID_REFERENCE', details: [{ path: 'teamId' }] } });
    const { body } = await workspace.call('PATCH', '/tickets/bulk', {
      tickets: [
        { id: first.data.id, teamId: null },
        { id: last.data.id, teamId: inactive.id },
      ],
    });
    expect(body.data).toMatchObject([
      { status: 200, data: { teamId: null } },
      { status: 400, error: { code: 'INVALID_REFERENCE', details: [{ path: 'teamId', message }] } },
    ]);
  });

  it('can be in the filter of a webhook', async () => {
    const { id } = await workspace.createWebhook({ filter: { teamId: [team.id] }, events: ['ticket.updated'] });
    const created = await workspace.createTicket();
    for (const teamId of [other.id, team.id, null]) await patch(created.id, { teamId });
    // The last change matches, because the ticket had the team before.
    expect((await workspace.call('GET', `/webhooks/${id}/deliveries`)).body.meta.totalCount).toBe(2);
  });
});

describe('GET /tickets?teamId', () => {
  let owner: Workspace;
  /** Tickets, oldest first: of the first team, of the second team, and without a team. */
  let made: Ticket[];
  let ids: [number, number];

  it.beforeAll(async () => {
    owner = await createWorkspace(api);
    ids = [(await owner.createTeam()).id, (await owner.createTeam()).id];
    const given: Partial<NewTicket>[] = [{ teamId: ids[0] }, { teamId: ids[1], priority: 'HIGH' }, {}];
    made = [];
    for (const fields of [...given, { teamId: ids[0], priority: 'HIGH' as const }]) {
      made.push(await owner.createTicket(fields));
    }
    await teams.update(owner.context, ids[0], { active: false });
  });

  it.each([
    ['teamId=A', [3, 0]],
    ['teamId=A,B', [3, 1, 0]],
    ['teamId=A&teamId=B&sort=id', [0, 1, 3]],
    ['teamId=A&priority=HIGH', [3]],
    ['teamId=none', [2]],
    ['teamId=none&sort=id', [2]],
    ['teamId=B,none', [2, 1]],
    ['teamId=none&priority=HIGH', []],
    ['teamId=A&assigneeId=none', [3, 0]],
    ['teamId=A&q=VPN', [3, 0]],
    ['teamId=none&q=VPN', [2]],
    ['teamId=9007199254740991', []],
  ])('returns the matching tickets for %s', async (query, places) => {
    const search = query.replace('A', String(ids[0])).replace('B', String(ids[1]));
    const { body } = await owner.call('GET', `/tickets?${search}`);
    expect(body.data).toEqual(places.map((place) => made[place]));
    expect(body.meta.totalCount).toBe(places.length);
  });

  it('rejects other words than `none`', async () => {
    const answer = await owner.call('GET', '/tickets?teamId=mine');
    expect(errorOf(answer)).toMatchObject({
      code: 'VALIDATION_ERROR',
      details: [{ path: 'teamId', message: 'must be a positive integer or `none`' }],
    });
  });
});
