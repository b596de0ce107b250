"""Base class of all estimators: check the input, fit, and predict from the fit.

A public estimator has two parents, and this is the base of both. One parent says what y
is (`Classifier`, `Regressor`). The other has the parameters and says what is fitted:
`Laplacian`, `Fredholm` and `Conditional` state a `Problem`, which
`halfmoon._estimators.fit_problem` solves; `Halfmoon` searches over many.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from typing import Any, ClassVar, Self, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from halfmoon._estimators.explanations import Explanation, as_answers
from halfmoon._estimators.fit_problem import HeldOut, fit_problem, held_out
from halfmoon._estimators.output_groups import (
    OutputGroups,
    by_output,
    collect_groups,
    fit_groups,
)
from halfmoon._estimators.parameters import RULES
from halfmoon._labels import as_labels, as_weights, without_extremes
from halfmoon._moments import dirichlet
from halfmoon._partitioned_rows import PartitionedRows
from halfmoon._partitions.estimator_methods import fit_by_partition
from halfmoon._progress import ProgressLine
from halfmoon._rows import (
    Array,
    Indices,
    Rows,
    checked_rows,
    is_in_partitions,
    refuse_extreme,
)
from halfmoon._selection.average import Average
from halfmoon._sklearn_conventions import Rule, check_parameters, is_name
from halfmoon.blocks import Stream
from halfmoon.kernels._user_kernels import (
    Precomputed,
    check_kernel_matrix,
    with_row_numbers,
)
from halfmoon.losses import LOSSES, Loss, Squared
from halfmoon.problem import Fit, Problem, solve_loss
from halfmoon.problem._posed import Posed

__all__ = ["Estimator", "labeled_places"]


def labeled_places(model: Any) -> Indices:
    """Return the row numbers of the labeled rows, in the table that was fitted."""
    labeled: Indices = model.labeled_
    return labeled if model._weighted_rows is None else model._weighted_rows[labeled]


class Estimator(BaseEstimator, ABC):
    """Base class of all estimators; see the module's docstring."""

    # Parameters. An estimator without one of them behaves as with the value given here.
    memory_limit: int | str
    random_state: Any
    n_jobs: int | None
    verbose: int
    unlabeled: Any = None
    kernel: Any = None
    inner_kernel: Any = None
    alpha: Any = "auto"
    mu: Any = None
    unpenalized: Any = None
    loss: Any = "squared"
    basis: Any = "auto"
    n_components: int | None = None
    landmarks: Any = "rpcholesky"

    _parameter_rules: ClassVar[dict[str, Rule]] = RULES
    #: Fitted attributes by which the problem depends on the number of labels.
    _by_labels: ClassVar[tuple[str, ...]] = ()

    solution_: Fit | OutputGroups | Average  # groups where rows lack some outputs
    parts_: list[Any]  # only where rows lack some outputs
    labeled_: Indices  # row numbers among the rows that the fit used
    n_labeled_: int
    _weighted_rows: Indices | None = None  # these; None if the fit used every row
    _n_rows: int | None = None  # in the fitted table, rows of weight 0 included
    _labeled_places = property(labeled_places)
    _all_rows: PartitionedRows | None = None  # the table, while a part of it is fitted
    fold_errors_: Array | None

    # ---- what a subclass may define --------------------------------------------------

    def _make_problem(self, X: Rows, l: int, rng: np.random.Generator) -> Problem:
        """Return the problem to solve for a table with l labeled rows."""
        raise NotImplementedError

    def _alternatives(self, posed: Posed, rng: np.random.Generator) -> Iterable[Posed]:
        """Return other problems, used if their leave-one-out error is much lower."""
        return ()

    def _solver(self) -> Callable[[Posed, float], Fit] | None:
        """Return the function that solves a problem at an alpha; None is ridge."""
        return None if isinstance(self._loss, Squared) else solve_loss

    @property
    def _loss(self) -> Loss:
        return LOSSES[self.loss] if isinstance(self.loss, str) else self.loss

    def _alphas(self) -> Any:
        """Return the alphas to search, in any form that the parameter may have."""
        return self.alpha

    def _kernels(self) -> list[Any]:
        """Return the parameters that are kernels."""
        return [self.kernel]

    def _read_labels(self, y: Any, X: Rows) -> NDArray[Any]:
        """Return the labels of the rows as an array."""
        return as_labels(y, X.shape[0])

    @abstractmethod
    def _fit_labels(self, X: Rows, labels: NDArray[Any], w: Array) -> None:
        """Make targets of the labels of rows with a weight, and fit them."""

    def _label_all(self, X: Rows, labels: NDArray[Any]) -> None:
        """Set the labels found for all rows, where they are known in part."""

    @abstractmethod
    def _score_and_calibrate(self) -> None:
        """Set `loo_score_` and what calibrates predictions, from held-out values."""

    @abstractmethod
    def _quality(self) -> str:
        """Return in a few words how well held-out rows were predicted."""

    @abstractmethod
    def _explain(self, X: Rows, answers: NDArray[Any], rows: Indices) -> Explanation:
        """Explain the predictions at X; `rows` are the numbers of the labeled rows."""

    # ---- the fit ---------------------------------------------------------------------

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from all rows of X and from the labels in y.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n, d)
            All rows, labeled or not. The rows of a Dask collection stay in their
            partitions.
        y : array-like of shape (n,) or (n, t)
            Labels; NaN, None or pd.NA marks an unlabeled row. Classes are numbers,
            strings or booleans. A regressor may have several outputs, and a row may
            lack some of them: each output is learned from the rows that have it.
        sample_weight : array-like of shape (n,) or None
            Weights of the labels. A row of weight 0 is dropped.
        """
        if is_in_partitions(X):
            fit_by_partition(Estimator.fit, self, X, y, sample_weight)
            return self
        start = time.monotonic()
        X = self._table(X, reset=True)
        labels, w = self._read_labels(y, X), as_weights(sample_weight, X.shape[0])
        used = self._with_weight(X, labels, w)
        with self._stream.handed_down():
            self._fit_labels(*used)
            self._label_all(X, labels)
            self._score_and_calibrate()
        self._report(start)
        return self

    def _fit_rows(self, X: Rows, targets: Array, w: Array) -> None:
        """Fit a solution to targets that are NaN in unlabeled rows."""
        fit_problem(self, X, targets, w)

    def _fit_parts(
        self, X: Rows, targets: Array, w: Array, groups: Sequence[Indices]
    ) -> list[Self]:
        """Return copies of this estimator, each fitted to a group of the outputs."""
        return fit_groups(self, X, targets, w, groups)

    def _take_over(self) -> None:
        """Set fitted attributes from those of the parts, with a column per output."""
        collect_groups(self)

    def _held_out(self) -> HeldOut:
        """Return the held-out predictions of the labeled rows."""
        return held_out(self)

    def _loo_values(self) -> Array:  # (n_labeled, t)
        """Return the leave-one-out values of all labeled rows."""
        held = self._held_out()
        if isinstance(held.rows, slice):
            return held.values
        solution = self.solution_
        y = solution.y if isinstance(solution, Average) else self._one_fit.posed.y
        return y - solution.leave_one_out().reshape(y.shape)

    def _outcome(self, seconds: float) -> str:
        """Return a sentence about the fit."""
        alphas = ", ".join(f"{alpha:.3g}" for alpha in np.unique([self.alpha_]))
        return (
            f"Fitted {self.n_labeled_:,} labels among {self._n_rows:,} rows in "
            f"{seconds:.1f} s; {self._quality()}; alpha = {alphas}."
        )

    def _report(self, start: float) -> None:
        """Print the outcome of a fit that started at a time, if `verbose` is set."""
        if self.verbose:
            ProgressLine().end(self._outcome(time.monotonic() - start))

    @property
    def _one_fit(self) -> Fit:
        """The solution of an estimator that fits one problem."""
        return cast(Fit, self.solution_)

    def _parts(self) -> list[Self]:
        """Return the fitted copies for groups of outputs; none without gaps in y."""
        return getattr(self, "parts_", [])

    @property
    def _stream(self) -> Stream:
        """How to go through rows in blocks."""
        return Stream(self.memory_limit, self.n_jobs, client=Stream.inherited().client)

    def leave_one_out(self) -> Array:
        """Return the exact leave-one-out residuals of the labeled rows.

        The row stays in the table as an unlabeled one. A residual is infinite where the
        other labels do not determine the prediction, NaN where the row lacks the
        output.

        Returns
        -------
        ndarray of shape (n_labeled,) or (n_labeled, t)
        """
        check_is_fitted(self)
        return self.solution_.leave_one_out()

    def smoother_matrix(self, X: Any) -> Array:
        """Return the matrix that maps the labels to the values at any rows.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (b, d)

        Returns
        -------
        ndarray of shape (b, n_labeled)
            Of shape (b, n_labeled, t) where rows lack some outputs, with 0 for each
            missing label.
        """
        check_is_fitted(self)
        return self.solution_.smoother_matrix(self._table(X, reset=False))

    def explain(self, X: Any, answers: Any = None) -> Explanation:
        """Return the labeled rows behind each prediction, with their exact weights.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (b, d)
        answers : array-like of shape (b,) or None
            The classes or numbers to explain; None is the predictions.

        Returns
        -------
        Explanation
            ``speaks_for(i)`` and ``speaks_against(i)`` list the labeled rows that count
            most for and against the i-th prediction; ``weights``, of shape
            (b, n_labeled), has all of them.

        Examples
        --------
        >>> from halfmoon import LaplacianClassifier
        >>> X = np.array([[0.0], [0.2], [0.9], [1.0], [0.02]])
        >>> y = ["left", "left", "right", "right", None]
        >>> model = LaplacianClassifier(random_state=0).fit(X, y)
        >>> found = model.explain(X[4:])
        >>> str(found.answers[0]), [each.row for each in found.speaks_for(0, 2)]
        ('left', [0, 1])
        >>> values = found.weights @ found.targets
        >>> bool(np.allclose(values, model.decision_function(X[4:])))
        True
        """
        check_is_fitted(self)
        table = self._table(X, reset=False)
        answers = cast(Any, self).predict(X) if answers is None else answers
        given = as_answers(answers, table.shape[0])
        return self._explain(table, given, self._labeled_places)

    @property
    def dual_coef_(self) -> Array:
        """Weights of the labeled rows, of shape (n_labeled,) or (n_labeled, t)."""
        check_is_fitted(self)
        if isinstance(self.solution_, OutputGroups):
            parts = [part.dual_coef_ for part in self._parts()]
            return self.solution_.at_rows(parts, fill=0.0)
        fit = self._one_fit
        try:
            return fit.shaped(fit.dual_coef())
        except ValueError as error:  # so that `hasattr` is False
            raise AttributeError(str(error)) from error

    @property
    def rank_(self) -> Any:
        """Number of directions that the fit uses; an array if rows lack outputs."""
        check_is_fitted(self)
        if isinstance(self.solution_, OutputGroups):
            ranks = [[part.rank for _ in some] for part, some in self.solution_]
            return by_output(self.solution_.columns, ranks).astype(int)
        return self._one_fit.rank

    def dirichlet_energy(self) -> Any:
        """Return the mean squared gradient of the penalized part, over all rows.

        With energy="graph" it is the energy along the edges of the graph. A float, or
        an array with one for each of several outputs.
        """
        check_is_fitted(self)
        if isinstance(self.solution_, OutputGroups):
            energies = [part.dirichlet_energy() for part in self._parts()]
            return by_output(self.solution_.columns, energies)
        if isinstance(self.solution_, Average):
            raise ValueError(
                "dirichlet_energy needs the fit of one problem, but this is an average "
                "of many fits. Use LaplacianRegressor or LaplacianClassifier."
            )
        posed, theta = self.solution_.posed, self.solution_.theta
        if posed.energy is None:
            E = dirichlet(posed.basis, posed.X, stream=posed.stream)
        else:
            E = posed.energy_matrix
        energies = np.einsum("pt,pq,qt->t", theta, E, theta)
        return float(energies[0]) if posed.single else energies

    # ---- the table -------------------------------------------------------------------

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._is_precomputed()
        tags.input_tags.sparse = not tags.input_tags.pairwise
        return tags

    def _is_precomputed(self) -> bool:
        """Whether X is a kernel matrix."""
        given = [
            isinstance(kernel, Precomputed) or is_name(kernel, "precomputed")
            for kernel in self._kernels()
        ]
        if any(given) and not all(given):
            raise ValueError(
                "One kernel is precomputed and the other is not, but X is either a "
                "kernel matrix or a table. Make both precomputed, or neither."
            )
        return all(given)

    def _table(self, X: Any, *, reset: bool) -> Rows:
        """Return X as a checked array or CSR matrix; `reset` also checks parameters.

        The rows of a kernel matrix get their numbers as a column.
        """
        if reset:
            check_parameters(self, self._parameter_rules)
        precomputed = self._is_precomputed()
        sparse = False if precomputed else "csr"
        X = checked_rows(
            self, X, accept_sparse=sparse, dtype=[np.float64, np.float32], reset=reset
        )
        if precomputed and reset:
            check_kernel_matrix(X)
        refuse_extreme(X, new=not reset)
        return with_row_numbers(X, new=not reset) if precomputed else X

    def _with_weight(
        self, X: Rows, labels: NDArray[Any], w: Array
    ) -> tuple[Any, Any, Array]:
        """Return the rows with a weight above 0, with weights of a moderate size."""
        w = without_extremes(w)
        used = w > 0
        self._n_rows = len(w) if self._all_rows is None else self._all_rows.n
        self._weighted_rows = None if used.all() else np.flatnonzero(used)
        if used.all():
            return X, labels, w
        if not used.any():
            raise ValueError(
                "sample_weight is zero in every row; some must be positive."
            )
        if not isinstance(self.landmarks, str) and np.ndim(self.landmarks) == 1:
            raise ValueError(
                f"landmarks are row numbers, but {int((~used).sum())} row(s) of "
                f"weight 0 are dropped, which changes the numbers of the others. Give "
                f"the landmarks themselves, or a small weight above 0."
            )
        return X[used], labels[used], w[used]
