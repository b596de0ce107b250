"""Labels read as numbers, in whatever style they are written."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, NamedTuple

import pyarrow as pa

from halfmoon.table.blanks import as_number, looks_blank
from halfmoon.table.number_detection import number_style
from halfmoon.table.number_style import PLAIN, NumberStyle
from halfmoon.table.reading import read_numbers, without_missing, without_words

__all__ = ["LabelNumbers", "read_label_numbers"]

STRAYS = 0.1  # of the labels that may be no numbers where the others are


class LabelNumbers(NamedTuple):
    """What `read_label_numbers` gives.

    Attributes
    ----------
    values : list of float or None
        None where there is no label, or one that is no number.
    style : NumberStyle or None
        How they are written; None where they are not text.
    strays : list
        The labels that are no finite numbers.
    nearly_all : bool
        At most a tenth of the labels are no numbers, words that mean a blank aside.
    """

    values: list[float | None]
    style: NumberStyle | None
    strays: list[Any]
    nearly_all: bool


def read_label_numbers(labels: Iterable[Any]) -> LabelNumbers:
    """Labels as numbers; see `number_style.py` for how they may be written.

    Parameters
    ----------
    labels : iterable
        Text or values of any type; None where there is none.

    Examples
    --------
    >>> read = read_label_numbers(["$1,053", None, "$986"])
    >>> read.values, read.style.describe(), read.strays
    ([1053.0, None, 986.0], 'written with $ and commas', [])
    """
    labels = list(labels)
    texts = [label if isinstance(label, str) else None for label in labels]
    style, found = _read_texts(pa.array(texts, pa.large_string()))
    values: list[float | None] = []
    strays = []
    for label, number in zip(labels, found, strict=True):
        value = number if isinstance(label, str) else as_number(label)
        values.append(value if math.isfinite(value) else None)
        if label is not None and not math.isfinite(value):
            strays.append(label)
    words = sum(map(looks_blank, strays))
    named = sum(label is not None for label in labels) - words
    odd = len(strays) - words
    return LabelNumbers(values, style, strays, odd < named and odd <= STRAYS * named)


def _read_texts(text: pa.Array) -> tuple[NumberStyle | None, list[float]]:
    """Style and numbers of text."""
    if text.null_count == len(text):
        return None, [math.nan] * len(text)
    style = number_style(without_words(without_missing(text)), STRAYS) or PLAIN
    values, _ = read_numbers(text, style)
    return style, values.tolist()
