"""What every estimator does: read tables, fit, and answer from what it fitted.

Regressors and classifiers differ in what they make of y, and of the values of the
fitted function; levers and the search over all of them differ in how they fit it. What
they fit is a *solution*: `problem.Fit`, or an average of such.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from copy import copy
from typing import Any, NamedTuple, Protocol, Self, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from halfmoon.blocks import Stream
from halfmoon.estimators.explanations import Explanation
from halfmoon.kernels import Precomputed
from halfmoon.kernels.given import numbered
from halfmoon.partitions.table import PartitionedRows, rows_behind
from halfmoon.progress import ProgressLine
from halfmoon.rows import Array, Indices, Rows
from halfmoon.validation import checked_rows

__all__ = ["Estimator", "HeldOut", "Solution"]


class Solution(Protocol):
    """A fitted function; one column for each target, or a vector if y was one."""

    def predict(self, X: Rows) -> Array:
        """Values at any rows."""

    def std(self, X: Rows) -> Array:
        """Posterior standard deviations at any rows."""

    def leave_one_out(self, some: Indices | slice = slice(None)) -> Array:
        """Residuals of the labeled rows, or some of them, without their own labels."""

    def smoother_matrix(self, X: Rows) -> Array:
        """H(x), shape (b, l), with values H(x) y."""

    def shaped(self, values: Array) -> Array:
        """Values of shape (b, t), or (b,) if y was a vector."""


class HeldOut(NamedTuple):
    """Labeled rows, all or enough, and their values without their own labels."""

    rows: Indices | slice  # which of the labeled ones
    y: Array  # (m, t)
    values: Array  # (m, t), NaN where nothing is known
    w: Array  # (m,)


class Estimator(BaseEstimator, ABC):
    """The part that all estimators share; see the module's docstring."""

    memory_limit: int | str
    random_state: Any
    n_jobs: int | None
    verbose: int
    unlabeled: Any

    solution_: Solution
    parts_: list[Any]  # of outputs with gaps only
    labeled_: Indices
    _weighted_rows: Indices | None = None  # where some have weight 0: the others
    _n_rows: int | None = None  # of the fitted table, those of weight 0 included

    @abstractmethod
    def _fit_rows(self, X: Rows, targets: Array, w: Array) -> None:
        """Fit a solution to targets that are NaN where a row has no label."""

    def _fit_parts(
        self, X: Rows, targets: Array, w: Array, groups: Sequence[Indices]
    ) -> list[Self]:
        """Copies of this estimator, each fitted to a group of the outputs."""
        parts = [copy(self) for _ in groups]
        for part, columns in zip(parts, groups, strict=True):
            part._fit_rows(X, targets[:, columns], w)
            part.__dict__.pop("_callback_fit_ctx", None)  # that of the whole fit
        return parts

    def _parts(self) -> list[Self]:
        """The fitted copies for groups of outputs, where these have gaps."""
        return getattr(self, "parts_", [])

    def _take_over(self) -> None:
        """Make attributes of those of the parts, a column for each output."""

    @property
    def _stream(self) -> Stream:
        """How rows are walked through where nothing else is said."""
        client = Stream.inherited().client
        return Stream(self.memory_limit, self.n_jobs, client=client)

    @property
    def _all_rows(self) -> PartitionedRows | None:
        """The whole table, while it is fitted to a part of rows in partitions."""
        return rows_behind(self)

    @abstractmethod
    def _outcome(self, seconds: float) -> str:
        """What came of a fit, in a sentence."""

    @abstractmethod
    def _quality(self) -> str:
        """How well left-out rows were predicted, in a few words."""

    def _tell(self, start: float) -> None:
        """Say what came of a fit that was begun at a time, if `verbose` asks for it."""
        if self.verbose:
            ProgressLine().end(self._outcome(time.monotonic() - start))

    @abstractmethod
    def _held_out(self) -> HeldOut:
        """Values of labeled rows without their own labels."""

    def leave_one_out(self) -> Array:
        """Residuals of the labeled rows, each predicted without its own label.

        Exact; the row stays in the table as an unlabeled one. Infinite where nothing
        is known of a row without its label, NaN where the row lacks the output.

        Returns
        -------
        ndarray of shape (n_labeled,) or (n_labeled, t)
        """
        check_is_fitted(self)
        return self.solution_.leave_one_out()

    def smoother_matrix(self, X: Any) -> Array:
        """The matrix that turns the labels into values at any rows.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (b, d)

        Returns
        -------
        ndarray of shape (b, n_labeled)
            Where outputs have gaps, of shape (b, n_labeled, t), with 0 for what an
            output has no label of.
        """
        check_is_fitted(self)
        return self.solution_.smoother_matrix(self._table(X, reset=False))

    def explain(self, X: Any, answers: Any = None) -> Explanation:
        """The labeled rows behind each answer, with their exact weights.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (b, d)
        answers : array-like of shape (b,) or None
            What rows speak for and against: classes that were fitted, or numbers. None
            is what is predicted.

        Returns
        -------
        Explanation
            With ``speaks_for(i)`` and ``speaks_against(i)``, the strongest labeled rows
            on either side of the i-th answer, and all ``weights``, shape
            (b, n_labeled).

        Examples
        --------
        >>> from halfmoon import LaplacianClassifier
        >>> X = np.array([[0.0], [0.2], [0.9], [1.0], [0.02]])
        >>> y = ["left", "left", "right", "right", None]
        >>> model = LaplacianClassifier(random_state=0).fit(X, y)
        >>> told = model.explain(X[4:])
        >>> str(told.answers[0]), [each.row for each in told.speaks_for(0, 2)]
        ('left', [0, 1])
        >>> bool(
        ...     np.allclose(told.weights @ told.targets, model.decision_function(X[4:]))
        ... )
        True
        """
        check_is_fitted(self)
        table = self._table(X, reset=False)
        rows = self._labeled_places
        answers = cast(Any, self).predict(X) if answers is None else answers
        return self._explained(table, np.asarray(answers), rows)

    @property
    def _labeled_places(self) -> Indices:
        """Where the labeled rows stand in the fitted table."""
        if self._weighted_rows is None:
            return self.labeled_
        return self._weighted_rows[self.labeled_]

    @abstractmethod
    def _explained(self, X: Rows, answers: NDArray[Any], rows: Indices) -> Explanation:
        """The answers taken apart, `rows` being the labeled ones."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._is_precomputed()
        tags.input_tags.sparse = not tags.input_tags.pairwise
        return tags

    def _kernels(self) -> list[Any]:
        """The parameters of the lever that are kernels."""
        return [getattr(self, "kernel", None)]

    def _is_precomputed(self) -> bool:
        given = [
            isinstance(kernel, Precomputed)
            or (isinstance(kernel, str) and kernel == "precomputed")
            for kernel in self._kernels()
        ]
        if any(given) and not all(given):
            raise ValueError(
                "One kernel is precomputed and the other is not, but X is either a "
                "kernel matrix or a table. Make both precomputed, or neither."
            )
        return all(given)

    def _table(self, X: Any, *, reset: bool) -> Rows:
        """The rows as an array or CSR, checked; of a kernel matrix, numbered."""
        precomputed = self._is_precomputed()
        X = checked_rows(
            self,
            X,
            accept_sparse=False if precomputed else "csr",
            dtype=[np.float64, np.float32],
            reset=reset,
        )
        if precomputed and reset and X.shape[0] != X.shape[1]:
            raise ValueError(
                f"X has shape {X.shape}; a precomputed kernel needs a square matrix, "
                f"the values between all rows."
            )
        return numbered(X, new=not reset) if precomputed else X

    def _row_count(self, X: Rows) -> int:
        """Rows that are learned from: X, or the table that X is a part of."""
        return X.shape[0] if self._all_rows is None else self._all_rows.n

    def _with_weight(
        self, X: Rows, labels: NDArray[Any], w: Array
    ) -> tuple[Any, Any, Array]:
        """The rows with a weight above 0."""
        used = w > 0
        self._n_rows = len(w) if self._all_rows is None else self._all_rows.n
        self._weighted_rows = None if used.all() else np.flatnonzero(used)
        if used.all():
            return X, labels, w
        if not used.any():
            raise ValueError(
                "sample_weight is zero in every row; some must be positive."
            )
        landmarks = getattr(self, "landmarks", "")
        if not isinstance(landmarks, str) and np.ndim(landmarks) == 1:
            raise ValueError(
                f"landmarks are numbers of rows, but {int((~used).sum())} row(s) of "
                f"weight 0 are left out, which changes the numbers of the others. Give "
                f"the landmarks themselves, or a small weight above 0."
            )
        return X[used], labels[used], w[used]
