"""Cells of an OpenDocument sheet as XML."""

from __future__ import annotations

import datetime as dt
import re

from halfmoon.table.files.workbook_cells import Value
from halfmoon.table.files.xml_splice import xml_text

__all__ = ["ods_cell"]


def ods_cell(value: Value, style: str = "") -> str:
    """A cell; an empty one for None.

    Examples
    --------
    >>> ods_cell(2.5)
    '<table:table-cell office:value-type="float" office:value="2.5"><text:p>2.5</text:p></table:table-cell>'
    """  # noqa: E501
    kept = f' table:style-name="{xml_text(style)}"' if style else ""
    if value is None:
        return f"<table:table-cell{kept}/>"
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
        typed = (
            f'office:value-type="time" office:time-value="PT{value.hour:02d}H'
            f'{value.minute:02d}M{value.second:02d}S"'
        )
    else:
        text, typed = value, 'office:value-type="string"'
    paragraphs = "".join(
        f"<text:p>{_spaced(line)}</text:p>" for line in text.split("\n")
    )
    return f"<table:table-cell{kept} {typed}>{paragraphs}</table:table-cell>"


def _spaced(line: str) -> str:
    """A line in which spaces count: XML of documents takes many for one."""
    text = xml_text(line).replace("\t", "<text:tab/>")
    return re.sub(
        "^ +| {2,}| $", lambda m: f'<text:s text:c="{len(m.group())}"/>', text
    )
