"""Cells read as numbers, truth values, dates or text, whatever the file holds.

A cell of a text file is a string; one of a typed file may be a number, a date, a truth
value. Each function here takes either, and gives one kind of values, missing where a
cell has none, and the number of cells that had something else.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from halfmoon.rows import Array
from halfmoon.table.files.arrow_types import decoded_array, null_where
from halfmoon.table.number_style import PLAIN, NumberStyle

__all__ = [
    "BLANK_WORDS",
    "MISSING_TEXTS",
    "MISSING_WORDS",
    "STRAY_NUMBERS",
    "TRUTH_PAIRS",
    "WORDS",
    "as_column",
    "read_dates",
    "read_numbers",
    "read_texts",
    "read_times",
    "read_truths",
    "without_missing",
    "without_words",
]

#: Texts that stand for no value, in any mixture of upper and lower case.
MISSING_TEXTS = ("", "na", "n/a", "nan", "null", "none", "<na>", "?", "-", "nat")

BLANK_LIKE = """
? | ?? | ??? | - | -- | --- | . | .. | ... | * | … | – | — | nil | unk | unknown | tbd
n.a. | n.a | na. | n/k | n.k. | n.d. | nd | #n/a | #na | #null! | #value! | #ref! | tba
#name? | #div/0! | todo | to do | to be determined | to be done | missing | blank
empty | pending | undefined | unspecified | not specified | unlabeled | unlabelled
no answer | no data | nodata | no label | not applicable | not available | not known
not labeled | not labelled | don't know | dont know | not sure | no idea
"""

#: Words that often stand for no value; they are labels unless the user says.
BLANK_WORDS = frozenset(
    word.strip() for line in BLANK_LIKE.splitlines() for word in line.split("|")
) - {""}

#: Texts that stand for no value where the other cells of a column are numbers or dates.
MISSING_WORDS = (
    *sorted(BLANK_WORDS),
    *("k.a.", "s/o", "unk.", "tbc", "void", "undef", "not measured", "#num!"),
    *("\u2212", "**", "x", "xx", "xxx"),
)

#: Texts for false and true, in any mixture of upper and lower case.
TRUTH_PAIRS = (("false", "true"), ("no", "yes"), ("f", "t"), ("n", "y"))

STRAY_NUMBERS = 0.05  # cells among numbers that may be something else
WORDS = 0.5  # of the cells: words for missing values that numbers or dates may have
SECOND = 1e-6  # in seconds, the unit of times below


def as_column(column: Any) -> pa.Array:
    """A column of a table or of a batch as one plain array, its dictionary undone."""
    if isinstance(column, pa.ChunkedArray):
        if pa.types.is_string(column.type):
            # Offsets of 64 bits: the text of all chunks may be more than 2 GB.
            column = column.cast(pa.large_string())
        column = column.combine_chunks()
        if isinstance(column, pa.ChunkedArray):
            column = pa.concat_arrays(column.chunks)
    column = decoded_array(column)
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    return column


def is_text(type_: pa.DataType) -> bool:
    """A column of strings, of any make."""
    return bool(
        pa.types.is_string(type_)
        or pa.types.is_large_string(type_)
        or pa.types.is_string_view(type_)
    )


def without_missing(array: pa.Array) -> pa.Array:
    """Texts without the blanks about them, null where they stand for no value."""
    return _unless_in(pc.utf8_trim_whitespace(decoded_array(array)), MISSING_TEXTS)


def without_words(text: pa.Array) -> pa.Array:
    """What `without_missing` gives, null also where a word stands for no value."""
    return _unless_in(text, MISSING_WORDS)


def _unless_in(text: pa.Array, words: tuple[str, ...]) -> pa.Array:
    """Texts, null where they are one of some words in any case."""
    longest = max(len(word.encode()) for word in words)
    short = pc.less_equal(pc.binary_length(text), longest)
    if not pc.any(short).as_py():
        return text
    lower = pc.utf8_lower(pc.if_else(short, text, "\0"))
    marked = pc.is_in(lower, pa.array(words, lower.type))
    return null_where(text, marked)


def read_numbers(array: pa.Array, style: NumberStyle = PLAIN) -> tuple[Array, int]:
    """Numbers, NaN where there is none.

    Parameters
    ----------
    array : pyarrow.Array
        Text, or numbers, truth values or durations (in seconds) of any type.
    style : NumberStyle
        How numbers are written in text.

    Returns
    -------
    values : ndarray of shape (n,)
    unread : int
        Cells with something else than a finite number.
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
        return _finite(values, SECOND)
    if pa.types.is_boolean(type_):
        array = array.cast(pa.uint8())
    elif pa.types.is_temporal(type_) or not _is_number(type_):
        return np.full(len(array), np.nan), len(array) - array.null_count
    return _finite(array)


def _plain_numbers(array: pa.Array) -> Array | None:
    """Cells that are all empty or finite numbers; None at the first that is not."""
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
    strange = infinite or int(np.isnan(values).sum()) != numbers.null_count
    return None if strange else values


def _is_number(type_: pa.DataType) -> bool:
    kinds = (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal)
    return any(kind(type_) for kind in kinds)


def _finite(array: pa.Array, unit: float = 1.0) -> tuple[Array, int]:
    numbers = array.cast(pa.float64(), safe=False)
    values = np.array(numbers.to_numpy(zero_copy_only=False), dtype=np.float64)
    infinite = np.isinf(values)
    values[infinite] = np.nan
    if unit != 1.0:
        values *= unit
    return values, int(infinite.sum())


def read_truths(array: pa.Array) -> tuple[Array, int]:
    """Truth values as 0 and 1, NaN where there is none, and how many were not read."""
    if not is_text(array.type):
        values, unread = read_numbers(array)
        strange = ~np.isin(values, (0.0, 1.0)) & ~np.isnan(values)
        values[strange] = np.nan
        return values, unread + int(strange.sum())
    text = pc.utf8_lower(without_missing(array))
    no, yes = (pa.array(words, text.type) for words in zip(*TRUTH_PAIRS, strict=True))
    false = pc.is_in(text, no).to_numpy(zero_copy_only=False)
    true = pc.is_in(text, yes).to_numpy(zero_copy_only=False)
    values = np.where(true, 1.0, np.where(false, 0.0, np.nan))
    return values, len(text) - text.null_count - int((true | false).sum())


def read_dates(array: pa.Array, form: str) -> tuple[pd.Series, int]:
    """Dates, NaT where there is none, in universal time where they name a zone.

    Parameters
    ----------
    array : pyarrow.Array
        Text, dates or timestamps.
    form : str
        How dates are written in text: as in `datetime.strptime`, or "ISO8601"; or
        several forms with | between, of which the first that fits a cell is taken.
    """
    type_ = array.type
    if pa.types.is_timestamp(type_) or pa.types.is_date(type_):
        # By way of whole microseconds, so that no zone is needed to show them.
        array = array.cast(pa.timestamp("us", getattr(type_, "tz", None)), safe=False)
        ticks = array.cast(pa.int64()).fill_null(np.iinfo(np.int64).min)
        dates = ticks.to_numpy(zero_copy_only=False).view("datetime64[us]")
        return pd.Series(dates), 0
    if not is_text(type_):
        empty = pd.Series(np.full(len(array), "NaT", dtype="datetime64[us]"))
        return empty, len(array) - array.null_count
    text = without_missing(array)
    values, codes = _distinct(text)
    cells = pd.Series(values, dtype=object)
    dates = pd.Series(np.full(len(cells), "NaT", dtype="datetime64[us]"))
    for each in form.split("|"):
        left = dates.isna()
        if left.any():
            read = pd.to_datetime(cells[left], format=each, errors="coerce", utc=True)
            dates[left] = read.dt.tz_localize(None).astype("datetime64[us]")
    dates = pd.concat([dates, pd.Series([pd.NaT], dtype=dates.dtype)])
    found = dates.iloc[codes].reset_index(drop=True)  # the last is what is missing
    return found, int(found.isna().sum()) - text.null_count


def read_times(array: pa.Array, form: str) -> tuple[Array, int]:
    """Times of the day in seconds, NaN where there is none; parameters as above."""
    type_ = array.type
    if pa.types.is_time(type_):
        array = array.cast(pa.time64("us"), safe=False).cast(pa.int64())
        return _finite(array, SECOND)
    dates, unread = read_dates(array, form)
    since = dates - dates.dt.normalize()
    return since.dt.total_seconds().to_numpy(dtype=np.float64), unread


def read_texts(array: pa.Array) -> tuple[pd.Series, int]:
    """Texts as categories, missing where there is none."""
    if not is_text(array.type):
        if pa.types.is_nested(array.type) or pa.types.is_binary(array.type):
            array = pa.nulls(len(array), pa.string())
        array = array.cast(pa.string())
    values, codes = _distinct(without_missing(array))
    categories = pd.Index(values, dtype=object)
    return pd.Series(pd.Categorical.from_codes(codes, categories)), 0


def _distinct(text: pa.Array) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Different texts, in order of appearance, and the number of each; -1 for none."""
    encoded = text.dictionary_encode()
    codes = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False)
    return encoded.dictionary.to_numpy(zero_copy_only=False), codes
