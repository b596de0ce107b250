"""Every Arrow type, as a feature and as the target."""

import datetime as dt
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

from halfmoon.table import Settings, fill_table, open_table
from halfmoon.table._files.arrow_types import (
    column_text,
    plain_array,
    plain_rows,
)
from halfmoon.table._files.far_dates import far_dates
from halfmoon.table._table_errors import LabelError, OutputError

N = 40
I = list(range(N))
TEXTS = [f"t{i % 3}" for i in I]
FAR = pa.array([10**8 if i % 4 == 0 else i for i in I], pa.int32()).cast(pa.date32())


def with_null_value(n):
    places = pa.array([i % 3 if i < n else None for i in I], pa.int8())
    return pa.DictionaryArray.from_arrays(places, pa.array(["t0", None, "t2"]))


def extension(kind, storage):
    return pa.ExtensionArray.from_storage(kind, storage)


# What is learned from, and the kind that it is.
LEARNED = {
    "string_view": (pa.array(TEXTS, pa.string_view()), "category"),
    "large_string": (pa.array(TEXTS, pa.large_string()), "category"),
    "runs": (pc.run_end_encode(pa.array([f"a{i // 9}" for i in I])), "category"),
    "number_runs": (pc.run_end_encode(pa.array([i // 9 for i in I])), "number"),
    "null_value": (with_null_value(N), "category"),
    "far_dates": (FAR, "date"),
    "years_before_1": (
        pa.array([*(-719_528 - 9 * i for i in I[2:]), 1, 2], pa.int32()).cast(
            pa.date32()
        ),
        "date",
    ),
    "far_seconds": (
        pa.array([2**62 if i % 5 == 0 else i for i in I]).cast(pa.timestamp("s")),
        "date",
    ),
    "negative_scale": (
        pa.array([Decimal(100 * i % 700) for i in I], pa.decimal128(9, -2)),
        "number",
    ),
    "wide_decimal": (
        pa.array([Decimal(i % 7) / 4 for i in I], pa.decimal256(50, 2)),
        "number",
    ),
    "durations": (pa.array([i % 7 for i in I]).cast(pa.duration("ms")), "number"),
    "far_durations": (
        pa.array([(i % 7) * 2**59 for i in I]).cast(pa.duration("s")),
        "number",
    ),
    "half": (pa.array(np.arange(N) % 7, pa.float16()), "number"),
    "truth": (
        extension(pa.bool8(), pa.array([i % 2 for i in I], pa.int8())),
        "number",
    ),
}
NESTED = {  # learned from as text
    "list": (pa.array([[i % 7] for i in I]), "category"),
    "pair": (pa.array([[i % 7, i] for i in I], pa.list_(pa.int64(), 2)), "several"),
    "struct": (pa.array([{"a": i % 7, "b": i / 4} for i in I]), "several"),
    "tags": (pa.array([["x", "y", "z"][: 1 + i % 3] for i in I]), "category"),
}
LEFT_OUT = {
    "bytes": pa.array([t.encode() for t in TEXTS], pa.binary()),
    "byte_views": pa.array([t.encode() for t in TEXTS], pa.binary_view()),
    "two_bytes": pa.array([t.encode() for t in TEXTS], pa.binary(2)),
    "bytes_in_struct": pa.array([{"a": t.encode()} for t in TEXTS]),
    "map": pa.array([[("a", i)] for i in I], pa.map_(pa.string(), pa.int64())),
    "union": pa.UnionArray.from_dense(
        pa.array([0] * N, pa.int8()), pa.array(I, pa.int32()), [pa.array(I)]
    ),
    "interval": pa.array([(i, i, i) for i in I], pa.month_day_nano_interval()),
    "uuid": extension(pa.uuid(), pa.array([bytes([i] * 16) for i in I], pa.binary(16))),
}


def is_in_parquet(array):
    try:
        pq.write_table(pa.table({"x": array}), pa.BufferOutputStream())
    except (pa.ArrowException, OSError):
        return False
    return True


EVERY = {name: array for name, (array, _) in (LEARNED | NESTED).items()} | LEFT_OUT
# Views are, or are not, depending on the version of pyarrow.
NOT_IN_PARQUET = {name for name, array in EVERY.items() if not is_in_parquet(array)}


def saved(table, path):
    if path.suffix == ".parquet":
        pq.write_table(table, path)
    else:
        pyarrow.feather.write_feather(table, path, compression="uncompressed")
    return path


def loaded(path):
    if path.suffix == ".parquet":
        return pq.read_table(path)
    return pyarrow.feather.read_table(path)


def filled(source, out, target="y"):
    with open_table(source) as table:
        return fill_table(table, out, Settings(target, budget=1e-9), overwrite=True)


@pytest.mark.parametrize(
    "kind", ["parquet", pytest.param("feather", marks=pytest.mark.slow)]
)
def test_columns_of_all_types_are_learned_from_or_left_out(tmp_path, kind):
    columns = EVERY
    if kind == "parquet":
        columns = {n: a for n, a in columns.items() if n not in NOT_IN_PARQUET}
    y = pa.array(["a" if i % 2 else "b" for i in I[:20]] + [None] * 20)
    source = saved(pa.table({**columns, "y": y}), tmp_path / f"t.{kind}")
    before = loaded(source)
    result = filled(source, tmp_path / f"o.{kind}")
    after = loaded(tmp_path / f"o.{kind}")
    for use in result.model.columns_.uses:
        if use.name in LEARNED:
            assert (use.kind, use.why) == (LEARNED[use.name][1], ""), use.name
        elif use.name in NESTED:
            assert use.kind.startswith(NESTED[use.name][1]), use.name
        else:
            why = f"cells of type {before.schema.field(use.name).type} are not"
            assert use.kind == "unsupported"
            assert use.why.startswith(why), use.name
        assert after.schema.field(use.name).type == before.schema.field(use.name).type
        texts = [
            [text for chunk in table[use.name].chunks for text in column_text(chunk)]
            for table in (before, after)
        ]
        assert texts[0] == texts[1], use.name
    notes = [str(note) for note in result.notes]
    assert (
        "10 cells of 'far_dates' have dates before the year 1 or after 9999 and "
        "counted as missing."
    ) in notes
    # Also as text, which keeps far dates.
    filled(source, tmp_path / "o.csv")
    text = (tmp_path / "o.csv").read_text(encoding="utf-8")
    assert "value out of range" not in text
    assert "275760-09-13" in text


TARGETS = ["string_view", "runs", "number_runs", "null_value", "truth", "wide_decimal"]


@pytest.mark.parametrize("name", TARGETS)
@pytest.mark.parametrize("kind", ["parquet", "feather"])
def test_targets_keep_their_type(tmp_path, kind, name):
    if kind == "parquet" and name in NOT_IN_PARQUET:
        pytest.skip("Parquet has no such type")
    array = LEARNED[name][0]
    if name == "null_value":
        array = with_null_value(20)
    else:
        array = pa.concat_arrays([array.slice(0, 20), pa.nulls(20, array.type)])
    source = saved(
        pa.table({"x": np.arange(N) % 3, "y": array}), tmp_path / f"t.{kind}"
    )
    before = loaded(source)["y"]
    filled(source, tmp_path / f"o.{kind}")
    after = loaded(tmp_path / f"o.{kind}")["y"]
    assert after.type == before.type
    assert None not in after.to_pylist()
    for old, new in zip(before.to_pylist()[:20], after.to_pylist()[:20], strict=True):
        assert old in (None, new)
    filled(source, tmp_path / "o.csv")


@pytest.mark.parametrize("name", [*LEFT_OUT, *NESTED, "durations", "far_durations"])
def test_targets_that_cannot_be_filled_are_refused_before_learning(tmp_path, name):
    array = EVERY[name]
    table = pa.table({"x": I, "y": array})
    source = saved(table, tmp_path / "t.feather")
    with pytest.raises(LabelError, match=r"'y' has the type .* cannot be filled"):
        filled(source, tmp_path / "o.feather")
    assert not (tmp_path / "o.feather").exists()


@pytest.mark.parametrize("name", ["far_dates", "years_before_1", "far_seconds"])
def test_far_dates_are_not_labels(tmp_path, name):
    array = LEARNED[name][0]
    array = pa.concat_arrays([array.slice(0, 20), pa.nulls(20, array.type)])
    source = saved(pa.table({"x": I, "y": array}), tmp_path / "t.feather")
    with pytest.raises(LabelError, match="before the year 1 or after 9999"):
        filled(source, tmp_path / "o.feather")


@pytest.mark.parametrize("name", ["runs", "union", "interval", "negative_scale"])
def test_types_that_parquet_lacks_are_refused_before_learning(tmp_path, name):
    array = EVERY[name]
    table = pa.table({"x": I, "odd": array, "y": pa.array(TEXTS[:20] + [None] * 20)})
    source = saved(table, tmp_path / "t.feather")
    with pytest.raises(OutputError, match="Parquet has no type for the column 'odd'"):
        filled(source, tmp_path / "o.parquet")


def test_times_as_target(tmp_path):
    times = [dt.time(i % 3) for i in I[:20]] + [None] * 20
    table = pa.table({"x": np.arange(N) % 3, "y": pa.array(times, pa.time32("s"))})
    source = saved(table, tmp_path / "t.feather")
    filled(source, tmp_path / "o.feather")
    after = loaded(tmp_path / "o.feather")["y"]
    assert after.type == pa.time32("s")
    assert after.to_pylist()[:20] == times[:20]
    assert {t.hour for t in after.to_pylist()} == {0, 1, 2}


def test_plain_columns_are_not_copied():
    rows = pa.RecordBatch.from_pydict(
        {"a": [1.5], "b": ["x"], "c": [dt.date(2020, 1, 1)]}
    )
    assert plain_rows(rows) is rows
    assert far_dates(rows) == {}


def test_durations_are_seconds():
    array = pa.array([1500, None]).cast(pa.duration("ms"))
    assert plain_array(array).to_pylist() == [1.5, None]


def test_the_first_and_the_last_date():
    ends = pa.array([dt.date.min, dt.date.max])
    assert plain_array(ends) is ends
    days = ends.cast(pa.int32()).to_pylist()
    beyond = pa.array([days[0] - 1, days[0], days[1], days[1] + 1], pa.int32())
    assert plain_array(beyond.cast(pa.date32())).to_pylist() == [
        *(None, dt.date.min, dt.date.max, None)
    ]
    for unit in ("s", "ms", "us"):
        moments = pa.array([dt.datetime.min, dt.datetime.max]).cast(
            pa.timestamp(unit), safe=False
        )
        assert plain_array(moments) is moments


def test_nested_values_that_python_lacks_become_text():
    far = pa.array([2**62, 5]).cast(pa.timestamp("s"))
    same = pa.StructArray.from_arrays([pa.array([1, 2])] * 2, names=["a", "a"])
    later = "146138514283-06-19T07:45:04"
    assert column_text(same) == ['{"a": 1, "a": 1}', '{"a": 2, "a": 2}']
    assert column_text(
        pa.ListArray.from_arrays(pa.array([0, 2]).cast("int32"), far)
    ) == [f'["{later}", "1970-01-01 00:00:05"]']
    pairs = pa.MapArray.from_arrays(
        pa.array([0, 1, 2], pa.int32()), pa.array(["k", "l"]), far
    )
    assert column_text(pairs)[0] == f'[["k", "{later}"]]'


def test_a_time_zone_that_is_not_known_is_read_as_utc():
    array = pa.array([0, 3600, None]).cast(pa.timestamp("s", "Mars/Phobos"))
    assert plain_array(array).type == pa.timestamp("s", "UTC")
    assert [t and t.hour for t in plain_array(array).to_pylist()] == [0, 1, None]
    assert plain_array(array.cast(pa.timestamp("s", "UTC"))).type.tz == "UTC"
