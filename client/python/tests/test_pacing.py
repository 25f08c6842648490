"""Tests of rate limits across threads, with a scripted server."""

from __future__ import annotations

import math
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import List

import pytest
from conftest import Handler, ScriptedServer

from itsm_api import RateLimitError, RateLimitWait
from itsm_api.types import NewTicket, NewTicketItem

TICKET: NewTicket = {"title": "T", "description": "D", "type": "INCIDENT", "category": "OTHER"}


class Limits:
    """A rate limit of `limit` requests in each window of one second."""

    def __init__(self, limit: int) -> None:
        self.limit, self.left, self.ends, self.rejected = limit, 0, 0.0, 0
        self.lock = threading.Lock()

    def handle(self, call: Handler) -> None:
        with self.lock:
            now = time.monotonic()
            if now >= self.ends:
                self.left, self.ends = self.limit, now + 1
            is_rejected = self.left == 0
            self.left -= 0 if is_rejected else 1
            self.rejected += is_rejected
            reset = max(1, math.ceil(self.ends - now))
            headers = {
                "ratelimit-policy": f'"global";q=1000;w=1, "tickets";q={self.limit};w=1',
                "ratelimit": f'"global";r=999;t={reset}, "tickets";r={self.left};t={reset}',
            }
        if is_rejected:
            error = {"code": "RATE_LIMIT_EXCEEDED", "message": "Wait.", "retryAfterSeconds": reset}
            call.reply(429, {"success": False, "error": error}, {**headers, "retry-after": str(reset)})
        else:
            call.ok({"id": 1}, headers)


def test_threads_share_the_rate_limit(server: ScriptedServer) -> None:
    limits = Limits(20)
    waits: List[RateLimitWait] = []
    server.handle_call = limits.handle
    client = server.client(on_wait=waits.append)
    with ThreadPoolExecutor(60) as threads:
        tickets = list(threads.map(lambda _: client.tickets.create(TICKET), range(60)))
    assert len(tickets) == 60
    assert limits.rejected <= 3
    assert waits[0].waiting > 10
    assert [limit.name for limit in client.rate_limits] == ["global", "tickets"]
    assert client.rate_limits[1].waiting == 0


def test_a_call_fails_if_it_must_wait_longer_than_max_wait(server: ScriptedServer) -> None:
    limits = Limits(2)
    server.handle_call = limits.handle
    client = server.client()
    client.tickets.get(1)
    client.tickets.get(1)
    with pytest.raises(RateLimitError, match='the rate limit "tickets" of 2 in 1 s allows it only after max_wait') as raised:
        client.with_options(max_wait=0.2).tickets.get(1)
    assert raised.value.retry_after_seconds is not None and raised.value.retry_after_seconds >= 1
    assert len(server.requests) == 2
    with pytest.raises(RateLimitError) as rejected:
        client.with_options(max_wait=0).tickets.get(1)
    assert (rejected.value.status, len(server.requests)) == (429, 3)


def test_completes_concurrent_calls_without_rate_limit_headers(server: ScriptedServer) -> None:
    client = server.client()
    order: List[int] = []
    with ThreadPoolExecutor(30) as threads:
        list(threads.map(lambda each: order.append(client.tickets.get(each)["id"]), range(1, 201)))
    assert len(order) == len(server.requests) == 200


def test_concurrent_bulk_requests_stop_after_a_fatal_error(server: ScriptedServer) -> None:
    def fail_later(call: Handler) -> None:
        if len(server.requests) > 2:
            call.reply(500, {"success": False, "error": {"code": "INTERNAL_ERROR", "message": "Broken."}})
        else:
            call.ok([{"status": 201, "data": {"id": each}} for each in range(100)])

    server.handle_call = fail_later
    item: NewTicketItem = {"title": "T", "description": "D", "type": "INCIDENT", "category": "OTHER"}
    result = server.client(max_retries=0).tickets.create_many([item] * 1000, concurrency=2)
    assert (len(result.done), len(result.failed)) == (200, 800)
    assert len(server.requests) <= 4
    assert {type(each.error).__name__ for each in result.failed} == {"InternalError"}
