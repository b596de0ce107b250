"""Losses against scikit-learn's, and the judges that use them."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import softmax
from sklearn.metrics import log_loss, mean_squared_error

from halfmoon.candidates import (
    ForClasses,
    ForNumbers,
    Labeled,
    judges,
    log_losses,
    menu,
    scores_by_class,
    squared_losses,
)
from halfmoon.candidates.losses import TEMPERATURES
from halfmoon.estimators import halfmoon


@pytest.mark.parametrize("n_classes", [2, 5])
def test_log_loss_at_the_best_temperature(rng, n_classes):
    scores = rng.normal(size=(4, 30, n_classes))
    codes, w = rng.integers(0, n_classes, size=30), rng.uniform(0.1, 2.0, size=30)
    for e, factor in enumerate((0.1, 1.0, 3.0)):  # of scores that know something
        scores[e] += factor * (codes[:, None] == np.arange(n_classes))
    losses = log_losses(scores, codes, w)
    assert losses.shape == (4, 30)
    best = []
    for each, own in zip(scores, losses, strict=True):
        at = {
            T: log_loss(
                codes,
                softmax(T * each, axis=1),
                sample_weight=w,
                labels=np.arange(n_classes),
            )
            for T in TEMPERATURES
        }
        best.append(min(at, key=at.get))
        mean = np.average(own, weights=w)
        assert_allclose(mean, min(at.values()), rtol=1e-12, atol=1e-14)
        p = softmax(best[-1] * each, axis=1)[np.arange(30), codes]
        assert_allclose(own, -np.log(p), rtol=1e-10, atol=1e-14)
    assert len(set(best)) > 1


def test_log_loss_does_not_mind_large_scores_or_offsets(rng):
    scores, codes = rng.normal(size=(1, 9, 3)), rng.integers(0, 3, size=9)
    expected = log_losses(scores, codes, np.ones(9))
    moved = log_losses(scores + 1e6 * rng.normal(size=(1, 9, 1)), codes, np.ones(9))
    assert_allclose(moved, expected, rtol=1e-8)
    assert np.isfinite(log_losses(1e5 * scores, codes, np.ones(9))).all()


def test_squared_losses(rng):
    values, y = rng.normal(size=(3, 8, 2)), rng.normal(size=(8, 2))
    losses = squared_losses(values, y)
    for e in range(3):
        expected = mean_squared_error(y.T, values[e].T, multioutput="raw_values")
        assert_allclose(losses[e], expected, rtol=1e-12)


def test_two_classes_have_scores_of_both():
    values = np.array([[[-1.0], [1.0], [0.5]]])
    assert_array_equal(
        scores_by_class(values), [[[1.0, 0.0], [0.0, 1.0], [0.25, 0.75]]]
    )
    three = np.zeros((2, 4, 3))
    assert scores_by_class(three) is three


def data_of(y, w=None):
    y = np.asarray(y, dtype=float).reshape(len(y), -1)
    w = np.ones(len(y)) if w is None else w
    return Labeled(np.zeros((len(y), 1)), np.arange(len(y)), y, w)


def test_classes_are_judged_by_the_class_of_the_target(rng):
    values = rng.normal(size=(2, 6, 1))
    signs = np.array([1.0, -1, 1, -1, -1, 1])
    w = rng.uniform(1, 2, size=6)
    actual = ForClasses().losses(values, data_of(signs, w))
    both = np.concatenate([-values, values], axis=2) / 2
    assert_allclose(actual, log_losses(both, (signs > 0).astype(int), w), rtol=1e-12)
    codes = rng.integers(0, 3, size=6)
    scores = rng.normal(size=(2, 6, 3))
    three = data_of(codes[:, None] == np.arange(3), w)
    assert_allclose(ForClasses().losses(scores, three), log_losses(scores, codes, w))
    assert ForClasses().limits(three) is None
    assert ForClasses().scales(three) == [three]


def test_numbers_are_judged_on_the_users_scale(rng, monkeypatch):
    data = data_of(rng.uniform(1, 9, size=12))
    judge = ForNumbers(data)
    plain, logs = judge.scales(data)
    assert plain is data
    assert_allclose(logs.y, np.log(data.y + logs.target.shift))
    values = rng.normal(size=(2, 12, 1))
    assert_allclose(judge.losses(values, logs), squared_losses(values, data.y))
    monkeypatch.setattr(judges, "LOG_LABELS", 13)
    assert len(judge.scales(data)) == 2
    monkeypatch.setattr(judges, "LOG_LABELS", 12)
    assert judge.scales(data) == [data]
    negative = data_of(rng.normal(size=12))
    assert ForNumbers(negative).scales(negative) == [negative]


def test_what_goes_on_to_more_labels_was_not_compared_with_logarithms():
    # Only candidates for targets as they are can be fitted to all labels later.
    assert judges.LOG_LABELS <= halfmoon.SEARCH_LABELS
    assert menu.RELEVANCE_LABELS < halfmoon.SEARCH_LABELS


def test_an_answer_may_go_a_quarter_beyond_the_labels():
    data = data_of([[0.0, -3.0], [8.0, 1.0], [5.0, 0.0]])
    low, high = ForNumbers(data).limits(data)
    assert_array_equal(low, [-2.0, -4.0])
    assert_array_equal(high, [10.0, 2.0])
