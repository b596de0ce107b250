"""What the process was given: standard streams, threads, room for addresses.

Whoever starts a command may close its streams or limit its memory. Both have to be
known before libraries are imported and files opened, which take either for granted.
"""

from __future__ import annotations

import errno
import os
import sys
from typing import IO, Any, cast

from halfmoon.table._table_errors import (
    MemoryLimitError,
    OutputError,
    ReadError,
    TableError,
)

__all__ = [
    "Unfailing",
    "hold_standard_streams",
    "input_stream",
    "output_stream",
    "refuse_small_memory",
    "system_failure",
]

MIN_ADDRESSES = 10**9  # bytes; with less, OpenBLAS waits for memory without end
NO_MEMORY = "The machine has no memory left. Let the run use less: --memory 500MB."
#: What the dynamic linker says if there is no memory for a library.
UNMAPPED = ("failed to map", "annot allocate memory", "cannot apply additional memory")


def hold_standard_streams() -> None:
    """Keep the places of closed standard streams, so that no file gets them.

    A file that is opened gets the lowest number that is free. With that of a standard
    stream, whatever a library prints would be written into it.
    """
    # The wrong way round, so that whoever uses them fails
    for number, way in ((0, os.O_WRONLY), (1, os.O_RDONLY), (2, os.O_RDONLY)):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, way)


def input_stream() -> IO[bytes]:
    """Return standard input; refuse one that is closed."""
    if sys.stdin is None:
        raise ReadError("Standard input is closed. Give the name of a file.")
    return sys.stdin.buffer


def output_stream() -> IO[bytes]:
    """Return standard output; refuse one that is closed."""
    if sys.stdout is None:
        raise OutputError("Standard output is closed. Use --output FILE.")
    return sys.stdout.buffer


class Unfailing:
    """A text stream on which a failure, such as a full disk, has no consequence."""

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        """Write text, if that is possible."""
        try:
            return self._stream.write(text)
        except OSError:
            return len(text)

    def flush(self) -> None:
        """Write what is in the buffer, if that is possible."""
        try:
            self._stream.flush()
        except OSError:
            return

    @classmethod
    def standard_error(cls) -> IO[str] | None:
        """Return standard error; None if it is closed."""
        return None if sys.stderr is None else cast(IO[str], cls(sys.stderr))


def refuse_small_memory() -> None:
    """Refuse a limit of addresses with which the libraries do not work."""
    try:
        import resource
    except ImportError:  # Windows
        return
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit != resource.RLIM_INFINITY and limit < MIN_ADDRESSES:
        raise MemoryLimitError(
            f"This process may use {limit // 10**6:,} MB of addresses (ulimit -v), but "
            f"the libraries that it loads need 1 GB, most of it without memory behind "
            f"it. Allow more: ulimit -v unlimited."
        )


def system_failure(error: BaseException) -> TableError | None:
    """Return the error for a failure of the system, such as a full disk."""
    text = str(error)
    if (
        isinstance(error, MemoryError)
        or getattr(error, "errno", 0) == errno.ENOMEM
        or (isinstance(error, ImportError) and any(sign in text for sign in UNMAPPED))
    ):
        return MemoryLimitError(NO_MEMORY)
    if isinstance(error, RuntimeError) and "can't start new thread" in text:
        return OutputError(
            "The run failed: the system starts no more threads. End other programs, or "
            "allow more (ulimit -u)."
        )
    if isinstance(error, BrokenPipeError):
        return OutputError("The output was closed before all of it was written.")
    if isinstance(error, OSError):  # e.g. too many open files, a full disk
        if error.filename is None and not _has_folder():
            return OutputError("The current folder was removed. Change to another one.")
        name = error.filename
        what = f"{name} cannot be used" if name else "The run failed"
        return OutputError(f"{what}: {error.strerror or error}.")
    return None


def _has_folder() -> bool:
    try:
        os.getcwd()
    except OSError:
        return False
    return True
