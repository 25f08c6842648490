# Generated from the contract by `pnpm generate`. Do not edit.
"""The types of the API."""

from typing import Any, Dict, List, Literal, Mapping, NotRequired, Sequence, TypedDict

class Pong(TypedDict):
    """The status of the service."""

    status: Literal["ok"]
    """Always `ok`."""
    version: Literal["v1"]
    """The version of the API, as in the path."""

Scope = Literal["tickets:read", "tickets:write", "assets:read", "assets:write", "projects:read", "projects:write", "users:read", "kb:read", "webhooks:manage"]
"""A permission of an API key."""

Key = TypedDict(
    "Key",
    {
        # The identifier. It is unique within its resource type, never changes and is never reused.
        "id": int,
        # The name of the API key.
        "name": str,
        # The last four characters of the API key. The server does not store the complete key.
        "lastFour": str,
        # The scopes of the API key. Known values: `tickets:read`, `tickets:write`, `assets:read`, `assets:write`, `projects:read`, `projects:write`, `users:read`, `kb:read`, `webhooks:manage`.
        "scopes": List[str],
        # Whether the API key is an import key, which can set the original times and authors of new rows.
        "import": bool,
        # Whether the API key can only propose changes, with `POST /proposals`. A person decides about them.
        "proposing": bool,
        # When the API key was created. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`.
        "createdAt": str,
        # When the API key expires, or null if it never expires. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`.
        "expiresAt": str | None,
        # When the API key was last used before this request, accurate to one minute. Null if this is the first use. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`.
        "lastUsedAt": str | None,
    },
)
"""An API key, without its secret part."""

UserRole = Literal["ADMIN", "AGENT", "REQUESTER"]
"""The role of the user in the workspace. What an API key can do depends on its scopes, not on this role."""

UserKind = Literal["PERSON", "SERVICE"]
"""`PERSON`, or `SERVICE` for a service account: a user for programs, who can't sign in."""

Etag = str
"""The version of the resource, equal to the `ETag` header of its response. Send it back unchanged in `If-Match`."""

class User(TypedDict):
    """A user of the workspace."""

    id: int
    """The identifier. It is unique within its resource type, never changes and is never reused."""
    name: str
    """The full name of the user. 1 to 255 characters."""
    email: str
    """The email address in lower case, unique in the workspace. 1 to 254 characters."""
    role: str
    """The role of the user in the workspace. What an API key can do depends on its scopes, not on this role. Known values: `ADMIN`, `AGENT`, `REQUESTER`."""
    kind: str
    """`PERSON`, or `SERVICE` for a service account: a user for programs, who can't sign in. Known values: `PERSON`, `SERVICE`."""
    active: bool
    """Whether the user is active. You can't assign inactive users, and their API keys are invalid."""
    jobTitle: str | None
    """The job title, or null if not set. 1 to 255 characters."""
    department: str | None
    """The department, or null if not set. 1 to 255 characters."""
    phone: str | None
    """The phone number, as entered, or null if not set. 1 to 255 characters."""
    timeZone: str | None
    """The IANA time zone, such as `Europe/Berlin`, or null if not set. 1 to 255 characters."""
    createdAt: str
    """When the resource was created. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`."""
    updatedAt: str
    """When the resource last changed. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`."""
    etag: Etag
    """The version of the resource, equal to the `ETag` header of its response. Send it back unchanged in `If-Match`."""

class Workspace(TypedDict):
    """The workspace of the API key. The key can access only this workspace."""

    name: str
    """The name of the workspace."""

class Limit(TypedDict):
    """A rate limit of the API key and the remaining quota."""

    name: str
    """`global` for all endpoints, or the name of an endpoint group."""
    limit: int
    """The number of requests allowed per window."""
    remaining: int
    """The number of requests left in the window."""
    resetSeconds: int
    """The number of seconds until the window ends."""
    windowSeconds: int
    """The length of the window, in seconds."""

class Identity(TypedDict):
    """The API key of the request, its user, the teams of the user, its workspace and its rate limits."""

    key: Key
    """An API key, without its secret part."""
    user: User
    """The user of the API key: the person who created the key, or the person for whom the key was created."""
    teamIds: List[int]
    """The ids of the teams that contain the user, in ascending order. Includes inactive teams."""
    workspace: Workspace
    """The workspace of the API key. The key can access only this workspace."""
    limits: List[Limit]
    """The rate limits of the API key: `global`, then each endpoint group."""

TicketNumber = str
"""A ticket number: a prefix, a hyphen and a number, such as `INC-17`."""

TicketType = Literal["INCIDENT", "PROBLEM", "CHANGE", "SERVICE_REQUEST"]
"""The type of the ticket. It never changes."""

TicketStatus = Literal["OPEN", "IN_PROGRESS", "PENDING", "RESOLVED", "CLOSED", "CANCELLED"]
"""The status of the ticket. New tickets are OPEN, except imported tickets. Allowed transitions: OPEN → IN_PROGRESS, PENDING, RESOLVED, CANCELLED; IN_PROGRESS → PENDING, RESOLVED, CANCELLED; PENDING → IN_PROGRESS, RESOLVED, CANCELLED; RESOLVED → CLOSED, IN_PROGRESS. CLOSED and CANCELLED are final."""

Priority = Literal["LOW", "MEDIUM", "HIGH", "CRITICAL"]
"""The priority of a ticket, project or task."""

TicketCategory = Literal["SOFTWARE", "HARDWARE", "NETWORK", "ACCESS", "EMAIL", "OTHER"]
"""The area of IT that the ticket concerns."""

Tag = str
"""A tag: 1 to 50 letters and digits of any script, and after the first character also `:`, `_`, `.`, `/` and `-`. The server converts it to lower case and to the normalization form NFC."""

CustomFieldScalar = str | float | bool | None
"""A single value of a custom field. A number must be 0 or have an absolute value from 1e-9 to 1e15."""

CustomFieldValue = str | float | bool | Sequence[CustomFieldScalar] | None
"""The value of a custom field: one value or an array. A number must be 0 or have an absolute value from 1e-9 to 1e15."""

CustomFields = Dict[str, CustomFieldValue]
"""The custom fields of the resource, by name. At most 50 keys and 16 KiB as JSON."""

ApprovalStatus = Literal["NONE", "PENDING", "APPROVED", "REJECTED"]
"""The result of the approvals of the ticket: NONE without approvals, REJECTED after one rejection, PENDING while a decision is missing, and otherwise APPROVED."""

class Ticket(TypedDict):
    """An incident, problem, change or service request."""

    id: int
    """The identifier. It is unique within its resource type, never changes and is never reused."""
    ticketNumber: TicketNumber
    """A prefix (INC-, PRB-, CHG- or REQ-) and a number. Each ticket type of the workspace has its own numbers, which start at 1. The server never reuses a number."""
    title: str
    """The title, on one line. The server removes leading and trailing white space. 1 to 255 characters."""
    description: str
    """The full description. At most 65535 bytes in UTF-8. 1 to 65535 characters."""
    type: str
    """The type of the ticket. It never changes. Known values: `INCIDENT`, `PROBLEM`, `CHANGE`, `SERVICE_REQUEST`."""
    status: str
    """The status of the ticket. New tickets are OPEN, except imported tickets. Allowed transitions: OPEN → IN_PROGRESS, PENDING, RESOLVED, CANCELLED; IN_PROGRESS → PENDING, RESOLVED, CANCELLED; PENDING → IN_PROGRESS, RESOLVED, CANCELLED; RESOLVED → CLOSED, IN_PROGRESS. CLOSED and CANCELLED are final. Known values: `OPEN`, `IN_PROGRESS`, `PENDING`, `RESOLVED`, `CLOSED`, `CANCELLED`."""
    priority: str
    """The priority of a ticket, project or task. Known values: `LOW`, `MEDIUM`, `HIGH`, `CRITICAL`."""
    category: str | None
    """The area of IT that the ticket concerns, or null if only `categoryConfigId` is set. Known values: `SOFTWARE`, `HARDWARE`, `NETWORK`, `ACCESS`, `EMAIL`, `OTHER`."""
    categoryConfigId: str | None
    """The ticket category, or null if it has none. You can set only ids of active categories. If the workspace defines no categories, you can set any text. 1 to 255 characters."""
    formKey: str | None
    """The key of the request form that created the ticket, or null if none did. Never changes. At most 40 characters."""
    requesterId: int
    """The user who requested the ticket. The default is the user of the API key. Never changes."""
    assigneeId: int | None
    """The assigned user, or null if unassigned. You can assign only active users."""
    teamId: int | None
    """The team, or null if the ticket has none. You can set only active teams. The assignee can be any user."""
    watcherUserIds: List[int]
    """The users who watch the ticket: at most 100 ids. Responses list the ids in ascending order. You can add only active users."""
    assetIds: List[int]
    """The assets that the ticket concerns: at most 50 ids. Responses list them in ascending order."""
    tags: List[Tag]
    """The tags: at most 50. Responses list them in ascending order and without duplicates. At most 50 items. 1 to 50 characters."""
    parentId: int | None
    """The id of the parent ticket, or null if it has none. A ticket can't be its own ancestor."""
    externalId: str | None
    """The id of this resource in another system, or null if it has none. Unique in the workspace for each resource type. Once it is set, it never changes. 1 to 200 printable ASCII characters without spaces and commas. 1 to 200 characters."""
    customFields: CustomFields
    """The custom fields of the resource, by name. At most 50 keys and 16 KiB as JSON."""
    resolution: str | None
    """How the ticket was resolved. At most 65535 bytes in UTF-8. 1 to 65535 characters."""
    resolvedAt: str | None
    """When the status became RESOLVED, or null if the ticket is unresolved or reopened. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`."""
    closedAt: str | None
    """When the status became CLOSED, or null if it is not closed. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`."""
    dueAt: str | None
    """When the ticket is due, or null if it has no due date. Until a request sets it, it is `createdAt` plus the resolution target of the priority and the time of pauses, counted in business hours. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`."""
    firstResponseDueAt: str | None
    """When the first response is due, or null without a target: `createdAt` plus the target of the priority, counted in business hours. It changes with the priority until the first response. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`."""
    plannedStartAt: str | None
    """When the planned window of a CHANGE starts, or null if no window is planned. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`."""
    plannedEndAt: str | None
    """When the planned window of a CHANGE ends, or null if no window is planned. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`."""
    approvalStatus: str
    """The result of the approvals of the ticket: NONE without approvals, REJECTED after one rejection, PENDING while a decision is missing, and otherwise APPROVED. Known values: `NONE`, `PENDING`, `APPROVED`, `REJECTED`."""
    firstRespondedAt: str | None
    """When an ADMIN or AGENT who is not the requester added the first PUBLIC comment, or null before this comment. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`."""
    redactedAt: str | None
    """When an administrator last replaced `title`, `description` and `resolution` with `[redacted]` to erase personal data, or null. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`."""
    commentCount: int
    """The number of PUBLIC and INTERNAL comments."""
    attachmentCount: int
    """The number of attachments."""
    linkCount: int
    """The number of links to and from other tickets."""
    createdAt: str
    """When the resource was created. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`."""
    updatedAt: str
    """When the resource last changed. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`."""
    etag: Etag
    """The version of the resource, equal to the `ETag` header of its response. Send it back unchanged in `If-Match`."""

TicketAssignee = int | str | Literal["me", "none"]
"""The id or the email address of a user, `me` for the user of the API key, or `none` for no assignee."""

TicketTeam = int | Literal["none"]
"""The id of a team, or `none` for no team."""

UserReference = int | str
"""A reference to a user: an id or an email address."""

TicketReference = int | TicketNumber
"""The id of a ticket, or its number such as `INC-17`."""

class NewTicket(TypedDict):
    """A new ticket. Set `category`, `categoryConfigId` or both."""

    title: str
    """The title, on one line. The server removes leading and trailing white space. 1 to 255 characters."""
    description: str
    """The full description. At most 65535 bytes in UTF-8. 1 to 65535 characters."""
    type: TicketType
    """The type of the ticket. It never changes."""
    priority: NotRequired[Priority | None]
    """The priority. The default is MEDIUM."""
    requesterId: NotRequired[UserReference | None]
    """The user who requests the ticket, by id or email address. The default is the user of the API key."""
    assigneeId: NotRequired[UserReference | None]
    """The assigned user, by id or email address, or null if unassigned. You can assign only active users."""
    teamId: NotRequired[int | None]
    """The team, or null if the ticket has none. You can set only active teams. The assignee can be any user."""
    watcherUserIds: NotRequired[Sequence[UserReference] | None]
    """The users who watch the ticket: at most 100 ids or email addresses. Responses list the ids in ascending order. You can add only active users."""
    assetIds: NotRequired[Sequence[int] | None]
    """The assets that the ticket concerns: at most 50 ids. Responses list them in ascending order."""
    tags: NotRequired[Sequence[Tag] | None]
    """The tags: at most 50. Responses list them in ascending order and without duplicates. At most 50 items. 1 to 50 characters."""
    parentId: NotRequired[TicketReference | None]
    """The parent ticket, by id or number such as `INC-17`, or null for no parent."""
    externalId: NotRequired[str | None]
    """The id of this resource in another system, or null if it has none. Unique in the workspace for each resource type. Once it is set, it never changes. 1 to 200 printable ASCII characters without spaces and commas. 1 to 200 characters."""
    customFields: NotRequired[Mapping[str, object] | None]
    """The custom fields of the resource, by name. At most 50 keys and 16 KiB as JSON."""
    dueAt: NotRequired[str | None]
    """When the ticket is due, or null for no due date. The default is `createdAt` plus the resolution target of the priority. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`."""
    plannedStartAt: NotRequired[str | None]
    """When the planned window of a CHANGE starts. Set both times or neither, and only for tickets of the type CHANGE. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`."""
    plannedEndAt: NotRequired[str | None]
    """When the planned window of a CHANGE ends, after `plannedStartAt`. Set both times or neither, and only for tickets of the type CHANGE. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`."""
    status: NotRequired[TicketStatus]
    """The status. The default is OPEN. Only an import key can set it."""
    createdAt: NotRequired[str]
    """When the ticket was created. Required with `resolvedAt` and `closedAt`. The default is the current time. Only an import key can set it. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`."""
    resolvedAt: NotRequired[str]
    """When the status became RESOLVED. Requires the status RESOLVED or CLOSED. The default is `closedAt` or the current time. Only an import key can set it. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`."""
    closedAt: NotRequired[str]
    """When the status became CLOSED. Requires the status CLOSED. The default is the current time. Only an import key can set it. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`."""
    category: NotRequired[TicketCategory | None]
    """The area of IT that the ticket concerns, or null if only `categoryConfigId` is set."""
    categoryConfigId: NotRequired[str | None]
    """The ticket category, or null if it has none. You can set only ids of active categories. If the workspace defines no categories, you can set any text. 1 to 255 characters."""

CustomFieldsPatch = Mapping[str, object]
"""The server merges these fields into the existing custom fields. A value replaces the existing value, and null removes the key. The result has at most 50 keys and 16 KiB as JSON."""

class TicketPatch(TypedDict):
    """Changes to a ticket. Absent fields stay unchanged, and null clears a field. `type` can't change."""

    title: NotRequired[str]
    """The title, on one line. The server removes leading and trailing white space. 1 to 255 characters."""
    description: NotRequired[str]
    """The full description. At most 65535 bytes in UTF-8. 1 to 65535 characters."""
    status: NotRequired[TicketStatus]
    """The status of the ticket. New tickets are OPEN, except imported tickets. Allowed transitions: OPEN → IN_PROGRESS, PENDING, RESOLVED, CANCELLED; IN_PROGRESS → PENDING, RESOLVED, CANCELLED; PENDING → IN_PROGRESS, RESOLVED, CANCELLED; RESOLVED → CLOSED, IN_PROGRESS. CLOSED and CANCELLED are final."""
    priority: NotRequired[Priority]
    """The priority of a ticket, project or task."""
    category: NotRequired[TicketCategory | None]
    """The area of IT that the ticket concerns, or null if only `categoryConfigId` is set."""
    categoryConfigId: NotRequired[str | None]
    """The ticket category, or null if it has none. You can set only ids of active categories. If the workspace defines no categories, you can set any text. 1 to 255 characters."""
    assigneeId: NotRequired[UserReference | None]
    """The assigned user, by id or email address, or null if unassigned. You can assign only active users."""
    teamId: NotRequired[int | None]
    """The team, or null if the ticket has none. You can set only active teams. The assignee can be any user."""
    watcherUserIds: NotRequired[Sequence[UserReference]]
    """The users who watch the ticket: at most 100 ids or email addresses. Responses list the ids in ascending order. You can add only active users."""
    assetIds: NotRequired[Sequence[int]]
    """The assets that the ticket concerns: at most 50 ids. Responses list them in ascending order."""
    tags: NotRequired[Sequence[Tag]]
    """The new tags, which replace all tags. Not together with `addTags` or `removeTags`. At most 50 items. 1 to 50 characters."""
    addTags: NotRequired[Sequence[Tag]]
    """The tags to add. Two requests that add different tags never overwrite each other. At most 50 items. 1 to 50 characters."""
    removeTags: NotRequired[Sequence[Tag]]
    """The tags to remove, none of which is in `addTags`. At most 50 items. 1 to 50 characters."""
    parentId: NotRequired[TicketReference | None]
    """The parent ticket, by id or number such as `INC-17`, or null for no parent."""
    externalId: NotRequired[str | None]
    """The id of this resource in another system, or null if it has none. Unique in the workspace for each resource type. Once it is set, it never changes. 1 to 200 printable ASCII characters without spaces and commas. 1 to 200 characters."""
    customFields: NotRequired[Mapping[str, object]]
    """The server merges these fields into the existing custom fields. A value replaces the existing value, and null removes the key. The result has at most 50 keys and 16 KiB as JSON."""
    resolution: NotRequired[str | None]
    """How the ticket was resolved. At most 65535 bytes in UTF-8. 1 to 65535 characters."""
    dueAt: NotRequired[str | None]
    """When the ticket is due, or null for no due date. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`."""
    plannedStartAt: NotRequired[str | None]
    """When the planned window of a CHANGE starts. The resulting window must end after it starts. Null clears both times. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`."""
    plannedEndAt: NotRequired[str | None]
    """When the planned window of a CHANGE ends. The resulting window must end after it starts. Null clears both times. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`."""

CommentVisibility = Literal["PUBLIC", "INTERNAL"]
"""The intended audience: PUBLIC comments are for the requester, and INTERNAL comments are for staff. The visibility is only a label: an API key that can read the ticket can read all its comments."""

class NewComment(TypedDict):
    """A new comment."""

    body: str
    """The text of the comment. At most 65535 bytes in UTF-8. 1 to 65535 characters."""
    visibility: CommentVisibility
    """The intended audience: PUBLIC comments are for the requester, and INTERNAL comments are for staff. The visibility is only a label: an API key that can read the ticket can read all its comments."""
    attachmentIds: NotRequired[Sequence[int] | None]
    """The attachments of the ticket that belong to the comment: at most 50 ids, in ascending order in responses. An attachment can be deleted later. Its id remains."""
    externalId: NotRequired[str | None]
    """The id of this resource in another system, or null if it has none. Unique in the workspace for each resource type. Once it is set, it never changes. 1 to 200 printable ASCII characters without spaces and commas. 1 to 200 characters."""
    authorId: NotRequired[UserReference]
    """The author, by id or email address, who can be inactive. The default is the user of the API key. Only an import key can set it."""
    createdAt: NotRequired[str]
    """When the comment was created. Only an import key can set it. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`."""

class NewTicketItem(TypedDict):
    """A new ticket and its first comments. Set `category`, `categoryConfigId` or both."""

    title: str
    """The title, on one line. The server removes leading and trailing white space. 1 to 255 characters."""
    description: str
    """The full description. At most 65535 bytes in UTF-8. 1 to 65535 characters."""
    type: TicketType
    """The type of the ticket. It never changes."""
    priority: NotRequired[Priority | None]
    """The priority. The default is MEDIUM."""
    requesterId: NotRequired[UserReference | None]
    """The user who requests the ticket, by id or email address. The default is the user of the API key."""
    assigneeId: NotRequired[UserReference | None]
    """The assigned user, by id or email address, or null if unassigned. You can assign only active users."""
    teamId: NotRequired[int | None]
    """The team, or null if the ticket has none. You can set only active teams. The assignee can be any user."""
    watcherUserIds: NotRequired[Sequence[UserReference] | None]
    """The users who watch the ticket: at most 100 ids or email addresses. Responses list the ids in ascending order. You can add only active users."""
    assetIds: NotRequired[Sequence[int] | None]
    """The assets that the ticket concerns: at most 50 ids. Responses list them in ascending order."""
    tags: NotRequired[Sequence[Tag] | None]
    """The tags: at most 50. Responses list them in ascending order and without duplicates. At most 50 items. 1 to 50 characters."""
    parentId: NotRequired[TicketReference | None]
    """The parent ticket, by id or number such as `INC-17`, or null for no parent."""
    externalId: NotRequired[str | None]
    """The id of this resource in another system, or null if it has none. Unique in the workspace for each resource type. Once it is set, it never changes. 1 to 200 printable ASCII characters without spaces and commas. 1 to 200 characters."""
    customFields: NotRequired[Mapping[str, object] | None]
    """The custom fields of the resource, by name. At most 50 keys and 16 KiB as JSON."""
    dueAt: NotRequired[str | None]
    """When the ticket is due, or null for no due date. The default is `createdAt` plus the resolution target of the priority. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`."""
    plannedStartAt: NotRequired[str | None]
    """When the planned window of a CHANGE starts. Set both times or neither, and only for tickets of the type CHANGE. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`."""
    plannedEndAt: NotRequired[str | None]
    """When the planned window of a CHANGE ends, after `plannedStartAt`. Set both times or neither, and only for tickets of the type CHANGE. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`."""
    status: NotRequired[TicketStatus]
    """The status. The default is OPEN. Only an import key can set it."""
    createdAt: NotRequired[str]
    """When the ticket was created. Required with `resolvedAt` and `closedAt`. The default is the current time. Only an import key can set it. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`."""
    resolvedAt: NotRequired[str]
    """When the status became RESOLVED. Requires the status RESOLVED or CLOSED. The default is `closedAt` or the current time. Only an import key can set it. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`."""
    closedAt: NotRequired[str]
    """When the status became CLOSED. Requires the status CLOSED. The default is the current time. Only an import key can set it. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`."""
    comments: NotRequired[Sequence[NewComment]]
    """The first comments of the ticket, oldest first. If one of them is invalid, the item fails. At most 1000 comments in all items of a request. At most 100 items."""
    category: NotRequired[TicketCategory | None]
    """The area of IT that the ticket concerns, or null if only `categoryConfigId` is set."""
    categoryConfigId: NotRequired[str | None]
    """The ticket category, or null if it has none. You can set only ids of active categories. If the workspace defines no categories, you can set any text. 1 to 255 characters."""

class TicketPatchItem(TypedDict):
    """A ticket and its changes. Absent fields stay unchanged, and null clears a field."""

    id: TicketReference
    """The ticket, by id or number such as `INC-17`."""
    ifMatch: NotRequired[str]
    """The `etag` that you read. If the ticket has changed since then, this item fails with `PRECONDITION_FAILED`."""
    title: NotRequired[str]
    """The title, on one line. The server removes leading and trailing white space. 1 to 255 characters."""
    description: NotRequired[str]
    """The full description. At most 65535 bytes in UTF-8. 1 to 65535 characters."""
    status: NotRequired[TicketStatus]
    """The status of the ticket. New tickets are OPEN, except imported tickets. Allowed transitions: OPEN → IN_PROGRESS, PENDING, RESOLVED, CANCELLED; IN_PROGRESS → PENDING, RESOLVED, CANCELLED; PENDING → IN_PROGRESS, RESOLVED, CANCELLED; RESOLVED → CLOSED, IN_PROGRESS. CLOSED and CANCELLED are final."""
    priority: NotRequired[Priority]
    """The priority of a ticket, project or task."""
    category: NotRequired[TicketCategory | None]
    """The area of IT that the ticket concerns, or null if only `categoryConfigId` is set."""
    categoryConfigId: NotRequired[str | None]
    """The ticket category, or null if it has none. You can set only ids of active categories. If the workspace defines no categories, you can set any text. 1 to 255 characters."""
    assigneeId: NotRequired[UserReference | None]
    """The assigned user, by id or email address, or null if unassigned. You can assign only active users."""
    teamId: NotRequired[int | None]
    """The team, or null if the ticket has none. You can set only active teams. The assignee can be any user."""
    watcherUserIds: NotRequired[Sequence[UserReference]]
    """The users who watch the ticket: at most 100 ids or email addresses. Responses list the ids in ascending order. You can add only active users."""
    assetIds: NotRequired[Sequence[int]]
    """The assets that the ticket concerns: at most 50 ids. Responses list them in ascending order."""
    tags: NotRequired[Sequence[Tag]]
    """The new tags, which replace all tags. Not together with `addTags` or `removeTags`. At most 50 items. 1 to 50 characters."""
    addTags: NotRequired[Sequence[Tag]]
    """The tags to add. Two requests that add different tags never overwrite each other. At most 50 items. 1 to 50 characters."""
    removeTags: NotRequired[Sequence[Tag]]
    """The tags to remove, none of which is in `addTags`. At most 50 items. 1 to 50 characters."""
    parentId: NotRequired[TicketReference | None]
    """The parent ticket, by id or number such as `INC-17`, or null for no parent."""
    externalId: NotRequired[str | None]
    """The id of this resource in another system, or null if it has none. Unique in the workspace for each resource type. Once it is set, it never changes. 1 to 200 printable ASCII characters without spaces and commas. 1 to 200 characters."""
    customFields: NotRequired[Mapping[str, object]]
    """The server merges these fields into the existing custom fields. A value replaces the existing value, and null removes the key. The result has at most 50 keys and 16 KiB as JSON."""
    resolution: NotRequired[str | None]
    """How the ticket was resolved. At most 65535 bytes in UTF-8. 1 to 65535 characters."""
    dueAt: NotRequired[str | None]
    """When the ticket is due, or null for no due date. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`."""
    plannedStartAt: NotRequired[str | None]
    """When the planned window of a CHANGE starts. The resulting window must end after it starts. Null clears both times. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`."""
    plannedEndAt: NotRequired[str | None]
    """When the planned window of a CHANGE ends. The resulting window must end after it starts. Null clears both times. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`."""

class Attachment(TypedDict):
    """A file that is attached to a ticket. `GET /attachments/{id}/content` returns its content."""

    id: int
    """The identifier. It is unique within its resource type, never changes and is never reused."""
    ticketId: int
    """The ticket to which the file is attached."""
    name: str
    """The name of the file, without a path. 1 to 255 characters."""
    contentType: str
    """The `Content-Type` of the upload, or `application/octet-stream` if it was missing, malformed or a range such as `text/*`. The server doesn't check that the content has this type."""
    size: int
    """The size in bytes."""
    sha256: str
    """The SHA-256 hash of the content, in lowercase hexadecimal."""
    uploaderId: int
    """The user who uploaded the file: the user of the API key."""
    createdAt: str
    """When the file was attached. Attachments never change. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`."""

class Comment(TypedDict):
    """A comment on a ticket."""

    id: int
    """The identifier. It is unique within its resource type, never changes and is never reused."""
    ticketId: int
    """The ticket to which the comment belongs."""
    authorId: int
    """The author: the user of the API key that created the comment, or the author that an import key set."""
    body: str
    """The text of the comment. At most 65535 bytes in UTF-8. 1 to 65535 characters."""
    visibility: str
    """The intended audience: PUBLIC comments are for the requester, and INTERNAL comments are for staff. The visibility is only a label: an API key that can read the ticket can read all its comments. Known values: `PUBLIC`, `INTERNAL`."""
    attachmentIds: List[int]
    """The attachments of the ticket that belong to the comment: at most 50 ids, in ascending order in responses. An attachment can be deleted later. Its id remains."""
    externalId: str | None
    """The id of this resource in another system, or null if it has none. Unique in the workspace for each resource type. Once it is set, it never changes. 1 to 200 printable ASCII characters without spaces and commas. 1 to 200 characters."""
    createdAt: str
    """When the comment was created. A comment changes only if an administrator redacts it. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`."""
    redactedAt: str | None
    """When an administrator last replaced `body` with `[redacted]` to erase personal data, or null. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`."""

LinkType = Literal["RELATES_TO", "DUPLICATES", "CAUSED_BY", "BLOCKS"]
"""How the ticket is related to the other ticket. An INCOMING link describes how the other ticket is related to this ticket. RELATES_TO has no direction."""

LinkDirection = Literal["OUTGOING", "INCOMING"]
"""OUTGOING if the link was created on this ticket, and INCOMING if it was created on the other ticket."""

class Link(TypedDict):
    """A link between two tickets, from the perspective of the ticket in the path."""

    id: int
    """The identifier. It is unique within its resource type, never changes and is never reused."""
    type: str
    """How the ticket is related to the other ticket. An INCOMING link describes how the other ticket is related to this ticket. RELATES_TO has no direction. Known values: `RELATES_TO`, `DUPLICATES`, `CAUSED_BY`, `BLOCKS`."""
    direction: str
    """OUTGOING if the link was created on this ticket, and INCOMING if it was created on the other ticket. Known values: `OUTGOING`, `INCOMING`."""
    ticketId: int
    """The other ticket."""
    ticketNumber: TicketNumber
    """The number of the other ticket."""
    createdAt: str
    """When the link was created. Links never change. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`."""

class NewLink(TypedDict):
    """A new link from the ticket in the path to another ticket."""

    type: LinkType
    """How the ticket is related to the other ticket. An INCOMING link describes how the other ticket is related to this ticket. RELATES_TO has no direction."""
    ticketId: TicketReference
    """The other ticket, by id or number such as `INC-17`."""

ApprovalDecision = Literal["PENDING", "APPROVED", "REJECTED"]
"""The decision of the approver. PENDING until the approver decides."""

class Approval(TypedDict):
    """The approval of a change by one user."""

    id: int
    """The identifier. It is unique within its resource type, never changes and is never reused."""
    ticketId: int
    """The change to approve."""
    approverId: int
    """The user who decides."""
    createdById: int
    """The user of the API key that requested the approval."""
    note: str | None
    """What the approver needs to know. At most 4096 bytes in UTF-8. 1 to 4096 characters."""
    decision: str
    """The decision of the approver. PENDING until the approver decides. Known values: `PENDING`, `APPROVED`, `REJECTED`."""
    comment: str | None
    """The reason for the decision. At most 4096 bytes in UTF-8. 1 to 4096 characters."""
    decidedAt: str | None
    """When the approver decided, or null while PENDING. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`."""
    createdAt: str
    """When the resource was created. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`."""
    updatedAt: str
    """When the approval, or what the approver decides about, last changed. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`."""
    etag: Etag
    """The version of the approval. It also changes if the change that the approver decides about is edited. Read it before you read the ticket, and send it in `If-Match` with the decision."""

class NewApproval(TypedDict):
    """A request for an approval."""

    approverId: UserReference
    """The user who decides, by id or email address: an active ADMIN or AGENT, also a service account. The requester of the ticket and the user of the API key can't approve."""
    note: NotRequired[str | None]
    """What the approver needs to know. At most 4096 bytes in UTF-8. 1 to 4096 characters."""

Approver = int | str | Literal["me"]
"""The id or the email address of a user, or `me` for the user of the API key."""

class Decision(TypedDict):
    """The decision of the approver."""

    decision: Literal["APPROVED", "REJECTED"]
    """The decision. The approver can change REJECTED to APPROVED later, but not APPROVED to REJECTED."""
    comment: NotRequired[str | None]
    """The reason for the decision. At most 4096 bytes in UTF-8. 1 to 4096 characters."""

AssetType = Literal["LAPTOP", "DESKTOP", "SERVER", "MOBILE", "NETWORK", "PRINTER", "SOFTWARE", "OTHER"]
"""The type of the asset."""

AssetStatus = Literal["ON_ORDER", "IN_STOCK", "IN_TRANSIT", "IN_USE", "MAINTENANCE", "RETIRED", "DISPOSED", "LOST"]
"""The status of the asset. Every transition is allowed, except from DISPOSED, which is final."""

class Asset(TypedDict):
    """A device, a license or another item that the workspace manages."""

    id: int
    """The identifier. It is unique within its resource type, never changes and is never reused."""
    name: str
    """The name of the asset. 1 to 255 characters."""
    assetTag: str
    """The inventory tag, unique in the workspace. It never changes. The server converts it to the normalization form NFC, and rejects invisible characters. 1 to 100 characters."""
    serialNumber: str | None
    """The serial number, or null if unknown. The server converts it to the normalization form NFC, and rejects invisible characters. 1 to 255 characters."""
    type: str
    """The type of the asset. Known values: `LAPTOP`, `DESKTOP`, `SERVER`, `MOBILE`, `NETWORK`, `PRINTER`, `SOFTWARE`, `OTHER`."""
    status: str
    """The status of the asset. Every transition is allowed, except from DISPOSED, which is final. Known values: `ON_ORDER`, `IN_STOCK`, `IN_TRANSIT`, `IN_USE`, `MAINTENANCE`, `RETIRED`, `DISPOSED`, `LOST`."""
    manufacturer: str | None
    """The manufacturer, or null if unknown. 1 to 255 characters."""
    model: str | None
    """The model name, or null if unknown. 1 to 255 characters."""
    location: str | None
    """The location, as free text, or null if unknown. 1 to 255 characters."""
    assignedToId: int | None
    """The assigned user, or null if unassigned. You can assign only active users."""
    purchaseDate: str | None
    """The date of purchase, or null if unknown. A date, `YYYY-MM-DD`."""
    purchaseCost: str | None
    """The purchase price as a decimal without currency, or null if unknown. In responses, it has two decimal places."""
    warrantyExpiresAt: str | None
    """When the warranty ends, or null if unknown. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`."""
    notes: str | None
    """Additional notes, or null if there are none. At most 65535 bytes in UTF-8. 1 to 65535 characters."""
    externalId: str | None
    """The id of this resource in another system, or null if it has none. Unique in the workspace for each resource type. Once it is set, it never changes. 1 to 200 printable ASCII characters without spaces and commas. 1 to 200 characters."""
    tags: List[Tag]
    """The tags: at most 50. Responses list them in ascending order and without duplicates. At most 50 items. 1 to 50 characters."""
    customFields: CustomFields
    """The custom fields of the resource, by name. At most 50 keys and 16 KiB as JSON."""
    createdAt: str
    """When the resource was created. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`."""
    updatedAt: str
    """When the resource last changed. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`."""
    etag: Etag
    """The version of the resource, equal to the `ETag` header of its response. Send it back unchanged in `If-Match`."""

class NewAsset(TypedDict):
    """A new asset."""

    name: str
    """The name of the asset. 1 to 255 characters."""
    assetTag: str
    """The inventory tag, unique in the workspace. It never changes. The server converts it to the normalization form NFC, and rejects invisible characters. 1 to 100 characters."""
    serialNumber: NotRequired[str | None]
    """The serial number, or null if unknown. The server converts it to the normalization form NFC, and rejects invisible characters. 1 to 255 characters."""
    type: AssetType
    """The type of the asset."""
    status: NotRequired[AssetStatus | None]
    """The status. The default is IN_USE if `assignedToId` is set, otherwise IN_STOCK."""
    manufacturer: NotRequired[str | None]
    """The manufacturer, or null if unknown. 1 to 255 characters."""
    model: NotRequired[str | None]
    """The model name, or null if unknown. 1 to 255 characters."""
    location: NotRequired[str | None]
    """The location, as free text, or null if unknown. 1 to 255 characters."""
    assignedToId: NotRequired[UserReference | None]
    """The assigned user, by id or email address, or null if unassigned. You can assign only active users."""
    purchaseDate: NotRequired[str | None]
    """The date of purchase, or null if unknown. A date, `YYYY-MM-DD`."""
    purchaseCost: NotRequired[str | None]
    """The purchase price as a decimal without currency, or null if unknown. In responses, it has two decimal places."""
    warrantyExpiresAt: NotRequired[str | None]
    """When the warranty ends, or null if unknown. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`."""
    notes: NotRequired[str | None]
    """Additional notes, or null if there are none. At most 65535 bytes in UTF-8. 1 to 65535 characters."""
    externalId: NotRequired[str | None]
    """The id of this resource in another system, or null if it has none. Unique in the workspace for each resource type. Once it is set, it never changes. 1 to 200 printable ASCII characters without spaces and commas. 1 to 200 characters."""
    tags: NotRequired[Sequence[Tag] | None]
    """The tags: at most 50. Responses list them in ascending order and without duplicates. At most 50 items. 1 to 50 characters."""
    customFields: NotRequired[Mapping[str, object] | None]
    """The custom fields of the resource, by name. At most 50 keys and 16 KiB as JSON."""

class AssetUpsertItem(TypedDict):
    """An asset as another system knows it. If the asset exists, the rules of `AssetPatch` apply: absent fields stay unchanged, and null clears a field. Otherwise, the rules of `NewAsset` apply."""

    name: NotRequired[str]
    """The name of the asset. A new asset requires it. 1 to 255 characters."""
    assetTag: NotRequired[str]
    """The inventory tag, unique in the workspace. It never changes. A new asset requires it. 1 to 100 characters."""
    serialNumber: NotRequired[str | None]
    """The serial number, or null if unknown. The server converts it to the normalization form NFC, and rejects invisible characters. 1 to 255 characters."""
    type: NotRequired[AssetType]
    """The type of the asset. A new asset requires it."""
    status: NotRequired[AssetStatus | None]
    """The status. If it is absent or null, an existing asset keeps its status, unless its assignee changes, and a new asset has the same default as in `NewAsset`."""
    manufacturer: NotRequired[str | None]
    """The manufacturer, or null if unknown. 1 to 255 characters."""
    model: NotRequired[str | None]
    """The model name, or null if unknown. 1 to 255 characters."""
    location: NotRequired[str | None]
    """The location, as free text, or null if unknown. 1 to 255 characters."""
    assignedToId: NotRequired[UserReference | None]
    """The assigned user, by id or email address, or null if unassigned. You can assign only active users."""
    purchaseDate: NotRequired[str | None]
    """The date of purchase, or null if unknown. A date, `YYYY-MM-DD`."""
    purchaseCost: NotRequired[str | None]
    """The purchase price as a decimal without currency, or null if unknown. In responses, it has two decimal places."""
    warrantyExpiresAt: NotRequired[str | None]
    """When the warranty ends, or null if unknown. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`."""
    notes: NotRequired[str | None]
    """Additional notes, or null if there are none. At most 65535 bytes in UTF-8. 1 to 65535 characters."""
    externalId: NotRequired[str | None]
    """The id of this resource in another system, or null if it has none. Unique in the workspace for each resource type. Once it is set, it never changes. 1 to 200 printable ASCII characters without spaces and commas. 1 to 200 characters."""
    tags: NotRequired[Sequence[Tag] | None]
    """The tags: at most 50. Responses list them in ascending order and without duplicates. At most 50 items. 1 to 50 characters."""
    customFields: NotRequired[Mapping[str, object] | None]
    """The server merges these fields into the existing custom fields. A value replaces the existing value, and null removes the key. The result has at most 50 keys and 16 KiB as JSON."""

AssetMatch = Literal["assetTag", "externalId"]
"""The field by which the server finds the asset of an item. The default is `assetTag`."""

class AssetPatch(TypedDict):
    """Changes to an asset. Absent fields stay unchanged, and null clears a field. If you assign an asset without a status, its status becomes IN_USE. If you unassign an asset that is IN_USE, its status becomes IN_STOCK. `assetTag` can't change."""

    name: NotRequired[str]
    """The name of the asset. 1 to 255 characters."""
    serialNumber: NotRequired[str | None]
    """The serial number, or null if unknown. The server converts it to the normalization form NFC, and rejects invisible characters. 1 to 255 characters."""
    type: NotRequired[AssetType]
    """The type of the asset."""
    status: NotRequired[AssetStatus]
    """The status of the asset. Every transition is allowed, except from DISPOSED, which is final."""
    manufacturer: NotRequired[str | None]
    """The manufacturer, or null if unknown. 1 to 255 characters."""
    model: NotRequired[str | None]
    """The model name, or null if unknown. 1 to 255 characters."""
    location: NotRequired[str | None]
    """The location, as free text, or null if unknown. 1 to 255 characters."""
    assignedToId: NotRequired[UserReference | None]
    """The assigned user, by id or email address, or null if unassigned. You can assign only active users."""
    purchaseDate: NotRequired[str | None]
    """The date of purchase, or null if unknown. A date, `YYYY-MM-DD`."""
    purchaseCost: NotRequired[str | None]
    """The purchase price as a decimal without currency, or null if unknown. In responses, it has two decimal places."""
    warrantyExpiresAt: NotRequired[str | None]
    """When the warranty ends, or null if unknown. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`."""
    notes: NotRequired[str | None]
    """Additional notes, or null if there are none. At most 65535 bytes in UTF-8. 1 to 65535 characters."""
    externalId: NotRequired[str | None]
    """The id of this resource in another system, or null if it has none. Unique in the workspace for each resource type. Once it is set, it never changes. 1 to 200 printable ASCII characters without spaces and commas. 1 to 200 characters."""
    tags: NotRequired[Sequence[Tag]]
    """The new tags, which replace all tags. Not together with `addTags` or `removeTags`. At most 50 items. 1 to 50 characters."""
    addTags: NotRequired[Sequence[Tag]]
    """The tags to add. Two requests that add different tags never overwrite each other. At most 50 items. 1 to 50 characters."""
    removeTags: NotRequired[Sequence[Tag]]
    """The tags to remove, none of which is in `addTags`. At most 50 items. 1 to 50 characters."""
    customFields: NotRequired[Mapping[str, object]]
    """The server merges these fields into the existing custom fields. A value replaces the existing value, and null removes the key. The result has at most 50 keys and 16 KiB as JSON."""

ArticleStatus = Literal["PUBLISHED", "ARCHIVED"]
"""PUBLISHED, or ARCHIVED if the article is no longer published. Only the change feed returns ARCHIVED."""

class ArticleSummary(TypedDict):
    """An article of the knowledge base without its text."""

    id: int
    """The identifier. It is unique within its resource type, never changes and is never reused."""
    title: str
    """The title, on one line. The server removes leading and trailing white space. 1 to 255 characters."""
    category: str | None
    """The category, as free text without commas, or null if the article has none. 1 to 100 characters."""
    status: str
    """PUBLISHED, or ARCHIVED if the article is no longer published. Only the change feed returns ARCHIVED. Known values: `PUBLISHED`, `ARCHIVED`."""
    createdAt: str
    """When the resource was created. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`."""
    updatedAt: str
    """When the resource last changed. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`."""
    etag: Etag
    """The version of the resource, equal to the `ETag` header of its response. Send it back unchanged in `If-Match`."""

class Article(TypedDict):
    """An article of the knowledge base."""

    id: int
    """The identifier. It is unique within its resource type, never changes and is never reused."""
    title: str
    """The title, on one line. The server removes leading and trailing white space. 1 to 255 characters."""
    category: str | None
    """The category, as free text without commas, or null if the article has none. 1 to 100 characters."""
    status: str
    """PUBLISHED, or ARCHIVED if the article is no longer published. Only the change feed returns ARCHIVED. Known values: `PUBLISHED`, `ARCHIVED`."""
    body: str | None
    """The text in Markdown, at most 256 KiB, or null if the article is no longer published. 1 to 262144 characters."""
    createdAt: str
    """When the resource was created. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`."""
    updatedAt: str
    """When the resource last changed. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`."""
    etag: Etag
    """The version of the resource, equal to the `ETag` header of its response. Send it back unchanged in `If-Match`."""

ProposalOperation = Literal["tickets_create", "tickets_update", "comments_create", "links_create", "assets_create", "assets_update", "assets_upsertMany", "tasks_create", "tasks_update", "requestForms_submit"]
"""The `operationId` of the proposed request."""

ProposalStatus = Literal["PENDING", "ACCEPTED", "REJECTED", "STALE", "EXPIRED", "WITHDRAWN"]
"""PENDING: no person has decided. STALE: a person accepted the proposal, but its changes would differ from the preview. EXPIRED: no person decided within 7 days. WITHDRAWN: the API key withdrew the proposal, or the key or its user was deactivated."""

ProposalTarget = str
"""The type and the id of a resource."""

ProposalChangesValue = TypedDict(
    "ProposalChangesValue",
    {
        # The value before the change, or null in a new resource.
        "from": Any,
        # The value after the change.
        "to": Any,
    },
)

ProposalChanges = Dict[str, ProposalChangesValue]
"""The changed fields, or the fields of the new resource, by name. They exclude ids, numbers, counts and times that the server sets, and `dueAt` if the request does not set it."""

class ProposalPreview(TypedDict):
    """The changes of the request in one resource."""

    target: ProposalTarget | None
    """The type and the id of the resource that the request changes, or to which it adds something. Null if there is none."""
    status: str | None
    """The status of the target before the change, or null if there is no target."""
    changes: ProposalChanges
    """The changed fields, or the fields of the new resource, by name. They exclude ids, numbers, counts and times that the server sets, and `dueAt` if the request does not set it."""

ErrorCode = Literal["VALIDATION_ERROR", "INVALID_JSON", "UNSUPPORTED_MEDIA_TYPE", "PAYLOAD_TOO_LARGE", "INVALID_TRANSITION", "INVALID_REFERENCE", "EXTERNAL_ID_EXISTS", "QUOTA_EXCEEDED", "QUERY_TOO_BROAD", "INVALID_API_KEY", "INSUFFICIENT_SCOPE", "ADDRESS_NOT_ALLOWED", "NOT_FOUND", "IDEMPOTENCY_KEY_REUSED", "IDEMPOTENCY_IN_PROGRESS", "PRECONDITION_FAILED", "RATE_LIMIT_EXCEEDED", "INTERNAL_ERROR", "SERVICE_UNAVAILABLE"]
"""The kind of error. Use this code, not the message, in programs."""

class ErrorDetail(TypedDict):
    """One invalid field or parameter of the request."""

    path: str
    """The name of the field or parameter. In a nested path, dots separate the names: `tickets.0.title`."""
    message: str
    """What is wrong with the field or parameter. To form a sentence, put `path` before this text."""
    id: NotRequired[int]
    """The existing resource that has the value. Present only with EXTERNAL_ID_EXISTS."""

class ProposalResultError1(TypedDict):
    code: str
    """The kind of error. Use this code, not the message, in programs. Known values: `VALIDATION_ERROR`, `INVALID_JSON`, `UNSUPPORTED_MEDIA_TYPE`, `PAYLOAD_TOO_LARGE`, `INVALID_TRANSITION`, `INVALID_REFERENCE`, `EXTERNAL_ID_EXISTS`, `QUOTA_EXCEEDED`, `QUERY_TOO_BROAD`, `INVALID_API_KEY`, `INSUFFICIENT_SCOPE`, `ADDRESS_NOT_ALLOWED`, `NOT_FOUND`, `IDEMPOTENCY_KEY_REUSED`, `IDEMPOTENCY_IN_PROGRESS`, `PRECONDITION_FAILED`, `RATE_LIMIT_EXCEEDED`, `INTERNAL_ERROR`, `SERVICE_UNAVAILABLE`."""
    message: str
    """Text for people: what is wrong and how to correct it."""
    details: NotRequired[List[ErrorDetail]]
    """The invalid fields and parameters, at most 20. Absent if the error concerns no field or parameter. At most 20 items."""

class ProposalResult(TypedDict):
    """The reason why a proposal became STALE when a person accepted it."""

    preview: List[ProposalPreview] | None
    """The changes of the request at the time of the decision, or null if the request failed."""
    error: ProposalResultError1 | None
    """The error of the request at the time of the decision, or null."""

class Proposal(TypedDict):
    """A request that the server runs only after a person accepts it."""

    id: int
    """The identifier. It is unique within its resource type, never changes and is never reused."""
    operation: str
    """The `operationId` of the proposed request. Known values: `tickets_create`, `tickets_update`, `comments_create`, `links_create`, `assets_create`, `assets_update`, `assets_upsertMany`, `tasks_create`, `tasks_update`, `requestForms_submit`."""
    params: Dict[str, Any]
    """The path parameters. Ids replace ticket numbers."""
    body: Dict[str, Any] | None
    """The body of the request. Ids replace ticket numbers and email addresses. Null if an administrator has redacted the ticket."""
    reason: str
    """The reason for the change, shown to the person who decides. At most 4096 bytes in UTF-8. 1 to 4096 characters."""
    ifMatch: str | None
    """The `etag` of the version that the proposal is based on, or null."""
    status: str
    """PENDING: no person has decided. STALE: a person accepted the proposal, but its changes would differ from the preview. EXPIRED: no person decided within 7 days. WITHDRAWN: the API key withdrew the proposal, or the key or its user was deactivated. Known values: `PENDING`, `ACCEPTED`, `REJECTED`, `STALE`, `EXPIRED`, `WITHDRAWN`."""
    target: ProposalTarget | None
    """The type and the id of the resource that the request changes, or to which it adds something. Null if there is none, and for an upsert."""
    preview: List[ProposalPreview]
    """The changes of the request, in the order of its items. Empty if an administrator has redacted the ticket."""
    result: ProposalResult | None
    """The reason why the proposal became STALE when a person accepted it, or null."""
    createdId: int | None
    """The id of the created ticket, comment, link, asset or task, or null if the request has created nothing."""
    note: str | None
    """The reason for the decision. At most 4096 bytes in UTF-8. 1 to 4096 characters."""
    proposedById: int
    """The user of the API key that proposed the request."""
    keyId: int
    """The API key that proposed the request."""
    decidedById: int | None
    """The user who decided, or null."""
    expiresAt: str
    """When a pending proposal expires. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`."""
    endedAt: str | None
    """When the proposal was decided, expired or was withdrawn. Null while it is pending. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`."""
    createdAt: str
    """When the resource was created. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`."""
    updatedAt: str
    """When the resource last changed. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`."""
    etag: Etag
    """The version of the resource, equal to the `ETag` header of its response. Send it back unchanged in `If-Match`."""

ProposalReason = str
"""The reason for the change, shown to the person who decides. At most 4096 bytes in UTF-8."""

class ProposedTicketsCreate(TypedDict):
    """A proposal of `tickets_create`."""

    operation: Literal["tickets_create"]
    """The operation."""
    body: NewTicket
    """A new ticket. Set `category`, `categoryConfigId` or both."""
    reason: ProposalReason
    """The reason for the change, shown to the person who decides. At most 4096 bytes in UTF-8. 1 to 4096 characters."""

ProposalIfMatch = str
"""The `etag` of the version that the proposal is based on. If the resource has another `etag` when a person accepts the proposal, the proposal becomes STALE."""

class ProposedTicketsUpdateParams(TypedDict):
    id: TicketReference
    """The id of a ticket, or its number such as `INC-17`."""

class ProposedTicketsUpdate(TypedDict):
    """A proposal of `tickets_update`."""

    operation: Literal["tickets_update"]
    """The operation."""
    params: ProposedTicketsUpdateParams
    """The path parameters."""
    body: TicketPatch
    """Changes to a ticket. Absent fields stay unchanged, and null clears a field. `type` can't change."""
    reason: ProposalReason
    """The reason for the change, shown to the person who decides. At most 4096 bytes in UTF-8. 1 to 4096 characters."""
    ifMatch: NotRequired[ProposalIfMatch]
    """The `etag` of the version that the proposal is based on. If the resource has another `etag` when a person accepts the proposal, the proposal becomes STALE. At most 200 characters."""

class ProposedCommentsCreateParams(TypedDict):
    id: TicketReference
    """The id of a ticket, or its number such as `INC-17`."""

class ProposedCommentsCreate(TypedDict):
    """A proposal of `comments_create`."""

    operation: Literal["comments_create"]
    """The operation."""
    params: ProposedCommentsCreateParams
    """The path parameters."""
    body: NewComment
    """A new comment."""
    reason: ProposalReason
    """The reason for the change, shown to the person who decides. At most 4096 bytes in UTF-8. 1 to 4096 characters."""

class ProposedLinksCreateParams(TypedDict):
    id: TicketReference
    """The id of a ticket, or its number such as `INC-17`."""

class ProposedLinksCreate(TypedDict):
    """A proposal of `links_create`."""

    operation: Literal["links_create"]
    """The operation."""
    params: ProposedLinksCreateParams
    """The path parameters."""
    body: NewLink
    """A new link from the ticket in the path to another ticket."""
    reason: ProposalReason
    """The reason for the change, shown to the person who decides. At most 4096 bytes in UTF-8. 1 to 4096 characters."""

class ProposedAssetsCreate(TypedDict):
    """A proposal of `assets_create`."""

    operation: Literal["assets_create"]
    """The operation."""
    body: NewAsset
    """A new asset."""
    reason: ProposalReason
    """The reason for the change, shown to the person who decides. At most 4096 bytes in UTF-8. 1 to 4096 characters."""

class ProposedAssetsUpdateParams(TypedDict):
    id: int | str
    """The identifier. It is unique within its resource type, never changes and is never reused."""

class ProposedAssetsUpdate(TypedDict):
    """A proposal of `assets_update`."""

    operation: Literal["assets_update"]
    """The operation."""
    params: ProposedAssetsUpdateParams
    """The path parameters."""
    body: AssetPatch
    """Changes to an asset. Absent fields stay unchanged, and null clears a field. If you assign an asset without a status, its status becomes IN_USE. If you unassign an asset that is IN_USE, its status becomes IN_STOCK. `assetTag` can't change."""
    reason: ProposalReason
    """The reason for the change, shown to the person who decides. At most 4096 bytes in UTF-8. 1 to 4096 characters."""
    ifMatch: NotRequired[ProposalIfMatch]
    """The `etag` of the version that the proposal is based on. If the resource has another `etag` when a person accepts the proposal, the proposal becomes STALE. At most 200 characters."""

class AssetUpsert(TypedDict):
    """The assets to create or update, each with a different value in the field that `matchBy` names."""

    assets: Sequence[AssetUpsertItem]
    """The items. The server processes them in this order. Each item succeeds or fails independently. 1 to 100 items."""
    matchBy: NotRequired[AssetMatch]
    """The field by which the server finds the asset of an item. The default is `assetTag`."""

class ProposedAssetsUpsertMany(TypedDict):
    """A proposal of `assets_upsertMany`."""

    operation: Literal["assets_upsertMany"]
    """The operation."""
    body: AssetUpsert
    """The assets to create or update, each with a different value in the field that `matchBy` names."""
    reason: ProposalReason
    """The reason for the change, shown to the person who decides. At most 4096 bytes in UTF-8. 1 to 4096 characters."""

class NewTask(TypedDict):
    """A new task in a project."""

    title: str
    """The title, on one line. The server removes leading and trailing white space. 1 to 255 characters."""
    description: NotRequired[str | None]
    """The full description. At most 65535 bytes in UTF-8. 1 to 65535 characters."""
    priority: NotRequired[Priority | None]
    """The priority. The default is MEDIUM."""
    assigneeId: NotRequired[UserReference | None]
    """The assigned user, by id or email address, or null if unassigned. You can assign only active users."""
    startDate: NotRequired[str | None]
    """The start date, or null if not set. A date, `YYYY-MM-DD`."""
    dueDate: NotRequired[str | None]
    """The due date, or null if not set. A date, `YYYY-MM-DD`."""

class ProposedTasksCreateParams(TypedDict):
    id: int | str
    """The identifier. It is unique within its resource type, never changes and is never reused."""

class ProposedTasksCreate(TypedDict):
    """A proposal of `tasks_create`."""

    operation: Literal["tasks_create"]
    """The operation."""
    params: ProposedTasksCreateParams
    """The path parameters."""
    body: NewTask
    """A new task in a project."""
    reason: ProposalReason
    """The reason for the change, shown to the person who decides. At most 4096 bytes in UTF-8. 1 to 4096 characters."""

TaskStatus = Literal["TODO", "IN_PROGRESS", "BLOCKED", "DONE", "CANCELLED"]
"""The status of the task. New tasks are TODO. Every transition is allowed."""

class TaskPatch(TypedDict):
    """Changes to a task. Absent fields stay unchanged, and null clears a field."""

    title: NotRequired[str]
    """The title, on one line. The server removes leading and trailing white space. 1 to 255 characters."""
    description: NotRequired[str | None]
    """The full description. At most 65535 bytes in UTF-8. 1 to 65535 characters."""
    status: NotRequired[TaskStatus]
    """The status of the task. New tasks are TODO. Every transition is allowed."""
    priority: NotRequired[Priority]
    """The priority of a ticket, project or task."""
    assigneeId: NotRequired[UserReference | None]
    """The assigned user, by id or email address, or null if unassigned. You can assign only active users."""
    startDate: NotRequired[str | None]
    """The start date, or null if not set. A date, `YYYY-MM-DD`."""
    dueDate: NotRequired[str | None]
    """The due date, or null if not set. A date, `YYYY-MM-DD`."""

class ProposedTasksUpdateParams(TypedDict):
    taskId: int | str
    """The identifier. It is unique within its resource type, never changes and is never reused."""

class ProposedTasksUpdate(TypedDict):
    """A proposal of `tasks_update`."""

    operation: Literal["tasks_update"]
    """The operation."""
    params: ProposedTasksUpdateParams
    """The path parameters."""
    body: TaskPatch
    """Changes to a task. Absent fields stay unchanged, and null clears a field."""
    reason: ProposalReason
    """The reason for the change, shown to the person who decides. At most 4096 bytes in UTF-8. 1 to 4096 characters."""
    ifMatch: NotRequired[ProposalIfMatch]
    """The `etag` of the version that the proposal is based on. If the resource has another `etag` when a person accepts the proposal, the proposal becomes STALE. At most 200 characters."""

RequestFormAnswers = Mapping[str, object]
"""The answers, by field key, as `schema` of the form describes. Omit fields without an answer."""

class RequestFormSubmission(TypedDict):
    """The answers to the questions of a form, and optional fields of the ticket."""

    answers: Mapping[str, object]
    """The answers, by field key, as `schema` of the form describes. Omit fields without an answer."""
    title: NotRequired[str | None]
    """The title. By default, the server creates it from the form and the answers. 1 to 255 characters."""
    description: NotRequired[str | None]
    """The full description. By default, it has a line such as `Site: Berlin` for each answer. 1 to 65535 characters."""
    requesterId: NotRequired[UserReference | None]
    """The user who requests the ticket, by id or email address. The default is the user of the API key."""
    externalId: NotRequired[str | None]
    """The id of this resource in another system, or null if it has none. Unique in the workspace for each resource type. Once it is set, it never changes. 1 to 200 printable ASCII characters without spaces and commas. 1 to 200 characters."""
    watcherUserIds: NotRequired[Sequence[UserReference] | None]
    """The users who watch the ticket: at most 100 ids or email addresses. Responses list the ids in ascending order. You can add only active users."""
    assetIds: NotRequired[Sequence[int] | None]
    """The assets that the ticket concerns: at most 50 ids. Responses list them in ascending order."""

class ProposedRequestFormsSubmitParams(TypedDict):
    key: str
    """The key of the request form. It never changes. At most 40 characters."""

class ProposedRequestFormsSubmit(TypedDict):
    """A proposal of `requestForms_submit`."""

    operation: Literal["requestForms_submit"]
    """The operation."""
    params: ProposedRequestFormsSubmitParams
    """The path parameters."""
    body: RequestFormSubmission
    """The answers to the questions of a form, and optional fields of the ticket."""
    reason: ProposalReason
    """The reason for the change, shown to the person who decides. At most 4096 bytes in UTF-8. 1 to 4096 characters."""

NewProposal = ProposedTicketsCreate | ProposedTicketsUpdate | ProposedCommentsCreate | ProposedLinksCreate | ProposedAssetsCreate | ProposedAssetsUpdate | ProposedAssetsUpsertMany | ProposedTasksCreate | ProposedTasksUpdate | ProposedRequestFormsSubmit
"""A request that the server runs if a person accepts it."""

class ProposalDecision(TypedDict):
    """The decision about a proposal."""

    decision: Literal["ACCEPTED", "REJECTED"]
    """The decision."""
    note: NotRequired[str | None]
    """The reason for the decision. At most 4096 bytes in UTF-8. 1 to 4096 characters."""

ActivityAction = Literal["CREATED", "UPDATED", "COMMENTED"]
"""The action on the resource."""

Actor1 = TypedDict(
    "Actor1",
    {
        # The user of the API key, or the user who was signed in to the developer area.
        "userId": int,
        # The API key, or null if the action used no API key.
        "keyId": int | None,
        # Present in activities if the API key is an import key.
        "import": NotRequired[Literal[True]],
    },
)

Actor = Actor1 | None
"""The user and the API key that performed the action, or null for an action on the command line."""

class ChangedLink(TypedDict):
    """A link that was created or deleted, from the perspective of the changed ticket."""

    type: str
    """How the ticket is related to the other ticket. An INCOMING link describes how the other ticket is related to this ticket. RELATES_TO has no direction. Known values: `RELATES_TO`, `DUPLICATES`, `CAUSED_BY`, `BLOCKS`."""
    direction: str
    """OUTGOING if the link was created on this ticket, and INCOMING if it was created on the other ticket. Known values: `OUTGOING`, `INCOMING`."""
    ticketNumber: TicketNumber
    """The number of the other ticket."""

class ChangedAttachment(TypedDict):
    """An attachment that was added or deleted."""

    id: int
    """The identifier. It is unique within its resource type, never changes and is never reused."""
    name: str
    """The name of the file, without a path. 1 to 255 characters."""

class ChangedApproval(TypedDict):
    """An approval before or after a change of the ticket."""

    id: int
    """The identifier. It is unique within its resource type, never changes and is never reused."""
    approverId: int
    """The user who decides."""
    decision: str
    """The decision of the approver. PENDING until the approver decides. Known values: `PENDING`, `APPROVED`, `REJECTED`."""

TicketChangesTitle = TypedDict(
    "TicketChangesTitle",
    {
        # The value before the change. 1 to 255 characters.
        "from": str,
        # The value after the change. 1 to 255 characters.
        "to": str,
    },
)

TicketChangesDescription = TypedDict(
    "TicketChangesDescription",
    {
        # The value before the change. 1 to 65535 characters.
        "from": str,
        # The value after the change. 1 to 65535 characters.
        "to": str,
    },
)

TicketChangesStatus = TypedDict(
    "TicketChangesStatus",
    {
        # The value before the change. Known values: `OPEN`, `IN_PROGRESS`, `PENDING`, `RESOLVED`, `CLOSED`, `CANCELLED`.
        "from": str,
        # The value after the change. Known values: `OPEN`, `IN_PROGRESS`, `PENDING`, `RESOLVED`, `CLOSED`, `CANCELLED`.
        "to": str,
    },
)

TicketChangesPriority = TypedDict(
    "TicketChangesPriority",
    {
        # The value before the change. Known values: `LOW`, `MEDIUM`, `HIGH`, `CRITICAL`.
        "from": str,
        # The value after the change. Known values: `LOW`, `MEDIUM`, `HIGH`, `CRITICAL`.
        "to": str,
    },
)

TicketChangesCategory = TypedDict(
    "TicketChangesCategory",
    {
        # The value before the change. Known values: `SOFTWARE`, `HARDWARE`, `NETWORK`, `ACCESS`, `EMAIL`, `OTHER`.
        "from": str | None,
        # The value after the change. Known values: `SOFTWARE`, `HARDWARE`, `NETWORK`, `ACCESS`, `EMAIL`, `OTHER`.
        "to": str | None,
    },
)

TicketChangesCategoryConfigId = TypedDict(
    "TicketChangesCategoryConfigId",
    {
        # The value before the change. 1 to 255 characters.
        "from": str | None,
        # The value after the change. 1 to 255 characters.
        "to": str | None,
    },
)

TicketChangesAssigneeId = TypedDict(
    "TicketChangesAssigneeId",
    {
        # The value before the change.
        "from": int | None,
        # The value after the change.
        "to": int | None,
    },
)

TicketChangesTeamId = TypedDict(
    "TicketChangesTeamId",
    {
        # The value before the change.
        "from": int | None,
        # The value after the change.
        "to": int | None,
    },
)

TicketChangesWatcherUserIds = TypedDict(
    "TicketChangesWatcherUserIds",
    {
        # The value before the change.
        "from": List[int],
        # The value after the change.
        "to": List[int],
    },
)

TicketChangesAssetIds = TypedDict(
    "TicketChangesAssetIds",
    {
        # The value before the change.
        "from": List[int],
        # The value after the change.
        "to": List[int],
    },
)

TicketChangesTags = TypedDict(
    "TicketChangesTags",
    {
        # The value before the change. At most 50 items. 1 to 50 characters.
        "from": List[Tag],
        # The value after the change. At most 50 items. 1 to 50 characters.
        "to": List[Tag],
    },
)

TicketChangesParentId = TypedDict(
    "TicketChangesParentId",
    {
        # The value before the change.
        "from": int | None,
        # The value after the change.
        "to": int | None,
    },
)

TicketChangesExternalId = TypedDict(
    "TicketChangesExternalId",
    {
        # The value before the change. 1 to 200 characters.
        "from": str | None,
        # The value after the change. 1 to 200 characters.
        "to": str | None,
    },
)

TicketChangesCustomFields = TypedDict(
    "TicketChangesCustomFields",
    {
        # The value before the change.
        "from": CustomFields,
        # The value after the change.
        "to": CustomFields,
    },
)

TicketChangesResolution = TypedDict(
    "TicketChangesResolution",
    {
        # The value before the change. 1 to 65535 characters.
        "from": str | None,
        # The value after the change. 1 to 65535 characters.
        "to": str | None,
    },
)

TicketChangesResolvedAt = TypedDict(
    "TicketChangesResolvedAt",
    {
        # The value before the change. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`.
        "from": str | None,
        # The value after the change. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`.
        "to": str | None,
    },
)

TicketChangesClosedAt = TypedDict(
    "TicketChangesClosedAt",
    {
        # The value before the change. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`.
        "from": str | None,
        # The value after the change. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`.
        "to": str | None,
    },
)

TicketChangesDueAt = TypedDict(
    "TicketChangesDueAt",
    {
        # The value before the change. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`.
        "from": str | None,
        # The value after the change. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`.
        "to": str | None,
    },
)

TicketChangesFirstResponseDueAt = TypedDict(
    "TicketChangesFirstResponseDueAt",
    {
        # The value before the change. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`.
        "from": str | None,
        # The value after the change. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`.
        "to": str | None,
    },
)

TicketChangesPlannedStartAt = TypedDict(
    "TicketChangesPlannedStartAt",
    {
        # The value before the change. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`.
        "from": str | None,
        # The value after the change. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`.
        "to": str | None,
    },
)

TicketChangesPlannedEndAt = TypedDict(
    "TicketChangesPlannedEndAt",
    {
        # The value before the change. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`.
        "from": str | None,
        # The value after the change. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`.
        "to": str | None,
    },
)

TicketChangesApprovalStatus = TypedDict(
    "TicketChangesApprovalStatus",
    {
        # The value before the change. Known values: `NONE`, `PENDING`, `APPROVED`, `REJECTED`.
        "from": str,
        # The value after the change. Known values: `NONE`, `PENDING`, `APPROVED`, `REJECTED`.
        "to": str,
    },
)

TicketChangesFirstRespondedAt = TypedDict(
    "TicketChangesFirstRespondedAt",
    {
        # The value before the change. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`.
        "from": str | None,
        # The value after the change. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`.
        "to": str | None,
    },
)

TicketChangesRedactedAt = TypedDict(
    "TicketChangesRedactedAt",
    {
        # The value before the change. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`.
        "from": str | None,
        # The value after the change. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`.
        "to": str | None,
    },
)

TicketChangesCommentCount = TypedDict(
    "TicketChangesCommentCount",
    {
        # The value before the change.
        "from": int,
        # The value after the change.
        "to": int,
    },
)

TicketChangesAttachmentCount = TypedDict(
    "TicketChangesAttachmentCount",
    {
        # The value before the change.
        "from": int,
        # The value after the change.
        "to": int,
    },
)

TicketChangesLinkCount = TypedDict(
    "TicketChangesLinkCount",
    {
        # The value before the change.
        "from": int,
        # The value after the change.
        "to": int,
    },
)

TicketChangesLinks = TypedDict(
    "TicketChangesLinks",
    {
        # The value before the change.
        "from": ChangedLink | None,
        # The value after the change.
        "to": ChangedLink | None,
    },
)

TicketChangesAttachments = TypedDict(
    "TicketChangesAttachments",
    {
        # The value before the change.
        "from": ChangedAttachment | None,
        # The value after the change.
        "to": ChangedAttachment | None,
    },
)

TicketChangesApprovals = TypedDict(
    "TicketChangesApprovals",
    {
        # The value before the change.
        "from": List[ChangedApproval],
        # The value after the change.
        "to": List[ChangedApproval],
    },
)

class TicketChanges(TypedDict):
    """The changed fields of a ticket. `updatedAt` always changes and is not included. It can have other keys."""

    title: NotRequired[TicketChangesTitle]
    """The change to `title`. Absent if unchanged."""
    description: NotRequired[TicketChangesDescription]
    """The change to `description`. Absent if unchanged."""
    status: NotRequired[TicketChangesStatus]
    """The change to `status`. Absent if unchanged."""
    priority: NotRequired[TicketChangesPriority]
    """The change to `priority`. Absent if unchanged."""
    category: NotRequired[TicketChangesCategory]
    """The change to `category`. Absent if unchanged."""
    categoryConfigId: NotRequired[TicketChangesCategoryConfigId]
    """The change to `categoryConfigId`. Absent if unchanged."""
    assigneeId: NotRequired[TicketChangesAssigneeId]
    """The change to `assigneeId`. Absent if unchanged."""
    teamId: NotRequired[TicketChangesTeamId]
    """The change to `teamId`. Absent if unchanged."""
    watcherUserIds: NotRequired[TicketChangesWatcherUserIds]
    """The change to `watcherUserIds`. Absent if unchanged."""
    assetIds: NotRequired[TicketChangesAssetIds]
    """The change to `assetIds`. Absent if unchanged."""
    tags: NotRequired[TicketChangesTags]
    """The change to `tags`. Absent if unchanged."""
    parentId: NotRequired[TicketChangesParentId]
    """The change to `parentId`. Absent if unchanged."""
    externalId: NotRequired[TicketChangesExternalId]
    """The change to `externalId`. Absent if unchanged."""
    customFields: NotRequired[TicketChangesCustomFields]
    """The change to `customFields`. Absent if unchanged."""
    resolution: NotRequired[TicketChangesResolution]
    """The change to `resolution`. Absent if unchanged."""
    resolvedAt: NotRequired[TicketChangesResolvedAt]
    """The change to `resolvedAt`. Absent if unchanged."""
    closedAt: NotRequired[TicketChangesClosedAt]
    """The change to `closedAt`. Absent if unchanged."""
    dueAt: NotRequired[TicketChangesDueAt]
    """The change to `dueAt`. Absent if unchanged."""
    firstResponseDueAt: NotRequired[TicketChangesFirstResponseDueAt]
    """The change to `firstResponseDueAt`. Absent if unchanged."""
    plannedStartAt: NotRequired[TicketChangesPlannedStartAt]
    """The change to `plannedStartAt`. Absent if unchanged."""
    plannedEndAt: NotRequired[TicketChangesPlannedEndAt]
    """The change to `plannedEndAt`. Absent if unchanged."""
    approvalStatus: NotRequired[TicketChangesApprovalStatus]
    """The change to `approvalStatus`. Absent if unchanged."""
    firstRespondedAt: NotRequired[TicketChangesFirstRespondedAt]
    """The change to `firstRespondedAt`. Absent if unchanged."""
    redactedAt: NotRequired[TicketChangesRedactedAt]
    """The change to `redactedAt`. Absent if unchanged."""
    commentCount: NotRequired[TicketChangesCommentCount]
    """The change to `commentCount`. Absent if unchanged."""
    attachmentCount: NotRequired[TicketChangesAttachmentCount]
    """The change to `attachmentCount`. Absent if unchanged."""
    linkCount: NotRequired[TicketChangesLinkCount]
    """The change to `linkCount`. Absent if unchanged."""
    links: NotRequired[TicketChangesLinks]
    """The change to `links`. Absent if unchanged."""
    attachments: NotRequired[TicketChangesAttachments]
    """The change to `attachments`. Absent if unchanged."""
    approvals: NotRequired[TicketChangesApprovals]
    """The change to `approvals`. Absent if unchanged."""

class TicketActivity(TypedDict):
    """An action on a ticket."""

    id: int
    """The identifier. It is unique within its resource type, never changes and is never reused."""
    ticketId: int
    """The ticket."""
    at: str
    """When the action occurred. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`."""
    action: str
    """The action on the resource. Known values: `CREATED`, `UPDATED`, `COMMENTED`."""
    actor: Actor
    """The user and the API key that performed the action, or null for an action on the command line."""
    changes: TicketChanges
    """The changed fields, in the same form as in events. Empty for the action CREATED. Text with more than 1000 characters is cut and ends with `…`. `customFields` has only the changed keys, and the 1000 characters are divided equally among them. A list in `customFields` that exceeds its share becomes a string: the start of its JSON, then `…`."""

AssetChangesName = TypedDict(
    "AssetChangesName",
    {
        # The value before the change. 1 to 255 characters.
        "from": str,
        # The value after the change. 1 to 255 characters.
        "to": str,
    },
)

AssetChangesSerialNumber = TypedDict(
    "AssetChangesSerialNumber",
    {
        # The value before the change. 1 to 255 characters.
        "from": str | None,
        # The value after the change. 1 to 255 characters.
        "to": str | None,
    },
)

AssetChangesType = TypedDict(
    "AssetChangesType",
    {
        # The value before the change. Known values: `LAPTOP`, `DESKTOP`, `SERVER`, `MOBILE`, `NETWORK`, `PRINTER`, `SOFTWARE`, `OTHER`.
        "from": str,
        # The value after the change. Known values: `LAPTOP`, `DESKTOP`, `SERVER`, `MOBILE`, `NETWORK`, `PRINTER`, `SOFTWARE`, `OTHER`.
        "to": str,
    },
)

AssetChangesStatus = TypedDict(
    "AssetChangesStatus",
    {
        # The value before the change. Known values: `ON_ORDER`, `IN_STOCK`, `IN_TRANSIT`, `IN_USE`, `MAINTENANCE`, `RETIRED`, `DISPOSED`, `LOST`.
        "from": str,
        # The value after the change. Known values: `ON_ORDER`, `IN_STOCK`, `IN_TRANSIT`, `IN_USE`, `MAINTENANCE`, `RETIRED`, `DISPOSED`, `LOST`.
        "to": str,
    },
)

AssetChangesManufacturer = TypedDict(
    "AssetChangesManufacturer",
    {
        # The value before the change. 1 to 255 characters.
        "from": str | None,
        # The value after the change. 1 to 255 characters.
        "to": str | None,
    },
)

AssetChangesModel = TypedDict(
    "AssetChangesModel",
    {
        # The value before the change. 1 to 255 characters.
        "from": str | None,
        # The value after the change. 1 to 255 characters.
        "to": str | None,
    },
)

AssetChangesLocation = TypedDict(
    "AssetChangesLocation",
    {
        # The value before the change. 1 to 255 characters.
        "from": str | None,
        # The value after the change. 1 to 255 characters.
        "to": str | None,
    },
)

AssetChangesAssignedToId = TypedDict(
    "AssetChangesAssignedToId",
    {
        # The value before the change.
        "from": int | None,
        # The value after the change.
        "to": int | None,
    },
)

AssetChangesPurchaseDate = TypedDict(
    "AssetChangesPurchaseDate",
    {
        # The value before the change. A date, `YYYY-MM-DD`.
        "from": str | None,
        # The value after the change. A date, `YYYY-MM-DD`.
        "to": str | None,
    },
)

AssetChangesPurchaseCost = TypedDict(
    "AssetChangesPurchaseCost",
    {
        # The value before the change.
        "from": str | None,
        # The value after the change.
        "to": str | None,
    },
)

AssetChangesWarrantyExpiresAt = TypedDict(
    "AssetChangesWarrantyExpiresAt",
    {
        # The value before the change. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`.
        "from": str | None,
        # The value after the change. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`.
        "to": str | None,
    },
)

AssetChangesNotes = TypedDict(
    "AssetChangesNotes",
    {
        # The value before the change. 1 to 65535 characters.
        "from": str | None,
        # The value after the change. 1 to 65535 characters.
        "to": str | None,
    },
)

AssetChangesExternalId = TypedDict(
    "AssetChangesExternalId",
    {
        # The value before the change. 1 to 200 characters.
        "from": str | None,
        # The value after the change. 1 to 200 characters.
        "to": str | None,
    },
)

AssetChangesTags = TypedDict(
    "AssetChangesTags",
    {
        # The value before the change. At most 50 items. 1 to 50 characters.
        "from": List[Tag],
        # The value after the change. At most 50 items. 1 to 50 characters.
        "to": List[Tag],
    },
)

AssetChangesCustomFields = TypedDict(
    "AssetChangesCustomFields",
    {
        # The value before the change.
        "from": CustomFields,
        # The value after the change.
        "to": CustomFields,
    },
)

class AssetChanges(TypedDict):
    """The changed fields of an asset. `updatedAt` always changes and is not included. It can have other keys."""

    name: NotRequired[AssetChangesName]
    """The change to `name`. Absent if unchanged."""
    serialNumber: NotRequired[AssetChangesSerialNumber]
    """The change to `serialNumber`. Absent if unchanged."""
    type: NotRequired[AssetChangesType]
    """The change to `type`. Absent if unchanged."""
    status: NotRequired[AssetChangesStatus]
    """The change to `status`. Absent if unchanged."""
    manufacturer: NotRequired[AssetChangesManufacturer]
    """The change to `manufacturer`. Absent if unchanged."""
    model: NotRequired[AssetChangesModel]
    """The change to `model`. Absent if unchanged."""
    location: NotRequired[AssetChangesLocation]
    """The change to `location`. Absent if unchanged."""
    assignedToId: NotRequired[AssetChangesAssignedToId]
    """The change to `assignedToId`. Absent if unchanged."""
    purchaseDate: NotRequired[AssetChangesPurchaseDate]
    """The change to `purchaseDate`. Absent if unchanged."""
    purchaseCost: NotRequired[AssetChangesPurchaseCost]
    """The change to `purchaseCost`. Absent if unchanged."""
    warrantyExpiresAt: NotRequired[AssetChangesWarrantyExpiresAt]
    """The change to `warrantyExpiresAt`. Absent if unchanged."""
    notes: NotRequired[AssetChangesNotes]
    """The change to `notes`. Absent if unchanged."""
    externalId: NotRequired[AssetChangesExternalId]
    """The change to `externalId`. Absent if unchanged."""
    tags: NotRequired[AssetChangesTags]
    """The change to `tags`. Absent if unchanged."""
    customFields: NotRequired[AssetChangesCustomFields]
    """The change to `customFields`. Absent if unchanged."""

class AssetActivity(TypedDict):
    """An action on an asset."""

    id: int
    """The identifier. It is unique within its resource type, never changes and is never reused."""
    assetId: int
    """The asset."""
    at: str
    """When the action occurred. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`."""
    action: str
    """The action on the resource. Known values: `CREATED`, `UPDATED`, `COMMENTED`."""
    actor: Actor
    """The user and the API key that performed the action, or null for an action on the command line."""
    changes: AssetChanges
    """The changed fields, in the same form as in events. Empty for the action CREATED. Text with more than 1000 characters is cut and ends with `…`. `customFields` has only the changed keys, and the 1000 characters are divided equally among them. A list in `customFields` that exceeds its share becomes a string: the start of its JSON, then `…`."""

ProjectStatus = Literal["PLANNED", "ACTIVE", "ON_HOLD", "COMPLETED", "CANCELLED"]
"""The status of the project."""

class Project(TypedDict):
    """A project. List its tasks with `GET /projects/{id}/tasks`."""

    id: int
    """The identifier. It is unique within its resource type, never changes and is never reused."""
    key: str
    """The short name of the project, unique in the workspace."""
    name: str
    """The name of the project. 1 to 255 characters."""
    description: str | None
    """The full description. At most 65535 bytes in UTF-8. 1 to 65535 characters."""
    status: str
    """The status of the project. Known values: `PLANNED`, `ACTIVE`, `ON_HOLD`, `COMPLETED`, `CANCELLED`."""
    priority: str
    """The priority of a ticket, project or task. Known values: `LOW`, `MEDIUM`, `HIGH`, `CRITICAL`."""
    managerId: int | None
    """The user who leads the project, or null if there is none."""
    startDate: str | None
    """The start date, or null if not set. A date, `YYYY-MM-DD`."""
    endDate: str | None
    """The end date, or null if not set. A date, `YYYY-MM-DD`."""
    createdAt: str
    """When the resource was created. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`."""
    updatedAt: str
    """When the resource last changed. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`."""
    etag: Etag
    """The version of the resource, equal to the `ETag` header of its response. Send it back unchanged in `If-Match`."""

class Task(TypedDict):
    """A task of a project."""

    id: int
    """The identifier. It is unique within its resource type, never changes and is never reused."""
    projectId: int
    """The project of the task. A task never moves to another project."""
    title: str
    """The title, on one line. The server removes leading and trailing white space. 1 to 255 characters."""
    description: str | None
    """The full description. At most 65535 bytes in UTF-8. 1 to 65535 characters."""
    status: str
    """The status of the task. New tasks are TODO. Every transition is allowed. Known values: `TODO`, `IN_PROGRESS`, `BLOCKED`, `DONE`, `CANCELLED`."""
    priority: str
    """The priority of a ticket, project or task. Known values: `LOW`, `MEDIUM`, `HIGH`, `CRITICAL`."""
    assigneeId: int | None
    """The assigned user, or null if unassigned. You can assign only active users."""
    startDate: str | None
    """The start date, or null if not set. A date, `YYYY-MM-DD`."""
    dueDate: str | None
    """The due date, or null if not set. A date, `YYYY-MM-DD`."""
    completedAt: str | None
    """When the status became DONE, or null if it is not DONE. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`."""
    createdAt: str
    """When the resource was created. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`."""
    updatedAt: str
    """When the resource last changed. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`."""
    etag: Etag
    """The version of the resource, equal to the `ETag` header of its response. Send it back unchanged in `If-Match`."""

class Team(TypedDict):
    """A team of users, which tickets can belong to."""

    id: int
    """The identifier. It is unique within its resource type, never changes and is never reused."""
    name: str
    """The name of the team, unique in the workspace regardless of case, also among inactive teams. 1 to 100 characters."""
    description: str | None
    """What the team does, or null if not set. 1 to 1000 characters."""
    active: bool
    """Whether the team is active. You can set only active teams as the team of a ticket."""
    memberIds: List[int]
    """The users in the team, in ascending order: at most 500 ids. Inactive users stay members."""
    createdAt: str
    """When the resource was created. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`."""
    updatedAt: str
    """When the resource last changed. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`."""
    etag: Etag
    """The version of the resource, equal to the `ETag` header of its response. Send it back unchanged in `If-Match`."""

CustomFieldResource = Literal["TICKET", "ASSET"]
"""The resource whose custom fields a definition describes."""

CustomFieldType = Literal["TEXT", "NUMBER", "BOOLEAN", "DATE", "SELECT", "MULTI_SELECT", "USER"]
"""The type of the values: a string, a number, a boolean, a date such as `2026-11-20`, the value of an option, an array of different values of options, or the id of a user."""

class CustomFieldOption(TypedDict):
    """A value that a custom field can have."""

    value: str
    """The value that a ticket or an asset stores. It never changes, and has no commas. 1 to 100 characters."""
    label: str
    """The name of the value for people. 1 to 100 characters."""
    active: bool
    """Whether requests can set the value. Stored values stay."""

class CustomFieldDefinition(TypedDict):
    """The type and the rules of a custom field of tickets or assets."""

    key: str
    """The name of the custom field. It never changes."""
    resource: str
    """The resource whose custom fields a definition describes. Known values: `TICKET`, `ASSET`."""
    type: str
    """The type of the values. It never changes. Known values: `TEXT`, `NUMBER`, `BOOLEAN`, `DATE`, `SELECT`, `MULTI_SELECT`, `USER`."""
    label: str
    """The name of the field for people. 1 to 100 characters."""
    description: str | None
    """What the field means, or null if not set. 1 to 1000 characters."""
    options: List[CustomFieldOption] | None
    """The values that the field can have. Null unless the type is `SELECT` or `MULTI_SELECT`."""
    required: bool
    """Whether a new ticket or asset must have a value. Imports and changes of existing ones need no value."""
    filterable: bool
    """Whether lists have the filter `customFields[key]`. Possible for `SELECT`, `MULTI_SELECT`, `BOOLEAN` and `USER`."""
    active: bool
    """Whether the server checks values. It accepts any value of an inactive field."""
    nonconforming: int
    """The number of stored values that a request could no longer set. The server counts them every night."""
    createdAt: str
    """When the resource was created. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`."""
    updatedAt: str
    """When the resource last changed. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`."""
    etag: Etag
    """The version of the resource, equal to the `ETag` header of its response. Send it back unchanged in `If-Match`."""

class CategoryConfig(TypedDict):
    """A category of tickets that the workspace defines."""

    id: str
    """The id that an administrator chose. It never changes. `categoryConfigId` of a ticket contains it. 1 to 255 characters."""
    name: str
    """The name of the category. 1 to 100 characters."""
    parentId: str | None
    """The id of the category above this one, or null on the first of up to 3 levels. 1 to 255 characters."""
    category: str | None
    """The value of `category` that this category refines, or null. A new ticket gets it if its request contains `categoryConfigId`, but not `category`. Known values: `SOFTWARE`, `HARDWARE`, `NETWORK`, `ACCESS`, `EMAIL`, `OTHER`."""
    active: bool
    """Whether the category is active. Requests can set only active categories."""
    createdAt: str
    """When the resource was created. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`."""
    updatedAt: str
    """When the resource last changed. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`."""
    etag: Etag
    """The version of the resource, equal to the `ETag` header of its response. Send it back unchanged in `If-Match`."""

Weekday = Literal["MONDAY", "TUESDAY", "WEDNESDAY", "THURSDAY", "FRIDAY", "SATURDAY", "SUNDAY"]
"""A day of the week."""

class BusinessInterval(TypedDict):
    """A time of the week in which the workspace is open."""

    weekday: str
    """The day on which the interval begins. Known values: `MONDAY`, `TUESDAY`, `WEDNESDAY`, `THURSDAY`, `FRIDAY`, `SATURDAY`, `SUNDAY`."""
    opens: str
    """When the interval begins, in the time zone of the calendar."""
    closes: str
    """When the interval ends. If this time is before `opens`, the interval ends on the next day."""

class Holiday(TypedDict):
    """A day on which no interval begins."""

    date: str
    """The day. A date, `YYYY-MM-DD`."""
    name: str | None
    """The name of the holiday, or null. 1 to 100 characters."""

class BusinessCalendar(TypedDict):
    """When the workspace is open."""

    timeZone: str
    """The IANA time zone of all times and days."""
    intervals: List[BusinessInterval]
    """The times of the week in which the workspace is open. They can overlap."""
    holidays: List[Holiday]
    """The days on which no interval begins, in order. At most 400 items."""

class TargetMinutes(TypedDict):
    """The minutes of each priority, or null for a priority without a target."""

    LOW: int | None
    """The minutes for LOW tickets, or null for no target. 1 to 525600."""
    MEDIUM: int | None
    """The minutes for MEDIUM tickets, or null for no target. 1 to 525600."""
    HIGH: int | None
    """The minutes for HIGH tickets, or null for no target. 1 to 525600."""
    CRITICAL: int | None
    """The minutes for CRITICAL tickets, or null for no target. 1 to 525600."""

class Targets(TypedDict):
    """The targets for new tickets, and for tickets whose priority changes."""

    firstResponse: TargetMinutes
    """The open time from `createdAt` to `firstResponseDueAt`, in minutes."""
    resolution: TargetMinutes
    """The open time from `createdAt` to `dueAt`, in minutes."""

class BusinessHoursSettings(TypedDict):
    """The business hours and the targets of the workspace."""

    calendar: BusinessCalendar | None
    """When the workspace is open, or null if every minute counts for the targets."""
    targets: Targets
    """The targets for new tickets, and for tickets whose priority changes."""
    pausesWhilePending: bool
    """Whether the server adds the open time in which a ticket is PENDING to its `dueAt`. Requires a calendar."""
    etag: Etag
    """The version of the resource, equal to the `ETag` header of its response. Send it back unchanged in `If-Match`."""

class RequestForm(TypedDict):
    """A form with which users request something."""

    id: int
    """The identifier. It is unique within its resource type, never changes and is never reused."""
    key: str
    """The key of the request form. It never changes. At most 40 characters."""
    name: str
    """The name of the form for people. 1 to 100 characters."""
    description: str | None
    """What the form is for, or null if not set. 1 to 1000 characters."""
    active: bool
    """Whether the form can be submitted."""
    type: str
    """The type of tickets from this form. Known values: `INCIDENT`, `PROBLEM`, `CHANGE`, `SERVICE_REQUEST`."""
    priority: str
    """The priority of tickets from this form. Known values: `LOW`, `MEDIUM`, `HIGH`, `CRITICAL`."""
    tags: List[Tag]
    """The tags of tickets from this form. At most 50 items. 1 to 50 characters."""
    titleTemplate: str | None
    """The default title of tickets from this form. If null, the title is the name of the form. The server replaces field keys in braces with the answers, as in `Laptop for {site}`. 1 to 255 characters."""
    createdAt: str
    """When the resource was created. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`."""
    updatedAt: str
    """When the resource last changed. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`."""
    etag: Etag
    """The version of the resource, equal to the `ETag` header of its response. Send it back unchanged in `If-Match`."""

class RequestFormField(TypedDict):
    """A custom field of tickets in a form."""

    key: str
    """The key of the custom field of tickets."""
    required: bool
    """Whether an answer is required. If the field has a default, it replaces an absent answer."""
    default: CustomFieldValue
    """The value of the field if the answer is absent, or null if there is no default."""
    fixed: CustomFieldValue
    """The value of the field in every ticket, or null. If it is set, the form does not ask for an answer."""
    help: str | None
    """An explanation of the question for people, or null. 1 to 300 characters."""

class RequestFormDetail(TypedDict):
    """A form with its fields and the JSON Schema of its answers."""

    id: int
    """The identifier. It is unique within its resource type, never changes and is never reused."""
    key: str
    """The key of the request form. It never changes. At most 40 characters."""
    name: str
    """The name of the form for people. 1 to 100 characters."""
    description: str | None
    """What the form is for, or null if not set. 1 to 1000 characters."""
    active: bool
    """Whether the form can be submitted."""
    type: str
    """The type of tickets from this form. Known values: `INCIDENT`, `PROBLEM`, `CHANGE`, `SERVICE_REQUEST`."""
    priority: str
    """The priority of tickets from this form. Known values: `LOW`, `MEDIUM`, `HIGH`, `CRITICAL`."""
    tags: List[Tag]
    """The tags of tickets from this form. At most 50 items. 1 to 50 characters."""
    titleTemplate: str | None
    """The default title of tickets from this form. If null, the title is the name of the form. The server replaces field keys in braces with the answers, as in `Laptop for {site}`. 1 to 255 characters."""
    fields: List[RequestFormField]
    """The fields, in the order that an administrator chose."""
    schema: Dict[str, Any]
    """The JSON Schema (2020-12) of `answers`. It contains the active fields and options of the form, and all fields that the workspace requires. If the schema changes, the `etag` of the form also changes."""
    createdAt: str
    """When the resource was created. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`."""
    updatedAt: str
    """When the resource last changed. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`."""
    etag: Etag
    """The version of the resource, equal to the `ETag` header of its response. Send it back unchanged in `If-Match`."""

EventType = Literal["ticket.created", "ticket.updated", "asset.created", "task.updated"]
"""The type of an event."""

WebhookFilterValue = str | float | bool | None
"""A value to compare with a field of the resource."""

WebhookHealth = Literal["HEALTHY", "RETRYING", "CIRCUIT_OPEN", "PAUSED", "INACTIVE"]
"""The health of a subscription. HEALTHY: the last attempt succeeded, or there was no attempt. RETRYING: the last attempt failed, and deliveries continue. CIRCUIT_OPEN: several consecutive attempts failed, and the server sends nothing until `nextAttemptAt`. PAUSED: the subscription is paused, and `pausedReason` describes why. INACTIVE: the subscription was deactivated."""

class Webhook(TypedDict):
    """A webhook subscription, without its signing secret."""

    id: int
    """The identifier. It is unique within its resource type, never changes and is never reused."""
    url: str
    """The URL that receives events. It must use https and a public host, without a user name or password. 1 to 2048 characters."""
    events: List[str]
    """The subscribed event types. 1 to 100 items. Known values: `ticket.created`, `ticket.updated`, `asset.created`, `task.updated`."""
    filter: Dict[str, List[WebhookFilterValue]] | None
    """The filter for events, or null to deliver all events. Each key is a top-level field of the resource, with a list of values. An event matches if every field in the filter has one of the listed values, before or after the change. A field with a list has all values of its items. The key `customFields.site` means the custom field `site`. Every subscribed event type must have these fields. A filter has at most 10 fields with 100 values each."""
    skipOwn: bool
    """Whether to skip events that are caused by the API key that created the subscription, or by a key that replaced it through rotation."""
    active: bool
    """Whether the subscription is active. Inactive subscriptions receive no events. You can reactivate them in the developer area or on the command line, but not with the API."""
    health: str
    """The health of a subscription. HEALTHY: the last attempt succeeded, or there was no attempt. RETRYING: the last attempt failed, and deliveries continue. CIRCUIT_OPEN: several consecutive attempts failed, and the server sends nothing until `nextAttemptAt`. PAUSED: the subscription is paused, and `pausedReason` describes why. INACTIVE: the subscription was deactivated. Known values: `HEALTHY`, `RETRYING`, `CIRCUIT_OPEN`, `PAUSED`, `INACTIVE`."""
    nextAttemptAt: str | None
    """When the circuit breaker allows the next attempt. Null if the circuit breaker is closed or half-open, or if `paused: true` stops deliveries. Replays and test events do not wait for this time. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`."""
    lastSuccessAt: str | None
    """When a delivery last succeeded, or null if no delivery has succeeded yet. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`."""
    lastFailureAt: str | None
    """When an attempt last failed, or null if no attempt has failed yet. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`."""
    pausedAt: str | None
    """When the subscription was paused, or null if it is not paused. The cause is `paused: true`, failed deliveries or the quota. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`."""
    pausedReason: str | None
    """Why the subscription is paused: `QUOTA`, or a sentence that describes the reason. Null if not paused. `QUOTA` means that the workspace has too many pending deliveries. The server still sends pending events, but queues no new events for this subscription. To catch up, read the change feeds, such as `GET /tickets/changes`. Queueing resumes when the number of pending deliveries is below half of the limit."""
    createdAt: str
    """When the resource was created. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`."""
    updatedAt: str
    """When the resource last changed. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`."""
    etag: Etag
    """The version of the resource, equal to the `ETag` header of its response. Send it back unchanged in `If-Match`."""

class CreatedWebhook(TypedDict):
    """A new subscription, with its signing secret if the server generated it. No other endpoint returns the secret."""

    id: int
    """The identifier. It is unique within its resource type, never changes and is never reused."""
    url: str
    """The URL that receives events. It must use https and a public host, without a user name or password. 1 to 2048 characters."""
    events: List[str]
    """The subscribed event types. 1 to 100 items. Known values: `ticket.created`, `ticket.updated`, `asset.created`, `task.updated`."""
    filter: Dict[str, List[WebhookFilterValue]] | None
    """The filter for events, or null to deliver all events. Each key is a top-level field of the resource, with a list of values. An event matches if every field in the filter has one of the listed values, before or after the change. A field with a list has all values of its items. The key `customFields.site` means the custom field `site`. Every subscribed event type must have these fields. A filter has at most 10 fields with 100 values each."""
    skipOwn: bool
    """Whether to skip events that are caused by the API key that created the subscription, or by a key that replaced it through rotation."""
    active: bool
    """Whether the subscription is active. Inactive subscriptions receive no events. You can reactivate them in the developer area or on the command line, but not with the API."""
    health: str
    """The health of a subscription. HEALTHY: the last attempt succeeded, or there was no attempt. RETRYING: the last attempt failed, and deliveries continue. CIRCUIT_OPEN: several consecutive attempts failed, and the server sends nothing until `nextAttemptAt`. PAUSED: the subscription is paused, and `pausedReason` describes why. INACTIVE: the subscription was deactivated. Known values: `HEALTHY`, `RETRYING`, `CIRCUIT_OPEN`, `PAUSED`, `INACTIVE`."""
    nextAttemptAt: str | None
    """When the circuit breaker allows the next attempt. Null if the circuit breaker is closed or half-open, or if `paused: true` stops deliveries. Replays and test events do not wait for this time. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`."""
    lastSuccessAt: str | None
    """When a delivery last succeeded, or null if no delivery has succeeded yet. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`."""
    lastFailureAt: str | None
    """When an attempt last failed, or null if no attempt has failed yet. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`."""
    pausedAt: str | None
    """When the subscription was paused, or null if it is not paused. The cause is `paused: true`, failed deliveries or the quota. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`."""
    pausedReason: str | None
    """Why the subscription is paused: `QUOTA`, or a sentence that describes the reason. Null if not paused. `QUOTA` means that the workspace has too many pending deliveries. The server still sends pending events, but queues no new events for this subscription. To catch up, read the change feeds, such as `GET /tickets/changes`. Queueing resumes when the number of pending deliveries is below half of the limit."""
    createdAt: str
    """When the resource was created. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`."""
    updatedAt: str
    """When the resource last changed. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`."""
    etag: Etag
    """The version of the resource, equal to the `ETag` header of its response. Send it back unchanged in `If-Match`."""
    secret: NotRequired[str]
    """The generated signing secret. Store it safely. Absent if the request contained a secret."""

class NewWebhook(TypedDict):
    """A new webhook subscription."""

    url: str
    """The URL that receives events. It must use https and a public host, without a user name or password. 1 to 2048 characters."""
    secret: NotRequired[str]
    """The signing secret. Use at least 24 characters. If absent, the server generates a secret and returns it. 1 to 256 characters."""
    events: Sequence[EventType]
    """The subscribed event types. 1 to 100 items."""
    filter: NotRequired[Mapping[str, Sequence[WebhookFilterValue]] | None]
    """The filter for events, or null to deliver all events. Each key is a top-level field of the resource, with a list of values. An event matches if every field in the filter has one of the listed values, before or after the change. A field with a list has all values of its items. The key `customFields.site` means the custom field `site`. Every subscribed event type must have these fields. A filter has at most 10 fields with 100 values each."""
    skipOwn: NotRequired[bool]
    """Whether to skip events that are caused by the API key that created the subscription, or by a key that replaced it through rotation."""
    paused: NotRequired[bool]
    """Whether the subscription starts paused. With `true`, the server queues events and sends nothing until you update the subscription with `paused: false`."""

class WebhookPatch(TypedDict):
    """Changes to a subscription. Absent fields stay unchanged, and null clears a field."""

    url: NotRequired[str]
    """The URL that receives events. It must use https and a public host, without a user name or password. 1 to 2048 characters."""
    secret: NotRequired[str]
    """The new signing secret. For 24 hours, `webhook-signature` also contains a signature with the previous secret. 1 to 256 characters."""
    events: NotRequired[Sequence[EventType]]
    """The subscribed event types. 1 to 100 items."""
    filter: NotRequired[Mapping[str, Sequence[WebhookFilterValue]] | None]
    """The filter for events, or null to deliver all events. Each key is a top-level field of the resource, with a list of values. An event matches if every field in the filter has one of the listed values, before or after the change. A field with a list has all values of its items. The key `customFields.site` means the custom field `site`. Every subscribed event type must have these fields. A filter has at most 10 fields with 100 values each."""
    skipOwn: NotRequired[bool]
    """Whether to skip events that are caused by the API key that created the subscription, or by a key that replaced it through rotation."""
    paused: NotRequired[bool]
    """Whether deliveries are paused. With `true`, the server queues events and sends nothing. With `false`, the server resumes deliveries and resets the count of failures. A pause with the reason `QUOTA` continues until fewer deliveries are pending."""

DeliveryState = Literal["PENDING", "DELIVERED", "EXHAUSTED", "CANCELLED"]
"""The state of a delivery. PENDING: the delivery is not finished. DELIVERED: the receiver returned 2xx. EXHAUSTED: every attempt failed. CANCELLED: the subscription was deactivated first."""

class Delivery(TypedDict):
    """The delivery of one event to one subscription."""

    id: int
    """The identifier. It is unique within its resource type, never changes and is never reused."""
    webhookId: int
    """The subscription that receives the event."""
    eventId: str
    """The `webhook-id` header, which is the same on every attempt."""
    event: str
    """The type of an event. Known values: `ticket.created`, `ticket.updated`, `asset.created`, `task.updated`."""
    state: str
    """The state of a delivery. PENDING: the delivery is not finished. DELIVERED: the receiver returned 2xx. EXHAUSTED: every attempt failed. CANCELLED: the subscription was deactivated first. Known values: `PENDING`, `DELIVERED`, `EXHAUSTED`, `CANCELLED`."""
    attemptCount: int
    """The number of attempts since the delivery was created or last replayed."""
    nextAttemptAt: str | None
    """The earliest time of the next attempt, or null if `state` is not PENDING. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`."""
    createdAt: str
    """When the event occurred. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`."""
    settledAt: str | None
    """When `state` became DELIVERED, EXHAUSTED or CANCELLED, or null while it is PENDING. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`."""

class WebhookReplayStarted(TypedDict):
    """A replay that has started."""

    webhookId: int
    """The subscription of the deliveries."""
    since: str
    """The replay sends only deliveries created at or after this time. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`."""
    states: List[str]
    """The replay sends deliveries in one of these states. Known values: `PENDING`, `DELIVERED`, `EXHAUSTED`, `CANCELLED`."""
    matching: int
    """The number of matching deliveries. Counting stops at 10000. At most 10000."""
    paused: bool
    """Whether the deliveries wait because the subscription has `paused: true`. To send them, update the subscription with `paused: false`."""

class WebhookReplay(TypedDict):
    """The deliveries to send again."""

    since: str
    """The replay sends only deliveries created at or after this time. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`."""
    states: NotRequired[Sequence[DeliveryState]]
    """The replay sends only deliveries in one of these states. The default is EXHAUSTED. With PENDING, the server immediately sends the deliveries that wait for a retry. 1 to 4 items."""

class DeliveryAttempt(TypedDict):
    """One attempt of a delivery and its result."""

    number: int
    """The number of the attempt. Numbers start at 1, and start again at 1 after a replay."""
    startedAt: str
    """When the attempt started. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`."""
    durationMs: int
    """The duration of the attempt, in milliseconds."""
    status: int | None
    """The HTTP status of the response, or null if there was none. At most 999."""
    error: str | None
    """Why the attempt failed, or null if a response arrived."""
    answer: str | None
    """The start of the response body, or null if the body is empty or may come from a private network."""

class DeliveryDetail(TypedDict):
    """A delivery and its attempts."""

    id: int
    """The identifier. It is unique within its resource type, never changes and is never reused."""
    webhookId: int
    """The subscription that receives the event."""
    eventId: str
    """The `webhook-id` header, which is the same on every attempt."""
    event: str
    """The type of an event. Known values: `ticket.created`, `ticket.updated`, `asset.created`, `task.updated`."""
    state: str
    """The state of a delivery. PENDING: the delivery is not finished. DELIVERED: the receiver returned 2xx. EXHAUSTED: every attempt failed. CANCELLED: the subscription was deactivated first. Known values: `PENDING`, `DELIVERED`, `EXHAUSTED`, `CANCELLED`."""
    attemptCount: int
    """The number of attempts since the delivery was created or last replayed."""
    nextAttemptAt: str | None
    """The earliest time of the next attempt, or null if `state` is not PENDING. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`."""
    createdAt: str
    """When the event occurred. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`."""
    settledAt: str | None
    """When `state` became DELIVERED, EXHAUSTED or CANCELLED, or null while it is PENDING. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`."""
    body: str
    """The exact body that the server sends."""
    attempts: List[DeliveryAttempt]
    """The last 100 attempts, oldest first."""

class TicketCreatedEvent(TypedDict):
    """A ticket is created."""

    id: str
    """The id of the event. Every attempt has the same id. Use the id to deduplicate events."""
    type: Literal["ticket.created"]
    """The type of the event."""
    timestamp: str
    """When the event occurred: `updatedAt` of the resource. Sort the events of a resource by this time. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`."""
    actor: Actor
    """The user and the API key that performed the action, or null for an action on the command line."""
    ticket: Ticket
    """The ticket at the time of the event."""

class EventComment(TypedDict):
    """A comment on the ticket of the event."""

    id: int
    """The identifier. It is unique within its resource type, never changes and is never reused."""
    authorId: int
    """The author: the user of the API key that created the comment, or the author that an import key set."""
    body: str
    """The text of the comment. At most 65535 bytes in UTF-8. 1 to 65535 characters."""
    visibility: str
    """The intended audience: PUBLIC comments are for the requester, and INTERNAL comments are for staff. The visibility is only a label: an API key that can read the ticket can read all its comments. Known values: `PUBLIC`, `INTERNAL`."""
    createdAt: str
    """When the comment was created. A comment changes only if an administrator redacts it. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`."""

class TicketUpdatedEvent(TypedDict):
    """A ticket is updated."""

    id: str
    """The id of the event. Every attempt has the same id. Use the id to deduplicate events."""
    type: Literal["ticket.updated"]
    """The type of the event."""
    timestamp: str
    """When the event occurred: `updatedAt` of the resource. Sort the events of a resource by this time. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`."""
    actor: Actor
    """The user and the API key that performed the action, or null for an action on the command line."""
    ticket: Ticket
    """The ticket at the time of the event."""
    changes: TicketChanges
    """The changed fields of a ticket. `updatedAt` always changes and is not included."""
    comment: NotRequired[EventComment]
    """The new comment, if the update is a comment. INTERNAL comments are included: check `visibility` before you pass the text on. The `changes` of the event don't contain the text."""

class AssetCreatedEvent(TypedDict):
    """An asset is created."""

    id: str
    """The id of the event. Every attempt has the same id. Use the id to deduplicate events."""
    type: Literal["asset.created"]
    """The type of the event."""
    timestamp: str
    """When the event occurred: `updatedAt` of the resource. Sort the events of a resource by this time. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`."""
    actor: Actor
    """The user and the API key that performed the action, or null for an action on the command line."""
    asset: Asset
    """The asset at the time of the event."""

TaskChangesTitle = TypedDict(
    "TaskChangesTitle",
    {
        # The value before the change. 1 to 255 characters.
        "from": str,
        # The value after the change. 1 to 255 characters.
        "to": str,
    },
)

TaskChangesDescription = TypedDict(
    "TaskChangesDescription",
    {
        # The value before the change. 1 to 65535 characters.
        "from": str | None,
        # The value after the change. 1 to 65535 characters.
        "to": str | None,
    },
)

TaskChangesStatus = TypedDict(
    "TaskChangesStatus",
    {
        # The value before the change. Known values: `TODO`, `IN_PROGRESS`, `BLOCKED`, `DONE`, `CANCELLED`.
        "from": str,
        # The value after the change. Known values: `TODO`, `IN_PROGRESS`, `BLOCKED`, `DONE`, `CANCELLED`.
        "to": str,
    },
)

TaskChangesPriority = TypedDict(
    "TaskChangesPriority",
    {
        # The value before the change. Known values: `LOW`, `MEDIUM`, `HIGH`, `CRITICAL`.
        "from": str,
        # The value after the change. Known values: `LOW`, `MEDIUM`, `HIGH`, `CRITICAL`.
        "to": str,
    },
)

TaskChangesAssigneeId = TypedDict(
    "TaskChangesAssigneeId",
    {
        # The value before the change.
        "from": int | None,
        # The value after the change.
        "to": int | None,
    },
)

TaskChangesStartDate = TypedDict(
    "TaskChangesStartDate",
    {
        # The value before the change. A date, `YYYY-MM-DD`.
        "from": str | None,
        # The value after the change. A date, `YYYY-MM-DD`.
        "to": str | None,
    },
)

TaskChangesDueDate = TypedDict(
    "TaskChangesDueDate",
    {
        # The value before the change. A date, `YYYY-MM-DD`.
        "from": str | None,
        # The value after the change. A date, `YYYY-MM-DD`.
        "to": str | None,
    },
)

TaskChangesCompletedAt = TypedDict(
    "TaskChangesCompletedAt",
    {
        # The value before the change. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`.
        "from": str | None,
        # The value after the change. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`.
        "to": str | None,
    },
)

class TaskChanges(TypedDict):
    """The changed fields of a task. `updatedAt` always changes and is not included. It can have other keys."""

    title: NotRequired[TaskChangesTitle]
    """The change to `title`. Absent if unchanged."""
    description: NotRequired[TaskChangesDescription]
    """The change to `description`. Absent if unchanged."""
    status: NotRequired[TaskChangesStatus]
    """The change to `status`. Absent if unchanged."""
    priority: NotRequired[TaskChangesPriority]
    """The change to `priority`. Absent if unchanged."""
    assigneeId: NotRequired[TaskChangesAssigneeId]
    """The change to `assigneeId`. Absent if unchanged."""
    startDate: NotRequired[TaskChangesStartDate]
    """The change to `startDate`. Absent if unchanged."""
    dueDate: NotRequired[TaskChangesDueDate]
    """The change to `dueDate`. Absent if unchanged."""
    completedAt: NotRequired[TaskChangesCompletedAt]
    """The change to `completedAt`. Absent if unchanged."""

class TaskUpdatedEvent(TypedDict):
    """A project task is updated."""

    id: str
    """The id of the event. Every attempt has the same id. Use the id to deduplicate events."""
    type: Literal["task.updated"]
    """The type of the event."""
    timestamp: str
    """When the event occurred: `updatedAt` of the resource. Sort the events of a resource by this time. A timestamp in ISO 8601, such as `2026-11-20T10:00:00.000Z`."""
    actor: Actor
    """The user and the API key that performed the action, or null for an action on the command line."""
    task: Task
    """The task at the time of the event."""
    changes: TaskChanges
    """The changed fields of a task. `updatedAt` always changes and is not included."""

class PageMeta(TypedDict):
    """The page of the list and the total number of items."""

    page: int
    """The requested page."""
    perPage: int
    """The number of items per page. 1 to 100."""
    totalCount: int
    """The number of items on all pages. It is exact unless `totalCountCapped` is present."""
    totalCountCapped: NotRequired[Literal[True]]
    """Present if more items match than `totalCount`. You can page through only the first `totalCount` items."""

class ChangesMeta(TypedDict):
    """The position in the change feed."""

    nextCursor: str
    """The cursor of the next page, also present on the last page. Store it for the next sync."""
    hasMore: bool
    """Whether more changes are available now. If false, poll again later."""

ChangesValue = TypedDict(
    "ChangesValue",
    {
        # The value before the change.
        "from": Any,
        # The value after the change.
        "to": Any,
    },
)

Changes = Dict[str, ChangesValue]
"""The changed fields, by name."""

UpsertOutcome = Literal["CREATED", "UPDATED", "UNCHANGED"]
"""What the API did with an item. UNCHANGED means that the resource already had all values."""

class UnknownEvent(TypedDict):
    """An event from a newer server."""

    id: str
    """The id of the event. Every attempt has the same id. Use the id to deduplicate events."""
    type: Literal["unknown"]
    """The value for every event type that this version of the client doesn't know."""
    timestamp: str
    """When the event occurred."""
    body: Dict[str, Any]
    """The complete delivered body. Its `type` is the original type."""

KnownEvent = TicketCreatedEvent | TicketUpdatedEvent | AssetCreatedEvent | TaskUpdatedEvent
"""An event that this version of the client knows."""

WebhookEvent = KnownEvent | UnknownEvent
"""An event of a webhook. Its `type` distinguishes the events."""
