"""The filled rows as a page of their own, which can be sorted and filtered.

Sorting needs a script, which the report promises not to have. So this is a second file,
made only when it is asked for. Its security policy allows one script, by its SHA-256,
and no other: text of the table cannot become one.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from importlib.resources import files

from halfmoon.report.findings import Findings, ShownRow
from halfmoon.report.templating import environment

__all__ = ["MOST_ROWS", "render_rows"]

MOST_ROWS = 5_000


def render_rows(findings: Findings, rows: Sequence[ShownRow]) -> str:
    """A page of filled rows as HTML, in UTF-8 when written.

    Parameters
    ----------
    findings : Findings
        Of the run.
    rows : sequence of ShownRow
        At most the first 5,000 are shown.

    Returns
    -------
    str
        The same for the same rows, byte by byte.
    """
    script = (
        files("halfmoon.report").joinpath("templates", "rows.js").read_text("utf-8")
    )
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    text = (
        environment()
        .get_template("rows.html")
        .render(
            f=findings,
            of_classes=findings.kind == "classes",
            rows=rows[:MOST_ROWS],
            script=script,
            digest=digest,
        )
    )
    return str(text)
