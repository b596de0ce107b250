"""Ordered classes: probabilities of ranks, and models that are saved with them."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import norm

import halfmoon
from halfmoon.table._models.ordered_classes import Ordered, fitted_share, fitted_spread


def test_rank_probabilities_are_areas_under_a_normal_curve():
    places = np.array([2, 0, 1])  # of the classes in the classifier's order
    found = Ordered(None, places, 0.8, 0.5)
    g = np.array([-3.0, 0.4, 1.5, 9.0])
    q = found.by_place(g)
    low, high = norm.cdf((0.5 - g) / 0.8), norm.cdf((1.5 - g) / 0.8)
    assert_allclose(q, np.column_stack([1 - high, low, high - low]), atol=1e-12)
    assert_allclose(q.sum(axis=1), 1.0)


@pytest.mark.parametrize("spread", [0.4, 1.0])
def test_the_spread_of_errors_is_found(spread):
    rng = np.random.default_rng(0)
    g = rng.uniform(0, 4, 4000)
    places = np.clip(np.round(g + spread * rng.normal(size=4000)), 0, 4).astype(int)
    assert_allclose(fitted_spread(g, places, 5), spread, rtol=0.05)


def test_the_weight_goes_to_the_better_probabilities():
    codes = np.array([0, 1, 2] * 20)
    right = np.full((60, 3), 0.1)
    right[np.arange(60), codes] = 0.8
    wrong = right[:, [1, 2, 0]]
    assert fitted_share(right, wrong, codes) == 0.0
    assert fitted_share(wrong, right, codes) == 1.0
    half = np.where(np.arange(60)[:, None] < 30, right, wrong)
    other = np.where(np.arange(60)[:, None] < 30, wrong, right)
    assert_allclose(fitted_share(half, other, codes), 0.5)


@pytest.fixture(scope="module")
def survey():
    """Answers on a scale of five, 40 of 150 given."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(150, 3))
    score = X[:, 0] + 0.6 * X[:, 1] + 0.3 * rng.normal(size=150)
    places = np.digitize(score, np.quantile(score, [0.2, 0.4, 0.6, 0.8]))
    return pd.DataFrame(X, columns=[*"abc"]), places, np.arange(150) < 40


def filled(survey, words, **options):
    frame, places, given = survey
    answers = np.where(given, np.array(words, dtype=object)[places], None)
    options = {"budget": 200, **options}
    return halfmoon.fill(frame.assign(answer=answers), "answer", **options)


@pytest.mark.slow
def test_an_order_helps_and_names_do_not_matter(survey):
    _, places, given = survey
    words = ["very bad", "bad", "neutral", "good", "very good"]
    named = filled(survey, words, task="ordered")
    starred = filled(survey, [*"12345"], task="ordered")
    plain = filled(survey, words)

    def error(result, names):
        place = {name: i for i, name in enumerate(names)}
        off = result.table["answer"].map(place).to_numpy() - places
        return np.abs(off[~given]).mean()

    assert error(named, words) < error(plain, words)
    assert error(named, words) < 0.5
    assert_array_equal(
        named.table["answer"].map(words.index),
        starred.table["answer"].map(lambda star: int(star) - 1),
    )
    assert_allclose(
        named.table["answer_confidence"].to_numpy(dtype=float),
        starred.table["answer_confidence"].to_numpy(dtype=float),
    )
    gain, left_out = named.findings.helped.gain, named.model.left_out()
    right = sum(map(str.__eq__, left_out.given, left_out.predicted))
    used = named.findings.helped.used_unlabeled
    assert right == (gain.with_rows if used else gain.without)
    assert 0.4 < np.mean(left_out.confidence) < 1.0
    sure = np.mean(np.array(left_out.given) == np.array(left_out.predicted))
    assert abs(np.mean(left_out.confidence) - sure) < 0.15


@pytest.mark.slow
def test_a_loaded_model_predicts_the_same(survey, tmp_path):
    frame, _, given = survey
    options = {"task": "ordered", "order": (*"54321",), "budget": 1}
    result = filled(survey, [*"12345"], **options)
    assert list(result.model.order) == [*"54321"]
    halfmoon.save(result.model, tmp_path / "m.halfmoon")
    again = halfmoon.load(tmp_path / "m.halfmoon").predict(frame[~given])
    assert again.values == result.table["answer"][~given].tolist()
    confidence = result.table["answer_confidence"][~given].to_numpy(dtype=float)
    assert_allclose(again.confidence, confidence, atol=1e-4)
