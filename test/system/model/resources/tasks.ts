import type { NewTask, Task, TaskPatch } from '@itsm-api/contract';
import { unknownId, unknownText } from '../values.ts';
import { anyOf, type ListQuery } from './lists.ts';
import { isSame, type Outcome } from './rows.ts';
import { holdsWords } from './search.ts';
import { type References, rejectionsOf } from './users.ts';

/* Models project tasks (docs/decisions/data-model.md). */

export function newTask(projectId: number, input: NewTask, references: References): Outcome<Task> {
  const codes = rejectionsOf(references, { users: [input.assigneeId] });
  if (codes.length > 0) return { codes };
  return {
    row: {
      id: unknownId,
      projectId,
      title: input.title.trim(),
      description: input.description ?? null,
      status: 'TODO',
      priority: input.priority ?? 'MEDIUM',
      assigneeId: input.assigneeId ?? null,
      startDate: input.startDate ?? null,
      dueDate: input.dueDate ?? null,
      completedAt: null,
      etag: unknownText,
      createdAt: unknownText,
      updatedAt: unknownText,
    },
  };
}

export function changeTask(before: Task, { title, ...fields }: TaskPatch, references: References): Outcome<Task> {
  const after: Task = { ...before, ...fields, ...(title !== undefined && { title: title.trim() }) };
  const newly = after.assigneeId === before.assigneeId ? null : after.assigneeId;
  const codes = rejectionsOf(references, { users: [newly] });
  if (codes.length > 0) return { codes };
  if (after.status !== before.status) after.completedAt = after.status === 'DONE' ? unknownText : null;
  return { row: isSame(before, after) ? before : { ...after, etag: unknownText, updatedAt: unknownText } };
}

export function isTaskIn(task: Task, query: ListQuery): boolean {
  return (
    anyOf(query.status, task.status) &&
    anyOf(query.priority, task.priority) &&
    anyOf(query.assigneeId, task.assigneeId) &&
    (query.q === undefined || holdsWords(query.q as string, [task.title, task.description ?? '']))
  );
}
