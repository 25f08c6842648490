import { ok, page } from '../../../shared/responses.ts';
import type { Handlers } from '../../handler-type.ts';
import { deleteAttachment, findFile, getAttachment, listAttachments } from './queries.ts';

export const attachments: Handlers<'attachments'> = {
  list: async ({ request, params, query }) => page(await listAttachments(request.ctx, params.id, query)),
  get: async ({ request, params }) => ok(await getAttachment(request.ctx, params.id)),
  download: async ({ request, params }) => ({ status: 200, body: await findFile(request.ctx, params.id) }),
  delete: async ({ request, params }) => ok(await deleteAttachment(request.ctx, params.id)),
};
