"""What is said of rows that are no numbers, and which rows are scored."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal
from sklearn.base import clone

from halfmoon import (
    FredholmFeatures,
    HalfmoonClassifier,
    HalfmoonRegressor,
    LaplacianClassifier,
)
from halfmoon._validation import labeled_part, take_rows
from halfmoon.baselines import HarmonicClassifier
from optional_modules import optional

pd = optional("pandas")
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


def test_rows_of_every_make_are_taken():
    X, chosen = np.arange(6.0).reshape(3, 2), np.array([True, False, True])
    for make in (pd.DataFrame, pl.DataFrame, sp.coo_array, np.array):
        taken = take_rows(make(X), chosen)
        dense = taken.toarray() if sp.issparse(taken) else np.asarray(taken)
        assert_array_equal(dense, X[[0, 2]])
    assert take_rows([[1], [2], [3]], chosen) == [[1], [3]]


def test_the_labeled_part_of_a_table():
    X, y = np.arange(4.0)[:, None], np.array(["a", None, "?", "b"], dtype=object)
    rows, labels, w = labeled_part(X, y, [1, 2, 3, 4], unlabeled="?")
    assert_array_equal(rows, [[0.0], [3.0]])
    assert_array_equal(labels, ["a", "b"])
    assert_array_equal(w, [1, 4])
    with pytest.raises(ValueError, match="None of the 4 rows to score is labeled"):
        labeled_part(X, [np.nan] * 4)
