"""The base of the error classes, and the errors that the client itself detects."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Dict, List, Mapping, NamedTuple, Type

if TYPE_CHECKING:
    from .types import ErrorDetail

_CHECK = "A write may have taken effect: check before you retry it."

# How to correct an error. For all other codes, the message describes it.
_REMEDIES = {
    "INSUFFICIENT_SCOPE": "Pass a key that has required_scope.",
    "RATE_LIMIT_EXCEEDED": "Raise max_wait, or use create_many.",
    "CONNECTION_FAILED": f"Check base_url and the network. {_CHECK}",
    "TIMEOUT": f"Raise timeout. {_CHECK}",
    "UNEXPECTED_ANSWER": "Pass the URL of the workspace as base_url.",
}


class RateLimit(NamedTuple):
    """A rate limit of the API key, as reported by a response."""

    name: str
    """`global`, or the name of an endpoint group."""
    limit: int
    """Maximum number of requests per window."""
    remaining: int
    """Number of requests left in the window."""
    reset_seconds: int
    """Seconds until the window ends."""
    window_seconds: int
    """Length of the window in seconds."""
    waiting: int = 0
    """Number of calls of this client that wait for the rate limit. Always 0 in a response."""


class ItsmError(Exception):
    """The error of a failed call. Each error code has its own subclass.

    An error with an unknown code from a newer server has the class `ItsmError`.
    """

    _classes: ClassVar[Dict[str, Type[ItsmError]]] = {}

    code: str = ""
    """The error code of the API, or a code that the client defines, such as `TIMEOUT`."""
    method: str = ""
    """The HTTP method of the request."""
    path: str = ""
    """The path of the request without `/api/public/v1` and without the query."""
    status: int | None = None
    """The HTTP status of the response. None if there was no response."""
    headers: Mapping[str, str] | None = None
    """The headers of the response. None if there was no response."""
    request_id: str | None = None
    """The request id. Include it when you report a problem to the server's operator."""
    request_url: str | None = None
    """The URL of the request in the request log. Administrators and the user of the API key can open it."""
    retry_after_seconds: float | None = None
    """The number of seconds to wait before a retry. None if the response doesn't specify it."""
    required_scope: str | None = None
    """The scope that the API key needs. Set only for an `InsufficientScopeError`."""
    details: List[ErrorDetail]
    """The invalid fields and parameters. Empty if all fields and parameters are valid."""
    docs: str | None = None
    """The URL of the page that explains the error code. None if the API sent no response."""
    remedy: str | None = None
    """How to correct the error. None if the message already describes the correction."""
    rate_limits: List[RateLimit]
    """The rate limits of the API key. Empty if the response doesn't contain them."""
    page: int | None = None
    """The page at which an iteration over a list failed. To continue, pass it to `list(page=…)`."""
    cursor: str | None = None
    """The cursor at which an iteration over changes failed. To continue, pass it to `changes(cursor=…)`."""

    def __init__(self, message: str = "") -> None:
        super().__init__(message)
        self.details = []
        self.rate_limits = []

    def __init_subclass__(cls, code: str = "", **options: Any) -> None:
        super().__init_subclass__(**options)
        if code:
            ItsmError._classes[code] = cls

    @property
    def message(self) -> str:
        """What is wrong, and what to do next."""
        return str(self)


class ApiConnectionError(ItsmError, code="CONNECTION_FAILED"):
    """The connection failed. Check the URL, the network and the server. A write may have taken effect."""


class ApiTimeoutError(ItsmError, code="TIMEOUT"):
    """The client received no complete response within `timeout`. A write may have taken effect."""


class UnexpectedAnswerError(ItsmError, code="UNEXPECTED_ANSWER"):
    """The response is not from this API. It may be from a proxy, a sign-in page or another service."""


def create_error(message: str, code: str, **properties: Any) -> ItsmError:
    """Returns an error of the class for the given code. If the code is unknown, the class is `ItsmError`."""
    error = ItsmError._classes.get(code, ItsmError)(message)
    error.code = code
    error.remedy = _REMEDIES.get(code)
    for name, value in properties.items():
        if value is not None:
            setattr(error, name, value)
    return error
