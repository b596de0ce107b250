"""Files that appear whole or not at all.

What is written goes to a hidden file in the same folder. When all of it is on the
disk, the file gets its name in one step of the file system; until then a reader sees
the old file, or none. An error, an interrupt or a request to stop removes the hidden
file. Only a process that is killed without being asked can leave it behind.
"""

from __future__ import annotations

import errno
import io
import os
import secrets
import shutil
import signal
import stat
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any, NoReturn

from halfmoon.table.errors import OutputError

__all__ = ["refuse_place", "replacing", "streaming"]

NO_LINKS = (errno.EPERM, errno.ENOTSUP, errno.ENOSYS, errno.EMLINK, errno.EXDEV)
FULL = (errno.ENOSPC, errno.EDQUOT)
COPY_BYTES = 2**20
BUFFER_BYTES = 2**20
raw_write = io.FileIO.write


@contextmanager
def replacing(
    path: str | os.PathLike[str],
    overwrite: bool = False,
    inputs: Sequence[str | os.PathLike[str]] = (),
) -> Iterator[IO[bytes]]:
    """A file that takes its name when the block ends without an exception.

    Parameters
    ----------
    path : path
        A link is followed. A device or pipe, such as ``/dev/null``, gets a copy when
        the block ends.
    overwrite : bool
        Whether a file of that name may be replaced; without it, one that comes into
        being meanwhile is kept too.
    inputs : sequence of paths
        Files that are never replaced, even with `overwrite`.

    Yields
    ------
    binary file

    Raises
    ------
    OutputError
        Before the block if the file cannot be made, after it if it cannot be moved.
    """
    name = os.fspath(path)
    if _is_device(name, overwrite, inputs):
        with _copied_to(name) as spool:
            yield spool
        return
    place = Path(os.path.realpath(name))
    with _stops_raise():
        raw = _new_file(place, name)
        file = io.BufferedWriter(raw, BUFFER_BYTES)
        try:
            yield file
            file.flush()
            raw.sync()
            file.close()
            _publish(raw.path, place, name, overwrite)
        finally:  # KeyboardInterrupt and SystemExit too
            raw.discard()
            with suppress(OSError, ValueError):
                file.close()
            with suppress(OSError):
                os.unlink(raw.path)


def refuse_place(
    path: str | os.PathLike[str],
    overwrite: bool = False,
    inputs: Sequence[str | os.PathLike[str]] = (),
) -> None:
    """Refuse what `replacing` would, before any work is done."""
    _is_device(os.fspath(path), overwrite, inputs)


@contextmanager
def streaming(stream: IO[bytes], name: str = "standard output") -> Iterator[IO[bytes]]:
    """A file that is copied to a stream when the block ends without an exception."""
    target: IO[bytes] = getattr(stream, "buffer", stream)
    with tempfile.TemporaryFile(prefix="halfmoon-") as spool:
        yield spool
        spool.seek(0)
        try:
            shutil.copyfileobj(spool, target, COPY_BYTES)
            target.flush()
        except BrokenPipeError as error:
            raise OutputError(
                f"{name} was closed before all of the output was written."
            ) from error
        except OSError as error:
            raise _unwritable(name, error) from error


def _is_device(
    name: str, overwrite: bool, inputs: Sequence[str | os.PathLike[str]]
) -> bool:
    """Whether to copy to a path instead of moving to it; refuse what cannot be."""
    try:
        seen = os.stat(name)
    except FileNotFoundError:
        folder = os.path.dirname(os.path.realpath(name))
        if not os.path.isdir(folder):
            raise OutputError(
                f"{name} cannot be written: the folder {folder} does not exist. Make "
                f"it first."
            ) from None
        return False
    except (OSError, ValueError) as error:
        raise _unwritable(name, error) from error
    if stat.S_ISDIR(seen.st_mode):
        raise OutputError(f"{name} is a folder; give the name of a file in it.")
    for given in inputs:
        with suppress(OSError):
            if os.path.samestat(seen, os.stat(given)):
                raise OutputError(
                    f"{name} is the input, which is never overwritten. Give another "
                    f"name to the output."
                )
    if not stat.S_ISREG(seen.st_mode):
        return True
    if not overwrite:
        raise _exists(name)
    return False


@contextmanager
def _copied_to(name: str) -> Iterator[IO[bytes]]:
    try:
        device = open(name, "wb", buffering=0)  # noqa: SIM115
    except OSError as error:
        raise _unwritable(name, error) from error
    with device, streaming(device, name) as spool:
        yield spool


class _NewFile(io.FileIO):
    """A raw file of which every failure is an `OutputError`."""

    def __init__(self, path: Path, name: str) -> None:
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
        # 0o666 less the user's mask, as for any new file
        super().__init__(path, "wb", opener=lambda p, _: os.open(p, flags, 0o666))
        self.path = path
        self._shown = name
        self._discarded = False

    def write(self, data: Any) -> int:
        if self._discarded:  # what is still in the buffer goes nowhere
            return len(data)
        try:
            return raw_write(self, data)
        except OSError as error:
            raise _unwritable(self._shown, error) from error

    def sync(self) -> None:
        """Wait until everything is on the disk."""
        try:
            os.fsync(self.fileno())
        except OSError as error:
            raise _unwritable(self._shown, error) from error

    def discard(self) -> None:
        """Write nothing more."""
        self._discarded = True


def _new_file(place: Path, name: str) -> _NewFile:
    hidden = f".halfmoon-{secrets.token_hex(6)}{place.suffix[:16]}"
    try:
        return _NewFile(place.with_name(hidden), name)
    except (OSError, ValueError) as error:
        raise _unwritable(name, error) from error


def _publish(made: Path, place: Path, name: str, overwrite: bool) -> None:
    try:
        if overwrite:
            os.replace(made, place)
            return
        try:
            os.link(made, place)  # unlike a move, fails if the name is taken
        except OSError as error:
            if error.errno not in NO_LINKS:
                raise
            # No links on this disk: take the name with an empty file, then move.
            os.close(os.open(place, os.O_CREAT | os.O_EXCL))
            os.replace(made, place)
    except FileExistsError as error:
        raise _exists(name) from error
    except OSError as error:
        raise _unwritable(name, error) from error


def _exists(name: str) -> OutputError:
    return OutputError(
        f"{name} exists already. Give another name, or --overwrite to replace it."
    )


def _unwritable(name: str, error: Exception) -> OutputError:
    number = getattr(error, "errno", None)
    why = getattr(error, "strerror", None) or error
    what = " Make room on the disk." if number in FULL else ""
    return OutputError(f"{name} cannot be written: {why}.{what}")


@contextmanager
def _stops_raise() -> Iterator[None]:
    """Let a request to stop end the block by an exception, so that files are removed.

    Python itself does so for an interrupt from the keyboard only. Handlers of the
    caller stay in place, and threads cannot have any.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    stops = [signal.SIGTERM, *([signal.SIGHUP] if hasattr(signal, "SIGHUP") else [])]
    changed = [stop for stop in stops if signal.getsignal(stop) is signal.SIG_DFL]
    try:
        for stop in changed:
            signal.signal(stop, _stop)
        yield
    finally:
        for stop in changed:
            signal.signal(stop, signal.SIG_DFL)


def _stop(number: int, _: object) -> NoReturn:
    raise SystemExit(128 + number)
