"""What the estimators of weak labels share: all three levers, stated and posed.

The basis may be smoothed, the penalty may hold an energy, features may be unpenalized:
`halfmoon.Problem` with scikit-learn's parameters. What a label is, and how it is found
where it is known only in part, is for the subclasses to say.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from halfmoon.bases import Smoothed
from halfmoon.blocks import blas_for
from halfmoon.estimators.alphas import ALPHAS, Alphas
from halfmoon.estimators.lever import Lever
from halfmoon.estimators.null_space import null_spaces
from halfmoon.memory import MEMORY_LIMIT
from halfmoon.problem import Fit, Posed, Problem, solve_ridge
from halfmoon.random_state import as_generator
from halfmoon.rows import Array, Rows
from halfmoon.weak.coordinates import RowCoordinates

__all__ = ["WEAK_ALPHAS", "WeakLever"]

#: Searched by folds: one factorization serves them all, but each needs fits of its own.
WEAK_ALPHAS = ALPHAS[::2]


@dataclass(eq=False, repr=False, kw_only=True)
class WeakLever(Lever):
    """All three levers, for labels that are known in part."""

    kernel: Any = "gaussian"
    alpha: str | float | Sequence[float] = "auto"
    energy: Any = None
    mu: float | None = None
    smoother: Any = None
    unpenalized: Any = "constant"
    n_components: int | None = None
    landmarks: Any = "rpcholesky"
    basis: Any = "auto"
    memory_limit: int | str = MEMORY_LIMIT
    random_state: Any = None
    n_jobs: int | None = None
    verbose: int = 0

    unlabeled = None  # no parameter: y has its own ways to say so

    def _solver(self) -> None:
        """Fits are by ridge, whatever `loss` means to a subclass."""

    def _state(self, X: Rows, l: int, rng: np.random.Generator) -> Problem:
        if self._is_precomputed() and (
            self.smoother is not None or self.energy == "graph"
        ):
            raise ValueError(
                "smoother and energy='graph' need the table, but X is a kernel "
                "matrix. Leave them out, or give the table and the kernel as an object."
            )
        energy = self.energy
        if sp.issparse(energy) and energy.shape != (X.shape[0], X.shape[0]):
            raise ValueError(
                f"energy is a graph of shape {energy.shape}, but {X.shape[0]} rows "
                f"count; the Laplacian over just these rows is needed."
            )
        if self.mu is not None and np.ndim(self.mu) > 0:
            raise ValueError(
                f"mu is {self.mu!r}; one number, or None, is needed here. Compare "
                f"several with GridSearchCV."
            )
        smoothed = self.smoother is not None
        basis = self._kernel_basis(
            self.kernel, X, l, rng, in_dual=energy is None, smoothed=smoothed
        )
        features = null_spaces(
            self.unpenalized,
            getattr(basis, "kernel", None),
            getattr(self, "feature_names_in_", None),
        )
        if len(features) > 1:
            raise ValueError(
                f"unpenalized gives {len(features)} choices; one is needed here. Give "
                f"one of them."
            )
        if smoothed:
            basis = Smoothed(basis, self.smoother)
        return Problem(basis, energy, self.mu, features[0])

    def _posed(
        self,
        X: Rows,  # (n, d)
        known: NDArray[np.bool_],  # (n,)
        w: Array,  # (n,)
        size: int = 1,
    ) -> tuple[Posed, RowCoordinates, list[float]]:
        """The problem with targets yet to be found at the known rows; the alphas."""
        rng = as_generator(self.random_state)
        problem = self._state(X, int(known.sum()), rng)
        targets = np.where(known[:, None], np.zeros(size), np.nan)
        posed = problem.pose(
            *(X, targets),
            sample_weight=w,
            rng=rng,
            stream=self._stream,
            all_rows=self._all_rows,
        )
        with blas_for(X.shape[0] * posed.basis.n_components_**2):
            alphas = Alphas.of(self.alpha, WEAK_ALPHAS).at(posed)
            for alpha in alphas:
                posed.path.lam(alpha)  # refuses what is no weight
            coordinates = RowCoordinates.of(posed)
        return posed, coordinates, alphas

    def _store(self, posed: Posed, targets: Array, alpha: float) -> Fit:
        """The fit to the targets that were found, and what follows from it."""
        single = targets.shape[1] == 1
        with blas_for(posed.X.shape[0] * posed.basis.n_components_**2):
            fit = solve_ridge(posed.with_targets(targets, single=single), alpha)
        self.solution_ = fit
        self.labeled_, self.n_labeled_ = posed.chosen, len(posed.chosen)
        self.alpha_, self.mu_ = alpha, posed.mu
        self.coef_ = fit.shaped(fit.beta)
        return fit
