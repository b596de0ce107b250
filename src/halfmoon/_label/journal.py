"""The file of answers: one line of JSON each, on disk before an answer counts.

A line is one of these; unknown values are omitted:

==========  ==================================================================
``head``    ``columns``: names of the columns that the keys of rows are made of
answer      ``id``, ``head``, ``row``, ``key``, ``column``, ``value``, ``who``,
            ``when``, ``seconds``, ``shown``, ``why``, ``predicted``, ``labels``
undo        ``id``, ``undo`` (the id of an answer), ``who``, ``when``
==========  ==================================================================

A ``value`` of null is a skipped row. Lines are only ever appended, so the files of
several people can be concatenated. A line that comes twice counts once, by its ``id``.
A last line that a crash has cut off is dropped.
"""

from __future__ import annotations

import json
import math
import os
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from types import NoneType
from typing import IO, Any, Self

from halfmoon._atomic_files import lock_file
from halfmoon._notes import Note
from halfmoon._number_format import count
from halfmoon.table._table_errors import OutputError, ReadError

__all__ = ["Journal", "JournalLines", "head_of", "is_journal", "read_journal"]

VERSION = 1
FIRST_BYTES = b'{"head":"'
MAX_HEAD_BYTES = 2**20  # that are read to recognize a journal
MAX_BEGINNINGS = 100  # of an object in a torn line; each may take as long as the line


@dataclass(frozen=True)
class JournalLines:
    """The content of a journal."""

    #: Names of the columns that keys are made of, by the name of the head.
    heads: dict[str, tuple[str, ...]] = field(default_factory=dict)
    lines: list[dict[str, Any]] = field(default_factory=list)  # answers and undos
    notes: tuple[Note, ...] = ()  # about lines that were dropped


def read_journal(path: str | os.PathLike[str]) -> JournalLines:
    """Read a journal, or several that were concatenated; empty without a file."""
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
    """Return the content of a line, and whether it is the whole line.

    After concatenation, a line may begin with the torn end of another file.
    """
    start = 0
    for _ in range(MAX_BEGINNINGS):
        found = _line_of(line[start:])
        if found is not None:
            return found, start == 0
        start = line.find(b'{"', start + 1)
        if start < 0:
            break
    return None, False


def _line_of(text: bytes) -> dict[str, Any] | None:
    try:
        found = json.loads(text)
        if b"\\u" in text:  # perhaps half of a surrogate pair, which no file can hold
            json.dumps(found, ensure_ascii=False).encode()
    except (ValueError, RecursionError):  # also UnicodeEncodeError
        return None
    return found if isinstance(found, dict) and _is_line(found) else None


def _is_line(found: Mapping[str, Any]) -> bool:
    if "columns" in found:
        return "head" in found and isinstance(found["columns"], list)
    texts = ("id", "undo") if "undo" in found else ("id", "head", "key", "column")
    if not all(isinstance(found.get(name), str) for name in texts):
        return False
    if "undo" in found:
        return True
    value, predicted = found.get("value", ()), found.get("predicted")
    numbers = [x for x in (value, predicted) if not isinstance(x, (str, NoneType))]
    numbers += [found.get("row"), found.get("seconds") or 0, found.get("labels") or 0]
    return (
        all(isinstance(x, (int, float)) and abs(x) < math.inf for x in numbers)
        and isinstance(found.get("row"), int)
        and isinstance(found.get("labels"), (int, NoneType))
    )


def _notes(path: Any, torn: bool, damaged: int) -> list[Note]:
    notes, name = [], Path(path).name
    if torn:
        text = f"The last line of {name} was cut off in the middle of an answer and "
        text += "dropped. All answers before it are kept."
        notes.append(Note(text, important=True))
    if damaged:
        lines = count(damaged, "line")
        dropped = ("are damaged and were", "is damaged and was")[damaged == 1]
        notes.append(Note(f"{lines} of {name} {dropped} dropped.", important=True))
    return notes


def is_journal(path: str | os.PathLike[str]) -> bool:
    """Return whether a file has a line of a journal near its beginning."""
    try:
        with open(path, "rb") as file:
            data = file.read(MAX_HEAD_BYTES)
    except OSError:
        return False
    return any(_line_of(line) is not None for line in data.split(b"\n"))


def head_of(columns: Sequence[str]) -> str:
    """Return the name of a list of columns.

    Examples
    --------
    >>> head_of(["a", "b"]) == head_of(["a", "b"]) != head_of(["ab"])
    True
    """
    return blake2b(json.dumps(list(columns)).encode(), digest_size=4).hexdigest()


class Journal:
    """A journal to append to, by one process at a time.

    The file exists and is locked while the journal is open. A new file without an
    answer is removed in the end.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self.read = read_journal(self.path)
        self._refuse_other_file()
        self._heads = set(self.read.heads)
        self._ids = {line["id"] for line in self.read.lines}
        self._mutex = threading.Lock()
        self._file: IO[bytes] | None = None
        self._is_new = False

    def __enter__(self) -> Self:
        self._open()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file, after a write that is under way."""
        with self._mutex:
            if self._file is None:
                return
            if self._is_new and not os.fstat(self._file.fileno()).st_size:
                with suppress(OSError):
                    self.path.unlink()
            self._file.close()
            self._file = None

    def append(self, line: Mapping[str, Any], columns: Sequence[str] = ()) -> bool:
        """Add a line; when this returns, it is on disk.

        An answer comes with the `columns` that its key is made of. Returns False if
        the journal already has a line with this ``id``.
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
            # Half of a surrogate pair cannot be encoded, nor typed.
            self._write(data.encode("utf-8", "replace"))
            self._ids.add(line["id"])
            if head is not None:
                self._heads.add(head)
            return True

    def _write(self, data: bytes) -> None:
        file = self._file or self._open()
        self._refuse_moved(file)
        end = os.fstat(file.fileno()).st_size
        try:
            while data:
                data = data[os.write(file.fileno(), data) :]
            os.fsync(file.fileno())
        except OSError as error:
            with suppress(OSError):
                os.truncate(file.fileno(), end)  # leave no half line behind
            raise OutputError(
                f"{self.path} cannot be written: {error.strerror}. The answer was not "
                f"saved."
            ) from error

    def _refuse_other_file(self) -> None:
        """Refuse a file of another kind, such as the table itself."""
        if self.read.heads or self.read.lines or not self.path.exists():
            return
        with self.path.open("rb") as file:
            start = file.read(len(FIRST_BYTES)).lstrip()
        if not FIRST_BYTES.startswith(start):  # the first line may have been cut off
            raise OutputError(
                f"{self.path} is not a file of answers, so nothing is written to it. "
                f"Write the answers to another file (--output)."
            )

    def _refuse_moved(self, file: IO[bytes]) -> None:
        """Refuse to write to a file that no longer has its name."""
        with suppress(OSError):
            if os.path.samestat(os.fstat(file.fileno()), os.stat(self.path)):
                return
        raise OutputError(
            f"{self.path} was removed, moved or replaced, so the answer was not saved. "
            f"Move the file back, or stop halfmoon label and start it again."
        )

    def _open(self) -> IO[bytes]:
        """Open and lock the file, and remove a torn last line."""
        self._is_new = not self.path.exists()
        try:
            file = open(self.path, "ab+", buffering=0)  # noqa: SIM115
        except OSError as error:
            raise OutputError(
                f"{self.path} cannot be written: {error.strerror}."
            ) from error
        if not lock_file(file.fileno()):
            file.close()
            raise OutputError(
                f"{self.path} is open in another halfmoon label. Use the page of that "
                f"one, or write these answers to another file (--output)."
            )
        if self._is_new:
            _sync_folder(self.path.parent)
        file.seek(0)
        data = file.read()
        tail = data[data.rfind(b"\n") + 1 :]
        if tail:
            if _parsed(tail)[1]:  # only its line end is missing
                os.write(file.fileno(), b"\n")
            else:
                os.truncate(file.fileno(), len(data) - len(tail))
            os.fsync(file.fileno())
        self._file = file
        return file


def _sync_folder(folder: Path) -> None:
    """Make sure that the name of a new file is on disk too."""
    with suppress(OSError):  # Windows does not open folders
        handle = os.open(folder, os.O_RDONLY)
        with suppress(OSError):
            os.fsync(handle)
        os.close(handle)
