"""Read cells as numbers, truth values, dates or texts.

A cell of a text file is a string; a cell of a typed file may be a number, a date or a
truth value. Each function takes either. It returns values of one kind, missing where a
cell has none, and the number of cells with something else.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from halfmoon._rows import Array
from halfmoon.table._cells.compound_numbers import read_form
from halfmoon.table._cells.date_formats import SERIAL, without_weekday
from halfmoon.table._cells.date_spellings import plain_dates
from halfmoon.table._cells.number_style import PLAIN, NumberStyle
from halfmoon.table._files.arrow_types import decoded_array, is_text, null_where

__all__ = [
    "BLANK_WORDS",
    "INVISIBLE",
    "MAX_STRAY_NUMBERS",
    "MISSING_TEXTS",
    "MISSING_WORDS",
    "TRUTHS",
    "TRUTH_PAIRS",
    "as_column",
    "as_number",
    "as_text",
    "is_number",
    "looks_blank",
    "read_compounds",
    "read_dates",
    "read_numbers",
    "read_texts",
    "read_times",
    "read_truths",
    "row_texts",
    "without_missing",
    "without_missing_words",
    "without_repeated_words",
    "without_words",
]

#: Texts that mark a missing value, in upper or lower case.
MISSING_TEXTS = (
    *("", "na", "n/a", "nan", "null", "none", "<na>", r"\n", "?", "-", "nat"),
)

BLANK_LIKE = """
? | ?? | ??? | - | -- | --- | . | .. | ... | * | … | – | — | nil | unk | unknown | tbd
n.a. | n.a | na. | n/k | n.k. | n.d. | nd | #n/a | #na | #null! | #value! | #ref! | tba
#name? | #div/0! | todo | to do | to be determined | to be done | missing | blank
empty | pending | undefined | unspecified | not specified | unlabeled | unlabelled
no answer | no data | nodata | no label | not applicable | not available | not known
not labeled | not labelled | don't know | dont know | not sure | no idea | select
select one | please select | choose | choose one
"""

#: Words that often mark a missing value, but are labels unless the user says so.
BLANK_WORDS = frozenset(
    word.strip() for line in BLANK_LIKE.splitlines() for word in line.split("|")
) - {""}

#: Texts that mark a missing value in a column of numbers or dates.
MISSING_WORDS = (
    *sorted(BLANK_WORDS),
    *("k.a.", "s/o", "unk.", "tbc", "void", "undef", "not measured", "#num!"),
    *("\u2212", "**", ":", "x", "xx", "xxx"),
)

#: Texts for false and true, in upper or lower case.
TRUTH_PAIRS = (("false", "true"), ("no", "yes"), ("f", "t"), ("n", "y"), ("off", "on"))
#: The same of all pairs, and numbers among them.
TRUTHS = tuple((*(p[i] for p in TRUTH_PAIRS), str(i), f"{i}.0") for i in (0, 1))

#: Characters without width or sign, which may stand around a text.
INVISIBLE = "\u00ad\u200b\u200c\u200d\u200e\u200f\u2060\ufeff"

MAX_STRAY_NUMBERS = 0.05  # share of the cells of numbers that may be something else
MAX_MISSING_WORDS = 0.5  # share of the cells of numbers or dates that may be words
MAX_REPEATED_WORDS = 5  # different words among them that are not in `MISSING_WORDS`
MIN_OTHERS = 20  # different cells beside such words; with fewer, all are categories
SERIAL_RANGE = (20_000, 60_000)  # days since 1899-12-30 that a date may be written as
MICROSECOND = 1e-6  # in seconds


def as_column(column: Any) -> pa.Array:
    """Return a column of a table or batch as one plain array, without dictionary."""
    if isinstance(column, pa.ChunkedArray):
        if pa.types.is_string(column.type):
            # 64-bit offsets: the text of all chunks may be more than 2 GB.
            column = column.cast(pa.large_string())
        column = column.combine_chunks()
        if isinstance(column, pa.ChunkedArray):
            column = pa.concat_arrays(column.chunks)
    column = decoded_array(column)
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    return column


def as_text(cell: Any) -> str:
    """Return a cell as text, empty for None."""
    return "" if cell is None else str(cell)


def row_texts(rows: pa.Table | pa.RecordBatch) -> list[dict[str, str]]:
    """Return the cells of each row as text, by column."""
    return [
        {name: as_text(cell) for name, cell in row.items()} for row in rows.to_pylist()
    ]


def without_missing(array: pa.Array) -> pa.Array:
    """Return texts without surrounding spaces, null where they mark a missing value."""
    text = pc.utf8_trim_whitespace(decoded_array(array))
    if not pc.all(pc.string_is_ascii(text), min_count=0).as_py():
        text = pc.utf8_trim_whitespace(pc.utf8_trim(text, INVISIBLE))
    return _unless_in(text, MISSING_TEXTS)


def without_words(text: pa.Array) -> pa.Array:
    """Return texts from `without_missing`, null also for words such as "unknown"."""
    return _unless_in(text, MISSING_WORDS)


def without_missing_words(text: pa.Array) -> pa.Array:
    """Return texts as `without_words`, null also for a few other words among numbers.

    Nobody can list the words for a missing number in all languages: "keine Angabe",
    "not tested", "#NV". They may be at most half of the cells, and words such as
    "unknown" more than half only beside many different cells.
    """
    cells = without_words(text)
    few = _present(cells) < MAX_MISSING_WORDS * _present(text)
    if few and pc.count_distinct(cells).as_py() < MIN_OTHERS:
        return text
    others = without_repeated_words(cells)
    few = _present(others) < MAX_MISSING_WORDS * _present(cells)
    return cells if few else others


def _present(text: pa.Array) -> int:
    """Return how many cells have a value."""
    return len(text) - text.null_count


def without_repeated_words(text: pa.Array) -> pa.Array:
    """Return texts, null for a few words among many different cells with digits."""
    digits = pc.match_substring_regex(text, "[0-9]")
    words, others = text.filter(pc.invert(digits)), text.filter(digits)
    few = pc.count_distinct(words).as_py() <= MAX_REPEATED_WORDS
    if few and pc.count_distinct(others).as_py() >= MIN_OTHERS:
        return null_where(text, pc.invert(digits))
    return text


def _unless_in(text: pa.Array, words: tuple[str, ...]) -> pa.Array:
    """Return texts, null where they are one of the words in upper or lower case."""
    max_bytes = max(len(word.encode()) for word in words)
    short = pc.less_equal(pc.binary_length(text), max_bytes)
    if not pc.any(short).as_py():
        return text
    lower = pc.utf8_lower(pc.if_else(short, text, "\0"))
    return null_where(text, pc.is_in(lower, pa.array(words, lower.type)))


def read_numbers(array: pa.Array, style: NumberStyle = PLAIN) -> tuple[Array, int]:
    """Return numbers, NaN where there is none, and how many cells hold something else.

    Durations are read in seconds. `style` is how numbers are written in text.
    """
    if is_text(array.type):
        plain = _plain_numbers(array) if style.is_plain else None
        if plain is not None:
            return plain, 0
        text = without_missing(array)
        values, _ = _finite(style.read(text))
        return values, len(text) - text.null_count - int(np.isfinite(values).sum())
    type_ = array.type
    if pa.types.is_duration(type_):
        values = array.cast(pa.duration("us"), safe=False).cast(pa.int64())
        return _finite(values, MICROSECOND)
    if pa.types.is_boolean(type_):
        array = array.cast(pa.uint8())
    elif pa.types.is_temporal(type_) or not is_number(type_):
        return np.full(len(array), np.nan), len(array) - array.null_count
    return _finite(array)


def _plain_numbers(array: pa.Array) -> Array | None:
    """Return cells that are all empty or plain finite numbers; None otherwise."""
    if pa.types.is_string_view(array.type):
        return None
    empty = pc.equal(array, "")
    if pc.any(empty).as_py():
        array = null_where(array, empty)
    try:
        numbers = pc.cast(array, pa.float64())
    except pa.ArrowInvalid:
        return None
    values, infinite = _finite(numbers)
    other = infinite or int(np.isnan(values).sum()) != numbers.null_count
    return None if other else values


def is_number(type_: pa.DataType) -> bool:
    """Whether a column holds integers, floats or decimals."""
    kinds = (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal)
    return any(kind(type_) for kind in kinds)


def _finite(array: pa.Array, unit: float = 1.0) -> tuple[Array, int]:
    """Return numbers times a unit, NaN if not finite, and how many are infinite."""
    numbers = array.cast(pa.float64(), safe=False)
    values = np.array(numbers.to_numpy(zero_copy_only=False), dtype=np.float64)
    infinite = np.isinf(values)
    values[infinite] = np.nan
    return values * unit, int(infinite.sum())


def read_truths(array: pa.Array) -> tuple[Array, int]:
    """Return truth values as 0 and 1, NaN where there is none, and unread cells."""
    if not is_text(array.type):
        values, unread = read_numbers(array)
        other = ~np.isin(values, (0.0, 1.0)) & ~np.isnan(values)
        values[other] = np.nan
        return values, unread + int(other.sum())
    text = pc.utf8_lower(without_missing(array))
    no, yes = (pa.array(words, text.type) for words in TRUTHS)
    false = pc.is_in(text, no).to_numpy(zero_copy_only=False)
    true = pc.is_in(text, yes).to_numpy(zero_copy_only=False)
    values = np.where(true, 1.0, np.where(false, 0.0, np.nan))
    return values, len(text) - text.null_count - int((true | false).sum())


def read_dates(array: pa.Array, date_format: str) -> tuple[pd.Series, int]:
    """Return dates, NaT where there is none, in UTC if they name a time zone.

    The format of dates in text is as in `datetime.strptime`, or "ISO8601". Of several,
    joined by ``|``, the first that fits a cell is taken.
    """
    type_ = array.type
    if pa.types.is_timestamp(type_) or pa.types.is_date(type_):
        # As whole microseconds, because pandas would look up the time zone.
        array = array.cast(pa.timestamp("us", getattr(type_, "tz", None)), safe=False)
        ticks = array.cast(pa.int64()).fill_null(np.iinfo(np.int64).min)
        dates = ticks.to_numpy(zero_copy_only=False).view("datetime64[us]")
        return pd.Series(dates), 0
    if not is_text(type_):
        empty = pd.Series(np.full(len(array), "NaT", dtype="datetime64[us]"))
        return empty, len(array) - array.null_count
    text = without_missing(array)
    values, codes = _distinct(text, plain_dates)
    cells = pd.Series(values, dtype=object)
    dates = pd.Series(np.full(len(cells), "NaT", dtype="datetime64[us]"))
    for each in without_weekday(date_format).split("|"):
        left = dates.isna()
        if left.any():
            read = _dates_in(cells[left], each)
            dates[left] = read.dt.tz_localize(None).astype("datetime64[us]")
    dates = pd.concat([dates, pd.Series([pd.NaT], dtype=dates.dtype)])
    found = dates.iloc[codes].reset_index(drop=True)  # -1, the last, if missing
    return found, int(found.isna().sum()) - text.null_count


def _dates_in(cells: pd.Series, date_format: str) -> pd.Series:
    """Return dates in UTC, NaT where a cell is not in the format."""
    if date_format == SERIAL:
        days = pd.to_numeric(cells, errors="coerce")
        days = days.where(days.between(*SERIAL_RANGE))
        return pd.to_datetime(days, unit="D", origin="1899-12-30", utc=True)
    return pd.to_datetime(cells, format=date_format, errors="coerce", utc=True)


def read_times(array: pa.Array, time_format: str) -> tuple[Array, int]:
    """Return times of the day in seconds, NaN where there is none; see `read_dates`."""
    type_ = array.type
    if pa.types.is_time(type_):
        array = array.cast(pa.time64("us"), safe=False).cast(pa.int64())
        return _finite(array, MICROSECOND)
    dates, unread = read_dates(array, time_format)
    since = dates - dates.dt.normalize()
    return since.dt.total_seconds().to_numpy(dtype=np.float64), unread


def read_texts(array: pa.Array) -> tuple[pd.Series, int]:
    """Return texts as a categorical column, missing where there is none."""
    if not is_text(array.type):
        if pa.types.is_nested(array.type) or pa.types.is_binary(array.type):
            array = pa.nulls(len(array), pa.string())
        array = array.cast(pa.string())
    values, codes = _distinct(without_missing(array))
    categories = pd.Index(values, dtype=object)
    return pd.Series(pd.Categorical.from_codes(codes, categories)), 0


def read_compounds(array: pa.Array, form: str) -> tuple[Array, int]:
    """Return numbers written as two or three, NaN where there is none; unread cells."""
    text = without_missing(array)
    values, codes = _distinct(text, lambda cells: pa.array(read_form(cells, form)))
    numbers = np.append(values, np.nan)[codes]
    return numbers, int(np.isnan(numbers).sum()) - text.null_count


def _distinct(
    text: pa.Array, change: Callable[[pa.Array], pa.Array] = lambda distinct: distinct
) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Return the distinct texts, changed, and the code of each text; -1 if missing."""
    encoded = text.dictionary_encode()
    codes = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False)
    return change(encoded.dictionary).to_numpy(zero_copy_only=False), codes


def looks_blank(label: Any) -> bool:
    """Whether a label is a word that often means a blank.

    Examples
    --------
    >>> looks_blank("TBD"), looks_blank(" ? "), looks_blank("other"), looks_blank(0)
    (True, True, False, False)
    >>> looks_blank("(blank)"), looks_blank("-- Select --")
    (True, True)
    """
    if not isinstance(label, str):
        return False
    text = label.strip().casefold()
    return text in BLANK_WORDS or re.sub(r"^[\W_]+|[\W_]+$", "", text) in BLANK_WORDS


def as_number(value: Any) -> float:
    """Return a value or text as a number; NaN if it is not one."""
    if isinstance(value, str):
        value = value.strip()
        if "_" in value:  # Python reads 1_000 as a number
            return math.nan
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return math.nan
