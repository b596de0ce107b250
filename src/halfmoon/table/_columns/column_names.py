"""Names of columns: those to learn from, and those that filling adds."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from difflib import get_close_matches
from fnmatch import fnmatchcase

from halfmoon.table._runs.run_settings import Settings
from halfmoon.table._table_errors import CommandError

__all__ = [
    "added_columns",
    "chosen_features",
    "did_you_mean",
    "existing",
    "known_columns",
    "listed",
    "matching",
    "refuse_taken",
]

MAX_ERROR_NAMES = 12  # column names in an error
WILDCARDS = set("*?[")


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
            f"No column is left to learn from: the table has {listed(columns)} and "
            f"{settings.target!r} is the target."
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
    raise CommandError(
        f"The table has no column {name!r}{f' ({what})' if what else ''}."
        f"{did_you_mean(name, columns)} It has {listed(columns)}."
    )


def did_you_mean(name: str, names: Sequence[str]) -> str:
    """Return a suggestion from other names, or an empty text."""
    close = get_close_matches(name, names, 1, cutoff=0.5) or [
        each for each in names if each.strip().lower() == name.strip().lower()
    ]
    return f" Did you mean {close[0]!r}?" if close else ""


def listed(names: Sequence[str]) -> str:
    """Return up to 12 names for a person to read.

    Examples
    --------
    >>> listed(["a", "b"])
    "'a', 'b'"
    """
    shown = ", ".join(map(repr, names[:MAX_ERROR_NAMES]))
    more = len(names) - MAX_ERROR_NAMES
    return shown + (f" and {more:,} more" if more > 0 else "")


def matching(pattern: str, columns: Sequence[str], what: str = "") -> list[str]:
    """Return the columns that a name or a pattern stands for; an error if none.

    Examples
    --------
    >>> matching("b*", ["a", "b", "bc"]), matching("a", ["a", "b"])
    (['b', 'bc'], ['a'])
    """
    if pattern in columns or not WILDCARDS & set(pattern):
        return [existing(pattern, columns, what)]
    found = [column for column in columns if fnmatchcase(column, pattern)]
    if not found:
        plain = "".join(sign for sign in pattern if sign not in WILDCARDS)
        close = get_close_matches(plain, columns, 3, cutoff=0.4)
        hint = f" Similar names: {listed(close)}." if close else ""
        raise CommandError(
            f"No column matches {pattern!r}{f' ({what})' if what else ''}.{hint} "
            f"The table has {listed(columns)}."
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
