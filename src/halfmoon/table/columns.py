"""What each column of a table holds, decided once on the rows to learn from.

===========  ====================================================================
kind         cells
===========  ====================================================================
number       numbers of any type, durations (in seconds), texts that are all written
             in one style of numbers, such as $1,053 (`number_style.py`)
boolean      truth values; true and false, yes and no, t and f, y and n
date         dates and timestamps; texts that are written in known forms
time         times of the day, in seconds
category     text with few different values
text         text with many
===========  ====================================================================

A few cells may be something else, and more of them words such as "n.a." or "unknown";
in numbers, dates and times they count as missing.

Columns that cannot tell anything are left out, and so are those that would tell the
wrong thing: row numbers and other identifiers, which a model would learn by heart.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from halfmoon.rows import Array
from halfmoon.table.files.arrow_types import type_text
from halfmoon.table.forms import date_form, describe_form, time_form
from halfmoon.table.number_detection import number_style
from halfmoon.table.number_style import PLAIN, NumberStyle
from halfmoon.table.reading import (
    STRAY_NUMBERS,
    TRUTH_PAIRS,
    WORDS,
    as_column,
    is_text,
    read_dates,
    read_numbers,
    read_texts,
    read_times,
    read_truths,
    without_missing,
    without_words,
)

__all__ = ["CATEGORIES", "ColumnUse", "Columns", "nothing_to_learn_from"]

CATEGORIES = 40  # different texts of a category, at most
STRAY = 0.02  # cells of another kind that a column may have; they become missing
SHOWN = 20  # letters of a cell
FEW = 20  # rows from which alone no column is called an identifier
IDENTIFIER_NAME = re.compile(
    r"(^|[ _.-])(id|uuid|guid)$|[a-z](Id|ID)$"
    r"|^(index|key|row|rownames?|row[ _.-]?(number|id)|unnamed: 0)$"
)


@dataclass
class ColumnUse:
    """A column and what became of it.

    Attributes
    ----------
    name : str
    kind : str
        As in the table above; or empty, constant, identifier, unsupported.
    missing : float
        Share of the cells that have no value.
    role : str
        "feature", "known" or "left out".
    why : str
        Why it is left out.
    form : str
        How dates are written.
    style : NumberStyle or None
        How numbers are written in text.
    strays : int
        Cells of text that count as missing because the others are numbers, dates or
        times; those of the rows to learn from.
    stray : str
        The commonest of them.
    """

    name: str
    kind: str
    missing: float = 0.0
    role: str = "feature"
    why: str = ""
    form: str = ""
    style: NumberStyle | None = None
    strays: int = 0
    stray: str = ""

    def read(self, array: pa.Array) -> tuple[Any, int]:
        """Values of the column's kind, and the number of cells that have another."""
        if self.kind == "number":
            return read_numbers(array, self.style or PLAIN)
        if self.kind == "boolean":
            return read_truths(array)
        if self.kind == "date":
            return read_dates(array, self.form)
        if self.kind == "time":
            return read_times(array, self.form)
        return read_texts(array)

    def reading(self, sampled: bool = False) -> str:
        """How the cells were understood, for a person to read.

        Parameters
        ----------
        sampled : bool
            The rows to learn from are some of the table's, so that counts would be
            too small and are not told.

        Examples
        --------
        >>> style = NumberStyle(thousands=",", prefix="$")
        >>> use = ColumnUse("price", "number", 0.03, style=style, strays=12)
        >>> use.stray = "n.a."
        >>> use.reading()
        "written with $ and commas; 12 cells like 'n.a.' counted as missing"
        """
        parts = [self.style.describe()] if self.style else []
        if self.kind == "date":
            parts.append(describe_form(self.form))
        if self.strays:
            cells = f"{self.strays:,} cell{'s' * (self.strays != 1)}"
            some = "some cells" if sampled else cells
            parts.append(f"{some} like {self.stray[:SHOWN]!r} counted as missing")
        if self.role == "left out":
            return ""
        return "; ".join(part for part in parts if part)


@dataclass
class Columns:
    """The columns of a table, and how to read them from any rows.

    Attributes
    ----------
    uses : list of ColumnUse
    unread : dict
        Of each column, the cells read so far that were of another kind.
    """

    uses: list[ColumnUse]
    unread: dict[str, int] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        rows: pa.Table,
        known: Sequence[str] = (),
        keep: Sequence[str] = (),
        positions: Any = None,
    ) -> Columns:
        """Look at rows and decide.

        Parameters
        ----------
        rows : pyarrow.Table
            The rows to learn from.
        known, keep : sequences of str
            Columns that are trusted, and others that the user named: neither are left
            out for looking like identifiers.
        positions : array-like of shape (n,) or None
            Numbers of these rows in their file; one after the other if None.
        """
        named = {*known, *keep}
        positions = np.arange(len(rows)) if positions is None else np.asarray(positions)
        uses = []
        for name in rows.column_names:
            column = as_column(rows[name])
            use = _kind_of(name, column)
            if use.role != "left out" and name not in named:
                _leave_out_identifier(use, column, positions)
            if use.role != "left out" and name in known:
                use.role = "known"
            uses.append(use)
        return cls(uses)

    @property
    def used(self) -> list[ColumnUse]:
        """The columns that are not left out."""
        return [use for use in self.uses if use.role != "left out"]

    def read(self, rows: pa.Table | pa.RecordBatch) -> pd.DataFrame:
        """The columns that are used, in their kinds, missing where there is no value.

        Numbers, truth values and times are float64, dates datetime64, texts categories.
        """
        read = {}
        for use in self.used:
            values, unread = use.read(as_column(rows.column(use.name)))
            read[use.name] = values
            if unread:
                self.unread[use.name] = self.unread.get(use.name, 0) + unread
        return pd.DataFrame(read, index=pd.RangeIndex(rows.num_rows), copy=False)


def _kind_of(name: str, column: pa.Array) -> ColumnUse:
    type_ = column.type
    if pa.types.is_null(type_):
        return _left_out(name, "empty", 1.0)
    if is_text(type_):
        return _kind_of_text(name, without_missing(column))
    missing = column.null_count / max(1, len(column))
    use = ColumnUse(name, "number", missing)
    if pa.types.is_timestamp(type_) or pa.types.is_date(type_):
        use.kind, use.form = "date", "ISO8601"
    elif pa.types.is_time(type_):
        use.kind, use.form = "time", "%H:%M:%S"
    elif pa.types.is_boolean(type_):
        use.kind = "boolean"
    elif not (
        pa.types.is_integer(type_)
        or pa.types.is_floating(type_)
        or pa.types.is_decimal(type_)
        or pa.types.is_duration(type_)
    ):
        use = _left_out(name, "unsupported", missing)
        use.why = f"cells of type {type_text(type_)} are not understood"
        return use
    return _unless_constant(use, column)


def _kind_of_text(name: str, text: pa.Array) -> ColumnUse:
    """Of text without what stands for no value."""
    missing = text.null_count / max(1, len(text))
    use = ColumnUse(name, "text", missing)
    values = text.drop_null().unique()
    if len(values) == 0:
        return _left_out(name, "empty", missing)
    cells = without_words(text)
    if len(text) - cells.null_count < WORDS * (len(text) - text.null_count):
        cells = text
    lower = set(pc.utf8_lower(values).slice(0, 10).to_pylist())
    if len(values) <= 2 * 4 and any(lower <= set(pair) for pair in TRUTH_PAIRS):
        use.kind = "boolean"
    elif (style := number_style(cells, STRAY_NUMBERS)) is not None:
        use.kind, use.style = "number", style
    elif form := date_form(cells, STRAY):
        use.kind, use.form = "date", form
    elif form := time_form(cells, STRAY):
        use.kind, use.form = "time", form
    elif len(values) < CATEGORIES:
        use.kind = "category"
    return _with_strays(_unless_constant(use, text), text)


def _with_strays(use: ColumnUse, text: pa.Array) -> ColumnUse:
    """Count the cells that a column of numbers, dates or times cannot read."""
    if use.kind not in ("number", "date", "time"):
        return use
    values, use.strays = use.read(text)
    if use.strays:
        strays = text.filter(pa.array(pd.isna(values))).drop_null()
        counts = strays.value_counts()
        commonest = pc.index(counts.field("counts"), pc.max(counts.field("counts")))
        use.stray = counts.field("values")[commonest.as_py()].as_py()
    return use


def _unless_constant(use: ColumnUse, column: pa.Array) -> ColumnUse:
    values, _ = use.read(column)
    known = np.asarray(pd.notna(values))
    use.missing = 1.0 - float(known.mean()) if len(known) else 1.0
    if not known.any():
        return _left_out(use.name, "empty", use.missing)
    different = pd.Series(values[known]).nunique()
    if different == 1 and known.all():
        shown = str(column[0].as_py())
        why = f"every cell is {shown[:40]!r}"
        return ColumnUse(use.name, "constant", 0.0, "left out", why)
    return use


def _left_out(name: str, kind: str, missing: float) -> ColumnUse:
    why = "no cell has a value" if kind == "empty" else ""
    return ColumnUse(name, kind, missing, "left out", why)


def _leave_out_identifier(use: ColumnUse, column: pa.Array, positions: Array) -> None:
    """Take a column out of use if its values only tell rows apart."""
    values, _ = use.read(column)
    if use.missing > 0 or len(positions) < 3:
        return
    why = ""
    if use.kind == "number" and (values == np.round(values)).all():
        if np.ptp(values - positions) == 0:
            why = "it numbers the rows"
        elif (
            len(values) >= FEW
            and _names_identifier(use.name)
            and np.unique(values).size == len(values)
        ):
            why = "its name and values look like an identifier"
    elif use.kind == "text" and len(values) >= FEW and _are_codes(values):
        why = "its values are codes, one for each row"
    if why:
        use.kind, use.role = "identifier", "left out"
        use.why = f"{why}; name it among the features to keep it"


def _names_identifier(name: str) -> bool:
    found = IDENTIFIER_NAME.search
    return bool(found(name) or found(name.lower().strip()))


def _are_codes(values: pd.Series) -> bool:
    """All different, without blanks, and of one shape or long with digits in them."""
    different = values.cat.categories
    if len(different) < len(values) or different.str.contains(r"[\s/]").any():
        return False
    shapes = different.str.replace(r"[0-9]", "9", regex=True)
    shapes = shapes.str.replace(r"[A-Za-z]", "a", regex=True)
    digits = different.str.contains(r"[0-9]")
    return bool(digits.all() and shapes.nunique() == 1) or bool(
        different.str.len().min() >= 8
        and digits.mean() > 0.9
        and different.str.fullmatch(r"[0-9a-fA-F-]+|[^\s@]*_[^\s@]*").all()
    )


def nothing_to_learn_from(uses: list[ColumnUse]) -> str:
    """What to say where no column is left."""
    if not uses:
        return "The table has no column but the target; there is nothing to learn from."
    reasons = "; ".join(f"{use.name!r}: {use.why or use.kind}" for use in uses[:5])
    more = f"; and {len(uses) - 5} more" if len(uses) > 5 else ""
    return f"No column is left to learn from ({reasons}{more})."
