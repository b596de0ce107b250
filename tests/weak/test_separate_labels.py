import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import halfmoon
from halfmoon import ConditionalRegressor
from halfmoon.kernels import Gaussian
from halfmoon.weak import StructuredPredictor
from halfmoon.weak._output_space import hamming_space, label_sets
from halfmoon.weak._separate_outputs import SeparateLabels

LABELS = 14
FIXED = {"kernel": Gaussian(1.5), "alpha": 1e-2}


def labels(n=60, q=LABELS, gaps=0.3, seed=0):
    """A table, its labels, and the labels with gaps in every row."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    truth = (X @ rng.normal(size=(3, q)) + rng.normal(size=q) > 0).astype(float)
    Y = np.where(rng.uniform(size=truth.shape) < gaps, np.nan, truth)
    Y[np.arange(n), rng.integers(0, q, n)] = np.nan
    return X, truth, Y


def test_the_best_of_all_label_sets(rng):
    g = rng.normal(size=(40, 9))
    every = hamming_space(label_sets(9))
    assert_array_equal(SeparateLabels(np.arange(9)).predicted(g), every.predicted(g))
    known = np.where(rng.uniform(size=g.shape) < 0.5, np.nan, np.sign(g))
    mask = (np.isnan(known[:, None]) | (known[:, None] == every.T)).all(axis=2)
    assert_allclose(
        SeparateLabels(np.arange(9)).infimum_losses(-g, known),
        every.infimum_losses(-g, mask),
    )


@pytest.mark.parametrize("outputs", [None, LABELS, list(range(LABELS))])
def test_each_label_is_learned_from_the_rows_that_have_it(outputs):
    X, truth, Y = labels()
    model = StructuredPredictor("hamming", outputs, **FIXED).fit(X, Y)
    g = ConditionalRegressor(**FIXED).fit(X, 2 * Y - 1).predict(X)
    assert_allclose(model.solution_.predict(X), g, atol=1e-12)
    assert_array_equal(model.predict(X), g > 0)
    assert model.exact_decoding_
    known = ~np.isnan(Y)
    assert_array_equal(model.disambiguated_, np.where(known, Y, g > 0))
    assert model.score(X, truth) == pytest.approx(-np.mean((g > 0) != truth))
    wrong = ((g > 0) != truth) & known
    assert model.score(X, Y) == pytest.approx(-wrong.mean())  # a gap is never wrong


def test_leave_one_out_is_a_refit():
    X, _, Y = labels(40)
    model = StructuredPredictor("hamming", **FIXED).fit(X, Y)
    found = model.leave_one_out_predictions()
    for row in (0, 19, 39):
        others = Y.copy()
        others[row] = np.nan
        for label in range(LABELS):
            # lam stays that of all rows that have the label
            total, left = (~np.isnan(each[:, label]) for each in (Y, others))
            setting = {**FIXED, "alpha": 1e-2 * total.sum() / left.sum()}
            refit = ConditionalRegressor(**setting).fit(X, others[:, label])
            assert found[row, label] == (refit.predict(X[[row]])[0] > 0.5)


def test_a_label_that_no_row_has_and_files(tmp_path):
    X, _, Y = labels()
    Y[:, 5] = np.nan
    model = StructuredPredictor("hamming", random_state=0, **FIXED).fit(X, Y)
    predicted = model.predict(X)
    assert predicted.shape == Y.shape
    assert not predicted[:, 5].any()
    halfmoon.save(model, tmp_path / "model.halfmoon")
    again = halfmoon.load(tmp_path / "model.halfmoon")
    assert_array_equal(again.predict(X), predicted)
    assert again.exact_decoding_
    with pytest.raises(ValueError, match="14 labels have too many"):
        model.estimated_losses(X)


def test_errors_say_what_is_wrong():
    X, _, Y = labels(4)
    with pytest.raises(ValueError, match="None of the 4 rows is labeled; at least one"):
        StructuredPredictor("hamming").fit(X, np.full_like(Y, np.nan))
    with pytest.raises(ValueError, match=r"shape \(13,\), but y has 14 labels"):
        StructuredPredictor("hamming", 13).fit(X, Y)
