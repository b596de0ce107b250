"""Columns by name."""

import pyarrow as pa
import pytest

from halfmoon.table._columns.column_names import (
    added_by,
    added_columns,
    chosen_features,
    earlier_runs,
    existing,
    is_predicted,
    known_columns,
    quoted,
    refuse_taken,
)
from halfmoon.table._files import open_table
from halfmoon.table._files.frame_table import FrameTable
from halfmoon.table._run_settings import Settings
from halfmoon.table._table_errors import CommandError
from small_tables import write_csv

COLUMNS = ("id", "a", "b", "a,b", "y")


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, ("id", "a", "b", "a,b")),
        ({"exclude": ("id",)}, ("a", "b", "a,b")),
        ({"features": ("b", "a")}, ("a", "b")),  # in the order of the table
        ({"features": ("a,b",)}, ("a,b",)),  # the name of a column comes first
        ({"exclude": ("id,b", "a,b")}, ("a",)),
        ({"features": ("a",), "known": ("b",)}, ("a", "b")),
        ({"known": ("b",)}, ("id", "a", "b", "a,b")),
        ({"features": (" a , b",)}, ("a", "b")),
        ({"exclude": ("a*",)}, ("id", "b")),
        ({"features": ("?", "id")}, ("id", "a", "b")),  # not the target
        ({"exclude": ("i?,b",)}, ("a", "a,b")),
    ],
)
def test_chosen_features(options, expected):
    assert chosen_features(COLUMNS, Settings("y", **options)) == expected


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"features": ("y",)}, "holds labels and cannot be learned from"),
        ({"known": ("y",)}, "Remove it from known"),
        ({"features": ("a",), "exclude": ("a",)}, "'a' is in features and in exclude"),
        ({"known": ("a",), "exclude": ("a",)}, "'a' is in known and in exclude"),
        ({"exclude": COLUMNS[:-1]}, "No column is left"),
        ({"exclude": ("bill_*",)}, "No column matches 'bill_*' (in exclude). The"),
        ({"exclude": ("id_*",)}, "matches 'id_*' (in exclude). Similar names: 'id'."),
        ({"features": ("a,c",)}, "no column 'c' (in features)"),
    ],
)
def test_refused(options, words):
    with pytest.raises(CommandError) as error:
        chosen_features(COLUMNS, Settings("y", **options))
    assert words in str(error.value)


def test_known_columns_are_in_the_order_of_the_table():
    assert known_columns(COLUMNS, Settings("y", known=("b", "a"))) == ("a", "b")


def test_suggestions_for_a_missing_column():
    with pytest.raises(CommandError, match="Did you mean 'Species'"):
        existing("species", ["Species", "x"])
    with pytest.raises(CommandError, match=r"no column 'zzz'\. It has 'Species', 'x'"):
        existing("zzz", ["Species", "x"])


def test_a_table_that_has_the_new_columns_is_refused():
    refuse_taken(["a"], added_columns("y", "numbers"))
    with pytest.raises(CommandError, match="already has a column 'y_low'"):
        refuse_taken(["y", "y_low"], added_columns("y", "numbers"))


def test_many_names_are_cut():
    assert quoted([str(i) for i in range(15)]).endswith("'11' and 3 more")


def runs_of(**columns):
    return earlier_runs(FrameTable(pa.table(columns), batch_rows=2))


def test_columns_of_an_earlier_run():
    runs = runs_of(
        x=[1, 2, 3],
        y=["a", "b", "c"],
        y_source=["given", " Predicted", None],
        y_confidence=[None, 0.5, None],
        y_low=[0, 0, 0],
        z=["u", "v", "w"],
        z_source=["given", "given", "the shop"],
        w_source=["given", "predicted", ""],
    )
    assert runs == {"y": ("y_source", "y_confidence", "y_low")}
    assert added_by(runs) == {"y_source", "y_confidence", "y_low"}


@pytest.mark.parametrize(
    "source", [["", "", ""], [None] * 3, [1, 2, 3], ["given", "x", "given"]]
)
def test_columns_that_only_look_like_an_earlier_run(source):
    assert runs_of(y=["a", "b", "c"], y_source=source) == {}


def test_dictionaries_are_read_as_text():
    source = pa.array(["given", "predicted", "given"]).dictionary_encode()
    assert runs_of(y=[1, 2, 3], y_source=source) == {"y": ("y_source",)}
    assert is_predicted(source).tolist() == [False, True, False]


def test_a_table_without_such_names_is_not_read(tmp_path):
    write_csv(tmp_path / "t.csv", [["x", "y"], ["1", "2"]])
    with open_table(tmp_path / "t.csv") as table:
        assert earlier_runs(table) == {}
        assert table.n_rows is None  # known once it was read


def test_too_many_columns_are_refused_at_once():
    columns = [*(f"x{i}" for i in range(20_001)), "y"]
    with pytest.raises(CommandError, match=r"^20,001 columns are too many"):
        chosen_features(columns, Settings("y"))
    assert len(chosen_features(columns, Settings("y", exclude=("x7",)))) == 20_000
    assert len(chosen_features(columns, Settings("y", features=("x1*",)))) == 11_111
