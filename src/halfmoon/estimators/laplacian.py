r"""Laplacian: the penalty is reshaped by where the rows are dense.

.. math:: min \; 1/l \sum_{i \, labeled} |y_i - g(x_i)|^2
          + alpha \bigl( 1/n \sum_i |\nabla g(x_i)|^2 + mu |g|^2 \bigr)

The mean squared gradient over all rows asks that g change little where there are rows,
so that a label reaches along a cluster and stops at its edge. With ``energy="graph"``
differences along the edges of a neighbor graph take the place of gradients: LapRLS.
Cabannes, Pillaud-Vivien, Bach, Rudi, "Overcoming the curse of dimensionality with
Laplacian regularization", 2021.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp

from halfmoon.estimators.classification import Classifier
from halfmoon.estimators.lever import Lever
from halfmoon.estimators.parameters import documented
from halfmoon.estimators.regression import Regressor
from halfmoon.filters import FILTERS, Filter
from halfmoon.losses import Squared, as_loss
from halfmoon.memory import MEMORY_LIMIT
from halfmoon.problem import Fit, Posed, Problem, as_numbers, solve_filter
from halfmoon.rows import Rows

__all__ = ["LaplacianClassifier", "LaplacianRegressor"]


@dataclass(eq=False, repr=False)
class Laplacian(Lever):
    """The lever, without what y is."""

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

    def _state(self, X: Rows, l: int, rng: np.random.Generator) -> Problem:
        energy = self.energy
        if sp.issparse(energy) and energy.shape != (X.shape[0], X.shape[0]):
            raise ValueError(
                f"energy is a graph of shape {energy.shape}, but {X.shape[0]} rows "
                f"count; the Laplacian over just these rows is needed."
            )
        if isinstance(energy, str) and energy == "graph" and self._is_precomputed():
            raise ValueError(
                "energy='graph' needs the table to find neighbors in, but X is a "
                "kernel matrix. Give the graph by its Laplacian, a sparse matrix."
            )
        dual = energy is None
        # At the median distance squared gradients see no gap between rows.
        rule = "local" if self._by_gradients() else "median"
        basis = self._kernel_basis(
            self.kernel, X, l, rng, in_dual=dual, length_scale=rule
        )
        first = None if self.mu is None else as_numbers(self.mu, "mu")[0]
        return Problem(basis, energy, first)

    def _by_gradients(self) -> bool:
        return isinstance(self.energy, str) and self.energy == "gradient"

    def _rivals(self, posed: Posed, rng: np.random.Generator) -> Iterable[Posed]:
        automatic = isinstance(self.unpenalized, str) and self.unpenalized == "auto"
        if automatic and self._by_gradients() and self._solver() is None:
            yield posed.with_unpenalized(None)

    def _mu(self) -> Any:
        return self.mu

    def _solver(self) -> Callable[[Posed, float], Fit] | None:
        if self.filter is None and self.covariance == "labeled":
            return super()._solver()
        if not isinstance(as_loss(self.loss), Squared):
            raise ValueError("A filter is for loss='squared'.")
        return partial(_solve_filtered, filter_=self.filter, covariance=self.covariance)

    def _alphas(self) -> Any:
        # A filter that is an object has its own parameters: nothing to search.
        return 1.0 if isinstance(self.filter, Filter) else self.alpha


def _solve_filtered(
    posed: Posed, alpha: float, filter_: Any, covariance: Literal["labeled", "all"]
) -> Fit:
    """The posed problem solved by a filter: an object, or a name at this alpha."""
    if isinstance(filter_, Filter):
        return solve_filter(posed, filter_, covariance=covariance)
    name = "tikhonov" if filter_ is None else filter_
    if not isinstance(name, str) or name not in FILTERS:
        raise ValueError(
            f"filter is {filter_!r}; None, a filter of halfmoon.filters, or one of "
            f"{', '.join(map(repr, FILTERS))} is needed."
        )
    if name == "landweber" and not alpha > 0:
        raise ValueError(
            f"alpha is {alpha}; filter='landweber' takes 1 / alpha steps, so a number "
            f"above 0 is needed."
        )
    fit = solve_filter(posed, FILTERS[name](alpha), covariance=covariance)
    return replace(fit, alpha=alpha)


@documented
@dataclass(eq=False, repr=False)
class LaplacianRegressor(Regressor, Laplacian):
    """Kernel regression that changes little where rows are dense.

    See `halfmoon.estimators.laplacian` for the equation. O(n p^2 + n p d) time for p
    landmarks, whatever d; p = n without them.

    Examples
    --------
    >>> import numpy as np
    >>> from halfmoon.kernels import Gaussian
    >>> t = np.linspace(0, 3, 40)
    >>> X = np.vstack([np.c_[t, 0 * t], np.c_[t, 0 * t + 1]])  # two lines
    >>> y = np.full(80, np.nan)
    >>> y[0], y[79] = -1, 1  # with a label each
    >>> model = LaplacianRegressor(Gaussian(0.3), alpha=0.1).fit(X, y)
    >>> int((np.sign(model.predict(X)) == np.repeat([-1, 1], 40)).sum())
    80
    """


@documented
@dataclass(eq=False, repr=False)
class LaplacianClassifier(Classifier, Laplacian):
    """Classification whose borders lie where rows are few.

    See `halfmoon.estimators.laplacian` for the equation. O(n p^2 + n p d) time for p
    landmarks, whatever d; p = n without them.

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
