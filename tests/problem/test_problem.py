"""Properties of fits: invariances that hold for all levers."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from halfmoon._graphs import graph_laplacian, neighbor_graph
from halfmoon.bases import Exact, Nystrom, RandomFeatures, Smoothed
from halfmoon.blocks import Stream
from halfmoon.kernels import Gaussian, Linear
from halfmoon.problem import Problem
from halfmoon.smoothers import Diffusion, KernelWeights
from halfmoon.unpenalized import Constant, Polynomials
from reference import BASES, LEVERS, columns, problem, table, twin

ALPHA = 0.02
every_problem = pytest.mark.parametrize(
    ("basis", "lever", "l"), [(b, v, l) for b in BASES for v in LEVERS for l in (6, 18)]
)


def fitted(basis, lever, data, y, alpha=ALPHA, **options):
    stated = problem(basis, lever, Polynomials(1), data)
    return stated.fit(data.X, y, alpha, sample_weight=data.w, rng=0, **options)


@every_problem
def test_features_in_the_targets_go_to_beta(basis, lever, l):
    data = table(l=l)
    b = np.array([3.0, -1.0, 2.0])
    F = twin("exact", "none", "linear", data).f
    before = fitted(basis, lever, data, data.y)
    after = fitted(basis, lever, data, data.y + F(data.X) @ b)
    assert_allclose(after.beta[:, 0], before.beta[:, 0] + b, atol=1e-10)
    moved = before.predict(data.new) + F(data.new) @ b
    assert_allclose(after.predict(data.new), moved, atol=1e-10)
    scale = np.abs(before.theta).max()
    assert_allclose(after.theta, before.theta, atol=1e-8 * scale)
    assert_allclose(after.leave_one_out(), before.leave_one_out(), atol=1e-9)
    assert_allclose(after.std(data.new), before.std(data.new), rtol=1e-7)


@every_problem
def test_a_large_penalty_leaves_least_squares_on_the_features(basis, lever, l):
    data = table(l=l)
    F = twin("exact", "none", "linear", data).f
    rows, y, w = data.X[data.labeled], data.y[data.labeled], data.w[data.labeled]
    root = np.sqrt(w)
    beta = np.linalg.lstsq(root[:, None] * F(rows), root * y, rcond=None)[0]
    fit = fitted(basis, lever, data, data.y, alpha=1e10)
    assert_allclose(fit.beta[:, 0], beta, rtol=1e-7)
    assert_allclose(fit.predict(data.new), F(data.new) @ beta, rtol=1e-7)


@every_problem
def test_scaled_targets(basis, lever, l):
    data = table(l=l)
    fit, scaled = (fitted(basis, lever, data, c * data.y) for c in (1.0, -1e6))
    assert_allclose(scaled.predict(data.new), -1e6 * fit.predict(data.new), rtol=1e-8)
    assert_allclose(scaled.std(data.new), 1e6 * fit.std(data.new), rtol=1e-8)
    assert_allclose(scaled.leave_one_out(), -1e6 * fit.leave_one_out(), rtol=1e-7)


@every_problem
def test_scaled_weights_change_nothing(basis, lever, l):
    # The loss is averaged: only ratios of weights count.
    data = table(l=l)
    fit = fitted(basis, lever, data, data.y)
    data.w = 7.0 * data.w
    scaled = fitted(basis, lever, data, data.y)
    assert_allclose(scaled.predict(data.new), fit.predict(data.new), rtol=1e-9)
    assert_allclose(scaled.leave_one_out(), fit.leave_one_out(), rtol=1e-8, atol=1e-11)
    # and the noise is that of a row of weight 1
    assert_allclose(scaled.path.scales(ALPHA)[0], 7 * fit.path.scales(ALPHA)[0])
    assert_allclose(scaled.std(data.new), fit.std(data.new), rtol=1e-7)


@every_problem
def test_blocks_and_threads_do_not_matter(basis, lever, l):
    data = table(l=l, t=2)
    expected = fitted(basis, lever, data, data.y)
    for block_rows, n_jobs in [(1, 1), (7, 2), (30, 1), (100, 2)]:
        stream = Stream(block_rows=block_rows, n_jobs=n_jobs)
        fit = fitted(basis, lever, data, data.y, stream=stream)
        for name in ("predict", "std"):
            actual = getattr(fit, name)(data.new)
            assert_allclose(actual, getattr(expected, name)(data.new), rtol=1e-8)
        assert_allclose(fit.leave_one_out(), expected.leave_one_out(), rtol=1e-7)


@every_problem
def test_zero_weight_is_no_label(basis, lever, l):
    data = table(l=l)
    y = data.y.copy()
    chosen = np.flatnonzero(data.labeled)
    y[chosen[0]] = np.nan
    data.w[chosen[0]] = 0.0
    without = fitted(basis, lever, data, y).predict(data.new)
    assert_array_equal(fitted(basis, lever, data, data.y).predict(data.new), without)


@every_problem
def test_sparse_rows(basis, lever, l):
    data = table(l=l)
    data.X[np.abs(data.X) < 0.7] = 0.0
    expected = fitted(basis, lever, data, data.y)
    dense, data.X = data.X, sp.csr_array(data.X)
    stated = problem(basis, lever, Polynomials(1), data_with(data, dense))
    fit = stated.fit(data.X, data.y, ALPHA, sample_weight=data.w, rng=0)
    for X in (sp.csr_array(data.new), data.new):
        assert_allclose(fit.predict(X), expected.predict(data.new), atol=1e-9)
        assert_allclose(fit.std(X), expected.std(data.new), rtol=1e-6)
    assert_allclose(fit.leave_one_out(), expected.leave_one_out(), atol=1e-9)


def data_with(data, X):
    return type(data)(X=X, Z=data.Z, y=data.y, w=data.w, new=data.new)


@pytest.mark.parametrize("l", [6, 18])
@pytest.mark.parametrize("lever", [v for v in LEVERS if v != "graph"])
@pytest.mark.parametrize("basis", BASES)
def test_the_order_of_rows_does_not_matter(basis, lever, l, rng):
    data = table(l=l)
    expected = fitted(basis, lever, data, data.y)
    order = rng.permutation(30)
    data.X, data.y, data.w = data.X[order], data.y[order], data.w[order]
    fit = fitted(basis, lever, data, data.y)
    assert_allclose(fit.predict(data.new), expected.predict(data.new), atol=1e-9)
    back = np.argsort(order[data.labeled])
    assert_allclose(fit.leave_one_out()[back], expected.leave_one_out(), atol=1e-9)


def test_mu_is_one_over_n_by_default():
    data = table()
    expected = Problem(Nystrom(Gaussian(0.8), landmarks=data.Z), "gradient", 1 / 30)
    actual = Problem(Nystrom(Gaussian(0.8), landmarks=data.Z), "gradient")
    assert_array_equal(
        actual.fit(data.X, data.y).predict(data.new),
        expected.fit(data.X, data.y).predict(data.new),
    )


def test_defaults_are_a_gaussian_at_every_row_and_a_constant():
    data = table()
    fit = Problem().fit(data.X, data.y, 0.1)
    distances = np.linalg.norm(data.X[:, None] - data.X[None], axis=-1)
    e = np.median(distances[np.triu_indices(30, 1)])
    expected = Problem(Exact(Gaussian(float(e))), unpenalized=Constant())
    assert_allclose(
        fit.predict(data.new), expected.fit(data.X, data.y, 0.1).predict(data.new)
    )


def test_the_graph_by_name_is_the_self_tuned_one():
    data = table(n=40)
    L = graph_laplacian(neighbor_graph(data.X, 10))
    basis = Nystrom(Gaussian(0.8), landmarks=data.Z)
    by_name = Problem(basis, "graph", 0.1).fit(data.X, data.y, ALPHA)
    given = Problem(basis, L, 0.1).fit(data.X, data.y, ALPHA)
    assert_array_equal(by_name.predict(data.new), given.predict(data.new))
    # and its energy is the sum over edges, each counted once, over n^2
    W = neighbor_graph(data.X, 10).toarray()
    Phi = by_name.posed.basis.transform(data.X)
    D = Phi[:, None, :] - Phi[None, :, :]
    energy = np.einsum("ij,ija,ijb->ab", W, D, D) / (2 * 40**2)
    Q = energy + 0.1 * by_name.posed.basis.penalty()
    assert_allclose(by_name.posed.penalty, Q, rtol=1e-10, atol=1e-14)


def test_ridge_on_a_linear_kernel_is_ridge():
    data = table(t=2)
    fit = Problem(Exact(Linear())).fit(data.X, data.y, ALPHA, sample_weight=data.w)
    rows, y, w = data.X[data.labeled], data.y[data.labeled], data.w[data.labeled]
    center, mean = np.average(rows, 0, w), np.average(y, 0, w)
    C = rows - center
    slopes = np.linalg.solve(
        C.T @ (w[:, None] * C) + ALPHA * w.sum() * np.eye(2),
        C.T @ (w[:, None] * (y - mean)),
    )
    expected = mean + (data.new - center) @ slopes
    assert_allclose(fit.predict(data.new), expected, rtol=1e-9, atol=1e-10)


def test_a_statement_is_not_changed_by_its_data():
    data = table()
    stated = Problem(
        Smoothed(Nystrom(Gaussian(), 10), KernelWeights()), "gradient", None
    )
    first = stated.fit(data.X, data.y, rng=0).predict(data.new)
    assert not hasattr(stated.basis, "basis_")
    assert stated.basis.basis.kernel.length_scale == "median"
    assert stated.mu is None
    assert_array_equal(stated.fit(data.X, data.y, rng=0).predict(data.new), first)
    copied = clone(stated).fit(data.X, data.y, rng=0)
    assert_array_equal(copied.predict(data.new), first)


def test_the_data_are_not_changed():
    data = table(t=2)
    before = [part.copy() for part in (data.X, data.y, data.w)]
    for basis in BASES:
        for lever in LEVERS:
            fit = fitted(basis, lever, data, data.y)
            fit.predict(data.X)
            fit.std(data.X)
            fit.leave_one_out()
    for part, copy in zip((data.X, data.y, data.w), before, strict=True):
        assert_array_equal(part, copy)


def test_one_column_of_targets_keeps_its_shape():
    data = table()
    flat = Problem(Exact(Gaussian(0.8))).fit(data.X, data.y)
    column = Problem(Exact(Gaussian(0.8))).fit(data.X, data.y[:, None])
    for name in ("predict", "std"):
        actual = getattr(column, name)(data.new)
        assert actual.shape == (11, 1)
        assert_array_equal(columns(getattr(flat, name)(data.new)), actual)
    assert column.leave_one_out().shape == (18, 1)
    assert flat.leave_one_out().shape == (18,)


@pytest.mark.parametrize(
    "basis",
    [
        Nystrom(Gaussian(0.8), 10),
        RandomFeatures(Gaussian(0.8), 10),
        Smoothed(Exact(Gaussian(0.8)), Diffusion(4, 0.2)),
    ],
)
def test_a_seed_fixes_what_is_drawn(basis):
    data = table()
    stated = Problem(basis)
    first, second = (stated.fit(data.X, data.y, rng=5) for _ in range(2))
    assert_array_equal(first.predict(data.new), second.predict(data.new))
