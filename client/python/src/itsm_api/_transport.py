"""Connections to the server: a pool, deadlines, proxies and the exchange of one request."""

from __future__ import annotations

import base64
import io
import socket
import ssl
import threading
import time
import urllib.request
import zlib
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection, IncompleteRead
from typing import Any, BinaryIO, Dict, Iterator, List, cast
from urllib.parse import unquote, urlsplit

# Connections that are idle for longer are closed, because the server may close them at any time.
_MAX_IDLE_SECONDS = 4.0
_MAX_IDLE_CONNECTIONS = 50
_BLOCK_BYTES = 65_536

# The exceptions of a failed exchange.
FAILURES = (OSError, HTTPException, zlib.error)


class _Reader(io.RawIOBase):
    def __init__(self, connection: _Connection) -> None:
        self._connection = connection

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        self._connection.limit()
        return self._connection.sock.recv_into(buffer)


class _Connection:
    """A connection whose reads and writes end at the deadline of the current request, however slowly bytes arrive."""

    def __init__(self, sock: socket.socket) -> None:
        self.sock = sock
        self.idle_since = 0.0
        self.max_idle = _MAX_IDLE_SECONDS

    def start(self, deadline: float) -> None:
        """Sets the deadline of a request."""
        self._deadline = deadline
        # If it is set, each read can take that long, and the deadline doesn't apply.
        self._seconds_per_read: float | None = None
        self._limited_at = 0.0

    def allow_each_read(self, seconds: float) -> None:
        """Ends the deadline. From now on, each read can take that long."""
        self._seconds_per_read, self._limited_at = seconds, 0.0

    def limit(self) -> None:
        """Sets the timeout of the socket to the time that remains. Skips calls within 20 ms, which cost time."""
        now = time.monotonic()
        if now - self._limited_at < 0.02:
            return
        left = self._deadline - now if self._seconds_per_read is None else self._seconds_per_read
        if left <= 0:
            raise TimeoutError("timed out")
        self._limited_at = now
        self.sock.settimeout(left)

    def send(self, head: bytes, body: bytes | BinaryIO | None) -> None:
        self.limit()
        if body is None or isinstance(body, bytes):
            self.sock.sendall(head + (body or b""))
            return
        self.sock.sendall(head)
        while block := body.read(_BLOCK_BYTES):
            self.limit()
            self.sock.sendall(block)

    def makefile(self, _mode: str) -> io.BufferedReader:
        """Returns a file that reads from the socket. `HTTPResponse` calls this method."""
        return io.BufferedReader(_Reader(self))

    def is_usable(self) -> bool:
        """Returns false if the server has closed the connection, has sent bytes without a request, or may soon close it."""
        if time.monotonic() - self.idle_since >= self.max_idle:
            return False
        self.sock.settimeout(0)
        try:
            socket.socket.recv(self.sock, 1, socket.MSG_PEEK)
        except BlockingIOError:
            return True
        except OSError:
            pass
        return False

    def close(self) -> None:
        self.sock.close()


class Transport:
    """A pool of connections to one server. Any number of threads can use it."""

    def __init__(self, origin: str, ssl_context: ssl.SSLContext | None) -> None:
        url = urlsplit(origin)
        self._is_secure = url.scheme == "https"
        self._host = url.netloc
        self._address = (url.hostname or "", url.port or (443 if self._is_secure else 80))
        self._context = ssl_context or (ssl.create_default_context() if self._is_secure else None)
        self._idle: List[_Connection] = []
        self._lock = threading.Lock()
        self._proxy = None
        self._proxy_headers: Dict[str, str] = {}
        # The target of a request starts with this text: a proxy needs the complete URL.
        self._prefix = ""
        proxy = urllib.request.getproxies().get(url.scheme)
        if proxy and not urllib.request.proxy_bypass(url.netloc):
            self._proxy = urlsplit(proxy if "://" in proxy else f"http://{proxy}")
            if self._proxy.username:
                user = f"{unquote(self._proxy.username)}:{unquote(self._proxy.password or '')}"
                token = base64.b64encode(user.encode()).decode()
                self._proxy_headers["proxy-authorization"] = f"Basic {token}"
            if not self._is_secure:
                self._prefix = origin

    def exchange(
        self, method: str, target: str, body: bytes | BinaryIO | None, headers: Dict[str, str], timeout: float
    ) -> Exchange:
        """Sends a request once, and returns its response without the body.

        Raises one of `FAILURES` if the connection fails, `TimeoutError` at the deadline, and `ValueError` if a header is
        invalid.
        """
        if self._prefix:
            headers = {**headers, **self._proxy_headers}
        lines = [f"{method} {self._prefix}{target} HTTP/1.1", f"host: {self._host}"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        text = "\r\n".join(lines)
        if text.count("\n") + text.count("\r") != 2 * len(headers) + 2:
            raise ValueError("A header contains a line break.")
        head = f"{text}\r\n\r\n".encode("latin-1")
        connection = self._take(time.monotonic() + timeout)
        try:
            try:
                connection.send(head, body)
            except (BrokenPipeError, ConnectionResetError):
                # The server can respond before it has read a large body, and then close the connection.
                if body is None or isinstance(body, bytes):
                    raise
            response = HTTPResponse(cast(socket.socket, connection), method=method)
            response.begin()
            return Exchange(self, connection, response, timeout)
        except BaseException:
            connection.close()
            raise

    def _take(self, deadline: float) -> _Connection:
        while True:
            with self._lock:
                connection = self._idle.pop() if self._idle else None
            if connection is None:
                connection = self._connect(max(0.001, deadline - time.monotonic()))
            elif not connection.is_usable():
                connection.close()
                continue
            connection.start(deadline)
            return connection

    def _connect(self, timeout: float) -> _Connection:
        proxy = self._proxy
        host, port = self._address if proxy is None else (proxy.hostname or "", proxy.port or 80)
        if self._is_secure:
            connection: HTTPConnection = HTTPSConnection(host, port, timeout=timeout, context=self._context)
            if proxy is not None:
                connection.set_tunnel(*self._address, self._proxy_headers)
        else:
            connection = HTTPConnection(host, port, timeout=timeout)
        connection.connect()
        return _Connection(cast(socket.socket, connection.sock))

    def give_back(self, connection: _Connection) -> None:
        """Makes a connection available for the next request."""
        connection.idle_since = time.monotonic()
        with self._lock:
            if len(self._idle) < _MAX_IDLE_CONNECTIONS:
                self._idle.append(connection)
                return
        connection.close()

    def close(self) -> None:
        """Closes all idle connections."""
        with self._lock:
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()


class Exchange:
    """A response whose body is not read yet."""

    def __init__(self, transport: Transport, connection: _Connection, response: HTTPResponse, timeout: float) -> None:
        self.status = response.status
        # The names of headers are case-insensitive.
        self.headers = {name.lower(): value for name, value in response.headers.items()}
        self._transport = transport
        self._connection: _Connection | None = connection
        self._response = response
        self._timeout = timeout
        is_compressed = self.headers.get("content-encoding") in ("gzip", "deflate")
        self._decompressor = zlib.decompressobj(47) if is_compressed else None
        _, _, seconds = self.headers.get("keep-alive", "").partition("timeout=")
        if seconds.isdecimal():
            connection.max_idle = max(0.0, int(seconds) - 1.0)

    def read(self) -> bytes:
        """Reads the whole body until the deadline of the request."""
        try:
            body = self._response.read()
            self._finish()
        except BaseException:
            self.close()
            raise
        return body if self._decompressor is None else self._decompressor.decompress(body)

    def blocks(self) -> Iterator[bytes]:
        """Reads the body block by block. Each block can take as long as the timeout of the request."""
        if self._connection is not None:
            self._connection.allow_each_read(self._timeout)
        try:
            while True:
                block = self._response.read(_BLOCK_BYTES)
                if not block:
                    break
                yield block if self._decompressor is None else self._decompressor.decompress(block)
            if self._response.length:
                raise IncompleteRead(b"", self._response.length)
            self._finish()
        finally:
            self.close()

    def _finish(self) -> None:
        connection, self._connection = self._connection, None
        if connection is None:
            return
        if self._response.will_close:
            connection.close()
        else:
            self._transport.give_back(connection)

    def close(self) -> None:
        """Closes the connection if the body is not read to its end."""
        connection, self._connection = self._connection, None
        if connection is not None:
            self._response.close()
            connection.close()
