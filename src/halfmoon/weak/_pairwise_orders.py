r"""Rankings of more items than can be listed: each pair of items is an output.

Kendall's loss is a sum over the pairs of items, so a ranking is one label for each:

.. math:: T_{ab} = 1 \text{ if a is above b, else } -1

A pair that a row leaves open is a gap, and each pair is learned from the rows that
order it (`halfmoon._estimators.output_groups`). This is the infimum loss over the
orders of single pairs, which need not agree on one ranking. Predictions do:

.. math:: f(x) = argmax_z \sum_{a \text{ above } b \text{ in } z} g_{ab}(x)          (1)

The best order of each set of top items follows from those of smaller sets,

.. math:: V(S) = max_{b \in S} \; V(S - b) + \sum_{a \in S - b} g_{ab}

which is exact and takes O(2^m m) time per row. More than 12 items are sorted by
sum_b g_ab, which is exact for Spearman's loss and an approximation of (1).
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halfmoon._estimators.output_groups import OutputGroups
from halfmoon._estimators.regression import Regressor
from halfmoon._labels import no_labels
from halfmoon._rows import Array, Indices, Rows, fitted_to_part_of
from halfmoon.problem import Problem
from halfmoon.weak._disambiguation import FAR, output_blocks
from halfmoon.weak._fold_search import KernelChoice
from halfmoon.weak._weak_estimator import WeakEstimator

__all__ = [
    "ABOVE",
    "PairRegressor",
    "PairwiseOrders",
    "fit_pairs",
    "loo_values_of_pairs",
]

MAX_EXACT_ITEMS = 12  # 4,096 sets of items
ABOVE = ">"  # separates items in text, the better one first


@dataclass(frozen=True)
class PairwiseOrders:
    """All rankings of some items, without a list of them."""

    outputs: NDArray[Any]  # (m,), the items
    text: bool  # whether rankings are text such as "b>a>c"
    learned: NDArray[np.bool_] | None = None  # (P,), pairs with a label; None is all

    @property
    def exact(self) -> bool:
        """Whether predictions have the least estimated loss."""
        return len(self.outputs) <= MAX_EXACT_ITEMS

    @property
    def pairs(self) -> NDArray[np.intp]:
        """Numbers of the items of each pair, shape (P, 2)."""
        return np.array(list(combinations(range(len(self.outputs)), 2)))

    def predicted(self, g: Array) -> NDArray[Any]:
        """Return the best ranking at values g of the learned pairs, (b,) or (b, m)."""
        return self._named(self._ranked(g, np.full((len(g), len(self.pairs)), np.nan)))

    def completed(self, g: Array, labels: Array) -> NDArray[Any]:
        """Return the best of the rankings that agree with labels of shape (b, P)."""
        return self._named(self._ranked(g, labels))

    def infimum_losses(self, g: Array, labels: Array) -> Array:
        """Return the share of all pairs that predictions have in the wrong order."""
        place = np.argsort(self._ranked(g, np.full_like(labels, np.nan)), axis=1)
        above = place[:, self.pairs[:, 0]] < place[:, self.pairs[:, 1]]
        return np.asarray(np.mean(np.where(above, -labels, labels) > 0, axis=1))

    def losses(self, g: Array) -> Array:
        """Raise an error: there are too many rankings."""
        m = len(self.outputs)
        raise ValueError(
            f"There is no estimated loss of every ranking: {m} items have too many. "
            f"Give the rankings to choose from as outputs."
        )

    def _named(self, ranking: Indices) -> NDArray[Any]:
        named = self.outputs[ranking]
        if not self.text:
            return named
        return np.array([ABOVE.join(map(str, each)) for each in named], dtype=object)

    def _ranked(self, g: Array, labels: Array) -> Indices:
        """Return item numbers from first to last, shape (b, m)."""
        values = np.zeros(labels.shape)
        values[:, slice(None) if self.learned is None else self.learned] = g
        values = np.where(np.isnan(labels), values, FAR * labels)
        m, (first, second) = len(self.outputs), self.pairs.T
        best = _best_orders if self.exact else _sorted
        out = np.empty((len(g), m), dtype=np.intp)
        for rows in output_blocks(len(g), m * 2**m if self.exact else m**2):
            G = np.zeros((len(values[rows]), m, m))
            G[:, first, second] = values[rows]
            G[:, second, first] = -values[rows]
            out[rows] = best(G)
        return out


def _best_orders(G: Array) -> Indices:  # (b, m, m) to (b, m)
    """Solve (1), G[:, a, b] being the gain of a above b; the first of equal orders."""
    b, m, _ = G.shape
    every, items = np.arange(b), np.arange(m)
    value, last = np.zeros((2**m, b)), np.zeros((2**m, b), dtype=np.intp)
    gain = np.zeros((2**m, b, m))  # of each item below all items of a set
    for top in range(1, 2**m):
        inside = items[top >> items & 1 == 1][::-1]
        gain[top] = gain[top & (top - 1)] + G[:, inside[-1]]
        others = top ^ (1 << inside)
        found = value[others] + gain[others, :, inside]  # (size of the set, b)
        best = found.argmax(axis=0)
        value[top], last[top] = found[best, every], inside[best]
    out, left = np.empty((b, m), dtype=np.intp), np.full(b, 2**m - 1)
    for place in range(m - 1, -1, -1):
        out[:, place] = last[left, every]
        left = left ^ (1 << out[:, place])
    return out


def _sorted(G: Array) -> Indices:
    """Sort items by their gains against all others.

    What a row knows is kept: an item above another one is also above all below it.
    """
    return np.argsort(-G.sum(axis=2), axis=1, kind="stable")


class PairRegressor(Regressor, WeakEstimator):
    """Ridge of several outputs, each from the rows that have it."""

    def _make_problem(self, X: Rows, l: int, rng: np.random.Generator) -> Problem:
        return self._make_weak_problem(self.kernel, X, l, rng)


def fit_pairs(
    model: WeakEstimator,
    space: PairwiseOrders,
    X: Rows,  # (n, d)
    labels: Array,  # (n, P), NaN where a row leaves a pair open
    w: Array,  # (n,)
) -> PairwiseOrders:
    """Fit each pair, with the kernel of the least leave-one-out error.

    The fit is stored in the model. Returns the space with the pairs that were learned.
    """
    learned = np.asarray(~np.isnan(labels).all(axis=0))
    if not learned.any():
        raise no_labels(len(labels), "one order of two items")
    parameters = {
        each.name: getattr(model, each.name) for each in fields(WeakEstimator)
    }
    tried: list[tuple[float, PairRegressor, KernelChoice]] = []
    for choice in model._within_budget(model._kernel_choices(X)):
        part = PairRegressor(**parameters | {"kernel": choice.kernel, "verbose": 0})
        if hasattr(model, "feature_names_in_"):
            part.feature_names_in_ = model.feature_names_in_
        with fitted_to_part_of(part, model._all_rows):
            part._fit_labels(X, labels[:, learned], w)
        residuals = part.leave_one_out()
        errors = residuals[np.isfinite(residuals)] ** 2
        tried.append((float(errors.mean()) if len(errors) else np.inf, part, choice))
    model.kernel_errors_ = np.array([error for error, _, _ in tried])
    _, best, choice = tried[int(model.kernel_errors_.argmin())]
    model._store_kernel(choice)
    for name in ("solution_", "labeled_", "n_labeled_", "alpha_", "mu_", "coef_"):
        setattr(model, name, getattr(best, name))
    if hasattr(best, "parts_"):  # where rows lack some pairs
        model.parts_ = best.parts_
    return replace(space, learned=learned)


def loo_values_of_pairs(model: WeakEstimator) -> Array:  # (n_labeled, pairs learned)
    """Return the values at the labeled rows, each by a fit without its own labels."""
    groups = model.solution_
    if not isinstance(groups, OutputGroups):
        return model._loo_values()
    y = groups.at_rows([part.posed.y for part in groups.parts])
    values = groups.predict(groups.parts[0].posed.X[model.labeled_])
    return np.where(np.isnan(y), values, y - groups.leave_one_out())
