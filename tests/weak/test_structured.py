from itertools import permutations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.model_selection import KFold, cross_val_score

import halfmoon
from halfmoon import ConditionalClassifier, ConditionalRegressor
from halfmoon.kernels import Gaussian
from halfmoon.weak import CandidateSetClassifier, StructuredPredictor
from halfmoon.weak._ranking_labels import matching_orders

X, TRUTH = load_iris(return_X_y=True)
FIXED = {"kernel": Gaussian(1.5), "alpha": 1e-3, "random_state": 0}


def test_plain_classes_are_classification():
    y = np.where(np.arange(150) % 3 == 0, np.nan, TRUTH)
    plain = ConditionalClassifier(Gaussian(1.5), alpha=1e-3).fit(X, y)
    model = StructuredPredictor(**FIXED).fit(X, y)
    assert_allclose(1 - model.estimated_losses(X), plain.decision_function(X))
    assert_array_equal(model.predict(X), plain.predict(X))
    assert model.exact_decoding_


def test_candidate_classes_are_candidate_sets(rng):
    sets = rng.uniform(size=(150, 3)) < 0.4
    sets[np.arange(150), TRUTH] = True
    setting = {**FIXED, "alpha": [1e-4, 1e-2]}
    model = StructuredPredictor("zero_one", [0, 1, 2], **setting).fit(X, sets)
    other = CandidateSetClassifier(**setting).fit(X, sets)
    assert_array_equal(model.disambiguated_, other.disambiguated_)
    assert_allclose(model.history_, other.history_)
    assert_allclose(model.fold_losses_, other.fold_losses_)


@pytest.mark.parametrize("unpenalized", ["constant", "linear"])
def test_the_loss_trick(unpenalized, rng):
    """argmin_z sum_i H_i(x) loss(z, y_i), with a loss that is not symmetric."""
    L = rng.uniform(size=(3, 3))
    names = np.array(["setosa", "versicolor", "virginica"])
    y = names[TRUTH].astype(object)
    y[::4] = None
    model = StructuredPredictor(L, list(names), unpenalized=unpenalized, **FIXED)
    model.fit(X, y)
    labels = TRUTH[y != None]  # noqa: E711
    H = model.smoother_matrix(X)
    assert H.shape == (150, len(labels))
    expected = H @ L[:, labels].T
    assert_allclose(model.estimated_losses(X), expected, atol=1e-9)
    assert_array_equal(model.predict(X), names[expected.argmin(axis=1)])
    by_function = StructuredPredictor(
        lambda z, t: L[list(names).index(z), list(names).index(t)],
        list(names), unpenalized=unpenalized, **FIXED,
    ).fit(X, y)  # fmt: skip
    assert_allclose(by_function.estimated_losses(X), expected, atol=1e-9)


def test_unequal_costs_move_the_border():
    plain = StructuredPredictor([[0, 1], [1, 0]], **FIXED).fit(X, TRUTH > 1)
    wary = StructuredPredictor([[0, 9], [1, 0]], **FIXED).fit(X, TRUTH > 1)
    assert wary.predict(X).sum() > plain.predict(X).sum()


def labels_of(rng):
    return (X[:, :3] > np.median(X[:, :3], axis=0)).astype(float)


def test_hamming_without_gaps_is_one_regression_for_each_label(rng):
    Y = labels_of(rng)
    model = StructuredPredictor("hamming", **FIXED).fit(X, Y)
    values = ConditionalRegressor(Gaussian(1.5), alpha=1e-3).fit(X, 2 * Y - 1)
    assert_array_equal(model.predict(X), values.predict(X) > 0)
    assert model.exact_decoding_
    assert_array_equal(model.disambiguated_, Y)
    assert -model.score(X, Y) == pytest.approx(np.mean(model.predict(X) != Y))


def test_hamming_with_gaps_keeps_known_labels(rng):
    truth = labels_of(rng)
    Y = np.where(rng.uniform(size=truth.shape) < 0.4, np.nan, truth)
    model = StructuredPredictor("hamming", 3, random_state=0).fit(X, Y)
    known = ~np.isnan(Y)
    assert_array_equal(model.disambiguated_[known], Y[known])
    assert np.mean(model.predict(X) == truth) > 0.9
    assert (np.diff(model.history_) < 0).all()
    some = StructuredPredictor("hamming", [[0, 0, 0], [1, 1, 1]], **FIXED)
    with pytest.raises(ValueError, match="agree with none of the outputs"):
        some.fit(X, Y)


def rankings():
    """Four items, ordered by columns of the table."""
    scaled = (X - X.mean(axis=0)) / X.std(axis=0)
    return np.argsort(-scaled, axis=1)


@pytest.mark.parametrize("make", [list, lambda o: ">".join(map(str, o)), np.asarray])
def test_rankings(make):
    truth = rankings()
    y = [make(order) for order in truth]
    text = isinstance(y[0], str)
    items = ["0", "1", "2", "3"] if text else 4
    model = StructuredPredictor("kendall", items, **FIXED).fit(X, y)
    assert len(model.outputs_) == 24
    predicted = model.predict(X)
    assert_array_equal(model.disambiguated_, np.array(y))
    score = model.score(X, y)
    assert score > -0.05
    if not text:
        place, other = np.argsort(predicted), np.argsort(truth)
        pairs = np.triu_indices(4, 1)
        wrong = [
            np.mean((a[pairs[0]] < a[pairs[1]]) != (b[pairs[0]] < b[pairs[1]]))
            for a, b in zip(place, other, strict=True)
        ]
        assert score == pytest.approx(-np.mean(wrong))


def test_partial_orders_are_sets_of_rankings(rng):
    ranking = np.array(list(permutations(range(3))))
    y = [[1, 0], {(0, 1), (2, 1)}, None, [2.0, np.nan, 0.0], [0, 1, 2]]
    sets = matching_orders(y, [0, 1, 2], ranking)
    matching = [
        {tuple(order) for order in ranking[row].tolist()} for row in sets
    ]  # fmt: skip
    assert matching == [
        {(1, 0, 2), (1, 2, 0), (2, 1, 0)},
        {(0, 2, 1), (2, 0, 1)},
        set(permutations(range(3))),
        {(2, 0, 1), (2, 1, 0), (1, 2, 0)},
        {(0, 1, 2)},
    ]


def test_partial_orders_are_learned_from(rng):
    truth = rankings()
    y = [order[np.sort(rng.permutation(4)[:3])].tolist() for order in truth]
    model = StructuredPredictor("kendall", 4, **FIXED).fit(X, y)
    assert model.score(X, truth) > -0.1  # a guess at random is at -0.5
    assert model.score(X, truth) == model.score(X, truth.tolist())
    place = np.argsort(model.disambiguated_)
    assert all((np.diff(place[i][order]) > 0).all() for i, order in enumerate(y))


def test_outputs_from_y_only_are_not_exact(rng):
    pairs = [(int(a), int(b)) for a, b in zip(TRUTH, TRUTH > 0, strict=True)]
    distance = lambda z, y: abs(z[0] - y[0]) + abs(z[1] - y[1])  # noqa: E731
    model = StructuredPredictor(distance, **FIXED).fit(X, pairs)
    assert not model.exact_decoding_
    assert_array_equal(model.outputs_, [[0, 0], [1, 1], [2, 1]])
    assert np.mean(model.predict(X)[:, 0] == TRUTH) > 0.95
    assert (
        StructuredPredictor(distance, pairs[::50], **FIXED)
        .fit(X, pairs)
        .exact_decoding_
    )


@pytest.mark.parametrize("loss", ["zero_one", "kendall", [[0, 1, 2]] * 3])
def test_a_file_gives_back_the_model(loss, tmp_path):
    y = rankings().tolist() if loss == "kendall" else TRUTH
    model = StructuredPredictor(loss, **FIXED).fit(X, y)
    halfmoon.save(model, tmp_path / "model.halfmoon")
    again = halfmoon.load(tmp_path / "model.halfmoon")
    assert_array_equal(again.predict(X), model.predict(X))
    assert again.exact_decoding_ == model.exact_decoding_


def test_it_is_a_scikit_learn_estimator():
    model = clone(StructuredPredictor("kendall", 4, **FIXED))
    assert (model.loss, model.outputs) == ("kendall", 4)
    folds = KFold(3, shuffle=True, random_state=0)
    assert cross_val_score(model, X, rankings(), cv=folds).min() > -0.1


@pytest.mark.parametrize(
    ("loss", "outputs", "y", "message"),
    [
        (np.eye(2), [0, 1, 2], [0, 1, 2], r"shape \(2, 2\), but there are 3 outputs"),
        ("taxicab", None, [0, 1, 2], "loss is 'taxicab'"),
        (3.0, None, [0, 1, 2], r"loss has shape \(\), but there are 3 outputs"),
        ([["a"] * 3] * 3, None, [0, 1, 2], "not a matrix of numbers"),
        ([[0, 1], [1]], None, [0, 1, 0], "not a matrix of numbers"),
        (np.zeros((3, 3)), None, [0, 1, 2], "loss is 0 everywhere"),
        ("zero_one", None, 3, "y is 3; one label for each row"),
        ("zero_one", None, "abc", "y is 'abc'; one label for each row"),
        ("zero_one", [0, 1], [0, 1, 2], "Row 2 of y has 2, which is not one"),
        ("zero_one", None, [None] * 3, "None of the 3 rows is labeled"),
        ("zero_one", None, [1, 1, 1], "nothing to learn"),
        ("zero_one", [0, 1], [0, 1, set()], "1 row.* first is row 2"),
        ("kendall", 3, [[0, 1], {(0, 1), (1, 2), (2, 0)}, None], "row 1.*cycle"),
        ("kendall", 3, ["0>1", "1>0>1", None], "Row 0 of y ranks '0'"),
        ("kendall", 3, [[0, 1], [5, 1], None], "Row 1 of y ranks 5"),
        ("kendall", 3, [[0, 1], [2], None], "ranks only the item 2"),
        ("kendall", [], [[0, 1], None, None], "two or more are needed"),
        ("kendall", 1, [[0, 1], None, None], "two or more are needed"),
        ("kendall", [0, 0, 1], [[0, 1], None, None], "are needed, each once"),
        ("hamming", None, [0, 1, 0], "needs a column for each label"),
        ("hamming", None, [[0, 2]] * 3, "other than 0 and 1"),
        (lambda z, y: "far", None, [0, 1, 2], "is not a number"),
        ("zero_one", None, [0, 1], "2 labels, but X has 3 rows"),
        ("zero_one", 3.5, [0, 1, 2], "outputs is 3.5; a list of outputs"),
        ("zero_one", [0, 1, 0], [0, 1, 0], "give each of them once"),
        ("hamming", None, [["a", "b"]] * 3, "other than 0 and 1"),
        ("hamming", None, [[0, 1], [1], [0, 0]], "needs a column for each label"),
    ],
)
def test_errors_say_what_is_wrong(loss, outputs, y, message):
    table = np.array([[0.0], [1.0], [2.0]])
    with pytest.raises(ValueError, match=message):
        StructuredPredictor(loss, outputs, alpha=1.0).fit(table, y)


@pytest.mark.parametrize("m", [3, 9])
def test_unlabeled_rows_do_not_count_in_the_score(m, rng):
    table = rng.normal(size=(12, 2))
    y = [rng.permutation(m).tolist() for _ in range(12)]
    model = StructuredPredictor("kendall", m, kernel="laplace", alpha=1.0).fit(table, y)
    some = model.score(table[6:], y[6:])
    assert some < 0
    assert_allclose(model.score(table, [None] * 6 + y[6:]), some, rtol=1e-12)
    with pytest.raises(ValueError, match="None of the 12 rows to score is labeled"):
        model.score(table, [None] * 12)
    with pytest.raises(ValueError, match="5 labels, but X has 12 rows"):
        model.score(table, y[:5])


@pytest.mark.parametrize(("m", "limit"), [(40, "100kB"), (8, "1MB")])
def test_too_many_rankings_for_the_memory_limit(m, limit):
    table = np.arange(30.0)[:, None]
    model = StructuredPredictor("kendall", m, memory_limit=limit)
    with pytest.raises(MemoryError, match=f"30 rows and {m} items need"):
        model.fit(table, [[0, 1]] * 30)
