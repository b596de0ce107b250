"""Rows of any form: which are used unchanged, converted or refused."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from halfmoon import (
    FredholmFeatures,
    HalfmoonClassifier,
    HalfmoonRegressor,
    LaplacianClassifier,
    LaplacianRegressor,
    Problem,
)
from halfmoon import _rows as rows_module
from halfmoon._rows import (
    as_dense_rows,
    as_rows,
    as_table,
    inner_products,
    refuse_non_finite,
    summed_entries,
)
from halfmoon.baselines import HarmonicClassifier
from halfmoon.bases import Exact
from halfmoon.kernels import Gaussian
from optional_modules import optional

pd = optional("pandas")

X = np.array([[1.0, 0.0, 2.0], [0.0, -3.0, 0.5]])


def test_float64_rows_are_not_copied():
    assert as_rows(X) is X
    csr = sp.csr_array(X)
    assert np.shares_memory(as_rows(csr).data, csr.data)


@pytest.mark.parametrize("dtype", [np.float32, np.int8, np.uint16, bool, object])
def test_other_dtypes_are_lifted_and_left_as_they_were(dtype):
    low = np.abs(X).astype(dtype)
    before = low.copy()
    lifted = as_rows(low)
    assert lifted.dtype == np.float64
    assert_array_equal(lifted, low.astype(np.float64))
    assert as_table(low) is low
    assert_array_equal(low, before)


@pytest.mark.parametrize("make", [sp.csr_matrix, sp.csc_array, sp.coo_array])
def test_sparse_rows_become_csr(make):
    lifted = as_rows(make(X.astype(np.float32)))
    assert lifted.format == "csr"
    assert lifted.dtype == np.float64
    assert_array_equal(lifted.toarray(), X)
    assert_array_equal(as_dense_rows(make(X)), X)
    assert as_dense_rows(X) is X


def test_lists_and_data_frames_are_rows():
    assert_array_equal(as_rows(X.tolist()), X)
    assert_array_equal(as_rows(pd.DataFrame(X)), X)


def test_a_memory_map_is_not_read(tmp_path):
    mapped = np.memmap(tmp_path / "rows", np.float32, "w+", shape=(4, 2))
    table = as_table(mapped)
    assert np.shares_memory(table, mapped)  # a view of the file: nothing was read
    assert table.dtype == np.float32


@pytest.mark.parametrize("make", [as_rows, as_table])
def test_shapes_are_checked(make):
    with pytest.raises(ValueError, match=r"Z has shape \(3,\).*Z\.reshape\(-1, 1\)"):
        make(X[0], name="Z")
    with pytest.raises(ValueError, match=r"X has shape \(1, 2, 3\); a table"):
        make(X[None])
    with pytest.raises(ValueError, match=r"X has 0 row\(s\) and 3 column\(s\); at"):
        make(X[:0])
    with pytest.raises(ValueError, match=r"X has 2 row\(s\) and 0 column\(s\); at"):
        make(X[:, :0])


def test_what_is_no_number_is_refused():
    with pytest.raises(ValueError, match=r"X is complex.*separate columns"):
        as_rows(X + 1j)
    with pytest.raises(ValueError, match=r"cannot be read as numbers.*Encode text"):
        as_rows([["a", "b"]])
    with pytest.raises(ValueError, match=r"cannot be read as numbers.*Encode text"):
        as_rows(np.array([[1.0, "a"]], dtype=object))


@pytest.mark.parametrize("slice_entries", [1, 7, 2**20])  # rows read at once: 1, 2, all
@pytest.mark.parametrize("make", [np.asarray, sp.csr_array], ids=["dense", "CSR"])
@pytest.mark.parametrize(("value", "what"), [(np.nan, "NaN"), (-np.inf, "infinity")])
def test_the_first_bad_entry_is_named(monkeypatch, make, value, what, slice_entries):
    monkeypatch.setattr(rows_module, "SLICE_ENTRIES", slice_entries)
    bad = np.ones((5, 3))
    bad[3, 1] = value
    bad[4, 0] = np.nan
    message = f"Z contains NaN or infinity, first {what} in row 3, column 1; .*Impute"
    with pytest.raises(ValueError, match=message):
        refuse_non_finite(make(bad), name="Z")
    with pytest.raises(ValueError, match=message):
        as_rows(make(bad.astype(np.float32)), name="Z")
    refuse_non_finite(make(bad[:3]))


def test_missing_values_of_objects_are_named():
    with pytest.raises(ValueError, match="first NaN in row 0, column 1"):
        refuse_non_finite(np.array([[1, np.nan]], dtype=object))


def test_finite_rows_pass_even_if_their_sum_overflows():
    refuse_non_finite(np.array([[1e308, 1e308], [1e308, 1e308]]))
    refuse_non_finite(np.array([[6e4, 6e4]], dtype=np.float16))
    refuse_non_finite(np.array([[1, 2]]))
    refuse_non_finite(np.array([[True, False]]))


@pytest.mark.parametrize("left", [np.asarray, sp.csr_array], ids=["dense", "CSR"])
@pytest.mark.parametrize("right", [np.asarray, sp.csr_array], ids=["dense", "CSR"])
def test_inner_products_are_dense(left, right):
    C = inner_products(left(X), right(X[:1]))
    assert type(C) is np.ndarray
    assert_allclose(C, [[5.0], [1.0]])


pl = optional("polars")

ESTIMATORS = [
    HalfmoonClassifier(budget=1e-9),
    HalfmoonRegressor(budget=1e-9),
    LaplacianClassifier(),
    HarmonicClassifier(),
]
Y = [0.0, 1.0, 0.0, 1.0, np.nan, np.nan]


def table(**columns):
    return pd.DataFrame({"length": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0], **columns})


WITH_TEXT = {
    "text": table(island=list("abcabc")),
    "category": table(island=pd.Categorical(list("abcabc"))),
    "some text": table(island=[1, 2, "three", 4, 5, 6]),
    "polars": pl.from_pandas(table(island=list("abcabc"))),
}


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda each: type(each).__name__)
@pytest.mark.parametrize("X", WITH_TEXT.values(), ids=WITH_TEXT)
def test_text_is_refused_with_the_column_and_the_way(estimator, X):
    with pytest.raises(ValueError, match="X has text") as error:
        clone(estimator).fit(X, Y)
    assert str(error.value) == (
        f"X has text in column 'island'. Use halfmoon.fill(df, target), or a pipeline: "
        f"skrub.tabular_pipeline({type(estimator).__name__}())."
    )


def test_columns_without_names_are_numbered():
    X = table(island=list("abcabc")).to_numpy()
    with pytest.raises(ValueError, match=r"X has text in column 1\. Use halfmoon"):
        LaplacianClassifier().fit(X, Y)
    with pytest.raises(ValueError, match=r"X has text in column 0\. Use halfmoon"):
        LaplacianClassifier().fit(np.array([["a"], ["b"]]), [0, 1])


def test_text_in_the_rows_of_a_prediction():
    model = LaplacianClassifier().fit(table(island=[1, 2, 3, 4, 5, 6]), Y)
    with pytest.raises(ValueError, match="X has text in column 'island'"):
        model.predict(WITH_TEXT["text"])


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda each: type(each).__name__)
def test_missing_cells_are_refused_in_one_line(estimator):
    X = table(depth=[1.0, np.nan, 2.0, np.nan, 3.0, 4.0])
    for each in (X, pl.from_pandas(X)):
        with pytest.raises(ValueError, match="contains NaN") as error:
            clone(estimator).fit(each, Y)
        assert str(error.value) == (
            f"Input X contains NaN: 2 missing cells in column 'depth'. Use "
            f"halfmoon.fill(df, target), or a pipeline: "
            f"skrub.tabular_pipeline({type(estimator).__name__}())."
        )


def test_transformers_name_a_pipeline_of_their_own():
    with pytest.raises(ValueError, match="X has text") as error:
        FredholmFeatures().fit(WITH_TEXT["text"])
    way = "make_pipeline(skrub.TableVectorizer(), FredholmFeatures())."
    assert str(error.value).endswith(way)


def test_other_errors_are_those_of_scikit_learn():
    with pytest.raises(ValueError, match="contains infinity"):
        LaplacianClassifier().fit(table(depth=[np.inf, 1, 2, 3, 4, 5]), Y)
    with pytest.raises(ValueError, match="contains NaN"):
        LaplacianClassifier().fit(sp.csr_array([[np.nan], [1.0]]), [0, 1])
    with pytest.raises(ValueError, match="0 sample"):
        LaplacianClassifier().fit(np.empty((0, 3)), [])


def in_halves(X):
    """CSR rows with two entries, each a half, for each entry."""
    X = sp.csr_array(X)
    parts = np.repeat(X.data / 2, 2), np.repeat(X.indices, 2), 2 * X.indptr
    return sp.csr_array(parts, shape=X.shape)


def test_entries_that_a_csr_matrix_holds_twice_are_summed(rng):
    X = rng.normal(size=(30, 3))
    halves = in_halves(X)
    before = halves.data.copy()
    whole = summed_entries(halves)
    assert_array_equal(whole.toarray(), X)
    assert whole.nnz == X.size
    assert_array_equal(halves.data, before)  # of the user: not changed
    assert summed_entries(whole) is whole
    assert summed_entries(X) is X
    y = np.where(np.arange(30) < 20, X[:, 0], np.nan)
    model = LaplacianRegressor(energy="graph", alpha=0.01)
    expected = model.fit(sp.csr_array(X), y).predict(X)
    assert_allclose(model.fit(halves, y).predict(in_halves(X)), expected, rtol=1e-12)
    problem = Problem(Exact(Gaussian(1.0)), energy="graph")
    expected = problem.fit(sp.csr_array(X), y).predict(X)
    assert_allclose(problem.fit(halves, y).predict(X), expected, rtol=1e-12)
