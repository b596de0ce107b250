"""Cross-validation and scoring on the labeled rows of a table.

scikit-learn's own folds treat all rows alike. They remove unlabeled rows from the
training set, make folds with few or no labels, and ask for the score of rows that have
no label. `LabeledKFold` keeps unlabeled rows in every training set, and the scorers
ignore them. A scorer is called as ``scorer(estimator, X, y)``, and larger is better.
Pass it as ``scoring`` to `cross_val_score`, `GridSearchCV` and similar functions.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Iterator
from dataclasses import KW_ONLY, dataclass, field, replace
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import (
    accuracy_score,
    get_scorer,
    log_loss,
    make_scorer,
    mean_squared_error,
    r2_score,
    recall_score,
)
from sklearn.model_selection import BaseCrossValidator
from sklearn.utils.metadata_routing import MetadataRequest

from halfmoon._labeled_scores import has_gaps, labeled_part, score_of_outputs
from halfmoon._labels import labeled_rows, labels_of
from halfmoon._rows import Indices
from halfmoon._sklearn_conventions import as_generator
from halfmoon.problem._folds import dealt_folds

__all__ = [
    "LabeledKFold",
    "labeled_accuracy",
    "labeled_balanced_accuracy",
    "labeled_log_loss",
    "labeled_mean_squared_error",
    "labeled_r2",
    "labeled_scorer",
]


@dataclass(eq=False, repr=False)
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

    n_splits: int = 5
    _: KW_ONLY
    shuffle: bool = True
    random_state: Any = None
    stratify: bool | str = "auto"
    unlabeled: Any = None

    def __post_init__(self) -> None:
        if not isinstance(self.n_splits, Integral) or self.n_splits < 2:
            raise ValueError(
                f"n_splits is {self.n_splits!r}; a whole number of folds, at least 2, "
                f"is needed."
            )
        if self.stratify not in ("auto", True, False):
            raise ValueError(
                f"stratify is {self.stratify!r}; 'auto', True or False is needed."
            )
        if not self.shuffle and self.random_state is not None:
            raise ValueError(
                "random_state has no effect with shuffle=False. Leave it at None, or "
                "set shuffle=True."
            )

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


@dataclass(frozen=True, eq=False)
class LabeledScorer:
    """A scorer of the labeled rows; made by `labeled_scorer`."""

    metric: Callable[..., float] | str
    response_method: str | tuple[str, ...] = "predict"
    greater_is_better: bool = True
    unlabeled: Any = None
    options: dict[str, Any] = field(default_factory=dict)  # for the metric
    asks: dict[str, Any] = field(default_factory=dict)  # of `set_score_request`

    def __call__(
        self, estimator: Any, X: Any, y: Any, sample_weight: Any = None
    ) -> float:
        """Return the score of an estimator on the labeled rows of a table.

        If rows lack some of their outputs, each output is scored on the rows that have
        it, and the mean over the outputs is returned.
        """
        rows, labels, w = labeled_part(X, y, sample_weight, self.unlabeled)
        if has_gaps(labels):
            scorer = self._scorer(estimator)
            return score_of_outputs(scorer, estimator, rows, labels, w)
        weights = {} if w is None else {"sample_weight": w}
        return float(self._scorer(estimator)(estimator, rows, labels, **weights))

    def set_score_request(self, *, sample_weight: bool | str | None) -> LabeledScorer:
        """Return a scorer that requests sample weights in metadata routing.

        Unlike scikit-learn's scorers, this one is not changed, because
        `labeled_accuracy` and the others are shared by all who import them.

        Parameters
        ----------
        sample_weight : bool, str or None
            Whether to use the weights passed to `cross_validate` and similar functions;
            or the name under which they are passed.

        Examples
        --------
        >>> weighted = labeled_accuracy.set_score_request(sample_weight=True)
        >>> weighted.get_metadata_routing().score.requests
        {'sample_weight': True}
        """
        return replace(self, asks={"sample_weight": sample_weight})

    def get_metadata_routing(self) -> MetadataRequest:
        """Return what this scorer requests, for scikit-learn's metadata routing."""
        request = MetadataRequest(owner=self)
        for name, alias in ({"sample_weight": None} | self.asks).items():
            request.score.add_request(param=name, alias=alias)
        return request

    def _scorer(self, estimator: Any) -> Any:
        if isinstance(self.metric, str):
            return get_scorer(self.metric)
        options = dict(self.options)
        # Few labels seldom have every class, but each column of the probabilities needs
        # its class.
        if (
            self.response_method == "predict_proba"
            and "labels" in inspect.signature(self.metric).parameters
        ):
            options.setdefault("labels", estimator.classes_)
        return make_scorer(
            self.metric,
            response_method=self.response_method,
            greater_is_better=self.greater_is_better,
            **options,
        )


def labeled_scorer(
    metric: Callable[..., float] | str,
    *,
    response_method: str | tuple[str, ...] = "predict",
    greater_is_better: bool = True,
    unlabeled: Any = None,
    **options: Any,
) -> LabeledScorer:
    """Return a scorer that ignores unlabeled rows.

    Parameters
    ----------
    metric : callable or str
        ``metric(y, predicted)``, as for `sklearn.metrics.make_scorer`; or the name of a
        scorer of scikit-learn, which determines the next two.
    response_method : str or tuple of str
        "predict", "predict_proba" or "decision_function", or several to try in turn.
    greater_is_better : bool
        If False, the score is the negated metric.
    unlabeled : object or None
        A value that counts as missing in addition to None, NaN and ``pd.NA``, such as
        -1.
    **options
        Further arguments of the metric. With probabilities, ``labels`` is by default
        the classes of the estimator, where the metric takes it.

    Examples
    --------
    >>> from sklearn.dummy import DummyClassifier
    >>> from sklearn.metrics import fbeta_score
    >>> model = DummyClassifier(strategy="constant", constant="b")
    >>> model = model.fit([[0], [1]], ["a", "b"])
    >>> X, y = [[0], [1], [2], [3]], ["a", "b", None, "b"]
    >>> labeled_accuracy(model, X, y)  # two of three
    0.667
    >>> labeled_scorer(fbeta_score, beta=2, pos_label="b")(model, X, y)
    0.909
    >>> labeled_scorer("f1_macro")(model, X, y)  # the mean of 4/5 and 0
    0.4
    """
    if isinstance(metric, str):
        if options or response_method != "predict" or not greater_is_better:
            raise ValueError(
                f"The scorer {metric!r} of scikit-learn has its own response_method, "
                f"sign and options. To choose them, give the metric as a function."
            )
        get_scorer(metric)  # raises here rather than in the middle of a search
    return LabeledScorer(
        metric, response_method, greater_is_better, unlabeled, dict(options)
    )


def _balanced_accuracy(y: Any, predicted: Any, sample_weight: Any = None) -> float:
    """Return the mean recall over the classes among the labels.

    As in scikit-learn, but without a warning if a class is predicted that no label has,
    which is common with few labels.
    """
    return float(
        recall_score(
            y,
            predicted,
            labels=np.unique(y),
            average="macro",
            sample_weight=sample_weight,
            zero_division=0.0,
        )
    )


labeled_accuracy = labeled_scorer(accuracy_score)
labeled_balanced_accuracy = labeled_scorer(_balanced_accuracy)
#: Negated log loss of `predict_proba`.
labeled_log_loss = labeled_scorer(
    log_loss, response_method="predict_proba", greater_is_better=False
)
labeled_r2 = labeled_scorer(r2_score)
#: Negated mean squared error.
labeled_mean_squared_error = labeled_scorer(mean_squared_error, greater_is_better=False)
