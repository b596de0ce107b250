import subprocess
import sys
from datetime import datetime

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from pandas.testing import assert_frame_equal, assert_series_equal
from polars.testing import assert_frame_equal as assert_polars_equal

import halfmoon
from halfmoon.table import Settings, TableError, fill_table, open_table
from halfmoon.table._files.frame_rows import as_rows
from halfmoon.table._files.frame_table import FrameTable
from small_tables import two_groups

AT_ONCE = 1e-9  # a budget that leaves time for one candidate


def flowers(n=60):
    """Two classes, told apart by a number and by a text; every third has a label."""
    rng = np.random.default_rng(0)
    second = np.arange(n) % 2 == 1
    frame = pd.DataFrame(
        {
            "length": np.where(second, 3.0, 0.0) + 0.3 * rng.normal(size=n),
            "color": np.where(second, "<b>red", "blue"),
            "seen": pd.date_range("2024-01-01", periods=n, tz="Europe/Paris"),
            "species": np.where(second, "rose & co", "iris"),
        },
        index=[f"row {i}" for i in range(n)],
    )
    truth = frame["species"].copy()
    frame.loc[np.arange(n) % 3 > 0, "species"] = None
    return frame, truth


@pytest.fixture(scope="module")
def of_pandas():
    frame, truth = flowers()
    before = frame.copy(deep=True)
    result = halfmoon.fill(frame, "species", budget=AT_ONCE)
    assert_frame_equal(frame, before)  # it is not changed
    return frame, truth, result


def test_blanks_are_filled_and_the_rest_stays(of_pandas):
    frame, truth, result = of_pandas
    table = result.table
    assert_series_equal(table["species"], truth)
    assert_frame_equal(table[list(frame.columns[:3])], frame[list(frame.columns[:3])])
    given = frame["species"].notna()
    assert (table["species_source"] == np.where(given, "given", "predicted")).all()
    assert table["species_confidence"].isna().eq(given).all()
    assert table["species_confidence"].dropna().between(0.5, 1).all()
    assert list(table.columns[4:]) == ["species_source", "species_confidence"]


def test_polars_gives_the_same_predictions(of_pandas):
    frame, _, result = of_pandas
    of_polars = pl.from_pandas(frame)
    before = of_polars.clone()
    other = halfmoon.fill(of_polars, "species", budget=AT_ONCE)
    assert_polars_equal(of_polars, before)
    assert other.table["species"].to_list() == result.table["species"].to_list()
    assert other.table.schema["species"] == pl.String
    assert other.table["species_confidence"].null_count() == 20
    assert isinstance(other.next_rows, pl.DataFrame)
    assert isinstance(other.suspects, pl.DataFrame)
    assert other.suspects.columns[-1] == "species_confidence"
    new = pl.DataFrame({"length": [3.0], "color": ["<b>red"], "seen": [None]})
    assert other.model.predict(new).values == ["rose & co"]


def test_the_model_takes_data_frames(of_pandas):
    frame, _, result = of_pandas
    new = frame.drop(columns="species").iloc[:4]
    assert result.model.predict(new).values == ["iris", "rose & co"] * 2


def test_rows_to_label_next_are_unsure_ones_with_their_index(of_pandas):
    _, _, result = of_pandas
    rows = result.next_rows
    assert (rows["species_source"] == "predicted").all()
    assert_frame_equal(rows, result.table.loc[rows.index])


def test_a_wrong_label_is_suspected():
    frame, _ = flowers(90)
    frame.loc["row 0", "species"] = "rose & co"
    result = halfmoon.fill(frame, "species", budget=AT_ONCE, exclude="seen")
    assert list(result.suspects.index) == ["row 0"]
    assert list(result.suspects["species"]) == ["rose & co"]
    assert list(result.suspects["species_predicted"]) == ["iris"]
    assert any("other rows: row 0." in text for text in result.summary)  # as iloc


def test_the_notebook_output_is_short_and_escaped(of_pandas):
    _, _, result = of_pandas
    assert len(repr(result)) < 1_500
    assert len(repr(result.filled)) < 100
    assert "40 cells of 'species' filled from 20 labels" in repr(result.filled)
    page = result._repr_html_()
    assert "<b>red" not in page
    assert "rose & co" not in page
    assert "<script" not in page
    assert page.count("<img") == 2
    for sentence in result.record["summary"]:
        assert sentence in str(result)


def test_the_report_is_a_page(of_pandas, tmp_path):
    _, _, result = of_pandas
    report = result.report
    assert report.html.startswith("<!DOCTYPE html>")
    assert "halfmoon.fill(df, &#39;species&#39;, budget=1e-09)" in report.html
    assert len(repr(report)) < 100
    report.save(tmp_path / "report.html")
    assert (tmp_path / "report.html").read_text(encoding="utf-8") == report.html
    assert report._repr_html_().startswith("<iframe srcdoc=")
    assert "<p>" not in report._repr_html_()


def numbers(kind):
    rng = np.random.default_rng(0)
    x = rng.normal(size=60)
    y = pd.Series((10 * x).round() + 0.0).astype(kind)
    y[np.arange(60) % 2 == 1] = None
    return pd.DataFrame({"x": x, "y": y})


@pytest.mark.parametrize(
    ("kind", "filled"),
    [("float64", "float64"), ("float32", "float32"), ("Int64", "Int64")],
)
def test_numbers_and_their_types(kind, filled):
    frame = numbers(kind)
    result = halfmoon.fill(frame, "y", budget=AT_ONCE, task="numbers")
    table = result.table
    assert str(table["y"].dtype) == filled
    known = frame["y"].notna()
    assert (table.loc[known, "y"] == frame.loc[known, "y"]).all()
    assert table["y"].notna().all()
    blank = table[~known]
    assert (blank["y_low"] <= blank["y"]).all()
    assert (blank["y"] <= blank["y_high"]).all()
    assert np.corrcoef(blank["y"].astype(float), blank["x"])[0, 1] > 0.99
    of_polars = halfmoon.fill(
        pl.from_pandas(frame), "y", budget=AT_ONCE, task="numbers"
    )
    assert of_polars.table.schema["y"].is_integer() == (kind == "Int64")
    assert "y_low" in of_polars.suspects.columns


@pytest.mark.parametrize("kind", ["category", "boolean", "object", "string"])
def test_classes_keep_their_type(kind):
    frame, _ = flowers()
    labels = frame["species"].map({"iris": True, "rose & co": False})
    if kind in ("category", "string"):
        labels = frame["species"]
    frame["species"] = labels.astype(kind)
    table = halfmoon.fill(frame, "species", budget=AT_ONCE).table
    assert table["species"].dtype == frame["species"].dtype
    known = frame["species"].notna()
    assert set(table["species"]) == set(frame.loc[known, "species"])


@pytest.mark.slow
def test_labels_of_several_types_are_unchanged():
    frame, _ = flowers()
    frame["species"] = [
        None if x is None or x != x else 1 if x == "iris" else "b"
        for x in frame["species"]
    ]
    table = halfmoon.fill(frame, "species", budget=AT_ONCE).table
    assert set(table["species"]) == {1, "b"}


def test_columns_of_every_kind_can_be_read():
    frame = pd.DataFrame(
        {
            "mixed": [1, "a", None, 2.5],
            "period": pd.period_range("2024-01", periods=4, freq="M"),
            "cut": pd.cut([1, 2, 3, np.nan], 2),
            "sparse": pd.arrays.SparseArray([0, 0, 1, 0]),
            "nullable": pd.array([1, None, 3, 4], dtype="Int64"),
            "when": pd.to_datetime(["2024-01-01"] * 4).tz_localize("UTC"),
            7: [1.5, np.nan, 2, 3],
        }
    )
    rows = as_rows(frame)
    assert rows.column_names == [*map(str, frame.columns)]
    assert rows["mixed"].to_pylist() == ["1", "a", None, "2.5"]
    assert rows["period"].to_pylist()[0] == "2024-01"
    assert rows["cut"].to_pylist()[3] is None
    assert rows["cut"].to_pylist()[0] == str(frame["cut"][0])
    assert rows["sparse"].to_pylist() == [0, 0, 1, 0]
    assert rows["nullable"].to_pylist() == [1, None, 3, 4]
    assert rows["when"].to_pylist()[0] == datetime.fromisoformat("2024-01-01T00:00Z")
    assert rows["7"].null_count == 1
    odd = pl.DataFrame({"odd": pl.Series([{1}, None], dtype=pl.Object)})
    assert as_rows(odd)["odd"].to_pylist() == ["{1}", None]


@pytest.mark.parametrize(
    "make",
    [lambda frame: frame, pl.from_pandas, pa.Table.from_pandas],
    ids=["pandas", "polars", "pyarrow"],
)
def test_a_frame_is_a_table_in_batches(make):
    frame, _ = flowers()
    frame = make(frame.reset_index(drop=True))
    table = open_table(frame, batch_rows=25)
    assert isinstance(table, FrameTable)
    batches = list(table.batches())
    assert [(batch.start, len(batch)) for batch in batches] == [
        (0, 25),
        (25, 25),
        (50, 10),
    ]
    assert pa.Table.from_batches([b.rows for b in batches]).schema == table.schema
    assert table.first_row == 0  # as Python counts rows


@pytest.mark.slow
def test_a_frame_can_be_filled_into_a_file(tmp_path):
    frame, truth = flowers()
    place = tmp_path / "filled.csv"
    with open_table(frame) as table:
        filled = fill_table(table, place, Settings("species", budget=AT_ONCE))
    assert list(pd.read_csv(place)["species"]) == list(truth)
    assert filled.sha256 == fill_sha(frame)
    assert filled.sha256 != fill_sha(frame.iloc[::-1])


def fill_sha(frame):
    import hashlib

    return hashlib.sha256(b"".join(open_table(frame).source.pieces())).hexdigest()


@pytest.mark.parametrize(
    ("frame", "target", "options", "said"),
    [
        (
            "a.csv",
            "y",
            {},
            "frame is of type str, but must be a data frame of pandas, polars or Dask",
        ),
        (pd.DataFrame({"a": [1]}), "b", {}, "no column 'b'"),
        (pd.DataFrame({"a": [1]}), "a", {"budgte": 1}, "Did you mean 'budget'?"),
        (pd.DataFrame({"a": [1]}), "a", {"memory": "much"}, "not an amount of memory"),
        (pd.DataFrame({"a": [1]}), "a", {"sets": 3}, "sets is 3, but must be the text"),
        (
            pa.table({"a": [1]}).to_reader(),
            "a",
            {},
            (
                "frame is of type pyarrow.RecordBatchReader, but must be a data frame "
                "of pandas, polars or Dask, or a table of pyarrow. Use "
                "pyarrow.table(frame)."
            ),
        ),
        (
            pd.DataFrame({"a": [1]}),
            "a",
            {"report": "r.html"},
            "fill has no option 'report'. It has features",
        ),
        (pl.LazyFrame({"a": [1]}), "a", {}, "frame.collect()"),
        (pd.DataFrame({("a", "b"): [1]}), "a", {}, "2 levels of column names"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), "a", {}, "column names: 'a'"),
        (pd.DataFrame(index=[1]), "a", {}, "has no columns"),
    ],
)
def test_errors_of_fill(frame, target, options, said):
    with pytest.raises(TableError) as error:
        halfmoon.fill(frame, target, **options)
    assert said in str(error.value)
    assert "\n" not in str(error.value)


def test_missing_libraries_are_named():
    code = (
        "import sys; sys.modules['pyarrow'] = None; import halfmoon\n"
        "try: halfmoon.fill(None, 'y')\n"
        "except ModuleNotFoundError as error: print(error)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == (
        "halfmoon.fill needs pyarrow, which is not installed. Run: "
        'pip install "halfmoon[table]"'
    )


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_a_filled_frame_is_filled_again(library):
    rows, _ = two_groups()
    table = pa.table(
        {
            "x": [float(row[0]) for row in rows[1:]],
            "side": [row[3] or None for row in rows[1:]],
        }
    )
    made = {"pyarrow": lambda t: t, "pandas": lambda t: t.to_pandas()}
    if library == "polars":
        made["polars"] = pytest.importorskip("polars").from_arrow
    once = halfmoon.fill(made[library](table), "side", budget=AT_ONCE).table
    arrow = as_rows(once)
    source = arrow["side_source"].to_pylist()
    source[30] = "given"
    changed = arrow.set_column(2, "side_source", pa.array(source))
    again = as_rows(halfmoon.fill(made[library](changed), "side", budget=AT_ONCE).table)
    assert again.column_names == ["x", "side", "side_source", "side_confidence"]
    assert again["side_source"].to_pylist() == source
    assert again["side_confidence"].to_pylist()[30] is None
    assert again["side_confidence"].null_count == 11


@pytest.mark.slow
def test_confidences_of_a_frame_that_is_filled_again_stay_floats():
    frame, truth = flowers()
    once = halfmoon.fill(frame, "species", budget=AT_ONCE).table
    again = halfmoon.fill(once, "species", budget=AT_ONCE).table
    assert list(again.columns) == list(once.columns)
    assert str(again["species_confidence"].dtype) == "float64"
    assert_series_equal(again["species"], truth)


@pytest.mark.parametrize(
    "make",
    [
        pytest.param(lambda f: f, id="pandas"),
        pytest.param(pl.from_pandas, id="polars", marks=pytest.mark.slow),
    ],
)
def test_several_targets_at_once(make):
    frame, truth = flowers()
    frame["size"] = np.where(np.arange(60) % 4 < 2, 10 * frame["length"], np.nan)
    results = halfmoon.fill(make(frame), ["species", "size"], budget=AT_ONCE)
    assert list(results) == ["species", "size"]
    species, size = results.values()
    assert species.table is size.table
    assert species.table["species"].to_list() == list(truth)
    added = ["species_source", "species_confidence"]
    added += ["size_source", "size_low", "size_high"]
    assert list(species.table.columns)[5:] == added
    of_species = {
        use.name for use in species.model.columns_.uses if use.role == "feature"
    }
    of_size = {use.name for use in size.model.columns_.uses if use.role == "feature"}
    assert "size" not in of_species
    assert "species" not in of_size
    filled = np.asarray(size.table["size"].to_list())
    assert np.abs(filled - 10 * frame["length"].to_numpy()).mean() < 3
    assert "'size'" in repr(size)
    with pytest.raises(TableError, match="No target is named"):
        halfmoon.fill(make(frame), [])
    names = np.array(["species"])  # any iterable of names
    assert list(halfmoon.fill(make(frame), names, budget=AT_ONCE)) == ["species"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"task": "class"}, "task is 'class', but must be 'classes', 'numbers' or"),
        ({"level": 90}, "level is 90, but must be between 0 and 1"),
        ({"budget": -1}, "budget is -1, but must be a positive number"),
        ({"budget": "2m"}, "budget is '2m', but must be a positive number"),
        ({"seed": "a"}, "seed is 'a', but must be a whole number of at least 0"),
        ({"seed": -1}, "seed is -1, but must be a whole number of at least 0"),
    ],
)
def test_wrong_values_are_refused_before_anything_is_read(options, said):
    with pytest.raises(TableError, match=said):
        halfmoon.fill(flowers()[0], "species", **options)


@pytest.mark.parametrize("dtype", ["int64", "float64"])
@pytest.mark.parametrize("mark", [-1, [-1], np.int64(-1)])
def test_a_number_may_stand_for_a_blank(mark, dtype):
    x = np.linspace(-1, 1, 40)
    code = np.where(np.arange(40) % 2, -1, np.where(x > 0, 7, 3)).astype(dtype)
    frame = pd.DataFrame({"x": x, "code": code})
    done = halfmoon.fill(frame, "code", unlabeled=mark, budget=AT_ONCE)
    assert done.settings.unlabeled == ("-1",)
    assert done.table["code"].dtype == dtype
    assert list(done.table["code"]) == list(np.where(x > 0, 7, 3))


def test_columns_without_names_are_named_by_their_numbers():
    x = np.linspace(-1, 1, 40)
    labels = [None if i % 2 else "ab"[int(x[i] > 0)] for i in range(40)]
    frame = pd.DataFrame({0: x, 1: 1.0 - x**2, 2: labels})
    for options in ({"features": [0]}, {"features": 0}, {"exclude": 1}):
        done = halfmoon.fill(frame, 2, budget=AT_ONCE, **options)
        assert [c.name for c in done.model.columns_.uses if c.role == "feature"] == [
            "0"
        ]
    ends = pd.DataFrame({0: x, 1: np.floor(3 * x), 2: np.floor(3 * x) + 1})
    ends.loc[::2, [1, 2]] = np.nan
    done = halfmoon.fill(ends, "new", low=1, high=2, budget=AT_ONCE)
    assert done.settings.ends == ("1", "2")


def test_notes_name_arguments_instead_of_options():
    frame, _ = flowers(90)
    frame.loc["row 6", "species"] = " IRIS"
    frame.loc["row 9", "species"] = "?"
    frame["reviewer"] = np.where(frame["species"].notna(), "ann", None)
    result = halfmoon.fill(frame, "species", budget=AT_ONCE, unlabeled="todo")
    said = " ".join(result.summary)
    assert "--" not in said
    assert "use `merge_labels=True`." in said
    assert "use `unlabeled='?'`." in said
    assert "name it in `features`." in said
    commands = [note.command for note in result.findings.notes if note.command]
    start = "halfmoon.fill(df, 'species', unlabeled=('todo',), budget=1e-09, "
    assert start + "merge_labels=True)" in commands
    for command in commands:  # each of them can be run
        assert command.startswith("halfmoon.fill(df, ")
        compile(command, "note", "eval")


def test_half_a_character_is_one_error():
    halves = pd.DataFrame({"a": pd.Series(["\ud800", "x"], dtype=object)})
    with pytest.raises(TableError, match=r"half a character, '\\ud800'"):
        FrameTable(halves)
    named = pd.DataFrame([[1, 2]], columns=pd.Index(["\ud800", "x"], dtype=object))
    with pytest.raises(TableError, match="in a name or a cell"):
        FrameTable(named)


def test_integers_of_128_bits_keep_their_digits():
    if not hasattr(pl, "Int128"):
        pytest.skip("this polars has none")
    numbers = [2**100, None, -7]
    frame = pl.DataFrame({"a": pl.Series(numbers, dtype=pl.Int128)})
    assert as_rows(frame)["a"].to_pylist() == [str(2**100), None, "-7"]


STEP = np.where(np.arange(60) % 2 == 1, 1, -1)  # of the class, as the numbers say
LABELED = np.arange(60) % 3 == 0


def of_types(values):
    """A frame of pandas with a number for each row, and labels for every third."""
    rng = np.random.default_rng(0)
    numbers = STEP + 0.1 * rng.normal(size=60)
    return pd.DataFrame({"x": numbers, "y": pd.Series(values).where(LABELED)})


@pytest.mark.parametrize(
    "labels",
    [
        pd.Series(pd.cut(STEP, [-2, 0, 2])),  # categories that are intervals
        pd.Series(pd.cut(STEP, [-2, 0, 2])).astype("interval"),
        pd.Series(np.where(STEP > 0, " hi", "lo")).astype("category"),
        pd.Series(np.where(STEP > 0, 1 + 1j, 2 - 1j)),
        pd.Series(pd.arrays.SparseArray(10.5 * STEP)),
    ],
    ids=["intervals as categories", "intervals", "spaces", "complex", "sparse"],
)
def test_a_filled_column_of_pandas_keeps_its_type(labels):
    frame = of_types(labels)
    table = halfmoon.fill(frame, "y", budget=AT_ONCE).table
    assert table["y"].dtype == frame["y"].dtype
    given = frame["y"].notna().to_numpy()
    assert_series_equal(table["y"][given], frame["y"][given])
    if labels.dtype.kind != "f":
        assert list(table["y"]) == list(labels)


@pytest.mark.parametrize(
    ("early", "late"),
    [
        (datetime(2024, 1, 1, 10), datetime(2024, 2, 1, 11)),
        (datetime(2024, 1, 1).date(), datetime(2024, 2, 1).date()),
        (datetime(2024, 1, 1, 10, 30).time(), datetime(2024, 2, 1).time()),
    ],
    ids=["datetime", "date", "time"],
)
def test_dates_and_times_as_classes(early, late):
    truth = [late if step > 0 else early for step in STEP]
    known = [t if given else None for t, given in zip(truth, LABELED, strict=True)]
    frame = pl.DataFrame({"x": STEP * np.linspace(0.8, 1.2, 60), "y": known})
    of_polars = halfmoon.fill(frame, "y", budget=AT_ONCE).table
    of_arrow = halfmoon.fill(frame.to_arrow(), "y", budget=AT_ONCE).table
    assert of_polars["y"].dtype == frame["y"].dtype
    assert of_arrow.schema.field("y").type == frame.to_arrow().schema.field("y").type
    assert of_polars["y"].to_list() == of_arrow["y"].to_pylist() == truth


@pytest.mark.parametrize(
    "kind",
    [
        pa.string_view(),
        pa.dictionary(pa.int8(), pa.string()),
        pa.dictionary(pa.int16(), pa.large_string(), ordered=True),
    ],
    ids=str,
)
def test_a_filled_column_of_arrow_keeps_its_type(kind):
    truth = ["hi" if step > 0 else "lo" for step in STEP]
    known = [t if given else None for t, given in zip(truth, LABELED, strict=True)]
    if pa.types.is_dictionary(kind):  # in an order of its own, with a class of no row
        words = pa.array(["lo", "never", "hi"], kind.value_type)
        places = pc.index_in(pa.array(known, kind.value_type), words)
        labels = pa.DictionaryArray.from_arrays(
            places.cast(kind.index_type), words, ordered=kind.ordered
        )
    else:
        labels = pa.array(known, kind)
    frame = pa.table({"x": STEP * np.linspace(0.8, 1.2, 60), "y": labels})
    result = halfmoon.fill(frame, "y", budget=AT_ONCE)
    filled = result.table["y"]
    assert filled.type == kind
    assert filled.to_pylist() == truth
    if pa.types.is_dictionary(kind):
        assert filled.chunk(0).dictionary.equals(words)
    assert result.next_rows.schema == result.table.schema
    assert result.next_rows.num_rows > 0
    assert result.suspects.num_rows == 0


def test_rows_to_predict_of_another_type():
    frame, _ = flowers()
    model = halfmoon.fill(frame, "species", budget=AT_ONCE).model
    rows = pl.from_pandas(frame)
    with pytest.raises(TableError, match=r"of type polars.LazyFrame, .* frame.collect"):
        model.predict(rows.lazy())
    with pytest.raises(TableError, match=r"of type dict, but must be a data frame of"):
        model.predict({"length": [1.0]})
    batches = rows.to_arrow().to_reader()
    with pytest.raises(TableError, match=r"Use pyarrow.table\(frame\)\.$"):
        model.predict(batches)
