r"""Fredholm: the basis is smoothed over all rows, labeled or not.

.. math:: k_F(x, z) = \sum_{ij} a_i(x) h(x_i, x_j) a_j(z), \quad
          a_j(x) = k(x, x_j) / n \; or \; k(x, x_j) / \sum_m k(x, x_m)

is a kernel that depends on the table: two rows are similar if the rows around them are.
The names in Que, Belkin, Wang, "Learning with Fredholm kernels", 2014:

==========  ==================  ======================  =====================
name        ``kernel`` k        ``inner_kernel`` h      ``normalize``
==========  ==================  ======================  =====================
FredLin1    "linear"            "gaussian"              False; True is (N)
FredLin2    "gaussian"          "linear"                False; True is (N)
FredGauss   "gaussian"          "gaussian"              False; True is (N)
==========  ==================  ======================  =====================

By default both kernels are Gaussian and normalized. Leave-one-out compares two pairs of
length scales. The first has a third of the distance to the tenth nearest row for k, and
the median distance for h. The second has half of each distance: it averages more, and
separates more rows, which suits noise in many columns. It is used where its error is at
least a tenth lower.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from sklearn.utils.validation import check_is_fitted

from halfmoon._estimators.base import Estimator
from halfmoon._estimators.classification import Classifier
from halfmoon._estimators.output_groups import OutputGroups, by_output
from halfmoon._estimators.parameter_docs import with_parameter_docs
from halfmoon._estimators.parameters import basis_for, kernel_by_rule
from halfmoon._estimators.regression import Regressor
from halfmoon._memory import MEMORY_LIMIT
from halfmoon._rows import Array, Rows
from halfmoon._sklearn_conventions import is_name
from halfmoon.bases import Exact, Smoothed
from halfmoon.kernels import Gaussian
from halfmoon.kernels._length_scales import median_distance, neighbor_distance
from halfmoon.problem import Problem
from halfmoon.problem._posed import Posed
from halfmoon.smoothers import KernelWeights

__all__ = ["FredholmClassifier", "FredholmRegressor"]


@dataclass(eq=False, repr=False)
class Fredholm(Estimator):
    """Base class of the regressor and the classifier: parameters and problem."""

    kernel: Any = "auto"
    inner_kernel: Any = "auto"
    normalize: bool = True
    smoother: Any = None
    n_components: int | None = None
    alpha: Literal["auto"] | float | Sequence[float] = "auto"
    unpenalized: Any = "constant"
    loss: Any = "squared"
    basis: Any = "auto"
    landmarks: Any = "rpcholesky"
    memory_limit: int | str = MEMORY_LIMIT
    random_state: Any = None
    n_jobs: int | None = None
    verbose: int = 0
    unlabeled: Any = None

    def _kernels(self) -> list[Any]:
        outer = [self.kernel] if self.smoother is None else []
        return [*outer, self.inner_kernel]

    def _make_problem(self, X: Rows, l: int, rng: np.random.Generator) -> Problem:
        smoother = self.smoother
        if smoother is not None and self._is_precomputed():
            raise ValueError(
                "smoother needs the table to average over, but X is a kernel matrix. "
                "Use smoother=None, so that the kernel averages, or give the table and "
                "the inner kernel as an object."
            )
        outer, inner = (
            "gaussian" if is_name(kernel, "auto") else kernel
            for kernel in (self.kernel, self.inner_kernel)
        )
        if smoother is None:
            # The median distance would average over half of the table.
            weights = kernel_by_rule(outer, "neighbors")
            smoother = KernelWeights(weights, self.normalize)
        basis = basis_for(
            self, inner, X, l, rng, smoothed=True, parameter="inner_kernel"
        )
        return Problem(Smoothed(basis, smoother))

    def _alternatives(self, posed: Posed, rng: np.random.Generator) -> Iterable[Posed]:
        """Yield a wider average of a narrower kernel: for noise in many columns."""
        automatic = all(is_name(kernel, "auto") for kernel in self._kernels())
        given = self.smoother is not None or self.basis not in ("auto", "exact")
        if given or not automatic or self._solver() is not None or not posed.dual:
            return
        outer = Gaussian(neighbor_distance(posed.X, rng) / 2)
        inner = Gaussian(median_distance(posed.X, rng) / 2)
        basis = Smoothed(Exact(inner), KernelWeights(outer, self.normalize))
        yield posed.with_basis(basis.fit(posed.X, rng))

    @property
    def primal_coef_(self) -> Array:
        """Weights u of the columns, with g(x) = x'u + f(x)'beta.

        Shape (d,) or (d, t). Only with ``kernel="linear"`` and ``normalize=False``.
        """
        check_is_fitted(self)
        if isinstance(self.solution_, OutputGroups):
            parts = [part.primal_coef_ for part in self._parts()]
            return by_output(self.solution_.columns, parts)
        fit = self._one_fit
        basis = fit.posed.basis
        smoother = basis.smoother_ if isinstance(basis, Smoothed) else None
        if not isinstance(smoother, KernelWeights) or not smoother.linear:
            raise AttributeError(
                "primal_coef_ needs a linear outer kernel; use kernel='linear' and "
                "normalize=False."
            )
        return fit.shaped(smoother.primal(basis.at_rows(fit.theta)))


@with_parameter_docs
@dataclass(eq=False, repr=False)
class FredholmRegressor(Regressor, Fredholm):
    """Kernel ridge regression with a kernel averaged over all rows.

    The average suppresses noise in single rows, and lets unlabeled rows show which rows
    are similar. See `halfmoon._estimators.fredholm` for the equation and the paper's
    names. O(n^2 l) time for the exact kernel, O(n p) for landmarks or random features.

    Examples
    --------
    >>> import numpy as np
    >>> from halfmoon.kernels import Gaussian
    >>> rng = np.random.default_rng(0)
    >>> t = rng.uniform(0, 3, 200)
    >>> X = np.c_[t, np.sin(t)] + 0.1 * rng.standard_normal((200, 2))
    >>> y = np.where(np.arange(200) < 20, t, np.nan)  # 20 labels
    >>> model = FredholmRegressor(Gaussian(0.1)).fit(X, y)
    >>> bool(np.abs(model.predict(X) - t).mean() < 0.09)
    True
    """


@with_parameter_docs
@dataclass(eq=False, repr=False)
class FredholmClassifier(Classifier, Fredholm):
    """Kernel ridge classification with a kernel averaged over all rows.

    The average suppresses noise in single rows, and lets unlabeled rows show which rows
    are similar. See `halfmoon._estimators.fredholm` for the equation and the paper's
    names. O(n^2 l) time for the exact kernel, O(n p) for landmarks or random features.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import make_moons
    >>> from halfmoon.smoothers import Diffusion
    >>> X, y = make_moons(300, noise=0.05, random_state=0)
    >>> known = np.where(np.arange(300) < 6, y, np.nan)  # 6 labels
    >>> model = FredholmClassifier(smoother=Diffusion(n_neighbors=8)).fit(X, known)
    >>> float((model.predict(X) == y).mean())
    1.0
    """
