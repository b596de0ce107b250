"""Elimination of unpenalized columns: projections, least norm, columns by name."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose

from halfmoon._solvers.elimination import Elimination


def quietly(F, names=None):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return Elimination(F, names)


@pytest.fixture
def full(rng):
    return rng.normal(size=(9, 4))


@pytest.fixture
def deficient(full):
    # Column 4 is a combination of two others, column 5 is 0.
    return np.c_[full, full[:, 0] - 2 * full[:, 2], np.zeros(9)]


@pytest.mark.parametrize("which", ["full", "deficient"])
def test_bases_of_the_span_and_of_the_rest(which, request, rng):
    F = request.getfixturevalue(which)
    e = quietly(F)
    assert e.rank == 4
    assert_allclose(e.Q1.T @ e.Q1, np.eye(4), atol=1e-14)
    assert_allclose(e.Q1 @ e.T, F, atol=1e-13)
    assert_allclose(e.complement(F), 0, atol=1e-13)  # N'F = 0
    N = e.expand(np.eye(5))
    assert_allclose(N.T @ N, np.eye(5), atol=1e-14)
    assert_allclose(N.T @ e.Q1, 0, atol=1e-14)
    M = rng.normal(size=(9, 3))
    assert_allclose(e.complement(M), N.T @ M, atol=1e-13)
    P = F @ np.linalg.pinv(F)
    assert_allclose(e.expand(e.complement(M)), M - P @ M, atol=1e-13)
    assert_allclose(e.congruence(M @ M.T), N.T @ M @ M.T @ N, atol=1e-12)


@pytest.mark.parametrize("which", ["full", "deficient"])
def test_least_norm(which, request, rng):
    F = request.getfixturevalue(which)
    e, y = quietly(F), rng.normal(size=(9, 2))
    assert_allclose(e.solve(e.Q1.T @ y), np.linalg.pinv(F) @ y, atol=1e-12)
    rows = rng.normal(size=(5, 4)) @ e.T  # in the span of the rows of F
    adjoint = e.solve_adjoint(rows)
    assert_allclose(adjoint @ e.T, rows, atol=1e-12)
    assert_allclose(adjoint @ e.Q1.T, rows @ np.linalg.pinv(F), atol=1e-12)


def test_arguments_are_left_alone(full, rng):
    F, M = full.copy(), np.asfortranarray(rng.normal(size=(9, 3)))
    M_before = M.copy()
    e = Elimination(F)
    e.complement(M)
    e.expand(e.complement(M))
    assert_allclose(F, full, rtol=0)
    assert_allclose(M, M_before, rtol=0)


@pytest.mark.parametrize("exponents", [(-8, 0, 8, 3), (8, 8, -8, -8), (-150, 0, 0, 0)])
def test_the_units_of_a_column_do_not_matter(full, rng, exponents):
    F = full * 10.0 ** np.array(exponents)
    e = Elimination(F)  # without a warning
    assert e.rank == 4
    assert e.dependent == []
    y = rng.normal(size=(9, 1))
    expected = np.linalg.pinv(full) @ y / 10.0 ** np.array(exponents)[:, None]
    assert_allclose(e.solve(e.Q1.T @ y), expected, rtol=1e-6)


def test_dependent_columns_are_named(full):
    F = np.c_[full[:, :2], full[:, 0] * 3, np.zeros(9)]
    names = ["a", "b", "c", "d"]
    with pytest.warns(UserWarning, match="4 columns but rank 2 on the 9") as caught:
        e = Elimination(F, names)
    assert len(e.dependent) == 2
    assert "d" in e.dependent
    assert set(e.dependent) & {"a", "c"}
    text = str(caught[0].message)
    assert ", ".join(e.dependent) in text
    assert "Drop these columns, label more rows, or let them be penalized" in text
    with pytest.warns(UserWarning, match=r"column 3"):
        Elimination(F)


def test_more_columns_than_rows(rng):
    F, y = rng.normal(size=(3, 7)), rng.normal(size=(3, 2))
    e = quietly(F)
    assert e.rank == 3
    assert e.complement(y).shape == (0, 2)
    assert_allclose(e.solve(e.Q1.T @ y), np.linalg.pinv(F) @ y, atol=1e-12)


@pytest.mark.parametrize("k", [0, 2])
def test_nothing_to_eliminate(k, rng):
    e, M = quietly(np.zeros((6, k))), rng.normal(size=(6, 3))
    assert e.rank == 0
    assert len(e.dependent) == k
    assert_allclose(e.complement(M), M, rtol=0)
    assert_allclose(e.expand(M), M, rtol=0)
    assert_allclose(e.solve(np.zeros((0, 2))), np.zeros((k, 2)))
    assert e.solve_adjoint(np.ones((4, k))).shape == (4, 0)
