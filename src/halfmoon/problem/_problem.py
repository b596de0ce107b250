r"""The one problem: any basis, any penalty and any unpenalized features.

.. math:: min \; 1/W \sum_{i \, labeled} w_i |y_i - phi(x_i)'theta - f(x_i)'beta|^2
          + alpha \, theta'Q theta                                                  (1)

==============  ==========================  ======================================
lever           parameter                   default
==============  ==========================  ======================================
basis phi       ``basis``                   a Gaussian kernel at every row
penalty Q       ``energy`` and ``mu``       the norm of the basis
null space f    ``unpenalized``             the constant
==============  ==========================  ======================================

With an energy, Q = energy + mu times the norm. A problem is stated once, posed on data,
and then solved: by ridge, by a spectral filter, with another loss, or by conjugate
gradients.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from halfmoon._labels import as_targets, as_weights
from halfmoon._rows import (
    Array,
    Rows,
    as_table,
    refuse_extreme,
    refuse_non_finite,
    summed_entries,
)
from halfmoon._sklearn_conventions import as_numbers
from halfmoon.bases import Basis, Exact
from halfmoon.blocks import Stream, blas_for
from halfmoon.losses import LOSSES, Loss, Squared
from halfmoon.problem._convex_loss import search_loss
from halfmoon.problem._fit import Fit, solve_ridge
from halfmoon.problem._posed import Posed
from halfmoon.unpenalized import Constant, Unpenalized

__all__ = ["Problem"]


@dataclass(eq=False, repr=False)
class Problem(BaseEstimator):
    r"""The one problem, stated without data.

    .. math:: min \; 1/W \sum_{i \, labeled} w_i |y_i - phi(x_i)'theta - f(x_i)'beta|^2
              + alpha \, theta'Q theta                                              (1)

    Parameters
    ----------
    basis : Basis
        The functions phi and their norm.
    energy : None, "gradient", "graph" or sparse matrix
        What the penalty measures in addition to the norm: nothing, the mean squared
        gradient over all rows, squared differences along the edges of a self-tuned
        neighbor graph, or along those of a graph given by its Laplacian over the rows.
    mu : float or None
        Weight of the norm next to an energy; None is 1 / n.
    unpenalized : Unpenalized or None
        The features f.
    loss : Loss or str
        An object of `halfmoon.losses`, or its name.

    Examples
    --------
    Rows on two lines, with one label on each:

    >>> from halfmoon.kernels import Gaussian
    >>> t = np.linspace(0, 3, 40)
    >>> X = np.vstack([np.c_[t, 0 * t], np.c_[t, 0 * t + 1]])
    >>> y = np.full(80, np.nan)
    >>> y[0], y[79] = -1, 1
    >>> fit = Problem(Exact(Gaussian(0.3)), energy="gradient").fit(X, y, alpha=0.1)
    >>> int((np.sign(fit.predict(X)) == np.repeat([-1, 1], 40)).sum())
    80
    """

    basis: Basis = field(default_factory=Exact)
    energy: Any = None
    mu: float | None = None
    unpenalized: Unpenalized | None = field(default_factory=Constant)
    loss: Any = "squared"

    def pose(
        self,
        X: Rows,  # (n, d)
        y: Any,  # (n,) or (n, t)
        *,
        sample_weight: Any = None,
        rng: np.random.Generator | int | None = None,
        stream: Stream | None = None,
    ) -> Posed:
        """Fit the basis and the features to a table, and return the posed problem.

        Parameters
        ----------
        X : array, memory map or CSR of shape (n, d)
            All rows, labeled and unlabeled.
        y : array-like of shape (n,) or (n, t)
            Targets, NaN for an unlabeled row.
        sample_weight : array-like of shape (n,) or None
            Weights of the labeled rows in the loss; a row of weight 0 is unlabeled.
        rng : Generator, int or None
            For random choices: landmarks, features, samples.
        stream : Stream or None
            Settings for passes over the rows.
        """
        for name, part, kind in (
            ("basis", self.basis, "of halfmoon.bases, such as Exact(kernel)"),
            ("unpenalized", self.unpenalized, "of halfmoon.unpenalized, or None"),
        ):
            if not (hasattr(part, "fit") or (part is None and name != "basis")):
                raise TypeError(f"{name} is {part!r}; an object {kind}, is needed.")
        if not (isinstance(self.loss, Loss) or self.loss in LOSSES):
            raise ValueError(
                f"loss is {self.loss!r}; one of {', '.join(map(repr, LOSSES))}, or a "
                f"loss of halfmoon.losses, is needed."
            )
        X = summed_entries(as_table(X))
        refuse_non_finite(X)
        refuse_extreme(X)
        n, single = X.shape[0], np.ndim(y) == 1
        targets, w = as_targets(y, n), as_weights(sample_weight, n)
        return Posed.of(
            self,
            X,
            targets[:, 0] if single else targets,
            w,
            np.random.default_rng(rng),
            stream or Stream.inherited(),
        )

    def fit(
        self,
        X: Rows,  # (n, d)
        y: Any,  # (n,) or (n, t)
        alpha: float | Sequence[float] | Array = 1e-3,
        *,
        sample_weight: Any = None,
        rng: np.random.Generator | int | None = None,
        stream: Stream | None = None,
    ) -> Fit:
        """Pose the problem and solve it; see `pose`, `solve_ridge` and `solve_loss`."""
        posed = self.pose(X, y, sample_weight=sample_weight, rng=rng, stream=stream)
        work = posed.X.shape[0] * posed.basis.n_components_**2
        with blas_for(work), posed.stream.handed_down():
            if isinstance(posed.loss, Squared):
                return solve_ridge(posed, alpha)
            return search_loss([posed], [as_numbers(alpha, "alpha")])
