"""Partial labels in cells."""

import math

import pyarrow as pa
import pytest

from halfmoon.table._cells.number_style import PLAIN
from halfmoon.table._columns.column_names import added_columns
from halfmoon.table._files import Batch
from halfmoon.table._labels.given_labels import Blanks
from halfmoon.table._labels.weak_labels import (
    Candidates,
    Ends,
    GivenIntervals,
    GivenSets,
    checked_ends,
    checked_sets,
    read_ends,
)
from halfmoon.table._run_settings import Settings
from halfmoon.table._table_errors import CommandError, LabelError

SETS = Settings("y", sets="|")
ENDS = Settings("y", low="least", high="most")


def test_sets_of_candidates_are_checked():
    found = checked_sets(["a | b", "b", None, "a|a", "b||c", "a|b|c"], SETS)
    assert found.kind == "classes"
    assert found.labels == [
        Candidates(("a", "b")),
        Candidates(("b",)),
        None,
        Candidates(("a",)),
        Candidates(("b", "c")),
        None,
    ]
    assert [each and each.exact for each in found.labels[:2]] == [None, "b"]
    (note,) = found.notes
    assert str(note).startswith(
        "1 set of 'y' holds all classes and was filled like a blank"
    )


def test_spellings_within_sets_can_be_merged():
    cells = ["Yes|no", "yes", "YES|maybe", "yes|no", "no|maybe"]
    merged = checked_sets(cells, Settings("y", sets="|", merge_labels=True)).labels
    assert [each.classes for each in merged] == [
        ("yes", "no"),
        ("yes",),
        ("yes", "maybe"),
        ("yes", "no"),
        ("no", "maybe"),
    ]
    apart = checked_sets(cells, SETS)
    assert "look like one class" in str(apart.notes[0])


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        (["a|b", "|"], "1 cell of 'y' holds a set without a class, such as '|'"),
        (["a|b", "b|a"], "Every set of 'y' holds all 2 classes"),
        (["a", "a", None], "at least two classes"),
        ([None, None], "No row of 'y' has a label"),
    ],
)
def test_sets_without_information(cells, message):
    with pytest.raises(LabelError, match=message.replace("|", r"\|")):
        checked_sets(cells, SETS)


def cells(*rows):
    return [
        row and dict(zip(("label", "low", "high"), row, strict=True)) for row in rows
    ]


def test_blank_and_infinite_ends_are_open():
    found = checked_ends(
        cells(
            ("7.5", None, None),
            (None, "1", "2"),
            (None, "-Inf", "3"),
            (None, "4", None),
            ("5", "4", "6"),
            None,
            (None, None, "inf"),
        ),
        ENDS,
        range(7),
    )
    assert found.labels == [
        Ends(7.5, 7.5),
        Ends(1, 2),
        Ends(-math.inf, 3),
        Ends(4, math.inf),
        Ends(5, 5),
        None,
        None,
    ]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ((None, 3, 2), "'least' is above 'most' in row 9: 3 and 2"),
        ((5, 1, 2), "Row 9 has 5 in 'y', which is not between its ends 1 and 2"),
        ((None, "inf", None), "Row 9 has inf in 'least'"),
        ((None, 1, -math.inf), "Row 9 has -inf in 'most'"),
        ((None, "soon", None), "1 cell of 'least' is not a number, such as 'soon'"),
        ((None, "-inf", "inf"), "all ends are open"),
    ],
)
def test_contradictory_ends(row, message):
    with pytest.raises(LabelError, match=message):
        checked_ends(cells(row), ENDS, [9])


def batch(**columns):
    return Batch(0, pa.record_batch(columns))


def test_kept_candidates_are_used_again():
    given = GivenSets("y", Blanks(), ["y_source", "y_candidates"])
    labels, blank = given.of(
        batch(
            y=["a", "b", "c", ""],
            y_source=["given", "predicted", "predicted", ""],
            y_candidates=["", "b|c", "", ""],
        )
    )
    assert blank.tolist() == [False, False, True, True]
    assert labels[1].as_py() == "b|c"
    assert given.is_open(labels, blank).tolist() == [False, True, False, False]
    assert given.refilled == 1  # a blank; candidates were not lost


@pytest.mark.parametrize("with_target", [True, False])
def test_a_target_with_ends_may_be_new(with_target):
    given = GivenIntervals("y", Blanks("?"), low="least", high="most")
    columns = {"least": [1.0, None, None, -math.inf], "most": ["2", "?", "", "inf"]}
    if with_target:
        columns["y"] = [None, 3.0, None, None]
    labels, blank = given.of(batch(**columns))
    assert blank.tolist() == [False, not with_target, True, True]
    assert given.is_open(labels, blank).tolist() == [True, False, False, False]
    found = read_ends(labels, PLAIN)
    assert found[0] == Ends(1, 2)
    assert found[1:] == [Ends(3, 3) if with_target else None, None, None]


def test_typed_numbers_count_as_labels_of_a_new_target():
    given = GivenIntervals("y", Blanks(), typed={1: "2.5"}, low="least")
    labels, blank = given.of(batch(least=[1.0, None, None]))
    assert blank.tolist() == [False, False, True]
    assert read_ends(labels, PLAIN) == [Ends(1, math.inf), Ends(2.5, 2.5), None]


def test_a_new_target_of_no_rows():
    given = GivenIntervals("y", Blanks(), low="least")
    labels, blank = given.of(batch(least=pa.array([], pa.float64())))
    assert (len(labels), blank.tolist(), blank.dtype) == (0, [], bool)


def test_columns_of_the_user_are_not_replaced():
    assert added_columns("y", "numbers", ends=("y_low", "most")) == (
        "y_source",
        "y_predicted_low",
        "y_predicted_high",
    )
    assert added_columns("y", "numbers", ends=("least",))[1:] == ("y_low", "y_high")
    assert added_columns("y", "classes", "|")[-1] == "y_candidates"


@pytest.mark.parametrize(
    "options",
    [
        {"sets": ""},
        {"sets": "|", "high": "a"},
        {"sets": "|", "task": "numbers"},
        {"low": "a", "task": "ordered"},
        {"low": "a", "high": "a"},
        {"low": "y"},
    ],
)
def test_settings_that_contradict_each_other(options):
    with pytest.raises(CommandError):
        Settings("y", **options)
