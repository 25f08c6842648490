"""Bulk calls: any number of items in as few requests as possible."""

from __future__ import annotations

import threading
import unicodedata
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, Callable, Dict, Generic, Iterable, List, Mapping, Sequence, Set, TypeVar

from ._contract import MAX_BODY_BYTES, MAX_BULK_ITEMS
from ._errors import ItsmError
from ._send import encode, random_key

Item = TypeVar("Item")
Row = TypeVar("Row")


@dataclass(frozen=True)
class BulkItem(Generic[Item, Row]):
    """The result of one item of a bulk call."""

    index: int
    """The index of the item in the input."""
    item: Item
    """The item that you passed to the call."""
    data: Row | None = None
    """The created or updated resource. None if the item failed."""
    error: ItsmError | None = None
    """The error of the item, or of the request that contained the item. None if the item succeeded."""
    result: str | None = None
    """What an upsert did with the item: `CREATED`, `UPDATED` or `UNCHANGED`."""


@dataclass
class BulkResult(Generic[Item, Row]):
    """The result of a bulk call."""

    results: List[BulkItem[Item, Row]] = field(default_factory=list)
    """The result of each item, in the order of the input."""
    counts: Dict[str, int] = field(default_factory=dict)
    """For an upsert, the number of items by what the API did with them."""

    @property
    def done(self) -> List[Row]:
        """The created or updated resources of the items that succeeded."""
        return [each.data for each in self.results if each.data is not None]

    @property
    def failed(self) -> List[BulkItem[Item, Row]]:
        """The items that failed. Empty if all items succeeded."""
        return [each for each in self.results if each.error is not None]


def send_bulk(
    send: Callable[[bytes, str], Any],
    to_error: Callable[[Mapping[str, Any], int | None], ItsmError],
    items: Iterable[Any],
    *,
    field: str,
    match_by: str | None,
    idempotency_key: str | None,
    concurrency: int,
    on_progress: Callable[[int, int, int], None] | None,
    on_batch: Callable[[Sequence[BulkItem[Any, Any]]], None] | None,
) -> BulkResult[Any, Any]:
    """Sends the items of a bulk call in as few requests as possible. Raises `ItsmError` if no item got a result.

    - `send`: sends one request with a body and an idempotency key, and returns the results of its items.
    - `to_error`: converts the error of an item.
    - `field`: the field of the body that contains the items.
    - `match_by`: the field that must differ in all items. Set for a call that creates or updates resources.
    """
    given = list(items)
    # Encoding the items once also makes later changes to them harmless.
    encoded = [encode(item) for item in given]
    results: Dict[int, BulkItem[Any, Any]] = {}
    counts = {"CREATED": 0, "UPDATED": 0, "UNCHANGED": 0}
    lock = threading.Lock()
    base_key = idempotency_key or random_key()
    has_response = False
    # The first error that is not about the sent items, for example a lost connection. After this error, the client stops
    # sending requests.
    fatal: ItsmError | None = None
    rejection: ItsmError | None = None

    def to_result(index: int, answer: Any) -> BulkItem[Any, Any]:
        if isinstance(answer, ItsmError):
            return BulkItem(index, given[index], error=answer)
        if answer is not None and "data" in answer:
            return BulkItem(index, given[index], answer["data"], result=answer.get("result"))
        missing = {"code": "UNEXPECTED_ANSWER", "message": "The item has no result: check before you retry it."}
        error = to_error(missing, None) if answer is None else to_error(answer["error"], answer.get("status"))
        return BulkItem(index, given[index], error=error)

    def settle(indexes: List[int], answer_of: Callable[[int], Any]) -> None:
        """Stores and reports the results of items."""
        with lock:
            batch = [to_result(index, answer_of(at)) for at, index in enumerate(indexes)]
            for each in batch:
                results[each.index] = each
                if each.result in counts:
                    counts[each.result] += 1
            if on_progress is not None:
                failed = sum(each.error is not None for each in results.values())
                on_progress(len(results) - failed, failed, len(given))
            if on_batch is not None:
                on_batch(batch)

    def send_chunk(indexes: List[int]) -> None:
        nonlocal has_response, fatal, rejection
        if fatal is not None:
            error = fatal
            settle(indexes, lambda _: error)
            return
        head, tail = b'{"%s":[' % field.encode(), b"]"
        if match_by is not None:
            tail += b',"matchBy":' + encode(match_by)
        body = head + b",".join(encoded[index] for index in indexes) + tail + b"}"
        try:
            answers = send(body, f"{base_key}:{indexes[0]}-{indexes[0] + len(indexes)}")
        except ItsmError as error:
            if error.code == "PAYLOAD_TOO_LARGE" and len(indexes) > 1:
                middle = (len(indexes) + 1) // 2
                send_chunk(indexes[:middle])
                send_chunk(indexes[middle:])
                return
            if error.status in (400, 413):
                rejection = rejection or error
            else:
                fatal = fatal or error
            answer = error
            settle(indexes, lambda _: answer)
            return
        has_response = True
        settle(indexes, lambda at: answers[at] if at < len(answers) else None)

    def reject(index: int, message: str) -> None:
        settle([index], lambda _: {"status": 400, "error": {"code": "VALIDATION_ERROR", "message": message}})

    chunks = _split(given, encoded, match_by, reject)
    if concurrency <= 1 or len(chunks) <= 1:
        for chunk in chunks:
            send_chunk(chunk)
    else:
        with ThreadPoolExecutor(min(concurrency, len(chunks))) as threads:
            for future in [threads.submit(send_chunk, chunk) for chunk in chunks]:
                future.result()
    failure = rejection or fatal
    if not has_response and failure is not None:
        raise failure
    ordered = [results[index] for index in range(len(given))]
    return BulkResult(ordered, counts if match_by is not None else {})


def _split(
    items: Sequence[Mapping[str, Any]],
    encoded: Sequence[bytes],
    match_by: str | None,
    reject: Callable[[int, str], None],
) -> List[List[int]]:
    """Divides the items into chunks of indexes. The client sends each chunk in one request.

    If an item's id is already in the chunk, the item starts a new chunk, because the API rejects duplicate ids in a
    request. If an item has the same value in the match field as an earlier item, it is rejected, because one would
    overwrite the other.
    """
    chunks: List[List[int]] = []
    size = 0
    ids: Set[object] = set()
    firsts: Dict[str, int] = {}
    for index, item in enumerate(items):
        given = item.get(match_by) if match_by is not None else None
        if given is not None:
            # The API also normalizes the value. White space around it is frequent in the texts of firmware.
            value = unicodedata.normalize("NFC", str(given).strip())
            if value in firsts:
                reject(index, f"{match_by} {value} is a duplicate of the item with index {firsts[value]}.")
                continue
            firsts[value] = index
        bytes_of_item = len(encoded[index]) + 1
        size += bytes_of_item
        key = item.get("id", ("index", index))
        if chunks and size <= MAX_BODY_BYTES - 100 and len(chunks[-1]) < MAX_BULK_ITEMS and key not in ids:
            chunks[-1].append(index)
        else:
            chunks.append([index])
            size = bytes_of_item
            ids = set()
        ids.add(key)
    return chunks
