"""Scores of the labeled rows: a metric after rows without a label are left out.

A scorer is called as ``scorer(estimator, X, y)``, larger is better, and it is what
`cross_val_score`, `GridSearchCV` and the like take as ``scoring``.
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

from halfmoon.output_scores import has_gaps, score_of_outputs
from halfmoon.validation import labeled_part

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
    """A scorer of the labeled rows; made by `labeled_scorer`.

    Parameters
    ----------
    metric : callable or str
    response_method : str or tuple of str
    greater_is_better : bool
    unlabeled : object or None
    options : dict
        Further arguments of the metric.
    asks : dict
        What `set_score_request` was told.
    """

    metric: Callable[..., float] | str
    response_method: str | tuple[str, ...] = "predict"
    greater_is_better: bool = True
    unlabeled: Any = None
    options: dict[str, Any] = field(default_factory=dict)
    asks: dict[str, Any] = field(default_factory=dict)

    def __call__(
        self, estimator: Any, X: Any, y: Any, sample_weight: Any = None
    ) -> float:
        """The score of an estimator on the labeled rows of a table.

        Where rows lack some of their outputs, it is the mean over the outputs of their
        scores, each over the rows that have it.
        """
        rows, labels, w = labeled_part(X, y, sample_weight, self.unlabeled)
        if has_gaps(labels):
            scorer = self._scorer(estimator)
            return score_of_outputs(scorer, estimator, rows, labels, w)
        weights = {} if w is None else {"sample_weight": w}
        return float(self._scorer(estimator)(estimator, rows, labels, **weights))

    def set_score_request(self, *, sample_weight: bool | str | None) -> LabeledScorer:
        """A scorer that asks for sample weights where metadata are routed.

        Unlike scikit-learn's own it leaves this scorer as it is, because
        `labeled_accuracy` and its like are shared by all who import them.

        Parameters
        ----------
        sample_weight : bool, str or None
            Whether the weights that were given to `cross_validate` and its like are
            used; a name, if they were given under that name.

        Examples
        --------
        >>> weighted = labeled_accuracy.set_score_request(sample_weight=True)
        >>> weighted.get_metadata_routing().score.requests
        {'sample_weight': True}
        """
        return replace(self, asks={"sample_weight": sample_weight})

    def get_metadata_routing(self) -> MetadataRequest:
        """What this scorer asks for, as scikit-learn's routing wants it."""
        request = MetadataRequest(owner=self)
        for name, alias in ({"sample_weight": None} | self.asks).items():
            request.score.add_request(param=name, alias=alias)
        return request

    def _scorer(self, estimator: Any) -> Any:
        if isinstance(self.metric, str):
            return get_scorer(self.metric)
        options = dict(self.options)
        # Few labels seldom show every class, and the columns of the probabilities must
        # be told apart all the same.
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
    """A scorer that leaves out rows without a label.

    Parameters
    ----------
    metric : callable or str
        ``metric(y, predicted)``, as for `sklearn.metrics.make_scorer`; or the name of a
        scorer of scikit-learn, which says the next two by itself.
    response_method : str or tuple of str
        "predict", "predict_proba" or "decision_function", or which of these to try.
    greater_is_better : bool
        If False, the score is the metric with its sign changed.
    unlabeled : object or None
        A value that counts as missing beside None, NaN and ``pd.NA``: -1, say.
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
                f"sign and options. Give the metric as a function to choose them."
            )
        get_scorer(metric)  # an error now rather than in the middle of a search
    return LabeledScorer(
        metric, response_method, greater_is_better, unlabeled, dict(options)
    )


def _balanced_accuracy(y: Any, predicted: Any, sample_weight: Any = None) -> float:
    """Mean over the classes present of the part of each that is predicted right.

    As in scikit-learn, but silent where predictions show a class that no label does:
    among few labels this is to be expected.
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
#: Minus the log loss, of `predict_proba`.
labeled_log_loss = labeled_scorer(
    log_loss, response_method="predict_proba", greater_is_better=False
)
labeled_r2 = labeled_scorer(r2_score)
#: Minus the mean squared error.
labeled_mean_squared_error = labeled_scorer(mean_squared_error, greater_is_better=False)
