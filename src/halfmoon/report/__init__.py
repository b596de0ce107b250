"""The report of `halfmoon fill`: what was found, as one page of HTML.

`Findings` is plain data; `render` turns it into the page. What the findings are made
of is computed here too: scores with intervals, tables of errors, rows to look at, and
the map of the rows.
"""

from halfmoon.report.confusion import Confusion, MixUp, confusion, mix_ups
from halfmoon.report.eigenmap import Eigenmap, eigenmap
from halfmoon.report.findings import (
    Candidate,
    ColumnDistribution,
    ColumnUse,
    FilledClasses,
    FilledNumbers,
    Findings,
    Helped,
    LeftOutClasses,
    LeftOutNumbers,
    Note,
    PartialLabels,
    Reason,
    RowMap,
    ShownRow,
)
from halfmoon.report.gain import Gain, gain_of_classes, gain_of_numbers
from halfmoon.report.histogram import Histogram, confidence_edges, number_edges
from halfmoon.report.page import render
from halfmoon.report.picks import least_sure, suspect_classes, suspect_numbers
from halfmoon.report.reliability import Reliability, reliability
from halfmoon.report.residuals import Residuals, residuals
from halfmoon.report.rows_page import render_rows
from halfmoon.report.scores import (
    Score,
    accuracy,
    coverage,
    mean_absolute_error,
    r_squared,
    wilson_interval,
)
from halfmoon.report.wording import answer, help_given, verdict

__all__ = [
    "Candidate",
    "ColumnDistribution",
    "ColumnUse",
    "Confusion",
    "Eigenmap",
    "FilledClasses",
    "FilledNumbers",
    "Findings",
    "Gain",
    "Helped",
    "Histogram",
    "LeftOutClasses",
    "LeftOutNumbers",
    "MixUp",
    "Note",
    "PartialLabels",
    "Reason",
    "Reliability",
    "Residuals",
    "RowMap",
    "Score",
    "ShownRow",
    "accuracy",
    "answer",
    "confidence_edges",
    "confusion",
    "coverage",
    "eigenmap",
    "gain_of_classes",
    "gain_of_numbers",
    "help_given",
    "least_sure",
    "mean_absolute_error",
    "mix_ups",
    "number_edges",
    "r_squared",
    "reliability",
    "render",
    "render_rows",
    "residuals",
    "suspect_classes",
    "suspect_numbers",
    "verdict",
    "wilson_interval",
]
