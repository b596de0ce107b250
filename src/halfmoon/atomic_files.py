"""Files that appear whole or not at all.

What is written goes to a hidden file in the same folder. When all of it is on the
disk, the file gets its name in one step of the file system; until then a reader sees
the old file, or none. An error, an interrupt or a request to stop removes the hidden
file. Only a process that is killed without being asked can leave it behind, for
`leftovers` to find.
"""

from __future__ import annotations

import errno
import io
import os
import re
import secrets
import signal
import stat
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path
from shutil import copymode, rmtree
from typing import IO, Any

__all__ = ["leftovers", "remove_unfinished", "unfinished", "whole_file"]

NO_LINKS = (errno.EPERM, errno.ENOTSUP, errno.ENOSYS, errno.EMLINK, errno.EXDEV)
BUFFER_BYTES = 2**20
HIDDEN = re.compile(r"\.halfmoon-[0-9a-f]{12}(\.[^/]{0,15})?")
A_DAY = 24 * 60 * 60
MOST_ENTRIES = 100_000  # of a folder that is searched for leftovers
raw_write = io.FileIO.write

_unfinished: set[tuple[int, Path]] = set()  # process, file


@contextmanager
def whole_file(
    place: Path,
    overwrite: bool,
    failed: Callable[[Exception], Exception],
    keep_mode: bool = False,
) -> Iterator[IO[bytes]]:
    """A file that takes its name when the block ends without an exception.

    Parameters
    ----------
    place : Path
        Where it goes; links are not followed.
    overwrite : bool
        Whether a file of that name may be replaced; without it, one that comes into
        being meanwhile is kept too.
    failed : callable
        What to raise for an error of the system; `FileExistsError` if the name is
        taken.
    keep_mode : bool
        Whether the file takes the permissions of the one that it replaces.
    """
    hidden = f".halfmoon-{secrets.token_hex(6)}{place.suffix[:16]}"
    made = place.with_name(hidden)
    with _stops_remove(), unfinished(made):
        try:
            raw = _NewFile(made, failed)
        except (OSError, ValueError) as error:
            raise failed(error) from error
        file = io.BufferedWriter(raw, BUFFER_BYTES)
        try:
            yield file
            file.flush()
            raw.sync()
            file.close()
            _publish(made, place, overwrite, failed, keep_mode)
        finally:  # KeyboardInterrupt and SystemExit too
            raw.discard()
            with suppress(OSError, ValueError):
                file.close()
            with suppress(OSError):
                os.unlink(made)


def remove_unfinished() -> None:
    """Remove what this process has begun to write and will not end."""
    for process, path in list(_unfinished):
        if process != os.getpid():  # a child knows the files of its parent
            continue
        if path.is_dir() and not path.is_symlink():
            rmtree(path, ignore_errors=True)
        with suppress(OSError):
            os.unlink(path)


def leftovers(folder: Path, now: float | None = None) -> tuple[list[Path], list[Path]]:
    """Hidden files of runs that were killed: those just removed, and those still there.

    Files that are older than a day are removed. A file that a run is writing at this
    moment is locked, and not among them.
    """
    removed: list[Path] = []
    there: list[Path] = []
    now = time.time() if now is None else now
    try:
        with os.scandir(folder) as entries:
            found = [e.path for e in islice(entries, MOST_ENTRIES) if _is_ours(e)]
    except OSError:
        return removed, there
    for path in map(Path, sorted(found)):
        with suppress(OSError):
            if _is_written_to(path):
                continue
            if now - path.stat(follow_symlinks=False).st_mtime > A_DAY:
                path.unlink()
                removed.append(path)
            else:
                there.append(path)
    return removed, there


def _is_ours(entry: os.DirEntry[str]) -> bool:
    if HIDDEN.fullmatch(entry.name) is None:
        return False
    try:
        seen = entry.stat(follow_symlinks=False)
    except OSError:
        return False
    mine = not hasattr(os, "getuid") or seen.st_uid == os.getuid()
    return stat.S_ISREG(seen.st_mode) and mine


def _lock(handle: int) -> bool:
    """Lock an open file; whether nobody else has."""
    try:
        import fcntl
    except ImportError:  # a system without such locks
        return True
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _is_written_to(path: Path) -> bool:
    handle = os.open(path, os.O_RDONLY)
    try:
        return not _lock(handle)
    finally:
        os.close(handle)


class _NewFile(io.FileIO):
    """A raw file whose failures are told as the caller wishes."""

    def __init__(self, path: Path, failed: Callable[[Exception], Exception]) -> None:
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
        # 0o666 less the user's mask, as for any new file
        super().__init__(path, "wb", opener=lambda p, _: os.open(p, flags, 0o666))
        _lock(self.fileno())
        self._failed = failed
        self._discarded = False

    def write(self, data: Any) -> int:
        if self._discarded:  # what is still in the buffer goes nowhere
            return len(data)
        try:
            return raw_write(self, data)
        except OSError as error:
            raise self._failed(error) from error

    def sync(self) -> None:
        """Wait until everything is on the disk."""
        try:
            os.fsync(self.fileno())
        except OSError as error:
            raise self._failed(error) from error

    def discard(self) -> None:
        """Write nothing more."""
        self._discarded = True


def _publish(
    made: Path,
    place: Path,
    overwrite: bool,
    failed: Callable[[Exception], Exception],
    keep_mode: bool,
) -> None:
    try:
        if overwrite:
            if keep_mode and place.exists():
                copymode(place, made)
            os.replace(made, place)
            return
        try:
            os.link(made, place)  # unlike a move, fails if the name is taken
        except OSError as error:
            if error.errno not in NO_LINKS:
                raise
            # No links on this disk: take the name with an empty file, then move.
            os.close(os.open(place, os.O_CREAT | os.O_EXCL))
            with unfinished(place):
                os.replace(made, place)
                _unfinished.discard((os.getpid(), place))
    except OSError as error:
        raise failed(error) from error


@contextmanager
def unfinished(path: Path) -> Iterator[None]:
    """Let `remove_unfinished` know of a file or folder while the block lasts."""
    each = os.getpid(), path
    _unfinished.add(each)
    try:
        yield
    finally:
        _unfinished.discard(each)


@contextmanager
def _stops_remove() -> Iterator[None]:
    """Let a request to stop remove what is unfinished before it ends the process.

    Python itself raises an exception for an interrupt from the keyboard only, and an
    exception may arise where it does harm: in the middle of another library. Handlers
    of the caller stay in place, and threads cannot have any.
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


def _stop(number: int, _: object) -> None:
    remove_unfinished()
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
