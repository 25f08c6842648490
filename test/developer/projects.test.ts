import { listProjects } from '@itsm-api/server/resources/projects/queries.ts';
import { describe, expect } from 'vitest';
import { admin, api, itAsAdmin as it, workspace } from '../support/fixture.ts';
import { preview, signIn } from '../support/visitor.ts';
import { createWorkspace, type Workspace } from '../support/workspace.ts';
import { sendAbout } from './importing.ts';

describe('/developer/projects/import', () => {
  const path = '/developer/projects/import';
  const header = 'key,name,managerId,startDate';
  const projectsOf = async ({ context }: Workspace) => (await listProjects(context, { page: 1, perPage: 100 })).data;

  it('previews a project file and imports the file once', async () => {
    const own = await createWorkspace(api);
    const visitor = await signIn(api, own);
    const manager = await own.createUser();
    const text = await preview(visitor, path, `${header}\nP1,<b>Office</b>,${manager.email},2026-09-01\nP2,=1+1,,\n`);
    expect(text).toContain('2 projects can be imported. Nothing has been imported yet.');
    expect(text).toContain('&lt;b&gt;Office&lt;/b&gt;');
    // The asset import page doesn't show an uploaded project file.
    expect((await visitor.get('/developer/assets/import')).text).toContain('Check the file');
    expect(await projectsOf(own)).toEqual([]);

    const sent = await Promise.all([sendAbout(visitor, path, 'import'), sendAbout(visitor, path, 'import')]);
    expect(sent.map(({ status }) => status).sort()).toEqual([303, 400]);
    expect((await visitor.get('/developer/projects')).text).toContain('Imported 2 projects.');
    expect(await projectsOf(own)).toMatchObject([
      { key: 'P2', name: '=1+1', status: 'PLANNED', priority: 'MEDIUM', managerId: null },
      { key: 'P1', name: '<b>Office</b>', managerId: manager.id, startDate: '2026-09-01' },
    ]);
  });

  it('creates no projects if the import file has an invalid line, even after a valid preview', async () => {
    const own = await createWorkspace(api);
    const visitor = await signIn(api, own);
    const lines = ['p1,A,,', 'P2,B,unknown@example.com,', 'P2,C,,', 'P4,D,,tomorrow', 'P5,E'];
    const wrong = await preview(visitor, path, [header, ...lines].join('\n'));
    const rows = [...wrong.matchAll(/<tr[^>]*><td[^>]*>(\d+)<\/td><td[^>]*><code>(\w*)<\/code>/g)].map(
      ([, line, name]) => [line, name],
    );
    expect(rows).toEqual([
      ['2', 'key'],
      ['3', 'managerId'],
      ['4', 'key'],
      ['5', 'startDate'],
      ['6', ''],
    ]);
    expect(wrong).toContain('P2 is already on line 3');
    expect(await preview(visitor, path, 'key,name,customFields.a\nP1,A,1')).toContain(
      'is unknown. Remove it, or use one of: key',
    );

    await preview(visitor, path, 'key,name\nP1,A\nP2,B\n');
    await own.createProject({ key: 'P2' });
    expect((await sendAbout(visitor, path, 'import')).text).toContain('P2 is already used by another project');
    expect((await visitor.get(path)).text).not.toContain('P2 is already used');
    expect(await projectsOf(own)).toMatchObject([{ key: 'P2' }]);
  });

  it('imports a project file that another workspace exported', async () => {
    const own = await createWorkspace(api);
    await own.createProject({
      name: '@SUM(A1)',
      description: 'Two,\n"lines"',
      status: 'ON_HOLD',
      endDate: '2026-12-15',
    });
    const { headers, text } = await (await signIn(api, own)).get('/developer/projects/export');
    expect(headers['content-disposition']).toMatch(/^attachment; filename="projects\.csv"/);
    expect(text).not.toMatch(/(^|,)"?[=+@-]/m);

    const theirs = await createWorkspace(api);
    const importer = await signIn(api, theirs);
    expect(await preview(importer, path, text)).toContain('1 project can be imported');
    expect((await sendAbout(importer, path, 'import')).status).toBe(303);
    const given = async (workspace: Workspace) =>
      (await projectsOf(workspace)).map(({ id, createdAt, updatedAt, etag, ...fields }) => fields);
    expect(await given(theirs)).toEqual(await given(own));
  });

  it('accepts the CSV template for projects in an import preview', async () => {
    const { email } = await workspace.createUser();
    const { text } = await admin.get('/developer/projects/template');
    expect(text).toMatch(/^key,name,description,/);
    expect(await preview(admin, path, text.replace('ada@acme.example', email))).toContain('1 project can be imported');
  });
});
