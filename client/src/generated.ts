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
  /** When it was made. A moment in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  createdAt: string;
  /** When it stops to work; null where it does not. A moment in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  expiresAt: string | null;
  /** When it was last used before, to the minute; null where it was not. A moment in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  lastUsedAt: string | null;
}

/** What the user is in the workspace. What a request may do is its key's scopes to say. */
export type UserRole = 'ADMIN' | 'AGENT' | 'REQUESTER';

/** A person of the workspace. */
export interface User {
  /** Names it among all of its kind. It never changes, and is never used again. */
  id: number;
  /** What the user is called. 1 to 255 characters. */
  name: string;
  /** The e-mail address, in lower case, unique in the workspace. 1 to 254 characters. */
  email: string;
  /** What the user is in the workspace. What a request may do is its key's scopes to say. */
  role: Open<UserRole>;
  /** Whether the user is one still: others are not newly named, and their keys do not work. */
  active: boolean;
  /** What the user does. 1 to 255 characters. */
  jobTitle: string | null;
  /** Where in the company the user works. 1 to 255 characters. */
  department: string | null;
  /** The telephone number, as it was written. 1 to 255 characters. */
  phone: string | null;
  /** The time zone, an IANA name such as Europe/Berlin. 1 to 255 characters. */
  timeZone: string | null;
  /** When it was made. A moment in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  createdAt: string;
  /** When it last changed. A moment in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
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
  /** A key without its secret. */
  key: Key;
  /** The user who created the key. */
  user: User;
  /** Whose rows the key sees. */
  workspace: Workspace;
  /** Every window of its limits: `global`, then each group. */
  limits: Limit[];
}

/** A ticket number as it is given out. */
export type TicketNumber = `${'INC' | 'PRB' | 'CHG' | 'REQ'}-${number}`;

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
export type CustomFieldValue = string | number | boolean | null | readonly CustomFieldScalar[];

/** The workspace's own fields: at most 50 keys, and 16 KiB as JSON. */
export type CustomFields = Record<string, CustomFieldValue>;

/** An incident, problem, change or service request. */
export interface Ticket {
  /** Names it among all of its kind. It never changes, and is never used again. */
  id: number;
  /** INC-, PRB-, CHG-, REQ- and a number that counts from 1 in the workspace and type; never used again. */
  ticketNumber: Open<TicketNumber>;
  /** What it is about, in a line. White space around it is taken off. 1 to 255 characters. */
  title: string;
  /** What it is about, at length; at most 65535 bytes in UTF-8. 1 to 65535 characters. */
  description: string;
  /** What kind of ticket it is, for ever. */
  type: Open<TicketType>;
  /** How far it is. A new ticket is OPEN. CLOSED and CANCELLED are final. */
  status: Open<TicketStatus>;
  /** How urgent it is. */
  priority: Open<Priority>;
  /** What part of IT it is about; null where `categoryConfigId` alone tells. */
  category: Open<TicketCategory> | null;
  /** Its category in the workspace's own list: an opaque identifier that is stored as given. 1 to 255 characters. */
  categoryConfigId: string | null;
  /** Whose ticket it is: the user who created the key, unless another was named. It never changes. */
  requesterId: number;
  /** The user who works on it; null while nobody does. One newly named is active. */
  assigneeId: number | null;
  /** The users who follow it: at most 100, answered in ascending order. Those newly named are active. */
  watcherUserIds: number[];
  /** The ticket that it is a part of; null where there is none. No ticket stands above itself. */
  parentId: number | null;
  /** The workspace's own fields: at most 50 keys, and 16 KiB as JSON. */
  customFields: CustomFields;
  /** How it was resolved; at most 65535 bytes in UTF-8. 1 to 65535 characters. */
  resolution: string | null;
  /** When it became RESOLVED; null while it has not, or has been reopened. A moment in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  resolvedAt: string | null;
  /** When it became CLOSED; null while it has not. A moment in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  closedAt: string | null;
  /** How many comments there are, PUBLIC and INTERNAL ones. */
  commentCount: number;
  /** When it was made. A moment in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  createdAt: string;
  /** When it last changed. A moment in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  updatedAt: string;
}

/** A user by id; `me` is the user who created the key, and `none` stands for nobody. */
export type TicketAssignee = number | 'me' | 'none';

/** A ticket by its id or its number. */
export type TicketReference = number | Open<TicketNumber>;

/** The page and the filters of a list of tickets. */
export interface TicketQuery {
  /** Which page; one past the end is empty. 1 by default. */
  page?: number | string | undefined;
  /** How many rows a page has. 1 to 100. 20 by default. */
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
  parentId?: TicketReference | readonly TicketReference[] | undefined;
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
  /** The `nextCursor` of the page before: what has changed after it. */
  cursor?: string | undefined;
  /** How many rows a page has. 1 to 100. 100 by default. */
  perPage?: number | string | undefined;
}

/** One of `category` and `categoryConfigId` is required; both may be given. */
export type NewTicket = AtLeastOne<{
  /** What part of IT it is about; null where `categoryConfigId` alone tells. */
  category: Open<TicketCategory> | null;
  /** Its category in the workspace's own list: an opaque identifier that is stored as given. 1 to 255 characters. */
  categoryConfigId: string | null;
}> & {
  /** What it is about, in a line. White space around it is taken off. 1 to 255 characters. */
  title: string;
  /** What it is about, at length; at most 65535 bytes in UTF-8. 1 to 65535 characters. */
  description: string;
  /** What kind of ticket it is, for ever. */
  type: Open<TicketType>;
  /** How urgent it is: MEDIUM when absent. */
  priority?: Open<Priority> | null | undefined;
  /** On whose behalf: the user who created the key when absent. */
  requesterId?: number | null | undefined;
  /** The user who works on it; null while nobody does. One newly named is active. */
  assigneeId?: number | null | undefined;
  /** The users who follow it: at most 100, answered in ascending order. Those newly named are active. */
  watcherUserIds?: readonly number[] | null | undefined;
  /** The ticket that it is a part of, by id or number such as `INC-17`; null where there is none. */
  parentId?: TicketReference | null | undefined;
  /** The workspace's own fields: at most 50 keys, and 16 KiB as JSON. */
  customFields?: CustomFields | null | undefined;
};

/** Merged into the workspace's own fields that are there: a key given replaces, a key given as null is removed. At most 50 keys, and 16 KiB as JSON, may come of it. */
export type CustomFieldsPatch = Record<string, CustomFieldValue>;

/** Absent fields stay as they are; null clears. `type` cannot change. */
export interface TicketPatch {
  /** What it is about, in a line. White space around it is taken off. 1 to 255 characters. */
  title?: string | undefined;
  /** What it is about, at length; at most 65535 bytes in UTF-8. 1 to 65535 characters. */
  description?: string | undefined;
  /** How far it is. A new ticket is OPEN. CLOSED and CANCELLED are final. */
  status?: Open<TicketStatus> | undefined;
  /** How urgent it is. */
  priority?: Open<Priority> | undefined;
  /** What part of IT it is about; null where `categoryConfigId` alone tells. */
  category?: Open<TicketCategory> | null | undefined;
  /** Its category in the workspace's own list: an opaque identifier that is stored as given. 1 to 255 characters. */
  categoryConfigId?: string | null | undefined;
  /** The user who works on it; null while nobody does. One newly named is active. */
  assigneeId?: number | null | undefined;
  /** The users who follow it: at most 100, answered in ascending order. Those newly named are active. */
  watcherUserIds?: readonly number[] | undefined;
  /** The ticket that it is a part of, by id or number such as `INC-17`; null where there is none. */
  parentId?: TicketReference | null | undefined;
  /** Merged into the workspace's own fields that are there: a key given replaces, a key given as null is removed. At most 50 keys, and 16 KiB as JSON, may come of it. */
  customFields?: CustomFieldsPatch | undefined;
  /** How it was resolved; at most 65535 bytes in UTF-8. 1 to 65535 characters. */
  resolution?: string | null | undefined;
}

/** A ticket and what changes in it: absent fields stay as they are; null clears. */
export interface TicketPatchItem {
  /** The ticket, by id or number such as `INC-17`. */
  id: TicketReference;
  /** What it is about, in a line. White space around it is taken off. 1 to 255 characters. */
  title?: string | undefined;
  /** What it is about, at length; at most 65535 bytes in UTF-8. 1 to 65535 characters. */
  description?: string | undefined;
  /** How far it is. A new ticket is OPEN. CLOSED and CANCELLED are final. */
  status?: Open<TicketStatus> | undefined;
  /** How urgent it is. */
  priority?: Open<Priority> | undefined;
  /** What part of IT it is about; null where `categoryConfigId` alone tells. */
  category?: Open<TicketCategory> | null | undefined;
  /** Its category in the workspace's own list: an opaque identifier that is stored as given. 1 to 255 characters. */
  categoryConfigId?: string | null | undefined;
  /** The user who works on it; null while nobody does. One newly named is active. */
  assigneeId?: number | null | undefined;
  /** The users who follow it: at most 100, answered in ascending order. Those newly named are active. */
  watcherUserIds?: readonly number[] | undefined;
  /** The ticket that it is a part of, by id or number such as `INC-17`; null where there is none. */
  parentId?: TicketReference | null | undefined;
  /** Merged into the workspace's own fields that are there: a key given replaces, a key given as null is removed. At most 50 keys, and 16 KiB as JSON, may come of it. */
  customFields?: CustomFieldsPatch | undefined;
  /** How it was resolved; at most 65535 bytes in UTF-8. 1 to 65535 characters. */
  resolution?: string | null | undefined;
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
  /** The text; at most 65535 bytes in UTF-8. 1 to 65535 characters. */
  body: string;
  /** For whom it was written. A label: whoever may read the ticket reads both. */
  visibility: Open<CommentVisibility>;
  /** When it was written. It never changes. A moment in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  createdAt: string;
}

/** The page and the filters of a list of comments. */
export interface CommentQuery {
  /** Which page; one past the end is empty. 1 by default. */
  page?: number | string | undefined;
  /** How many rows a page has. 1 to 100. 20 by default. */
  perPage?: number | string | undefined;
}

/** What is said, and for whom. */
export interface NewComment {
  /** The text; at most 65535 bytes in UTF-8. 1 to 65535 characters. */
  body: string;
  /** For whom it was written. A label: whoever may read the ticket reads both. */
  visibility: Open<CommentVisibility>;
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
  /** What it is called. 1 to 255 characters. */
  name: string;
  /** The tag by which the workspace knows it, unique there. 1 to 100 characters. */
  assetTag: string;
  /** The manufacturer's number of this very thing. 1 to 255 characters. */
  serialNumber: string | null;
  /** What kind of asset it is. */
  type: Open<AssetType>;
  /** Where it is in its life. DISPOSED is final; every other move is free. */
  status: Open<AssetStatus>;
  /** Who made it. 1 to 255 characters. */
  manufacturer: string | null;
  /** Which of their models it is. 1 to 255 characters. */
  model: string | null;
  /** Where it is, in words. 1 to 255 characters. */
  location: string | null;
  /** The user who holds it; null while nobody does. One newly named is active. */
  assignedToId: number | null;
  /** The day on which it was bought. A date, `YYYY-MM-DD`. */
  purchaseDate: string | null;
  /** What it cost, as a decimal without a currency; answered with two decimals. */
  purchaseCost: string | null;
  /** When its warranty ends. A moment in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  warrantyExpiresAt: string | null;
  /** What else is to be known of it; at most 65535 bytes in UTF-8. 1 to 65535 characters. */
  notes: string | null;
  /** The workspace's own fields: at most 50 keys, and 16 KiB as JSON. */
  customFields: CustomFields;
  /** When it was made. A moment in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  createdAt: string;
  /** When it last changed. A moment in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  updatedAt: string;
}

/** The page and the filters of a list of assets. */
export interface AssetQuery {
  /** Which page; one past the end is empty. 1 by default. */
  page?: number | string | undefined;
  /** How many rows a page has. 1 to 100. 20 by default. */
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

/** A new asset. */
export interface NewAsset {
  /** What it is called. 1 to 255 characters. */
  name: string;
  /** The tag by which the workspace knows it, unique there. 1 to 100 characters. */
  assetTag: string;
  /** The manufacturer's number of this very thing. 1 to 255 characters. */
  serialNumber?: string | null | undefined;
  /** What kind of asset it is. */
  type: Open<AssetType>;
  /** Where it is in its life: IN_USE when absent and it is assigned, else IN_STOCK. */
  status?: Open<AssetStatus> | null | undefined;
  /** Who made it. 1 to 255 characters. */
  manufacturer?: string | null | undefined;
  /** Which of their models it is. 1 to 255 characters. */
  model?: string | null | undefined;
  /** Where it is, in words. 1 to 255 characters. */
  location?: string | null | undefined;
  /** The user who holds it; null while nobody does. One newly named is active. */
  assignedToId?: number | null | undefined;
  /** The day on which it was bought. A date, `YYYY-MM-DD`. */
  purchaseDate?: string | null | undefined;
  /** What it cost, as a decimal without a currency; answered with two decimals. */
  purchaseCost?: string | null | undefined;
  /** When its warranty ends. A moment in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  warrantyExpiresAt?: string | null | undefined;
  /** What else is to be known of it; at most 65535 bytes in UTF-8. 1 to 65535 characters. */
  notes?: string | null | undefined;
  /** The workspace's own fields: at most 50 keys, and 16 KiB as JSON. */
  customFields?: CustomFields | null | undefined;
}

/** Absent fields stay as they are; null clears. Assigning without a status means IN_USE; unassigning an asset that is IN_USE means IN_STOCK. `assetTag` cannot change. */
export interface AssetPatch {
  /** What it is called. 1 to 255 characters. */
  name?: string | undefined;
  /** The manufacturer's number of this very thing. 1 to 255 characters. */
  serialNumber?: string | null | undefined;
  /** What kind of asset it is. */
  type?: Open<AssetType> | undefined;
  /** Where it is in its life. DISPOSED is final; every other move is free. */
  status?: Open<AssetStatus> | undefined;
  /** Who made it. 1 to 255 characters. */
  manufacturer?: string | null | undefined;
  /** Which of their models it is. 1 to 255 characters. */
  model?: string | null | undefined;
  /** Where it is, in words. 1 to 255 characters. */
  location?: string | null | undefined;
  /** The user who holds it; null while nobody does. One newly named is active. */
  assignedToId?: number | null | undefined;
  /** The day on which it was bought. A date, `YYYY-MM-DD`. */
  purchaseDate?: string | null | undefined;
  /** What it cost, as a decimal without a currency; answered with two decimals. */
  purchaseCost?: string | null | undefined;
  /** When its warranty ends. A moment in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  warrantyExpiresAt?: string | null | undefined;
  /** What else is to be known of it; at most 65535 bytes in UTF-8. 1 to 65535 characters. */
  notes?: string | null | undefined;
  /** Merged into the workspace's own fields that are there: a key given replaces, a key given as null is removed. At most 50 keys, and 16 KiB as JSON, may come of it. */
  customFields?: CustomFieldsPatch | undefined;
}

/** What was done to the resource. */
export type ActivityAction = 'CREATED' | 'UPDATED' | 'COMMENTED';

/** Who did it; null where it was done on the command line. */
export type Actor = {
  /** The user who created the key, or who was signed in to the developer area. */
  userId: number;
  /** The key; null where none was needed. */
  keyId: number | null;
} | null;

/** What changed in a ticket: each field that differs. `updatedAt` always does, and is not among them. */
export type TicketChanges = Record<string, {
  /** The value before. */
  from: unknown;
  /** The value after. */
  to: unknown;
}> & {
  /** What became of `title`; absent where it is as before. */
  title?: {
    /** The value before. 1 to 255 characters. */
    from: string;
    /** The value after. 1 to 255 characters. */
    to: string;
  } | undefined;
  /** What became of `description`; absent where it is as before. */
  description?: {
    /** The value before. 1 to 65535 characters. */
    from: string;
    /** The value after. 1 to 65535 characters. */
    to: string;
  } | undefined;
  /** What became of `status`; absent where it is as before. */
  status?: {
    /** The value before. */
    from: Open<TicketStatus>;
    /** The value after. */
    to: Open<TicketStatus>;
  } | undefined;
  /** What became of `priority`; absent where it is as before. */
  priority?: {
    /** The value before. */
    from: Open<Priority>;
    /** The value after. */
    to: Open<Priority>;
  } | undefined;
  /** What became of `category`; absent where it is as before. */
  category?: {
    /** The value before. */
    from: Open<TicketCategory> | null;
    /** The value after. */
    to: Open<TicketCategory> | null;
  } | undefined;
  /** What became of `categoryConfigId`; absent where it is as before. */
  categoryConfigId?: {
    /** The value before. 1 to 255 characters. */
    from: string | null;
    /** The value after. 1 to 255 characters. */
    to: string | null;
  } | undefined;
  /** What became of `assigneeId`; absent where it is as before. */
  assigneeId?: {
    /** The value before. */
    from: number | null;
    /** The value after. */
    to: number | null;
  } | undefined;
  /** What became of `watcherUserIds`; absent where it is as before. */
  watcherUserIds?: {
    /** The value before. */
    from: number[];
    /** The value after. */
    to: number[];
  } | undefined;
  /** What became of `parentId`; absent where it is as before. */
  parentId?: {
    /** The value before. */
    from: number | null;
    /** The value after. */
    to: number | null;
  } | undefined;
  /** What became of `customFields`; absent where it is as before. */
  customFields?: {
    /** The value before. */
    from: CustomFields;
    /** The value after. */
    to: CustomFields;
  } | undefined;
  /** What became of `resolution`; absent where it is as before. */
  resolution?: {
    /** The value before. 1 to 65535 characters. */
    from: string | null;
    /** The value after. 1 to 65535 characters. */
    to: string | null;
  } | undefined;
  /** What became of `resolvedAt`; absent where it is as before. */
  resolvedAt?: {
    /** The value before. A moment in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
    from: string | null;
    /** The value after. A moment in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
    to: string | null;
  } | undefined;
  /** What became of `closedAt`; absent where it is as before. */
  closedAt?: {
    /** The value before. A moment in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
    from: string | null;
    /** The value after. A moment in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
    to: string | null;
  } | undefined;
  /** What became of `commentCount`; absent where it is as before. */
  commentCount?: {
    /** The value before. */
    from: number;
    /** The value after. */
    to: number;
  } | undefined;
};

/** Something that was done to a ticket. */
export interface TicketActivity {
  /** Names it among all of its kind. It never changes, and is never used again. */
  id: number;
  /** When it was done. A moment in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  at: string;
  /** What was done to the resource. */
  action: Open<ActivityAction>;
  /** Who did it; null where it was done on the command line. */
  actor: Actor;
  /** What changed, as events tell it; empty for CREATED. Of a longer text there are the first 1000 characters and `…`; of `customFields` those that differ, which share as many, and of a list that is longer the beginning of its JSON. */
  changes: TicketChanges;
}

/** The page and the filters of a list of activities. */
export interface TicketActivityQuery {
  /** Which page; one past the end is empty. 1 by default. */
  page?: number | string | undefined;
  /** How many rows a page has. 1 to 100. 20 by default. */
  perPage?: number | string | undefined;
}

/** What changed in an asset: each field that differs. `updatedAt` always does, and is not among them. */
export type AssetChanges = Record<string, {
  /** The value before. */
  from: unknown;
  /** The value after. */
  to: unknown;
}> & {
  /** What became of `name`; absent where it is as before. */
  name?: {
    /** The value before. 1 to 255 characters. */
    from: string;
    /** The value after. 1 to 255 characters. */
    to: string;
  } | undefined;
  /** What became of `serialNumber`; absent where it is as before. */
  serialNumber?: {
    /** The value before. 1 to 255 characters. */
    from: string | null;
    /** The value after. 1 to 255 characters. */
    to: string | null;
  } | undefined;
  /** What became of `type`; absent where it is as before. */
  type?: {
    /** The value before. */
    from: Open<AssetType>;
    /** The value after. */
    to: Open<AssetType>;
  } | undefined;
  /** What became of `status`; absent where it is as before. */
  status?: {
    /** The value before. */
    from: Open<AssetStatus>;
    /** The value after. */
    to: Open<AssetStatus>;
  } | undefined;
  /** What became of `manufacturer`; absent where it is as before. */
  manufacturer?: {
    /** The value before. 1 to 255 characters. */
    from: string | null;
    /** The value after. 1 to 255 characters. */
    to: string | null;
  } | undefined;
  /** What became of `model`; absent where it is as before. */
  model?: {
    /** The value before. 1 to 255 characters. */
    from: string | null;
    /** The value after. 1 to 255 characters. */
    to: string | null;
  } | undefined;
  /** What became of `location`; absent where it is as before. */
  location?: {
    /** The value before. 1 to 255 characters. */
    from: string | null;
    /** The value after. 1 to 255 characters. */
    to: string | null;
  } | undefined;
  /** What became of `assignedToId`; absent where it is as before. */
  assignedToId?: {
    /** The value before. */
    from: number | null;
    /** The value after. */
    to: number | null;
  } | undefined;
  /** What became of `purchaseDate`; absent where it is as before. */
  purchaseDate?: {
    /** The value before. A date, `YYYY-MM-DD`. */
    from: string | null;
    /** The value after. A date, `YYYY-MM-DD`. */
    to: string | null;
  } | undefined;
  /** What became of `purchaseCost`; absent where it is as before. */
  purchaseCost?: {
    /** The value before. */
    from: string | null;
    /** The value after. */
    to: string | null;
  } | undefined;
  /** What became of `warrantyExpiresAt`; absent where it is as before. */
  warrantyExpiresAt?: {
    /** The value before. A moment in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
    from: string | null;
    /** The value after. A moment in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
    to: string | null;
  } | undefined;
  /** What became of `notes`; absent where it is as before. */
  notes?: {
    /** The value before. 1 to 65535 characters. */
    from: string | null;
    /** The value after. 1 to 65535 characters. */
    to: string | null;
  } | undefined;
  /** What became of `customFields`; absent where it is as before. */
  customFields?: {
    /** The value before. */
    from: CustomFields;
    /** The value after. */
    to: CustomFields;
  } | undefined;
};

/** Something that was done to an asset. */
export interface AssetActivity {
  /** Names it among all of its kind. It never changes, and is never used again. */
  id: number;
  /** When it was done. A moment in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  at: string;
  /** What was done to the resource. */
  action: Open<ActivityAction>;
  /** Who did it; null where it was done on the command line. */
  actor: Actor;
  /** What changed, as events tell it; empty for CREATED. Of a longer text there are the first 1000 characters and `…`; of `customFields` those that differ, which share as many, and of a list that is longer the beginning of its JSON. */
  changes: AssetChanges;
}

/** The page and the filters of a list of activities. */
export interface AssetActivityQuery {
  /** Which page; one past the end is empty. 1 by default. */
  page?: number | string | undefined;
  /** How many rows a page has. 1 to 100. 20 by default. */
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
  /** What it is called. 1 to 255 characters. */
  name: string;
  /** What it is about, at length; at most 65535 bytes in UTF-8. 1 to 65535 characters. */
  description: string | null;
  /** How far it is. */
  status: Open<ProjectStatus>;
  /** How urgent it is. */
  priority: Open<Priority>;
  /** The user who leads it; null while nobody does. */
  managerId: number | null;
  /** The day on which it begins. A date, `YYYY-MM-DD`. */
  startDate: string | null;
  /** The day on which it ends. A date, `YYYY-MM-DD`. */
  endDate: string | null;
  /** When it was made. A moment in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  createdAt: string;
  /** When it last changed. A moment in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  updatedAt: string;
}

/** The page and the filters of a list of projects. */
export interface ProjectQuery {
  /** Which page; one past the end is empty. 1 by default. */
  page?: number | string | undefined;
  /** How many rows a page has. 1 to 100. 20 by default. */
  perPage?: number | string | undefined;
  /** 1 to 100 of them. */
  status?: Open<ProjectStatus> | readonly Open<ProjectStatus>[] | undefined;
  /** Only those whose key, name and description hold all of these words; the last may be the beginning of one. 1 to 200 characters. */
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
  /** What it is about, in a line. White space around it is taken off. 1 to 255 characters. */
  title: string;
  /** What it is about, at length; at most 65535 bytes in UTF-8. 1 to 65535 characters. */
  description: string | null;
  /** How far it is. A new task is TODO; every move is free. */
  status: Open<TaskStatus>;
  /** How urgent it is. */
  priority: Open<Priority>;
  /** The user who works on it; null while nobody does. One newly named is active. */
  assigneeId: number | null;
  /** The day on which work on it begins. A date, `YYYY-MM-DD`. */
  startDate: string | null;
  /** The day by which it is to be done. A date, `YYYY-MM-DD`. */
  dueDate: string | null;
  /** When it became DONE; null while it is not. A moment in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  completedAt: string | null;
  /** When it was made. A moment in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  createdAt: string;
  /** When it last changed. A moment in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  updatedAt: string;
}

/** The page and the filters of a list of tasks. */
export interface TaskQuery {
  /** Which page; one past the end is empty. 1 by default. */
  page?: number | string | undefined;
  /** How many rows a page has. 1 to 100. 20 by default. */
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

/** A new task of the project. */
export interface NewTask {
  /** What it is about, in a line. White space around it is taken off. 1 to 255 characters. */
  title: string;
  /** What it is about, at length; at most 65535 bytes in UTF-8. 1 to 65535 characters. */
  description?: string | null | undefined;
  /** How urgent it is: MEDIUM when absent. */
  priority?: Open<Priority> | null | undefined;
  /** The user who works on it; null while nobody does. One newly named is active. */
  assigneeId?: number | null | undefined;
  /** The day on which work on it begins. A date, `YYYY-MM-DD`. */
  startDate?: string | null | undefined;
  /** The day by which it is to be done. A date, `YYYY-MM-DD`. */
  dueDate?: string | null | undefined;
}

/** Absent fields stay as they are; null clears. */
export interface TaskPatch {
  /** What it is about, in a line. White space around it is taken off. 1 to 255 characters. */
  title?: string | undefined;
  /** What it is about, at length; at most 65535 bytes in UTF-8. 1 to 65535 characters. */
  description?: string | null | undefined;
  /** How far it is. A new task is TODO; every move is free. */
  status?: Open<TaskStatus> | undefined;
  /** How urgent it is. */
  priority?: Open<Priority> | undefined;
  /** The user who works on it; null while nobody does. One newly named is active. */
  assigneeId?: number | null | undefined;
  /** The day on which work on it begins. A date, `YYYY-MM-DD`. */
  startDate?: string | null | undefined;
  /** The day by which it is to be done. A date, `YYYY-MM-DD`. */
  dueDate?: string | null | undefined;
}

/** The page and the filters of a list of users. */
export interface UserQuery {
  /** Which page; one past the end is empty. 1 by default. */
  page?: number | string | undefined;
  /** How many rows a page has. 1 to 100. 20 by default. */
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

/** The type of an event: what happened. */
export type EventType = 'ticket.created' | 'ticket.updated' | 'asset.created' | 'task.updated';

/** What a field of the resource may be. */
export type WebhookFilterValue = string | number | boolean | null;

/** HEALTHY: the last attempt succeeded, or there was none. RETRYING: the last attempt failed, and deliveries are sent. CIRCUIT_OPEN: attempts failed in a row, and nothing is sent until `nextAttemptAt`. PAUSED: see `pausedReason`. INACTIVE: the subscription was deactivated. */
export type WebhookHealth = 'HEALTHY' | 'RETRYING' | 'CIRCUIT_OPEN' | 'PAUSED' | 'INACTIVE';

/** A subscription to events, without its secret. */
export interface Webhook {
  /** Names it among all of its kind. It never changes, and is never used again. */
  id: number;
  /** Where events are sent: https, with a public host and without user info. 1 to 2048 characters. */
  url: string;
  /** The types of events that are sent. 1 to 100 of them. */
  events: Open<EventType>[];
  /** Top-level fields of the resource, and values of each: only events are delivered in which every field named is one of its values, or was before the change. Each event of the subscription must have the fields. At most 10 fields of 100 values. */
  filter: Record<string, readonly WebhookFilterValue[]> | null;
  /** Whether nothing is sent of what the key that made the subscription does itself, or one rotated from that key. */
  skipOwn: boolean;
  /** Whether it is told of events: false once it was deactivated, for ever. */
  active: boolean;
  /** HEALTHY: the last attempt succeeded, or there was none. RETRYING: the last attempt failed, and deliveries are sent. CIRCUIT_OPEN: attempts failed in a row, and nothing is sent until `nextAttemptAt`. PAUSED: see `pausedReason`. INACTIVE: the subscription was deactivated. */
  health: Open<WebhookHealth>;
  /** When the circuit breaker next allows an attempt; null if it holds nothing back, or if `paused: true` does. A replay or a test event is sent sooner. A moment in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  nextAttemptAt: string | null;
  /** When a delivery last arrived; null where none has. A moment in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  lastSuccessAt: string | null;
  /** When an attempt last failed; null where none has. A moment in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  lastFailureAt: string | null;
  /** When the subscription was paused: by `paused`, because the endpoint failed, or by the quota; else null. A moment in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  pausedAt: string | null;
  /** Why the subscription is paused, in words, or `QUOTA`: the workspace has reached its limit of pending deliveries. Then new events are not queued for this subscription, and those pending are still sent. Read the changes of each resource, such as `GET /tickets/changes`, to catch up. New events are queued again when fewer than half are pending. */
  pausedReason: string | null;
  /** When it was made. A moment in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  createdAt: string;
  /** When it last changed. A moment in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  updatedAt: string;
}

/** The page and the filters of a list of webhooks. */
export interface WebhookQuery {
  /** Which page; one past the end is empty. 1 by default. */
  page?: number | string | undefined;
  /** How many rows a page has. 1 to 100. 20 by default. */
  perPage?: number | string | undefined;
}

/** A new subscription, with its secret if the server generated it. No other endpoint returns the secret. */
export interface CreatedWebhook {
  /** Names it among all of its kind. It never changes, and is never used again. */
  id: number;
  /** Where events are sent: https, with a public host and without user info. 1 to 2048 characters. */
  url: string;
  /** The types of events that are sent. 1 to 100 of them. */
  events: Open<EventType>[];
  /** Top-level fields of the resource, and values of each: only events are delivered in which every field named is one of its values, or was before the change. Each event of the subscription must have the fields. At most 10 fields of 100 values. */
  filter: Record<string, readonly WebhookFilterValue[]> | null;
  /** Whether nothing is sent of what the key that made the subscription does itself, or one rotated from that key. */
  skipOwn: boolean;
  /** Whether it is told of events: false once it was deactivated, for ever. */
  active: boolean;
  /** HEALTHY: the last attempt succeeded, or there was none. RETRYING: the last attempt failed, and deliveries are sent. CIRCUIT_OPEN: attempts failed in a row, and nothing is sent until `nextAttemptAt`. PAUSED: see `pausedReason`. INACTIVE: the subscription was deactivated. */
  health: Open<WebhookHealth>;
  /** When the circuit breaker next allows an attempt; null if it holds nothing back, or if `paused: true` does. A replay or a test event is sent sooner. A moment in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  nextAttemptAt: string | null;
  /** When a delivery last arrived; null where none has. A moment in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  lastSuccessAt: string | null;
  /** When an attempt last failed; null where none has. A moment in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  lastFailureAt: string | null;
  /** When the subscription was paused: by `paused`, because the endpoint failed, or by the quota; else null. A moment in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  pausedAt: string | null;
  /** Why the subscription is paused, in words, or `QUOTA`: the workspace has reached its limit of pending deliveries. Then new events are not queued for this subscription, and those pending are still sent. Read the changes of each resource, such as `GET /tickets/changes`, to catch up. New events are queued again when fewer than half are pending. */
  pausedReason: string | null;
  /** When it was made. A moment in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  createdAt: string;
  /** When it last changed. A moment in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  updatedAt: string;
  /** The secret that the server generated; absent if the request had one. Store it. */
  secret?: string | undefined;
}

/** A new subscription to events. */
export interface NewWebhook {
  /** Where events are sent: https, with a public host and without user info. 1 to 2048 characters. */
  url: string;
  /** Signs each delivery; 24 characters or more are recommended. If absent, the server generates a secret and returns it. 1 to 256 characters. */
  secret?: string | undefined;
  /** The types of events that are sent. 1 to 100 of them. */
  events: readonly Open<EventType>[];
  /** Top-level fields of the resource, and values of each: only events are delivered in which every field named is one of its values, or was before the change. Each event of the subscription must have the fields. At most 10 fields of 100 values. */
  filter?: Record<string, readonly WebhookFilterValue[]> | null | undefined;
  /** Whether nothing is sent of what the key that made the subscription does itself, or one rotated from that key. */
  skipOwn?: boolean | undefined;
}

/** Absent fields stay as they are; null clears. */
export interface WebhookPatch {
  /** Where events are sent: https, with a public host and without user info. 1 to 2048 characters. */
  url?: string | undefined;
  /** The new secret. The one before signs, too, for 24 hours, in `webhook-signature`. 1 to 256 characters. */
  secret?: string | undefined;
  /** The types of events that are sent. 1 to 100 of them. */
  events?: readonly Open<EventType>[] | undefined;
  /** Top-level fields of the resource, and values of each: only events are delivered in which every field named is one of its values, or was before the change. Each event of the subscription must have the fields. At most 10 fields of 100 values. */
  filter?: Record<string, readonly WebhookFilterValue[]> | null | undefined;
  /** Whether nothing is sent of what the key that made the subscription does itself, or one rotated from that key. */
  skipOwn?: boolean | undefined;
  /** Whether deliveries rest. `true`: events queue and nothing is sent. `false`: what waits is sent when it is due, whatever paused it, and failures before count no more. */
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
  /** The type of an event: what happened. */
  event: Open<EventType>;
  /** How far it is: PENDING until it is settled as DELIVERED, EXHAUSTED when every attempt has failed, or CANCELLED with its subscription. */
  state: Open<DeliveryState>;
  /** Attempts begun since it was made, or last replayed. */
  attemptCount: number;
  /** When it may be tried next; null unless it is PENDING. A moment in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  nextAttemptAt: string | null;
  /** When the event happened. A moment in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  createdAt: string;
  /** When it was delivered, exhausted or cancelled; null while it is PENDING. A moment in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  settledAt: string | null;
}

/** What is being sent again from now on. */
export interface WebhookReplayStarted {
  /** The subscription whose deliveries they are. */
  webhookId: number;
  /** Those that were made then or later. A moment in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  since: string;
  /** Those in one of these states. */
  states: Open<DeliveryState>[];
  /** How many deliveries were found; 10000 of them and more are not counted. */
  matching: number;
  /** Whether `paused: true` holds the deliveries back. They are sent after a PATCH with `paused: false`. */
  paused: boolean;
}

/** Which deliveries are sent again. */
export interface WebhookReplay {
  /** Deliveries that were made then or later. A moment in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  since: string;
  /** Those in one of these states; EXHAUSTED alone unless given. With PENDING what waits for another attempt is sent at once. 1 to 4 of them. */
  states?: readonly Open<DeliveryState>[] | undefined;
}

/** The page and the filters of a list of deliveries. */
export interface DeliveryQuery {
  /** Which page; one past the end is empty. 1 by default. */
  page?: number | string | undefined;
  /** How many rows a page has. 1 to 100. 20 by default. */
  perPage?: number | string | undefined;
  /** 1 to 100 of them. */
  state?: Open<DeliveryState> | readonly Open<DeliveryState>[] | undefined;
}

/** What came of one attempt. */
export interface DeliveryAttempt {
  /** Counts from 1, and again from 1 when the delivery is replayed. */
  number: number;
  /** When it began. A moment in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
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
  /** The type of an event: what happened. */
  event: Open<EventType>;
  /** How far it is: PENDING until it is settled as DELIVERED, EXHAUSTED when every attempt has failed, or CANCELLED with its subscription. */
  state: Open<DeliveryState>;
  /** Attempts begun since it was made, or last replayed. */
  attemptCount: number;
  /** When it may be tried next; null unless it is PENDING. A moment in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  nextAttemptAt: string | null;
  /** When the event happened. A moment in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  createdAt: string;
  /** When it was delivered, exhausted or cancelled; null while it is PENDING. A moment in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
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
  /** When it happened: the resource's `updatedAt`. Of two events the later state has the later one. A moment in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  timestamp: string;
  /** Who did it; null where it was done on the command line. */
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
  /** When it happened: the resource's `updatedAt`. Of two events the later state has the later one. A moment in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  timestamp: string;
  /** Who did it; null where it was done on the command line. */
  actor: Actor;
  /** The ticket as it was then. */
  ticket: Ticket;
  /** What changed in a ticket: each field that differs. `updatedAt` always does, and is not among them. */
  changes: TicketChanges;
}

/** An asset is created. */
export interface AssetCreatedEvent {
  /** The same on every attempt: deduplicate by it. */
  id: string;
  /** What happened. */
  type: 'asset.created';
  /** When it happened: the resource's `updatedAt`. Of two events the later state has the later one. A moment in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  timestamp: string;
  /** Who did it; null where it was done on the command line. */
  actor: Actor;
  /** The asset as it was then. */
  asset: Asset;
}

/** What changed in a task: each field that differs. `updatedAt` always does, and is not among them. */
export type TaskChanges = Record<string, {
  /** The value before. */
  from: unknown;
  /** The value after. */
  to: unknown;
}> & {
  /** What became of `title`; absent where it is as before. */
  title?: {
    /** The value before. 1 to 255 characters. */
    from: string;
    /** The value after. 1 to 255 characters. */
    to: string;
  } | undefined;
  /** What became of `description`; absent where it is as before. */
  description?: {
    /** The value before. 1 to 65535 characters. */
    from: string | null;
    /** The value after. 1 to 65535 characters. */
    to: string | null;
  } | undefined;
  /** What became of `status`; absent where it is as before. */
  status?: {
    /** The value before. */
    from: Open<TaskStatus>;
    /** The value after. */
    to: Open<TaskStatus>;
  } | undefined;
  /** What became of `priority`; absent where it is as before. */
  priority?: {
    /** The value before. */
    from: Open<Priority>;
    /** The value after. */
    to: Open<Priority>;
  } | undefined;
  /** What became of `assigneeId`; absent where it is as before. */
  assigneeId?: {
    /** The value before. */
    from: number | null;
    /** The value after. */
    to: number | null;
  } | undefined;
  /** What became of `startDate`; absent where it is as before. */
  startDate?: {
    /** The value before. A date, `YYYY-MM-DD`. */
    from: string | null;
    /** The value after. A date, `YYYY-MM-DD`. */
    to: string | null;
  } | undefined;
  /** What became of `dueDate`; absent where it is as before. */
  dueDate?: {
    /** The value before. A date, `YYYY-MM-DD`. */
    from: string | null;
    /** The value after. A date, `YYYY-MM-DD`. */
    to: string | null;
  } | undefined;
  /** What became of `completedAt`; absent where it is as before. */
  completedAt?: {
    /** The value before. A moment in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
    from: string | null;
    /** The value after. A moment in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
    to: string | null;
  } | undefined;
};

/** A project task is updated. */
export interface TaskUpdatedEvent {
  /** The same on every attempt: deduplicate by it. */
  id: string;
  /** What happened. */
  type: 'task.updated';
  /** When it happened: the resource's `updatedAt`. Of two events the later state has the later one. A moment in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  timestamp: string;
  /** Who did it; null where it was done on the command line. */
  actor: Actor;
  /** The task as it was then. */
  task: Task;
  /** What changed in a task: each field that differs. `updatedAt` always does, and is not among them. */
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
export type Changes = Record<string, {
  /** The value before. */
  from: unknown;
  /** The value after. */
  to: unknown;
}>;

/** What is wrong in one place of the request. */
export interface ErrorDetail {
  /** The field, query parameter or path parameter, with dots into its parts. */
  path: string;
  /** What is wrong there, to be read after the name. */
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
  | 'INTERNAL_ERROR'
  | 'SERVICE_UNAVAILABLE';

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
