"""Compression around a whole file, read and written as a stream.

A file is never unpacked as a whole, so a small file that unpacks to a huge one costs
time but no memory.
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

from halfmoon.table._files.byte_source import Source
from halfmoon.table._table_errors import ReadError

__all__ = ["compressing", "decompressed", "reading"]

BUFFER_BYTES = 2**18
GZIP_LEVEL = 6  # 9 takes several times as long for a few percent


@contextmanager
def decompressed(
    source: Source, compression: str | None
) -> Iterator[tuple[IO[bytes], IO[bytes]]]:
    """Open a source; yield its unpacked bytes, and the file, to see its position."""
    with (
        reading(source.name, compression),
        source.open() as file,
        _decompressing(file, compression) as stream,
    ):
        yield stream, file


def _decompressing(packed: IO[bytes], compression: str | None) -> IO[bytes]:
    opened: Any
    if compression is None:
        opened = packed
    elif compression == "gzip":
        opened = gzip.GzipFile(fileobj=packed, mode="rb")
    elif compression == "bz2":
        opened = bz2.BZ2File(packed)
    elif compression == "xz":
        opened = lzma.LZMAFile(packed)  # noqa: SIM115
    else:
        opened = pa.CompressedInputStream(pa.PythonFile(packed, mode="r"), compression)
    return io.BufferedReader(opened, BUFFER_BYTES)


@contextmanager
def compressing(plain: IO[bytes], compression: str | None) -> Iterator[IO[bytes]]:
    """Yield a stream to write to, whose compressed form goes to another one."""
    if compression is None:
        yield plain
        return
    packed: Any
    if compression == "gzip":
        # Without name and time, so that the same table gives the same file.
        packed = gzip.GzipFile("", "wb", GZIP_LEVEL, plain, mtime=0)
    elif compression == "bz2":
        packed = bz2.BZ2File(plain, "wb")
    elif compression == "xz":
        packed = lzma.LZMAFile(plain, "wb")  # noqa: SIM115
    else:
        sink = pa.PythonFile(_Unclosed(plain), mode="w")
        packed = pa.CompressedOutputStream(sink, compression)
    with packed:
        yield packed


class _Unclosed(io.RawIOBase):
    """Writes to a stream that stays open: Arrow closes what it writes to."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        return self._stream.write(data)


@contextmanager
def reading(name: str, compression: str | None) -> Iterator[None]:
    """Turn failures while a file is read into a `ReadError`."""
    try:
        yield
    except EOFError as error:
        raise ReadError(
            f"{name} is cut short: its {compression} data end too early. Get the file "
            f"again."
        ) from error
    except (zlib.error, lzma.LZMAError, gzip.BadGzipFile, pa.ArrowException) as error:
        raise _damaged(name, compression) from error
    except OSError as error:
        if error.errno is None and compression is not None:  # bz2, Arrow
            raise _damaged(name, compression) from error
        raise ReadError(f"{name} cannot be read: {error.strerror or error}.") from error


def _damaged(name: str, compression: str | None) -> ReadError:
    return ReadError(
        f"{name} is damaged: its {compression} data cannot be unpacked. Get the file "
        f"again."
    )
