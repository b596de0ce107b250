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

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from halfmoon._labels import as_targets, as_weights, no_labels, rows_with_targets
from halfmoon._moments import dirichlet, energy_forecast
from halfmoon._partitioned_rows import PartitionedRows
from halfmoon._rows import (
    Array,
    Rows,
    as_table,
    refuse_extreme,
    refuse_non_finite,
    summed_entries,
)
from halfmoon._sklearn_conventions import unfitted_copy
from halfmoon.bases import Basis, Exact, WithDerivatives
from halfmoon.blocks import Stream, blas_for
from halfmoon.losses import Squared, as_loss
from halfmoon.problem._alpha_search import search
from halfmoon.problem._convex_loss import solve_loss
from halfmoon.problem._fit import Fit
from halfmoon.problem._offset import without_offset
from halfmoon.problem._posed import KnownEnergy, Posed
from halfmoon.unpenalized import Constant, Unpenalized

__all__ = ["Problem"]

logger = logging.getLogger("halfmoon")


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
        all_rows: PartitionedRows | None = None,
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
        all_rows : PartitionedRows or None
            The whole table, if X is a sample of rows in partitions. The energy of
            gradients is then computed at once, over all rows.
        """
        for name, part, kind in (
            ("basis", self.basis, "of halfmoon.bases, such as Exact(kernel)"),
            ("unpenalized", self.unpenalized, "of halfmoon.unpenalized, or None"),
        ):
            if not (hasattr(part, "fit") or (part is None and name != "basis")):
                raise TypeError(f"{name} is {part!r}; an object {kind}, is needed.")
        rng = np.random.default_rng(rng)
        X = summed_entries(as_table(X))
        refuse_non_finite(X)
        refuse_extreme(X)
        n = X.shape[0]
        targets, w = as_targets(y, n), as_weights(sample_weight, n)
        labeled = rows_with_targets(targets)
        labeled = labeled[w[labeled] > 0]
        if labeled.size == 0:
            raise no_labels(n, "one label with a weight above 0")
        unpenalized, stream = self.unpenalized, stream or Stream.inherited()
        with stream.handed_down():
            basis = unfitted_copy(self.basis).fit(X, rng)
            if unpenalized is not None:
                unpenalized = unfitted_copy(unpenalized).fit(X, rng)
            basis = without_offset(basis, unpenalized, X, rng)
        energy = self.energy
        by_gradients = isinstance(energy, str) and energy == "gradient"
        if all_rows is not None and (energy is None or by_gradients):
            n = all_rows.n
        if all_rows is not None and by_gradients:
            _refuse_exact(basis, n)
            forecast = energy_forecast(basis, all_rows, stream.client)
            if forecast is not None:
                logger.info("%s", forecast)
            energy = KnownEnergy(dirichlet(basis, all_rows, stream=stream))
        return Posed(
            basis=basis,
            energy=energy,
            mu=1.0 / n if self.mu is None else self.mu,
            unpenalized=unpenalized,
            X=X,
            labeled=labeled,
            y=targets[labeled],
            w=w[labeled],
            single=np.ndim(y) == 1,
            stream=stream,
            loss=as_loss(self.loss),
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
            by_ridge = isinstance(posed.loss, Squared)
            return search(posed, alpha, solve=None if by_ridge else solve_loss)


def _refuse_exact(basis: Basis, n: int) -> None:
    """Raise if the basis has functions for every row of a table in partitions."""
    if isinstance(basis, (Exact, WithDerivatives)):
        raise ValueError(
            f"{type(basis).__name__} has functions for every row, and {n:,} rows in "
            f"partitions are never all in memory. Use landmarks (Nystrom, or "
            f"n_components) or RandomFeatures."
        )
