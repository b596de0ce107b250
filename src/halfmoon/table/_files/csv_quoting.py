"""New cells of delimited text: quoted if needed, and never run as a formula.

A spreadsheet that opens a CSV file runs cells that begin with certain characters as
formulas. A new cell may repeat a label from someone else's table, so such a cell gets
an apostrophe in front, which a spreadsheet reads as "this is text". Numbers keep their
sign.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from halfmoon.table._files.arrow_types import null_where
from halfmoon.table._files.typed_values import as_list
from halfmoon.table._table_errors import CommandError

__all__ = ["NewCells", "value_text"]

# Some spreadsheets read wide characters like the narrow ones.
FORMULA = re.compile(r"[=+\-@\t\r\n＝＋－＠]")
# Also with currency or unit, such as -$1,053.20 or -26 kg, but nothing to compute.
NUMBER = re.compile(
    r"[+-]? ?([A-Z]{0,3}[$€£¥₹]|[A-Z]{3})? ?"
    r"([0-9][0-9.,'\u2019 \u00a0\u2009\u202f]*|[.,][0-9]+)([eE][+-]?[0-9]+)?"
    r"[ \u00a0]?[A-Za-z%‰°µ²³€£¥₹/]{0,8}"
)

NUMBER_BYTES = b"0123456789.-"
MINUS = ord("-")


class NewCells:
    """Converts values to the text of cells.

    Parameters
    ----------
    delimiter : str
    formulas : {"escape", "keep"}

    Attributes
    ----------
    escaped : int
        Number of cells that got an apostrophe.
    """

    def __init__(self, delimiter: str, formulas: str) -> None:
        if formulas not in ("escape", "keep"):
            raise CommandError(
                f"formulas is {formulas!r}; 'escape' or 'keep' is needed."
            )
        self.escaped = 0
        self._escape = formulas == "escape"
        self._may_be_numbers = delimiter.encode() not in NUMBER_BYTES
        self._special = re.compile(rf'["\r\n{re.escape(delimiter)}]|\A\s|\s\Z')

    def of(self, values: Sequence[object]) -> list[str]:
        """Return the cells of a column of values; None and NaN give empty cells."""
        if set(map(type, values)) <= {float}:
            return [repr(value) if value == value else "" for value in values]
        # Labels repeat, so each distinct text is converted once.
        texts = Counter(value for value in values if isinstance(value, str))
        cells = {text: self._cell(text) for text in texts}
        self.escaped += sum(cells[text][1] * count for text, count in texts.items())
        return [
            cells[value][0] if isinstance(value, str) else value_text(value)
            for value in values
        ]

    def array(self, values: Any) -> Any:
        """Return the cells of a column as an Arrow array; None and NaN give null."""
        kind = values.type if isinstance(values, pa.Array) else None
        if kind not in (pa.string(), pa.float64()):
            values = as_list(values)
            missing = pa.array([v is None or v != v for v in values], pa.bool_())
            return null_where(pa.array(self.of(values), pa.string()), missing)
        if kind == pa.float64():
            values = null_where(values, pc.is_nan(values))
        elif self._may_be_numbers and _are_plain_numbers(values):
            return values
        # Labels and confidences repeat, so each distinct value is converted once.
        encoded = values.dictionary_encode()
        distinct = encoded.dictionary.to_pylist()
        if kind != pa.string():
            cells = pa.array([repr(value) for value in distinct], pa.string())
        else:
            pairs = [self._cell(text) for text in distinct]
            indices = encoded.indices.drop_null().to_numpy()
            counts = np.bincount(indices, minlength=len(pairs)).tolist()
            self.escaped += sum(
                n * escaped for n, (_, escaped) in zip(counts, pairs, strict=True)
            )
            cells = pa.array([text for text, _ in pairs], pa.string())
        return cells.take(encoded.indices)

    def text(self, text: str) -> str:
        """Return the cell of a text."""
        return self.of([text])[0]

    def quoted(self, text: str) -> str:
        """Return a text with quotes if it needs them, without an apostrophe."""
        if self._special.search(text):
            return '"' + text.replace('"', '""') + '"'
        return text

    def _cell(self, text: str) -> tuple[str, int]:
        """Return a cell, and 1 if it got an apostrophe."""
        escaped = (
            self._escape
            and FORMULA.match(text) is not None
            and NUMBER.fullmatch(text) is None
        )
        return self.quoted("'" + text if escaped else text), int(escaped)


def _are_plain_numbers(texts: Any) -> bool:
    """Return whether all texts are digits and points, perhaps after a minus.

    They need neither quotes nor an apostrophe.
    """
    offsets = np.frombuffer(texts.buffers()[1], np.int32)
    offsets = offsets[texts.offset : texts.offset + len(texts) + 1]
    first, last = int(offsets[0]), int(offsets[-1])
    if first == last:
        return True
    data = texts.buffers()[2][first:last].to_pybytes()
    if data.translate(None, NUMBER_BYTES):
        return False
    begins = np.zeros(len(data) + 1, dtype=bool)
    begins[offsets - first] = True
    codes = np.frombuffer(data + b"-", np.uint8)
    minus = np.flatnonzero(codes[:-1] == MINUS)
    alone = begins[minus + 1] | (codes[minus + 1] == MINUS)
    return bool(begins[minus].all() and not alone.any())


def value_text(value: object) -> str:
    """Return a value that is not text as text: numbers in full, true or false.

    Examples
    --------
    >>> [value_text(value) for value in (0.1, 3, True, None, float("nan"))]
    ['0.1', '3', 'true', '', '']
    """
    if hasattr(value, "item"):  # a NumPy scalar
        value = value.item()
    if value is None or value != value:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(value) if isinstance(value, (int, float)) else str(value)
