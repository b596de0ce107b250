"""Scorers that ignore unlabeled rows.

A scorer is called as ``scorer(estimator, X, y)``, and larger is better. Pass it as
``scoring`` to `cross_val_score`, `GridSearchCV` and similar functions.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from sklearn.metrics import (
    accuracy_score,
    get_scorer,
    log_loss,
    make_scorer,
    mean_squared_error,
    r2_score,
    recall_score,
)
from sklearn.utils.metadata_routing import MetadataRequest

from halfmoon._labeled_scores import has_gaps, labeled_part, score_of_outputs

__all__ = [
    "LabeledScorer",
    "labeled_accuracy",
    "labeled_balanced_accuracy",
    "labeled_log_loss",
    "labeled_mean_squared_error",
    "labeled_r2",
    "labeled_scorer",
]


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
