# Generated from the contract by `pnpm generate`. Do not edit.
"""The error classes of the API. Each error code has its own class."""

from ._errors import ApiConnectionError, ApiTimeoutError, ItsmError, UnexpectedAnswerError

__all__ = [
    "ApiConnectionError",
    "ApiTimeoutError",
    "ItsmError",
    "UnexpectedAnswerError",
    "ValidationError",
    "InvalidJsonError",
    "UnsupportedMediaTypeError",
    "PayloadTooLargeError",
    "InvalidTransitionError",
    "InvalidReferenceError",
    "ExternalIdExistsError",
    "QuotaExceededError",
    "QueryTooBroadError",
    "InvalidApiKeyError",
    "InsufficientScopeError",
    "AddressNotAllowedError",
    "NotFoundError",
    "IdempotencyKeyReusedError",
    "IdempotencyInProgressError",
    "PreconditionFailedError",
    "RateLimitError",
    "InternalError",
    "ServiceUnavailableError",
]

class ValidationError(ItsmError, code="VALIDATION_ERROR"):
    """The request is invalid. `details` lists the invalid fields and parameters, at most 20.

    Correct the problems that the message and `details` describe, then send the request again. Unless the message says to retry, an unchanged request fails again.
    """

class InvalidJsonError(ItsmError, code="INVALID_JSON"):
    """The body is not valid JSON, or a required body is empty.

    Send a complete JSON object as the body.
    """

class UnsupportedMediaTypeError(ItsmError, code="UNSUPPORTED_MEDIA_TYPE"):
    """The body is not JSON in UTF-8, or it is compressed.

    Send the body with `Content-Type: application/json` and without `Content-Encoding`.
    """

class PayloadTooLargeError(ItsmError, code="PAYLOAD_TOO_LARGE"):
    """The body or a header is too large, or the JSON has too many values or nested levels.

    Send less data in each request. The message states the limit.
    """

class InvalidTransitionError(ItsmError, code="INVALID_TRANSITION"):
    """The status can't change to the requested value. The message lists the allowed values, says that the current status is final, or gives the reason why the policy for changes forbids it now.

    Get the resource again, and choose a status that is allowed after its current status. If the current status is final, create a new resource. If the policy for changes forbids the status, wait for the approvals and the planned window.
    """

class InvalidReferenceError(ItsmError, code="INVALID_REFERENCE"):
    """An id, ticket number or email address in the body matches no resource of this workspace, or it identifies an inactive user.

    Look up the id with a list endpoint. You can assign or add only active users.
    """

class ExternalIdExistsError(ItsmError, code="EXTERNAL_ID_EXISTS"):
    """Another resource of the same type has this `externalId`. `details` contains the `id` of that resource.

    If you repeat an import, continue with the resource in `details`, because it already exists. Otherwise, choose a different `externalId`.
    """

class QuotaExceededError(ItsmError, code="QUOTA_EXCEEDED"):
    """The attachments of the workspace would need more bytes than its quota allows.

    Delete attachments that the workspace no longer needs, or ask the operator of the server for more space.
    """

class QueryTooBroadError(ItsmError, code="QUERY_TOO_BROAD"):
    """The list query takes too long. The message says how to narrow it.

    Narrow the query: add a filter, use fewer filter values, or choose a shorter time range.
    """

class InvalidApiKeyError(ItsmError, code="INVALID_API_KEY"):
    """The API key is missing, malformed, unknown, expired or revoked.

    Send the complete API key in one header, exactly as shown when the key was created. If the key expired or was revoked, create a new key.
    """

class InsufficientScopeError(ItsmError, code="INSUFFICIENT_SCOPE"):
    """The API key lacks the required scope. The message names the scope.

    Create an API key that has this scope.
    """

class AddressNotAllowedError(ItsmError, code="ADDRESS_NOT_ALLOWED"):
    """The API key isn't allowed from the IP address of the client. The message contains the address.

    Send the request from one of the allowed networks of the API key, or ask an administrator to allow the network of the address.
    """

class NotFoundError(ItsmError, code="NOT_FOUND"):
    """The path and method match no endpoint, or the resource doesn't exist in this workspace.

    Check the path, the method and the id. The id must be from the workspace of the API key.
    """

class IdempotencyKeyReusedError(ItsmError, code="IDEMPOTENCY_KEY_REUSED"):
    """The `Idempotency-Key` was already used for a request with a different path, body or file type.

    To retry the first request, send it unchanged. To send a different request, use a new `Idempotency-Key`.
    """

class IdempotencyInProgressError(ItsmError, code="IDEMPOTENCY_IN_PROGRESS"):
    """A request with the same `Idempotency-Key` is still in progress.

    Wait for `retryAfterSeconds` seconds, then send the same request with the same `Idempotency-Key`.
    """

class PreconditionFailedError(ItsmError, code="PRECONDITION_FAILED"):
    """`If-Match` doesn't match the current `ETag`: the resource has changed. No changes were made.

    Get the resource again, check that your change still applies, and retry with the new `ETag`.
    """

class RateLimitError(ItsmError, code="RATE_LIMIT_EXCEEDED"):
    """The client sent too many requests in a time window, or too many concurrent requests.

    Wait for `retryAfterSeconds` seconds, then retry. The server did not process the request.
    """

class InternalError(ItsmError, code="INTERNAL_ERROR"):
    """An unexpected error occurred on the server.

    You can retry a read. If `Retry-After` is present, wait that number of seconds first. Retry a write only with the same `Idempotency-Key`, or after you check that the write had no effect. If the error persists, look up the `requestId` in the request log, and report it to the operator of the server.
    """

class ServiceUnavailableError(ItsmError, code="SERVICE_UNAVAILABLE"):
    """The server is starting, or the workspace is in maintenance. The server did not process the request.

    Wait for the number of seconds in `Retry-After`, then retry. All requests are safe to retry, including writes. If an upload or a download gets no `Retry-After`, only the operator of the server can solve the problem.
    """
