"""Leave-one-out in closed form against as many refits.

Left out means unlabeled: the row stays in the table, and lam = W alpha is held, so a
refit without label i has the penalty weight alpha W / (W - w_i).
"""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from halfmoon.bases import Exact, Nystrom, RandomFeatures, Smoothed
from halfmoon.blocks import Stream
from halfmoon.kernels import Gaussian, Linear, ThinPlate
from halfmoon.problem import Problem, solve_ridge
from halfmoon.problem._fit import loo_residuals
from halfmoon.smoothers import Diffusion, KernelWeights
from halfmoon.unpenalized import Constant, Features, Polynomials
from reference import (
    BASES,
    LEVERS,
    UNPENALIZED,
    columns,
    minimizer,
    problem,
    smoother_matrix,
    table,
    twin,
)

ALPHA = 0.02


def refits(stated, data, alpha):
    """y_i - g_(-i)(x_i) of every labeled row, one fit for each."""
    W, out = data.w[data.labeled].sum(), []
    for i in np.flatnonzero(data.labeled):
        y = data.y.copy()
        y[i] = np.nan
        held = alpha * W / (W - data.w[i])
        fit = stated.fit(data.X, y, held, sample_weight=data.w, rng=0)
        out.append(data.y[i] - fit.predict(data.X[i : i + 1])[0])
    return np.array(out)


@pytest.mark.parametrize("l", [7, 18])
@pytest.mark.parametrize("unpenalized", UNPENALIZED)
@pytest.mark.parametrize("lever", LEVERS)
@pytest.mark.parametrize("basis", BASES)
def test_equals_refits(basis, lever, unpenalized, l):
    data = table(l=l, t=1 + l % 2)
    stated = problem(basis, lever, UNPENALIZED[unpenalized], data)
    fit = stated.fit(data.X, data.y, ALPHA, sample_weight=data.w, rng=0)
    streamed = basis != "exact" and l == 18
    assert (fit.path.rows is None) == streamed
    assert_allclose(fit.leave_one_out(), refits(stated, data, ALPHA), atol=1e-10)


@pytest.mark.parametrize("lever", LEVERS)
def test_equals_dense_refits(lever):
    # The same with nothing of the library in the refits.
    data = table(l=18, t=2)
    fit = problem("nystrom", lever, UNPENALIZED["linear"], data).fit(
        data.X, data.y, ALPHA, sample_weight=data.w
    )
    dense = twin("nystrom", lever, "linear", data)
    rows, y, w = data.X[data.labeled], data.y[data.labeled], data.w[data.labeled]
    Phi, F = dense.phi(rows), dense.f(rows)
    expected = []
    for i in range(18):
        k = np.arange(18) != i
        held = ALPHA * w.sum() / w[k].sum()
        theta, beta = minimizer(Phi[k], F[k], dense.Q, y[k], w[k], held)
        expected.append(y[i] - Phi[i] @ theta - F[i] @ beta)
    assert_allclose(fit.leave_one_out(), expected, atol=1e-10)


@pytest.mark.parametrize("n_components", [10, 200])  # streamed, and not
def test_every_lever_at_once(n_components):
    data = table(n=60, l=40)
    for basis in [
        Smoothed(Nystrom(Gaussian(1.0), n_components), KernelWeights(Gaussian(0.3))),
        Smoothed(RandomFeatures(Gaussian(1.0), n_components), Diffusion(5, 0.3)),
    ]:
        by_graph = isinstance(basis.smoother, Diffusion)
        energy = "graph" if by_graph else "gradient"
        stated = Problem(basis, energy=energy, mu=1e-2, unpenalized=Polynomials(2))
        fit = stated.fit(data.X, data.y, ALPHA, sample_weight=data.w, rng=0)
        assert (fit.path.rows is None) == (n_components == 10)
        expected = refits(stated, data, ALPHA)
        assert_allclose(fit.leave_one_out(), expected, atol=1e-10)


def test_a_spline():
    data = table(l=18)
    stated = Problem(Exact(ThinPlate()), unpenalized=Polynomials(1))
    fit = stated.fit(data.X, data.y, 1e-3, sample_weight=data.w)
    assert_allclose(fit.leave_one_out(), refits(stated, data, 1e-3), atol=1e-10)


@pytest.mark.parametrize("lever", ["none", "smoothed", "gradient"])
@pytest.mark.parametrize("basis", ["exact", "nystrom"])
def test_interpolation(basis, lever):
    # alpha = 0: the residuals are all 0, so the formula by 1 - H_ii would be 0 / 0.
    data = table(n=14, l=6)
    stated = problem(basis, lever, UNPENALIZED["constant"], data)
    fit = stated.fit(data.X, data.y, 0.0, sample_weight=data.w)
    rows = data.labeled
    assert_allclose(fit.predict(data.X[rows]), data.y[rows], atol=1e-9)
    expected = refits(stated, data, 0.0)
    assert np.abs(expected).min() > 1e-3
    assert_allclose(fit.leave_one_out(), expected, rtol=1e-8)


def test_least_squares_without_a_penalty():
    # alpha = 0 with more rows than functions: as ordinary least squares has it.
    data = table(l=18)
    stated = problem("nystrom", "none", UNPENALIZED["linear"], data)
    fit = stated.fit(data.X, data.y, 0.0, sample_weight=data.w)
    expected = refits(stated, data, 0.0)
    assert_allclose(fit.leave_one_out(), expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(
    "basis",
    [Exact(Gaussian(0.8)), Nystrom(Gaussian(0.8), 30), Nystrom(Gaussian(0.8), 5)],
    ids=["dual", "svd", "streamed"],
)
@pytest.mark.parametrize("alpha", [0.0, 1e-2])
def test_loo_is_infinite_where_other_labels_do_not_determine_it(basis, alpha):
    data = table(n=30, l=18)
    alone = np.flatnonzero(data.labeled)[4]
    data.X[alone] = [1.5, 1.5]
    flag = Features(lambda x: (x == 1.5).all(axis=1) * 3.0)
    stated = Problem(basis, unpenalized=flag)
    fit = stated.fit(data.X, data.y, alpha, sample_weight=data.w, rng=0)
    loo = fit.leave_one_out()
    assert loo[4] == np.inf
    others = np.arange(18) != 4
    assert np.isfinite(loo[others]).all()
    if alpha > 0:
        with warnings.catch_warnings():  # without the row its column is 0
            warnings.simplefilter("ignore")
            expected = refits(stated, data, alpha)
        assert_allclose(loo[others], expected[others], atol=1e-10)
    scores = stated.fit(data.X, data.y, [0.1, 1.0], sample_weight=data.w, rng=0)
    assert_array_equal(scores.loo_scores, np.inf)


@pytest.mark.parametrize("lever", LEVERS)
@pytest.mark.parametrize("basis", BASES)
def test_several_alphas_at_once(basis, lever):
    data = table(l=18, t=2)
    posed = problem(basis, lever, UNPENALIZED["linear"], data).pose(
        data.X, data.y, sample_weight=data.w, rng=0
    )
    alphas = [0.0, 1e-4, 1e-2, 1.0]
    root_w = np.sqrt(data.w[data.labeled])[:, None]
    together = loo_residuals(posed, alphas) / root_w
    assert together.shape == (4, 18, 2)
    for alpha, actual in zip(alphas, together, strict=True):
        expected = solve_ridge(posed, alpha).leave_one_out()
        assert_allclose(actual, expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("block_rows", [1, 5, 18])
def test_blocks_do_not_matter(block_rows):
    data = table(l=18)
    stated = problem("nystrom", "gradient", UNPENALIZED["linear"], data)
    expected = stated.fit(data.X, data.y, ALPHA, sample_weight=data.w)
    stream = Stream(block_rows=block_rows, n_jobs=2)
    actual = stated.fit(data.X, data.y, ALPHA, sample_weight=data.w, stream=stream)
    assert expected.path.rows is None
    assert_allclose(actual.leave_one_out(), expected.leave_one_out(), rtol=1e-10)


@pytest.mark.parametrize("l", [6, 18])
@pytest.mark.parametrize("lever", LEVERS)
@pytest.mark.parametrize("basis", BASES)
def test_degrees_of_freedom(basis, lever, l):
    data = table(l=l, t=2)
    fit = problem(basis, lever, UNPENALIZED["linear"], data).fit(
        data.X, data.y, ALPHA, sample_weight=data.w, rng=0
    )
    dense = twin(basis, lever, "linear", data, fit.posed)
    rows, y, w = data.X[data.labeled], columns(data.y)[data.labeled], data.w
    w = w[data.labeled]
    Phi, F = dense.phi(rows), dense.f(rows)
    H = smoother_matrix(Phi, F, dense.Q, w, ALPHA)
    assert_allclose(H @ y, fit.predict(rows), atol=1e-9)
    assert_allclose(fit.path.degrees_of_freedom(ALPHA), np.trace(H), rtol=1e-9)
    # Equation (3) with the dense H.
    loo = (y - H @ y) / (1 - np.diag(H))[:, None]
    assert_allclose(fit.leave_one_out(), loo, atol=1e-9)


@pytest.mark.parametrize("basis", [Exact(Linear()), Nystrom(Linear())], ids=repr)
def test_least_squares_by_a_kernel_of_low_rank(basis, rng):
    X = rng.normal(size=(30, 3))
    y = rng.normal(size=30)
    fit = Problem(basis, unpenalized=Constant()).fit(X, y, 0.0)
    A = np.c_[np.ones(30), X]
    r = y - A @ np.linalg.lstsq(A, y, rcond=None)[0]
    assert_allclose(fit.predict(X), y - r, atol=1e-12)
    assert_allclose(fit.path.degrees_of_freedom(0.0), 4)
    H = A @ np.linalg.pinv(A)
    assert_allclose(fit.leave_one_out(), r / (1 - np.diag(H)), rtol=1e-9)


def test_the_search_samples_rows_if_there_are_very_many(rng, monkeypatch):
    X = rng.standard_normal((300, 2))
    y = np.sin(X[:, 0]) + 0.3 * rng.standard_normal(300)
    w = rng.uniform(0.5, 2.0, 300)
    problem = Problem(Nystrom(Gaussian(1.0), landmarks=X[:20]))
    alphas = [1e-6, 1e-3, 1.0]
    monkeypatch.setattr("halfmoon.problem._posed.MAX_SAMPLE_ROWS", 70)
    fit = problem.fit(X, y, alphas, sample_weight=w)
    some = np.random.default_rng(0).choice(300, 70, replace=False)
    for alpha, score in zip(alphas, fit.loo_scores, strict=True):
        e = problem.fit(X, y, alpha, sample_weight=w).leave_one_out()[some]
        assert_allclose(score, np.average(e**2, weights=w[some]), rtol=1e-9)
    assert fit.alpha == alphas[int(np.argmin(fit.loo_scores))]
