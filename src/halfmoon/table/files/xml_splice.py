"""Change a few places of an XML file and copy all others byte by byte.

The parser tells where each element begins and ends. What lies between two changes is
copied as it stands, so that nothing is lost that is not understood here. Only the
part that is being looked at is in memory.
"""

from __future__ import annotations

import html
import re
from abc import ABC, abstractmethod
from typing import IO
from xml.parsers import expat

from halfmoon.table.errors import OutputError

__all__ = ["Splicer", "without_attribute", "xml_text"]

CHUNK = 2**18
TAG = re.compile(rb"""<[^>"']*+(?:(?:"[^"]*+"|'[^']*+')[^>"']*+)*+>""")
ILLEGAL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")


class Splicer(ABC):
    """Copies an XML file; subclasses put and skip bytes where elements begin and end.

    Parameters
    ----------
    out : binary stream
    name : str
        What to call the output in an error.
    """

    def __init__(self, out: IO[bytes], name: str) -> None:
        self._out = out
        self.name = name
        self.held = False  # nothing is copied until the subclass says so
        self._buffer = bytearray()
        self._base = 0  # where the buffer begins in the file
        self._seen = 0  # the last place an element began or ended
        self._parser = expat.ParserCreate()
        self._parser.buffer_text = True
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.XmlDeclHandler = self._declared
        self._parser.StartDoctypeDeclHandler = self._doctype

    @abstractmethod
    def start(self, name: str, attributes: dict[str, str]) -> None:
        """An element begins at `here`."""

    @abstractmethod
    def end(self, name: str) -> None:
        """An element ends; `here` is at its closing tag, or behind it if empty."""

    def copy(self, stream: IO[bytes]) -> None:
        """Copy a whole file."""
        try:
            while chunk := stream.read(CHUNK):
                self._buffer += chunk
                self._parser.Parse(chunk, False)
                if not self.held:
                    self.copy_to(self._seen)
            self._parser.Parse(b"", True)
        except expat.ExpatError as error:
            raise OutputError(
                f"{self.name} cannot be written: the workbook is damaged ({error}). "
                f"Open it in a spreadsheet program and save it again."
            ) from error
        self.copy_to(self._base + len(self._buffer))

    @property
    def here(self) -> int:
        """Where the parser is."""
        return self._parser.CurrentByteIndex

    def copy_to(self, place: int) -> None:
        """Write what stands before a place and is not yet written."""
        self._out.write(self._buffer[: max(place - self._base, 0)])
        self.skip_to(place)

    def skip_to(self, place: int) -> None:
        """Leave out what stands before a place."""
        if place > self._base:
            del self._buffer[: place - self._base]
            self._base = place

    def put(self, text: str | bytes) -> None:
        """Write something new."""
        self._out.write(text.encode() if isinstance(text, str) else text)

    def tag(self, place: int) -> bytes:
        """The tag that begins at a place, as it stands."""
        found = TAG.match(self._buffer, place - self._base)
        assert found is not None  # the parser has read it
        return bytes(found.group())

    def part(self, start: int, stop: int) -> bytes:
        """What stands between two places that are not yet written."""
        return bytes(self._buffer[start - self._base : stop - self._base])

    def end_of(self, name: str) -> int:
        """Where the element ends that is told of by `end`."""
        closing = re.compile(rb"</%s\s*>" % re.escape(name.encode()))
        found = closing.match(self._buffer, self.here - self._base)
        # Where there is no closing tag, the element is empty and here is behind it.
        return self.here if found is None else self._base + found.end()

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self._seen = self.here
        self.start(name, attributes)

    def _end(self, name: str) -> None:
        self._seen = self.here
        self.end(name)

    def _declared(self, _: str, encoding: str | None, standalone: int) -> None:
        if encoding is not None and encoding.upper() not in ("UTF-8", "US-ASCII"):
            raise self.strange(f"its text is in {encoding}")

    def _doctype(self, *_: object) -> None:
        raise self.strange("it declares a document type")

    def strange(self, why: str) -> OutputError:
        """The error for a workbook that cannot be copied."""
        return OutputError(
            f"{self.name} cannot be written as a copy of the workbook: {why}. Give the "
            f"output a name that ends in .csv."
        )


def without_attribute(tag: bytes, name: str) -> bytes:
    """A tag without one of its attributes."""
    pattern = rb"""\s+%s\s*=\s*("[^"]*"|'[^']*')""" % re.escape(name.encode())
    return re.sub(pattern, b"", tag)


def xml_text(text: str) -> str:
    r"""A text between tags; what XML cannot hold is replaced by a question mark.

    Examples
    --------
    >>> xml_text("a < b\x00")
    'a &lt; b\ufffd'
    """
    return html.escape(ILLEGAL.sub("\ufffd", text), quote=True)
