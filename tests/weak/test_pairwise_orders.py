from itertools import combinations, permutations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import halfmoon
from halfmoon import ConditionalRegressor
from halfmoon.kernels import Gaussian
from halfmoon.weak import StructuredPredictor
from halfmoon.weak._ranking_labels import pair_labels
from halfmoon.weak._separate_outputs import PairwiseOrders, loo_values_of_parts

ITEMS, PAIRS = 9, list(combinations(range(9), 2))
FIXED = {"kernel": Gaussian(1.5), "alpha": 1e-2}


def orders(n=50, items=ITEMS, seed=0):
    """A table, and rankings of its rows by linear scores."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    scores = X @ rng.normal(size=(3, items)) + 0.1 * rng.normal(size=(n, items))
    return X, np.argsort(-scores, axis=1)


def partial(truth, kept=4, seed=1):
    rng = np.random.default_rng(seed)
    m = truth.shape[1]
    return [row[np.sort(rng.permutation(m)[:kept])].tolist() for row in truth]


def signs(y):
    """What each row says about each pair, by its definition; NaN where nothing."""
    out = np.full((len(y), len(PAIRS)), np.nan)
    for row, order in enumerate(y):
        for column, (a, b) in enumerate(PAIRS):
            if order is not None and a in order and b in order:
                out[row, column] = 1 if order.index(a) < order.index(b) else -1
    return out


def gain(g, order):
    """The objective of the best ranking, for values of pairs of 6 items."""
    place = np.argsort(order)
    pairs = combinations(range(len(order)), 2)
    return sum(
        v if place[a] < place[b] else -v for v, (a, b) in zip(g, pairs, strict=True)
    )


def test_the_best_of_all_rankings(rng):
    g = rng.normal(size=(20, 15))
    found = PairwiseOrders(np.arange(6), text=False).predicted(g)
    every = [np.array(order) for order in permutations(range(6))]
    for values, order in zip(g, found, strict=True):
        best = max(gain(values, each) for each in every)
        assert gain(values, order) == pytest.approx(best, abs=1e-12)


@pytest.mark.parametrize("m", [9, 14])
def test_the_first_of_equal_rankings_is_that_of_the_items(m):
    space = PairwiseOrders(np.arange(m), text=False)
    assert_array_equal(space.predicted(np.zeros((2, m * (m - 1) // 2))), [range(m)] * 2)


@pytest.mark.parametrize("m", [9, 14])
def test_a_completed_ranking_keeps_what_is_known(m, rng):
    _, truth = orders(20, m)
    y = partial(truth, 5)
    labels = pair_labels(y, list(range(m)))
    space = PairwiseOrders(np.arange(m), text=False)
    g = rng.normal(size=labels.shape)
    place = np.argsort(space.completed(g, labels), axis=1)
    assert all((np.diff(place[i][order]) > 0).all() for i, order in enumerate(y))
    assert space.exact == (m == 9)
    plain = space.predicted(signs_of(truth))
    assert_array_equal(plain, truth)  # also by sorting


def signs_of(truth):
    return pair_labels(truth, list(range(truth.shape[1])))


def test_pairs_follow_from_others():
    y = [{(0, 1), (1, 2)}, [2.0, np.nan, 0.0], [1.0, np.nan, np.nan], None, [2, 1, 0]]
    nan = np.nan
    expected = [[1, 1, 1], [nan, -1, nan], [nan] * 3, [nan] * 3, [-1, -1, -1]]
    assert_array_equal(pair_labels(y, [0, 1, 2]), expected)


@pytest.mark.parametrize("kept", [4, 9])
def test_each_pair_is_learned_from_the_rows_that_order_it(kept):
    X, truth = orders()
    y = partial(truth, kept)
    y[7] = None
    model = StructuredPredictor("kendall", ITEMS, **FIXED).fit(X, y)
    labels = signs(y)
    assert_array_equal(labels, pair_labels(y, list(range(ITEMS))))
    regressor = ConditionalRegressor(**FIXED).fit(X, labels)
    g = regressor.predict(X)
    assert_allclose(model.solution_.predict(X), g, atol=1e-10)
    assert_array_equal(
        model.predict(X), PairwiseOrders(np.arange(ITEMS), text=False).predicted(g)
    )
    assert model.exact_decoding_
    place = np.argsort(model.disambiguated_, axis=1)
    for row, order in enumerate(y):
        assert order is None or (np.diff(place[row][order]) > 0).all()
    wrong = np.sign(signs(model.predict(X).tolist())) != signs(truth.tolist())
    assert model.score(X, truth) == pytest.approx(-np.mean(wrong))
    assert model.score(X, truth) > -0.2  # a guess at random is at -0.5


def test_leave_one_out_is_a_refit():
    X, truth = orders(30)
    y = partial(truth, 6)
    model = StructuredPredictor("kendall", ITEMS, **FIXED).fit(X, y)
    values = loo_values_of_parts(model)
    for row in (0, 11, 29):
        labels = signs(y)
        labels[row] = np.nan
        total = (~np.isnan(signs(y))).sum(axis=0)
        for column in range(0, len(PAIRS), 7):
            # lam stays that of all labels of the pair
            left = (~np.isnan(labels[:, column])).sum()
            setting = {**FIXED, "alpha": 1e-2 * total[column] / left}
            refit = ConditionalRegressor(**setting).fit(X, labels[:, column])
            expected = refit.predict(X[row : row + 1])[0]
            assert values[row, column] == pytest.approx(expected, abs=1e-9)
    predicted = model.leave_one_out_predictions()
    assert_array_equal(predicted, model.space_.predicted(values))


def test_the_kernel_has_the_least_leave_one_out_error():
    X, truth = orders()
    y = partial(truth)
    kernels = [Gaussian(0.01), Gaussian(2.0)]
    model = StructuredPredictor("kendall", ITEMS, kernel=kernels).fit(X, y)
    assert model.kernel_ == kernels[1]
    residuals = ConditionalRegressor(Gaussian(2.0)).fit(X, signs(y)).leave_one_out()
    finite = residuals[np.isfinite(residuals)]
    assert_allclose(model.kernel_errors_[1], np.mean(finite**2))


def test_text_missing_pairs_and_files(tmp_path):
    X, truth = orders()
    names = np.array(list("abcdefghi"))
    y = [">".join(names[order]) for order in partial(truth[:, :8])]
    items = [*names, "j"]
    model = StructuredPredictor("kendall", items, random_state=0, **FIXED).fit(X, y)
    assert not model.space_.learned.all()
    predicted = model.predict(X)
    assert all(sorted(order.split(">")) == items for order in predicted)
    halfmoon.save(model, tmp_path / "model.halfmoon")
    again = halfmoon.load(tmp_path / "model.halfmoon")
    assert_array_equal(again.predict(X), predicted)
    assert_array_equal(
        again.leave_one_out_predictions(), model.leave_one_out_predictions()
    )
    with pytest.raises(ValueError, match="no estimated loss of every ranking"):
        model.estimated_losses(X)


def test_weights_of_zero_drop_rows():
    X, truth = orders()
    y, w = partial(truth), np.ones(50)
    w[:10] = 0.0
    model = StructuredPredictor("kendall", ITEMS, **FIXED).fit(X, y, sample_weight=w)
    other = StructuredPredictor("kendall", ITEMS, **FIXED).fit(X[10:], y[10:])
    assert_allclose(model.solution_.predict(X), other.solution_.predict(X))


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ({(0, 1), (1, 2), (2, 0)}, r"row 1 of y, .*: its order has a cycle"),
        ([0, 12], "Row 1 of y ranks 12, which is not one of the items"),
        ([3], "ranks only the item 3"),
    ],
)
def test_errors_say_what_is_wrong(y, message):
    X, truth = orders(3)
    with pytest.raises(ValueError, match=message):
        StructuredPredictor("kendall", ITEMS).fit(X, [truth[0].tolist(), y, None])
    with pytest.raises(ValueError, match="None of the 3 rows is labeled"):
        StructuredPredictor("kendall", ITEMS).fit(X, [None, None, None])


def test_a_second_fit_forgets_the_first():
    X, truth = orders()
    model = StructuredPredictor("kendall", ITEMS, **FIXED).fit(X, partial(truth))
    few = np.argsort(truth[:, :4], axis=1)
    model.set_params(outputs=4).fit(X, few.tolist())
    fresh = StructuredPredictor("kendall", 4, **FIXED).fit(X, few.tolist())
    assert_array_equal(model.predict(X), fresh.predict(X))
    assert_allclose(model.dual_coef_, fresh.dual_coef_)
    assert not hasattr(model, "parts_")
