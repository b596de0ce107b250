r"""Fit an estimator that states one problem: choose, pose, solve, store.

The steps, for an estimator with a `_make_problem`:

1. of several kernels, fit with each and keep the best by leave-one-out;
2. of several choices of unpenalized features, choose by folds (`problem._folds`);
3. pose the problem to the rows and search alpha and mu by leave-one-out;
4. try the alternatives of the estimator, and store what was found in it.

A kernel does not depend on labels, so leave-one-out is as exact as with one kernel:

================================  ====================================================
``kernel``                        compared
================================  ====================================================
``Gaussian([0.5, 1.0, 2.0])``     the kernel with each of the length scales
``Gaussian("auto")``              a quarter, a half, one, two and four times the median
                                  distance between rows
``[Gaussian(1.0), "linear"]``     each of them
================================  ====================================================

The alphas to compare are those given, or ``"auto"`` in the unit of the problem:

.. math:: alpha = a \, u, \quad u = \frac1W \sum_j s_j^2
          = \frac1W tr \bigl( (I - P) Phi Q^{-1} Phi' \bigr)

The squared singular values s^2 are those of the problem, in coordinates where its
penalty is the identity and without what the unpenalized features explain
(`_solvers.ridge`). So u is the mean prior variance of the labeled rows around these
features, and a is the ratio of noise to signal. Other units of X, of the kernel or of
the energy change u, and nothing in the fit. The quantile loss grows with residuals and
not with their squares; for it u is divided by the standard deviation of the labels.
"""

from __future__ import annotations

import logging
import warnings
from copy import copy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple, Self, cast

import numpy as np
from sklearn.base import is_classifier

from halfmoon._estimators.parameters import as_unpenalized, refuse_columns
from halfmoon._partitioned_rows import PartitionedRows
from halfmoon._progress import row_progress
from halfmoon._rows import Array, Indices, Rows
from halfmoon._sklearn_conventions import as_generator, as_numbers
from halfmoon.blocks import Stream, blas_for
from halfmoon.kernels import Kernel
from halfmoon.kernels._length_scales import median_distance
from halfmoon.losses import Logistic, Loss, Quantile, Softmax, Squared
from halfmoon.problem import Fit, Problem, solve_ridge
from halfmoon.problem._alpha_search import search
from halfmoon.problem._folds import out_of_fold, refitted_fold_errors
from halfmoon.problem._posed import Posed

if TYPE_CHECKING:
    from halfmoon._estimators.base import Estimator

__all__ = [
    "AUTO_ALPHAS",
    "Alphas",
    "Data",
    "HeldOut",
    "fit_posed",
    "fit_problem",
    "held_out",
    "kernel_choices",
    "kernel_settings",
    "select_unpenalized",
    "unit_of",
]

logger = logging.getLogger("halfmoon")

#: Length scales of "auto", relative to the median distance between rows.
AUTO_WIDTHS = (0.25, 0.5, 1.0, 2.0, 4.0)

#: "auto", in the unit of the problem: from interpolation to nearly no fit.
AUTO_ALPHAS = tuple(10.0 ** (e / 2) for e in range(-16, 3))

#: An alternative is used where its leave-one-out error is below this share of the first
#: one's: a smaller difference is mostly chance.
CLEARLY_LOWER = 0.9


class Data(NamedTuple):
    """The rows and targets that a problem is posed to, and how to go through them."""

    X: Rows  # (n, d)
    targets: Array  # (n,) or (n, t), NaN in unlabeled rows
    w: Array  # (n,)
    rng: np.random.Generator
    stream: Stream
    all_rows: PartitionedRows | None  # the table, if X is a part of it

    @classmethod
    def of(cls, model: Estimator, X: Rows, targets: Array, w: Array) -> Self:
        """Return the data to fit a model to, with its random state and stream."""
        stream = model._stream
        if model.verbose:
            stream = replace(stream, progress=row_progress(model.verbose))
        rng = as_generator(model.random_state)
        return cls(X, targets, w, rng, stream, model._all_rows)


def fit_problem(model: Estimator, X: Rows, targets: Array, w: Array) -> None:
    """Fit the model, with the best of its kernels if there are several."""
    settings = kernel_settings(model, X)
    if settings == [{}]:
        _fit_one_kernel(model, X, targets, w)
        return
    copies = [copy(model) for _ in settings]
    for each, setting in zip(copies, settings, strict=True):
        each.__dict__.update(setting)
        _fit_one_kernel(each, X, targets, w)
    errors = np.array([each._one_fit.loo_score for each in copies])
    if len(copies) > 1 and np.isnan(errors).any():
        raise ValueError(
            "There are several kernels to choose from, but no leave-one-out error to "
            "choose by. Give one kernel, or several alphas."
        )
    best = vars(copies[int(np.argmin(errors))])
    parameters = model.get_params(deep=False)
    fitted = {name: value for name, value in best.items() if name not in parameters}
    model.__dict__.update(fitted)
    model.kernel_errors_ = errors
    model.kernels_ = {name: best[name] for name in settings[0]}


def _fit_one_kernel(model: Estimator, X: Rows, targets: Array, w: Array) -> None:
    data = Data.of(model, X, targets, w)
    l = int((~np.isnan(targets.reshape(len(targets), -1)).any(axis=1)).sum())
    problem = model._make_problem(X, l, data.rng)
    problem, alphas = select_unpenalized(model, problem, data)
    fit_posed(model, Posed.of(problem, *data), alphas, data.rng)


def kernel_settings(estimator: Any, X: Rows) -> list[dict[str, Any]]:
    """Return the parameters to set for each combination of kernels to compare.

    [{}] if there is one, which the parameters give already.
    """
    rng = as_generator(estimator.random_state)
    settings: list[dict[str, Any]] = [{}]
    for name in ("kernel", "inner_kernel"):
        given = getattr(estimator, name)
        kernels = kernel_choices(given, X, rng)
        if len(kernels) > 1 or kernels[0] is not given:
            settings = [
                {**each, name: kernel} for each in settings for kernel in kernels
            ]
    return settings


def kernel_choices(kernel: Any, X: Rows, rng: np.random.Generator) -> list[Any]:
    """Return the kernels that a parameter stands for; see the module's table.

    Examples
    --------
    >>> from halfmoon.kernels import Gaussian
    >>> rng = np.random.default_rng(0)
    >>> kernel_choices([Gaussian((1.0, 2.0)), "linear"], np.eye(3), rng)
    [Gaussian(length_scale=1.0), Gaussian(length_scale=2.0), 'linear']
    """
    if isinstance(kernel, (list, tuple)):
        if not kernel:
            raise ValueError("kernel is empty; at least one kernel is needed.")
        return [each for one in kernel for each in kernel_choices(one, X, rng)]
    scale = getattr(kernel, "length_scale", None)
    if not isinstance(kernel, Kernel) or scale is None:
        return [kernel]
    if isinstance(scale, str) and scale == "auto":
        scale = median_distance(X, rng) * np.array(AUTO_WIDTHS)
    if np.ndim(scale) == 0:
        return [kernel]
    return [replace(cast(Any, kernel), length_scale=float(one)) for one in scale]


def select_unpenalized(
    model: Estimator, problem: Problem, data: Data
) -> tuple[Problem, Alphas]:
    """Return the problem with one choice of features, and the alphas to search."""
    inner = getattr(problem.basis, "basis", problem.basis)  # of a smoothed basis
    choices = as_unpenalized(
        model.unpenalized,
        getattr(inner, "kernel", None),
        getattr(model, "feature_names_in_", None),
    )
    if model._is_precomputed():
        refuse_columns(choices)
    loss = _loss_of(model)
    problems = [replace(problem, unpenalized=each, loss=loss) for each in choices]
    # Losses other than the squared one need a fit for each alpha: use every other.
    step = 1 if isinstance(loss, Squared) else 2
    alphas = Alphas.of(model._alphas(), AUTO_ALPHAS[::step])
    model.fold_errors_ = None
    learned = [each is not None and each.from_labels for each in choices]
    if len(problems) == 1 and not (learned[0] and len(alphas) > 1):
        return problems[0], alphas
    solve = model._solver() or solve_ridge
    X, targets, w, rng, stream, _ = data
    y = targets.reshape(X.shape[0], -1)
    errors = np.array(
        [
            refitted_fold_errors(each, X, y, w, alphas.at, solve, rng, stream)
            for each in problems
        ]
    )
    model.fold_errors_ = errors
    best, best_alpha = np.unravel_index(np.argmin(errors), errors.shape)
    # Leave-one-out may still tune alpha, unless the features have seen the labels.
    return problems[best], alphas.only(int(best_alpha)) if learned[best] else alphas


def _loss_of(model: Estimator) -> Loss:
    """Return the loss to solve; refuse one that does not suit the targets."""
    loss, classes = model._loss, is_classifier(model)
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
    if isinstance(loss, Logistic) and len(cast(Any, model).classes_) > 2:
        return Softmax()
    return loss


@dataclass(frozen=True)
class Alphas:
    """Alphas to choose from."""

    values: tuple[float, ...]
    automatic: bool = False  # whether the values are in the unit of the problem

    @classmethod
    def of(cls, alpha: Any, automatic: tuple[float, ...] = AUTO_ALPHAS) -> Self:
        """Return the alphas of a parameter: "auto", a number or a sequence."""
        if isinstance(alpha, str):
            return cls(automatic, automatic=True)
        return cls(tuple(as_numbers(alpha, "alpha")))

    def __len__(self) -> int:
        return len(self.values)

    def only(self, which: int) -> Self:
        """Return only one of them."""
        return replace(self, values=(self.values[which],))

    def at(self, posed: Posed) -> list[float]:
        """Return the alphas as numbers, for a posed problem."""
        unit = unit_of(posed) if self.automatic else 1.0
        return [unit * value for value in self.values]


def unit_of(posed: Posed) -> float:
    """Return u above; 1 where no row varies and alpha does not matter.

    Examples
    --------
    >>> from halfmoon.bases import Exact
    >>> from halfmoon.kernels import Gaussian
    >>> from halfmoon.problem import Problem
    >>> problem = Problem(Exact(9.0 * Gaussian(1.0)), unpenalized=None)
    >>> round(unit_of(problem.pose(np.eye(2), [0.0, 1.0])), 6)
    9.0
    """
    path = posed.path
    unit = float(path.s2.sum()) / path.total_weight
    if isinstance(posed.loss, Quantile):
        unit /= float(posed.spread.mean()) or 1.0
    return unit if 0 < unit < np.inf else 1.0


def fit_posed(
    model: Estimator, posed: Posed, alphas: Alphas, rng: np.random.Generator
) -> None:
    """Solve a posed problem and its alternatives, and store the fit in the model."""
    n, l, k = posed.X.shape[0], len(posed.labeled), posed.F.shape[1]
    logger.log(
        logging.INFO if model.verbose > 1 else logging.DEBUG,
        "%s: %d of %d rows are labeled; %d functions.",
        type(model).__name__,
        l,
        n if model._all_rows is None else model._all_rows.n,
        posed.basis.n_components_,
    )
    if k > max(1, l // 2):
        warnings.warn(
            f"There are {k} unpenalized features for {l} labeled rows; beyond half "
            f"as many as labels they mostly fit noise. Use fewer, or label more.",
            UserWarning,
            stacklevel=3,
        )
    with blas_for(n * posed.basis.n_components_**2):
        fit = _search(model, posed, alphas)
        for other in model._alternatives(posed, rng):
            found = _search(model, other, alphas)
            # An infinite error of the first says nothing: its features need all labels.
            known = np.isfinite(fit.loo_score)
            if known and found.loo_score < CLEARLY_LOWER * fit.loo_score:
                fit = found
    model.solution_ = fit
    model.labeled_, model.n_labeled_ = posed.labeled, l
    model.alpha_, model.mu_ = fit.alpha, fit.posed.mu
    model.alphas_ = np.array(alphas.at(fit.posed))
    model.loo_errors_ = fit.loo_scores
    model.coef_ = fit.coef


def _search(model: Estimator, posed: Posed, alphas: Alphas) -> Fit:
    """Return the fit with the best alpha: by likelihood if a class has one label."""
    solve = model._solver()
    likeliest = alphas.automatic and _has_single_label(model, posed.y)
    if solve is None and model.mu is None and not likeliest:
        return solve_ridge(posed, alphas.at(posed))
    return search(posed, alphas.at, model.mu, solve, likeliest=likeliest)


class HeldOut(NamedTuple):
    """Held-out predictions of the labeled rows, or of a sample of them."""

    rows: Indices | slice  # which of the labeled rows
    y: Array  # (m, t)
    values: Array  # (m, t), NaN where the other labels do not determine the row
    w: Array  # (m,)


def held_out(model: Estimator) -> HeldOut:
    """Return labeled rows, all or a sample, and their held-out values."""
    fit = model._one_fit
    posed, some = fit.posed, fit.posed.loo_sample
    y = posed.y[some]
    if fit.by_ridge:
        values = y - fit.leave_one_out(some).reshape(y.shape)
    elif fit.left_out_values is not None:
        values = fit.left_out_values[some]
    elif _has_single_label(model, posed.y):  # a fold would be without that class
        values = np.full_like(y, np.nan)
    else:
        values = out_of_fold(posed, cast(Any, fit.solve))[some]
    return HeldOut(some, y, values, posed.w[some])


def _has_single_label(model: Estimator, y: Array) -> bool:
    """Whether a class has only one labeled row."""
    if not is_classifier(model):
        return False
    return bool((np.unique(y, axis=0, return_counts=True)[1] == 1).any())
