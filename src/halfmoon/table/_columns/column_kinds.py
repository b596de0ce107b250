"""The kind of each column of a table, decided once from the training rows.

===========  ====================================================================
kind         cells
===========  ====================================================================
number       numbers of any type, durations, texts that are all written in one style
             of numbers, such as $1,053 (`_cells/number_style.py`), or as two or three
             numbers, such as 94-102 (`_cells/compound_numbers.py`)
boolean      truth values; true and false, yes and no, t and f, y and n
date         dates and timestamps; texts in known formats
time         times of the day, in seconds
several      texts with the same signs around their numbers, such as 120/80
numbers      (`_cells/several_values.py`)
several      texts with one or more of a few items, such as red;blue
choices      (the same)
category     text with few distinct values
text         text with many
===========  ====================================================================

In a column of numbers, dates or times, a few other cells and words such as "n.a." or
"unknown" count as missing.

Columns without information are left out. So are row numbers and other identifiers,
which a model would only memorize.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from halfmoon._number_format import listed
from halfmoon._rows import Array
from halfmoon.table._cells.cell_values import (
    MAX_STRAY_NUMBERS,
    TRUTH_PAIRS,
    TRUTHS,
    as_column,
    is_number,
    read_compounds,
    read_dates,
    read_numbers,
    read_texts,
    read_times,
    read_truths,
    without_missing,
    without_missing_words,
)
from halfmoon.table._cells.compound_numbers import FORMS, find_form, ranges_beside_words
from halfmoon.table._cells.date_formats import (
    COMPACT_TIME,
    describe_date_format,
    find_compact_format,
    find_date_format,
    find_time_format,
)
from halfmoon.table._cells.missing_codes import (
    missing_codes,
    missing_dates,
    without_codes,
)
from halfmoon.table._cells.number_detection import number_style
from halfmoon.table._cells.number_style import PLAIN, NumberStyle
from halfmoon.table._cells.points_and_commas import agreed_styles
from halfmoon.table._cells.scales import steps_of
from halfmoon.table._cells.several_values import (
    SEPARATORS,
    NumberPattern,
    find_pattern,
    find_separator,
)
from halfmoon.table._columns.identifiers import why_numbers_identify, why_texts_identify
from halfmoon.table._files.arrow_types import is_text, type_text

__all__ = ["CATEGORIES", "ColumnUse", "Columns", "nothing_to_learn_from"]

_COUNTING = Lock()

CATEGORIES = 40  # a text column with fewer distinct values is a category
MAX_STRAYS = 0.02  # share of the cells of dates or times that may be something else
STRICT = ("number", "date", "time", "several numbers")  # other cells are missing
MAX_TRUTH_SPELLINGS = 20  # of truth values, such as yes, Yes, YES
MAX_SHOWN = 20  # characters of a cell


@dataclass
class ColumnUse:
    """A column, its kind and its role."""

    name: str
    kind: str  # as in the table above; or empty, constant, identifier, unsupported
    missing: float = 0.0  # share of the cells without a value
    role: str = "feature"  # or "known", or "left out"
    why: str = ""  # why it is left out
    date_format: str = ""  # how dates or times are written in text
    style: NumberStyle | None = None  # how numbers are written in text
    compound: str = ""  # form of numbers that are written as two or three
    pattern: NumberPattern | None = None  # signs around several numbers in a cell
    separator: str = ""  # of several choices in a cell
    steps: tuple[str, ...] = ()  # of a scale, from low to high
    strays: int = 0  # cells that are missing because the others are numbers or dates
    stray: str = ""  # the most common of them
    # Numbers for a missing value, such as -999; of dates in days since 1970.
    codes: tuple[float, ...] = ()

    def read(self, array: pa.Array) -> tuple[Any, int]:
        """Return values of the column's kind, and the number of other cells."""
        values, unread = self._read(array)
        return without_codes(values, self.codes) if self.codes else values, unread

    def _read(self, array: pa.Array) -> tuple[Any, int]:
        if self.compound and is_text(array.type):
            return read_compounds(array, self.compound)
        if self.pattern and is_text(array.type):
            return self._in_pattern(read_texts(array)[0])
        if self.kind == "number":
            return read_numbers(array, self.style or PLAIN)
        if self.kind == "boolean":
            return read_truths(array)
        if self.kind == "date":
            return read_dates(array, self.date_format)
        if self.kind == "time":
            return read_times(array, self.date_format)
        return read_texts(array)

    def _in_pattern(self, texts: pd.Series) -> tuple[Any, int]:
        """Return texts with the pattern, or their only numbers, and count others."""
        assert self.pattern is not None
        numbers = self.pattern.read(texts.cat.categories)
        fits = ~np.isnan(numbers).all(axis=1)
        values: Any = texts.cat.set_categories(texts.cat.categories[fits])
        if self.pattern.count == 1:
            values = np.append(numbers[:, 0], np.nan)[texts.cat.codes.to_numpy()]
        return values, int(pd.isna(values).sum() - texts.isna().sum())

    @property
    def is_text(self) -> bool:
        """Whether values are texts that are not categories."""
        return self.kind in ("text", "several numbers", "several choices")

    @property
    def coded(self) -> str:
        """The codes for a missing value, in words."""
        if self.kind == "date":
            days = np.array(self.codes).astype("datetime64[D]")
            return listed(days.astype(str).tolist())
        return listed([f"{code:.10g}" for code in self.codes])

    def reading(self, sampled: bool = False) -> str:
        """Return how the cells were read, in words; without counts of a sample.

        Examples
        --------
        >>> style = NumberStyle(thousands=",", prefix="$")
        >>> use = ColumnUse("price", "number", 0.03, style=style, strays=12)
        >>> use.stray = "n.a."
        >>> use.reading()
        "written with $ and commas; 12 cells like 'n.a.' counted as missing"
        """
        if self.role == "left out":
            return ""
        parts = [self.style.describe()] if self.style else []
        if self.compound:
            parts.append(FORMS[self.compound].words)
        if self.pattern:
            parts.append(self.pattern.describe())
        if self.separator:
            parts.append(f"with {SEPARATORS[self.separator]} between them")
        if self.steps:
            parts.append(f"a scale from {self.steps[0]!r} to {self.steps[-1]!r}")
        if self.kind == "date":
            parts.append(describe_date_format(self.date_format))
        if self.strays:
            cells = f"{self.strays:,} cell{'s' * (self.strays != 1)}"
            cells = "some cells" if sampled else cells
            parts.append(f"{cells} like {self.stray[:MAX_SHOWN]!r} counted as missing")
        if self.codes:
            parts.append(f"{self.coded} counted as missing")
        return "; ".join(part for part in parts if part)


@dataclass
class Columns:
    """The columns of a table, and how to read them from any rows."""

    uses: list[ColumnUse]
    # Number of cells of each column read so far that are of another kind.
    unread: dict[str, int] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        rows: pa.Table,
        known: Sequence[str] = (),
        keep: Sequence[str] = (),
        positions: Any = None,
    ) -> Columns:
        """Decide the kind and role of each column by the training rows.

        Trusted columns (`known`) and others that the user named (`keep`) are used even
        if they look like identifiers. `positions` of the rows in their file show a
        column of row numbers, shape (n,).
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
        texts = [use for use in uses if use.style is not None]
        cells = [without_missing(as_column(rows[use.name])) for use in texts]
        agreed = agreed_styles([use.style for use in texts], cells)
        for use, style in zip(texts, agreed, strict=True):
            use.style = style
        return cls(uses)

    @property
    def used(self) -> list[ColumnUse]:
        """Columns that are not left out."""
        return [use for use in self.uses if use.role != "left out"]

    def read(self, rows: pa.Table | pa.RecordBatch) -> pd.DataFrame:
        """Return the used columns as a frame, missing where there is no value.

        Numbers, truth values and times are float64, dates datetime64, texts categories.
        """
        read = {}
        for use in self.used:
            values, unread = use.read(as_column(rows.column(use.name)))
            read[use.name] = values
            if unread:
                with _COUNTING:  # several threads predict at once
                    self.unread[use.name] = self.unread.get(use.name, 0) + unread
        return pd.DataFrame(read, index=pd.RangeIndex(rows.num_rows), copy=False)


def _kind_of(name: str, column: pa.Array) -> ColumnUse:
    type_ = column.type
    if pa.types.is_null(type_):
        return _empty(name, 1.0)
    if is_text(type_):
        return _kind_of_text(name, without_missing(column))
    missing = column.null_count / max(1, len(column))
    use = ColumnUse(name, "number", missing)
    if pa.types.is_timestamp(type_) or pa.types.is_date(type_):
        use.kind, use.date_format = "date", "ISO8601"
    elif pa.types.is_time(type_):
        use.kind, use.date_format = "time", "%H:%M:%S"
    elif pa.types.is_boolean(type_):
        use.kind = "boolean"
    elif not (is_number(type_) or pa.types.is_duration(type_)):
        why = f"cells of type {type_text(type_)} are not understood"
        return ColumnUse(name, "unsupported", missing, "left out", why)
    return _unless_constant(use, column)


def _kind_of_text(name: str, text: pa.Array) -> ColumnUse:
    """Return the kind of a column of text, given without texts for missing values."""
    missing = text.null_count / max(1, len(text))
    use = ColumnUse(name, "text", missing)
    values = text.drop_null().unique()
    if len(values) == 0:
        return _empty(name, missing)
    cells = without_missing_words(text)
    if len(values) <= MAX_TRUTH_SPELLINGS and _are_truths(values):
        use.kind = "boolean"
    elif compact := find_compact_format(cells):
        use.kind = "time" if compact == COMPACT_TIME else "date"
        use.date_format = compact
    elif (style := number_style(cells, MAX_STRAY_NUMBERS, inexact=True)) is not None:
        use.kind, use.style = "number", style
    elif date_format := find_date_format(cells, MAX_STRAYS):
        use.kind, use.date_format = "date", date_format
    elif time_format := find_time_format(cells, MAX_STRAYS):
        use.kind, use.date_format = "time", time_format
    elif form := find_form(cells, MAX_STRAYS) or ranges_beside_words(cells):
        use.kind, use.compound = "number", form
    elif pattern := find_pattern(cells, MAX_STRAYS):
        use.kind = "several numbers" if pattern.count > 1 else "number"
        use.pattern = pattern
    elif separator := find_separator(text):
        use.kind, use.separator = "several choices", separator
    elif len(values) < CATEGORIES:
        use.kind = "category"
        use.steps = tuple(steps_of(cells.drop_null().unique().to_pylist()))
    return _unless_constant(use, text)


def _are_truths(values: pa.Array) -> bool:
    """Whether texts are one pair of words such as yes and no, or a mixture of them."""
    lower = set(pc.utf8_lower(values).to_pylist())
    mixed = len(lower) > 2 and bool(lower & {"true", "false", "yes", "no"})
    false, true = TRUTHS
    return any(lower <= set(pair) for pair in TRUTH_PAIRS) or (
        mixed and lower <= {*false, *true}
    )


def _unless_constant(use: ColumnUse, column: pa.Array) -> ColumnUse:
    """Return how a column is used, with its codes and strays; left out if constant."""
    values, strays = use.read(column)
    if use.kind in ("number", "date"):
        find = missing_dates if use.kind == "date" else missing_codes
        use.codes = find(values)
        values = without_codes(values, use.codes)
    known = np.asarray(pd.notna(values))
    use.missing = 1.0 - float(known.mean()) if len(known) else 1.0
    if not known.any():
        return _empty(use.name, use.missing)
    if known.all() and pd.Series(values).nunique() == 1:
        shown = str(column[0].as_py())
        why = f"every cell is {shown[:40]!r}"
        if pc.count_distinct(column).as_py() > 1:
            why = f"every cell was read as the same {use.kind} as {shown[:40]!r}"
        return ColumnUse(use.name, "constant", 0.0, "left out", why)
    if strays and is_text(column.type) and use.kind in STRICT:
        counts = column.filter(pa.array(~known)).drop_null().value_counts()
        most = pc.index(counts.field("counts"), pc.max(counts.field("counts")))
        use.strays = strays
        use.stray = counts.field("values")[most.as_py()].as_py()
    return use


def _empty(name: str, missing: float) -> ColumnUse:
    return ColumnUse(name, "empty", missing, "left out", "no cell has a value")


def _leave_out_identifier(use: ColumnUse, column: pa.Array, positions: Array) -> None:
    """Leave a column out if its values only identify rows."""
    if use.missing > 0:
        return
    if use.kind == "number":
        values, _ = use.read(column)
        use.why = why_numbers_identify(use.name, values, positions, use.pattern)
    if not use.why and (use.kind == "text" or use.pattern):
        use.why = why_texts_identify(read_texts(column)[0], use.pattern)
    if use.why:
        use.kind, use.role = "identifier", "left out"


def nothing_to_learn_from(uses: list[ColumnUse]) -> str:
    """Return the error message for a table without usable columns."""
    if not uses:
        return "The table has no column but the target; there is nothing to learn from."
    reasons = "; ".join(f"{use.name!r}: {use.why or use.kind}" for use in uses[:5])
    more = f"; and {len(uses) - 5} more" if len(uses) > 5 else ""
    return f"No column is left to learn from ({reasons}{more})."
