// Generated from the contract by `pnpm generate`. Do not edit.

import type { ApiPromise } from './api-promise.ts';
import type { BulkItemResult, BulkResult, BulkUpsertResult, UpsertItemResult } from './bulk.ts';
import type { ApiChanges, FollowQuery } from './changes.ts';
import type { Download, FileUpload } from './files.ts';
import type {
  Approval,
  ApprovalQuery,
  Article,
  ArticleSummary,
  ArticleSummaryQuery,
  Asset,
  AssetActivity,
  AssetActivityQuery,
  AssetMatch,
  AssetPatch,
  AssetQuery,
  AssetUpsertItem,
  Attachment,
  AttachmentQuery,
  BusinessHoursSettings,
  CategoryConfig,
  CategoryConfigQuery,
  Comment,
  CommentQuery,
  CreatedWebhook,
  CustomFieldDefinition,
  CustomFieldDefinitionQuery,
  CustomFields,
  Decision,
  Delivery,
  DeliveryDetail,
  DeliveryQuery,
  FieldsOf,
  FieldTypes,
  FormsOf,
  Identity,
  Link,
  LinkQuery,
  NewApproval,
  NewAsset,
  NewComment,
  NewLink,
  NewProposal,
  NewTask,
  NewTicket,
  NewTicketItem,
  NewWebhook,
  Open,
  Pong,
  Project,
  ProjectQuery,
  Proposal,
  ProposalDecision,
  ProposalQuery,
  RequestForm,
  RequestFormAnswers,
  RequestFormDetail,
  RequestFormQuery,
  RequestFormSubmission,
  Task,
  TaskPatch,
  TaskQuery,
  Team,
  TeamQuery,
  Ticket,
  TicketActivity,
  TicketActivityQuery,
  TicketApprovalQuery,
  TicketPatch,
  TicketPatchItem,
  TicketQuery,
  TicketReference,
  User,
  UserQuery,
  Webhook,
  WebhookPatch,
  WebhookQuery,
  WebhookReplay,
  WebhookReplayStarted,
} from './generated.ts';
import type { ApiList } from './list.ts';
import type { BulkOptions, BulkPostOptions, BulkUpsertOptions, PostOptions, RequestOptions } from './options.ts';

export interface Ping {
  /**
   * Check that the service is available.
   *
   * Requires no API key. Ignores query parameters and API keys.
   *
   * @example
   * const pong = await client.ping.get();
   */
  get(options?: RequestOptions): ApiPromise<Pong>;
}

export interface Me {
  /**
   * Describe the API key of the request.
   *
   * Returns the name, scopes, user, teams, workspace and rate limits of the API key, but not the key itself.
   *
   * Counts against the rate limit `users`, by default 30 requests per 60 seconds.
   *
   * @example
   * const identity = await client.me.get();
   */
  get(options?: RequestOptions): ApiPromise<Identity>;
}

export interface Tickets<Fields extends object = CustomFields> {
  /**
   * List tickets.
   *
   * Returns the newest tickets first, unless `sort` is `id`. Different filters combine with AND. Several values of one filter combine with OR.
   *
   * Requires the scope `tickets:read`: list and read tickets and their categories. Email addresses in the request also require the scope `users:read`.
   *
   * Each request counts against the rate limit `tickets`, by default 30 requests per 60 seconds.
   *
   * @example
   * for await (const ticket of client.tickets.list({ status: 'OPEN' })) console.log(ticket.id);
   */
  list(query?: TicketQuery<Fields>, options?: RequestOptions): ApiList<Ticket<Fields>>;

  /**
   * List changed tickets.
   *
   * Returns the current version of each changed resource, ordered by the last change, for incremental sync. To get the next page, send `nextCursor` as `cursor`. The feed never omits a changed resource, but it returns only the current version, and a resource can appear more than once. Without `since` and `cursor`, the feed starts with the oldest change.
   *
   * Requires the scope `tickets:read`: list and read tickets and their categories.
   *
   * Counts against the rate limit `tickets`, by default 30 requests per 60 seconds.
   *
   * @example
   * for await (const ticket of client.tickets.changes({ since: '2026-11-20T10:00:00Z' })) console.log(ticket.id);
   */
  changes(query?: FollowQuery, options?: RequestOptions): ApiChanges<Ticket<Fields>>;

  /**
   * Get a ticket.
   *
   * Requires the scope `tickets:read`: list and read tickets and their categories.
   *
   * Counts against the rate limit `tickets`, by default 30 requests per 60 seconds.
   *
   * @example
   * const ticket = await client.tickets.get(38);
   */
  get(id: TicketReference, options?: RequestOptions): ApiPromise<Ticket<Fields>>;

  /**
   * Create a ticket.
   *
   * Emits `ticket.created`.
   *
   * Requires the scope `tickets:write`: create and update tickets. Email addresses in the request also require the scope `users:read`.
   *
   * Counts against the rate limit `tickets`, by default 30 requests per 60 seconds.
   *
   * @example
   * const ticket = await client.tickets.create({
   *   title: 'VPN drops every ten minutes',
   *   description: 'Since this morning the VPN client loses its connection every ten minutes.',
   *   type: 'INCIDENT',
   *   category: 'NETWORK',
   *   priority: 'HIGH',
   *   assigneeId: 2,
   *   watcherUserIds: [1, 3],
   *   customFields: { site: 'Berlin' },
   * });
   */
  create(body: NewTicket<Fields>, options?: PostOptions): ApiPromise<Ticket<Fields>>;

  /**
   * Update a ticket.
   *
   * Emits `ticket.updated` if a field changes.
   *
   * `status` can change as follows. For any other change, the server returns `INVALID_TRANSITION`. You can set the current status again, which changes nothing.
   *
   * - OPEN → IN_PROGRESS, PENDING, RESOLVED, CANCELLED
   * - IN_PROGRESS → PENDING, RESOLVED, CANCELLED
   * - PENDING → IN_PROGRESS, RESOLVED, CANCELLED
   * - RESOLVED → CLOSED, IN_PROGRESS
   * - CLOSED is final; other fields can still change
   * - CANCELLED is final; other fields can still change
   *
   * Requires the scope `tickets:write`: create and update tickets. Email addresses in the request also require the scope `users:read`.
   *
   * Counts against the rate limit `tickets`, by default 30 requests per 60 seconds.
   *
   * @example
   * const ticket = await client.tickets.update(38, { status: 'IN_PROGRESS', priority: 'CRITICAL' });
   */
  update(id: TicketReference, body: TicketPatch<Fields>, options?: RequestOptions): ApiPromise<Ticket<Fields>>;

  /**
   * Create many tickets.
   *
   * Creates up to 100 tickets. The request counts once against the rate limits. Each item succeeds or fails independently. `data` contains one result for each item: the HTTP status, and the ticket or the error. Emits `ticket.created` for each created ticket. The event contains the `commentCount`, but not the `comments`.
   *
   * The client accepts any number of items and sends up to 100 items per request. It returns a result for each item, and fails only if no item got a result.
   *
   * Requires the scope `tickets:write`: create and update tickets. Email addresses in the request also require the scope `users:read`.
   *
   * Each request counts against the rate limit `tickets`, by default 30 requests per 60 seconds.
   *
   * @example
   * const { done, failed } = await client.tickets.createMany([
   *   {
   *     title: 'VPN drops every ten minutes',
   *     description: 'Since this morning.',
   *     type: 'INCIDENT',
   *     category: 'NETWORK',
   *   },
   *   { title: 'Mailbox is full', description: 'No mail arrives.', type: 'INCIDENT', category: 'EMAIL' },
   * ]);
   */
  createMany(
    items: readonly NewTicketItem<Fields>[],
    options?: BulkPostOptions<BulkItemResult<NewTicketItem<Fields>, Ticket<Fields>>>,
  ): Promise<BulkResult<NewTicketItem<Fields>, Ticket<Fields>>>;

  /**
   * Update many tickets.
   *
   * Updates up to 100 tickets. The request counts once against the rate limits. Each item succeeds or fails independently. `data` contains one result for each item: the HTTP status, and the ticket or the error. Emits `ticket.updated` for each changed ticket.
   *
   * `status` can change as follows. For any other change, the server returns `INVALID_TRANSITION`. You can set the current status again, which changes nothing.
   *
   * - OPEN → IN_PROGRESS, PENDING, RESOLVED, CANCELLED
   * - IN_PROGRESS → PENDING, RESOLVED, CANCELLED
   * - PENDING → IN_PROGRESS, RESOLVED, CANCELLED
   * - RESOLVED → CLOSED, IN_PROGRESS
   * - CLOSED is final; other fields can still change
   * - CANCELLED is final; other fields can still change
   *
   * The client accepts any number of items and sends up to 100 items per request. It returns a result for each item, and fails only if no item got a result.
   *
   * Requires the scope `tickets:write`: create and update tickets. Email addresses in the request also require the scope `users:read`.
   *
   * Each request counts against the rate limit `tickets`, by default 30 requests per 60 seconds.
   *
   * @example
   * const { done, failed } = await client.tickets.updateMany([{ id: 38, status: 'IN_PROGRESS', priority: 'CRITICAL' }]);
   */
  updateMany(
    items: readonly TicketPatchItem<Fields>[],
    options?: BulkOptions<BulkItemResult<TicketPatchItem<Fields>, Ticket<Fields>>>,
  ): Promise<BulkResult<TicketPatchItem<Fields>, Ticket<Fields>>>;

  /**
   * Attach a file to a ticket.
   *
   * The body is the content of the file, without any encoding. `Content-Type` is the type of the file: `application/octet-stream` by default. `Content-Length` is required. By default, the maximum size of a file is 25 MiB, and of all files of a workspace 5 GiB. Each server process runs at most 4 concurrent uploads of a workspace. An upload fails if it is slower than 1024 bytes per second for 30 seconds, and after 15 minutes. Changes `attachmentCount` and `updatedAt` of the ticket, and emits `ticket.updated`.
   *
   * Requires the scope `tickets:write`: create and update tickets.
   *
   * Counts against the rate limit `tickets`, by default 30 requests per 60 seconds.
   *
   * @example
   * const attachment = await client.tickets.attach(38, new File(['Connection lost.'], 'vpn-client.log', { type: 'text/plain' }));
   */
  attach(id: TicketReference, file: FileUpload, options?: PostOptions): ApiPromise<Attachment>;
}

export interface Comments {
  /**
   * List a ticket's comments.
   *
   * Returns PUBLIC and INTERNAL comments, newest first.
   *
   * Requires the scope `tickets:read`: list and read tickets and their categories.
   *
   * Each request counts against the rate limit `tickets`, by default 30 requests per 60 seconds.
   *
   * @example
   * for await (const comment of client.comments.list(38)) console.log(comment.id);
   */
  list(ticketId: TicketReference, query?: CommentQuery, options?: RequestOptions): ApiList<Comment>;

  /**
   * List the comments of all tickets.
   *
   * Returns the comments of all tickets for incremental sync, in the order in which the transactions were committed. To get the next page, send `nextCursor` as `cursor`. The feed never omits an item, and an item can appear more than once. Without `since` and `cursor`, the feed starts with the oldest item.
   *
   * Requires the scope `tickets:read`: list and read tickets and their categories.
   *
   * Counts against the rate limit `tickets`, by default 30 requests per 60 seconds.
   *
   * @example
   * for await (const comment of client.comments.changes({ since: '2026-11-20T10:00:00Z' })) console.log(comment.id);
   */
  changes(query?: FollowQuery, options?: RequestOptions): ApiChanges<Comment>;

  /**
   * Comment on a ticket.
   *
   * Adds a comment to a ticket with any status. Changes `commentCount` and `updatedAt` of the ticket, and emits `ticket.updated`.
   *
   * Requires the scope `tickets:write`: create and update tickets. Email addresses in the request also require the scope `users:read`.
   *
   * Counts against the rate limit `tickets`, by default 30 requests per 60 seconds.
   *
   * @example
   * const comment = await client.comments.create(38, { body: 'The gateway was restarted; does it still happen?', visibility: 'PUBLIC' });
   */
  create(ticketId: TicketReference, body: NewComment, options?: PostOptions): ApiPromise<Comment>;

  /**
   * Comment on a ticket many times.
   *
   * Adds up to 100 comments to a ticket, in the given order. The request counts once against the rate limits. Each item succeeds or fails independently. `data` contains one result for each item: the HTTP status, and the comment or the error. Emits `ticket.updated` for each comment.
   *
   * The client accepts any number of items and sends up to 100 items per request. It returns a result for each item, and fails only if no item got a result.
   *
   * Requires the scope `tickets:write`: create and update tickets. Email addresses in the request also require the scope `users:read`.
   *
   * Each request counts against the rate limit `tickets`, by default 30 requests per 60 seconds.
   *
   * @example
   * const { done, failed } = await client.comments.createMany(38, [
   *   { body: 'The gateway was restarted; does it still happen?', visibility: 'PUBLIC' },
   *   { body: 'Third restart this week.', visibility: 'INTERNAL' },
   * ]);
   */
  createMany(
    ticketId: TicketReference,
    items: readonly NewComment[],
    options?: BulkPostOptions<BulkItemResult<NewComment, Comment>>,
  ): Promise<BulkResult<NewComment, Comment>>;
}

export interface Attachments {
  /**
   * List a ticket's attachments.
   *
   * Returns the newest attachments first, without their content.
   *
   * Requires the scope `tickets:read`: list and read tickets and their categories.
   *
   * Each request counts against the rate limit `tickets`, by default 30 requests per 60 seconds.
   *
   * @example
   * for await (const attachment of client.attachments.list(38)) console.log(attachment.id);
   */
  list(ticketId: TicketReference, query?: AttachmentQuery, options?: RequestOptions): ApiList<Attachment>;

  /**
   * Get an attachment.
   *
   * Returns the name, type and size of the file, but not its content.
   *
   * Requires the scope `tickets:read`: list and read tickets and their categories.
   *
   * Counts against the rate limit `tickets`, by default 30 requests per 60 seconds.
   *
   * @example
   * const attachment = await client.attachments.get(1);
   */
  get(id: number | string, options?: RequestOptions): ApiPromise<Attachment>;

  /**
   * Download an attachment.
   *
   * Returns the content of the file. `Content-Type` is the declared type of the upload. Treat the content as untrusted: any client that can write tickets can upload any content. Each server process runs at most 4 concurrent downloads of a workspace.
   *
   * Requires the scope `tickets:read`: list and read tickets and their categories.
   *
   * Counts against the rate limit `tickets`, by default 30 requests per 60 seconds.
   *
   * @example
   * const file = await client.attachments.download(1);
   */
  download(id: number | string, options?: RequestOptions): ApiPromise<Download>;

  /**
   * Delete an attachment.
   *
   * Returns the deleted attachment, and deletes its content. Changes `attachmentCount` and `updatedAt` of the ticket, and emits `ticket.updated`. Comments that refer to the attachment keep its id.
   *
   * Requires the scope `tickets:write`: create and update tickets.
   *
   * Counts against the rate limit `tickets`, by default 30 requests per 60 seconds.
   *
   * @example
   * const attachment = await client.attachments.delete(1);
   */
  delete(id: number | string, options?: RequestOptions): ApiPromise<Attachment>;
}

export interface Links {
  /**
   * List the links of a ticket.
   *
   * Returns the links in both directions, newest first.
   *
   * Requires the scope `tickets:read`: list and read tickets and their categories.
   *
   * Each request counts against the rate limit `tickets`, by default 30 requests per 60 seconds.
   *
   * @example
   * for await (const link of client.links.list(38)) console.log(link.id);
   */
  list(ticketId: TicketReference, query?: LinkQuery, options?: RequestOptions): ApiList<Link>;

  /**
   * Link a ticket to another ticket.
   *
   * Changes `linkCount` and `updatedAt` of both tickets, and emits `ticket.updated` for both. A ticket can have at most 50 links, in both directions together.
   *
   * Requires the scope `tickets:write`: create and update tickets.
   *
   * Counts against the rate limit `tickets`, by default 30 requests per 60 seconds.
   *
   * @example
   * const link = await client.links.create(38, { type: 'RELATES_TO', ticketId: 23 });
   */
  create(ticketId: TicketReference, body: NewLink, options?: PostOptions): ApiPromise<Link>;

  /**
   * Delete a link between two tickets.
   *
   * Returns the deleted link. Either of the two tickets can be in the path. Changes `linkCount` and `updatedAt` of both tickets, and emits `ticket.updated` for both.
   *
   * Requires the scope `tickets:write`: create and update tickets.
   *
   * Counts against the rate limit `tickets`, by default 30 requests per 60 seconds.
   *
   * @example
   * const link = await client.links.delete(38, 1);
   */
  delete(ticketId: TicketReference, linkId: number | string, options?: RequestOptions): ApiPromise<Link>;
}

export interface Approvals {
  /**
   * List the approvals of a ticket.
   *
   * Returns the newest approvals first. Only tickets of the type CHANGE have approvals.
   *
   * Requires the scope `tickets:read`: list and read tickets and their categories.
   *
   * Each request counts against the rate limit `tickets`, by default 30 requests per 60 seconds.
   *
   * @example
   * for await (const approval of client.approvals.ofTicket(27)) console.log(approval.id);
   */
  ofTicket(ticketId: TicketReference, query?: TicketApprovalQuery, options?: RequestOptions): ApiList<Approval>;

  /**
   * Request an approval of a change.
   *
   * A CHANGE has at most 20 approvals, each by a different user. Changes `updatedAt` of the ticket, and emits `ticket.updated`.
   *
   * Requires the scope `tickets:write`: create and update tickets. Email addresses in the request also require the scope `users:read`.
   *
   * Counts against the rate limit `tickets`, by default 30 requests per 60 seconds.
   *
   * @example
   * const approval = await client.approvals.create(27, { approverId: 4, note: 'Checks that the window is free.' });
   */
  create(ticketId: TicketReference, body: NewApproval, options?: PostOptions): ApiPromise<Approval>;

  /**
   * List approvals.
   *
   * Returns the approvals of all tickets, newest first.
   *
   * Requires the scope `tickets:read`: list and read tickets and their categories. Email addresses in the request also require the scope `users:read`.
   *
   * Each request counts against the rate limit `tickets`, by default 30 requests per 60 seconds.
   *
   * @example
   * for await (const approval of client.approvals.list({ decision: 'PENDING' })) console.log(approval.id);
   */
  list(query?: ApprovalQuery, options?: RequestOptions): ApiList<Approval>;

  /**
   * Get an approval.
   *
   * Requires the scope `tickets:read`: list and read tickets and their categories.
   *
   * Counts against the rate limit `tickets`, by default 30 requests per 60 seconds.
   *
   * @example
   * const approval = await client.approvals.get(1);
   */
  get(id: number | string, options?: RequestOptions): ApiPromise<Approval>;

  /**
   * Decide about a change.
   *
   * Requires an API key of the approver. Repeating the same decision with the same comment changes nothing, with any `If-Match`. Changes `updatedAt` of the ticket, and emits `ticket.updated`.
   *
   * Requires the scope `tickets:write`: create and update tickets.
   *
   * Counts against the rate limit `tickets`, by default 30 requests per 60 seconds.
   *
   * @example
   * const approval = await client.approvals.decide(1, { decision: 'APPROVED', comment: 'Only after the backup.' });
   */
  decide(id: number | string, body: Decision, options?: RequestOptions): ApiPromise<Approval>;

  /**
   * Withdraw the request for an approval.
   *
   * Returns the withdrawn approval. Requires an API key of its approver or of the user who requested it. Only a PENDING approval can be withdrawn, by the user who requested it only if no approver of the ticket has decided yet. Administrators can withdraw any approval in the developer area. Changes `updatedAt` of the ticket, and emits `ticket.updated`.
   *
   * Requires the scope `tickets:write`: create and update tickets.
   *
   * Counts against the rate limit `tickets`, by default 30 requests per 60 seconds.
   *
   * @example
   * const approval = await client.approvals.delete(1);
   */
  delete(id: number | string, options?: RequestOptions): ApiPromise<Approval>;
}

export interface Assets<Fields extends object = CustomFields> {
  /**
   * List assets.
   *
   * Returns the newest assets first. Different filters combine with AND. Several values of one filter combine with OR.
   *
   * Requires the scope `assets:read`: list and read assets. Email addresses in the request also require the scope `users:read`.
   *
   * Each request counts against the rate limit `assets`, by default 30 requests per 60 seconds.
   *
   * @example
   * for await (const asset of client.assets.list({ status: 'ON_ORDER' })) console.log(asset.id);
   */
  list(query?: AssetQuery<Fields>, options?: RequestOptions): ApiList<Asset<Fields>>;

  /**
   * List changed assets.
   *
   * Returns the current version of each changed resource, ordered by the last change, for incremental sync. To get the next page, send `nextCursor` as `cursor`. The feed never omits a changed resource, but it returns only the current version, and a resource can appear more than once. Without `since` and `cursor`, the feed starts with the oldest change.
   *
   * Requires the scope `assets:read`: list and read assets.
   *
   * Counts against the rate limit `assets`, by default 30 requests per 60 seconds.
   *
   * @example
   * for await (const asset of client.assets.changes({ since: '2026-11-20T10:00:00Z' })) console.log(asset.id);
   */
  changes(query?: FollowQuery, options?: RequestOptions): ApiChanges<Asset<Fields>>;

  /**
   * Get an asset.
   *
   * Requires the scope `assets:read`: list and read assets.
   *
   * Counts against the rate limit `assets`, by default 30 requests per 60 seconds.
   *
   * @example
   * const asset = await client.assets.get(11);
   */
  get(id: number | string, options?: RequestOptions): ApiPromise<Asset<Fields>>;

  /**
   * Create an asset.
   *
   * Emits `asset.created`.
   *
   * Requires the scope `assets:write`: create and update assets. Email addresses in the request also require the scope `users:read`.
   *
   * Counts against the rate limit `assets`, by default 30 requests per 60 seconds.
   *
   * @example
   * const asset = await client.assets.create({
   *   name: 'Laptop of the front desk',
   *   assetTag: 'LT-0311',
   *   serialNumber: 'PF4N2KD8',
   *   type: 'LAPTOP',
   *   assignedToId: 2,
   * });
   */
  create(body: NewAsset<Fields>, options?: PostOptions): ApiPromise<Asset<Fields>>;

  /**
   * Create or update many assets.
   *
   * Creates or updates up to 100 assets, for example from an inventory. The request counts once against the rate limits. Each item succeeds or fails independently. Of two items for the same asset, the second fails. `data` contains one result for each item: the HTTP status, and the asset or the error. If you repeat a request, the server changes nothing. Emits `asset.created` for each created asset.
   *
   * The client accepts any number of items and sends up to 100 items per request. It returns a result for each item, and fails only if no item got a result.
   *
   * Requires the scope `assets:write`: create and update assets. Email addresses in the request also require the scope `users:read`.
   *
   * Each request counts against the rate limit `assets`, by default 30 requests per 60 seconds.
   *
   * @example
   * const { done, failed } = await client.assets.upsertMany([
   *   {
   *     assetTag: 'LT-0311',
   *     name: 'Laptop of the front desk',
   *     type: 'LAPTOP',
   *     location: 'Berlin, floor 4',
   *   },
   *   { assetTag: 'SW-0007', name: 'Switch in room 2.14', type: 'NETWORK', status: 'IN_USE' },
   * ]);
   */
  upsertMany(
    items: readonly AssetUpsertItem<Fields>[],
    options?: BulkUpsertOptions<Open<AssetMatch>, UpsertItemResult<AssetUpsertItem<Fields>, Asset<Fields>>>,
  ): Promise<BulkUpsertResult<AssetUpsertItem<Fields>, Asset<Fields>>>;

  /**
   * Update an asset.
   *
   * `status` can change as follows. For any other change, the server returns `INVALID_TRANSITION`. You can set the current status again, which changes nothing.
   *
   * - every status except DISPOSED → any status
   * - DISPOSED is final; other fields can still change
   *
   * Requires the scope `assets:write`: create and update assets. Email addresses in the request also require the scope `users:read`.
   *
   * Counts against the rate limit `assets`, by default 30 requests per 60 seconds.
   *
   * @example
   * const asset = await client.assets.update(11, { assignedToId: 2 });
   */
  update(id: number | string, body: AssetPatch<Fields>, options?: RequestOptions): ApiPromise<Asset<Fields>>;
}

export interface Articles {
  /**
   * List articles.
   *
   * Returns the published articles without their text, newest first. With `q`, articles whose titles contain all words come first.
   *
   * Requires the scope `kb:read`: list and read the articles of the knowledge base.
   *
   * Each request counts against the rate limit `kb`, by default 30 requests per 60 seconds.
   *
   * @example
   * for await (const articleSummary of client.articles.list()) console.log(articleSummary.id);
   */
  list(query?: ArticleSummaryQuery, options?: RequestOptions): ApiList<ArticleSummary>;

  /**
   * List changed articles.
   *
   * Returns each article that is or was published, ordered by its last change, for incremental sync. An article that is no longer published has the status ARCHIVED and the body null: delete your copy. To get the next page, send `nextCursor` as `cursor`. The feed never omits a changed article, and an article can appear more than once. Without `since` and `cursor`, the feed starts with the oldest change.
   *
   * Requires the scope `kb:read`: list and read the articles of the knowledge base.
   *
   * Counts against the rate limit `kb`, by default 30 requests per 60 seconds.
   *
   * @example
   * for await (const article of client.articles.changes({ since: '2026-11-20T10:00:00Z' })) console.log(article.id);
   */
  changes(query?: FollowQuery, options?: RequestOptions): ApiChanges<Article>;

  /**
   * Get an article.
   *
   * Returns a published article.
   *
   * Requires the scope `kb:read`: list and read the articles of the knowledge base.
   *
   * Counts against the rate limit `kb`, by default 30 requests per 60 seconds.
   *
   * @example
   * const article = await client.articles.get(1);
   */
  get(id: number | string, options?: RequestOptions): ApiPromise<Article>;
}

export interface Proposals {
  /**
   * List proposals.
   *
   * Returns the proposals for resources that the API key can read, newest first. Different filters combine with AND. Several values of one filter combine with OR.
   *
   * Each request counts against the rate limit `tickets`, by default 30 requests per 60 seconds.
   *
   * @example
   * for await (const proposal of client.proposals.list({ status: 'PENDING' })) console.log(proposal.id);
   */
  list(query?: ProposalQuery, options?: RequestOptions): ApiList<Proposal>;

  /**
   * Propose a request.
   *
   * Runs the request, rolls back its changes, and stores the proposal. If the request fails, returns its error, with paths below `params` and `body`. All items of an upsert must be valid. If a person accepts the proposal, the server runs the request again as the user of this API key. Requires the scope of the operation. A workspace can have at most 500 pending proposals, and an API key 100. The body and the preview can have 262144 bytes in total.
   *
   * Counts against the rate limit `tickets`, by default 30 requests per 60 seconds.
   *
   * @example
   * const proposal = await client.proposals.create({
   *   operation: 'tickets_update',
   *   params: { id: 38 },
   *   body: { priority: 'CRITICAL' },
   *   reason: 'Three other tickets report the same outage.',
   * });
   */
  create(body: NewProposal, options?: PostOptions): ApiPromise<Proposal>;

  /**
   * Get a proposal.
   *
   * Requires the scope that reads the resource of the operation.
   *
   * Counts against the rate limit `tickets`, by default 30 requests per 60 seconds.
   *
   * @example
   * const proposal = await client.proposals.get(1);
   */
  get(id: number | string, options?: RequestOptions): ApiPromise<Proposal>;

  /**
   * Decide about a proposal.
   *
   * If the decision is ACCEPTED, the server runs the request again. It commits the changes if they equal the preview, and the status of the target is still the same. Otherwise, it changes nothing, and the proposal becomes STALE. Check the `status` in the response. Requires an API key that acts for a person, has the scope of the operation, and is not a proposing key. Repeating the same decision changes nothing, even if `If-Match` no longer matches.
   *
   * Counts against the rate limit `tickets`, by default 30 requests per 60 seconds.
   *
   * @example
   * const proposal = await client.proposals.decide(1, { decision: 'ACCEPTED', note: 'Agreed with the network team.' });
   */
  decide(id: number | string, body: ProposalDecision, options?: RequestOptions): ApiPromise<Proposal>;

  /**
   * Withdraw a proposal.
   *
   * Returns the withdrawn proposal. Requires the API key that created it, or the key that replaced this key in a rotation.
   *
   * Counts against the rate limit `tickets`, by default 30 requests per 60 seconds.
   *
   * @example
   * const proposal = await client.proposals.delete(1);
   */
  delete(id: number | string, options?: RequestOptions): ApiPromise<Proposal>;
}

export interface Activities {
  /**
   * List the activity of a ticket.
   *
   * Returns the newest actions first. The list doesn't include actions that occurred before the server started to record activity.
   *
   * Requires the scope `tickets:read`: list and read tickets and their categories.
   *
   * Each request counts against the rate limit `tickets`, by default 30 requests per 60 seconds.
   *
   * @example
   * for await (const ticketActivity of client.activities.ofTicket(38)) console.log(ticketActivity.id);
   */
  ofTicket(ticketId: TicketReference, query?: TicketActivityQuery, options?: RequestOptions): ApiList<TicketActivity>;

  /**
   * List the activity of all tickets.
   *
   * Returns the activity of all tickets for incremental sync, in the order in which the transactions were committed. To get the next page, send `nextCursor` as `cursor`. The feed never omits an item, and an item can appear more than once. Without `since` and `cursor`, the feed starts with the oldest item.
   *
   * Requires the scope `tickets:read`: list and read tickets and their categories.
   *
   * Counts against the rate limit `tickets`, by default 30 requests per 60 seconds.
   *
   * @example
   * for await (const ticketActivity of client.activities.ofTickets({ since: '2026-11-20T10:00:00Z' })) console.log(ticketActivity.id);
   */
  ofTickets(query?: FollowQuery, options?: RequestOptions): ApiChanges<TicketActivity>;

  /**
   * List the activity of an asset.
   *
   * Returns the newest actions first. The list doesn't include actions that occurred before the server started to record activity.
   *
   * Requires the scope `assets:read`: list and read assets.
   *
   * Each request counts against the rate limit `assets`, by default 30 requests per 60 seconds.
   *
   * @example
   * for await (const assetActivity of client.activities.ofAsset(11)) console.log(assetActivity.id);
   */
  ofAsset(assetId: number | string, query?: AssetActivityQuery, options?: RequestOptions): ApiList<AssetActivity>;

  /**
   * List the activity of all assets.
   *
   * Returns the activity of all assets for incremental sync, in the order in which the transactions were committed. To get the next page, send `nextCursor` as `cursor`. The feed never omits an item, and an item can appear more than once. Without `since` and `cursor`, the feed starts with the oldest item.
   *
   * Requires the scope `assets:read`: list and read assets.
   *
   * Counts against the rate limit `assets`, by default 30 requests per 60 seconds.
   *
   * @example
   * for await (const assetActivity of client.activities.ofAssets({ since: '2026-11-20T10:00:00Z' })) console.log(assetActivity.id);
   */
  ofAssets(query?: FollowQuery, options?: RequestOptions): ApiChanges<AssetActivity>;
}

export interface Projects {
  /**
   * List projects.
   *
   * Returns the newest projects first. Different filters combine with AND. Several values of one filter combine with OR.
   *
   * Requires the scope `projects:read`: list and read projects and their tasks.
   *
   * Each request counts against the rate limit `projects`, by default 30 requests per 60 seconds.
   *
   * @example
   * for await (const project of client.projects.list({ status: 'PLANNED' })) console.log(project.id);
   */
  list(query?: ProjectQuery, options?: RequestOptions): ApiList<Project>;

  /**
   * List changed projects.
   *
   * Returns the current version of each changed resource, ordered by the last change, for incremental sync. To get the next page, send `nextCursor` as `cursor`. The feed never omits a changed resource, but it returns only the current version, and a resource can appear more than once. Without `since` and `cursor`, the feed starts with the oldest change.
   *
   * Requires the scope `projects:read`: list and read projects and their tasks.
   *
   * Counts against the rate limit `projects`, by default 30 requests per 60 seconds.
   *
   * @example
   * for await (const project of client.projects.changes({ since: '2026-11-20T10:00:00Z' })) console.log(project.id);
   */
  changes(query?: FollowQuery, options?: RequestOptions): ApiChanges<Project>;

  /**
   * Get a project.
   *
   * Requires the scope `projects:read`: list and read projects and their tasks.
   *
   * Counts against the rate limit `projects`, by default 30 requests per 60 seconds.
   *
   * @example
   * const project = await client.projects.get(2);
   */
  get(id: number | string, options?: RequestOptions): ApiPromise<Project>;
}

export interface Tasks {
  /**
   * List a project's tasks.
   *
   * Returns the newest tasks first. Different filters combine with AND. Several values of one filter combine with OR.
   *
   * Requires the scope `projects:read`: list and read projects and their tasks. Email addresses in the request also require the scope `users:read`.
   *
   * Each request counts against the rate limit `projects`, by default 30 requests per 60 seconds.
   *
   * @example
   * for await (const task of client.tasks.list(2, { status: 'TODO' })) console.log(task.id);
   */
  list(projectId: number | string, query?: TaskQuery, options?: RequestOptions): ApiList<Task>;

  /**
   * List changed tasks.
   *
   * Returns the current version of each changed resource, ordered by the last change, for incremental sync. To get the next page, send `nextCursor` as `cursor`. The feed never omits a changed resource, but it returns only the current version, and a resource can appear more than once. Without `since` and `cursor`, the feed starts with the oldest change.
   *
   * Requires the scope `projects:read`: list and read projects and their tasks.
   *
   * Counts against the rate limit `projects`, by default 30 requests per 60 seconds.
   *
   * @example
   * for await (const task of client.tasks.changes({ since: '2026-11-20T10:00:00Z' })) console.log(task.id);
   */
  changes(query?: FollowQuery, options?: RequestOptions): ApiChanges<Task>;

  /**
   * Create a task in a project.
   *
   * Requires the scope `projects:write`: create and update tasks. Email addresses in the request also require the scope `users:read`.
   *
   * Counts against the rate limit `projects`, by default 30 requests per 60 seconds.
   *
   * @example
   * const task = await client.tasks.create(2, { title: 'Order patch cables', assigneeId: 2, dueDate: '2026-11-27' });
   */
  create(projectId: number | string, body: NewTask, options?: PostOptions): ApiPromise<Task>;

  /**
   * Get a task.
   *
   * Requires the scope `projects:read`: list and read projects and their tasks.
   *
   * Counts against the rate limit `projects`, by default 30 requests per 60 seconds.
   *
   * @example
   * const task = await client.tasks.get(10);
   */
  get(taskId: number | string, options?: RequestOptions): ApiPromise<Task>;

  /**
   * Update a task.
   *
   * Emits `task.updated` if a field changes.
   *
   * Every transition of `status` is allowed.
   *
   * Requires the scope `projects:write`: create and update tasks. Email addresses in the request also require the scope `users:read`.
   *
   * Counts against the rate limit `projects`, by default 30 requests per 60 seconds.
   *
   * @example
   * const task = await client.tasks.update(10, { status: 'IN_PROGRESS', assigneeId: 2 });
   */
  update(taskId: number | string, body: TaskPatch, options?: RequestOptions): ApiPromise<Task>;
}

export interface Users {
  /**
   * List users.
   *
   * Returns the newest users first. Different filters combine with AND. Several values of one filter combine with OR.
   *
   * Requires the scope `users:read`: list and read users and teams.
   *
   * Each request counts against the rate limit `users`, by default 30 requests per 60 seconds.
   *
   * @example
   * for await (const user of client.users.list({ role: 'ADMIN' })) console.log(user.id);
   */
  list(query?: UserQuery, options?: RequestOptions): ApiList<User>;

  /**
   * List changed users.
   *
   * Returns the current version of each changed resource, ordered by the last change, for incremental sync. To get the next page, send `nextCursor` as `cursor`. The feed never omits a changed resource, but it returns only the current version, and a resource can appear more than once. Without `since` and `cursor`, the feed starts with the oldest change.
   *
   * Requires the scope `users:read`: list and read users and teams.
   *
   * Counts against the rate limit `users`, by default 30 requests per 60 seconds.
   *
   * @example
   * for await (const user of client.users.changes({ since: '2026-11-20T10:00:00Z' })) console.log(user.id);
   */
  changes(query?: FollowQuery, options?: RequestOptions): ApiChanges<User>;

  /**
   * Get a user.
   *
   * Requires the scope `users:read`: list and read users and teams.
   *
   * Counts against the rate limit `users`, by default 30 requests per 60 seconds.
   *
   * @example
   * const user = await client.users.get(2);
   */
  get(id: number | string, options?: RequestOptions): ApiPromise<User>;
}

export interface Teams {
  /**
   * List teams.
   *
   * Returns the newest teams first.
   *
   * Requires the scope `users:read`: list and read users and teams.
   *
   * Each request counts against the rate limit `users`, by default 30 requests per 60 seconds.
   *
   * @example
   * for await (const team of client.teams.list()) console.log(team.id);
   */
  list(query?: TeamQuery, options?: RequestOptions): ApiList<Team>;

  /**
   * List changed teams.
   *
   * Returns the current version of each changed resource, ordered by the last change, for incremental sync. To get the next page, send `nextCursor` as `cursor`. The feed never omits a changed resource, but it returns only the current version, and a resource can appear more than once. Without `since` and `cursor`, the feed starts with the oldest change.
   *
   * Requires the scope `users:read`: list and read users and teams.
   *
   * Counts against the rate limit `users`, by default 30 requests per 60 seconds.
   *
   * @example
   * for await (const team of client.teams.changes({ since: '2026-11-20T10:00:00Z' })) console.log(team.id);
   */
  changes(query?: FollowQuery, options?: RequestOptions): ApiChanges<Team>;

  /**
   * Get a team.
   *
   * Requires the scope `users:read`: list and read users and teams.
   *
   * Counts against the rate limit `users`, by default 30 requests per 60 seconds.
   *
   * @example
   * const team = await client.teams.get(1);
   */
  get(id: number | string, options?: RequestOptions): ApiPromise<Team>;
}

export interface Fields {
  /**
   * List the definitions of custom fields.
   *
   * Returns the definitions in the order of their resources and keys, including inactive ones. Every API key can list them. With `perPage=100`, the first page contains all definitions.
   *
   * Each request counts against the rate limit `users`, by default 30 requests per 60 seconds.
   *
   * @example
   * for await (const customFieldDefinition of client.fields.list({ resource: 'TICKET' })) console.log(customFieldDefinition.key);
   */
  list(query?: CustomFieldDefinitionQuery, options?: RequestOptions): ApiList<CustomFieldDefinition>;
}

export interface TicketCategories {
  /**
   * List ticket categories.
   *
   * Returns all categories that the workspace defines, including inactive ones, in the order of their ids.
   *
   * Requires the scope `tickets:read`: list and read tickets and their categories.
   *
   * Each request counts against the rate limit `tickets`, by default 30 requests per 60 seconds.
   *
   * @example
   * for await (const categoryConfig of client.ticketCategories.list()) console.log(categoryConfig.id);
   */
  list(query?: CategoryConfigQuery, options?: RequestOptions): ApiList<CategoryConfig>;
}

export interface BusinessHours {
  /**
   * Get the business hours and targets.
   *
   * You set them in the developer area or with the command line.
   *
   * Counts against the rate limit `users`, by default 30 requests per 60 seconds.
   *
   * @example
   * const businessHoursSettings = await client.businessHours.get();
   */
  get(options?: RequestOptions): ApiPromise<BusinessHoursSettings>;
}

export interface RequestForms<Fields extends object = CustomFields, Forms extends object = Record<string, RequestFormAnswers>> {
  /**
   * List request forms.
   *
   * Returns all forms of the workspace, including inactive ones, in the order of their keys. With `perPage=100`, the first page contains all forms.
   *
   * Each request counts against the rate limit `users`, by default 30 requests per 60 seconds.
   *
   * @example
   * for await (const requestForm of client.requestForms.list()) console.log(requestForm.id);
   */
  list(query?: RequestFormQuery, options?: RequestOptions): ApiList<RequestForm>;

  /**
   * List changed request forms.
   *
   * Returns the current version of each changed resource, ordered by the last change, for incremental sync. To get the next page, send `nextCursor` as `cursor`. The feed never omits a changed resource, but it returns only the current version, and a resource can appear more than once. Without `since` and `cursor`, the feed starts with the oldest change.
   *
   * Counts against the rate limit `users`, by default 30 requests per 60 seconds.
   *
   * @example
   * for await (const requestForm of client.requestForms.changes({ since: '2026-11-20T10:00:00Z' })) console.log(requestForm.id);
   */
  changes(query?: FollowQuery, options?: RequestOptions): ApiChanges<RequestForm>;

  /**
   * Get a request form.
   *
   * Returns a form with the JSON Schema of its answers, even if the form is inactive.
   *
   * Counts against the rate limit `users`, by default 30 requests per 60 seconds.
   *
   * @example
   * const requestFormDetail = await client.requestForms.get('laptop');
   */
  get(key: string, options?: RequestOptions): ApiPromise<RequestFormDetail>;

  /**
   * Submit a request form.
   *
   * Creates a ticket from the answers, and emits `ticket.created`. Returns 404 if the form is inactive. The document of your workspace (`GET /openapi.json`) has an operation with typed answers for each active form.
   *
   * Requires the scope `tickets:write`: create and update tickets. Email addresses in the request also require the scope `users:read`.
   *
   * Counts against the rate limit `tickets`, by default 30 requests per 60 seconds.
   *
   * @example
   * const ticket = await client.requestForms.submit('laptop', { answers: { site: 'Berlin' } });
   */
  submit<Key extends keyof Forms & string>(
    key: Key,
    body: RequestFormSubmission<Forms[Key]>,
    options?: PostOptions,
  ): ApiPromise<Ticket<Fields>>;
}

export interface Document {
  /**
   * Get the OpenAPI document of the workspace.
   *
   * Returns the OpenAPI document with the custom fields, the ticket categories and the request forms of the workspace. It has an operation with typed answers for each active form. The schemas of requests list the fields with their types and values. The schemas of responses also allow other values, because stored values can be older than the definitions. For an import key, no custom field is required. Every API key can read the document, but only keys with the scope `tickets:read` get the ticket categories.
   *
   * Counts against the rate limit `users`, by default 30 requests per 60 seconds.
   *
   * @example
   * const file = await client.document.get();
   */
  get(options?: RequestOptions): ApiPromise<Download>;
}

export interface Webhooks {
  /**
   * List active webhook subscriptions.
   *
   * Returns the newest subscriptions first.
   *
   * Requires the scope `webhooks:manage`: list, read, register, change and deactivate webhook subscriptions.
   *
   * Each request counts against the rate limit `webhooks`, by default 30 requests per 60 seconds.
   *
   * @example
   * for await (const webhook of client.webhooks.list()) console.log(webhook.id);
   */
  list(query?: WebhookQuery, options?: RequestOptions): ApiList<Webhook>;

  /**
   * Get a webhook subscription.
   *
   * Returns the subscription even if it is deactivated.
   *
   * Requires the scope `webhooks:manage`: list, read, register, change and deactivate webhook subscriptions.
   *
   * Counts against the rate limit `webhooks`, by default 30 requests per 60 seconds.
   *
   * @example
   * const webhook = await client.webhooks.get(1);
   */
  get(id: number | string, options?: RequestOptions): ApiPromise<Webhook>;

  /**
   * Register a webhook subscription.
   *
   * If `secret` is absent, the server generates a signing secret. Only this response contains the secret. If you repeat the request with the same `Idempotency-Key`, you get the secret again. A workspace can have at most 100 active subscriptions.
   *
   * Requires the scope `webhooks:manage`: list, read, register, change and deactivate webhook subscriptions.
   *
   * Counts against the rate limit `webhooks`, by default 30 requests per 60 seconds.
   *
   * @example
   * const createdWebhook = await client.webhooks.create({
   *   url: 'https://hooks.example.com/itsm',
   *   secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
   *   events: ['ticket.created', 'ticket.updated'],
   * });
   */
  create(body: NewWebhook, options?: PostOptions): ApiPromise<CreatedWebhook>;

  /**
   * Change, pause or resume a webhook subscription.
   *
   * Pending deliveries use the changed settings, such as the new URL and the new signing secret. A new URL resets the count of failures. If the subscription is deactivated, the server returns `NOT_FOUND`.
   *
   * Requires the scope `webhooks:manage`: list, read, register, change and deactivate webhook subscriptions.
   *
   * Counts against the rate limit `webhooks`, by default 30 requests per 60 seconds.
   *
   * @example
   * const webhook = await client.webhooks.update(1, { events: ['ticket.created', 'ticket.updated'] });
   */
  update(id: number | string, body: WebhookPatch, options?: RequestOptions): ApiPromise<Webhook>;

  /**
   * Send a test event to a subscription.
   *
   * Sends an event of the first subscribed type with the example resource from this document, and ignores the filter. The `webhook-id` starts with `evt_test_`. Returns the delivery, which records each attempt. The server sends the event even if the circuit breaker is open. A 2xx response closes the circuit breaker. If the subscription has `paused: true`, the server sends the event after you set `paused: false`.
   *
   * Requires the scope `webhooks:manage`: list, read, register, change and deactivate webhook subscriptions.
   *
   * Counts against the rate limit `webhooks`, by default 30 requests per 60 seconds.
   *
   * @example
   * const delivery = await client.webhooks.test(1);
   */
  test(id: number | string, options?: PostOptions): ApiPromise<Delivery>;

  /**
   * Send the deliveries of a subscription again.
   *
   * Returns immediately and sends the deliveries in the background, oldest first, with the same `webhook-id`. The replay includes only deliveries that already had a matching `state` when you sent the request. If the circuit breaker is open, the server immediately sends one delivery as a test. A success closes the circuit breaker. If the subscription has `paused: true`, the server sends the deliveries after you set `paused: false`. A subscription can have at most 10 replays in progress.
   *
   * Requires the scope `webhooks:manage`: list, read, register, change and deactivate webhook subscriptions.
   *
   * Counts against the rate limit `webhooks`, by default 30 requests per 60 seconds.
   *
   * @example
   * const webhookReplayStarted = await client.webhooks.replay(1, { since: '2026-11-20T10:00:00Z' });
   */
  replay(id: number | string, body: WebhookReplay, options?: PostOptions): ApiPromise<WebhookReplayStarted>;

  /**
   * Deactivate a webhook subscription.
   *
   * Returns the deactivated subscription. The server cancels pending deliveries. If you repeat the request, it has no further effect. You can reactivate the subscription in the developer area or on the command line, but not with the API.
   *
   * Requires the scope `webhooks:manage`: list, read, register, change and deactivate webhook subscriptions.
   *
   * Counts against the rate limit `webhooks`, by default 30 requests per 60 seconds.
   *
   * @example
   * const webhook = await client.webhooks.delete(1);
   */
  delete(id: number | string, options?: RequestOptions): ApiPromise<Webhook>;
}

export interface Deliveries {
  /**
   * List a subscription's deliveries.
   *
   * Returns the newest deliveries first, for active and deactivated subscriptions. The server deletes deliveries 30 days after they finish.
   *
   * Requires the scope `webhooks:manage`: list, read, register, change and deactivate webhook subscriptions.
   *
   * Each request counts against the rate limit `webhooks`, by default 30 requests per 60 seconds.
   *
   * @example
   * for await (const delivery of client.deliveries.list(1, { state: 'PENDING' })) console.log(delivery.id);
   */
  list(webhookId: number | string, query?: DeliveryQuery, options?: RequestOptions): ApiList<Delivery>;

  /**
   * Get a delivery with its attempts.
   *
   * Requires the scope `webhooks:manage`: list, read, register, change and deactivate webhook subscriptions.
   *
   * Counts against the rate limit `webhooks`, by default 30 requests per 60 seconds.
   *
   * @example
   * const deliveryDetail = await client.deliveries.get(1);
   */
  get(id: number | string, options?: RequestOptions): ApiPromise<DeliveryDetail>;

  /**
   * Send a delivery again.
   *
   * Sends the delivery again immediately, regardless of its `state`. The `webhook-id` stays the same. Attempt numbers start at 1 again. If an attempt is in progress, the request has no effect. If the circuit breaker is open, the server sends this delivery as a test. If the subscription has `paused: true`, the server sends the delivery after you set `paused: false`.
   *
   * Requires the scope `webhooks:manage`: list, read, register, change and deactivate webhook subscriptions.
   *
   * Counts against the rate limit `webhooks`, by default 30 requests per 60 seconds.
   *
   * @example
   * const delivery = await client.deliveries.replay(1);
   */
  replay(id: number | string, options?: PostOptions): ApiPromise<Delivery>;
}

/** The resources of the API, each with its methods. */
export interface Resources<Types extends FieldTypes = FieldTypes> {
  /** Check that the service is available. Requires no API key. */
  readonly ping: Ping;
  /** The API key of the request. */
  readonly me: Me;
  /** Incidents, problems, changes and service requests. */
  readonly tickets: Tickets<FieldsOf<Types, 'ticket'>>;
  /** Comments on tickets. */
  readonly comments: Comments;
  /** Files that are attached to tickets. */
  readonly attachments: Attachments;
  /** Links between tickets. */
  readonly links: Links;
  /** The approvals of changes. */
  readonly approvals: Approvals;
  /** Devices, licenses and other items that the workspace manages. */
  readonly assets: Assets<FieldsOf<Types, 'asset'>>;
  /** Articles of the knowledge base. You write them in the developer area or import them with the command line. */
  readonly articles: Articles;
  /** Requests that wait for the decision of a person. API keys that may only propose can change nothing on their own. */
  readonly proposals: Proposals;
  /** The history of actions on tickets and assets. */
  readonly activities: Activities;
  /** Projects, which contain tasks. */
  readonly projects: Projects;
  /** The tasks of projects. */
  readonly tasks: Tasks;
  /** The users of the workspace. */
  readonly users: Users;
  /** Teams of users. You create and change them in the developer area or with the command line. */
  readonly teams: Teams;
  /** The definitions of custom fields. You create and change them in the developer area or with the command line. */
  readonly fields: Fields;
  /** Categories of tickets that the workspace defines. You create and change them in the developer area or with the command line. */
  readonly ticketCategories: TicketCategories;
  /** The hours in which the workspace is open, and the targets for its tickets. You set them in the developer area or with the command line. */
  readonly businessHours: BusinessHours;
  /** Forms with which users request something, such as a laptop. A submitted form becomes a ticket. You create and change forms in the developer area or with the command line. */
  readonly requestForms: RequestForms<FieldsOf<Types, 'ticket'>, FormsOf<Types>>;
  /** This document with the custom fields, the ticket categories and the request forms of the workspace. */
  readonly document: Document;
  /** Webhook subscriptions. For the format, the retries and the signatures of events, see the section Events. */
  readonly webhooks: Webhooks;
  /** Deliveries of events to subscriptions, and their attempts. */
  readonly deliveries: Deliveries;
}
