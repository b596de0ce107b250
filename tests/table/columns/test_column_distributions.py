import numpy as np
import pyarrow as pa
from numpy.testing import assert_allclose

from halfmoon._report.bar_charts import distribution
from halfmoon.table._columns.column_distributions import column_distributions
from halfmoon.table._columns.column_kinds import Columns
from halfmoon.table._runs.first_pass import Scan


def scanned(rows, labels):
    n = rows.num_rows
    numbers = np.arange(n)
    known = sum(label is not None for label in labels)
    return Scan(n, known, rows, labels, numbers, None)


def test_distributions_of_labeled_and_unlabeled_rows():
    rows = pa.table(
        {
            "x": [1.0, 2.0, 3.0, 10.0, None, 11.0],
            "color": ["red", "red", None, "blue", "blue", "red"],
            "text": ["a b", "c d", "e f", "g h", "i j", "k l"],
            "new": [True, True, False, False, False, False],
        }
    )
    found = column_distributions(
        Columns.of(rows).uses,
        scanned(rows, ["a", "b", "a", None, None, None]),
        {"new": 0.1, "color": 0.3, "x": 0.2, "text": 0.9},
    )
    by_name = {each.name: each for each in found}
    assert [each.name for each in found if each.name != "text"] == ["color", "x", "new"]
    assert by_name["color"].labeled == {"red": 2 / 3, "(missing)": 1 / 3}
    assert by_name["color"].unlabeled == {"blue": 2 / 3, "red": 1 / 3}
    assert by_name["new"].labeled == {"yes": 2 / 3, "no": 1 / 3}
    assert by_name["new"].unlabeled == {"no": 1.0}
    x = by_name["x"]
    # Whole numbers in a short range have a bin each.
    assert_allclose(x.labeled.edges, np.arange(0.5, 12))
    assert_allclose(x.labeled.edges, x.unlabeled.edges)
    assert x.labeled.counts.sum() == 3
    assert x.unlabeled.counts.sum() == 2
    assert x.labeled.counts[:4].sum() == 3  # 1, 2 and 3 of 1 to 11
    assert x.unlabeled.counts[-2:].sum() == 2


def test_no_distributions_without_both_kinds_of_rows():
    rows = pa.table({"x": [1.0, 2.0]})
    uses = Columns.of(rows).uses
    assert column_distributions(uses, scanned(rows, ["a", "b"]), {"x": 1.0}) == ()


def test_a_range_that_would_overflow_can_be_drawn():
    rows = pa.table({"x": [-1e308, 1.0, 1e308, 2.0, 3.0, 1.7e308]})
    (found,) = column_distributions(
        Columns.of(rows).uses, scanned(rows, [1.0, 2.0, 3.0, *[None] * 3]), {"x": 1.0}
    )
    assert np.isfinite(np.ptp(found.labeled.edges))
    assert found.labeled.counts[[0, -1]].tolist() == [1, 1]
    assert found.unlabeled.counts[-1] == 1
    assert np.isfinite(found.unlabeled.mean)
    assert "on average" in distribution(found).alt
