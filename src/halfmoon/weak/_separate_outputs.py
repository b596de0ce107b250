r"""Outputs that are too many to list, but whose loss is a sum over parts of them.

The parts are the labels of a set of labels, or the pairs of items of a ranking
(`halfmoon.weak._pairwise_orders`). Each part is -1 or 1,

.. math:: loss(z, y) = 1/P \sum_p [T_p(z) \ne T_p(y)]

and a part that a row leaves open is a gap: each part is learned from the rows that have
it (`halfmoon._estimators.output_groups`). The parts of a set of labels are independent,
so the set with the least estimated loss has every label with a positive value.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from halfmoon._estimators.output_groups import OutputGroups
from halfmoon._estimators.regression import Regressor
from halfmoon._labels import no_labels
from halfmoon._rows import Array, Rows, fitted_to_part_of
from halfmoon.problem import Problem
from halfmoon.weak._fold_search import KernelChoice
from halfmoon.weak._weak_estimator import WeakEstimator

__all__ = [
    "PartRegressor",
    "SeparateLabels",
    "SeparateOutputs",
    "fit_parts",
    "loo_values_of_parts",
]


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
