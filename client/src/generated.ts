// Made from the contract by `pnpm generate`; not to be edited.

/** @internal */
export const version = '1.0.0';

/**
 * What precedes every path.
 *
 * @internal
 */
export const pathPrefix = '/api/public/v1';

/**
 * What a bulk request may hold.
 *
 * @internal
 */
export const limits = { bulkItems: 100, bodyBytes: 1048576 };

/** A value that this version of the client does not know, of a newer server: text, of no known value. */
export declare enum Unknown {
  Value = 'a value of a newer server',
}

/**
 * One of the values known today, or `Unknown` of a newer server. A `switch` over it needs a `default`, and a `case`
 * that is no known value is an error. What was read can be sent again.
 */
export type Open<Known extends string> = Known | Unknown;

/** Fields of which at least one is named. */
export type AtLeastOne<Fields> = {
  [Name in keyof Fields]: Pick<Fields, Name> & { [Other in keyof Fields]?: Fields[Other] | undefined };
}[keyof Fields];

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
  /** A moment in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  createdAt: string;
  /** Null where it does not expire. A moment in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  expiresAt: string | null;
  /** To the minute; null where it was not used before. A moment in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  lastUsedAt: string | null;
}

export type UserRole = 'ADMIN' | 'AGENT' | 'REQUESTER';

/** A person of the workspace. */
export interface User {
  /** A positive integer. */
  id: number;
  /** 1 to 255 characters. */
  name: string;
  /** In lower case, unique in the workspace. 1 to 254 characters. */
  email: string;
  role: Open<UserRole>;
  active: boolean;
  /** 1 to 255 characters. */
  jobTitle: string | null;
  /** 1 to 255 characters. */
  department: string | null;
  /** 1 to 255 characters. */
  phone: string | null;
  /** An IANA name such as Europe/Berlin. 1 to 255 characters. */
  timeZone: string | null;
  /** A moment in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  createdAt: string;
  /** A moment in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
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
  /** A key without its secret. */
  key: Key;
  /** A person of the workspace. */
  user: User;
  /** Whose rows the key sees. */
  workspace: Workspace;
  limits: Limit[];
}

export type TicketType = 'INCIDENT' | 'PROBLEM' | 'CHANGE' | 'SERVICE_REQUEST';

/** A new ticket is OPEN. CLOSED and CANCELLED are final. */
export type TicketStatus = 'OPEN' | 'IN_PROGRESS' | 'PENDING' | 'RESOLVED' | 'CLOSED' | 'CANCELLED';

export type Priority = 'LOW' | 'MEDIUM' | 'HIGH' | 'CRITICAL';

export type TicketCategory = 'SOFTWARE' | 'HARDWARE' | 'NETWORK' | 'ACCESS' | 'EMAIL' | 'OTHER';

/** At most 50 keys and 16 KiB as JSON; values are strings, numbers, booleans, null or arrays of those. Numbers are 0 or have a magnitude from 1e-9 to 1e15. */
export type CustomFields = Record<string, string | number | boolean | null | readonly (string | number | boolean | null)[]>;

/** An incident, problem, change or service request. */
export interface Ticket {
  /** A positive integer. */
  id: number;
  /** INC-, PRB-, CHG-, REQ- and a number that counts from 1 in the workspace and type; never used again. */
  ticketNumber: string;
  /** 1 to 255 characters. */
  title: string;
  /** 1 to 65535 characters. */
  description: string;
  type: Open<TicketType>;
  /** A new ticket is OPEN. CLOSED and CANCELLED are final. */
  status: Open<TicketStatus>;
  priority: Open<Priority>;
  category: Open<TicketCategory> | null;
  /** An opaque identifier, stored as given. 1 to 255 characters. */
  categoryConfigId: string | null;
  /** Whose ticket it is: the user who created the key, unless another was named. */
  requesterId: number;
  /** A positive integer. */
  assigneeId: number | null;
  /** Users who follow the ticket, at most 100, in ascending order. */
  watcherUserIds: number[];
  /** A positive integer. */
  parentId: number | null;
  /** At most 50 keys and 16 KiB as JSON; values are strings, numbers, booleans, null or arrays of those. Numbers are 0 or have a magnitude from 1e-9 to 1e15. */
  customFields: CustomFields;
  /** 1 to 65535 characters. */
  resolution: string | null;
  /** A moment in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  resolvedAt: string | null;
  /** A moment in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  closedAt: string | null;
  /** How many comments there are, PUBLIC and INTERNAL ones. */
  commentCount: number;
  /** A moment in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  createdAt: string;
  /** A moment in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  updatedAt: string;
}

/** A user by id; `me` is the user who created the key, and `none` stands for nobody. */
export type TicketAssignee = number | 'me' | 'none';

/** The page and the filters of a list of tickets. */
export interface TicketQuery {
  /** The page, from 1. 1 by default. */
  page?: number | string | undefined;
  /** Rows on a page, at most 100. 1 to 100. 20 by default. */
  perPage?: number | string | undefined;
  /** 1 to 100 of them. */
  status?: Open<TicketStatus> | readonly Open<TicketStatus>[] | undefined;
  /** 1 to 100 of them. */
  priority?: Open<Priority> | readonly Open<Priority>[] | undefined;
  /** 1 to 100 of them. */
  assigneeId?: TicketAssignee | readonly TicketAssignee[] | undefined;
  /** 1 to 100 of them. */
  type?: Open<TicketType> | readonly Open<TicketType>[] | undefined;
  /** 1 to 100 of them. */
  category?: Open<TicketCategory> | readonly Open<TicketCategory>[] | undefined;
  /** 1 to 100 of them. */
  requesterId?: number | string | readonly (number | string)[] | undefined;
  /** 1 to 100 of them. */
  parentId?: number | string | readonly (number | string)[] | undefined;
  /** 1 to 100 of them. */
  watcherUserId?: number | string | readonly (number | string)[] | undefined;
  /** Only those created then or later. A moment in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  createdSince?: string | undefined;
  /** Only those created earlier. A moment in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  createdBefore?: string | undefined;
  /** Only those whose number, title and description hold all of these words; the last may be the beginning of one. 1 to 200 characters. */
  q?: string | undefined;
  /** `-id`: newest first. `id`: oldest first. "-id" by default. */
  sort?: '-id' | 'id' | undefined;
}

/** Where to begin with what has changed, and how much of it. */
export interface ChangesQuery {
  /** What has changed since this moment, and perhaps a little before it. Not together with `cursor`. A moment in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  since?: string | undefined;
  /** The `nextCursor` of the page before: what has changed after it. 1 to 200 characters. */
  cursor?: string | undefined;
  /** Rows on a page, at most 100. 1 to 100. 100 by default. */
  perPage?: number | string | undefined;
}

/** A ticket number as it is given out. */
export type TicketNumber = `${'INC' | 'PRB' | 'CHG' | 'REQ'}-${number}`;

/** One of `category` and `categoryConfigId` is required; both may be given. */
export type NewTicket = AtLeastOne<{
  category: Open<TicketCategory> | null;
  /** An opaque identifier, stored as given. 1 to 255 characters. */
  categoryConfigId: string | null;
}> & {
  /** 1 to 255 characters. */
  title: string;
  /** 1 to 65535 characters. */
  description: string;
  type: Open<TicketType>;
  /** MEDIUM when absent. */
  priority?: Open<Priority> | null | undefined;
  /** On whose behalf; the user who created the key when absent. */
  requesterId?: number | null | undefined;
  /** A positive integer. */
  assigneeId?: number | null | undefined;
  /** Users who follow the ticket, at most 100, in ascending order. */
  watcherUserIds?: readonly number[] | null | undefined;
  /** A positive integer. */
  parentId?: number | null | undefined;
  /** At most 50 keys and 16 KiB as JSON; values are strings, numbers, booleans, null or arrays of those. Numbers are 0 or have a magnitude from 1e-9 to 1e15. */
  customFields?: CustomFields | null | undefined;
};

/** Merged into what is there: a key given replaces, a key given as null is removed. Numbers are 0 or have a magnitude from 1e-9 to 1e15. */
export type CustomFieldsPatch = Record<string, string | number | boolean | null | readonly (string | number | boolean | null)[]>;

/** Absent fields stay as they are; null clears. `type` cannot change. */
export interface TicketPatch {
  /** 1 to 255 characters. */
  title?: string | undefined;
  /** 1 to 65535 characters. */
  description?: string | undefined;
  /** A new ticket is OPEN. CLOSED and CANCELLED are final. */
  status?: Open<TicketStatus> | undefined;
  priority?: Open<Priority> | undefined;
  category?: Open<TicketCategory> | null | undefined;
  /** An opaque identifier, stored as given. 1 to 255 characters. */
  categoryConfigId?: string | null | undefined;
  /** A positive integer. */
  assigneeId?: number | null | undefined;
  /** Users who follow the ticket, at most 100, in ascending order. */
  watcherUserIds?: readonly number[] | undefined;
  /** A positive integer. */
  parentId?: number | null | undefined;
  /** Merged into what is there: a key given replaces, a key given as null is removed. Numbers are 0 or have a magnitude from 1e-9 to 1e15. */
  customFields?: CustomFieldsPatch | undefined;
  /** 1 to 65535 characters. */
  resolution?: string | null | undefined;
}

/** The id of a ticket and what changes in it: absent fields stay as they are; null clears. */
export interface TicketPatchItem {
  /** A positive integer. */
  id: number;
  /** 1 to 255 characters. */
  title?: string | undefined;
  /** 1 to 65535 characters. */
  description?: string | undefined;
  /** A new ticket is OPEN. CLOSED and CANCELLED are final. */
  status?: Open<TicketStatus> | undefined;
  priority?: Open<Priority> | undefined;
  category?: Open<TicketCategory> | null | undefined;
  /** An opaque identifier, stored as given. 1 to 255 characters. */
  categoryConfigId?: string | null | undefined;
  /** A positive integer. */
  assigneeId?: number | null | undefined;
  /** Users who follow the ticket, at most 100, in ascending order. */
  watcherUserIds?: readonly number[] | undefined;
  /** A positive integer. */
  parentId?: number | null | undefined;
  /** Merged into what is there: a key given replaces, a key given as null is removed. Numbers are 0 or have a magnitude from 1e-9 to 1e15. */
  customFields?: CustomFieldsPatch | undefined;
  /** 1 to 65535 characters. */
  resolution?: string | null | undefined;
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
  /** The text, at most 65535 bytes in UTF-8. 1 to 65535 characters. */
  body: string;
  /** For whom it was written. A label: whoever may read the ticket reads both. */
  visibility: Open<CommentVisibility>;
  /** When it was written. It never changes. A moment in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  createdAt: string;
}

/** The page and the filters of a list of comments. */
export interface CommentQuery {
  /** The page, from 1. 1 by default. */
  page?: number | string | undefined;
  /** Rows on a page, at most 100. 1 to 100. 20 by default. */
  perPage?: number | string | undefined;
}

export interface NewComment {
  /** The text, at most 65535 bytes in UTF-8. 1 to 65535 characters. */
  body: string;
  /** For whom it was written. A label: whoever may read the ticket reads both. */
  visibility: Open<CommentVisibility>;
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
  /** 1 to 255 characters. */
  name: string;
  /** Unique in the workspace. 1 to 100 characters. */
  assetTag: string;
  /** 1 to 255 characters. */
  serialNumber: string | null;
  type: Open<AssetType>;
  /** DISPOSED is final; every other move is free. */
  status: Open<AssetStatus>;
  /** 1 to 255 characters. */
  manufacturer: string | null;
  /** 1 to 255 characters. */
  model: string | null;
  /** 1 to 255 characters. */
  location: string | null;
  /** A positive integer. */
  assignedToId: number | null;
  /** A date, `YYYY-MM-DD`. */
  purchaseDate: string | null;
  /** A decimal as a string; answered with two decimals. */
  purchaseCost: string | null;
  /** A moment in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  warrantyExpiresAt: string | null;
  /** 1 to 65535 characters. */
  notes: string | null;
  /** At most 50 keys and 16 KiB as JSON; values are strings, numbers, booleans, null or arrays of those. Numbers are 0 or have a magnitude from 1e-9 to 1e15. */
  customFields: CustomFields;
  /** A moment in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  createdAt: string;
  /** A moment in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  updatedAt: string;
}

/** The page and the filters of a list of assets. */
export interface AssetQuery {
  /** The page, from 1. 1 by default. */
  page?: number | string | undefined;
  /** Rows on a page, at most 100. 1 to 100. 20 by default. */
  perPage?: number | string | undefined;
  /** 1 to 100 of them. */
  status?: Open<AssetStatus> | readonly Open<AssetStatus>[] | undefined;
  /** 1 to 100 of them. */
  type?: Open<AssetType> | readonly Open<AssetType>[] | undefined;
  /** 1 to 100 of them. */
  assignedToId?: number | string | readonly (number | string)[] | undefined;
  /** Only those whose name, asset tag and serial number hold all of these words; the last may be the beginning of one. 1 to 200 characters. */
  q?: string | undefined;
}

/** Without a status an asset is IN_USE where it is assigned, and else IN_STOCK. */
export interface NewAsset {
  /** 1 to 255 characters. */
  name: string;
  /** Unique in the workspace. 1 to 100 characters. */
  assetTag: string;
  /** 1 to 255 characters. */
  serialNumber?: string | null | undefined;
  type: Open<AssetType>;
  /** DISPOSED is final; every other move is free. */
  status?: Open<AssetStatus> | null | undefined;
  /** 1 to 255 characters. */
  manufacturer?: string | null | undefined;
  /** 1 to 255 characters. */
  model?: string | null | undefined;
  /** 1 to 255 characters. */
  location?: string | null | undefined;
  /** A positive integer. */
  assignedToId?: number | null | undefined;
  /** A date, `YYYY-MM-DD`. */
  purchaseDate?: string | null | undefined;
  /** A decimal as a string; answered with two decimals. */
  purchaseCost?: string | null | undefined;
  /** A moment in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  warrantyExpiresAt?: string | null | undefined;
  /** 1 to 65535 characters. */
  notes?: string | null | undefined;
  /** At most 50 keys and 16 KiB as JSON; values are strings, numbers, booleans, null or arrays of those. Numbers are 0 or have a magnitude from 1e-9 to 1e15. */
  customFields?: CustomFields | null | undefined;
}

/** Absent fields stay as they are; null clears. Assigning without a status means IN_USE; unassigning an asset that is IN_USE means IN_STOCK. `assetTag` cannot change. */
export interface AssetPatch {
  /** 1 to 255 characters. */
  name?: string | undefined;
  /** 1 to 255 characters. */
  serialNumber?: string | null | undefined;
  type?: Open<AssetType> | undefined;
  /** DISPOSED is final; every other move is free. */
  status?: Open<AssetStatus> | undefined;
  /** 1 to 255 characters. */
  manufacturer?: string | null | undefined;
  /** 1 to 255 characters. */
  model?: string | null | undefined;
  /** 1 to 255 characters. */
  location?: string | null | undefined;
  /** A positive integer. */
  assignedToId?: number | null | undefined;
  /** A date, `YYYY-MM-DD`. */
  purchaseDate?: string | null | undefined;
  /** A decimal as a string; answered with two decimals. */
  purchaseCost?: string | null | undefined;
  /** A moment in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  warrantyExpiresAt?: string | null | undefined;
  /** 1 to 65535 characters. */
  notes?: string | null | undefined;
  /** Merged into what is there: a key given replaces, a key given as null is removed. Numbers are 0 or have a magnitude from 1e-9 to 1e15. */
  customFields?: CustomFieldsPatch | undefined;
}

/** What was done to the resource. */
export type ActivityAction = 'CREATED' | 'UPDATED' | 'COMMENTED';

/** Whose key did it; null for the command line. */
export type Actor = {
  /** The user who created the key. */
  userId: number;
  /** The key; null where none was needed. */
  keyId: number | null;
} | null;

export type Changes = Record<string, {
  from: unknown;
  to: unknown;
}>;

/** Something that was done to a ticket or an asset. `changes` are those of events, and empty for CREATED; of a longer text they hold the first 1000 characters and `…`. */
export interface Activity {
  /** A positive integer. */
  id: number;
  /** When it was done. A moment in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  at: string;
  /** What was done to the resource. */
  action: Open<ActivityAction>;
  /** Whose key did it; null for the command line. */
  actor: Actor;
  changes: Changes;
}

/** The page and the filters of a list of activities. */
export interface ActivityQuery {
  /** The page, from 1. 1 by default. */
  page?: number | string | undefined;
  /** Rows on a page, at most 100. 1 to 100. 20 by default. */
  perPage?: number | string | undefined;
}

export type ProjectStatus = 'PLANNED' | 'ACTIVE' | 'ON_HOLD' | 'COMPLETED' | 'CANCELLED';

/** A project; its tasks are listed below it. */
export interface Project {
  /** A positive integer. */
  id: number;
  /** Unique in the workspace. */
  key: string;
  /** 1 to 255 characters. */
  name: string;
  /** 1 to 65535 characters. */
  description: string | null;
  status: Open<ProjectStatus>;
  priority: Open<Priority>;
  /** A positive integer. */
  managerId: number | null;
  /** A date, `YYYY-MM-DD`. */
  startDate: string | null;
  /** A date, `YYYY-MM-DD`. */
  endDate: string | null;
  /** A moment in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  createdAt: string;
  /** A moment in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  updatedAt: string;
}

/** The page and the filters of a list of projects. */
export interface ProjectQuery {
  /** The page, from 1. 1 by default. */
  page?: number | string | undefined;
  /** Rows on a page, at most 100. 1 to 100. 20 by default. */
  perPage?: number | string | undefined;
  /** 1 to 100 of them. */
  status?: Open<ProjectStatus> | readonly Open<ProjectStatus>[] | undefined;
  /** Only those whose key, name and description hold all of these words; the last may be the beginning of one. 1 to 200 characters. */
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
  /** 1 to 255 characters. */
  title: string;
  /** 1 to 65535 characters. */
  description: string | null;
  /** A new task is TODO; every move is free. */
  status: Open<TaskStatus>;
  priority: Open<Priority>;
  /** A positive integer. */
  assigneeId: number | null;
  /** A date, `YYYY-MM-DD`. */
  startDate: string | null;
  /** A date, `YYYY-MM-DD`. */
  dueDate: string | null;
  /** When it became DONE; null while it is not. A moment in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  completedAt: string | null;
  /** A moment in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  createdAt: string;
  /** A moment in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  updatedAt: string;
}

/** The page and the filters of a list of tasks. */
export interface TaskQuery {
  /** The page, from 1. 1 by default. */
  page?: number | string | undefined;
  /** Rows on a page, at most 100. 1 to 100. 20 by default. */
  perPage?: number | string | undefined;
  /** 1 to 100 of them. */
  status?: Open<TaskStatus> | readonly Open<TaskStatus>[] | undefined;
  /** 1 to 100 of them. */
  priority?: Open<Priority> | readonly Open<Priority>[] | undefined;
  /** 1 to 100 of them. */
  assigneeId?: number | string | readonly (number | string)[] | undefined;
  /** Only those whose title and description hold all of these words; the last may be the beginning of one. 1 to 200 characters. */
  q?: string | undefined;
}

export interface NewTask {
  /** 1 to 255 characters. */
  title: string;
  /** 1 to 65535 characters. */
  description?: string | null | undefined;
  /** MEDIUM when absent. */
  priority?: Open<Priority> | null | undefined;
  /** A positive integer. */
  assigneeId?: number | null | undefined;
  /** A date, `YYYY-MM-DD`. */
  startDate?: string | null | undefined;
  /** A date, `YYYY-MM-DD`. */
  dueDate?: string | null | undefined;
}

/** Absent fields stay as they are; null clears. */
export interface TaskPatch {
  /** 1 to 255 characters. */
  title?: string | undefined;
  /** 1 to 65535 characters. */
  description?: string | null | undefined;
  /** A new task is TODO; every move is free. */
  status?: Open<TaskStatus> | undefined;
  priority?: Open<Priority> | undefined;
  /** A positive integer. */
  assigneeId?: number | null | undefined;
  /** A date, `YYYY-MM-DD`. */
  startDate?: string | null | undefined;
  /** A date, `YYYY-MM-DD`. */
  dueDate?: string | null | undefined;
}

/** The page and the filters of a list of users. */
export interface UserQuery {
  /** The page, from 1. 1 by default. */
  page?: number | string | undefined;
  /** Rows on a page, at most 100. 1 to 100. 20 by default. */
  perPage?: number | string | undefined;
  /** 1 to 100 of them. */
  role?: Open<UserRole> | readonly Open<UserRole>[] | undefined;
  /** 1 to 100 of them. */
  active?: boolean | 'true' | 'false' | readonly (boolean | 'true' | 'false')[] | undefined;
  /** 1 to 100 of them. 1 to 254 characters. */
  email?: string | readonly string[] | undefined;
  /** Only those whose name and e-mail address hold all of these words; the last may be the beginning of one. 1 to 200 characters. */
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
  /** 1 to 2048 characters. */
  url: string;
  /** 1 to 100 of them. */
  events: Open<EventType>[];
  /** Top-level fields of the resource, and values of each: only events are delivered in which every field named is one of its values, or was before the change. Each event of the subscription must have the fields. At most 10 fields of 100 values. */
  filter: Record<string, readonly WebhookFilterValue[]> | null;
  /** Whether it is told nothing of what the key that made the subscription does itself, or one rotated from that key. */
  skipOwn: boolean;
  active: boolean;
  /** A moment in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  lastSuccessAt: string | null;
  /** A moment in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  lastFailureAt: string | null;
  /** Since when deliveries rest, because the endpoint failed or by `paused`. A moment in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  pausedAt: string | null;
  pausedReason: string | null;
  /** A moment in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  createdAt: string;
  /** A moment in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  updatedAt: string;
}

/** The page and the filters of a list of webhooks. */
export interface WebhookQuery {
  /** The page, from 1. 1 by default. */
  page?: number | string | undefined;
  /** Rows on a page, at most 100. 1 to 100. 20 by default. */
  perPage?: number | string | undefined;
}

export interface NewWebhook {
  /** https, with a public host and without user info. 1 to 2048 characters. */
  url: string;
  /** Signs each delivery; 24 characters or more are recommended. 1 to 256 characters. */
  secret: string;
  /** 1 to 100 of them. */
  events: readonly Open<EventType>[];
  /** Top-level fields of the resource, and values of each: only events are delivered in which every field named is one of its values, or was before the change. Each event of the subscription must have the fields. At most 10 fields of 100 values. */
  filter?: Record<string, readonly WebhookFilterValue[]> | null | undefined;
  /** Whether it is told nothing of what the key that made the subscription does itself, or one rotated from that key. */
  skipOwn?: boolean | undefined;
}

/** Absent fields stay as they are; null clears. */
export interface WebhookPatch {
  /** 1 to 2048 characters. */
  url?: string | undefined;
  /** The new secret. The one before signs, too, for 24 hours, in `webhook-signature`. 1 to 256 characters. */
  secret?: string | undefined;
  /** 1 to 100 of them. */
  events?: readonly Open<EventType>[] | undefined;
  /** Top-level fields of the resource, and values of each: only events are delivered in which every field named is one of its values, or was before the change. Each event of the subscription must have the fields. At most 10 fields of 100 values. */
  filter?: Record<string, readonly WebhookFilterValue[]> | null | undefined;
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
  /** The public events. */
  event: Open<EventType>;
  /** PENDING until it is settled: DELIVERED, EXHAUSTED when every attempt has failed, or CANCELLED with its subscription. */
  state: Open<DeliveryState>;
  /** Attempts begun since it was made, or last replayed. */
  attemptCount: number;
  /** While PENDING: when it may be tried next. A moment in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  nextAttemptAt: string | null;
  /** A moment in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  createdAt: string;
  /** When it was delivered, exhausted or cancelled. A moment in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  settledAt: string | null;
}

/** The states from which deliveries can be sent again together: all but PENDING. */
export type ReplayableState = 'DELIVERED' | 'EXHAUSTED' | 'CANCELLED';

/** What is being sent again from now on. */
export interface WebhookReplayStarted {
  /** A positive integer. */
  webhookId: number;
  /** A moment in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  since: string;
  states: Open<ReplayableState>[];
  /** How many deliveries were found; 10000 of them and more are not counted. */
  matching: number;
}

export interface WebhookReplay {
  /** Deliveries that were made then or later. A moment in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  since: string;
  /** Those in one of these states; EXHAUSTED alone unless given. 1 to 3 of them. */
  states?: readonly Open<ReplayableState>[] | undefined;
}

/** The page and the filters of a list of deliveries. */
export interface DeliveryQuery {
  /** The page, from 1. 1 by default. */
  page?: number | string | undefined;
  /** Rows on a page, at most 100. 1 to 100. 20 by default. */
  perPage?: number | string | undefined;
  /** 1 to 100 of them. */
  state?: Open<DeliveryState> | readonly Open<DeliveryState>[] | undefined;
}

/** What came of one attempt. */
export interface DeliveryAttempt {
  /** Counts from 1, and again from 1 when the delivery is replayed. */
  number: number;
  /** A moment in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
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
  /** The public events. */
  event: Open<EventType>;
  /** PENDING until it is settled: DELIVERED, EXHAUSTED when every attempt has failed, or CANCELLED with its subscription. */
  state: Open<DeliveryState>;
  /** Attempts begun since it was made, or last replayed. */
  attemptCount: number;
  /** While PENDING: when it may be tried next. A moment in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  nextAttemptAt: string | null;
  /** A moment in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  createdAt: string;
  /** When it was delivered, exhausted or cancelled. A moment in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
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
  /** A moment in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  timestamp: string;
  /** Whose key did it; null for the command line. */
  actor: Actor;
  /** An incident, problem, change or service request. */
  ticket: Ticket;
}

/** A ticket is updated. */
export interface TicketUpdatedEvent {
  /** The same on every attempt: deduplicate by it. */
  id: string;
  type: 'ticket.updated';
  /** A moment in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  timestamp: string;
  /** Whose key did it; null for the command line. */
  actor: Actor;
  /** An incident, problem, change or service request. */
  ticket: Ticket;
  changes: Changes;
}

/** An asset is created. */
export interface AssetCreatedEvent {
  /** The same on every attempt: deduplicate by it. */
  id: string;
  type: 'asset.created';
  /** A moment in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  timestamp: string;
  /** Whose key did it; null for the command line. */
  actor: Actor;
  /** A device, a licence or another thing the workspace looks after. */
  asset: Asset;
}

/** A project task is updated. */
export interface TaskUpdatedEvent {
  /** The same on every attempt: deduplicate by it. */
  id: string;
  type: 'task.updated';
  /** A moment in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  timestamp: string;
  /** Whose key did it; null for the command line. */
  actor: Actor;
  /** A task of a project. */
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
  | 'QUERY_TOO_BROAD'
  | 'INVALID_API_KEY'
  | 'INSUFFICIENT_SCOPE'
  | 'NOT_FOUND'
  | 'IDEMPOTENCY_KEY_REUSED'
  | 'IDEMPOTENCY_IN_PROGRESS'
  | 'PRECONDITION_FAILED'
  | 'RATE_LIMIT_EXCEEDED'
  | 'INTERNAL_ERROR';

/** The events that this version of the client knows. */
export type KnownEvent = TicketCreatedEvent | TicketUpdatedEvent | AssetCreatedEvent | TaskUpdatedEvent;

/** @internal */
export const eventTypes: readonly string[] = ['ticket.created', 'ticket.updated', 'asset.created', 'task.updated'];

/** An event of a newer server. */
export interface UnknownEvent {
  /** The same on every attempt: deduplicate by it. */
  id: string;
  /** The type that stands for all that this version of the client doesn't know. */
  type: 'unknown';
  /** When it happened. */
  timestamp: string;
  /** All that was delivered; its `type` names the event. */
  body: Record<string, unknown>;
}

/** A webhook event, told apart by its `type`. */
export type WebhookEvent = KnownEvent | UnknownEvent;

/**
 * Method and path of every operation; the scope it needs, whose first word is its limit, or the limit alone; and what it
 * takes after the ids of its path: `items=` names the field of a body that holds several.
 *
 * @internal
 */
export const routes = {
  ping: {
    get: 'GET /ping',
  },
  me: {
    get: 'GET /me users',
  },
  tickets: {
    list: 'GET /tickets tickets:read query',
    changes: 'GET /tickets/changes tickets:read changes',
    get: 'GET /tickets/:id tickets:read',
    create: 'POST /tickets tickets:write body',
    update: 'PATCH /tickets/:id tickets:write body',
    createMany: 'POST /tickets/bulk tickets:write items=tickets',
    updateMany: 'PATCH /tickets/bulk tickets:write items=tickets',
  },
  comments: {
    list: 'GET /tickets/:id/comments tickets:read query',
    create: 'POST /tickets/:id/comments tickets:write body',
  },
  assets: {
    list: 'GET /assets assets:read query',
    changes: 'GET /assets/changes assets:read changes',
    get: 'GET /assets/:id assets:read',
    create: 'POST /assets assets:write body',
    update: 'PATCH /assets/:id assets:write body',
  },
  activities: {
    ofTicket: 'GET /tickets/:id/activity tickets:read query',
    ofAsset: 'GET /assets/:id/activity assets:read query',
  },
  projects: {
    list: 'GET /projects projects:read query',
    changes: 'GET /projects/changes projects:read changes',
    get: 'GET /projects/:id projects:read',
  },
  tasks: {
    list: 'GET /projects/:id/tasks projects:read query',
    changes: 'GET /tasks/changes projects:read changes',
    create: 'POST /projects/:id/tasks projects:write body',
    get: 'GET /tasks/:taskId projects:read',
    update: 'PATCH /tasks/:taskId projects:write body',
  },
  users: {
    list: 'GET /users users:read query',
    changes: 'GET /users/changes users:read changes',
    get: 'GET /users/:id users:read',
  },
  webhooks: {
    list: 'GET /webhooks webhooks:manage query',
    get: 'GET /webhooks/:id webhooks:manage',
    create: 'POST /webhooks webhooks:manage body',
    update: 'PATCH /webhooks/:id webhooks:manage body',
    test: 'POST /webhooks/:id/test webhooks:manage',
    replay: 'POST /webhooks/:id/replay webhooks:manage body',
    delete: 'DELETE /webhooks/:id webhooks:manage',
  },
  deliveries: {
    list: 'GET /webhooks/:id/deliveries webhooks:manage query',
    get: 'GET /deliveries/:id webhooks:manage',
    replay: 'POST /deliveries/:id/replay webhooks:manage',
  },
} as const;
