import * as z from 'zod';
import { changesOf } from '../changes.ts';
import { endpoints, filter, item, list, listQuery, meta, patch, search, userFilter } from '../endpoint.ts';
import { fieldDiff } from '../field-diff.ts';
import {
  CalendarDate,
  Description,
  Id,
  integerFromText,
  Priority,
  ProjectId,
  responseText,
  Timestamp,
  Title,
  UserId,
  versionFields,
} from '../fields.ts';
import { UserReference } from '../references.ts';

export const TaskStatus = z
  .enum(['TODO', 'IN_PROGRESS', 'BLOCKED', 'DONE', 'CANCELLED'])
  .meta({ id: 'TaskStatus', description: 'The status of the task. New tasks are TODO. Every transition is allowed.' });
export type TaskStatus = z.output<typeof TaskStatus>;

const AssigneeId = UserId.meta({
  description: 'The assigned user, or null if unassigned. You can assign only active users.',
});
const NamedAssignee = UserReference.meta({
  description: 'The assigned user, by id or email address, or null if unassigned. You can assign only active users.',
});
const StartDate = CalendarDate.meta({ description: 'The start date, or null if not set.' });
const DueDate = CalendarDate.meta({ description: 'The due date, or null if not set.' });

export const Task = z
  .object({
    id: Id,
    projectId: ProjectId.meta({ description: 'The project of the task. A task never moves to another project.' }),
    title: responseText(Title),
    description: responseText(Description).nullable(),
    status: TaskStatus,
    priority: Priority,
    assigneeId: AssigneeId.nullable(),
    startDate: StartDate.nullable(),
    dueDate: DueDate.nullable(),
    completedAt: Timestamp.nullable().meta({ description: 'When the status became DONE, or null if it is not DONE.' }),
    ...versionFields,
  })
  .meta({
    id: 'Task',
    description: 'A task of a project.',
    example: {
      id: 10,
      projectId: 2,
      title: 'Order patch cables',
      description: null,
      status: 'TODO',
      priority: 'MEDIUM',
      assigneeId: 2,
      startDate: null,
      dueDate: '2026-11-27',
      completedAt: null,
      createdAt: '2026-11-20T10:00:00.000Z',
      updatedAt: '2026-11-20T10:00:00.000Z',
      etag: '"1-mwot5j40"',
    },
  });
export type Task = z.output<typeof Task>;

export const TaskChanges = fieldDiff(
  Task.omit({ id: true, projectId: true, etag: true, createdAt: true, updatedAt: true }),
).meta({
  id: 'TaskChanges',
  description: 'The changed fields of a task. `updatedAt` always changes and is not included.',
  example: { status: { from: 'TODO', to: 'DONE' }, completedAt: { from: null, to: '2026-11-20T10:05:00.000Z' } },
});
export type TaskChanges = z.output<typeof TaskChanges>;

export const NewTask = z
  .strictObject({
    title: Title,
    description: Description.nullish(),
    priority: Priority.nullish().meta({ description: 'The priority. The default is MEDIUM.' }),
    assigneeId: NamedAssignee.nullish(),
    startDate: StartDate.nullish(),
    dueDate: DueDate.nullish(),
  })
  .meta({
    id: 'NewTask',
    description: 'A new task in a project.',
    example: { title: 'Order patch cables', assigneeId: 2, dueDate: '2026-11-27' },
  });
export type NewTask = z.output<typeof NewTask>;

export const TaskPatch = patch({
  title: Title.optional(),
  description: Description.nullable().optional(),
  status: TaskStatus.optional(),
  priority: Priority.optional(),
  assigneeId: NamedAssignee.nullable().optional(),
  startDate: StartDate.nullable().optional(),
  dueDate: DueDate.nullable().optional(),
}).meta({
  id: 'TaskPatch',
  description: 'Changes to a task. Absent fields stay unchanged, and null clears a field.',
  example: { status: 'IN_PROGRESS', assigneeId: 2 },
});
export type TaskPatch = z.output<typeof TaskPatch>;

export const TaskQuery = listQuery({
  status: filter(TaskStatus),
  priority: filter(Priority),
  assigneeId: userFilter(),
  q: search('title and description'),
});
export type TaskQuery = z.output<typeof TaskQuery>;

const ProjectIdParam = z.object({ id: integerFromText(ProjectId) });
const TaskIdParam = z.object({ taskId: integerFromText() });

export const tasks = endpoints({
  list: {
    method: 'GET',
    path: '/projects/:id/tasks',
    summary: "List a project's tasks",
    description:
      'Returns the newest tasks first. ' +
      'Different filters combine with AND. Several values of one filter combine with OR.',
    metadata: meta({
      scope: 'projects:read',
      group: 'projects',
      agent: {
        tool: 'list_tasks',
        when: 'Lists the tasks of one project.',
        short: ['id', 'title', 'status', 'priority', 'assigneeId', 'dueDate'],
      },
    }),
    pathParams: ProjectIdParam,
    query: TaskQuery,
    responses: { 200: list(Task) },
  },
  changes: changesOf('/tasks', Task, meta({ scope: 'projects:read', group: 'projects' })),
  create: {
    method: 'POST',
    path: '/projects/:id/tasks',
    summary: 'Create a task in a project',
    metadata: meta({ scope: 'projects:write', group: 'projects', proposable: 'tasks_create' }),
    pathParams: ProjectIdParam,
    body: NewTask,
    responses: { 201: item(Task) },
  },
  get: {
    method: 'GET',
    path: '/tasks/:taskId',
    summary: 'Get a task',
    metadata: meta({ scope: 'projects:read', group: 'projects' }),
    pathParams: TaskIdParam,
    responses: { 200: item(Task) },
  },
  update: {
    method: 'PATCH',
    path: '/tasks/:taskId',
    summary: 'Update a task',
    description: 'Emits `task.updated` if a field changes.',
    metadata: meta({
      scope: 'projects:write',
      group: 'projects',
      proposable: 'tasks_update',
      agent: {
        tool: 'update_task',
        when: 'Changes only the fields that you pass.',
        short: ['id', 'title', 'status', 'priority', 'assigneeId', 'dueDate'],
      },
    }),
    pathParams: TaskIdParam,
    body: TaskPatch,
    responses: { 200: item(Task) },
  },
});
