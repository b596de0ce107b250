"""The report itself: findings in, one HTML page out.

The page needs nothing but itself. Its pictures and its style are within it, it has no
script, and its security policy forbids any: text of the table that looks like HTML is
text, twice over.
"""

from __future__ import annotations

from halfmoon.report.advice import next_steps
from halfmoon.report.findings import Findings
from halfmoon.report.illustrations import (
    of_columns,
    of_distributions,
    of_filled,
    of_map,
    of_quality,
)
from halfmoon.report.model_names import families
from halfmoon.report.more_labels import more_labels, of_more_labels
from halfmoon.report.quality import quality_in_parts
from halfmoon.report.templating import environment
from halfmoon.report.tiles import tiles
from halfmoon.report.wording import answer, help_given, verdict

__all__ = ["render"]

MOST_COLUMNS = 200  # of a table, listed


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
    steps = next_steps(findings)
    told = {step.command for step in steps if step.command}
    text = (
        environment()
        .get_template("report.html")
        .render(
            f=findings,
            of_classes=findings.kind == "classes",
            columns=findings.columns[:MOST_COLUMNS],
            answer=answer(findings),
            tiles=tiles(findings),
            verdict=verdict(findings),
            help_given=help_given(findings.helped),
            of_filled=of_filled(findings),
            of_quality=of_quality(findings),
            of_columns=of_columns(findings),
            of_distributions=of_distributions(findings),
            of_map=of_map(findings),
            more_labels=more_labels(findings),
            of_more_labels=of_more_labels(findings),
            parts=quality_in_parts(findings),
            models=families(findings.helped.candidates),
            steps=steps,
            alerts=[note for note in findings.notes if note.important],
            notes=[
                note
                for note in findings.notes
                if not note.important and note.command not in told
            ],
            rows_to_label=findings.next_rows or findings.least_sure,
        )
    )
    return str(text)
