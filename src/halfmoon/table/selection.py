"""Which columns are learned from, found by the names that the user gave."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from difflib import get_close_matches

from halfmoon.table.errors import CommandError
from halfmoon.table.settings import Settings

__all__ = ["added_columns", "chosen_features", "existing", "listed"]

SHOWN = 12  # column names in an error


def chosen_features(columns: Sequence[str], settings: Settings) -> tuple[str, ...]:
    """The columns to learn from, in the order of the table.

    Examples
    --------
    >>> chosen_features(["id", "a", "b", "y"], Settings("y", exclude=("id",)))
    ('a', 'b')
    """
    existing(settings.target, columns, "the target")
    wanted = _several(settings.features, columns, "--features")
    unwanted = _several(settings.exclude, columns, "--exclude")
    known = _several(settings.known, columns, "--known")
    for option, names in (("--features", wanted), ("--known", known)):
        if settings.target in names:
            raise CommandError(
                f"{settings.target!r} is the target and stands in {option} too; a "
                f"column cannot be learned from itself. Take it out of {option}."
            )
        both = sorted(names & unwanted)
        if both:
            raise CommandError(
                f"{both[0]!r} stands in {option} and in --exclude; take it out of one."
            )
    taken = wanted | known if wanted else set(columns) - unwanted - {settings.target}
    if not taken:
        raise CommandError(
            f"No column is left to learn from: the table has "
            f"{listed(columns)} and {settings.target!r} is the target."
        )
    return tuple(name for name in columns if name in taken)


def known_columns(columns: Sequence[str], settings: Settings) -> tuple[str, ...]:
    """The columns that no penalty touches, in the order of the table."""
    known = _several(settings.known, columns, "--known")
    return tuple(name for name in columns if name in known)


def added_columns(target: str, task: str) -> tuple[str, ...]:
    """Names of the columns that filling adds.

    Examples
    --------
    >>> added_columns("species", "classes")
    ('species_source', 'species_confidence')
    """
    if task == "classes":
        return f"{target}_source", f"{target}_confidence"
    return f"{target}_source", f"{target}_low", f"{target}_high"


def refuse_taken(columns: Collection[str], new: Iterable[str]) -> None:
    """Refuse a table that has one of the new columns already."""
    for name in new:
        if name in columns:
            raise CommandError(
                f"The table has a column {name!r} already, which is one that halfmoon "
                f"adds. Rename it, or take it out."
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


def _several(names: Iterable[str], columns: Sequence[str], option: str) -> set[str]:
    """Columns named one by one, or several at once with commas between."""
    found: set[str] = set()
    for name in names:
        parts = [part.strip() for part in name.split(",")]
        if name not in columns and len(parts) > 1:
            found.update(existing(part, columns, option) for part in parts if part)
        else:
            found.add(existing(name, columns, option))
    return found
