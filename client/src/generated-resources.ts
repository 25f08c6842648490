// Made from the contract by `pnpm generate`; not to be edited.

import type { ApiPromise } from './api-promise.ts';
import type {
  Asset,
  AssetPatch,
  AssetQuery,
  ChangesQuery,
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
  WebhookQuery,
} from './generated.ts';
import type { RequestOptions } from './http.ts';
import type { ApiList, ChangesPage } from './list.ts';

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
   * List changed tickets.
   *
   * Rows at their newest state, in the order of their last change. What commits after a cursor was given is on a page after it, whoever changed it; a row may come twice. Without `since` and `cursor` it begins with the first row.
   *
   * Needs the scope `tickets:read`: list and read tickets.
   *
   * @example
   * const { data, meta } = await client.tickets.changes({ since: '2026-11-20T10:00:00Z' });
   */
  changes(query?: ChangesQuery, options?: RequestOptions): ApiPromise<ChangesPage<Ticket>>;

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
   * List changed assets.
   *
   * Rows at their newest state, in the order of their last change. What commits after a cursor was given is on a page after it, whoever changed it; a row may come twice. Without `since` and `cursor` it begins with the first row.
   *
   * Needs the scope `assets:read`: list assets.
   *
   * @example
   * const { data, meta } = await client.assets.changes({ since: '2026-11-20T10:00:00Z' });
   */
  changes(query?: ChangesQuery, options?: RequestOptions): ApiPromise<ChangesPage<Asset>>;

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
   * List changed projects.
   *
   * Rows at their newest state, in the order of their last change. What commits after a cursor was given is on a page after it, whoever changed it; a row may come twice. Without `since` and `cursor` it begins with the first row.
   *
   * Needs the scope `projects:read`: list and read projects and their tasks.
   *
   * @example
   * const { data, meta } = await client.projects.changes({ since: '2026-11-20T10:00:00Z' });
   */
  changes(query?: ChangesQuery, options?: RequestOptions): ApiPromise<ChangesPage<Project>>;

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
   * List changed tasks.
   *
   * Rows at their newest state, in the order of their last change. What commits after a cursor was given is on a page after it, whoever changed it; a row may come twice. Without `since` and `cursor` it begins with the first row.
   *
   * Needs the scope `projects:read`: list and read projects and their tasks.
   *
   * @example
   * const { data, meta } = await client.tasks.changes({ since: '2026-11-20T10:00:00Z' });
   */
  changes(query?: ChangesQuery, options?: RequestOptions): ApiPromise<ChangesPage<Task>>;

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

  /**
   * List changed users.
   *
   * Rows at their newest state, in the order of their last change. What commits after a cursor was given is on a page after it, whoever changed it; a row may come twice. Without `since` and `cursor` it begins with the first row.
   *
   * Needs the scope `users:read`: list users.
   *
   * @example
   * const { data, meta } = await client.users.changes({ since: '2026-11-20T10:00:00Z' });
   */
  changes(query?: ChangesQuery, options?: RequestOptions): ApiPromise<ChangesPage<User>>;
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

/** The resources of the API, each with its methods. */
export interface Resources {
  readonly ping: Ping;
  readonly tickets: Tickets;
  readonly assets: Assets;
  readonly projects: Projects;
  readonly tasks: Tasks;
  readonly users: Users;
  readonly webhooks: Webhooks;
}
