"""Render the report as one HTML page, and the filled rows as another.

The report contains its pictures and its style, and no script; its security policy
forbids any. All text is escaped, so text of the table that looks like HTML stays text.

Sorting and filtering rows needs a script, so the filled rows are a second file, made
only on request. Its security policy allows one script, by its SHA-256, and no other.
"""

from __future__ import annotations

import base64
import hashlib
import math
from collections.abc import Sequence
from functools import cache
from importlib.resources import files

from jinja2 import Environment, PackageLoader, StrictUndefined

from halfmoon._number_format import count, duration, number, percent, row_numbers
from halfmoon._report.bar_charts import of_columns, of_distributions, of_filled
from halfmoon._report.findings import Findings, Reason, ShownRow
from halfmoon._report.key_figures import key_figures
from halfmoon._report.next_steps import more_labels, next_steps, of_more_labels
from halfmoon._report.quality_by_part import quality_in_parts
from halfmoon._report.quality_charts import of_quality
from halfmoon._report.row_map import of_map
from halfmoon._report.safe_text import rounded, safe_text
from halfmoon._report.sentences import headline, help_given, verdict

__all__ = ["reason_groups", "render", "render_rows"]

MAX_LISTED_COLUMNS = 200  # listed in the report
MAX_REASONS = 3  # labeled rows for, and against, a prediction
MAX_CELL = 48  # characters; the rest is folded
MAX_WORD = 22  # characters; a longer word may be broken anywhere


def render(findings: Findings) -> str:
    """Return the report as HTML, to be written as UTF-8.

    The same findings give the same text.
    """
    steps = next_steps(findings)
    commands = {step.command for step in steps if step.command}
    return _render(
        "report.html",
        findings,
        columns=findings.columns[:MAX_LISTED_COLUMNS],
        headline=headline(findings),
        tiles=key_figures(findings),
        verdict=verdict(findings),
        help_given=help_given(findings.helped, findings.unit),
        compared=not math.isnan(findings.helped.gain.difference),
        of_filled=of_filled(findings),
        of_quality=of_quality(findings),
        of_columns=of_columns(findings),
        of_distributions=of_distributions(findings),
        of_map=of_map(findings),
        more_labels=more_labels(findings),
        of_more_labels=of_more_labels(findings),
        parts=quality_in_parts(findings),
        models=findings.helped.models,
        steps=steps,
        alerts=[note for note in findings.notes if note.important],
        notes=[
            note
            for note in findings.notes
            if not note.important and note.command not in commands
        ],
        rows_to_label=findings.next_rows,
    )


def render_rows(findings: Findings, rows: Sequence[ShownRow]) -> str:
    """Return filled rows as an HTML page, to be written as UTF-8."""
    folder = files("halfmoon._report") / "templates"
    script = (folder / "rows.js").read_text("utf-8")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return _render("rows.html", findings, rows=rows, script=script, digest=digest)


def _render(template: str, findings: Findings, **values: object) -> str:
    """Fill in a template."""
    of_classes = findings.kind == "classes"
    page = _environment().get_template(template)
    return str(page.render(f=findings, of_classes=of_classes, **values))


@cache  # of compiled templates
def _environment() -> Environment:
    """Return where everything is escaped, and no value may be missing."""
    environment = Environment(
        loader=PackageLoader("halfmoon._report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters.update(
        shown=safe_text,
        rounded=rounded,
        percent=percent,
        number=number,
        count=count,
        duration=duration,
        reasons=reason_groups,
    )
    environment.tests.update(
        lengthy=lambda text: len(text) > MAX_CELL,
        unbroken=lambda text: any(len(word) > MAX_WORD for word in text.split()),
    )
    return environment


def reason_groups(row: ShownRow) -> list[tuple[str, list[tuple[str, str]]]]:
    """Return the labeled rows for and against a prediction, grouped by label.

    Examples
    --------
    >>> row = ShownRow(
    ...     7,
    ...     (),
    ...     "a",
    ...     speaks_for=(Reason(3, "a", 0.4), Reason(9, "a", 0.2)),
    ...     speaks_against=(Reason(5, "b", -0.1),),
    ... )
    >>> for side, groups in reason_groups(row):
    ...     print(side, groups)
    For [('rows 3, 9', 'a')]
    Against [('row 5', 'b')]
    """
    sides = (("For", row.speaks_for), ("Against", row.speaks_against))
    return [(side, _by_label(reasons)) for side, reasons in sides if reasons]


def _by_label(reasons: Sequence[Reason]) -> list[tuple[str, str]]:
    groups: dict[str, list[int]] = {}
    for each in reasons[:MAX_REASONS]:
        groups.setdefault(each.label, []).append(each.row)
    return [(row_numbers(rows), label) for label, rows in groups.items()]
