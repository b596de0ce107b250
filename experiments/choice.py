"""Two ways to choose among settings: on the test rows as the papers did, and honestly.

A method tried on one split leaves trials: for each setting its error on the test rows,
and how it does on labeled rows left out one at a time. *Tuned* is the one setting that
is best on the test rows, on average over the splits. *Honest* takes in each split the
setting with the fewest wrong left-out labels, ties broken by their squared errors.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from experiments.store import key
from halfmoon._rows import Array, Indices
from halfmoon._solvers.elimination import Elimination
from halfmoon._solvers.ridge import ridge_dual

__all__ = ["LAMS", "Chosen", "honest", "one_hot", "ridge_trials", "tuned"]

#: lam over the mean diagonal of the kernel, from near interpolation to near no fit.
LAMS = tuple(10.0**e for e in range(-6, 3))


@dataclass(frozen=True)
class Chosen:
    """Errors of the chosen settings over splits, in percent."""

    errors: Array
    settings: list[dict[str, Any]]

    @property
    def mean(self) -> float:
        return float(self.errors.mean())

    @property
    def deviation(self) -> float:
        return float(self.errors.std(ddof=1)) if len(self.errors) > 1 else 0.0

    def __str__(self) -> str:
        return f"{self.mean:.1f} ± {self.deviation:.1f}"


def one_hot(classes: Indices, n_classes: int) -> Array:
    """-1 and 1, a column for each class; one column where there are two classes."""
    signs = np.where(np.asarray(classes)[:, None] == np.arange(n_classes), 1.0, -1.0)
    return signs[:, 1:] if n_classes == 2 else signs


def decide(scores: Array) -> Indices:
    """The class of each row of scores."""
    if scores.shape[1] == 1:
        return (scores[:, 0] > 0).astype(np.intp)
    return np.asarray(scores.argmax(axis=1))


def ridge_trials(
    K_l: Array,  # (l, l), kernel of the labeled rows
    K_u: Array,  # (u, l), of the test rows with them
    labels: Indices,  # (l,), 0, 1, ...
    truth: Indices,  # (u,)
    n_classes: int,
    lams: Sequence[float] = LAMS,
) -> dict[str, list[float]]:
    """Regularized least squares at each lam, from one eigendecomposition.

    No constant: all of S0's classifiers are (K + lam I)^-1 y. The lams are in units of
    the mean diagonal of K_l. Errors in percent.
    """
    Y, l = one_hot(labels, n_classes), len(labels)
    unit = float(np.trace(K_l)) / l or 1.0
    path = ridge_dual(K_l / unit, Y, Elimination(np.zeros((l, 0))), total_weight=1.0)
    left_out = path.leave_one_out(lams)
    out: dict[str, list[float]] = {"weight": [], "test": [], "loo": [], "square": []}
    for lam, residuals in zip(lams, left_out, strict=True):
        scores = K_u @ (path.theta(lam) / unit)
        out["weight"].append(lam)
        out["test"].append(100 * float((decide(scores) != truth).mean()))
        out["loo"].append(100 * float((decide(Y - residuals) != labels).mean()))
        out["square"].append(float((residuals**2).mean()))
    return out


def tuned(trials: Iterable[dict[str, Any]]) -> Chosen:
    """The setting of least mean test error, the same in every split."""
    errors: dict[str, list[float]] = defaultdict(list)
    for trial in trials:
        for weight, test in zip(trial["weight"], trial["test"], strict=True):
            errors[key({**trial["setting"], "weight": weight})].append(test)
    most = max(map(len, errors.values()))
    whole = {at: e for at, e in errors.items() if len(e) == most}
    best = min(whole, key=lambda at: float(np.mean(whole[at])))
    return Chosen(np.array(whole[best]), [_settings(best)])


def honest(trials: Iterable[dict[str, Any]]) -> Chosen:
    """In each split the setting that leave-one-out on its labels prefers."""
    splits: dict[int, list[tuple[float, float, float, str]]] = defaultdict(list)
    for trial in trials:
        columns = (trial[name] for name in ("loo", "square", "test", "weight"))
        for loo, square, test, weight in zip(*columns, strict=True):
            at = key({**trial["setting"], "weight": weight})
            splits[trial["split"]].append((loo, square, test, at))
    best = [min(entries) for _, entries in sorted(splits.items())]
    return Chosen(np.array([b[2] for b in best]), [_settings(b[3]) for b in best])


def _settings(text: str) -> dict[str, Any]:
    return json.loads(text)
