"""Which columns are learned from, found by the names that the user gave."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from difflib import get_close_matches
from fnmatch import fnmatchcase

from halfmoon.table.errors import CommandError
from halfmoon.table.settings import Settings

__all__ = [
    "added_columns",
    "chosen_features",
    "existing",
    "known_columns",
    "listed",
    "matching",
    "refuse_taken",
]

SHOWN = 12  # column names in an error
CLOSE = 3  # of these, the ones that a pattern may have meant
WILD = set("*?[")


def chosen_features(
    columns: Sequence[str],
    settings: Settings,
    added: Collection[str] = (),
    guessed: Collection[str] = (),
) -> tuple[str, ...]:
    """The columns to learn from, in the order of the table.

    A name may be a pattern, as of files: "bill_*". The target is in no pattern.

    Parameters
    ----------
    columns : sequence of str
        Of the table.
    settings : Settings
    added : collection of str
        Columns that halfmoon added, which are never learned from.
    guessed : collection of str
        Columns with predictions, which are learned from only if they are named.

    Examples
    --------
    >>> chosen_features(["id", "a", "b", "y"], Settings("y", exclude=("id",)))
    ('a', 'b')
    """
    if not settings.ends:
        existing(settings.target, columns, "target")
    for end in settings.ends:
        existing(end, columns, "an end of the target")
    wanted, unwanted, known = (
        _several(names, columns, option, settings.target)
        for option, names in (
            ("features", settings.features),
            ("exclude", settings.exclude),
            ("known", settings.known),
        )
    )
    for option, names in (("features", wanted), ("known", known)):
        if settings.target in names:
            raise CommandError(
                f"{settings.target!r} is the target and is in {option} too; a column "
                f"cannot be learned from itself. Remove it from {option}."
            )
        ends = sorted(names & set(settings.ends))
        if ends:
            raise CommandError(
                f"{ends[0]!r} holds ends of the target and is in {option} too. Remove "
                f"it from {option}."
            )
        both = sorted(names & unwanted)
        if both:
            raise CommandError(
                f"{both[0]!r} is in {option} and in exclude. Remove it from one."
            )
    for name in (*settings.features, *settings.known):
        if name in added:
            raise CommandError(
                f"{name!r} was added by an earlier run of halfmoon and says what it "
                f"predicted, so nothing can be learned from it. Remove it from the "
                f"features."
            )
    own = {settings.target, *settings.ends}
    usual = set(columns) - unwanted - own - (set(guessed) - known)
    taken = (wanted | known if wanted else usual) - set(added)
    if not taken:
        raise CommandError(
            f"No column is left to learn from: the table has "
            f"{listed(columns)} and {settings.target!r} is the target."
        )
    return tuple(name for name in columns if name in taken)


def known_columns(columns: Sequence[str], settings: Settings) -> tuple[str, ...]:
    """The columns that no penalty touches, in the order of the table."""
    known = _several(settings.known, columns, "known", settings.target)
    return tuple(name for name in columns if name in known)


def added_columns(
    target: str, task: str, sets: str | None = None, ends: Sequence[str] = ()
) -> tuple[str, ...]:
    """Names of the columns that filling adds.

    Parameters
    ----------
    target : str
    task : "classes", "ordered" or "numbers"
    sets : str or None
        What stands between candidates, which are kept beside the one that is chosen.
    ends : sequence of str
        Columns of the user's own with ends of numbers.

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
    if sets is not None:
        return source, f"{target}_confidence", f"{target}_candidates"
    return source, f"{target}_confidence"


def refuse_taken(columns: Collection[str], new: Iterable[str]) -> None:
    """Refuse a table that has one of the new columns already."""
    for name in new:
        if name in columns:
            raise CommandError(
                f"The table has a column {name!r} already, which halfmoon would add. "
                f"Rename it, or remove it."
            )


def existing(name: str, columns: Sequence[str], what: str = "") -> str:
    """The name, if it is a column's; otherwise an error that knows what was meant."""
    if name in columns:
        return name
    close = get_close_matches(name, columns, 1, cutoff=0.5) or [
        column for column in columns if column.strip().lower() == name.strip().lower()
    ]
    hint = f" Did you mean {close[0]!r}?" if close else ""
    raise CommandError(
        f"The table has no column {name!r}{f' ({what})' if what else ''}.{hint} It has "
        f"{listed(columns)}."
    )


def listed(names: Sequence[str]) -> str:
    """Some names for a person to read.

    Examples
    --------
    >>> listed(["a", "b"])
    "'a', 'b'"
    """
    shown = ", ".join(map(repr, names[:SHOWN]))
    more = len(names) - SHOWN
    return shown + (f" and {more:,} more" if more > 0 else "")


def matching(pattern: str, columns: Sequence[str], what: str = "") -> list[str]:
    """The columns that a name or a pattern such as "bill_*" stands for, or an error.

    Examples
    --------
    >>> matching("b*", ["a", "b", "bc"]), matching("a", ["a", "b"])
    (['b', 'bc'], ['a'])
    """
    if pattern in columns or not WILD & set(pattern):
        return [existing(pattern, columns, what)]
    found = [column for column in columns if fnmatchcase(column, pattern)]
    if not found:
        plain = "".join(sign for sign in pattern if sign not in WILD)
        close = get_close_matches(plain, columns, CLOSE, cutoff=0.4)
        hint = f" Close names: {listed(close)}." if close else ""
        raise CommandError(
            f"No column matches {pattern!r}{f' ({what})' if what else ''}.{hint} "
            f"The table has {listed(columns)}."
        )
    return found


def _several(
    names: Iterable[str], columns: Sequence[str], option: str, target: str
) -> set[str]:
    """Columns by names and patterns, one by one or with commas between."""
    found: set[str] = set()
    for name in names:
        parts = [part.strip() for part in name.split(",") if part.strip()]
        for part in [name] if name in columns or len(parts) < 2 else parts:
            matches = set(matching(part, columns, f"in {option}"))
            found |= matches if part in matches else matches - {target}
    return found
