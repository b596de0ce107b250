"""Blank cells of a target: the usual words for nothing, and the user's own marks."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from halfmoon.table.reading import BLANK_WORDS, as_column, is_text
from halfmoon.table.settings import as_marks

__all__ = ["BLANK_TEXTS", "BLANK_WORDS", "Blanks", "as_number", "looks_blank"]

#: Texts that count as blank in a target, in any mixture of upper and lower case.
BLANK_TEXTS = ("", "na", "n/a", "nan", "null", "none", "<na>")


@dataclass
class Blanks:
    """Which cells of a target are blank.

    Parameters
    ----------
    unlabeled : str, sequence of str, or None
        Further texts that mark a blank, beside what usually stands for nothing: an
        empty cell, NaN, NA, N/A, null, None, <NA>. An empty text among them takes
        these words as labels, so that a class may be called "None". A number marks
        every cell with that number, however it is written: -1 is also "-1.0".

    Attributes
    ----------
    counts : dict
        How many blanks of each marker were seen, by the text of the marker.
    matched : set
        Those of `unlabeled` that a cell was seen with.

    Examples
    --------
    >>> blanks = Blanks()
    >>> blanks.mask(pa.array(["cat", "", "NA", "dog"]))
    array([False,  True,  True, False])
    >>> blanks.counts
    {'': 1, 'NA': 1}
    """

    unlabeled: str | Iterable[str] | None = ()
    counts: dict[str, int] = field(default_factory=dict)
    matched: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        marks = [mark.strip() for mark in as_marks(self.unlabeled)]
        self._words = ("",) if "" in marks else BLANK_TEXTS
        # An empty text marks what is blank anyway.
        self._marks = {mark: as_number(mark) for mark in marks if mark}

    @property
    def unmatched(self) -> list[str]:
        """Those of `unlabeled` that no cell was seen with."""
        return [mark for mark in self._marks if mark not in self.matched]

    def mask(self, column: Any) -> NDArray[np.bool_]:
        """Where a column is blank, shape (n,); its blanks are counted.

        Parameters
        ----------
        column : pyarrow.Array or ChunkedArray
            Text or of any other type.
        """
        array = as_column(column)
        if is_text(array.type):
            blank, counts = self._in_text(array)
        else:
            blank, counts = self._in_values(array)
        for text, count in counts.items():
            if count:
                self.counts[text] = self.counts.get(text, 0) + int(count)
        return blank

    def describe(self) -> str:
        """What was blank, for a person to read.

        Examples
        --------
        >>> Blanks(counts={"": 1200, "NA": 3}).describe()
        'empty (1,200 rows), "NA" (3 rows)'
        """
        parts = []
        for text, count in sorted(self.counts.items(), key=lambda each: -each[1]):
            name = f'"{text}"' if text else "empty"
            parts.append(f"{name} ({count:,} row{'s' * (count != 1)})")
        return ", ".join(parts)

    def _in_text(self, array: pa.Array) -> tuple[NDArray[np.bool_], Counter[str]]:
        encoded = array.cast(pa.large_string()).dictionary_encode()
        values = [*encoded.dictionary.to_pylist(), ""]  # the last is null, code -1
        marked = np.array([self._is_blank_text(value) for value in values])
        codes = encoded.indices.fill_null(len(values) - 1)
        codes = codes.to_numpy(zero_copy_only=False)
        counts: Counter[str] = Counter()
        seen = np.bincount(codes, minlength=len(values))
        for i in np.flatnonzero(marked):
            counts[values[i].strip()] += int(seen[i])
        return marked[codes], counts

    def _is_blank_text(self, value: str) -> bool:
        value = value.strip()
        if self._is_mark(value, value):
            return True
        return value.lower() in self._words

    def _in_values(self, array: pa.Array) -> tuple[NDArray[np.bool_], Counter[str]]:
        blank = np.array(array.is_null().to_numpy(zero_copy_only=False))
        counts = Counter({"": int(blank.sum())})
        if pa.types.is_floating(array.type):
            nan = pc.is_nan(array).fill_null(False).to_numpy(zero_copy_only=False)
            blank |= nan
            counts["NaN"] = int(nan.sum())
        if self._marks:
            for i in np.flatnonzero(~blank):
                value = array[i].as_py()
                truth = isinstance(value, bool)
                if self._is_mark(str(value).lower() if truth else str(value), value):
                    blank[i] = True
                    counts[str(value)] += 1
        return blank, counts

    def _is_mark(self, text: str, value: Any) -> bool:
        """Whether a value is one of the user's marks, which is kept in mind."""
        number = math.nan if isinstance(value, bool) else as_number(value)
        for mark, marked in self._marks.items():
            same = mark.lower() == text if isinstance(value, bool) else mark == text
            if same or number == marked:
                self.matched.add(mark)
                return True
        return False


def looks_blank(label: Any) -> bool:
    """Whether a label is a word that often stands for none.

    Examples
    --------
    >>> looks_blank("TBD"), looks_blank(" ? "), looks_blank("other"), looks_blank(0)
    (True, True, False, False)
    """
    return isinstance(label, str) and label.strip().casefold() in BLANK_WORDS


def as_number(value: Any) -> float:
    """A value, or text, as a number; NaN if it is none."""
    if isinstance(value, str):
        value = value.strip()
        if "_" in value:  # Python reads 1_000 as a number
            return math.nan
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return math.nan
