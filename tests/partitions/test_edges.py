"""Partitions of every shape: they work, or one clear error says why not."""

from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from halfmoon import ConditionalRegressor, LaplacianRegressor, NystromFeatures
from halfmoon.kernels import Gaussian
from optional_modules import optional

da = optional("dask.array")
dask = optional("dask")
dask_rows = optional("halfmoon._partitions.dask_rows")
dd = optional("dask.dataframe")
pd = optional("pandas")

K = Gaussian(1.5)


@pytest.fixture(autouse=True)
def _one_thread(small_samples):
    with dask.config.set(scheduler="synchronous"):
        yield


def fitted(X, y, Xd, yd=None):
    """The model of rows in memory, and that of partitions."""
    model = LaplacianRegressor(K, alpha=1e-2, landmarks=np.asarray(X)[::40])
    here = model.fit(X, y).predict(X)
    return here, model.fit(Xd, y if yd is None else yd)


def unknown(X, sizes):
    """A Dask array with unknown chunk sizes."""
    parts = np.split(X, np.cumsum(sizes)[:-1])
    blocks = [
        da.from_delayed(dask.delayed(part), (np.nan, *X.shape[1:]), X.dtype)
        for part in parts
    ]
    return da.concatenate(blocks, allow_unknown_chunksizes=True)


@pytest.mark.parametrize(
    "sizes",
    [(0, 1200), (1200, 0), (400, 0, 0, 800), (1,) * 20 + (1180,), (1200,)],
    ids=["first empty", "last empty", "middle empty", "one row each", "one"],
)
def test_partitions_that_are_empty_or_of_one_row(table, sizes):
    X, y = table
    Xd = da.from_array(X, chunks=(sizes, 3))
    here, model = fitted(X, y, Xd, da.from_array(y, chunks=(sizes,)))
    lazy = model.predict(Xd)
    assert lazy.chunks == (sizes,)
    assert_allclose(lazy.compute(), here, atol=1e-10)
    assert_allclose(model.predict(Xd, return_std=True)[0].compute(), here, atol=1e-10)


def test_sizes_that_nobody_knows(table):
    X, y = table
    sizes = (300, 0, 1, 499, 400)
    Xd = unknown(X, sizes)
    for yd in (y, unknown(y, sizes)):
        here, model = fitted(X, y, Xd, yd)
        lazy = model.predict(Xd)
        assert np.isnan(lazy.chunks[0]).all()
        assert_allclose(lazy.compute(), here, atol=1e-10)
    values, std = model.predict(Xd, return_std=True)
    assert values.compute().shape == std.compute().shape == (1200,)


def test_columns_cut_into_chunks(table):
    X, y = table
    Xd = da.from_array(X, chunks=(500, 2))
    here, model = fitted(X, y, Xd)
    assert_allclose(model.predict(Xd).compute(), here, atol=1e-10)
    assert model.predict(Xd).chunks == ((500, 500, 200),)


def test_a_part_with_its_columns_in_another_order(table):
    X, y = table
    df = pd.DataFrame(X, columns=list("abc"))
    parts = [df[:500], df[500:][["c", "a", "b"]]]
    frames = dd.from_delayed([dask.delayed(p) for p in parts], meta=df[:0],
                             verify_meta=False)  # fmt: skip
    here, model = fitted(df, y, frames)
    assert_array_equal(model.feature_names_in_, ["a", "b", "c"])
    assert_allclose(model.predict(frames).compute(), here, atol=1e-10)


def test_a_frame_with_its_columns_in_another_order_is_refused_at_once(table):
    X, y = table
    frames = dd.from_pandas(pd.DataFrame(X, columns=list("abc")), npartitions=3)
    model = LaplacianRegressor(K, n_components=20).fit(frames, y)
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(frames[["c", "a", "b"]])
    with pytest.raises(ValueError, match="X has 2 features"):
        model.predict(frames[["a", "b"]].values)


def test_a_part_with_other_columns(table):
    X, y = table
    df = pd.DataFrame(X, columns=list("abc"))
    parts = [df[:500], df[500:].rename(columns={"c": "d"})]
    frames = dd.from_delayed([dask.delayed(p) for p in parts], meta=df[:0],
                             verify_meta=False)  # fmt: skip
    with pytest.raises(ValueError, match=r"Partition 1 of X has the columns \['a', "):
        LaplacianRegressor(K, n_components=20).fit(frames, y)


def test_types_that_differ_between_parts(table):
    X, y = table
    X = np.round(X * 4)
    df = pd.DataFrame(X, columns=list("abc"))
    nullable = df[800:].astype({"a": "Int64", "b": "Float64"})
    parts = [df[:400].astype("int32"), df[400:800].astype("float32"), nullable]
    frames = dd.from_delayed([dask.delayed(p) for p in parts], meta=df[:0],
                             verify_meta=False)  # fmt: skip
    here, model = fitted(df, y, frames)
    assert_allclose(model.predict(frames).compute(), here, atol=1e-10)
    numbers = [*parts[:2], nullable.astype(float)]
    arrays = [
        da.from_delayed(dask.delayed(np.asarray(part)), (400, 3), np.float64)
        for part in numbers
    ]
    here, model = fitted(X, y, da.concatenate(arrays))
    assert_allclose(model.predict(da.concatenate(arrays)).compute(), here, atol=1e-10)


def test_text_is_refused_by_the_name_of_its_column(table):
    X, y = table
    df = pd.DataFrame(X, columns=list("abc")).assign(city="Oslo")
    with pytest.raises(ValueError, match=r"X has text in column 'city'\. Use half"):
        LaplacianRegressor().fit(dd.from_pandas(df, npartitions=2), y)


def test_text_within_a_part_is_refused_by_its_number(table):
    X, y = table
    bad = X.astype(object)
    bad[700, 1] = "n/a"
    Xd = da.from_array(bad, chunks=(400, 3))
    with pytest.raises(ValueError, match="Partition 1 of X cannot be read as numbers"):
        LaplacianRegressor().fit(Xd, y)


@pytest.mark.parametrize(("value", "word"), [(np.nan, "NaN"), (np.inf, "infinity")])
def test_missing_cells_are_refused_by_their_place(table, value, word):
    X, y = table
    X[450, 2] = value
    Xd = da.from_array(X, chunks=(400, 3))
    with pytest.raises(
        ValueError, match=f"Partition 1 of X contains .* first {word} in row 50, col"
    ):
        LaplacianRegressor().fit(Xd, y)
    model = ConditionalRegressor(K, alpha=0.1).fit(X[:400], y[:400])
    with pytest.raises(ValueError, match=r"NaN|infinity"):
        model.predict(Xd).compute()


def test_entries_beyond_the_range_of_numbers(table):
    X, y = table
    with pytest.raises(ValueError, match="largest entry of X is 1e\\+80"):
        LaplacianRegressor().fit(da.from_array(X, chunks=(400, 3)) * 0 + 1e80, y)


def test_sparse_parts_are_refused(table):
    X, y = table
    Xd = da.from_array(X, chunks=(400, 3)).map_blocks(sp.csr_array)
    with pytest.raises(TypeError, match=r"Partition \d of X is sparse"):
        LaplacianRegressor().fit(Xd, y)


def test_labels_that_do_not_fit_the_rows(table):
    X, y = table
    Xd = da.from_array(X, chunks=(400, 3))
    with pytest.raises(ValueError, match="inconsistent numbers of samples: y has shap"):
        LaplacianRegressor().fit(Xd, y[:-1])
    with pytest.raises(ValueError, match="inconsistent numbers of samples: y has 1199"):
        LaplacianRegressor().fit(Xd, da.from_array(y[:-1], chunks=400))
    with pytest.raises(ValueError, match=r"y has 2 partition\(s\), but X has 3"):
        LaplacianRegressor().fit(Xd, unknown(y, (400, 800)))
    with pytest.raises(ValueError, match=r"y has \d00 rows, but partition \d of X"):
        LaplacianRegressor().fit(Xd, unknown(y, (500, 300, 400)))
    with pytest.raises(ValueError, match="sample_weight must be finite"):
        LaplacianRegressor().fit(Xd, y, -np.ones(1200))
    with pytest.raises(ValueError, match=r"sample_weight has shape \(.00,\), but"):
        LaplacianRegressor().fit(Xd, y, unknown(np.ones(1200), (500, 300, 400)))


def test_no_label_at_all(table):
    X, _ = table
    with pytest.raises(ValueError, match="None of the"):
        LaplacianRegressor().fit(da.from_array(X, chunks=400), np.full(1200, np.nan))
    with pytest.raises(ValueError, match="requires y to be passed"):
        LaplacianRegressor().fit(da.from_array(X, chunks=400), None)


def test_too_many_labels_for_the_memory(table):
    X, _ = table
    Xd = da.from_array(X, chunks=(400, 3))
    with pytest.raises(MemoryError, match="labeled rows are held in memory"):
        LaplacianRegressor(memory_limit="20kB").fit(Xd, np.zeros(1200))


def test_what_rows_in_partitions_cannot_be(table):
    X, y = table
    Xd = da.from_array(X, chunks=(400, 3))
    with pytest.raises(ValueError, match="kernel matrix in partitions"):
        ConditionalRegressor("precomputed").fit(Xd, y)
    with pytest.raises(ValueError, match="landmarks are row numbers"):
        LaplacianRegressor(landmarks=[0, 5]).fit(Xd, y)
    with pytest.raises(ValueError, match="a table of rows and columns is needed"):
        LaplacianRegressor().fit(Xd[:, 0], y)
    model = ConditionalRegressor(K, alpha=0.1).fit(X, y)
    with pytest.raises(TypeError, match="needs rows in memory"):
        model.explain(Xd)
    with pytest.raises(TypeError, match="needs rows in memory"):
        model.smoother_matrix(Xd)


def test_a_transformer_needs_no_labels(table):
    X, _ = table
    features = NystromFeatures(K, 10, random_state=0)
    lazy = features.fit_transform(da.from_array(X, chunks=(400, 3)))
    assert lazy.shape == (1200, 10)


def test_an_asynchronous_client_is_refused():
    with pytest.raises(ValueError, match="The client is asynchronous"):
        dask_rows.engine_for(SimpleNamespace(asynchronous=True))
