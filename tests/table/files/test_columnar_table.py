"""Parquet and Feather: types, metadata and values are kept, and columns added."""

import datetime
import decimal
import io
import json

import numpy as np
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest

from halfmoon.table._files import columnar_table, new_table, open_table
from halfmoon.table._table_errors import OutputError, ReadError

N = 25
KINDS = ["parquet", "feather"]


@pytest.fixture
def rows():
    """A column of each type, every fifth cell null."""

    def gaps(values):
        return [None if i % 5 == 4 else v for i, v in enumerate(values)]

    day = datetime.datetime(2020, 1, 2, 3, 4, 5)
    numbers = range(N)
    columns = {
        "integer": pa.array(gaps(numbers), pa.int32()),
        "float": pa.array(gaps(i / 7 for i in numbers)),
        "single": pa.array(gaps(i / 8 for i in numbers), pa.float32()),
        "text": pa.array(gaps(f"t{i % 3}" for i in numbers)),
        "label": pa.array(gaps(f"k{i % 3}" for i in numbers)).dictionary_encode(),
        "truth": pa.array(gaps(i % 2 == 0 for i in numbers)),
        "date": pa.array(gaps(day.date() for _ in numbers)),
        "time": pa.array(gaps(day for _ in numbers), pa.timestamp("us")),
        "zone": pa.array(gaps(day for _ in numbers), pa.timestamp("ms", "Asia/Tokyo")),
        "money": pa.array(gaps(decimal.Decimal(i) / 4 for i in numbers)),
        "list": pa.array(gaps([i, i + 1] for i in numbers)),
        "record": pa.array(gaps({"x": i, "y": "é"} for i in numbers)),
        "bytes": pa.array(gaps(b"\xff\x00" for _ in numbers)),
    }
    fields = [pa.field(k, v.type, metadata={"of": k}) for k, v in columns.items()]
    schema = pa.schema(fields, metadata={"made": "by hand"})
    return pa.table(list(columns.values()), schema=schema)


def saved(rows, path):
    if path.suffix == ".parquet":
        pq.write_table(rows, path, compression="zstd", row_group_size=10)
    else:
        feather.write_feather(rows, str(path), chunksize=10)
    return path


def loaded(path):
    if path.suffix == ".parquet":
        return pq.read_table(path)
    return feather.read_table(str(path))


def filled(source, destination, replace, append, batch_rows=7, **options):
    """Write a table with values for all its rows; return the output as Arrow data."""
    with (
        open_table(source, batch_rows=batch_rows) as table,
        new_table(destination, table, **options) as out,
    ):
        for batch in table.batches():
            part = slice(batch.start, batch.start + len(batch))
            out.write(
                batch,
                {name: values[part] for name, values in replace.items()},
                {name: values[part] for name, values in append.items()},
            )
    assert table.n_rows == N


@pytest.mark.parametrize("batch_rows", [1, 7, 100])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("group", [8, 2**16])
def test_rows_and_metadata_are_kept_and_columns_added(
    rows, tmp_path, monkeypatch, kind, batch_rows, group
):
    monkeypatch.setattr(columnar_table, "GROUP_ROWS", group)
    source = saved(rows, tmp_path / f"in.{kind}")
    scores = [i / 3 for i in range(N)]
    new = {"score": scores, "source": ["given", None] * 12 + ["p"]}
    filled(source, tmp_path / f"out.{kind}", {}, new, batch_rows)
    expected = loaded(source)
    for name, values in new.items():
        expected = expected.append_column(name, pa.array(values))
    actual = loaded(tmp_path / f"out.{kind}")
    assert actual.schema.equals(expected.schema, check_metadata=True)
    assert actual.equals(expected)
    if kind == "parquet":
        column = (
            pq.ParquetFile(tmp_path / f"out.{kind}").metadata.row_group(0).column(0)
        )
        assert column.compression == "ZSTD"


@pytest.mark.parametrize("kind", KINDS)
def test_replaced_cells_take_the_type_of_their_column(rows, tmp_path, kind):
    source = saved(rows, tmp_path / f"in.{kind}")
    values = {
        "integer": [None, 100.0] * 12 + [None],
        "text": ["new", None] * 12 + [None],
        "label": ["k1", None, "fresh"] * 8 + [None],
        "truth": ["true", None] * 12 + [None],
        "single": [0.5, None] * 12 + [None],
        "date": ["2021-05-06", None] * 12 + [None],
    }
    filled(source, tmp_path / f"out.{kind}", values, {})
    before, after = loaded(source), loaded(tmp_path / f"out.{kind}")
    assert after.schema.equals(before.schema, check_metadata=True)
    as_typed = {"true": True, "2021-05-06": datetime.date(2021, 5, 6)}
    for name in before.column_names:
        new = values.get(name, [None] * N)
        expected = [
            old if value is None else as_typed.get(value, value)
            for old, value in zip(before[name].to_pylist(), new, strict=True)
        ]
        assert after[name].to_pylist() == expected, name


@pytest.mark.parametrize("kind", KINDS)
def test_numbers_with_decimals_in_a_column_of_integers(rows, tmp_path, kind):
    source = saved(rows, tmp_path / f"in.{kind}")
    values = {"integer": [1.25] + [None] * (N - 1)}
    with pytest.raises(OutputError, match="does not fit into the column 'integer'"):
        filled(source, tmp_path / f"out.{kind}", values, {})
    wider = {"integer": pa.float64()}
    filled(source, tmp_path / f"out.{kind}", values, {}, types=wider)
    after = loaded(tmp_path / f"out.{kind}")["integer"]
    assert after.type == pa.float64()
    assert after.to_pylist() == [1.25, *map(float_or_none, rows["integer"][1:])]


def float_or_none(value):
    return None if value.as_py() is None else float(value.as_py())


def test_dictionaries_that_differ_between_batches(tmp_path):
    values = [f"v{i // 3}" for i in range(N)]
    rows = pa.table({"label": pa.array(values).dictionary_encode()})
    source = saved(rows, tmp_path / "in.parquet")
    new = [None, f"w{N}"] * 12 + [None]
    for group in (1, 5, 2**16):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(columnar_table, "GROUP_ROWS", group)
            out = tmp_path / f"out{group}.feather"
            filled(source, out, {"label": new}, {}, batch_rows=4)
        expected = [v if w is None else w for v, w in zip(values, new, strict=True)]
        assert loaded(out)["label"].to_pylist() == expected


def test_columns_as_text(rows, tmp_path):
    source = saved(rows, tmp_path / "in.parquet")
    filled(source, tmp_path / "out.csv", {"text": ["=x"] + [None] * (N - 1)}, {})
    with open_table(tmp_path / "out.csv") as table:
        (batch,) = table.batches()
    cells = dict(zip(table.columns, batch.rows.columns, strict=True))
    first = {name: column[1].as_py() for name, column in cells.items()}
    assert first.pop("record") == json.dumps({"x": 1, "y": "é"}, ensure_ascii=False)
    assert first == {
        "integer": "1",
        "float": repr(1 / 7),
        "single": "0.125",
        "text": "t1",
        "label": "k1",
        "truth": "false",
        "date": "2020-01-02",
        "time": "2020-01-02T03:04:05.000000",
        "zone": "2020-01-02T03:04:05.000Z",
        "money": "0.25",
        "list": "[1, 2]",
        "bytes": "/wA=",
    }
    assert cells["text"][0].as_py() == "'=x"
    assert {column[4].as_py() for column in cells.values()} == {""}


@pytest.mark.parametrize("kind", KINDS)
def test_text_as_columns(tmp_path, kind):
    (tmp_path / "in.csv").write_bytes(b"a,b\n1,x\nNA,\n 3.5,z\n")
    out = tmp_path / f"out.{kind}"
    types = {}
    with (
        open_table(tmp_path / "in.csv", batch_rows=2) as table,
        new_table(out, table, types=types) as output,
    ):
        types["a"] = pa.float64()  # types may be set after learning
        for batch in table.batches():
            n = len(batch)
            output.write(batch, {"a": [None, 2.5][:n]}, {"c": np.arange(n) / 2})
    after = loaded(out)
    assert after.to_pydict() == {
        "a": [1.0, 2.5, 3.5],
        "b": ["x", "", "z"],
        "c": [0.0, 0.5, 0.0],
    }


def test_an_arrow_stream(tmp_path, rows):
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, rows.schema) as stream:
        stream.write_table(rows)
    data = sink.getvalue().to_pybytes()
    (tmp_path / "in.arrow").write_bytes(data)
    for source in (io.BytesIO(data), tmp_path / "in.arrow"):
        with open_table(source) as table:
            for _ in range(2):
                batches = [batch.rows for batch in table.batches()]
                assert pa.Table.from_batches(batches).equals(rows)


@pytest.mark.parametrize("kind", KINDS)
def test_no_rows(tmp_path, kind, rows):
    source = saved(rows.slice(0, 0), tmp_path / f"in.{kind}")
    with open_table(source) as table, new_table(tmp_path / f"o.{kind}", table) as out:
        assert list(table.batches()) == []
        out.write(table.empty(), append={"c": []})
    after = loaded(tmp_path / f"o.{kind}")
    assert after.column_names == [*rows.column_names, "c"]
    assert after.num_rows == 0


@pytest.mark.parametrize("kind", KINDS)
def test_files_of_another_format_are_refused(tmp_path, kind, rows):
    path = saved(rows, tmp_path / f"in.{kind}")
    data = path.read_bytes()
    for damaged in (b"a,b\n1,2\n", data[: len(data) // 2], data[:10]):
        path.write_bytes(damaged)
        with pytest.raises(
            ReadError, match=f"is not a {kind.capitalize()} file, or is"
        ):
            open_table(path)
    doubled = pa.table([[1], [2]], names=["a", "a"])
    with pytest.raises(
        ReadError, match=r"duplicate column names: 'a' \(columns 1 and 2"
    ):
        open_table(saved(doubled, path))
    with pytest.raises(ReadError, match="Feather file of version 1"):
        open_table(io.BytesIO(b"FEA1\0\0\0\0"))


def test_a_column_name_that_is_not_utf_8_is_refused():
    stream = io.BytesIO()
    with pa.ipc.new_stream(stream, pa.schema([("abcdefg", pa.int64())])):
        pass
    data = stream.getvalue().replace(b"abcdefg", b"abc\x80efg")
    with pytest.raises(ReadError, match="is damaged or cut short"):
        open_table(io.BytesIO(data))
