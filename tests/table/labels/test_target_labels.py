import numpy as np
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal
from sklearn.datasets import load_diabetes, load_digits

from halfmoon.table._labels.given_labels import Blanks
from halfmoon.table._labels.target_labels import (
    read_label_numbers,
    refuse_no_blanks,
    target_kind,
    valid_labels,
)
from halfmoon.table._table_errors import LabelError


def test_the_usual_blanks_in_any_case():
    cells = ["", " ", "NA", "n/a", "NaN", "NULL", "none", "<NA>", "nana", "-", "?", "0"]
    assert_array_equal(Blanks().mask(pa.array(cells)), [True] * 8 + [False] * 4)
    assert_array_equal(Blanks().mask(pa.array(["\\N", "N", "\n"])), [True, False, True])
    protected = ['=""', '="NA"', '="a"', '"']  # by spreadsheets
    assert_array_equal(Blanks().mask(pa.array(protected)), [True, True, False, False])


def test_blanks_are_counted_by_their_text():
    blanks = Blanks()
    blanks.mask(pa.array(["", "NA", "cat", " NA ", None]))
    blanks.mask(pa.chunked_array([["NA"], ["n/a", "dog"]]))
    assert blanks.counts == {"": 2, "NA": 3, "n/a": 1}


def test_a_mark_is_added_to_the_usual_ones():
    cells = pa.array(["-1", "-1.0", "None", "", "1", "-10"])
    blanks = Blanks("-1")
    assert_array_equal(blanks.mask(cells), [True, True, True, True, False, False])
    assert blanks.counts == {"-1": 1, "-1.0": 1, "None": 1, "": 1}
    word = Blanks("todo").mask(pa.array(["todo", "Todo", "done"]))
    assert_array_equal(word, [True, False, False])


def test_an_empty_mark_makes_the_usual_words_labels():
    only_empty = Blanks(unlabeled="").mask(pa.array(["None", "NA", "", " "]))
    assert_array_equal(only_empty, [False, False, True, True])
    blanks = Blanks(("", "-1"))
    assert_array_equal(blanks.mask(pa.array(["None", "-1", "", "x"])), [0, 1, 1, 0])
    assert blanks.unmatched == []


def test_several_marks_and_unmatched_ones():
    blanks = Blanks(["?", "unknown", "9", "?,unknown"])
    cells = pa.array(["?", "cat", " unknown ", "9.0", "unknow"])
    assert_array_equal(blanks.mask(cells), [True, False, True, True, False])
    assert blanks.unmatched == ["?,unknown"]
    assert blanks.matched == {"?", "unknown", "9"}


@pytest.mark.parametrize(
    ("array", "unlabeled", "blank"),
    [
        (pa.array([1, None, -1]), None, [False, True, False]),
        (pa.array([1, None, -1]), "-1", [False, True, True]),
        (pa.array([1.0, np.nan, None, -1.0]), "-1", [False, True, True, True]),
        (pa.array([True, None, False]), "false", [False, True, True]),
        (pa.array(["a", None, "NA"]).dictionary_encode(), None, [False, True, True]),
        (pa.nulls(2), None, [True, True]),
    ],
)
def test_blanks_of_typed_columns(array, unlabeled, blank):
    blanks = Blanks(unlabeled)
    assert_array_equal(blanks.mask(array), blank)
    assert sum(blanks.counts.values()) == sum(blank)


@pytest.mark.parametrize("n", [3, 18, 100])
def test_digits_are_classes(n):
    y = load_digits().target[:n]
    assert target_kind(y.tolist()) == "classes"
    assert target_kind([str(v) for v in y]) == "classes"


@pytest.mark.parametrize("n", [4, 22, 400])
def test_a_measure_is_a_number(n):
    y = load_diabetes().target[:n]
    assert target_kind(y.tolist()) == "numbers"
    assert target_kind([str(int(v)) for v in y]) == "numbers"


@pytest.mark.parametrize(
    ("labels", "kind"),
    [
        (["0.5", "1", "1", "1"], "numbers"),
        (["1.0", "2.0", "1.0"], "classes"),
        ([f"{1000 * (k % 40)}" for k in range(200)], "numbers"),
        ([str(1950 + k % 60) for k in range(300)], "numbers"),
        ([str(21 + k % 19) for k in range(50)], "numbers"),  # ages
        ([str(2010 + k % 11) for k in range(60)], "numbers"),
        ([str(1 + k % 20) for k in range(60)], "classes"),
        ([str(2015 + k % 9) for k in range(60)], "classes"),
        ([True, False, None], "classes"),
        (["yes", "3", "4.5"], "classes"),
        (["inf", "1.5"], "classes"),
        (["1_0", "2_0", "3_5"], "classes"),
        (["0", "1"], "classes"),
        (["$630M", "$4.87B", "$630M"], "numbers"),
        (["1b", "2b", "1b", "3m", "2b"], "classes"),
        ([None, None], "classes"),
    ],
)
def test_kinds_of_labels(labels, kind):
    assert target_kind(labels) == kind


def test_spaces_around_classes_are_removed():
    labels = [" cat", "cat ", None, "Cat", "1", "1.0"]
    expected = ["cat", "cat", None, "Cat", "1", "1.0"]
    assert valid_labels("y", labels, "classes") == expected


def test_classes_keep_their_type_unless_they_are_mixed():
    assert valid_labels("y", [1, 2, None], "classes") == [1, 2, None]
    assert valid_labels("y", [True, False], "classes") == [True, False]
    assert valid_labels("y", [np.int64(1), 2], "classes") == [1, 2]
    assert valid_labels("y", ["1", 2, None], "classes") == ["1", "2", None]


def test_numbers_from_text():
    assert valid_labels("y", ["1.5", None, " 2 "], "numbers") == [1.5, None, 2.0]


@pytest.mark.parametrize(
    ("labels", "kind", "words"),
    [
        ([None, None], "classes", "No row of 'y' has a label"),
        (["a", None], "classes", "Only 1 row of 'y' has a label"),
        (["a", "a", None], "classes", "Every label of 'y' is 'a'"),
        (["3", "3.0"], "numbers", "Every label of 'y' is 3;"),
        (["1", "abc", "x"], "numbers", "2 labels of 'y' are not numbers.*'abc'"),
        (["1", "inf", "2"], "numbers", "1 label of 'y' is not a number.*'inf'"),
        (
            [f"n{i}" for i in range(10_000)] + ["n1"] * 2_000,
            "classes",
            "'y' has 10,000 different values in 12,000 labels.*whose values repeat",
        ),
        ([str(i) for i in range(300)], "classes", "300 different.*`task='numbers'`"),
        ([f"n{i}" for i in range(30)], "classes", "30 different values in 30 labels"),
        (
            [f"2024-{1 + i // 28:02}-{1 + i % 28:02}" for i in [*range(76), 3, 3, 9]],
            "classes",
            "76 different values in 79 labels.*hardly any repeat. Dates cannot be",
        ),
        (
            [
                f"2024-{1 + i // 28:02}-{1 + i % 28:02}"
                for i in [*range(40), *range(20)]
            ],
            "classes",
            "40 different values in 60 labels.*than half are different. Dates cannot",
        ),
        (
            [f"{i // 4}h {i % 4 * 15}m" for i in [*range(40), *range(20)]],
            "classes",
            "40 different values.*are different. Choose.* write each as one number",
        ),
        (
            [f"{i} g" if i % 2 else f"0.{i} kg" for i in [*range(10, 50), 10, 11]],
            "classes",
            "40 different values.*If they are amounts, write all of them in one unit",
        ),
        (
            [f'="{i}.5"' for i in [*range(10, 50), 10, 11]],
            "classes",
            "40 different values in 42 labels.*If they are amounts, use `task='numb",
        ),
        (
            [f"{i}-{i + 4}" for i in [*range(10, 50), *range(10, 30)]],
            "classes",
            "40 different values.*are different. Choose.* write each as one number",
        ),
    ],
)
def test_labels_that_cannot_be_learned_from(labels, kind, words):
    with pytest.raises(LabelError, match=words):
        valid_labels("y", labels, kind)


@pytest.mark.parametrize(
    "labels",
    [
        [f"2024-0{1 + i}-01" for i in range(9)] * 4,  # a few dates may be classes
        [f"2024-01-{1 + i:02}" for i in range(25)] * 3,  # so may those that repeat
        [f"route {i}" for i in range(25)] * 2,
    ],
)
def test_dates_and_numbers_that_repeat_are_classes(labels):
    assert valid_labels("y", labels, "classes") == labels


def test_codes_are_classes():
    codes = [f"{17 * i % 1000:05}" for i in range(40)]
    assert target_kind(codes) == "classes"
    assert target_kind([code.lstrip("0") for code in codes]) == "numbers"


def test_a_class_with_one_label_is_fine():
    labels = ["a", "a", "b", None]
    assert valid_labels("y", labels, "classes") == labels


def test_tables_with_nothing_to_fill():
    with pytest.raises(LabelError, match="Every row of 'y' has a label: there is noth"):
        refuse_no_blanks("y", [])
    advice = r"nothing to fill. If a value stands for a blank, name it in `unlabeled`"
    with pytest.raises(LabelError, match=advice):
        refuse_no_blanks("y", [0, 1, 0, 2])
    advice = r"If '0', which most rows have, stands for a blank, use `unlabeled='0'`"
    with pytest.raises(LabelError, match=advice):
        refuse_no_blanks("y", [0, 1, 0, 2, 0])


@pytest.mark.parametrize("labels", [[1e168, 2.0, None], [0.0, 1e-320], [-1e101, 1.0]])
def test_numbers_whose_squares_overflow(labels):
    with pytest.raises(LabelError, match="too extreme to compute with"):
        valid_labels("y", labels, "numbers")


@pytest.mark.parametrize("labels", [[1e99, 2.0], [0.0, 1e-99]])
def test_large_and_small_numbers_that_can_be_squared(labels):
    assert valid_labels("y", labels, "numbers") == labels


def test_a_few_words_among_numbers():
    numbers = [f"{x:.1f}" for x in np.linspace(1, 9, 58)]
    assert target_kind([*numbers, "approx 39", "4 or 5"]) == "numbers"
    assert target_kind([*numbers[:8], "approx 39"]) == "classes"  # one in nine
    assert target_kind([*numbers, *["unknown"] * 30]) == "numbers"
    assert target_kind([*"0123456789" * 4, "X"]) == "classes"


def test_all_labeled_but_some_look_blank():
    with pytest.raises(
        LabelError, match=r"'\?' looks like a blank: use `unlabeled='\?'`"
    ):
        refuse_no_blanks("y", ["a", "?", "b"])
    with pytest.raises(LabelError, match=r"'\(blank\)' looks like a blank: use"):
        refuse_no_blanks("y", ["a", "(blank)", "b"])


def test_numbers_as_spreadsheets_protect_them():
    labels = [f'="{i}.5"' for i in range(30)]
    assert target_kind([*labels, None]) == "numbers"
    assert read_label_numbers(labels).values == [i + 0.5 for i in range(30)]
