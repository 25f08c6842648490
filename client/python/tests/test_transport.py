"""Tests of connections, uploads and downloads, with a scripted server."""

from __future__ import annotations

import gzip
import io
import json
import pickle
import socket
import ssl
import subprocess
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Dict, List

import pytest
from conftest import Handler, ScriptedServer

from itsm_api import ApiConnectionError, ItsmClient, ItsmError, UnexpectedAnswerError, ValidationError


def test_reuses_connections_and_shares_them_between_threads(server: ScriptedServer, client: ItsmClient) -> None:
    for _ in range(5):
        client.tickets.get(1)
    assert len({sent.connection for sent in server.requests}) == 1
    together = threading.Barrier(4)

    def wait_for_all(call: Handler) -> None:
        together.wait()
        call.ok({"id": 1})

    server.handle_call = wait_for_all
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(client.tickets.get, range(1, 5)))
    server.handle_call = lambda call: call.ok({"id": 1})
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(client.tickets.get, range(1, 101)))
    assert len({sent.connection for sent in server.requests}) <= 4


def test_replaces_a_connection_that_the_server_closed(server: ScriptedServer, client: ItsmClient) -> None:
    def close_afterwards(call: Handler) -> None:
        call.ok({"id": 1})
        call.close_connection = True

    server.handle_call = close_afterwards
    for _ in range(20):
        # The client doesn't retry updates.
        client.tickets.update(1, {"title": "Changed"})
        time.sleep(0.02)
    assert len(server.requests) == 20


def test_reads_compressed_responses(server: ScriptedServer, client: ItsmClient) -> None:
    body = gzip.compress(b'{"success": true, "data": {"id": 7}}')
    server.handle_call = lambda call: call.reply(200, body, {"content-encoding": "gzip"})
    assert client.tickets.get(7)["id"] == 7
    server.handle_call = lambda call: call.reply(200, gzip.compress(b"x" * 300_000), {"content-encoding": "gzip"})
    assert client.attachments.download(1).read() == b"x" * 300_000
    server.handle_call = lambda call: call.reply(200, b"not gzip", {"content-encoding": "gzip"})
    with pytest.raises(ApiConnectionError):
        client.with_options(max_retries=0).tickets.get(7)


def test_sends_requests_through_the_proxy_of_the_environment(
    server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NO_PROXY")
    monkeypatch.setenv("http_proxy", server.url.replace("//", "//user:p%40ss@"))
    ItsmClient("http://itsm.example").tickets.get(1)
    assert server.requests[0].path == "http://itsm.example/api/public/v1/tickets/1"
    assert server.requests[0].headers["proxy-authorization"] == "Basic dXNlcjpwQHNz"
    monkeypatch.setenv("https_proxy", server.url)
    server.handle_call = lambda call: call.reply(403, b"no")
    with pytest.raises(ApiConnectionError, match="Tunnel connection failed: 403"):
        ItsmClient("https://itsm.example", max_retries=0).tickets.get(1)
    assert server.requests[1][:2] == ("CONNECT", "itsm.example:443")
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    server.handle_call = lambda call: call.ok({"id": 1})
    server.client().tickets.get(1)
    assert server.requests[2].path == "/api/public/v1/tickets/1"


def test_verifies_the_certificate_of_the_server(server: ScriptedServer, tmp_path: Path) -> None:
    names = ["-keyout", str(tmp_path / "key.pem"), "-out", str(tmp_path / "certificate.pem")]
    subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1", "-days", "1"]
    command = ["openssl", "req", "-x509", "-nodes", "-newkey", "rsa:2048", *names, *subject]
    subprocess.run(command, check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "certificate.pem", tmp_path / "key.pem")
    server.socket = context.wrap_socket(server.socket, server_side=True)
    url = server.url.replace("http:", "https:")
    trusted = ssl.create_default_context(cafile=str(tmp_path / "certificate.pem"))
    secure = ItsmClient(url, ssl_context=trusted)
    assert [secure.tickets.get(1)["id"] for _ in range(3)] == [1, 1, 1]
    assert len({sent.connection for sent in server.requests}) <= 2
    with pytest.raises(ApiConnectionError, match="certificate verify failed"):
        ItsmClient(url, max_retries=0).tickets.get(1)


class Stream(io.RawIOBase):
    """A file that can't seek."""

    def __init__(self, content: bytes) -> None:
        self._content = io.BytesIO(content)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        return self._content.readinto(buffer)


def test_repeats_an_upload_only_if_the_file_can_seek(server: ScriptedServer, tmp_path: Path) -> None:
    def fail_first(call: Handler) -> None:
        if len(server.requests) == 1:
            call.reply(502, b"")
        else:
            call.ok({"id": 1})

    server.handle_call = fail_first
    client = server.client()
    path = tmp_path / "trace.log"
    path.write_bytes(b"skipped" + b"x" * 100_000)
    with path.open("rb") as file:
        file.seek(len("skipped"))
        client.tickets.attach(38, file, content_type="text/plain")
    assert [sent.body == b"x" * 100_000 for sent in server.requests] == [True, True]
    assert server.requests[1].path.endswith("/attachments?name=trace.log")
    assert len({sent.headers["idempotency-key"] for sent in server.requests}) == 1
    server.requests.clear()
    with pytest.raises(UnexpectedAnswerError):
        client.tickets.attach(38, io.BufferedReader(Stream(b"abc")), name="a", size=3)
    assert [sent.body for sent in server.requests] == [b"abc"]
    with pytest.raises(ValueError, match="size is missing"):
        client.tickets.attach(38, io.BufferedReader(Stream(b"abc")), name="a")
    with pytest.raises(ValueError, match="name is missing"):
        client.tickets.attach(38, b"abc")


def test_reads_the_response_to_an_upload_that_the_server_stopped_reading() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def answer() -> None:
            connection, _ = listener.accept()
            connection.recv(1000)
            error = json.dumps({"success": False, "error": {"code": "VALIDATION_ERROR", "message": "Too large."}})
            connection.sendall(f"HTTP/1.1 400 No\r\ncontent-length: {len(error)}\r\n\r\n{error}".encode())
            connection.shutdown(socket.SHUT_WR)
            connection.settimeout(2)
            try:
                while connection.recv(1_000_000):
                    pass
            except OSError:
                pass
            connection.close()

        threading.Thread(target=answer, daemon=True).start()
        client = ItsmClient(f"http://127.0.0.1:{listener.getsockname()[1]}", max_retries=0)
        with pytest.raises(ValidationError, match="Too large."):
            client.tickets.attach(38, b"x" * 20_000_000, name="a")


def test_downloads_a_file_as_a_stream(server: ScriptedServer, client: ItsmClient) -> None:
    headers = {"content-type": "text/plain", "content-disposition": "attachment; filename*=UTF-8''M%C3%A4rz.log"}
    server.handle_call = lambda call: call.reply(200, b"x" * 200_000, headers)
    with client.attachments.download(1) as download:
        assert (download.name, download.content_type, download.size) == ("März.log", "text/plain", 200_000)
        assert len(next(iter(download))) < 200_000
    assert client.attachments.download(1).read() == b"x" * 200_000
    # An abandoned download closes its connection, and a complete one leaves it to the next call.
    assert len({sent.connection for sent in server.requests}) == 2
    client.tickets.list()
    server.handle_call = lambda call: call.reply(200, b"short", {"content-length": "10", "connection": "close"})
    with pytest.raises(ApiConnectionError):
        client.attachments.download(1).read()


def test_rejects_values_that_it_cannot_send(server: ScriptedServer, client: ItsmClient) -> None:
    ids: List[int | str] = ["..", "", "1/../2", "1?x=1", -1]
    for id in ids:
        with pytest.raises(ValueError, match="id in /tickets/:id is invalid"):
            client.tickets.get(id)
    with pytest.raises(ValueError, match="assigneeId is empty"):
        client.tickets.list(assignee_id=[]).page()
    with pytest.raises(ValueError):
        client.with_options(headers={"x-request-id": "two\nlines"}).tickets.get(1)
    for url in ["", "acme.example.com", "ftp://acme.example.com", "https://key@acme.example.com"]:
        with pytest.raises(ValueError, match="base_url is invalid"):
            ItsmClient(url)
    with pytest.raises(ValueError, match="must not contain /api/public/v1"):
        ItsmClient("https://acme.example.com/api/public/v1/")
    for key in ["two words", "", "ü"]:
        with pytest.raises(ValueError, match="api_key is invalid"):
            ItsmClient("https://acme.example.com", api_key=key)
    options: List[Dict[str, float]] = [{"timeout": -1}, {"max_wait": float("nan")}]
    for option in options:
        with pytest.raises(ValueError, match="Pass a number that is not negative"):
            ItsmClient("https://acme.example.com", **option)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="max_retries is -1"):
        client.with_options(max_retries=-1)
    assert server.requests == []


def test_keeps_the_api_key_out_of_errors(server: ScriptedServer, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("DEBUG", "itsm_api")
    key = "itsm_key_of_the_tests"
    error = {"success": False, "error": {"code": "NOT_FOUND", "message": key}}
    client = server.client(max_retries=0)
    texts = []
    for body in [json.dumps(error).encode(), key.encode()]:
        server.handle_call = lambda call: call.reply(404, body, {"x-echo": key, "location": key})
        with pytest.raises(ItsmError) as raised:
            client.tickets.get(1)
        again = pickle.loads(pickle.dumps(raised.value))
        assert (type(again), again.code, str(again)) == (type(raised.value), raised.value.code, str(raised.value))
        texts += [str(raised.value), repr(vars(raised.value)), repr(raised.value)]
    assert key not in "".join([*texts, repr(client), caplog.text])
    assert "GET /tickets/1: NOT_FOUND after" in caplog.text


def test_reports_a_server_that_is_not_running() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    with pytest.raises(ApiConnectionError, match=rf"^GET /tickets/1 did not reach {url}: .*refused"):
        ItsmClient(url, max_retries=0).tickets.get(1)

