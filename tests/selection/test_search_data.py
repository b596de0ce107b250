"""The search data: kernel matrices at the points, computed once and forgotten."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from halfmoon._selection import search_data
from halfmoon._selection.row_preparation import Preparation
from halfmoon.kernels import Gaussian, Linear
from halfmoon.kernels._transformed_rows import Prepared
from halfmoon.unpenalized import Polynomials
from helpers import squared_distances
from selection.search_tables import bench_of


def counted(monkeypatch, kernel_type):
    """Shapes of the values that kernels of a type are asked for."""
    calls = []
    value = kernel_type._value

    def counting(self, X, Z):
        calls.append((X.shape[0], Z.shape[0]))
        return value(self, X, Z)

    monkeypatch.setattr(kernel_type, "_value", counting)
    return calls


def test_points_are_the_labeled_rows_then_the_others(shared, X):
    assert shared.n_labeled == 18
    numbers = [*range(3, 21), *range(25, 38)]
    assert_array_equal(shared.points, X[numbers])


@pytest.mark.parametrize(
    "name", ["gaussian", "laplace", "linear", "walk", "averaged", "energy"]
)
def test_a_matrix_holds_the_values_of_the_kernel(shared, kernels, name, X):
    K = shared.gram(kernels[name])
    expected = kernels[name](X[[*range(3, 21), *range(25, 38)]], X[3:21])
    assert K.shape == (31, 18)
    assert_allclose(K, expected, rtol=1e-10, atol=1e-12)
    assert_array_equal(K[:18], K[:18].T)
    assert_allclose(np.diagonal(K).mean(), 1.0, rtol=1e-12)


def test_a_sum_is_that_of_its_terms(shared, kernels):
    mixed = kernels["walk"] + kernels["gaussian"] * 0.2 + kernels["linear"] * 3.0
    expected = kernels["walk"](shared.points, shared.points[:18])
    expected += 0.2 * kernels["gaussian"](shared.points, shared.points[:18])
    expected += 3.0 * kernels["linear"](shared.points, shared.points[:18])
    assert_allclose(shared.gram(mixed), expected, rtol=1e-10, atol=1e-12)
    # Sums are made anew: what is kept of their terms does not change.
    before = shared.gram(kernels["walk"])
    shared.gram(mixed)[:] = 0.0
    assert_array_equal(shared.gram(kernels["walk"]), before)


def test_kernels_of_rows_as_they_come_need_no_preparation(shared):
    kernel = Gaussian(1.3)
    expected = np.exp(
        -squared_distances(shared.points, shared.points[:18]) / (2 * 1.3**2)
    )
    assert_allclose(shared.gram(kernel), expected, rtol=1e-10)
    text = sp.csr_array(shared.X)
    sparse = bench_of(text, np.zeros(18), labeled=np.arange(3, 21))
    linear = sparse.gram(Prepared(Preparation("twice", Twice()), Linear()))
    expected = 4 * sparse.points.toarray() @ sparse.points[:18].toarray().T
    assert_allclose(linear, expected, rtol=1e-12)


class Twice:
    """A preparation that counts how often it was asked for."""

    def __init__(self):
        self.calls = 0

    def transform(self, X):
        self.calls += 1
        return X * 2.0


def test_matrices_and_prepared_rows_are_computed_once(shared, monkeypatch):
    calls, twice = counted(monkeypatch, Gaussian), Twice()
    prepare = Preparation("twice", twice)
    first, other = (Prepared(prepare, Gaussian(e)) for e in (1.0, 2.0))
    one = shared.scaled(first)
    for kernel in (one, one * 0.5, one + other * 2.0, other, first):
        shared.gram(kernel)
    assert calls == [(31, 18), (31, 18)]  # of each of the two
    assert twice.calls == 1
    assert shared.prepared(prepare) is shared.prepared(prepare)
    assert_array_equal(shared.prepared(prepare), 2.0 * shared.points)


def test_the_oldest_matrices_are_forgotten_and_made_again(shared, monkeypatch):
    each = 31 * 18 * 8
    monkeypatch.setattr(search_data, "MAX_CACHED_BYTES", 2 * each)
    calls = counted(monkeypatch, Gaussian)
    a, b, c = (Gaussian(e) for e in (1.0, 2.0, 3.0))
    expected = shared.gram(a)
    shared.gram(b)
    shared.gram(a)  # now b is the oldest
    shared.gram(c)
    assert len(calls) == 3
    shared.gram(a)
    shared.gram(c)
    assert len(calls) == 3
    shared.gram(b)  # a goes
    assert len(calls) == 4
    assert_array_equal(shared.gram(a), expected)
    assert len(calls) == 5
    # One matrix is kept, however large.
    monkeypatch.setattr(search_data, "MAX_CACHED_BYTES", 1)
    d = Gaussian(4.0)
    assert_array_equal(shared.gram(d), shared.gram(d))
    assert len(calls) == 6
    assert_array_equal(shared.gram(a), expected)
    assert len(calls) == 7


def test_a_matrix_that_was_made_elsewhere_is_used(shared, monkeypatch):
    calls = counted(monkeypatch, Gaussian)
    kernel = Gaussian(1.0)
    K = kernel(shared.points, shared.points[:18])
    K[0, 1] += 1e-9  # rounding
    shared.keep(kernel, K)
    assert len(calls) == 1
    assert_array_equal(shared.gram(kernel)[:18], shared.gram(kernel)[:18].T)
    assert_allclose(shared.gram(kernel)[0, 1], K[1, 0])
    assert len(calls) == 1


def test_scales_are_of_the_labeled_rows(shared):
    kernel = Linear()
    K = shared.X[3:21] @ shared.X[3:21].T
    diagonal = np.diagonal(shared.gram(shared.scaled(kernel)))
    assert_allclose(diagonal, np.diagonal(K) / np.diagonal(K).mean(), rtol=1e-12)
    centered = np.diagonal(shared.gram(shared.scaled(kernel, centered=True)))
    H = np.eye(18) - 1 / 18
    size = np.diagonal(H @ K @ H).mean()
    assert_allclose(centered, np.diagonal(K) / size, rtol=1e-10)


def test_a_kernel_of_zeros_has_a_scale(shared):
    nothing = bench_of(np.zeros((5, 2)), np.ones(3))
    assert np.isfinite(nothing.gram(nothing.scaled(Linear()))).all()


def test_features_at_the_points(shared, X):
    columns = Polynomials(1).fit(X)
    assert_array_equal(shared.features(columns), columns.transform(shared.points))
    assert shared.features(None).shape == (31, 0)


def test_neighbors_are_points(shared, prepare):
    near = shared.neighbors(prepare, 4)
    Z = prepare(shared.points)
    d = squared_distances(Z, Z)
    np.fill_diagonal(d, np.inf)
    assert near.shape == (31, 4)
    assert_array_equal(np.sort(near), np.sort(np.argsort(d, axis=1)[:, :4]))
