"""Compression around a whole file, undone and done as a stream.

Nothing is unpacked as a whole, so that a small file which would unpack to a huge one
costs time but no memory.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any

import pyarrow as pa

from halfmoon.table.errors import ReadError

__all__ = ["compressing", "decompressing", "reading"]

CHUNK = 2**18  # bytes unpacked at once
GZIP_LEVEL = 6  # 9 takes several times as long for a few percent


@contextmanager
def decompressing(packed: IO[bytes], compression: str | None) -> Iterator[IO[bytes]]:
    """What is in a compressed stream; closes what it opens, not the stream itself."""
    opened: Any
    if compression is None:
        opened = _Borrowed(packed)
    elif compression == "gzip":
        opened = gzip.GzipFile(fileobj=packed, mode="rb")
    elif compression == "bz2":
        opened = bz2.BZ2File(packed)
    elif compression == "xz":
        opened = lzma.LZMAFile(packed)  # noqa: SIM115
    else:
        opened = _Unpacked(packed, compression)
    with io.BufferedReader(opened, CHUNK) as stream:
        yield stream


@contextmanager
def compressing(plain: IO[bytes], compression: str | None) -> Iterator[IO[bytes]]:
    """A stream to write to, whose compressed form goes to another one."""
    if compression is None:
        yield plain
        return
    packed: Any
    if compression == "gzip":
        # No name and no time: the same table gives the same file.
        packed = gzip.GzipFile("", "wb", GZIP_LEVEL, plain, mtime=0)
    elif compression == "bz2":
        packed = bz2.BZ2File(plain, "wb")
    elif compression == "xz":
        packed = lzma.LZMAFile(plain, "wb")  # noqa: SIM115
    else:
        borrowed = pa.PythonFile(_Borrowed(plain), mode="w")
        packed = pa.CompressedOutputStream(borrowed, compression)
    with packed:
        yield packed


@contextmanager
def reading(name: str, compression: str | None) -> Iterator[None]:
    """Say in one line that a file cannot be read, or not to its end."""
    try:
        yield
    except EOFError as error:
        raise ReadError(
            f"{name} is cut short: its {compression} data end too early. Get the file "
            f"again."
        ) from error
    except (zlib.error, lzma.LZMAError, gzip.BadGzipFile) as error:
        raise _damaged(name, compression) from error
    except OSError as error:
        if error.errno is None and compression is not None:  # bz2, Arrow
            raise _damaged(name, compression) from error
        raise ReadError(f"{name} cannot be read: {error.strerror or error}.") from error
    except pa.ArrowException as error:
        raise _damaged(name, compression) from error


def _damaged(name: str, compression: str | None) -> ReadError:
    return ReadError(
        f"{name} is damaged: its {compression} data cannot be unpacked. Get the file "
        f"again."
    )


class _Borrowed(io.RawIOBase):
    """A stream that is not closed with the one which reads from it or writes to it."""

    def __init__(self, stream: IO[bytes]) -> None:
        self.stream: Any = stream

    def readable(self) -> bool:
        return True

    def writable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        count: int | None = self.stream.readinto(buffer)
        return count

    def write(self, data: Any) -> int:
        count: int = self.stream.write(data)
        return count


class _Unpacked(io.RawIOBase):
    """What Arrow unpacks from a stream: zstd, lz4, brotli."""

    def __init__(self, packed: IO[bytes], compression: str) -> None:
        borrowed = pa.PythonFile(_Borrowed(packed), mode="r")
        self.stream = pa.CompressedInputStream(borrowed, compression)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        held = self.stream.read(len(buffer))
        buffer[: len(held)] = held
        return len(held)
