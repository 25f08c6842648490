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

/** A key without its secret. */
export interface Key {
  /** A positive integer. */
  id: number;
  name: string;
  /** The last four characters of the key; the rest is not kept. */
  lastFour: string;
  /** What the key may do. */
  scopes: Open<Scope>[];
  createdAt: string;
  /** Null where it does not expire. */
  expiresAt: string | null;
  /** To the minute; null where it was not used before. */
  lastUsedAt: string | null;
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

/** Whose rows the key sees. */
export interface Workspace {
  name: string;
}

/** A window of the rate limits, as it stands for the key. */
export interface Limit {
  /** `global`, over all endpoints, or a group of them. */
  name: string;
  /** Requests in a window. */
  limit: number;
  /** What is left of them. */
  remaining: number;
  /** Until the window opens again. */
  resetSeconds: number;
  /** How long a window is. */
  windowSeconds: number;
}

/** The key of the request, without its secret: whose it is, what it may do, and what is left of its limits. */
export interface Identity {
  key: Key;
  user: User;
  workspace: Workspace;
  limits: Limit[];
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
  /** Whose ticket it is: the user who created the key, unless another was named. */
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
  /** How many comments there are, PUBLIC and INTERNAL ones. */
  commentCount: number;
  createdAt: string;
  updatedAt: string;
}

/** A user by id; `me` is the user who created the key, and `none` stands for nobody. */
export type TicketAssignee = number | 'me' | 'none';

/** The page and the filters of a list of tickets. */
export interface TicketQuery {
  page?: number | string | undefined;
  perPage?: number | string | undefined;
  status?: TicketStatus | readonly TicketStatus[] | undefined;
  priority?: Priority | readonly Priority[] | undefined;
  assigneeId?: TicketAssignee | readonly TicketAssignee[] | undefined;
  type?: TicketType | readonly TicketType[] | undefined;
  category?: TicketCategory | readonly TicketCategory[] | undefined;
  requesterId?: number | string | readonly (number | string)[] | undefined;
  parentId?: number | string | readonly (number | string)[] | undefined;
  watcherUserId?: number | string | readonly (number | string)[] | undefined;
  /** Only those created then or later. */
  createdSince?: string | undefined;
  /** Only those created earlier. */
  createdBefore?: string | undefined;
  /** Only those whose number, title and description hold all of these words; the last may be the beginning of one. */
  q?: string | undefined;
  /** `-id`: newest first. `id`: oldest first. */
  sort?: '-id' | 'id' | undefined;
}

/** Where to begin with what has changed, and how much of it. */
export interface ChangesQuery {
  /** What has changed since this moment, and perhaps a little before it. Not together with `cursor`. */
  since?: string | undefined;
  /** The `nextCursor` of the page before: what has changed after it. */
  cursor?: string | undefined;
  perPage?: number | string | undefined;
}

/** A ticket number as it is given out. */
export type TicketNumber = `${'INC' | 'PRB' | 'CHG' | 'REQ'}-${number}`;

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
  /** On whose behalf; the user who created the key when absent. */
  requesterId?: number | null | undefined;
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

/** An item whose ticket was made. */
export interface CreatedTicket {
  status: 201;
  data: Ticket;
}

/** What went wrong, for programs. */
export type ErrorCode =
  | 'VALIDATION_ERROR'
  | 'INVALID_JSON'
  | 'UNSUPPORTED_MEDIA_TYPE'
  | 'PAYLOAD_TOO_LARGE'
  | 'INVALID_TRANSITION'
  | 'INVALID_REFERENCE'
  | 'QUERY_TOO_BROAD'
  | 'INVALID_API_KEY'
  | 'INSUFFICIENT_SCOPE'
  | 'NOT_FOUND'
  | 'IDEMPOTENCY_KEY_REUSED'
  | 'IDEMPOTENCY_IN_PROGRESS'
  | 'PRECONDITION_FAILED'
  | 'RATE_LIMIT_EXCEEDED'
  | 'INTERNAL_ERROR';

export interface ErrorDetail {
  /** The field, query parameter or path parameter, with dots into its parts. */
  path: string;
  message: string;
}

/** An item that was refused; nothing of it was done. */
export interface BulkRefusal {
  /** The status that the single request would have. */
  status: 400 | 404;
  /** What the single request would have been answered. */
  error: { code: Open<ErrorCode>; message: string; details?: ErrorDetail[] | undefined; docs: string };
}

/** What became of one item; `status` tells which. */
export type NewTicketAnswer = CreatedTicket | BulkRefusal;

/** 1 to 100 new tickets; each is made or refused by itself. */
export interface NewTickets {
  tickets: NewTicket[];
}

/** An item whose ticket is as the item asked. */
export interface UpdatedTicket {
  status: 200;
  data: Ticket;
}

/** What became of one item; `status` tells which. */
export type TicketPatchAnswer = UpdatedTicket | BulkRefusal;

/** The id of a ticket and what changes in it: absent fields stay as they are; null clears. */
export interface TicketPatchItem {
  /** A positive integer. */
  id: number;
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

/** 1 to 100 changes, each of another ticket; each is made or refused by itself. */
export interface TicketPatches {
  tickets: TicketPatchItem[];
}

/** For whom it was written. A label: whoever may read the ticket reads both. */
export type CommentVisibility = 'PUBLIC' | 'INTERNAL';

/** A comment on a ticket. */
export interface Comment {
  /** A positive integer. */
  id: number;
  /** The ticket that it is on. */
  ticketId: number;
  /** The user who created the key that wrote it. */
  authorId: number;
  /** The text, at most 65535 bytes in UTF-8. */
  body: string;
  visibility: Open<CommentVisibility>;
  /** When it was written. It never changes. */
  createdAt: string;
}

/** The page and the filters of a list of comments. */
export interface CommentQuery {
  page?: number | string | undefined;
  perPage?: number | string | undefined;
}

export interface NewComment {
  /** The text, at most 65535 bytes in UTF-8. */
  body: string;
  visibility: CommentVisibility;
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

/** The page and the filters of a list of assets. */
export interface AssetQuery {
  page?: number | string | undefined;
  perPage?: number | string | undefined;
  status?: AssetStatus | readonly AssetStatus[] | undefined;
  type?: AssetType | readonly AssetType[] | undefined;
  assignedToId?: number | string | readonly (number | string)[] | undefined;
  /** Only those whose name, asset tag and serial number hold all of these words; the last may be the beginning of one. */
  q?: string | undefined;
}

/** Without a status an asset is IN_USE where it is assigned, and else IN_STOCK. */
export interface NewAsset {
  name: string;
  /** Unique in the workspace. */
  assetTag: string;
  serialNumber?: string | null | undefined;
  type: AssetType;
  status?: AssetStatus | null | undefined;
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
  customFields?: CustomFields | null | undefined;
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

/** What was done to the resource. */
export type ActivityAction = 'CREATED' | 'UPDATED' | 'COMMENTED';

/** Whose key did it; null for the command line. */
export type Actor = { userId: number; keyId: number | null } | null;

export type Changes = Record<string, { from: unknown; to: unknown }>;

/** Something that was done to a ticket or an asset. `changes` are those of events, and empty for CREATED; of a longer text they hold the first 1000 characters and `…`, and of `customFields` those that differ, which share 1000 characters; a list that is cut is the beginning of its JSON. */
export interface Activity {
  /** A positive integer. */
  id: number;
  /** When it was done. */
  at: string;
  action: Open<ActivityAction>;
  /** Whose key did it; null for the command line. */
  actor: Actor;
  changes: Changes;
}

/** The page and the filters of a list of activities. */
export interface ActivityQuery {
  page?: number | string | undefined;
  perPage?: number | string | undefined;
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

/** The page and the filters of a list of projects. */
export interface ProjectQuery {
  page?: number | string | undefined;
  perPage?: number | string | undefined;
  status?: ProjectStatus | readonly ProjectStatus[] | undefined;
  /** Only those whose key, name and description hold all of these words; the last may be the beginning of one. */
  q?: string | undefined;
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

/** The page and the filters of a list of tasks. */
export interface TaskQuery {
  page?: number | string | undefined;
  perPage?: number | string | undefined;
  status?: TaskStatus | readonly TaskStatus[] | undefined;
  priority?: Priority | readonly Priority[] | undefined;
  assigneeId?: number | string | readonly (number | string)[] | undefined;
  /** Only those whose title and description hold all of these words; the last may be the beginning of one. */
  q?: string | undefined;
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

/** The page and the filters of a list of users. */
export interface UserQuery {
  page?: number | string | undefined;
  perPage?: number | string | undefined;
  role?: UserRole | readonly UserRole[] | undefined;
  active?: boolean | 'true' | 'false' | readonly (boolean | 'true' | 'false')[] | undefined;
  email?: string | readonly string[] | undefined;
  /** Only those whose name and e-mail address hold all of these words; the last may be the beginning of one. */
  q?: string | undefined;
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

/** The page and the filters of a list of webhooks. */
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

/** The page and the filters of a list of deliveries. */
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
  /** Whose key did it; null for the command line. */
  actor: Actor;
  ticket: Ticket;
}

/** A ticket is updated. */
export interface TicketUpdatedEvent {
  /** The same on every attempt: deduplicate by it. */
  id: string;
  type: 'ticket.updated';
  timestamp: string;
  /** Whose key did it; null for the command line. */
  actor: Actor;
  ticket: Ticket;
  changes: Changes;
}

/** An asset is created. */
export interface AssetCreatedEvent {
  /** The same on every attempt: deduplicate by it. */
  id: string;
  type: 'asset.created';
  timestamp: string;
  /** Whose key did it; null for the command line. */
  actor: Actor;
  asset: Asset;
}

/** A project task is updated. */
export interface TaskUpdatedEvent {
  /** The same on every attempt: deduplicate by it. */
  id: string;
  type: 'task.updated';
  timestamp: string;
  /** Whose key did it; null for the command line. */
  actor: Actor;
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

export interface ChangesMeta {
  /** Where the next page begins, also on the last one: keep it, and ask with it again later. */
  nextCursor: string;
  /** Whether there is more already; else ask again after a while. */
  hasMore: boolean;
}

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
  me: {
    get: { method: 'GET', path: '/me' },
  },
  tickets: {
    list: { method: 'GET', path: '/tickets', scope: 'tickets:read', takes: 'query' },
    changes: { method: 'GET', path: '/tickets/changes', scope: 'tickets:read', takes: 'changes' },
    get: { method: 'GET', path: '/tickets/:id', scope: 'tickets:read' },
    create: { method: 'POST', path: '/tickets', scope: 'tickets:write', takes: 'body' },
    update: { method: 'PATCH', path: '/tickets/:id', scope: 'tickets:write', takes: 'body' },
    createMany: { method: 'POST', path: '/tickets/bulk', scope: 'tickets:write', takes: 'body' },
    updateMany: { method: 'PATCH', path: '/tickets/bulk', scope: 'tickets:write', takes: 'body' },
  },
  comments: {
    list: { method: 'GET', path: '/tickets/:id/comments', scope: 'tickets:read', takes: 'query' },
    create: { method: 'POST', path: '/tickets/:id/comments', scope: 'tickets:write', takes: 'body' },
  },
  assets: {
    list: { method: 'GET', path: '/assets', scope: 'assets:read', takes: 'query' },
    changes: { method: 'GET', path: '/assets/changes', scope: 'assets:read', takes: 'changes' },
    get: { method: 'GET', path: '/assets/:id', scope: 'assets:read' },
    create: { method: 'POST', path: '/assets', scope: 'assets:write', takes: 'body' },
    update: { method: 'PATCH', path: '/assets/:id', scope: 'assets:write', takes: 'body' },
  },
  activities: {
    ofTicket: { method: 'GET', path: '/tickets/:id/activity', scope: 'tickets:read', takes: 'query' },
    ofAsset: { method: 'GET', path: '/assets/:id/activity', scope: 'assets:read', takes: 'query' },
  },
  projects: {
    list: { method: 'GET', path: '/projects', scope: 'projects:read', takes: 'query' },
    changes: { method: 'GET', path: '/projects/changes', scope: 'projects:read', takes: 'changes' },
    get: { method: 'GET', path: '/projects/:id', scope: 'projects:read' },
  },
  tasks: {
    list: { method: 'GET', path: '/projects/:id/tasks', scope: 'projects:read', takes: 'query' },
    changes: { method: 'GET', path: '/tasks/changes', scope: 'projects:read', takes: 'changes' },
    create: { method: 'POST', path: '/projects/:id/tasks', scope: 'projects:write', takes: 'body' },
    get: { method: 'GET', path: '/tasks/:taskId', scope: 'projects:read' },
    update: { method: 'PATCH', path: '/tasks/:taskId', scope: 'projects:write', takes: 'body' },
  },
  users: {
    list: { method: 'GET', path: '/users', scope: 'users:read', takes: 'query' },
    changes: { method: 'GET', path: '/users/changes', scope: 'users:read', takes: 'changes' },
    get: { method: 'GET', path: '/users/:id', scope: 'users:read' },
  },
  webhooks: {
    list: { method: 'GET', path: '/webhooks', scope: 'webhooks:manage', takes: 'query' },
    get: { method: 'GET', path: '/webhooks/:id', scope: 'webhooks:manage' },
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
