"""Halfmoon: tries every lever on the table at hand and averages the best.

Candidates of many kinds (`halfmoon._selection`) are fitted by kernel ridge at many
alphas and judged by leave-one-out. The prediction is their average, weighted by how
well they do. The same average over candidates that have not seen unlabeled rows is the
*supervised twin*. The twin predicts unless the others beat it.
"""

from __future__ import annotations

import logging
import time
from abc import abstractmethod
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, Self, cast

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from halfmoon._estimators.base import Estimator
from halfmoon._estimators.classification import Classifier
from halfmoon._estimators.explanations import Explanation
from halfmoon._estimators.fit_problem import HeldOut
from halfmoon._estimators.output_groups import OutputGroups, by_output
from halfmoon._estimators.parameter_docs import with_parameter_docs
from halfmoon._estimators.parameters import as_unpenalized
from halfmoon._estimators.regression import Regressor
from halfmoon._labels import no_labels, rows_with_targets
from halfmoon._memory import MEMORY_LIMIT
from halfmoon._progress import ProgressLine, show_log
from halfmoon._rows import Array, Indices, Rows, refuse_equal_rows
from halfmoon._selection.average import Average
from halfmoon._selection.candidate import Entry
from halfmoon._selection.comparison import SUMMARIES, Comparison, compare_members
from halfmoon._selection.criteria import (
    ClassCriterion,
    Criterion,
    NumberCriterion,
    class_scores,
    cluster_share,
)
from halfmoon._selection.families import candidates
from halfmoon._selection.local_average import average_of_local_fits
from halfmoon._selection.refit import Refit, with_local_fits
from halfmoon._selection.search import SearchOutcome, try_candidates
from halfmoon._selection.search_data import SearchData, only
from halfmoon._selection.semi_supervised_families import distance_preparation
from halfmoon._selection.target_transforms import IDENTITY, within_limits
from halfmoon._sklearn_conventions import (
    CallbackSupport,
    announced,
    as_generator,
    is_name,
    with_callbacks,
)
from halfmoon.bases import Exact
from halfmoon.blocks import Stream
from halfmoon.kernels import Gaussian
from halfmoon.problem import Problem
from halfmoon.problem._folds import some_labels
from halfmoon.problem._posed import Posed
from halfmoon.unpenalized import Constant, Unpenalized

__all__ = ["HalfmoonClassifier", "HalfmoonRegressor"]

SEARCH_LABELS = 500  # labels that candidates are compared on, at most
LOCAL_LABELS = 300  # beyond which there are local fits, too
POINTS = 500, 2_000  # unlabeled rows whose predictions are compared: fewest, most
POINT_LABELS = 100_000  # rows times labels in between
NEIGHBORS = 10  # neighbors of a point that may get the same prediction
INDEX_BYTES = 4  # of an entry of CSR rows, besides its value
REFIT_SHARE = 0.4  # share of the budget for local fits


@dataclass(eq=False, repr=False)
class Halfmoon(CallbackSupport, Estimator):
    """Base class of the regressor and the classifier."""

    unpenalized: Any = "auto"
    budget: float = 60.0
    safe: bool = True
    memory_limit: int | str = MEMORY_LIMIT
    random_state: Any = None
    n_jobs: int | None = None
    verbose: int = 0
    unlabeled: Any = None

    #: Whether the targets are classes.
    _of_classes: ClassVar[bool]

    _dense_rows = False  # in `fit`; the columns of CSR rows are taken for words

    def _learned_targets(self, y: Array) -> Array:
        """Return the targets to learn from, for the given ones, (l, t)."""
        return y

    @abstractmethod
    def _criterion(self, shared: SearchData) -> Criterion:
        """Return the criterion that candidates are judged by."""

    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from all rows of X and from the labels that y has.

        Parameters
        ----------
        X, y, sample_weight : see `LaplacianClassifier` and `LaplacianRegressor`
        """
        return super().fit(X, y, sample_weight)

    def _table(self, X: Any, *, reset: bool) -> Rows:
        """Return checked rows; CSR as dense rows where these take no more memory."""
        X = super()._table(X, reset=reset)
        if reset:
            entry = X.dtype.itemsize
            dense_bytes = entry * X.shape[0] * X.shape[1]
            filled = not sp.issparse(X) or (entry + INDEX_BYTES) * X.nnz >= dense_bytes
            self._dense_rows = filled
        return X.toarray() if self._dense_rows and sp.issparse(X) else X

    def _fit_rows(self, X: Rows, targets: Array, w: Array) -> None:
        """Try the candidates, average them, and choose between average and twin."""
        if self.verbose:
            show_log()
        refuse_equal_rows(X)
        seconds, until = self.budget, time.monotonic() + self.budget
        rng = as_generator(self.random_state)
        labeled, data = self._labels(X, targets, w)
        self.n_labeled_, self.labeled_ = len(labeled), labeled
        self._given, data = data.y, replace(data, y=self._learned_targets(data.y))
        some = some_labels(data.y, SEARCH_LABELS, rng)
        more = len(some) < len(labeled)
        locally = len(labeled) > LOCAL_LABELS and not sp.issparse(X)
        auto = is_name(self.unpenalized, "auto")
        unpenalized = Constant().fit(X) if auto else self._user_features(X, rng)
        outcome, criterion = self._search(
            self._search_data(X, labeled[some], only(data, some), rng),
            unpenalized,
            seconds=(1.0 - REFIT_SHARE * locally) * seconds,
        )
        local = None
        left = max(0.0, until - time.monotonic())
        # A few kernels that happened to fit in the budget should not have half a say.
        if locally and (more or left >= REFIT_SHARE * seconds):
            free = replace(data, unpenalized=unpenalized)
            scale = IDENTITY if more else outcome.scale
            local = partial(average_of_local_fits, X, free, criterion, rng, left, scale)
        averages = Refit(data, outcome, criterion, rng, local, until).averages()
        twin, chosen, plain = averages.values()
        self._twin_solution, self.solution_ = twin, chosen
        self._comparison = compare_members(outcome.comparison, chosen, plain, criterion)
        held_out = outcome.held_out
        if not more:
            held_out = {
                name: with_local_fits(twin if name == "twin" else chosen, values)
                for name, values in held_out.items()
            }
        # Model files contain these names: "answer" is the one chosen.
        self._cross_fitted = {"y": data.y[some], **held_out}
        self.used_unlabeled_ = chosen.uses_unlabeled

    def _search(
        self, shared: SearchData, unpenalized: Unpenalized | None, seconds: float
    ) -> tuple[SearchOutcome, Criterion]:
        """Try candidates on some labels. Kernel matrices are freed when it returns."""
        criterion = self._criterion(shared)
        entries: list[Entry] = []
        kinds = candidates(
            shared,
            criterion,
            unpenalized,
            auto=is_name(self.unpenalized, "auto"),
            classes=self._of_classes,
            tried=entries,
        )
        tried = announced(self, kinds)
        if self.verbose == 1:
            tried = ProgressLine().over(tried, self.budget)
        log_level = logging.INFO if self.verbose > 1 else logging.DEBUG
        try_candidates(tried, shared, criterion, seconds, log_level, entries)
        return SearchOutcome.of(entries, shared, criterion, safe=self.safe), criterion

    def _fit_parts(
        self, X: Rows, targets: Array, w: Array, groups: Sequence[Indices]
    ) -> list[Self]:
        """Search for each group of outputs, in its share of the budget."""
        parts = [copy(self) for _ in groups]
        for part, columns in zip(parts, groups, strict=True):
            part.budget = self.budget / len(groups)
            part._fit_rows(X, targets[:, columns], w)
            part.__dict__.pop("_callback_fit_ctx", None)  # that of the whole fit
        return parts

    def _take_over(self) -> None:
        self.used_unlabeled_ = any(part.used_unlabeled_ for part in self._parts())

    def _labels(self, X: Rows, targets: Array, w: Array) -> tuple[Indices, Posed]:
        """Return the indices of the labeled rows, and these rows with their targets."""
        y = targets.reshape(X.shape[0], -1)
        labeled = rows_with_targets(y)
        if len(labeled) == 0:
            raise no_labels(X.shape[0])
        return labeled, Posed.of(
            Problem(Exact(Gaussian(1.0)), unpenalized=None),
            X[labeled],
            targets[labeled],
            w[labeled],
            np.random.default_rng(),
            Stream(self.memory_limit, self.n_jobs),
        )

    def _search_data(
        self, X: Rows, labeled: Indices, data: Posed, rng: np.random.Generator
    ) -> SearchData:
        others = np.setdiff1d(np.arange(X.shape[0]), labeled)
        most = int(np.clip(POINT_LABELS // len(labeled), *POINTS))
        size = min(len(others), most) if self._of_classes else 0
        others = np.sort(rng.choice(others, size, replace=False))
        more = len(labeled) < self.n_labeled_
        return SearchData(X, labeled, data, others, rng, to_be_refitted=more)

    @property
    def comparison_(self) -> Comparison:
        """Each candidate compared with the supervised twin, in columns."""
        check_is_fitted(self)
        if self._parts():
            raise AttributeError(
                "Some rows lack some outputs, so each group of outputs was searched "
                "separately. Use parts_[0].comparison_ for the first group."
            )
        return Comparison(self._comparison)

    def _outcome(self, seconds: float) -> str:
        models = sum(
            len(each._comparison["candidate"]) - len(SUMMARIES)
            for each in self._parts() or [self]
        )
        used = "used" if self.used_unlabeled_ else "not used"
        return (
            f"Tried {models:,} model{'s' * (models != 1)} in {seconds:.1f} s; "
            f"{self._quality()}; unlabeled rows {used}."
        )

    def _held_out(self) -> HeldOut:
        average = cast(Average, self.solution_)
        values, rows = self._cross_fitted["answer"], average.rows
        if len(values) < len(average.y):  # with so many, the choice matters little
            values = average.held_out
        return HeldOut(rows, average.y[rows], values, average.w[rows])

    def _given_targets(self) -> Array:
        """Return the targets as given; the fit may have moved outlying ones, (l, t)."""
        learned: Array = cast(Average, self.solution_).y
        return self.__dict__.get("_given", learned)  # not in older model files

    def leave_one_out(self) -> Array:
        """Return the leave-one-out residuals of the labels as given."""
        check_is_fitted(self)
        if self._parts():
            groups = cast(OutputGroups, self.solution_)
            return groups.at_rows([part.leave_one_out() for part in self._parts()])
        average = cast(Average, self.solution_)
        moved = self._given_targets() - average.y
        return average.leave_one_out() + average.shaped(moved)

    def _user_features(self, X: Rows, rng: np.random.Generator) -> Unpenalized | None:
        """Return the user's unpenalized features, fitted."""
        names = getattr(self, "feature_names_in_", None)
        options = as_unpenalized(self.unpenalized, None, names)
        if len(options) > 1:
            raise ValueError(
                f"unpenalized is {self.unpenalized!r}, but one choice of features is "
                f"needed. Pass one of them, or 'auto'."
            )
        features = options[0]
        return None if features is None else features.fit(X, rng)

    @property
    def twin_(self) -> Self:
        """The supervised twin: a model that has not seen unlabeled rows."""
        check_is_fitted(self)
        twin = copy(self)
        if self._parts():
            twin.parts_ = [part.twin_ for part in self._parts()]
            groups = cast(OutputGroups, self.solution_)
            twin.solution_ = groups.with_parts(twin.parts_)
        else:
            twin.solution_ = self._twin_solution
            twin._cross_fitted = {
                **self._cross_fitted,
                "answer": self._cross_fitted["twin"],
            }
        twin.used_unlabeled_ = False
        twin._score_and_calibrate()
        return twin

    @property
    def coef_(self) -> Array:
        """Coefficients of the unpenalized features, shape (k,) or (k, t)."""
        check_is_fitted(self)
        if is_name(self.unpenalized, "auto"):
            raise AttributeError(
                "With unpenalized='auto' the candidates have different unpenalized "
                "features. Pass some, such as unpenalized='linear'."
            )
        if self._parts():
            groups = cast(OutputGroups, self.solution_)
            return by_output(groups.columns, [part.coef_ for part in self._parts()])
        average = cast(Average, self.solution_)
        return average.shaped(average.coef)


@with_parameter_docs
@dataclass(eq=False, repr=False)
class HalfmoonRegressor(Regressor, Halfmoon):
    """Regression from few labels that chooses its levers automatically.

    Many kinds of kernel ridge, with and without unlabeled rows, are tried and averaged
    by their leave-one-out errors. With few labels and a weak signal, predictions are
    shrunk towards the mean of the labels, and with a handful of labels towards a linear
    fit. They exceed the range of the labels by at most a quarter of it, unless
    `unpenalized` is given. A label far outside the range of the others, such as a
    mistyped one, counts as the largest or smallest of the others, in the fit and in
    ``loo_score_``. Then ``smoother_matrix(X)`` applies to these labels, which are in
    ``solution_.y``.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, (300, 3))
    >>> truth = np.sin(3 * X[:, 0]) + X[:, 1]
    >>> y = np.where(np.arange(300) < 40, truth, np.nan)  # 40 labels
    >>> model = HalfmoonRegressor(random_state=0).fit(X, y)
    >>> bool(np.abs(model.predict(X) - truth).mean() < 0.1)
    True
    """

    _of_classes = False

    def _learned_targets(self, y: Array) -> Array:
        return within_limits(y)

    def _explain(self, X: Rows, answers: NDArray[Any], rows: Indices) -> Explanation:
        found = super()._explain(X, answers, rows)
        return replace(found, labels=self._given_targets()[:, 0])

    def _criterion(self, shared: SearchData) -> Criterion:
        # Features of the user may lead beyond the range of the labels.
        return NumberCriterion(limited=is_name(self.unpenalized, "auto"))


@with_parameter_docs
@dataclass(eq=False, repr=False)
class HalfmoonClassifier(Classifier, Halfmoon):
    """Classification from few labels that chooses its levers automatically.

    Many kinds of kernel ridge, with and without unlabeled rows, are tried and averaged.
    Candidates are judged by three things: how well they predict held-out labels and, as
    far as columns are numbers, how well the class shares of their predictions agree
    with those of the labels, and whether class borders avoid dense regions.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import make_moons
    >>> X, y = make_moons(300, noise=0.08, random_state=0)
    >>> known = np.where(np.arange(300) < 12, y, np.nan)  # 12 labels
    >>> model = HalfmoonClassifier(random_state=0).fit(X, known)
    >>> bool((model.predict(X) == y).mean() > 0.95), model.used_unlabeled_
    (True, True)
    """

    _of_classes = True

    def _criterion(self, shared: SearchData) -> Criterion:
        scores = class_scores(shared.data.y)
        m, clusters = shared.points.shape[0], cluster_share(shared.points)
        prepare = distance_preparation(shared.X, shared.rng)
        neighbors = np.zeros((m, 0), dtype=np.intp)
        if prepare is not None and m > 1:
            neighbors = shared.neighbors(prepare, min(NEIGHBORS, m - 1))
        codes = scores.argmax(axis=1)
        return ClassCriterion(codes, scores.shape[1], neighbors, clusters)
