"""The labeling loop: a filled table is filled again."""

import json

import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

from halfmoon.table._files import open_table
from small_tables import a_line, error_of, read_csv, told_of, two_groups, write_csv

QUICK = ("--budget", "0.000001", "--no-report", "--json")


@pytest.fixture
def filled(run):
    rows, truth = two_groups()
    write_csv("t.csv", rows)
    told_of(run("fill", "t.csv", "-t", "side", *QUICK))
    return rows, truth


def test_predictions_are_blank_again(run, filled):
    record = told_of(run("fill", "t.filled.csv", "-t", "side", *QUICK))
    assert record["table"] == "t.filled2.csv"
    assert (record["given"], record["predicted"]) == (10, 30)
    assert record["learned_from"]["columns"] == ["x", "note", "z"]
    assert record["notes"][0] == (
        "30 rows marked 'predicted' in 'side_source' were filled again. To keep a "
        "correction, set its source to 'given' or clear that cell."
    )
    # No column is added twice, and the predictions are the same.
    once, twice = (read_csv(name) for name in ("t.filled.csv", "t.filled2.csv"))
    assert [row[:5] for row in twice] == [row[:5] for row in once]
    assert [len(row) for row in twice] == [6] * 41
    assert (
        "t.filled3.csv"
        in told_of(run("fill", "t.filled2.csv", "-t", "side", *QUICK))["table"]
    )


def test_corrections_are_kept(run, filled):
    table = read_csv("t.filled.csv")
    table[20][3:] = ["left", "given", "0.9"]  # the old confidence is forgotten
    table[21][3:] = ["left", "", ""]
    table[5][3] = ""  # a label that was removed
    write_csv("c.csv", table)
    record = told_of(run("fill", "c.csv", "-t", "side", *QUICK))
    assert (record["given"], record["predicted"]) == (11, 29)
    out = read_csv("c.filled.csv")
    assert out[0] == table[0]
    assert out[20][3:] == out[21][3:] == ["left", "given", ""]
    assert out[5][3:5] == ["left", "predicted"]
    assert 0.5 < float(out[5][5]) <= 1


def test_the_task_may_change(run):
    rows, _ = two_groups()
    for i, row in enumerate(rows[1:]):
        row[3] = str(i % 2) if i < 10 else ""
    write_csv("t.csv", rows)
    told_of(run("fill", "t.csv", "-t", "side", *QUICK))
    told_of(run("fill", "t.filled.csv", "-t", "side", "--task", "numbers", *QUICK))
    out = read_csv("t.filled2.csv")
    assert out[0][4:] == ["side_source", "side_confidence", "side_low", "side_high"]
    assert {row[5] for row in out[1:]} == {""}  # the confidence of classes is gone
    assert all(row[6] and row[7] for row in out[11:])


@pytest.mark.parametrize("ending", ["parquet", "feather"])
def test_typed_columns_are_emptied_too(run, ending):
    rows, _ = a_line()
    columns = {
        "x": pa.array([float(row[0]) for row in rows[1:]]),
        "y": pa.array([None if row[1] == "NA" else float(row[1]) for row in rows[1:]]),
    }
    pq.write_table(pa.table(columns), "t.parquet")
    told_of(run("fill", "t.parquet", "-t", "y", "-o", f"a.{ending}", *QUICK))
    read = pq.read_table if ending == "parquet" else pa.feather.read_table
    table = read(f"a.{ending}")
    source = table.column("y_source").to_pylist()
    source[40] = "given"
    table = table.set_column(2, "y_source", pa.array(source).dictionary_encode())
    pq.write_table(table, "c.parquet")
    record = told_of(run("fill", "c.parquet", "-t", "y", "-o", f"b.{ending}", *QUICK))
    assert (record["given"], record["predicted"]) == (31, 29)
    again = read(f"b.{ending}")
    assert again.column_names == ["x", "y", "y_source", "y_low", "y_high"]
    assert again.column("y_low").null_count == 31
    assert again.column("y_low").to_pylist()[40] is None
    assert again.column("y_source").to_pylist() == source
    assert again.column("y").to_pylist()[40] == table.column("y").to_pylist()[40]


def test_guesses_of_another_target_are_not_learned_from(run, filled):
    table = read_csv("t.filled.csv")
    for i, row in enumerate(table):
        row.append("color" if i == 0 else ["red", "blue"][i % 2] if i < 20 else "")
    write_csv("c.csv", table)
    record = told_of(run("fill", "c.csv", "-t", "color", *QUICK))
    assert record["learned_from"]["columns"] == ["x", "note", "z"]
    assert any("'side' was not learned from: some" in n for n in record["notes"])
    options = ("-t", "color", "--overwrite", *QUICK)
    record = told_of(run("fill", "c.csv", *options, "--features", "x", "side"))
    assert record["learned_from"]["columns"] == ["x", "side"]
    record = told_of(run("fill", "c.csv", *options, "--features", "s*", "x"))
    assert record["learned_from"]["columns"] == ["x", "side"]
    line = error_of(run("fill", "c.csv", *options, "--features", "side_confidence"))
    assert "'side_confidence' was added by an earlier run" in line


@pytest.mark.slow
def test_predict_fills_again_too(run, filled):
    told_of(run("fill", "t.csv", "-t", "side", "--model", "m", "-o", "a.csv", *QUICK))
    record = told_of(run("predict", "m", "a.csv", "-o", "b.csv", "--json"))
    assert record["predicted"] == 30
    assert read_csv("b.csv") == read_csv("a.csv")


def test_a_source_of_the_users_own_is_refused(run):
    rows, _ = two_groups()
    for i, row in enumerate(rows):
        row[1] = "side_source" if i == 0 else "the shop"
    write_csv("t.csv", rows)
    line = error_of(run("fill", "t.csv", "-t", "side", *QUICK))
    assert "already has a column 'side_source'" in line


@pytest.mark.slow
@pytest.mark.parametrize(
    "ending", ["xlsx", pytest.param("ods", marks=pytest.mark.slow)]
)
def test_workbooks_are_emptied_too(run, filled, ending):
    table = read_csv("t.filled.csv")
    table[20][4:] = ["given", "0.25"]
    write_csv("c.csv", table)
    told_of(
        run("fill", "c.csv", "-t", "side", "-o", f"a.{ending}", *QUICK)
    )  # a new one
    told_of(run("fill", f"a.{ending}", "-t", "side", *QUICK))  # a copy
    for name in (f"a.{ending}", f"a.filled.{ending}"):
        record = told_of(
            run("fill", name, "-t", "side", "-o", "b.csv", "--overwrite", *QUICK)
        )
        assert (record["given"], record["predicted"]) == (11, 29)
        with open_table(name) as workbook:
            (batch,) = workbook.batches()
        confidence = batch.rows.column("side_confidence").to_pylist()
        assert [c for c in confidence[:10] if c] == []
        assert not confidence[19]
        assert all(confidence[20:])


def test_json_lines_are_emptied_too(run, filled, folder):
    table = read_csv("t.filled.csv")
    table[20][4:] = ["given", "0.25"]
    lines = [json.dumps(dict(zip(table[0], row, strict=True))) for row in table[1:]]
    (folder / "c.jsonl").write_text("\n".join(lines))
    told_of(run("fill", "c.jsonl", "-t", "side", *QUICK))
    out = [json.loads(x) for x in (folder / "c.filled.jsonl").read_text().split("\n")]
    assert list(out[19].values())[3:] == [table[20][3], "given", None]
    assert 0.5 < float(out[20]["side_confidence"]) <= 1
