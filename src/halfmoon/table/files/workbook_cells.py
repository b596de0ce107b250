"""New cells of a workbook: a value as a number, a truth value or text, no formula.

In a cell of its own type no text is ever run, so that nothing has to be escaped.
"""

from __future__ import annotations

import datetime as dt
import math
import re
from typing import Any

import pyarrow.types as pt

from halfmoon.table.errors import OutputError
from halfmoon.table.files.cells import value_text

__all__ = ["Value", "cell_number", "sheet_value"]

Value = str | float | int | bool | dt.date | dt.time | None

#: A number that reads the same after a spreadsheet has read it: no zeros in front,
#: as codes have, and not more digits than a cell keeps.
NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d{1,3})?", re.ASCII)
DIGITS = 15
TRUTH = {"true": True, "false": False}
MOST_CHARACTERS = 32_767  # of a cell, in every spreadsheet program


def cell_number(text: str) -> float | int | None:
    """The number that a text cell is; None for a text that only looks like one.

    Examples
    --------
    >>> cell_number("3.50"), cell_number("12"), cell_number("007"), cell_number("x")
    (3.5, 12, None, None)
    """
    if not NUMBER.fullmatch(text):
        return None
    digits = re.split("[eE]", text)[0].lstrip("-").replace(".", "").lstrip("0")
    if len(digits) > DIGITS:
        return None
    value = float(text)
    if not math.isfinite(value):
        return None
    return int(text) if text.lstrip("-").isdecimal() else value


def sheet_value(value: Any, kind: Any, name: str) -> Value:
    """A value as a cell of a column of an Arrow type; None for an empty cell.

    Parameters
    ----------
    value : object
    kind : pyarrow.DataType or None
        None where the column has no type of its own.
    name : str
        What to call the output in an error.
    """
    if hasattr(value, "item"):  # one of NumPy's
        value = value.item()
    if value is None or value != value or value == "":
        return None
    if isinstance(value, str):
        if kind is not None and pt.is_boolean(kind) and value.lower() in TRUTH:
            return TRUTH[value.lower()]
        number = cell_number(value) if kind is not None and _is_number(kind) else None
        return fitting(value, name) if number is None else number
    if isinstance(value, bool):
        return value
    if isinstance(value, float) and not math.isfinite(value):
        return value_text(value)
    if isinstance(value, int) and abs(value) >= 10**DIGITS:
        return str(value)
    if isinstance(value, (int, float)):
        return value
    return fitting(value_text(value), name)


def fitting(text: str, name: str) -> str:
    """A text that a cell can hold."""
    if len(text) > MOST_CHARACTERS:
        raise OutputError(
            f"{name} cannot be written: a cell of {len(text):,} characters is longer "
            f"than a workbook can hold ({MOST_CHARACTERS:,}). Write CSV instead."
        )
    return text


def _is_number(kind: Any) -> bool:
    return bool(pt.is_integer(kind) or pt.is_floating(kind) or pt.is_decimal(kind))
