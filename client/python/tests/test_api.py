"""Tests with a real server, at ITSM_URL and with the API key ITSM_KEY of an empty workspace."""

from __future__ import annotations

import io
import itertools
import os
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any, List, Tuple

import pytest

from itsm_api import (
    ApiResponse,
    IdempotencyKeyReusedError,
    InsufficientScopeError,
    InvalidApiKeyError,
    InvalidTransitionError,
    ItsmClient,
    NotFoundError,
    PreconditionFailedError,
    ValidationError,
)
from itsm_api.types import AssetUpsertItem, NewTicket, NewTicketItem

pytestmark = pytest.mark.skipif("ITSM_URL" not in os.environ, reason="ITSM_URL is not set.")
TICKET: NewTicket = {"title": "VPN drops", "description": "Often.", "type": "INCIDENT", "category": "NETWORK"}


@pytest.fixture(scope="module")
def itsm() -> ItsmClient:
    return ItsmClient(os.environ["ITSM_URL"], api_key=os.environ["ITSM_KEY"])


def titled(count: int) -> List[NewTicketItem]:
    return [{"title": f"Item {index}", "description": "D", "type": "INCIDENT", "category": "OTHER"} for index in range(count)]


def test_creates_reads_updates_and_lists_tickets(itsm: ItsmClient) -> None:
    new = TICKET.copy()
    new["customFields"] = {"site": "Berlin"}
    new["tags"] = ["python"]
    ticket = itsm.tickets.create(new)
    assert itsm.tickets.get(ticket["ticketNumber"]) == ticket
    assert ticket["customFields"] == {"site": "Berlin"}
    updated = itsm.tickets.update(ticket["id"], {"status": "IN_PROGRESS"})
    assert updated["status"] == "IN_PROGRESS"
    page = itsm.tickets.list(status=["OPEN", "IN_PROGRESS"], tag="python", per_page=5).page()
    assert ([each["id"] for each in page.data], page.has_next) == ([ticket["id"]], False)
    assert list(itsm.tickets.list(status="CLOSED")) == []


def test_reads_lists_page_by_page(itsm: ItsmClient) -> None:
    items = titled(7)
    for item in items:
        item["tags"] = ["paged"]
    itsm.tickets.create_many(items)
    first = itsm.tickets.list(tag="paged", sort="id", per_page=3).page()
    second = first.next()
    assert second is not None and [each["title"] for each in second.data] == ["Item 3", "Item 4", "Item 5"]
    third = second.next()
    assert third is not None and (len(third.data), third.next()) == (1, None)
    listed = itsm.tickets.list(tag="paged", sort="id", per_page=2)
    assert [each["title"] for each in itertools.islice(listed, 5)] == [f"Item {index}" for index in range(5)]
    assert [len(page.data) for page in listed.pages()] == [2, 2, 2, 1]
    definitions = list(itsm.fields.list())
    assert isinstance(definitions, list)


def test_updates_and_reads_with_conditions(itsm: ItsmClient) -> None:
    responses: List[ApiResponse] = []
    watched = itsm.with_options(on_response=responses.append)
    ticket = watched.tickets.create(TICKET)
    assert watched.tickets.get(ticket["id"], if_none_match=ticket) is ticket
    assert [(each.method, each.status) for each in responses] == [("POST", 201), ("GET", 304)]
    assert responses[1].request_id == responses[1].headers["x-request-id"]
    assert [limit.name for limit in responses[1].rate_limits] == ["global", "tickets"]
    itsm.tickets.update(ticket["id"], {"title": "Mine"}, if_match=ticket["etag"])
    with pytest.raises(PreconditionFailedError) as raised:
        itsm.tickets.update(ticket["id"], {"title": "Theirs"}, if_match=ticket["etag"])
    assert raised.value.status == 412
    assert raised.value.docs == f"{os.environ['ITSM_URL']}/docs/errors#PRECONDITION_FAILED"
    assert itsm.tickets.get(ticket["id"], if_none_match=ticket)["title"] == "Mine"


def test_creates_once_with_the_same_idempotency_key(itsm: ItsmClient) -> None:
    first = itsm.tickets.create(TICKET, idempotency_key="python-once")
    assert itsm.tickets.create(TICKET, idempotency_key="python-once") == first
    other = TICKET.copy()
    other["title"] = "Another"
    with pytest.raises(IdempotencyKeyReusedError):
        itsm.tickets.create(other, idempotency_key="python-once")


def test_uploads_and_downloads_files(itsm: ItsmClient) -> None:
    id = itsm.tickets.create(TICKET)["id"]
    log = b"Connection lost."
    made = itsm.tickets.attach(id, io.BytesIO(log), name="März.log", content_type="text/plain")
    assert (made["name"], made["contentType"], made["size"]) == ("März.log", "text/plain", 16)
    download = itsm.attachments.download(made["id"])
    assert (download.name, download.content_type, download.size, download.read()) == ("März.log", "text/plain", 16, log)
    itsm.attachments.delete(made["id"])
    with pytest.raises(NotFoundError):
        itsm.attachments.download(made["id"])
    assert b'"openapi"' in itsm.document.get().read()


def test_reports_a_result_for_each_item_of_a_bulk_call(itsm: ItsmClient) -> None:
    items = titled(230)
    items[120]["title"] = ""
    progress: List[Tuple[int, int, int]] = []
    batches: List[int] = []
    result = itsm.tickets.create_many(
        (item for item in items), on_progress=lambda done, failed, total: progress.append((done, failed, total)), on_batch=lambda batch: batches.append(len(batch))
    )
    assert batches == [100, 100, 30]
    assert progress[-1] == (229, 1, 230)
    [failed] = result.failed
    assert isinstance(failed.error, ValidationError)
    assert (failed.index, failed.error.path, failed.error.details[0]["path"]) == (120, "/tickets/bulk", "title")
    changes: Any = [{"id": row["id"], "title": f"Changed {row['id']}"} for row in result.done[:3]]
    assert [row["title"] for row in itsm.tickets.update_many(changes).done] == [each["title"] for each in changes]
    assert itsm.tickets.create_many([]).results == []
    large = titled(30)
    for item in large:
        item["description"] = "ü" * 30_000
    assert len(itsm.tickets.create_many(large, concurrency=3).done) == 30
    with pytest.raises(InvalidApiKeyError):
        ItsmClient(os.environ["ITSM_URL"], api_key="itsm_wrong").tickets.create_many(titled(300))


def test_upserts_devices_and_names_twins(itsm: ItsmClient) -> None:
    devices: List[AssetUpsertItem] = [{"assetTag": f"PY-{index}", "name": "Laptop", "type": "LAPTOP"} for index in range(150)]
    assert itsm.assets.upsert_many(devices).counts == {"CREATED": 150, "UPDATED": 0, "UNCHANGED": 0}
    devices[3]["location"] = "Berlin"
    twins: List[AssetUpsertItem] = [{"assetTag": " PY-7 ", "name": "Twin", "type": "LAPTOP"}]
    result = itsm.assets.upsert_many([*devices, *twins])
    assert result.counts == {"CREATED": 0, "UPDATED": 1, "UNCHANGED": 149}
    [failed] = result.failed
    assert str(failed.error) == "assetTag PY-7 is a duplicate of the item with index 7."
    assert result.results[3].result == "UPDATED"


def test_follows_changes(itsm: ItsmClient) -> None:
    first = itsm.assets.create({"name": "First", "assetTag": "PY-first", "type": "LAPTOP"})
    changes = itsm.assets.changes(since=first["createdAt"], follow=True, poll_seconds=0.05)
    seen: List[str] = []
    threading.Timer(0.3, lambda: itsm.assets.create({"name": "Later", "assetTag": "PY-later", "type": "LAPTOP"})).start()
    for asset in changes:
        seen.append(asset["name"])
        if asset["name"] == "Later":
            break
    assert seen[-1] == "Later"
    page = itsm.assets.changes(cursor=changes.cursor).page()
    assert page.data[-1]["name"] == "Later"
    complete = itsm.assets.changes(cursor=page.meta["nextCursor"])
    assert list(complete) == []
    assert complete.cursor is not None


def test_raises_a_class_for_each_error_code(itsm: ItsmClient) -> None:
    ticket = itsm.tickets.create(TICKET)
    with pytest.raises(InvalidTransitionError):
        itsm.tickets.update(ticket["id"], {"status": "CLOSED"})
    with pytest.raises(NotFoundError):
        itsm.projects.get(987_654_321)
    with pytest.raises(ValidationError) as raised:
        itsm.tickets.create({"title": "", "description": "D", "type": "INCIDENT", "category": "OTHER"})
    assert raised.value.details[0]["path"] == "title"
    assert str(raised.value) == "title must have at least 1 character"
    limited = ItsmClient(os.environ["ITSM_URL"], api_key=os.environ["ITSM_LIMITED_KEY"])
    with pytest.raises(InsufficientScopeError) as denied:
        limited.webhooks.delete(1)
    assert denied.value.required_scope == "webhooks:manage"


def test_many_threads_use_one_client(itsm: ItsmClient) -> None:
    with ThreadPoolExecutor(16) as threads:
        numbers = list(threads.map(lambda index: itsm.tickets.create(TICKET)["ticketNumber"], range(100)))
    assert len(set(numbers)) == 100
