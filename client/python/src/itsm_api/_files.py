"""Uploads and downloads."""

from __future__ import annotations

import io
import os
import re
from typing import BinaryIO, Callable, Iterator, Union
from urllib.parse import unquote

from ._transport import FAILURES, Exchange

FileContent = Union[bytes, BinaryIO]
"""The content of a file to upload: bytes, or a file that is open for reading in binary mode."""

DEFAULT_TYPE = "application/octet-stream"


class Upload:
    """The content of a file to upload. A file that can't seek is sent only once."""

    def __init__(self, file: FileContent, name: str | None, content_type: str | None, size: int | None) -> None:
        path = getattr(file, "name", None)
        self.name = name or (os.path.basename(path) if isinstance(path, str) else None)
        if not self.name:
            raise ValueError("name is missing. Pass the name of the file.")
        self.content_type = content_type or DEFAULT_TYPE
        self._file: BinaryIO = io.BytesIO(file) if isinstance(file, (bytes, bytearray)) else file
        self.is_repeatable = self._file.seekable()
        self._start = self._file.tell() if self.is_repeatable else 0
        if size is None:
            if not self.is_repeatable:
                raise ValueError("size is missing. Pass the number of bytes of the stream.")
            size = self._file.seek(0, os.SEEK_END) - self._start
        self.size = size

    def open(self) -> BinaryIO:
        """Returns the file at the start of the content."""
        if self.is_repeatable:
            self._file.seek(self._start)
        return self._file


class Download:
    """A file that the client downloads. Read it to its end, or close it.

    Iterate over it to read the content in blocks. As a context manager, it closes itself.
    """

    name: str | None
    """The name of the file. Don't use it as a path without a check."""
    content_type: str
    """The declared type of the upload. The content can differ from it, so treat the file as untrusted."""
    size: int
    """The size in bytes."""

    def __init__(self, exchange: Exchange, to_error: Callable[[Exception], Exception]) -> None:
        headers = exchange.headers
        # The parameter `filename*` contains the name in UTF-8 (RFC 8187).
        found = re.search(r"filename\*=UTF-8''([^;]+)", headers.get("content-disposition") or "", re.IGNORECASE)
        self.name = unquote(found[1]) if found else None
        self.content_type = headers.get("content-type") or DEFAULT_TYPE
        self.size = int(headers.get("content-length") or 0)
        self._exchange = exchange
        self._to_error = to_error

    def __iter__(self) -> Iterator[bytes]:
        try:
            yield from self._exchange.blocks()
        except FAILURES as error:
            raise self._to_error(error) from error

    def read(self) -> bytes:
        """Reads the whole content."""
        return b"".join(self)

    def close(self) -> None:
        """Stops the download."""
        self._exchange.close()

    def __enter__(self) -> Download:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
