"""New cells of delimited text: quoted where needed, harmless in a spreadsheet.

A spreadsheet that opens a CSV file runs cells that begin with certain signs as
formulas. A cell that halfmoon writes may repeat a label from someone else's table,
so that it gets an apostrophe in front, which a spreadsheet reads as "this is text".
Numbers keep their sign.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from halfmoon.table.errors import CommandError
from halfmoon.table.files.arrow_types import null_where
from halfmoon.table.files.values import as_list

__all__ = ["NewCells", "value_text"]

# Also as wide characters, which some spreadsheets take for the narrow ones.
FORMULA = re.compile(r"[=+\-@\t\r\n＝＋－＠]")
# Also with what people write around it: -$1,053.20, -26 kg; but nothing to compute.
NUMBER = re.compile(
    r"[+-]? ?([A-Z]{0,3}[$€£¥₹]|[A-Z]{3})? ?"
    r"([0-9][0-9.,'\u2019 \u00a0\u2009\u202f]*|[.,][0-9]+)([eE][+-]?[0-9]+)?"
    r"[ \u00a0]?[A-Za-z%‰°µ²³€£¥₹/]{0,8}"
)

PLAIN_NUMBERS = r"^-?[0-9]+(\.[0-9]+)?$"  # which need no quotes and are no formulas


class NewCells:
    """Turns values into the text of cells.

    Parameters
    ----------
    delimiter : str
    formulas : {"escape", "keep"}

    Attributes
    ----------
    escaped : int
        How many cells got an apostrophe.
    """

    def __init__(self, delimiter: str, formulas: str) -> None:
        if formulas not in ("escape", "keep"):
            raise CommandError(
                f"formulas is {formulas!r}; 'escape' or 'keep' is needed."
            )
        self.escaped = 0
        self._escape = formulas == "escape"
        self._has_plain_numbers = delimiter not in "0123456789.-"
        self._special = re.compile(rf'["\r\n{re.escape(delimiter)}]|\A\s|\s\Z')

    def of(self, values: Sequence[object]) -> list[str]:
        """The cells for a column of values; None and not-a-number give empty ones."""
        if set(map(type, values)) <= {float}:
            return [repr(value) if value == value else "" for value in values]
        # Labels repeat, so that each different one is looked at once.
        texts = Counter(value for value in values if isinstance(value, str))
        made = {text: self._made(text) for text in texts}
        self.escaped += sum(made[text][1] * count for text, count in texts.items())
        return [
            made[value][0] if isinstance(value, str) else value_text(value)
            for value in values
        ]

    def array(self, values: Any) -> Any:
        """The cells for a column as an array of Arrow; None gives null, not a cell.

        Parameters
        ----------
        values : sequence, or pyarrow.Array of strings or floats
        """
        kind = values.type if isinstance(values, pa.Array) else None
        if kind not in (pa.string(), pa.float64()):
            values = as_list(values)
            none = pa.array([v is None or v != v for v in values], pa.bool_())
            return null_where(pa.array(self.of(values), pa.string()), none)
        if kind == pa.float64():
            values = null_where(values, pc.is_nan(values))
        elif self._has_plain_numbers and _all_match(values, PLAIN_NUMBERS):
            return values
        # Labels and confidences repeat, so that each different one is written once.
        encoded = values.dictionary_encode()
        distinct = encoded.dictionary.to_pylist()
        if kind != pa.string():
            made = pa.array([repr(value) for value in distinct], pa.string())
        else:
            pairs = [self._made(text) for text in distinct]
            seen = encoded.indices.drop_null().to_numpy()
            times = np.bincount(seen, minlength=len(pairs)).tolist()
            self.escaped += sum(
                n * changed for n, (_, changed) in zip(times, pairs, strict=True)
            )
            made = pa.array([text for text, _ in pairs], pa.string())
        return made.take(encoded.indices)

    def text(self, text: str) -> str:
        """The cell for a text."""
        return self.of([text])[0]

    def quoted(self, text: str) -> str:
        """A text as a cell, in quotes where it needs them, otherwise untouched."""
        if self._special.search(text):
            return '"' + text.replace('"', '""') + '"'
        return text

    def _made(self, text: str) -> tuple[str, int]:
        escaped = (
            self._escape
            and FORMULA.match(text) is not None
            and NUMBER.fullmatch(text) is None
        )
        return self.quoted("'" + text if escaped else text), int(escaped)


def _all_match(texts: Any, pattern: str) -> bool:
    return bool(pc.all(pc.match_substring_regex(texts, pattern)).as_py())


def value_text(value: object) -> str:
    """A value that is no text as text: a number in full, truth as true or false.

    Examples
    --------
    >>> [value_text(value) for value in (0.1, 3, True, None, float("nan"))]
    ['0.1', '3', 'true', '', '']
    """
    if hasattr(value, "item"):  # one of NumPy's
        value = value.item()
    if value is None or value != value:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(value) if isinstance(value, (int, float)) else str(value)
