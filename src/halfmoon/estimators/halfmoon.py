"""Halfmoon: every lever, tried on the table at hand and averaged.

Candidates of many kinds (`halfmoon.candidates`) are fitted by kernel ridge, each at
many alphas, and each is asked for the labeled rows without their own labels. The answer
is the average of all, weighed by how well they did. The same average over those
candidates that have not learned from unlabeled rows is the *supervised twin*; unless
the others beat it, it is the twin that answers.
"""

from __future__ import annotations

import logging
import time
from abc import abstractmethod
from copy import copy
from dataclasses import dataclass
from itertools import chain
from numbers import Real
from typing import Any, Self, cast

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from halfmoon.blocks import Stream
from halfmoon.candidates import (
    Average,
    Finish,
    ForClasses,
    ForNumbers,
    InCells,
    Judge,
    Labeled,
    OwnFeatures,
    PreparedFit,
    Verdict,
    cross_fitted,
    lever_candidates,
    plain_candidates,
    try_candidates,
    walk_candidates,
    weighed_candidates,
    with_members,
)
from halfmoon.estimators.base import Estimator, HeldOut
from halfmoon.estimators.callbacks import CallbackSupport, announced, with_callbacks
from halfmoon.estimators.classification import Classifier
from halfmoon.estimators.comparison import SUMMARIES, Comparison
from halfmoon.estimators.null_space import null_spaces
from halfmoon.estimators.parameters import documented
from halfmoon.estimators.regression import Regressor
from halfmoon.memory import MEMORY_LIMIT
from halfmoon.problem import telling_rows
from halfmoon.progress import ProgressLine, show_log
from halfmoon.random_state import as_generator
from halfmoon.rows import Array, Rows, refuse_equal_rows, refuse_extreme
from halfmoon.unpenalized import Constant

__all__ = ["HalfmoonClassifier", "HalfmoonRegressor"]

SEARCH_LABELS = 500  # candidates are compared on no more labels than this
FINISH_SHARE = 0.4  # of the budget, to compare kernels with more labels than that


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

    @abstractmethod
    def _judge(self, data: Labeled) -> Judge:
        """By what candidates are judged."""

    def _fit_rows(self, X: Rows, targets: Array, w: Array) -> None:
        """Try the candidates, average them, and choose between them and the twin."""
        if self.verbose:
            show_log()
        refuse_extreme(X)
        refuse_equal_rows(X)
        start, seconds = time.monotonic(), self._seconds()
        rng = as_generator(self.random_state)
        data = Labeled.of(X, targets, w)
        self.n_labeled_, self.labeled_ = len(data.chosen), data.chosen
        own = self._own_features(X, rng)
        searched = data.sample(SEARCH_LABELS, rng)
        # Cells leave the constant free, and nothing else.
        cells = searched is not data and own is None and not sp.issparse(X)
        judge = self._judge(searched)
        candidates = chain(
            plain_candidates(searched, own, rng),
            *(weighed_candidates(scale, own, rng) for scale in judge.scales(searched)),
            walk_candidates(searched, own, rng, judge.neighbors),
            lever_candidates(searched, own, rng),
        )
        tried = announced(self, candidates)
        if self.verbose == 1:
            tried = ProgressLine().over(tried, seconds)
        entries = try_candidates(
            tried,
            searched,
            judge,
            (1.0 - FINISH_SHARE * cells) * seconds,
            logging.INFO if self.verbose > 1 else logging.DEBUG,
        )
        verdict = Verdict.of(entries, searched, judge, safe=self.safe)
        self._comparison = verdict.comparison
        self._cross_fitted = {
            "y": searched.y,
            **cross_fitted(entries, searched, judge, safe=self.safe),
        }
        left = seconds - (time.monotonic() - start)
        finish = Finish(
            data,
            self._judge(data),
            own.unpenalized if own else Constant().fit(X),
            targets.ndim == 1,
            rng,
            Stream(self.memory_limit, self.n_jobs),
            max(left, 0.0) if cells else None,
        )
        twin = finish(verdict.twin, verdict.twin)
        answers = twin
        if verdict.answers is not verdict.twin:
            answers = finish(verdict.answers, verdict.twin)
            if cells and not answers.unlabeled:  # in cells, which the twin may beat
                answers = twin
        self._twin_solution, self.solution_ = twin, answers
        if searched is not data:
            self._comparison = with_members(
                self._comparison, answers, twin, data, finish.judge
            )
        self.used_unlabeled_ = answers.unlabeled

    @property
    def comparison_(self) -> Comparison:
        """Each candidate beside the supervised twin, in columns of equal length."""
        check_is_fitted(self)
        return Comparison(self._comparison)

    def _outcome(self, seconds: float) -> str:
        models = len(self._comparison["candidate"]) - len(SUMMARIES)
        used = "used" if self.used_unlabeled_ else "not used"
        return (
            f"Tried {models:,} model{'s' * (models != 1)} in {seconds:.1f} s; "
            f"{self._quality()}; unlabeled rows {used}."
        )

    def _held_out(self) -> HeldOut:
        solution = cast(Average | PreparedFit | InCells, self.solution_)
        if not isinstance(solution, PreparedFit):
            data = solution.data
            values = self._cross_fitted["answer"]
            if len(values) < len(data.y):  # of so many labels the choice hardly shows
                values = solution.left_out
            return HeldOut(slice(None), data.y, values, data.w)
        posed = solution.fit.posed
        some = telling_rows(posed)
        residuals = solution.leave_one_out(some).reshape(len(posed.y[some]), -1)
        return HeldOut(some, posed.y[some], posed.y[some] - residuals, posed.w[some])

    def _own_features(self, X: Rows, rng: np.random.Generator) -> OwnFeatures | None:
        """The user's unpenalized features, fitted; None where they are to be chosen."""
        if _is_auto(self.unpenalized):
            return None
        names = getattr(self, "feature_names_in_", None)
        options = null_spaces(self.unpenalized, None, names)
        if len(options) > 1:
            raise ValueError(
                f"unpenalized is {self.unpenalized!r}; one choice of features is "
                f"needed here, or 'auto'."
            )
        features = options[0]
        return OwnFeatures(None if features is None else features.fit(X, rng))

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
        twin.solution_ = self._twin_solution
        twin.used_unlabeled_ = False
        twin._cross_fitted = {
            **self._cross_fitted,
            "answer": self._cross_fitted["twin"],
        }
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
        solution = cast(Average | PreparedFit, self.solution_)
        return solution.shaped(solution.coef)

    @abstractmethod
    def _take_stock(self) -> None:
        """Score, and calibrate, by left-out rows."""


def _is_auto(unpenalized: Any) -> bool:
    return isinstance(unpenalized, str) and unpenalized == "auto"


@documented
@dataclass(eq=False, repr=False)
class HalfmoonRegressor(Regressor, Halfmoon):
    """Regression from few labels that chooses its levers by itself.

    Many kinds of kernel ridge, with and without unlabeled rows, are tried and averaged
    by how well they predict left-out labels; see `halfmoon.candidates`. An answer does
    not go beyond the range of the labels by more than a quarter of it, unless
    `unpenalized` says what to follow.

    ``comparison_`` is a table (``pandas.DataFrame(model.comparison_)``) with a row for
    the supervised twin, for the average of all, and for each candidate: ``loo_error``
    (mean squared error of left-out rows), its ``difference`` from the twin's and the
    interval ``low`` to ``high`` that holds it with 95 %, whether rows without labels
    had a part (``unlabeled``), and its ``weight`` in the answer. ``used_unlabeled_``
    says who answers, ``twin_`` is the twin.

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

    def _judge(self, data: Labeled) -> Judge:
        # Features of the user's own are there to be followed wherever they lead.
        return ForNumbers(data, limited=_is_auto(self.unpenalized))

    def _take_stock(self) -> None:
        self._score()


@documented
@dataclass(eq=False, repr=False)
class HalfmoonClassifier(Classifier, Halfmoon):
    """Classification from few labels that chooses its levers by itself.

    Many kinds of kernel ridge, with and without unlabeled rows, are tried and averaged
    by how well they predict left-out labels; see `halfmoon.candidates`.

    ``comparison_`` is a table (``pandas.DataFrame(model.comparison_)``) with a row for
    the supervised twin, for the average of all, and for each candidate: ``loo_error``
    (log loss of left-out rows), its ``difference`` from the twin's and the interval
    ``low`` to ``high`` that holds it with 95 %, whether rows without labels had a part
    (``unlabeled``), and its ``weight`` in the answer. ``used_unlabeled_`` says who
    answers, ``twin_`` is the twin.

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

    def _judge(self, data: Labeled) -> Judge:
        return ForClasses()

    def _take_stock(self) -> None:
        self._calibrate(self._codes)
