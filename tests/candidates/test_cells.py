"""Kernel ridge in cells beside the same by dense systems."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from halfmoon.blocks import Stream
from halfmoon.candidates import cells
from halfmoon.candidates.cells import Cellwise, solve_cell
from halfmoon.estimators import ConditionalRegressor
from halfmoon.kernels import Gaussian, Linear, ProductLaplace

STREAM = Stream(n_jobs=1)


def dense(K, y, w, lam):
    """c and beta, by the system that has the constant in it."""
    ones = np.ones((len(K), 1))
    M = np.block([[K + lam * np.diag(1 / w), ones], [ones.T, np.zeros((1, 1))]])
    solution = np.linalg.solve(M, np.vstack([y, np.zeros((1, y.shape[1]))]))
    return solution[:-1], solution[-1]


@pytest.fixture
def cell(rng):
    Z = rng.normal(size=(12, 3))
    return ProductLaplace(2.0)(Z), rng.normal(size=(12, 2)), rng.uniform(0.5, 2, 12)


def test_left_out_residuals_are_those_of_fits_without_the_row(cell):
    K, y, w = cell
    fit = solve_cell(K, y, w, 0.3)
    c, beta = dense(K, y, w, 0.3)
    assert_allclose(fit.c, c, rtol=1e-9, atol=1e-12)
    assert_allclose(fit.beta, beta, rtol=1e-9)
    for i in range(12):
        rest = np.delete(np.arange(12), i)
        c, beta = dense(K[np.ix_(rest, rest)], y[rest], w[rest], 0.3)
        assert_allclose(fit.residuals[i], y[i] - K[i, rest] @ c - beta, rtol=1e-8)


def test_a_singular_matrix_is_solved_another_way(cell, monkeypatch):
    K, y, w = cell
    expected = solve_cell(K, y, w, 0.3)

    def fails(*args, **options):
        raise np.linalg.LinAlgError

    monkeypatch.setattr(cells.sla, "cholesky", fails)
    for found, value in zip(solve_cell(K, y, w, 0.3), expected, strict=True):
        assert_allclose(found, value, rtol=1e-7, atol=1e-10)
    monkeypatch.undo()
    # Equal rows without noise to speak of, and a row that is alone.
    assert np.isfinite(solve_cell(np.ones((5, 5)), y[:5], w[:5], 1e-300).c).all()
    assert np.isinf(solve_cell(np.ones((1, 1)), y[:1], w[:1], 1.0).residuals).all()


def fitted(data, prepare, kernel, size, alpha=0.02):
    rng = np.random.default_rng(0)
    return Cellwise.fit(
        "k", prepare, kernel, alpha=alpha, data=data, size=size, rng=rng
    )


@pytest.mark.parametrize(
    "kernel", [Gaussian(1.2), ProductLaplace(2.0) + 0.3 * Linear()]
)
def test_one_cell_is_the_exact_fit(data, prepare, new, kernel):
    fit = fitted(data, prepare, kernel, 18)
    model = ConditionalRegressor(kernel, alpha=0.02)
    model.fit(prepare(data.X), data.on_table, data.weight_on_table)
    values, std = model.predict(prepare(new), return_std=True)
    assert_allclose(fit.predict(new, STREAM), values, rtol=1e-8, atol=1e-10)
    assert_allclose(np.sqrt(fit.variance(new, STREAM)), std, rtol=1e-6)
    H = model.smoother_matrix(prepare(new))
    assert_allclose(fit.smoother_matrix(new, STREAM), H, rtol=1e-6, atol=1e-10)
    assert_allclose(data.y - fit.left_out, model.leave_one_out(), rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("entries", [1, 40, 2**21])
def test_each_cell_answers_for_its_rows(data, prepare, new, monkeypatch, entries):
    monkeypatch.setattr(cells, "BLOCK_ENTRIES", entries)
    kernel, Z = Gaussian(1.2), prepare(data.X_l)
    fit = fitted(data, prepare, kernel, 7)
    assert len(fit.partition.members) == 4
    lam, cells_of = data.w.sum() * 0.02, fit.partition.find(prepare(new))
    values = fit.predict(new, STREAM)
    H = fit.smoother_matrix(new, STREAM)
    for row, cell in enumerate(cells_of):
        members = fit.partition.members[cell]
        K = kernel(Z[members])
        c, beta = dense(K, data.y[members], data.w[members], lam)
        k = kernel(prepare(new[row : row + 1]), Z[members])
        assert_allclose(values[row], (k @ c + beta)[0], rtol=1e-8, atol=1e-10)
    assert_allclose(H @ data.y, values, rtol=1e-8, atol=1e-10)
    assert_array_equal(fit.predict(new, Stream(n_jobs=2)), values)
    again = pickle.loads(pickle.dumps(fit))
    assert_array_equal(again.predict(new, STREAM), values)


def test_a_left_out_row_has_no_part_in_its_value(data, prepare):
    fit = fitted(data, prepare, Gaussian(1.2), 7)
    Z = prepare(data.X_l)
    lam, of_rows = data.w.sum() * 0.02, fit.partition.find(Z)
    for i, cell in enumerate(of_rows):
        members = fit.partition.members[cell]
        rest = members[members != i]
        K = Gaussian(1.2)(Z)
        c, beta = dense(K[np.ix_(rest, rest)], data.y[rest], data.w[rest], lam)
        assert_allclose(fit.left_out[i], K[i, rest] @ c + beta, rtol=1e-7, atol=1e-9)


def test_a_row_in_a_cell_that_has_not_learned_from_it(data, prepare):
    # Equal rows all go to one cell, which has learned from half of them.
    fit = fitted(data, lambda X: np.ones((len(X), 2)), Gaussian(1.0), 10)
    assert len(fit.partition.members) == 2
    members = fit.partition.members[0]
    for i in range(18):
        rest = members[members != i]
        K, w = np.ones((len(rest), len(rest))), data.w[rest]
        c, beta = dense(K, data.y[rest], w, data.w.sum() * 0.02)
        assert_allclose(fit.left_out[i], c.sum(axis=0) + beta, rtol=1e-6, atol=1e-9)
