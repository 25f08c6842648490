"""The client of the API."""

from __future__ import annotations

import ssl
from dataclasses import replace
from typing import Any, Callable, List, Mapping

from ._errors import RateLimit
from ._pacing import RateLimitQueue, RateLimitWait
from ._resource import Api
from ._send import ApiResponse, Options, Sender
from .resources import Resources


class ItsmClient(Resources):
    """A client for the API of one workspace. Any number of threads can use it.

    Example::

        client = ItsmClient("https://acme.example.com", api_key=api_key)
        ticket = client.tickets.get(38)
    """

    def __init__(
        self,
        base_url: str,
        *,
        api_key: str | None = None,
        timeout: float | None = None,
        max_retries: int = 2,
        max_wait: float = 600.0,
        headers: Mapping[str, str] | None = None,
        on_response: Callable[[ApiResponse], None] | None = None,
        on_wait: Callable[[RateLimitWait], None] | None = None,
        ssl_context: ssl.SSLContext | None = None,
        user_agent: str | None = None,
    ) -> None:
        """Creates a client, which sends no request yet.

        - `base_url`: the URL of the workspace, such as `https://acme.example.com`, without `/api/public/v1`.
        - `api_key`: the API key, which every operation except ping requires. Logs and errors never contain it.
        - `timeout`: the seconds for one attempt, including the time to read the response. By default 30, and for an
          upload 900. For a download, the time until the content starts to arrive, and for each part of it.
        - `max_retries`: how often the client repeats a failed request. A wait for a rate limit doesn't count.
        - `max_wait`: the seconds that a call waits for a rate limit, a starting server, the end of maintenance, or an
          earlier request with the same idempotency key. With 0, the client sends each request immediately.
        - `headers`: additional request headers, such as `x-request-id`.
        - `on_response`: a function that receives the status, the headers and the rate limits of each response.
        - `on_wait`: a function that the client calls while calls wait for a rate limit, at most every 30 seconds for
          each endpoint group, for example to show how long an import still takes.
        - `ssl_context`: the settings of TLS, for example with the certificate of your company.
        - `user_agent`: the name of your program, for the `User-Agent` header.

        Raises `ValueError` if `base_url`, `api_key` or a number is invalid.
        """
        options = Options(timeout, max_retries, max_wait, dict(headers or {}), on_response)
        sender = Sender(base_url, api_key, user_agent, ssl_context)
        self._connect(Api(sender, RateLimitQueue(on_wait), options))

    def _connect(self, api: Api) -> None:
        self._api = api
        Resources.__init__(self, api)

    def with_options(
        self,
        *,
        timeout: float | None = None,
        max_retries: int | None = None,
        max_wait: float | None = None,
        headers: Mapping[str, str] | None = None,
        on_response: Callable[[ApiResponse], None] | None = None,
    ) -> ItsmClient:
        """Returns a client with other options, which shares the connections and the rate limits with this client.

        Example::

            ticket = client.with_options(timeout=5, max_retries=0).tickets.get(38)
        """
        given: Any = {
            "timeout": timeout,
            "max_retries": max_retries,
            "max_wait": max_wait,
            "headers": None if headers is None else {**self._api.options.headers, **headers},
            "on_response": on_response,
        }
        options = replace(self._api.options, **{name: value for name, value in given.items() if value is not None})
        client = ItsmClient.__new__(type(self))
        client._connect(replace(self._api, options=options))
        return client

    @property
    def rate_limits(self) -> List[RateLimit]:
        """The rate limits that earlier responses reported, and the number of calls that wait for each limit."""
        return self._api.pacing.limits()

    def close(self) -> None:
        """Closes the idle connections. The client can still send requests, with new connections."""
        self._api.sender.transport.close()

    def __enter__(self) -> ItsmClient:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"ItsmClient({self._api.sender.base_url!r})"
