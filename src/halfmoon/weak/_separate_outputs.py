r"""Outputs that are too many to list, but whose loss is a sum over parts of them.

Each part is -1 or 1,

.. math:: loss(z, y) = 1/P \sum_p [T_p(z) \ne T_p(y)]

and a part that a row leaves open is a gap: each part is learned from the rows that have
it (`halfmoon._estimators.output_groups`).

**Sets of labels.** The parts are the labels. They are independent, so the set with the
least estimated loss has every label with a positive value.

**Rankings**, with Kendall's loss. The parts are the pairs of items,

.. math:: T_{ab} = 1 \text{ if a is above b, else } -1

This is the infimum loss over the orders of single pairs, which need not agree on one
ranking. Predictions do:

.. math:: f(x) = argmax_z \sum_{a \text{ above } b \text{ in } z} g_{ab}(x)          (1)

The best order of each set of top items follows from those of smaller sets,

.. math:: V(S) = max_{b \in S} \; V(S - b) + \sum_{a \in S - b} g_{ab}

which is exact and takes O(2^m m) time per row. More than 12 items are sorted by
sum_b g_ab, which is exact for Spearman's loss and an approximation of (1).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, fields, replace
from itertools import combinations
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from halfmoon._estimators.output_groups import OutputGroups
from halfmoon._estimators.regression import Regressor
from halfmoon._labels import no_labels
from halfmoon._rows import Array, Indices, Rows
from halfmoon.problem import Problem
from halfmoon.weak._disambiguation import FAR, output_blocks
from halfmoon.weak._fold_search import KernelChoice
from halfmoon.weak._weak_estimator import WeakEstimator

__all__ = [
    "ABOVE",
    "PairwiseOrders",
    "PartRegressor",
    "SeparateLabels",
    "SeparateOutputs",
    "fit_parts",
    "loo_values_of_parts",
]

MAX_EXACT_ITEMS = 12  # 4,096 sets of items
ABOVE = ">"  # separates items in text, the better one first


@dataclass(frozen=True)
class SeparateOutputs(ABC):
    """Outputs that are not listed, but known by the signs of their parts."""

    outputs: NDArray[Any]  # the labels, or the items of rankings
    learned: NDArray[np.bool_] | None = None  # (P,), parts with a label; None is all

    output: ClassVar[str]  # what one output is called
    elements: ClassVar[str]  # what it consists of
    least: ClassVar[str]  # what some row must say

    @property
    @abstractmethod
    def n_parts(self) -> int:
        """P, the number of parts."""

    @property
    @abstractmethod
    def exact(self) -> bool:
        """Whether predictions have the least estimated loss."""

    @abstractmethod
    def completed(self, g: Array, labels: Array) -> NDArray[Any]:
        """Return the best of the outputs that agree with labels of shape (b, P)."""

    @abstractmethod
    def signs(self, g: Array) -> Array:
        """Return the parts of the best outputs at values g, -1 or 1, shape (b, P)."""

    def predicted(self, g: Array) -> NDArray[Any]:
        """Return the best outputs at values g of the learned parts."""
        return self.completed(g, np.full((len(g), self.n_parts), np.nan))

    def infimum_losses(self, g: Array, labels: Array) -> Array:
        """Return the share of all parts that predictions have wrong, shape (b,)."""
        return np.asarray(np.mean(self.signs(g) * labels < 0, axis=1))

    def losses(self, g: Array) -> Array:
        """Raise an error: there are too many outputs."""
        raise ValueError(
            f"There is no estimated loss of every {self.output}: {len(self.outputs)} "
            f"{self.elements} have too many. Give the {self.output}s to choose from as "
            f"outputs."
        )

    def _all_values(self, g: Array) -> Array:
        """Return values of all parts, 0 for those that were not learned, (b, P)."""
        values = np.zeros((len(g), self.n_parts))
        values[:, slice(None) if self.learned is None else self.learned] = g
        return values


@dataclass(frozen=True)
class SeparateLabels(SeparateOutputs):
    """All sets of some labels, with the share of wrong labels as their loss."""

    output = "label set"
    elements = "labels"
    least = "one label"
    exact = True

    @property
    def n_parts(self) -> int:
        return len(self.outputs)

    def signs(self, g: Array) -> Array:
        return np.where(self._all_values(g) > 0, 1.0, -1.0)

    def completed(self, g: Array, labels: Array) -> NDArray[Any]:
        signs = np.where(np.isnan(labels), self.signs(g), labels)
        return (signs > 0).astype(np.intp)


@dataclass(frozen=True)
class PairwiseOrders(SeparateOutputs):
    """All rankings of some items, without a list of them."""

    text: bool = False  # whether rankings are text such as "b>a>c"

    output = "ranking"
    elements = "items"
    least = "one order of two items"

    @property
    def exact(self) -> bool:
        return len(self.outputs) <= MAX_EXACT_ITEMS

    @property
    def n_parts(self) -> int:
        return len(self.pairs)

    @property
    def pairs(self) -> NDArray[np.intp]:
        """Numbers of the items of each pair, shape (P, 2)."""
        return np.array(list(combinations(range(len(self.outputs)), 2)))

    def completed(self, g: Array, labels: Array) -> NDArray[Any]:
        """Return the best of the rankings that agree with labels of shape (b, P)."""
        return self._named(self._ranked(g, labels))

    def signs(self, g: Array) -> Array:
        open_pairs = np.full((len(g), self.n_parts), np.nan)
        place = np.argsort(self._ranked(g, open_pairs), axis=1)
        above = place[:, self.pairs[:, 0]] < place[:, self.pairs[:, 1]]
        return np.where(above, 1.0, -1.0)

    def _named(self, ranking: Indices) -> NDArray[Any]:
        named = self.outputs[ranking]
        if not self.text:
            return named
        return np.array([ABOVE.join(map(str, each)) for each in named], dtype=object)

    def _ranked(self, g: Array, labels: Array) -> Indices:
        """Return item numbers from first to last, shape (b, m)."""
        values = np.where(np.isnan(labels), self._all_values(g), FAR * labels)
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


class PartRegressor(Regressor, WeakEstimator):
    """Ridge of several outputs, each from the rows that have it."""

    def _make_problem(self, X: Rows, l: int, rng: np.random.Generator) -> Problem:
        return self._make_weak_problem(self.kernel, X, l, rng)


def fit_parts(
    model: WeakEstimator,
    space: SeparateOutputs,
    X: Rows,  # (n, d)
    labels: Array,  # (n, P), NaN where a row leaves a part open
    w: Array,  # (n,)
) -> SeparateOutputs:
    """Fit each part, with the kernel of the least leave-one-out error.

    The fit is stored in the model. Returns the space with the parts that were learned.
    """
    learned = np.asarray(~np.isnan(labels).all(axis=0))
    if not learned.any():
        raise no_labels(len(labels), space.least)
    parameters = {
        each.name: getattr(model, each.name) for each in fields(WeakEstimator)
    }
    tried: list[tuple[float, PartRegressor, KernelChoice]] = []
    for choice in model._within_budget(model._kernel_choices(X)):
        part = PartRegressor(**parameters | {"kernel": choice.kernel, "verbose": 0})
        if hasattr(model, "feature_names_in_"):
            part.feature_names_in_ = model.feature_names_in_
        part._all_rows = model._all_rows
        part._fit_labels(X, labels[:, learned], w)
        residuals = part.leave_one_out()
        errors = residuals[np.isfinite(residuals)] ** 2
        tried.append((float(errors.mean()) if len(errors) else np.inf, part, choice))
    model.kernel_errors_ = np.array([error for error, _, _ in tried])
    _, best, choice = tried[int(model.kernel_errors_.argmin())]
    model._store_kernel(choice)
    for name in ("solution_", "labeled_", "n_labeled_", "alpha_", "mu_", "coef_"):
        setattr(model, name, getattr(best, name))
    if hasattr(best, "parts_"):  # where rows lack some parts
        model.parts_ = best.parts_
    return replace(space, learned=learned)


def loo_values_of_parts(model: WeakEstimator) -> Array:  # (n_labeled, parts learned)
    """Return the values at the labeled rows, each by a fit without its own labels."""
    groups = model.solution_
    if not isinstance(groups, OutputGroups):
        return model._loo_values()
    y = groups.at_rows([part.posed.y for part in groups.parts])
    values = groups.predict(groups.parts[0].posed.X[model.labeled_])
    return np.where(np.isnan(y), values, y - groups.leave_one_out())
