import { ok, page } from '../../reply.ts';
import { listChanges } from '../change-feed.ts';
import type { Handlers } from '../handlers.ts';
import { getProject, listProjects, projectRows } from './queries.ts';

export const projects: Handlers<'projects'> = {
  list: async ({ request, query }) => page(await listProjects(request.ctx, query)),
  changes: async ({ request, query }) => page(await listChanges(request.ctx, projectRows, query)),
  get: async ({ request, params }) => ok(await getProject(request.ctx, params.id)),
};
