"""Cells of S0's tables 3 and 4: every method on one set of texts.

========  =====================================================================
method    a cell
========  =====================================================================
RLSC      all splits
Fredholm  all splits of FredLin1, FredLin2 and FredLin2(N) at one width
presence  all splits of FredholmClassifier on word presence (WebKB only)
TSVM      one split, all C
Halfmoon  one split
========  =====================================================================
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from time import process_time
from typing import Any

import numpy as np

from experiments.experiment import Size
from experiments.fredholm.estimator_trials import (
    error,
    halfmoon_trial,
    hidden,
    tsvm_trial,
)
from experiments.fredholm.grams import Split, split_trials, union
from experiments.fredholm.text_grams import (
    fredholm_columns,
    gaussian_gram,
    inner_products,
)
from experiments.fredholm.texts import labeled_rows, load_texts, load_word_presence
from halfmoon import FredholmClassifier
from halfmoon._rows import Array, Indices
from halfmoon.baselines import TSVMClassifier

__all__ = ["PRESENCE", "WIDTHS", "constant_error", "text_cells", "text_trials"]

#: Of the Gaussian kernels. Rows have unit length, so distances are at most 1.41, and
#: most of them are above 1.3.
WIDTHS = (0.2, 0.4, 0.7, 1.0, 2.0, 4.0, 8.0)

#: Wide kernels are nearly constant, and what is left of them asks for small weights.
LAMS = tuple(10.0**e for e in range(-9, 3))

PRESENCE = "word presence"

QUICK_ROWS = 300


def text_cells(data: str, labels: int, size: Size) -> Iterable[dict[str, Any]]:
    """Cells for one set and one number of labels per class."""
    splits = size.pick(size.splits, 1)
    base = {"data": data, "labels": labels, "n": size.pick(None, QUICK_ROWS)}
    yield {**base, "method": "RLSC", "splits": splits}
    for width in size.pick(WIDTHS, WIDTHS[2:4]):
        yield {**base, "method": "Fredholm", "splits": splits, "width": width}
    if data == "webkb":
        yield {**base, "method": "presence", "splits": splits}
    for method in ("Halfmoon", "TSVM"):
        for split in range(splits):
            yield {**base, "method": method, "split": split}


def text_trials(
    row: str,
    data: str,
    labels: int,
    method: str,
    n: int | None,
    splits: int = 0,
    split: int = 0,
    width: float = 0.0,
) -> dict[str, Any]:
    """What came out of a cell: trials, and the constant answer's error."""
    if method == "presence":
        return {"trials": presence_trials(row, labels, n, splits)}
    X, y = load_texts(data, n)
    found: list[dict[str, Any]]
    if method in ("RLSC", "Fredholm"):
        chosen = [Split(row, s, labeled_rows(y, labels, s)) for s in range(splits)]
        columns = union(chosen)
        start = process_time()
        G = _inner_products(data, n)
        if method == "RLSC":
            kernels, setting = {"RLSC": G[:, columns]}, {}
        else:
            K = gaussian_gram(G, width)
            kernels, setting = fredholm_columns(G, K, columns), {"width": width}
        seconds = (process_time() - start) / len(kernels)
        found = []
        for name, K_c in kernels.items():
            about = {"method": name, "setting": setting}
            found += split_trials(K_c, columns, y, chosen, seconds, LAMS, **about)
    else:
        labeled = labeled_rows(y, labels, split)
        rest = np.setdiff1d(np.arange(len(y)), labeled)
        if method == "TSVM":

            def judge(model: TSVMClassifier) -> dict[str, float]:
                return {"test": error(model.predict(X[rest]), y[rest])}

            found = [tsvm_trial(X, y, labeled, judge, split=split)]
        else:
            found = [halfmoon_trial(X, y, labeled, X[rest], y[rest], split=split)]
        found = [{"row": row, **trial} for trial in found]
    return {"trials": found, "constant": {row: constant_error(y, labels)}}


def presence_trials(
    row: str, labels: int, n: int | None, splits: int
) -> list[dict[str, Any]]:
    """FredholmClassifier with both kernels linear, on the presence of words.

    k_F = G G G / n^2 with a constant unpenalized, alpha by leave-one-out. RLSC on
    the same rows says how much of the gain is theirs.
    """
    X, y = load_word_presence(n)
    chosen = [Split(row, s, labeled_rows(y, labels, s)) for s in range(splits)]
    columns, start = union(chosen), process_time()
    G_c = (X @ X[columns].T).toarray()
    about = {"method": f"RLSC, {PRESENCE}", "setting": {}}
    seconds = process_time() - start
    trials = split_trials(G_c, columns, y, chosen, seconds, LAMS, **about)
    for split in chosen:
        start = process_time()
        rest = np.setdiff1d(np.arange(len(y)), split.labeled)
        model = FredholmClassifier("linear", "linear", normalize=False)
        model.fit(X, hidden(y, split.labeled))
        wrong = error(model.predict(X[rest]), y[rest])
        trials.append(
            {
                "row": row,
                "method": f"FredholmClassifier, {PRESENCE}",
                "split": split.split,
                "setting": {},
                "weight": [0.0],
                "test": [wrong],
                "loo": [100 * (1 - model.loo_score_)],
                "square": [0.0],
                "seconds": process_time() - start,
            }
        )
    return trials


def constant_error(y: Indices, labels: int) -> float:
    """Of always answering the largest class, on rows without a label, in percent."""
    left = np.bincount(y) - labels
    return 100 * (1 - float(left.max() / left.sum()))


@lru_cache(maxsize=1)
def _inner_products(data: str, n: int | None) -> Array:
    return inner_products(load_texts(data, n)[0])
