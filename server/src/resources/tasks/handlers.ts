import { created, ok, page } from '../../shared/responses.ts';
import type { Handlers } from '../handler-type.ts';
import { listChanges } from '../sync/change-feed.ts';
import { createTask, getTask, listTasks, taskRows, updateTask } from './queries.ts';

export const tasks: Handlers<'tasks'> = {
  list: async ({ request, params, query }) => page(await listTasks(request.ctx, params.id, query)),
  changes: async ({ request, query }) => page(await listChanges(request.ctx, taskRows, query)),
  create: async ({ request, params, body }) => created(await createTask(request.ctx, params.id, body)),
  get: async ({ request, params }) => ok(await getTask(request.ctx, params.taskId)),
  update: async ({ request, params, body }) => ok(await updateTask(request.ctx, params.taskId, body)),
};
