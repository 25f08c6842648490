import { ok, page } from '../../shared/responses.ts';
import type { Handlers } from '../handler-type.ts';
import { listChanges } from '../sync/change-feed.ts';
import { getTeam, listTeams, teamRows } from './queries.ts';

export const teams: Handlers<'teams'> = {
  list: async ({ request, query }) => page(await listTeams(request.ctx, query)),
  changes: async ({ request, query }) => page(await listChanges(request.ctx, teamRows, query)),
  get: async ({ request, params }) => ok(await getTeam(request.ctx, params.id)),
};
