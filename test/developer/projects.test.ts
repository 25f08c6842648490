import { getProject } from '@itsm-api/server/resources/projects/queries.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Api, startApi } from '../support/api.ts';
import { type Fields, signIn, stateOf, type Visitor } from '../support/visitor.ts';
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

const typed = { name: 'New office', description: '', status: 'PLANNED', priority: 'MEDIUM', managerId: '' };
const dates = { startDate: '', endDate: '' };

describe('/developer/projects', () => {
  it('makes a project, finds it and changes it', async () => {
    const manager = await workspace.createUser();
    const key = `P${unique().toUpperCase()}`;
    const { headers } = await admin.submit('/developer/projects/new', 'create', {
      ...{ ...typed, ...dates, key, managerId: manager.email, endDate: '2026-12-15' },
    });
    const here = headers.location ?? '';
    const id = Number(here.split('/').at(-1));
    expect(await getProject(workspace.context, id)).toMatchObject({
      key,
      managerId: manager.id,
      endDate: '2026-12-15',
    });

    const { text } = await admin.get(`/developer/projects?q=${key.toLowerCase()}&status=PLANNED`);
    expect(text).toContain(`${here}"`);
    expect((await admin.get(`/developer/projects?q=${key}&status=ACTIVE`)).text).not.toContain(`${here}"`);

    const state = await stateOf(admin, here);
    const change = { ...typed, ...dates, state, status: 'ACTIVE', description: '<script>alert(1)</script>' };
    const changed = await admin.submitAndFollow(here, 'change', change);
    expect(changed.text).toContain('&lt;script&gt;alert(1)&lt;/script&gt;');
    expect(await getProject(workspace.context, id)).toMatchObject({ status: 'ACTIVE', managerId: null, endDate: null });
    expect((await admin.submit(here, 'change', change)).status).toBe(412);
  });

  it('says beside the fields what is wrong, and keeps what was typed', async () => {
    const { key } = await workspace.createProject();
    const create = (fields: Fields) =>
      admin.submit('/developer/projects/new', 'create', { ...typed, ...dates, ...fields });
    const wrong = await create({ key: 'no capitals', startDate: 'soon', name: '' });
    expect(wrong.status).toBe(400);
    for (const name of ['key', 'startDate', 'name']) expect(wrong.text).toContain(`id="error-${name}"`);
    expect(wrong.text).toContain('value="no capitals"');
    expect((await create({ key })).text).toContain(`id="error-key">${key} is taken by another project`);
  });
});
