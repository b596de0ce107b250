"""WebKB with 10, 20 and 80 labels of each class.

The paper: as in its table 3. Chosen here: as in table 3, whose row of WebKB is the row
of 20 labels here.
"""

from __future__ import annotations

from typing import Any

from experiments.experiment import Experiment, Run, Size
from experiments.fredholm.claims import complete, level, no_worse, own_claims
from experiments.fredholm.comparison import Comparison
from experiments.fredholm.text_trials import text_cells, text_trials
from experiments.page import Claim, Page

PRINTED = {
    "10": {
        "RLSC": (20.7, 2.4),
        "TSVM": (13.5, 0.5),
        "FredLin1": (14.8, 2.4),
        "FredLin2": (14.6, 2.4),
        "FredLin2(N)": (14.6, 2.3),
    },
    "20": {
        "RLSC": (16.9, 1.4),
        "TSVM": (12.7, 0.8),
        "FredLin1": (13.0, 1.3),
        "FredLin2": (12.0, 1.6),
        "FredLin2(N)": (12.0, 1.6),
    },
    "80": {
        "RLSC": (10.9, 1.4),
        "TSVM": (9.7, 1.0),
        "FredLin1": (8.1, 1.0),
        "FredLin2": (7.9, 0.9),
        "FredLin2(N)": (7.9, 0.9),
    },
}


def cells(size: Size) -> list[dict[str, Any]]:
    rows = size.pick(list(PRINTED), ["10", "20"])
    return [cell for row in rows for cell in text_cells("webkb", int(row), size)]


def run(**cell: Any) -> dict[str, Any]:
    return text_trials(str(cell["labels"]), **cell)


def report(runs: list[Run]) -> Page:
    seen = Comparison(runs, PRINTED)
    claims: list[Claim] = []
    for row in seen.rows:
        if complete(seen, row, "FredLin2", "RLSC"):
            says = f"FredLin2 is better than RLSC with {row} labels"
            claims.append(seen.beats(row, "FredLin2", "RLSC", says))
            says = f"FredLin2 errs in {PRINTED[row]['FredLin2'][0]} % with {row} labels"
            claims.append(level(seen, row, "FredLin2", says))
        if complete(seen, row, "FredLin2", "TSVM"):
            if PRINTED[row]["TSVM"][0] < PRINTED[row]["FredLin2"][0]:
                says = f"TSVM is better than FredLin2 with {row} labels"
                claims.append(seen.beats(row, "TSVM", "FredLin2", says))
            else:
                says = f"FredLin2 is comparable to TSVM with {row} labels, or better"
                claims.append(no_worse(seen, row, "FredLin2", "TSVM", says))
        claims += own_claims(seen, row)
    caption = "Errors in percent, mean and deviation over the splits:"
    return Page([seen.table(caption, "labels per class")], claims)


EXPERIMENT = Experiment(
    name="fredholm-table-4",
    title="WebKB with 10, 20 and 80 labels of each class",
    cells=cells,
    run=run,
    report=report,
    data=("webkb", "webkb_pages"),
    setting=__doc__ or "",
)
