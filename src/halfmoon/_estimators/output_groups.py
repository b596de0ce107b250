r"""Outputs with gaps: rows that have some of their outputs and lack others.

Each output is learned from the rows that have it. Outputs with the same labeled rows
are a *group*, fitted with one factorization, like one target with several columns. The
groups share what does not depend on labels: the basis, the energy, the root of the
penalty, and the kernel matrix between all labeled rows.

Arrays keep a column for each output:

================================  ===================================================
if a row lacks an output          it is
================================  ===================================================
its leave-one-out residual        NaN
its weight in `smoother_matrix`   0; the matrix has shape (b, n_labeled, t)
its dual coefficient              0
================================  ===================================================
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np

from halfmoon._estimators.fit_problem import (
    Data,
    fit_posed,
    fit_problem,
    kernel_settings,
    select_unpenalized,
)
from halfmoon._memory import parse_bytes
from halfmoon._rows import Array, Indices, Rows
from halfmoon._sklearn_conventions import unfitted_copy
from halfmoon.blocks import blas_for
from halfmoon.problem import Fit
from halfmoon.problem._posed import Posed

if TYPE_CHECKING:
    from halfmoon._estimators.base import Estimator

__all__ = [
    "OutputGroups",
    "by_output",
    "collect_groups",
    "fit_groups",
    "groups_of_outputs",
]

Model = TypeVar("Model", bound="Estimator")


def groups_of_outputs(
    y: Array,  # (n,) or (n, t)
) -> list[Indices]:
    """Return the groups of columns that are known in the same rows.

    An output without any label is refused if others have some.

    Examples
    --------
    >>> y = np.array([[1.0, np.nan, 2.0], [3.0, 4.0, 5.0]])
    >>> groups_of_outputs(y)
    [array([0, 2]), array([1])]
    """
    y = y.reshape(len(y), -1)
    labeled = ~np.isnan(y)
    if labeled.any() and not labeled.any(axis=0).all():
        empty = int(np.flatnonzero(~labeled.any(axis=0))[0])
        raise ValueError(
            f"Output {empty} of y has no label in any row. Drop this column, or label "
            f"some rows."
        )
    groups: dict[bytes, list[int]] = {}
    for column, rows in enumerate(labeled.T):
        groups.setdefault(rows.tobytes(), []).append(column)
    return [np.array(columns) for columns in groups.values()]


def by_output(
    columns: Sequence[Indices], values: Sequence[Any], fill: float = 0.0
) -> Array:
    """Join arrays of the groups along their last axis, outputs; fill where ragged.

    Examples
    --------
    >>> by_output([np.array([0, 2]), np.array([1])], [[[1, 2], [3, 4]], [[5]]])
    array([[1., 5., 2.],
           [3., 0., 4.]])
    """
    arrays = [np.asarray(each, dtype=np.float64) for each in values]
    shape = tuple(np.max([each.shape[:-1] for each in arrays], axis=0))
    out = np.full((*shape, sum(map(len, columns))), fill)
    for outputs, each in zip(columns, arrays, strict=True):
        corner: Any = (*map(slice, each.shape[:-1]), outputs)
        out[corner] = each
    return out


@dataclass(frozen=True)
class OutputGroups:
    """The fitted functions of the groups, joined into one function of all outputs."""

    parts: tuple[Any, ...]  # a Fit or an Average for each group
    columns: tuple[Indices, ...]  # the outputs of each group
    places: tuple[Indices, ...]  # its labeled rows: positions among all labeled rows
    n_labeled: int  # number of rows with any label

    def with_parts(self, estimators: Sequence[Any]) -> OutputGroups:
        """Return the same groups with the solutions of other estimators."""
        return replace(self, parts=tuple(each.solution_ for each in estimators))

    def __iter__(self) -> Iterator[tuple[Any, Indices]]:
        """Yield each part with its outputs."""
        return zip(self.parts, self.columns, strict=True)

    @property
    def posed(self) -> Any:
        """Raise an error: there are several problems."""
        raise ValueError(
            "Some rows lack some outputs, so the outputs were fitted in groups, each "
            "with its own problem. Use an estimator of parts_, or fit each output in a "
            "model of its own."
        )

    def predict(self, X: Rows) -> Array:
        """Return the values at any rows, shape (b, t)."""
        return self._each(lambda part: part.predict(X))

    def std(self, X: Rows) -> Array:
        """Return the posterior standard deviations at any rows, shape (b, t)."""
        return self._each(lambda part: part.std(X))

    def leave_one_out(self, some: Indices | slice = slice(None)) -> Array:
        """Return the leave-one-out residuals, (n_labeled, t); NaN without a label.

        All labels of a row are left out together.
        """
        parts = map(self.at_work, self.parts)
        return self.at_rows([part.leave_one_out() for part in parts])[some]

    def smoother_matrix(self, X: Rows) -> Array:
        """Return H(x), shape (b, n_labeled, t), with values H(x)[:, :, j] y[:, j]."""
        b = X.shape[0]
        H = np.zeros((b, self.n_labeled, sum(map(len, self.columns))))
        parts = map(self.at_work, self.parts)
        for part, outputs, rows in zip(parts, self.columns, self.places, strict=True):
            H[:, rows[:, None], outputs] = part.smoother_matrix(X)[:, :, None]
        return H

    def at_rows(self, values: Sequence[Array], fill: float = np.nan) -> Array:
        """Join values at the labeled rows of each group, shape (n_labeled, t)."""
        out = np.full((self.n_labeled, sum(map(len, self.columns))), fill)
        for each, outputs, rows in zip(values, self.columns, self.places, strict=True):
            out[np.ix_(rows, outputs)] = each.reshape(len(rows), -1)
        return out

    def shaped(self, values: Array) -> Array:
        """Return the values: outputs with gaps are always several."""
        return values

    def _each(self, function: Callable[[Any], Array]) -> Array:
        parts = map(self.at_work, self.parts)
        return by_output(self.columns, [function(part) for part in parts])

    @staticmethod
    def at_work(part: Any) -> Any:
        """Return a part that does not store the factorization it may compute."""
        stored = isinstance(part, Fit) and "path" in part.posed.__dict__
        return part if stored else without_factorization(part)


def without_factorization(solution: Any) -> Any:
    """Return a fit without its factorization, which is computed again when needed."""
    if not isinstance(solution, Fit):
        return solution
    return replace(solution, posed=replace(solution.posed))


def fit_groups(
    model: Model, X: Rows, targets: Array, w: Array, groups: Sequence[Indices]
) -> list[Model]:
    """Return a fitted copy of the model for each group of outputs.

    What does not depend on labels is computed once, for all groups.
    """
    if model._by_labels or kernel_settings(model, X) != [{}]:
        parts = [copy(model) for _ in groups]
        for part, columns in zip(parts, groups, strict=True):
            fit_problem(part, X, targets[:, columns], w)
        return parts
    data = Data.of(model, X, targets, w)
    rng = data.rng
    known = ~np.isnan(targets)
    labeled = np.flatnonzero(known.any(axis=1))
    stated = model._make_problem(X, len(labeled), rng)
    state = rng.bit_generator.state  # each group draws what it would draw alone
    parts, whole = [copy(model) for _ in groups], None
    for part, columns in zip(parts, groups, strict=True):
        rng.bit_generator.state = state
        y = targets[:, columns]
        problem, alphas = select_unpenalized(part, stated, data._replace(targets=y))
        if whole is None:
            any_label = np.where(known.any(axis=1), 0.0, np.nan)
            whole = Posed.of(problem, *data._replace(targets=any_label))
        rows = np.flatnonzero(known[labeled, columns[0]])
        with blas_for(len(targets) * whole.basis.n_components_**2):  # as in `fit_posed`
            posed = whole.of_rows(rows, y[labeled[rows]])
        if part.fold_errors_ is not None:  # the group has chosen its own features
            features = problem.unpenalized
            if features is not None:
                features = unfitted_copy(features).fit(X, rng)
            posed = posed.with_unpenalized(features)
        fit_posed(part, posed, alphas, rng)
        # All factorizations together may be more than the memory limit.
        l = len(labeled)
        side = l if whole.dual else whole.basis.n_components_
        if 16 * len(groups) * side * min(l, side) > parse_bytes(model.memory_limit):
            part.solution_ = without_factorization(part.solution_)
    return parts


def collect_groups(model: Estimator) -> None:
    """Set attributes of a model from those of its parts, with a column per output."""
    columns, parts = cast(OutputGroups, model.solution_).columns, model._parts()
    names = ("alpha_", "mu_", "alphas_", "loo_errors_", "fold_errors_")

    def collected(name: str) -> Any:
        values = [getattr(part, name) for part in parts]
        if any(value is None for value in values):
            return None
        repeated = [
            np.repeat(np.asarray(value)[..., None], len(some), axis=-1)
            for value, some in zip(values, columns, strict=True)
        ]
        return by_output(columns, repeated, fill=np.nan)

    for name in (*names, *model._by_labels):
        setattr(model, name, collected(name))
    model.coef_ = by_output(columns, [part.coef_ for part in parts])
