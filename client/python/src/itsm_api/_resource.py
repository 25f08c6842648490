"""The base class of the resources, whose methods are generated."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Callable, Dict, Iterable, Mapping, NamedTuple, Sequence, Tuple

from ._bulk import BulkItem, BulkResult, send_bulk
from ._errors import ItsmError, create_error
from ._files import Download, FileContent, Upload
from ._lists import ApiChanges, ApiList
from ._pacing import RateLimitQueue
from ._send import Options, Request, Sender, encode, query_string

_PARAMETER = re.compile(r":(\w+)")
# Accepts ids, ticket numbers and keys, because `..` would lead to another endpoint.
_ID = re.compile(r"[A-Za-z0-9][\w-]*", re.ASCII)


class _Route(NamedTuple):
    method: str
    path: str
    group: str | None
    scope: str | None
    takes: str


@lru_cache(maxsize=None)
def _parse(definition: str) -> _Route:
    """Parses the definition of a route: the method, the path, the scope or group, and the argument."""
    method, path, access, takes, *_ = [*definition.split(" "), "", "", ""]
    return _Route(method, path, access.split(":")[0] or None, access if ":" in access else None, takes)


@dataclass(frozen=True)
class Api:
    """What all resources of a client share."""

    sender: Sender
    pacing: RateLimitQueue
    options: Options

    def send(self, request: Request) -> Any:
        return self.sender.send(self.pacing, self.options, request)


class Resource:
    """The methods of a resource of the API."""

    def __init__(self, api: Api) -> None:
        self._api = api

    def _request(self, definition: str, ids: Tuple[object, ...], **values: Any) -> Request:
        route = _parse(definition)
        return Request(route.method, _fill(route.path, ids), route.group, route.scope, **values)

    def _send(
        self,
        definition: str,
        ids: Tuple[object, ...],
        body: object = None,
        *,
        if_match: str | None = None,
        if_none_match: Any = None,
        idempotency_key: str | None = None,
    ) -> Any:
        encoded = None if body is None else encode(body)
        conditions: Dict[str, Any] = {"if_match": if_match, "if_none_match": if_none_match}
        request = self._request(definition, ids, body=encoded, idempotency_key=idempotency_key, **conditions)
        return self._api.send(request)["data"]

    def _list(self, definition: str, ids: Tuple[object, ...], query: Dict[str, object]) -> ApiList[Any]:
        path = self._request(definition, ids).path

        def read(values: Dict[str, object]) -> Any:
            return self._api.send(self._request(definition, ids, query=query_string(values)))

        return ApiList(path, _copy(query), read)

    def _changes(
        self, definition: str, ids: Tuple[object, ...], query: Dict[str, object], *, follow: bool, poll_seconds: float
    ) -> ApiChanges[Any]:
        def read(values: Dict[str, object], is_persistent: bool) -> Any:
            api = self._api
            if is_persistent:
                # The requests continue until the server is available.
                api = replace(api, options=replace(api.options, max_retries=2**62, max_wait=float("inf")))
            return api.send(self._request(definition, ids, query=query_string(values)))

        return ApiChanges(_copy(query), follow, poll_seconds, read)

    def _bulk(
        self,
        definition: str,
        ids: Tuple[object, ...],
        items: Iterable[Any],
        *,
        match_by: str | None = None,
        idempotency_key: str | None = None,
        concurrency: int = 1,
        on_progress: Callable[[int, int, int], None] | None = None,
        on_batch: Callable[[Sequence[BulkItem[Any, Any]]], None] | None = None,
    ) -> BulkResult[Any, Any]:
        route, path = _parse(definition), self._request(definition, ids).path

        def send(body: bytes, key: str) -> Any:
            request_key = key if route.method == "POST" else None
            return self._api.send(self._request(definition, ids, body=body, idempotency_key=request_key))["data"]

        def to_error(error: Mapping[str, Any], status: int | None) -> ItsmError:
            docs = error.get("docs") and self._api.sender.base_url + error["docs"]
            about = {"method": route.method, "path": path, "status": status, "docs": docs}
            return create_error(error["message"], error["code"], details=error.get("details"), **about)

        return send_bulk(
            *(send, to_error, items),
            field=route.takes[len("items=") :],
            match_by=match_by,
            idempotency_key=idempotency_key,
            concurrency=concurrency,
            on_progress=on_progress,
            on_batch=on_batch,
        )

    def _upload(
        self,
        definition: str,
        ids: Tuple[object, ...],
        file: FileContent,
        *,
        name: str | None,
        content_type: str | None,
        size: int | None,
        idempotency_key: str | None,
    ) -> Any:
        upload = Upload(file, name, content_type, size)
        query = query_string({"name": upload.name})
        request = self._request(definition, ids, query=query, upload=upload, idempotency_key=idempotency_key)
        return self._api.send(request)["data"]

    def _download(self, definition: str, ids: Tuple[object, ...]) -> Download:
        download: Download = self._api.send(self._request(definition, ids, is_download=True))["data"]
        return download


def _copy(query: Dict[str, object]) -> Dict[str, object]:
    """Copies a query, so that later changes to its lists don't affect the next pages."""
    return {name: value if isinstance(value, str) or not hasattr(value, "copy") else value.copy() for name, value in query.items() if value is not None}


def _fill(path: str, ids: Tuple[object, ...]) -> str:
    """Inserts the ids into a path such as `/tickets/:id`."""
    filled = path
    for id in ids:
        name, text = _PARAMETER.search(filled), str(id)
        if name is None or not _ID.fullmatch(text):
            raise ValueError(f"{name and name[1]} in {path} is invalid. Pass an id, a number or a key.")
        filled = filled[: name.start()] + text + filled[name.end() :]
    return filled
