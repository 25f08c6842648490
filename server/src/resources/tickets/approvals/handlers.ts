import { created, ok, page } from '../../../shared/responses.ts';
import type { Handlers } from '../../handler-type.ts';
import { createApproval, decide, deleteApproval, getApproval, listApprovals, listTicketApprovals } from './queries.ts';

export const approvals: Handlers<'approvals'> = {
  ofTicket: async ({ request, params, query }) => page(await listTicketApprovals(request.ctx, params.id, query)),
  create: async ({ request, params, body }) => created(await createApproval(request.ctx, params.id, body)),
  list: async ({ request, query }) => page(await listApprovals(request.ctx, query)),
  get: async ({ request, params }) => ok(await getApproval(request.ctx, params.id)),
  decide: async ({ request, params, body }) => ok(await decide(request.ctx, params.id, body)),
  delete: async ({ request, params }) => ok(await deleteApproval(request.ctx, params.id)),
};
