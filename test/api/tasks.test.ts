import { Priority, type Project, type Task, TaskStatus } from '@itsm-api/contract';
import { deactivateUser } from '@itsm-api/server/resources/users/user-management.ts';
import { describe, expect } from 'vitest';
import { errorOf } from '../support/api.ts';
import { it as itBase, workspace } from '../support/fixture.ts';

let project: Project;
let now = new Date('2026-11-20T10:00:00.000Z');

const it = itBase.extend('options', { scope: 'file' }, { now: () => now });
it.beforeAll(async () => {
  project = await workspace.createProject();
});

const create = (fields: object = {}) =>
  workspace.call('POST', `/projects/${project.id}/tasks`, { title: 'Order cables', ...fields });
const patch = (id: number, body: unknown) => workspace.call('PATCH', `/tasks/${id}`, body);
const read = async ({ id }: Task): Promise<Task> => (await workspace.call('GET', `/tasks/${id}`)).body.data;

/** Invalid fields that both POST and PATCH reject. */
const invalidFields: [string, object, string][] = [
  ['null as title', { title: null }, 'title'],
  ['a blank title', { title: ' \n' }, 'title'],
  ['a title of 256 characters', { title: 'x'.repeat(256) }, 'title'],
  ['NUL in the title', { title: 'a\0b' }, 'title'],
  ['a lone surrogate in the title', { title: 'a\ud800' }, 'title'],
  ['an empty description', { description: '' }, 'description'],
  ['a description of 65,536 characters', { description: 'x'.repeat(65_536) }, 'description'],
  ['NUL in the description', { description: '\0' }, 'description'],
  ['a lone surrogate in the description', { description: '\udfff' }, 'description'],
  ['an unknown priority', { priority: 'URGENT' }, 'priority'],
  ['assigneeId as a string', { assigneeId: '1' }, 'assigneeId'],
  ['a day that does not exist', { dueDate: '2023-02-29' }, 'dueDate'],
  ['the year 0', { startDate: '0000-12-31' }, 'startDate'],
  ['the year 10000', { dueDate: '10000-01-01' }, 'dueDate'],
  ['a date with a time', { dueDate: '2026-11-20T00:00:00Z' }, 'dueDate'],
  ['an empty date', { startDate: '' }, 'startDate'],
  ['a date as a number', { startDate: 20261120 }, 'startDate'],
  ['completedAt', { completedAt: '2026-11-20T10:00:00.000Z' }, 'completedAt'],
  ['another project', { projectId: 1 }, 'projectId'],
  ['an id', { id: 1 }, 'id'],
];

describe('POST /projects/:id/tasks', () => {
  it('uses default values for missing fields of a new task', async () => {
    const answer = await create();
    expect(answer.status).toBe(201);
    const timestamp = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    expect(answer.body).toEqual({
      success: true,
      data: {
        id: expect.any(Number),
        projectId: project.id,
        title: 'Order cables',
        description: null,
        status: 'TODO',
        priority: 'MEDIUM',
        assigneeId: null,
        startDate: null,
        dueDate: null,
        completedAt: null,
        createdAt: timestamp,
        updatedAt: timestamp,
        etag: expect.any(String),
      },
    });
  });

  it('creates a task with every field', async () => {
    const fields = {
      title: '配線 🔌',
      description: '  Ten metres.\n',
      priority: 'CRITICAL',
      assigneeId: workspace.userId,
      startDate: '2024-02-29',
      dueDate: '2026-11-27',
    };
    const { data } = (await create(fields)).body;
    expect(data).toMatchObject(fields);
    expect(await read(data)).toEqual(data);
  });

  it('treats a null field of a new task like a missing field', async () => {
    const fields = { description: null, assigneeId: null, startDate: null, dueDate: null };
    const answer = await create({ ...fields, priority: null });
    expect(answer.status, answer.text).toBe(201);
    expect(answer.body.data).toMatchObject({ ...fields, priority: 'MEDIUM' });
  });

  it.each<[string, object]>([
    ...Priority.options.map((priority): [string, object] => [`the priority ${priority}`, { priority }]),
    ['a title of 255 characters', { title: 'x'.repeat(255) }],
    ['a description of 65,535 characters', { description: 'x'.repeat(65_535) }],
    ['the first and the last date', { startDate: '0001-01-01', dueDate: '9999-12-31' }],
    ['dates of early centuries', { startDate: '0099-12-31', dueDate: '1582-10-10' }],
  ])('creates a task with %s', async (_, fields) => {
    const answer = await create(fields);
    expect(answer.status, answer.text).toBe(201);
    expect(answer.body.data).toMatchObject(fields);
    expect(await read(answer.body.data)).toEqual(answer.body.data);
  });

  it('trims a task title before checking its length', async () => {
    expect((await create({ title: ` ${'x'.repeat(255)}\n` })).body.data.title).toBe('x'.repeat(255));
  });

  it.each([
    ['a missing title', { title: undefined }, 'title'],
    ['a status', { status: 'DONE' }, 'status'],
    ...invalidFields,
  ] as [string, object, string][])('rejects a new task with %s', async (_, fields, path) => {
    expect(errorOf(await create(fields))).toMatchObject({ code: 'VALIDATION_ERROR', details: [{ path }] });
  });

  it('rejects an inactive assignee for a new task', async () => {
    const { id } = await deactivateUser(workspace.context, (await workspace.createUser()).email);
    expect(errorOf(await create({ assigneeId: id }))).toMatchObject({
      code: 'INVALID_REFERENCE',
      details: [{ path: 'assigneeId' }],
    });
  });
});

describe('GET /tasks/:taskId', () => {
  it('returns a task by id with the same fields as in the task list', async () => {
    const task = await workspace.createTask();
    expect((await workspace.call('GET', `/tasks/${task.id}`)).body).toEqual({ success: true, data: task });
    expect(await read(task)).toEqual(task);
  });
});

describe('GET /projects/:id/tasks', () => {
  let path: string;
  let made: Task[];
  let ada: number;
  let email: string;

  it.beforeAll(async () => {
    const owned = await workspace.createProject();
    path = `/projects/${owned.id}/tasks`;
    ({ id: ada, email } = await workspace.createUser());
    made = [];
    for (const [title, priority, assigneeId, status] of [
      ['a', 'HIGH', ada, 'DONE'],
      ['b', 'LOW', workspace.userId, 'BLOCKED'],
      ['c', 'HIGH', null, 'IN_PROGRESS'],
      ['d', 'MEDIUM', ada, 'TODO'],
      ['e', 'CRITICAL', null, 'CANCELLED'],
    ] as const) {
      const { id } = await workspace.createTask({ title, priority, assigneeId }, owned);
      made.unshift((await patch(id, { status })).body.data);
    }
    await workspace.createTask({ title: 'of another project', priority: 'HIGH', assigneeId: ada });
  });

  it('lists the tasks of a project newest first', async () => {
    expect((await workspace.call('GET', path)).body).toEqual({
      success: true,
      data: made,
      meta: { page: 1, perPage: 20, totalCount: 5 },
    });
  });

  it.each([
    ['status=DONE', 'a'],
    ['status=DONE,BLOCKED', 'b a'],
    ['status=DONE&status=TODO,CANCELLED', 'e d a'],
    ['priority=HIGH', 'c a'],
    ['priority=LOW&priority=CRITICAL', 'e b'],
    ['assigneeId=ADA', 'd a'],
    ['assigneeId=EMAIL,nobody@example.com', 'd a'],
    ['assigneeId=ADA,OWNER', 'd b a'],
    ['assigneeId=9007199254740991', ''],
    ['priority=HIGH&assigneeId=ADA', 'a'],
    ['priority=HIGH,MEDIUM&assigneeId=ADA&status=TODO', 'd'],
    ['priority=LOW&status=DONE', ''],
  ])('filters tasks by %s', async (query, titles) => {
    const filters = query
      .replace('ADA', String(ada))
      .replace('EMAIL', email)
      .replace('OWNER', String(workspace.userId));
    const { body } = await workspace.call('GET', `${path}?${filters}`);
    expect(body.data.map(({ title }: Task) => title).join(' ')).toBe(titles);
    expect(body.meta.totalCount).toBe(body.data.length);
  });
});

describe('PATCH /tasks/:taskId', () => {
  it.each<[string, unknown]>([
    ['title', 'Other'],
    ['description', ' Other\n'],
    ['priority', 'LOW'],
    ['startDate', '2024-02-29'],
    ['dueDate', '0001-01-01'],
    ['status', 'BLOCKED'],
  ])('changes only %s of a task', async (name, value) => {
    const before = (await create()).body.data;
    const answer = await patch(before.id, { [name]: value });
    expect(answer.status, answer.text).toBe(200);
    const { data } = answer.body;
    expect(data).toEqual({ ...before, [name]: value, updatedAt: data.updatedAt, etag: data.etag });
    expect(data.updatedAt > before.updatedAt).toBe(true);
    expect(await read(data)).toEqual(data);
  });

  it('clears optional task fields that are set to null', async () => {
    const fields = { description: 'x', assigneeId: workspace.userId, startDate: '2026-11-20', dueDate: '2026-11-27' };
    const { data: before } = (await create(fields)).body;
    const cleared = { description: null, assigneeId: null, startDate: null, dueDate: null };
    const { data } = (await patch(before.id, cleared)).body;
    expect(data).toEqual({ ...before, ...cleared, updatedAt: data.updatedAt, etag: data.etag });
    expect(await read(before)).toEqual(data);
  });

  it.each([
    ['null as status', { status: null }, 'status'],
    ['null as priority', { priority: null }, 'priority'],
    ['an unknown status', { status: 'OPEN' }, 'status'],
    ...invalidFields,
  ] as [string, object, string][])('rejects a task change with %s', async (_, fields, path) => {
    const before = await workspace.createTask();
    const answer = await patch(before.id, { priority: 'LOW', ...fields });
    expect(errorOf(answer)).toMatchObject({ code: 'VALIDATION_ERROR', details: [{ path }] });
    expect(await read(before)).toEqual(before);
  });

  it.each(TaskStatus.options)('changes the status of a task from %s to every other status', async (from) => {
    for (const to of TaskStatus.options) {
      const { id } = (await create()).body.data;
      const { data: before } = (await patch(id, { status: from })).body;
      const since = now.toISOString();
      now = new Date(now.getTime() + 60_000);
      const answer = await patch(id, { status: to });
      expect(answer.status, answer.text).toBe(200);
      const completedAt = to !== 'DONE' ? null : from === 'DONE' ? since : now.toISOString();
      expect(answer.body.data).toEqual({
        ...before,
        status: to,
        completedAt,
        updatedAt: from === to ? before.updatedAt : answer.body.data.updatedAt,
        etag: from === to ? before.etag : answer.body.data.etag,
      });
    }
  });

  it('does not change updatedAt of a task if no other field changes', async () => {
    const made = await workspace.createTask({ assigneeId: workspace.userId, dueDate: '2026-11-27' });
    const { data: before } = (await patch(made.id, { status: 'DONE' })).body;
    now = new Date(now.getTime() + 60_000);
    const { title, description, status, priority, assigneeId, startDate, dueDate } = before;
    for (const body of [
      { title, description, status, priority, assigneeId, startDate, dueDate },
      { title: ` ${title}\n` },
    ]) {
      expect((await patch(made.id, body)).body.data).toEqual(before);
      expect(await read(made)).toEqual(before);
    }
  });

  it('accepts an inactive assignee only if the task already has this assignee', async () => {
    const user = await workspace.createUser();
    const { id } = await workspace.createTask({ assigneeId: user.id });
    await deactivateUser(workspace.context, user.email);
    expect((await patch(id, { title: 'Changed', assigneeId: user.id })).status).toBe(200);
    expect((await patch(id, { assigneeId: workspace.userId })).status).toBe(200);
    expect(errorOf(await patch(id, { assigneeId: user.id }))).toMatchObject({
      code: 'INVALID_REFERENCE',
      details: [{ path: 'assigneeId' }],
    });
  });

  it('applies 6 concurrent changes to different fields of a task', async () => {
    const task = await workspace.createTask();
    const fields = {
      title: 'T',
      description: 'D',
      status: 'DONE',
      priority: 'LOW',
      startDate: '2026-01-01',
      dueDate: '2026-02-02',
    };
    const answers = await Promise.all(Object.entries(fields).map(([name, value]) => patch(task.id, { [name]: value })));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 200]);
    expect(await read(task)).toMatchObject({ ...fields, completedAt: now.toISOString() });
  });
});
