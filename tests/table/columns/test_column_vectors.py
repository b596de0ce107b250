import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.preprocessing import OneHotEncoder

from halfmoon.table._columns.column_encoders import CategoryEncoder, NumberEncoder
from halfmoon.table._columns.column_kinds import Columns, ColumnUse
from halfmoon.table._columns.column_vectors import TableEncoder

nan = np.nan


def fitted(table, **options):
    columns = Columns.of(table, **options)
    frame = columns.read(table)
    return columns, TableEncoder.fit(frame, columns.used)


def test_numbers_are_centered_by_the_median_and_have_a_unit_deviation(rng):
    x = rng.normal(5, 3, 101)
    z = NumberEncoder.fit("x", x).transform(x)
    assert_allclose(z, ((x - np.median(x)) / x.std())[:, None])


def test_a_missing_number_is_the_median_and_has_a_column():
    x = np.array([1.0, 2.0, nan, 7.0, nan])
    encoder = NumberEncoder.fit("x", x)
    assert encoder.names == ["x", "x is missing"]
    known = np.array([1.0, 2.0, 7.0])
    filled = np.where(np.isnan(x), np.median(known), x)
    assert_allclose(encoder.transform(x)[:, 0], (filled - 2.0) / known.std())
    assert_array_equal(encoder.transform(x)[:, 1], [0, 0, 1, 0, 1])
    once = NumberEncoder.fit("x", np.array([1.0, nan, 3.0]))
    assert once.names == ["x"]  # one row is no column's worth


def test_numbers_far_from_zero_keep_their_differences_in_single_precision():
    x = 1e9 + np.arange(20.0)
    table = pa.table({"x": x})
    columns, table_encoder = fitted(table, keep=["x"])
    X = table_encoder.transform(columns.read(table))
    assert X.dtype == np.float32
    assert_allclose(np.diff(X[:, 0]), 1 / x.std(), rtol=1e-5)


def test_heavy_tails_keep_their_order():
    x = 10.0 ** np.arange(-300, 308, 8)
    encoder = NumberEncoder.fit("x", x)
    z = encoder.transform(x)[:, 0].astype(np.float32)
    assert encoder.heavy
    upper = x >= np.quantile(x, 0.75)
    assert (np.diff(z[upper]) > 0).all()
    assert np.isfinite(z).all()
    assert np.abs(z).max() < 1_000
    known = NumberEncoder.fit("x", x, linear=True)
    assert not known.heavy
    assert np.isfinite(known.transform(np.array([-1.7e308, 1.7e308]))).all()


def test_values_far_beyond_the_training_rows_stay_finite(rng):
    encoder = NumberEncoder.fit("x", rng.normal(size=50))
    assert_array_equal(encoder.transform(np.array([1e300, -1e300]))[:, 0], [1e9, -1e9])


def test_categories_are_one_hot_and_two_values_one_column():
    table = pa.table({"c": ["b", "a", "c", "", "b"], "d": ["x", "y", "x", "x", "y"]})
    columns, table_encoder = fitted(table)
    by_hand = pd.get_dummies(pd.Series(["b", "a", "c", "-", "b"]))
    X = table_encoder.transform(columns.read(table))
    assert table_encoder.names == ["c_a", "c_b", "c_c", "c_nan", "d_y"]
    assert_array_equal(X[:, :4], by_hand[["a", "b", "c", "-"]])
    assert_array_equal(X[:, 4], [0, 1, 0, 0, 1])
    assert table_encoder.outputs["c"] == [0, 1, 2, 3]
    assert table_encoder.outputs["d"] == [4]


def test_outputs_are_those_with_the_name_of_the_column():
    cells = {f"c{i}": [f"v{j % (2 + i)}" for j in range(12)] for i in range(4)}
    _, encoder = fitted(pa.table(cells | {"n": [str(j % 5) for j in range(12)]}))
    by_hand = {
        name: [i for i, each in enumerate(encoder.names) if each.split("_")[0] == name]
        for name in (*cells, "n")
    }
    assert encoder.outputs == by_hand


def test_names_may_end_in_null_characters():
    names = ("x\0", "x", "\0")  # as in Parquet and JSON
    table = pa.table([[1.0, 2.0, 4.0 + i] for i in range(3)], names=names)
    _, encoder = fitted(table)
    assert encoder.outputs == {name: [i] for i, name in enumerate(names)}
    assert encoder.only(["x"]).outputs == {"x": [0]}


def test_categories_in_several_spellings_are_one():
    cells = ["Agree", "agree", "AGREE ", "agree", "no", "No  opinion"]
    cells += ["no opinion"] * 2
    columns, encoder = fitted(pa.table({"c": cells}))
    assert encoder.names == ["c_agree", "c_no", "c_no opinion"]
    X = encoder.transform(columns.read(pa.table({"c": ["aGREE", "NO", "maybe"]})))
    assert_array_equal(X, [[1, 0, 0], [0, 1, 0], [0, 0, 0]])
    assert encoder.encoders[0].has_seen("AGREE")
    assert not encoder.encoders[0].has_seen("maybe")


def test_a_scale_is_a_number():
    cells = ["never", "Often", "always", "don't know", "NEVER", "rarely", ""]
    columns, encoder = fitted(pa.table({"c": cells}))
    assert encoder.names == ["c", "c is missing"]
    later = ["never", "rarely", "OFTEN", "always", "weekly", None]
    X = encoder.transform(columns.read(pa.table({"c": later})))
    places = np.array([0, 2, 3, 0, 1])
    z = (np.array([0, 1, 2, 3, 1, 1]) - np.median(places)) / places.std()
    assert_allclose(X[:, 0], z, rtol=1e-6)
    assert_array_equal(X[:, 1], [0, 0, 0, 0, 1, 1])
    assert encoder.encoders[0].has_seen("RARELY")
    assert not encoder.encoders[0].has_seen("weekly")


def test_a_known_scale_has_an_effect_for_each_step():
    cells = ["never", "often", "always"]
    _, encoder = fitted(pa.table({"c": cells}), known=["c"])
    assert encoder.names == ["c_always", "c_never", "c_often"]


def test_encoders_of_earlier_versions_know_exact_spellings():
    old = CategoryEncoder("c", ["c_Agree", "c_No"], {"Agree": 0, "No": 1})
    x = pd.Series(["Agree", "No", "agree"], dtype="category")
    assert_array_equal(old.transform(x), [[1, 0], [0, 1], [0, 0]])


def test_unseen_categories_are_in_no_column():
    table = pa.table({"c": ["b", "a", "c", "b"]})
    columns, table_encoder = fitted(table)
    later = pa.table({"c": ["z", "a", None]})
    X = table_encoder.transform(columns.read(later))
    assert_array_equal(X, [[0, 0, 0], [1, 0, 0], [0, 0, 0]])


def frame_of(cells):
    """A column of text, with NaN for missing cells in every version of pandas."""
    return pd.DataFrame({"c": [np.nan if cell is None else cell for cell in cells]})


@pytest.mark.filterwarnings("ignore:Found unknown categories")
@pytest.mark.parametrize("max_columns", [2, 3, 6, 40])
@pytest.mark.parametrize("n_values", [1, 2, 3, 12])
@pytest.mark.parametrize("missing", [False, True])
def test_categories_are_those_of_scikit_learn(max_columns, n_values, missing, rng):
    cells = [f"v{min(k, n_values)}" for k in rng.zipf(1.5, 80)]
    cells = [None if missing and i % 7 == 0 else cell for i, cell in enumerate(cells)]
    theirs = OneHotEncoder(
        drop="if_binary",
        handle_unknown="ignore",
        # It groups as many as max_categories, too, where nothing need be grouped.
        max_categories=max_columns if len(set(cells)) > max_columns else None,
        sparse_output=False,
    ).fit(frame_of(cells))
    later = [*cells, "unseen", "v1", None if missing else "v2"]
    x, z = (pd.Series(pd.Categorical(each)) for each in (cells, later))
    encoder = CategoryEncoder.fit("c", x, max_columns)
    expected = theirs.transform(frame_of(later))
    assert_array_equal(encoder.transform(z), expected)
    names = [n.removesuffix("_sklearn") for n in theirs.get_feature_names_out()]
    assert encoder.names == names


def test_dates_are_seconds_year_and_cyclic_parts():
    text = ["2020-01-06", "2020-04-07", None, "2021-07-08"]
    dates = pd.Series(pd.to_datetime(text))
    _, table_encoder = fitted(pa.table({"d": text}))
    (encoder,) = table_encoder.encoders
    Z = dict(zip(encoder.names, encoder.transform(dates).T, strict=True))
    seconds = (dates.dropna() - pd.Timestamp(0)).dt.total_seconds()
    expected = (seconds - seconds.median()) / np.std(seconds)
    assert_allclose(Z["d"][[0, 1, 3]], expected)
    assert Z["d"][2] == 0
    month = 2 * np.pi * np.array([1, 4, 7]) / 12
    assert_allclose(Z["d_month_circular_0"][[0, 1, 3]], np.sin(month), atol=1e-6)
    assert_allclose(Z["d_month_circular_1"][[0, 1, 3]], np.cos(month), atol=1e-6)
    assert_allclose(Z["d_month_circular_0"][2], np.sin(month).mean(), atol=1e-6)
    assert_array_equal(Z["d_year"][[0, 1, 3]], [2020, 2020, 2021])
    weekday = 2 * np.pi * np.array([1, 2, 4]) / 7  # from Monday
    assert_allclose(Z["d_weekday_circular_0"][[0, 1, 3]], np.sin(weekday), atol=1e-6)
    assert_array_equal(Z["d_hour_circular_1"], 1)


def test_texts_have_the_same_vectors_however_often_they_repeat():
    words = [f"word{i} and {chr(97 + i % 26)}" for i in range(60)]
    table = pa.table({"t": words * 3})
    columns, table_encoder = fitted(table)
    X = table_encoder.transform(columns.read(table))
    assert X.shape == (180, np.linalg.matrix_rank(X))
    assert_array_equal(X[:60], X[60:120])
    some = table.take(pa.array([7, 7, 0, 59]))
    assert_allclose(
        table_encoder.transform(columns.read(some)), X[[7, 7, 0, 59]], atol=1e-6
    )
    unknown = table_encoder.transform(columns.read(pa.table({"t": [None, "zzzzzz"]})))
    assert_array_equal(unknown, 0)


def test_outputs_that_do_not_vary_are_left_out():
    dates = [f"2020-01-{i:02d}" for i in range(1, 15)]
    _, table_encoder = fitted(pa.table({"d": dates}))
    assert not any("year" in name or "month" in name for name in table_encoder.names)


def test_many_categories_are_bounded(rng, monkeypatch):
    cells = {f"c{j}": [f"v{k}" for k in rng.integers(0, 9, 50)] for j in range(5)}
    monkeypatch.setattr("halfmoon.table._columns.column_vectors.MAX_ONE_HOTS", 20)
    _, table_encoder = fitted(pa.table(cells))
    assert len(table_encoder.names) == 20


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def uses(*names, kind="number", role="feature"):
    return [ColumnUse(name, kind, role=role) for name in names]


def test_columns_in_one_unit_keep_their_sizes(rng):
    # Ranges of about 16 each; one column hardly varies, as at the edge of a picture.
    X = np.clip(np.round(8 + 5 * rng.normal(size=(200, 12))), 0, 16)
    X[:, 3] = 0
    X[7, 3] = 16
    names = [f"p{i}" for i in range(12)]
    frame = pd.DataFrame(X, columns=names)
    table_encoder = TableEncoder.fit(frame, uses(*names))
    unit = np.sqrt(X.var(axis=0).mean())
    expected = (X - np.median(X, axis=0)) / unit
    assert_allclose(table_encoder.transform(frame), expected, rtol=1e-6, atol=1e-6)


def test_columns_in_different_units_have_unit_deviation(rng):
    X = rng.normal(size=(200, 12)) * np.logspace(0, 5, 12)
    names = [f"c{i}" for i in range(12)]
    frame = pd.DataFrame(X, columns=names)
    assert_allclose(
        TableEncoder.fit(frame, uses(*names)).transform(frame).std(axis=0), 1, rtol=1e-5
    )


def test_a_known_column_or_few_columns_have_no_common_unit(rng):
    X = rng.uniform(size=(50, 12)) * np.linspace(1, 1.5, 12)
    names = [f"c{i}" for i in range(12)]
    frame = pd.DataFrame(X, columns=names)
    kinds = [*uses(*names[:11]), *uses(names[11], role="known")]
    for some in (kinds, uses(*names[:9])):
        part = frame[[use.name for use in some]]
        spread = TableEncoder.fit(part, some).transform(part).std(axis=0)
        assert_allclose(spread, 1, rtol=1e-5)
