"""New cells of a workbook: numbers, truth values, dates or text, never formulas.

A workbook stores the type of each cell and never runs text, so nothing is escaped.
"""

from __future__ import annotations

import datetime as dt
import html
import math
import re
from typing import Any

import pyarrow.types as pt

from halfmoon.table._files.arrow_types import value_text
from halfmoon.table._table_errors import OutputError

__all__ = [
    "Value",
    "cell_number",
    "checked_text",
    "ods_cell",
    "sheet_value",
    "xml_text",
]

Value = str | float | int | bool | dt.date | dt.time | None

#: A number that a spreadsheet shows unchanged: no leading zeros, as codes have.
NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d{1,3})?", re.ASCII)
MAX_DIGITS = 15  # that a cell keeps
TRUTH = {"true": True, "false": False}
MAX_CHARACTERS = 32_767  # of a cell, in every spreadsheet program
ILLEGAL_IN_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")


def cell_number(text: str) -> float | int | None:
    """Return the number in a text cell; None for text such as ``007``.

    Examples
    --------
    >>> cell_number("3.50"), cell_number("12"), cell_number("007"), cell_number("x")
    (3.5, 12, None, None)
    """
    if not NUMBER.fullmatch(text):
        return None
    digits = re.split("[eE]", text)[0].lstrip("-").replace(".", "").lstrip("0")
    if len(digits) > MAX_DIGITS:
        return None
    value = float(text)
    if not math.isfinite(value):
        return None
    return int(text) if text.lstrip("-").isdecimal() else value


def sheet_value(value: Any, kind: Any, name: str) -> Value:
    """Convert a value to a cell of a column of an Arrow type, if it has one.

    None is an empty cell.
    """
    if hasattr(value, "item"):  # a NumPy scalar
        value = value.item()
    if value is None or value != value or value == "":
        return None
    if isinstance(value, str):
        if kind is not None and pt.is_boolean(kind) and value.lower() in TRUTH:
            return TRUTH[value.lower()]
        number = cell_number(value) if kind is not None and _is_number(kind) else None
        return checked_text(value, name) if number is None else number
    if isinstance(value, bool):
        return value
    if isinstance(value, float) and not math.isfinite(value):
        return value_text(value)
    if isinstance(value, int) and abs(value) >= 10**MAX_DIGITS:
        return str(value)
    if isinstance(value, (int, float)):
        return value
    return checked_text(value_text(value), name)


def checked_text(text: str, name: str) -> str:
    """Return a text, or refuse one that is too long for a cell."""
    if len(text) > MAX_CHARACTERS:
        raise OutputError(
            f"{name} cannot be written: a cell of {len(text):,} characters is longer "
            f"than a workbook can hold ({MAX_CHARACTERS:,}). Write CSV instead."
        )
    return text


def _is_number(kind: Any) -> bool:
    return bool(pt.is_integer(kind) or pt.is_floating(kind) or pt.is_decimal(kind))


def ods_cell(value: Value, style: str = "") -> str:
    """Return a cell of an OpenDocument sheet as XML.

    Examples
    --------
    >>> ods_cell(2.5)
    '<table:table-cell office:value-type="float" office:value="2.5"><text:p>2.5</text:p></table:table-cell>'
    """  # noqa: E501
    styled = f' table:style-name="{xml_text(style)}"' if style else ""
    if value is None:
        return f"<table:table-cell{styled}/>"
    if isinstance(value, bool):
        text = "true" if value else "false"
        typed = f'office:value-type="boolean" office:boolean-value="{text}"'
    elif isinstance(value, (int, float)):
        text = repr(value)
        typed = f'office:value-type="float" office:value="{text}"'
    elif isinstance(value, dt.date):
        text = value.isoformat()
        typed = f'office:value-type="date" office:date-value="{text}"'
    elif isinstance(value, dt.time):
        text = value.isoformat()
        typed = f'office:value-type="time" office:time-value="{value:PT%HH%MM%SS}"'
    else:
        text, typed = value, 'office:value-type="string"'
    paragraphs = "".join(
        f"<text:p>{_with_spaces(line)}</text:p>" for line in text.split("\n")
    )
    return f"<table:table-cell{styled} {typed}>{paragraphs}</table:table-cell>"


def _with_spaces(line: str) -> str:
    """Encode spaces and tabs, which OpenDocument would otherwise collapse."""
    text = xml_text(line).replace("\t", "<text:tab/>")
    return re.sub(
        "^ +| {2,}| $", lambda m: f'<text:s text:c="{len(m.group())}"/>', text
    )


def xml_text(text: str) -> str:
    r"""Escape a text for XML; illegal characters become replacement characters.

    Examples
    --------
    >>> xml_text("a < b\x00")
    'a &lt; b\ufffd'
    """
    return html.escape(ILLEGAL_IN_XML.sub("\ufffd", text), quote=True)
