"""Encodings of text: the byte order mark, the user's word, else UTF-8."""

from __future__ import annotations

import codecs
from typing import IO

from halfmoon.table.errors import CommandError, ReadError

__all__ = ["encoding_of", "undecodable"]

CHUNK = 2**18
# UTF-32's mark begins with that of UTF-16, so it comes first.
MARKS = {
    "utf-8": codecs.BOM_UTF8,
    "utf-32-le": codecs.BOM_UTF32_LE,
    "utf-32-be": codecs.BOM_UTF32_BE,
    "utf-16-le": codecs.BOM_UTF16_LE,
    "utf-16-be": codecs.BOM_UTF16_BE,
}
# Names that leave the order of bytes, or the mark, to the file.
FAMILIES = {
    "utf-8-sig": ("utf-8",),
    "utf-16": ("utf-16-le", "utf-16-be"),
    "utf-32": ("utf-32-le", "utf-32-be"),
}


def encoding_of(head: bytes, asked: str | None) -> tuple[str, bytes]:
    r"""Encoding without a mark, and the mark that the text begins with.

    Parameters
    ----------
    head : bytes
        The first bytes of the text.
    asked : str or None
        The user's word; None to go by the mark, and by UTF-8 where there is none.

    Examples
    --------
    >>> encoding_of("a,b".encode("utf-16-be"), None)
    ('utf-8', b'')
    >>> encoding_of(b"\xef\xbb\xbfa,b", None)
    ('utf-8', b'\xef\xbb\xbf')
    """
    if asked is None:
        among = tuple(MARKS)
        default = "utf-8"
    else:
        name = _known(asked)
        among = FAMILIES.get(name, (name,))
        default = among[0]
    for encoding in among:
        mark = MARKS.get(encoding)
        if mark is not None and head.startswith(mark):
            return encoding, mark
    return default, b""


def _known(asked: str) -> str:
    try:
        name = codecs.lookup(asked).name
        "".encode(name)  # refuses base64 and its like, which are no encodings of text
        b"a".decode(name, "replace")
    except (LookupError, UnicodeError, ValueError) as error:
        raise CommandError(
            f"The encoding {asked!r} is not known. Common ones are utf-8, utf-16, "
            f"latin-1 and cp1252."
        ) from error
    return name


def undecodable(stream: IO[bytes], encoding: str, name: str) -> ReadError:
    """The error for text that is not in its encoding, with the line of the first byte.

    Text is decoded in chunks ahead of what is parsed, so that the line is not known
    where the error appears; it is counted here from the beginning.
    """
    decoder = codecs.getincrementaldecoder(encoding)()
    line, last, byte = 1, "", None
    while byte is None:
        chunk = stream.read(CHUNK)
        try:
            text = decoder.decode(chunk, final=not chunk)
        except UnicodeDecodeError as error:
            byte = error.object[error.start]
            text = error.object[: error.start].decode(encoding, "ignore")
        except UnicodeError:
            break
        both = last + text  # a line end may be cut in two
        line += both.count("\n") + both.count("\r") - both.count("\r\n")
        line -= last == "\r"
        last = "\r" if both.endswith("\r") else ""
        if not chunk:
            break
    what = "its text" if byte is None else f"byte 0x{byte:02x}"
    other = "latin-1" if encoding == "utf-8" else "utf-8"
    return ReadError(
        f"{name}, line {line}: {what} is not {encoding.upper()}. If the file is in "
        f"another encoding, name it: encoding={other!r} (--encoding {other})."
    )
