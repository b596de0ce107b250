"""Blank cells of a target: the usual words for a blank, and the user's own marks."""

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

from halfmoon.table._cells.cell_values import BLANK_WORDS, INVISIBLE, as_column, is_text
from halfmoon.table._runs.run_settings import as_tuple

__all__ = ["BLANK_TEXTS", "BLANK_WORDS", "Blanks", "as_number", "looks_blank"]

#: Texts that count as blank in a target, in upper or lower case.
BLANK_TEXTS = ("", "na", "n/a", "nan", "null", "none", "<na>")
#: Those that may also be a class: no sex, North America, not applicable.
DOUBTFUL = ("na", "n/a", "none")


@dataclass
class Blanks:
    """Finds and counts the blank cells of a target.

    The texts of `unlabeled` mark a blank, in addition to `BLANK_TEXTS`. If one of them
    is empty, these words are labels, so that a class may be called "None". A number
    marks every cell with that number, however it is written: -1 also marks "-1.0".

    Examples
    --------
    >>> blanks = Blanks()
    >>> blanks.mask(pa.array(["cat", "", "NA", "dog"]))
    array([False,  True,  True, False])
    >>> blanks.counts
    Counter({'': 1, 'NA': 1})
    """

    unlabeled: str | Iterable[str] | None = ()
    counts: Counter[str] = field(default_factory=Counter)  # of blanks, by their text
    matched: set[str] = field(default_factory=set)  # texts of `unlabeled` seen so far

    def __post_init__(self) -> None:
        marks = [mark.strip() for mark in as_tuple(self.unlabeled)]
        self._words = ("",) if "" in marks else BLANK_TEXTS
        self._marks = {mark: as_number(mark) for mark in marks if mark}

    @property
    def unmatched(self) -> list[str]:
        """Texts of `unlabeled` that no cell had so far."""
        return [mark for mark in self._marks if mark not in self.matched]

    @property
    def doubtful_words(self) -> Counter[str]:
        """Counts of blanks by words that may be a class and that no one named."""
        found: Counter[str] = Counter()
        for text, n in self.counts.items():
            if text.lower() in DOUBTFUL and text not in self._marks:
                found[text] = n
        return found

    def mask(self, column: Any) -> NDArray[np.bool_]:
        """Return where a column of Arrow is blank, shape (n,), and count its blanks."""
        array = as_column(column)
        if is_text(array.type):
            blank, counts = self._in_text(array)
        else:
            blank, counts = self._in_values(array)
        self.counts += counts
        return blank

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
        value = value.strip().strip(INVISIBLE).strip()
        return self._is_mark(value, value) or value.lower() in self._words

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
                if self._is_mark(str(value), value):
                    blank[i] = True
                    counts[str(value)] += 1
        return blank, counts

    def _is_mark(self, text: str, value: Any) -> bool:
        """Whether a value is one of the user's marks; a match is noted."""
        is_bool = isinstance(value, bool)
        number = math.nan if is_bool else as_number(value)
        for mark, marked_number in self._marks.items():
            same = mark.lower() == text.lower() if is_bool else mark == text
            if same or number == marked_number:
                self.matched.add(mark)
                return True
        return False


def looks_blank(label: Any) -> bool:
    """Whether a label is a word that often means a blank.

    Examples
    --------
    >>> looks_blank("TBD"), looks_blank(" ? "), looks_blank("other"), looks_blank(0)
    (True, True, False, False)
    """
    return isinstance(label, str) and label.strip().casefold() in BLANK_WORDS


def as_number(value: Any) -> float:
    """Return a value or text as a number; NaN if it is not one."""
    if isinstance(value, str):
        value = value.strip()
        if "_" in value:  # Python reads 1_000 as a number
            return math.nan
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return math.nan
