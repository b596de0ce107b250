import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal

from halfmoon.weak._weak_labels import as_candidates
from optional_modules import optional

pd = optional("pandas")

MASK = np.array([[1, 0, 0], [1, 1, 0], [0, 0, 1], [1, 1, 1]], dtype=bool)


@pytest.mark.parametrize(
    "y",
    [
        [{"a"}, {"a", "b"}, {"c"}, {"a", "b", "c"}],
        [["a"], ("b", "a"), {"c"}, None],
        ["a", "b | a", "c", None],
        pd.Series(["a", "a|b", "c", pd.NA], dtype="string"),
        pd.Series([{"a"}, {"b", "a"}, {"c"}, np.nan]),
        np.array(["a", "b|a", "c", "a|b|c"]),
    ],
)
def test_sets_lists_and_texts_give_the_same(y):
    classes, mask = as_candidates(y, 4)
    assert classes.tolist() == ["a", "b", "c"]
    assert_array_equal(mask, MASK)


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array, pd.DataFrame])
def test_columns_of_a_matrix_are_the_classes(make):
    classes, mask = as_candidates(make(MASK), 4)
    assert classes.tolist() == [0, 1, 2]
    assert_array_equal(mask, MASK)
    assert_array_equal(as_candidates(MASK.astype(float), 4)[1], MASK)


def test_plain_labels_are_sets_of_one_and_missing_ones_of_all():
    classes, mask = as_candidates([3.0, np.nan, 5.0], 3)
    assert classes.tolist() == [3, 5]
    assert_array_equal(mask, [[True, False], [True, True], [False, True]])


def test_another_separator():
    classes, mask = as_candidates(["a|b", "a|b;c"], 2, separator=";")
    assert classes.tolist() == ["a|b", "c"]
    assert_array_equal(mask, [[True, False], [True, True]])


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (np.array([[1, 1], [0, 0], [0, 0]], dtype=bool), r"2 set\(s\).*row 1"),
        ([{"a"}, set(), {"b"}], r"have no class, the first in row 1"),
        (["a|b", "|", "a"], r"have no class, the first in row 1"),
        (np.array([[1, 0, 1]] * 3, dtype=bool), r"Class .*1.* is in no set"),
        (np.array([[1, 0, 0], [0, 0, 1], [1, 1, 1]]), "but those of unlabeled rows"),
        ([{"a", None}, {"b"}, {"c"}], "set of row 0 has a missing value"),
        ([["b"], ["a", np.nan], ["c"]], "set of row 1 has a missing value"),
        (({each} for each in "abc"), "one label for each row is needed"),
        ([{"a"}, {"b"}], "2 sets, but X has 3 rows"),
        (np.ones((2, 3), dtype=bool), "2 sets, but X has 3 rows"),
        ([None, None, None], "None of the 3 rows is labeled"),
        ([{"a"}, {"a"}, None], "one class"),
        (np.array([[0.5, 1.0, 0.0]] * 3), r"\(3, 3\) and is no matrix of 0 and 1"),
        (np.array([[np.nan, 1.0, 1.0]] * 3), "a boolean column for each class"),
        (None, "requires y to be passed"),
    ],
)
def test_errors_say_what_is_wrong(y, message):
    with pytest.raises(ValueError, match=message):
        as_candidates(y, 3)
