"""The report itself: findings in, one HTML page out.

The page needs nothing but itself. Its pictures and its style are within it, it has no
script, and its security policy forbids any: text of the table that looks like HTML is
text, twice over.
"""

from __future__ import annotations

from jinja2 import Environment, PackageLoader, StrictUndefined

from halfmoon.report.findings import Findings
from halfmoon.report.illustrations import of_filled, of_help, of_map, of_quality
from halfmoon.report.shown_text import shown
from halfmoon.report.tiles import tiles
from halfmoon.report.wording import (
    answer,
    count,
    duration,
    help_given,
    number,
    percent,
    verdict,
)

__all__ = ["render"]

MOST_COLUMNS = 200  # of a table, listed
LONG_WORD = 22  # characters, from which on a word may be broken anywhere


def render(findings: Findings) -> str:
    """The report as HTML, in UTF-8 when written.

    Parameters
    ----------
    findings : Findings

    Returns
    -------
    str
        The same for the same findings, byte by byte.
    """
    environment = Environment(
        loader=PackageLoader("halfmoon.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters.update(
        shown=shown, percent=percent, number=number, count=count, duration=duration
    )
    environment.tests["unbroken"] = _is_unbroken
    text = environment.get_template("report.html").render(
        f=findings,
        of_classes=findings.kind == "classes",
        columns=findings.columns[:MOST_COLUMNS],
        answer=answer(findings),
        tiles=tiles(findings),
        verdict=verdict(findings),
        help_given=help_given(findings.helped),
        of_filled=of_filled(findings),
        of_quality=of_quality(findings),
        of_help=of_help(findings),
        of_map=of_map(findings),
    )
    return str(text)


def _is_unbroken(text: str) -> bool:
    return any(len(word) > LONG_WORD for word in text.split())
