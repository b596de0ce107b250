"""Filling streams of Arrow: from any source of batches to a reader of batches."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from halfmoon import load, save
from halfmoon.table import (
    Settings,
    TableError,
    _fill_table,
    fill_table,
    open_table,
    predict_table,
)
from halfmoon.table._files.columnar_table import ColumnarTable
from halfmoon.table._runs import first_pass, run_costs
from halfmoon.table._runs.second_pass import _rows_where

SETTINGS = Settings("kind", budget=1e-9)  # one candidate on every machine


def rows():
    x = np.random.default_rng(0).normal(size=60)
    kind = np.where(x > 0, "up", "down").astype(object)
    kind[10:] = None
    return pa.table({"x": x, "n": np.arange(60) % 7, "kind": list(kind)})


class Once:
    """A stream that can be read once, such as a relation of DuckDB."""

    def __init__(self, table, at_once):
        self._reader = pa.RecordBatchReader.from_batches(
            table.schema, iter(table.to_batches(max_chunksize=at_once))
        )

    def __arrow_c_stream__(self, requested_schema=None):
        return self._reader.__arrow_c_stream__(requested_schema)


@pytest.fixture(scope="module")
def expected():
    return fill_table(rows(), None, SETTINGS).read_all()


def test_a_table_comes_back_filled(expected):
    given = rows()
    assert expected.schema.names == [
        *given.column_names,
        "kind_source",
        "kind_confidence",
    ]
    assert expected.schema.types[:3] == given.schema.types
    assert expected.select(["x", "n"]).equals(given.select(["x", "n"]))
    kinds = expected["kind"].to_pylist()
    assert kinds[:10] == given["kind"].to_pylist()[:10]
    x = given["x"].to_numpy()
    right = [k == ("up" if v > 0 else "down") for k, v in zip(kinds, x, strict=True)]
    assert np.mean(right) > 0.85
    assert expected["kind_source"].to_pylist() == ["given"] * 10 + ["predicted"] * 50


@pytest.mark.parametrize("at_once", [7, 60])
def test_streams_give_the_same(expected, at_once):
    reader = fill_table(Once(rows(), at_once), None, SETTINGS)
    assert isinstance(reader, pa.RecordBatchReader)
    assert reader.read_all().to_pylist() == expected.to_pylist()


@pytest.mark.parametrize(
    "frame", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"]
)
def test_data_frames_give_the_same(expected, frame):
    given = rows().to_pandas() if frame is pd.DataFrame else pl.from_arrow(rows())
    assert isinstance(given, frame)
    filled = fill_table(given, None, SETTINGS).read_all().to_pylist()
    assert filled == expected.to_pylist()


def test_relations_of_duckdb_give_the_same(expected):
    duckdb = pytest.importorskip("duckdb")
    given = rows()  # noqa: F841 - found by its name
    relation = duckdb.sql("select * from given")
    filled = fill_table(relation, None, SETTINGS).read_all()
    assert filled.to_pylist() == expected.to_pylist()


def test_a_stream_may_go_to_a_file(expected, tmp_path):
    filled = fill_table(Once(rows(), 9), tmp_path / "a.parquet", SETTINGS)
    assert filled.tally.n == 50
    with open_table(tmp_path / "a.parquet") as table:
        found = [row for batch in table.batches() for row in batch.rows.to_pylist()]
    assert found == expected.to_pylist()


def test_batches_are_filled_on_demand(monkeypatch):
    kept = []
    real = ColumnarTable.batches

    def batches(self, progress=None):
        for batch in real(self, progress):
            kept.append(len(batch))
            yield batch

    monkeypatch.setattr(ColumnarTable, "batches", batches)
    reader = fill_table(Once(rows(), 10), None, Settings("kind", budget=1e-9))
    first_pass = len(kept)
    assert first_pass == 6
    assert reader.read_next_batch().num_rows == 10
    assert len(kept) == first_pass + 1


def test_errors_come_before_the_first_batch():
    with pytest.raises(TableError, match="no column 'color'"):
        fill_table(Once(rows(), 9), None, Settings("color"))


@pytest.mark.parametrize("kept", [False, True])
def test_a_model_of_a_filled_table_predicts_a_table_with_labels(tmp_path, kept):
    settings = Settings("kind", budget=1e-9, unlabeled="?")
    filled = fill_table(rows(), tmp_path / "filled.csv", settings)
    model = filled.model
    if kept:
        save(model, tmp_path / "kind.halfmoon")
        model = load(tmp_path / "kind.halfmoon")
    with open_table(rows()) as table:
        predicted = predict_table(table, tmp_path / "predicted.csv", model)
    assert predicted.tally.n == filled.tally.n
    assert predicted.scored.learned.n == filled.scan.n_labeled


@pytest.mark.parametrize("share", [0.0, 0.001, 0.5, 1.0])
def test_some_rows_are_those_that_were_taken(rng, share):
    table = pa.table({"a": np.arange(3_000), "b": list(map(str, range(3_000)))})
    rows = table.append_column("c", table["b"].dictionary_encode()).to_batches()[0]
    mask = rng.random(3_000) >= share
    expected = rows.take(pa.array(np.flatnonzero(mask)))
    assert _rows_where(rows, mask).to_pydict() == expected.to_pydict()


def test_memory_that_the_process_holds_does_not_count(monkeypatch):
    held = 3_000_000_000
    monkeypatch.setattr(run_costs, "resident_bytes", lambda: held)
    limits = []

    def learned(table, settings, *_):
        limits.append(run_costs.MemoryBudget.within(settings.memory))
        raise TableError("enough")

    monkeypatch.setattr(_fill_table, "learn", learned)
    for memory in ("1GB", "2GB"):
        with pytest.raises(TableError, match="enough"):
            fill_table(rows(), None, Settings("kind", memory=memory))
    expected = [
        run_costs.MemoryBudget.within(memory, taken=0) for memory in ("1GB", "2GB")
    ]
    assert limits == expected
    with pytest.raises(TableError, match="200 MB of memory is too little"):
        fill_table(rows(), None, Settings("kind", memory="200MB"))


def test_unreadable_cells_are_counted_once(tmp_path, monkeypatch):
    monkeypatch.setattr(first_pass, "MAX_UNLABELED", 30)  # so that time is forecast
    x = np.random.default_rng(0).normal(size=80)
    cells = [f"{value:.3f}" for value in x]
    cells[3] = cells[40] = cells[50] = "odd"  # one labeled row and two others
    kind = [*np.where(x[:20] > 0, "up", "down"), *[""] * 60]
    rows = pd.DataFrame({"x": cells, "n": np.arange(80) % 7, "kind": kind})
    rows.to_csv(tmp_path / "t.csv", index=False)
    with open_table(tmp_path / "t.csv") as table:
        filled = fill_table(table, tmp_path / "out.csv", Settings("kind", budget=1e-9))
    assert filled.tally.n == 60
    assert filled.model.columns_.unread == {"x": 2}
