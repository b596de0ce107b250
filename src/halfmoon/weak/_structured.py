r"""Structured prediction by the loss trick, from labels that may be sets.

.. math:: f(x) = argmin_z \sum_i H_i(x) \, loss(z, y_i)                        (S1:15)

over a list of outputs: classes with unequal costs, sets of labels with the Hamming
loss, rankings with Kendall's. H(x) is the smoother matrix of the fit. Where a row has a
set of outputs, such as all rankings that agree with a partial order, its label is found
by the infimum loss (`halfmoon.weak._disambiguation`). Sets of classes with equal costs
have probabilities (`halfmoon.weak._soft_labels`). Rankings of more than 8 items, and
sets of more than 8 labels, are not listed (`halfmoon.weak._separate_outputs`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from halfmoon._estimators.explanations import Explanation
from halfmoon._estimators.parameter_docs import with_parameter_docs
from halfmoon._labels import as_weights, no_labels_to_score
from halfmoon._partitions.estimator_methods import (
    answers_by_partition,
    scores_by_partition,
)
from halfmoon._rows import Array, Indices, Rows
from halfmoon.weak._disambiguation import (
    Embedding,
    best_candidates,
    disambiguate,
    fit_sets,
)
from halfmoon.weak._output_labels import read_outputs
from halfmoon.weak._output_space import OutputSpace
from halfmoon.weak._separate_outputs import (
    SeparateOutputs,
    fit_parts,
    loo_values_of_parts,
)
from halfmoon.weak._soft_labels import chance_corrected_errors, soft_labels
from halfmoon.weak._weak_estimator import (
    PARAMETERS,
    SHARED_ATTRIBUTES,
    WeakEstimator,
)

__all__ = ["StructuredPredictor"]

STRUCTURED_PARAMETERS = PARAMETERS | {
    "loss": """
        {"zero_one", "hamming", "kendall"}, matrix or callable. The cost of predicting z
        where y is true: a matrix of shape (k, k), loss[z, y], or a function loss(z, y)
        of two outputs. "hamming" is the share of wrong labels, "kendall" the share of
        pairs in the wrong order.""",
    "outputs": """
        sequence, int or None. The outputs to choose from. For "kendall" the items or
        their number, or a list of rankings; for "hamming" the labels or their number,
        or a list of label sets. None is all rankings or label sets of what is in y, or
        the outputs in y for another loss.""",
    "alpha": """
        "auto", float or sequence of float. Weight of the penalty relative to the
        averaged loss. "auto" is 1e-8 to 10 times the mean prior variance of labeled
        rows. Of several, the one with the least infimum loss on held-out folds is used;
        for each pair of more than 8 items, and each of more than 8 labels, the one with
        the least leave-one-out error.""",
}


@partial(
    with_parameter_docs,
    parameters=STRUCTURED_PARAMETERS,
    attributes={
        "outputs_": """
            ndarray of shape (k,) or (k, q). The outputs to choose from; the items or
            labels, if these are more than 8.""",
        "exact_decoding_": """
            bool. Whether predictions have the least estimated loss of all outputs;
            False where only the outputs in y are tried, and for more than 12 items.""",
        "disambiguated_": """
            ndarray of shape (n,) or (n, q). The output found for each row.""",
        "history_": """
            list of float. The objective after each step; it never increases. Not for
            more than 8 items or labels, which need no steps, like the next two.""",
        "objectives_": "ndarray of shape (n_starts,). The objective of each start.",
        "fold_losses_": """
            ndarray or None. Infimum loss on held-out folds of each alpha, or of each
            kernel and alpha, where there were several.""",
        "kernel_errors_": """
            ndarray of shape (n_kernels,). Mean squared leave-one-out error of the pairs
            or labels with each kernel; only for more than 8 items or labels.""",
        **SHARED_ATTRIBUTES,
    },
)
@dataclass(eq=False, repr=False)
class StructuredPredictor(WeakEstimator):
    """Structured prediction for any finite output space and any loss.

    See `halfmoon.weak._structured` for the equation. Decoding compares all outputs:
    O(k t) time per row for k outputs in t dimensions; eight items have 40,320 rankings
    in 28 dimensions. Rankings of m items, 9 to 12, take O(2^m m) time without a list.

    Examples
    --------
    Rankings, some of them partial:

    >>> import numpy as np
    >>> X = np.linspace(0, 1, 6)[:, None]
    >>> y = ["a>b>c", "a>b>c", "a>c", "c>b", "c>b>a", "c>b>a"]
    >>> model = StructuredPredictor("kendall", ["a", "b", "c"], alpha=1e-3).fit(X, y)
    >>> model.predict([[0.1], [0.9]]).tolist(), model.exact_decoding_
    (['a>b>c', 'c>b>a'], True)
    """

    loss: Any = "zero_one"
    outputs: Any = None
    n_starts: int = field(default=5, kw_only=True)

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Find the labels within their sets and fit them.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n, d)
            All rows.
        y : n outputs, sets of outputs or missing values
            A boolean matrix of shape (n, k) marks the outputs that a row may have. For
            "hamming" a column for each label, missing where it is unknown; for
            "kendall" rankings of all or some items, text such as "b>a>c", or sets of
            pairs (better, worse).
        sample_weight : array-like of shape (n,) or None
            Weights of the labels. A row of weight 0 is dropped.
        """
        return super().fit(X, y, sample_weight)

    def _read_labels(self, y: Any, X: Rows) -> NDArray[Any]:
        self.__dict__.pop("parts_", None)  # of an earlier fit
        self.space_: OutputSpace | SeparateOutputs
        self.space_, sets = self._read(y, X.shape[0], self.loss, self.outputs)
        self.outputs_ = self.space_.outputs
        self.exact_decoding_ = self._decodes_exactly()
        return sets

    def _label_all(self, X: Rows, labels: NDArray[Any]) -> None:
        values = self._values(X)
        if isinstance(self.space_, SeparateOutputs):
            self.disambiguated_ = self.space_.completed(values, labels)
        else:
            found = best_candidates(values, Embedding(self.space_.T, labels))
            found[self._labeled_places] = self._found
            self.disambiguated_ = self.outputs_[found]

    def _read(
        self, y: Any, n: int, loss: Any, outputs: Any
    ) -> tuple[OutputSpace | SeparateOutputs, NDArray[Any]]:
        """Return the output space and the labels of n rows in it."""
        space, sets = read_outputs(y, loss, outputs, self.memory_limit)
        if len(sets) != n:
            raise ValueError(
                f"Found input variables with inconsistent numbers of samples: y has "
                f"{len(sets)} labels, but X has {n} rows. Give one label, or a missing "
                f"value, for each row."
            )
        return space, sets

    def _fit_labels(self, X: Rows, labels: NDArray[Any], w: Array) -> None:
        """Find the labels within their sets and fit them."""
        space = self.space_
        if isinstance(space, SeparateOutputs):
            self.space_ = fit_parts(self, space, X, labels, w)
            return
        if isinstance(self.loss, str) and self.loss == "zero_one":
            steps: tuple[Any, Any] = soft_labels, chance_corrected_errors
        else:
            steps = disambiguate, partial(_infimum, space)
        self._found = fit_sets(self, X, Embedding(space.T, labels), w, *steps)

    def _decodes_exactly(self) -> bool:
        """Return whether predictions have the least loss of all possible outputs."""
        if isinstance(self.space_, SeparateOutputs):
            return self.space_.exact
        # Classes that no row has cannot be learned; a function may know more outputs.
        return self.outputs is not None or not callable(self.loss)

    def _values(self, rows: Rows) -> Array:
        """Return g(x), shape (b, t)."""
        return self.solution_.predict(rows).reshape(rows.shape[0], -1)

    def estimated_losses(self, X: Any) -> Array:
        """Return the estimated loss of every output, shape (b, k).

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (b, d)
        """
        check_is_fitted(self)
        return self.space_.losses(self._values(self._table(X, reset=False)))

    @answers_by_partition
    def predict(self, X: Any) -> NDArray[Any]:
        """Return the output with the least estimated loss, shape (b,) or (b, q).

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (b, d)
        """
        check_is_fitted(self)
        return self.space_.predicted(self._values(self._table(X, reset=False)))

    def leave_one_out_predictions(self) -> NDArray[Any]:
        """Return the predicted outputs of the labeled rows, by leave-one-out.

        Each row is predicted without its own label; the labels found for the other rows
        do not change.

        Returns
        -------
        ndarray of shape (n_labeled,) or (n_labeled, q)
            In the order of ``labeled_``.
        """
        check_is_fitted(self)
        separate = isinstance(self.space_, SeparateOutputs)
        values = loo_values_of_parts(self) if separate else self._loo_values()
        return self.space_.predicted(np.nan_to_num(values, posinf=0.0, neginf=0.0))

    @scores_by_partition
    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return minus the mean infimum loss of the predictions: higher is better.

        Unlabeled rows do not count.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n, d)
        y : as in `fit`
        sample_weight : array-like of shape (n,) or None
        """
        check_is_fitted(self)
        values = self._values(self._table(X, reset=False))
        loss = self.loss if isinstance(self.loss, str) else "zero_one"
        _, sets = self._read(y, len(values), loss, list(self.outputs_))
        separate = isinstance(self.space_, SeparateOutputs)
        open_rows = np.isnan(sets).all(axis=1) if separate else sets.all(axis=1)
        w = np.where(open_rows, 0.0, as_weights(sample_weight, len(values)))
        if not w.any():
            raise no_labels_to_score(len(values))
        return -float(np.average(self.space_.infimum_losses(values, sets), weights=w))

    def _explain(self, X: Rows, answers: NDArray[Any], rows: Indices) -> Explanation:
        raise ValueError(
            "explain does not work for structured outputs. Use smoother_matrix, which "
            "gives the weights of the labeled rows."
        )

    def _score_and_calibrate(self) -> None:
        """Do nothing: there is no leave-one-out score of structured outputs."""

    def _quality(self) -> str:
        if isinstance(self.space_, SeparateOutputs):
            return f"leave-one-out error {self.kernel_errors_.min():.3g}"
        return f"objective {self.history_[-1]:.3g}"


def _infimum(space: OutputSpace, values: Array, within: Embedding, w: Array) -> Array:
    return space.infimum_losses(values, within.sets)
