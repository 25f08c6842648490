"""Lists and change feeds, which fetch their pages while a program iterates over them."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any, Callable, Dict, Generic, Iterator, List, Set, TypeVar

from ._errors import ItsmError, create_error
from .types import ChangesMeta, PageMeta

Row = TypeVar("Row")

# The number of rows per page in an iteration, if the query doesn't set it. The API allows at most 100.
_PER_PAGE = 100


@dataclass(frozen=True)
class Page(Generic[Row]):
    """One page of a list."""

    data: List[Row]
    """The rows of the page."""
    meta: PageMeta
    """The page number, and the total number of rows."""
    _read: Callable[[int], Page[Row]]

    @property
    def has_next(self) -> bool:
        """Whether the list has a next page."""
        return self.meta["page"] * self.meta["perPage"] < self.meta["totalCount"]

    def next(self) -> Page[Row] | None:
        """Fetches the next page. Returns None after the last page."""
        return self._read(self.meta["page"] + 1) if self.has_next else None


class ApiList(Generic[Row]):
    """A list. Iterate over it to fetch all rows, or call `page` to fetch one page.

    The client sends no request before you iterate over the list or call `page`.
    """

    def __init__(self, path: str, query: Dict[str, object], read: Callable[[Dict[str, object]], Dict[str, Any]]) -> None:
        self._path = path
        self._query = query
        self._read = read

    def __iter__(self) -> Iterator[Row]:
        """Iterates over all rows, starting at the requested page. Yields each row only once.

        Raises `QueryTooBroadError` after the last available row if the list has more rows than the API returns.
        """
        for page in self.pages():
            yield from page.data

    def page(self) -> Page[Row]:
        """Fetches the requested page. By default, it has 20 rows."""
        return self._fetch(self._query)

    def pages(self) -> Iterator[Page[Row]]:
        """Iterates over all pages, starting at the requested page. By default, a page has 100 rows.

        If new rows move a row to a later page, the client yields this row only once.
        """
        seen: Set[object] = set()
        number = int(str(self._query.get("page") or 1))
        per_page = self._query.get("perPage") or _PER_PAGE
        while True:
            try:
                page = self._fetch({**self._query, "page": number, "perPage": per_page})
            except ItsmError as error:
                error.page = number
                raise
            # Definitions of custom fields have no id.
            keys = [(isinstance(row, dict) and row.get("id")) or object() for row in page.data]
            rows = [row for row, key in zip(page.data, keys) if key not in seen]
            seen.update(keys)
            yield Page(rows, page.meta, page._read)
            if not page.has_next:
                break
            number += 1
        # Without this error, the program couldn't detect that the list is incomplete.
        if page.meta.get("totalCountCapped"):
            message = "There may be more rows. Narrow the filters."
            raise create_error(message, "QUERY_TOO_BROAD", method="GET", path=self._path)

    def _fetch(self, query: Dict[str, object]) -> Page[Row]:
        envelope = self._read(query)
        return Page(envelope["data"], envelope["meta"], lambda page: self._fetch({**query, "page": page}))


@dataclass(frozen=True)
class ChangesPage(Generic[Row]):
    """A page of the change feed."""

    data: List[Row]
    """The current version of each changed row, ordered by the time of the last change."""
    meta: ChangesMeta
    """The cursor of the next page, and whether more changes are available now."""


class ApiChanges(Generic[Row]):
    """A change feed. Iterate over it to fetch all changes so far, or call `page` to fetch one page.

    With `follow=True`, the iteration waits for future changes until you leave the loop, and keeps retrying during an
    outage. A row can appear more than once, so upsert each row by its id.
    """

    cursor: str | None
    """The cursor after the last page that your loop has completed. To continue later, store it."""

    def __init__(
        self,
        query: Dict[str, object],
        follow: bool,
        poll_seconds: float,
        read: Callable[[Dict[str, object], bool], Dict[str, Any]],
    ) -> None:
        self._query = query
        self._follow = follow
        self._poll_seconds = poll_seconds
        self._read = read
        cursor = query.get("cursor")
        self.cursor = None if cursor is None else str(cursor)

    def __iter__(self) -> Iterator[Row]:
        for page in self.pages():
            yield from page.data

    def page(self) -> ChangesPage[Row]:
        """Fetches one page."""
        envelope = self._read(self._query, False)
        return ChangesPage(envelope["data"], envelope["meta"])

    def pages(self) -> Iterator[ChangesPage[Row]]:
        """Iterates over the pages. `meta["nextCursor"]` is the cursor of the next page."""
        try:
            while True:
                start = {"cursor": self.cursor, "since": None} if self.cursor is not None else {}
                envelope = self._read({**self._query, **start}, self._follow)
                page: ChangesPage[Row] = ChangesPage(envelope["data"], envelope["meta"])
                yield page
                self.cursor = page.meta["nextCursor"]
                if page.meta["hasMore"]:
                    continue
                if not self._follow:
                    return
                time.sleep(self._poll_seconds)
        except ItsmError as error:
            error.cursor = self.cursor
            raise
