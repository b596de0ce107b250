"""The file of answers: JSON, one line each, on the disk before an answer counts.

A line is one of these; what is not known is left out:

==========  ==================================================================
``head``    ``columns`` are the names that the keys of rows are made of
answer      ``id``, ``head``, ``row``, ``key``, ``column``, ``value``, ``who``,
            ``when``, ``seconds``, ``shown``, ``why``, ``predicted``, ``labels``
undo        ``id``, ``undo`` (the id of an answer), ``who``, ``when``
==========  ==================================================================

A ``value`` of null is a skipped row. Lines are only ever added, so that files of
several people may be written one behind the other. A line that comes twice counts
once, by its ``id``. The end of a line that a crash has cut off is dropped.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import IO, Any, Self

from halfmoon.report.findings import Note
from halfmoon.report.wording import count
from halfmoon.table.errors import OutputError, ReadError

__all__ = ["Journal", "JournalLines", "head_of", "is_journal", "read_journal"]

VERSION = 1
HEAD = 4096  # bytes in which the first line of a journal can be told


@dataclass(frozen=True)
class JournalLines:
    """What a journal holds.

    Attributes
    ----------
    heads : dict of str to tuple of str
        Names of the columns that keys are made of, by the name of the head.
    lines : list of dict
        Answers and undone answers, in order.
    notes : tuple of Note
        What was dropped.
    """

    heads: dict[str, tuple[str, ...]] = field(default_factory=dict)
    lines: list[dict[str, Any]] = field(default_factory=list)
    notes: tuple[Note, ...] = ()


def read_journal(path: str | os.PathLike[str]) -> JournalLines:
    """Read a journal, or several one behind the other; nothing if there is no file.

    Parameters
    ----------
    path : path
    """
    try:
        data = Path(path).read_bytes()
    except FileNotFoundError:
        return JournalLines()
    except OSError as error:
        raise ReadError(f"{path} cannot be read: {error.strerror}.") from error
    *whole, rest = data.split(b"\n")
    heads: dict[str, tuple[str, ...]] = {}
    lines: list[dict[str, Any]] = []
    seen: set[str] = set()
    damaged, torn = 0, False
    for number, line in enumerate([*whole, rest], start=1):
        if not line.strip():
            continue
        found, is_whole = _parsed(line)
        if not is_whole and number > len(whole):
            torn = True
        elif not is_whole:
            damaged += 1
        if found is None:
            continue
        if "columns" in found:
            heads[str(found["head"])] = tuple(map(str, found["columns"]))
        elif found["id"] not in seen:
            seen.add(found["id"])
            lines.append(found)
    return JournalLines(heads, lines, tuple(_notes(path, torn, damaged)))


def _parsed(line: bytes) -> tuple[dict[str, Any] | None, bool]:
    """What stands in a line, and whether that is all of it.

    Behind the torn end of one file the first line of the next one may stand.
    """
    start = 0
    while start >= 0:
        try:
            found = json.loads(line[start:])
        except (ValueError, RecursionError):
            found = None
        if isinstance(found, dict) and _is_line(found):
            return found, start == 0
        start = line.find(b'{"', start + 1)
    return None, False


def _is_line(found: Mapping[str, Any]) -> bool:
    if isinstance(found.get("columns"), list):
        return "head" in found
    known = found.get("value", 0)
    return isinstance(found.get("id"), str) and (
        isinstance(found.get("undo"), str)
        or (
            all(isinstance(found.get(name), str) for name in ("head", "key", "column"))
            and isinstance(found.get("row"), int)
            and (known is None or isinstance(known, (str, int, float)))
            and "value" in found
        )
    )


def _notes(path: Any, torn: bool, damaged: int) -> list[Note]:
    notes = []
    if torn:
        notes.append(
            Note(
                f"The last line of {Path(path).name} was cut off in the middle of an "
                f"answer and dropped. All answers before it are there.",
                important=True,
            )
        )
    if damaged:
        notes.append(
            Note(
                f"{count(damaged, 'line')} of {Path(path).name} "
                f"{'is' if damaged == 1 else 'are'} damaged and "
                f"{'was' if damaged == 1 else 'were'} dropped.",
                important=True,
            )
        )
    return notes


def is_journal(path: str | os.PathLike[str]) -> bool:
    """Whether a file looks like a journal, by its first line."""
    try:
        with open(path, "rb") as file:
            first = file.readline(HEAD)
    except OSError:
        return False
    return first.lstrip().startswith((b'{"head"', b'{"id"', b'{"halfmoon"'))


def head_of(columns: Sequence[str]) -> str:
    """The name of a list of columns.

    Examples
    --------
    >>> head_of(["a", "b"]) == head_of(["a", "b"]) != head_of(["ab"])
    True
    """
    return blake2b(json.dumps(list(columns)).encode(), digest_size=4).hexdigest()


class Journal:
    """A journal that is written to, by one process at a time.

    Parameters
    ----------
    path : path
        Made when the first answer comes.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self.read = read_journal(self.path)
        self._heads = set(self.read.heads)
        self._ids = {line["id"] for line in self.read.lines}
        self._mutex = threading.Lock()
        self._file: IO[bytes] | None = None

    def __enter__(self) -> Self:
        if self.path.exists():
            self._open()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the file, once what is being written is on the disk."""
        with self._mutex:
            if self._file is not None:
                self._file.close()
                self._file = None

    def append(self, line: Mapping[str, Any], columns: Sequence[str] = ()) -> bool:
        """Add a line; when this returns, it is on the disk.

        Parameters
        ----------
        line : mapping
            With an ``id``.
        columns : sequence of str
            Of an answer: the names that its key is made of.

        Returns
        -------
        bool
            False if a line with this id is there already, and nothing was added.
        """
        with self._mutex:
            if line["id"] in self._ids:
                return False
            lines = [line]
            head = line.get("head")
            if head is not None and head not in self._heads:
                lines.insert(0, {"head": head, "version": VERSION, "columns": columns})
            data = "".join(
                json.dumps(each, ensure_ascii=False, separators=(",", ":")) + "\n"
                for each in lines
            )
            # Half of a surrogate pair cannot be written; nobody can type one either.
            self._write(data.encode("utf-8", "replace"))
            self._ids.add(line["id"])
            if head is not None:
                self._heads.add(head)
            return True

    def _write(self, data: bytes) -> None:
        file = self._file or self._open()
        end = os.fstat(file.fileno()).st_size
        try:
            while data:
                data = data[os.write(file.fileno(), data) :]
            os.fsync(file.fileno())
        except OSError as error:
            os.truncate(file.fileno(), end)  # no half of a line stays
            raise OutputError(
                f"{self.path} cannot be written: {error.strerror}. The answer was not "
                f"kept."
            ) from error

    def _open(self) -> IO[bytes]:
        """The file at its end, locked, without the torn end of its last line."""
        new = not self.path.exists()
        try:
            file = open(self.path, "ab+", buffering=0)  # noqa: SIM115
        except OSError as error:
            raise OutputError(
                f"{self.path} cannot be written: {error.strerror}."
            ) from error
        if not _locked(file):
            file.close()
            raise OutputError(
                f"{self.path} is open in another halfmoon label. Open the page of that "
                f"one, or keep these answers in another file (--output)."
            )
        if new:
            _sync_folder(self.path.parent)
        size = os.fstat(file.fileno()).st_size
        file.seek(0)
        kept = file.read().rfind(b"\n") + 1
        if kept < size:
            file.seek(kept)
            tail = file.read()
            if _parsed(tail)[1]:  # only its line end is missing
                os.write(file.fileno(), b"\n")
            else:
                os.truncate(file.fileno(), kept)
            os.fsync(file.fileno())
        self._file = file
        return file


def _locked(file: IO[bytes]) -> bool:
    """Lock a file for this process; whether no other has."""
    try:
        import fcntl
    except ImportError:  # a system without such locks
        return True
    try:
        fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _sync_folder(folder: Path) -> None:
    """Have the name of a new file on the disk too."""
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:  # Windows does not open folders
        return
    try:
        os.fsync(handle)
    except OSError:
        pass
    finally:
        os.close(handle)
