"""Where the bytes of a table come from: a file, or a stream, perhaps compressed.

A table is read more than once. A stream that cannot be read twice (standard input, a
pipe) is first copied to a temporary file without a name, which the system removes even
if the process is killed. A compressed file is never unpacked as a whole, so a small
file that unpacks to a huge one costs time but no memory.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import stat
import tempfile
import threading
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from functools import partial
from itertools import islice
from pathlib import Path
from typing import IO, Any, cast

import pyarrow as pa

from halfmoon.table._files.formats import compression_of, format_from_name, kind_of
from halfmoon.table._files.records import MAX_RECORD, long_line
from halfmoon.table._table_errors import ReadError, no_file

__all__ = ["Sink", "Source", "compressing", "decompressed", "reading"]

BUFFER_BYTES = 2**18
GZIP_LEVEL = 6  # 9 takes several times as long for a few percent
MAX_ENTRIES = 1000  # of a folder, to suggest a pattern


class Source:
    """Bytes that can be opened any number of times, and that must not change.

    They are those of a file, or of a stream, or what a function writes to a file.
    """

    name: str  # in messages
    path: Path | None = None  # None for a stream
    origin: Path | None = None  # the input file, also if it is unpacked to another one
    _spool: IO[bytes] | None = None

    def __init__(
        self,
        given: str | os.PathLike[str] | IO[bytes] | Callable[[IO[bytes]], object],
        name: str | None = None,
    ) -> None:
        self._lock = threading.Lock()
        if isinstance(given, (str, os.PathLike)):
            self.path = Path(given)
            self.name = name or str(given)
            self._first_stat = self._stat()
            found = self._first_stat  # size 0: nothing, or not known, as in /proc
            if not stat.S_ISREG(found.st_mode) or found.st_size == 0:
                with self._open_path() as pipe:
                    self._copy(pipe)
                self.path = None
        elif callable(given):
            self.name = name or "the stream"
            with self._spooling() as spool:
                given(spool)
        else:
            self.name = name or "standard input"
            self._copy(getattr(given, "buffer", given))
        self.origin = self.path

    @property
    def inputs(self) -> list[Path]:
        """Files that must not be overwritten."""
        return [] if self.origin is None else [self.origin]

    @property
    def size(self) -> int:
        """Number of bytes."""
        if self._spool is not None:
            return os.fstat(self._spool.fileno()).st_size
        return self._first_stat.st_size

    def open(self) -> IO[bytes]:
        """Open a raw stream from the first byte on, with its own position."""
        shared = None if self._spool is None else self._lock
        file = self._spool or self._open_path()
        return cast(IO[bytes], _View(file, self.size, shared))

    def pieces(self) -> Iterator[Any]:
        """Yield all bytes, piece by piece."""
        with self.open() as file:
            yield from iter(partial(file.read, BUFFER_BYTES), b"")

    def check(self) -> None:
        """Refuse a file that changed since it was first opened."""
        if self._spool is None and _identity(self._stat()) != _identity(
            self._first_stat
        ):
            raise self.changed()

    def changed(self) -> ReadError:
        """Return the error for a file that changed."""
        return ReadError(
            f"{self.name} changed while it was being read. Run again when nothing "
            f"writes to it."
        )

    def close(self) -> None:
        """Remove the temporary file, if there is one."""
        if self._spool is not None:
            self._spool.close()

    def _stat(self) -> os.stat_result:
        assert self.path is not None
        try:
            found = self.path.stat()
        except (FileNotFoundError, NotADirectoryError) as error:
            raise no_file(self.name) from error
        except (OSError, ValueError) as error:
            raise self._unreadable(error) from error
        if stat.S_ISDIR(found.st_mode):
            raise ReadError(
                f"{self.name} is a folder; a file is needed. To read the tables in it "
                f"as one, give a pattern: {_suggested_pattern(self.path)}"
            )
        return found

    def _open_path(self) -> IO[bytes]:
        assert self.path is not None
        try:
            return self.path.open("rb", buffering=0)
        except OSError as error:
            raise self._unreadable(error) from error

    def _unreadable(self, error: Exception) -> ReadError:
        why = getattr(error, "strerror", None) or error
        return ReadError(f"{self.name} cannot be read: {why}.")

    def _copy(self, stream: IO[bytes]) -> None:
        """Copy a stream to a temporary file; refuse one that never ends a line."""
        if _is_device(stream) and stream.read(1):  # /dev/null is an empty file
            raise ReadError(
                f"{self.name} is a device, which may never end. Give a file, or pipe "
                f"the rows of a table in."
            )
        checked = BUFFER_BYTES  # doubles, so that all checks take as long as the last
        with self._spooling() as spool:
            while data := stream.read(BUFFER_BYTES):
                spool.write(data)
                if checked and spool.tell() >= checked:
                    spool.flush()
                    checked = 0 if self._has_lines() else 2 * spool.tell()

    @contextmanager
    def _spooling(self) -> Iterator[IO[bytes]]:
        """Make the temporary file and yield it to be written."""
        spool = self._spool = tempfile.TemporaryFile(prefix="halfmoon-")  # noqa: SIM115
        try:
            yield spool
            spool.flush()
        except OSError as error:
            spool.close()
            raise ReadError(
                f"{self.name} cannot be copied to a temporary file in "
                f"{tempfile.gettempdir()}: {error.strerror or error}. Set TMPDIR to a "
                f"folder with more room."
            ) from error
        except BaseException:
            spool.close()
            raise

    def _has_lines(self) -> bool:
        """Return whether the bytes so far may be a table; refuse an endless line.

        False if that is not known yet. Formats that are not text have no lines.
        """
        with self.open() as file:
            compression = compression_of(file.read(BUFFER_BYTES))
        size = 0
        with (
            suppress(ReadError),  # the rest of compressed data is still to come
            decompressed(self, compression) as (stream, _),
        ):
            while size < MAX_RECORD and (piece := stream.read(BUFFER_BYTES)):
                other_kind = not size and kind_of(piece) not in (None, "jsonl")
                if other_kind or b"\n" in piece or b"\r" in piece:
                    return True
                size += len(piece)
        if size >= MAX_RECORD:
            raise long_line(self.name, 1)
        return False


def _is_device(stream: IO[bytes]) -> bool:
    """Return whether a stream comes from a device, such as /dev/zero; no terminal."""
    try:
        mode = os.fstat(stream.fileno()).st_mode
        return (stat.S_ISCHR(mode) or stat.S_ISBLK(mode)) and not stream.isatty()
    except (AttributeError, OSError):  # not a file of the system
        return False


def _identity(found: os.stat_result) -> tuple[int, int, int]:
    return found.st_size, found.st_mtime_ns, found.st_ino


def _suggested_pattern(folder: Path) -> str:
    """Return a pattern of file names for the most frequent kind of table."""
    endings: Counter[str] = Counter()
    with suppress(OSError):
        for path in islice(folder.iterdir(), MAX_ENTRIES):
            if format_from_name(path)[0] is not None:
                endings[path.suffix] += 1
    ending = endings.most_common(1)[0][0] if endings else ".csv"
    return f"'{folder / ('*' + ending)}'"


class _View(io.RawIOBase):
    """A reader of a file, perhaps a shared one, with its own position.

    It ends where the file ended when it was first seen, even if the file grows.
    """

    def __init__(
        self, file: IO[bytes], size: int, shared: threading.Lock | None = None
    ) -> None:
        self._file: Any = file
        self._lock = shared or nullcontext()
        self._is_shared = shared is not None
        self._position, self._size = 0, size

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        left = max(self._size - self._position, 0)
        with self._lock:
            self._file.seek(self._position)
            count: int = self._file.readinto(memoryview(buffer)[:left])
        self._position += count
        return count

    def read(self, size: int | None = -1) -> bytes:
        # Never more than there is: a damaged file may ask for any number of bytes.
        left = max(self._size - self._position, 0)
        return super().read(left if size is None or size < 0 else min(size, left))

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        start = {os.SEEK_SET: 0, os.SEEK_CUR: self._position, os.SEEK_END: self._size}
        self._position = start[whence] + offset
        return self._position

    def tell(self) -> int:
        return self._position

    def close(self) -> None:
        if not self._is_shared:
            self._file.close()
        super().close()


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
        sink = pa.PythonFile(Sink(plain), mode="w")
        packed = pa.CompressedOutputStream(sink, compression)
    with packed:
        yield packed


class Sink(io.RawIOBase):
    """Writes to a stream that stays open, and nothing more after a failure.

    Arrow closes what it writes to. An abandoned zip file writes its end when it is
    garbage collected, to a stream that is closed by then; so the position still moves.
    """

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self.ignores = False  # everything, after a failure
        self._position = 0  # since then

    def writable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        if self.ignores:
            self._position += len(data)
            return len(data)
        try:
            return self._stream.write(data)
        except BaseException:
            self.ignores = True
            raise

    def tell(self) -> int:
        return self._position if self.ignores else self._stream.tell()

    def seek(self, offset: int, whence: int = 0, /) -> int:
        if self.ignores:
            self._position = offset
            return offset
        return self._stream.seek(offset, whence)


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
