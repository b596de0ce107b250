"""Files that appear complete or not at all.

Data go to a hidden file in the same folder. When all of it is on disk, the file gets
its name in one atomic step; until then, readers see the old file or none. An error, an
interrupt or a termination signal removes the hidden file. Only a killed process can
leave it behind, and `leftovers` finds it.
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

__all__ = [
    "leftovers",
    "lock_file",
    "remove_unfinished",
    "unfinished",
    "whole_file",
]

NO_HARD_LINKS = (errno.EPERM, errno.ENOTSUP, errno.ENOSYS, errno.EMLINK, errno.EXDEV)
BUFFER_BYTES = 2**20
HIDDEN_NAME = re.compile(r"\.halfmoon-[0-9a-f]{12}(\.[^/]{0,15})?")
DAY_SECONDS = 24 * 60 * 60
LONGEST_WAIT = 1.0  # seconds, for a thread that makes a file, perhaps on a dead disk
MAX_ENTRIES = 100_000  # of a folder that is searched for leftovers
raw_write = io.FileIO.write

_unfinished: set[tuple[int, Path]] = set()  # process, file
_making = threading.RLock()  # held while a hidden file is made


@contextmanager
def whole_file(
    place: Path,
    overwrite: bool,
    failed: Callable[[Exception], Exception],
    keep_mode: bool = False,
) -> Iterator[IO[bytes]]:
    """Open a file that gets its name when the block ends without an exception.

    Links are not followed. Without `overwrite`, a file that another process creates in
    the meantime is kept as well. `failed` returns the exception to raise for a system
    error, which is `FileExistsError` if the name is taken. With `keep_mode` the file
    gets the permissions of the file that it replaces.
    """
    hidden = f".halfmoon-{secrets.token_hex(6)}{place.suffix[:16]}"
    made = place.with_name(hidden)
    with _cleanup_on_signals(), unfinished(made):
        try:
            with _making:
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
    """Remove the unfinished files of this process, which must end now.

    Other threads make no more of them: it could be after they were looked for.
    """
    _making.acquire(timeout=LONGEST_WAIT)
    for process, path in list(_unfinished):
        if process != os.getpid():  # a forked child inherits the list of its parent
            continue
        if path.is_dir() and not path.is_symlink():
            rmtree(path, ignore_errors=True)
        with suppress(OSError):
            os.unlink(path)


def leftovers(folder: Path, now: float | None = None) -> tuple[list[Path], list[Path]]:
    """Return the hidden files of killed runs: those just removed, and those left.

    Files older than a day are removed. Files that a run is writing now are locked, and
    are skipped.
    """
    removed: list[Path] = []
    left: list[Path] = []
    now = time.time() if now is None else now
    try:
        with os.scandir(folder) as entries:
            found = [e.path for e in islice(entries, MAX_ENTRIES) if _is_ours(e)]
    except OSError:
        return removed, left
    for path in map(Path, sorted(found)):
        with suppress(OSError):
            if _is_written_to(path):
                continue
            if now - path.stat(follow_symlinks=False).st_mtime > DAY_SECONDS:
                path.unlink()
                removed.append(path)
            else:
                left.append(path)
    return removed, left


def _is_ours(entry: os.DirEntry[str]) -> bool:
    if HIDDEN_NAME.fullmatch(entry.name) is None:
        return False
    try:
        seen = entry.stat(follow_symlinks=False)
    except OSError:
        return False
    mine = not hasattr(os, "getuid") or seen.st_uid == os.getuid()
    return stat.S_ISREG(seen.st_mode) and mine


def lock_file(handle: int) -> bool:
    """Lock an open file or folder; return whether no other process has locked it.

    The system drops the lock when the process ends, however it ends.
    """
    try:
        import fcntl
    except ImportError:  # Windows has no such locks
        return True
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # no locks on this file system
        return True
    return True


def _is_written_to(path: Path) -> bool:
    handle = os.open(path, os.O_RDONLY)
    try:
        return not lock_file(handle)
    finally:
        os.close(handle)


class _NewFile(io.FileIO):
    """A raw file that raises the exceptions of the caller."""

    def __init__(self, path: Path, failed: Callable[[Exception], Exception]) -> None:
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
        # 0o666 minus the umask, as for any new file
        super().__init__(path, "wb", opener=lambda p, _: os.open(p, flags, 0o666))
        lock_file(self.fileno())
        self._failed = failed
        self._discarded = False

    def write(self, data: Any) -> int:
        if self._discarded:  # drop what is still in the buffer
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
            if error.errno not in NO_HARD_LINKS:
                raise
            # No hard links on this disk: reserve the name by an empty file, then move.
            os.close(os.open(place, os.O_CREAT | os.O_EXCL))
            with unfinished(place):
                os.replace(made, place)
                _unfinished.discard((os.getpid(), place))
    except OSError as error:
        raise failed(error) from error


@contextmanager
def unfinished(path: Path) -> Iterator[None]:
    """Register a file or folder for `remove_unfinished` while the block runs."""
    each = os.getpid(), path
    _unfinished.add(each)
    try:
        yield
    finally:
        _unfinished.discard(each)


@contextmanager
def _cleanup_on_signals() -> Iterator[None]:
    """Remove unfinished files when a termination signal ends the process.

    Python raises an exception for Ctrl-C only, and an exception from a signal could
    arise in the middle of another library. The caller's handlers stay in place; threads
    cannot set handlers.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    signals = [signal.SIGTERM, *([signal.SIGHUP] if hasattr(signal, "SIGHUP") else [])]
    changed = [each for each in signals if signal.getsignal(each) is signal.SIG_DFL]
    try:
        for each in changed:
            signal.signal(each, _remove_and_stop)
        yield
    finally:
        for each in changed:
            signal.signal(each, signal.SIG_DFL)


def _remove_and_stop(number: int, _: object) -> None:
    remove_unfinished()
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
