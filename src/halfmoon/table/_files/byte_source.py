"""Where the bytes of a table come from: a file, or a stream.

A table is read more than once. A stream that cannot be read twice (standard input, a
pipe) is first copied to a temporary file without a name, which the system removes even
if the process is killed.
"""

from __future__ import annotations

import io
import os
import shutil
import stat
import tempfile
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import IO, Any

from halfmoon.table._files.formats import format_from_name
from halfmoon.table._table_errors import ReadError

__all__ = ["PiecewiseStream", "Source"]

COPY_BYTES = 2**20
MAX_ENTRIES = 1000  # of a folder, to suggest a pattern


class Source:
    """Bytes that can be opened any number of times, and that must not change.

    Parameters
    ----------
    given : path or binary stream
    name : str, optional
        Name in messages.
    """

    path: Path | None  # None for a stream
    origin: Path | None  # the input file, also if it is unpacked to another one

    def __init__(
        self, given: str | os.PathLike[str] | IO[bytes], name: str | None = None
    ) -> None:
        self._spool: IO[bytes] | None = None
        self._lock = threading.Lock()
        if isinstance(given, (str, os.PathLike)):
            self.path = Path(given)
            self.name = name or str(given)
            self._first_stat = self._stat()
            if not stat.S_ISREG(self._first_stat.st_mode):  # a pipe
                with self._open_path() as pipe:
                    self._copy(pipe)
                self.path = None
        else:
            self.path = None
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
        if self._spool is not None:
            return _View(self._spool, self._lock)  # type: ignore[return-value]
        return self._open_path()

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
            raise ReadError(
                f"{self.name} does not exist. Check the name and the folder."
            ) from error
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
        spool = tempfile.TemporaryFile(prefix="halfmoon-")  # noqa: SIM115
        try:
            shutil.copyfileobj(stream, spool, COPY_BYTES)
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
        self._spool = spool


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
    """A reader of a shared file, with its own position."""

    def __init__(self, file: IO[bytes], lock: threading.Lock) -> None:
        self._file: Any = file
        self._lock = lock
        self._position = 0
        self._size = os.fstat(file.fileno()).st_size

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        with self._lock:
            self._file.seek(self._position)
            count: int = self._file.readinto(buffer)
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


class PiecewiseStream(io.RawIOBase):
    """A readable stream of the bytes that an iterator gives, piece by piece."""

    def __init__(self, pieces: Iterator[Any]) -> None:
        self._pieces = pieces
        self._rest = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._rest:
            piece = next(self._pieces, None)
            if piece is None:
                return 0
            self._rest = memoryview(piece)
        n = min(len(buffer), len(self._rest))
        buffer[:n] = self._rest[:n]
        self._rest = self._rest[n:]
        return n
