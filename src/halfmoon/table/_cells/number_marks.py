"""Marks beside a number: flags, which are ignored, and arrows, which are signs.

====================  ==============================================================
cells                 read as
====================  ==============================================================
7.2, 9.1 H, 3.4 L     7.2, 9.1, 3.4: flags of laboratories; also 9.1H, * 9.1, 9.1 (H)
12.5, 13.1 p, 9.8 e   12.5, 13.1, 9.8: flags of statistical offices; also 13.1²
▲ 2.5 %, ▼ 1.2 %      2.5 %, -1.2 %; also 2.5 % ▲
3.5, ▲1.2, △0.7       3.5, -1.2, -0.7, as in Japan, where all other cells are bare
====================  ==============================================================

Flags stand at fewer than half of the different numbers, and there are few of them. A
unit is none, nor is a letter for a power of ten.
"""

from __future__ import annotations

import re
from collections import Counter

import pyarrow as pa
import pyarrow.compute as pc

from halfmoon.table._cells.unit_sizes import UNITS, si_unit

__all__ = ["find_marks", "minus_arrows", "with_arrows", "without_marks"]

MAX_MARKS = 6  # different ones in a column
MAX_LENGTH = 40  # characters of a cell with a mark
MIN_BARE = 0.5  # share of the different cells without a mark
MIN_ARROWS = 0.5  # share of the different cells with an arrow, if there are two kinds
TRIANGLES = "▲△"
UP, DOWN = "▲△⬆↑⇧⇑🔺", "▼▽⬇↓⇩⇓🔻"
VARIANT = "\ufe0f?"  # after an arrow that is a picture
ARROW = f"[{UP}{DOWN}]{VARIANT}"

WORDS = "high|low|abnormal|normal|critical|crit|elevated|est|prov|rev|final"
SIGNS = f"[*#!†‡§¹²³⁴-⁹{UP}{DOWN}]{{1,3}}"
LETTERS = f"(?:[A-Za-z]{{1,2}}|(?i:{WORDS}))\\.?"
AMOUNT = "[^A-Za-z]*[0-9][^A-Za-z]*?"
MARKED = re.compile(
    rf"({AMOUNT})(?: ?({SIGNS})| ?\(({LETTERS})\)| ({LETTERS})|(HH?|LL?))"
    rf"|(?:({SIGNS}) ?|({LETTERS}) )([^A-Za-z]*[0-9][^A-Za-z]*)"
)
# Letters for units and powers of ten; in Celsius or Fahrenheit.
NO_MARKS = frozenset(["k", "m", "mn", "bn", "c", "f"])
BILLION = "b"  # a mark only beside others


def find_marks(cells: list[str]) -> tuple[str, ...]:
    """Return the marks beside some of the numbers of a column; empty if there are none.

    Examples
    --------
    >>> find_marks(["7.2", "6.8", "9.1 H", "7.0", "3.4 L", "7.5"])
    ('H', 'L')
    >>> find_marks(["7", "5 m", "6"])
    ()
    """
    found: Counter[str] = Counter()
    bare = 0
    for cell in cells:
        marked = MARKED.fullmatch(cell[: MAX_LENGTH + 1])
        if marked:
            _, *marks, _ = marked.groups()
            found[next(filter(None, marks))] += 1
        elif not any(map(str.isalpha, cell)):
            bare += 1
    if bare < MIN_BARE * len(cells) or not 0 < len(found) <= MAX_MARKS:
        return ()
    names = {mark.lower() for mark in found}
    if any(map(_is_unit, found)) or names & NO_MARKS or names == {BILLION}:
        return ()
    return tuple(sorted(found))


def _is_unit(mark: str) -> bool:
    return mark in UNITS or (len(mark) > 1 and si_unit(mark) is not None)


def without_marks(text: pa.Array, marks: tuple[str, ...]) -> pa.Array:
    """Return cells without the marks.

    Examples
    --------
    >>> without_marks(pa.array(["9.1 H", "L 3.4", "7.5", "*8"]), ("*", "H", "L"))[0]
    <pyarrow.StringScalar: '9.1'>
    """
    one = "|".join(map(re.escape, sorted(marks, key=len, reverse=True)))
    after = rf"^(.*[0-9][^A-Za-z]*?) ?\(?(?:{one})\)?$"
    text = pc.replace_substring_regex(text, after, r"\1")
    before = rf"^(?:{one}) ?([^A-Za-z]*[0-9].*)$"
    return pc.replace_substring_regex(text, before, r"\1")


def minus_arrows(cells: list[str]) -> str:
    """Return the arrows that mean minus beside the numbers of a column, or nothing.

    Examples
    --------
    >>> minus_arrows(["▲ 2.5 %", "▼ 1.2 %"]), minus_arrows(["3.5", "▲1.2", "0.7"])
    ('▼▽⬇↓⇩⇓🔻', '▲△')
    >>> minus_arrows(["38.1", "39.5 ↑"])
    ''
    """
    marked = [cell for cell in cells if re.match(ARROW, cell)]
    before = len(marked)
    marked += [cell for cell in cells if re.search(f"[0-9].*{ARROW}$", cell)]
    if any(re.search("-[^0-9]*[0-9]", cell) for cell in marked):
        return ""  # the number has its own sign
    signs = {cell[0] for cell in marked[:before]}
    signs |= {cell.rstrip("\ufe0f")[-1] for cell in marked[before:]}
    if signs & {*UP} and signs & {*DOWN}:
        return DOWN if len(marked) > MIN_ARROWS * len(cells) else ""
    if before and before == len(marked) and (before < len(cells) or signs <= {*DOWN}):
        return TRIANGLES if signs <= {*TRIANGLES} else DOWN if signs <= {*DOWN} else ""
    return ""


def with_arrows(text: pa.Array, minus: str) -> pa.Array:
    """Return cells with a minus sign for the arrows that mean it, without arrows.

    Examples
    --------
    >>> with_arrows(pa.array(["▲ 2.5 %", "1.2 % ▼", "3"]), DOWN).to_pylist()
    ['2.5 %', '-1.2 %', '3']
    """
    for pattern, sign in (
        (rf"^[{minus}]{VARIANT} ?(.*[0-9].*)$", r"-\1"),
        (rf"^(.*[0-9].*?) ?[{minus}]{VARIANT}$", r"-\1"),
        (rf"^{ARROW} ?(.*)$", r"\1"),
        (rf"^(.*?) ?{ARROW}$", r"\1"),
    ):
        text = pc.replace_substring_regex(text, pattern, sign)
    return text
