"""Averages of local fits, for more labels than candidates are compared on."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import r2_score

from halfmoon._selection import local_average as many_labels
from halfmoon._selection.criteria import NumberCriterion
from halfmoon._selection.local_average import average_of_local_fits
from halfmoon._selection.relevance import Stretched
from halfmoon._selection.row_preparation import NormalScores, Standardized
from halfmoon.problem._local_fits import LocalFit
from halfmoon.problem._regions import Regions
from selection.search_tables import posed_of


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(many_labels, "REGION_ROWS", (120, 120))
    monkeypatch.setattr(many_labels, "TRIED_REGION_ROWS", 80)
    monkeypatch.setattr(many_labels, "MAX_RELEVANCE_LABELS", 200)


@pytest.fixture
def numbers(rng):
    """A function that depends on two columns of six, with a jump along one."""
    X = rng.uniform(-1, 1, size=(1_000, 6))
    f = np.sin(6 * X[:, 0]) + (X[:, 1] > 0.2) + 0.1 * rng.normal(size=1_000)
    return X, f, posed_of(X[:500], f[:500], single=True)


def fit(X, data, seconds=30.0):
    rng = np.random.default_rng(0)
    return average_of_local_fits(X, data, NumberCriterion(), rng, seconds)


def test_numbers_are_predicted_well_by_an_average_of_local_fits(small, numbers):
    X, f, data = numbers
    model = fit(X, data)
    assert 1 <= len(model.members) <= 4
    assert model.weights.sum() == pytest.approx(1.0)
    assert all(isinstance(member.fit, LocalFit) for member in model.members)
    values = model.predict(X[500:])
    r2 = r2_score(f[500:], values)
    assert r2 > 0.93  # noise allows for 0.99
    # Held-out rows tell how well the others are predicted.
    assert r2_score(f[:500], model.held_out[:, 0]) == pytest.approx(r2, abs=0.05)
    assert_allclose(model.leave_one_out(), f[:500] - model.held_out[:, 0])
    assert not model.uses_unlabeled
    each = np.array([member.fit.predict(X[500:]) for member in model.members])
    room = 0.25 * np.ptp(f[:500])
    limits = f[:500].min() - room, f[:500].max() + room
    assert_allclose(values, np.clip(model.weights @ each, *limits), rtol=1e-10)
    assert_array_equal(fit(X, data).predict(X[500:]), values)


def test_the_criterion_chooses_and_weighs_the_members(small, numbers, monkeypatch):
    X, _, data = numbers
    asked = []

    def mixture(self, entries, y, w, steps=20):
        asked.append((len(entries), len(y), steps))
        if len(entries) == 2:
            return np.array([0.2, 0.8])
        return np.eye(len(entries))[[3, 7]].sum(axis=0) / 2

    monkeypatch.setattr(NumberCriterion, "mixture", mixture)
    model = fit(X, data)
    assert asked[0][0] > 50  # kernels, of which at most four are to be chosen
    assert asked[0][2] == 4
    assert asked[1] == (2, 500, 20)
    assert_allclose(model.weights, [0.2, 0.8])


def test_one_region_is_evaluated_as_one_sum_of_kernels(numbers, monkeypatch):
    monkeypatch.setattr(many_labels, "TRIED_REGION_ROWS", 80)
    X, _, data = numbers
    model = fit(X, data)
    assert all(len(member.fit.duals) == 1 for member in model.members)
    each = np.array([member.fit.predict(X[500:]) for member in model.members])
    expected = model.clip((model.weights @ each)[:, None])[:, 0]
    assert_allclose(model.predict(X[500:]), expected, rtol=1e-10)
    kernels = [member.fit.posed.basis.kernel_ for member in model.members]
    assert any(isinstance(k.prepare.transformer, Stretched) for k in kernels)
    prepared = []

    def count(cls):
        transform = cls.transform

        def counting(self, rows):
            prepared.append((id(self), len(rows)))
            return transform(self, rows)

        monkeypatch.setattr(cls, "transform", counting)

    count(NormalScores)
    count(Standardized)
    model.predict(X[500:])
    assert len(prepared) == len(set(prepared))  # each preparation once
    assert {rows for _, rows in prepared} == {500}  # not the labeled rows again


def test_local_fits_get_all_rows_at_once(small, numbers, monkeypatch):
    X, _, data = numbers
    model, got, predict = fit(X, data), [], LocalFit.predict

    def recording(self, rows):
        got.append(len(rows))
        return predict(self, rows)

    monkeypatch.setattr(LocalFit, "predict", recording)
    model.predict(np.tile(X, (20, 1)))  # 20,000 rows by 500 labels: more than a block
    assert got == [20_000] * len(model.members)


def test_time_bounds_the_work(small, numbers):
    X, _, data = numbers
    names = [member.name for member in fit(X, data, seconds=0.0).members]
    assert names == ["normal scores, laplace 0.12, local fits"]


def test_no_kernel_is_tried_in_the_time_that_fits_will_take(
    small, numbers, monkeypatch
):
    X, _, data = numbers

    def tried(factor):
        monkeypatch.setattr(many_labels, "FIT_OPERATIONS", factor)
        found = many_labels._compare_in_regions
        count = []

        def counting(*arguments):
            count.append(found(*arguments))
            return count[-1]

        with monkeypatch.context() as patched:
            patched.setattr(many_labels, "_compare_in_regions", counting)
            fit(X, data, seconds=300.0)
        return len(count[0][0])

    every = tried(1.5)
    assert tried(1e12) == 1 < every


def test_time_bounds_the_number_of_fits(small, numbers, monkeypatch):
    X, _, data = numbers
    monkeypatch.setattr(many_labels, "FIT_OPERATIONS", 0.0)  # all time for kernels
    assert len(fit(X, data, seconds=300.0).members) > 1
    assert len(fit(X, data, seconds=0.5).members) == 1


@pytest.mark.parametrize(
    ("l", "size", "expected"),
    [(500, 600, 1.5 * 500**3), (1_000, 600, 1.5 * 2 * 550**3)],
)
def test_operations_are_those_of_all_regions(l, size, expected):
    assert many_labels._fit_operations(l, size) == expected
    regions = Regions.of(
        np.random.default_rng(0).normal(size=(l, 2)), size, np.random.default_rng(0)
    ).regions
    assert expected == 1.5 * sum(len(each) ** 3 for each in regions)


@pytest.mark.parametrize("seconds", [0.0, 30.0])
def test_threads_change_neither_the_fits_nor_the_draws_after_them(
    small, numbers, monkeypatch, seconds
):
    X, _, data = numbers
    found = []
    for workers in (1, 4):
        monkeypatch.setattr(many_labels, "free_workers", lambda _, n=workers: n)
        rng = np.random.default_rng(0)
        model = average_of_local_fits(X, data, NumberCriterion(), rng, seconds)
        found.append(([m.name for m in model.members], model.predict(X), rng.random()))
    assert found[0][0] == found[1][0]
    assert_array_equal(found[0][1], found[1][1])
    assert found[0][2] == found[1][2]


@pytest.mark.parametrize(
    ("rows", "labels", "limit", "size"),
    [
        (20_000, 4_000, "512MB", 2_400),
        (20_000, 20_000, "512MB", 1_936),  # 20,000 times 4 times its square is 3e11
        (150_000, 4_000, "512MB", 1_666),  # 150,000 times 4 times this is 1e9
        (20_000, 4_000, "200MB", 1_767),  # 8 matrices of this size
        (10_000_000, 200_000, "100MB", 1_200),
    ],
)
def test_regions_are_as_large_as_time_and_memory_allow(rows, labels, limit, size):
    data = posed_of(np.zeros((labels, 1)), np.zeros(labels), single=True)
    data = replace(data, stream=replace(data.stream, memory_limit=limit))
    assert many_labels._region_size(rows, data) == size
