import { ok, page } from '../../reply.ts';
import type { Handlers } from '../handlers.ts';
import { getProject, listProjects } from './queries.ts';

export const projects: Handlers<'projects'> = {
  list: async ({ request, query }) => page(await listProjects(request.ctx, query)),
  get: async ({ request, params }) => ok(await getProject(request.ctx, params.id)),
};
