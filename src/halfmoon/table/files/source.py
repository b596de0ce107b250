"""Where a table comes from: a file, or a stream that is kept in a temporary file.

A table is walked through more than once, so that what cannot be opened twice
(standard input, a pipe) is first copied to a temporary file without a name, which
the system removes whatever happens to the process.
"""

from __future__ import annotations

import io
import os
import shutil
import stat
import tempfile
import threading
from collections import Counter
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import IO, Any, Self

from halfmoon.table.errors import ReadError
from halfmoon.table.files.format import format_from_name

__all__ = ["Source"]

COPY_BYTES = 2**20


class Source:
    """Bytes that can be opened any number of times, and that must not change.

    Parameters
    ----------
    given : path or binary stream
    name : str, optional
        What to call it in an error.
    """

    path: Path | None  # to open it again; None for a stream
    origin: Path | None  # the file that must not be written to, even if unpacked

    def __init__(
        self, given: str | os.PathLike[str] | IO[bytes], name: str | None = None
    ) -> None:
        self._spool: IO[bytes] | None = None
        self._lock = threading.Lock()
        if isinstance(given, (str, os.PathLike)):
            self.path = Path(given)
            self.name = name or str(given)
            self._seen = self._look()
            if not stat.S_ISREG(self._seen.st_mode):  # a pipe
                with self._open_path() as pipe:
                    self._keep(pipe)
                self.path = None
        else:
            self.path = None
            self.name = name or "standard input"
            self._keep(getattr(given, "buffer", given))
        self.origin = self.path

    @property
    def inputs(self) -> list[Path]:
        """Files that must not be written to."""
        return [] if self.origin is None else [self.origin]

    @property
    def size(self) -> int:
        """Number of bytes."""
        if self._spool is not None:
            return os.fstat(self._spool.fileno()).st_size
        return self._seen.st_size

    def open(self) -> IO[bytes]:
        """A new raw stream from the first byte on, with a position of its own."""
        if self._spool is not None:
            return _View(self._spool, self._lock)  # type: ignore[return-value]
        return self._open_path()

    def check(self) -> None:
        """Refuse a file that is not the one first seen."""
        if self._spool is not None:
            return
        now, then = self._look(), self._seen
        if (now.st_size, now.st_mtime_ns, now.st_ino) != (
            then.st_size,
            then.st_mtime_ns,
            then.st_ino,
        ):
            raise self.changed()

    def changed(self) -> ReadError:
        """The error for a file that is another one than before."""
        return ReadError(
            f"{self.name} changed while it was being read. Run again when nothing "
            f"writes to it."
        )

    def close(self) -> None:
        """Give the temporary file back, where there is one."""
        if self._spool is not None:
            self._spool.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _look(self) -> os.stat_result:
        assert self.path is not None
        try:
            seen = self.path.stat()
        except (FileNotFoundError, NotADirectoryError) as error:
            raise ReadError(
                f"{self.name} does not exist. Check the name and the folder."
            ) from error
        except (OSError, ValueError) as error:
            raise self._unreadable(error) from error
        if stat.S_ISDIR(seen.st_mode):
            raise ReadError(
                f"{self.name} is a folder; a file is needed. To read the tables in it "
                f"as one, give a pattern: {_pattern_in(self.path)}"
            )
        return seen

    def _open_path(self) -> IO[bytes]:
        assert self.path is not None
        try:
            return self.path.open("rb", buffering=0)
        except OSError as error:
            raise self._unreadable(error) from error

    def _unreadable(self, error: Exception) -> ReadError:
        why = getattr(error, "strerror", None) or error
        return ReadError(f"{self.name} cannot be read: {why}.")

    def _keep(self, stream: IO[bytes]) -> None:
        spool = tempfile.TemporaryFile(prefix="halfmoon-")  # noqa: SIM115
        try:
            shutil.copyfileobj(stream, spool, COPY_BYTES)
            spool.flush()
        except OSError as error:
            spool.close()
            raise ReadError(
                f"{self.name} cannot be kept in a temporary file in "
                f"{tempfile.gettempdir()}: {error.strerror or error}. Set TMPDIR to a "
                f"folder with more room."
            ) from error
        except BaseException:
            spool.close()
            raise
        self._spool = spool


def _pattern_in(folder: Path) -> str:
    """A pattern of file names for the most frequent kind of table in a folder."""
    endings: Counter[str] = Counter()
    with suppress(OSError):
        for each in islice(folder.iterdir(), 1000):
            if format_from_name(each)[0] is not None:
                endings[each.suffix] += 1
    ending = endings.most_common(1)[0][0] if endings else ".csv"
    return f"'{folder / ('*' + ending)}'"


class _View(io.RawIOBase):
    """A file as seen by one of several readers, each at its own position."""

    def __init__(self, file: IO[bytes], lock: threading.Lock) -> None:
        self._file: Any = file
        self._lock = lock
        self._position = 0

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
        # Not more than there is: a damaged file may ask for any number of bytes.
        left = os.fstat(self._file.fileno()).st_size - self._position
        wanted = left if size is None or size < 0 else min(size, left)
        return super().read(max(wanted, 0))

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        if whence == os.SEEK_CUR:
            offset += self._position
        elif whence == os.SEEK_END:
            offset += os.fstat(self._file.fileno()).st_size
        self._position = offset
        return offset

    def tell(self) -> int:
        return self._position
