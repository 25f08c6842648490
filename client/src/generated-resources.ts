// Made from the contract by `pnpm generate`; not to be edited.

import type { ApiPromise } from './api-promise.ts';
import type { BulkResult } from './bulk.ts';
import type { ApiChanges, FollowQuery } from './changes.ts';
import type {
  Asset,
  AssetActivity,
  AssetActivityQuery,
  AssetPatch,
  AssetQuery,
  Comment,
  CommentQuery,
  CreatedWebhook,
  Delivery,
  DeliveryDetail,
  DeliveryQuery,
  Identity,
  NewAsset,
  NewComment,
  NewTask,
  NewTicket,
  NewWebhook,
  Pong,
  Project,
  ProjectQuery,
  Task,
  TaskPatch,
  TaskQuery,
  Ticket,
  TicketActivity,
  TicketActivityQuery,
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
import type { BulkOptions, BulkPostOptions, PostOptions, RequestOptions } from './options.ts';

export interface Ping {
  /**
   * Check that the service answers.
   *
   * Needs no key. Any query or key is ignored.
   *
   * @example
   * const pong = await client.ping.get();
   */
  get(options?: RequestOptions): ApiPromise<Pong>;
}

export interface Me {
  /**
   * Get the key of the request.
   *
   * Its user, its workspace, its scopes, and what is left of its limits.
   *
   * Is a request of the limit `users`: 30 in 60 seconds, unless the service says otherwise.
   *
   * @example
   * const identity = await client.me.get();
   */
  get(options?: RequestOptions): ApiPromise<Identity>;
}

export interface Tickets {
  /**
   * List tickets.
   *
   * Newest first, unless `sort` says otherwise. Filters combine with AND; the values of one filter with OR.
   *
   * Needs the scope `tickets:read`: list and read tickets.
   *
   * Each request is one of the limit `tickets`: 30 in 60 seconds, unless the service says otherwise.
   *
   * @example
   * for await (const ticket of client.tickets.list({ status: 'OPEN' })) console.log(ticket.id);
   */
  list(query?: TicketQuery, options?: RequestOptions): ApiList<Ticket>;

  /**
   * List changed tickets.
   *
   * Rows at their newest state, in the order of their last change. What commits after a cursor was given is on a page after it, whoever changed it; a row may come twice. Without `since` and `cursor` it begins with the first row.
   *
   * Needs the scope `tickets:read`: list and read tickets.
   *
   * Is a request of the limit `tickets`: 30 in 60 seconds, unless the service says otherwise.
   *
   * @example
   * for await (const ticket of client.tickets.changes({ since: '2026-11-20T10:00:00Z' })) console.log(ticket.id);
   */
  changes(query?: FollowQuery, options?: RequestOptions): ApiChanges<Ticket>;

  /**
   * Get a ticket.
   *
   * Needs the scope `tickets:read`: list and read tickets.
   *
   * Is a request of the limit `tickets`: 30 in 60 seconds, unless the service says otherwise.
   *
   * @example
   * const ticket = await client.tickets.get(38);
   */
  get(id: TicketReference, options?: RequestOptions): ApiPromise<Ticket>;

  /**
   * Create a ticket.
   *
   * Emits `ticket.created`.
   *
   * Needs the scope `tickets:write`: create and update tickets.
   *
   * Is a request of the limit `tickets`: 30 in 60 seconds, unless the service says otherwise.
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
  create(body: NewTicket, options?: PostOptions): ApiPromise<Ticket>;

  /**
   * Update a ticket.
   *
   * Emits `ticket.updated` when something changes.
   *
   * Needs the scope `tickets:write`: create and update tickets.
   *
   * Is a request of the limit `tickets`: 30 in 60 seconds, unless the service says otherwise.
   *
   * @example
   * const ticket = await client.tickets.update(38, { status: 'IN_PROGRESS', priority: 'CRITICAL' });
   */
  update(id: TicketReference, body: TicketPatch, options?: RequestOptions): ApiPromise<Ticket>;

  /**
   * Create many tickets.
   *
   * Up to 100 in one request, which counts as one. Each is made or refused by itself; `data` tells for each what the single request would have been answered. Emits `ticket.created` for each that is made.
   *
   * The client sends any number of them, 100 in a request, and tells what became of each; it rejects only where no item was answered at all.
   *
   * Needs the scope `tickets:write`: create and update tickets.
   *
   * Each request is one of the limit `tickets`: 30 in 60 seconds, unless the service says otherwise.
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
  createMany(items: readonly NewTicket[], options?: BulkPostOptions): Promise<BulkResult<NewTicket, Ticket>>;

  /**
   * Update many tickets.
   *
   * Up to 100 in one request, which counts as one. Each is changed or refused by itself; `data` tells for each what the single request would have been answered. Emits `ticket.updated` for each that changes.
   *
   * The client sends any number of them, 100 in a request, and tells what became of each; it rejects only where no item was answered at all.
   *
   * Needs the scope `tickets:write`: create and update tickets.
   *
   * Each request is one of the limit `tickets`: 30 in 60 seconds, unless the service says otherwise.
   *
   * @example
   * const { done, failed } = await client.tickets.updateMany([{ id: 38, status: 'IN_PROGRESS', priority: 'CRITICAL' }]);
   */
  updateMany(items: readonly TicketPatchItem[], options?: BulkOptions): Promise<BulkResult<TicketPatchItem, Ticket>>;
}

export interface Comments {
  /**
   * List a ticket's comments.
   *
   * Newest first, PUBLIC and INTERNAL ones.
   *
   * Needs the scope `tickets:read`: list and read tickets.
   *
   * Each request is one of the limit `tickets`: 30 in 60 seconds, unless the service says otherwise.
   *
   * @example
   * for await (const comment of client.comments.list(38)) console.log(comment.id);
   */
  list(ticketId: TicketReference, query?: CommentQuery, options?: RequestOptions): ApiList<Comment>;

  /**
   * Comment on a ticket.
   *
   * On a ticket in any status. Changes `commentCount` and `updatedAt` of the ticket, and emits `ticket.updated`.
   *
   * Needs the scope `tickets:write`: create and update tickets.
   *
   * Is a request of the limit `tickets`: 30 in 60 seconds, unless the service says otherwise.
   *
   * @example
   * const comment = await client.comments.create(38, { body: 'The gateway was restarted; does it still happen?', visibility: 'PUBLIC' });
   */
  create(ticketId: TicketReference, body: NewComment, options?: PostOptions): ApiPromise<Comment>;
}

export interface Assets {
  /**
   * List assets.
   *
   * Newest first. Filters combine with AND; the values of one filter with OR.
   *
   * Needs the scope `assets:read`: list and read assets.
   *
   * Each request is one of the limit `assets`: 30 in 60 seconds, unless the service says otherwise.
   *
   * @example
   * for await (const asset of client.assets.list({ status: 'ON_ORDER' })) console.log(asset.id);
   */
  list(query?: AssetQuery, options?: RequestOptions): ApiList<Asset>;

  /**
   * List changed assets.
   *
   * Rows at their newest state, in the order of their last change. What commits after a cursor was given is on a page after it, whoever changed it; a row may come twice. Without `since` and `cursor` it begins with the first row.
   *
   * Needs the scope `assets:read`: list and read assets.
   *
   * Is a request of the limit `assets`: 30 in 60 seconds, unless the service says otherwise.
   *
   * @example
   * for await (const asset of client.assets.changes({ since: '2026-11-20T10:00:00Z' })) console.log(asset.id);
   */
  changes(query?: FollowQuery, options?: RequestOptions): ApiChanges<Asset>;

  /**
   * Get an asset.
   *
   * Needs the scope `assets:read`: list and read assets.
   *
   * Is a request of the limit `assets`: 30 in 60 seconds, unless the service says otherwise.
   *
   * @example
   * const asset = await client.assets.get(11);
   */
  get(id: number | string, options?: RequestOptions): ApiPromise<Asset>;

  /**
   * Create an asset.
   *
   * Emits `asset.created`.
   *
   * Needs the scope `assets:write`: create and update assets.
   *
   * Is a request of the limit `assets`: 30 in 60 seconds, unless the service says otherwise.
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
  create(body: NewAsset, options?: PostOptions): ApiPromise<Asset>;

  /**
   * Update an asset.
   *
   * Needs the scope `assets:write`: create and update assets.
   *
   * Is a request of the limit `assets`: 30 in 60 seconds, unless the service says otherwise.
   *
   * @example
   * const asset = await client.assets.update(11, { assignedToId: 2 });
   */
  update(id: number | string, body: AssetPatch, options?: RequestOptions): ApiPromise<Asset>;
}

export interface Activities {
  /**
   * List what was done to a ticket.
   *
   * Newest first. It begins with the release that keeps it: what was done before is not told.
   *
   * Needs the scope `tickets:read`: list and read tickets.
   *
   * Each request is one of the limit `tickets`: 30 in 60 seconds, unless the service says otherwise.
   *
   * @example
   * for await (const ticketActivity of client.activities.ofTicket(38)) console.log(ticketActivity.id);
   */
  ofTicket(ticketId: TicketReference, query?: TicketActivityQuery, options?: RequestOptions): ApiList<TicketActivity>;

  /**
   * List what was done to an asset.
   *
   * Newest first. It begins with the release that keeps it: what was done before is not told.
   *
   * Needs the scope `assets:read`: list and read assets.
   *
   * Each request is one of the limit `assets`: 30 in 60 seconds, unless the service says otherwise.
   *
   * @example
   * for await (const assetActivity of client.activities.ofAsset(11)) console.log(assetActivity.id);
   */
  ofAsset(assetId: number | string, query?: AssetActivityQuery, options?: RequestOptions): ApiList<AssetActivity>;
}

export interface Projects {
  /**
   * List projects.
   *
   * Newest first.
   *
   * Needs the scope `projects:read`: list and read projects and their tasks.
   *
   * Each request is one of the limit `projects`: 30 in 60 seconds, unless the service says otherwise.
   *
   * @example
   * for await (const project of client.projects.list({ status: 'PLANNED' })) console.log(project.id);
   */
  list(query?: ProjectQuery, options?: RequestOptions): ApiList<Project>;

  /**
   * List changed projects.
   *
   * Rows at their newest state, in the order of their last change. What commits after a cursor was given is on a page after it, whoever changed it; a row may come twice. Without `since` and `cursor` it begins with the first row.
   *
   * Needs the scope `projects:read`: list and read projects and their tasks.
   *
   * Is a request of the limit `projects`: 30 in 60 seconds, unless the service says otherwise.
   *
   * @example
   * for await (const project of client.projects.changes({ since: '2026-11-20T10:00:00Z' })) console.log(project.id);
   */
  changes(query?: FollowQuery, options?: RequestOptions): ApiChanges<Project>;

  /**
   * Get a project.
   *
   * Needs the scope `projects:read`: list and read projects and their tasks.
   *
   * Is a request of the limit `projects`: 30 in 60 seconds, unless the service says otherwise.
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
   * Newest first. Filters combine with AND; the values of one filter with OR.
   *
   * Needs the scope `projects:read`: list and read projects and their tasks.
   *
   * Each request is one of the limit `projects`: 30 in 60 seconds, unless the service says otherwise.
   *
   * @example
   * for await (const task of client.tasks.list(2, { status: 'TODO' })) console.log(task.id);
   */
  list(projectId: number | string, query?: TaskQuery, options?: RequestOptions): ApiList<Task>;

  /**
   * List changed tasks.
   *
   * Rows at their newest state, in the order of their last change. What commits after a cursor was given is on a page after it, whoever changed it; a row may come twice. Without `since` and `cursor` it begins with the first row.
   *
   * Needs the scope `projects:read`: list and read projects and their tasks.
   *
   * Is a request of the limit `projects`: 30 in 60 seconds, unless the service says otherwise.
   *
   * @example
   * for await (const task of client.tasks.changes({ since: '2026-11-20T10:00:00Z' })) console.log(task.id);
   */
  changes(query?: FollowQuery, options?: RequestOptions): ApiChanges<Task>;

  /**
   * Create a task in a project.
   *
   * Needs the scope `projects:write`: create and update tasks.
   *
   * Is a request of the limit `projects`: 30 in 60 seconds, unless the service says otherwise.
   *
   * @example
   * const task = await client.tasks.create(2, { title: 'Order patch cables', assigneeId: 2, dueDate: '2026-11-27' });
   */
  create(projectId: number | string, body: NewTask, options?: PostOptions): ApiPromise<Task>;

  /**
   * Get a task.
   *
   * Needs the scope `projects:read`: list and read projects and their tasks.
   *
   * Is a request of the limit `projects`: 30 in 60 seconds, unless the service says otherwise.
   *
   * @example
   * const task = await client.tasks.get(10);
   */
  get(taskId: number | string, options?: RequestOptions): ApiPromise<Task>;

  /**
   * Update a task.
   *
   * Emits `task.updated` when something changes.
   *
   * Needs the scope `projects:write`: create and update tasks.
   *
   * Is a request of the limit `projects`: 30 in 60 seconds, unless the service says otherwise.
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
   * Newest first. Filters combine with AND; the values of one filter with OR.
   *
   * Needs the scope `users:read`: list and read users.
   *
   * Each request is one of the limit `users`: 30 in 60 seconds, unless the service says otherwise.
   *
   * @example
   * for await (const user of client.users.list({ role: 'ADMIN' })) console.log(user.id);
   */
  list(query?: UserQuery, options?: RequestOptions): ApiList<User>;

  /**
   * List changed users.
   *
   * Rows at their newest state, in the order of their last change. What commits after a cursor was given is on a page after it, whoever changed it; a row may come twice. Without `since` and `cursor` it begins with the first row.
   *
   * Needs the scope `users:read`: list and read users.
   *
   * Is a request of the limit `users`: 30 in 60 seconds, unless the service says otherwise.
   *
   * @example
   * for await (const user of client.users.changes({ since: '2026-11-20T10:00:00Z' })) console.log(user.id);
   */
  changes(query?: FollowQuery, options?: RequestOptions): ApiChanges<User>;

  /**
   * Get a user.
   *
   * Needs the scope `users:read`: list and read users.
   *
   * Is a request of the limit `users`: 30 in 60 seconds, unless the service says otherwise.
   *
   * @example
   * const user = await client.users.get(2);
   */
  get(id: number | string, options?: RequestOptions): ApiPromise<User>;
}

export interface Webhooks {
  /**
   * List active webhook subscriptions.
   *
   * Newest first.
   *
   * Needs the scope `webhooks:manage`: list, read, register and deactivate webhook subscriptions.
   *
   * Each request is one of the limit `webhooks`: 30 in 60 seconds, unless the service says otherwise.
   *
   * @example
   * for await (const webhook of client.webhooks.list()) console.log(webhook.id);
   */
  list(query?: WebhookQuery, options?: RequestOptions): ApiList<Webhook>;

  /**
   * Get a webhook subscription.
   *
   * One that was deactivated, too.
   *
   * Needs the scope `webhooks:manage`: list, read, register and deactivate webhook subscriptions.
   *
   * Is a request of the limit `webhooks`: 30 in 60 seconds, unless the service says otherwise.
   *
   * @example
   * const webhook = await client.webhooks.get(1);
   */
  get(id: number | string, options?: RequestOptions): ApiPromise<Webhook>;

  /**
   * Register a webhook subscription.
   *
   * Without `secret`, the server generates one and returns it in this response only, and if you repeat the request with the same `Idempotency-Key`. A workspace may have 100 active subscriptions.
   *
   * Needs the scope `webhooks:manage`: list, read, register and deactivate webhook subscriptions.
   *
   * Is a request of the limit `webhooks`: 30 in 60 seconds, unless the service says otherwise.
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
   * What waits is sent as the subscription is then: to the new URL, with the new secret. A new URL begins without the failures of the one before. One that was deactivated is `NOT_FOUND`.
   *
   * Needs the scope `webhooks:manage`: list, read, register and deactivate webhook subscriptions.
   *
   * Is a request of the limit `webhooks`: 30 in 60 seconds, unless the service says otherwise.
   *
   * @example
   * const webhook = await client.webhooks.update(1, { events: ['ticket.created', 'ticket.updated'] });
   */
  update(id: number | string, body: WebhookPatch, options?: RequestOptions): ApiPromise<Webhook>;

  /**
   * Send a subscription a test event.
   *
   * Of the first type that it wants, with the example of this document as its resource, whatever its filter. Its `webhook-id` begins with `evt_test_`. Returns the delivery, which records each attempt. The event is sent although the circuit is open, and a 2xx closes it. After `paused: true` it waits.
   *
   * Needs the scope `webhooks:manage`: list, read, register and deactivate webhook subscriptions.
   *
   * Is a request of the limit `webhooks`: 30 in 60 seconds, unless the service says otherwise.
   *
   * @example
   * const delivery = await client.webhooks.test(1);
   */
  test(id: number | string, options?: PostOptions): ApiPromise<Delivery>;

  /**
   * Send deliveries of a subscription again.
   *
   * Answers at once; they are sent again in the background, oldest first, with the same `webhook-id`. Only those that were settled before the request, or made before it where they are pending. An open circuit becomes half-open: one delivery is sent at once, and its success closes the circuit. After `paused: true` all wait for `paused: false`. A subscription may have 10 replays under way.
   *
   * Needs the scope `webhooks:manage`: list, read, register and deactivate webhook subscriptions.
   *
   * Is a request of the limit `webhooks`: 30 in 60 seconds, unless the service says otherwise.
   *
   * @example
   * const webhookReplayStarted = await client.webhooks.replay(1, { since: '2026-11-20T10:00:00Z' });
   */
  replay(id: number | string, body: WebhookReplay, options?: PostOptions): ApiPromise<WebhookReplayStarted>;

  /**
   * Deactivate a webhook subscription.
   *
   * Answers the deactivated subscription, and again when repeated.
   *
   * Needs the scope `webhooks:manage`: list, read, register and deactivate webhook subscriptions.
   *
   * Is a request of the limit `webhooks`: 30 in 60 seconds, unless the service says otherwise.
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
   * Newest first; settled ones are kept for 30 days. Those of a deactivated subscription, too.
   *
   * Needs the scope `webhooks:manage`: list, read, register and deactivate webhook subscriptions.
   *
   * Each request is one of the limit `webhooks`: 30 in 60 seconds, unless the service says otherwise.
   *
   * @example
   * for await (const delivery of client.deliveries.list(1, { state: 'PENDING' })) console.log(delivery.id);
   */
  list(webhookId: number | string, query?: DeliveryQuery, options?: RequestOptions): ApiList<Delivery>;

  /**
   * Get a delivery with its attempts.
   *
   * Needs the scope `webhooks:manage`: list, read, register and deactivate webhook subscriptions.
   *
   * Is a request of the limit `webhooks`: 30 in 60 seconds, unless the service says otherwise.
   *
   * @example
   * const deliveryDetail = await client.deliveries.get(1);
   */
  get(id: number | string, options?: RequestOptions): ApiPromise<DeliveryDetail>;

  /**
   * Send a delivery again.
   *
   * At once, whatever its state, with the same `webhook-id` and all attempts before it. One that is being sent just now is left as it is. An open circuit becomes half-open, and this delivery is the one that is tried. After `paused: true` it waits for `paused: false`.
   *
   * Needs the scope `webhooks:manage`: list, read, register and deactivate webhook subscriptions.
   *
   * Is a request of the limit `webhooks`: 30 in 60 seconds, unless the service says otherwise.
   *
   * @example
   * const delivery = await client.deliveries.replay(1);
   */
  replay(id: number | string, options?: PostOptions): ApiPromise<Delivery>;
}

/** The resources of the API, each with its methods. */
export interface Resources {
  /** Whether the service answers. Needs no key. */
  readonly ping: Ping;
  /** The key of the request. */
  readonly me: Me;
  /** Incidents, problems, changes and service requests. */
  readonly tickets: Tickets;
  /** What is said of tickets. */
  readonly comments: Comments;
  /** Devices, licences and other things the workspace looks after. */
  readonly assets: Assets;
  /** Who did what to tickets and assets, and when. */
  readonly activities: Activities;
  /** Projects, to which tasks belong. */
  readonly projects: Projects;
  /** The tasks of projects. */
  readonly tasks: Tasks;
  /** The people of the workspace. */
  readonly users: Users;
  /** Subscriptions to events. What they deliver stands under `events`. */
  readonly webhooks: Webhooks;
  /** Events on their way to subscriptions, and what came of them. */
  readonly deliveries: Deliveries;
}
