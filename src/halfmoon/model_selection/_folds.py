"""Folds of the labeled rows: unlabeled rows are always in the training set.

scikit-learn's own folds treat all rows alike. They remove unlabeled rows from the
training set, make folds with few or no labels, and ask for the score of rows that have
no label.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import BaseCrossValidator

from halfmoon._labels import labeled_rows, labels_of
from halfmoon._rows import Indices
from halfmoon._sklearn_conventions import as_generator
from halfmoon.problem._folds import dealt_folds

__all__ = ["LabeledKFold"]


class LabeledKFold(BaseCrossValidator):
    """Cross-validation over the labeled rows.

    The labeled rows are divided into folds. Each fold is tested once, by a model fitted
    on all other rows: the labeled rows of the other folds and every unlabeled row. Pass
    ``cv=LabeledKFold()`` to `cross_val_score`, `GridSearchCV` and similar functions.

    Parameters
    ----------
    n_splits : int
        Number of folds, at least 2 and at most the number of labels.
    shuffle : bool
        Assign labels to folds at random; if False, in the order of the rows.
    random_state : int, Generator, RandomState or None
        With None, every call of `split` gives other folds. To compare models, give a
        number.
    stratify : {"auto", True, False}
        Spread each class over the folds as evenly as possible. "auto" does so for
        strings and booleans, and for whole numbers if each occurs at least twice. So
        measurements that happen to be whole numbers are not taken for classes.
    unlabeled : object or None
        A value that counts as missing in addition to None, NaN and ``pd.NA``, such as
        -1.

    Examples
    --------
    >>> y = ["a", None, "b", "b", None, "a"]
    >>> for train, test in LabeledKFold(2, shuffle=False).split(y, y):
    ...     print(train, test)
    [1 3 4 5] [0 2]
    [0 1 2 4] [3 5]
    """

    n_splits: int
    shuffle: bool
    random_state: Any
    stratify: bool | str
    unlabeled: Any

    def __init__(
        self,
        n_splits: int = 5,
        *,
        shuffle: bool = True,
        random_state: Any = None,
        stratify: bool | str = "auto",
        unlabeled: Any = None,
    ) -> None:
        if not isinstance(n_splits, Integral) or n_splits < 2:
            raise ValueError(
                f"n_splits is {n_splits!r}; a whole number of folds, at least 2, is "
                f"needed."
            )
        if stratify not in ("auto", True, False):
            raise ValueError(
                f"stratify is {stratify!r}; 'auto', True or False is needed."
            )
        if not shuffle and random_state is not None:
            raise ValueError(
                "random_state has no effect with shuffle=False. Leave it at None, or "
                "set shuffle=True."
            )
        self.n_splits = n_splits
        self.shuffle = shuffle
        self.random_state = random_state
        self.stratify = stratify
        self.unlabeled = unlabeled

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return the number of folds, which does not depend on the data."""
        return int(self.n_splits)

    def split(
        self, X: Any, y: Any = None, groups: Any = None
    ) -> Iterator[tuple[Indices, Indices]]:
        """Yield the indices of the training rows and of the labeled test rows.

        Parameters
        ----------
        X : table of n rows
            Only its length is used.
        y : array-like of shape (n,) or (n, t)
            A row is labeled if it has at least one output.
        groups : None
            Not supported; ignored with a warning.

        Yields
        ------
        train, test : ndarrays
            Sorted. Each row is in one of them; an unlabeled row is always in `train`.
        """
        labeled = self._labeled(X, y)
        if groups is not None:
            warnings.warn("LabeledKFold does not use groups.", stacklevel=2)
        indices = np.flatnonzero(labeled)
        for fold in self._folds(labels_of(y, labeled)):
            tested = np.zeros(len(labeled), dtype=bool)
            tested[indices[fold]] = True
            yield np.flatnonzero(~tested), np.flatnonzero(tested)

    def _labeled(self, X: Any, y: Any) -> NDArray[np.bool_]:
        if y is None:
            raise ValueError(
                "y is None; LabeledKFold needs it to find the labeled rows. Pass y."
            )
        labeled = labeled_rows(y, self.unlabeled)
        n = X.shape[0] if hasattr(X, "shape") else len(X)
        if len(labeled) != n:
            raise ValueError(
                f"y has {len(labeled)} labels and X has {n} rows; one label, or a "
                f"missing value, is needed for each row."
            )
        l = int(labeled.sum())
        if l < self.n_splits:
            raise ValueError(
                f"Only {l} of the {n} rows are labeled, fewer than "
                f"n_splits={self.n_splits}: a fold would have none to test. "
                + (
                    f"Use LabeledKFold({l}), which leaves out one label at a time."
                    if l > 1
                    else "Label more rows."
                )
            )
        return labeled

    def _folds(self, labels: NDArray[Any]) -> list[Indices]:
        """The places of each fold among the labels."""
        order = np.arange(len(labels))
        if self.shuffle:
            order = as_generator(self.random_state).permutation(order)
        if not self._stratified(labels):
            return np.array_split(order, self.n_splits)
        codes = np.unique(labels, return_inverse=True)[1]
        _warn_of_single_labels(labels, codes)
        # Sorted by class and dealt out: the sizes of a class in two folds differ by at
        # most one, and so do the sizes of the folds.
        by_class = order[np.argsort(codes[order], kind="stable")]
        return dealt_folds(by_class, self.n_splits)

    def _stratified(self, labels: NDArray[Any]) -> bool:
        if self.stratify != "auto":
            if self.stratify and labels.ndim != 1:
                raise ValueError(
                    f"y has shape {labels.shape}; stratify=True needs one class for "
                    f"each row. Set stratify=False."
                )
            return bool(self.stratify)
        if labels.ndim != 1:
            return False
        if labels.dtype.kind not in "iuf":
            return True
        values, counts = np.unique(labels, return_counts=True)
        return bool((values == np.round(values)).all() and counts.min() > 1)


def _warn_of_single_labels(labels: NDArray[Any], codes: Indices) -> None:
    single = np.flatnonzero(np.bincount(codes) == 1)
    if single.size:
        names = ", ".join(repr(v) for v in np.unique(labels)[single].tolist())
        warnings.warn(
            f"Class {names} has only one label, so the model that is tested on it was "
            f"not fitted with it. Label another row of this class, or remove it.",
            stacklevel=4,
        )
