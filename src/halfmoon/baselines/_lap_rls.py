r"""Regularized least squares: kernel ridge, and LapRLS with the energy of a graph.

.. math:: min_f \; 1/l \sum_{i \, labeled} |y_i - f(x_i)|^2 + gamma_A |f|^2
          + gamma_I / n^2 \, f(X)'L f(X)                                            (1)

With L = D - W over all n rows, J = 1 at labeled rows and else 0, and f = k(., X) a,

.. math:: (J K + gamma_A l I + gamma_I l / n^2 \, L K) a = y

It is a special case of `Problem`, whose penalty is alpha (energy + mu norm), with

.. math:: alpha = gamma_I, \quad mu = gamma_A / gamma_I

`LaplacianClassifier` with ``energy="graph"`` fits it too, and searches both weights by
leave-one-out. Without the energy, gamma_A is alpha. Two classes are -1 and 1. Papers
call that RLSC with the linear kernel and KRLSC with others. Unlabeled rows then enter
only through the length scale by the median rule.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np

from halfmoon._estimators import parameter_docs
from halfmoon._estimators.base import Estimator
from halfmoon._estimators.classification import Classifier
from halfmoon._estimators.conditional import Conditional
from halfmoon._estimators.parameter_docs import with_parameter_docs
from halfmoon._estimators.parameters import RULES, basis_for
from halfmoon._estimators.regression import Regressor
from halfmoon._graphs import graph_laplacian, neighbor_graph
from halfmoon._memory import MEMORY_LIMIT
from halfmoon._rows import Rows
from halfmoon._sklearn_conventions import NOT_NEGATIVE, Rule
from halfmoon.baselines._row_graph import resolved_scale
from halfmoon.problem import Problem

__all__ = ["LapRLSClassifier", "LapRLSRegressor", "RLSClassifier"]

#: gamma_A l and gamma_I l / n^2 of the paper's experiments with digits.
NORM, ENERGY = 0.005, 0.045

PARAMETERS = {
    "kernel": """
        Kernel, str or callable. As in `halfmoon.LaplacianClassifier`, but not
        "precomputed".""",
    "gamma_A": """
        float or None. Weight of the norm, relative to the averaged loss. None is
        0.005 / l, as in the paper's experiments.""",
    "gamma_I": """
        float or None. Weight of the energy. None is 0.045 n^2 / l, as in the paper's
        experiments; 0 is kernel ridge.""",
    "n_neighbors": "int. k of the graph.",
    "length_scale": """
        float, "median" or None. Length scale of the graph's weights; None is
        self-tuned.""",
    "normalized": "bool. Use the normalized Laplacian.",
}
ATTRIBUTES = {
    "gamma_A_": """
        float. Weight of the norm that was used; an array if rows lack outputs.""",
    "gamma_I_": """
        float. Weight of the energy that was used; an array if rows lack outputs.""",
    **{
        name: parameter_docs.ATTRIBUTES[name]
        for name in ("loo_score_", "n_labeled_", "dual_coef_", "solution_")
    },
}


@dataclass(eq=False, repr=False)
class LapRLS(Estimator):
    """Base class of the regressor and the classifier."""

    kernel: Any = "gaussian"
    gamma_A: float | None = None
    gamma_I: float | None = None
    n_neighbors: int = 10
    length_scale: float | str | None = None
    normalized: bool = False
    n_components: int | None = None
    landmarks: Any = "rpcholesky"
    memory_limit: int | str = MEMORY_LIMIT
    random_state: Any = None
    n_jobs: int | None = None
    verbose: int = 0
    unlabeled: Any = None

    _parameter_rules: ClassVar[dict[str, Rule]] = RULES | dict.fromkeys(
        ("gamma_A", "gamma_I"), NOT_NEGATIVE
    )
    _by_labels = ("gamma_A_", "gamma_I_")

    def _make_problem(self, X: Rows, l: int, rng: np.random.Generator) -> Problem:
        if self._is_precomputed():
            raise ValueError(
                "X is a kernel matrix, but LapRLS needs the table to find neighbors "
                "in. Use LaplacianClassifier with energy=the Laplacian of a graph."
            )
        n, l = X.shape[0], max(l, 1)  # a table without labels is refused later
        gamma_A = NORM / l if self.gamma_A is None else self.gamma_A
        gamma_I = ENERGY * n**2 / l if self.gamma_I is None else self.gamma_I
        self.gamma_A_, self.gamma_I_ = float(gamma_A), float(gamma_I)
        supervised = gamma_I == 0
        basis = basis_for(self, self.kernel, X, l, rng, in_dual=supervised)
        if supervised:
            return Problem(basis)
        scale = resolved_scale(self.length_scale, X, rng)
        W = neighbor_graph(X, self.n_neighbors, scale)
        energy = graph_laplacian(W, normalized=self.normalized)
        return Problem(basis, energy, self.gamma_A_ / self.gamma_I_)

    def _alphas(self) -> Any:
        return self.gamma_I_ or self.gamma_A_


@partial(
    with_parameter_docs,
    parameters=PARAMETERS,
    attributes={
        "classes_": "ndarray of shape (n_classes,). The classes.",
        **ATTRIBUTES,
    },
)
@dataclass(eq=False, repr=False)
class LapRLSClassifier(Classifier, LapRLS):
    """Laplacian regularized least squares for classes (LapRLSC).

    See `halfmoon.baselines._lap_rls` for the equation. Two classes are -1 and 1; more
    have a column of 0 and 1 each. O(n^3) time; O(n p^2) with p landmarks. M. Belkin,
    P. Niyogi, V. Sindhwani, "Manifold regularization: a geometric framework for
    learning from labeled and unlabeled examples", JMLR, 2006.

    Examples
    --------
    >>> import numpy as np
    >>> from halfmoon.baselines import LapRLSClassifier
    >>> from halfmoon.datasets import concentric_circles, reveal
    >>> from halfmoon.kernels import Gaussian
    >>> X, y, circle = concentric_circles(200, n_circles=2, rng=0)
    >>> known = reveal(y, circle, rng=0)  # one label on each of two circles
    >>> model = LapRLSClassifier(Gaussian(0.3)).fit(X, known)
    >>> float((model.predict(X) == y).mean())
    1.0
    """


@partial(with_parameter_docs, parameters=PARAMETERS, attributes=dict(ATTRIBUTES))
@dataclass(eq=False, repr=False)
class LapRLSRegressor(Regressor, LapRLS):
    """Laplacian regularized least squares.

    As `LapRLSClassifier`, for targets that are numbers.

    Examples
    --------
    >>> import numpy as np
    >>> from halfmoon.baselines import LapRLSRegressor
    >>> from halfmoon.kernels import Gaussian
    >>> t = np.linspace(0, 3, 40)
    >>> X = np.vstack([np.c_[t, 0 * t], np.c_[t, 0 * t + 1]])  # two lines
    >>> y = np.full(80, np.nan)
    >>> y[0], y[79] = -1, 1  # with a label each
    >>> model = LapRLSRegressor(Gaussian(0.3), n_neighbors=4).fit(X, y)
    >>> int((np.sign(model.predict(X)) == np.repeat([-1, 1], 40)).sum())
    80
    """


@with_parameter_docs
@dataclass(eq=False, repr=False)
class RLSClassifier(Classifier, Conditional):
    """Regularized least squares classification (RLSC; KRLSC with a kernel).

    `ConditionalClassifier` whose defaults are a linear kernel and no unpenalized
    features. See `halfmoon.baselines._lap_rls` for the equation. R. Rifkin, G. Yeo,
    T. Poggio, "Regularized least-squares classification", 2003.

    Examples
    --------
    >>> import numpy as np
    >>> from halfmoon.baselines import RLSClassifier
    >>> X = np.array([[-2.0], [-1.0], [1.0], [3.0]])
    >>> model = RLSClassifier(alpha=0.5).fit(X, ["a", "a", "b", None])
    >>> model.decision_function([[1.0]])  # 4 / (6 + 0.5 * 3)
    array([0.53333333])
    """

    kernel: Any = "linear"
    unpenalized: Any = None
