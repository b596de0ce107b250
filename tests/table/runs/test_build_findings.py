"""The gain of unlabeled rows, as in the headline; the order of suspicious labels."""

from types import SimpleNamespace

import numpy as np
import pytest

from halfmoon import ConditionalClassifier
from halfmoon._report.findings import LooClasses
from halfmoon.kernels import Gaussian
from halfmoon.table._models.table_model import TableModel
from halfmoon.table._runs.build_findings import _gain, _suspects

Y = np.array([[1.0], [1.0], [-1.0], [-1.0]])
FOUND = {
    "y": Y,
    "answer": Y * [[1], [1], [1], [-1]],  # 3 right
    "average": Y,  # 4 right
    "twin": Y * [[1], [1], [-1], [-1]],  # 2 right
}


@pytest.mark.parametrize(
    ("used", "kind", "expected"),
    [
        (True, "classes", (3, 2)),
        (False, "classes", (4, 3)),
        (True, "numbers", (0.5, 1.0)),
        (False, "numbers", (0.0, 0.5)),
    ],
)
def test_the_gain_is_that_of_the_model_in_use(used, kind, expected):
    estimator = SimpleNamespace(
        _cross_fitted=FOUND,
        used_unlabeled_=used,
        classes_=np.array(["no", "yes"]),
        comparison_={"candidate": ["linear", "walk"], "unlabeled": [False, True]},
    )
    model = TableModel("species", kind)
    model.estimator_ = estimator
    gain = _gain(model, 7)
    assert (gain.with_rows, gain.without) == expected
    assert (gain.kind, gain.rows, gain.labels) == (kind, 7, 4)
    estimator.comparison_ = {"candidate": ["linear"], "unlabeled": [False]}
    assert np.isnan(_gain(model, 7).with_rows)  # none was tried


def test_suspects_come_in_the_order_of_suspicious_labels():
    X = np.linspace(0, 1, 24)[:, None]
    y = np.where(X[:, 0] > 0.5, "b", "a")
    y[[4, 6]] = "b"  # wrong, and row 5 between them looks worst if they are believed
    estimator = ConditionalClassifier(Gaussian(0.1), alpha=1e-2).fit(X, y)
    model = SimpleNamespace(estimator_=estimator)
    loo = LooClasses(
        given=y.tolist(),
        predicted=["b" if label == "a" else "a" for label in y],
        confidence=np.ones(24),
        given_probability=np.where(np.isin(np.arange(24), [4, 5, 6]), 0.01, 0.5),
        rows=np.arange(24),
    )
    assert _suspects(model, loo).tolist() == [4, 6, 5]
