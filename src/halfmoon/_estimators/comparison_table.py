"""``comparison_``: the candidates, compared with the supervised twin."""

from __future__ import annotations

from html import escape
from typing import Any

import numpy as np

from halfmoon._selection import SUMMARIES
from halfmoon._selection.plain_names import plain_name

__all__ = ["Comparison"]

IN_PRINT = dict(
    zip(SUMMARIES, ("All models without unlabeled rows", "All models"), strict=True)
)
MAX_LINES = 8  # in print, besides the summaries: those with the largest weights
HEADER = ("way to learn", "models", "unlabeled rows", "error", "weight")


class Comparison(dict[str, Any]):
    """Columns of equal length, with a row for each model that was tried.

    ``comparison_["weight"]`` is a column, ``pandas.DataFrame(comparison_)`` the whole
    table. In print, models that learn in the same way share a line, with the least of
    their errors and the sum of their weights.

    Examples
    --------
    >>> Comparison(
    ...     candidate=["supervised twin", "average of all", "standardized, linear"],
    ...     unlabeled=[False, True, False],
    ...     loo_error=[0.25, 0.2, 0.3],
    ...     weight=[0.0, 0.0, 1.0],
    ... )
    way to learn                       models  unlabeled rows  error  weight
    All models without unlabeled rows          no              0.250
    All models                                 yes             0.200
    Straight line (linear)             1       no              0.300  100 %
    """

    def _rows(self) -> list[tuple[str, ...]]:
        """Return the lines of the printed table."""
        names = [str(name) for name in self["candidate"]]
        error = np.asarray(self["loo_error"], dtype=float)
        weight = np.asarray(self["weight"], dtype=float)
        ways: dict[tuple[str, bool], list[int]] = {}
        for i, name in enumerate(names):
            way = IN_PRINT.get(name) or plain_name(name)[0]
            ways.setdefault((way, bool(self["unlabeled"][i])), []).append(i)
        digits = _digits(error[names.index(SUMMARIES[0])])
        lines: list[tuple[str, ...]] = [
            (
                way,
                "" if names[rows[0]] in SUMMARIES else f"{len(rows):,}",
                "yes" if unlabeled else "no",
                f"{error[rows].min():.{digits}f}",
                "" if names[rows[0]] in SUMMARIES else f"{100 * total:.0f} %",
            )
            for (way, unlabeled), rows in ways.items()
            for total in [float(weight[rows].sum())]
        ]
        first = [line for line in lines if line[0] in IN_PRINT.values()]
        rest = [line for line in lines if line[0] not in IN_PRINT.values()]
        rest.sort(key=lambda line: -float(line[-1].removesuffix(" %")))
        return first + rest[:MAX_LINES]

    def __repr__(self) -> str:
        lines = [HEADER, *self._rows()]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        return "\n".join(
            "  ".join(
                cell.ljust(width) for cell, width in zip(line, widths, strict=True)
            ).rstrip()
            for line in lines
        )

    def _repr_html_(self) -> str:
        """Return the printed table for notebooks."""
        head = "".join(f"<th>{escape(cell)}</th>" for cell in HEADER)
        body = "".join(
            "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>"
            for row in self._rows()
        )
        return f"<table><tr>{head}</tr>{body}</table>"


def _digits(error: float) -> int:
    """Return the number of decimals that show a hundredth of an error."""
    if not np.isfinite(error) or error <= 0:
        return 3
    return int(np.clip(2 - np.floor(np.log10(error)), 0, 12))
