"""What S0's tables 5 and 6 share: images, splits, and how a cell is run.

A cell is of one of three groups. "kernels": KRLSC, FredGauss and FredGauss(N) at one
width, from one kernel matrix. "laplacian": LapRLSC at one width and ratio. Both serve
all splits and all numbers of labels. "halfmoon": HalfmoonClassifier on one split.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from time import process_time
from typing import Any

import numpy as np

from experiments.data import load_mnist, load_usps
from experiments.experiment import Size
from experiments.fredholm.comparison import OURS, Comparison
from experiments.fredholm.estimator_trials import error, fitted_halfmoon
from experiments.fredholm.grams import (
    Split,
    averaged_columns,
    deformed_columns,
    normalized_columns,
    split_trials,
    union,
)
from experiments.page import Claim
from halfmoon import HalfmoonClassifier
from halfmoon._graphs import graph_laplacian, neighbor_graph
from halfmoon._rows import Array, Indices
from halfmoon.kernels import Gaussian
from halfmoon.kernels._length_scales import median_distance

__all__ = ["METHODS", "Images", "cells_of", "claims_of", "run_cell", "twins"]

METHODS = ("KRLSC", "LapRLSC", "FredGauss", "FredGauss(N)")

NEIGHBORS = 10

NOISE = 0.3
SEED = 2014

#: Seconds that no search of Halfmoon's reaches, so that what it finds does not depend
#: on what else the machine does.
BUDGET = 3600.0


@dataclass(frozen=True)
class Images:
    """Rows of pixels, and the digits."""

    X: Array
    y: Indices

    @classmethod
    def load(cls, data: str, rows: int) -> Images:
        """USPS's test set, MNIST's, or the latter with noise; at most `rows` of them.

        Pixels are in [0, 1]; noise is drawn once, and not clipped.
        """
        if data == "usps":
            X, y = load_usps("test")
            X = (X + 1.0) / 2.0
        else:
            images, y = load_mnist("test")
            X = images / 255.0
            if data == "noisy":
                X += NOISE * np.random.default_rng(SEED).standard_normal(X.shape)
        kept = np.random.default_rng([SEED, 1]).permutation(len(y))[:rows]
        kept.sort()
        return cls(X[kept], y[kept])

    def labeled(self, per_class: int, split: int) -> Indices:
        """Rows that a split labels: the first of each class in an order of its own.

        So more labels of a split add to its fewer ones.
        """
        rng = np.random.default_rng([SEED, 2, split])
        of_class = [np.flatnonzero(self.y == c) for c in range(10)]
        return np.concatenate([rng.permutation(rows)[:per_class] for rows in of_class])

    @property
    def constant(self) -> float:
        """Error in percent of always answering the largest class."""
        return 100.0 * (1.0 - float(np.bincount(self.y).max()) / len(self.y))


def cells_of(
    data: str,
    rows: int,
    labels: dict[str, int],
    widths: Sequence[float],
    graphs: Sequence[tuple[float, float]],
    size: Size,
) -> list[dict[str, Any]]:
    """Cells of one data set, those that tell most first.

    Parameters
    ----------
    data : {"usps", "mnist", "noisy"}
    rows : int
    labels : dict
        Row of the table -> labels of a class.
    widths : sequence of float
        Of Gaussian kernels, beside the median distance between rows.
    graphs : sequence of (float, float)
        Width and ratio of LapRLSC, which takes longest.
    size : Size
    """
    splits = size.pick(size.splits, min(size.splits, 2))
    about = {"data": data, "rows": rows}
    shared = {**about, "labels": labels, "splits": splits}
    cells = [
        {**shared, "group": "kernels", "width": width}
        for width in size.pick(widths, widths[:2])
    ]
    cells += [
        {**shared, "group": "laplacian", "width": width, "ratio": ratio}
        for width, ratio in size.pick(graphs, graphs[:2])
    ]
    cells += [
        {**about, "labels": {row: m}, "group": "halfmoon", "split": split}
        for split in range(size.pick(splits, 1))
        for row, m in labels.items()
    ]
    return cells


def run_cell(
    data: str,
    rows: int,
    labels: dict[str, int],
    group: str,
    splits: int = 1,
    split: int = 0,
    width: float = 1.0,
    ratio: float = 0.0,
) -> dict[str, Any]:
    """The trials of a cell; see `comparison`."""
    images = Images.load(data, rows)
    if group == "halfmoon":
        return {
            "trials": [_halfmoon(images, row, m, split) for row, m in labels.items()]
        }
    parts = [
        Split(row, split, images.labeled(m, split))
        for row, m in labels.items()
        for split in range(splits)
    ]
    chosen = union(parts)
    constant = dict.fromkeys(labels, images.constant)

    def trials(
        method: str, columns: Array, seconds: float, **more: float
    ) -> list[dict[str, Any]]:
        setting = {"width": width, **more}
        return split_trials(
            columns, chosen, images.y, parts, seconds, method=method, setting=setting
        )

    start = process_time()
    K = Gaussian(width * median_distance(images.X, SEED))(images.X, images.X)
    if group == "laplacian":
        graph = neighbor_graph(images.X, NEIGHBORS)
        M = ratio * graph_laplacian(graph, normalized=True)
        columns = deformed_columns(K, M, chosen)
        found = trials("LapRLSC", columns, process_time() - start, ratio=ratio)
        return {"trials": found, "constant": constant}
    seconds = process_time() - start
    found = trials("KRLSC", K[:, chosen], seconds)
    start = process_time()
    columns = averaged_columns(K, chosen)
    seconds += process_time() - start
    found += trials("FredGauss", columns, seconds)
    columns = normalized_columns(columns, K, chosen)
    found += trials("FredGauss(N)", columns, seconds)
    return {"trials": found, "constant": constant}


def _halfmoon(images: Images, row: str, per_class: int, split: int) -> dict[str, Any]:
    """HalfmoonClassifier with nothing told of the table: its error, what it chose."""
    labeled = images.labeled(per_class, split)
    rest = np.setdiff1d(np.arange(len(images.y)), labeled)
    X, y = images.X[rest], images.y[rest]
    model, trial = fitted_halfmoon(
        images.X, images.y, labeled, X, y, split=split, budget=BUDGET
    )
    return {
        **trial,
        "row": row,
        "levers": _levers(model),
        "twin": error(model.twin_.predict(X), y),
    }


LEVERS = {
    "walk": "smoothed basis",
    "averaged": "smoothed basis",
    "energy": "reshaped penalty",
    "unpenalized": "unpenalized features",
}


def _levers(model: HalfmoonClassifier) -> str:
    """The lever that has the most weight in the answer, and its commonest form."""
    if not model.used_unlabeled_:
        return "none, the supervised twin answers"
    shares: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    table = model.comparison_
    for name, weight in zip(table["candidate"], table["weight"], strict=True):
        # "50 components, walk k=5 restart=0.03 + 0.2 gaussian" without its numbers
        form = re.sub(r" (k|restart|mu)=[\d.e-]+|(?<=\+ )[\d.]+ ", "", name)
        lever = next((LEVERS[w] for w in LEVERS if w in form), "plain kernel")
        shares[lever][form] += float(weight)
    lever, forms = max(shares.items(), key=lambda item: sum(item[1].values()))
    return f"{lever} ({max(forms, key=lambda form: forms[form])})"


def claims_of(
    comparison: Comparison, claims: Iterable[tuple[str, str, str, str]]
) -> list[Claim]:
    """The claims (row, better method, other, words) whose methods have been run.

    Then, for each row with Halfmoon, how it compares with the best number printed.
    """
    has = {(row, m) for row in comparison.rows for m in comparison.methods(row)}
    out = [
        comparison.beats(row, method, other, says)
        for row, method, other, says in claims
        if {(row, method), (row, other)} <= has
    ]
    return out + [comparison.ours(row) for row in comparison.rows if (row, OURS) in has]


def twins(runs: Iterable[Any]) -> str:
    """Errors of Halfmoon's supervised twin, in a sentence."""
    errors: dict[str, list[float]] = defaultdict(list)
    for run in runs:
        for trial in run.result["trials"]:
            if trial["method"] == OURS:
                errors[trial["row"]].append(trial["twin"])
    if not errors:
        return ""
    means = ", ".join(f"{np.mean(e):.1f} ({row})" for row, e in errors.items())
    return (
        f"Halfmoon's supervised twin, which has not learned from unlabeled rows, errs "
        f"in {means} percent."
    )
