# Generated from the contract by `pnpm generate`. Do not edit.
"""The methods of the API."""

# mypy: disable-error-code=no-any-return

from __future__ import annotations

from typing import Callable, Iterable, Literal, Mapping, Sequence

from ._bulk import BulkItem, BulkResult
from ._files import Download, FileContent
from ._lists import ApiChanges, ApiList
from ._resource import Api, Resource
from .types import (
    Approval,
    ApprovalDecision,
    ApprovalStatus,
    Approver,
    Article,
    ArticleSummary,
    Asset,
    AssetActivity,
    AssetMatch,
    AssetPatch,
    AssetStatus,
    AssetType,
    AssetUpsertItem,
    Attachment,
    BusinessHoursSettings,
    CategoryConfig,
    Comment,
    CreatedWebhook,
    CustomFieldDefinition,
    CustomFieldResource,
    Decision,
    Delivery,
    DeliveryDetail,
    DeliveryState,
    Identity,
    Link,
    NewApproval,
    NewAsset,
    NewComment,
    NewLink,
    NewProposal,
    NewTask,
    NewTicket,
    NewTicketItem,
    NewWebhook,
    Pong,
    Priority,
    Project,
    ProjectStatus,
    Proposal,
    ProposalDecision,
    ProposalOperation,
    ProposalStatus,
    ProposalTarget,
    RequestForm,
    RequestFormDetail,
    RequestFormSubmission,
    Tag,
    Task,
    TaskPatch,
    TaskStatus,
    Team,
    Ticket,
    TicketActivity,
    TicketAssignee,
    TicketCategory,
    TicketPatch,
    TicketPatchItem,
    TicketReference,
    TicketStatus,
    TicketTeam,
    TicketType,
    User,
    UserReference,
    UserRole,
    Webhook,
    WebhookPatch,
    WebhookReplay,
    WebhookReplayStarted,
)

class Ping(Resource):
    """Check that the service is available. Requires no API key."""

    def get(self) -> Pong:
        """Check that the service is available.

        Requires no API key. Ignores query parameters and API keys.

        Errors: `ValidationError`, `PayloadTooLargeError`, `InternalError`, `ServiceUnavailableError`.

        Example::

            pong = client.ping.get()
        """
        return self._send("GET /ping", ())

class Me(Resource):
    """The API key of the request."""

    def get(self) -> Identity:
        """Describe the API key of the request.

        Returns the name, scopes, user, teams, workspace and rate limits of the API key, but not the key itself.

        Counts against the rate limit `users`, by default 30 requests per 60 seconds.

        Errors: `ValidationError`, `PayloadTooLargeError`, `InvalidApiKeyError`, `AddressNotAllowedError`, `RateLimitError`, `InternalError`, `ServiceUnavailableError`.

        Example::

            identity = client.me.get()
        """
        return self._send("GET /me users", ())

class Tickets(Resource):
    """Incidents, problems, changes and service requests."""

    def list(
        self,
        *,
        page: int | str | None = None,
        per_page: int | str | None = None,
        status: TicketStatus | Sequence[TicketStatus] | None = None,
        priority: Priority | Sequence[Priority] | None = None,
        assignee_id: TicketAssignee | Sequence[TicketAssignee] | None = None,
        team_id: TicketTeam | Sequence[TicketTeam] | None = None,
        type: TicketType | Sequence[TicketType] | None = None,
        category: TicketCategory | Sequence[TicketCategory] | None = None,
        category_config_id: str | Sequence[str] | None = None,
        form_key: str | Sequence[str] | None = None,
        requester_id: UserReference | Sequence[UserReference] | None = None,
        parent_id: TicketReference | Sequence[TicketReference] | None = None,
        watcher_user_id: UserReference | Sequence[UserReference] | None = None,
        external_id: str | Sequence[str] | None = None,
        asset_id: int | str | Sequence[int | str] | None = None,
        tag: Tag | Sequence[Tag] | None = None,
        custom_fields: Mapping[str, str | Sequence[str]] | None = None,
        created_since: str | None = None,
        created_before: str | None = None,
        due_since: str | None = None,
        due_before: str | None = None,
        planned_since: str | None = None,
        planned_before: str | None = None,
        approval_status: ApprovalStatus | Sequence[ApprovalStatus] | None = None,
        overdue: Literal[True, "true"] | None = None,
        first_response_overdue: Literal[True, "true"] | None = None,
        q: str | None = None,
        sort: Literal["-id", "id"] | None = None,
    ) -> ApiList[Ticket]:
        """List tickets.

        Returns the newest tickets first, unless `sort` is `id`. Different filters combine with AND. Several values of one filter combine with OR.

        Requires the scope `tickets:read`: list and read tickets and their categories. Email addresses in the request also require the scope `users:read`.

        Each request counts against the rate limit `tickets`, by default 30 requests per 60 seconds.

        Errors: `ValidationError`, `PayloadTooLargeError`, `QueryTooBroadError`, `InvalidApiKeyError`, `InsufficientScopeError`, `AddressNotAllowedError`, `RateLimitError`, `InternalError`, `ServiceUnavailableError`.

        Example::

            for ticket in client.tickets.list(status="OPEN"):
                print(ticket["id"])
        """
        return self._list("GET /tickets tickets:read query", (), {"page": page, "perPage": per_page, "status": status, "priority": priority, "assigneeId": assignee_id, "teamId": team_id, "type": type, "category": category, "categoryConfigId": category_config_id, "formKey": form_key, "requesterId": requester_id, "parentId": parent_id, "watcherUserId": watcher_user_id, "externalId": external_id, "assetId": asset_id, "tag": tag, "customFields": custom_fields, "createdSince": created_since, "createdBefore": created_before, "dueSince": due_since, "dueBefore": due_before, "plannedSince": planned_since, "plannedBefore": planned_before, "approvalStatus": approval_status, "overdue": overdue, "firstResponseOverdue": first_response_overdue, "q": q, "sort": sort})

    def changes(
        self,
        *,
        since: str | None = None,
        cursor: str | None = None,
        per_page: int | str | None = None,
        follow: bool = False,
        poll_seconds: float = 10.0,
    ) -> ApiChanges[Ticket]:
        """List changed tickets.

        Returns the current version of each changed resource, ordered by the last change, for incremental sync. To get the next page, send `nextCursor` as `cursor`. The feed never omits a changed resource, but it returns only the current version, and a resource can appear more than once. Without `since` and `cursor`, the feed starts with the oldest change.

        Requires the scope `tickets:read`: list and read tickets and their categories.

        Counts against the rate limit `tickets`, by default 30 requests per 60 seconds.

        Errors: `ValidationError`, `PayloadTooLargeError`, `InvalidApiKeyError`, `InsufficientScopeError`, `AddressNotAllowedError`, `RateLimitError`, `InternalError`, `ServiceUnavailableError`.

        Example::

            for ticket in client.tickets.changes(since="2026-11-20T10:00:00Z"):
                print(ticket["id"])
        """
        return self._changes("GET /tickets/changes tickets:read changes", (), {"since": since, "cursor": cursor, "perPage": per_page}, follow=follow, poll_seconds=poll_seconds)

    def get(self, id: TicketReference, *, if_none_match: Ticket | None = None) -> Ticket:
        """Get a ticket.

        Requires the scope `tickets:read`: list and read tickets and their categories.

        Counts against the rate limit `tickets`, by default 30 requests per 60 seconds.

        Errors: `ValidationError`, `PayloadTooLargeError`, `InvalidApiKeyError`, `InsufficientScopeError`, `AddressNotAllowedError`, `NotFoundError`, `RateLimitError`, `InternalError`, `ServiceUnavailableError`.

        Example::

            ticket = client.tickets.get(38)
        """
        return self._send("GET /tickets/:id tickets:read", (id,), if_none_match=if_none_match)

    def create(self, body: NewTicket, *, idempotency_key: str | None = None) -> Ticket:
        """Create a ticket.

        Emits `ticket.created`.

        Requires the scope `tickets:write`: create and update tickets. Email addresses in the request also require the scope `users:read`.

        Counts against the rate limit `tickets`, by default 30 requests per 60 seconds.

        Errors: `ValidationError`, `InvalidJsonError`, `UnsupportedMediaTypeError`, `PayloadTooLargeError`, `InvalidReferenceError`, `ExternalIdExistsError`, `InvalidApiKeyError`, `InsufficientScopeError`, `AddressNotAllowedError`, `IdempotencyKeyReusedError`, `IdempotencyInProgressError`, `RateLimitError`, `InternalError`, `ServiceUnavailableError`.

        Example::

            ticket = client.tickets.create({
                "title": "VPN drops every ten minutes",
                "description": "Since this morning the VPN client loses its connection every ten minutes.",
                "type": "INCIDENT",
                "category": "NETWORK",
                "priority": "HIGH",
                "assigneeId": 2,
                "watcherUserIds": [1, 3],
                "customFields": {"site": "Berlin"},
            })
        """
        return self._send("POST /tickets tickets:write body", (), body, idempotency_key=idempotency_key)

    def update(
        self,
        id: TicketReference,
        body: TicketPatch,
        *,
        if_match: str | None = None,
    ) -> Ticket:
        """Update a ticket.

        Emits `ticket.updated` if a field changes.

        `status` can change as follows. For any other change, the server returns `INVALID_TRANSITION`. You can set the current status again, which changes nothing.

        - OPEN → IN_PROGRESS, PENDING, RESOLVED, CANCELLED
        - IN_PROGRESS → PENDING, RESOLVED, CANCELLED
        - PENDING → IN_PROGRESS, RESOLVED, CANCELLED
        - RESOLVED → CLOSED, IN_PROGRESS
        - CLOSED is final; other fields can still change
        - CANCELLED is final; other fields can still change

        Requires the scope `tickets:write`: create and update tickets. Email addresses in the request also require the scope `users:read`.

        Counts against the rate limit `tickets`, by default 30 requests per 60 seconds.

        Errors: `ValidationError`, `InvalidJsonError`, `UnsupportedMediaTypeError`, `PayloadTooLargeError`, `InvalidTransitionError`, `InvalidReferenceError`, `ExternalIdExistsError`, `InvalidApiKeyError`, `InsufficientScopeError`, `AddressNotAllowedError`, `NotFoundError`, `PreconditionFailedError`, `RateLimitError`, `InternalError`, `ServiceUnavailableError`.

        Example::

            ticket = client.tickets.update(38, {"status": "IN_PROGRESS", "priority": "CRITICAL"})
        """
        return self._send("PATCH /tickets/:id tickets:write body", (id,), body, if_match=if_match)

    def create_many(
        self,
        items: Iterable[NewTicketItem],
        *,
        idempotency_key: str | None = None,
        concurrency: int = 1,
        on_progress: Callable[[int, int, int], None] | None = None,
        on_batch: Callable[[Sequence[BulkItem[NewTicketItem, Ticket]]], None] | None = None,
    ) -> BulkResult[NewTicketItem, Ticket]:
        """Create many tickets.

        Creates up to 100 tickets. The request counts once against the rate limits. Each item succeeds or fails independently. `data` contains one result for each item: the HTTP status, and the ticket or the error. Emits `ticket.created` for each created ticket. The event contains the `commentCount`, but not the `comments`.

        The client accepts any number of items and sends up to 100 items per request. It returns a result for each item, and fails only if no item got a result.

        Requires the scope `tickets:write`: create and update tickets. Email addresses in the request also require the scope `users:read`.

        Each request counts against the rate limit `tickets`, by default 30 requests per 60 seconds.

        Errors: `ValidationError`, `InvalidJsonError`, `UnsupportedMediaTypeError`, `PayloadTooLargeError`, `InvalidApiKeyError`, `InsufficientScopeError`, `AddressNotAllowedError`, `IdempotencyKeyReusedError`, `IdempotencyInProgressError`, `RateLimitError`, `InternalError`, `ServiceUnavailableError`.

        Example::

            result = client.tickets.create_many([
                {
                    "title": "VPN drops every ten minutes",
                    "description": "Since this morning.",
                    "type": "INCIDENT",
                    "category": "NETWORK",
                },
                {
                    "title": "Mailbox is full",
                    "description": "No mail arrives.",
                    "type": "INCIDENT",
                    "category": "EMAIL",
                },
            ])
        """
        return self._bulk("POST /tickets/bulk tickets:write items=tickets", (), items, idempotency_key=idempotency_key, concurrency=concurrency, on_progress=on_progress, on_batch=on_batch)

    def update_many(
        self,
        items: Iterable[TicketPatchItem],
        *,
        concurrency: int = 1,
        on_progress: Callable[[int, int, int], None] | None = None,
        on_batch: Callable[[Sequence[BulkItem[TicketPatchItem, Ticket]]], None] | None = None,
    ) -> BulkResult[TicketPatchItem, Ticket]:
        """Update many tickets.

        Updates up to 100 tickets. The request counts once against the rate limits. Each item succeeds or fails independently. `data` contains one result for each item: the HTTP status, and the ticket or the error. Emits `ticket.updated` for each changed ticket.

        `status` can change as follows. For any other change, the server returns `INVALID_TRANSITION`. You can set the current status again, which changes nothing.

        - OPEN → IN_PROGRESS, PENDING, RESOLVED, CANCELLED
        - IN_PROGRESS → PENDING, RESOLVED, CANCELLED
        - PENDING → IN_PROGRESS, RESOLVED, CANCELLED
        - RESOLVED → CLOSED, IN_PROGRESS
        - CLOSED is final; other fields can still change
        - CANCELLED is final; other fields can still change

        The client accepts any number of items and sends up to 100 items per request. It returns a result for each item, and fails only if no item got a result.

        Requires the scope `tickets:write`: create and update tickets. Email addresses in the request also require the scope `users:read`.

        Each request counts against the rate limit `tickets`, by default 30 requests per 60 seconds.

        Errors: `ValidationError`, `InvalidJsonError`, `UnsupportedMediaTypeError`, `PayloadTooLargeError`, `InvalidApiKeyError`, `InsufficientScopeError`, `AddressNotAllowedError`, `RateLimitError`, `InternalError`, `ServiceUnavailableError`.

        Example::

            result = client.tickets.update_many([{"id": 38, "status": "IN_PROGRESS", "priority": "CRITICAL"}])
        """
        return self._bulk("PATCH /tickets/bulk tickets:write items=tickets", (), items, concurrency=concurrency, on_progress=on_progress, on_batch=on_batch)

    def attach(
        self,
        id: TicketReference,
        file: FileContent,
        *,
        name: str | None = None,
        content_type: str | None = None,
        size: int | None = None,
        idempotency_key: str | None = None,
    ) -> Attachment:
        """Attach a file to a ticket.

        The body is the content of the file, without any encoding. `Content-Type` is the type of the file: `application/octet-stream` by default. `Content-Length` is required. By default, the maximum size of a file is 25 MiB, and of all files of a workspace 5 GiB. Each server process runs at most 4 concurrent uploads of a workspace. An upload fails if it is slower than 1024 bytes per second for 30 seconds, and after 15 minutes. Changes `attachmentCount` and `updatedAt` of the ticket, and emits `ticket.updated`.

        Requires the scope `tickets:write`: create and update tickets.

        Counts against the rate limit `tickets`, by default 30 requests per 60 seconds.

        Errors: `ValidationError`, `InvalidJsonError`, `UnsupportedMediaTypeError`, `PayloadTooLargeError`, `QuotaExceededError`, `InvalidApiKeyError`, `InsufficientScopeError`, `AddressNotAllowedError`, `NotFoundError`, `IdempotencyKeyReusedError`, `IdempotencyInProgressError`, `RateLimitError`, `InternalError`, `ServiceUnavailableError`.

        Example::

            attachment = client.tickets.attach(38, b"Connection lost.", name="vpn-client.log", content_type="text/plain")
        """
        return self._upload("POST /tickets/:id/attachments tickets:write file", (id,), file, name=name, content_type=content_type, size=size, idempotency_key=idempotency_key)

class Comments(Resource):
    """Comments on tickets."""

    def list(
        self,
        ticket_id: TicketReference,
        *,
        page: int | str | None = None,
        per_page: int | str | None = None,
        external_id: str | Sequence[str] | None = None,
    ) -> ApiList[Comment]:
        """List a ticket's comments.

        Returns PUBLIC and INTERNAL comments, newest first.

        Requires the scope `tickets:read`: list and read tickets and their categories.

        Each request counts against the rate limit `tickets`, by default 30 requests per 60 seconds.

        Errors: `ValidationError`, `PayloadTooLargeError`, `InvalidApiKeyError`, `InsufficientScopeError`, `AddressNotAllowedError`, `NotFoundError`, `RateLimitError`, `InternalError`, `ServiceUnavailableError`.

        Example::

            for comment in client.comments.list(38):
                print(comment["id"])
        """
        return self._list("GET /tickets/:id/comments tickets:read query", (ticket_id,), {"page": page, "perPage": per_page, "externalId": external_id})

    def changes(
        self,
        *,
        since: str | None = None,
        cursor: str | None = None,
        per_page: int | str | None = None,
        follow: bool = False,
        poll_seconds: float = 10.0,
    ) -> ApiChanges[Comment]:
        """List the comments of all tickets.

        Returns the comments of all tickets for incremental sync, in the order in which the transactions were committed. To get the next page, send `nextCursor` as `cursor`. The feed never omits an item, and an item can appear more than once. Without `since` and `cursor`, the feed starts with the oldest item.

        Requires the scope `tickets:read`: list and read tickets and their categories.

        Counts against the rate limit `tickets`, by default 30 requests per 60 seconds.

        Errors: `ValidationError`, `PayloadTooLargeError`, `InvalidApiKeyError`, `InsufficientScopeError`, `AddressNotAllowedError`, `RateLimitError`, `InternalError`, `ServiceUnavailableError`.

        Example::

            for comment in client.comments.changes(since="2026-11-20T10:00:00Z"):
                print(comment["id"])
        """
        return self._changes("GET /comments/changes tickets:read changes", (), {"since": since, "cursor": cursor, "perPage": per_page}, follow=follow, poll_seconds=poll_seconds)

    def create(
        self,
        ticket_id: TicketReference,
        body: NewComment,
        *,
        idempotency_key: str | None = None,
    ) -> Comment:
        """Comment on a ticket.

        Adds a comment to a ticket with any status. Changes `commentCount` and `updatedAt` of the ticket, and emits `ticket.updated`.

        Requires the scope `tickets:write`: create and update tickets. Email addresses in the request also require the scope `users:read`.

        Counts against the rate limit `tickets`, by default 30 requests per 60 seconds.

        Errors: `ValidationError`, `InvalidJsonError`, `UnsupportedMediaTypeError`, `PayloadTooLargeError`, `InvalidReferenceError`, `ExternalIdExistsError`, `InvalidApiKeyError`, `InsufficientScopeError`, `AddressNotAllowedError`, `NotFoundError`, `IdempotencyKeyReusedError`, `IdempotencyInProgressError`, `RateLimitError`, `InternalError`, `ServiceUnavailableError`.

        Example::

            comment = client.comments.create(38, {"body": "The gateway was restarted; does it still happen?", "visibility": "PUBLIC"})
        """
        return self._send("POST /tickets/:id/comments tickets:write body", (ticket_id,), body, idempotency_key=idempotency_key)

    def create_many(
        self,
        ticket_id: TicketReference,
        items: Iterable[NewComment],
        *,
        idempotency_key: str | None = None,
        concurrency: int = 1,
        on_progress: Callable[[int, int, int], None] | None = None,
        on_batch: Callable[[Sequence[BulkItem[NewComment, Comment]]], None] | None = None,
    ) -> BulkResult[NewComment, Comment]:
        """Comment on a ticket many times.

        Adds up to 100 comments to a ticket, in the given order. The request counts once against the rate limits. Each item succeeds or fails independently. `data` contains one result for each item: the HTTP status, and the comment or the error. Emits `ticket.updated` for each comment.

        The client accepts any number of items and sends up to 100 items per request. It returns a result for each item, and fails only if no item got a result.

        Requires the scope `tickets:write`: create and update tickets. Email addresses in the request also require the scope `users:read`.

        Each request counts against the rate limit `tickets`, by default 30 requests per 60 seconds.

        Errors: `ValidationError`, `InvalidJsonError`, `UnsupportedMediaTypeError`, `PayloadTooLargeError`, `InvalidApiKeyError`, `InsufficientScopeError`, `AddressNotAllowedError`, `NotFoundError`, `IdempotencyKeyReusedError`, `IdempotencyInProgressError`, `RateLimitError`, `InternalError`, `ServiceUnavailableError`.

        Example::

            result = client.comments.create_many(38, [
                {"body": "The gateway was restarted; does it still happen?", "visibility": "PUBLIC"},
                {"body": "Third restart this week.", "visibility": "INTERNAL"},
            ])
        """
        return self._bulk("POST /tickets/:id/comments/bulk tickets:write items=comments", (ticket_id,), items, idempotency_key=idempotency_key, concurrency=concurrency, on_progress=on_progress, on_batch=on_batch)

class Attachments(Resource):
    """Files that are attached to tickets."""

    def list(
        self,
        ticket_id: TicketReference,
        *,
        page: int | str | None = None,
        per_page: int | str | None = None,
    ) -> ApiList[Attachment]:
        """List a ticket's attachments.

        Returns the newest attachments first, without their content.

        Requires the scope `tickets:read`: list and read tickets and their categories.

        Each request counts against the rate limit `tickets`, by default 30 requests per 60 seconds.

        Errors: `ValidationError`, `PayloadTooLargeError`, `InvalidApiKeyError`, `InsufficientScopeError`, `AddressNotAllowedError`, `NotFoundError`, `RateLimitError`, `InternalError`, `ServiceUnavailableError`.

        Example::

            for attachment in client.attachments.list(38):
                print(attachment["id"])
        """
        return self._list("GET /tickets/:id/attachments tickets:read query", (ticket_id,), {"page": page, "perPage": per_page})

    def get(self, id: int | str) -> Attachment:
        """Get an attachment.

        Returns the name, type and size of the file, but not its content.

        Requires the scope `tickets:read`: list and read tickets and their categories.

        Counts against the rate limit `tickets`, by default 30 requests per 60 seconds.

        Errors: `ValidationError`, `PayloadTooLargeError`, `InvalidApiKeyError`, `InsufficientScopeError`, `AddressNotAllowedError`, `NotFoundError`, `RateLimitError`, `InternalError`, `ServiceUnavailableError`.

        Example::

            attachment = client.attachments.get(1)
        """
        return self._send("GET /attachments/:id tickets:read", (id,))

    def download(self, id: int | str) -> Download:
        """Download an attachment.

        Returns the content of the file. `Content-Type` is the declared type of the upload. Treat the content as untrusted: any client that can write tickets can upload any content. Each server process runs at most 4 concurrent downloads of a workspace.

        Requires the scope `tickets:read`: list and read tickets and their categories.

        Counts against the rate limit `tickets`, by default 30 requests per 60 seconds.

        Errors: `ValidationError`, `PayloadTooLargeError`, `InvalidApiKeyError`, `InsufficientScopeError`, `AddressNotAllowedError`, `NotFoundError`, `RateLimitError`, `InternalError`, `ServiceUnavailableError`.

        Example::

            file = client.attachments.download(1)
        """
        return self._download("GET /attachments/:id/content tickets:read download", (id,))

    def delete(self, id: int | str) -> Attachment:
        """Delete an attachment.

        Returns the deleted attachment, and deletes its content. Changes `attachmentCount` and `updatedAt` of the ticket, and emits `ticket.updated`. Comments that refer to the attachment keep its id.

        Requires the scope `tickets:write`: create and update tickets.

        Counts against the rate limit `tickets`, by default 30 requests per 60 seconds.

        Errors: `ValidationError`, `InvalidJsonError`, `UnsupportedMediaTypeError`, `PayloadTooLargeError`, `InvalidApiKeyError`, `InsufficientScopeError`, `AddressNotAllowedError`, `NotFoundError`, `RateLimitError`, `InternalError`, `ServiceUnavailableError`.

        Example::

            attachment = client.attachments.delete(1)
        """
        return self._send("DELETE /attachments/:id tickets:write", (id,))

class Links(Resource):
    """Links between tickets."""

    def list(
        self,
        ticket_id: TicketReference,
        *,
        page: int | str | None = None,
        per_page: int | str | None = None,
    ) -> ApiList[Link]:
        """List the links of a ticket.

        Returns the links in both directions, newest first.

        Requires the scope `tickets:read`: list and read tickets and their categories.

        Each request counts against the rate limit `tickets`, by default 30 requests per 60 seconds.

        Errors: `ValidationError`, `PayloadTooLargeError`, `InvalidApiKeyError`, `InsufficientScopeError`, `AddressNotAllowedError`, `NotFoundError`, `RateLimitError`, `InternalError`, `ServiceUnavailableError`.

        Example::

            for link in client.links.list(38):
                print(link["id"])
        """
        return self._list("GET /tickets/:id/links tickets:read query", (ticket_id,), {"page": page, "perPage": per_page})

    def create(
        self,
        ticket_id: TicketReference,
        body: NewLink,
        *,
        idempotency_key: str | None = None,
    ) -> Link:
        """Link a ticket to another ticket.

        Changes `linkCount` and `updatedAt` of both tickets, and emits `ticket.updated` for both. A ticket can have at most 50 links, in both directions together.

        Requires the scope `tickets:write`: create and update tickets.

        Counts against the rate limit `tickets`, by default 30 requests per 60 seconds.

        Errors: `ValidationError`, `InvalidJsonError`, `UnsupportedMediaTypeError`, `PayloadTooLargeError`, `InvalidReferenceError`, `InvalidApiKeyError`, `InsufficientScopeError`, `AddressNotAllowedError`, `NotFoundError`, `IdempotencyKeyReusedError`, `IdempotencyInProgressError`, `RateLimitError`, `InternalError`, `ServiceUnavailableError`.

        Example::

            link = client.links.create(38, {"type": "RELATES_TO", "ticketId": 23})
        """
        return self._send("POST /tickets/:id/links tickets:write body", (ticket_id,), body, idempotency_key=idempotency_key)

    def delete(self, ticket_id: TicketReference, link_id: int | str) -> Link:
        """Delete a link between two tickets.

        Returns the deleted link. Either of the two tickets can be in the path. Changes `linkCount` and `updatedAt` of both tickets, and emits `ticket.updated` for both.

        Requires the scope `tickets:write`: create and update tickets.

        Counts against the rate limit `tickets`, by default 30 requests per 60 seconds.

        Errors: `ValidationError`, `InvalidJsonError`, `UnsupportedMediaTypeError`, `PayloadTooLargeError`, `InvalidApiKeyError`, `InsufficientScopeError`, `AddressNotAllowedError`, `NotFoundError`, `RateLimitError`, `InternalError`, `ServiceUnavailableError`.

        Example::

            link = client.links.delete(38, 1)
        """
        return self._send("DELETE /tickets/:id/links/:linkId tickets:write", (ticket_id, link_id,))

class Approvals(Resource):
    """The approvals of changes."""

    def of_ticket(
        self,
        ticket_id: TicketReference,
        *,
        page: int | str | None = None,
        per_page: int | str | None = None,
    ) -> ApiList[Approval]:
        """List the approvals of a ticket.

        Returns the newest approvals first. Only tickets of the type CHANGE have approvals.

        Requires the scope `tickets:read`: list and read tickets and their categories.

        Each request counts against the rate limit `tickets`, by default 30 requests per 60 seconds.

        Errors: `ValidationError`, `PayloadTooLargeError`, `InvalidApiKeyError`, `InsufficientScopeError`, `AddressNotAllowedError`, `NotFoundError`, `RateLimitError`, `InternalError`, `ServiceUnavailableError`.

        Example::

            for approval in client.approvals.of_ticket(27):
                print(approval["id"])
        """
        return self._list("GET /tickets/:id/approvals tickets:read query", (ticket_id,), {"page": page, "perPage": per_page})

    def create(
        self,
        ticket_id: TicketReference,
        body: NewApproval,
        *,
        idempotency_key: str | None = None,
    ) -> Approval:
        """Request an approval of a change.

        A CHANGE has at most 20 approvals, each by a different user. Changes `updatedAt` of the ticket, and emits `ticket.updated`.

        Requires the scope `tickets:write`: create and update tickets. Email addresses in the request also require the scope `users:read`.

        Counts against the rate limit `tickets`, by default 30 requests per 60 seconds.

        Errors: `ValidationError`, `InvalidJsonError`, `UnsupportedMediaTypeError`, `PayloadTooLargeError`, `InvalidReferenceError`, `InvalidApiKeyError`, `InsufficientScopeError`, `AddressNotAllowedError`, `NotFoundError`, `IdempotencyKeyReusedError`, `IdempotencyInProgressError`, `RateLimitError`, `InternalError`, `ServiceUnavailableError`.

        Example::

            approval = client.approvals.create(27, {"approverId": 4, "note": "Checks that the window is free."})
        """
        return self._send("POST /tickets/:id/approvals tickets:write body", (ticket_id,), body, idempotency_key=idempotency_key)

    def list(
        self,
        *,
        page: int | str | None = None,
        per_page: int | str | None = None,
        approver_id: Approver | Sequence[Approver] | None = None,
        decision: ApprovalDecision | Sequence[ApprovalDecision] | None = None,
    ) -> ApiList[Approval]:
        """List approvals.

        Returns the approvals of all tickets, newest first.

        Requires the scope `tickets:read`: list and read tickets and their categories. Email addresses in the request also require the scope `users:read`.

        Each request counts against the rate limit `tickets`, by default 30 requests per 60 seconds.

        Errors: `ValidationError`, `PayloadTooLargeError`, `InvalidApiKeyError`, `InsufficientScopeError`, `AddressNotAllowedError`, `RateLimitError`, `InternalError`, `ServiceUnavailableError`.

        Example::

            for approval in client.approvals.list(decision="PENDING"):
                print(approval["id"])
        """
        return self._list("GET /approvals tickets:read query", (), {"page": page, "perPage": per_page, "approverId": approver_id, "decision": decision})

    def get(self, id: int | str, *, if_none_match: Approval | None = None) -> Approval:
        """Get an approval.

        Requires the scope `tickets:read`: list and read tickets and their categories.

        Counts against the rate limit `tickets`, by default 30 requests per 60 seconds.

        Errors: `ValidationError`, `PayloadTooLargeError`, `InvalidApiKeyError`, `InsufficientScopeError`, `AddressNotAllowedError`, `NotFoundError`, `RateLimitError`, `InternalError`, `ServiceUnavailableError`.

        Example::

            approval = client.approvals.get(1)
        """
        return self._send("GET /approvals/:id tickets:read", (id,), if_none_match=if_none_match)

    def decide(self, id: int | str, body: Decision, *, if_match: str | None = None) -> Approval:
        """Decide about a change.

        Requires an API key of the approver. Repeating the same decision with the same comment changes nothing, with any `If-Match`. Changes `updatedAt` of the ticket, and emits `ticket.updated`.

        Requires the scope `tickets:write`: create and update tickets.

        Counts against the rate limit `tickets`, by default 30 requests per 60 seconds.

        Errors: `ValidationError`, `InvalidJsonError`, `UnsupportedMediaTypeError`, `PayloadTooLargeError`, `InvalidApiKeyError`, `InsufficientScopeError`, `AddressNotAllowedError`, `NotFoundError`, `PreconditionFailedError`, `RateLimitError`, `InternalError`, `ServiceUnavailableError`.

        Example::

            approval = client.approvals.decide(1, {"decision": "APPROVED", "comment": "Only after the backup."})
        """
        return self._send("PATCH /approvals/:id tickets:write body", (id,), body, if_match=if_match)

    def delete(self, id: int | str, *, if_match: str | None = None) -> Approval:
        """Withdraw the request for an approval.

        Returns the withdrawn approval. Requires an API key of its approver or of the user who requested it. Only a PENDING approval can be withdrawn, by the user who requested it only if no approver of the ticket has decided yet. Administrators can withdraw any approval in the developer area. Changes `updatedAt` of the ticket, and emits `ticket.updated`.

        Requires the scope `tickets:write`: create and update tickets.

        Counts against the rate limit `tickets`, by default 30 requests per 60 seconds.

        Errors: `ValidationError`, `InvalidJsonError`, `UnsupportedMediaTypeError`, `PayloadTooLargeError`, `InvalidApiKeyError`, `InsufficientScopeError`, `AddressNotAllowedError`, `NotFoundError`, `PreconditionFailedError`, `RateLimitError`, `InternalError`, `ServiceUnavailableError`.

        Example::

            approval = client.approvals.delete(1)
        """
        return self._send("DELETE /approvals/:id tickets:write", (id,), if_match=if_match)

class Assets(Resource):
    """Devices, licenses and other items that the workspace manages."""

    def list(
        self,
        *,
        page: int | str | None = None,
        per_page: int | str | None = None,
        status: AssetStatus | Sequence[AssetStatus] | None = None,
        type: AssetType | Sequence[AssetType] | None = None,
        assigned_to_id: UserReference | Sequence[UserReference] | None = None,
        external_id: str | Sequence[str] | None = None,
        asset_tag: str | Sequence[str] | None = None,
        serial_number: str | Sequence[str] | None = None,
        tag: Tag | Sequence[Tag] | None = None,
        custom_fields: Mapping[str, str | Sequence[str]] | None = None,
        q: str | None = None,
    ) -> ApiList[Asset]:
        """List assets.

        Returns the newest assets first. Different filters combine with AND. Several values of one filter combine with OR.

        Requires the scope `assets:read`: list and read assets. Email addresses in the request also require the scope `users:read`.

        Each request counts against the rate limit `assets`, by default 30 requests per 60 seconds.

        Errors: `ValidationError`, `PayloadTooLargeError`, `QueryTooBroadError`, `InvalidApiKeyError`, `InsufficientScopeError`, `AddressNotAllowedError`, `RateLimitError`, `InternalError`, `ServiceUnavailableError`.

        Example::

            for asset in client.assets.list(status="ON_ORDER"):
                print(asset["id"])
        """
        return self._list("GET /assets assets:read query", (), {"page": page, "perPage": per_page, "status": status, "type": type, "assignedToId": assigned_to_id, "externalId": external_id, "assetTag": asset_tag, "serialNumber": serial_number, "tag": tag, "customFields": custom_fields, "q": q})

    def changes(
        self,
        *,
        since: str | None = None,
        cursor: str | None = None,
        per_page: int | str | None = None,
        follow: bool = False,
        poll_seconds: float = 10.0,
    ) -> ApiChanges[Asset]:
        """List changed assets.

        Returns the current version of each changed resource, ordered by the last change, for incremental sync. To get the next page, send `nextCursor` as `cursor`. The feed never omits a changed resource, but it returns only the current version, and a resource can appear more than once. Without `since` and `cursor`, the feed starts with the oldest change.

        Requires the scope `assets:read`: list and read assets.

        Counts against the rate limit `assets`, by default 30 requests per 60 seconds.

        Errors: `ValidationError`, `PayloadTooLargeError`, `InvalidApiKeyError`, `InsufficientScopeError`, `AddressNotAllowedError`, `RateLimitError`, `InternalError`, `ServiceUnavailableError`.

        Example::

            for asset in client.assets.changes(since="2026-11-20T10:00:00Z"):
                print(asset["id"])
        """
        return self._changes("GET /assets/changes assets:read changes", (), {"since": since, "cursor": cursor, "perPage": per_page}, follow=follow, poll_seconds=poll_seconds)

    def get(self, id: int | str, *, if_none_match: Asset | None = None) -> Asset:
        """Get an asset.

        Requires the scope `assets:read`: list and read assets.

        Counts against the rate limit `assets`, by default 30 requests per 60 seconds.

        Errors: `ValidationError`, `PayloadTooLargeError`, `InvalidApiKeyError`, `InsufficientScopeError`, `AddressNotAllowedError`, `NotFoundError`, `RateLimitError`, `InternalError`, `ServiceUnavailableError`.

        Example::

            asset = client.assets.get(11)
        """
        return self._send("GET /assets/:id assets:read", (id,), if_none_match=if_none_match)

    def create(self, body: NewAsset, *, idempotency_key: str | None = None) -> Asset:
        """Create an asset.

        Emits `asset.created`.

        Requires the scope `assets:write`: create and update assets. Email addresses in the request also require the scope `users:read`.

        Counts against the rate limit `assets`, by default 30 requests per 60 seconds.

        Errors: `ValidationError`, `InvalidJsonError`, `UnsupportedMediaTypeError`, `PayloadTooLargeError`, `InvalidReferenceError`, `ExternalIdExistsError`, `InvalidApiKeyError`, `InsufficientScopeError`, `AddressNotAllowedError`, `IdempotencyKeyReusedError`, `IdempotencyInProgressError`, `RateLimitError`, `InternalError`, `ServiceUnavailableError`.

        Example::

            asset = client.assets.create({
                "name": "Laptop of the front desk",
                "assetTag": "LT-0311",
                "serialNumber": "PF4N2KD8",
                "type": "LAPTOP",
                "assignedToId": 2,
            })
        """
        return self._send("POST /assets assets:write body", (), body, idempotency_key=idempotency_key)

    def upsert_many(
        self,
        items: Iterable[AssetUpsertItem],
        *,
        match_by: AssetMatch = "assetTag",
        idempotency_key: str | None = None,
        concurrency: int = 1,
        on_progress: Callable[[int, int, int], None] | None = None,
        on_batch: Callable[[Sequence[BulkItem[AssetUpsertItem, Asset]]], None] | None = None,
    ) -> BulkResult[AssetUpsertItem, Asset]:
        """Create or update many assets.

        Creates or updates up to 100 assets, for example from an inventory. The request counts once against the rate limits. Each item succeeds or fails independently. Of two items for the same asset, the second fails. `data` contains one result for each item: the HTTP status, and the asset or the error. If you repeat a request, the server changes nothing. Emits `asset.created` for each created asset.

        The client accepts any number of items and sends up to 100 items per request. It returns a result for each item, and fails only if no item got a result.

        Requires the scope `assets:write`: create and update assets. Email addresses in the request also require the scope `users:read`.

        Each request counts against the rate limit `assets`, by default 30 requests per 60 seconds.

        Errors: `ValidationError`, `InvalidJsonError`, `UnsupportedMediaTypeError`, `PayloadTooLargeError`, `InvalidApiKeyError`, `InsufficientScopeError`, `AddressNotAllowedError`, `IdempotencyKeyReusedError`, `IdempotencyInProgressError`, `RateLimitError`, `InternalError`, `ServiceUnavailableError`.

        Example::

            result = client.assets.upsert_many([
                {
                    "assetTag": "LT-0311",
                    "name": "Laptop of the front desk",
                    "type": "LAPTOP",
                    "location": "Berlin, floor 4",
                },
                {
                    "assetTag": "SW-0007",
                    "name": "Switch in room 2.14",
                    "type": "NETWORK",
                    "status": "IN_USE",
                },
            ])
        """
        return self._bulk("POST /assets/upsert assets:write items=assets assetTag", (), items, match_by=match_by, idempotency_key=idempotency_key, concurrency=concurrency, on_progress=on_progress, on_batch=on_batch)

    def update(self, id: int | str, body: AssetPatch, *, if_match: str | None = None) -> Asset:
        """Update an asset.

        `status` can change as follows. For any other change, the server returns `INVALID_TRANSITION`. You can set the current status again, which changes nothing.

        - every status except DISPOSED → any status
        - DISPOSED is final; other fields can still change

        Requires the scope `assets:write`: create and update assets. Email addresses in the request also require the scope `users:read`.

        Counts against the rate limit `assets`, by default 30 requests per 60 seconds.

        Errors: `ValidationError`, `InvalidJsonError`, `UnsupportedMediaTypeError`, `PayloadTooLargeError`, `InvalidTransitionError`, `InvalidReferenceError`, `ExternalIdExistsError`, `InvalidApiKeyError`, `InsufficientScopeError`, `AddressNotAllowedError`, `NotFoundError`, `PreconditionFailedError`, `RateLimitError`, `InternalError`, `ServiceUnavailableError`.

        Example::

            asset = client.assets.update(11, {"assignedToId": 2})
        """
        return self._send("PATCH /assets/:id assets:write body", (id,), body, if_match=if_match)

class Articles(Resource):
    """Articles of the knowledge base. You write them in the developer area or import them with the command line."""

    def list(
        self,
        *,
        page: int | str | None = None,
        per_page: int | str | None = None,
        category: str | Sequence[str] | None = None,
        q: str | None = None,
    ) -> ApiList[ArticleSummary]:
        """List articles.

        Returns the published articles without their text, newest first. With `q`, articles whose titles contain all words come first.

        Requires the scope `kb:read`: list and read the articles of the knowledge base.

        Each request counts against the rate limit `kb`, by default 30 requests per 60 seconds.

        Errors: `ValidationError`, `PayloadTooLargeError`, `QueryTooBroadError`, `InvalidApiKeyError`, `InsufficientScopeError`, `AddressNotAllowedError`, `RateLimitError`, `InternalError`, `ServiceUnavailableError`.

        Example::

            for article_summary in client.articles.list():
                print(article_summary["id"])
        """
        return self._list("GET /articles kb:read query", (), {"page": page, "perPage": per_page, "category": category, "q": q})

    def changes(
        self,
        *,
        since: str | None = None,
        cursor: str | None = None,
        per_page: int | str | None = None,
        follow: bool = False,
        poll_seconds: float = 10.0,
    ) -> ApiChanges[Article]:
        """List changed articles.

        Returns each article that is or was published, ordered by its last change, for incremental sync. An article that is no longer published has the status ARCHIVED and the body null: delete your copy. To get the next page, send `nextCursor` as `cursor`. The feed never omits a changed article, and an article can appear more than once. Without `since` and `cursor`, the feed starts with the oldest change.

        Requires the scope `kb:read`: list and read the articles of the knowledge base.

        Counts against the rate limit `kb`, by default 30 requests per 60 seconds.

        Errors: `ValidationError`, `PayloadTooLargeError`, `InvalidApiKeyError`, `InsufficientScopeError`, `AddressNotAllowedError`, `RateLimitError`, `InternalError`, `ServiceUnavailableError`.

        Example::

            for article in client.articles.changes(since="2026-11-20T10:00:00Z"):
                print(article["id"])
        """
        return self._changes("GET /articles/changes kb:read changes", (), {"since": since, "cursor": cursor, "perPage": per_page}, follow=follow, poll_seconds=poll_seconds)

    def get(self, id: int | str, *, if_none_match: Article | None = None) -> Article:
        """Get an article.

        Returns a published article.

        Requires the scope `kb:read`: list and read the articles of the knowledge base.

        Counts against the rate limit `kb`, by default 30 requests per 60 seconds.

        Errors: `ValidationError`, `PayloadTooLargeError`, `InvalidApiKeyError`, `InsufficientScopeError`, `AddressNotAllowedError`, `NotFoundError`, `RateLimitError`, `InternalError`, `ServiceUnavailableError`.

        Example::

            article = client.articles.get(1)
        """
        return self._send("GET /articles/:id kb:read", (id,), if_none_match=if_none_match)

class Proposals(Resource):
    """Requests that wait for the decision of a person. API keys that may only propose can change nothing on their own."""

    def list(
        self,
        *,
        page: int | str | None = None,
        per_page: int | str | None = None,
        status: ProposalStatus | Sequence[ProposalStatus] | None = None,
        operation: ProposalOperation | Sequence[ProposalOperation] | None = None,
        target: ProposalTarget | Sequence[ProposalTarget] | None = None,
        proposed_by_id: UserReference | Sequence[UserReference] | None = None,
    ) -> ApiList[Proposal]:
        """List proposals.

        Returns the proposals for resources that the API key can read, newest first. Different filters combine with AND. Several values of one filter combine with OR.

        Each request counts against the rate limit `tickets`, by default 30 requests per 60 seconds.

        Errors: `ValidationError`, `PayloadTooLargeError`, `InvalidApiKeyError`, `InsufficientScopeError`, `AddressNotAllowedError`, `RateLimitError`, `InternalError`, `ServiceUnavailableError`.

        Example::

            for proposal in client.proposals.list(status="PENDING"):
                print(proposal["id"])
        """
        return self._list("GET /proposals tickets query", (), {"page": page, "perPage": per_page, "status": status, "operation": operation, "target": target, "proposedById": proposed_by_id})

    def create(self, body: NewProposal, *, idempotency_key: str | None = None) -> Proposal:
        """Propose a request.

        Runs the request, rolls back its changes, and stores the proposal. If the request fails, returns its error, with paths below `params` and `body`. All items of an upsert must be valid. If a person accepts the proposal, the server runs the request again as the user of this API key. Requires the scope of the operation. A workspace can have at most 500 pending proposals, and an API key 100. The body and the preview can have 262144 bytes in total.

        Counts against the rate limit `tickets`, by default 30 requests per 60 seconds.

        Errors: `ValidationError`, `InvalidJsonError`, `UnsupportedMediaTypeError`, `PayloadTooLargeError`, `InvalidTransitionError`, `InvalidReferenceError`, `ExternalIdExistsError`, `InvalidApiKeyError`, `InsufficientScopeError`, `AddressNotAllowedError`, `NotFoundError`, `IdempotencyKeyReusedError`, `IdempotencyInProgressError`, `PreconditionFailedError`, `RateLimitError`, `InternalError`, `ServiceUnavailableError`.

        Example::

            proposal = client.proposals.create({
                "operation": "tickets_update",
                "params": {"id": 38},
                "body": {"priority": "CRITICAL"},
                "reason": "Three other tickets report the same outage.",
            })
        """
        return self._send("POST /proposals tickets body", (), body, idempotency_key=idempotency_key)

    def get(self, id: int | str, *, if_none_match: Proposal | None = None) -> Proposal:
        """Get a proposal.

        Requires the scope that reads the resource of the operation.

        Counts against the rate limit `tickets`, by default 30 requests per 60 seconds.

        Errors: `ValidationError`, `PayloadTooLargeError`, `InvalidApiKeyError`, `InsufficientScopeError`, `AddressNotAllowedError`, `NotFoundError`, `RateLimitError`, `InternalError`, `ServiceUnavailableError`.

        Example::

            proposal = client.proposals.get(1)
        """
        return self._send("GET /proposals/:id tickets", (id,), if_none_match=if_none_match)

    def decide(
        self,
        id: int | str,
        body: ProposalDecision,
        *,
        if_match: str | None = None,
    ) -> Proposal:
        """Decide about a proposal.

        If the decision is ACCEPTED, the server runs the request again. It commits the changes if they equal the preview, and the status of the target is still the same. Otherwise, it changes nothing, and the proposal becomes STALE. Check the `status` in the response. Requires an API key that acts for a person, has the scope of the operation, and is not a proposing key. Repeating the same decision changes nothing, even if `If-Match` no longer matches.

        Counts against the rate limit `tickets`, by default 30 requests per 60 seconds.

        Errors: `ValidationError`, `InvalidJsonError`, `UnsupportedMediaTypeError`, `PayloadTooLargeError`, `InvalidApiKeyError`, `InsufficientScopeError`, `AddressNotAllowedError`, `NotFoundError`, `PreconditionFailedError`, `RateLimitError`, `InternalError`, `ServiceUnavailableError`.

        Example::

            proposal = client.proposals.decide(1, {"decision": "ACCEPTED", "note": "Agreed with the network team."})
        """
        return self._send("PATCH /proposals/:id tickets body", (id,), body, if_match=if_match)

    def delete(self, id: int | str, *, if_match: str | None = None) -> Proposal:
        """Withdraw a proposal.

        Returns the withdrawn proposal. Requires the API key that created it, or the key that replaced this key in a rotation.

        Counts against the rate limit `tickets`, by default 30 requests per 60 seconds.

        Errors: `ValidationError`, `InvalidJsonError`, `UnsupportedMediaTypeError`, `PayloadTooLargeError`, `InvalidApiKeyError`, `InsufficientScopeError`, `AddressNotAllowedError`, `NotFoundError`, `PreconditionFailedError`, `RateLimitError`, `InternalError`, `ServiceUnavailableError`.

        Example::

            proposal = client.proposals.delete(1)
        """
        return self._send("DELETE /proposals/:id tickets", (id,), if_match=if_match)

class Activities(Resource):
    """The history of actions on tickets and assets."""

    def of_ticket(
        self,
        ticket_id: TicketReference,
        *,
        page: int | str | None = None,
        per_page: int | str | None = None,
    ) -> ApiList[TicketActivity]:
        """List the activity of a ticket.

        Returns the newest actions first. The list doesn't include actions that occurred before the server started to record activity.

        Requires the scope `tickets:read`: list and read tickets and their categories.

        Each request counts against the rate limit `tickets`, by default 30 requests per 60 seconds.

        Errors: `ValidationError`, `PayloadTooLargeError`, `InvalidApiKeyError`, `InsufficientScopeError`, `AddressNotAllowedError`, `NotFoundError`, `RateLimitError`, `InternalError`, `ServiceUnavailableError`.

        Example::

            for ticket_activity in client.activities.of_ticket(38):
                print(ticket_activity["id"])
        """
        return self._list("GET /tickets/:id/activity tickets:read query", (ticket_id,), {"page": page, "perPage": per_page})

    def of_tickets(
        self,
        *,
        since: str | None = None,
        cursor: str | None = None,
        per_page: int | str | None = None,
        follow: bool = False,
        poll_seconds: float = 10.0,
    ) -> ApiChanges[TicketActivity]:
        """List the activity of all tickets.

        Returns the activity of all tickets for incremental sync, in the order in which the transactions were committed. To get the next page, send `nextCursor` as `cursor`. The feed never omits an item, and an item can appear more than once. Without `since` and `cursor`, the feed starts with the oldest item.

        Requires the scope `tickets:read`: list and read tickets and their categories.

        Counts against the rate limit `tickets`, by default 30 requests per 60 seconds.

        Errors: `ValidationError`, `PayloadTooLargeError`, `InvalidApiKeyError`, `InsufficientScopeError`, `AddressNotAllowedError`, `RateLimitError`, `InternalError`, `ServiceUnavailableError`.

        Example::

            for ticket_activity in client.activities.of_tickets(since="2026-11-20T10:00:00Z"):
                print(ticket_activity["id"])
        """
        return self._changes("GET /tickets/activity tickets:read changes", (), {"since": since, "cursor": cursor, "perPage": per_page}, follow=follow, poll_seconds=poll_seconds)

    def of_asset(
        self,
        asset_id: int | str,
        *,
        page: int | str | None = None,
        per_page: int | str | None = None,
    ) -> ApiList[AssetActivity]:
        """List the activity of an asset.

        Returns the newest actions first. The list doesn't include actions that occurred before the server started to record activity.

        Requires the scope `assets:read`: list and read assets.

        Each request counts against the rate limit `assets`, by default 30 requests per 60 seconds.

        Errors: `ValidationError`, `PayloadTooLargeError`, `InvalidApiKeyError`, `InsufficientScopeError`, `AddressNotAllowedError`, `NotFoundError`, `RateLimitError`, `InternalError`, `ServiceUnavailableError`.

        Example::

            for asset_activity in client.activities.of_asset(11):
                print(asset_activity["id"])
        """
        return self._list("GET /assets/:id/activity assets:read query", (asset_id,), {"page": page, "perPage": per_page})

    def of_assets(
        self,
        *,
        since: str | None = None,
        cursor: str | None = None,
        per_page: int | str | None = None,
        follow: bool = False,
        poll_seconds: float = 10.0,
    ) -> ApiChanges[AssetActivity]:
        """List the activity of all assets.

        Returns the activity of all assets for incremental sync, in the order in which the transactions were committed. To get the next page, send `nextCursor` as `cursor`. The feed never omits an item, and an item can appear more than once. Without `since` and `cursor`, the feed starts with the oldest item.

        Requires the scope `assets:read`: list and read assets.

        Counts against the rate limit `assets`, by default 30 requests per 60 seconds.

        Errors: `ValidationError`, `PayloadTooLargeError`, `InvalidApiKeyError`, `InsufficientScopeError`, `AddressNotAllowedError`, `RateLimitError`, `InternalError`, `ServiceUnavailableError`.

        Example::

            for asset_activity in client.activities.of_assets(since="2026-11-20T10:00:00Z"):
                print(asset_activity["id"])
        """
        return self._changes("GET /assets/activity assets:read changes", (), {"since": since, "cursor": cursor, "perPage": per_page}, follow=follow, poll_seconds=poll_seconds)

class Projects(Resource):
    """Projects, which contain tasks."""

    def list(
        self,
        *,
        page: int | str | None = None,
        per_page: int | str | None = None,
        status: ProjectStatus | Sequence[ProjectStatus] | None = None,
        q: str | None = None,
    ) -> ApiList[Project]:
        """List projects.

        Returns the newest projects first. Different filters combine with AND. Several values of one filter combine with OR.

        Requires the scope `projects:read`: list and read projects and their tasks.

        Each request counts against the rate limit `projects`, by default 30 requests per 60 seconds.

        Errors: `ValidationError`, `PayloadTooLargeError`, `QueryTooBroadError`, `InvalidApiKeyError`, `InsufficientScopeError`, `AddressNotAllowedError`, `RateLimitError`, `InternalError`, `ServiceUnavailableError`.

        Example::

            for project in client.projects.list(status="PLANNED"):
                print(project["id"])
        """
        return self._list("GET /projects projects:read query", (), {"page": page, "perPage": per_page, "status": status, "q": q})

    def changes(
        self,
        *,
        since: str | None = None,
        cursor: str | None = None,
        per_page: int | str | None = None,
        follow: bool = False,
        poll_seconds: float = 10.0,
    ) -> ApiChanges[Project]:
        """List changed projects.

        Returns the current version of each changed resource, ordered by the last change, for incremental sync. To get the next page, send `nextCursor` as `cursor`. The feed never omits a changed resource, but it returns only the current version, and a resource can appear more than once. Without `since` and `cursor`, the feed starts with the oldest change.

        Requires the scope `projects:read`: list and read projects and their tasks.

        Counts against the rate limit `projects`, by default 30 requests per 60 seconds.

        Errors: `ValidationError`, `PayloadTooLargeError`, `InvalidApiKeyError`, `InsufficientScopeError`, `AddressNotAllowedError`, `RateLimitError`, `InternalError`, `ServiceUnavailableError`.

        Example::

            for project in client.projects.changes(since="2026-11-20T10:00:00Z"):
                print(project["id"])
        """
        return self._changes("GET /projects/changes projects:read changes", (), {"since": since, "cursor": cursor, "perPage": per_page}, follow=follow, poll_seconds=poll_seconds)

    def get(self, id: int | str, *, if_none_match: Project | None = None) -> Project:
        """Get a project.

        Requires the scope `projects:read`: list and read projects and their tasks.

        Counts against the rate limit `projects`, by default 30 requests per 60 seconds.

        Errors: `ValidationError`, `PayloadTooLargeError`, `InvalidApiKeyError`, `InsufficientScopeError`, `AddressNotAllowedError`, `NotFoundError`, `RateLimitError`, `InternalError`, `ServiceUnavailableError`.

        Example::

            project = client.projects.get(2)
        """
        return self._send("GET /projects/:id projects:read", (id,), if_none_match=if_none_match)

class Tasks(Resource):
    """The tasks of projects."""

    def list(
        self,
        project_id: int | str,
        *,
        page: int | str | None = None,
        per_page: int | str | None = None,
        status: TaskStatus | Sequence[TaskStatus] | None = None,
        priority: Priority | Sequence[Priority] | None = None,
        assignee_id: UserReference | Sequence[UserReference] | None = None,
        q: str | None = None,
    ) -> ApiList[Task]:
        """List a project's tasks.

        Returns the newest tasks first. Different filters combine with AND. Several values of one filter combine with OR.

        Requires the scope `projects:read`: list and read projects and their tasks. Email addresses in the request also require the scope `users:read`.

        Each request counts against the rate limit `projects`, by default 30 requests per 60 seconds.

        Errors: `ValidationError`, `PayloadTooLargeError`, `QueryTooBroadError`, `InvalidApiKeyError`, `InsufficientScopeError`, `AddressNotAllowedError`, `NotFoundError`, `RateLimitError`, `InternalError`, `ServiceUnavailableError`.

        Example::

            for task in client.tasks.list(2, status="TODO"):
                print(task["id"])
        """
        return self._list("GET /projects/:id/tasks projects:read query", (project_id,), {"page": page, "perPage": per_page, "status": status, "priority": priority, "assigneeId": assignee_id, "q": q})

    def changes(
        self,
        *,
        since: str | None = None,
        cursor: str | None = None,
        per_page: int | str | None = None,
        follow: bool = False,
        poll_seconds: float = 10.0,
    ) -> ApiChanges[Task]:
        """List changed tasks.

        Returns the current version of each changed resource, ordered by the last change, for incremental sync. To get the next page, send `nextCursor` as `cursor`. The feed never omits a changed resource, but it returns only the current version, and a resource can appear more than once. Without `since` and `cursor`, the feed starts with the oldest change.

        Requires the scope `projects:read`: list and read projects and their tasks.

        Counts against the rate limit `projects`, by default 30 requests per 60 seconds.

        Errors: `ValidationError`, `PayloadTooLargeError`, `InvalidApiKeyError`, `InsufficientScopeError`, `AddressNotAllowedError`, `RateLimitError`, `InternalError`, `ServiceUnavailableError`.

        Example::

            for task in client.tasks.changes(since="2026-11-20T10:00:00Z"):
                print(task["id"])
        """
        return self._changes("GET /tasks/changes projects:read changes", (), {"since": since, "cursor": cursor, "perPage": per_page}, follow=follow, poll_seconds=poll_seconds)

    def create(
        self,
        project_id: int | str,
        body: NewTask,
        *,
        idempotency_key: str | None = None,
    ) -> Task:
        """Create a task in a project.

        Requires the scope `projects:write`: create and update tasks. Email addresses in the request also require the scope `users:read`.

        Counts against the rate limit `projects`, by default 30 requests per 60 seconds.

        Errors: `ValidationError`, `InvalidJsonError`, `UnsupportedMediaTypeError`, `PayloadTooLargeError`, `InvalidReferenceError`, `InvalidApiKeyError`, `InsufficientScopeError`, `AddressNotAllowedError`, `NotFoundError`, `IdempotencyKeyReusedError`, `IdempotencyInProgressError`, `RateLimitError`, `InternalError`, `ServiceUnavailableError`.

        Example::

            task = client.tasks.create(2, {"title": "Order patch cables", "assigneeId": 2, "dueDate": "2026-11-27"})
        """
        return self._send("POST /projects/:id/tasks projects:write body", (project_id,), body, idempotency_key=idempotency_key)

    def get(self, task_id: int | str, *, if_none_match: Task | None = None) -> Task:
        """Get a task.

        Requires the scope `projects:read`: list and read projects and their tasks.

        Counts against the rate limit `projects`, by default 30 requests per 60 seconds.

        Errors: `ValidationError`, `PayloadTooLargeError`, `InvalidApiKeyError`, `InsufficientScopeError`, `AddressNotAllowedError`, `NotFoundError`, `RateLimitError`, `InternalError`, `ServiceUnavailableError`.

        Example::

            task = client.tasks.get(10)
        """
        return self._send("GET /tasks/:taskId projects:read", (task_id,), if_none_match=if_none_match)

    def update(self, task_id: int | str, body: TaskPatch, *, if_match: str | None = None) -> Task:
        """Update a task.

        Emits `task.updated` if a field changes.

        Every transition of `status` is allowed.

        Requires the scope `projects:write`: create and update tasks. Email addresses in the request also require the scope `users:read`.

        Counts against the rate limit `projects`, by default 30 requests per 60 seconds.

        Errors: `ValidationError`, `InvalidJsonError`, `UnsupportedMediaTypeError`, `PayloadTooLargeError`, `InvalidReferenceError`, `InvalidApiKeyError`, `InsufficientScopeError`, `AddressNotAllowedError`, `NotFoundError`, `PreconditionFailedError`, `RateLimitError`, `InternalError`, `ServiceUnavailableError`.

        Example::

            task = client.tasks.update(10, {"status": "IN_PROGRESS", "assigneeId": 2})
        """
        return self._send("PATCH /tasks/:taskId projects:write body", (task_id,), body, if_match=if_match)

class Users(Resource):
    """The users of the workspace."""

    def list(
        self,
        *,
        page: int | str | None = None,
        per_page: int | str | None = None,
        role: UserRole | Sequence[UserRole] | None = None,
        active: bool | Literal["true", "false"] | Sequence[bool | Literal["true", "false"]] | None = None,
        email: str | Sequence[str] | None = None,
        q: str | None = None,
    ) -> ApiList[User]:
        """List users.

        Returns the newest users first. Different filters combine with AND. Several values of one filter combine with OR.

        Requires the scope `users:read`: list and read users and teams.

        Each request counts against the rate limit `users`, by default 30 requests per 60 seconds.

        Errors: `ValidationError`, `PayloadTooLargeError`, `QueryTooBroadError`, `InvalidApiKeyError`, `InsufficientScopeError`, `AddressNotAllowedError`, `RateLimitError`, `InternalError`, `ServiceUnavailableError`.

        Example::

            for user in client.users.list(role="ADMIN"):
                print(user["id"])
        """
        return self._list("GET /users users:read query", (), {"page": page, "perPage": per_page, "role": role, "active": active, "email": email, "q": q})

    def changes(
        self,
        *,
        since: str | None = None,
        cursor: str | None = None,
        per_page: int | str | None = None,
        follow: bool = False,
        poll_seconds: float = 10.0,
    ) -> ApiChanges[User]:
        """List changed users.

        Returns the current version of each changed resource, ordered by the last change, for incremental sync. To get the next page, send `nextCursor` as `cursor`. The feed never omits a changed resource, but it returns only the current version, and a resource can appear more than once. Without `since` and `cursor`, the feed starts with the oldest change.

        Requires the scope `users:read`: list and read users and teams.

        Counts against the rate limit `users`, by default 30 requests per 60 seconds.

        Errors: `ValidationError`, `PayloadTooLargeError`, `InvalidApiKeyError`, `InsufficientScopeError`, `AddressNotAllowedError`, `RateLimitError`, `InternalError`, `ServiceUnavailableError`.

        Example::

            for user in client.users.changes(since="2026-11-20T10:00:00Z"):
                print(user["id"])
        """
        return self._changes("GET /users/changes users:read changes", (), {"since": since, "cursor": cursor, "perPage": per_page}, follow=follow, poll_seconds=poll_seconds)

    def get(self, id: int | str, *, if_none_match: User | None = None) -> User:
        """Get a user.

        Requires the scope `users:read`: list and read users and teams.

        Counts against the rate limit `users`, by default 30 requests per 60 seconds.

        Errors: `ValidationError`, `PayloadTooLargeError`, `InvalidApiKeyError`, `InsufficientScopeError`, `AddressNotAllowedError`, `NotFoundError`, `RateLimitError`, `InternalError`, `ServiceUnavailableError`.

        Example::

            user = client.users.get(2)
        """
        return self._send("GET /users/:id users:read", (id,), if_none_match=if_none_match)

class Teams(Resource):
    """Teams of users. You create and change them in the developer area or with the command line."""

    def list(
        self,
        *,
        page: int | str | None = None,
        per_page: int | str | None = None,
        active: bool | Literal["true", "false"] | Sequence[bool | Literal["true", "false"]] | None = None,
    ) -> ApiList[Team]:
        """List teams.

        Returns the newest teams first.

        Requires the scope `users:read`: list and read users and teams.

        Each request counts against the rate limit `users`, by default 30 requests per 60 seconds.

        Errors: `ValidationError`, `PayloadTooLargeError`, `InvalidApiKeyError`, `InsufficientScopeError`, `AddressNotAllowedError`, `RateLimitError`, `InternalError`, `ServiceUnavailableError`.

        Example::

            for team in client.teams.list():
                print(team["id"])
        """
        return self._list("GET /teams users:read query", (), {"page": page, "perPage": per_page, "active": active})

    def changes(
        self,
        *,
        since: str | None = None,
        cursor: str | None = None,
        per_page: int | str | None = None,
        follow: bool = False,
        poll_seconds: float = 10.0,
    ) -> ApiChanges[Team]:
        """List changed teams.

        Returns the current version of each changed resource, ordered by the last change, for incremental sync. To get the next page, send `nextCursor` as `cursor`. The feed never omits a changed resource, but it returns only the current version, and a resource can appear more than once. Without `since` and `cursor`, the feed starts with the oldest change.

        Requires the scope `users:read`: list and read users and teams.

        Counts against the rate limit `users`, by default 30 requests per 60 seconds.

        Errors: `ValidationError`, `PayloadTooLargeError`, `InvalidApiKeyError`, `InsufficientScopeError`, `AddressNotAllowedError`, `RateLimitError`, `InternalError`, `ServiceUnavailableError`.

        Example::

            for team in client.teams.changes(since="2026-11-20T10:00:00Z"):
                print(team["id"])
        """
        return self._changes("GET /teams/changes users:read changes", (), {"since": since, "cursor": cursor, "perPage": per_page}, follow=follow, poll_seconds=poll_seconds)

    def get(self, id: int | str, *, if_none_match: Team | None = None) -> Team:
        """Get a team.

        Requires the scope `users:read`: list and read users and teams.

        Counts against the rate limit `users`, by default 30 requests per 60 seconds.

        Errors: `ValidationError`, `PayloadTooLargeError`, `InvalidApiKeyError`, `InsufficientScopeError`, `AddressNotAllowedError`, `NotFoundError`, `RateLimitError`, `InternalError`, `ServiceUnavailableError`.

        Example::

            team = client.teams.get(1)
        """
        return self._send("GET /teams/:id users:read", (id,), if_none_match=if_none_match)

class Fields(Resource):
    """The definitions of custom fields. You create and change them in the developer area or with the command line."""

    def list(
        self,
        *,
        page: int | str | None = None,
        per_page: int | str | None = None,
        resource: CustomFieldResource | Sequence[CustomFieldResource] | None = None,
    ) -> ApiList[CustomFieldDefinition]:
        """List the definitions of custom fields.

        Returns the definitions in the order of their resources and keys, including inactive ones. Every API key can list them. With `perPage=100`, the first page contains all definitions.

        Each request counts against the rate limit `users`, by default 30 requests per 60 seconds.

        Errors: `ValidationError`, `PayloadTooLargeError`, `InvalidApiKeyError`, `AddressNotAllowedError`, `RateLimitError`, `InternalError`, `ServiceUnavailableError`.

        Example::

            for custom_field_definition in client.fields.list(resource="TICKET"):
                print(custom_field_definition["key"])
        """
        return self._list("GET /custom-fields users query", (), {"page": page, "perPage": per_page, "resource": resource})

class TicketCategories(Resource):
    """Categories of tickets that the workspace defines. You create and change them in the developer area or with the command line."""

    def list(
        self,
        *,
        page: int | str | None = None,
        per_page: int | str | None = None,
    ) -> ApiList[CategoryConfig]:
        """List ticket categories.

        Returns all categories that the workspace defines, including inactive ones, in the order of their ids.

        Requires the scope `tickets:read`: list and read tickets and their categories.

        Each request counts against the rate limit `tickets`, by default 30 requests per 60 seconds.

        Errors: `ValidationError`, `PayloadTooLargeError`, `InvalidApiKeyError`, `InsufficientScopeError`, `AddressNotAllowedError`, `RateLimitError`, `InternalError`, `ServiceUnavailableError`.

        Example::

            for category_config in client.ticket_categories.list():
                print(category_config["id"])
        """
        return self._list("GET /ticket-categories tickets:read query", (), {"page": page, "perPage": per_page})

class BusinessHours(Resource):
    """The hours in which the workspace is open, and the targets for its tickets. You set them in the developer area or with the command line."""

    def get(self, *, if_none_match: BusinessHoursSettings | None = None) -> BusinessHoursSettings:
        """Get the business hours and targets.

        You set them in the developer area or with the command line.

        Counts against the rate limit `users`, by default 30 requests per 60 seconds.

        Errors: `ValidationError`, `PayloadTooLargeError`, `InvalidApiKeyError`, `AddressNotAllowedError`, `RateLimitError`, `InternalError`, `ServiceUnavailableError`.

        Example::

            business_hours_settings = client.business_hours.get()
        """
        return self._send("GET /business-hours users", (), if_none_match=if_none_match)

class RequestForms(Resource):
    """Forms with which users request something, such as a laptop. A submitted form becomes a ticket. You create and change forms in the developer area or with the command line."""

    def list(
        self,
        *,
        page: int | str | None = None,
        per_page: int | str | None = None,
    ) -> ApiList[RequestForm]:
        """List request forms.

        Returns all forms of the workspace, including inactive ones, in the order of their keys. With `perPage=100`, the first page contains all forms.

        Each request counts against the rate limit `users`, by default 30 requests per 60 seconds.

        Errors: `ValidationError`, `PayloadTooLargeError`, `InvalidApiKeyError`, `AddressNotAllowedError`, `RateLimitError`, `InternalError`, `ServiceUnavailableError`.

        Example::

            for request_form in client.request_forms.list():
                print(request_form["id"])
        """
        return self._list("GET /request-forms users query", (), {"page": page, "perPage": per_page})

    def changes(
        self,
        *,
        since: str | None = None,
        cursor: str | None = None,
        per_page: int | str | None = None,
        follow: bool = False,
        poll_seconds: float = 10.0,
    ) -> ApiChanges[RequestForm]:
        """List changed request forms.

        Returns the current version of each changed resource, ordered by the last change, for incremental sync. To get the next page, send `nextCursor` as `cursor`. The feed never omits a changed resource, but it returns only the current version, and a resource can appear more than once. Without `since` and `cursor`, the feed starts with the oldest change.

        Counts against the rate limit `users`, by default 30 requests per 60 seconds.

        Errors: `ValidationError`, `PayloadTooLargeError`, `InvalidApiKeyError`, `AddressNotAllowedError`, `RateLimitError`, `InternalError`, `ServiceUnavailableError`.

        Example::

            for request_form in client.request_forms.changes(since="2026-11-20T10:00:00Z"):
                print(request_form["id"])
        """
        return self._changes("GET /request-forms/changes users changes", (), {"since": since, "cursor": cursor, "perPage": per_page}, follow=follow, poll_seconds=poll_seconds)

    def get(self, key: str, *, if_none_match: RequestFormDetail | None = None) -> RequestFormDetail:
        """Get a request form.

        Returns a form with the JSON Schema of its answers, even if the form is inactive.

        Counts against the rate limit `users`, by default 30 requests per 60 seconds.

        Errors: `ValidationError`, `PayloadTooLargeError`, `InvalidApiKeyError`, `AddressNotAllowedError`, `NotFoundError`, `RateLimitError`, `InternalError`, `ServiceUnavailableError`.

        Example::

            request_form_detail = client.request_forms.get("laptop")
        """
        return self._send("GET /request-forms/:key users", (key,), if_none_match=if_none_match)

    def submit(
        self,
        key: str,
        body: RequestFormSubmission,
        *,
        idempotency_key: str | None = None,
    ) -> Ticket:
        """Submit a request form.

        Creates a ticket from the answers, and emits `ticket.created`. Returns 404 if the form is inactive. The document of your workspace (`GET /openapi.json`) has an operation with typed answers for each active form.

        Requires the scope `tickets:write`: create and update tickets. Email addresses in the request also require the scope `users:read`.

        Counts against the rate limit `tickets`, by default 30 requests per 60 seconds.

        Errors: `ValidationError`, `InvalidJsonError`, `UnsupportedMediaTypeError`, `PayloadTooLargeError`, `InvalidReferenceError`, `ExternalIdExistsError`, `InvalidApiKeyError`, `InsufficientScopeError`, `AddressNotAllowedError`, `NotFoundError`, `IdempotencyKeyReusedError`, `IdempotencyInProgressError`, `RateLimitError`, `InternalError`, `ServiceUnavailableError`.

        Example::

            ticket = client.request_forms.submit("laptop", {"answers": {"site": "Berlin"}})
        """
        return self._send("POST /request-forms/:key/tickets tickets:write body", (key,), body, idempotency_key=idempotency_key)

class Document(Resource):
    """This document with the custom fields, the ticket categories and the request forms of the workspace."""

    def get(self) -> Download:
        """Get the OpenAPI document of the workspace.

        Returns the OpenAPI document with the custom fields, the ticket categories and the request forms of the workspace. It has an operation with typed answers for each active form. The schemas of requests list the fields with their types and values. The schemas of responses also allow other values, because stored values can be older than the definitions. For an import key, no custom field is required. Every API key can read the document, but only keys with the scope `tickets:read` get the ticket categories.

        Counts against the rate limit `users`, by default 30 requests per 60 seconds.

        Errors: `ValidationError`, `PayloadTooLargeError`, `InvalidApiKeyError`, `AddressNotAllowedError`, `RateLimitError`, `InternalError`, `ServiceUnavailableError`.

        Example::

            file = client.document.get()
        """
        return self._download("GET /openapi.json users download", ())

class Webhooks(Resource):
    """Webhook subscriptions. For the format, the retries and the signatures of events, see the section Events."""

    def list(
        self,
        *,
        page: int | str | None = None,
        per_page: int | str | None = None,
    ) -> ApiList[Webhook]:
        """List active webhook subscriptions.

        Returns the newest subscriptions first.

        Requires the scope `webhooks:manage`: list, read, register, change and deactivate webhook subscriptions.

        Each request counts against the rate limit `webhooks`, by default 30 requests per 60 seconds.

        Errors: `ValidationError`, `PayloadTooLargeError`, `InvalidApiKeyError`, `InsufficientScopeError`, `AddressNotAllowedError`, `RateLimitError`, `InternalError`, `ServiceUnavailableError`.

        Example::

            for webhook in client.webhooks.list():
                print(webhook["id"])
        """
        return self._list("GET /webhooks webhooks:manage query", (), {"page": page, "perPage": per_page})

    def get(self, id: int | str, *, if_none_match: Webhook | None = None) -> Webhook:
        """Get a webhook subscription.

        Returns the subscription even if it is deactivated.

        Requires the scope `webhooks:manage`: list, read, register, change and deactivate webhook subscriptions.

        Counts against the rate limit `webhooks`, by default 30 requests per 60 seconds.

        Errors: `ValidationError`, `PayloadTooLargeError`, `InvalidApiKeyError`, `InsufficientScopeError`, `AddressNotAllowedError`, `NotFoundError`, `RateLimitError`, `InternalError`, `ServiceUnavailableError`.

        Example::

            webhook = client.webhooks.get(1)
        """
        return self._send("GET /webhooks/:id webhooks:manage", (id,), if_none_match=if_none_match)

    def create(self, body: NewWebhook, *, idempotency_key: str | None = None) -> CreatedWebhook:
        """Register a webhook subscription.

        If `secret` is absent, the server generates a signing secret. Only this response contains the secret. If you repeat the request with the same `Idempotency-Key`, you get the secret again. A workspace can have at most 100 active subscriptions.

        Requires the scope `webhooks:manage`: list, read, register, change and deactivate webhook subscriptions.

        Counts against the rate limit `webhooks`, by default 30 requests per 60 seconds.

        Errors: `ValidationError`, `InvalidJsonError`, `UnsupportedMediaTypeError`, `PayloadTooLargeError`, `InvalidApiKeyError`, `InsufficientScopeError`, `AddressNotAllowedError`, `IdempotencyKeyReusedError`, `IdempotencyInProgressError`, `RateLimitError`, `InternalError`, `ServiceUnavailableError`.

        Example::

            created_webhook = client.webhooks.create({
                "url": "https://hooks.example.com/itsm",
                "secret": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
                "events": ["ticket.created", "ticket.updated"],
            })
        """
        return self._send("POST /webhooks webhooks:manage body", (), body, idempotency_key=idempotency_key)

    def update(self, id: int | str, body: WebhookPatch, *, if_match: str | None = None) -> Webhook:
        """Change, pause or resume a webhook subscription.

        Pending deliveries use the changed settings, such as the new URL and the new signing secret. A new URL resets the count of failures. If the subscription is deactivated, the server returns `NOT_FOUND`.

        Requires the scope `webhooks:manage`: list, read, register, change and deactivate webhook subscriptions.

        Counts against the rate limit `webhooks`, by default 30 requests per 60 seconds.

        Errors: `ValidationError`, `InvalidJsonError`, `UnsupportedMediaTypeError`, `PayloadTooLargeError`, `InvalidApiKeyError`, `InsufficientScopeError`, `AddressNotAllowedError`, `NotFoundError`, `PreconditionFailedError`, `RateLimitError`, `InternalError`, `ServiceUnavailableError`.

        Example::

            webhook = client.webhooks.update(1, {"events": ["ticket.created", "ticket.updated"]})
        """
        return self._send("PATCH /webhooks/:id webhooks:manage body", (id,), body, if_match=if_match)

    def test(self, id: int | str, *, idempotency_key: str | None = None) -> Delivery:
        """Send a test event to a subscription.

        Sends an event of the first subscribed type with the example resource from this document, and ignores the filter. The `webhook-id` starts with `evt_test_`. Returns the delivery, which records each attempt. The server sends the event even if the circuit breaker is open. A 2xx response closes the circuit breaker. If the subscription has `paused: true`, the server sends the event after you set `paused: false`.

        Requires the scope `webhooks:manage`: list, read, register, change and deactivate webhook subscriptions.

        Counts against the rate limit `webhooks`, by default 30 requests per 60 seconds.

        Errors: `ValidationError`, `InvalidJsonError`, `UnsupportedMediaTypeError`, `PayloadTooLargeError`, `InvalidApiKeyError`, `InsufficientScopeError`, `AddressNotAllowedError`, `NotFoundError`, `IdempotencyKeyReusedError`, `IdempotencyInProgressError`, `RateLimitError`, `InternalError`, `ServiceUnavailableError`.

        Example::

            delivery = client.webhooks.test(1)
        """
        return self._send("POST /webhooks/:id/test webhooks:manage", (id,), idempotency_key=idempotency_key)

    def replay(
        self,
        id: int | str,
        body: WebhookReplay,
        *,
        idempotency_key: str | None = None,
    ) -> WebhookReplayStarted:
        """Send the deliveries of a subscription again.

        Returns immediately and sends the deliveries in the background, oldest first, with the same `webhook-id`. The replay includes only deliveries that already had a matching `state` when you sent the request. If the circuit breaker is open, the server immediately sends one delivery as a test. A success closes the circuit breaker. If the subscription has `paused: true`, the server sends the deliveries after you set `paused: false`. A subscription can have at most 10 replays in progress.

        Requires the scope `webhooks:manage`: list, read, register, change and deactivate webhook subscriptions.

        Counts against the rate limit `webhooks`, by default 30 requests per 60 seconds.

        Errors: `ValidationError`, `InvalidJsonError`, `UnsupportedMediaTypeError`, `PayloadTooLargeError`, `InvalidApiKeyError`, `InsufficientScopeError`, `AddressNotAllowedError`, `NotFoundError`, `IdempotencyKeyReusedError`, `IdempotencyInProgressError`, `RateLimitError`, `InternalError`, `ServiceUnavailableError`.

        Example::

            webhook_replay_started = client.webhooks.replay(1, {"since": "2026-11-20T10:00:00Z"})
        """
        return self._send("POST /webhooks/:id/replay webhooks:manage body", (id,), body, idempotency_key=idempotency_key)

    def delete(self, id: int | str, *, if_match: str | None = None) -> Webhook:
        """Deactivate a webhook subscription.

        Returns the deactivated subscription. The server cancels pending deliveries. If you repeat the request, it has no further effect. You can reactivate the subscription in the developer area or on the command line, but not with the API.

        Requires the scope `webhooks:manage`: list, read, register, change and deactivate webhook subscriptions.

        Counts against the rate limit `webhooks`, by default 30 requests per 60 seconds.

        Errors: `ValidationError`, `InvalidJsonError`, `UnsupportedMediaTypeError`, `PayloadTooLargeError`, `InvalidApiKeyError`, `InsufficientScopeError`, `AddressNotAllowedError`, `NotFoundError`, `PreconditionFailedError`, `RateLimitError`, `InternalError`, `ServiceUnavailableError`.

        Example::

            webhook = client.webhooks.delete(1)
        """
        return self._send("DELETE /webhooks/:id webhooks:manage", (id,), if_match=if_match)

class Deliveries(Resource):
    """Deliveries of events to subscriptions, and their attempts."""

    def list(
        self,
        webhook_id: int | str,
        *,
        page: int | str | None = None,
        per_page: int | str | None = None,
        state: DeliveryState | Sequence[DeliveryState] | None = None,
    ) -> ApiList[Delivery]:
        """List a subscription's deliveries.

        Returns the newest deliveries first, for active and deactivated subscriptions. The server deletes deliveries 30 days after they finish.

        Requires the scope `webhooks:manage`: list, read, register, change and deactivate webhook subscriptions.

        Each request counts against the rate limit `webhooks`, by default 30 requests per 60 seconds.

        Errors: `ValidationError`, `PayloadTooLargeError`, `InvalidApiKeyError`, `InsufficientScopeError`, `AddressNotAllowedError`, `NotFoundError`, `RateLimitError`, `InternalError`, `ServiceUnavailableError`.

        Example::

            for delivery in client.deliveries.list(1, state="PENDING"):
                print(delivery["id"])
        """
        return self._list("GET /webhooks/:id/deliveries webhooks:manage query", (webhook_id,), {"page": page, "perPage": per_page, "state": state})

    def get(self, id: int | str) -> DeliveryDetail:
        """Get a delivery with its attempts.

        Requires the scope `webhooks:manage`: list, read, register, change and deactivate webhook subscriptions.

        Counts against the rate limit `webhooks`, by default 30 requests per 60 seconds.

        Errors: `ValidationError`, `PayloadTooLargeError`, `InvalidApiKeyError`, `InsufficientScopeError`, `AddressNotAllowedError`, `NotFoundError`, `RateLimitError`, `InternalError`, `ServiceUnavailableError`.

        Example::

            delivery_detail = client.deliveries.get(1)
        """
        return self._send("GET /deliveries/:id webhooks:manage", (id,))

    def replay(self, id: int | str, *, idempotency_key: str | None = None) -> Delivery:
        """Send a delivery again.

        Sends the delivery again immediately, regardless of its `state`. The `webhook-id` stays the same. Attempt numbers start at 1 again. If an attempt is in progress, the request has no effect. If the circuit breaker is open, the server sends this delivery as a test. If the subscription has `paused: true`, the server sends the delivery after you set `paused: false`.

        Requires the scope `webhooks:manage`: list, read, register, change and deactivate webhook subscriptions.

        Counts against the rate limit `webhooks`, by default 30 requests per 60 seconds.

        Errors: `ValidationError`, `InvalidJsonError`, `UnsupportedMediaTypeError`, `PayloadTooLargeError`, `InvalidApiKeyError`, `InsufficientScopeError`, `AddressNotAllowedError`, `NotFoundError`, `IdempotencyKeyReusedError`, `IdempotencyInProgressError`, `RateLimitError`, `InternalError`, `ServiceUnavailableError`.

        Example::

            delivery = client.deliveries.replay(1)
        """
        return self._send("POST /deliveries/:id/replay webhooks:manage", (id,), idempotency_key=idempotency_key)

class Resources:
    """The resources of the API, each with its methods."""

    ping: Ping
    """Check that the service is available. Requires no API key."""
    me: Me
    """The API key of the request."""
    tickets: Tickets
    """Incidents, problems, changes and service requests."""
    comments: Comments
    """Comments on tickets."""
    attachments: Attachments
    """Files that are attached to tickets."""
    links: Links
    """Links between tickets."""
    approvals: Approvals
    """The approvals of changes."""
    assets: Assets
    """Devices, licenses and other items that the workspace manages."""
    articles: Articles
    """Articles of the knowledge base. You write them in the developer area or import them with the command line."""
    proposals: Proposals
    """Requests that wait for the decision of a person. API keys that may only propose can change nothing on their own."""
    activities: Activities
    """The history of actions on tickets and assets."""
    projects: Projects
    """Projects, which contain tasks."""
    tasks: Tasks
    """The tasks of projects."""
    users: Users
    """The users of the workspace."""
    teams: Teams
    """Teams of users. You create and change them in the developer area or with the command line."""
    fields: Fields
    """The definitions of custom fields. You create and change them in the developer area or with the command line."""
    ticket_categories: TicketCategories
    """Categories of tickets that the workspace defines. You create and change them in the developer area or with the command line."""
    business_hours: BusinessHours
    """The hours in which the workspace is open, and the targets for its tickets. You set them in the developer area or with the command line."""
    request_forms: RequestForms
    """Forms with which users request something, such as a laptop. A submitted form becomes a ticket. You create and change forms in the developer area or with the command line."""
    document: Document
    """This document with the custom fields, the ticket categories and the request forms of the workspace."""
    webhooks: Webhooks
    """Webhook subscriptions. For the format, the retries and the signatures of events, see the section Events."""
    deliveries: Deliveries
    """Deliveries of events to subscriptions, and their attempts."""

    def __init__(self, api: Api) -> None:
        self.ping = Ping(api)
        self.me = Me(api)
        self.tickets = Tickets(api)
        self.comments = Comments(api)
        self.attachments = Attachments(api)
        self.links = Links(api)
        self.approvals = Approvals(api)
        self.assets = Assets(api)
        self.articles = Articles(api)
        self.proposals = Proposals(api)
        self.activities = Activities(api)
        self.projects = Projects(api)
        self.tasks = Tasks(api)
        self.users = Users(api)
        self.teams = Teams(api)
        self.fields = Fields(api)
        self.ticket_categories = TicketCategories(api)
        self.business_hours = BusinessHours(api)
        self.request_forms = RequestForms(api)
        self.document = Document(api)
        self.webhooks = Webhooks(api)
        self.deliveries = Deliveries(api)
