"""Folds of the labels: unlabeled rows always train, and only labeled rows are tested.

scikit-learn's own folds cut all rows alike. That takes unlabeled rows away from the
fit, leaves folds with few labels or none, and asks for the score of rows that have
nothing to be compared with.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import BaseCrossValidator

from halfmoon.labels import known_labels, labeled_rows
from halfmoon.random_state import as_generator
from halfmoon.rows import Indices

__all__ = ["LabeledKFold"]


class LabeledKFold(BaseCrossValidator):
    """Cross-validation over the labeled rows.

    The labeled rows are cut into folds. Each fold is tested once, by a model that is
    fitted on all other rows: the labeled rows of the other folds and every unlabeled
    row. For `cross_val_score`, `GridSearchCV` and the like, as ``cv=LabeledKFold()``.

    Parameters
    ----------
    n_splits : int
        Number of folds, at least 2. Fewer labels than folds are an error.
    shuffle : bool
        Put labels into folds at random; if False, in the order of the rows.
    random_state : int, Generator, RandomState or None
        With None every call of `split` cuts anew: to compare models, give a number.
    stratify : {"auto", True, False}
        Spread each class over the folds as evenly as can be. "auto" does so for
        strings and booleans, and for whole numbers if none of them occurs only once,
        so that measurements that happen to be whole are not taken for classes.
    unlabeled : object or None
        A value that counts as missing beside None, NaN and ``pd.NA``: -1, say.

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
        """Number of folds, whatever the data."""
        return int(self.n_splits)

    def split(
        self, X: Any, y: Any = None, groups: Any = None
    ) -> Iterator[tuple[Indices, Indices]]:
        """Numbers of the rows to fit on, and of the labeled rows to test, by folds.

        Parameters
        ----------
        X : table of n rows
            Only its length is used.
        y : array-like of shape (n,) or (n, t)
            A row is labeled if it has at least one output.
        groups : None
            Not supported; a warning if given.

        Yields
        ------
        train, test : ndarrays
            Rising. Each row is in one of them; an unlabeled one always in `train`.
        """
        labeled = self._labeled(X, y)
        if groups is not None:
            warnings.warn("LabeledKFold does not use groups.", stacklevel=2)
        chosen = np.flatnonzero(labeled)
        fold = self._folds(known_labels(y, labeled))
        for i in range(self.n_splits):
            tested = np.zeros(len(labeled), dtype=bool)
            tested[chosen[fold == i]] = True
            yield np.flatnonzero(~tested), np.flatnonzero(tested)

    def _labeled(self, X: Any, y: Any) -> NDArray[np.bool_]:
        if y is None:
            raise ValueError("LabeledKFold needs y, to know which rows are labeled.")
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

    def _folds(self, labels: NDArray[Any]) -> Indices:
        """The fold of each label, shape (l,)."""
        l, k = len(labels), self.n_splits
        order = np.arange(l)
        if self.shuffle:
            order = as_generator(self.random_state).permutation(l)
        fold = np.empty(l, dtype=np.intp)
        if self._stratified(labels):
            # Class after class, dealt out like cards: each class differs by at most
            # one between folds, and so do the folds.
            codes = np.unique(labels, return_inverse=True)[1]
            _warn_of_single_labels(labels, codes)
            fold[order[np.argsort(codes[order], kind="stable")]] = np.arange(l) % k
        else:
            for i, part in enumerate(np.array_split(order, k)):
                fold[part] = i
        return fold

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
            f"Class {names} has one label only, so no model is fitted with it when it "
            f"is tested. Label another row of it, or leave it out.",
            stacklevel=4,
        )
