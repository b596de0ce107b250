r"""Make text of a table safe to show: every character visible, none active.

==============================  ===================================================
in the table                    on the page
==============================  ===================================================
a line end, a tab               ↵ and ⇥
other control characters, and   their code point, as in ⟨U+202E⟩
marks of text direction
characters without width        their code point, unless they join letters or emoji
half of a surrogate pair        �
many accents on a letter        the first three
more than 120 characters        the first 120, and how many there are
a number of many decimals       rounded to six digits (`rounded`)
==============================  ===================================================

The templates escape HTML.
"""

from __future__ import annotations

import re
from decimal import Decimal, localcontext

__all__ = ["rounded", "safe_text"]

MAX_LENGTH = 120  # characters of a cell
DIGITS = 6  # of a number with decimals
# A letter with a thousand accents would be a page high.
MAX_MARKS = 3

_ACTIVE = re.compile(
    "[\x00-\x1f\x7f-\x9f\xad\u061c\u115f\u1160\u180e\u200b\u2028-\u202e\u2060-\u206f"
    "\u3164\ufe0e\ufeff\uffa0\ufff0-\uffff\ud800-\udfff\U000e0000-\U000e0fff]"
)
_MARK = "[\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff]"
_MARKS = re.compile(f"({_MARK}{{{MAX_MARKS}}}){_MARK}+")
_DECIMALS = re.compile(
    r"(?P<sign>[+-]?)(?P<whole>\d{1,20})(?P<mark>[.,])(?P<part>\d{1,40})"
    r"(?P<power>[eE][+-]?\d{1,4})?",
    re.ASCII,
)
_SYMBOLS = {"\n": "↵", "\r": "↵", "\t": "⇥", "\ufffd": "\ufffd"}


def safe_text(text: object, max_length: int = MAX_LENGTH) -> str:
    r"""Return the text, shortened and with every character visible.

    Examples
    --------
    >>> safe_text("a\tb\u202e"), safe_text("x" * 5000, 3)
    ('a⇥b⟨U+202E⟩', 'xxx… (5,000 characters)')
    """
    text = str(text)
    more = f"… ({len(text):,} characters)"
    if len(text) <= max_length + len(more):  # shortened, it would be longer
        more = ""
    text = _MARKS.sub(r"\1", text[:max_length] if more else text)
    text = _ACTIVE.sub(_visible, text.replace("\r\n", "\n"))
    return f"{text}{more}"


def rounded(text: str) -> str:
    """Round a number with many decimals to six digits; return other text unchanged.

    Whole numbers keep their digits, since they may be codes. The decimal mark stays.

    Examples
    --------
    >>> rounded("3.141592653589793"), rounded("-0,00012345678"), rounded("1234567.25")
    ('3.14159', '-0,000123457', '1234567')
    >>> rounded("20240205123"), rounded("5.10"), rounded("1.2.3")
    ('20240205123', '5.10', '1.2.3')
    """
    found = _DECIMALS.fullmatch(text)
    if not found:
        return text
    digits = (found["whole"] + found["part"]).lstrip("0")
    if len(digits) <= DIGITS:
        return text
    number = Decimal(f"{found['sign']}{found['whole']}.{found['part']}")
    places = max(0, DIGITS - 1 - number.adjusted())
    with localcontext(prec=max(len(digits), DIGITS) + 1):
        short = f"{number.quantize(Decimal(1).scaleb(-places)):f}"
    return short.replace(".", found["mark"]) + (found["power"] or "")


def _visible(match: re.Match[str]) -> str:
    character = match[0]
    if "\ud800" <= character <= "\udfff":
        return "\ufffd"
    return _SYMBOLS.get(character, f"⟨U+{ord(character):04X}⟩")
