"""The gain of unlabeled rows is measured on the predictions of the headline."""

from types import SimpleNamespace

import numpy as np
import pytest

from halfmoon.table._build_findings import _gain
from halfmoon.table._table_model import TableModel

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
        _cross_fitted=FOUND, used_unlabeled_=used, classes_=np.array(["no", "yes"])
    )
    model = TableModel("species", kind)
    model.estimator_ = estimator
    gain = _gain(model, 7)
    assert (gain.with_rows, gain.without) == expected
    assert (gain.kind, gain.rows, gain.labels) == (kind, 7, 4)
