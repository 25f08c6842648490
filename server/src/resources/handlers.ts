import type { ChangesQuery } from '@itsm-api/contract';
import type { Contract } from '@itsm-api/contract/ts-rest';
import type { RouterImplementation } from '@ts-rest/fastify';
import type { FastifyRequest } from 'fastify';
import { created, ok, page } from '../shared/responses.ts';
import { activityRows, listAssetActivity, listTicketActivity } from './activities/queries.ts';
import { articleFeed, getArticle, listArticles } from './articles/queries.ts';
import { assetRows, createAsset, getAsset, listAssets, updateAsset } from './assets/queries.ts';
import { upsertAssets } from './assets/upsert.ts';
import { getBusinessHours } from './business-hours/queries.ts';
import { listCustomFieldDefinitions } from './custom-fields/queries.ts';
import { getDelivery, listDeliveries, replayDelivery, sendTestEvent } from './deliveries/queries.ts';
import { readDocument } from './document/queries.ts';
import { getMe } from './me/queries.ts';
import { getProject, listProjects, projectRows } from './projects/queries.ts';
import { propose } from './proposals/creation.ts';
import { decideProposal } from './proposals/decision.ts';
import { getProposal, listProposals, withdrawProposal } from './proposals/queries.ts';
import { getRequestForm, listRequestForms, requestFormRows } from './request-forms/queries.ts';
import { submitForm } from './request-forms/submission.ts';
import type { UserContext } from './shared/context.ts';
import type { Page } from './shared/lists.ts';
import { type FeedRows, listChanges } from './sync/change-feed.ts';
import { createTask, getTask, listTasks, taskRows, updateTask } from './tasks/queries.ts';
import { teams } from './teams/queries.ts';
import { listTicketCategories } from './ticket-categories/queries.ts';
import {
  createApproval,
  decide,
  deleteApproval,
  getApproval,
  listApprovals,
  listTicketApprovals,
} from './tickets/approvals/queries.ts';
import {
  createAttachment,
  deleteAttachment,
  findFile,
  getAttachment,
  listAttachments,
  type StoredFile,
} from './tickets/attachments/queries.ts';
import { createTickets } from './tickets/bulk-creation.ts';
import { updateTickets } from './tickets/bulk-update.ts';
import { createComment, createComments } from './tickets/comments/comment-creation.ts';
import { commentRows, listComments } from './tickets/comments/queries.ts';
import { createLink, deleteLink, listLinks } from './tickets/links/queries.ts';
import { getTicket, listTickets, ticketRows } from './tickets/queries.ts';
import { createTicket } from './tickets/ticket-creation.ts';
import { updateTicket } from './tickets/ticket-update.ts';
import { getUser, listUsers, userRows } from './users/queries.ts';
import { getWebhook, listWebhooks } from './webhooks/queries.ts';
import { createWebhook, deleteWebhook, updateWebhook } from './webhooks/webhook-management.ts';
import { replayWebhook } from './webhooks/webhook-replays.ts';

/** The handlers of all endpoints, by resource. */
export const handlers: { [Resource in keyof Contract]: RouterImplementation<Contract[Resource]> } = {
  ping: {
    get: async () => ok({ status: 'ok', version: 'v1' }),
  },
  me: {
    get: async ({ request }) => ok(await getMe(request.ctx, await request.describeKey())),
  },
  tickets: {
    ...handlersOf({ list: listTickets, rows: ticketRows, get: getTicket }),
    create: async ({ request, body }) => created(await createTicket(request.ctx, body)),
    update: async ({ request, params, body }) => ok(await updateTicket(request.ctx, params.id, body)),
    createMany: async ({ request, body }) => ok(await createTickets(request.ctx, body.tickets)),
    updateMany: async ({ request, body }) => ok(await updateTickets(request.ctx, body.tickets)),
    attach: async ({ request, params, query }) => {
      const file = request.storedFile as StoredFile;
      return created(await createAttachment(request.ctx, params.id, { name: query.name, file }));
    },
  },
  comments: {
    list: async ({ request, params, query }) => page(await listComments(request.ctx, params.id, query)),
    changes: async ({ request, query }) => page(await listChanges(request.ctx, commentRows, query)),
    create: async ({ request, params, body }) => created(await createComment(request.ctx, params.id, body)),
    createMany: async ({ request, params, body }) => ok(await createComments(request.ctx, params.id, body.comments)),
  },
  attachments: {
    list: async ({ request, params, query }) => page(await listAttachments(request.ctx, params.id, query)),
    get: async ({ request, params }) => ok(await getAttachment(request.ctx, params.id)),
    download: async ({ request, params }) => ({ status: 200, body: await findFile(request.ctx, params.id) }),
    delete: async ({ request, params }) => ok(await deleteAttachment(request.ctx, params.id)),
  },
  links: {
    list: async ({ request, params, query }) => page(await listLinks(request.ctx, params.id, query)),
    create: async ({ request, params, body }) => created(await createLink(request.ctx, params.id, body)),
    delete: async ({ request, params }) => ok(await deleteLink(request.ctx, params.id, params.linkId)),
  },
  approvals: {
    ofTicket: async ({ request, params, query }) => page(await listTicketApprovals(request.ctx, params.id, query)),
    create: async ({ request, params, body }) => created(await createApproval(request.ctx, params.id, body)),
    list: async ({ request, query }) => page(await listApprovals(request.ctx, query)),
    get: async ({ request, params }) => ok(await getApproval(request.ctx, params.id)),
    decide: async ({ request, params, body }) => ok(await decide(request.ctx, params.id, body)),
    delete: async ({ request, params }) => ok(await deleteApproval(request.ctx, params.id)),
  },
  assets: {
    ...handlersOf({ list: listAssets, rows: assetRows, get: getAsset }),
    create: async ({ request, body }) => created(await createAsset(request.ctx, body)),
    upsertMany: async ({ request, body }) => ok(await upsertAssets(request.ctx, body)),
    update: async ({ request, params, body }) => ok(await updateAsset(request.ctx, params.id, body)),
  },
  articles: handlersOf({ list: listArticles, rows: articleFeed, get: getArticle }),
  activities: {
    ofTicket: async ({ request, params, query }) => page(await listTicketActivity(request.ctx, params.id, query)),
    ofTickets: async ({ request, query }) => page(await listChanges(request.ctx, activityRows.TICKET, query)),
    ofAsset: async ({ request, params, query }) => page(await listAssetActivity(request.ctx, params.id, query)),
    ofAssets: async ({ request, query }) => page(await listChanges(request.ctx, activityRows.ASSET, query)),
  },
  projects: handlersOf({ list: listProjects, rows: projectRows, get: getProject }),
  tasks: {
    list: async ({ request, params, query }) => page(await listTasks(request.ctx, params.id, query)),
    changes: async ({ request, query }) => page(await listChanges(request.ctx, taskRows, query)),
    create: async ({ request, params, body }) => created(await createTask(request.ctx, params.id, body)),
    get: async ({ request, params }) => ok(await getTask(request.ctx, params.taskId)),
    update: async ({ request, params, body }) => ok(await updateTask(request.ctx, params.taskId, body)),
  },
  users: handlersOf({ list: listUsers, rows: userRows, get: getUser }),
  teams: handlersOf(teams),
  fields: {
    list: async ({ request, query }) => page(await listCustomFieldDefinitions(request.ctx, query)),
  },
  ticketCategories: {
    list: async ({ request, query }) => page(await listTicketCategories(request.ctx, query)),
  },
  businessHours: {
    get: async ({ request }) => ok(await getBusinessHours(request.ctx)),
  },
  requestForms: {
    list: async ({ request, query }) => page(await listRequestForms(request.ctx, query)),
    changes: async ({ request, query }) => page(await listChanges(request.ctx, requestFormRows, query)),
    get: async ({ request, params }) => ok(await getRequestForm(request.ctx, params.key)),
    submit: async ({ request, params, body }) => created(await submitForm(request.ctx, params.key, body)),
  },
  proposals: {
    list: async ({ request, query }) => page(await listProposals(request.ctx, query, request.identity)),
    create: async ({ request, body }) => created(await propose(request.ctx, body, request.identity)),
    get: async ({ request, params }) => ok(await getProposal(request.ctx, params.id, request.identity)),
    decide: async ({ request, params, body }) =>
      ok(await decideProposal(request.ctx, params.id, body, request.identity)),
    delete: async ({ request, params }) => ok(await withdrawProposal(request.ctx, params.id, request.identity)),
  },
  document: {
    get: async ({ request, reply }) => ({ status: 200, body: await readDocument(request, reply) }),
  },
  webhooks: {
    list: async ({ request, query }) => page(await listWebhooks(request.ctx, query)),
    get: async ({ request, params }) => ok(await getWebhook(request.ctx, params.id)),
    create: async ({ request, body }) => created(await createWebhook(request.ctx, body)),
    update: async ({ request, params, body }) => ok(await updateWebhook(request.ctx, params.id, body)),
    test: async ({ request, params }) => created(await sendTestEvent(request.ctx, params.id)),
    replay: async ({ request, params, body }) => ok(await replayWebhook(request.ctx, params.id, body)),
    delete: async ({ request, params }) => ok(await deleteWebhook(request.ctx, params.id)),
  },
  deliveries: {
    list: async ({ request, params, query }) => page(await listDeliveries(request.ctx, params.id, query)),
    get: async ({ request, params }) => ok(await getDelivery(request.ctx, params.id)),
    replay: async ({ request, params }) => ok(await replayDelivery(request.ctx, params.id)),
  },
};

/** The functions that read a resource. */
interface Reads<Query, Listed, Row extends { id: number }, Id> {
  list(context: UserContext, query: Query): Promise<Page<Listed>>;
  rows: FeedRows<Row>;
  get(context: UserContext, id: Id): Promise<Row>;
}

type Input<Given> = Given & { request: FastifyRequest };

/** Returns the handlers of the three endpoints that read a resource: `list`, `changes` and `get`. */
function handlersOf<Query, Listed, Row extends { id: number }, Id>({ list, rows, get }: Reads<Query, Listed, Row, Id>) {
  return {
    list: async ({ request, query }: Input<{ query: Query }>) => page(await list(request.ctx, query)),
    changes: async ({ request, query }: Input<{ query: ChangesQuery }>) =>
      page(await listChanges(request.ctx, rows, query)),
    get: async ({ request, params }: Input<{ params: { id: Id } }>) => ok(await get(request.ctx, params.id)),
  };
}
