r"""Structured outputs by the loss trick, from labels that may be sets.

.. math:: f(x) = argmin_z \sum_i H_i(x) \, loss(z, y_i)                        (S1:15)

over a listed output space: classes with unequal costs, sets of labels with the Hamming
loss, rankings with Kendall's. H(x) is the smoother of any lever. Where a row has a set
of outputs, such as all rankings that agree with a partial order, its label is found by
the infimum loss (`halfmoon.weak.disambiguation`).
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from halfmoon.estimators.explanations import Explanation
from halfmoon.estimators.parameters import documented
from halfmoon.partitions.methods import (
    answers_by_partition,
    fits_by_partition,
    scores_by_partition,
)
from halfmoon.rows import Array, Indices, Rows, as_weights
from halfmoon.weak.candidate_sets import PARAMETERS, SHARED
from halfmoon.weak.disambiguation import Embedding, best_candidates
from halfmoon.weak.output_labels import read_outputs
from halfmoon.weak.output_space import OutputSpace
from halfmoon.weak.set_lever import SetLever

__all__ = ["StructuredPredictor"]

OWN = PARAMETERS | {
    "loss": """
        {"zero_one", "hamming", "kendall"}, matrix or callable. What it costs to predict
        z where y is true: a matrix of shape (k, k), loss[z, y], or a function
        loss(z, y) of two outputs. "hamming" is the share of wrong labels, "kendall" the
        share of pairs in the wrong order.""",
    "outputs": """
        sequence, int or None. The outputs to choose from. For "kendall" the items, at
        most 8, or their number; for "hamming" the number of labels, at most 12. None is
        what y has.""",
    "alpha": """
        "auto", float or sequence of float. Weight of the penalty beside the averaged
        loss. "auto" is 1e-8 to 10 times the mean prior variance of labeled rows. Of a
        sequence the one is taken with the least infimum loss on held-out folds.""",
}


@partial(
    documented,
    parameters=OWN,
    attributes={
        "outputs_": "ndarray of shape (k,) or (k, q). The outputs to choose from.",
        "exact_decoding_": """
            bool. Every output is listed, so that predictions are of least estimated
            loss; False where only outputs that y has are tried.""",
        "disambiguated_": """
            ndarray of shape (n,) or (n, q). The output that each row was found to
            have.""",
        "history_": "list of float. The objective after each step; it never rises.",
        "objectives_": "ndarray of shape (n_starts,). The objective of each start.",
        "fold_losses_": """
            ndarray or None. Infimum loss on held-out folds of each alpha, or of each
            kernel and alpha, where there were several.""",
        **SHARED,
    },
)
@dataclass(eq=False, repr=False)
class StructuredPredictor(SetLever):
    """Outputs of any kind under any loss, by the loss trick.

    See `halfmoon.weak.structured` for the equation. Decoding looks at every output:
    O(k t) time a row for k outputs in t dimensions, 28 for the 40,320 rankings of eight
    items.

    Examples
    --------
    Rankings, of which some are known in part:

    >>> import numpy as np
    >>> X = np.linspace(0, 1, 6)[:, None]
    >>> y = ["a>b>c", "a>b>c", "a>c", "c>b", "c>b>a", "c>b>a"]
    >>> model = StructuredPredictor("kendall", ["a", "b", "c"], alpha=1e-3).fit(X, y)
    >>> model.predict([[0.1], [0.9]]).tolist(), model.exact_decoding_
    (['a>b>c', 'c>b>a'], True)
    """

    loss: Any = "zero_one"
    outputs: Any = None

    @fits_by_partition
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Find the labels within their sets and fit them.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n, d)
            All rows.
        y : n outputs, sets of outputs or missing values
            A boolean matrix of shape (n, k) says which outputs a row may have. For
            "hamming" a column for each label, missing where it is not known; for
            "kendall" rankings of all items or of some, text such as "b>a>c", or sets
            of pairs (better, worse).
        sample_weight : array-like of shape (n,) or None
            Weights of the labels. A row of weight 0 is left out altogether.
        """
        start = time.monotonic()
        rows = self._table(X, reset=True)
        self.space_: OutputSpace
        self.space_, sets = read_outputs(y, self.loss, self.outputs)
        if len(sets) != rows.shape[0]:
            raise ValueError(
                f"Found input variables with inconsistent numbers of samples: y has "
                f"{len(sets)} labels beside {rows.shape[0]} rows in X."
            )
        self.outputs_ = self.space_.outputs
        self.exact_decoding_ = self._listed_all()
        w = as_weights(sample_weight, rows.shape[0])
        used_rows, used_sets, w = self._with_weight(rows, sets, w)
        with self._stream.handed_down():
            T = self.space_.T
            codes = self._fit_sets(
                used_rows, Embedding(T, used_sets), w, partial(_infimum, self.space_)
            )
            values = self._values(rows)
            found = best_candidates(values, Embedding(T, sets))
            self.disambiguated_ = self.outputs_[self._in_table(codes, found)]
        self._tell(start)
        return self

    def _listed_all(self) -> bool:
        """Whether no output can be better than all that are listed."""
        if self.outputs is None and isinstance(self.loss, str):
            if self.loss == "hamming":
                return len(self.outputs_) == 2 ** self.outputs_.shape[1]
            return True  # classes that no row has cannot be learned
        return self.outputs is not None or not callable(self.loss)

    def _values(self, rows: Rows) -> Array:
        """g(x), shape (b, t)."""
        return self.solution_.predict(rows).reshape(rows.shape[0], -1)

    def estimated_losses(self, X: Any) -> Array:
        """The estimated loss of every output at any rows, shape (b, k).

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (b, d)
        """
        check_is_fitted(self)
        return self.space_.losses(self._values(self._table(X, reset=False)))

    @answers_by_partition
    def predict(self, X: Any) -> NDArray[Any]:
        """The output of least estimated loss at any rows, shape (b,) or (b, q).

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (b, d)
        """
        check_is_fitted(self)
        values = self._values(self._table(X, reset=False))
        return self.outputs_[self.space_.decode(values)]

    @scores_by_partition
    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Minus the mean infimum loss of the predictions: higher is better.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n, d)
        y : as in `fit`
        sample_weight : array-like of shape (n,) or None
        """
        check_is_fitted(self)
        codes = self.space_.decode(self._values(self._table(X, reset=False)))
        loss = self.loss if isinstance(self.loss, str) else "zero_one"
        _, sets = read_outputs(y, loss, list(self.outputs_))
        w = as_weights(sample_weight, len(codes))
        return -float(np.average(self.space_.infimum_losses(codes, sets), weights=w))

    def _explained(self, X: Rows, answers: NDArray[Any], rows: Indices) -> Explanation:
        raise ValueError(
            "Structured outputs have no single answer to take apart; smoother_matrix "
            "gives the weights of the labeled rows."
        )

    def _quality(self) -> str:
        return f"objective {self.history_[-1]:.3g}"


def _infimum(space: OutputSpace, values: Array, sets: NDArray[np.bool_]) -> Array:
    return space.infimum_losses(space.decode(values), sets)
