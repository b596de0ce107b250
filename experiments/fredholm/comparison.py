"""The layout that S0's tables 1 to 6 share: methods beside what the paper prints.

The cells of these experiments hold `trials`, a list of dicts:

========  ======================================================================
row       which row of the table: "webkb", or a number of labels per class
method    "RLSC", "TSVM", "FredLin2(N)", ..., "Halfmoon"
split     which labeled rows, from 0
setting   a dict of what else was tried: {"width": 2.0}
weight    lams (or C), a list
test      errors on the test rows in percent, for each weight
loo       errors on left-out labeled rows in percent
square    mean squares on left-out labeled rows
seconds   for this split, if measured
levers    what Halfmoon chose, in words (Halfmoon only)
========  ======================================================================

and `constant`, {row: error in percent of always answering the larger class}.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from experiments.choice import Chosen, honest, tuned
from experiments.experiment import Run
from experiments.page import Claim, Table

__all__ = ["OURS", "Comparison"]

OURS = "Halfmoon"


class Comparison:
    """Trials of a table, by row and method, beside the printed numbers.

    Parameters
    ----------
    runs : list of Run
    printed : dict
        row -> method -> (mean, deviation), in percent.
    """

    def __init__(
        self,
        runs: Sequence[Run],
        printed: Mapping[str, Mapping[str, tuple[float, float]]],
    ) -> None:
        self.printed = printed
        self.constant: dict[str, float] = {}
        self._trials: dict[tuple[str, str], list[dict[str, Any]]] = {}
        for run in runs:
            for row, error in run.result.get("constant", {}).items():
                self.constant[row] = error
            for trial in run.result["trials"]:
                at = (str(trial["row"]), trial["method"])
                self._trials.setdefault(at, []).append(trial)

    @property
    def rows(self) -> list[str]:
        """Rows that have been run, in the paper's order."""
        return [row for row in self.printed if any(r == row for r, _ in self._trials)]

    def methods(self, row: str) -> list[str]:
        run = [method for r, method in self._trials if r == row]
        first = [method for method in self.printed[row] if method in run]
        return first + [method for method in run if method not in first]

    def tuned(self, row: str, method: str) -> Chosen:
        return tuned(self._trials[row, method])

    def honest(self, row: str, method: str) -> Chosen:
        return honest(self._trials[row, method])

    def seconds(self, row: str, method: str) -> float | None:
        """Mean seconds of a method for one split, over its whole search."""
        trials = self._trials[row, method]
        if any("seconds" not in trial for trial in trials):
            return None
        splits = {trial["split"] for trial in trials}
        return sum(trial["seconds"] for trial in trials) / len(splits)

    def table(self, caption: str, row_name: str) -> Table:
        header = [row_name, "method", "printed", "tuned", "honest", "seconds"]
        lines = []
        for row in self.rows:
            for method in self.methods(row):
                seen = self.printed[row].get(method)
                ours = method == OURS
                seconds = self.seconds(row, method)
                lines.append(
                    [
                        row,
                        f"**{method}**" if ours else method,
                        "" if seen is None else f"{seen[0]:.1f} ± {seen[1]:.1f}",
                        "" if ours else str(self.tuned(row, method)),
                        str(self.honest(row, method)),
                        "" if seconds is None else f"{seconds:.2g}",
                    ]
                )
            if row in self.constant:
                error = f"{self.constant[row]:.1f}"
                lines.append([row, "constant", "", error, error, ""])
        return Table(caption, header, lines)

    def beats(self, row: str, method: str, other: str, says: str) -> Claim:
        """A claim that one method has less error than another, by our tuned errors.

        Reproduced where the mean of paired differences is below 0 by two standard
        errors, in part where it is below 0, else not.
        """
        a, b = self.tuned(row, method).errors, self.tuned(row, other).errors
        difference = a - b
        error = difference.std(ddof=1) / np.sqrt(len(a)) if len(a) > 1 else np.inf
        mean = difference.mean()
        if mean < -2 * error:
            verdict = "reproduced"
        else:
            verdict = "reproduced in part" if mean < 0 else "not reproduced"
        return Claim(
            says,
            verdict,
            f"{row}: {method} {a.mean():.1f}, {other} {b.mean():.1f}, difference "
            f"{mean:+.1f} ± {error:.1f} (tuned); honest "
            f"{self.honest(row, method).mean:.1f} and "
            f"{self.honest(row, other).mean:.1f}",
        )

    def ours(self, row: str) -> Claim:
        """Beyond the paper: is our honest error at or below the best one printed?"""
        mine = self.honest(row, OURS)
        best = min(self.printed[row].items(), key=lambda item: item[1][0])
        reached = mine.mean <= best[1][0]
        levers = Counter(t.get("levers", "") for t in self._trials[row, OURS])
        return Claim(
            f"(ours) {row}: chosen honestly, at or below the best printed number, "
            f"{best[1][0]:.1f} ({best[0]}, tuned on test rows)",
            "reproduced" if reached else "not reproduced",
            f"{mine} against {best[1][0]:.1f}; levers: {levers.most_common(1)[0][0]}",
        )
