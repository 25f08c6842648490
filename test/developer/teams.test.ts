import { teams } from '@itsm-api/server/resources/teams/queries.ts';
import { deactivateUser } from '@itsm-api/server/resources/users/user-management.ts';
import { describe, expect } from 'vitest';
import { admin, api, itAsAdmin as it, workspace } from '../support/fixture.ts';
import { etagOf, signIn } from '../support/visitor.ts';
import { createWorkspace, unique } from '../support/workspace.ts';

const idIn = (path = '') => Number(path.split('=').at(-1));

describe('/developer/teams', () => {
  it('reads the members of a team as email addresses or ids, one per line', async () => {
    const [first, second] = [await workspace.createUser(), await workspace.createUser()];
    const memberIds = `${first.email}\r\n ${second.id} \r\n`;
    const typed = { name: unique(), description: '', memberIds };
    const { headers } = await admin.submit('/developer/teams/new', 'create', typed);
    const here = headers.location ?? '';
    expect(await teams.get(workspace.context, idIn(here))).toMatchObject({ memberIds: [first.id, second.id] });
    const { text } = await admin.get(here);
    expect(text).toContain('<h2>Members (2)</h2>');
    const change = { ...typed, memberIds: '', etag: await etagOf(admin, here) };
    expect((await admin.submit(here, 'change', change)).status).toBe(303);
    expect(await teams.get(workspace.context, idIn(here))).toMatchObject({ memberIds: [], active: false });
  });

  it('offers the active agents and administrators as members, or a text area if there are too many', async () => {
    const mine = await createWorkspace(api);
    const visitor = await signIn(api, mine);
    const agent = await mine.createUser({ name: 'Ada <b>', role: 'AGENT' });
    const requester = await mine.createUser({ role: 'REQUESTER' });
    const { text } = await visitor.get('/developer/teams/new');
    expect(text).toContain(`value="${agent.email}" >\n<span>Ada &lt;b&gt; (${agent.email})</span>`);
    expect(text).not.toContain(requester.email);
    const names = Array.from({ length: 200 }, (_, index) => `agent-${index}`);
    const { tenantId } = mine;
    await api.prisma.user.createMany({
      data: names.map((name) => ({ tenantId, name, email: `${name}@example.com`, role: 'AGENT' })),
    });
    expect((await visitor.get('/developer/teams/new')).text).toContain('<textarea name="memberIds"');
  });

  it('keeps inactive members if an administrator saves the form again', async () => {
    const [active, inactive] = [await workspace.createUser(), await workspace.createUser()];
    const { id, name, memberIds } = await workspace.createTeam({ memberIds: [active.id, inactive.id] });
    await deactivateUser(workspace.context, inactive.id);
    const here = `/developer/teams/one?id=${id}`;
    const { text } = await admin.get(here);
    const typed = [...text.matchAll(/name="memberIds" value="([^"]*)" checked/g)].map(([, value]) => value ?? '');
    expect(typed.toSorted()).toEqual([active.email, String(inactive.id)].toSorted());
    const fields = { name, description: '', memberIds: typed, active: 'yes', etag: await etagOf(admin, here) };
    expect((await admin.submit(here, 'change', fields)).status).toBe(303);
    expect(await teams.get(workspace.context, id)).toMatchObject({ memberIds, active: true });
  });

  it('shows an unknown member next to the field and keeps the entered values', async () => {
    const create = (fields: object) =>
      admin.submit('/developer/teams/new', 'create', { name: unique(), description: '', memberIds: '', ...fields });
    const unknown = await create({ memberIds: 'unknown@example.com' });
    expect(unknown.status).toBe(400);
    expect(unknown.text).toContain('id="error-memberIds">contains unknown@example.com, but no active user has');
  });

  it('shows the team on the page of a ticket', async () => {
    const team = await workspace.createTeam();
    const { id } = await workspace.createTicket({ teamId: team.id });
    expect((await admin.get(`/developer/tickets/${id}`)).text).toContain(`<dt>Team</dt><dd>${team.name}</dd>`);
  });
});
