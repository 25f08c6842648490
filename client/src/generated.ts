// Generated from the contract by `pnpm generate`. Do not edit.

/** @internal */
export const version = '1.0.0';

/**
 * The prefix of every path.
 *
 * @internal
 */
export const pathPrefix = '/api/public/v1';

/**
 * The limits of a bulk request.
 *
 * @internal
 */
export const limits = { bulkItems: 100, bodyBytes: 1048576 };

/** A string from a newer server that this version of the client doesn't know. */
export declare enum Unknown {
  Value = 'a value of a newer server',
}

/**
 * One of the known values, or `Unknown` from a newer server. A `switch` over the values needs a `default`. A
 * `case` with a string that is not a known value is a type error. You can send a received value back to the API.
 */
export type Open<Known extends string> = Known | Unknown;

/** Fields of which at least one is required. */
export type AtLeastOne<Fields> = {
  [Name in keyof Fields]: Pick<Fields, Name> & { [Other in keyof Fields]?: Fields[Other] | undefined };
}[keyof Fields];

/** The types of the custom fields of a workspace. The program `itsm-client types` writes them. */
export interface FieldTypes {
  /** The custom fields of tickets. */
  ticket?: object;
  /** The custom fields of assets. */
  asset?: object;
  /** The answers to request forms, by the key of the form. */
  forms?: object;
}

/** The custom fields of a resource: their own type, or else the type for any fields. */
export type FieldsOf<Types extends FieldTypes, Resource extends keyof FieldTypes> =
  Types extends Record<Resource, infer Fields extends object> ? Fields : CustomFields;

/** The answers to request forms: their own types, or else the type for any answers. */
export type FormsOf<Types extends FieldTypes> =
  Types extends Record<'forms', infer Forms extends object> ? Forms : Record<string, RequestFormAnswers>;

/** The custom fields in an update or a response. Each field can be absent or null. */
export type SomeFields<Fields extends object> = string extends keyof Fields
  ? Fields
  : { [Name in keyof Fields]?: Fields[Name] | null | undefined };

/** The filters of a list by custom fields. Each field has one or several values. */
export type FieldFilters<Fields extends object> = string extends keyof Fields
  ? Record<string, string | readonly string[]>
  : { [Name in keyof Fields]?: FilterValue<Fields[Name]> | readonly FilterValue<Fields[Name]>[] | undefined };

/** A value of a custom field in a filter. For a field with a list, one item of the list. */
export type FilterValue<Value> = NonNullable<Value> extends readonly (infer Item)[] ? Item : NonNullable<Value>;

/** The status of the service. */
export interface Pong {
  /** Always `ok`. */
  status: 'ok';
  /** The version of the API, as in the path. */
  version: 'v1';
}

/** A permission of an API key. */
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

/** An API key, without its secret part. */
export interface Key {
  /** The identifier. It is unique within its resource type, never changes and is never reused. */
  id: number;
  /** The name of the API key. */
  name: string;
  /** The last four characters of the API key. The server does not store the complete key. */
  lastFour: string;
  /** The scopes of the API key. */
  scopes: Open<Scope>[];
  /** Whether the API key is an import key, which can set the original times and authors of new rows. */
  import: boolean;
  /** Whether the API key can only propose changes, with `POST /proposals`. A person decides about them. */
  proposing: boolean;
  /** When the API key was created. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  createdAt: string;
  /** When the API key expires, or null if it never expires. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  expiresAt: string | null;
  /** When the API key was last used before this request, accurate to one minute. Null if this is the first use. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  lastUsedAt: string | null;
}

/** The role of the user in the workspace. What an API key can do depends on its scopes, not on this role. */
export type UserRole = 'ADMIN' | 'AGENT' | 'REQUESTER';

/** `PERSON`, or `SERVICE` for a service account: a user for programs, who can't sign in. */
export type UserKind = 'PERSON' | 'SERVICE';

/** The version of the resource, equal to the `ETag` header of its response. Send it back unchanged in `If-Match`. */
export type Etag = string;

/** A user of the workspace. */
export interface User {
  /** The identifier. It is unique within its resource type, never changes and is never reused. */
  id: number;
  /** The full name of the user. 1 to 255 characters. */
  name: string;
  /** The email address in lower case, unique in the workspace. 1 to 254 characters. */
  email: string;
  /** The role of the user in the workspace. What an API key can do depends on its scopes, not on this role. */
  role: Open<UserRole>;
  /** `PERSON`, or `SERVICE` for a service account: a user for programs, who can't sign in. */
  kind: Open<UserKind>;
  /** Whether the user is active. You can't assign inactive users, and their API keys are invalid. */
  active: boolean;
  /** The job title, or null if not set. 1 to 255 characters. */
  jobTitle: string | null;
  /** The department, or null if not set. 1 to 255 characters. */
  department: string | null;
  /** The phone number, as entered, or null if not set. 1 to 255 characters. */
  phone: string | null;
  /** The IANA time zone, such as `Europe/Berlin`, or null if not set. 1 to 255 characters. */
  timeZone: string | null;
  /** When the resource was created. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  createdAt: string;
  /** When the resource last changed. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  updatedAt: string;
  /** The version of the resource, equal to the `ETag` header of its response. Send it back unchanged in `If-Match`. */
  etag: Etag;
}

/** The workspace of the API key. The key can access only this workspace. */
export interface Workspace {
  /** The name of the workspace. */
  name: string;
}

/** A rate limit of the API key and the remaining quota. */
export interface Limit {
  /** `global` for all endpoints, or the name of an endpoint group. */
  name: string;
  /** The number of requests allowed per window. */
  limit: number;
  /** The number of requests left in the window. */
  remaining: number;
  /** The number of seconds until the window ends. */
  resetSeconds: number;
  /** The length of the window, in seconds. */
  windowSeconds: number;
}

/** The API key of the request, its user, the teams of the user, its workspace and its rate limits. */
export interface Identity {
  /** An API key, without its secret part. */
  key: Key;
  /** The user of the API key: the person who created the key, or the person for whom the key was created. */
  user: User;
  /** The ids of the teams that contain the user, in ascending order. Includes inactive teams. */
  teamIds: number[];
  /** The workspace of the API key. The key can access only this workspace. */
  workspace: Workspace;
  /** The rate limits of the API key: `global`, then each endpoint group. */
  limits: Limit[];
}

/** A ticket number: a prefix, a hyphen and a number, such as `INC-17`. */
export type TicketNumber = `${'INC' | 'PRB' | 'CHG' | 'REQ'}-${number}`;

/** The type of the ticket. It never changes. */
export type TicketType = 'INCIDENT' | 'PROBLEM' | 'CHANGE' | 'SERVICE_REQUEST';

/** The status of the ticket. New tickets are OPEN, except imported tickets. Allowed transitions: OPEN → IN_PROGRESS, PENDING, RESOLVED, CANCELLED; IN_PROGRESS → PENDING, RESOLVED, CANCELLED; PENDING → IN_PROGRESS, RESOLVED, CANCELLED; RESOLVED → CLOSED, IN_PROGRESS. CLOSED and CANCELLED are final. */
export type TicketStatus = 'OPEN' | 'IN_PROGRESS' | 'PENDING' | 'RESOLVED' | 'CLOSED' | 'CANCELLED';

/** The priority of a ticket, project or task. */
export type Priority = 'LOW' | 'MEDIUM' | 'HIGH' | 'CRITICAL';

/** The area of IT that the ticket concerns. */
export type TicketCategory = 'SOFTWARE' | 'HARDWARE' | 'NETWORK' | 'ACCESS' | 'EMAIL' | 'OTHER';

/** A tag: 1 to 50 letters and digits of any script, and after the first character also `:`, `_`, `.`, `/` and `-`. The server converts it to lower case and to the normalization form NFC. */
export type Tag = string;

/** A single value of a custom field. A number must be 0 or have an absolute value from 1e-9 to 1e15. */
export type CustomFieldScalar = string | number | boolean | null;

/** The value of a custom field: one value or an array. A number must be 0 or have an absolute value from 1e-9 to 1e15. */
export type CustomFieldValue = string | number | boolean | null | readonly CustomFieldScalar[];

/** The custom fields of the resource, by name. At most 50 keys and 16 KiB as JSON. */
export type CustomFields = Record<string, CustomFieldValue>;

/** The result of the approvals of the ticket: NONE without approvals, REJECTED after one rejection, PENDING while a decision is missing, and otherwise APPROVED. */
export type ApprovalStatus = 'NONE' | 'PENDING' | 'APPROVED' | 'REJECTED';

/** An incident, problem, change or service request. */
export interface Ticket<Fields extends object = CustomFields> {
  /** The identifier. It is unique within its resource type, never changes and is never reused. */
  id: number;
  /** A prefix (INC-, PRB-, CHG- or REQ-) and a number. Each ticket type of the workspace has its own numbers, which start at 1. The server never reuses a number. */
  ticketNumber: Open<TicketNumber>;
  /** The title, on one line. The server removes leading and trailing white space. 1 to 255 characters. */
  title: string;
  /** The full description. At most 65535 bytes in UTF-8. 1 to 65535 characters. */
  description: string;
  /** The type of the ticket. It never changes. */
  type: Open<TicketType>;
  /** The status of the ticket. New tickets are OPEN, except imported tickets. Allowed transitions: OPEN → IN_PROGRESS, PENDING, RESOLVED, CANCELLED; IN_PROGRESS → PENDING, RESOLVED, CANCELLED; PENDING → IN_PROGRESS, RESOLVED, CANCELLED; RESOLVED → CLOSED, IN_PROGRESS. CLOSED and CANCELLED are final. */
  status: Open<TicketStatus>;
  /** The priority of a ticket, project or task. */
  priority: Open<Priority>;
  /** The area of IT that the ticket concerns, or null if only `categoryConfigId` is set. */
  category: Open<TicketCategory> | null;
  /** The ticket category, or null if it has none. You can set only ids of active categories. If the workspace defines no categories, you can set any text. 1 to 255 characters. */
  categoryConfigId: string | null;
  /** The key of the request form that created the ticket, or null if none did. Never changes. At most 40 characters. */
  formKey: string | null;
  /** The user who requested the ticket. The default is the user of the API key. Never changes. */
  requesterId: number;
  /** The assigned user, or null if unassigned. You can assign only active users. */
  assigneeId: number | null;
  /** The team, or null if the ticket has none. You can set only active teams. The assignee can be any user. */
  teamId: number | null;
  /** The users who watch the ticket: at most 100 ids. Responses list the ids in ascending order. You can add only active users. */
  watcherUserIds: number[];
  /** The assets that the ticket concerns: at most 50 ids. Responses list them in ascending order. */
  assetIds: number[];
  /** The tags: at most 50. Responses list them in ascending order and without duplicates. At most 50 items. 1 to 50 characters. */
  tags: Tag[];
  /** The id of the parent ticket, or null if it has none. A ticket can't be its own ancestor. */
  parentId: number | null;
  /** The id of this resource in another system, or null if it has none. Unique in the workspace for each resource type. Once it is set, it never changes. 1 to 200 printable ASCII characters without spaces and commas. 1 to 200 characters. */
  externalId: string | null;
  /** The custom fields of the resource, by name. At most 50 keys and 16 KiB as JSON. */
  customFields: SomeFields<Fields>;
  /** How the ticket was resolved. At most 65535 bytes in UTF-8. 1 to 65535 characters. */
  resolution: string | null;
  /** When the status became RESOLVED, or null if the ticket is unresolved or reopened. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  resolvedAt: string | null;
  /** When the status became CLOSED, or null if it is not closed. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  closedAt: string | null;
  /** When the ticket is due, or null if it has no due date. Until a request sets it, it is `createdAt` plus the resolution target of the priority and the time of pauses, counted in business hours. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  dueAt: string | null;
  /** When the first response is due, or null without a target: `createdAt` plus the target of the priority, counted in business hours. It changes with the priority until the first response. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  firstResponseDueAt: string | null;
  /** When the planned window of a CHANGE starts, or null if no window is planned. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  plannedStartAt: string | null;
  /** When the planned window of a CHANGE ends, or null if no window is planned. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  plannedEndAt: string | null;
  /** The result of the approvals of the ticket: NONE without approvals, REJECTED after one rejection, PENDING while a decision is missing, and otherwise APPROVED. */
  approvalStatus: Open<ApprovalStatus>;
  /** When an ADMIN or AGENT who is not the requester added the first PUBLIC comment, or null before this comment. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  firstRespondedAt: string | null;
  /** When an administrator last replaced `title`, `description` and `resolution` with `[redacted]` to erase personal data, or null. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  redactedAt: string | null;
  /** The number of PUBLIC and INTERNAL comments. */
  commentCount: number;
  /** The number of attachments. */
  attachmentCount: number;
  /** The number of links to and from other tickets. */
  linkCount: number;
  /** When the resource was created. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  createdAt: string;
  /** When the resource last changed. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  updatedAt: string;
  /** The version of the resource, equal to the `ETag` header of its response. Send it back unchanged in `If-Match`. */
  etag: Etag;
}

/** The id or the email address of a user, `me` for the user of the API key, or `none` for no assignee. */
export type TicketAssignee = number | `${string}@${string}` | 'me' | 'none';

/** The id of a team, or `none` for no team. */
export type TicketTeam = number | 'none';

/** A reference to a user: an id or an email address. */
export type UserReference = number | `${string}@${string}`;

/** The id of a ticket, or its number such as `INC-17`. */
export type TicketReference = number | Open<TicketNumber>;

/** The page and the filters of a list of tickets. */
export interface TicketQuery<Fields extends object = CustomFields> {
  /** The page number, from 1. A page after the last page is empty. Default: 1. */
  page?: number | string | undefined;
  /** The number of items per page. 1 to 100. Default: 20. */
  perPage?: number | string | undefined;
  /** 1 to 100 items. */
  status?: Open<TicketStatus> | readonly Open<TicketStatus>[] | undefined;
  /** 1 to 100 items. */
  priority?: Open<Priority> | readonly Open<Priority>[] | undefined;
  /** 1 to 100 items. */
  assigneeId?: TicketAssignee | readonly TicketAssignee[] | undefined;
  /** 1 to 100 items. */
  teamId?: TicketTeam | readonly TicketTeam[] | undefined;
  /** 1 to 100 items. */
  type?: Open<TicketType> | readonly Open<TicketType>[] | undefined;
  /** 1 to 100 items. */
  category?: Open<TicketCategory> | readonly Open<TicketCategory>[] | undefined;
  /** Exact values: repeat the parameter for several. A value can contain commas. 1 to 100 items. 1 to 255 characters. */
  categoryConfigId?: string | readonly string[] | undefined;
  /** 1 to 100 items. At most 40 characters. */
  formKey?: string | readonly string[] | undefined;
  /** 1 to 100 items. */
  requesterId?: UserReference | readonly UserReference[] | undefined;
  /** 1 to 100 items. */
  parentId?: TicketReference | readonly TicketReference[] | undefined;
  /** 1 to 100 items. */
  watcherUserId?: UserReference | readonly UserReference[] | undefined;
  /** 1 to 100 items. 1 to 200 characters. */
  externalId?: string | readonly string[] | undefined;
  /** 1 to 100 items. */
  assetId?: number | string | readonly (number | string)[] | undefined;
  /** 1 to 100 items. 1 to 50 characters. */
  tag?: Tag | readonly Tag[] | undefined;
  /** Returns only items whose custom field has one of these values: `customFields[site]=berlin,bonn`. The field must be filterable (`GET /custom-fields`). One request can filter by 3 fields. */
  customFields?: FieldFilters<Fields> | undefined;
  /** Returns only tickets created at or after this time. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  createdSince?: string | undefined;
  /** Returns only tickets created before this time. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  createdBefore?: string | undefined;
  /** Returns only tickets due at or after this time. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  dueSince?: string | undefined;
  /** Returns only tickets due before this time. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  dueBefore?: string | undefined;
  /** Returns only tickets whose planned window ends after this time. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  plannedSince?: string | undefined;
  /** Returns only tickets whose planned window starts before this time. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  plannedBefore?: string | undefined;
  /** 1 to 100 items. */
  approvalStatus?: Open<ApprovalStatus> | readonly Open<ApprovalStatus>[] | undefined;
  /** Returns only unresolved tickets with a `dueAt` in the past: not RESOLVED, CLOSED or CANCELLED. While PENDING pauses the clock, `dueAt` must be before the pause. */
  overdue?: true | 'true' | undefined;
  /** Returns only unresolved tickets without a first response, with a `firstResponseDueAt` in the past. */
  firstResponseOverdue?: true | 'true' | undefined;
  /** Full-text search in number, title and description. All words must match, ignoring case; the last word can be a prefix. 1 to 200 characters. */
  q?: string | undefined;
  /** The sort order: newest first (`-id`) or oldest first (`id`). Default: "-id". */
  sort?: '-id' | 'id' | undefined;
}

/** The start of the change feed and the size of its pages. */
export interface ChangesQuery {
  /** Returns the changes since this time, and possibly a few slightly earlier changes. Do not combine `since` with `cursor`. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  since?: string | undefined;
  /** The `nextCursor` of the previous page. Returns the changes after that page. */
  cursor?: string | undefined;
  /** The number of items per page. 1 to 100. Default: 100. */
  perPage?: number | string | undefined;
}

/** A new ticket. Set `category`, `categoryConfigId` or both. */
export type NewTicket<Fields extends object = CustomFields> = AtLeastOne<{
  /** The area of IT that the ticket concerns, or null if only `categoryConfigId` is set. */
  category: Open<TicketCategory> | null;
  /** The ticket category, or null if it has none. You can set only ids of active categories. If the workspace defines no categories, you can set any text. 1 to 255 characters. */
  categoryConfigId: string | null;
}> & {
  /** The title, on one line. The server removes leading and trailing white space. 1 to 255 characters. */
  title: string;
  /** The full description. At most 65535 bytes in UTF-8. 1 to 65535 characters. */
  description: string;
  /** The type of the ticket. It never changes. */
  type: Open<TicketType>;
  /** The priority. The default is MEDIUM. */
  priority?: Open<Priority> | null | undefined;
  /** The user who requests the ticket, by id or email address. The default is the user of the API key. */
  requesterId?: UserReference | null | undefined;
  /** The assigned user, by id or email address, or null if unassigned. You can assign only active users. */
  assigneeId?: UserReference | null | undefined;
  /** The team, or null if the ticket has none. You can set only active teams. The assignee can be any user. */
  teamId?: number | null | undefined;
  /** The users who watch the ticket: at most 100 ids or email addresses. Responses list the ids in ascending order. You can add only active users. */
  watcherUserIds?: readonly UserReference[] | null | undefined;
  /** The assets that the ticket concerns: at most 50 ids. Responses list them in ascending order. */
  assetIds?: readonly number[] | null | undefined;
  /** The tags: at most 50. Responses list them in ascending order and without duplicates. At most 50 items. 1 to 50 characters. */
  tags?: readonly Tag[] | null | undefined;
  /** The parent ticket, by id or number such as `INC-17`, or null for no parent. */
  parentId?: TicketReference | null | undefined;
  /** The id of this resource in another system, or null if it has none. Unique in the workspace for each resource type. Once it is set, it never changes. 1 to 200 printable ASCII characters without spaces and commas. 1 to 200 characters. */
  externalId?: string | null | undefined;
  /** The custom fields of the resource, by name. At most 50 keys and 16 KiB as JSON. */
  customFields?: Fields | null | undefined;
  /** When the ticket is due, or null for no due date. The default is `createdAt` plus the resolution target of the priority. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  dueAt?: string | null | undefined;
  /** When the planned window of a CHANGE starts. Set both times or neither, and only for tickets of the type CHANGE. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  plannedStartAt?: string | null | undefined;
  /** When the planned window of a CHANGE ends, after `plannedStartAt`. Set both times or neither, and only for tickets of the type CHANGE. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  plannedEndAt?: string | null | undefined;
  /** The status. The default is OPEN. Only an import key can set it. */
  status?: Open<TicketStatus> | undefined;
  /** When the ticket was created. Required with `resolvedAt` and `closedAt`. The default is the current time. Only an import key can set it. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  createdAt?: string | undefined;
  /** When the status became RESOLVED. Requires the status RESOLVED or CLOSED. The default is `closedAt` or the current time. Only an import key can set it. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  resolvedAt?: string | undefined;
  /** When the status became CLOSED. Requires the status CLOSED. The default is the current time. Only an import key can set it. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  closedAt?: string | undefined;
};

/** The server merges these fields into the existing custom fields. A value replaces the existing value, and null removes the key. The result has at most 50 keys and 16 KiB as JSON. */
export type CustomFieldsPatch = Record<string, CustomFieldValue>;

/** Changes to a ticket. Absent fields stay unchanged, and null clears a field. `type` can't change. */
export interface TicketPatch<Fields extends object = CustomFields> {
  /** The title, on one line. The server removes leading and trailing white space. 1 to 255 characters. */
  title?: string | undefined;
  /** The full description. At most 65535 bytes in UTF-8. 1 to 65535 characters. */
  description?: string | undefined;
  /** The status of the ticket. New tickets are OPEN, except imported tickets. Allowed transitions: OPEN → IN_PROGRESS, PENDING, RESOLVED, CANCELLED; IN_PROGRESS → PENDING, RESOLVED, CANCELLED; PENDING → IN_PROGRESS, RESOLVED, CANCELLED; RESOLVED → CLOSED, IN_PROGRESS. CLOSED and CANCELLED are final. */
  status?: Open<TicketStatus> | undefined;
  /** The priority of a ticket, project or task. */
  priority?: Open<Priority> | undefined;
  /** The area of IT that the ticket concerns, or null if only `categoryConfigId` is set. */
  category?: Open<TicketCategory> | null | undefined;
  /** The ticket category, or null if it has none. You can set only ids of active categories. If the workspace defines no categories, you can set any text. 1 to 255 characters. */
  categoryConfigId?: string | null | undefined;
  /** The assigned user, by id or email address, or null if unassigned. You can assign only active users. */
  assigneeId?: UserReference | null | undefined;
  /** The team, or null if the ticket has none. You can set only active teams. The assignee can be any user. */
  teamId?: number | null | undefined;
  /** The users who watch the ticket: at most 100 ids or email addresses. Responses list the ids in ascending order. You can add only active users. */
  watcherUserIds?: readonly UserReference[] | undefined;
  /** The assets that the ticket concerns: at most 50 ids. Responses list them in ascending order. */
  assetIds?: readonly number[] | undefined;
  /** The new tags, which replace all tags. Not together with `addTags` or `removeTags`. At most 50 items. 1 to 50 characters. */
  tags?: readonly Tag[] | undefined;
  /** The tags to add. Two requests that add different tags never overwrite each other. At most 50 items. 1 to 50 characters. */
  addTags?: readonly Tag[] | undefined;
  /** The tags to remove, none of which is in `addTags`. At most 50 items. 1 to 50 characters. */
  removeTags?: readonly Tag[] | undefined;
  /** The parent ticket, by id or number such as `INC-17`, or null for no parent. */
  parentId?: TicketReference | null | undefined;
  /** The id of this resource in another system, or null if it has none. Unique in the workspace for each resource type. Once it is set, it never changes. 1 to 200 printable ASCII characters without spaces and commas. 1 to 200 characters. */
  externalId?: string | null | undefined;
  /** The server merges these fields into the existing custom fields. A value replaces the existing value, and null removes the key. The result has at most 50 keys and 16 KiB as JSON. */
  customFields?: SomeFields<Fields> | undefined;
  /** How the ticket was resolved. At most 65535 bytes in UTF-8. 1 to 65535 characters. */
  resolution?: string | null | undefined;
  /** When the ticket is due, or null for no due date. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  dueAt?: string | null | undefined;
  /** When the planned window of a CHANGE starts. The resulting window must end after it starts. Null clears both times. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  plannedStartAt?: string | null | undefined;
  /** When the planned window of a CHANGE ends. The resulting window must end after it starts. Null clears both times. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  plannedEndAt?: string | null | undefined;
}

/** The intended audience: PUBLIC comments are for the requester, and INTERNAL comments are for staff. The visibility is only a label: an API key that can read the ticket can read all its comments. */
export type CommentVisibility = 'PUBLIC' | 'INTERNAL';

/** A new comment. */
export interface NewComment {
  /** The text of the comment. At most 65535 bytes in UTF-8. 1 to 65535 characters. */
  body: string;
  /** The intended audience: PUBLIC comments are for the requester, and INTERNAL comments are for staff. The visibility is only a label: an API key that can read the ticket can read all its comments. */
  visibility: Open<CommentVisibility>;
  /** The attachments of the ticket that belong to the comment: at most 50 ids, in ascending order in responses. An attachment can be deleted later. Its id remains. */
  attachmentIds?: readonly number[] | null | undefined;
  /** The id of this resource in another system, or null if it has none. Unique in the workspace for each resource type. Once it is set, it never changes. 1 to 200 printable ASCII characters without spaces and commas. 1 to 200 characters. */
  externalId?: string | null | undefined;
  /** The author, by id or email address, who can be inactive. The default is the user of the API key. Only an import key can set it. */
  authorId?: UserReference | undefined;
  /** When the comment was created. Only an import key can set it. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  createdAt?: string | undefined;
}

/** A new ticket and its first comments. Set `category`, `categoryConfigId` or both. */
export type NewTicketItem<Fields extends object = CustomFields> = AtLeastOne<{
  /** The area of IT that the ticket concerns, or null if only `categoryConfigId` is set. */
  category: Open<TicketCategory> | null;
  /** The ticket category, or null if it has none. You can set only ids of active categories. If the workspace defines no categories, you can set any text. 1 to 255 characters. */
  categoryConfigId: string | null;
}> & {
  /** The title, on one line. The server removes leading and trailing white space. 1 to 255 characters. */
  title: string;
  /** The full description. At most 65535 bytes in UTF-8. 1 to 65535 characters. */
  description: string;
  /** The type of the ticket. It never changes. */
  type: Open<TicketType>;
  /** The priority. The default is MEDIUM. */
  priority?: Open<Priority> | null | undefined;
  /** The user who requests the ticket, by id or email address. The default is the user of the API key. */
  requesterId?: UserReference | null | undefined;
  /** The assigned user, by id or email address, or null if unassigned. You can assign only active users. */
  assigneeId?: UserReference | null | undefined;
  /** The team, or null if the ticket has none. You can set only active teams. The assignee can be any user. */
  teamId?: number | null | undefined;
  /** The users who watch the ticket: at most 100 ids or email addresses. Responses list the ids in ascending order. You can add only active users. */
  watcherUserIds?: readonly UserReference[] | null | undefined;
  /** The assets that the ticket concerns: at most 50 ids. Responses list them in ascending order. */
  assetIds?: readonly number[] | null | undefined;
  /** The tags: at most 50. Responses list them in ascending order and without duplicates. At most 50 items. 1 to 50 characters. */
  tags?: readonly Tag[] | null | undefined;
  /** The parent ticket, by id or number such as `INC-17`, or null for no parent. */
  parentId?: TicketReference | null | undefined;
  /** The id of this resource in another system, or null if it has none. Unique in the workspace for each resource type. Once it is set, it never changes. 1 to 200 printable ASCII characters without spaces and commas. 1 to 200 characters. */
  externalId?: string | null | undefined;
  /** The custom fields of the resource, by name. At most 50 keys and 16 KiB as JSON. */
  customFields?: Fields | null | undefined;
  /** When the ticket is due, or null for no due date. The default is `createdAt` plus the resolution target of the priority. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  dueAt?: string | null | undefined;
  /** When the planned window of a CHANGE starts. Set both times or neither, and only for tickets of the type CHANGE. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  plannedStartAt?: string | null | undefined;
  /** When the planned window of a CHANGE ends, after `plannedStartAt`. Set both times or neither, and only for tickets of the type CHANGE. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  plannedEndAt?: string | null | undefined;
  /** The status. The default is OPEN. Only an import key can set it. */
  status?: Open<TicketStatus> | undefined;
  /** When the ticket was created. Required with `resolvedAt` and `closedAt`. The default is the current time. Only an import key can set it. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  createdAt?: string | undefined;
  /** When the status became RESOLVED. Requires the status RESOLVED or CLOSED. The default is `closedAt` or the current time. Only an import key can set it. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  resolvedAt?: string | undefined;
  /** When the status became CLOSED. Requires the status CLOSED. The default is the current time. Only an import key can set it. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  closedAt?: string | undefined;
  /** The first comments of the ticket, oldest first. If one of them is invalid, the item fails. At most 1000 comments in all items of a request. At most 100 items. */
  comments?: readonly NewComment[] | undefined;
};

/** A ticket and its changes. Absent fields stay unchanged, and null clears a field. */
export interface TicketPatchItem<Fields extends object = CustomFields> {
  /** The ticket, by id or number such as `INC-17`. */
  id: TicketReference;
  /** The `etag` that you read. If the ticket has changed since then, this item fails with `PRECONDITION_FAILED`. */
  ifMatch?: string | undefined;
  /** The title, on one line. The server removes leading and trailing white space. 1 to 255 characters. */
  title?: string | undefined;
  /** The full description. At most 65535 bytes in UTF-8. 1 to 65535 characters. */
  description?: string | undefined;
  /** The status of the ticket. New tickets are OPEN, except imported tickets. Allowed transitions: OPEN → IN_PROGRESS, PENDING, RESOLVED, CANCELLED; IN_PROGRESS → PENDING, RESOLVED, CANCELLED; PENDING → IN_PROGRESS, RESOLVED, CANCELLED; RESOLVED → CLOSED, IN_PROGRESS. CLOSED and CANCELLED are final. */
  status?: Open<TicketStatus> | undefined;
  /** The priority of a ticket, project or task. */
  priority?: Open<Priority> | undefined;
  /** The area of IT that the ticket concerns, or null if only `categoryConfigId` is set. */
  category?: Open<TicketCategory> | null | undefined;
  /** The ticket category, or null if it has none. You can set only ids of active categories. If the workspace defines no categories, you can set any text. 1 to 255 characters. */
  categoryConfigId?: string | null | undefined;
  /** The assigned user, by id or email address, or null if unassigned. You can assign only active users. */
  assigneeId?: UserReference | null | undefined;
  /** The team, or null if the ticket has none. You can set only active teams. The assignee can be any user. */
  teamId?: number | null | undefined;
  /** The users who watch the ticket: at most 100 ids or email addresses. Responses list the ids in ascending order. You can add only active users. */
  watcherUserIds?: readonly UserReference[] | undefined;
  /** The assets that the ticket concerns: at most 50 ids. Responses list them in ascending order. */
  assetIds?: readonly number[] | undefined;
  /** The new tags, which replace all tags. Not together with `addTags` or `removeTags`. At most 50 items. 1 to 50 characters. */
  tags?: readonly Tag[] | undefined;
  /** The tags to add. Two requests that add different tags never overwrite each other. At most 50 items. 1 to 50 characters. */
  addTags?: readonly Tag[] | undefined;
  /** The tags to remove, none of which is in `addTags`. At most 50 items. 1 to 50 characters. */
  removeTags?: readonly Tag[] | undefined;
  /** The parent ticket, by id or number such as `INC-17`, or null for no parent. */
  parentId?: TicketReference | null | undefined;
  /** The id of this resource in another system, or null if it has none. Unique in the workspace for each resource type. Once it is set, it never changes. 1 to 200 printable ASCII characters without spaces and commas. 1 to 200 characters. */
  externalId?: string | null | undefined;
  /** The server merges these fields into the existing custom fields. A value replaces the existing value, and null removes the key. The result has at most 50 keys and 16 KiB as JSON. */
  customFields?: SomeFields<Fields> | undefined;
  /** How the ticket was resolved. At most 65535 bytes in UTF-8. 1 to 65535 characters. */
  resolution?: string | null | undefined;
  /** When the ticket is due, or null for no due date. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  dueAt?: string | null | undefined;
  /** When the planned window of a CHANGE starts. The resulting window must end after it starts. Null clears both times. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  plannedStartAt?: string | null | undefined;
  /** When the planned window of a CHANGE ends. The resulting window must end after it starts. Null clears both times. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  plannedEndAt?: string | null | undefined;
}

/** A file that is attached to a ticket. `GET /attachments/{id}/content` returns its content. */
export interface Attachment {
  /** The identifier. It is unique within its resource type, never changes and is never reused. */
  id: number;
  /** The ticket to which the file is attached. */
  ticketId: number;
  /** The name of the file, without a path. 1 to 255 characters. */
  name: string;
  /** The `Content-Type` of the upload, or `application/octet-stream` if it was missing, malformed or a range such as `text/*`. The server doesn't check that the content has this type. */
  contentType: string;
  /** The size in bytes. */
  size: number;
  /** The SHA-256 hash of the content, in lowercase hexadecimal. */
  sha256: string;
  /** The user who uploaded the file: the user of the API key. */
  uploaderId: number;
  /** When the file was attached. Attachments never change. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  createdAt: string;
}

/** A comment on a ticket. */
export interface Comment {
  /** The identifier. It is unique within its resource type, never changes and is never reused. */
  id: number;
  /** The ticket to which the comment belongs. */
  ticketId: number;
  /** The author: the user of the API key that created the comment, or the author that an import key set. */
  authorId: number;
  /** The text of the comment. At most 65535 bytes in UTF-8. 1 to 65535 characters. */
  body: string;
  /** The intended audience: PUBLIC comments are for the requester, and INTERNAL comments are for staff. The visibility is only a label: an API key that can read the ticket can read all its comments. */
  visibility: Open<CommentVisibility>;
  /** The attachments of the ticket that belong to the comment: at most 50 ids, in ascending order in responses. An attachment can be deleted later. Its id remains. */
  attachmentIds: number[];
  /** The id of this resource in another system, or null if it has none. Unique in the workspace for each resource type. Once it is set, it never changes. 1 to 200 printable ASCII characters without spaces and commas. 1 to 200 characters. */
  externalId: string | null;
  /** When the comment was created. A comment changes only if an administrator redacts it. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  createdAt: string;
  /** When an administrator last replaced `body` with `[redacted]` to erase personal data, or null. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  redactedAt: string | null;
}

/** The page and the filters of a list of comments. */
export interface CommentQuery {
  /** The page number, from 1. A page after the last page is empty. Default: 1. */
  page?: number | string | undefined;
  /** The number of items per page. 1 to 100. Default: 20. */
  perPage?: number | string | undefined;
  /** 1 to 100 items. 1 to 200 characters. */
  externalId?: string | readonly string[] | undefined;
}

/** The page and the filters of a list of attachments. */
export interface AttachmentQuery {
  /** The page number, from 1. A page after the last page is empty. Default: 1. */
  page?: number | string | undefined;
  /** The number of items per page. 1 to 100. Default: 20. */
  perPage?: number | string | undefined;
}

/** How the ticket is related to the other ticket. An INCOMING link describes how the other ticket is related to this ticket. RELATES_TO has no direction. */
export type LinkType = 'RELATES_TO' | 'DUPLICATES' | 'CAUSED_BY' | 'BLOCKS';

/** OUTGOING if the link was created on this ticket, and INCOMING if it was created on the other ticket. */
export type LinkDirection = 'OUTGOING' | 'INCOMING';

/** A link between two tickets, from the perspective of the ticket in the path. */
export interface Link {
  /** The identifier. It is unique within its resource type, never changes and is never reused. */
  id: number;
  /** How the ticket is related to the other ticket. An INCOMING link describes how the other ticket is related to this ticket. RELATES_TO has no direction. */
  type: Open<LinkType>;
  /** OUTGOING if the link was created on this ticket, and INCOMING if it was created on the other ticket. */
  direction: Open<LinkDirection>;
  /** The other ticket. */
  ticketId: number;
  /** The number of the other ticket. */
  ticketNumber: Open<TicketNumber>;
  /** When the link was created. Links never change. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  createdAt: string;
}

/** The page and the filters of a list of links. */
export interface LinkQuery {
  /** The page number, from 1. A page after the last page is empty. Default: 1. */
  page?: number | string | undefined;
  /** The number of items per page. 1 to 100. Default: 20. */
  perPage?: number | string | undefined;
}

/** A new link from the ticket in the path to another ticket. */
export interface NewLink {
  /** How the ticket is related to the other ticket. An INCOMING link describes how the other ticket is related to this ticket. RELATES_TO has no direction. */
  type: Open<LinkType>;
  /** The other ticket, by id or number such as `INC-17`. */
  ticketId: TicketReference;
}

/** The decision of the approver. PENDING until the approver decides. */
export type ApprovalDecision = 'PENDING' | 'APPROVED' | 'REJECTED';

/** The approval of a change by one user. */
export interface Approval {
  /** The identifier. It is unique within its resource type, never changes and is never reused. */
  id: number;
  /** The change to approve. */
  ticketId: number;
  /** The user who decides. */
  approverId: number;
  /** The user of the API key that requested the approval. */
  createdById: number;
  /** What the approver needs to know. At most 4096 bytes in UTF-8. 1 to 4096 characters. */
  note: string | null;
  /** The decision of the approver. PENDING until the approver decides. */
  decision: Open<ApprovalDecision>;
  /** The reason for the decision. At most 4096 bytes in UTF-8. 1 to 4096 characters. */
  comment: string | null;
  /** When the approver decided, or null while PENDING. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  decidedAt: string | null;
  /** When the resource was created. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  createdAt: string;
  /** When the approval, or what the approver decides about, last changed. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  updatedAt: string;
  /** The version of the approval. It also changes if the change that the approver decides about is edited. Read it before you read the ticket, and send it in `If-Match` with the decision. */
  etag: Etag;
}

/** The page and the filters of a list of approvals. */
export interface TicketApprovalQuery {
  /** The page number, from 1. A page after the last page is empty. Default: 1. */
  page?: number | string | undefined;
  /** The number of items per page. 1 to 100. Default: 20. */
  perPage?: number | string | undefined;
}

/** A request for an approval. */
export interface NewApproval {
  /** The user who decides, by id or email address: an active ADMIN or AGENT, also a service account. The requester of the ticket and the user of the API key can't approve. */
  approverId: UserReference;
  /** What the approver needs to know. At most 4096 bytes in UTF-8. 1 to 4096 characters. */
  note?: string | null | undefined;
}

/** The id or the email address of a user, or `me` for the user of the API key. */
export type Approver = number | `${string}@${string}` | 'me';

/** The page and the filters of a list of approvals. */
export interface ApprovalQuery {
  /** The page number, from 1. A page after the last page is empty. Default: 1. */
  page?: number | string | undefined;
  /** The number of items per page. 1 to 100. Default: 20. */
  perPage?: number | string | undefined;
  /** 1 to 100 items. */
  approverId?: Approver | readonly Approver[] | undefined;
  /** 1 to 100 items. */
  decision?: Open<ApprovalDecision> | readonly Open<ApprovalDecision>[] | undefined;
}

/** The decision of the approver. */
export interface Decision {
  /** The decision. The approver can change REJECTED to APPROVED later, but not APPROVED to REJECTED. */
  decision: 'APPROVED' | 'REJECTED';
  /** The reason for the decision. At most 4096 bytes in UTF-8. 1 to 4096 characters. */
  comment?: string | null | undefined;
}

/** The type of the asset. */
export type AssetType = 'LAPTOP' | 'DESKTOP' | 'SERVER' | 'MOBILE' | 'NETWORK' | 'PRINTER' | 'SOFTWARE' | 'OTHER';

/** The status of the asset. Every transition is allowed, except from DISPOSED, which is final. */
export type AssetStatus =
  | 'ON_ORDER'
  | 'IN_STOCK'
  | 'IN_TRANSIT'
  | 'IN_USE'
  | 'MAINTENANCE'
  | 'RETIRED'
  | 'DISPOSED'
  | 'LOST';

/** A device, a license or another item that the workspace manages. */
export interface Asset<Fields extends object = CustomFields> {
  /** The identifier. It is unique within its resource type, never changes and is never reused. */
  id: number;
  /** The name of the asset. 1 to 255 characters. */
  name: string;
  /** The inventory tag, unique in the workspace. It never changes. The server converts it to the normalization form NFC, and rejects invisible characters. 1 to 100 characters. */
  assetTag: string;
  /** The serial number, or null if unknown. The server converts it to the normalization form NFC, and rejects invisible characters. 1 to 255 characters. */
  serialNumber: string | null;
  /** The type of the asset. */
  type: Open<AssetType>;
  /** The status of the asset. Every transition is allowed, except from DISPOSED, which is final. */
  status: Open<AssetStatus>;
  /** The manufacturer, or null if unknown. 1 to 255 characters. */
  manufacturer: string | null;
  /** The model name, or null if unknown. 1 to 255 characters. */
  model: string | null;
  /** The location, as free text, or null if unknown. 1 to 255 characters. */
  location: string | null;
  /** The assigned user, or null if unassigned. You can assign only active users. */
  assignedToId: number | null;
  /** The date of purchase, or null if unknown. A date, `YYYY-MM-DD`. */
  purchaseDate: string | null;
  /** The purchase price as a decimal without currency, or null if unknown. In responses, it has two decimal places. */
  purchaseCost: string | null;
  /** When the warranty ends, or null if unknown. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  warrantyExpiresAt: string | null;
  /** Additional notes, or null if there are none. At most 65535 bytes in UTF-8. 1 to 65535 characters. */
  notes: string | null;
  /** The id of this resource in another system, or null if it has none. Unique in the workspace for each resource type. Once it is set, it never changes. 1 to 200 printable ASCII characters without spaces and commas. 1 to 200 characters. */
  externalId: string | null;
  /** The tags: at most 50. Responses list them in ascending order and without duplicates. At most 50 items. 1 to 50 characters. */
  tags: Tag[];
  /** The custom fields of the resource, by name. At most 50 keys and 16 KiB as JSON. */
  customFields: SomeFields<Fields>;
  /** When the resource was created. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  createdAt: string;
  /** When the resource last changed. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  updatedAt: string;
  /** The version of the resource, equal to the `ETag` header of its response. Send it back unchanged in `If-Match`. */
  etag: Etag;
}

/** The page and the filters of a list of assets. */
export interface AssetQuery<Fields extends object = CustomFields> {
  /** The page number, from 1. A page after the last page is empty. Default: 1. */
  page?: number | string | undefined;
  /** The number of items per page. 1 to 100. Default: 20. */
  perPage?: number | string | undefined;
  /** 1 to 100 items. */
  status?: Open<AssetStatus> | readonly Open<AssetStatus>[] | undefined;
  /** 1 to 100 items. */
  type?: Open<AssetType> | readonly Open<AssetType>[] | undefined;
  /** 1 to 100 items. */
  assignedToId?: UserReference | readonly UserReference[] | undefined;
  /** 1 to 100 items. 1 to 200 characters. */
  externalId?: string | readonly string[] | undefined;
  /** Exact values: repeat the parameter for several. A value can contain commas. 1 to 100 items. 1 to 400 characters. */
  assetTag?: string | readonly string[] | undefined;
  /** Exact values: repeat the parameter for several. A value can contain commas. 1 to 100 items. 1 to 1020 characters. */
  serialNumber?: string | readonly string[] | undefined;
  /** 1 to 100 items. 1 to 50 characters. */
  tag?: Tag | readonly Tag[] | undefined;
  /** Returns only items whose custom field has one of these values: `customFields[site]=berlin,bonn`. The field must be filterable (`GET /custom-fields`). One request can filter by 3 fields. */
  customFields?: FieldFilters<Fields> | undefined;
  /** Full-text search in name, asset tag and serial number. All words must match, ignoring case; the last word can be a prefix. 1 to 200 characters. */
  q?: string | undefined;
}

/** A new asset. */
export interface NewAsset<Fields extends object = CustomFields> {
  /** The name of the asset. 1 to 255 characters. */
  name: string;
  /** The inventory tag, unique in the workspace. It never changes. The server converts it to the normalization form NFC, and rejects invisible characters. 1 to 100 characters. */
  assetTag: string;
  /** The serial number, or null if unknown. The server converts it to the normalization form NFC, and rejects invisible characters. 1 to 255 characters. */
  serialNumber?: string | null | undefined;
  /** The type of the asset. */
  type: Open<AssetType>;
  /** The status. The default is IN_USE if `assignedToId` is set, otherwise IN_STOCK. */
  status?: Open<AssetStatus> | null | undefined;
  /** The manufacturer, or null if unknown. 1 to 255 characters. */
  manufacturer?: string | null | undefined;
  /** The model name, or null if unknown. 1 to 255 characters. */
  model?: string | null | undefined;
  /** The location, as free text, or null if unknown. 1 to 255 characters. */
  location?: string | null | undefined;
  /** The assigned user, by id or email address, or null if unassigned. You can assign only active users. */
  assignedToId?: UserReference | null | undefined;
  /** The date of purchase, or null if unknown. A date, `YYYY-MM-DD`. */
  purchaseDate?: string | null | undefined;
  /** The purchase price as a decimal without currency, or null if unknown. In responses, it has two decimal places. */
  purchaseCost?: string | null | undefined;
  /** When the warranty ends, or null if unknown. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  warrantyExpiresAt?: string | null | undefined;
  /** Additional notes, or null if there are none. At most 65535 bytes in UTF-8. 1 to 65535 characters. */
  notes?: string | null | undefined;
  /** The id of this resource in another system, or null if it has none. Unique in the workspace for each resource type. Once it is set, it never changes. 1 to 200 printable ASCII characters without spaces and commas. 1 to 200 characters. */
  externalId?: string | null | undefined;
  /** The tags: at most 50. Responses list them in ascending order and without duplicates. At most 50 items. 1 to 50 characters. */
  tags?: readonly Tag[] | null | undefined;
  /** The custom fields of the resource, by name. At most 50 keys and 16 KiB as JSON. */
  customFields?: Fields | null | undefined;
}

/** An asset as another system knows it. If the asset exists, the rules of `AssetPatch` apply: absent fields stay unchanged, and null clears a field. Otherwise, the rules of `NewAsset` apply. */
export interface AssetUpsertItem<Fields extends object = CustomFields> {
  /** The name of the asset. A new asset requires it. 1 to 255 characters. */
  name?: string | undefined;
  /** The inventory tag, unique in the workspace. It never changes. A new asset requires it. 1 to 100 characters. */
  assetTag?: string | undefined;
  /** The serial number, or null if unknown. The server converts it to the normalization form NFC, and rejects invisible characters. 1 to 255 characters. */
  serialNumber?: string | null | undefined;
  /** The type of the asset. A new asset requires it. */
  type?: Open<AssetType> | undefined;
  /** The status. If it is absent or null, an existing asset keeps its status, unless its assignee changes, and a new asset has the same default as in `NewAsset`. */
  status?: Open<AssetStatus> | null | undefined;
  /** The manufacturer, or null if unknown. 1 to 255 characters. */
  manufacturer?: string | null | undefined;
  /** The model name, or null if unknown. 1 to 255 characters. */
  model?: string | null | undefined;
  /** The location, as free text, or null if unknown. 1 to 255 characters. */
  location?: string | null | undefined;
  /** The assigned user, by id or email address, or null if unassigned. You can assign only active users. */
  assignedToId?: UserReference | null | undefined;
  /** The date of purchase, or null if unknown. A date, `YYYY-MM-DD`. */
  purchaseDate?: string | null | undefined;
  /** The purchase price as a decimal without currency, or null if unknown. In responses, it has two decimal places. */
  purchaseCost?: string | null | undefined;
  /** When the warranty ends, or null if unknown. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  warrantyExpiresAt?: string | null | undefined;
  /** Additional notes, or null if there are none. At most 65535 bytes in UTF-8. 1 to 65535 characters. */
  notes?: string | null | undefined;
  /** The id of this resource in another system, or null if it has none. Unique in the workspace for each resource type. Once it is set, it never changes. 1 to 200 printable ASCII characters without spaces and commas. 1 to 200 characters. */
  externalId?: string | null | undefined;
  /** The tags: at most 50. Responses list them in ascending order and without duplicates. At most 50 items. 1 to 50 characters. */
  tags?: readonly Tag[] | null | undefined;
  /** The server merges these fields into the existing custom fields. A value replaces the existing value, and null removes the key. The result has at most 50 keys and 16 KiB as JSON. */
  customFields?: SomeFields<Fields> | null | undefined;
}

/** The field by which the server finds the asset of an item. The default is `assetTag`. */
export type AssetMatch = 'assetTag' | 'externalId';

/** Changes to an asset. Absent fields stay unchanged, and null clears a field. If you assign an asset without a status, its status becomes IN_USE. If you unassign an asset that is IN_USE, its status becomes IN_STOCK. `assetTag` can't change. */
export interface AssetPatch<Fields extends object = CustomFields> {
  /** The name of the asset. 1 to 255 characters. */
  name?: string | undefined;
  /** The serial number, or null if unknown. The server converts it to the normalization form NFC, and rejects invisible characters. 1 to 255 characters. */
  serialNumber?: string | null | undefined;
  /** The type of the asset. */
  type?: Open<AssetType> | undefined;
  /** The status of the asset. Every transition is allowed, except from DISPOSED, which is final. */
  status?: Open<AssetStatus> | undefined;
  /** The manufacturer, or null if unknown. 1 to 255 characters. */
  manufacturer?: string | null | undefined;
  /** The model name, or null if unknown. 1 to 255 characters. */
  model?: string | null | undefined;
  /** The location, as free text, or null if unknown. 1 to 255 characters. */
  location?: string | null | undefined;
  /** The assigned user, by id or email address, or null if unassigned. You can assign only active users. */
  assignedToId?: UserReference | null | undefined;
  /** The date of purchase, or null if unknown. A date, `YYYY-MM-DD`. */
  purchaseDate?: string | null | undefined;
  /** The purchase price as a decimal without currency, or null if unknown. In responses, it has two decimal places. */
  purchaseCost?: string | null | undefined;
  /** When the warranty ends, or null if unknown. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  warrantyExpiresAt?: string | null | undefined;
  /** Additional notes, or null if there are none. At most 65535 bytes in UTF-8. 1 to 65535 characters. */
  notes?: string | null | undefined;
  /** The id of this resource in another system, or null if it has none. Unique in the workspace for each resource type. Once it is set, it never changes. 1 to 200 printable ASCII characters without spaces and commas. 1 to 200 characters. */
  externalId?: string | null | undefined;
  /** The new tags, which replace all tags. Not together with `addTags` or `removeTags`. At most 50 items. 1 to 50 characters. */
  tags?: readonly Tag[] | undefined;
  /** The tags to add. Two requests that add different tags never overwrite each other. At most 50 items. 1 to 50 characters. */
  addTags?: readonly Tag[] | undefined;
  /** The tags to remove, none of which is in `addTags`. At most 50 items. 1 to 50 characters. */
  removeTags?: readonly Tag[] | undefined;
  /** The server merges these fields into the existing custom fields. A value replaces the existing value, and null removes the key. The result has at most 50 keys and 16 KiB as JSON. */
  customFields?: SomeFields<Fields> | undefined;
}

/** PUBLISHED, or ARCHIVED if the article is no longer published. Only the change feed returns ARCHIVED. */
export type ArticleStatus = 'PUBLISHED' | 'ARCHIVED';

/** An article of the knowledge base without its text. */
export interface ArticleSummary {
  /** The identifier. It is unique within its resource type, never changes and is never reused. */
  id: number;
  /** The title, on one line. The server removes leading and trailing white space. 1 to 255 characters. */
  title: string;
  /** The category, as free text without commas, or null if the article has none. 1 to 100 characters. */
  category: string | null;
  /** PUBLISHED, or ARCHIVED if the article is no longer published. Only the change feed returns ARCHIVED. */
  status: Open<ArticleStatus>;
  /** When the resource was created. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  createdAt: string;
  /** When the resource last changed. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  updatedAt: string;
  /** The version of the resource, equal to the `ETag` header of its response. Send it back unchanged in `If-Match`. */
  etag: Etag;
}

/** The page and the filters of a list of articles. */
export interface ArticleSummaryQuery {
  /** The page number, from 1. A page after the last page is empty. Default: 1. */
  page?: number | string | undefined;
  /** The number of items per page. 1 to 100. Default: 20. */
  perPage?: number | string | undefined;
  /** 1 to 100 items. 1 to 100 characters. */
  category?: string | readonly string[] | undefined;
  /** Full-text search in title and body. All words must match, ignoring case; the last word can be a prefix. 1 to 200 characters. */
  q?: string | undefined;
}

/** An article of the knowledge base. */
export interface Article {
  /** The identifier. It is unique within its resource type, never changes and is never reused. */
  id: number;
  /** The title, on one line. The server removes leading and trailing white space. 1 to 255 characters. */
  title: string;
  /** The category, as free text without commas, or null if the article has none. 1 to 100 characters. */
  category: string | null;
  /** PUBLISHED, or ARCHIVED if the article is no longer published. Only the change feed returns ARCHIVED. */
  status: Open<ArticleStatus>;
  /** The text in Markdown, at most 256 KiB, or null if the article is no longer published. 1 to 262144 characters. */
  body: string | null;
  /** When the resource was created. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  createdAt: string;
  /** When the resource last changed. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  updatedAt: string;
  /** The version of the resource, equal to the `ETag` header of its response. Send it back unchanged in `If-Match`. */
  etag: Etag;
}

/** The `operationId` of the proposed request. */
export type ProposalOperation =
  | 'tickets_create'
  | 'tickets_update'
  | 'comments_create'
  | 'links_create'
  | 'assets_create'
  | 'assets_update'
  | 'assets_upsertMany'
  | 'tasks_create'
  | 'tasks_update'
  | 'requestForms_submit';

/** PENDING: no person has decided. STALE: a person accepted the proposal, but its changes would differ from the preview. EXPIRED: no person decided within 7 days. WITHDRAWN: the API key withdrew the proposal, or the key or its user was deactivated. */
export type ProposalStatus = 'PENDING' | 'ACCEPTED' | 'REJECTED' | 'STALE' | 'EXPIRED' | 'WITHDRAWN';

/** The type and the id of a resource. */
export type ProposalTarget = `${'TICKET' | 'ASSET' | 'PROJECT' | 'TASK'}:${number}`;

/** The changed fields, or the fields of the new resource, by name. They exclude ids, numbers, counts and times that the server sets, and `dueAt` if the request does not set it. */
export type ProposalChanges = Record<string, {
  /** The value before the change, or null in a new resource. */
  from: unknown;
  /** The value after the change. */
  to: unknown;
}>;

/** The changes of the request in one resource. */
export interface ProposalPreview {
  /** The type and the id of the resource that the request changes, or to which it adds something. Null if there is none. */
  target: Open<ProposalTarget> | null;
  /** The status of the target before the change, or null if there is no target. */
  status: string | null;
  /** The changed fields, or the fields of the new resource, by name. They exclude ids, numbers, counts and times that the server sets, and `dueAt` if the request does not set it. */
  changes: ProposalChanges;
}

/** The kind of error. Use this code, not the message, in programs. */
export type ErrorCode =
  | 'VALIDATION_ERROR'
  | 'INVALID_JSON'
  | 'UNSUPPORTED_MEDIA_TYPE'
  | 'PAYLOAD_TOO_LARGE'
  | 'INVALID_TRANSITION'
  | 'INVALID_REFERENCE'
  | 'EXTERNAL_ID_EXISTS'
  | 'QUOTA_EXCEEDED'
  | 'QUERY_TOO_BROAD'
  | 'INVALID_API_KEY'
  | 'INSUFFICIENT_SCOPE'
  | 'ADDRESS_NOT_ALLOWED'
  | 'NOT_FOUND'
  | 'IDEMPOTENCY_KEY_REUSED'
  | 'IDEMPOTENCY_IN_PROGRESS'
  | 'PRECONDITION_FAILED'
  | 'RATE_LIMIT_EXCEEDED'
  | 'INTERNAL_ERROR'
  | 'SERVICE_UNAVAILABLE';

/** One invalid field or parameter of the request. */
export interface ErrorDetail {
  /** The name of the field or parameter. In a nested path, dots separate the names: `tickets.0.title`. */
  path: string;
  /** What is wrong with the field or parameter. To form a sentence, put `path` before this text. */
  message: string;
  /** The existing resource that has the value. Present only with EXTERNAL_ID_EXISTS. */
  id?: number | undefined;
}

/** The reason why a proposal became STALE when a person accepted it. */
export interface ProposalResult {
  /** The changes of the request at the time of the decision, or null if the request failed. */
  preview: ProposalPreview[] | null;
  /** The error of the request at the time of the decision, or null. */
  error: {
    /** The kind of error. Use this code, not the message, in programs. */
    code: Open<ErrorCode>;
    /** Text for people: what is wrong and how to correct it. */
    message: string;
    /** The invalid fields and parameters, at most 20. Absent if the error concerns no field or parameter. At most 20 items. */
    details?: ErrorDetail[] | undefined;
  } | null;
}

/** A request that the server runs only after a person accepts it. */
export interface Proposal {
  /** The identifier. It is unique within its resource type, never changes and is never reused. */
  id: number;
  /** The `operationId` of the proposed request. */
  operation: Open<ProposalOperation>;
  /** The path parameters. Ids replace ticket numbers. */
  params: Record<string, unknown>;
  /** The body of the request. Ids replace ticket numbers and email addresses. Null if an administrator has redacted the ticket. */
  body: Record<string, unknown> | null;
  /** The reason for the change, shown to the person who decides. At most 4096 bytes in UTF-8. 1 to 4096 characters. */
  reason: string;
  /** The `etag` of the version that the proposal is based on, or null. */
  ifMatch: string | null;
  /** PENDING: no person has decided. STALE: a person accepted the proposal, but its changes would differ from the preview. EXPIRED: no person decided within 7 days. WITHDRAWN: the API key withdrew the proposal, or the key or its user was deactivated. */
  status: Open<ProposalStatus>;
  /** The type and the id of the resource that the request changes, or to which it adds something. Null if there is none, and for an upsert. */
  target: Open<ProposalTarget> | null;
  /** The changes of the request, in the order of its items. Empty if an administrator has redacted the ticket. */
  preview: ProposalPreview[];
  /** The reason why the proposal became STALE when a person accepted it, or null. */
  result: ProposalResult | null;
  /** The id of the created ticket, comment, link, asset or task, or null if the request has created nothing. */
  createdId: number | null;
  /** The reason for the decision. At most 4096 bytes in UTF-8. 1 to 4096 characters. */
  note: string | null;
  /** The user of the API key that proposed the request. */
  proposedById: number;
  /** The API key that proposed the request. */
  keyId: number;
  /** The user who decided, or null. */
  decidedById: number | null;
  /** When a pending proposal expires. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  expiresAt: string;
  /** When the proposal was decided, expired or was withdrawn. Null while it is pending. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  endedAt: string | null;
  /** When the resource was created. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  createdAt: string;
  /** When the resource last changed. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  updatedAt: string;
  /** The version of the resource, equal to the `ETag` header of its response. Send it back unchanged in `If-Match`. */
  etag: Etag;
}

/** The page and the filters of a list of proposals. */
export interface ProposalQuery {
  /** The page number, from 1. A page after the last page is empty. Default: 1. */
  page?: number | string | undefined;
  /** The number of items per page. 1 to 100. Default: 20. */
  perPage?: number | string | undefined;
  /** 1 to 100 items. */
  status?: Open<ProposalStatus> | readonly Open<ProposalStatus>[] | undefined;
  /** 1 to 100 items. */
  operation?: Open<ProposalOperation> | readonly Open<ProposalOperation>[] | undefined;
  /** 1 to 100 items. */
  target?: Open<ProposalTarget> | readonly Open<ProposalTarget>[] | undefined;
  /** 1 to 100 items. */
  proposedById?: UserReference | readonly UserReference[] | undefined;
}

/** The reason for the change, shown to the person who decides. At most 4096 bytes in UTF-8. */
export type ProposalReason = string;

/** A proposal of `tickets_create`. */
export interface ProposedTicketsCreate {
  /** The operation. */
  operation: 'tickets_create';
  /** A new ticket. Set `category`, `categoryConfigId` or both. */
  body: NewTicket;
  /** The reason for the change, shown to the person who decides. At most 4096 bytes in UTF-8. 1 to 4096 characters. */
  reason: ProposalReason;
}

/** The `etag` of the version that the proposal is based on. If the resource has another `etag` when a person accepts the proposal, the proposal becomes STALE. */
export type ProposalIfMatch = string;

/** A proposal of `tickets_update`. */
export interface ProposedTicketsUpdate {
  /** The operation. */
  operation: 'tickets_update';
  /** The path parameters. */
  params: {
    /** The id of a ticket, or its number such as `INC-17`. */
    id: TicketReference;
  };
  /** Changes to a ticket. Absent fields stay unchanged, and null clears a field. `type` can't change. */
  body: TicketPatch;
  /** The reason for the change, shown to the person who decides. At most 4096 bytes in UTF-8. 1 to 4096 characters. */
  reason: ProposalReason;
  /** The `etag` of the version that the proposal is based on. If the resource has another `etag` when a person accepts the proposal, the proposal becomes STALE. At most 200 characters. */
  ifMatch?: ProposalIfMatch | undefined;
}

/** A proposal of `comments_create`. */
export interface ProposedCommentsCreate {
  /** The operation. */
  operation: 'comments_create';
  /** The path parameters. */
  params: {
    /** The id of a ticket, or its number such as `INC-17`. */
    id: TicketReference;
  };
  /** A new comment. */
  body: NewComment;
  /** The reason for the change, shown to the person who decides. At most 4096 bytes in UTF-8. 1 to 4096 characters. */
  reason: ProposalReason;
}

/** A proposal of `links_create`. */
export interface ProposedLinksCreate {
  /** The operation. */
  operation: 'links_create';
  /** The path parameters. */
  params: {
    /** The id of a ticket, or its number such as `INC-17`. */
    id: TicketReference;
  };
  /** A new link from the ticket in the path to another ticket. */
  body: NewLink;
  /** The reason for the change, shown to the person who decides. At most 4096 bytes in UTF-8. 1 to 4096 characters. */
  reason: ProposalReason;
}

/** A proposal of `assets_create`. */
export interface ProposedAssetsCreate {
  /** The operation. */
  operation: 'assets_create';
  /** A new asset. */
  body: NewAsset;
  /** The reason for the change, shown to the person who decides. At most 4096 bytes in UTF-8. 1 to 4096 characters. */
  reason: ProposalReason;
}

/** A proposal of `assets_update`. */
export interface ProposedAssetsUpdate {
  /** The operation. */
  operation: 'assets_update';
  /** The path parameters. */
  params: {
    /** The identifier. It is unique within its resource type, never changes and is never reused. */
    id: number | string;
  };
  /** Changes to an asset. Absent fields stay unchanged, and null clears a field. If you assign an asset without a status, its status becomes IN_USE. If you unassign an asset that is IN_USE, its status becomes IN_STOCK. `assetTag` can't change. */
  body: AssetPatch;
  /** The reason for the change, shown to the person who decides. At most 4096 bytes in UTF-8. 1 to 4096 characters. */
  reason: ProposalReason;
  /** The `etag` of the version that the proposal is based on. If the resource has another `etag` when a person accepts the proposal, the proposal becomes STALE. At most 200 characters. */
  ifMatch?: ProposalIfMatch | undefined;
}

/** The assets to create or update, each with a different value in the field that `matchBy` names. */
export interface AssetUpsert {
  /** The items. The server processes them in this order. Each item succeeds or fails independently. 1 to 100 items. */
  assets: readonly AssetUpsertItem[];
  /** The field by which the server finds the asset of an item. The default is `assetTag`. */
  matchBy?: Open<AssetMatch> | undefined;
}

/** A proposal of `assets_upsertMany`. */
export interface ProposedAssetsUpsertMany {
  /** The operation. */
  operation: 'assets_upsertMany';
  /** The assets to create or update, each with a different value in the field that `matchBy` names. */
  body: AssetUpsert;
  /** The reason for the change, shown to the person who decides. At most 4096 bytes in UTF-8. 1 to 4096 characters. */
  reason: ProposalReason;
}

/** A new task in a project. */
export interface NewTask {
  /** The title, on one line. The server removes leading and trailing white space. 1 to 255 characters. */
  title: string;
  /** The full description. At most 65535 bytes in UTF-8. 1 to 65535 characters. */
  description?: string | null | undefined;
  /** The priority. The default is MEDIUM. */
  priority?: Open<Priority> | null | undefined;
  /** The assigned user, by id or email address, or null if unassigned. You can assign only active users. */
  assigneeId?: UserReference | null | undefined;
  /** The start date, or null if not set. A date, `YYYY-MM-DD`. */
  startDate?: string | null | undefined;
  /** The due date, or null if not set. A date, `YYYY-MM-DD`. */
  dueDate?: string | null | undefined;
}

/** A proposal of `tasks_create`. */
export interface ProposedTasksCreate {
  /** The operation. */
  operation: 'tasks_create';
  /** The path parameters. */
  params: {
    /** The identifier. It is unique within its resource type, never changes and is never reused. */
    id: number | string;
  };
  /** A new task in a project. */
  body: NewTask;
  /** The reason for the change, shown to the person who decides. At most 4096 bytes in UTF-8. 1 to 4096 characters. */
  reason: ProposalReason;
}

/** The status of the task. New tasks are TODO. Every transition is allowed. */
export type TaskStatus = 'TODO' | 'IN_PROGRESS' | 'BLOCKED' | 'DONE' | 'CANCELLED';

/** Changes to a task. Absent fields stay unchanged, and null clears a field. */
export interface TaskPatch {
  /** The title, on one line. The server removes leading and trailing white space. 1 to 255 characters. */
  title?: string | undefined;
  /** The full description. At most 65535 bytes in UTF-8. 1 to 65535 characters. */
  description?: string | null | undefined;
  /** The status of the task. New tasks are TODO. Every transition is allowed. */
  status?: Open<TaskStatus> | undefined;
  /** The priority of a ticket, project or task. */
  priority?: Open<Priority> | undefined;
  /** The assigned user, by id or email address, or null if unassigned. You can assign only active users. */
  assigneeId?: UserReference | null | undefined;
  /** The start date, or null if not set. A date, `YYYY-MM-DD`. */
  startDate?: string | null | undefined;
  /** The due date, or null if not set. A date, `YYYY-MM-DD`. */
  dueDate?: string | null | undefined;
}

/** A proposal of `tasks_update`. */
export interface ProposedTasksUpdate {
  /** The operation. */
  operation: 'tasks_update';
  /** The path parameters. */
  params: {
    /** The identifier. It is unique within its resource type, never changes and is never reused. */
    taskId: number | string;
  };
  /** Changes to a task. Absent fields stay unchanged, and null clears a field. */
  body: TaskPatch;
  /** The reason for the change, shown to the person who decides. At most 4096 bytes in UTF-8. 1 to 4096 characters. */
  reason: ProposalReason;
  /** The `etag` of the version that the proposal is based on. If the resource has another `etag` when a person accepts the proposal, the proposal becomes STALE. At most 200 characters. */
  ifMatch?: ProposalIfMatch | undefined;
}

/** The answers, by field key, as `schema` of the form describes. Omit fields without an answer. */
export type RequestFormAnswers = Record<string, CustomFieldValue>;

/** The answers to the questions of a form, and optional fields of the ticket. */
export interface RequestFormSubmission<Answers = RequestFormAnswers> {
  /** The answers, by field key, as `schema` of the form describes. Omit fields without an answer. */
  answers: Answers;
  /** The title. By default, the server creates it from the form and the answers. 1 to 255 characters. */
  title?: string | null | undefined;
  /** The full description. By default, it has a line such as `Site: Berlin` for each answer. 1 to 65535 characters. */
  description?: string | null | undefined;
  /** The user who requests the ticket, by id or email address. The default is the user of the API key. */
  requesterId?: UserReference | null | undefined;
  /** The id of this resource in another system, or null if it has none. Unique in the workspace for each resource type. Once it is set, it never changes. 1 to 200 printable ASCII characters without spaces and commas. 1 to 200 characters. */
  externalId?: string | null | undefined;
  /** The users who watch the ticket: at most 100 ids or email addresses. Responses list the ids in ascending order. You can add only active users. */
  watcherUserIds?: readonly UserReference[] | null | undefined;
  /** The assets that the ticket concerns: at most 50 ids. Responses list them in ascending order. */
  assetIds?: readonly number[] | null | undefined;
}

/** A proposal of `requestForms_submit`. */
export interface ProposedRequestFormsSubmit {
  /** The operation. */
  operation: 'requestForms_submit';
  /** The path parameters. */
  params: {
    /** The key of the request form. It never changes. At most 40 characters. */
    key: string;
  };
  /** The answers to the questions of a form, and optional fields of the ticket. */
  body: RequestFormSubmission;
  /** The reason for the change, shown to the person who decides. At most 4096 bytes in UTF-8. 1 to 4096 characters. */
  reason: ProposalReason;
}

/** A request that the server runs if a person accepts it. */
export type NewProposal = ProposedTicketsCreate | ProposedTicketsUpdate | ProposedCommentsCreate | ProposedLinksCreate | ProposedAssetsCreate | ProposedAssetsUpdate | ProposedAssetsUpsertMany | ProposedTasksCreate | ProposedTasksUpdate | ProposedRequestFormsSubmit;

/** The decision about a proposal. */
export interface ProposalDecision {
  /** The decision. */
  decision: 'ACCEPTED' | 'REJECTED';
  /** The reason for the decision. At most 4096 bytes in UTF-8. 1 to 4096 characters. */
  note?: string | null | undefined;
}

/** The action on the resource. */
export type ActivityAction = 'CREATED' | 'UPDATED' | 'COMMENTED';

/** The user and the API key that performed the action, or null for an action on the command line. */
export type Actor = {
  /** The user of the API key, or the user who was signed in to the developer area. */
  userId: number;
  /** The API key, or null if the action used no API key. */
  keyId: number | null;
  /** Present in activities if the API key is an import key. */
  import?: true | undefined;
} | null;

/** A link that was created or deleted, from the perspective of the changed ticket. */
export interface ChangedLink {
  /** How the ticket is related to the other ticket. An INCOMING link describes how the other ticket is related to this ticket. RELATES_TO has no direction. */
  type: Open<LinkType>;
  /** OUTGOING if the link was created on this ticket, and INCOMING if it was created on the other ticket. */
  direction: Open<LinkDirection>;
  /** The number of the other ticket. */
  ticketNumber: Open<TicketNumber>;
}

/** An attachment that was added or deleted. */
export interface ChangedAttachment {
  /** The identifier. It is unique within its resource type, never changes and is never reused. */
  id: number;
  /** The name of the file, without a path. 1 to 255 characters. */
  name: string;
}

/** An approval before or after a change of the ticket. */
export interface ChangedApproval {
  /** The identifier. It is unique within its resource type, never changes and is never reused. */
  id: number;
  /** The user who decides. */
  approverId: number;
  /** The decision of the approver. PENDING until the approver decides. */
  decision: Open<ApprovalDecision>;
}

/** The changed fields of a ticket. `updatedAt` always changes and is not included. */
export type TicketChanges = Record<string, {
  /** The value before the change. */
  from: unknown;
  /** The value after the change. */
  to: unknown;
}> & {
  /** The change to `title`. Absent if unchanged. */
  title?: {
    /** The value before the change. 1 to 255 characters. */
    from: string;
    /** The value after the change. 1 to 255 characters. */
    to: string;
  } | undefined;
  /** The change to `description`. Absent if unchanged. */
  description?: {
    /** The value before the change. 1 to 65535 characters. */
    from: string;
    /** The value after the change. 1 to 65535 characters. */
    to: string;
  } | undefined;
  /** The change to `status`. Absent if unchanged. */
  status?: {
    /** The value before the change. */
    from: Open<TicketStatus>;
    /** The value after the change. */
    to: Open<TicketStatus>;
  } | undefined;
  /** The change to `priority`. Absent if unchanged. */
  priority?: {
    /** The value before the change. */
    from: Open<Priority>;
    /** The value after the change. */
    to: Open<Priority>;
  } | undefined;
  /** The change to `category`. Absent if unchanged. */
  category?: {
    /** The value before the change. */
    from: Open<TicketCategory> | null;
    /** The value after the change. */
    to: Open<TicketCategory> | null;
  } | undefined;
  /** The change to `categoryConfigId`. Absent if unchanged. */
  categoryConfigId?: {
    /** The value before the change. 1 to 255 characters. */
    from: string | null;
    /** The value after the change. 1 to 255 characters. */
    to: string | null;
  } | undefined;
  /** The change to `assigneeId`. Absent if unchanged. */
  assigneeId?: {
    /** The value before the change. */
    from: number | null;
    /** The value after the change. */
    to: number | null;
  } | undefined;
  /** The change to `teamId`. Absent if unchanged. */
  teamId?: {
    /** The value before the change. */
    from: number | null;
    /** The value after the change. */
    to: number | null;
  } | undefined;
  /** The change to `watcherUserIds`. Absent if unchanged. */
  watcherUserIds?: {
    /** The value before the change. */
    from: number[];
    /** The value after the change. */
    to: number[];
  } | undefined;
  /** The change to `assetIds`. Absent if unchanged. */
  assetIds?: {
    /** The value before the change. */
    from: number[];
    /** The value after the change. */
    to: number[];
  } | undefined;
  /** The change to `tags`. Absent if unchanged. */
  tags?: {
    /** The value before the change. At most 50 items. 1 to 50 characters. */
    from: Tag[];
    /** The value after the change. At most 50 items. 1 to 50 characters. */
    to: Tag[];
  } | undefined;
  /** The change to `parentId`. Absent if unchanged. */
  parentId?: {
    /** The value before the change. */
    from: number | null;
    /** The value after the change. */
    to: number | null;
  } | undefined;
  /** The change to `externalId`. Absent if unchanged. */
  externalId?: {
    /** The value before the change. 1 to 200 characters. */
    from: string | null;
    /** The value after the change. 1 to 200 characters. */
    to: string | null;
  } | undefined;
  /** The change to `customFields`. Absent if unchanged. */
  customFields?: {
    /** The value before the change. */
    from: CustomFields;
    /** The value after the change. */
    to: CustomFields;
  } | undefined;
  /** The change to `resolution`. Absent if unchanged. */
  resolution?: {
    /** The value before the change. 1 to 65535 characters. */
    from: string | null;
    /** The value after the change. 1 to 65535 characters. */
    to: string | null;
  } | undefined;
  /** The change to `resolvedAt`. Absent if unchanged. */
  resolvedAt?: {
    /** The value before the change. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
    from: string | null;
    /** The value after the change. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
    to: string | null;
  } | undefined;
  /** The change to `closedAt`. Absent if unchanged. */
  closedAt?: {
    /** The value before the change. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
    from: string | null;
    /** The value after the change. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
    to: string | null;
  } | undefined;
  /** The change to `dueAt`. Absent if unchanged. */
  dueAt?: {
    /** The value before the change. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
    from: string | null;
    /** The value after the change. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
    to: string | null;
  } | undefined;
  /** The change to `firstResponseDueAt`. Absent if unchanged. */
  firstResponseDueAt?: {
    /** The value before the change. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
    from: string | null;
    /** The value after the change. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
    to: string | null;
  } | undefined;
  /** The change to `plannedStartAt`. Absent if unchanged. */
  plannedStartAt?: {
    /** The value before the change. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
    from: string | null;
    /** The value after the change. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
    to: string | null;
  } | undefined;
  /** The change to `plannedEndAt`. Absent if unchanged. */
  plannedEndAt?: {
    /** The value before the change. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
    from: string | null;
    /** The value after the change. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
    to: string | null;
  } | undefined;
  /** The change to `approvalStatus`. Absent if unchanged. */
  approvalStatus?: {
    /** The value before the change. */
    from: Open<ApprovalStatus>;
    /** The value after the change. */
    to: Open<ApprovalStatus>;
  } | undefined;
  /** The change to `firstRespondedAt`. Absent if unchanged. */
  firstRespondedAt?: {
    /** The value before the change. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
    from: string | null;
    /** The value after the change. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
    to: string | null;
  } | undefined;
  /** The change to `redactedAt`. Absent if unchanged. */
  redactedAt?: {
    /** The value before the change. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
    from: string | null;
    /** The value after the change. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
    to: string | null;
  } | undefined;
  /** The change to `commentCount`. Absent if unchanged. */
  commentCount?: {
    /** The value before the change. */
    from: number;
    /** The value after the change. */
    to: number;
  } | undefined;
  /** The change to `attachmentCount`. Absent if unchanged. */
  attachmentCount?: {
    /** The value before the change. */
    from: number;
    /** The value after the change. */
    to: number;
  } | undefined;
  /** The change to `linkCount`. Absent if unchanged. */
  linkCount?: {
    /** The value before the change. */
    from: number;
    /** The value after the change. */
    to: number;
  } | undefined;
  /** The change to `links`. Absent if unchanged. */
  links?: {
    /** The value before the change. */
    from: ChangedLink | null;
    /** The value after the change. */
    to: ChangedLink | null;
  } | undefined;
  /** The change to `attachments`. Absent if unchanged. */
  attachments?: {
    /** The value before the change. */
    from: ChangedAttachment | null;
    /** The value after the change. */
    to: ChangedAttachment | null;
  } | undefined;
  /** The change to `approvals`. Absent if unchanged. */
  approvals?: {
    /** The value before the change. */
    from: ChangedApproval[];
    /** The value after the change. */
    to: ChangedApproval[];
  } | undefined;
};

/** An action on a ticket. */
export interface TicketActivity {
  /** The identifier. It is unique within its resource type, never changes and is never reused. */
  id: number;
  /** The ticket. */
  ticketId: number;
  /** When the action occurred. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  at: string;
  /** The action on the resource. */
  action: Open<ActivityAction>;
  /** The user and the API key that performed the action, or null for an action on the command line. */
  actor: Actor;
  /** The changed fields, in the same form as in events. Empty for the action CREATED. Text with more than 1000 characters is cut and ends with `…`. `customFields` has only the changed keys, and the 1000 characters are divided equally among them. A list in `customFields` that exceeds its share becomes a string: the start of its JSON, then `…`. */
  changes: TicketChanges;
}

/** The page and the filters of a list of activities. */
export interface TicketActivityQuery {
  /** The page number, from 1. A page after the last page is empty. Default: 1. */
  page?: number | string | undefined;
  /** The number of items per page. 1 to 100. Default: 20. */
  perPage?: number | string | undefined;
}

/** The changed fields of an asset. `updatedAt` always changes and is not included. */
export type AssetChanges = Record<string, {
  /** The value before the change. */
  from: unknown;
  /** The value after the change. */
  to: unknown;
}> & {
  /** The change to `name`. Absent if unchanged. */
  name?: {
    /** The value before the change. 1 to 255 characters. */
    from: string;
    /** The value after the change. 1 to 255 characters. */
    to: string;
  } | undefined;
  /** The change to `serialNumber`. Absent if unchanged. */
  serialNumber?: {
    /** The value before the change. 1 to 255 characters. */
    from: string | null;
    /** The value after the change. 1 to 255 characters. */
    to: string | null;
  } | undefined;
  /** The change to `type`. Absent if unchanged. */
  type?: {
    /** The value before the change. */
    from: Open<AssetType>;
    /** The value after the change. */
    to: Open<AssetType>;
  } | undefined;
  /** The change to `status`. Absent if unchanged. */
  status?: {
    /** The value before the change. */
    from: Open<AssetStatus>;
    /** The value after the change. */
    to: Open<AssetStatus>;
  } | undefined;
  /** The change to `manufacturer`. Absent if unchanged. */
  manufacturer?: {
    /** The value before the change. 1 to 255 characters. */
    from: string | null;
    /** The value after the change. 1 to 255 characters. */
    to: string | null;
  } | undefined;
  /** The change to `model`. Absent if unchanged. */
  model?: {
    /** The value before the change. 1 to 255 characters. */
    from: string | null;
    /** The value after the change. 1 to 255 characters. */
    to: string | null;
  } | undefined;
  /** The change to `location`. Absent if unchanged. */
  location?: {
    /** The value before the change. 1 to 255 characters. */
    from: string | null;
    /** The value after the change. 1 to 255 characters. */
    to: string | null;
  } | undefined;
  /** The change to `assignedToId`. Absent if unchanged. */
  assignedToId?: {
    /** The value before the change. */
    from: number | null;
    /** The value after the change. */
    to: number | null;
  } | undefined;
  /** The change to `purchaseDate`. Absent if unchanged. */
  purchaseDate?: {
    /** The value before the change. A date, `YYYY-MM-DD`. */
    from: string | null;
    /** The value after the change. A date, `YYYY-MM-DD`. */
    to: string | null;
  } | undefined;
  /** The change to `purchaseCost`. Absent if unchanged. */
  purchaseCost?: {
    /** The value before the change. */
    from: string | null;
    /** The value after the change. */
    to: string | null;
  } | undefined;
  /** The change to `warrantyExpiresAt`. Absent if unchanged. */
  warrantyExpiresAt?: {
    /** The value before the change. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
    from: string | null;
    /** The value after the change. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
    to: string | null;
  } | undefined;
  /** The change to `notes`. Absent if unchanged. */
  notes?: {
    /** The value before the change. 1 to 65535 characters. */
    from: string | null;
    /** The value after the change. 1 to 65535 characters. */
    to: string | null;
  } | undefined;
  /** The change to `externalId`. Absent if unchanged. */
  externalId?: {
    /** The value before the change. 1 to 200 characters. */
    from: string | null;
    /** The value after the change. 1 to 200 characters. */
    to: string | null;
  } | undefined;
  /** The change to `tags`. Absent if unchanged. */
  tags?: {
    /** The value before the change. At most 50 items. 1 to 50 characters. */
    from: Tag[];
    /** The value after the change. At most 50 items. 1 to 50 characters. */
    to: Tag[];
  } | undefined;
  /** The change to `customFields`. Absent if unchanged. */
  customFields?: {
    /** The value before the change. */
    from: CustomFields;
    /** The value after the change. */
    to: CustomFields;
  } | undefined;
};

/** An action on an asset. */
export interface AssetActivity {
  /** The identifier. It is unique within its resource type, never changes and is never reused. */
  id: number;
  /** The asset. */
  assetId: number;
  /** When the action occurred. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  at: string;
  /** The action on the resource. */
  action: Open<ActivityAction>;
  /** The user and the API key that performed the action, or null for an action on the command line. */
  actor: Actor;
  /** The changed fields, in the same form as in events. Empty for the action CREATED. Text with more than 1000 characters is cut and ends with `…`. `customFields` has only the changed keys, and the 1000 characters are divided equally among them. A list in `customFields` that exceeds its share becomes a string: the start of its JSON, then `…`. */
  changes: AssetChanges;
}

/** The page and the filters of a list of activities. */
export interface AssetActivityQuery {
  /** The page number, from 1. A page after the last page is empty. Default: 1. */
  page?: number | string | undefined;
  /** The number of items per page. 1 to 100. Default: 20. */
  perPage?: number | string | undefined;
}

/** The status of the project. */
export type ProjectStatus = 'PLANNED' | 'ACTIVE' | 'ON_HOLD' | 'COMPLETED' | 'CANCELLED';

/** A project. List its tasks with `GET /projects/{id}/tasks`. */
export interface Project {
  /** The identifier. It is unique within its resource type, never changes and is never reused. */
  id: number;
  /** The short name of the project, unique in the workspace. */
  key: string;
  /** The name of the project. 1 to 255 characters. */
  name: string;
  /** The full description. At most 65535 bytes in UTF-8. 1 to 65535 characters. */
  description: string | null;
  /** The status of the project. */
  status: Open<ProjectStatus>;
  /** The priority of a ticket, project or task. */
  priority: Open<Priority>;
  /** The user who leads the project, or null if there is none. */
  managerId: number | null;
  /** The start date, or null if not set. A date, `YYYY-MM-DD`. */
  startDate: string | null;
  /** The end date, or null if not set. A date, `YYYY-MM-DD`. */
  endDate: string | null;
  /** When the resource was created. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  createdAt: string;
  /** When the resource last changed. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  updatedAt: string;
  /** The version of the resource, equal to the `ETag` header of its response. Send it back unchanged in `If-Match`. */
  etag: Etag;
}

/** The page and the filters of a list of projects. */
export interface ProjectQuery {
  /** The page number, from 1. A page after the last page is empty. Default: 1. */
  page?: number | string | undefined;
  /** The number of items per page. 1 to 100. Default: 20. */
  perPage?: number | string | undefined;
  /** 1 to 100 items. */
  status?: Open<ProjectStatus> | readonly Open<ProjectStatus>[] | undefined;
  /** Full-text search in key, name and description. All words must match, ignoring case; the last word can be a prefix. 1 to 200 characters. */
  q?: string | undefined;
}

/** A task of a project. */
export interface Task {
  /** The identifier. It is unique within its resource type, never changes and is never reused. */
  id: number;
  /** The project of the task. A task never moves to another project. */
  projectId: number;
  /** The title, on one line. The server removes leading and trailing white space. 1 to 255 characters. */
  title: string;
  /** The full description. At most 65535 bytes in UTF-8. 1 to 65535 characters. */
  description: string | null;
  /** The status of the task. New tasks are TODO. Every transition is allowed. */
  status: Open<TaskStatus>;
  /** The priority of a ticket, project or task. */
  priority: Open<Priority>;
  /** The assigned user, or null if unassigned. You can assign only active users. */
  assigneeId: number | null;
  /** The start date, or null if not set. A date, `YYYY-MM-DD`. */
  startDate: string | null;
  /** The due date, or null if not set. A date, `YYYY-MM-DD`. */
  dueDate: string | null;
  /** When the status became DONE, or null if it is not DONE. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  completedAt: string | null;
  /** When the resource was created. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  createdAt: string;
  /** When the resource last changed. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  updatedAt: string;
  /** The version of the resource, equal to the `ETag` header of its response. Send it back unchanged in `If-Match`. */
  etag: Etag;
}

/** The page and the filters of a list of tasks. */
export interface TaskQuery {
  /** The page number, from 1. A page after the last page is empty. Default: 1. */
  page?: number | string | undefined;
  /** The number of items per page. 1 to 100. Default: 20. */
  perPage?: number | string | undefined;
  /** 1 to 100 items. */
  status?: Open<TaskStatus> | readonly Open<TaskStatus>[] | undefined;
  /** 1 to 100 items. */
  priority?: Open<Priority> | readonly Open<Priority>[] | undefined;
  /** 1 to 100 items. */
  assigneeId?: UserReference | readonly UserReference[] | undefined;
  /** Full-text search in title and description. All words must match, ignoring case; the last word can be a prefix. 1 to 200 characters. */
  q?: string | undefined;
}

/** The page and the filters of a list of users. */
export interface UserQuery {
  /** The page number, from 1. A page after the last page is empty. Default: 1. */
  page?: number | string | undefined;
  /** The number of items per page. 1 to 100. Default: 20. */
  perPage?: number | string | undefined;
  /** 1 to 100 items. */
  role?: Open<UserRole> | readonly Open<UserRole>[] | undefined;
  /** 1 to 100 items. */
  active?: boolean | 'true' | 'false' | readonly (boolean | 'true' | 'false')[] | undefined;
  /** 1 to 100 items. 1 to 254 characters. */
  email?: string | readonly string[] | undefined;
  /** Full-text search in name and email address. All words must match, ignoring case; the last word can be a prefix. 1 to 200 characters. */
  q?: string | undefined;
}

/** A team of users, which tickets can belong to. */
export interface Team {
  /** The identifier. It is unique within its resource type, never changes and is never reused. */
  id: number;
  /** The name of the team, unique in the workspace regardless of case, also among inactive teams. 1 to 100 characters. */
  name: string;
  /** What the team does, or null if not set. 1 to 1000 characters. */
  description: string | null;
  /** Whether the team is active. You can set only active teams as the team of a ticket. */
  active: boolean;
  /** The users in the team, in ascending order: at most 500 ids. Inactive users stay members. */
  memberIds: number[];
  /** When the resource was created. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  createdAt: string;
  /** When the resource last changed. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  updatedAt: string;
  /** The version of the resource, equal to the `ETag` header of its response. Send it back unchanged in `If-Match`. */
  etag: Etag;
}

/** The page and the filters of a list of teams. */
export interface TeamQuery {
  /** The page number, from 1. A page after the last page is empty. Default: 1. */
  page?: number | string | undefined;
  /** The number of items per page. 1 to 100. Default: 20. */
  perPage?: number | string | undefined;
  /** 1 to 100 items. */
  active?: boolean | 'true' | 'false' | readonly (boolean | 'true' | 'false')[] | undefined;
}

/** The resource whose custom fields a definition describes. */
export type CustomFieldResource = 'TICKET' | 'ASSET';

/** The type of the values: a string, a number, a boolean, a date such as `2026-11-20`, the value of an option, an array of different values of options, or the id of a user. */
export type CustomFieldType = 'TEXT' | 'NUMBER' | 'BOOLEAN' | 'DATE' | 'SELECT' | 'MULTI_SELECT' | 'USER';

/** A value that a custom field can have. */
export interface CustomFieldOption {
  /** The value that a ticket or an asset stores. It never changes, and has no commas. 1 to 100 characters. */
  value: string;
  /** The name of the value for people. 1 to 100 characters. */
  label: string;
  /** Whether requests can set the value. Stored values stay. */
  active: boolean;
}

/** The type and the rules of a custom field of tickets or assets. */
export interface CustomFieldDefinition {
  /** The name of the custom field. It never changes. */
  key: string;
  /** The resource whose custom fields a definition describes. */
  resource: Open<CustomFieldResource>;
  /** The type of the values. It never changes. */
  type: Open<CustomFieldType>;
  /** The name of the field for people. 1 to 100 characters. */
  label: string;
  /** What the field means, or null if not set. 1 to 1000 characters. */
  description: string | null;
  /** The values that the field can have. Null unless the type is `SELECT` or `MULTI_SELECT`. */
  options: CustomFieldOption[] | null;
  /** Whether a new ticket or asset must have a value. Imports and changes of existing ones need no value. */
  required: boolean;
  /** Whether lists have the filter `customFields[key]`. Possible for `SELECT`, `MULTI_SELECT`, `BOOLEAN` and `USER`. */
  filterable: boolean;
  /** Whether the server checks values. It accepts any value of an inactive field. */
  active: boolean;
  /** The number of stored values that a request could no longer set. The server counts them every night. */
  nonconforming: number;
  /** When the resource was created. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  createdAt: string;
  /** When the resource last changed. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  updatedAt: string;
  /** The version of the resource, equal to the `ETag` header of its response. Send it back unchanged in `If-Match`. */
  etag: Etag;
}

/** The page and the filters of a list of fields. */
export interface CustomFieldDefinitionQuery {
  /** The page number, from 1. A page after the last page is empty. Default: 1. */
  page?: number | string | undefined;
  /** The number of items per page. 1 to 100. Default: 20. */
  perPage?: number | string | undefined;
  /** 1 to 100 items. */
  resource?: Open<CustomFieldResource> | readonly Open<CustomFieldResource>[] | undefined;
}

/** A category of tickets that the workspace defines. */
export interface CategoryConfig {
  /** The id that an administrator chose. It never changes. `categoryConfigId` of a ticket contains it. 1 to 255 characters. */
  id: string;
  /** The name of the category. 1 to 100 characters. */
  name: string;
  /** The id of the category above this one, or null on the first of up to 3 levels. 1 to 255 characters. */
  parentId: string | null;
  /** The value of `category` that this category refines, or null. A new ticket gets it if its request contains `categoryConfigId`, but not `category`. */
  category: Open<TicketCategory> | null;
  /** Whether the category is active. Requests can set only active categories. */
  active: boolean;
  /** When the resource was created. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  createdAt: string;
  /** When the resource last changed. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  updatedAt: string;
  /** The version of the resource, equal to the `ETag` header of its response. Send it back unchanged in `If-Match`. */
  etag: Etag;
}

/** The page and the filters of a list of ticketCategories. */
export interface CategoryConfigQuery {
  /** The page number, from 1. A page after the last page is empty. Default: 1. */
  page?: number | string | undefined;
  /** The number of items per page. 1 to 100. Default: 20. */
  perPage?: number | string | undefined;
}

/** A day of the week. */
export type Weekday = 'MONDAY' | 'TUESDAY' | 'WEDNESDAY' | 'THURSDAY' | 'FRIDAY' | 'SATURDAY' | 'SUNDAY';

/** A time of the week in which the workspace is open. */
export interface BusinessInterval {
  /** The day on which the interval begins. */
  weekday: Open<Weekday>;
  /** When the interval begins, in the time zone of the calendar. */
  opens: string;
  /** When the interval ends. If this time is before `opens`, the interval ends on the next day. */
  closes: string;
}

/** A day on which no interval begins. */
export interface Holiday {
  /** The day. A date, `YYYY-MM-DD`. */
  date: string;
  /** The name of the holiday, or null. 1 to 100 characters. */
  name: string | null;
}

/** When the workspace is open. */
export interface BusinessCalendar {
  /** The IANA time zone of all times and days. */
  timeZone: string;
  /** The times of the week in which the workspace is open. They can overlap. */
  intervals: BusinessInterval[];
  /** The days on which no interval begins, in order. At most 400 items. */
  holidays: Holiday[];
}

/** The minutes of each priority, or null for a priority without a target. */
export interface TargetMinutes {
  /** The minutes for LOW tickets, or null for no target. 1 to 525600. */
  LOW: number | null;
  /** The minutes for MEDIUM tickets, or null for no target. 1 to 525600. */
  MEDIUM: number | null;
  /** The minutes for HIGH tickets, or null for no target. 1 to 525600. */
  HIGH: number | null;
  /** The minutes for CRITICAL tickets, or null for no target. 1 to 525600. */
  CRITICAL: number | null;
}

/** The targets for new tickets, and for tickets whose priority changes. */
export interface Targets {
  /** The open time from `createdAt` to `firstResponseDueAt`, in minutes. */
  firstResponse: TargetMinutes;
  /** The open time from `createdAt` to `dueAt`, in minutes. */
  resolution: TargetMinutes;
}

/** The business hours and the targets of the workspace. */
export interface BusinessHoursSettings {
  /** When the workspace is open, or null if every minute counts for the targets. */
  calendar: BusinessCalendar | null;
  /** The targets for new tickets, and for tickets whose priority changes. */
  targets: Targets;
  /** Whether the server adds the open time in which a ticket is PENDING to its `dueAt`. Requires a calendar. */
  pausesWhilePending: boolean;
  /** The version of the resource, equal to the `ETag` header of its response. Send it back unchanged in `If-Match`. */
  etag: Etag;
}

/** A form with which users request something. */
export interface RequestForm {
  /** The identifier. It is unique within its resource type, never changes and is never reused. */
  id: number;
  /** The key of the request form. It never changes. At most 40 characters. */
  key: string;
  /** The name of the form for people. 1 to 100 characters. */
  name: string;
  /** What the form is for, or null if not set. 1 to 1000 characters. */
  description: string | null;
  /** Whether the form can be submitted. */
  active: boolean;
  /** The type of tickets from this form. */
  type: Open<TicketType>;
  /** The priority of tickets from this form. */
  priority: Open<Priority>;
  /** The tags of tickets from this form. At most 50 items. 1 to 50 characters. */
  tags: Tag[];
  /** The default title of tickets from this form. If null, the title is the name of the form. The server replaces field keys in braces with the answers, as in `Laptop for {site}`. 1 to 255 characters. */
  titleTemplate: string | null;
  /** When the resource was created. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  createdAt: string;
  /** When the resource last changed. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  updatedAt: string;
  /** The version of the resource, equal to the `ETag` header of its response. Send it back unchanged in `If-Match`. */
  etag: Etag;
}

/** The page and the filters of a list of requestForms. */
export interface RequestFormQuery {
  /** The page number, from 1. A page after the last page is empty. Default: 1. */
  page?: number | string | undefined;
  /** The number of items per page. 1 to 100. Default: 20. */
  perPage?: number | string | undefined;
}

/** A custom field of tickets in a form. */
export interface RequestFormField {
  /** The key of the custom field of tickets. */
  key: string;
  /** Whether an answer is required. If the field has a default, it replaces an absent answer. */
  required: boolean;
  /** The value of the field if the answer is absent, or null if there is no default. */
  default: CustomFieldValue;
  /** The value of the field in every ticket, or null. If it is set, the form does not ask for an answer. */
  fixed: CustomFieldValue;
  /** An explanation of the question for people, or null. 1 to 300 characters. */
  help: string | null;
}

/** A form with its fields and the JSON Schema of its answers. */
export interface RequestFormDetail {
  /** The identifier. It is unique within its resource type, never changes and is never reused. */
  id: number;
  /** The key of the request form. It never changes. At most 40 characters. */
  key: string;
  /** The name of the form for people. 1 to 100 characters. */
  name: string;
  /** What the form is for, or null if not set. 1 to 1000 characters. */
  description: string | null;
  /** Whether the form can be submitted. */
  active: boolean;
  /** The type of tickets from this form. */
  type: Open<TicketType>;
  /** The priority of tickets from this form. */
  priority: Open<Priority>;
  /** The tags of tickets from this form. At most 50 items. 1 to 50 characters. */
  tags: Tag[];
  /** The default title of tickets from this form. If null, the title is the name of the form. The server replaces field keys in braces with the answers, as in `Laptop for {site}`. 1 to 255 characters. */
  titleTemplate: string | null;
  /** The fields, in the order that an administrator chose. */
  fields: RequestFormField[];
  /** The JSON Schema (2020-12) of `answers`. It contains the active fields and options of the form, and all fields that the workspace requires. If the schema changes, the `etag` of the form also changes. */
  schema: Record<string, unknown>;
  /** When the resource was created. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  createdAt: string;
  /** When the resource last changed. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  updatedAt: string;
  /** The version of the resource, equal to the `ETag` header of its response. Send it back unchanged in `If-Match`. */
  etag: Etag;
}

/** The type of an event. */
export type EventType = 'ticket.created' | 'ticket.updated' | 'asset.created' | 'task.updated';

/** A value to compare with a field of the resource. */
export type WebhookFilterValue = string | number | boolean | null;

/** The health of a subscription. HEALTHY: the last attempt succeeded, or there was no attempt. RETRYING: the last attempt failed, and deliveries continue. CIRCUIT_OPEN: several consecutive attempts failed, and the server sends nothing until `nextAttemptAt`. PAUSED: the subscription is paused, and `pausedReason` describes why. INACTIVE: the subscription was deactivated. */
export type WebhookHealth = 'HEALTHY' | 'RETRYING' | 'CIRCUIT_OPEN' | 'PAUSED' | 'INACTIVE';

/** A webhook subscription, without its signing secret. */
export interface Webhook {
  /** The identifier. It is unique within its resource type, never changes and is never reused. */
  id: number;
  /** The URL that receives events. It must use https and a public host, without a user name or password. 1 to 2048 characters. */
  url: string;
  /** The subscribed event types. 1 to 100 items. */
  events: Open<EventType>[];
  /** The filter for events, or null to deliver all events. Each key is a top-level field of the resource, with a list of values. An event matches if every field in the filter has one of the listed values, before or after the change. A field with a list has all values of its items. The key `customFields.site` means the custom field `site`. Every subscribed event type must have these fields. A filter has at most 10 fields with 100 values each. */
  filter: Record<string, readonly WebhookFilterValue[]> | null;
  /** Whether to skip events that are caused by the API key that created the subscription, or by a key that replaced it through rotation. */
  skipOwn: boolean;
  /** Whether the subscription is active. Inactive subscriptions receive no events. You can reactivate them in the developer area or on the command line, but not with the API. */
  active: boolean;
  /** The health of a subscription. HEALTHY: the last attempt succeeded, or there was no attempt. RETRYING: the last attempt failed, and deliveries continue. CIRCUIT_OPEN: several consecutive attempts failed, and the server sends nothing until `nextAttemptAt`. PAUSED: the subscription is paused, and `pausedReason` describes why. INACTIVE: the subscription was deactivated. */
  health: Open<WebhookHealth>;
  /** When the circuit breaker allows the next attempt. Null if the circuit breaker is closed or half-open, or if `paused: true` stops deliveries. Replays and test events do not wait for this time. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  nextAttemptAt: string | null;
  /** When a delivery last succeeded, or null if no delivery has succeeded yet. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  lastSuccessAt: string | null;
  /** When an attempt last failed, or null if no attempt has failed yet. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  lastFailureAt: string | null;
  /** When the subscription was paused, or null if it is not paused. The cause is `paused: true`, failed deliveries or the quota. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  pausedAt: string | null;
  /** Why the subscription is paused: `QUOTA`, or a sentence that describes the reason. Null if not paused. `QUOTA` means that the workspace has too many pending deliveries. The server still sends pending events, but queues no new events for this subscription. To catch up, read the change feeds, such as `GET /tickets/changes`. Queueing resumes when the number of pending deliveries is below half of the limit. */
  pausedReason: string | null;
  /** When the resource was created. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  createdAt: string;
  /** When the resource last changed. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  updatedAt: string;
  /** The version of the resource, equal to the `ETag` header of its response. Send it back unchanged in `If-Match`. */
  etag: Etag;
}

/** The page and the filters of a list of webhooks. */
export interface WebhookQuery {
  /** The page number, from 1. A page after the last page is empty. Default: 1. */
  page?: number | string | undefined;
  /** The number of items per page. 1 to 100. Default: 20. */
  perPage?: number | string | undefined;
}

/** A new subscription, with its signing secret if the server generated it. No other endpoint returns the secret. */
export interface CreatedWebhook {
  /** The identifier. It is unique within its resource type, never changes and is never reused. */
  id: number;
  /** The URL that receives events. It must use https and a public host, without a user name or password. 1 to 2048 characters. */
  url: string;
  /** The subscribed event types. 1 to 100 items. */
  events: Open<EventType>[];
  /** The filter for events, or null to deliver all events. Each key is a top-level field of the resource, with a list of values. An event matches if every field in the filter has one of the listed values, before or after the change. A field with a list has all values of its items. The key `customFields.site` means the custom field `site`. Every subscribed event type must have these fields. A filter has at most 10 fields with 100 values each. */
  filter: Record<string, readonly WebhookFilterValue[]> | null;
  /** Whether to skip events that are caused by the API key that created the subscription, or by a key that replaced it through rotation. */
  skipOwn: boolean;
  /** Whether the subscription is active. Inactive subscriptions receive no events. You can reactivate them in the developer area or on the command line, but not with the API. */
  active: boolean;
  /** The health of a subscription. HEALTHY: the last attempt succeeded, or there was no attempt. RETRYING: the last attempt failed, and deliveries continue. CIRCUIT_OPEN: several consecutive attempts failed, and the server sends nothing until `nextAttemptAt`. PAUSED: the subscription is paused, and `pausedReason` describes why. INACTIVE: the subscription was deactivated. */
  health: Open<WebhookHealth>;
  /** When the circuit breaker allows the next attempt. Null if the circuit breaker is closed or half-open, or if `paused: true` stops deliveries. Replays and test events do not wait for this time. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  nextAttemptAt: string | null;
  /** When a delivery last succeeded, or null if no delivery has succeeded yet. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  lastSuccessAt: string | null;
  /** When an attempt last failed, or null if no attempt has failed yet. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  lastFailureAt: string | null;
  /** When the subscription was paused, or null if it is not paused. The cause is `paused: true`, failed deliveries or the quota. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  pausedAt: string | null;
  /** Why the subscription is paused: `QUOTA`, or a sentence that describes the reason. Null if not paused. `QUOTA` means that the workspace has too many pending deliveries. The server still sends pending events, but queues no new events for this subscription. To catch up, read the change feeds, such as `GET /tickets/changes`. Queueing resumes when the number of pending deliveries is below half of the limit. */
  pausedReason: string | null;
  /** When the resource was created. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  createdAt: string;
  /** When the resource last changed. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  updatedAt: string;
  /** The version of the resource, equal to the `ETag` header of its response. Send it back unchanged in `If-Match`. */
  etag: Etag;
  /** The generated signing secret. Store it safely. Absent if the request contained a secret. */
  secret?: string | undefined;
}

/** A new webhook subscription. */
export interface NewWebhook {
  /** The URL that receives events. It must use https and a public host, without a user name or password. 1 to 2048 characters. */
  url: string;
  /** The signing secret. Use at least 24 characters. If absent, the server generates a secret and returns it. 1 to 256 characters. */
  secret?: string | undefined;
  /** The subscribed event types. 1 to 100 items. */
  events: readonly Open<EventType>[];
  /** The filter for events, or null to deliver all events. Each key is a top-level field of the resource, with a list of values. An event matches if every field in the filter has one of the listed values, before or after the change. A field with a list has all values of its items. The key `customFields.site` means the custom field `site`. Every subscribed event type must have these fields. A filter has at most 10 fields with 100 values each. */
  filter?: Record<string, readonly WebhookFilterValue[]> | null | undefined;
  /** Whether to skip events that are caused by the API key that created the subscription, or by a key that replaced it through rotation. */
  skipOwn?: boolean | undefined;
  /** Whether the subscription starts paused. With `true`, the server queues events and sends nothing until you update the subscription with `paused: false`. */
  paused?: boolean | undefined;
}

/** Changes to a subscription. Absent fields stay unchanged, and null clears a field. */
export interface WebhookPatch {
  /** The URL that receives events. It must use https and a public host, without a user name or password. 1 to 2048 characters. */
  url?: string | undefined;
  /** The new signing secret. For 24 hours, `webhook-signature` also contains a signature with the previous secret. 1 to 256 characters. */
  secret?: string | undefined;
  /** The subscribed event types. 1 to 100 items. */
  events?: readonly Open<EventType>[] | undefined;
  /** The filter for events, or null to deliver all events. Each key is a top-level field of the resource, with a list of values. An event matches if every field in the filter has one of the listed values, before or after the change. A field with a list has all values of its items. The key `customFields.site` means the custom field `site`. Every subscribed event type must have these fields. A filter has at most 10 fields with 100 values each. */
  filter?: Record<string, readonly WebhookFilterValue[]> | null | undefined;
  /** Whether to skip events that are caused by the API key that created the subscription, or by a key that replaced it through rotation. */
  skipOwn?: boolean | undefined;
  /** Whether deliveries are paused. With `true`, the server queues events and sends nothing. With `false`, the server resumes deliveries and resets the count of failures. A pause with the reason `QUOTA` continues until fewer deliveries are pending. */
  paused?: boolean | undefined;
}

/** The state of a delivery. PENDING: the delivery is not finished. DELIVERED: the receiver returned 2xx. EXHAUSTED: every attempt failed. CANCELLED: the subscription was deactivated first. */
export type DeliveryState = 'PENDING' | 'DELIVERED' | 'EXHAUSTED' | 'CANCELLED';

/** The delivery of one event to one subscription. */
export interface Delivery {
  /** The identifier. It is unique within its resource type, never changes and is never reused. */
  id: number;
  /** The subscription that receives the event. */
  webhookId: number;
  /** The `webhook-id` header, which is the same on every attempt. */
  eventId: string;
  /** The type of an event. */
  event: Open<EventType>;
  /** The state of a delivery. PENDING: the delivery is not finished. DELIVERED: the receiver returned 2xx. EXHAUSTED: every attempt failed. CANCELLED: the subscription was deactivated first. */
  state: Open<DeliveryState>;
  /** The number of attempts since the delivery was created or last replayed. */
  attemptCount: number;
  /** The earliest time of the next attempt, or null if `state` is not PENDING. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  nextAttemptAt: string | null;
  /** When the event occurred. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  createdAt: string;
  /** When `state` became DELIVERED, EXHAUSTED or CANCELLED, or null while it is PENDING. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  settledAt: string | null;
}

/** A replay that has started. */
export interface WebhookReplayStarted {
  /** The subscription of the deliveries. */
  webhookId: number;
  /** The replay sends only deliveries created at or after this time. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  since: string;
  /** The replay sends deliveries in one of these states. */
  states: Open<DeliveryState>[];
  /** The number of matching deliveries. Counting stops at 10000. At most 10000. */
  matching: number;
  /** Whether the deliveries wait because the subscription has `paused: true`. To send them, update the subscription with `paused: false`. */
  paused: boolean;
}

/** The deliveries to send again. */
export interface WebhookReplay {
  /** The replay sends only deliveries created at or after this time. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  since: string;
  /** The replay sends only deliveries in one of these states. The default is EXHAUSTED. With PENDING, the server immediately sends the deliveries that wait for a retry. 1 to 4 items. */
  states?: readonly Open<DeliveryState>[] | undefined;
}

/** The page and the filters of a list of deliveries. */
export interface DeliveryQuery {
  /** The page number, from 1. A page after the last page is empty. Default: 1. */
  page?: number | string | undefined;
  /** The number of items per page. 1 to 100. Default: 20. */
  perPage?: number | string | undefined;
  /** 1 to 100 items. */
  state?: Open<DeliveryState> | readonly Open<DeliveryState>[] | undefined;
}

/** One attempt of a delivery and its result. */
export interface DeliveryAttempt {
  /** The number of the attempt. Numbers start at 1, and start again at 1 after a replay. */
  number: number;
  /** When the attempt started. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  startedAt: string;
  /** The duration of the attempt, in milliseconds. */
  durationMs: number;
  /** The HTTP status of the response, or null if there was none. At most 999. */
  status: number | null;
  /** Why the attempt failed, or null if a response arrived. */
  error: string | null;
  /** The start of the response body, or null if the body is empty or may come from a private network. */
  answer: string | null;
}

/** A delivery and its attempts. */
export interface DeliveryDetail {
  /** The identifier. It is unique within its resource type, never changes and is never reused. */
  id: number;
  /** The subscription that receives the event. */
  webhookId: number;
  /** The `webhook-id` header, which is the same on every attempt. */
  eventId: string;
  /** The type of an event. */
  event: Open<EventType>;
  /** The state of a delivery. PENDING: the delivery is not finished. DELIVERED: the receiver returned 2xx. EXHAUSTED: every attempt failed. CANCELLED: the subscription was deactivated first. */
  state: Open<DeliveryState>;
  /** The number of attempts since the delivery was created or last replayed. */
  attemptCount: number;
  /** The earliest time of the next attempt, or null if `state` is not PENDING. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  nextAttemptAt: string | null;
  /** When the event occurred. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  createdAt: string;
  /** When `state` became DELIVERED, EXHAUSTED or CANCELLED, or null while it is PENDING. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  settledAt: string | null;
  /** The exact body that the server sends. */
  body: string;
  /** The last 100 attempts, oldest first. */
  attempts: DeliveryAttempt[];
}

/** A ticket is created. */
export interface TicketCreatedEvent {
  /** The id of the event. Every attempt has the same id. Use the id to deduplicate events. */
  id: string;
  /** The type of the event. */
  type: 'ticket.created';
  /** When the event occurred: `updatedAt` of the resource. Sort the events of a resource by this time. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  timestamp: string;
  /** The user and the API key that performed the action, or null for an action on the command line. */
  actor: Actor;
  /** The ticket at the time of the event. */
  ticket: Ticket;
}

/** A comment on the ticket of the event. */
export interface EventComment {
  /** The identifier. It is unique within its resource type, never changes and is never reused. */
  id: number;
  /** The author: the user of the API key that created the comment, or the author that an import key set. */
  authorId: number;
  /** The text of the comment. At most 65535 bytes in UTF-8. 1 to 65535 characters. */
  body: string;
  /** The intended audience: PUBLIC comments are for the requester, and INTERNAL comments are for staff. The visibility is only a label: an API key that can read the ticket can read all its comments. */
  visibility: Open<CommentVisibility>;
  /** When the comment was created. A comment changes only if an administrator redacts it. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  createdAt: string;
}

/** A ticket is updated. */
export interface TicketUpdatedEvent {
  /** The id of the event. Every attempt has the same id. Use the id to deduplicate events. */
  id: string;
  /** The type of the event. */
  type: 'ticket.updated';
  /** When the event occurred: `updatedAt` of the resource. Sort the events of a resource by this time. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  timestamp: string;
  /** The user and the API key that performed the action, or null for an action on the command line. */
  actor: Actor;
  /** The ticket at the time of the event. */
  ticket: Ticket;
  /** The changed fields of a ticket. `updatedAt` always changes and is not included. */
  changes: TicketChanges;
  /** The new comment, if the update is a comment. INTERNAL comments are included: check `visibility` before you pass the text on. The `changes` of the event don't contain the text. */
  comment?: EventComment | undefined;
}

/** An asset is created. */
export interface AssetCreatedEvent {
  /** The id of the event. Every attempt has the same id. Use the id to deduplicate events. */
  id: string;
  /** The type of the event. */
  type: 'asset.created';
  /** When the event occurred: `updatedAt` of the resource. Sort the events of a resource by this time. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  timestamp: string;
  /** The user and the API key that performed the action, or null for an action on the command line. */
  actor: Actor;
  /** The asset at the time of the event. */
  asset: Asset;
}

/** The changed fields of a task. `updatedAt` always changes and is not included. */
export type TaskChanges = Record<string, {
  /** The value before the change. */
  from: unknown;
  /** The value after the change. */
  to: unknown;
}> & {
  /** The change to `title`. Absent if unchanged. */
  title?: {
    /** The value before the change. 1 to 255 characters. */
    from: string;
    /** The value after the change. 1 to 255 characters. */
    to: string;
  } | undefined;
  /** The change to `description`. Absent if unchanged. */
  description?: {
    /** The value before the change. 1 to 65535 characters. */
    from: string | null;
    /** The value after the change. 1 to 65535 characters. */
    to: string | null;
  } | undefined;
  /** The change to `status`. Absent if unchanged. */
  status?: {
    /** The value before the change. */
    from: Open<TaskStatus>;
    /** The value after the change. */
    to: Open<TaskStatus>;
  } | undefined;
  /** The change to `priority`. Absent if unchanged. */
  priority?: {
    /** The value before the change. */
    from: Open<Priority>;
    /** The value after the change. */
    to: Open<Priority>;
  } | undefined;
  /** The change to `assigneeId`. Absent if unchanged. */
  assigneeId?: {
    /** The value before the change. */
    from: number | null;
    /** The value after the change. */
    to: number | null;
  } | undefined;
  /** The change to `startDate`. Absent if unchanged. */
  startDate?: {
    /** The value before the change. A date, `YYYY-MM-DD`. */
    from: string | null;
    /** The value after the change. A date, `YYYY-MM-DD`. */
    to: string | null;
  } | undefined;
  /** The change to `dueDate`. Absent if unchanged. */
  dueDate?: {
    /** The value before the change. A date, `YYYY-MM-DD`. */
    from: string | null;
    /** The value after the change. A date, `YYYY-MM-DD`. */
    to: string | null;
  } | undefined;
  /** The change to `completedAt`. Absent if unchanged. */
  completedAt?: {
    /** The value before the change. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
    from: string | null;
    /** The value after the change. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
    to: string | null;
  } | undefined;
};

/** A project task is updated. */
export interface TaskUpdatedEvent {
  /** The id of the event. Every attempt has the same id. Use the id to deduplicate events. */
  id: string;
  /** The type of the event. */
  type: 'task.updated';
  /** When the event occurred: `updatedAt` of the resource. Sort the events of a resource by this time. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`. */
  timestamp: string;
  /** The user and the API key that performed the action, or null for an action on the command line. */
  actor: Actor;
  /** The task at the time of the event. */
  task: Task;
  /** The changed fields of a task. `updatedAt` always changes and is not included. */
  changes: TaskChanges;
}

/** The page of the list and the total number of items. */
export interface PageMeta {
  /** The requested page. */
  page: number;
  /** The number of items per page. 1 to 100. */
  perPage: number;
  /** The number of items on all pages. It is exact unless `totalCountCapped` is present. */
  totalCount: number;
  /** Present if more items match than `totalCount`. You can page through only the first `totalCount` items. */
  totalCountCapped?: true | undefined;
}

/** The position in the change feed. */
export interface ChangesMeta {
  /** The cursor of the next page, also present on the last page. Store it for the next sync. */
  nextCursor: string;
  /** Whether more changes are available now. If false, poll again later. */
  hasMore: boolean;
}

/** The changed fields, by name. */
export type Changes = Record<string, {
  /** The value before the change. */
  from: unknown;
  /** The value after the change. */
  to: unknown;
}>;

/** What the API did with an item. UNCHANGED means that the resource already had all values. */
export type UpsertOutcome = 'CREATED' | 'UPDATED' | 'UNCHANGED';

/** The events that this version of the client knows. */
export type KnownEvent = TicketCreatedEvent | TicketUpdatedEvent | AssetCreatedEvent | TaskUpdatedEvent;

/** The event types that this version of the client knows. */
export const eventTypes: readonly EventType[] = ['ticket.created', 'ticket.updated', 'asset.created', 'task.updated'];

/** An event from a newer server. */
export interface UnknownEvent {
  /** The id of the event. Every attempt has the same id. Use the id to deduplicate events. */
  id: string;
  /** The value for every event type that this version of the client doesn't know. */
  type: 'unknown';
  /** When the event occurred. */
  timestamp: string;
  /** The complete delivered body. Its `type` is the original type. */
  body: Record<string, unknown>;
}

/** A webhook event, discriminated by its `type`. */
export type WebhookEvent = KnownEvent | UnknownEvent;

/**
 * The routes of the client methods. Each route has the HTTP method, the path, the scope and the argument.
 * The first part of the scope is the rate limit group. An endpoint for any scope has only the rate limit group.
 * The argument is `query`, `changes`, `body`, `file`, or `items=` and the body field with the items of a bulk request.
 * For a `download`, the body of the response is a file. For an upsert, the last word is the default of `matchBy`.
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
    attach: 'POST /tickets/:id/attachments tickets:write file',
  },
  comments: {
    list: 'GET /tickets/:id/comments tickets:read query',
    changes: 'GET /comments/changes tickets:read changes',
    create: 'POST /tickets/:id/comments tickets:write body',
    createMany: 'POST /tickets/:id/comments/bulk tickets:write items=comments',
  },
  attachments: {
    list: 'GET /tickets/:id/attachments tickets:read query',
    get: 'GET /attachments/:id tickets:read',
    download: 'GET /attachments/:id/content tickets:read download',
    delete: 'DELETE /attachments/:id tickets:write',
  },
  links: {
    list: 'GET /tickets/:id/links tickets:read query',
    create: 'POST /tickets/:id/links tickets:write body',
    delete: 'DELETE /tickets/:id/links/:linkId tickets:write',
  },
  approvals: {
    ofTicket: 'GET /tickets/:id/approvals tickets:read query',
    create: 'POST /tickets/:id/approvals tickets:write body',
    list: 'GET /approvals tickets:read query',
    get: 'GET /approvals/:id tickets:read',
    decide: 'PATCH /approvals/:id tickets:write body',
    delete: 'DELETE /approvals/:id tickets:write',
  },
  assets: {
    list: 'GET /assets assets:read query',
    changes: 'GET /assets/changes assets:read changes',
    get: 'GET /assets/:id assets:read',
    create: 'POST /assets assets:write body',
    upsertMany: 'POST /assets/upsert assets:write items=assets assetTag',
    update: 'PATCH /assets/:id assets:write body',
  },
  articles: {
    list: 'GET /articles kb:read query',
    changes: 'GET /articles/changes kb:read changes',
    get: 'GET /articles/:id kb:read',
  },
  proposals: {
    list: 'GET /proposals tickets query',
    create: 'POST /proposals tickets body',
    get: 'GET /proposals/:id tickets',
    decide: 'PATCH /proposals/:id tickets body',
    delete: 'DELETE /proposals/:id tickets',
  },
  activities: {
    ofTicket: 'GET /tickets/:id/activity tickets:read query',
    ofTickets: 'GET /tickets/activity tickets:read changes',
    ofAsset: 'GET /assets/:id/activity assets:read query',
    ofAssets: 'GET /assets/activity assets:read changes',
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
  teams: {
    list: 'GET /teams users:read query',
    changes: 'GET /teams/changes users:read changes',
    get: 'GET /teams/:id users:read',
  },
  fields: {
    list: 'GET /custom-fields users query',
  },
  ticketCategories: {
    list: 'GET /ticket-categories tickets:read query',
  },
  businessHours: {
    get: 'GET /business-hours users',
  },
  requestForms: {
    list: 'GET /request-forms users query',
    changes: 'GET /request-forms/changes users changes',
    get: 'GET /request-forms/:key users',
    submit: 'POST /request-forms/:key/tickets tickets:write body',
  },
  document: {
    get: 'GET /openapi.json users download',
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
