"""Names of columns: those to learn from, and those that filling adds.

If a table has columns ``y`` and ``y_source``, and every cell of the latter is "given",
"predicted" or empty, then an earlier run added ``y_source``, and also ``y_confidence``,
``y_candidates``, ``y_low`` and ``y_high`` (or ``y_predicted_low`` and
``y_predicted_high``, if the user has columns of the former names). Nothing is learned
from what was predicted.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from fnmatch import fnmatchcase
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from halfmoon._notes import Note
from halfmoon.table._cells.cell_values import as_column
from halfmoon.table._files.arrow_types import is_text
from halfmoon.table._run_settings import Settings
from halfmoon.table._table_errors import CommandError

__all__ = [
    "added_by",
    "added_columns",
    "chosen_features",
    "did_you_mean",
    "earlier_runs",
    "existing",
    "guess_notes",
    "is_predicted",
    "known_columns",
    "matching",
    "quoted",
    "refuse_taken",
]

MAX_ERROR_NAMES = 12  # column names in an error
MAX_FEATURES = 20_000  # columns to learn from: each takes milliseconds
WILDCARDS = set("*?[")
GIVEN, PREDICTED = "given", "predicted"  # cells of the source column
SOURCES = {GIVEN, PREDICTED, ""}
SUFFIXES = ("_source", "_confidence", "_candidates")
ENDS = ("_low", "_high")
PREDICTED_ENDS = ("_predicted_low", "_predicted_high")


def chosen_features(
    columns: Sequence[str],
    settings: Settings,
    added: Collection[str] = (),
    guessed: Collection[str] = (),
) -> tuple[str, ...]:
    """Return the columns to learn from, in the order of the table.

    Columns that an earlier run `added` are never learned from. Columns with predictions
    (`guessed`) are learned from only if they are named.

    Examples
    --------
    >>> chosen_features(["id", "a", "b", "y"], Settings("y", exclude=("id",)))
    ('a', 'b')
    """
    for name in settings.ends:
        existing(name, columns, "an end of the target")
    if not settings.ends:
        existing(settings.target, columns, "target")
    wanted, excluded, known = (
        _expanded(getattr(settings, name), columns, name, settings.target)
        for name in ("features", "exclude", "known")
    )
    for parameter, names in (("features", wanted), ("known", known)):
        with_labels = sorted(names & {settings.target, *settings.ends})
        if with_labels:
            raise CommandError(
                f"{with_labels[0]!r} holds labels and cannot be learned from. Remove "
                f"it from {parameter}."
            )
        both = sorted(names & excluded)
        if both:
            raise CommandError(
                f"{both[0]!r} is in {parameter} and in exclude. Remove it from one."
            )
    for name in (*settings.features, *settings.known):
        if name in added:
            raise CommandError(
                f"{name!r} was added by an earlier run of halfmoon and describes its "
                f"predictions, so nothing can be learned from it. Remove it from the "
                f"features."
            )
    usual = set(columns) - excluded - {settings.target, *settings.ends}
    usual -= set(guessed) - known
    taken = (wanted | known if wanted else usual) - set(added)
    if not taken:
        raise CommandError(
            f"No column is left to learn from: the table has {quoted(columns)} and "
            f"{settings.target!r} is the target."
        )
    if len(taken) > MAX_FEATURES:
        raise CommandError(
            f"{len(taken):,} columns are too many to learn from; at most "
            f"{MAX_FEATURES:,} are possible. Name those that matter in `features`, or "
            f"leave others out with `exclude`. A name may be a pattern, such as 'x1*'."
        )
    return tuple(name for name in columns if name in taken)


def known_columns(columns: Sequence[str], settings: Settings) -> tuple[str, ...]:
    """Return the columns that are not penalized, in the order of the table."""
    known = _expanded(settings.known, columns, "known", settings.target)
    return tuple(name for name in columns if name in known)


def added_columns(
    target: str, task: str, sets: str | None = None, ends: Sequence[str] = ()
) -> tuple[str, ...]:
    """Return the names of the columns that filling adds.

    With `sets`, the candidates are kept in a column of their own. `ends` are the user's
    columns with ends of numbers.

    Examples
    --------
    >>> added_columns("species", "classes")
    ('species_source', 'species_confidence')
    """
    source, low, high = (f"{target}_{each}" for each in ("source", "low", "high"))
    if task == "numbers":
        if {low, high} & set(ends):
            return source, f"{target}_predicted_low", f"{target}_predicted_high"
        return source, low, high
    candidates = () if sets is None else (f"{target}_candidates",)
    return source, f"{target}_confidence", *candidates


def refuse_taken(columns: Collection[str], new: Iterable[str]) -> None:
    """Refuse a table that already has one of the new columns."""
    for name in new:
        if name in columns:
            raise CommandError(
                f"The table already has a column {name!r}, which halfmoon would add. "
                f"Rename it, or remove it."
            )


def existing(name: str, columns: Sequence[str], what: str = "") -> str:
    """Return the name if it is a column; otherwise raise an error with a suggestion."""
    if name in columns:
        return name
    hint = did_you_mean(name, columns)
    if len(columns) == 1:
        hint = (
            " It was read as a single column: if a character separates its cells, name "
            "it in `delimiter`."
        )
    raise CommandError(
        f"The table has no column {name!r}{f' ({what})' if what else ''}.{hint} It has "
        f"{quoted(columns)}."
    )


def did_you_mean(name: str, names: Sequence[str], likeness: float = 0.5) -> str:
    """Return a suggestion from other names, or an empty text."""
    close = get_close_matches(name, names, 1, cutoff=likeness) or [
        each for each in names if each.strip().lower() == name.strip().lower()
    ]
    return f" Did you mean {close[0]!r}?" if close else ""


def quoted(names: Sequence[str]) -> str:
    """Return up to 12 names for a person to read.

    Examples
    --------
    >>> quoted(["a", "b"])
    "'a', 'b'"
    """
    shown = ", ".join(map(repr, names[:MAX_ERROR_NAMES]))
    more = len(names) - MAX_ERROR_NAMES
    return shown + (f" and {more:,} more" if more > 0 else "")


def matching(pattern: str, columns: Sequence[str], what: str = "") -> list[str]:
    """Return the columns that a name or a pattern stands for; an error if none.

    Spaces around the only name that fits, as after the commas of a header, need not be
    given.

    Examples
    --------
    >>> matching("b*", ["a", "b", "bc"]), matching("a", ["a", "b"])
    (['b', 'bc'], ['a'])
    >>> matching("b", ["a", " b"])
    [' b']
    """
    padded = [column for column in columns if column.strip() == pattern.strip()]
    if pattern not in columns and len(padded) == 1:
        return padded
    if pattern in columns or not WILDCARDS & set(pattern):
        return [existing(pattern, columns, what)]
    found = [column for column in columns if fnmatchcase(column, pattern)]
    if not found:
        plain = "".join(sign for sign in pattern if sign not in WILDCARDS)
        close = get_close_matches(plain, columns, 3, cutoff=0.4)
        hint = f" Similar names: {quoted(close)}." if close else ""
        raise CommandError(
            f"No column matches {pattern!r}{f' ({what})' if what else ''}.{hint} "
            f"The table has {quoted(columns)}."
        )
    return found


def _expanded(
    names: Iterable[str], columns: Sequence[str], parameter: str, target: str
) -> set[str]:
    """Return the columns that names and patterns stand for; commas may separate them.

    No pattern includes the target.
    """
    found: set[str] = set()
    for name in names:
        parts = [part.strip() for part in name.split(",") if part.strip()]
        for part in [name] if name in columns or len(parts) < 2 else parts:
            matches = set(matching(part, columns, f"in {parameter}"))
            found |= matches if part in matches else matches - {target}
    return found


def earlier_runs(table: Any) -> dict[str, tuple[str, ...]]:
    """Return the targets that an earlier run filled, with the columns that it added.

    A table of `halfmoon.table._files` is read once if the name of a column suggests an
    earlier run, and not at all otherwise.
    """
    columns = set(table.columns)
    targets = [name for name in table.columns if f"{name}_source" in columns]
    seen: dict[str, set[str]] = {name: set() for name in targets}
    if targets:
        for batch in table.batches():
            for name, values in seen.items():
                if values <= SOURCES:  # otherwise it is a column of the user's own
                    values |= _values(batch.plain.column(f"{name}_source"))
    runs = {}
    for name, values in seen.items():
        if values <= SOURCES and values != {""}:
            own_ends = f"{name}_predicted_low" in columns
            suffixes = (*SUFFIXES, *(PREDICTED_ENDS if own_ends else ENDS))
            added = (name + suffix for suffix in suffixes)
            runs[name] = tuple(column for column in added if column in columns)
    return runs


def added_by(runs: Mapping[str, tuple[str, ...]]) -> set[str]:
    """Return all columns that earlier runs added."""
    return {name for added in runs.values() for name in added}


def guess_notes(names: Sequence[str]) -> Iterator[Note]:
    """Note columns that were not learned from because they hold predictions."""
    if not names:
        return
    one = len(names) == 1
    yield Note(
        f"{', '.join(map(repr, names))} {'was' if one else 'were'} not learned from: "
        f"some of {'its' if one else 'their'} cells are predictions.",
        f"To learn from {'it, name it' if one else 'them, name them'} in `features`.",
    )


def is_predicted(column: Any) -> NDArray[np.bool_]:
    """Return where a column of sources says "predicted", shape (n,)."""
    texts = _plain(as_column(column))
    found = pc.equal(texts, PREDICTED).fill_null(False)
    return np.asarray(found.to_numpy(zero_copy_only=False), dtype=bool)


def _values(column: Any) -> set[str]:
    array = as_column(column)
    if not is_text(array.type) and not pa.types.is_null(array.type):
        return {"of another kind"}
    return {value or "" for value in pc.unique(_plain(array)).to_pylist()}


def _plain(array: Any) -> Any:
    """Return text in lower case without spaces around it."""
    return pc.utf8_lower(pc.utf8_trim_whitespace(array.cast(pa.large_string())))
