"""A server for the tests of your program, fixtures for pytest, and signed test events.

The server is the program in the npm package `@itsm-api/testing`, which needs Node.js 24. With pytest, load the fixtures
`itsm` and `workspace` in `conftest.py`, and pass the folder of the package to pytest::

    pytest_plugins = ["itsm_api.testing"]

    pytest --itsm-testing node_modules/@itsm-api/testing
"""

from __future__ import annotations

import base64
import json
import os
import re
import socket
import subprocess
import tempfile
import threading
import time
import urllib.request
import uuid
from datetime import datetime, timezone
from pathlib import Path
from typing import IO, Any, Dict, Iterator, List, Mapping, Sequence, Tuple

from ._client import ItsmClient
from ._contract import PATH_PREFIX
from .types import User
from .webhooks import sign, standard_keys

# The program of the server in the package.
_PROGRAM = "dist/server/src/testing/bundle/index.mjs"
# The options with which the server saves CPU time.
_NODE_OPTIONS = ["--expose-gc", "--no-allocation-site-pretenuring", "--no-parallel-scavenge"]
_START_SECONDS = 60.0


class Workspace:
    """An empty workspace of a test server. The workspaces of a server can't access each other."""

    url: str
    """The URL of the server."""
    key: str
    """An API key of the administrator with all scopes."""
    admin: User
    """The administrator."""

    def __init__(self, url: str) -> None:
        created = _post(url, "/testing/workspaces", {})
        self.url, self.id, self.key, self.admin = url, created["id"], created["key"], created["admin"]
        self._path = f"/testing/workspaces/{self.id}"

    def client(self, **options: Any) -> ItsmClient:
        """Returns a client with the API key of the administrator."""
        return ItsmClient(self.url, api_key=self.key, **options)

    def create_user(self, *, role: str = "AGENT", name: str = "Test User", email: str | None = None) -> User:
        """Creates a user."""
        email = email or f"user-{uuid.uuid4()}@example.com"
        user: User = _post(self.url, f"{self._path}/users", {"role": role, "name": name, "email": email})
        return user

    def create_key(
        self, *, user: User | None = None, scopes: Sequence[str] | None = None, expires_at: datetime | None = None
    ) -> str:
        """Creates an API key, by default for the administrator and with all scopes."""
        body: Dict[str, Any] = {"user": (user or self.admin)["email"]}
        if scopes is not None:
            body["scopes"] = list(scopes)
        if expires_at is not None:
            body["expiresAt"] = _timestamp(expires_at.timestamp())
        key: str = _post(self.url, f"{self._path}/keys", body)["key"]
        return key

    def age(self, by: str, **row: int | str) -> None:
        """Moves the stored times of a row back, for example `age("2d", ticket=ticket["id"])`.

        The row is a `ticket`, an `apiKey`, a `delivery` or an `idempotencyKey`.
        """
        _post(self.url, f"{self._path}/age", {**row, "by": by})


class Itsm:
    """A server for tests, with its own PostgreSQL."""

    url: str
    """The URL of the server."""

    def __init__(self, url: str, process: subprocess.Popen[bytes], channel: socket.socket) -> None:
        self.url = url
        self._process = process
        self._channel = channel

    def create_workspace(self) -> Workspace:
        """Creates an empty workspace."""
        return Workspace(self.url)

    def run_jobs(self, name: str) -> None:
        """Runs a scheduled job now, for all workspaces, or `retention` for all jobs that delete old rows."""
        _post(self.url, f"/testing/jobs/{name}", {})

    def stop(self) -> None:
        """Stops the server and deletes all its data."""
        self._channel.close()
        self._process.wait()

    def __enter__(self) -> Itsm:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


def start_itsm(
    package: str | os.PathLike[str],
    *,
    rate_limits: bool = False,
    retry_schedule: Sequence[int] | None = None,
    node: str = "node",
) -> Itsm:
    """Starts a server with its own PostgreSQL. The server ends when this process ends.

    - `package`: the folder of the npm package `@itsm-api/testing`, or the path of the program inside it.
    - `rate_limits`: whether the server applies the default rate limits of the API.
    - `retry_schedule`: the delays between the attempts of a webhook delivery, in milliseconds, at least 10.
    - `node`: the program of Node.js 24 or later.

    Raises `RuntimeError` with the output of the server if it doesn't start.
    """
    program = Path(package) / _PROGRAM if Path(package).is_dir() else Path(package)
    options = ["--rate-limits"] if rate_limits else []
    if retry_schedule is not None:
        options.append(f"--retry-schedule={','.join(map(str, retry_schedule))}")
    # The server ends when this channel closes.
    channel, server_end = socket.socketpair()
    names = ("PATH", "HOME", "USER", "TMPDIR", "TEMP", "SystemRoot")
    env = {name: os.environ[name] for name in names if name in os.environ}
    cache = os.path.join(tempfile.gettempdir(), "itsm-compile-cache")
    with server_end:
        process = subprocess.Popen(
            [node, *_NODE_OPTIONS, str(program.resolve()), *options],
            env={**env, "NODE_COMPILE_CACHE": cache, "HOST": "127.0.0.1", "PORT": "0", "NODE_CHANNEL_FD": str(server_end.fileno())},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            pass_fds=[server_end.fileno()],
            # In a terminal, Ctrl-C would otherwise also stop the server, before the tests have ended.
            start_new_session=True,
        )
    timer = threading.Timer(_START_SECONDS, process.kill)
    timer.start()
    try:
        assert process.stdout is not None
        return Itsm(_read_url(process.stdout), process, channel)
    except BaseException:
        channel.close()
        process.kill()
        process.wait()
        raise
    finally:
        timer.cancel()


def _read_url(output: IO[bytes]) -> str:
    """Returns the URL that the server logs when it is ready. Then discards its output in a thread."""
    lines: List[str] = []
    for line in output:
        lines.append(line.decode(errors="replace"))
        found = re.search(r'"api":"(http[^"]+?)/api/', lines[-1])
        if found is not None:
            threading.Thread(target=lambda: [None for _ in output], daemon=True).start()
            return found[1]
    raise RuntimeError(f"The ITSM server did not start: {''.join(lines).strip()[-10_000:]}")


def _post(url: str, path: str, body: Mapping[str, Any]) -> Any:
    headers = {"content-type": "application/json"}
    request = urllib.request.Request(url + path, json.dumps(body).encode(), headers)
    # The server is on this machine.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(request) as response:
        return json.load(response)


def _timestamp(seconds: float) -> str:
    text = datetime.fromtimestamp(seconds, timezone.utc).isoformat(timespec="milliseconds")
    return text.replace("+00:00", "Z")


def sign_test_event(event: Mapping[str, Any], secret: str, *, now: float | None = None) -> Tuple[bytes, Dict[str, str]]:
    """Creates a signed delivery to test a receiver: the body and the headers, as the server sends them.

    Generates an absent `id` or `timestamp`, and sets an absent `actor` to None.

    Example::

        body, headers = sign_test_event({"type": "ticket.created", "ticket": ticket}, secret)
    """
    at = time.time() if now is None else now
    complete = {"id": f"evt_{uuid.uuid4().hex}", "type": None, "timestamp": _timestamp(at), "actor": None, **event}
    body = json.dumps(complete, ensure_ascii=False, separators=(",", ":")).encode()
    headers = sign_delivery(body, secret, event_id=str(complete["id"]), event_type=str(complete["type"]), now=at)
    return body, headers


def sign_delivery(
    body: bytes, secret: str, *, event_id: str, event_type: str, delivery_id: int = 1, now: float | None = None
) -> Dict[str, str]:
    """Returns the headers of the first attempt of a delivery, with the signatures that the server would send."""
    seconds = str(int(time.time() if now is None else now))
    content = f"{event_id}.{seconds}.".encode() + body
    standard = [base64.b64encode(sign(key, content)).decode() for key in standard_keys(secret)]
    event = json.loads(body)
    timestamp = event.get("timestamp") if isinstance(event, dict) else None
    return {
        "content-type": "application/json; charset=utf-8",
        **{"ce-specversion": "1.0", "ce-id": event_id, "ce-type": event_type, "ce-source": PATH_PREFIX},
        **({"ce-time": timestamp} if timestamp is not None else {}),
        "x-service-event": event_type,
        "x-service-delivery": str(delivery_id),
        "x-service-attempt": "1",
        "x-service-signature": sign(secret.encode(), body).hex(),
        "webhook-id": event_id,
        "webhook-timestamp": seconds,
        "webhook-signature": " ".join(f"v1,{each}" for each in standard),
    }


try:
    import pytest
except ImportError:
    pass
else:

    def pytest_addoption(parser: pytest.Parser) -> None:
        """Adds the option `--itsm-testing`."""
        default = os.environ.get("ITSM_TESTING")
        text = "the folder of the npm package @itsm-api/testing (default: ITSM_TESTING)"
        parser.addoption("--itsm-testing", default=default, metavar="FOLDER", help=text)

    @pytest.fixture(scope="session")
    def itsm(pytestconfig: pytest.Config) -> Iterator[Itsm]:
        """A server for all tests. Webhook deliveries are repeated after 50, 100 and 200 milliseconds."""
        package = pytestconfig.getoption("--itsm-testing")
        if package is None:
            pytest.skip("The folder of @itsm-api/testing is missing. Pass --itsm-testing.")
        with start_itsm(package, retry_schedule=[50, 100, 200]) as server:
            yield server

    @pytest.fixture
    def workspace(itsm: Itsm) -> Workspace:
        """A new, empty workspace for each test."""
        return itsm.create_workspace()
