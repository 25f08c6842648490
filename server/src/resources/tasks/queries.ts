import type { NewTask, Task, TaskPatch, TaskQuery } from '@itsm-api/contract';
import type { Prisma } from '../../../generated/prisma/client.ts';
import { lockRow } from '../../database/row-lock.ts';
import { notFound, requireRow } from '../../shared/errors.ts';
import { withEtag } from '../../shared/etag.ts';
import { serializeDate, serializeId, serializeTimestamp, serializeTimestamps, toDate } from '../../shared/serialize.ts';
import { emit } from '../../webhooks/outbox/emit.ts';
import { getProject } from '../projects/queries.ts';
import { type Context, transaction } from '../shared/context.ts';
import { checkUsers, reference } from '../shared/foreign-keys.ts';
import { anyOf, type Page, readSearchablePage } from '../shared/lists.ts';
import { changeVersioned } from '../shared/versioned-change.ts';
import { rowsOf } from '../sync/change-feed.ts';

type TaskRow = Prisma.TaskGetPayload<object>;

/**
 * Returns a page of a project's tasks, newest first (spec §4).
 * @throws ApiError NOT_FOUND if the project doesn't exist
 */
export async function listTasks(context: Context, projectId: number, query: TaskQuery): Promise<Page<Task>> {
  const { db } = context;
  await getProject(context, projectId);
  const where = {
    projectId,
    ...anyOf('status', query.status),
    ...anyOf('priority', query.priority),
    ...anyOf('assigneeId', query.assigneeId),
  };
  return readSearchablePage(query, {
    db,
    resource: 'tasks',
    where,
    count: () => db.task.count({ where }),
    find: async (asked) => (await db.task.findMany({ orderBy: { id: 'desc' }, ...asked })).map(presentTask),
  });
}

/** Functions that read tasks for incremental sync and exports. */
export const taskRows = rowsOf('tasks', (db, page) => db.task.findMany(page), presentTask);

/** Returns one task. @throws ApiError NOT_FOUND */
export async function getTask({ db }: Context, id: number): Promise<Task> {
  return presentTask(requireRow(await db.task.findFirst({ where: { id } }), 'task'));
}

/**
 * Creates a task with status TODO. Emits no event (spec §6).
 * @throws ApiError NOT_FOUND if the project doesn't exist, or INVALID_REFERENCE
 */
export function createTask(context: Context, projectId: number, input: NewTask): Promise<Task> {
  return transaction(context, async (context) => {
    await getProject(context, projectId);
    await checkUsers(context, reference('assigneeId', input.assigneeId));
    const row = await context.db.task.create({ data: { projectId, ...toColumns(input) } });
    return presentTask(row);
  });
}

/**
 * Updates a task and emits `task.updated`. If the patch changes nothing, writes and emits nothing
 * (docs/decisions/data-model.md).
 * @throws ApiError NOT_FOUND, PRECONDITION_FAILED, INVALID_REFERENCE
 */
export function updateTask(context: Context, id: number, patch: TaskPatch): Promise<Task> {
  return changeVersioned(context, {
    lock: ({ db }) => lockRow(db, 'tasks', id),
    read: (context) => getTask(context, id),
    merge: (before) => merge(before, patch, context.now()),
    write: async (context, { before, after, changes }) => {
      await checkUsers(context, reference('assigneeId', patch.assigneeId, before.assigneeId));
      const { id: _, projectId, etag, createdAt, updatedAt, ...columns } = after;
      const [row] = await context.db.task.updateManyAndReturn({
        where: { id },
        data: {
          ...columns,
          startDate: toDate(after.startDate),
          dueDate: toDate(after.dueDate),
          completedAt: toDate(after.completedAt),
          // Ensures that `updatedAt` is later than its previous value, even if the clock of another process is ahead.
          updatedAt: new Date(Math.max(Date.now(), Date.parse(before.updatedAt) + 1)),
        },
      });
      if (row === undefined) throw notFound('task');
      const task = presentTask(row);
      await emit(context, 'task.updated', { payload: task, changes });
      return task;
    },
  });
}

/** Serializes a task for API responses and events. */
export function presentTask(row: TaskRow): Task {
  return withEtag(row.version, {
    id: serializeId(row.id),
    projectId: serializeId(row.projectId),
    title: row.title,
    description: row.description,
    status: row.status,
    priority: row.priority,
    assigneeId: serializeId(row.assigneeId),
    startDate: serializeDate(row.startDate),
    dueDate: serializeDate(row.dueDate),
    completedAt: serializeTimestamp(row.completedAt),
    ...serializeTimestamps(row),
  });
}

/** Returns the columns of a new task. If `NewTask` has a field that the columns lack, this function doesn't compile. */
function toColumns(input: NewTask) {
  return {
    title: input.title,
    description: input.description ?? null,
    priority: input.priority ?? 'MEDIUM',
    assigneeId: input.assigneeId ?? null,
    startDate: toDate(input.startDate ?? null),
    dueDate: toDate(input.dueDate ?? null),
  } satisfies Record<keyof NewTask, unknown>;
}

function merge(before: Task, patch: TaskPatch, now: Date): Task {
  const after = { ...before, ...patch };
  if (after.status !== before.status) after.completedAt = after.status === 'DONE' ? now.toISOString() : null;
  return after;
}
