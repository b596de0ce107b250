"""A lever: an estimator that states a problem, has it solved and stores its fit."""

from __future__ import annotations

import logging
import warnings
from abc import abstractmethod
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted

from halfmoon.bases import Basis
from halfmoon.blocks import Stream, blas_for
from halfmoon.estimators.base import Estimator, HeldOut
from halfmoon.estimators.null_space import null_spaces
from halfmoon.estimators.refitted import refitted_errors
from halfmoon.estimators.size import kernel_basis
from halfmoon.kernels import Precomputed, as_kernel
from halfmoon.moments import dirichlet
from halfmoon.problem import (
    Fit,
    Posed,
    Problem,
    as_numbers,
    out_of_fold,
    search,
    solve_hinge,
    solve_ridge,
    telling_rows,
)
from halfmoon.progress import row_progress
from halfmoon.random_state import as_generator
from halfmoon.rows import Array, Rows
from halfmoon.unpenalized import Constant, Unpenalized

__all__ = ["ALPHAS", "Lever", "in_units_of_the_penalty"]

logger = logging.getLogger("halfmoon")

#: Searched by leave-one-out unless told: from interpolation to nearly no fit.
ALPHAS = tuple(10.0 ** (e / 2) for e in range(-16, 3))


class Lever(Estimator):
    """An estimator that solves one problem; a subclass states it.

    It has the parameters named below and writes `_state`.
    """

    alpha: float | Sequence[float]
    unpenalized: Any
    loss: str
    basis: Any
    n_components: int | None
    landmarks: Any

    solution_: Fit

    def _kernel_basis(
        self,
        kernel: Any,
        X: Rows,
        l: int,
        rng: np.random.Generator,
        *,
        in_dual: bool = True,
        smoothed: bool = False,
    ) -> Basis:
        """The basis of a kernel that the parameters ask for; see `kernel_basis`."""
        return kernel_basis(
            as_kernel(kernel).resolve(X, rng),
            self.basis,
            self.n_components,
            self.landmarks,
            n=X.shape[0],
            l=l,
            in_dual=in_dual,
            smoothed=smoothed,
            by_ridge=self._solver() is None,
            memory_limit=self.memory_limit,
        )

    @abstractmethod
    def _state(self, X: Rows, l: int, rng: np.random.Generator) -> Problem:
        """The problem that the lever poses to a table with l labeled rows."""

    def _solver(self) -> Callable[[Posed, float], Fit] | None:
        """How a posed problem is solved at an alpha; None is by ridge."""
        if self.loss == "squared":
            return None
        if self.loss == "hinge":
            return solve_hinge
        raise ValueError(f"loss is {self.loss!r}; 'squared' or 'hinge' is needed.")

    def _mu(self) -> Any:
        """The weights of the norm beside an energy, where the lever has some."""
        return None

    def _alphas(self) -> Any:
        """The alphas to search."""
        return self.alpha

    def _fit_rows(self, X: Rows, targets: Array, w: Array) -> None:
        """State the problem, pose it, solve it, and store what came out."""
        rng = as_generator(self.random_state)
        stream = Stream(self.memory_limit, self.n_jobs, row_progress(self.verbose))
        labeled = ~np.isnan(targets.reshape(len(targets), -1)).any(axis=1)
        problem, alpha = self._chosen(
            self._state(X, int(labeled.sum()), rng), X, targets, w, rng, stream
        )
        posed = problem.pose(X, targets, sample_weight=w, rng=rng, stream=stream)
        logger.log(
            logging.INFO if self.verbose > 1 else logging.DEBUG,
            "%s: %d of %d rows are labeled; %d functions.",
            *(type(self).__name__, len(posed.chosen), X.shape[0]),
            posed.basis.n_components_,
        )
        k, l = posed.F.shape[1], len(posed.chosen)
        if k > max(1, l // 2):
            warnings.warn(
                f"There are {k} unpenalized features for {l} labeled rows; beyond half "
                f"as many as labels they mostly fit noise. Use fewer, or label more.",
                UserWarning,
                stacklevel=3,
            )
        with blas_for(X.shape[0] * posed.basis.n_components_**2):
            loss = {} if self.loss == "squared" else {"loss": _hinge}
            alpha = in_units_of_the_penalty(alpha, posed)
            self.solution_ = search(posed, alpha, self._mu(), self._solver(), **loss)
        self.n_labeled_ = len(posed.chosen)
        self.labeled_ = posed.chosen
        self.alpha_, self.mu_ = self.solution_.alpha, self.solution_.posed.mu
        self.loo_errors_ = self.solution_.loo_scores
        self.coef_ = self.solution_.shaped(self.solution_.beta)

    def _outcome(self, seconds: float) -> str:
        n = self.solution_.posed.X.shape[0]
        return (
            f"Fitted {self.n_labeled_:,} labels among {n:,} rows in {seconds:.1f} s; "
            f"{self._quality()}; alpha = {self.alpha_:.3g}."
        )

    def _chosen(
        self,
        problem: Problem,
        X: Rows,
        targets: Array,
        w: Array,
        rng: np.random.Generator,
        stream: Stream,
    ) -> tuple[Problem, Any]:
        """The problem with one choice of unpenalized features, and the alphas left."""
        inner = getattr(problem.basis, "basis", problem.basis)  # of a smoothed one
        options = null_spaces(
            self.unpenalized,
            getattr(inner, "kernel", None),
            getattr(self, "feature_names_in_", None),
        )
        if self._is_precomputed():
            _refuse_columns(options)
        problems = [
            Problem(problem.basis, problem.energy, problem.mu, features)
            for features in options
        ]
        alphas = as_numbers(self._alphas(), "alpha")
        self.fold_errors_: Array | None = None
        learned = [each is not None and each.from_labels for each in options]
        if len(problems) == 1 and not (learned[0] and len(alphas) > 1):
            return problems[0], self._alphas()
        solve = self._solver() or solve_ridge
        y = targets.reshape(X.shape[0], -1)
        errors = np.array(
            [
                refitted_errors(each, X, y, w, alphas, solve, rng=rng, stream=stream)
                for each in problems
            ]
        )
        self.fold_errors_ = errors
        which, best = np.unravel_index(np.argmin(errors), errors.shape)
        # Alpha may still be tuned to all labels, unless the features have seen them.
        return problems[which], alphas[best] if learned[which] else self._alphas()

    def _held_out(self) -> HeldOut:
        fit = self.solution_
        posed, some = fit.posed, telling_rows(fit.posed)
        y = posed.y[some]
        if fit.by_ridge:
            values = y - fit.leave_one_out(some).reshape(y.shape)
        elif is_classifier(self) and _one_is_alone(posed.y):
            # A fold would be left without its class.
            values = np.full_like(y, np.nan)
        else:
            solve = fit.solve or partial(solve_hinge, alpha=cast(float, fit.alpha))
            values = out_of_fold(posed, solve)[some]
        return HeldOut(some, y, values, posed.w[some])

    def _check_classes(self, codes: NDArray[np.intp]) -> None:
        """The hinge loss is searched by folds, each of which needs every class."""
        if self.loss != "hinge" or len(as_numbers(self._alphas(), "alpha")) == 1:
            return
        single = np.bincount(codes[codes >= 0]) < 2
        if single.any():
            alone = cast(Any, self).classes_[single][0]
            raise ValueError(
                f"Class {alone!r} has one label, so alpha cannot be chosen by folds, "
                f"each of which must be left with every class. Give one alpha, or "
                f"label more rows."
            )

    # ---- what follows from the fit ---------------------------------------------------

    @property
    def dual_coef_(self) -> Array:
        """Weights of the labeled rows, of shape (n_labeled,) or (n_labeled, t)."""
        check_is_fitted(self)
        try:
            return self.solution_.shaped(self.solution_.dual_coef())
        except ValueError as error:  # so that `hasattr` says no
            raise AttributeError(str(error)) from error

    @property
    def rank_(self) -> int:
        """Number of directions that the fit could use of its basis."""
        check_is_fitted(self)
        return self.solution_.rank

    def dirichlet_energy(self) -> Any:
        """Mean squared gradient, over all rows, of the penalized part of the fit.

        With energy="graph" it is the energy along the edges of the graph instead.

        Returns
        -------
        float or ndarray of shape (t,)
        """
        check_is_fitted(self)
        posed, theta = self.solution_.posed, self.solution_.theta
        if posed.energy is None:
            E = dirichlet(posed.basis, posed.X, stream=posed.stream)
        else:
            E = posed.energy_matrix
        energies = np.einsum("pt,pq,qt->t", theta, E, theta)
        return float(energies[0]) if posed.single else energies


def in_units_of_the_penalty(
    alpha: Any, posed: Posed, default: tuple[float, ...] = ALPHAS
) -> Any:
    """The alphas; of the default ones, those that fit the size of an energy.

    Squared gradients have the unit of 1 / X^2, so that beside an energy no fixed range
    of alphas suits all tables.
    """
    if posed.energy is None or not isinstance(alpha, tuple) or alpha != default:
        return alpha
    norm, penalty = np.trace(posed.basis.penalty()), np.trace(posed.penalty)
    factor = float(norm / penalty) if penalty > 0 else 1.0
    return tuple(factor * each for each in alpha)


def _one_is_alone(y: Array) -> bool:
    """Some row has targets of its own, as the only one of its class."""
    return bool((np.unique(y, axis=0, return_counts=True)[1] == 1).any())


def _refuse_columns(options: list[Unpenalized | None]) -> None:
    """Of a kernel matrix only the constant, or the kernel itself, makes features."""
    for features in options:
        by_kernel = isinstance(getattr(features, "kernel", None), Precomputed)
        if features is not None and not (isinstance(features, Constant) or by_kernel):
            raise ValueError(
                f"X is a kernel matrix, which has no columns to make unpenalized "
                f"features of, such as {features!r}. Use 'constant' or "
                f"Eigenfunctions(k), or give the table and the kernel as an object."
            )


def _hinge(y: Array, values: Array) -> Array:
    return np.maximum(0.0, 1.0 - y * values)
