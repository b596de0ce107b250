"""Trials of estimators that have no closed form for left-out labels.

A transductive SVM is asked for labeled rows that it did not see, a fifth of each class
at a time; for *honest* these stand in for leave-one-out. `HalfmoonClassifier` is told
nothing, so there is nothing to choose.
"""

from __future__ import annotations

from collections.abc import Callable
from time import process_time
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedKFold

from halfmoon import HalfmoonClassifier
from halfmoon._rows import Array, Indices, Rows
from halfmoon.baselines import TSVMClassifier

__all__ = ["CS", "error", "fitted_halfmoon", "halfmoon_trial", "hidden", "tsvm_trial"]

CS = (0.01, 0.1, 1.0, 10.0, 100.0)  # the first three where classes are many
N_FOLDS = 5
#: With 1e-5 and 10 steps fits take three times as long, and errors differ by 0.3 %.
TOLERANCE, N_STEPS = 1e-2, 5

#: Kinds of candidates by a word in their names, the first that is there.
KINDS = {
    "walk": "walks",
    "averaged": "averages",
    "energy": "energies",
    " by ": "weighed columns",
    "components": "plain kernels of components",
}
LARGE = 0.2  # share of the weight from which a kind is named


def error(answers: Array, truth: Indices) -> float:
    """Wrong answers, in percent."""
    return 100 * float((answers != truth).mean())


def hidden(classes: Indices, labeled: Indices) -> Array:
    """The classes of labeled rows, NaN in all others."""
    y = np.full(len(classes), np.nan)
    y[labeled] = classes[labeled]
    return y


def tsvm_trial(
    X: Rows,  # (n, d)
    classes: Indices,  # (n,)
    labeled: Indices,  # (l,)
    judge: Callable[[TSVMClassifier], dict[str, float]],
    *,
    split: int,
    **parameters: Any,
) -> dict[str, Any]:
    """A transductive SVM at each C: what `judge` says of it, and left-out labels."""
    start = process_time()
    folds = list(
        StratifiedKFold(N_FOLDS, shuffle=True, random_state=split).split(
            labeled, classes[labeled]
        )
    )
    out: dict[str, Any] = {"weight": [], "loo": [], "square": []}
    many = classes.max() > 1
    for C in CS[:3] if many else CS:
        model = TSVMClassifier(
            C=C, tol=TOLERANCE, n_steps=N_STEPS, random_state=0, **parameters
        )
        wrong, squares = [], []
        for seen, left in folds:
            model.fit(X, hidden(classes, labeled[seen]))
            rows = labeled[left]
            wrong.append(error(model.predict(X[rows]), classes[rows]))
            scores = model.decision_function(X[rows]).reshape(len(rows), -1)
            targets = classes[rows][:, None] == np.arange(len(model.classes_))
            signs = np.where(targets[:, -scores.shape[1] :], 1.0, -1.0)
            squares.append(float(((scores - signs) ** 2).mean()))
        model.fit(X, hidden(classes, labeled))
        out["weight"].append(C)
        out["loo"].append(float(np.mean(wrong)))
        out["square"].append(float(np.mean(squares)))
        for name, value in judge(model).items():
            out.setdefault(name, []).append(value)
    seconds = process_time() - start
    return {"method": "TSVM", "split": split, "setting": {}, "seconds": seconds, **out}


def fitted_halfmoon(
    X: Rows,  # (n, d)
    classes: Indices,  # (n,)
    labeled: Indices,  # (l,)
    X_test: Rows,
    truth: Indices,
    *,
    split: int,
    **parameters: Any,
) -> tuple[HalfmoonClassifier, dict[str, Any]]:
    """HalfmoonClassifier, told nothing but the rows and their labels; and its trial."""
    start = process_time()
    model = HalfmoonClassifier(random_state=split, **parameters)
    wrong = error(model.fit(X, hidden(classes, labeled)).predict(X_test), truth)
    seconds = process_time() - start
    return model, {
        "method": "Halfmoon",
        "split": split,
        "setting": {},
        "weight": [0.0],
        "test": [wrong],
        "validation": [wrong],
        "loo": [0.0],
        "square": [0.0],
        "seconds": seconds,
    }


def halfmoon_trial(*rows: Any, split: int) -> dict[str, Any]:
    """The trial of `fitted_halfmoon`, with the kinds of candidates that answer."""
    model, trial = fitted_halfmoon(*rows, split=split)
    return {**trial, "levers": levers(model.comparison_)}


def levers(comparison: dict[str, Any]) -> str:
    """The kinds of candidates that answer, the weightiest first, in words."""
    shares: dict[str, float] = {}
    names, weights = comparison["candidate"], comparison["weight"]
    for name, weight in zip(names, weights, strict=True):
        kind = next((k for word, k in KINDS.items() if word in name), "plain kernels")
        shares[kind] = shares.get(kind, 0.0) + float(weight)
    large = sorted((k for k in shares if shares[k] >= LARGE), key=lambda k: -shares[k])
    return ", ".join(large)
