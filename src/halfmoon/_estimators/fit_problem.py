"""Fit an estimator that states one problem: choose, pose, solve, store.

The steps, for an estimator with a `_make_problem`:

1. of several kernels, fit with each and keep the best by leave-one-out;
2. of several choices of unpenalized features, choose by folds (`refitted_folds`);
3. pose the problem to the rows and search alpha and mu by leave-one-out;
4. try the alternatives of the estimator, and store what was found in it.
"""

from __future__ import annotations

import logging
import warnings
from collections.abc import Sequence
from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, Self, TypeVar, cast

import numpy as np
from sklearn.base import is_classifier

from halfmoon._cloning import unfitted_copy
from halfmoon._estimators.alpha_grid import AUTO_ALPHAS, Alphas
from halfmoon._estimators.choose_basis import kernel_basis
from halfmoon._estimators.kernel_search import kernel_settings
from halfmoon._estimators.output_groups import (
    OutputGroups,
    by_output,
    without_factorization,
)
from halfmoon._estimators.refitted_folds import refitted_fold_errors
from halfmoon._estimators.unpenalized_parameter import as_unpenalized, refuse_columns
from halfmoon._memory import parse_bytes
from halfmoon._partitions.partitioned_rows import fitted_to_part_of
from halfmoon._progress import row_progress
from halfmoon._random_state import as_generator
from halfmoon._rows import Array, Indices, Rows
from halfmoon.bases import Basis
from halfmoon.blocks import Stream, blas_for
from halfmoon.kernels._kernel_names import as_kernel
from halfmoon.losses import Logistic, Loss, Softmax, Squared, as_loss
from halfmoon.problem import Fit, Problem, solve_ridge
from halfmoon.problem._alpha_search import search
from halfmoon.problem._fit import loo_sample
from halfmoon.problem._folds import out_of_fold
from halfmoon.problem._posed import Posed

if TYPE_CHECKING:
    from halfmoon._estimators.base import Estimator

__all__ = [
    "Data",
    "basis_for",
    "collect_groups",
    "fit_groups",
    "fit_problem",
    "held_out_values",
]

logger = logging.getLogger("halfmoon")

Model = TypeVar("Model", bound="Estimator")

#: An alternative is used where its leave-one-out error is below this share of the first
#: one's: a smaller difference is mostly chance.
CLEARLY_LOWER = 0.9


def basis_for(
    model: Estimator,
    kernel: Any,
    X: Rows,
    l: int,
    rng: np.random.Generator,
    *,
    in_dual: bool = True,
    smoothed: bool = False,
    length_scale: str = "median",
) -> Basis:
    """Return the basis of a kernel that the parameters ask for; see `kernel_basis`."""
    return kernel_basis(
        as_kernel(kernel, length_scale).resolve(X, rng),
        model.basis,
        model.n_components,
        model.landmarks,
        n=X.shape[0],
        l=l,
        in_dual=in_dual,
        smoothed=smoothed,
        by_ridge=model._solver() is None,
        all_at_hand=model._all_rows is None,
        memory_limit=model.memory_limit,
    )


class Data(NamedTuple):
    """The rows and targets that a problem is posed to, and how to go through them."""

    X: Rows  # (n, d)
    targets: Array  # (n,) or (n, t), NaN in unlabeled rows
    w: Array  # (n,)
    rng: np.random.Generator
    stream: Stream

    @classmethod
    def of(cls, model: Estimator, X: Rows, targets: Array, w: Array) -> Self:
        """Return the data with the random state and the stream of a model."""
        stream = replace(model._stream, progress=row_progress(model.verbose))
        return cls(X, targets, w, as_generator(model.random_state), stream)

    def pose(self, model: Estimator, problem: Problem) -> Posed:
        """Pose a problem to these rows, or to the partitions that they come from."""
        return problem.pose(
            *(self.X, self.targets),
            sample_weight=self.w,
            rng=self.rng,
            stream=self.stream,
            all_rows=model._all_rows,
        )


def fit_problem(model: Estimator, X: Rows, targets: Array, w: Array) -> None:
    """Fit the model, with the best of its kernels if there are several."""
    settings = kernel_settings(model, X)
    if settings == [{}]:
        _fit_one_kernel(model, X, targets, w)
        return
    copies = [copy(model) for _ in settings]
    for each, setting in zip(copies, settings, strict=True):
        each.__dict__.update(setting)
        with fitted_to_part_of(each, model._all_rows):
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
    problem, alphas = _select_unpenalized(model, problem, data)
    _fit_posed(model, data.pose(model, problem), alphas, data.rng)


def fit_groups(
    model: Model, X: Rows, targets: Array, w: Array, groups: Sequence[Indices]
) -> list[Model]:
    """Return a fitted copy of the model for each group of outputs.

    What does not depend on labels is computed once, for all groups.
    """
    if kernel_settings(model, X) != [{}]:
        parts = [copy(model) for _ in groups]
        for part, columns in zip(parts, groups, strict=True):
            with fitted_to_part_of(part, model._all_rows):
                fit_problem(part, X, targets[:, columns], w)
        return parts
    data = Data.of(model, X, targets, w)
    rng = data.rng
    known = ~np.isnan(targets)
    labeled = np.flatnonzero(known.any(axis=1))
    stated = model._make_problem(X, len(labeled), rng)
    state = rng.bit_generator.state  # each group draws what it would draw alone
    parts, whole = [copy(model) for _ in groups], None
    for part, columns in zip(parts, groups, strict=True):
        rng.bit_generator.state = state
        y = targets[:, columns]
        problem, alphas = _select_unpenalized(part, stated, data._replace(targets=y))
        if whole is None:
            any_label = np.where(known.any(axis=1), 0.0, np.nan)
            whole = data._replace(targets=any_label).pose(model, problem)
        rows = np.flatnonzero(known[labeled, columns[0]])
        posed = whole.of_rows(rows, y[labeled[rows]])
        if part.fold_errors_ is not None:  # the group has chosen its own features
            features = problem.unpenalized
            if features is not None:
                features = unfitted_copy(features).fit(X, rng)
            posed = posed.with_unpenalized(features)
        _fit_posed(part, posed, alphas, rng)
        # All factorizations together may be more than the memory limit.
        l = len(labeled)
        side = l if whole.dual else whole.basis.n_components_
        if 16 * len(groups) * side * min(l, side) > parse_bytes(model.memory_limit):
            part.solution_ = without_factorization(part.solution_)
    return parts


def collect_groups(model: Estimator) -> None:
    """Set attributes of a model from those of its parts, with a column per output."""
    columns, parts = cast(OutputGroups, model.solution_).columns, model._parts()

    def collected(name: str) -> Any:
        values = [getattr(part, name) for part in parts]
        if any(value is None for value in values):
            return None
        repeated = [
            np.repeat(np.asarray(value)[..., None], len(some), axis=-1)
            for value, some in zip(values, columns, strict=True)
        ]
        return by_output(columns, repeated, fill=np.nan)

    for name in ("alpha_", "mu_", "alphas_", "loo_errors_", "fold_errors_"):
        setattr(model, name, collected(name))
    model.coef_ = by_output(columns, [part.coef_ for part in parts])


def _select_unpenalized(
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
    X, targets, w, rng, stream = data
    y = targets.reshape(X.shape[0], -1)
    errors = np.array(
        [
            refitted_fold_errors(each, X, y, w, alphas, solve, rng=rng, stream=stream)
            for each in problems
        ]
    )
    model.fold_errors_ = errors
    best, best_alpha = np.unravel_index(np.argmin(errors), errors.shape)
    # Leave-one-out may still tune alpha, unless the features have seen the labels.
    return problems[best], alphas.only(int(best_alpha)) if learned[best] else alphas


def _loss_of(model: Estimator) -> Loss:
    """Return the loss to solve; refuse one that does not suit the targets."""
    loss, classes = as_loss(model.loss), is_classifier(model)
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


def _fit_posed(
    model: Estimator, posed: Posed, alphas: Alphas, rng: np.random.Generator
) -> None:
    """Solve a posed problem and its alternatives, and store the fit in the model."""
    n, l, k = posed.X.shape[0], len(posed.labeled), posed.F.shape[1]
    logger.log(
        logging.INFO if model.verbose > 1 else logging.DEBUG,
        "%s: %d of %d rows are labeled; %d functions.",
        *(type(model).__name__, l, n if model._all_rows is None else model._all_rows.n),
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
    model.coef_ = fit.shaped(fit.beta)


def _search(model: Estimator, posed: Posed, alphas: Alphas) -> Fit:
    """Return the fit with the best alpha: by likelihood if a class has one label."""
    return search(
        posed,
        alphas.at,
        model.mu,
        model._solver(),
        likeliest=alphas.automatic and _has_single_label(model, posed.y),
    )


def held_out_values(
    model: Estimator,
) -> tuple[Indices | slice, Array]:  # (m,), (m, t)
    """Return labeled rows, all or a sample, and their held-out values."""
    fit = model._one_fit
    posed, some = fit.posed, loo_sample(fit.posed)
    y = posed.y[some]
    if fit.by_ridge:
        values = y - fit.leave_one_out(some).reshape(y.shape)
    elif fit.left_out_values is not None:
        values = fit.left_out_values[some]
    elif _has_single_label(model, posed.y):  # a fold would be without that class
        values = np.full_like(y, np.nan)
    else:
        values = out_of_fold(posed, cast(Any, fit.solve))[some]
    return some, values


def _has_single_label(model: Estimator, y: Array) -> bool:
    """Whether a class has only one labeled row."""
    if not is_classifier(model):
        return False
    return bool((np.unique(y, axis=0, return_counts=True)[1] == 1).any())
