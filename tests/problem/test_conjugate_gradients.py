"""Conjugate gradients on the whole problem against the factorization."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.exceptions import ConvergenceWarning

from halfmoon.bases import Exact, Nystrom, Smoothed
from halfmoon.kernels import Gaussian, Polyharmonic, ThinPlate
from halfmoon.problem import Problem, solve_iteratively, solve_ridge
from halfmoon.unpenalized import Constant, Polynomials


@pytest.fixture
def data(rng):
    X = rng.uniform(-2, 2, (150, 2))
    Y = np.c_[np.sin(2 * X[:, 0]), X[:, 1] ** 2] + 0.1 * rng.normal(size=(150, 2))
    Y[100:] = np.nan
    return X, Y, rng.uniform(0.2, 3, 150), rng.uniform(-2, 2, (40, 2))


@pytest.mark.parametrize("rank", [None, 0, 10, 1_000])
@pytest.mark.parametrize("unpenalized", [None, Constant(), Polynomials(1)])
@pytest.mark.parametrize("weighted", [True, False])
def test_equals_ridge(data, unpenalized, rank, weighted):
    X, Y, w, new = data
    posed = Problem(Exact(Gaussian(0.7)), unpenalized=unpenalized).pose(
        X, Y, sample_weight=w if weighted else None
    )
    expected = solve_ridge(posed, 1e-3)
    fit, result = solve_iteratively(posed, 1e-3, rank=rank, tolerance=1e-12, rng=0)
    assert result.converged
    assert_allclose(fit.predict(new), expected.predict(new), rtol=1e-8, atol=1e-9)
    assert_allclose(fit.beta, expected.beta, rtol=1e-8, atol=1e-9)
    assert fit.alpha == 1e-3


@pytest.mark.parametrize(
    ("kernel", "degree"), [(ThinPlate(), 1), (Polyharmonic(1), 0), (Polyharmonic(3), 1)]
)
def test_splines_without_a_preconditioner(data, kernel, degree):
    X, Y, w, new = data
    posed = Problem(Exact(kernel), unpenalized=Polynomials(degree)).pose(
        X, Y, sample_weight=w
    )
    expected = solve_ridge(posed, 1e-2).predict(new)
    fit, result = solve_iteratively(posed, 1e-2, tolerance=1e-12)
    assert result.converged
    assert_allclose(fit.predict(new), expected, rtol=1e-7, atol=1e-8)


def test_the_preconditioner_saves_iterations(data):
    X, Y, w, _ = data
    posed = Problem(Exact(Gaussian(0.7))).pose(X, Y, sample_weight=w)
    counts = [
        solve_iteratively(posed, 1e-6, rank=rank, rng=0)[1].iterations
        for rank in [0, 20, 80]
    ]
    assert counts[0] > 2 * counts[1] > 2 * counts[2]
    assert counts[2] <= 10


def test_stopping_early_warns(data):
    X, Y, w, _ = data
    posed = Problem(Exact(Gaussian(0.7))).pose(X, Y, sample_weight=w)
    with pytest.warns(ConvergenceWarning, match="after 2 iterations at a residual of"):
        fit, result = solve_iteratively(posed, 1e-6, rank=0, max_iterations=2)
    assert not result.converged
    assert result.iterations == 2
    assert (result.residual > 1e-7).all()
    assert np.isfinite(fit.predict(X)).all()


def test_refusals(data):
    X, Y, _, _ = data
    for stated in [
        Problem(Nystrom(Gaussian(0.7), 10)),
        Problem(Exact(Gaussian(0.7)), energy="gradient"),
        Problem(Smoothed(Exact(Gaussian(0.7)))),
    ]:
        with pytest.raises(ValueError, match="solve them by ridge"):
            solve_iteratively(stated.pose(X, Y), 0.1)
    posed = Problem(Exact(Gaussian(0.7))).pose(X, Y)
    for alpha in [0.0, -1.0, np.nan, np.inf]:
        with pytest.raises(ValueError, match=f"alpha is {alpha}; a positive number"):
            solve_iteratively(posed, alpha)
