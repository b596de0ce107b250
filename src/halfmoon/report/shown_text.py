r"""Text of a table made fit to be shown: every character seen, none at work.

==============================  ===================================================
in the table                    on the page
==============================  ===================================================
a line end, a tab               ↵ and ⇥
other control characters, and   their number, as in ⟨U+202E⟩
marks that turn the direction
characters without width        their number, unless they join letters or emoji
half of a surrogate pair        �
a heap of accents on a letter   the first three
more than 120 characters        the first 120, and how many there are
==============================  ===================================================

HTML is not dealt with here: the template escapes everything.
"""

from __future__ import annotations

import re

__all__ = ["shown"]

MOST = 120  # characters of a cell
# A letter with a thousand accents is one column wide and a page high.
MOST_MARKS = 3

_WORKING = re.compile(
    "[\x00-\x1f\x7f-\x9f\xad\u061c\u115f\u1160\u180e\u200b\u2028-\u202e\u2060-\u206f"
    "\u3164\ufe0e\ufeff\uffa0\ufff0-\uffff\ud800-\udfff\U000e0000-\U000e0fff]"
)
_MARK = "[\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff]"
_MARKS = re.compile(f"({_MARK}{{{MOST_MARKS}}}){_MARK}+")
_PICTURES = {"\n": "↵", "\r": "↵", "\t": "⇥", "\ufffd": "\ufffd"}


def shown(text: object, most: int = MOST) -> str:
    r"""The text, cut and with every character visible.

    Examples
    --------
    >>> shown("a\tb\u202e"), shown("x" * 5000, 3)
    ('a⇥b⟨U+202E⟩', 'xxx… (5,000 characters)')
    """
    text = str(text)
    length = len(text)
    cut = length > most
    text = _MARKS.sub(r"\1", text[:most])
    text = _WORKING.sub(_picture, text.replace("\r\n", "\n"))
    return f"{text}… ({length:,} characters)" if cut else text


def _picture(match: re.Match[str]) -> str:
    character = match[0]
    if "\ud800" <= character <= "\udfff":
        return "\ufffd"
    return _PICTURES.get(character, f"⟨U+{ord(character):04X}⟩")
