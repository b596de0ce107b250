"""Cells that say in part what a label is."""

import math

import pyarrow as pa
import pytest

from halfmoon.table.blanks import Blanks
from halfmoon.table.errors import CommandError, LabelError
from halfmoon.table.files import Batch
from halfmoon.table.number_style import PLAIN
from halfmoon.table.selection import added_columns
from halfmoon.table.settings import Settings
from halfmoon.table.weak_given import GivenIntervals, GivenSets
from halfmoon.table.weak_labels import (
    Candidates,
    Ends,
    checked_ends,
    checked_sets,
    read_ends,
)

SETS = Settings("y", sets="|")
ENDS = Settings("y", low="least", high="most")


def test_candidates_are_read_once_each_and_all_classes_are_a_blank():
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
    assert str(note).startswith("1 set of 'y' holds all classes, which is what a blank")


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
def test_sets_that_tell_nothing(cells, message):
    with pytest.raises(LabelError, match=message.replace("|", r"\|")):
        checked_sets(cells, SETS)


def cells(*rows):
    return [
        row and dict(zip(("label", "low", "high"), row, strict=True)) for row in rows
    ]


def test_ends_are_open_where_they_are_blank_or_infinite():
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
        ((5, 1, 2), "Row 9 has 5 in 'y' and the ends 1 to 2"),
        ((None, "inf", None), "Row 9 has inf in 'least'"),
        ((None, 1, -math.inf), "Row 9 has -inf in 'most'"),
        ((None, "soon", None), "1 cell of 'least' is not a number, such as 'soon'"),
        ((None, "-inf", "inf"), "all ends are open"),
    ],
)
def test_ends_that_make_no_sense(row, message):
    with pytest.raises(LabelError, match=message):
        checked_ends(cells(row), ENDS, [9])


def batch(**columns):
    return Batch(0, pa.record_batch(columns))


def test_rows_with_several_candidates_are_filled_again_from_what_was_kept():
    given = GivenSets("y", Blanks(), "y_source", kept="y_candidates")
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


def test_columns_of_the_users_own_are_not_taken():
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
