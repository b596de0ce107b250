"""Several files as one table."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from halfmoon.table._files import new_table, open_table
from halfmoon.table._table_errors import OutputError, ReadError


def copied(pattern, place):
    with open_table(pattern) as table, new_table(place, like=table) as out:
        for batch in table.batches():
            out.write(
                batch, {}, {"row": list(range(batch.start, batch.start + len(batch)))}
            )
    return table


def test_text_files_are_concatenated(tmp_path):
    (tmp_path / "b.csv").write_text("x,y\n3,c\n")
    (tmp_path / "a.csv").write_text("x,y\r\n1,a\r\n2,b")  # without a last line end
    table = copied(tmp_path / "*.csv", tmp_path / "made.txt")
    assert (tmp_path / "made.txt").read_bytes() == (
        b"x,y,row\r\n1,a,0\r\n2,b,1\r\n3,c,2\n"
    )
    assert table.n_rows == 3
    assert table.source.size == 13 + 8
    both = (tmp_path / "a.csv").read_bytes() + (tmp_path / "b.csv").read_bytes()
    assert b"".join(table.source.pieces()) == both


def test_typed_columns_get_a_common_type(tmp_path):
    pq.write_table(pa.table({"x": [1, 2]}), tmp_path / "a.parquet")
    pq.write_table(pa.table({"x": [2.5]}), tmp_path / "b.parquet")
    copied(tmp_path / "?.parquet", tmp_path / "made.feather")
    with open_table(tmp_path / "made.feather") as table:
        (batch,) = table.batches()
    assert batch.rows.to_pydict() == {"x": [1.0, 2.0, 2.5], "row": [0, 1, 2]}


def test_json_lines_keep_their_text(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"x": 1.50}')
    (tmp_path / "b.jsonl").write_text('{"x": 2}\n')
    copied(tmp_path / "*.jsonl", tmp_path / "made.ndjson")
    assert (tmp_path / "made.ndjson").read_text() == (
        '{"x": 1.50, "row": 0}\n{"x": 2, "row": 1}\n'
    )


@pytest.mark.parametrize(
    ("other", "what"),
    [
        ("x,z\n1,2\n", "b.csv has other columns than .*: it has a column 'z'"),
        ("x\n1\n", "it has no column 'y'"),
        ("y,x\n1,2\n", "their order differs"),
        ("x;y\n1;2\n", "differ in format, delimiter or encoding"),
    ],
)
def test_files_that_differ_are_refused(tmp_path, other, what):
    (tmp_path / "a.csv").write_text("x,y\n1,2\n")
    (tmp_path / "b.csv").write_text(other)
    with pytest.raises(ReadError, match=what):
        open_table(tmp_path / "*.csv")


def test_patterns_without_files_are_refused(tmp_path):
    with pytest.raises(ReadError, match="No file matches"):
        open_table(tmp_path / "*.csv")
    (tmp_path / "a.feather").touch()
    with pytest.raises(ReadError) as caught:
        open_table(tmp_path)
    assert str(caught.value).endswith(f"give a pattern: '{tmp_path}/*.feather'")


def test_a_file_name_with_brackets_is_not_a_pattern(tmp_path):
    (tmp_path / "a[1].csv").write_text("x,y\n1,2\n")
    with open_table(tmp_path / "a[1].csv") as table:
        assert table.columns == ("x", "y")


def test_none_of_the_files_is_overwritten(tmp_path):
    for name in ("a.csv", "b.csv"):
        (tmp_path / name).write_text("x,y\n1,2\n")
    with (
        open_table(tmp_path / "*.csv") as table,
        pytest.raises(OutputError, match="is the input"),
        new_table(tmp_path / "b.csv", like=table, overwrite=True),
    ):
        pass
