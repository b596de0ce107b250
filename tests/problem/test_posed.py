"""Parts of a posed problem, its free directions, and bad parameters."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose

from halfmoon.bases import Exact, Nystrom, RandomFeatures, Smoothed
from halfmoon.filters import Tikhonov
from halfmoon.kernels import Gaussian, Polyharmonic, ThinPlate
from halfmoon.kernels._user_kernels import FromFunction
from halfmoon.problem import Problem, solve_filter, solve_ridge
from halfmoon.problem._fit import ridge_solution
from halfmoon.problem._moment_ridge import row_moments
from halfmoon.unpenalized import Constant, Features, Polynomials
from reference import BASES, LEVERS, columns, problem, ring_laplacian, table, twin

ALPHA = 0.1


@pytest.mark.parametrize("lever", LEVERS)
@pytest.mark.parametrize("basis", BASES)
def test_pieces(basis, lever):
    data = table(t=2)
    posed = problem(basis, lever, Polynomials(1), data).pose(
        data.X, data.y, sample_weight=data.w, rng=0
    )
    dense = twin(basis, lever, "linear", data, posed)
    rows, w = data.X[data.labeled], data.w[data.labeled][:, None]
    Phi, F, y = dense.phi(rows), dense.f(rows), columns(data.y)[data.labeled]
    assert_allclose(posed.penalty, dense.Q, rtol=1e-9, atol=1e-13)
    assert_allclose(posed.on_labeled(), Phi, rtol=1e-10, atol=1e-14)
    assert_allclose(posed.F, F, rtol=1e-12, atol=1e-14)
    assert_allclose(posed.total_weight, w.sum())
    G, cross, b = row_moments(posed, posed.basis.transform)
    assert_allclose(G, Phi.T @ (w * Phi), rtol=1e-9, atol=1e-12)
    assert_allclose(b, y.T @ (w * Phi), rtol=1e-9, atol=1e-12)
    Q1 = posed.elimination.Q1
    assert_allclose(cross, Q1.T @ (np.sqrt(w) * Phi), rtol=1e-9, atol=1e-12)
    assert posed.dual == (basis == "exact" and lever in ("none", "smoothed"))


@pytest.mark.parametrize("lever", LEVERS)
@pytest.mark.parametrize("basis", BASES)
def test_other_targets_from_the_same_factorization(basis, lever):
    data = table(t=2)
    posed = problem(basis, lever, Polynomials(1), data).pose(
        data.X, data.y, sample_weight=data.w, rng=0
    )
    other = np.cos(posed.y) @ np.ones((2, 3)) + np.arange(3)
    expected = posed.with_targets(other).path  # factored for these targets
    posed.path  # noqa: B018 - factored for the first ones
    again = posed.with_targets(other)
    assert again.is_factored == (posed.path.rows is not None)
    assert_allclose(again.path.theta(ALPHA), expected.theta(ALPHA), rtol=1e-8)
    assert_allclose(again.path.beta(ALPHA), expected.beta(ALPHA), rtol=1e-8)


@pytest.mark.parametrize("lever", ["none", "smoothed"])
def test_one_alpha_needs_no_path(lever):
    data = table(t=2)
    stated = problem("exact", lever, Polynomials(1), data)
    fit = stated.fit(data.X, data.y, ALPHA, sample_weight=data.w, rng=0)
    posed, expected = fit.posed, replace(fit, posed=replace(fit.posed))
    expected.path  # noqa: B018 - factored for all alphas
    assert_allclose(fit.leave_one_out(), expected.leave_one_out(), rtol=1e-8)
    assert_allclose(fit.loo_score, expected.loo_score, rtol=1e-8)
    assert_allclose(fit.std(data.new), expected.std(data.new), rtol=1e-8)
    assert_allclose(fit.dual_coef(), expected.dual_coef(), rtol=1e-8)
    H = expected.smoother_matrix(data.new)
    assert_allclose(fit.smoother_matrix(data.new), H, rtol=1e-8, atol=1e-11)
    assert not posed.is_factored
    other = posed.with_targets(np.cos(posed.y))
    assert other.path_at(ALPHA).factor is posed.path_at(ALPHA).factor
    assert posed.path_at(2 * ALPHA) is posed.path
    assert posed.path_at(ALPHA) is not posed.path  # the digits of a fit stay


def test_the_path_answers_where_a_point_cannot(rng):
    X = np.repeat(rng.normal(size=(6, 2)), 2, axis=0)  # equal rows in pairs
    y = rng.normal(size=12)
    posed = Problem(Exact(Gaussian(1.0))).pose(X, y)
    for alpha in (0.0, 1e-30):
        fit = solve_ridge(posed, alpha)
        pairs = y.reshape(6, 2).mean(axis=1).repeat(2)
        assert_allclose(fit.predict(X), pairs, rtol=1e-7)
    assert posed.is_factored
    indefinite = Exact(FromFunction(lambda U, V: U @ V.T - 2 * U[:, :1] @ V[:, :1].T))
    with pytest.raises(ValueError, match="not positive definite"):
        Problem(indefinite).fit(X, y, 1e3)


@pytest.mark.parametrize("factored", [False, True])
@pytest.mark.parametrize("unpenalized", [None, Constant()])
def test_moments_of_many_labels_lose_no_digits(rng, unpenalized, factored):
    """Against least squares of the rows themselves, where Q is ill-conditioned."""
    X = rng.normal(size=(400, 3))
    y = np.where(np.arange(400) % 4 == 0, np.sin(X[:, 0]) + X[:, 1], np.nan)
    nystrom = Nystrom(Gaussian(2.5), landmarks=X[:40])
    posed = Problem(nystrom, "gradient", 1e-3, unpenalized).pose(X, y)
    assert posed.overdetermined
    assert np.linalg.cond(posed.penalty) > 1e7
    if factored:
        posed.path  # noqa: B018 - without it, by Cholesky
    alpha = 1e-3
    theta, beta = ridge_solution(posed, alpha)
    R = np.sqrt(posed.total_weight * alpha) * np.linalg.cholesky(posed.penalty).T
    A = np.block([[posed.on_labeled(), posed.F], [R, np.zeros((len(R), len(beta)))]])
    right = np.vstack([posed.y, np.zeros((len(R), 1))])
    expected, *_ = np.linalg.lstsq(A, right, rcond=None)
    found = A[: len(posed.y)] @ np.vstack([theta, beta])
    assert_allclose(found, A[: len(posed.y)] @ expected, rtol=0, atol=1e-10)


def two_rings(n):
    half = ring_laplacian(n // 2)
    return sp.csr_array(np.kron(np.eye(2), half))


def graph_fit(L, data, alpha):
    """min over values at the rows of 1/W sum w (y - g)^2 + alpha g'L g / n^2."""
    w = np.where(data.labeled, data.w, 0.0)
    w = w / w.sum()
    y = np.where(data.labeled, data.y, 0.0)
    A = np.diag(w) + alpha * L / len(w) ** 2
    return np.linalg.lstsq(A, w * y, rcond=None)[0]


@pytest.mark.parametrize("unpenalized", [None, Constant(), Polynomials(1)])
@pytest.mark.parametrize("rings", [1, 2])
@pytest.mark.parametrize(
    "basis",
    [Exact(Gaussian(0.2)), RandomFeatures(Gaussian(0.1), 80), Nystrom(Gaussian(0.2))],
    ids=["exact", "features", "nystrom"],
)
def test_without_a_norm_a_graph_alone_decides_at_the_rows(basis, rings, unpenalized):
    # mu = 0: constants on each ring are free, so the values at the rows are those of
    # least squares on the graph, in any basis.
    data = table(l=18)
    L = sp.csr_array(ring_laplacian(30)) if rings == 1 else two_rings(30)
    stated = Problem(basis, energy=L, mu=0.0, unpenalized=unpenalized)
    fit = stated.fit(data.X, data.y, ALPHA, sample_weight=data.w, rng=0)
    if unpenalized is not None and unpenalized.fit(data.X).degree_ == 1:
        # The slopes are free as well, at no cost on the graph.
        F = data.X - data.X.mean(axis=0)
        w = np.where(data.labeled, data.w, 0.0)[:, None] / data.w[data.labeled].sum()
        y = np.where(data.labeled, data.y, 0.0)
        A = np.hstack([np.eye(30), F])
        system = A.T @ (w * A)
        system[:30, :30] += ALPHA * L.toarray() / 900
        expected = A @ np.linalg.lstsq(system, A.T @ (w[:, 0] * y), rcond=None)[0]
    else:
        expected = graph_fit(L.toarray(), data, ALPHA)
    assert fit.posed.free.shape[1] == rings - (unpenalized is not None)
    assert_allclose(fit.predict(data.X), expected, atol=1e-6)
    # Leave-one-out and the filter know of them too.
    y = data.y.copy()
    i = np.flatnonzero(data.labeled)[2]
    y[i] = np.nan
    W = data.w[data.labeled].sum()
    held = ALPHA * W / (W - data.w[i])
    refit = stated.fit(data.X, y, held, sample_weight=data.w, rng=0)
    residual = data.y[i] - refit.predict(data.X[[i]])[0]
    assert_allclose(fit.leave_one_out()[2], residual, atol=1e-6)
    filtered = solve_filter(fit.posed, Tikhonov(ALPHA))
    assert_allclose(filtered.predict(data.X), fit.predict(data.X), atol=1e-6)


@pytest.mark.parametrize("rings", [1, 2])
def test_free_directions_are_the_limit_of_a_small_norm(rings):
    data = table(l=18)
    L = sp.csr_array(ring_laplacian(30)) if rings == 1 else two_rings(30)

    def fit(mu):
        stated = Problem(Exact(Gaussian(0.3)), energy=L, mu=mu, unpenalized=None)
        return stated.fit(data.X, data.y, ALPHA, sample_weight=data.w)

    limit = fit(0.0)
    assert limit.posed.free.shape[1] == rings
    for mu, atol in [(1e-8, 1e-4), (1e-10, 1e-6)]:
        assert_allclose(limit.predict(data.new), fit(mu).predict(data.new), atol=atol)
        assert_allclose(limit.leave_one_out(), fit(mu).leave_one_out(), atol=10 * atol)


def test_a_component_without_labels_changes_nothing_elsewhere():
    data = table(l=18)
    data.y[15:] = np.nan  # the second ring
    L = two_rings(30)
    stated = Problem(Exact(Gaussian(0.1)), energy=L, mu=0.0, unpenalized=None)
    fit = stated.fit(data.X, data.y, ALPHA)
    assert fit.posed.free.shape[1] == 1
    w = data.labeled / data.labeled.sum()
    A = (np.diag(w) + ALPHA * L.toarray() / 900)[:15, :15]
    expected = np.linalg.solve(A, (w * np.nan_to_num(data.y))[:15])
    assert_allclose(fit.predict(data.X[:15]), expected, atol=1e-6)
    assert_allclose(np.ptp(fit.predict(data.X[15:])), 0, atol=1e-6)


@pytest.mark.parametrize("over", ["labeled", "all"])
def test_free_directions_stay_free_under_any_filter(over):
    # Adding a constant to the targets of a ring adds it to the values there.
    data = table(l=18)
    posed = [
        Problem(
            Exact(Gaussian(0.2)), energy=two_rings(30), mu=0.0, unpenalized=None
        ).pose(data.X, y, sample_weight=data.w)
        for y in (data.y, data.y + 5.0 * (np.arange(30) < 15))
    ]
    before, after = (solve_filter(p, Tikhonov(1.0), covariance=over) for p in posed)
    moved = before.predict(data.X) + 5.0 * (np.arange(30) < 15)
    assert_allclose(after.predict(data.X), moved, atol=1e-6)


# ---- what is refused -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("kernel", "degree", "unpenalized"),
    [
        (ThinPlate(), 1, None),
        (ThinPlate(), 1, Constant()),
        (Polyharmonic(1), 0, None),
        (Polyharmonic(3), 1, Features([0, 1])),
        (Polyharmonic(5), 2, Polynomials(1)),
        (ThinPlate() + Gaussian(1.0), 1, Constant()),
    ],
)
def test_a_spline_without_its_polynomials(kernel, degree, unpenalized):
    data = table()
    stated = Problem(Exact(kernel), unpenalized=unpenalized)
    with pytest.raises(
        ValueError, match=rf"degree {degree} .*Use unp.*Polynomials\(degree={degree}\)"
    ):
        stated.fit(data.X, data.y)


@pytest.mark.parametrize(
    ("basis", "energy"),
    [
        (Nystrom(ThinPlate(), 10, "uniform"), None),
        (Nystrom(ThinPlate(), landmarks=[0, 1, 2, 3, 4]), None),
        (Exact(ThinPlate()), "gradient"),
        (Exact(ThinPlate()), "graph"),
    ],
)
def test_a_spline_at_landmarks_or_with_an_energy(basis, energy):
    data = table()
    with pytest.raises(ValueError, match="exact basis with energy=None"):
        Problem(basis, energy, unpenalized=Polynomials(1)).fit(data.X, data.y)


def test_a_smoothed_spline():
    data = table()
    with pytest.raises(ValueError, match="needs a positive definite inner kernel"):
        Problem(Smoothed(Exact(ThinPlate())), unpenalized=Polynomials(1)).fit(
            data.X, data.y
        )


@pytest.mark.parametrize("mu", [-1e-9, np.nan, np.inf, "auto"])
def test_mu(mu):
    data = table()
    with pytest.raises(ValueError, match=f"mu is {mu!r}; a finite number, 0 or more"):
        Problem(Exact(Gaussian(1.0)), "gradient", mu).fit(data.X, data.y)


@pytest.mark.parametrize("energy", ["gradients", 3, np.eye(30)], ids=repr)
def test_energy(energy):
    data = table()
    with pytest.raises(ValueError, match="'gradient', 'graph' or a sparse graph"):
        Problem(Exact(Gaussian(1.0)), energy).fit(data.X, data.y)


def test_a_graph_of_another_size():
    data = table()
    with pytest.raises(ValueError, match=r"shape \(29, 29\) and the table 30 rows"):
        Problem(Exact(Gaussian(1.0)), sp.eye_array(29)).fit(data.X, data.y)


def test_an_indefinite_penalty():
    data, pairs = table(), np.kron(np.eye(15), [[1.0, -2.0], [-2.0, 1.0]])
    with pytest.raises(ValueError, match="penalty is not positive semi-definite"):
        Problem(Exact(Gaussian(0.2)), sp.csr_array(100 * pairs)).fit(data.X, data.y)
