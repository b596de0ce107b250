"""Averages of fits in cells."""

import tracemalloc

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import r2_score

from halfmoon.blocks import Stream
from halfmoon.candidates import ForClasses, ForNumbers, InCells, Labeled, many
from halfmoon.candidates.many import fit_in_cells


def with_jumps(rng, n):
    """A function that depends on two columns of six, with a jump along each."""
    X = rng.uniform(-1, 1, size=(n, 6))
    return X, np.sin(6 * X[:, 0]) + (X[:, 1] > 0.2) + 0.1 * rng.normal(size=n)


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(many, "CELL", 120)
    monkeypatch.setattr(many, "TRIED_CELL", 80)
    monkeypatch.setattr(many, "RECIPE_LABELS", 200)
    return monkeypatch


def fit(data, judge, seed=0, single=True, seconds=30.0):
    rng, stream = np.random.default_rng(seed), Stream(n_jobs=1)
    return fit_in_cells(
        data, judge, single=single, rng=rng, stream=stream, seconds=seconds
    )


@pytest.fixture
def numbers(rng):
    X, f = with_jumps(rng, 1_000)
    y = np.where(np.arange(1_000) < 500, f, np.nan)[:, None]
    return X, f, Labeled.of(X, y, np.ones(1_000))


def test_numbers_in_cells_are_predicted_well(small, numbers):
    X, f, data = numbers
    model = fit(data, ForNumbers(data))
    assert isinstance(model, InCells)
    assert 1 <= len(model.members) <= 4
    assert model.weights.sum() == pytest.approx(1.0)
    assert all(len(member.partition.members) == 8 for member in model.members)
    r2 = r2_score(f[500:], model.predict(X[500:]))
    assert r2 > 0.93  # noise allows for 0.99
    # Left-out rows tell how well the others are predicted.
    assert r2_score(f[:500], model.left_out[:, 0]) == pytest.approx(r2, abs=0.05)
    assert_allclose(model.leave_one_out(), f[:500] - model.left_out[:, 0])
    assert not model.unlabeled


def test_the_average_is_that_of_its_members(small, numbers):
    X, f, data = numbers
    model = fit(data, ForNumbers(data))
    each = np.array([m.predict(X[500:], model.stream)[:, 0] for m in model.members])
    low, high = data.y.min(), data.y.max()
    room = 0.25 * (high - low)
    expected = np.clip(model.weights @ each, low - room, high + room)
    assert_allclose(model.predict(X[500:]), expected, rtol=1e-12)
    own = np.array([m.variance(X[500:], model.stream)[:, 0] for m in model.members])
    apart = (each - model.weights @ each) ** 2
    assert_allclose(model.std(X[500:]) ** 2, model.weights @ (own + apart), rtol=1e-9)
    H = model.smoother_matrix(X[500:510])
    assert_allclose(H @ f[:500], (model.weights @ each)[:10], rtol=1e-7, atol=1e-9)
    again = fit(data, ForNumbers(data))
    assert_array_equal(again.predict(X), model.predict(X))


def test_classes_in_cells(small, rng):
    X = rng.uniform(-1, 1, size=(900, 4))
    codes = (X[:, 0] > 0.1).astype(int) + (X[:, 1] > 0.4)
    y = np.where(np.arange(900)[:, None] < 450, np.eye(3)[codes], np.nan)
    data = Labeled.of(X, y, np.ones(900))
    model = fit(data, ForClasses(), single=False)
    assert model.predict(X).shape == (900, 3)
    assert (model.predict(X[450:]).argmax(axis=1) == codes[450:]).mean() > 0.93


def test_wide_rows_are_compared_as_they_are(small, rng):
    X = rng.normal(size=(300, 101))
    y = np.where(np.arange(300) < 200, X[:, :20].sum(axis=1), np.nan)[:, None]
    data = Labeled.of(X, y, np.ones(300))
    model = fit(data, ForNumbers(data))
    assert all("laplace" in m.name or "gaussian" in m.name for m in model.members)
    assert all("by" not in member.name for member in model.members)
    assert np.isfinite(model.predict(X)).all()


def test_time_and_labels_bound_the_work(small, numbers):
    _, _, data = numbers
    hurried = fit(data, ForNumbers(data), seconds=0.0)
    assert [member.name for member in hurried.members] == [
        "normal scores, laplace 0.12"
    ]
    small.setattr(many, "OPERATIONS", 2.0 * 500 * 120**2)
    assert len(fit(data, ForNumbers(data)).members) <= 2


def test_memory_does_not_grow_with_the_square_of_the_labels(small, rng):
    X, f = with_jumps(rng, 4_000)
    data = Labeled.of(X, f[:, None], np.ones(4_000))
    data.X_l  # noqa: B018 - held before
    tracemalloc.start()
    try:
        model = fit(data, ForNumbers(data), seconds=0.0)
        model.predict(X)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 40e6  # a matrix of labels by labels has 128 MB
    assert model.left_out.shape == (4_000, 1)
