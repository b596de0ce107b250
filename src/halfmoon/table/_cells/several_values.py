r"""Several values in one cell: numbers such as 120/80, or choices such as red;blue.

**Numbers.** All cells of a column have the same signs around their numbers, which is
its pattern:

====================  ==============  =======================
cell                  pattern         numbers
====================  ==============  =======================
120/80                ``#/#``         120, 80
10 x 12.5 cm          ``#x#cm``       10, 12.5
v1.10.2               ``v#.#.#``      1, 10, 2
(48.85, -2.35)        ``(#,#)``       48.85, -2.35
190Nm @ 2000rpm       ``#nm@#rpm``    190, 2000
2 bed, 1 bath         ``#bed,#bath``  2, 1
pH 7.2                ``ph#``         7.2
[0.5, 2e-3, null]     ``[#,#,#]``     0.5, 0.002, none
{"a": 1, "b": 2.5}    ``{"a":#,"b":#}``  1, 2.5
====================  ==============  =======================

Case and spaces do not matter, and a unit at the end may be missing. Digits that
identify something are no numbers: those with leading zeros, long ones with nothing but
signs between them, as in 555-123-4567, and addresses such as 192.168.100.101.

**Choices.** A cell has one of the items of a column, or more. Items are separated by a
semicolon, a bar, a line end, a comma, a slash or a plus sign; lists as Python and JSON
write them count as well. Names and sentences have commas too. So items must repeat:
there are few of them, and more combinations than items.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from halfmoon._rows import Array
from halfmoon.table._cells.number_detection import examples
from halfmoon.table._cells.number_signs import normalized

__all__ = ["SEPARATORS", "NumberPattern", "find_pattern", "find_separator", "items_of"]

MAX_EXAMPLES = 1_000  # distinct texts that decide
MAX_LENGTH = 60  # characters of a cell
MAX_NUMBERS = 6  # in a cell
MAX_JSON_LENGTH, MAX_JSON_NUMBERS = 2**17, 4_096  # the same of lists and objects
MIN_DISTINCT = 6  # different cells; fewer are categories
MIN_SINGLE = 40  # different cells with one number each; fewer are categories
YEARS = (1900, 2100)  # of these, fewer are numbers
CODE_DIGITS = 9  # digits of one cell with only signs between them
MAX_CODED = 0.02  # share of the different cells that may have leading zeros

MINUS = r"(?:(?<![\w.)#])-)?"  # not in 3-1 and A-1
WRITTEN = {  # whole numbers alone are tried last
    "point": rf"{MINUS}[0-9]+(?:\.[0-9]+)?",
    "comma": rf"{MINUS}[0-9]+(?:,[0-9]+)?",
    "thousands": rf"{MINUS}(?:[0-9]{{1,3}}(?:,[0-9]{{3}})+|[0-9]+)(?:\.[0-9]+)?",
    "whole": rf"{MINUS}[0-9]+",
    "json": rf"{MINUS}[0-9]+(?:\.[0-9]*)?(?:e[+-]?[0-9]+)?"
    r"|(?<![\w\"'])(?:null|nan|none)(?![\w\"'])",
}
AMBIGUOUS = {"point": ("#.#",), "comma": ("#,#", "#.#"), "thousands": ("#.#", "#,#")}
SAME = str.maketrans({"×": "x", "✕": "x", "∗": "x", "#": "№"})  # # is a number
UNIT = re.compile(r"(?<=#)[^\W\d_]+$")
LEADING_ZERO = re.compile(r"(?<![0-9.,])0[0-9]{2,}")
DECIMAL_COMMA = re.compile(r"[0-9],(?![0-9]{3}(?![0-9]))[0-9]")
SIGNS_ONLY = re.compile(r"[#+ ()./-]+")
ADDRESS = "#.#.#.#"
LINK = re.compile(r"://|www\.|@[^ ]*\.[a-z]")  # also of e-mail


@dataclass(frozen=True)
class NumberPattern:
    """The signs around the numbers of each cell, and how numbers are written."""

    signs: str  # with # for a number
    written: str  # one of `WRITTEN`
    unit: str = ""  # at the end, which may be missing

    @property
    def count(self) -> int:
        """How many numbers a cell has."""
        return self.signs.count("#")

    def read(self, cells: Iterable[str]) -> Array:
        """Return the numbers of each cell, NaN for other texts, shape (n, count).

        Examples
        --------
        >>> NumberPattern("#x#", "point", "cm").read(["10 X 2.5 cm", "3×4", "5 cm"])
        array([[10. ,  2.5],
               [ 3. ,  4. ],
               [ nan,  nan]])
        """
        if self._is_list:
            rows = [self._items(cell) for cell in cells]
        else:
            rows = self._rows(cells)
        return np.array(rows, dtype=np.float64).reshape(-1, self.count)

    def describe(self) -> str:
        """Describe the pattern for a person.

        Examples
        --------
        >>> NumberPattern("#/#", "point").describe()
        '2 in each cell'
        """
        return f"{self.count} in each cell" if self.count > 1 else "taken from a text"

    @property
    def _is_list(self) -> bool:
        """Whether cells are lists, as of an embedding."""
        return self.written == "json" and self.signs == f"[{'#,' * (self.count - 1)}#]"

    def _items(self, cell: str) -> list[float]:
        """Return the numbers of a list; faster than by the pattern."""
        items = cell.strip()[1:-1].split(",")
        try:
            numbers = list(map(float, items))
        except ValueError:  # not a list, or without some of its numbers
            return self._rows([cell])[0]
        return numbers if len(numbers) == self.count else [np.nan] * self.count

    def _rows(self, cells: Iterable[str]) -> list[list[float]]:
        number = re.compile(WRITTEN[self.written])
        most = MAX_JSON_LENGTH if self.written == "json" else MAX_LENGTH
        return [self._numbers(cell, number) for cell in _plain(cells, most)]

    def _numbers(self, cell: str, number: re.Pattern[str]) -> list[float]:
        signs, unit = _signs(cell, number)
        if signs != self.signs or unit not in ("", self.unit):
            return [np.nan] * self.count
        return [_value(text, self.written) for text in number.findall(cell)]


def find_pattern(text: pa.Array, max_strays: float) -> NumberPattern | None:
    """Return the pattern of numbers in text, null for no value; None if there is none.

    `max_strays` is the share of the different cells that may be something else.

    Examples
    --------
    >>> cells = [f"{i}/{j}" for i in (120, 95, 140) for j in (80, 75)]
    >>> find_pattern(pa.array(cells), 0.0).signs
    '#/#'
    """
    values = examples(text, MAX_EXAMPLES)
    if len(values) < MIN_DISTINCT:
        return None
    texts = values.to_pylist()
    if sum(text[0] in "[{" for text in texts) >= (1.0 - max_strays) * len(texts):
        of_json = _pattern(_plain(texts, MAX_JSON_LENGTH), "json", max_strays)
        if of_json and of_json.count > 1:
            return of_json
    cells = _plain(texts)
    zeros = sum(LEADING_ZERO.search(cell) is not None for cell in cells)
    if zeros > MAX_CODED * len(cells):
        return None
    grouped = not any(DECIMAL_COMMA.search(cell) for cell in cells)
    tried = ("point", "thousands" if grouped else "comma")
    found = [each for way in tried if (each := _pattern(cells, way, max_strays))]
    # Decimal commas make 2 numbers of 10,5x12,5, but 1 of (3,4) is not enough.
    found = [each for each in found if each.written == "point" or each.count > 1]
    if not found and (whole := _pattern(cells, "whole", max_strays)):
        found = [whole]
    best = min(found, key=lambda each: each.count, default=None)
    if best is None:
        return None
    if best.count == 1 and len(values) < MIN_SINGLE and not _are_years(best, texts):
        return None
    return None if _are_codes(best, cells) else best


def _are_years(pattern: NumberPattern, cells: list[str]) -> bool:
    """Whether the only number of each cell is a year, as in FY2024 or Class of 2015."""
    numbers = pattern.read(cells)
    low, high = np.nanmin(numbers), np.nanmax(numbers)
    whole = bool((numbers == np.round(numbers))[~np.isnan(numbers)].all())
    return whole and bool(YEARS[0] <= low <= high <= YEARS[1])


def _plain(cells: Iterable[str], most: int = MAX_LENGTH) -> list[str]:
    """Return cells with one kind of digits, signs and spaces; long ones cut off."""
    texts = normalized(pa.array([cell[: most + 1] for cell in cells], pa.string()))
    return [
        " ".join(text.lower().translate(SAME).split()) if len(text) <= most else ""
        for text in texts.to_pylist()
    ]


def _signs(cell: str, number: re.Pattern[str]) -> tuple[str, str]:
    """Return the signs around numbers, and the unit after the last of several."""
    signs = number.sub("#", cell)
    signs = re.sub(r" ?([^# ]) ?", r"\1", signs)  # a space stays between two numbers
    unit = UNIT.search(signs) if signs.count("#") > 1 else None
    return (signs[: unit.start()], unit[0]) if unit else (signs, "")


def _pattern(cells: list[str], written: str, max_strays: float) -> NumberPattern | None:
    number = re.compile(WRITTEN[written])
    counts = Counter(_signs(cell, number) for cell in cells)
    by_signs: Counter[str] = Counter()
    units: dict[str, Counter[str]] = {}
    for (signs, unit), n in counts.items():
        by_signs[signs] += n
        units.setdefault(signs, Counter())[unit] += n
    signs = max(by_signs, key=by_signs.__getitem__)
    unit = max((u for u in units[signs] if u), key=units[signs].__getitem__, default="")
    n = units[signs][unit] + (units[signs][""] if unit else 0)
    doubtful = any(each in signs for each in AMBIGUOUS.get(written, ()))
    pattern = NumberPattern(signs, written, unit)
    most = MAX_JSON_NUMBERS if written == "json" else MAX_NUMBERS
    if doubtful or signs == "#" or not 1 <= pattern.count <= most:
        return None
    return pattern if n >= (1.0 - max_strays) * len(cells) else None


def _are_codes(pattern: NumberPattern, cells: list[str]) -> bool:
    """Whether digits identify something: telephones, addresses of computers, links."""
    if pattern.signs == ADDRESS or LINK.search(pattern.signs):
        return True
    if not SIGNS_ONLY.fullmatch(pattern.signs):
        return False
    lengths = [sum(map(str.isdigit, cell)) for cell in cells]
    decimals = any(re.search(r"[0-9]\.[0-9]", cell) for cell in cells)
    return float(np.median(lengths)) >= CODE_DIGITS and not decimals


def _value(text: str, written: str) -> float:
    if text[-1] in "nle":  # nan, null or none
        return np.nan
    if written == "comma":
        return float(text.replace(",", "."))
    return float(text.replace(",", ""))


SEPARATORS = {
    ";": "semicolons",
    "|": "bars",
    "\n": "line ends",
    ",": "commas",
    "/": "slashes",
    "+": "plus signs",
    " #": "number signs",
}
MIN_SEVERAL = 0.2  # share of the cells with two items or more
MIN_ITEMS, MAX_ITEMS = 3, 40
MAX_CHOICES_LENGTH = 500  # characters of a cell
MAX_VALUES = 5_000  # different cells that are looked at
MIN_COVERED = 0.9  # share of the items that are among the common ones
MIN_REPEATS = 2  # cells with an item that counts as common
BRACKETS = (("[", "]"), ("{", "}"), ("(", ")"))
QUOTES = "\"'"


def items_of(cell: str, separator: str) -> set[str]:
    """Return the items in a cell, in lower case.

    Examples
    --------
    >>> sorted(items_of("Red;  blue", ";")), sorted(items_of("['a', 'b']", ","))
    (['blue', 'red'], ['a', 'b'])
    """
    cell = cell.strip()
    if any(cell.startswith(a) and cell.endswith(b) for a, b in BRACKETS):
        cell = cell[1:-1]
    if separator == " #":
        cell = " " + cell
    items = (part.strip().strip(QUOTES) for part in cell.split(separator))
    return {" ".join(item.casefold().split()) for item in items} - {""}


def find_separator(text: pa.Array) -> str:
    """Return what separates the choices in text, null for no value; empty if nothing.

    Examples
    --------
    >>> cells = ["red", "blue;red", "green;blue", "green", "red;green", "blue"]
    >>> find_separator(pa.array(cells * 2))
    ';'
    >>> find_separator(pa.array(["Smith; Ann", "Jones; Bob", "Brown; Cy"] * 2))
    ''
    """
    counts = {
        each["values"]: each["counts"]
        for each in text.drop_null().value_counts().to_pylist()[:MAX_VALUES]
    }
    if not counts or max(map(len, counts)) > MAX_CHOICES_LENGTH:
        return ""
    return next((each for each in SEPARATORS if _separates(each, counts)), "")


def _separates(separator: str, counts: dict[str, int]) -> bool:
    if sum(separator in cell for cell in counts) < MIN_SEVERAL * len(counts):
        return False
    found: Counter[str] = Counter()
    several, combinations = 0, set()
    for cell, n in counts.items():
        items = items_of(cell, separator)
        several += n * (len(items) > 1)
        combinations.add(frozenset(items))
        for item in items:
            found[item] += n
    common = [n for n in found.values() if n >= MIN_REPEATS]
    return (
        several >= MIN_SEVERAL * sum(counts.values())
        and MIN_ITEMS <= len(common) <= MAX_ITEMS
        and len(common) < len(combinations)
        and sum(common) >= MIN_COVERED * found.total()
    )
