"""Base class of the estimators for weak labels: parameters, problem, choice by folds.

All three levers are here: the basis may be smoothed, the penalty may include an energy,
features may be unpenalized. A subclass says what a label is, and how to find it where
it is known only in part.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from halfmoon._estimators.base import Estimator
from halfmoon._estimators.fit_problem import AUTO_ALPHAS, Alphas
from halfmoon._estimators.parameter_docs import ATTRIBUTES
from halfmoon._estimators.parameters import (
    RULES,
    as_unpenalized,
    basis_for,
    refuse_other_graph,
)
from halfmoon._memory import MEMORY_LIMIT
from halfmoon._rows import Array, Indices, Rows
from halfmoon._sklearn_conventions import (
    Rule,
    as_generator,
    is_name,
    is_positive,
    is_whole,
)
from halfmoon.bases import Smoothed
from halfmoon.blocks import blas_for
from halfmoon.problem import Fit, Problem, solve_ridge
from halfmoon.problem._posed import Posed
from halfmoon.weak._fold_search import (
    KernelChoice,
    KernelTrial,
    best_of,
    cross_fitted,
    kernel_choices,
    try_alphas,
)
from halfmoon.weak._row_smoother import RowCoordinates

__all__ = ["PARAMETERS", "SHARED_ATTRIBUTES", "WEAK_ALPHAS", "WeakEstimator"]

#: Searched by folds: one factorization serves all, but each alpha needs its own fits.
WEAK_ALPHAS = AUTO_ALPHAS[::2]

#: Descriptions of what the estimators share.
PARAMETERS = {
    "n_starts": """
        int. Number of starts to find labels from: the mean of each set, then random
        points. The start with the least objective is used.""",
    "kernel": """
        "auto", Kernel, str, callable or a sequence of these. Of several kernels, or
        length scales, the one with the least loss on held-out folds is used. "auto" is
        Gaussian and Laplace kernels of prepared columns, and walks over a graph of all
        rows (`halfmoon.weak._fold_search`).""",
    "alpha": """
        "auto", float or sequence of float. Weight of the penalty relative to the
        averaged loss. "auto" is 1e-8 to 10 times the mean prior variance of labeled
        rows. Of several, the one with the least loss on held-out folds is used.""",
    "budget": """
        float or None. Seconds to try kernels for; the first is always tried. None tries
        all of them.""",
    "unpenalized": """
        None, str, int, sequence, callable or object. Features without a penalty:
        "constant", "linear", a degree, columns, a transformer, a function of the rows,
        a fitted network or an object of `halfmoon.unpenalized`.""",
    "mu": "float or None. Weight of the norm relative to the energy; None is 1 / n.",
    "smoother": """
        Smoother or None. A smoother of `halfmoon.smoothers` that averages the basis
        over all rows; None leaves the basis unchanged.""",
}

SHARED_ATTRIBUTES = {
    "kernel_": "Kernel, str or callable. The kernel that was used.",
    "used_unlabeled_": "bool. Whether the fit uses unlabeled rows.",
    **{
        name: ATTRIBUTES[name]
        for name in ("n_labeled_", "alpha_", "coef_", "solution_")
    },
}


@dataclass(eq=False, repr=False, kw_only=True)
class WeakEstimator(Estimator):
    """Base class of the estimators for labels that are known in part."""

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

    _parameter_rules: ClassVar[dict[str, Rule]] = {
        # `loss` is a loss of outputs here.
        **{name: rule for name, rule in RULES.items() if name != "loss"},
        "mu": Rule(
            "None or one number",
            lambda value: value is None or isinstance(value, Real),
        ),
        "budget": Rule(
            "None or a positive number of seconds",
            lambda value: value is None or is_positive(value),
        ),
        "margin": Rule(
            '"auto" or a number of at least 0',
            lambda value: (
                value == "auto"
                if isinstance(value, str)
                else isinstance(value, Real) and 0 <= float(value) < np.inf
            ),
        ),
        "n_starts": Rule("a whole number of at least 1", is_whole),
        "separator": Rule("text", lambda value: isinstance(value, str)),
    }

    def _solver(self) -> None:
        """Fits are by ridge; `loss` means something else here."""

    def _make_weak_problem(
        self, kernel: Any, X: Rows, l: int, rng: np.random.Generator
    ) -> Problem:
        """Return the problem with one of the kernels to choose from."""
        energy, smoothed = self.energy, self.smoother is not None
        by_graph = is_name(energy, "graph")
        if self._is_precomputed() and (smoothed or by_graph):
            raise ValueError(
                "smoother and energy='graph' need the table, but X is a kernel "
                "matrix. Leave them out, or give the table and the kernel as an object."
            )
        refuse_other_graph(energy, X.shape[0])
        basis = basis_for(
            self, kernel, X, l, rng, in_dual=energy is None, smoothed=smoothed
        )
        features = as_unpenalized(
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

    def _pose(
        self,
        kernel: Any,
        X: Rows,  # (n, d)
        known: NDArray[np.bool_],  # (n,)
        w: Array,  # (n,)
        size: int,
    ) -> tuple[Posed, RowCoordinates, list[float]]:
        """Return the problem for targets yet to be found at known rows; the alphas."""
        rng = as_generator(self.random_state)
        problem = self._make_weak_problem(kernel, X, int(known.sum()), rng)
        targets = np.where(known[:, None], np.zeros(size), np.nan)
        posed = Posed.of(problem, X, targets, w, rng, self._stream, self._all_rows)
        with blas_for(X.shape[0] * posed.basis.n_components_**2):
            alphas = Alphas.of(self.alpha, WEAK_ALPHAS).at(posed)
            for alpha in alphas:
                posed.path.lam(alpha)  # refuses a negative or infinite weight
            coordinates = RowCoordinates.of(posed)
        return posed, coordinates, alphas

    def _choose_by_folds(
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
        """Return the problem, with the kernel and alpha that do best on held-out folds.

        `values` returns the held-out values at the known rows, shape (l, size), and
        `losses` their losses (`halfmoon.weak._fold_search`). There are no folds where
        the known rows are too few. `always` predicts the folds even if there is only
        one kernel and alpha.
        """
        choices = self._kernel_choices(X)
        tried: list[KernelTrial] = []
        best = None
        for number, choice in enumerate(self._within_budget(choices)):
            posed, coordinates, alphas = self._pose(choice.kernel, X, known, w, size)
            several = len(alphas) > 1 or len(choices) > 1
            if not folds or not (several or always):
                best = posed, coordinates, alphas[0], choice
                break
            with blas_for(X.shape[0] * posed.basis.n_components_**2):
                found = try_alphas(
                    alphas,
                    folds,
                    partial(values, coordinates),
                    losses,
                    uses_unlabeled=choice.uses_unlabeled,
                )
            tried.append(found)
            which, at = best_of(tried, posed.w)
            if which == number:
                best = posed, coordinates, alphas[at], choice
        assert best is not None
        posed, coordinates, alpha, choice = best
        self._store_kernel(choice)
        self._store_folds(tried, folds, posed)
        return posed, coordinates, alpha

    def _kernel_choices(self, X: Rows) -> list[KernelChoice]:
        by_gradients = is_name(self.energy, "gradient")
        rng = as_generator(self.random_state)
        return kernel_choices(self.kernel, X, rng, prepared=not by_gradients)

    def _within_budget(self, choices: list[KernelChoice]) -> Iterator[KernelChoice]:
        """Yield the first choice, and others while the budget allows it."""
        start = time.monotonic()
        for number, choice in enumerate(choices):
            spent = time.monotonic() - start
            # The next kernel takes about as long as the mean of the earlier ones.
            if number and spent * (1 + 1 / number) > (self.budget or np.inf):
                return
            yield choice

    def _store_kernel(self, choice: KernelChoice) -> None:
        self.kernel_ = choice.kernel
        self.used_unlabeled_ = (
            choice.uses_unlabeled
            or self.energy is not None
            or self.smoother is not None
        )

    def _store_folds(
        self, tried: list[KernelTrial], folds: list[Indices], posed: Posed
    ) -> None:
        """Store the mean losses, and the held-out values."""
        self.fold_losses_: Array | None = None
        self._unseen: Array | None = None
        self._unseen_supervised: Array | None = None
        if not tried:
            return
        if len(tried) > 1 or len(tried[0].losses) > 1:
            means = [each.losses @ posed.w / posed.total_weight for each in tried]
            self.fold_losses_ = means[0] if len(means) == 1 else np.array(means)
        self._unseen = cross_fitted(tried, folds, posed.w)
        supervised = [each for each in tried if not each.uses_unlabeled]
        if len(supervised) < len(tried):
            self._unseen_supervised = cross_fitted(supervised, folds, posed.w)

    def _store_fit(self, posed: Posed, targets: Array, alpha: float) -> Fit:
        """Fit the targets that were found, and store the fit. Returns it."""
        single = targets.shape[1] == 1
        with blas_for(posed.X.shape[0] * posed.basis.n_components_**2):
            fit = solve_ridge(posed.with_targets(targets, single=single), alpha)
        self.solution_ = fit
        self.labeled_, self.n_labeled_ = posed.labeled, len(posed.labeled)
        self.alpha_, self.mu_ = alpha, posed.mu
        self.coef_ = fit.coef
        return fit
