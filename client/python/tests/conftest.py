"""A scripted server for the tests of the client."""

from __future__ import annotations

import json
import os
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Callable, Dict, Iterator, List, NamedTuple

import pytest

from itsm_api import ItsmClient

# The tests set their own proxies.
os.environ["NO_PROXY"] = "*"


class Sent(NamedTuple):
    method: str
    path: str
    headers: Dict[str, str]
    body: bytes
    connection: int


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: ScriptedServer

    def answer(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        headers = {name.lower(): value for name, value in self.headers.items()}
        with self.server.lock:
            self.server.requests.append(Sent(self.command, self.path, headers, body, self.client_address[1]))
        self.server.handle_call(self)

    do_GET = do_POST = do_PATCH = do_DELETE = do_CONNECT = answer

    def reply(self, status: int, body: bytes | object, headers: Dict[str, str] | None = None) -> None:
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        for name, value in {"content-length": str(len(content)), **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def ok(self, data: object = None, headers: Dict[str, str] | None = None) -> None:
        self.reply(200, {"success": True, "data": data}, headers)

    def log_message(self, format: str, *args: Any) -> None:
        pass


class ScriptedServer(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.lock = threading.Lock()
        self.requests: List[Sent] = []
        self.handle_call: Callable[[Handler], None] = lambda call: call.ok({"id": 1})

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def client(self, **options: Any) -> ItsmClient:
        return ItsmClient(self.url, api_key="itsm_key_of_the_tests", **options)


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer() as scripted:
        threading.Thread(target=scripted.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        yield scripted
        scripted.shutdown()


@pytest.fixture
def client(server: ScriptedServer) -> Iterator[ItsmClient]:
    with server.client() as scripted:
        yield scripted
