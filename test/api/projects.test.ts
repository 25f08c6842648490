import { NewProject, type Project } from '@itsm-api/contract';
import { createProject } from '@itsm-api/server/resources/projects/queries.ts';
import { deactivateUser } from '@itsm-api/server/resources/users/user-management.ts';
import { describe, expect } from 'vitest';
import { api, it, workspace } from '../support/fixture.ts';
import { createWorkspace, type Workspace } from '../support/workspace.ts';

describe('GET /projects/:id', () => {
  it('returns every field of a project', async () => {
    const fields = {
      key: 'OFFICE2',
      name: 'Umzug 🏢',
      description: '  Desks\nand printers. ',
      status: 'ON_HOLD',
      priority: 'CRITICAL',
      managerId: workspace.userId,
      startDate: '0001-01-01',
      endDate: '9999-12-31',
    } as const;
    const { id } = await workspace.createProject(fields);
    const { status, body } = await workspace.call('GET', `/projects/${id}`);
    expect(status).toBe(200);
    const timestamp = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    expect(body).toEqual({
      success: true,
      data: { ...fields, id, createdAt: timestamp, updatedAt: timestamp, etag: expect.any(String) },
    });
  });

  it('returns null or a default value for project fields that are not set', async () => {
    const { id } = await workspace.createProject();
    expect((await workspace.call('GET', `/projects/${id}`)).body.data).toMatchObject({
      description: null,
      status: 'PLANNED',
      priority: 'MEDIUM',
      managerId: null,
      startDate: null,
      endDate: null,
    });
  });
});

describe('GET /projects', () => {
  let owner: Workspace;
  let made: Project[];

  it.beforeAll(async () => {
    owner = await createWorkspace(api);
    made = [];
    for (const status of ['ACTIVE', 'PLANNED', 'ACTIVE', 'COMPLETED', 'CANCELLED'] as const) {
      made.unshift(await owner.createProject({ status }));
    }
  });

  it('lists projects newest first', async () => {
    expect((await owner.call('GET', '/projects')).body).toEqual({
      success: true,
      data: made,
      meta: { page: 1, perPage: 20, totalCount: 5 },
    });
  });

  it.each([
    ['status=ACTIVE', ['ACTIVE', 'ACTIVE']],
    ['status=ON_HOLD', []],
    ['status=PLANNED,CANCELLED', ['CANCELLED', 'PLANNED']],
    ['status=PLANNED&status=COMPLETED,CANCELLED', ['CANCELLED', 'COMPLETED', 'PLANNED']],
  ])('filters projects by %s', async (query, statuses) => {
    const { body } = await owner.call('GET', `/projects?${query}`);
    expect(body.data.map(({ status }: Project) => status)).toEqual(statuses);
    expect(body.meta.totalCount).toBe(statuses.length);
  });
});

describe('createProject, which the command line calls', () => {
  it.each(['key', 'name'])('rejects a new project if %s is missing or contains NUL', (name) => {
    const fields = { key: 'OFFICE', name: 'New office' };
    expect(NewProject.safeParse(fields).success).toBe(true);
    expect(NewProject.safeParse({ ...fields, [name]: undefined }).success).toBe(false);
    expect(NewProject.safeParse({ ...fields, [name]: 'A\0' }).success).toBe(false);
  });

  it('requires project keys to be unique within a workspace', async () => {
    await workspace.createProject({ key: 'TWICE' });
    const again = workspace.createProject({ key: 'TWICE' });
    await expect(again).rejects.toMatchObject({ code: 'VALIDATION_ERROR', details: [{ path: 'key' }] });
    expect((await (await createWorkspace(api)).createProject({ key: 'TWICE' })).key).toBe('TWICE');
  });

  it('rejects a project manager who is inactive or in another tenant', async () => {
    const inactive = await deactivateUser(workspace.context, (await workspace.createUser()).email);
    const foreign = await (await createWorkspace(api)).createUser();
    for (const { id: managerId } of [inactive, foreign]) {
      const made = createProject(workspace.context, NewProject.parse({ key: 'NEVER', name: 'Never', managerId }));
      await expect(made).rejects.toMatchObject({ code: 'INVALID_REFERENCE', details: [{ path: 'managerId' }] });
    }
  });
});
