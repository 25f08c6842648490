"""Sends requests within the rate limits, and retries them if a retry is safe."""

from __future__ import annotations

import email.utils
import json
import math
import re
import secrets
import ssl
import sys
import time
from dataclasses import dataclass, field
from typing import Any, Callable, Dict, List, Mapping, NamedTuple, Tuple, Union
from urllib.parse import quote, quote_plus, urlsplit

from ._contract import PATH_PREFIX, VERSION
from ._errors import ItsmError, RateLimit, create_error
from ._files import Download, Upload
from ._pacing import RateLimitQueue, backoff, logger, read_rate_limits
from ._transport import FAILURES, Exchange, Transport

# The default timeout of an upload. The server allows the same time.
_UPLOAD_SECONDS = 900.0


class ApiResponse(NamedTuple):
    """A response of the API, without its data."""

    method: str
    path: str
    status: int
    """The HTTP status. The status is 304 if the resource has not changed since `if_none_match`."""
    headers: Mapping[str, str]
    """The headers, with names in lower case."""
    request_id: str | None
    """The request id. Include it when you report a problem to the server's operator."""
    rate_limits: List[RateLimit]


@dataclass(frozen=True)
class Options:
    """The options that every call of a client has."""

    timeout: float | None = None
    max_retries: int = 2
    max_wait: float = 600.0
    headers: Mapping[str, str] = field(default_factory=dict)
    on_response: Callable[[ApiResponse], None] | None = None

    def __post_init__(self) -> None:
        for name in ("timeout", "max_retries", "max_wait"):
            value = getattr(self, name)
            # The comparison is also false for NaN.
            if value is not None and not value >= 0:
                raise ValueError(f"{name} is {value}. Pass a number that is not negative.")


@dataclass
class Request:
    """A request that the client sends to the API."""

    method: str
    path: str
    # The rate limit group of the endpoint, and the scope that it requires. Both are None for ping.
    group: str | None = None
    scope: str | None = None
    query: str = ""
    body: bytes | None = None
    upload: Upload | None = None
    is_download: bool = False
    if_match: str | None = None
    # The earlier data, whose `etag` the server compares.
    if_none_match: Mapping[str, Any] | None = None
    idempotency_key: str | None = None


class Sender:
    """Sends requests with the API key of a client."""

    def __init__(self, base_url: str, api_key: str | None, user_agent: str | None, context: ssl.SSLContext | None) -> None:
        self.base_url = _check_base_url(base_url)
        url = urlsplit(self.base_url)
        self.transport = Transport(f"{url.scheme}://{url.netloc}", context)
        self._prefix = quote(url.path, safe="/%") + PATH_PREFIX
        self._api_key = _check_api_key(api_key)
        python = f"python/{sys.version_info.major}.{sys.version_info.minor}"
        self._headers = {
            "accept": "application/json",
            "accept-encoding": "gzip, deflate",
            "connection": "keep-alive",
            "user-agent": f"{user_agent or ''} itsm-api-python/{VERSION} {python}".lstrip(),
        }
        if self._api_key is not None:
            self._headers["authorization"] = f"Bearer {self._api_key}"

    def hide_key(self, text: str) -> str:
        """Removes the API key from a text. Messages from a proxy may contain the key."""
        return text if self._api_key is None else text.replace(self._api_key, "[API key]")

    def send(self, pacing: RateLimitQueue, options: Options, request: Request) -> Any:
        """Sends a request, and returns the envelope of the response, or the download.

        Raises `ItsmError` if the request fails, and `ValueError` if it can't be sent.
        """
        method, path, upload = request.method, request.path, request.upload
        if method == "POST" and request.idempotency_key is None:
            request.idempotency_key = random_key()
        turn = pacing.new_turn(method, path, request.group, time.monotonic() + options.max_wait)
        retries = pauses = 0
        while True:
            pacing.start(turn)
            response: Union[ApiResponse, ItsmError, None] = None
            try:
                response, envelope = self._attempt(request, options)
            except ItsmError as failure:
                response = failure
            finally:
                status = None if response is None else response.status
                retry_after = response.retry_after_seconds if isinstance(response, ItsmError) else None
                pacing.finish(turn, status, [] if response is None else response.rate_limits, retry_after)
            latency = round((time.monotonic() - turn.sent_at) * 1000)
            result = response.code if isinstance(response, ItsmError) else response.status
            request_id = response.request_id or "?"
            logger.debug("%s %s: %s after %d ms, request %s", method, path, result, latency, request_id)
            if isinstance(response, ApiResponse):
                if options.on_response is not None:
                    options.on_response(response)
                return envelope
            error = response
            if upload is not None and not upload.is_repeatable:
                raise error

            retry_after = error.retry_after_seconds or 0.0
            wait = max(retry_after, backoff(pauses))
            # If the server names a time, the pause doesn't grow.
            if retry_after == 0:
                pauses += 1
            # After a 429 or SERVICE_UNAVAILABLE, a retry is always safe, because the server didn't process the request.
            # After IDEMPOTENCY_IN_PROGRESS, the idempotency key prevents a duplicate.
            if error.status == 429 or error.code in ("IDEMPOTENCY_IN_PROGRESS", "SERVICE_UNAVAILABLE"):
                remaining = turn.deadline - time.monotonic()
                if retry_after >= remaining:
                    raise error
                wait = min(wait, remaining)
            else:
                # A repeated GET changes nothing, and the idempotency key prevents duplicates of a POST. The client
                # doesn't retry other writes, because they may already have taken effect.
                is_transient = error.code in ("CONNECTION_FAILED", "TIMEOUT") or (error.status or 0) in (408, *range(500, 600))
                if method not in ("GET", "POST") or not is_transient or retries >= options.max_retries:
                    raise error
                if retry_after > options.max_wait:
                    raise error
                retries += 1
            # After a 429, the rate limit queue reports the wait, and waits before the next attempt.
            if error.status != 429:
                logger.warning("%s %s: %s; retrying in %.1f s", method, path, result, wait)
                time.sleep(wait)

    def _attempt(self, request: Request, options: Options) -> Tuple[ApiResponse, Any]:
        """Sends a request once."""
        method, path, upload = request.method, request.path, request.upload
        timeout = options.timeout or (30.0 if upload is None else _UPLOAD_SECONDS)

        def to_error(cause: Exception) -> ItsmError:
            if isinstance(cause, TimeoutError):
                message = f"{self.base_url} did not respond to {method} {path} within {timeout:g} s."
                return create_error(message, "TIMEOUT", method=method, path=path)
            reason = self.hide_key(str(cause) or type(cause).__name__)
            message = f"{method} {path} did not reach {self.base_url}: {reason}"
            return create_error(message, "CONNECTION_FAILED", method=method, path=path)

        try:
            body = request.body if upload is None else upload.open()
            target = self._prefix + path + request.query
            exchange = self.transport.exchange(method, target, body, self._request_headers(request, options), timeout)
            if request.is_download and 200 <= exchange.status < 300:
                return self._response(request, exchange), {"data": Download(exchange, to_error)}
            content = exchange.read()
        except FAILURES as error:
            raise to_error(error) from error
        response = self._response(request, exchange)
        if response.status == 304 and request.if_none_match is not None:
            return response, {"data": request.if_none_match}
        try:
            envelope = json.loads(content)
        except ValueError:
            envelope = None
        if isinstance(envelope, dict) and 200 <= response.status < 300 and envelope.get("success") is True:
            return response, envelope
        raise self._to_error(request, response, envelope)

    def _request_headers(self, request: Request, options: Options) -> Dict[str, str]:
        headers = dict(self._headers)
        if request.is_download:
            headers["accept"] = "*/*"
        if request.body is not None:
            headers["content-type"] = "application/json"
            headers["content-length"] = str(len(request.body))
        elif request.method == "POST":
            headers["content-length"] = "0"
        if request.upload is not None:
            headers["content-type"] = request.upload.content_type
            headers["content-length"] = str(request.upload.size)
        if request.idempotency_key is not None:
            headers["idempotency-key"] = request.idempotency_key
        if request.if_match is not None:
            headers["if-match"] = request.if_match
        if request.if_none_match is not None:
            headers["if-none-match"] = request.if_none_match["etag"]
        for name, value in options.headers.items():
            headers[name.lower()] = value
        return headers

    def _response(self, request: Request, exchange: Exchange) -> ApiResponse:
        headers = exchange.headers
        limits = read_rate_limits(headers.get("ratelimit-policy"), headers.get("ratelimit"))
        return ApiResponse(request.method, request.path, exchange.status, headers, headers.get("x-request-id"), limits)

    def _to_error(self, request: Request, response: ApiResponse, envelope: object) -> ItsmError:
        method, path, status = request.method, request.path, response.status
        error = envelope.get("error") if isinstance(envelope, dict) else None
        # An error response from a proxy may repeat the request headers, which contain the API key.
        headers = {name: self.hide_key(value) for name, value in response.headers.items()}
        failure: Dict[str, Any] = {
            **{"method": method, "path": path, "status": status, "headers": headers},
            "rate_limits": response.rate_limits,
            "request_id": headers.get("x-request-id"),
            "retry_after_seconds": _retry_after(headers.get("retry-after")),
        }
        if not isinstance(error, dict) or not isinstance(error.get("code"), str):
            location = headers.get("location")
            what = f"{status} and {headers.get('content-type') or 'no content'}" if location is None else f"a redirect to {location}"
            url = f"{self.base_url}{PATH_PREFIX}{path}"
            return create_error(f"{method} {url} returned {what}, not a response of this API.", "UNEXPECTED_ANSWER", **failure)
        code = error["code"]
        failure["request_id"] = request_id = failure["request_id"] or error.get("requestId")
        if failure["retry_after_seconds"] is None:
            failure["retry_after_seconds"] = error.get("retryAfterSeconds")
        if request_id:
            failure["request_url"] = f"{self.base_url}/developer/requests?requestId={quote(request_id, safe='')}"
        if code == "INSUFFICIENT_SCOPE":
            failure["required_scope"] = request.scope
        failure["docs"] = error.get("docs") and self.base_url + error["docs"]
        failure["details"] = error.get("details")
        if status == 401 and self._api_key is None:
            failure["remedy"] = "Pass api_key to ItsmClient(base_url, api_key=…)."
            return create_error(f"{method} {path} requires an API key.", code, **failure)
        return create_error(self.hide_key(str(error.get("message") or code)), code, **failure)


def random_key() -> str:
    """Returns a random idempotency key."""
    return "-".join(str(secrets.randbits(32)) for _ in range(4))


def encode(value: object) -> bytes:
    """Encodes a value as JSON, like `JSON.stringify`. Raises `ValueError` or `TypeError` if JSON can't represent it."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()


def query_string(query: Mapping[str, object]) -> str:
    """Returns the query of a URL. A list repeats the parameter. A mapping becomes parameters such as `customFields[site]`."""
    parts = []
    for name, value in query.items():
        values = {f"{name}[{key}]": each for key, each in value.items()} if isinstance(value, Mapping) else {name: value}
        for each_name, each in values.items():
            if each is None:
                continue
            items = [each] if isinstance(each, str) or not hasattr(each, "__iter__") else list(each)
            # An empty list would add no parameter, so the API would ignore the filter and return all rows.
            if not items:
                raise ValueError(f"{each_name} is empty. Pass a value or omit it.")
            parts += [f"{_quote(each_name)}={_quote(_to_text(item))}" for item in items]
    return f"?{'&'.join(parts)}" if parts else ""


def _to_text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _quote(text: str) -> str:
    return quote_plus(text, safe="*").replace("~", "%7E")


def _retry_after(value: str | None) -> int | None:
    """Parses the `Retry-After` header, which contains seconds or a date."""
    if not value:
        return None
    if value.isdecimal():
        return int(value)
    try:
        at = email.utils.parsedate_to_datetime(value).timestamp()
    except ValueError:
        return None
    return max(0, math.ceil(at - time.time()))


def _check_base_url(base_url: str) -> str:
    # The error message doesn't repeat the value, because a developer may have passed the API key instead of the URL.
    url = urlsplit(base_url.strip())
    is_valid = url.scheme in ("http", "https") and re.fullmatch(r"([\w.-]+|\[[\da-fA-F:.]+\])(:\d+)?", url.netloc)
    if not is_valid or url.query or url.fragment:
        raise ValueError("base_url is invalid. Pass the URL of the workspace, such as https://acme.example.com.")
    path = url.path.rstrip("/")
    if path.endswith(PATH_PREFIX):
        raise ValueError(f"base_url must not contain {PATH_PREFIX}.")
    return f"{url.scheme}://{url.netloc}{path}"


def _check_api_key(value: str | None) -> str | None:
    if value is None:
        return None
    api_key = value.strip()
    if not api_key or not all("\x21" <= character <= "\x7e" for character in api_key):
        raise ValueError("api_key is invalid. Pass the complete key.")
    return api_key
