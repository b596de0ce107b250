r"""Laplacian: the penalty depends on where the rows are dense.

.. math:: min \; 1/l \sum_{i \, labeled} |y_i - g(x_i)|^2
          + alpha \bigl( 1/n \sum_i |\nabla g(x_i)|^2 + mu |g|^2 \bigr)

The mean squared gradient over all rows keeps g nearly constant where there are rows, so
that a label spreads along a cluster and stops at its edge. With ``energy="graph"``,
differences along the edges of a neighbor graph replace the gradients: LapRLS.
Cabannes, Pillaud-Vivien, Bach, Rudi, "Overcoming the curse of dimensionality with
Laplacian regularization", 2021.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

import numpy as np

from halfmoon._estimators.base import Estimator
from halfmoon._estimators.classification import Classifier
from halfmoon._estimators.parameter_docs import with_parameter_docs
from halfmoon._estimators.parameters import basis_for, refuse_other_graph
from halfmoon._estimators.regression import Regressor
from halfmoon._memory import MEMORY_LIMIT
from halfmoon._rows import Rows
from halfmoon._sklearn_conventions import as_numbers, is_name
from halfmoon.filters import FILTERS, Filter
from halfmoon.problem import Fit, Problem, solve_filter
from halfmoon.problem._offset import is_shifted
from halfmoon.problem._posed import Posed

__all__ = ["LaplacianClassifier", "LaplacianRegressor"]


@dataclass(eq=False, repr=False)
class Laplacian(Estimator):
    """Base class of the regressor and the classifier: parameters and problem."""

    kernel: Any = "gaussian"
    alpha: Literal["auto"] | float | Sequence[float] = "auto"
    mu: float | Sequence[float] | None = None
    energy: Any = "gradient"
    filter: Any = None
    n_components: int | None = None
    landmarks: Any = "rpcholesky"
    unpenalized: Any = "auto"
    covariance: Literal["labeled", "all"] = "labeled"
    loss: Any = "squared"
    basis: Any = "auto"
    memory_limit: int | str = MEMORY_LIMIT
    random_state: Any = None
    n_jobs: int | None = None
    verbose: int = 0
    unlabeled: Any = None

    def _make_problem(self, X: Rows, l: int, rng: np.random.Generator) -> Problem:
        energy = self.energy
        refuse_other_graph(energy, X.shape[0])
        if is_name(energy, "graph") and self._is_precomputed():
            raise ValueError(
                "energy='graph' needs the table to find neighbors in, but X is a "
                "kernel matrix. Give the Laplacian of the graph as a sparse matrix."
            )
        # With the median distance, squared gradients do not show gaps between rows.
        rule = "local" if self._uses_gradients else "median"
        basis = basis_for(
            self, self.kernel, X, l, rng, in_dual=energy is None, length_scale=rule
        )
        first = None if self.mu is None else as_numbers(self.mu, "mu")[0]
        return Problem(basis, energy, first)

    @property
    def _uses_gradients(self) -> bool:
        return is_name(self.energy, "gradient")

    def _alternatives(self, posed: Posed, rng: np.random.Generator) -> Iterable[Posed]:
        automatic = is_name(self.unpenalized, "auto")
        by_ridge = self._uses_gradients and self._solver() is None
        shifted = not posed.basis.any_origin and is_shifted(posed.basis)
        if automatic and by_ridge and not shifted:
            yield posed.with_unpenalized(None)

    def _solver(self) -> Callable[[Posed, float], Fit] | None:
        if self.filter is None and self.covariance == "labeled":
            return super()._solver()
        if super()._solver() is not None:
            raise ValueError("A filter is for loss='squared'.")
        return partial(_solve_filtered, filter_=self.filter, covariance=self.covariance)

    def _alphas(self) -> Any:
        # A filter object has its own parameters: there is no alpha to search.
        return 1.0 if isinstance(self.filter, Filter) else self.alpha


def _solve_filtered(
    posed: Posed, alpha: float, filter_: Any, covariance: Literal["labeled", "all"]
) -> Fit:
    """Solve a posed problem by a filter: an object, or a name with this alpha."""
    if isinstance(filter_, Filter):
        return solve_filter(posed, filter_, covariance=covariance)
    name = "tikhonov" if filter_ is None else filter_
    if name == "landweber" and not alpha > 0:
        raise ValueError(
            f"alpha is {alpha}; filter='landweber' takes 1 / alpha steps, so a number "
            f"above 0 is needed."
        )
    fit = solve_filter(posed, FILTERS[name](alpha), covariance=covariance)
    return replace(fit, alpha=alpha)


@with_parameter_docs
@dataclass(eq=False, repr=False)
class LaplacianRegressor(Regressor, Laplacian):
    """Kernel regression with a function that varies little where rows are dense.

    See `halfmoon._estimators.laplacian` for the equation. O(n p^2 + n p d) time for p
    landmarks; p = n without them.

    Examples
    --------
    >>> import numpy as np
    >>> from halfmoon.kernels import Gaussian
    >>> t = np.linspace(0, 3, 40)
    >>> X = np.vstack([np.c_[t, 0 * t], np.c_[t, 0 * t + 1]])  # two lines
    >>> y = np.full(80, np.nan)
    >>> y[0], y[79] = -1, 1  # one label on each
    >>> model = LaplacianRegressor(Gaussian(0.3), alpha=0.1).fit(X, y)
    >>> int((np.sign(model.predict(X)) == np.repeat([-1, 1], 40)).sum())
    80
    """


@with_parameter_docs
@dataclass(eq=False, repr=False)
class LaplacianClassifier(Classifier, Laplacian):
    """Kernel classification with class borders where rows are sparse.

    See `halfmoon._estimators.laplacian` for the equation. O(n p^2 + n p d) time for p
    landmarks; p = n without them.

    Examples
    --------
    >>> import numpy as np
    >>> from halfmoon.datasets import concentric_circles, reveal
    >>> from halfmoon.kernels import Gaussian
    >>> X, y, circle = concentric_circles(300, n_circles=2, rng=0)
    >>> known = reveal(y, circle, rng=0)  # one label on each of two circles
    >>> model = LaplacianClassifier(Gaussian(0.3), alpha=1.0, unpenalized=None)
    >>> float((model.fit(X, known).predict(X) == y).mean())
    1.0
    """
