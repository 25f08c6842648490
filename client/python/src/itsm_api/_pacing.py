"""Sends calls within the rate limits (docs/decisions/client-library.md)."""

from __future__ import annotations

import itertools
import logging
import math
import random
import re
import threading
import time
from dataclasses import dataclass, field
from typing import Callable, Dict, List, Sequence

from ._errors import ItsmError, RateLimit, create_error

logger = logging.getLogger("itsm_api")
# A program that configures no logging gets no messages.
logger.addHandler(logging.NullHandler())

# Maximum number of concurrent requests of a group at the start and after a 429.
_INITIAL_CONCURRENCY = 2
# Maximum number of concurrent requests of a group, even if the rate limits allow more.
_MAX_CONCURRENCY = 50
# Minimum time between two reports about the waiting calls of a group.
_REPORT_SECONDS = 30.0
# The remaining quota that the client assumes for a new window until a response reports the actual quota.
_ASSUMED_REMAINING = 4
# Maximum random delay after the end of a window, as a fraction of its length, so that clients resume at different times.
_MAX_DELAY_SHARE = 0.02

_ITEM = re.compile(r'"([^"]*)"((?:;\w+=\d+)*)')
_PARAMETER = re.compile(r"(\w+)=(\d+)")


@dataclass(frozen=True)
class RateLimitWait:
    """The calls of an endpoint group that wait for a rate limit."""

    rate_limits: Sequence[RateLimit]
    """The rate limits without remaining quota. Empty if the responses don't report the rate limits."""
    waiting: int
    """Number of calls that wait."""
    next_seconds: int
    """Seconds until the next of these calls starts."""
    remaining_seconds: int | None
    """Estimated seconds until all these calls have started, or None if the rate limits are unknown."""


def backoff(times: int) -> float:
    """Returns the seconds to wait before a retry: 0.5, doubled with each earlier retry, at most 8.

    A random reduction of up to half prevents clients from retrying at the same time.
    """
    return float(min(0.5 * 2 ** min(times, 10), 8.0) * (1 - random.random() / 2))


def read_rate_limits(policy: str | None, current: str | None) -> List[RateLimit]:
    """Parses the headers `RateLimit-Policy` and `RateLimit`. Returns an empty list without these headers."""
    if not policy:
        return []
    values = _read_items(current or "")
    limits = []
    for name, parameters in _read_items(policy).items():
        now = values.get(name, {})
        limits.append(
            RateLimit(name, parameters.get("q", 0), now.get("r", 0), now.get("t", 0), parameters.get("w", 0))
        )
    return limits


def _read_items(header: str) -> Dict[str, Dict[str, int]]:
    return {name: {key: int(value) for key, value in _PARAMETER.findall(rest)} for name, rest in _ITEM.findall(header)}


@dataclass(eq=False)
class _Window:
    """A rate limit window and its possible end times. Both are 0 until a response reports the end."""

    name: str
    limit: int
    remaining: int
    window_seconds: int
    ends_after: float = 0.0
    ends_before: float = 0.0
    late_by: float = 0.0
    pending: int = 0


class _Windows:
    """The rate limit windows of an API key, from the headers of responses."""

    def __init__(self) -> None:
        self._by_name: Dict[str, _Window] = {}

    def all(self) -> List[_Window]:
        return list(self._by_name.values())

    def now(self, names: Sequence[str], now: float) -> List[_Window]:
        """Returns the known windows with the given names. Replaces windows that have ended."""
        windows = []
        for name in names:
            window = self._by_name.get(name)
            if window is None:
                continue
            if window.ends_before != 0 and now >= window.ends_before + window.late_by:
                remaining = min(window.limit, _ASSUMED_REMAINING)
                window = _Window(name, window.limit, remaining, window.window_seconds, late_by=window.late_by)
                self._by_name[name] = window
            windows.append(window)
        return windows

    def learn(self, reported: Sequence[RateLimit], sent_in: Sequence[_Window], sent_at: float, now: float) -> None:
        """Updates the windows from a response. Ignores reports about windows that have ended."""
        for limit in reported:
            # The server computed `reset_seconds` between `sent_at` and `now`, and rounded it up.
            ends_after, ends_before = sent_at + limit.reset_seconds - 1, now + limit.reset_seconds
            window = self._by_name.get(limit.name)
            if window is None:
                window = self._by_name[limit.name] = _Window(limit.name, limit.limit, limit.remaining, limit.window_seconds)
            elif window not in sent_in and any(each.name == limit.name for each in sent_in):
                continue
            if ends_after >= window.ends_before:
                window.limit, window.remaining, window.window_seconds = limit.limit, limit.remaining, limit.window_seconds
                window.ends_after, window.ends_before = ends_after, ends_before
                window.late_by = random.random() * _MAX_DELAY_SHARE * limit.window_seconds
            elif ends_before > window.ends_after:
                # The same window: the lower remaining quota is the newer value.
                window.remaining = min(window.remaining, limit.remaining)
                window.ends_after = max(window.ends_after, ends_after)
                window.ends_before = min(window.ends_before, ends_before)


@dataclass(eq=False)
class Turn:
    """A call in the queue of its endpoint group."""

    method: str
    path: str
    group: str | None
    # The sequence number of the call among all calls of the client. A retry has the same number.
    order: int
    # The latest time at which the call may start, as `time.monotonic()`.
    deadline: float
    windows: List[_Window] = field(default_factory=list)
    sent_at: float = 0.0


@dataclass(eq=False)
class _Queue:
    """The waiting and pending calls of an endpoint group."""

    names: List[str]
    waiting: List[Turn] = field(default_factory=list)
    pending: int = 0
    concurrency: int = _INITIAL_CONCURRENCY
    paused_until: float = 0.0
    # Number of consecutive 429 responses.
    rejections: int = 0
    report_at: float = 0.0


class RateLimitQueue:
    """Sends the calls of all threads within the rate limits. Each endpoint group has a queue.

    Pending requests use at most half of the remaining quota, because other clients may use the same API key.
    """

    def __init__(self, on_wait: Callable[[RateLimitWait], None] | None) -> None:
        self._on_wait = on_wait
        self._windows = _Windows()
        self._queues: Dict[str | None, _Queue] = {}
        self._changed = threading.Condition()
        self._orders = itertools.count()

    def new_turn(self, method: str, path: str, group: str | None, deadline: float) -> Turn:
        return Turn(method, path, group, next(self._orders), deadline)

    def limits(self) -> List[RateLimit]:
        """Returns every rate limit that a response has reported."""
        with self._changed:
            return self._limits()

    def _limits(self) -> List[RateLimit]:
        now = time.monotonic()
        limits = []
        for each in self._windows.all():
            is_over = each.ends_before <= now
            remaining = each.limit if is_over else each.remaining - each.pending
            reset = 0 if is_over else math.ceil(each.ends_before - now)
            waiting = self._count_waiting(each.name)
            limits.append(RateLimit(each.name, each.limit, max(0, remaining), reset, each.window_seconds, waiting))
        return limits

    def _count_waiting(self, name: str) -> int:
        return sum(len(queue.waiting) for queue in self._queues.values() if name in queue.names)

    def start(self, turn: Turn) -> None:
        """Waits until earlier calls have started and the rate limits allow the call.

        Raises `RateLimitError` if the call can't start before its deadline.
        """
        with self._changed:
            queue = self._queues.get(turn.group)
            if queue is None:
                queue = _Queue([] if turn.group is None else ["global", turn.group])
                self._queues[turn.group] = queue
            now = time.monotonic()
            if turn.deadline > now:
                later = [index for index, each in enumerate(queue.waiting) if each.order > turn.order]
                queue.waiting.insert(later[0] if later else len(queue.waiting), turn)
                try:
                    self._wait(queue, turn)
                finally:
                    queue.waiting.remove(turn)
                    if queue.waiting:
                        self._changed.notify_all()
            turn.sent_at = time.monotonic()
            turn.windows = self._windows.now(queue.names, turn.sent_at)
            queue.pending += 1
            for window in turn.windows:
                window.pending += 1

    def _wait(self, queue: _Queue, turn: Turn) -> None:
        while True:
            now = time.monotonic()
            start = self._start_time(queue, now)
            is_next = queue.waiting[0] is turn
            if is_next and start <= now and not self._has_earlier(turn, now):
                return
            if start != math.inf and start > turn.deadline or now >= turn.deadline:
                raise self._deadline_error(queue, turn, start)
            until = turn.deadline
            if is_next and start != math.inf:
                until = min(until, max(start, now), self._report(queue, start, now))
            self._changed.wait(max(0.0005, min(until - now, threading.TIMEOUT_MAX)))

    def _has_earlier(self, turn: Turn, now: float) -> bool:
        """Returns true if an earlier call of another group can start now, and may need the same quota."""
        return any(
            queue.waiting and queue.waiting[0].order < turn.order and self._start_time(queue, now) <= now
            for queue in self._queues.values()
        )

    def finish(self, turn: Turn, status: int | None, limits: Sequence[RateLimit], retry_after: float | None) -> None:
        """Updates the rate limits from the outcome of a call, and lets the next calls start."""
        with self._changed:
            now = time.monotonic()
            queue = self._queues[turn.group]
            self._windows.learn(limits, turn.windows, turn.sent_at, now)
            if status == 429:
                # Pauses the group, and resets its concurrency.
                pause = (retry_after or 0) + backoff(queue.rejections)
                queue.rejections += 1
                queue.concurrency = _INITIAL_CONCURRENCY
                queue.paused_until = max(queue.paused_until, now + pause)
            else:
                queue.rejections = 0
                queue.concurrency = min(queue.concurrency + 1, _MAX_CONCURRENCY)
            queue.pending -= 1
            for window in turn.windows:
                window.pending -= 1
            if any(each.waiting for each in self._queues.values()):
                self._changed.notify_all()

    def _start_time(self, queue: _Queue, now: float) -> float:
        """Returns when the next request of a group may start, or infinity if another response must come first."""
        if queue.pending >= queue.concurrency:
            return math.inf
        windows = self._windows.now(queue.names, now)
        used = [each.ends_before + each.late_by for each in windows if each.remaining == 0]
        if used:
            return max(queue.paused_until, *used)
        is_full = any(each.pending >= max(1, each.remaining // 2) for each in windows)
        return math.inf if is_full else queue.paused_until

    def _report(self, queue: _Queue, start: float, now: float) -> float:
        """Reports the waiting calls, at most every 30 seconds. Returns the time of the next report."""
        if queue.report_at <= now < start:
            queue.report_at = now + _REPORT_SECONDS
            wait = self._describe(queue, start - now)
            left = "" if wait.remaining_seconds is None else f", about {_duration(wait.remaining_seconds)} left"
            logger.warning(
                "waiting for the rate limit%s (calls: %d, next one in %d s%s)",
                *(_names(wait.rate_limits), wait.waiting, wait.next_seconds, left),
            )
            if self._on_wait is not None:
                # The callback can send requests, so it runs without the lock.
                self._changed.release()
                try:
                    self._on_wait(wait)
                finally:
                    self._changed.acquire()
        return max(queue.report_at, now)

    def _describe(self, queue: _Queue, next_seconds: float) -> RateLimitWait:
        windows = self._windows.now(queue.names, time.monotonic())
        further = [
            (self._count_waiting(each.name) - 1) // max(1, each.limit) * each.window_seconds for each in windows
        ]
        used = [RateLimit(w.name, w.limit, 0, 0, w.window_seconds) for w in windows if w.remaining == 0]
        remaining = math.ceil(next_seconds + max(further)) if further else None
        return RateLimitWait(used, len(queue.waiting), math.ceil(next_seconds), remaining)

    def _deadline_error(self, queue: _Queue, turn: Turn, start: float) -> ItsmError:
        seconds = 1 if start == math.inf else max(1, math.ceil(start - time.monotonic()))
        limits = _names(self._describe(queue, seconds).rate_limits)
        return create_error(
            f"{turn.method} {turn.path} was not sent: the rate limit{limits} allows it only after max_wait.",
            "RATE_LIMIT_EXCEEDED",
            method=turn.method,
            path=turn.path,
            retry_after_seconds=seconds,
            rate_limits=self._limits(),
        )


def _names(limits: Sequence[RateLimit]) -> str:
    return " and".join(f' "{each.name}" of {each.limit} in {each.window_seconds} s' for each in limits)


def _duration(seconds: int) -> str:
    return f"{seconds} s" if seconds < 120 else f"{math.ceil(seconds / 60)} min"
