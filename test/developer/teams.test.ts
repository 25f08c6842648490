import { getTeam } from '@itsm-api/server/resources/teams/queries.ts';
import { deactivateUser } from '@itsm-api/server/resources/users/user-management.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Api, startApi } from '../support/api.ts';
import { etagOf, signIn, type Visitor } from '../support/visitor.ts';
import { createWorkspace, unique, type Workspace } from '../support/workspace.ts';

let api: Api;
let workspace: Workspace;
let admin: Visitor;

beforeAll(async () => {
  api = await startApi();
  workspace = await createWorkspace(api);
  admin = await signIn(api, workspace);
});
afterAll(() => api.close());

const idIn = (path = '') => Number(path.split('=').at(-1));

describe('/developer/teams', () => {
  it('creates, lists and changes a team in the developer area', async () => {
    const [first, second] = [await workspace.createUser(), await workspace.createUser()];
    const name = `Team <${unique()}>`;
    const memberIds = `${first.email}\r\n ${second.id} \r\n`;
    const { headers } = await admin.submit('/developer/teams/new', 'create', { name, description: '', memberIds });
    const here = headers.location ?? '';
    const made = await getTeam(workspace.context, idIn(here));
    expect(made).toMatchObject({ name, description: null, active: true, memberIds: [first.id, second.id] });
    expect((await admin.get('/developer/teams')).text).toContain(`${here}"`);

    const etag = await etagOf(admin, here);
    const change = { name, description: 'First\r\ncontact', memberIds: '', etag };
    expect((await admin.submit(here, 'change', change)).status).toBe(303);
    const changed = { description: 'First\ncontact', active: false, memberIds: [] };
    expect(await getTeam(workspace.context, made.id)).toMatchObject(changed);
    expect((await admin.submit(here, 'change', change)).status).toBe(412);
  });

  it('keeps inactive members if an administrator saves the form again', async () => {
    const [active, inactive] = [await workspace.createUser(), await workspace.createUser()];
    const { id, name, memberIds } = await workspace.createTeam({ memberIds: [active.id, inactive.id] });
    await deactivateUser(workspace.context, inactive.id);
    const here = `/developer/teams/one?id=${id}`;
    const { text } = await admin.get(here);
    const typed = /<textarea name="memberIds"[^>]*>([^<]*)</.exec(text)?.[1] ?? '';
    expect(typed.trim().split('\n')).toEqual([active.email, String(inactive.id)]);
    const fields = { name, description: '', memberIds: typed, active: 'yes', etag: await etagOf(admin, here) };
    expect((await admin.submit(here, 'change', fields)).status).toBe(303);
    expect(await getTeam(workspace.context, id)).toMatchObject({ memberIds, active: true });
  });

  it('shows errors next to the fields and keeps the entered values', async () => {
    const { name } = await workspace.createTeam();
    const create = (fields: object) =>
      admin.submit('/developer/teams/new', 'create', { name: unique(), description: '', memberIds: '', ...fields });
    expect((await create({ name })).text).toContain(`id="error-name">${name} is already used by another team`);
    const unknown = await create({ memberIds: 'unknown@example.com' });
    expect(unknown.status).toBe(400);
    expect(unknown.text).toContain('id="error-memberIds">contains unknown@example.com, but no active user has');
    expect(unknown.text).toContain('\nunknown@example.com</textarea>');
  });

  it('shows the team on the page of a ticket', async () => {
    const team = await workspace.createTeam();
    const { id } = await workspace.createTicket({ teamId: team.id });
    expect((await admin.get(`/developer/tickets/${id}`)).text).toContain(`<dt>Team</dt><dd>${team.name}</dd>`);
  });
});
