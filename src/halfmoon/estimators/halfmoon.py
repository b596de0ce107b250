"""Halfmoon: every lever, tried on the table at hand and averaged.

Candidates of many kinds (`halfmoon.selection`) are fitted by kernel ridge, each at many
alphas, and each is asked for the labeled rows without their own labels. The answer is
the average of all, weighed by how well they did. The same average over those candidates
that have not learned from unlabeled rows is the *supervised twin*; unless the others
beat it, it is the twin that answers.
"""

from __future__ import annotations

import logging
import time
from abc import abstractmethod
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import partial
from numbers import Real
from typing import Any, ClassVar, Self, cast

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from halfmoon.bases import Exact
from halfmoon.blocks import Stream
from halfmoon.estimators.base import Estimator, HeldOut
from halfmoon.estimators.callbacks import CallbackSupport, announced, with_callbacks
from halfmoon.estimators.classification import Classifier
from halfmoon.estimators.comparison import SUMMARIES, Comparison
from halfmoon.estimators.null_space import null_spaces
from halfmoon.estimators.output_groups import OutputGroups, by_output
from halfmoon.estimators.parameters import documented
from halfmoon.estimators.regression import Regressor
from halfmoon.kernels import Linear
from halfmoon.labels import no_labels
from halfmoon.memory import MEMORY_LIMIT
from halfmoon.problem import Posed, some_labels
from halfmoon.progress import ProgressLine, show_log
from halfmoon.random_state import as_generator
from halfmoon.rows import (
    Array,
    Indices,
    Rows,
    refuse_equal_rows,
    refuse_extreme,
    rows_with_targets,
)
from halfmoon.selection import (
    Average,
    Criterion,
    Entry,
    ForClasses,
    ForNumbers,
    Outcome,
    Refit,
    Workbench,
    average_of_local_fits,
    candidates,
    class_scores,
    compared_members,
    try_candidates,
)
from halfmoon.selection.semi_supervised import distance_preparation
from halfmoon.unpenalized import Constant, Unpenalized

__all__ = ["HalfmoonClassifier", "HalfmoonRegressor"]

SEARCH_LABELS = 500  # candidates are compared on no more labels than this
POINTS = 500, 2_000  # unlabeled rows at which answers are looked at: least, most
POINT_LABELS = 100_000  # of them times labels, in between
NEIGHBORS = 10  # of a point: are they answered alike?
REFIT_SHARE = 0.4  # of the budget, to compare kernels with more labels than that


@dataclass(eq=False, repr=False)
class Halfmoon(CallbackSupport, Estimator):
    """The search, without what y is."""

    unpenalized: Any = "auto"
    budget: float = 60.0
    safe: bool = True
    memory_limit: int | str = MEMORY_LIMIT
    random_state: Any = None
    n_jobs: int | None = None
    verbose: int = 0
    unlabeled: Any = None

    #: The targets are classes.
    _of_classes: ClassVar[bool]

    @abstractmethod
    def _criterion(self, bench: Workbench) -> Criterion:
        """By what candidates are judged."""

    def _fit_rows(self, X: Rows, targets: Array, w: Array) -> None:
        """Try the candidates, average them, and choose between them and the twin."""
        if self.verbose:
            show_log()
        refuse_extreme(X)
        refuse_equal_rows(X)
        start, seconds = time.monotonic(), self._seconds()
        rng = as_generator(self.random_state)
        labeled, data = self._labels(X, targets, w)
        self.n_labeled_, self.labeled_ = len(labeled), labeled
        auto = _is_auto(self.unpenalized)
        own = Constant().fit(X) if auto else self._own_features(X, rng)
        some = some_labels(data.y, SEARCH_LABELS, rng)
        bench = self._workbench(X, labeled[some], _only(data, some), rng)
        more = len(some) < len(labeled)
        locally = more and not sp.issparse(X)
        criterion = self._criterion(bench)
        entries: list[Entry] = []
        kinds = candidates(
            *(bench, criterion, own),
            auto=auto,
            classes=self._of_classes,
            tried=entries,
        )
        tried = announced(self, kinds)
        if self.verbose == 1:
            tried = ProgressLine().over(tried, seconds)
        try_candidates(
            tried,
            bench,
            criterion,
            (1.0 - REFIT_SHARE * locally) * seconds,
            logging.INFO if self.verbose > 1 else logging.DEBUG,
            entries,
        )
        outcome = Outcome.of(entries, bench, criterion, safe=self.safe)
        self._cross_fitted = {"y": bench.data.y, **outcome.held_out}
        local = None
        if locally:
            left = max(0.0, seconds - (time.monotonic() - start))
            free = replace(data, unpenalized=own)
            local = partial(average_of_local_fits, X, free, criterion, rng, left)
        answers = Refit(data, outcome, criterion, rng, local).answers()
        self._twin_solution, self.solution_ = answers["twin"], answers["answer"]
        self._comparison = outcome.comparison
        if more:
            self._comparison = compared_members(
                outcome.comparison, answers["answer"], answers["twin"], criterion
            )
        self.used_unlabeled_ = answers["answer"].uses_unlabeled

    def _fit_parts(
        self, X: Rows, targets: Array, w: Array, groups: Sequence[Indices]
    ) -> list[Self]:
        """A search for each group of outputs, in its share of the time."""
        hurried = copy(self)
        hurried.budget = self._seconds() / len(groups)
        return super(Halfmoon, hurried)._fit_parts(X, targets, w, groups)

    def _take_over(self) -> None:
        self.used_unlabeled_ = any(part.used_unlabeled_ for part in self._parts())

    def _labels(self, X: Rows, targets: Array, w: Array) -> tuple[Indices, Posed]:
        """Which rows are labeled, and these rows alone with their targets."""
        y = targets.reshape(X.shape[0], -1)
        labeled = rows_with_targets(y)
        if len(labeled) == 0:
            raise no_labels(X.shape[0])
        X_l = X[labeled]
        return labeled, Posed(
            basis=Exact(Linear()).fit(X_l),
            energy=None,
            mu=1.0,
            unpenalized=None,
            X=X_l,
            chosen=np.arange(len(labeled)),
            y=y[labeled],
            w=w[labeled],
            single=targets.ndim == 1,
            stream=Stream(self.memory_limit, self.n_jobs),
        )

    def _workbench(
        self, X: Rows, labeled: Indices, data: Posed, rng: np.random.Generator
    ) -> Workbench:
        others = np.setdiff1d(np.arange(X.shape[0]), labeled)
        most = int(np.clip(POINT_LABELS // len(labeled), *POINTS))
        size = min(len(others), most) if self._of_classes else 0
        others = np.sort(rng.choice(others, size, replace=False))
        return Workbench(X, labeled, data, others, rng)

    @property
    def comparison_(self) -> Comparison:
        """Each candidate beside the supervised twin, in columns of equal length."""
        check_is_fitted(self)
        if self._parts():
            raise AttributeError(
                "Some rows lack some outputs, so each group of outputs had a search of "
                "its own; parts_[0].comparison_ is that of the first."
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
        answer = cast(Average, self.solution_)
        values, rows = self._cross_fitted["answer"], answer.rows
        if len(values) < len(answer.y):  # of so many labels the choice hardly shows
            values = answer.held_out
        return HeldOut(rows, answer.y[rows], values, answer.w[rows])

    def _own_features(self, X: Rows, rng: np.random.Generator) -> Unpenalized | None:
        """The user's unpenalized features, fitted."""
        names = getattr(self, "feature_names_in_", None)
        options = null_spaces(self.unpenalized, None, names)
        if len(options) > 1:
            raise ValueError(
                f"unpenalized is {self.unpenalized!r}; one choice of features is "
                f"needed here, or 'auto'."
            )
        features = options[0]
        return None if features is None else features.fit(X, rng)

    def _seconds(self) -> float:
        if not isinstance(self.budget, Real) or not self.budget > 0:
            raise ValueError(
                f"budget is {self.budget!r}; a positive number of seconds is needed."
            )
        return float(self.budget)

    @property
    def twin_(self) -> Self:
        """The supervised twin: the answer without what unlabeled rows taught."""
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
        twin._take_stock()
        return twin

    @property
    def coef_(self) -> Array:
        """Weights of the features that `unpenalized` gives, shape (k,) or (k, t)."""
        check_is_fitted(self)
        if _is_auto(self.unpenalized):
            raise AttributeError(
                "With unpenalized='auto' the candidates leave different features free; "
                "give some, such as unpenalized='linear'."
            )
        if self._parts():
            groups = cast(OutputGroups, self.solution_)
            return by_output(groups.columns, [part.coef_ for part in self._parts()])
        answer = cast(Average, self.solution_)
        return answer.shaped(answer.coef)

    @abstractmethod
    def _take_stock(self) -> None:
        """Score, and calibrate, by left-out rows."""


def _only(data: Posed, some: Indices) -> Posed:
    """Some of the labeled rows."""
    X = data.X[some]
    return replace(
        data,
        basis=Exact(Linear()).fit(X),
        X=X,
        chosen=np.arange(len(some)),
        y=data.y[some],
        w=data.w[some],
    )


def _is_auto(unpenalized: Any) -> bool:
    return isinstance(unpenalized, str) and unpenalized == "auto"


@documented
@dataclass(eq=False, repr=False)
class HalfmoonRegressor(Regressor, Halfmoon):
    """Regression from few labels that chooses its levers by itself.

    Many kinds of kernel ridge, with and without unlabeled rows, are tried and averaged
    by how well they predict left-out labels; see `halfmoon.selection`. Where labels are
    few and tell little, the answer is drawn towards their mean. It does not go beyond
    the range of the labels by more than a quarter of it, unless `unpenalized` says what
    to follow.

    ``comparison_`` is a table (``pandas.DataFrame(model.comparison_)``) with a row for
    the supervised twin, for the average of all, and for each candidate: ``loo_error``
    (mean squared error of left-out rows), its ``difference`` from the twin's and the
    interval ``low`` to ``high`` that holds it with 95 %, whether rows without labels
    had a part (``unlabeled``), on how many labels it was compared (``labels``), and its
    ``weight`` in the answer. With more than 500 labels the candidates are compared on
    500, and members of the answer, which was fitted to all, have rows of their own.
    ``used_unlabeled_`` says whether unlabeled rows have a part in the answer, ``twin_``
    is the twin.

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

    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from all rows of X and from the labels that y has.

        Parameters
        ----------
        X, y, sample_weight : see `LaplacianRegressor`
        """
        return super().fit(X, y, sample_weight)

    _of_classes = False

    def _criterion(self, bench: Workbench) -> Criterion:
        # Features of the user's own are there to be followed wherever they lead.
        return ForNumbers(limited=_is_auto(self.unpenalized))

    def _take_stock(self) -> None:
        self._score()


@documented
@dataclass(eq=False, repr=False)
class HalfmoonClassifier(Classifier, Halfmoon):
    """Classification from few labels that chooses its levers by itself.

    Many kinds of kernel ridge, with and without unlabeled rows, are tried and averaged
    by how well they predict left-out labels, whether their answers have the classes in
    the shares of the labels, and whether borders lie where rows are few; see
    `halfmoon.selection.criteria`.

    ``comparison_`` is a table (``pandas.DataFrame(model.comparison_)``) with a row for
    the supervised twin, for the average of all, and for each candidate: ``loo_error``
    (log loss of left-out rows), its ``difference`` from the twin's and the interval
    ``low`` to ``high`` that holds it with 95 %, whether rows without labels had a part
    (``unlabeled``), on how many labels it was compared (``labels``), and its ``weight``
    in the answer. With more than 500 labels the candidates are compared on 500, and
    members of the answer, which was fitted to all, have rows of their own.
    ``used_unlabeled_`` says whether unlabeled rows have a part in the answer, ``twin_``
    is the twin.

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

    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from all rows of X and from the labels that y has.

        Parameters
        ----------
        X, y, sample_weight : see `LaplacianClassifier`
        """
        return super().fit(X, y, sample_weight)

    _of_classes = True

    def _criterion(self, bench: Workbench) -> Criterion:
        scores = class_scores(bench.data.y)
        m = bench.points.shape[0]
        prepare = distance_preparation(bench.X, bench.rng)
        neighbors = np.zeros((m, 0), dtype=np.intp)
        if prepare is not None and m > 1:
            neighbors = bench.neighbors(prepare, min(NEIGHBORS, m - 1))
        return ForClasses(scores.argmax(axis=1), scores.shape[1], neighbors)

    def _take_stock(self) -> None:
        self._calibrate(self._codes)
