// Made from the contract by `pnpm generate`; not to be edited.

/** @internal */
export const version = '0.0.0';

/**
 * What precedes every path.
 *
 * @internal
 */
export const pathPrefix = '/api/public/v1';

/** One of the values known today; a newer server may answer others. */
export type Open<Known extends string> = Known | (string & {});

export interface Pong {
  status: 'ok';
  version: 'v1';
}

export type TicketType = 'INCIDENT' | 'PROBLEM' | 'CHANGE' | 'SERVICE_REQUEST';

/** A new ticket is OPEN. CLOSED and CANCELLED are final. */
export type TicketStatus = 'OPEN' | 'IN_PROGRESS' | 'PENDING' | 'RESOLVED' | 'CLOSED' | 'CANCELLED';

export type Priority = 'LOW' | 'MEDIUM' | 'HIGH' | 'CRITICAL';

export type TicketCategory = 'SOFTWARE' | 'HARDWARE' | 'NETWORK' | 'ACCESS' | 'EMAIL' | 'OTHER';

/** At most 50 keys and 16 KiB as JSON; values are strings, numbers, booleans, null or arrays of those. Numbers are 0 or have a magnitude from 1e-9 to 1e15. */
export type CustomFields = Record<string, string | number | boolean | null | (string | number | boolean | null)[]>;

/** An incident, problem, change or service request. */
export interface Ticket {
  /** A positive integer. */
  id: number;
  /** INC-, PRB-, CHG-, REQ- and a number that counts from 1 in the workspace and type; never used again. */
  ticketNumber: string;
  title: string;
  description: string;
  type: Open<TicketType>;
  status: Open<TicketStatus>;
  priority: Open<Priority>;
  category: Open<TicketCategory> | null;
  /** An opaque identifier, stored as given. */
  categoryConfigId: string | null;
  /** The user who created the key that created the ticket. */
  requesterId: number;
  /** A positive integer. */
  assigneeId: number | null;
  /** Users who follow the ticket, at most 100, in ascending order. */
  watcherUserIds: number[];
  /** A positive integer. */
  parentId: number | null;
  customFields: CustomFields;
  resolution: string | null;
  resolvedAt: string | null;
  closedAt: string | null;
  createdAt: string;
  updatedAt: string;
}

/** The page and the filters of `tickets.list`. */
export interface TicketQuery {
  page?: number | string | undefined;
  perPage?: number | string | undefined;
  status?: TicketStatus | readonly TicketStatus[] | undefined;
  priority?: Priority | readonly Priority[] | undefined;
  assigneeId?: number | string | readonly (number | string)[] | undefined;
  type?: TicketType | readonly TicketType[] | undefined;
  category?: TicketCategory | readonly TicketCategory[] | undefined;
}

/** One of `category` and `categoryConfigId` is required; both may be given. */
export interface NewTicket {
  title: string;
  description: string;
  type: TicketType;
  category?: TicketCategory | null | undefined;
  /** An opaque identifier, stored as given. */
  categoryConfigId?: string | null | undefined;
  /** MEDIUM when absent. */
  priority?: Priority | null | undefined;
  /** A positive integer. */
  assigneeId?: number | null | undefined;
  /** Users who follow the ticket, at most 100, in ascending order. */
  watcherUserIds?: number[] | null | undefined;
  /** A positive integer. */
  parentId?: number | null | undefined;
  customFields?: CustomFields | null | undefined;
}

/** Merged into what is there: a key given replaces, a key given as null is removed. Numbers are 0 or have a magnitude from 1e-9 to 1e15. */
export type CustomFieldsPatch = Record<string, string | number | boolean | null | (string | number | boolean | null)[]>;

/** Absent fields stay as they are; null clears. `type` cannot change. */
export interface TicketPatch {
  title?: string | undefined;
  description?: string | undefined;
  status?: TicketStatus | undefined;
  priority?: Priority | undefined;
  category?: TicketCategory | null | undefined;
  /** An opaque identifier, stored as given. */
  categoryConfigId?: string | null | undefined;
  /** A positive integer. */
  assigneeId?: number | null | undefined;
  /** Users who follow the ticket, at most 100, in ascending order. */
  watcherUserIds?: number[] | undefined;
  /** A positive integer. */
  parentId?: number | null | undefined;
  customFields?: CustomFieldsPatch | undefined;
  resolution?: string | null | undefined;
}

export type AssetType = 'LAPTOP' | 'DESKTOP' | 'SERVER' | 'MOBILE' | 'NETWORK' | 'PRINTER' | 'SOFTWARE' | 'OTHER';

/** DISPOSED is final; every other move is free. */
export type AssetStatus =
  | 'ON_ORDER'
  | 'IN_STOCK'
  | 'IN_TRANSIT'
  | 'IN_USE'
  | 'MAINTENANCE'
  | 'RETIRED'
  | 'DISPOSED'
  | 'LOST';

/** A device, a licence or another thing the workspace looks after. */
export interface Asset {
  /** A positive integer. */
  id: number;
  name: string;
  /** Unique in the workspace. */
  assetTag: string;
  serialNumber: string | null;
  type: Open<AssetType>;
  status: Open<AssetStatus>;
  manufacturer: string | null;
  model: string | null;
  location: string | null;
  /** A positive integer. */
  assignedToId: number | null;
  purchaseDate: string | null;
  /** A decimal as a string; answered with two decimals. */
  purchaseCost: string | null;
  warrantyExpiresAt: string | null;
  notes: string | null;
  customFields: CustomFields;
  createdAt: string;
  updatedAt: string;
}

/** The page and the filters of `assets.list`. */
export interface AssetQuery {
  page?: number | string | undefined;
  perPage?: number | string | undefined;
  status?: AssetStatus | readonly AssetStatus[] | undefined;
  type?: AssetType | readonly AssetType[] | undefined;
  assignedToId?: number | string | readonly (number | string)[] | undefined;
}

/** Absent fields stay as they are; null clears. Assigning without a status means IN_USE; unassigning an asset that is IN_USE means IN_STOCK. `assetTag` cannot change. */
export interface AssetPatch {
  name?: string | undefined;
  serialNumber?: string | null | undefined;
  type?: AssetType | undefined;
  status?: AssetStatus | undefined;
  manufacturer?: string | null | undefined;
  model?: string | null | undefined;
  location?: string | null | undefined;
  /** A positive integer. */
  assignedToId?: number | null | undefined;
  purchaseDate?: string | null | undefined;
  /** A decimal as a string; answered with two decimals. */
  purchaseCost?: string | null | undefined;
  warrantyExpiresAt?: string | null | undefined;
  notes?: string | null | undefined;
  customFields?: CustomFieldsPatch | undefined;
}

export type ProjectStatus = 'PLANNED' | 'ACTIVE' | 'ON_HOLD' | 'COMPLETED' | 'CANCELLED';

/** A project; its tasks are listed below it. */
export interface Project {
  /** A positive integer. */
  id: number;
  /** Unique in the workspace. */
  key: string;
  name: string;
  description: string | null;
  status: Open<ProjectStatus>;
  priority: Open<Priority>;
  /** A positive integer. */
  managerId: number | null;
  startDate: string | null;
  endDate: string | null;
  createdAt: string;
  updatedAt: string;
}

/** The page and the filters of `projects.list`. */
export interface ProjectQuery {
  page?: number | string | undefined;
  perPage?: number | string | undefined;
  status?: ProjectStatus | readonly ProjectStatus[] | undefined;
}

/** A new task is TODO; every move is free. */
export type TaskStatus = 'TODO' | 'IN_PROGRESS' | 'BLOCKED' | 'DONE' | 'CANCELLED';

/** A task of a project. */
export interface Task {
  /** A positive integer. */
  id: number;
  /** A positive integer. */
  projectId: number;
  title: string;
  description: string | null;
  status: Open<TaskStatus>;
  priority: Open<Priority>;
  /** A positive integer. */
  assigneeId: number | null;
  startDate: string | null;
  dueDate: string | null;
  /** When it became DONE; null while it is not. */
  completedAt: string | null;
  createdAt: string;
  updatedAt: string;
}

/** The page and the filters of `tasks.list`. */
export interface TaskQuery {
  page?: number | string | undefined;
  perPage?: number | string | undefined;
  status?: TaskStatus | readonly TaskStatus[] | undefined;
  priority?: Priority | readonly Priority[] | undefined;
  assigneeId?: number | string | readonly (number | string)[] | undefined;
}

export interface NewTask {
  title: string;
  description?: string | null | undefined;
  /** MEDIUM when absent. */
  priority?: Priority | null | undefined;
  /** A positive integer. */
  assigneeId?: number | null | undefined;
  startDate?: string | null | undefined;
  dueDate?: string | null | undefined;
}

/** Absent fields stay as they are; null clears. */
export interface TaskPatch {
  title?: string | undefined;
  description?: string | null | undefined;
  status?: TaskStatus | undefined;
  priority?: Priority | undefined;
  /** A positive integer. */
  assigneeId?: number | null | undefined;
  startDate?: string | null | undefined;
  dueDate?: string | null | undefined;
}

export type UserRole = 'ADMIN' | 'AGENT' | 'REQUESTER';

/** A person of the workspace. */
export interface User {
  /** A positive integer. */
  id: number;
  name: string;
  /** In lower case, unique in the workspace. */
  email: string;
  role: Open<UserRole>;
  active: boolean;
  jobTitle: string | null;
  department: string | null;
  phone: string | null;
  /** An IANA name such as Europe/Berlin. */
  timeZone: string | null;
  createdAt: string;
  updatedAt: string;
}

/** The page and the filters of `users.list`. */
export interface UserQuery {
  page?: number | string | undefined;
  perPage?: number | string | undefined;
  role?: UserRole | readonly UserRole[] | undefined;
  active?: boolean | 'true' | 'false' | readonly (boolean | 'true' | 'false')[] | undefined;
  email?: string | readonly string[] | undefined;
}

/** The public events. */
export type EventType = 'ticket.created' | 'ticket.updated' | 'asset.created' | 'task.updated';

/** What a field of the resource may be. */
export type WebhookFilterValue = string | number | boolean | null;

/** A subscription to events. Its secret is never answered. */
export interface Webhook {
  /** A positive integer. */
  id: number;
  url: string;
  events: Open<EventType>[];
  /** Top-level fields of the resource, and values of each: only events are delivered in which every field named is one of its values, or was before the change. Each event of the subscription must have the fields. At most 10 fields of 100 values. */
  filter: Record<string, WebhookFilterValue[]> | null;
  /** Whether it is told nothing of what the key that made the subscription does itself, or one rotated from that key. */
  skipOwn: boolean;
  active: boolean;
  lastSuccessAt: string | null;
  lastFailureAt: string | null;
  /** Since when deliveries rest, because the endpoint failed or by `paused`. */
  pausedAt: string | null;
  pausedReason: string | null;
  createdAt: string;
  updatedAt: string;
}

/** The page and the filters of `webhooks.list`. */
export interface WebhookQuery {
  page?: number | string | undefined;
  perPage?: number | string | undefined;
}

export interface NewWebhook {
  /** https, with a public host and without user info. */
  url: string;
  /** Signs each delivery; 24 characters or more are recommended. */
  secret: string;
  events: EventType[];
  /** Top-level fields of the resource, and values of each: only events are delivered in which every field named is one of its values, or was before the change. Each event of the subscription must have the fields. At most 10 fields of 100 values. */
  filter?: Record<string, WebhookFilterValue[]> | null | undefined;
  /** Whether it is told nothing of what the key that made the subscription does itself, or one rotated from that key. */
  skipOwn?: boolean | undefined;
}

/** Absent fields stay as they are; null clears. */
export interface WebhookPatch {
  url?: string | undefined;
  /** The new secret. The one before signs, too, for 24 hours, in `webhook-signature`. */
  secret?: string | undefined;
  events?: EventType[] | undefined;
  /** Top-level fields of the resource, and values of each: only events are delivered in which every field named is one of its values, or was before the change. Each event of the subscription must have the fields. At most 10 fields of 100 values. */
  filter?: Record<string, WebhookFilterValue[]> | null | undefined;
  /** Whether it is told nothing of what the key that made the subscription does itself, or one rotated from that key. */
  skipOwn?: boolean | undefined;
  /** true: events queue and nothing is sent. false: what waits is sent, whatever paused it, and failures before count no more. */
  paused?: boolean | undefined;
}

/** PENDING until it is settled: DELIVERED, EXHAUSTED when every attempt has failed, or CANCELLED with its subscription. */
export type DeliveryState = 'PENDING' | 'DELIVERED' | 'EXHAUSTED' | 'CANCELLED';

/** One event on its way to one subscription. */
export interface Delivery {
  /** A positive integer. */
  id: number;
  /** The subscription that it goes to. */
  webhookId: number;
  /** The `webhook-id` that receivers get, the same on every attempt. */
  eventId: string;
  event: Open<EventType>;
  state: Open<DeliveryState>;
  /** Attempts begun since it was made, or last replayed. */
  attemptCount: number;
  /** While PENDING: when it may be tried next. */
  nextAttemptAt: string | null;
  createdAt: string;
  /** When it was delivered, exhausted or cancelled. */
  settledAt: string | null;
}

/** The states from which deliveries can be sent again together: all but PENDING. */
export type ReplayableState = 'DELIVERED' | 'EXHAUSTED' | 'CANCELLED';

/** What is being sent again from now on. */
export interface WebhookReplayStarted {
  /** A positive integer. */
  webhookId: number;
  since: string;
  states: Open<ReplayableState>[];
  /** How many deliveries were found; 10000 of them and more are not counted. */
  matching: number;
}

export interface WebhookReplay {
  /** Deliveries that were made then or later. */
  since: string;
  /** Those in one of these states; EXHAUSTED alone unless given. */
  states?: ReplayableState[] | undefined;
}

/** The page and the filters of `deliveries.list`. */
export interface DeliveryQuery {
  page?: number | string | undefined;
  perPage?: number | string | undefined;
  state?: DeliveryState | readonly DeliveryState[] | undefined;
}

/** What came of one attempt. */
export interface DeliveryAttempt {
  /** Counts from 1, and again from 1 when the delivery is replayed. */
  number: number;
  startedAt: string;
  /** How long it took, in milliseconds. */
  durationMs: number;
  /** The HTTP status, where an answer came. */
  status: number | null;
  /** What went wrong, where no answer came. */
  error: string | null;
  /** The beginning of the answer's body; null where it may come of a private network. */
  answer: string | null;
}

/** A delivery with what came of it. */
export interface DeliveryDetail {
  /** A positive integer. */
  id: number;
  /** The subscription that it goes to. */
  webhookId: number;
  /** The `webhook-id` that receivers get, the same on every attempt. */
  eventId: string;
  event: Open<EventType>;
  state: Open<DeliveryState>;
  /** Attempts begun since it was made, or last replayed. */
  attemptCount: number;
  /** While PENDING: when it may be tried next. */
  nextAttemptAt: string | null;
  createdAt: string;
  /** When it was delivered, exhausted or cancelled. */
  settledAt: string | null;
  /** What is sent, byte for byte. */
  body: string;
  /** Every attempt, oldest first: the last 100 where there were more. */
  attempts: DeliveryAttempt[];
}

/** A ticket is created. */
export interface TicketCreatedEvent {
  /** The same on every attempt: deduplicate by it. */
  id: string;
  type: 'ticket.created';
  timestamp: string;
  ticket: Ticket;
}

export type Changes = Record<string, { from: unknown; to: unknown }>;

/** A ticket is updated. */
export interface TicketUpdatedEvent {
  /** The same on every attempt: deduplicate by it. */
  id: string;
  type: 'ticket.updated';
  timestamp: string;
  ticket: Ticket;
  changes: Changes;
}

/** An asset is created. */
export interface AssetCreatedEvent {
  /** The same on every attempt: deduplicate by it. */
  id: string;
  type: 'asset.created';
  timestamp: string;
  asset: Asset;
}

/** A project task is updated. */
export interface TaskUpdatedEvent {
  /** The same on every attempt: deduplicate by it. */
  id: string;
  type: 'task.updated';
  timestamp: string;
  task: Task;
  changes: Changes;
}

export interface PageMeta {
  page: number;
  perPage: number;
  /** Rows on all pages; exact where `totalCountCapped` is absent. */
  totalCount: number;
  /** There are more rows than are counted; pages end where `totalCount` does. */
  totalCountCapped?: true | undefined;
}

export interface ErrorDetail {
  /** The field, query parameter or path parameter, with dots into its parts. */
  path: string;
  message: string;
}

/** What went wrong, for programs. */
export type ErrorCode =
  | 'VALIDATION_ERROR'
  | 'INVALID_JSON'
  | 'UNSUPPORTED_MEDIA_TYPE'
  | 'PAYLOAD_TOO_LARGE'
  | 'INVALID_TRANSITION'
  | 'INVALID_REFERENCE'
  | 'INVALID_API_KEY'
  | 'INSUFFICIENT_SCOPE'
  | 'NOT_FOUND'
  | 'RATE_LIMIT_EXCEEDED'
  | 'INTERNAL_ERROR';

/** What a key may be allowed to do. */
export type Scope =
  | 'tickets:read'
  | 'tickets:write'
  | 'assets:read'
  | 'assets:write'
  | 'projects:read'
  | 'projects:write'
  | 'users:read'
  | 'kb:read'
  | 'webhooks:manage';

/** The events that this version of the client knows. */
export type KnownEvent = TicketCreatedEvent | TicketUpdatedEvent | AssetCreatedEvent | TaskUpdatedEvent;

/** @internal */
export const eventTypes: readonly string[] = ['ticket.created', 'ticket.updated', 'asset.created', 'task.updated'];

/** An event of a newer server. */
export interface UnknownEvent {
  id: string;
  type: 'unknown';
  timestamp: string;
  /** All that was delivered; its `type` names the event. */
  body: Record<string, unknown>;
}

/** A webhook event, told apart by its `type`. */
export type WebhookEvent = KnownEvent | UnknownEvent;

/**
 * Method, path and scope of every operation, and what it takes after the ids of its path.
 *
 * @internal
 */
export const routes = {
  ping: {
    get: { method: 'GET', path: '/ping' },
  },
  tickets: {
    list: { method: 'GET', path: '/tickets', scope: 'tickets:read', takes: 'query' },
    get: { method: 'GET', path: '/tickets/:id', scope: 'tickets:read' },
    create: { method: 'POST', path: '/tickets', scope: 'tickets:write', takes: 'body' },
    update: { method: 'PATCH', path: '/tickets/:id', scope: 'tickets:write', takes: 'body' },
  },
  assets: {
    list: { method: 'GET', path: '/assets', scope: 'assets:read', takes: 'query' },
    update: { method: 'PATCH', path: '/assets/:id', scope: 'assets:write', takes: 'body' },
  },
  projects: {
    list: { method: 'GET', path: '/projects', scope: 'projects:read', takes: 'query' },
    get: { method: 'GET', path: '/projects/:id', scope: 'projects:read' },
  },
  tasks: {
    list: { method: 'GET', path: '/projects/:id/tasks', scope: 'projects:read', takes: 'query' },
    create: { method: 'POST', path: '/projects/:id/tasks', scope: 'projects:write', takes: 'body' },
    update: { method: 'PATCH', path: '/tasks/:taskId', scope: 'projects:write', takes: 'body' },
  },
  users: {
    list: { method: 'GET', path: '/users', scope: 'users:read', takes: 'query' },
  },
  webhooks: {
    list: { method: 'GET', path: '/webhooks', scope: 'webhooks:manage', takes: 'query' },
    create: { method: 'POST', path: '/webhooks', scope: 'webhooks:manage', takes: 'body' },
    update: { method: 'PATCH', path: '/webhooks/:id', scope: 'webhooks:manage', takes: 'body' },
    test: { method: 'POST', path: '/webhooks/:id/test', scope: 'webhooks:manage' },
    replay: { method: 'POST', path: '/webhooks/:id/replay', scope: 'webhooks:manage', takes: 'body' },
    delete: { method: 'DELETE', path: '/webhooks/:id', scope: 'webhooks:manage' },
  },
  deliveries: {
    list: { method: 'GET', path: '/webhooks/:id/deliveries', scope: 'webhooks:manage', takes: 'query' },
    get: { method: 'GET', path: '/deliveries/:id', scope: 'webhooks:manage' },
    replay: { method: 'POST', path: '/deliveries/:id/replay', scope: 'webhooks:manage' },
  },
} as const;
