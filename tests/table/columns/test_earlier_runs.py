"""Tables that halfmoon has filled before."""

import pyarrow as pa
import pytest

from halfmoon.table._columns.earlier_runs import added_by, earlier_runs, is_predicted
from halfmoon.table._files import open_table
from halfmoon.table._files.frame_table import FrameTable
from small_tables import write_csv


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
