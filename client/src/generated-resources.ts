// Made from the contract by `pnpm generate`; not to be edited.

import type { ApiPromise } from './api-promise.ts';
import type {
  Asset,
  AssetPatch,
  AssetQuery,
  Delivery,
  DeliveryDetail,
  DeliveryQuery,
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
  TicketPatch,
  TicketQuery,
  User,
  UserQuery,
  Webhook,
  WebhookPatch,
  WebhookQuery,
  WebhookReplay,
  WebhookReplayStarted,
} from './generated.ts';
import type { RequestOptions } from './http.ts';
import type { ApiList } from './list.ts';

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

export interface Tickets {
  /**
   * List tickets.
   *
   * Newest first. Filters combine with AND; the values of one filter with OR.
   *
   * Needs the scope `tickets:read`: list and read tickets.
   *
   * @example
   * for await (const ticket of client.tickets.list({ status: 'OPEN' })) console.log(ticket.id);
   */
  list(query?: TicketQuery, options?: RequestOptions): ApiList<Ticket>;

  /**
   * Get a ticket.
   *
   * Needs the scope `tickets:read`: list and read tickets.
   *
   * @example
   * const ticket = await client.tickets.get(1042);
   */
  get(id: number | string, options?: RequestOptions): ApiPromise<Ticket>;

  /**
   * Create a ticket.
   *
   * Emits `ticket.created`.
   *
   * Needs the scope `tickets:write`: create and update tickets.
   *
   * @example
   * const ticket = await client.tickets.create({
   *   title: 'VPN drops every ten minutes',
   *   description: 'Since this morning the VPN client loses its connection every ten minutes.',
   *   type: 'INCIDENT',
   *   category: 'NETWORK',
   *   priority: 'HIGH',
   *   assigneeId: 7,
   *   watcherUserIds: [3, 9],
   *   customFields: { site: 'Berlin' },
   * });
   */
  create(body: NewTicket, options?: RequestOptions): ApiPromise<Ticket>;

  /**
   * Update a ticket.
   *
   * Emits `ticket.updated` when something changes.
   *
   * Needs the scope `tickets:write`: create and update tickets.
   *
   * @example
   * const ticket = await client.tickets.update(1042, { status: 'IN_PROGRESS', priority: 'CRITICAL' });
   */
  update(id: number | string, body: TicketPatch, options?: RequestOptions): ApiPromise<Ticket>;
}

export interface Assets {
  /**
   * List assets.
   *
   * Newest first. Filters combine with AND; the values of one filter with OR.
   *
   * Needs the scope `assets:read`: list assets.
   *
   * @example
   * for await (const asset of client.assets.list({ status: 'ON_ORDER' })) console.log(asset.id);
   */
  list(query?: AssetQuery, options?: RequestOptions): ApiList<Asset>;

  /**
   * Update an asset.
   *
   * Needs the scope `assets:write`: update assets.
   *
   * @example
   * const asset = await client.assets.update(311, { assignedToId: 7 });
   */
  update(id: number | string, body: AssetPatch, options?: RequestOptions): ApiPromise<Asset>;
}

export interface Projects {
  /**
   * List projects.
   *
   * Newest first.
   *
   * Needs the scope `projects:read`: list and read projects and their tasks.
   *
   * @example
   * for await (const project of client.projects.list({ status: 'PLANNED' })) console.log(project.id);
   */
  list(query?: ProjectQuery, options?: RequestOptions): ApiList<Project>;

  /**
   * Get a project.
   *
   * Needs the scope `projects:read`: list and read projects and their tasks.
   *
   * @example
   * const project = await client.projects.get(12);
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
   * @example
   * for await (const task of client.tasks.list(12, { status: 'TODO' })) console.log(task.id);
   */
  list(projectId: number | string, query?: TaskQuery, options?: RequestOptions): ApiList<Task>;

  /**
   * Create a task in a project.
   *
   * Needs the scope `projects:write`: create and update tasks.
   *
   * @example
   * const task = await client.tasks.create(12, { title: 'Order patch cables', assigneeId: 7, dueDate: '2026-11-27' });
   */
  create(projectId: number | string, body: NewTask, options?: RequestOptions): ApiPromise<Task>;

  /**
   * Update a task.
   *
   * Emits `task.updated` when something changes.
   *
   * Needs the scope `projects:write`: create and update tasks.
   *
   * @example
   * const task = await client.tasks.update(508, { status: 'IN_PROGRESS', assigneeId: 7 });
   */
  update(taskId: number | string, body: TaskPatch, options?: RequestOptions): ApiPromise<Task>;
}

export interface Users {
  /**
   * List users.
   *
   * Newest first. Filters combine with AND; the values of one filter with OR.
   *
   * Needs the scope `users:read`: list users.
   *
   * @example
   * for await (const user of client.users.list({ role: 'ADMIN' })) console.log(user.id);
   */
  list(query?: UserQuery, options?: RequestOptions): ApiList<User>;
}

export interface Webhooks {
  /**
   * List active webhook subscriptions.
   *
   * Newest first.
   *
   * Needs the scope `webhooks:manage`: list, register and deactivate webhook subscriptions.
   *
   * @example
   * for await (const webhook of client.webhooks.list()) console.log(webhook.id);
   */
  list(query?: WebhookQuery, options?: RequestOptions): ApiList<Webhook>;

  /**
   * Register a webhook subscription.
   *
   * A workspace may have 100 active subscriptions.
   *
   * Needs the scope `webhooks:manage`: list, register and deactivate webhook subscriptions.
   *
   * @example
   * const webhook = await client.webhooks.create({
   *   url: 'https://hooks.example.com/itsm',
   *   secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
   *   events: ['ticket.created', 'ticket.updated'],
   * });
   */
  create(body: NewWebhook, options?: RequestOptions): ApiPromise<Webhook>;

  /**
   * Change, pause or resume a webhook subscription.
   *
   * What waits is sent as the subscription is then: to the new URL, with the new secret. A new URL begins without the failures of the one before. One that was deactivated is `NOT_FOUND`.
   *
   * Needs the scope `webhooks:manage`: list, register and deactivate webhook subscriptions.
   *
   * @example
   * const webhook = await client.webhooks.update(5, { events: ['ticket.created', 'ticket.updated'] });
   */
  update(id: number | string, body: WebhookPatch, options?: RequestOptions): ApiPromise<Webhook>;

  /**
   * Send a subscription a test event.
   *
   * Of the first type that it wants, with the example of this document as its resource, whatever its filter. Its `webhook-id` begins with `evt_test_`. Answers the delivery, which tells what came of it. While the subscription is paused it waits.
   *
   * Needs the scope `webhooks:manage`: list, register and deactivate webhook subscriptions.
   *
   * @example
   * const delivery = await client.webhooks.test(9001);
   */
  test(id: number | string, options?: RequestOptions): ApiPromise<Delivery>;

  /**
   * Send deliveries of a subscription again.
   *
   * Answers at once; they are sent again in the background, oldest first, with the same `webhook-id`. Only those that were settled before the request. A subscription may have 10 replays under way.
   *
   * Needs the scope `webhooks:manage`: list, register and deactivate webhook subscriptions.
   *
   * @example
   * const webhookreplaystarted = await client.webhooks.replay(undefined, { since: '2026-11-20T10:00:00Z' });
   */
  replay(id: number | string, body: WebhookReplay, options?: RequestOptions): ApiPromise<WebhookReplayStarted>;

  /**
   * Deactivate a webhook subscription.
   *
   * Answers the deactivated subscription, and again when repeated.
   *
   * Needs the scope `webhooks:manage`: list, register and deactivate webhook subscriptions.
   *
   * @example
   * const webhook = await client.webhooks.delete(5);
   */
  delete(id: number | string, options?: RequestOptions): ApiPromise<Webhook>;
}

export interface Deliveries {
  /**
   * List a subscription's deliveries.
   *
   * Newest first; settled ones are kept for 30 days. Those of a deactivated subscription, too.
   *
   * Needs the scope `webhooks:manage`: list, register and deactivate webhook subscriptions.
   *
   * @example
   * for await (const delivery of client.deliveries.list(5, { state: 'PENDING' })) console.log(delivery.id);
   */
  list(webhookId: number | string, query?: DeliveryQuery, options?: RequestOptions): ApiList<Delivery>;

  /**
   * Get a delivery with its attempts.
   *
   * Needs the scope `webhooks:manage`: list, register and deactivate webhook subscriptions.
   *
   * @example
   * const deliverydetail = await client.deliveries.get(9001);
   */
  get(id: number | string, options?: RequestOptions): ApiPromise<DeliveryDetail>;

  /**
   * Send a delivery again.
   *
   * At once, whatever its state, with the same `webhook-id` and all attempts before it. One that is being sent just now is left as it is. While its subscription is paused it waits.
   *
   * Needs the scope `webhooks:manage`: list, register and deactivate webhook subscriptions.
   *
   * @example
   * const delivery = await client.deliveries.replay(9001);
   */
  replay(id: number | string, options?: RequestOptions): ApiPromise<Delivery>;
}

/** The resources of the API, each with its methods. */
export interface Resources {
  readonly ping: Ping;
  readonly tickets: Tickets;
  readonly assets: Assets;
  readonly projects: Projects;
  readonly tasks: Tasks;
  readonly users: Users;
  readonly webhooks: Webhooks;
  readonly deliveries: Deliveries;
}
