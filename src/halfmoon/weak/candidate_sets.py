r"""Classification with candidate sets: the infimum loss on any lever's smoother.

.. math:: min_{g, \; y_i \in S_i} \; 1/W \sum_i w_i |T_{y_i} - g(x_i)|^2
          + alpha |g|_Q^2

over the rows whose set S_i is not that of all classes; the others are unlabeled. T_y is
-1 or 1 for two classes, else a row of the identity, so that with one class in each set
this is `ConditionalClassifier`, or `LaplacianClassifier` with an energy. The steps are
those of `halfmoon.weak.disambiguation`.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from halfmoon.estimators.base import HeldOut
from halfmoon.estimators.classification import Classifier
from halfmoon.estimators.parameters import ATTRIBUTES, documented
from halfmoon.partitions.methods import fits_by_partition
from halfmoon.rows import Array, as_weights
from halfmoon.weak.candidate_labels import as_candidates
from halfmoon.weak.disambiguation import Embedding, best_candidates
from halfmoon.weak.set_lever import SetLever

__all__ = ["CandidateSetClassifier"]

PARAMETERS = {
    "separator": """
        str. What stands between classes where y is text, as in "a|b".""",
    "n_starts": """
        int. Starts of the alternation: the mean of each set, then means at random. The
        least objective wins.""",
    "kernel": """
        "auto", Kernel, str, callable or a sequence of these. Of several the one is
        taken that does best on held-out folds. "auto" is Gaussian and Laplace kernels
        of prepared columns, and walks over a graph of all rows
        (`halfmoon.weak.kernel_choice`).""",
    "alpha": """
        "auto", float or sequence of float. Weight of the penalty beside the averaged
        loss. "auto" is 1e-8 to 10 times the mean prior variance of labeled rows. Of a
        sequence the one is taken whose predictions for held-out folds are most often
        among the candidates.""",
    "budget": """
        float or None. Seconds to try kernels for; the first is always tried. None is
        all of them.""",
    "mu": "float or None. Weight of the norm beside the energy; None is 1 / n.",
    "smoother": """
        Smoother or None. Averages over all rows that smooth the basis, of
        `halfmoon.smoothers`; None leaves it as it is.""",
}

SHARED = {
    "kernel_": "Kernel, str or callable. The kernel, as it was given or chosen.",
    "used_unlabeled_": "bool. Rows without labels have a part in the answer.",
    **{
        name: ATTRIBUTES[name]
        for name in ("n_labeled_", "alpha_", "coef_", "solution_")
    },
}


@partial(
    documented,
    parameters=PARAMETERS,
    attributes={
        "classes_": "ndarray of shape (n_classes,). The classes.",
        "disambiguated_": """
            ndarray of shape (n,). The class that each row was found to have, one of
            its candidates.""",
        "history_": """
            list of float. The objective after each step of the best start; it never
            rises.""",
        "objectives_": "ndarray of shape (n_starts,). The objective of each start.",
        "fold_losses_": """
            ndarray or None. Share of held-out rows predicted outside of their set, for
            each alpha, or each kernel and alpha, where there were several.""",
        **SHARED,
    },
)
@dataclass(eq=False, repr=False)
class CandidateSetClassifier(Classifier, SetLever):
    """Classification from sets of candidate classes, one of which is the true one.

    See `halfmoon.weak.candidate_sets` for the objective, which is not convex: labels
    and fit alternate from several starts. O(l^3) time for l rows with a set.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0], [0.1], [0.2], [1.0], [1.1], [1.2]])
    >>> y = ["left", "left|right", "left", "right", "left|right", None]
    >>> model = CandidateSetClassifier(random_state=0).fit(X, y)
    >>> model.disambiguated_.tolist()
    ['left', 'left', 'left', 'right', 'right', 'right']
    """

    separator: str = "|"

    @fits_by_partition
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Find the labels within their sets and fit them.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n, d)
            All rows.
        y : boolean matrix of shape (n, n_classes), or n sets, texts or classes
            The candidates of each row. Of a matrix, `classes_` are the numbers of the
            columns. All classes, or a missing value, is a row without a label.
        sample_weight : array-like of shape (n,) or None
            Weights of the labels. A row of weight 0 is left out altogether.
        """
        start = time.monotonic()
        rows = self._table(X, reset=True)
        self.classes_, sets = as_candidates(y, rows.shape[0], self.separator)
        w = as_weights(sample_weight, rows.shape[0])
        used_rows, used_sets, w = self._with_weight(rows, sets, w)
        if len(self.classes_) < 2:
            raise ValueError("All candidates are of one class; two are needed.")
        with self._stream.handed_down():
            T = self._points()
            codes = self._fit_sets(
                used_rows, Embedding(T, used_sets), w, partial(_outside, T)
            )
            values = _columns(self.solution_.predict(rows))
            found = best_candidates(values, Embedding(T, sets))
            self.disambiguated_ = self.classes_[self._in_table(codes, found)]
            self._codes = codes
            self._calibrate(codes)
        self._tell(start)
        return self

    def _held_out(self) -> HeldOut:
        """Values without the row's own set: a found label has seen its own row."""
        held_out = super()._held_out()
        if self._unseen is None or not self._open:
            return held_out
        return held_out._replace(values=self._unseen[held_out.rows])

    def _points(self) -> Array:
        """T: the targets of the classes, shape (C, t)."""
        return _columns(self._indicators(np.arange(len(self.classes_))))


def _columns(values: Array) -> Array:
    return values.reshape(len(values), -1)


def _outside(T: Array, values: Array, sets: NDArray[np.bool_]) -> Array:
    """1 where the prediction for a row is none of its candidates."""
    predicted = best_candidates(values, Embedding(T, np.ones_like(sets)))
    return np.where(sets[np.arange(len(sets)), predicted], 0.0, 1.0)
