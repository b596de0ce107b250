"""Delimited text piece by piece: plain lines at a glance, other ones record by record.

Where a quote, a blank line, a line of another length or anything else stands that is
not plain (`plain_lines.py`), the piece goes through the parser of records, which also
says what is wrong and in which line. Both give the same rows.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import IO, Any

from halfmoon.table.files import records
from halfmoon.table.files.plain_lines import PlainLines, plain_lines
from halfmoon.table.files.records import Record, count_lines, read_records

__all__ = ["text_pieces"]

PIECE_CHARACTERS = 2**20

Reopen = Callable[[], AbstractContextManager[tuple[IO[str], Any]]]


def text_pieces(
    stream: IO[str],
    delimiter: str,
    name: str,
    width: int,
    before: str,
    reopen: Reopen,
) -> Iterator[PlainLines | Iterator[Record]]:
    """The rest of a text; records are to be taken before the next piece is.

    Parameters
    ----------
    stream : text stream, opened with ``newline=""``
    delimiter, name : str
        Of `read_records`.
    width : int
        Cells of a line.
    before : str
        What was read from the stream already.
    reopen : callable
        Opens the same text again, where reading it fails: all that comes before the
        failure is to be read, and looked at, first.
    """
    line, done = count_lines(before) + 1, len(before)
    while True:
        try:
            text = stream.read(PIECE_CHARACTERS)
            if text and not text.endswith("\n"):
                text += stream.readline(records.RECORD_LIMIT)
        except Exception:
            with reopen() as (again, _):
                _skip(again, done)
                yield read_records(again, delimiter, name, line)
            return
        if not text:
            return
        plain = None
        if delimiter.isascii() and len(text) < records.RECORD_LIMIT:
            plain = plain_lines(text, delimiter, width)
        if plain is not None:
            line, done = line + len(plain), done + len(text)
            yield plain
            continue
        rest = _Ahead(text, stream)
        yield _records(rest, read_records(rest, delimiter, name, line))
        line, done = line + rest.lines, done + rest.characters


class _Ahead:
    """A stream of which the next lines were read already.

    Attributes
    ----------
    characters, lines : int
        Read from it so far.
    """

    def __init__(self, text: str, stream: IO[str]) -> None:
        self._text = io.StringIO(text, newline="")
        self._stream = stream
        self._length = len(text)
        self.characters = self.lines = 0

    @property
    def has_more(self) -> bool:
        """Whether some of what was read already is still to be taken."""
        return self.characters < self._length

    def readline(self, limit: int) -> str:
        """The next line, or as much of it as a limit allows."""
        line = self._text.readline(limit)
        if len(line) < limit and not line.endswith(("\n", "\r")):
            line += self._stream.readline(limit - len(line))
        self.characters += len(line)
        self.lines += 1
        return line


def _records(rest: _Ahead, found: Iterator[Record]) -> Iterator[Record]:
    """Records until all that was read already is used up."""
    for record in found:
        yield record
        if not rest.has_more:
            return


def _skip(stream: IO[str], characters: int) -> None:
    while characters:
        characters -= len(stream.read(min(characters, PIECE_CHARACTERS)))
