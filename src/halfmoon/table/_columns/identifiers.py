"""Columns that only identify rows: row numbers, serial numbers, codes, telephones.

A model would memorize them.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pandas as pd

from halfmoon._rows import Array
from halfmoon.table._cells.several_values import NumberPattern

__all__ = ["why_numbers_identify", "why_texts_identify"]

MIN_ROWS = 3  # that are numbered
MIN_IDENTIFIER_ROWS = 20  # to call a column an identifier by its values
CODE_DIGITS = 10  # of a code with spaces in it
NAME = re.compile(
    r"(^|[ _.-])(id|uuid|guid)$|[a-z](Id|ID)$"
    r"|^(index|key|row|rownames?|row[ _.-]?(number|id)|unnamed: 0)$"
)
CODE = r"[0-9a-fA-F:-]+|[^\s@_]*_[^\s@]*"


def why_numbers_identify(
    name: str, numbers: Array, positions: Array, pattern: NumberPattern | None
) -> str:
    """Return why numbers identify the rows at some positions; empty if they do not.

    `pattern` is that of the texts that the numbers come from.
    """
    if len(numbers) < MIN_ROWS or not _are_whole(numbers):
        return ""
    if np.unique(numbers - positions).size == 1:
        return "it numbers the rows"
    named = any(map(NAME.search, (name, name.lower().strip())))
    all_differ = np.unique(numbers).size == len(numbers) >= MIN_IDENTIFIER_ROWS
    if pattern is None and named and all_differ:
        return "its name and values look like an identifier"
    return ""


def why_texts_identify(values: pd.Series, pattern: NumberPattern | None) -> str:
    """Return why texts, a column of categories, identify rows; empty if they do not.

    All differ, have no spaces, and share one shape or have digits. Only long ones of
    one shape may have spaces, as of telephones and bank accounts. Numbers with decimals
    are measurements; `pattern` is theirs.
    """
    distinct = values.cat.categories
    if not MIN_IDENTIFIER_ROWS <= len(values) == len(distinct):
        return ""
    if pattern is not None and not _are_whole(pattern.read(distinct)):
        return ""
    return "its values are codes, one for each row" if _are_codes(distinct) else ""


def _are_codes(texts: Any) -> bool:
    shapes = texts.str.replace(r"[0-9]", "9", regex=True)
    shapes = shapes.str.replace(r"[A-Za-z]", "a", regex=True)
    one_shape = shapes.nunique() == 1
    if texts.str.contains(r"[\s/]").any():
        return one_shape and shapes[0].count("9") >= CODE_DIGITS
    digits = texts.str.contains(r"[0-9]")
    return bool(digits.all() and one_shape) or bool(
        texts.str.len().min() >= 8
        and digits.mean() > 0.9
        and texts.str.fullmatch(CODE).all()
    )


def _are_whole(numbers: Array) -> bool:
    return bool((numbers == np.round(numbers)).all())
