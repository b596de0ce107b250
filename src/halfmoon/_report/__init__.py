"""The report of `halfmoon fill`, as one page of HTML.

`Findings` holds the results of a run as plain data; `render` turns them into the page.
The package also computes parts of the findings: scores with intervals, tables of
errors, rows to check, and the map of the rows.
"""

from halfmoon._report.findings import Findings, Note, Reason
from halfmoon._report.report_page import render, render_rows

__all__ = ["Findings", "Note", "Reason", "render", "render_rows"]
