"""The encoding of a text file: as the user says, else by its mark, else UTF-8."""

from __future__ import annotations

import codecs
from typing import IO

from halfmoon.table._table_errors import CommandError, ReadError

__all__ = ["encoding_of", "undecodable"]

CHUNK_BYTES = 2**18
# The mark of UTF-32 begins with that of UTF-16, so it comes first.
MARKS = {
    "utf-8": codecs.BOM_UTF8,
    "utf-32-le": codecs.BOM_UTF32_LE,
    "utf-32-be": codecs.BOM_UTF32_BE,
    "utf-16-le": codecs.BOM_UTF16_LE,
    "utf-16-be": codecs.BOM_UTF16_BE,
}
# Encodings whose byte order, or mark, is given by the file.
FAMILIES = {
    "utf-8-sig": ("utf-8",),
    "utf-16": ("utf-16-le", "utf-16-be"),
    "utf-32": ("utf-32-le", "utf-32-be"),
}


def encoding_of(head: bytes, asked: str | None) -> tuple[str, bytes]:
    r"""Return the encoding, and the byte order mark at the start of the text.

    Parameters
    ----------
    head : bytes
        The first bytes of the text.
    asked : str or None
        The user's choice; None to use the mark, or UTF-8 if there is none.

    Examples
    --------
    >>> encoding_of("a,b".encode("utf-16-be"), None)
    ('utf-8', b'')
    >>> encoding_of(b"\xef\xbb\xbfa,b", None)
    ('utf-8', b'\xef\xbb\xbf')
    """
    if asked is None:
        candidates = tuple(MARKS)
        default = "utf-8"
    else:
        name = _checked(asked)
        candidates = FAMILIES.get(name, (name,))
        default = candidates[0]
    for encoding in candidates:
        mark = MARKS.get(encoding)
        if mark is not None and head.startswith(mark):
            return encoding, mark
    return default, b""


def _checked(asked: str) -> str:
    try:
        name = codecs.lookup(asked).name
        "".encode(name)  # refuses base64 and the like, which do not encode text
        b"a".decode(name, "replace")
    except (LookupError, UnicodeError, ValueError) as error:
        raise CommandError(
            f"The encoding {asked!r} is not known. Common ones are utf-8, utf-16, "
            f"latin-1 and cp1252."
        ) from error
    return name


def undecodable(stream: IO[bytes], encoding: str, name: str) -> ReadError:
    """Return the error for text that is not in its encoding, with the line number.

    Text is decoded ahead of the parser, so the line is not known when the error
    appears. This reads the stream from the start to count lines.
    """
    decoder = codecs.getincrementaldecoder(encoding)()
    line, last, byte = 1, "", None
    while byte is None:
        chunk = stream.read(CHUNK_BYTES)
        try:
            text = decoder.decode(chunk, final=not chunk)
        except UnicodeDecodeError as error:
            byte = error.object[error.start]
            text = error.object[: error.start].decode(encoding, "ignore")
        except UnicodeError:
            break
        both = last + text  # a chunk may end between \r and \n
        line += both.count("\n") + both.count("\r") - both.count("\r\n")
        line -= last == "\r"
        last = "\r" if both.endswith("\r") else ""
        if not chunk:
            break
    what = "its text" if byte is None else f"byte 0x{byte:02x}"
    # Of Windows; it also reads all letters of latin-1, which has no euro sign.
    other = "cp1252" if encoding == "utf-8" else "utf-8"
    return ReadError(
        f"{name}, line {line}: {what} is not {encoding.upper()}. If the file is in "
        f"another encoding, name it: encoding={other!r} (--encoding {other})."
    )
