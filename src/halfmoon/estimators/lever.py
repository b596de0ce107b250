"""A lever: an estimator that states a problem, has it solved and stores its fit."""

from __future__ import annotations

import logging
import warnings
from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from copy import copy
from dataclasses import replace
from typing import Any, Self, cast

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted

from halfmoon.bases import Basis
from halfmoon.blocks import Stream, blas_for
from halfmoon.estimators.alphas import ALPHAS, Alphas
from halfmoon.estimators.base import Estimator, HeldOut
from halfmoon.estimators.null_space import null_spaces, refuse_columns
from halfmoon.estimators.output_groups import (
    OutputGroups,
    by_output,
    without_pieces,
)
from halfmoon.estimators.refitted import refitted_errors
from halfmoon.estimators.size import kernel_basis
from halfmoon.estimators.widths import fit_best_kernel, kernel_ways
from halfmoon.kernels import as_kernel
from halfmoon.losses import Logistic, Loss, Softmax, Squared, as_loss
from halfmoon.memory import parse_bytes
from halfmoon.moments import dirichlet
from halfmoon.pieces import fresh
from halfmoon.problem import (
    Fit,
    Posed,
    Problem,
    out_of_fold,
    search,
    solve_loss,
    solve_ridge,
    telling_rows,
)
from halfmoon.progress import row_progress
from halfmoon.random_state import as_generator
from halfmoon.rows import Array, Indices, Rows

__all__ = ["ALPHAS", "Lever"]

logger = logging.getLogger("halfmoon")

#: Another statement of the problem is taken where its leave-one-out error is below
#: this share of the first one's: a smaller difference is mostly chance.
CLEARLY = 0.9


class Lever(Estimator):
    """An estimator that solves one problem; a subclass states it.

    It has the parameters named below and writes `_state`.
    """

    alpha: str | float | Sequence[float]
    unpenalized: Any
    loss: Any
    basis: Any
    n_components: int | None
    landmarks: Any

    solution_: Fit | OutputGroups  # groups where outputs have gaps

    def _kernel_basis(
        self,
        kernel: Any,
        X: Rows,
        l: int,
        rng: np.random.Generator,
        *,
        in_dual: bool = True,
        smoothed: bool = False,
        length_scale: str = "median",
    ) -> Basis:
        """The basis of a kernel that the parameters ask for; see `kernel_basis`."""
        return kernel_basis(
            as_kernel(kernel, length_scale).resolve(X, rng),
            self.basis,
            self.n_components,
            self.landmarks,
            n=X.shape[0],
            l=l,
            in_dual=in_dual,
            smoothed=smoothed,
            by_ridge=self._solver() is None,
            all_at_hand=self._all_rows is None,
            memory_limit=self.memory_limit,
        )

    @abstractmethod
    def _state(self, X: Rows, l: int, rng: np.random.Generator) -> Problem:
        """The problem that the lever poses to a table with l labeled rows."""

    def _rivals(self, posed: Posed, rng: np.random.Generator) -> Iterable[Posed]:
        """Other statements of the problem, to be taken where they do clearly better."""
        return ()

    def _solver(self) -> Callable[[Posed, float], Fit] | None:
        """How a posed problem is solved at an alpha; None is by ridge."""
        return None if isinstance(as_loss(self.loss), Squared) else solve_loss

    def _posed_loss(self) -> Loss:
        """The loss that is solved for these targets; refused if it is not for them."""
        loss, classes = as_loss(self.loss), is_classifier(self)
        if loss.of_classes and not classes:
            raise ValueError(
                f"The {loss.name} loss is for classes; use a classifier, or 'squared', "
                f"'huber' or 'quantile'."
            )
        if classes and not (loss.of_classes or isinstance(loss, Squared)):
            raise ValueError(
                f"The {loss.name} loss is for numbers; use a regressor, or 'squared', "
                f"'hinge' or 'logistic'."
            )
        if isinstance(loss, Logistic) and len(cast(Any, self).classes_) > 2:
            return Softmax()
        return loss

    def _mu(self) -> Any:
        """The weights of the norm beside an energy, where the lever has some."""
        return None

    def _alphas(self) -> Any:
        """The alphas to search, as a parameter may give them."""
        return self.alpha

    def _fit_rows(self, X: Rows, targets: Array, w: Array) -> None:
        """Take the best of the kernels, if there are several."""
        ways = kernel_ways(self, X)
        if ways == [{}]:
            self._fit_kernel(X, targets, w)
        else:
            fit_best_kernel(self, ways, X, targets, w)

    def _fit_kernel(self, X: Rows, targets: Array, w: Array) -> None:
        """State the problem, pose it, solve it, and store what came out."""
        rng, stream = as_generator(self.random_state), self._watched_stream()
        labeled = ~np.isnan(targets.reshape(len(targets), -1)).any(axis=1)
        problem, alphas = self._chosen(
            self._state(X, int(labeled.sum()), rng), X, targets, w, rng, stream
        )
        posed = problem.pose(
            *(X, targets),
            sample_weight=w,
            rng=rng,
            stream=stream,
            all_rows=self._all_rows,
        )
        self._fit_posed(posed, alphas, rng)

    def _fit_parts(
        self, X: Rows, targets: Array, w: Array, groups: Sequence[Indices]
    ) -> list[Self]:
        """As the base class; what does not depend on labels is computed once."""
        if kernel_ways(self, X) != [{}]:
            return super()._fit_parts(X, targets, w, groups)
        rng, stream = as_generator(self.random_state), self._watched_stream()
        known = ~np.isnan(targets)
        labeled = np.flatnonzero(known.any(axis=1))
        stated = self._state(X, len(labeled), rng)
        drawn = rng.bit_generator.state  # each group goes on as if it were alone
        parts, whole = [], None
        for columns in groups:
            part = copy(self)
            rng.bit_generator.state = drawn
            y = targets[:, columns]
            problem, alphas = part._chosen(stated, X, y, w, rng, stream)
            if whole is None:
                any_label = np.where(known.any(axis=1), 0.0, np.nan)
                whole = problem.pose(
                    *(X, any_label),
                    sample_weight=w,
                    rng=rng,
                    stream=stream,
                    all_rows=self._all_rows,
                )
            rows = np.flatnonzero(known[labeled, columns[0]])
            posed = whole.of_rows(rows, y[labeled[rows]])
            if part.fold_errors_ is not None:  # the group has chosen its own features
                features = problem.unpenalized
                features = None if features is None else fresh(features).fit(X, rng)
                posed = posed.with_unpenalized(features)
            part._fit_posed(posed, alphas, rng)
            if self._too_many(groups, len(labeled), whole):
                part.solution_ = without_pieces(part.solution_)
            parts.append(part)
        return parts

    def _too_many(self, groups: Sequence[Indices], l: int, whole: Posed) -> bool:
        """The factorizations of all groups do not fit the memory limit together."""
        side = l if whole.dual else max(l, whole.basis.n_components_)
        return 16 * len(groups) * side * min(l, side) > parse_bytes(self.memory_limit)

    def _watched_stream(self) -> Stream:
        return replace(self._stream, progress=row_progress(self.verbose))

    def _fit_posed(
        self, posed: Posed, alphas: Alphas, rng: np.random.Generator
    ) -> None:
        """Solve a posed problem and store what came out."""
        X = posed.X
        logger.log(
            logging.INFO if self.verbose > 1 else logging.DEBUG,
            "%s: %d of %d rows are labeled; %d functions.",
            *(type(self).__name__, len(posed.chosen), self._row_count(X)),
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
            self.solution_ = self._solved(posed, alphas)
            for rival in self._rivals(posed, rng):
                self.solution_ = _better(self.solution_, self._solved(rival, alphas))
        self.n_labeled_ = len(posed.chosen)
        self.labeled_ = posed.chosen
        self.alpha_, self.mu_ = self.solution_.alpha, self.solution_.posed.mu
        self.alphas_ = np.array(alphas.at(self.solution_.posed))
        self.loo_errors_ = self.solution_.loo_scores
        self.coef_ = self.solution_.shaped(self.solution_.beta)

    def _solved(self, posed: Posed, alphas: Alphas) -> Fit:
        """The best of the alphas: by leave-one-out, where every class bears it."""
        alone = is_classifier(self) and _one_is_alone(posed.y)
        return search(
            posed,
            alphas.at,
            self._mu(),
            self._solver(),
            likeliest=alphas.automatic and alone,
        )

    def _take_over(self) -> None:
        groups, parts = cast(OutputGroups, self.solution_), self._parts()

        def gathered(name: str) -> Any:
            """A number of each output, or a column of numbers."""
            values = [getattr(part, name) for part in parts]
            if any(value is None for value in values):
                return None
            repeated = [
                np.repeat(np.asarray(value)[..., None], len(some), axis=-1)
                for value, some in zip(values, groups.columns, strict=True)
            ]
            return by_output(groups.columns, repeated, fill=np.nan)

        for name in ("alpha_", "mu_", "alphas_", "loo_errors_", "fold_errors_"):
            setattr(self, name, gathered(name))
        self.coef_ = by_output(groups.columns, [part.coef_ for part in parts])

    def _outcome(self, seconds: float) -> str:
        alphas = ", ".join(f"{alpha:.3g}" for alpha in np.unique([self.alpha_]))
        return (
            f"Fitted {self.n_labeled_:,} labels among {self._n_rows:,} rows in "
            f"{seconds:.1f} s; {self._quality()}; alpha = {alphas}."
        )

    def _chosen(
        self,
        problem: Problem,
        X: Rows,
        targets: Array,
        w: Array,
        rng: np.random.Generator,
        stream: Stream,
    ) -> tuple[Problem, Alphas]:
        """The problem with one choice of unpenalized features, and the alphas left."""
        inner = getattr(problem.basis, "basis", problem.basis)  # of a smoothed one
        options = null_spaces(
            self.unpenalized,
            getattr(inner, "kernel", None),
            getattr(self, "feature_names_in_", None),
        )
        if self._is_precomputed():
            refuse_columns(options)
        loss = self._posed_loss()
        problems = [
            replace(problem, unpenalized=features, loss=loss) for features in options
        ]
        # Every other alpha, where each of them needs a fit of its own.
        step = 1 if isinstance(loss, Squared) else 2
        alphas = Alphas.of(self._alphas(), ALPHAS[::step])
        self.fold_errors_: Array | None = None
        learned = [each is not None and each.from_labels for each in options]
        if len(problems) == 1 and not (learned[0] and len(alphas) > 1):
            return problems[0], alphas
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
        kept = alphas.only(int(best)) if learned[which] else alphas
        return problems[which], kept

    def _held_out(self) -> HeldOut:
        fit = cast(Fit, self.solution_)  # groups of outputs ask their parts
        posed, some = fit.posed, telling_rows(fit.posed)
        y = posed.y[some]
        if fit.by_ridge:
            values = y - fit.leave_one_out(some).reshape(y.shape)
        elif fit.left_out_values is not None:
            values = fit.left_out_values[some]
        elif is_classifier(self) and _one_is_alone(posed.y):
            # A fold would be left without its class.
            values = np.full_like(y, np.nan)
        else:
            values = out_of_fold(posed, cast(Any, fit.solve))[some]
        return HeldOut(some, y, values, posed.w[some])

    # ---- what follows from the fit ---------------------------------------------------

    @property
    def dual_coef_(self) -> Array:
        """Weights of the labeled rows, of shape (n_labeled,) or (n_labeled, t)."""
        check_is_fitted(self)
        if isinstance(self.solution_, OutputGroups):
            parts = [part.dual_coef_ for part in self._parts()]
            return self.solution_.at_rows(parts, fill=0.0)
        try:
            return self.solution_.shaped(self.solution_.dual_coef())
        except ValueError as error:  # so that `hasattr` says no
            raise AttributeError(str(error)) from error

    @property
    def rank_(self) -> Any:
        """Number of directions that the fit could use of its basis.

        An array of one for each output, where these have gaps.
        """
        check_is_fitted(self)
        if isinstance(self.solution_, OutputGroups):
            ranks = [[part.rank for _ in some] for part, some in self.solution_]
            return by_output(self.solution_.columns, ranks).astype(int)
        return self.solution_.rank

    def dirichlet_energy(self) -> Any:
        """Mean squared gradient, over all rows, of the penalized part of the fit.

        With energy="graph" it is the energy along the edges of the graph instead.

        Returns
        -------
        float or ndarray of shape (t,)
        """
        check_is_fitted(self)
        if isinstance(self.solution_, OutputGroups):
            energies = [part.dirichlet_energy() for part in self._parts()]
            return by_output(self.solution_.columns, energies)
        posed, theta = self.solution_.posed, self.solution_.theta
        if posed.energy is None:
            E = dirichlet(posed.basis, posed.X, stream=posed.stream)
        else:
            E = posed.energy_matrix
        energies = np.einsum("pt,pq,qt->t", theta, E, theta)
        return float(energies[0]) if posed.single else energies


def _better(first: Fit, rival: Fit) -> Fit:
    """The rival where its leave-one-out error is clearly lower, else the first.

    Where the first has none, because its features need every label, nothing is known.
    """
    known = np.isfinite(first.loo_score)
    return rival if known and rival.loo_score < CLEARLY * first.loo_score else first


def _one_is_alone(y: Array) -> bool:
    """Some row has targets of its own, as the only one of its class."""
    return bool((np.unique(y, axis=0, return_counts=True)[1] == 1).any())
