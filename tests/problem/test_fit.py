"""Posterior deviations: Gaussian processes, universal kriging and the dense formula."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel

from halfmoon.bases import Exact, Nystrom, RandomFeatures, Smoothed
from halfmoon.filters import Tikhonov
from halfmoon.kernels import Gaussian, Linear, ThinPlate
from halfmoon.problem import Problem, solve_filter
from halfmoon.smoothers import KernelWeights
from halfmoon.unpenalized import Constant, Polynomials
from reference import (
    BASES,
    LEVERS,
    MU,
    UNPENALIZED,
    WIDTH,
    columns,
    gaussian,
    posterior_covariance,
    problem,
    ring_laplacian,
    table,
    twin,
)

ALPHA = 0.02
FAR = np.array([[1e3, -1e3]])


@pytest.mark.parametrize("tau", [1.0, 2.5])
@pytest.mark.parametrize("basis", [Exact, Nystrom])
def test_gaussian_process_of_scikit_learn(basis, tau):
    data = table(n=18, l=18, weights=False)
    noise = tau * ALPHA * 18  # lam = s2 / tau
    peer = GaussianProcessRegressor(
        ConstantKernel(tau, "fixed") * RBF(WIDTH, "fixed"), alpha=noise, optimizer=None
    ).fit(data.X, data.y)
    mean, std = peer.predict(data.new, return_std=True)
    fit = Problem(basis(Gaussian(WIDTH)), unpenalized=None).fit(data.X, data.y, ALPHA)
    assert_allclose(fit.predict(data.new), mean, rtol=1e-9)
    assert_allclose(fit.std(data.new, noise=noise), std, rtol=1e-9)
    assert_allclose(fit.std(data.X, noise=noise), peer.predict(data.X, True)[1])


@pytest.mark.parametrize("weights", [True, False])
@pytest.mark.parametrize("l", [6, 18])
@pytest.mark.parametrize("unpenalized", UNPENALIZED)
@pytest.mark.parametrize("lever", LEVERS)
@pytest.mark.parametrize("basis", BASES)
def test_dense_formula(basis, lever, unpenalized, l, weights):
    # s2 (phi, f)'M(phi, f), and tau times what the sections leave of the kernel.
    data = table(l=l, weights=weights)
    fit = problem(basis, lever, UNPENALIZED[unpenalized], data).fit(
        data.X, data.y, ALPHA, sample_weight=data.w, rng=0
    )
    dense = twin(basis, lever, unpenalized, data, fit.posed)
    rows, w = data.X[data.labeled], data.w[data.labeled]
    M = posterior_covariance(dense.phi(rows), dense.f(rows), dense.Q, w, ALPHA)
    noise = 0.37
    tau = noise / (ALPHA * w.sum())
    A = np.hstack([dense.phi(data.new), dense.f(data.new)])
    variance = noise * np.einsum("ij,jk,ik->i", A, M, A)
    if basis != "features" and "smoothed" not in lever:
        Z = data.X if basis == "exact" else data.Z
        k = gaussian(data.new, Z)
        left = 1 - np.einsum("ij,ji->i", k, np.linalg.solve(gaussian(Z, Z), k.T))
        # Next to an energy, the norm has the weight mu.
        variance += tau * left / (1.0 if lever == "none" else MU)
    assert_allclose(fit.std(data.new, noise=noise) ** 2, variance, rtol=1e-7)


@pytest.mark.parametrize("lever", ["none", "smoothed"])
def test_every_row_a_landmark_equals_the_dual(lever):
    data = table(l=18)
    dual = problem("exact", lever, UNPENALIZED["linear"], data).fit(
        data.X, data.y, ALPHA, sample_weight=data.w
    )
    data.Z = data.X
    primal = problem("nystrom", lever, UNPENALIZED["linear"], data).fit(
        data.X, data.y, ALPHA, sample_weight=data.w
    )
    assert dual.posed.dual
    assert not primal.posed.dual
    for noise in [None, 0.4]:
        expected = dual.std(data.new, noise)
        assert_allclose(primal.std(data.new, noise), expected, rtol=1e-8)


@pytest.mark.parametrize("l", [6, 18])
@pytest.mark.parametrize("unpenalized", UNPENALIZED)
@pytest.mark.parametrize("lever", LEVERS)
@pytest.mark.parametrize("basis", BASES)
def test_scales_by_restricted_maximum_likelihood(basis, lever, unpenalized, l):
    # With lam given, y ~ N(F beta, s2 V), V = W^-1 + Phi Q^-1 Phi' / lam, and
    # s2 = y'P y / (l - k), P = V^-1 - V^-1 F (F'V^-1 F)^-1 F'V^-1.
    data = table(l=l, t=2)
    fit = problem(basis, lever, UNPENALIZED[unpenalized], data).fit(
        data.X, data.y, ALPHA, sample_weight=data.w, rng=0
    )
    dense = twin(basis, lever, unpenalized, data, fit.posed)
    rows, y, w = data.X[data.labeled], columns(data.y)[data.labeled], data.w
    w = w[data.labeled]
    Phi, F, lam = dense.phi(rows), dense.f(rows), ALPHA * w.sum()
    V = np.diag(1 / w) + Phi @ np.linalg.solve(dense.Q, Phi.T) / lam
    P = np.linalg.inv(V)
    if F.shape[1]:
        P -= P @ F @ np.linalg.solve(F.T @ P @ F, F.T @ P)
    s2 = np.einsum("it,ij,jt->t", y, P, y) / (l - F.shape[1])
    noise, tau = fit.path.scales(ALPHA)
    assert_allclose(noise, s2, rtol=1e-7)
    assert_allclose(tau, s2 / lam, rtol=1e-7)
    # They are what `std` takes where no noise is given, one for each target.
    each = [fit.std(data.new, noise=v)[:, j] for j, v in enumerate(noise)]
    assert_allclose(fit.std(data.new), np.column_stack(each), rtol=1e-7)


@pytest.mark.parametrize(
    ("basis", "energy", "prior"),
    [
        (Exact(Gaussian(0.8)), None, 1.0),
        (Nystrom(Gaussian(0.8), 8), None, 1.0),
        (Nystrom(Gaussian(0.8), 8), "gradient", 1 / MU),
        (Exact(Gaussian(0.8)), "gradient", 1 / MU),
        (Nystrom(Gaussian(0.8), 8), sp.csr_array(ring_laplacian(30)), 1 / MU),
        (Nystrom(3.0 * Gaussian(0.8), 8), None, 3.0),
    ],
)
def test_far_from_all_rows_the_prior_is_back(basis, energy, prior):
    data = table(l=18)
    stated = Problem(basis, energy=energy, mu=MU, unpenalized=None)
    fit = stated.fit(data.X, data.y, ALPHA, sample_weight=data.w, rng=0)
    _, tau = fit.path.scales(ALPHA)
    assert_allclose(fit.std(FAR), np.sqrt(tau * prior), rtol=1e-12)
    assert_allclose(fit.predict(FAR), 0, atol=1e-12)
    walk = np.array([[2.0 + step, 2.0] for step in np.linspace(0, 8, 30)])
    assert (np.diff(fit.std(walk)) > -1e-12).all()  # grows on the way out


@pytest.mark.parametrize("energy", [None, "gradient"])
@pytest.mark.parametrize("basis", [Exact, Nystrom])
def test_far_away_a_constant_adds_its_own_doubt(basis, energy):
    data = table(l=18)
    stated = Problem(basis(Gaussian(0.8)), energy=energy, mu=MU)
    fit = stated.fit(data.X, data.y, ALPHA, sample_weight=data.w, rng=0)
    noise, tau = fit.path.scales(ALPHA)
    prior = tau / (1.0 if energy is None else MU)
    # var beta from the dense formula, and no covariance with what is far away
    lever = "none" if energy is None else "gradient"
    dense = twin("exact", lever, "constant", data)
    rows, w = data.X[data.labeled], data.w[data.labeled]
    M = posterior_covariance(dense.phi(rows), dense.f(rows), dense.Q, w, ALPHA)
    assert_allclose(fit.std(FAR) ** 2, prior + noise * M[-1, -1], rtol=1e-7)


def test_random_features_are_their_own_prior():
    data = table(l=5, p=40)
    stated = Problem(RandomFeatures(Gaussian(0.8), 40), unpenalized=None)
    fit = stated.fit(data.X, data.y, ALPHA, sample_weight=data.w, rng=0)
    phi = fit.posed.basis.transform
    assert_allclose((phi(data.new) ** 2).sum(axis=1), 1.0)
    K, w = phi(data.X[data.labeled]) @ phi(data.X[data.labeled]).T, data.w
    w = w[data.labeled]
    k = phi(data.new) @ phi(data.X[data.labeled]).T
    A = K + ALPHA * w.sum() * np.diag(1 / w)
    expected = 1 - np.einsum("ij,ji->i", k, np.linalg.solve(A, k.T))
    _, tau = fit.path.scales(ALPHA)
    assert_allclose(fit.std(data.new), np.sqrt(tau * expected), rtol=1e-9)
    # The labeled rows see 5 of 40 directions: the rest keep the prior.
    assert (fit.std(1e3 * data.new) > 0.3 * np.sqrt(tau)).all()


@pytest.mark.parametrize("basis", [Exact, Nystrom])
@pytest.mark.parametrize("unpenalized", [None, Constant(), Polynomials(1)])
def test_interpolation(basis, unpenalized):
    # alpha = 0: kriging without a nugget, tau by restricted maximum likelihood.
    data = table(n=16, l=10, weights=False)
    stated = Problem(basis(Gaussian(WIDTH)), unpenalized=unpenalized)
    fit = stated.fit(data.X, data.y, 0.0)
    rows, y = data.X[data.labeled], data.y[data.labeled]
    assert_allclose(fit.std(rows), 0, atol=1e-6)
    name = {None: "no features", Constant: "constant", Polynomials: "linear"}[
        None if unpenalized is None else type(unpenalized)
    ]
    f = twin("exact", "none", name, data).f
    K, F, k = gaussian(rows, rows), f(rows), gaussian(data.new, rows)
    q = F.shape[1]
    saddle = np.block([[K, F], [F.T, np.zeros((q, q))]])
    right = np.hstack([k, f(data.new)]).T
    variance = 1 - np.einsum("ij,ij->j", right, np.linalg.solve(saddle, right))
    c = np.linalg.solve(saddle, np.r_[y, np.zeros(q)])[:10]
    tau = y @ c / (10 - q)
    assert_allclose(fit.path.scales(0.0), [[0.0], [tau]], rtol=1e-7)
    assert_allclose(fit.std(data.new), np.sqrt(tau * variance), rtol=1e-6)


def test_least_squares_without_a_penalty():
    # alpha = 0 with more rows than functions: deviations of ordinary least squares
    # among the functions, and no bound at all on what they leave out.
    data = table(l=18)
    stated = problem("features", "none", UNPENALIZED["linear"], data)
    fit = stated.fit(data.X, data.y, 0.0, sample_weight=data.w, rng=0)
    dense = twin("features", "none", "linear", data, fit.posed)
    rows, y, w = data.X[data.labeled], data.y[data.labeled], data.w[data.labeled]

    def design(x):
        return np.hstack([dense.phi(x), dense.f(x)])

    A, root = design(rows), np.sqrt(w)[:, None]
    coef, rss = np.linalg.lstsq(root * A, root[:, 0] * y, rcond=None)[:2]
    assert_allclose(fit.predict(data.new), design(data.new) @ coef, rtol=1e-8)
    # Restricted to the unpenalized columns: l - rank F, not l - rank A, as in (1).
    noise = rss[0] / (18 - 3)
    assert_allclose(fit.path.scales(0.0)[0], noise, rtol=1e-8)
    M = np.linalg.inv(A.T @ (w[:, None] * A))
    expected = np.einsum("ij,jk,ik->i", design(data.new), M, design(data.new))
    assert_allclose(fit.std(data.new), np.sqrt(noise * expected), rtol=1e-7)


def test_a_spline_far_away_is_ever_less_sure():
    data = table(l=18)
    fit = Problem(Exact(ThinPlate()), unpenalized=Polynomials(1)).fit(
        data.X, data.y, 1e-3
    )
    stds = fit.std(np.array([[2.0, 2.0], [4.0, 4.0], [10.0, 10.0], [100.0, 100.0]]))
    assert (np.diff(stds) > 0).all()


def test_scales_are_infinite_with_as_many_features_as_labels():
    data = table(n=3, l=3)
    fit = Problem(Exact(Gaussian(0.8)), unpenalized=Polynomials(1)).fit(
        data.X, data.y, ALPHA
    )
    assert_allclose(fit.std(data.new), np.inf)
    assert np.isfinite(fit.std(data.new, noise=1.0)).all()


def test_only_ridge_has_closed_forms():
    data = table()
    posed = problem("nystrom", "none", None, data).pose(data.X, data.y)
    fit = solve_filter(posed, Tikhonov(0.1))
    for method in [fit.leave_one_out, lambda: fit.std(data.new)]:
        with pytest.raises(ValueError, match="Only a fit by ridge has leave-one-out"):
            method()


@pytest.mark.parametrize("stat", ["predict", "std"])
@pytest.mark.parametrize("lever", LEVERS)
@pytest.mark.parametrize("basis", BASES)
def test_a_prediction_ignores_the_other_new_rows(basis, lever, stat):
    data = table(t=2)
    fit = problem(basis, lever, UNPENALIZED["linear"], data).fit(
        data.X, data.y, ALPHA, rng=0
    )
    whole = getattr(fit, stat)(data.new)
    one_by_one = [getattr(fit, stat)(row[None])[0] for row in data.new]
    assert_allclose(whole, one_by_one, rtol=1e-9)


def test_rank_counts_usable_directions():
    data = table(n=30, l=18)
    X = np.repeat(data.X[:10], 3, axis=0)  # ten different rows
    y = np.where(np.arange(30) < 18, 1.0 + np.arange(30), np.nan)
    dual = Problem(Exact(Gaussian(0.8)), unpenalized=None).fit(X, y, ALPHA)
    assert dual.rank == 6  # of the labeled rows
    primal = Problem(
        Exact(Gaussian(0.8)), energy="gradient", mu=1.0, unpenalized=None
    ).fit(X, y, ALPHA)
    assert primal.rank == 10
    smoothed = Problem(
        Smoothed(Nystrom(Linear()), KernelWeights(Gaussian(0.5))), unpenalized=None
    )
    assert smoothed.fit(X, y, ALPHA).rank == 2
    free = Problem(
        RandomFeatures(Gaussian(0.8), 12),
        energy=sp.csr_array((30, 30)),
        mu=0.0,
        unpenalized=None,
    )
    assert free.fit(X, y, ALPHA, rng=0).rank == 6  # as many as the labels determine


@pytest.mark.parametrize("noise", [-1.0, np.nan, np.inf])
def test_noise_must_be_a_variance(noise):
    data = table()
    fit = Problem(Exact(Gaussian(0.8))).fit(data.X, data.y, ALPHA)
    with pytest.raises(ValueError, match=f"noise is {noise}; a variance"):
        fit.std(data.new, noise=noise)


def test_std_at_alpha_0_of_a_kernel_of_low_rank_is_that_of_least_squares(rng):
    # A linear kernel without a penalty: the labels disagree, and that is the noise.
    X = rng.standard_normal((30, 2))
    y = X @ [1.0, -2.0] + 0.3 * rng.standard_normal(30)
    new = rng.standard_normal((4, 2))
    w, residual, *_ = np.linalg.lstsq(X, y, rcond=None)
    noise = residual[0] / 30  # REML's divisor is l - rank F
    expected = np.sqrt(
        noise * np.einsum("ij,ji->i", new, np.linalg.solve(X.T @ X, new.T))
    )
    for basis in (Exact(Linear()), Nystrom(Linear(), landmarks=X[:2])):
        fit = Problem(basis, unpenalized=None).fit(X, y, alpha=0.0)
        assert_allclose(fit.predict(new), new @ w, rtol=1e-9)
        assert_allclose(fit.std(new), expected, rtol=1e-5)


@pytest.mark.parametrize("unpenalized", [None, Constant(), Polynomials(1)])
def test_weights_of_any_size_do_not_matter_to_interpolation(rng, unpenalized):
    X, y = rng.normal(size=(14, 2)), rng.normal(size=14)
    w = np.where(np.arange(14) < 4, 1e12, 1.0)
    stated = Problem(Exact(Gaussian(0.7)), unpenalized=unpenalized)
    expected, fit = stated.fit(X, y, 0.0), stated.fit(X, y, 0.0, sample_weight=w)
    new = np.vstack([X, rng.normal(size=(5, 2))])
    assert_allclose(fit.predict(new), expected.predict(new), rtol=1e-7, atol=1e-9)
    assert_allclose(fit.leave_one_out(), expected.leave_one_out(), rtol=1e-7)
    assert_allclose(fit.std(new), expected.std(new), rtol=1e-5, atol=1e-7)
    assert_allclose(fit.std(X, noise=9.0), 3.0 / np.sqrt(w), rtol=1e-7)
