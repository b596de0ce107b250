"""Missing labels in columns of every make."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from halfmoon._labels import (
    as_targets,
    as_weights,
    class_codes,
    is_missing,
    label_array,
    labeled_rows,
    labels_of,
    without_extremes,
)
from optional_modules import optional

pa = optional("pyarrow")
pd = optional("pandas")

NAN = float("nan")

#: Three rows each, of which the second is not labeled; and the labels of the others.
COLUMNS = {
    "floats": (np.array([1.5, NAN, 2.0]), [1.5, 2.0], "f"),
    "float32": (np.array([1.5, NAN, 2.0], dtype=np.float32), [1.5, 2.0], "f"),
    "list of floats": ([1.5, None, 2.0], [1.5, 2.0], "f"),
    "list of ints": ([1, None, 2], [1, 2], "i"),
    "list of strings": (["a", None, "None"], ["a", "None"], "O"),
    "tuple of strings": (("a", NAN, "nan"), ["a", "nan"], "O"),
    "objects": (np.array(["a", None, "bcd"], dtype=object), ["a", "bcd"], "O"),
    "decimals": ([Decimal("1.5"), None, Decimal(2)], [1.5, 2.0], "f"),
    "fractions": ([Fraction(1, 2), None, 2], [0.5, 2.0], "f"),
    "booleans": (np.array([True, None, False], dtype=object), [True, False], "b"),
    "pandas strings": (pd.Series(["a", None, "b"]), ["a", "b"], "O"),
    "pandas strings, nullable": (
        pd.Series(["a", pd.NA, "b"], dtype="string"),
        ["a", "b"],
        "O",
    ),
    "pandas ints, nullable": (pd.Series([1, pd.NA, 2], dtype="Int64"), [1, 2], "i"),
    "pandas array": (pd.array([1, pd.NA, 2], dtype="Int64"), [1, 2], "i"),
    "pandas booleans": (
        pd.Series([True, pd.NA, False], dtype="boolean"),
        [True, False],
        "b",
    ),
    "pandas floats": (pd.Series([1.5, NAN, 2.0], index=[7, 8, 9]), [1.5, 2.0], "f"),
    "pandas categories": (
        pd.Series(["a", None, "b"], dtype="category"),
        ["a", "b"],
        "O",
    ),
    "dates": (np.array(["2020-01-01", "NaT", "2021-01-01"], dtype="M8[D]"), None, "M"),
    "minus one": (np.array([3, -1, 4]), [3, 4], "i"),
    "minus one, objects": (np.array(["a", -1, "b"], dtype=object), ["a", "b"], "O"),
    "a word": (np.array(["a", "?", "b"]), ["a", "b"], "U"),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_columns(name):
    y, known, kind = COLUMNS[name]
    unlabeled = {"minus": -1, "a wor": "?"}.get(name[:5])
    assert_array_equal(is_missing(y, unlabeled), [False, True, False])
    labeled = labeled_rows(y, unlabeled)
    assert_array_equal(labeled, [True, False, True])
    actual = labels_of(y, labeled)
    assert actual.dtype.kind == kind
    if known is not None:
        assert_array_equal(actual, known)


def test_polars():
    polars = pytest.importorskip("polars")
    for values, kind in (([1, None, 2], "i"), (["a", None, "b"], "O")):
        y = polars.Series(values)
        assert_array_equal(is_missing(y), [False, True, False])
        actual = labels_of(y, ~is_missing(y))
        assert_array_equal(actual, [values[0], values[2]])
        assert actual.dtype.kind == kind


def test_minus_one_is_a_label_unless_said_otherwise():
    assert not is_missing([0, 1, -1]).any()
    # and what is said otherwise is no other value that looks alike
    assert_array_equal(is_missing(["-1", -1, None, 1], -1), [False, True, True, False])


def test_several_targets():
    y = np.array([[1.0, 2.0], [NAN, NAN], [3.0, NAN]])
    assert_array_equal(is_missing(y), np.isnan(y))
    assert_array_equal(labeled_rows(y), [True, False, True])  # one output is enough
    assert_array_equal(labeled_rows(pd.DataFrame(y)), [True, False, True])
    assert_array_equal(labels_of(y, labeled_rows(y)), [[1.0, 2.0], [3.0, NAN]])


def test_texts_of_any_length():
    for missing in (None, NAN):
        texts = np.dtypes.StringDType(na_object=missing)
        y = np.array(["a", missing, "bcd"], dtype=texts)
        assert_array_equal(is_missing(y), [False, True, False])
        codes = class_codes(label_array(y))
        assert_array_equal(codes[0], ["a", "bcd"])
        assert_array_equal(codes[1], [0, -1, 1])


def test_tables_of_arrow():
    y = pa.table({"a": [1.0, None, 2.0], "b": [None, None, 3.0]})
    expected = [[1.0, NAN], [NAN, NAN], [2.0, 3.0]]
    assert_array_equal(as_targets(y, 3), expected)


def test_one_label_for_each_row():
    with pytest.raises(ValueError, match="one label for each row"):
        labeled_rows("label")


def test_arrays_are_not_copied():
    y = np.array([1.0, NAN])
    assert label_array(y) is y


def test_targets_are_columns():
    X = np.array([[1.0, 0.0, 2.0], [0.0, -3.0, 0.5]])
    assert_array_equal(as_targets([1, np.nan, 3], 3), [[1.0], [np.nan], [3.0]])
    assert_array_equal(as_targets(X, 2), X)
    assert as_targets([1, 2], 2).dtype == np.float64


def test_targets_are_checked():
    X = np.array([[1.0, 0.0, 2.0], [0.0, -3.0, 0.5]])
    with pytest.raises(ValueError, match=r"y has shape \(2,\), but X has 3 rows"):
        as_targets([1.0, 2.0], 3)
    with pytest.raises(ValueError, match=r"y has shape \(1, 2, 3\)"):
        as_targets(X[None], 1)
    with pytest.raises(ValueError, match="y contains infinity; finite numbers"):
        as_targets([1.0, np.inf], 2)


def test_weights_are_one_number_a_row():
    assert_array_equal(as_weights(None, 3), [1.0, 1.0, 1.0])
    assert_array_equal(as_weights(2, 3), [2.0, 2.0, 2.0])
    assert_array_equal(as_weights([0, 1, 2], 3), [0.0, 1.0, 2.0])
    assert as_weights([0, 1, 2], 3).dtype == np.float64


def test_weights_are_checked():
    with pytest.raises(ValueError, match=r"shape \(2,\); one number for each of the 3"):
        as_weights([1.0, 2.0], 3)
    with pytest.raises(ValueError, match=r"shape \(3, 1\)"):
        as_weights(np.ones((3, 1)), 3)
    for bad in (-1.0, np.nan, np.inf):
        with pytest.raises(ValueError, match="finite and not negative"):
            as_weights([1.0, bad], 2)
    with pytest.raises(ValueError, match=r"The largest sample_weight is 1e[+]307"):
        as_weights([1.0, 1e307], 2)  # the sum of twenty is infinite
    assert as_weights([1.0, 1e300], 2)[1] == 1e300


@pytest.mark.parametrize("scale", [1e-300, 1e-200, 1e-80, 1e80, 1e300])
def test_weights_whose_squares_leave_the_range(scale):
    w = np.array([0.0, 1.0, 0.75]) * scale
    moderate = without_extremes(w)
    assert np.isfinite(moderate @ moderate)
    assert moderate @ moderate > 0
    assert_allclose(moderate[2] / moderate[1], 0.75, rtol=1e-15)
    assert (moderate is w) == (1e-90 < scale < 1e90)
