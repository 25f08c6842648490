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

/** That the service answers. */
export interface Pong {
  /** The service answers. */
  status: 'ok';
  /** The version of the API, as the path has it. */
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
  /** Names it among all of its kind. It never changes, and is never used again. */
  id: number;
  /** What it was called when it was made. */
  name: string;
  /** The last four characters of the key; the rest is not kept. */
  lastFour: string;
  /** What the key may do. */
  scopes: Open<Scope>[];
  /** When it was made. */
  createdAt: string;
  /** When it stops to work; null where it does not. */
  expiresAt: string | null;
  /** When it was last used before, to the minute; null where it was not. */
  lastUsedAt: string | null;
}

/** What the user is in the workspace. What a request may do is its key's scopes to say. */
export type UserRole = 'ADMIN' | 'AGENT' | 'REQUESTER';

/** A person of the workspace. */
export interface User {
  /** Names it among all of its kind. It never changes, and is never used again. */
  id: number;
  /** What the user is called. */
  name: string;
  /** The e-mail address, in lower case, unique in the workspace. */
  email: string;
  role: Open<UserRole>;
  /** Whether the user is one still: others are not newly named, and their keys do not work. */
  active: boolean;
  /** What the user does. */
  jobTitle: string | null;
  /** Where in the company the user works. */
  department: string | null;
  /** The telephone number, as it was written. */
  phone: string | null;
  /** The time zone, an IANA name such as Europe/Berlin. */
  timeZone: string | null;
  /** When it was made. */
  createdAt: string;
  /** When it last changed. */
  updatedAt: string;
}

/** Whose rows the key sees. */
export interface Workspace {
  /** What it is called. */
  name: string;
}

/** A window of the rate limits, as it stands for the key. */
export interface Limit {
  /** `global`, over all endpoints, or the group of them that it counts. */
  name: string;
  /** How many requests a window allows. */
  limit: number;
  /** How many of them are left. */
  remaining: number;
  /** Seconds until the window opens again. */
  resetSeconds: number;
  /** How long a window is, in seconds. */
  windowSeconds: number;
}

/** The key of the request, without its secret: whose it is, what it may do, and what is left of its limits. */
export interface Identity {
  key: Key;
  /** The user who created the key. */
  user: User;
  workspace: Workspace;
  /** Every window of its limits: `global`, then each group. */
  limits: Limit[];
}

/** What kind of ticket it is, for ever. */
export type TicketType = 'INCIDENT' | 'PROBLEM' | 'CHANGE' | 'SERVICE_REQUEST';

/** How far it is. A new ticket is OPEN. CLOSED and CANCELLED are final. */
export type TicketStatus = 'OPEN' | 'IN_PROGRESS' | 'PENDING' | 'RESOLVED' | 'CLOSED' | 'CANCELLED';

/** How urgent it is. */
export type Priority = 'LOW' | 'MEDIUM' | 'HIGH' | 'CRITICAL';

/** What part of IT it is about. */
export type TicketCategory = 'SOFTWARE' | 'HARDWARE' | 'NETWORK' | 'ACCESS' | 'EMAIL' | 'OTHER';

/** A single value of a custom field. A number is 0, or has a magnitude from 1e-9 to 1e15. */
export type CustomFieldScalar = string | number | boolean | null;

/** What a custom field holds: a value, or several. A number is 0, or has a magnitude from 1e-9 to 1e15. */
export type CustomFieldValue = string | number | boolean | null | CustomFieldScalar[];

/** The workspace's own fields: at most 50 keys, and 16 KiB as JSON. */
export type CustomFields = Record<string, CustomFieldValue>;

/** An incident, problem, change or service request. */
export interface Ticket {
  /** Names it among all of its kind. It never changes, and is never used again. */
  id: number;
  /** INC-, PRB-, CHG-, REQ- and a number that counts from 1 in the workspace and type; never used again. */
  ticketNumber: string;
  /** What it is about, in a line. White space around it is taken off. */
  title: string;
  /** What it is about, at length; at most 65535 bytes in UTF-8. */
  description: string;
  type: Open<TicketType>;
  status: Open<TicketStatus>;
  priority: Open<Priority>;
  /** What part of IT it is about; null where `categoryConfigId` alone tells. */
  category: Open<TicketCategory> | null;
  /** Its category in the workspace's own list: an opaque identifier that is stored as given. */
  categoryConfigId: string | null;
  /** Whose ticket it is: the user who created the key, unless another was named. It never changes. */
  requesterId: number;
  /** The user who works on it; null while nobody does. One newly named is active. */
  assigneeId: number | null;
  /** The users who follow it: at most 100, answered in ascending order. Those newly named are active. */
  watcherUserIds: number[];
  /** The ticket that it is a part of; null where there is none. No ticket stands above itself. */
  parentId: number | null;
  customFields: CustomFields;
  /** How it was resolved; at most 65535 bytes in UTF-8. */
  resolution: string | null;
  /** When it became RESOLVED; null while it has not, or has been reopened. */
  resolvedAt: string | null;
  /** When it became CLOSED; null while it has not. */
  closedAt: string | null;
  /** How many comments there are, PUBLIC and INTERNAL ones. */
  commentCount: number;
  /** When it was made. */
  createdAt: string;
  /** When it last changed. */
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
  /** What it is about, in a line. White space around it is taken off. */
  title: string;
  /** What it is about, at length; at most 65535 bytes in UTF-8. */
  description: string;
  type: TicketType;
  category?: TicketCategory | null | undefined;
  /** Its category in the workspace's own list: an opaque identifier that is stored as given. */
  categoryConfigId?: string | null | undefined;
  /** How urgent it is: MEDIUM when absent. */
  priority?: Priority | null | undefined;
  /** On whose behalf: the user who created the key when absent. */
  requesterId?: number | null | undefined;
  /** The user who works on it; null while nobody does. One newly named is active. */
  assigneeId?: number | null | undefined;
  /** The users who follow it: at most 100, answered in ascending order. Those newly named are active. */
  watcherUserIds?: number[] | null | undefined;
  /** The ticket that it is a part of; null where there is none. No ticket stands above itself. */
  parentId?: number | null | undefined;
  customFields?: CustomFields | null | undefined;
}

/** Merged into the workspace's own fields that are there: a key given replaces, a key given as null is removed. At most 50 keys, and 16 KiB as JSON, may come of it. */
export type CustomFieldsPatch = Record<string, CustomFieldValue>;

/** Absent fields stay as they are; null clears. `type` cannot change. */
export interface TicketPatch {
  /** What it is about, in a line. White space around it is taken off. */
  title?: string | undefined;
  /** What it is about, at length; at most 65535 bytes in UTF-8. */
  description?: string | undefined;
  status?: TicketStatus | undefined;
  priority?: Priority | undefined;
  category?: TicketCategory | null | undefined;
  /** Its category in the workspace's own list: an opaque identifier that is stored as given. */
  categoryConfigId?: string | null | undefined;
  /** The user who works on it; null while nobody does. One newly named is active. */
  assigneeId?: number | null | undefined;
  /** The users who follow it: at most 100, answered in ascending order. Those newly named are active. */
  watcherUserIds?: number[] | undefined;
  /** The ticket that it is a part of; null where there is none. No ticket stands above itself. */
  parentId?: number | null | undefined;
  customFields?: CustomFieldsPatch | undefined;
  /** How it was resolved; at most 65535 bytes in UTF-8. */
  resolution?: string | null | undefined;
}

/** An item whose ticket was made. */
export interface CreatedTicket {
  /** The status that the single request would have. */
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

/** What is wrong in one place of the request. */
export interface ErrorDetail {
  /** The field, query parameter or path parameter, with dots into its parts. */
  path: string;
  /** What is wrong there, to be read after the name. */
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

/** New tickets; each is made or refused by itself. */
export interface NewTickets {
  tickets: NewTicket[];
}

/** An item whose ticket is as the item asked. */
export interface UpdatedTicket {
  /** The status that the single request would have. */
  status: 200;
  data: Ticket;
}

/** What became of one item; `status` tells which. */
export type TicketPatchAnswer = UpdatedTicket | BulkRefusal;

/** The id of a ticket and what changes in it: absent fields stay as they are; null clears. */
export interface TicketPatchItem {
  /** Names it among all of its kind. It never changes, and is never used again. */
  id: number;
  /** What it is about, in a line. White space around it is taken off. */
  title?: string | undefined;
  /** What it is about, at length; at most 65535 bytes in UTF-8. */
  description?: string | undefined;
  status?: TicketStatus | undefined;
  priority?: Priority | undefined;
  category?: TicketCategory | null | undefined;
  /** Its category in the workspace's own list: an opaque identifier that is stored as given. */
  categoryConfigId?: string | null | undefined;
  /** The user who works on it; null while nobody does. One newly named is active. */
  assigneeId?: number | null | undefined;
  /** The users who follow it: at most 100, answered in ascending order. Those newly named are active. */
  watcherUserIds?: number[] | undefined;
  /** The ticket that it is a part of; null where there is none. No ticket stands above itself. */
  parentId?: number | null | undefined;
  customFields?: CustomFieldsPatch | undefined;
  /** How it was resolved; at most 65535 bytes in UTF-8. */
  resolution?: string | null | undefined;
}

/** Changes, each of another ticket; each is made or refused by itself. */
export interface TicketPatches {
  tickets: TicketPatchItem[];
}

/** For whom it was written. A label: whoever may read the ticket reads both. */
export type CommentVisibility = 'PUBLIC' | 'INTERNAL';

/** A comment on a ticket. */
export interface Comment {
  /** Names it among all of its kind. It never changes, and is never used again. */
  id: number;
  /** The ticket that it is on. */
  ticketId: number;
  /** The user who created the key that wrote it. */
  authorId: number;
  /** The text; at most 65535 bytes in UTF-8. */
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

/** What is said, and for whom. */
export interface NewComment {
  /** The text; at most 65535 bytes in UTF-8. */
  body: string;
  visibility: CommentVisibility;
}

/** What kind of asset it is. */
export type AssetType = 'LAPTOP' | 'DESKTOP' | 'SERVER' | 'MOBILE' | 'NETWORK' | 'PRINTER' | 'SOFTWARE' | 'OTHER';

/** Where it is in its life. DISPOSED is final; every other move is free. */
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
  /** Names it among all of its kind. It never changes, and is never used again. */
  id: number;
  /** What it is called. */
  name: string;
  /** The tag by which the workspace knows it, unique there. */
  assetTag: string;
  /** The manufacturer's number of this very thing. */
  serialNumber: string | null;
  type: Open<AssetType>;
  status: Open<AssetStatus>;
  /** Who made it. */
  manufacturer: string | null;
  /** Which of their models it is. */
  model: string | null;
  /** Where it is, in words. */
  location: string | null;
  /** The user who holds it; null while nobody does. One newly named is active. */
  assignedToId: number | null;
  /** The day on which it was bought. */
  purchaseDate: string | null;
  /** What it cost, as a decimal without a currency; answered with two decimals. */
  purchaseCost: string | null;
  /** When its warranty ends. */
  warrantyExpiresAt: string | null;
  /** What else is to be known of it; at most 65535 bytes in UTF-8. */
  notes: string | null;
  customFields: CustomFields;
  /** When it was made. */
  createdAt: string;
  /** When it last changed. */
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

/** A new asset. */
export interface NewAsset {
  /** What it is called. */
  name: string;
  /** The tag by which the workspace knows it, unique there. */
  assetTag: string;
  /** The manufacturer's number of this very thing. */
  serialNumber?: string | null | undefined;
  type: AssetType;
  /** Where it is in its life: IN_USE when absent and it is assigned, else IN_STOCK. */
  status?: AssetStatus | null | undefined;
  /** Who made it. */
  manufacturer?: string | null | undefined;
  /** Which of their models it is. */
  model?: string | null | undefined;
  /** Where it is, in words. */
  location?: string | null | undefined;
  /** The user who holds it; null while nobody does. One newly named is active. */
  assignedToId?: number | null | undefined;
  /** The day on which it was bought. */
  purchaseDate?: string | null | undefined;
  /** What it cost, as a decimal without a currency; answered with two decimals. */
  purchaseCost?: string | null | undefined;
  /** When its warranty ends. */
  warrantyExpiresAt?: string | null | undefined;
  /** What else is to be known of it; at most 65535 bytes in UTF-8. */
  notes?: string | null | undefined;
  customFields?: CustomFields | null | undefined;
}

/** Absent fields stay as they are; null clears. Assigning without a status means IN_USE; unassigning an asset that is IN_USE means IN_STOCK. `assetTag` cannot change. */
export interface AssetPatch {
  /** What it is called. */
  name?: string | undefined;
  /** The manufacturer's number of this very thing. */
  serialNumber?: string | null | undefined;
  type?: AssetType | undefined;
  status?: AssetStatus | undefined;
  /** Who made it. */
  manufacturer?: string | null | undefined;
  /** Which of their models it is. */
  model?: string | null | undefined;
  /** Where it is, in words. */
  location?: string | null | undefined;
  /** The user who holds it; null while nobody does. One newly named is active. */
  assignedToId?: number | null | undefined;
  /** The day on which it was bought. */
  purchaseDate?: string | null | undefined;
  /** What it cost, as a decimal without a currency; answered with two decimals. */
  purchaseCost?: string | null | undefined;
  /** When its warranty ends. */
  warrantyExpiresAt?: string | null | undefined;
  /** What else is to be known of it; at most 65535 bytes in UTF-8. */
  notes?: string | null | undefined;
  customFields?: CustomFieldsPatch | undefined;
}

/** What was done to the resource. */
export type ActivityAction = 'CREATED' | 'UPDATED' | 'COMMENTED';

/** Whose key did it; null where it was done on the command line. */
export type Actor = { userId: number; keyId: number | null } | null;

/** What changed in a ticket: each field that differs. `updatedAt` always does, and is not among them. */
export type TicketChanges = Record<string, { from: unknown; to: unknown }> & {
  /** What became of `title`; absent where it is as before. */
  title?: { from: string; to: string } | undefined;
  /** What became of `description`; absent where it is as before. */
  description?: { from: string; to: string } | undefined;
  /** What became of `status`; absent where it is as before. */
  status?: { from: Open<TicketStatus>; to: Open<TicketStatus> } | undefined;
  /** What became of `priority`; absent where it is as before. */
  priority?: { from: Open<Priority>; to: Open<Priority> } | undefined;
  /** What became of `category`; absent where it is as before. */
  category?: { from: Open<TicketCategory> | null; to: Open<TicketCategory> | null } | undefined;
  /** What became of `categoryConfigId`; absent where it is as before. */
  categoryConfigId?: { from: string | null; to: string | null } | undefined;
  /** What became of `assigneeId`; absent where it is as before. */
  assigneeId?: { from: number | null; to: number | null } | undefined;
  /** What became of `watcherUserIds`; absent where it is as before. */
  watcherUserIds?: { from: number[]; to: number[] } | undefined;
  /** What became of `parentId`; absent where it is as before. */
  parentId?: { from: number | null; to: number | null } | undefined;
  /** What became of `customFields`; absent where it is as before. */
  customFields?: { from: CustomFields; to: CustomFields } | undefined;
  /** What became of `resolution`; absent where it is as before. */
  resolution?: { from: string | null; to: string | null } | undefined;
  /** What became of `resolvedAt`; absent where it is as before. */
  resolvedAt?: { from: string | null; to: string | null } | undefined;
  /** What became of `closedAt`; absent where it is as before. */
  closedAt?: { from: string | null; to: string | null } | undefined;
  /** What became of `commentCount`; absent where it is as before. */
  commentCount?: { from: number; to: number } | undefined;
};

/** Something that was done to a ticket. */
export interface TicketActivity {
  /** Names it among all of its kind. It never changes, and is never used again. */
  id: number;
  /** When it was done. */
  at: string;
  action: Open<ActivityAction>;
  /** Whose key did it; null where it was done on the command line. */
  actor: Actor;
  /** What changed, as events tell it; empty for CREATED. Of a longer text there are the first 1000 characters and `…`; of `customFields` those that differ, which share as many, and of a list that is longer the beginning of its JSON. */
  changes: TicketChanges;
}

/** The page and the filters of a list of activities. */
export interface TicketActivityQuery {
  page?: number | string | undefined;
  perPage?: number | string | undefined;
}

/** What changed in an asset: each field that differs. `updatedAt` always does, and is not among them. */
export type AssetChanges = Record<string, { from: unknown; to: unknown }> & {
  /** What became of `name`; absent where it is as before. */
  name?: { from: string; to: string } | undefined;
  /** What became of `serialNumber`; absent where it is as before. */
  serialNumber?: { from: string | null; to: string | null } | undefined;
  /** What became of `type`; absent where it is as before. */
  type?: { from: Open<AssetType>; to: Open<AssetType> } | undefined;
  /** What became of `status`; absent where it is as before. */
  status?: { from: Open<AssetStatus>; to: Open<AssetStatus> } | undefined;
  /** What became of `manufacturer`; absent where it is as before. */
  manufacturer?: { from: string | null; to: string | null } | undefined;
  /** What became of `model`; absent where it is as before. */
  model?: { from: string | null; to: string | null } | undefined;
  /** What became of `location`; absent where it is as before. */
  location?: { from: string | null; to: string | null } | undefined;
  /** What became of `assignedToId`; absent where it is as before. */
  assignedToId?: { from: number | null; to: number | null } | undefined;
  /** What became of `purchaseDate`; absent where it is as before. */
  purchaseDate?: { from: string | null; to: string | null } | undefined;
  /** What became of `purchaseCost`; absent where it is as before. */
  purchaseCost?: { from: string | null; to: string | null } | undefined;
  /** What became of `warrantyExpiresAt`; absent where it is as before. */
  warrantyExpiresAt?: { from: string | null; to: string | null } | undefined;
  /** What became of `notes`; absent where it is as before. */
  notes?: { from: string | null; to: string | null } | undefined;
  /** What became of `customFields`; absent where it is as before. */
  customFields?: { from: CustomFields; to: CustomFields } | undefined;
};

/** Something that was done to an asset. */
export interface AssetActivity {
  /** Names it among all of its kind. It never changes, and is never used again. */
  id: number;
  /** When it was done. */
  at: string;
  action: Open<ActivityAction>;
  /** Whose key did it; null where it was done on the command line. */
  actor: Actor;
  /** What changed, as events tell it; empty for CREATED. Of a longer text there are the first 1000 characters and `…`; of `customFields` those that differ, which share as many, and of a list that is longer the beginning of its JSON. */
  changes: AssetChanges;
}

/** The page and the filters of a list of activities. */
export interface AssetActivityQuery {
  page?: number | string | undefined;
  perPage?: number | string | undefined;
}

/** How far it is. */
export type ProjectStatus = 'PLANNED' | 'ACTIVE' | 'ON_HOLD' | 'COMPLETED' | 'CANCELLED';

/** A project; its tasks are listed below it. */
export interface Project {
  /** Names it among all of its kind. It never changes, and is never used again. */
  id: number;
  /** The short name by which the workspace knows it, unique there. */
  key: string;
  /** What it is called. */
  name: string;
  /** What it is about, at length; at most 65535 bytes in UTF-8. */
  description: string | null;
  status: Open<ProjectStatus>;
  priority: Open<Priority>;
  /** The user who leads it; null while nobody does. */
  managerId: number | null;
  /** The day on which it begins. */
  startDate: string | null;
  /** The day on which it ends. */
  endDate: string | null;
  /** When it was made. */
  createdAt: string;
  /** When it last changed. */
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

/** How far it is. A new task is TODO; every move is free. */
export type TaskStatus = 'TODO' | 'IN_PROGRESS' | 'BLOCKED' | 'DONE' | 'CANCELLED';

/** A task of a project. */
export interface Task {
  /** Names it among all of its kind. It never changes, and is never used again. */
  id: number;
  /** The project that it belongs to. It never changes. */
  projectId: number;
  /** What it is about, in a line. White space around it is taken off. */
  title: string;
  /** What it is about, at length; at most 65535 bytes in UTF-8. */
  description: string | null;
  status: Open<TaskStatus>;
  priority: Open<Priority>;
  /** The user who works on it; null while nobody does. One newly named is active. */
  assigneeId: number | null;
  /** The day on which work on it begins. */
  startDate: string | null;
  /** The day by which it is to be done. */
  dueDate: string | null;
  /** When it became DONE; null while it is not. */
  completedAt: string | null;
  /** When it was made. */
  createdAt: string;
  /** When it last changed. */
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

/** A new task of the project. */
export interface NewTask {
  /** What it is about, in a line. White space around it is taken off. */
  title: string;
  /** What it is about, at length; at most 65535 bytes in UTF-8. */
  description?: string | null | undefined;
  /** How urgent it is: MEDIUM when absent. */
  priority?: Priority | null | undefined;
  /** The user who works on it; null while nobody does. One newly named is active. */
  assigneeId?: number | null | undefined;
  /** The day on which work on it begins. */
  startDate?: string | null | undefined;
  /** The day by which it is to be done. */
  dueDate?: string | null | undefined;
}

/** Absent fields stay as they are; null clears. */
export interface TaskPatch {
  /** What it is about, in a line. White space around it is taken off. */
  title?: string | undefined;
  /** What it is about, at length; at most 65535 bytes in UTF-8. */
  description?: string | null | undefined;
  status?: TaskStatus | undefined;
  priority?: Priority | undefined;
  /** The user who works on it; null while nobody does. One newly named is active. */
  assigneeId?: number | null | undefined;
  /** The day on which work on it begins. */
  startDate?: string | null | undefined;
  /** The day by which it is to be done. */
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

/** The type of an event: what happened. */
export type EventType = 'ticket.created' | 'ticket.updated' | 'asset.created' | 'task.updated';

/** What a field of the resource may be. */
export type WebhookFilterValue = string | number | boolean | null;

/** A subscription to events. Its secret is never answered. */
export interface Webhook {
  /** Names it among all of its kind. It never changes, and is never used again. */
  id: number;
  /** Where events are sent: https, with a public host and without user info. */
  url: string;
  /** The types of events that are sent. */
  events: Open<EventType>[];
  /** Top-level fields of the resource, and values of each: only events are delivered in which every field named is one of its values, or was before the change. Each event of the subscription must have the fields. At most 10 fields of 100 values. */
  filter: Record<string, WebhookFilterValue[]> | null;
  /** Whether nothing is sent of what the key that made the subscription does itself, or one rotated from that key. */
  skipOwn: boolean;
  /** Whether it is told of events: false once it was deactivated, for ever. */
  active: boolean;
  /** When a delivery last arrived; null where none has. */
  lastSuccessAt: string | null;
  /** When an attempt last failed; null where none has. */
  lastFailureAt: string | null;
  /** Since when deliveries rest, because the endpoint failed or by `paused`; null while they go out. */
  pausedAt: string | null;
  /** Why deliveries rest, in words; null while they go out. */
  pausedReason: string | null;
  /** When it was made. */
  createdAt: string;
  /** When it last changed. */
  updatedAt: string;
}

/** The page and the filters of a list of webhooks. */
export interface WebhookQuery {
  page?: number | string | undefined;
  perPage?: number | string | undefined;
}

/** A new subscription to events. */
export interface NewWebhook {
  /** Where events are sent: https, with a public host and without user info. */
  url: string;
  /** Signs each delivery; 24 characters or more are recommended. */
  secret: string;
  /** The types of events that are sent. */
  events: EventType[];
  /** Top-level fields of the resource, and values of each: only events are delivered in which every field named is one of its values, or was before the change. Each event of the subscription must have the fields. At most 10 fields of 100 values. */
  filter?: Record<string, WebhookFilterValue[]> | null | undefined;
  /** Whether nothing is sent of what the key that made the subscription does itself, or one rotated from that key. */
  skipOwn?: boolean | undefined;
}

/** Absent fields stay as they are; null clears. */
export interface WebhookPatch {
  /** Where events are sent: https, with a public host and without user info. */
  url?: string | undefined;
  /** The new secret. The one before signs, too, for 24 hours, in `webhook-signature`. */
  secret?: string | undefined;
  /** The types of events that are sent. */
  events?: EventType[] | undefined;
  /** Top-level fields of the resource, and values of each: only events are delivered in which every field named is one of its values, or was before the change. Each event of the subscription must have the fields. At most 10 fields of 100 values. */
  filter?: Record<string, WebhookFilterValue[]> | null | undefined;
  /** Whether nothing is sent of what the key that made the subscription does itself, or one rotated from that key. */
  skipOwn?: boolean | undefined;
  /** Whether deliveries rest. `true`: events queue and nothing is sent. `false`: what waits is sent, whatever paused it, and failures before count no more. */
  paused?: boolean | undefined;
}

/** How far it is: PENDING until it is settled as DELIVERED, EXHAUSTED when every attempt has failed, or CANCELLED with its subscription. */
export type DeliveryState = 'PENDING' | 'DELIVERED' | 'EXHAUSTED' | 'CANCELLED';

/** One event on its way to one subscription. */
export interface Delivery {
  /** Names it among all of its kind. It never changes, and is never used again. */
  id: number;
  /** The subscription that it goes to. */
  webhookId: number;
  /** The `webhook-id` that receivers get, the same on every attempt. */
  eventId: string;
  event: Open<EventType>;
  state: Open<DeliveryState>;
  /** Attempts begun since it was made, or last replayed. */
  attemptCount: number;
  /** When it may be tried next; null unless it is PENDING. */
  nextAttemptAt: string | null;
  /** When the event happened. */
  createdAt: string;
  /** When it was delivered, exhausted or cancelled; null while it is PENDING. */
  settledAt: string | null;
}

/** The states from which deliveries can be sent again together: all but PENDING. */
export type ReplayableState = 'DELIVERED' | 'EXHAUSTED' | 'CANCELLED';

/** What is being sent again from now on. */
export interface WebhookReplayStarted {
  /** The subscription whose deliveries they are. */
  webhookId: number;
  /** Those that were made then or later. */
  since: string;
  /** Those in one of these states. */
  states: Open<ReplayableState>[];
  /** How many deliveries were found; 10000 of them and more are not counted. */
  matching: number;
}

/** Which deliveries are sent again. */
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
  /** When it began. */
  startedAt: string;
  /** How long it took, in milliseconds. */
  durationMs: number;
  /** The HTTP status of the answer; null where none came. */
  status: number | null;
  /** What went wrong; null where an answer came. */
  error: string | null;
  /** The beginning of the answer's body; null where it may come of a private network. */
  answer: string | null;
}

/** A delivery with what came of it. */
export interface DeliveryDetail {
  /** Names it among all of its kind. It never changes, and is never used again. */
  id: number;
  /** The subscription that it goes to. */
  webhookId: number;
  /** The `webhook-id` that receivers get, the same on every attempt. */
  eventId: string;
  event: Open<EventType>;
  state: Open<DeliveryState>;
  /** Attempts begun since it was made, or last replayed. */
  attemptCount: number;
  /** When it may be tried next; null unless it is PENDING. */
  nextAttemptAt: string | null;
  /** When the event happened. */
  createdAt: string;
  /** When it was delivered, exhausted or cancelled; null while it is PENDING. */
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
  /** What happened. */
  type: 'ticket.created';
  /** When it happened. */
  timestamp: string;
  /** Whose key did it; null where it was done on the command line. */
  actor: Actor;
  /** The ticket as it was then. */
  ticket: Ticket;
}

/** A ticket is updated. */
export interface TicketUpdatedEvent {
  /** The same on every attempt: deduplicate by it. */
  id: string;
  /** What happened. */
  type: 'ticket.updated';
  /** When it happened. */
  timestamp: string;
  /** Whose key did it; null where it was done on the command line. */
  actor: Actor;
  /** The ticket as it was then. */
  ticket: Ticket;
  changes: TicketChanges;
}

/** An asset is created. */
export interface AssetCreatedEvent {
  /** The same on every attempt: deduplicate by it. */
  id: string;
  /** What happened. */
  type: 'asset.created';
  /** When it happened. */
  timestamp: string;
  /** Whose key did it; null where it was done on the command line. */
  actor: Actor;
  /** The asset as it was then. */
  asset: Asset;
}

/** What changed in a task: each field that differs. `updatedAt` always does, and is not among them. */
export type TaskChanges = Record<string, { from: unknown; to: unknown }> & {
  /** What became of `title`; absent where it is as before. */
  title?: { from: string; to: string } | undefined;
  /** What became of `description`; absent where it is as before. */
  description?: { from: string | null; to: string | null } | undefined;
  /** What became of `status`; absent where it is as before. */
  status?: { from: Open<TaskStatus>; to: Open<TaskStatus> } | undefined;
  /** What became of `priority`; absent where it is as before. */
  priority?: { from: Open<Priority>; to: Open<Priority> } | undefined;
  /** What became of `assigneeId`; absent where it is as before. */
  assigneeId?: { from: number | null; to: number | null } | undefined;
  /** What became of `startDate`; absent where it is as before. */
  startDate?: { from: string | null; to: string | null } | undefined;
  /** What became of `dueDate`; absent where it is as before. */
  dueDate?: { from: string | null; to: string | null } | undefined;
  /** What became of `completedAt`; absent where it is as before. */
  completedAt?: { from: string | null; to: string | null } | undefined;
};

/** A project task is updated. */
export interface TaskUpdatedEvent {
  /** The same on every attempt: deduplicate by it. */
  id: string;
  /** What happened. */
  type: 'task.updated';
  /** When it happened. */
  timestamp: string;
  /** Whose key did it; null where it was done on the command line. */
  actor: Actor;
  /** The task as it was then. */
  task: Task;
  changes: TaskChanges;
}

/** Which page of a list this is, and how much there is in all. */
export interface PageMeta {
  /** The page that was asked for. */
  page: number;
  /** How many rows a page has. */
  perPage: number;
  /** Rows on all pages; exact where `totalCountCapped` is absent. */
  totalCount: number;
  /** There are more rows than are counted; pages end where `totalCount` does. */
  totalCountCapped?: true | undefined;
}

/** Where to go on from, and whether to do so at once. */
export interface ChangesMeta {
  /** Where the next page begins, also on the last one: keep it, and ask with it again later. */
  nextCursor: string;
  /** Whether there is more already; else ask again after a while. */
  hasMore: boolean;
}

/** What an update changed: each field that differs. */
export type Changes = Record<string, { from: unknown; to: unknown }>;

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
