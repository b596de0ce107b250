"""``comparison_``: the candidates, compared with the supervised twin.

Errors are those of held-out labels. In print, candidates that learn in the same way
share a line, with a name for readers who do not know kernels.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape
from typing import Any, NamedTuple

import numpy as np

from halfmoon._rows import Array
from halfmoon._selection.average import Average
from halfmoon._selection.average_weights import averaged_values
from halfmoon._selection.candidate import Entry
from halfmoon._selection.criteria import Criterion, mean_and_standard_error

__all__ = [
    "SUMMARIES",
    "Comparison",
    "compare_members",
    "compare_with_twin",
    "plain_name",
]

NORMAL_95 = 1.96
SUMMARIES = ("supervised twin", "average of all")  # rows that are not candidates
IN_PRINT = dict(
    zip(SUMMARIES, ("All models without unlabeled rows", "All models"), strict=True)
)
MAX_LINES = 8  # in print, besides the summaries: those with the largest weights
HEADER = ("way to learn", "models", "unlabeled rows", "error", "weight")

STEADY = "steady where rows are dense"
# The first mark found in a name decides. Compositions come first, "gaussian" late,
# because other models add a share of it.
METHODS = (
    ("composed walk", f"Average of the neighbors, {STEADY} (diffusion and penalty)"),
    (
        "composed averaged",
        f"Smooth curve over neighborhoods, {STEADY} (Fredholm kernel)",
    ),
    ("walk", "Average of the neighbors over all rows (diffusion)"),
    ("averaged", "Smooth curve over neighborhoods of rows (Fredholm kernel)"),
    ("energy", f"Smooth curve, {STEADY} (Laplacian penalty)"),
    ("additive", "Sum of one curve for each column (additive kernel)"),
    ("laplace", "Curve that may bend sharply (Laplace kernel)"),
    ("gaussian", "Smooth curve (Gaussian kernel)"),
    ("linear", "Straight line (linear)"),
    ("constant", "The same prediction for all rows (constant)"),
)
COLUMNS = (
    ("normal scores", "by rank"),
    ("standardized", "on one scale"),
    ("damped rows", "rows of one length, repeated words damped"),
    ("as they are", "as they are"),
)


class _Row(NamedTuple):
    name: str
    uses_unlabeled: bool
    losses: Array  # (l,)
    weight: float


def compare_with_twin(
    entries: Sequence[Entry],
    weights: dict[str, Array],
    chosen: str,
    y: Array,
    w: Array,
    criterion: Criterion,
) -> dict[str, Any]:
    """Compare each candidate at its best alpha with the twin, the best first.

    The columns are described in `HalfmoonClassifier`. The weights are those of entries
    in the "average" and in the "twin", of which one is chosen.
    """
    values = [averaged_values(entries, weights[name]) for name in ("twin", "average")]
    by_twin, by_average = criterion.losses(np.array(values), y, w)
    rows = [
        _Row(SUMMARIES[0], False, by_twin, 0.0),
        _Row(SUMMARIES[1], True, by_average, 0.0),
    ]
    shares: dict[str, float] = {}
    best: dict[str, tuple[float, Entry]] = {}
    for entry, weight in zip(entries, weights[chosen], strict=True):
        shares[entry.name] = shares.get(entry.name, 0.0) + float(weight)
        loss = float(np.average(entry.losses, weights=w))
        if entry.name not in best or loss < best[entry.name][0]:
            best[entry.name] = loss, entry
    for _, entry in sorted(best.values(), key=lambda each: each[0]):
        uses = entry.candidate.uses_unlabeled
        rows.append(_Row(entry.name, uses, entry.losses, shares[entry.name]))
    return _columns(rows, by_twin, w)


def compare_members(
    before: dict[str, Any], average: Average, twin: Average, criterion: Criterion
) -> dict[str, Any]:
    """Add a row for each member of the average that was not compared.

    With more labels than candidates were compared on, all members are refits or local
    fits. Then the candidates have no weight. Errors of members are over all labels, or
    over those with held-out predictions, and differences are from the given twin.
    """
    compared = set(before["candidate"])
    members = [each for each in average.members if each.name not in compared]
    if not members:
        return before
    rows = average.rows if not isinstance(average.rows, slice) else twin.rows
    y, w = average.y[rows], average.w[rows]
    values = [_at(twin, twin.held_out, rows)]
    values += [_at(average, member.on_original_scale, rows) for member in members]
    by_twin, *losses = criterion.losses(np.array(values), y, w)
    names = _distinct([member.name for member in members])
    found = [
        _Row(name, member.uses_unlabeled, loss, member.weight)
        for name, member, loss in zip(names, members, losses, strict=True)
    ]
    new = _columns(found, by_twin, w)
    left = 1.0 - sum(member.weight for member in members)
    left = left if len(members) < len(average.members) else 0.0
    old = {**before, "weight": left * before["weight"]}
    return {
        name: [*old[name], *new[name]]
        if name == "candidate"
        else np.concatenate([old[name], new[name]])
        for name in old
    }


def _at(of: Average, held_out: Array, rows: Any) -> Array:
    """Return held-out predictions at rows, given at these rows or at all rows."""
    return held_out if of.rows is rows or len(held_out) < len(of.y) else held_out[rows]


def _columns(rows: Sequence[_Row], by_twin: Array, w: Array) -> dict[str, Any]:
    differences = [mean_and_standard_error(row.losses - by_twin, w) for row in rows]
    mean, error = np.array(differences).T
    return {
        "candidate": [row.name for row in rows],
        "unlabeled": np.array([row.uses_unlabeled for row in rows]),
        "labels": np.full(len(rows), len(w)),
        "loo_error": np.array([np.average(row.losses, weights=w) for row in rows]),
        "difference": mean,
        "low": mean - NORMAL_95 * error,
        "high": mean + NORMAL_95 * error,
        "weight": np.array([row.weight for row in rows]),
    }


def _distinct(names: list[str]) -> list[str]:
    """Number repeated names from the second one on."""
    seen: dict[str, int] = {}
    for i, name in enumerate(names):
        seen[name] = seen.get(name, 0) + 1
        if seen[name] > 1:
            names[i] = f"{name} ({seen[name]})"
    return names


class Comparison(dict[str, Any]):
    """Columns of equal length, with a row for each model that was tried.

    ``comparison_["weight"]`` is a column, ``pandas.DataFrame(comparison_)`` the whole
    table. In print, a line has the least error and the sum of the weights of its
    models.

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


def plain_name(name: str) -> tuple[str, str]:
    """Return how a model learns and how it sees the columns.

    Examples
    --------
    >>> plain_name("normal scores, walk k=5 restart=0.1 + 0.2 gaussian")[1]
    'by rank'
    >>> plain_name("standardized by sharp gradient, laplace 0.5 + linear, log of y")
    ... # doctest: +NORMALIZE_WHITESPACE
    ('Curve that may bend sharply (Laplace kernel) plus a straight line, for the
    logarithm of the target', 'on one scale, weighted by the labels')
    >>> plain_name("standardized, walk k=5 restart=0.01, no constant")
    ... # doctest: +NORMALIZE_WHITESPACE
    ('Average of the neighbors over all rows (diffusion), without a constant',
    'on one scale')
    >>> plain_name("50 components, composed walk + energy, columns unpenalized")
    ... # doctest: +NORMALIZE_WHITESPACE
    ('Average of the neighbors, steady where rows are dense (diffusion and penalty)
    plus a straight line', 'their 50 main directions')
    >>> plain_name("constant")
    ('The same prediction for all rows (constant)', '')
    """
    method = next((plain for mark, plain in METHODS if mark in name), name)
    if "+ linear" in name or "columns unpenalized" in name:
        method += " plus a straight line"
    elif ("walk" in name or "additive" in name) and "gaussian" in name:
        method += " plus a smooth curve"
    elif "additive" in name and "laplace" in name:
        method += " plus a curve that may bend sharply"
    if ", no constant" in name:
        method += ", without a constant"
    if ", log of y" in name:
        method += ", for the logarithm of the target"
    parts = [plain for mark, plain in COLUMNS if name.startswith(mark)]
    found = re.search(r"(\d+) components", name)
    if found:
        parts.append(f"their {found[1]} main directions")
    if re.search(r" by (sharp )?(gradient|correlation)", name):
        parts.append("weighted by the labels")
    return method, ", ".join(parts)
