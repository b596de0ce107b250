"""How templates are filled: everything is escaped, and nothing may be missing."""

from __future__ import annotations

from jinja2 import Environment, PackageLoader, StrictUndefined

from halfmoon.report.reasons import reason_groups
from halfmoon.report.shown_text import rounded, shown
from halfmoon.report.wording import count, duration, number, percent

__all__ = ["environment"]

LENGTHY = 48  # characters of a cell, of which more is folded away
LONG_WORD = 22  # characters, from which on a word may be broken anywhere


def environment() -> Environment:
    """Templates of this package, with the filters that put findings into words."""
    found = Environment(
        loader=PackageLoader("halfmoon.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    found.filters.update(
        shown=shown,
        rounded=rounded,
        percent=percent,
        number=number,
        count=count,
        duration=duration,
        reasons=reason_groups,
    )
    found.tests.update(unbroken=_is_unbroken, lengthy=_is_lengthy)
    return found


def _is_lengthy(text: str) -> bool:
    return len(text) > LENGTHY


def _is_unbroken(text: str) -> bool:
    return any(len(word) > LONG_WORD for word in text.split())
