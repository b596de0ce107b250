"""What the estimators of weak labels share: all three levers, stated and posed.

The basis may be smoothed, the penalty may hold an energy, features may be unpenalized:
`halfmoon.Problem` with scikit-learn's parameters. What a label is, and how it is found
where it is known only in part, is for the subclasses to say.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
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
from halfmoon.rows import Array, Indices, Rows
from halfmoon.weak.coordinates import RowCoordinates
from halfmoon.weak.kernel_choice import kernel_choices
from halfmoon.weak.search import Tried, best_of, cross_fitted, try_alphas

__all__ = ["WEAK_ALPHAS", "WeakLever"]

#: Searched by folds: one factorization serves them all, but each needs fits of its own.
WEAK_ALPHAS = ALPHAS[::2]


@dataclass(eq=False, repr=False, kw_only=True)
class WeakLever(Lever):
    """All three levers, for labels that are known in part."""

    kernel: Any = "auto"
    alpha: str | float | Sequence[float] = "auto"
    energy: Any = None
    mu: float | None = None
    smoother: Any = None
    unpenalized: Any = "constant"
    n_components: int | None = None
    landmarks: Any = "rpcholesky"
    basis: Any = "auto"
    budget: float | None = None
    memory_limit: int | str = MEMORY_LIMIT
    random_state: Any = None
    n_jobs: int | None = None
    verbose: int = 0

    unlabeled = None  # no parameter: y has its own ways to say so

    def _solver(self) -> None:
        """Fits are by ridge, whatever `loss` means to a subclass."""

    def _state(self, X: Rows, l: int, rng: np.random.Generator) -> Problem:
        return self._stated(self.kernel, X, l, rng)

    def _stated(
        self, kernel: Any, X: Rows, l: int, rng: np.random.Generator
    ) -> Problem:
        """The problem with one of the kernels to choose from."""
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
            kernel, X, l, rng, in_dual=energy is None, smoothed=smoothed
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
        kernel: Any,
        X: Rows,  # (n, d)
        known: NDArray[np.bool_],  # (n,)
        w: Array,  # (n,)
        size: int,
    ) -> tuple[Posed, RowCoordinates, list[float]]:
        """The problem with targets yet to be found at the known rows; the alphas."""
        rng = as_generator(self.random_state)
        problem = self._stated(kernel, X, int(known.sum()), rng)
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

    def _by_folds(
        self,
        X: Rows,  # (n, d)
        known: NDArray[np.bool_],  # (n,)
        w: Array,  # (n,)
        folds: list[Indices],
        values: Callable[[RowCoordinates, float, list[Indices]], Array],
        losses: Callable[[Array], tuple[Array, Array]],
        *,
        size: int = 1,
        always: bool = False,
    ) -> tuple[Posed, RowCoordinates, float]:
        """The problem with the kernel and the alpha that do best on held-out folds.

        Parameters
        ----------
        X, known, w
            All rows, which of them have a set, and their weights.
        folds : list of ndarrays
            Of the known rows; none where these are too few.
        values : callable
            Values at the known rows by fits without their folds, shape (l, size).
        losses : callable
            Of such values, as in `halfmoon.weak.search`.
        size : int
            Numbers that a label is.
        always : bool
            The folds are wanted also where there is nothing to choose.
        """
        start = time.monotonic()
        choices = kernel_choices(self.kernel, X, as_generator(self.random_state))
        tried: list[Tried] = []
        best = None
        for number, choice in enumerate(choices):
            spent = time.monotonic() - start
            # The next takes about as long as the mean of those before it.
            if number and spent * (1 + 1 / number) > (self.budget or np.inf):
                break
            posed, coordinates, alphas = self._posed(choice.kernel, X, known, w, size)
            several = len(alphas) > 1 or len(choices) > 1
            if not folds or not (several or always):
                best = posed, coordinates, alphas[0]
                self.kernel_ = choice.kernel
                break
            with blas_for(X.shape[0] * posed.basis.n_components_**2):
                found = try_alphas(alphas, folds, partial(values, coordinates), losses)
            tried.append(
                Tried(choice.kernel, np.array(alphas), *found, choice.unlabeled)
            )
            which, at = best_of(tried, posed.w)
            if which == number:
                best, self.kernel_ = (posed, coordinates, alphas[at]), choice.kernel
        assert best is not None
        by_rows = [each.unlabeled for each in choices if each.kernel is self.kernel_]
        self.used_unlabeled_ = (
            any(by_rows) or self.energy is not None or self.smoother is not None
        )
        self._tell_of_folds(tried, folds, best[0])
        return best

    def _tell_of_folds(
        self, tried: list[Tried], folds: list[Indices], posed: Posed
    ) -> None:
        """Keep the mean losses, and the values of held-out rows."""
        self.fold_losses_: Array | None = None
        self._unseen: Array | None = None
        self._unseen_supervised: Array | None = None
        if not tried:
            return
        if len(tried) > 1 or len(tried[0].alphas) > 1:
            means = [each.losses @ posed.w / posed.total_weight for each in tried]
            self.fold_losses_ = means[0] if len(means) == 1 else np.array(means)
        self._unseen = cross_fitted(tried, folds, posed.w)
        supervised = [each for each in tried if not each.unlabeled]
        if len(supervised) < len(tried):
            self._unseen_supervised = cross_fitted(supervised, folds, posed.w)

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
