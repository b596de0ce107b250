"""Labels read as numbers, in any style of writing."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, NamedTuple

import pyarrow as pa

from halfmoon.table._cells.cell_values import (
    read_numbers,
    without_missing,
    without_repeated_words,
    without_words,
)
from halfmoon.table._cells.number_detection import number_style
from halfmoon.table._cells.number_style import PLAIN, NumberStyle
from halfmoon.table._labels.blank_labels import as_number, looks_blank

__all__ = ["LabelNumbers", "read_label_numbers"]

STRAYS = 0.1  # share of labels that may be words among numbers


class LabelNumbers(NamedTuple):
    """Labels as numbers."""

    values: list[float | None]  # None for a blank, or what is not a number
    style: NumberStyle | None  # None if the labels are not text
    strays: list[Any]  # labels that are not finite numbers
    nearly_all: bool  # nine in ten are numbers, not counting words for a blank


def read_label_numbers(labels: Iterable[Any]) -> LabelNumbers:
    """Read labels as numbers; `_cells/number_style.py` says how they may be written.

    Labels are text or values of any type, None for a blank.

    Examples
    --------
    >>> read = read_label_numbers(["$1,053", None, "$986"])
    >>> read.values, read.style.describe(), read.strays
    ([1053.0, None, 986.0], 'written with $ and commas', [])
    """
    labels = list(labels)
    texts = [label if isinstance(label, str) else None for label in labels]
    style, numbers = _read_texts(pa.array(texts, pa.large_string()))
    values: list[float | None] = []
    strays = []
    for label, number in zip(labels, numbers, strict=True):
        value = number if isinstance(label, str) else as_number(label)
        values.append(value if math.isfinite(value) else None)
        if label is not None and not math.isfinite(value):
            strays.append(label)
    blank_words = sum(map(looks_blank, strays))
    n = sum(label is not None for label in labels) - blank_words
    n_strays = len(strays) - blank_words
    nearly_all = n_strays < n and n_strays <= STRAYS * n
    return LabelNumbers(values, style, strays, nearly_all)


def _read_texts(text: pa.Array) -> tuple[NumberStyle | None, list[float]]:
    """Return the style and the numbers of text, NaN where it is not a number."""
    if text.null_count == len(text):
        return None, [math.nan] * len(text)
    cells = without_repeated_words(without_words(without_missing(text)))
    style = number_style(cells, STRAYS) or PLAIN
    values, _ = read_numbers(text, style)
    return style, values.tolist()
