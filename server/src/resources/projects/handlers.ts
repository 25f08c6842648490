import { ok, page } from '../../shared/responses.ts';
import type { Handlers } from '../handler-type.ts';
import { listChanges } from '../sync/change-feed.ts';
import { getProject, listProjects, projectRows } from './queries.ts';

export const projects: Handlers<'projects'> = {
  list: async ({ request, query }) => page(await listProjects(request.ctx, query)),
  changes: async ({ request, query }) => page(await listChanges(request.ctx, projectRows, query)),
  get: async ({ request, params }) => ok(await getProject(request.ctx, params.id)),
};
