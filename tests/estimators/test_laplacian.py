"""Laplacian estimators: kernel ridge and LapRLS as their limits, filters, figures."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg as sla
import scipy.sparse as sp
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.datasets import make_moons
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics import r2_score

from halfmoon._estimators import LaplacianClassifier, LaplacianRegressor
from halfmoon._estimators.classification import fitted_temperature
from halfmoon._graphs import graph_laplacian, neighbor_graph
from halfmoon.datasets import concentric_circles, reveal, two_gaussians
from halfmoon.filters import (
    FILTERS,
    Cutoff,
    GradientFlow,
    Heat,
    IteratedTikhonov,
    Landweber,
    Tikhonov,
)
from halfmoon.kernels import Gaussian
from halfmoon.problem._folds import balanced_folds, out_of_fold
from helpers import DIFFERENTIABLE, central_differences
from reference import MU, WIDTH, columns, gaussian, ring_laplacian, table, twin

ALPHA = 0.02

# ---- limits --------------------------------------------------------------------------


@pytest.mark.parametrize("energy", ["gradient", "graph"])
def test_a_vanishing_energy_leaves_kernel_ridge(energy):
    # alpha (energy + mu norm) with alpha mu held and mu growing.
    data, a = table(weights=False), 0.3
    known = data.labeled
    peer = KernelRidge(alpha=a, kernel="rbf", gamma=1 / (2 * WIDTH**2))
    expected = peer.fit(data.X[known], data.y[known]).predict(data.new)

    def off(mu):
        model = LaplacianRegressor(
            Gaussian(WIDTH), a / 18 / mu, mu, energy, unpenalized=None
        )
        return np.abs(model.fit(data.X, data.y).predict(data.new) - expected).max()

    assert off(1e8) < 1e-6
    # The energy enters in proportion to 1 / mu.
    assert_allclose(off(1e4) / off(1e5), 10, rtol=0.05)


@pytest.mark.parametrize("weights", [False, True])
def test_a_graph_is_laprls(weights):
    # (J K + gamma_A l I + gamma_I l / (l + u)^2 Lg K) a = y, with l the total weight.
    data = table(weights=weights)
    n, known = 30, data.labeled
    gamma_A, gamma_I = 0.004, 2.0
    K, Lg = gaussian(data.X, data.X), ring_laplacian(n)
    J = np.diag(np.where(known, data.w, 0.0))
    W = data.w[known].sum()
    system = J @ K + gamma_A * W * np.eye(n) + gamma_I * W / n**2 * Lg @ K
    a = np.linalg.solve(system, J @ np.where(known, data.y, 0.0))
    model = LaplacianRegressor(
        Gaussian(WIDTH),
        alpha=gamma_I,
        mu=gamma_A / gamma_I,
        energy=sp.csr_array(Lg),
        unpenalized=None,
    ).fit(data.X, data.y, data.w if weights else None)
    expected = gaussian(data.new, data.X) @ a
    assert_allclose(model.predict(data.new), expected, atol=1e-9)
    g = K @ a
    assert_allclose(model.dirichlet_energy(), g @ Lg @ g / n**2, rtol=1e-8)


def test_a_graph_by_name_is_that_of_the_neighbors():
    data = table()
    graph = graph_laplacian(neighbor_graph(data.X, 10))
    by_name = LaplacianRegressor(Gaussian(WIDTH), ALPHA, energy="graph")
    given = LaplacianRegressor(Gaussian(WIDTH), ALPHA, energy=graph)
    expected = given.fit(data.X, data.y).predict(data.new)
    assert_allclose(by_name.fit(data.X, data.y).predict(data.new), expected, atol=1e-9)
    with pytest.raises(ValueError, match=r"shape \(30, 30\), but 29 rows count"):
        given.fit(data.X, data.y, np.arange(30) > 0)
    with pytest.raises(ValueError, match="'gradient', 'graph' or a sparse"):
        LaplacianRegressor(energy="wave").fit(data.X, data.y)


def test_mu_is_one_over_n_by_default():
    data = table()
    default = LaplacianRegressor(Gaussian(WIDTH), ALPHA).fit(data.X, data.y)
    given = LaplacianRegressor(Gaussian(WIDTH), ALPHA, 1 / 30).fit(data.X, data.y)
    assert_allclose(default.predict(data.new), given.predict(data.new), rtol=1e-12)
    assert default.mu_ == given.mu_ == 1 / 30


def test_derivatives_in_the_basis_are_the_limit_of_many_landmarks():
    X = np.linspace(-1, 1, 12)[:, None]
    y = np.where(np.arange(12) % 4 == 0, np.sin(3 * X[:, 0]), np.nan)
    model = LaplacianRegressor(Gaussian(0.3), ALPHA, mu=0.01, basis="derivatives")
    exact = model.fit(X, y).predict(X)
    assert model.solution_.posed.basis.n_components_ == 24

    def off(landmarks):
        model = LaplacianRegressor(Gaussian(0.3), ALPHA, mu=0.01, landmarks=landmarks)
        return np.abs(model.fit(X, y).predict(X) - exact).max()

    at_rows, many = off(X), off(np.linspace(-2, 2, 121)[:, None])
    assert many < 1e-6
    assert at_rows > 10 * many


@pytest.mark.parametrize("kernel", DIFFERENTIABLE, ids=repr)
def test_any_kernel_with_a_gradient(kernel):
    data = table(weights=False)
    model = LaplacianRegressor(kernel, ALPHA, mu=0.1)
    if kernel.conditional_degree >= 0:
        with pytest.raises(ValueError, match="onditionally"):
            model.fit(data.X, data.y)
        return
    model.fit(data.X, data.y)
    gradients = central_differences(model.predict, data.X)
    # A kink at a row counts as a slope of 0 on both sides, as central differences do.
    expected = (gradients**2).sum(axis=1).mean()
    assert_allclose(model.dirichlet_energy(), expected, rtol=1e-4)


# ---- what is measured ----------------------------------------------------------------


@pytest.mark.parametrize("energy", [None, "gradient"])
@pytest.mark.parametrize("targets", [1, 2])
def test_dirichlet_energy_is_that_of_differences(energy, targets):
    data = table(t=targets)
    model = LaplacianRegressor(
        Gaussian(WIDTH), ALPHA, energy=energy, unpenalized="linear"
    ).fit(data.X, data.y, data.w)

    def penalized(x):  # without x'beta
        trend = np.c_[np.ones(len(x)), x - data.X.mean(axis=0)] @ model.coef_
        return model.predict(x) - trend

    gradients = central_differences(penalized, data.X)
    expected = (gradients**2).sum(axis=-1).mean(axis=0)
    assert_allclose(model.dirichlet_energy(), expected, rtol=1e-6)


def test_dual_weights_are_those_of_the_kernel_of_the_penalty():
    # phi(x)'theta = sum_i k_Q(x, x_i) c_i, with k_Q(x, z) = phi(x)'Q^-1 phi(z).
    data = table(t=2)
    model = LaplacianRegressor(Gaussian(WIDTH), ALPHA, MU, landmarks=data.Z)
    model.fit(data.X, data.y, data.w)
    dense = twin("nystrom", "gradient", "constant", data)
    Phi, new = dense.phi(data.X[data.labeled]), dense.phi(data.new)
    values = new @ np.linalg.solve(dense.Q, Phi.T @ model.dual_coef_) + model.coef_
    assert_allclose(model.predict(data.new), values, atol=1e-8)


def brute_force(model, data):
    """Mean squared leave-one-out residual by refits at the same lam."""
    W, total = data.w[data.labeled].sum(), 0.0
    for i in np.flatnonzero(data.labeled):
        y = data.y.copy()
        y[i] = np.nan
        held = model.alpha * W / (W - data.w[i])
        single = LaplacianRegressor(Gaussian(WIDTH), held, model.mu)
        values = single.fit(data.X, y, data.w).predict(data.X[i : i + 1])
        total += data.w[i] * (data.y[i] - values[0]) ** 2
    return total / W


def test_alpha_and_mu_are_the_best_of_all_refits():
    data = table(n=20, l=9)
    alphas, mus = [1e-4, 1e-2, 1.0], [1e-3, 0.3]
    errors = np.array(
        [
            [
                brute_force(LaplacianRegressor(alpha=alpha, mu=mu), data)
                for alpha in alphas
            ]
            for mu in mus
        ]
    )
    model = LaplacianRegressor(Gaussian(WIDTH), alphas, mus)
    model.fit(data.X, data.y, data.w)
    which, best = np.unravel_index(errors.argmin(), errors.shape)
    assert (model.alpha_, model.mu_) == (alphas[best], mus[which])
    assert_allclose(model.loo_errors_, errors[which], rtol=1e-7)
    y, w = data.y[data.labeled], data.w[data.labeled]
    spread = np.average((y - np.average(y, weights=w)) ** 2, weights=w)
    assert_allclose(model.loo_score_, 1 - errors.min() / spread, rtol=1e-7)
    single = LaplacianRegressor(Gaussian(WIDTH), alphas[best], mus[which])
    expected = single.fit(data.X, data.y, data.w).predict(data.new)
    assert_allclose(model.predict(data.new), expected, rtol=1e-9)


# ---- filters -------------------------------------------------------------------------

OBJECTS = [
    Tikhonov(ALPHA),
    Cutoff(0.05),
    IteratedTikhonov(ALPHA, 3),
    Landweber(20, None),
    GradientFlow(ALPHA),
    Heat(ALPHA),
]


def filtered(data, psi, covariance):
    """theta = sum psi(s) u u'b by SciPy's generalized eigenvectors, and beta."""
    dense = twin("nystrom", "gradient", "constant", data)
    known, w = data.labeled, np.where(data.labeled, data.w, 0.0)
    y = np.where(known, data.y, 0.0)
    W = w.sum()
    Phi = dense.phi(data.X)
    mean, y_mean = w @ Phi / W, w @ y / W
    b = Phi.T @ (w * (y - y_mean)) / W
    if covariance == "labeled":
        Sigma = (Phi - mean).T @ (w[:, None] * (Phi - mean)) / W
    else:
        Sigma = np.cov(Phi.T, bias=True)
    s, U = sla.eigh(Sigma, dense.Q)
    theta = U @ (psi(np.maximum(s, 0)) * (U.T @ b))
    return dense.phi(data.new) @ theta + y_mean - mean @ theta


@pytest.mark.parametrize("covariance", ["labeled", "all"])
@pytest.mark.parametrize("psi", OBJECTS, ids=repr)
def test_a_filter_is_the_sum_over_eigenvectors(psi, covariance):
    data = table()
    model = LaplacianRegressor(
        Gaussian(WIDTH), mu=MU, filter=psi, covariance=covariance, landmarks=data.Z
    ).fit(data.X, data.y, data.w)
    expected = filtered(data, psi, covariance)
    assert_allclose(model.predict(data.new), expected, atol=1e-8)
    smoother = model.smoother_matrix(data.new)
    assert smoother.shape == (11, 18)
    assert_allclose(smoother @ data.y[data.labeled], expected, atol=1e-8)


@pytest.mark.parametrize("covariance", ["labeled", "all"])
@pytest.mark.parametrize("name", FILTERS)
def test_a_filter_by_name_has_alpha_as_its_strength(name, covariance):
    data = table()
    options = {"mu": MU, "covariance": covariance}
    named = LaplacianRegressor(Gaussian(WIDTH), ALPHA, filter=name, **options)
    given = LaplacianRegressor(Gaussian(WIDTH), filter=FILTERS[name](ALPHA), **options)
    expected = given.fit(data.X, data.y).predict(data.new)
    assert_allclose(named.fit(data.X, data.y).predict(data.new), expected, atol=1e-10)
    searched = LaplacianRegressor(
        Gaussian(WIDTH), [1e-4, ALPHA, 1.0], filter=name, **options
    ).fit(data.X, data.y)
    assert searched.loo_errors_.shape == (3,)
    assert searched.alpha_ == [1e-4, ALPHA, 1.0][np.argmin(searched.loo_errors_)]


def test_tikhonov_over_the_labeled_rows_is_ridge():
    data = table(t=2)
    ridge = LaplacianRegressor(Gaussian(WIDTH), ALPHA).fit(data.X, data.y, data.w)
    expected = ridge.predict(data.new)
    for options in ({"filter": "tikhonov"}, {"filter": Tikhonov(ALPHA)}):
        model = LaplacianRegressor(Gaussian(WIDTH), ALPHA, **options)
        model.fit(data.X, data.y, data.w)
        assert_allclose(model.predict(data.new), expected, atol=1e-8)
    # Over all rows, and without a filter named, it is Tikhonov's too.
    both = [
        LaplacianRegressor(Gaussian(WIDTH), ALPHA, covariance="all", filter=name)
        for name in (None, "tikhonov")
    ]
    one, other = (m.fit(data.X, data.y).predict(data.new) for m in both)
    assert_allclose(one, other, rtol=1e-12)
    assert np.abs(one - expected).max() > 0.01


def test_a_filter_has_no_closed_forms_of_ridge():
    data = table()
    model = LaplacianRegressor(Gaussian(WIDTH), ALPHA, filter="heat")
    model.fit(data.X, data.y)
    left_out = out_of_fold(model.solution_.posed, model.solution_.solve)[:, 0]
    r2 = r2_score(data.y[data.labeled], left_out)
    assert_allclose(model.loo_score_, r2, rtol=1e-12)
    with pytest.raises(ValueError, match="Only a fit by ridge"):
        model.leave_one_out()
    with pytest.raises(ValueError, match="Only a fit by ridge"):
        model.predict(data.X, return_std=True)
    assert not hasattr(model, "dual_coef_")


def test_a_filter_for_classes_is_calibrated_by_folds():
    data = table(weights=False)
    y = np.where(np.isnan(data.y), np.nan, data.X[:, 0] + data.y > 1)
    model = LaplacianClassifier(Gaussian(WIDTH), ALPHA, filter="gradient_flow")
    model.fit(data.X, y)
    codes = y[data.labeled].astype(int)
    scores = np.empty(18)
    for fold in balanced_folds(2.0 * codes[:, None] - 1):
        out = np.flatnonzero(data.labeled)[fold]
        known = y.copy()
        known[out] = np.nan
        other = LaplacianClassifier(Gaussian(WIDTH), ALPHA, filter="gradient_flow")
        scores[fold] = other.fit(data.X, known).decision_function(data.X[out])
    assert_allclose(model.loo_score_, np.mean((scores > 0) == codes), rtol=1e-12)
    expected = fitted_temperature(np.c_[-scores, scores], codes, np.ones(18))
    assert_allclose(model.temperature_, expected, rtol=1e-6)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"filter": "landweber", "alpha": 0.0}, "1 / alpha steps"),
        ({"mu": -1.0}, "mu is -1.0; a finite number, 0 or more"),
    ],
)
def test_bad_values_are_refused(options, message):
    data = table()
    with pytest.raises(ValueError, match=message):
        LaplacianRegressor(Gaussian(WIDTH), **options).fit(data.X, data.y)


def test_a_filter_is_not_for_the_hinge_loss():
    data = table()
    y = np.where(np.isnan(data.y), np.nan, data.y > np.nanmedian(data.y))
    with pytest.raises(ValueError, match="A filter is for loss='squared'"):
        LaplacianClassifier(loss="hinge", filter="heat").fit(data.X, y)


@pytest.mark.parametrize("psi", [None, Tikhonov(ALPHA)])
@pytest.mark.parametrize("targets", [1, 2])
def test_the_smoother_matrix_turns_labels_into_values(psi, targets):
    data = table(t=targets)
    model = LaplacianRegressor(Gaussian(WIDTH), [1e-3, ALPHA], filter=psi)
    model.fit(data.X, data.y, data.w)
    values = model.smoother_matrix(data.new) @ columns(data.y)[data.labeled]
    assert_allclose(values, columns(model.predict(data.new)), atol=1e-9)


# ---- the paper's figures -------------------------------------------------------------


@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 5))]
)
def test_figure_1_every_row_is_right(seed):
    # Four circles, 2,000 rows, one label on each: lambda = 1, mu = 1/n, no constant.
    X, y, circle = concentric_circles(2_000, rng=seed)
    model = LaplacianClassifier(Gaussian(0.2), 1.0, 1 / 2_000, unpenalized=None)
    model.fit(X, reveal(y, circle, rng=seed))
    assert (model.predict(X) == y).all()


@pytest.mark.parametrize(("n", "error"), [(40, 0.20), (1_000, 0.08)])
def test_figure_3_errors(n, error):
    # The paper's setting: d = 10, distance 3, one row in ten labeled, lambda = 1,
    # mu = 1/n, p = 50 landmarks, sigma = n^(-1/14) log n, errors on unlabeled rows.
    # The paper says 20 % at 40 rows; the best possible error is 6.7 %.
    seeds = range(50)
    kernel = Gaussian(n ** (-1 / 14) * np.log(n))
    errors = []
    for seed in seeds:
        X, y = two_gaussians(n, rng=seed)
        known = reveal(y, y, n // 20, rng=seed)
        model = LaplacianRegressor(
            kernel,
            1.0,
            n_components=min(n, 50),
            landmarks="uniform",
            unpenalized=None,
            random_state=seed,
        )
        wrong = np.sign(model.fit(X, known).predict(X)) != y
        errors.append(wrong[np.isnan(known)].mean())
    spread = np.std(errors) / np.sqrt(len(seeds))
    assert abs(np.mean(errors) - error) < 3 * spread + 0.002


# ---- with no arguments ---------------------------------------------------------------


def on_circles(n, per_circle, draw):
    rng = np.random.default_rng(draw)
    X, y, circle = concentric_circles(n, rng=rng)
    return X, y, reveal(y, circle, per_circle, rng=rng)


@pytest.mark.parametrize(("n", "per_circle"), [(1_500, 1), (1_000, 3)])
@pytest.mark.parametrize("draw", range(2))
def test_the_default_finds_four_circles(n, per_circle, draw):
    X, y, known = on_circles(n, per_circle, draw)
    model = LaplacianClassifier(n_components=700, random_state=0)
    model.fit(X, known)
    assert np.mean(model.predict(X) != y) <= 0.01
    assert model.coef_.size == 0
    # At the median distance, or with the constant, labels do not reach around.
    wide = clone(model).set_params(kernel=Gaussian()).fit(X, known)
    assert np.mean(wide.predict(X) != y) > 0.2
    if per_circle == 1:
        free = clone(model).set_params(unpenalized="constant").fit(X, known)
        assert np.mean(free.predict(X) != y) > 0.1


@pytest.mark.parametrize("draw", range(3))
def test_the_default_finds_two_moons(draw):
    X, y = make_moons(500, noise=0.1, random_state=draw)
    known = reveal(y.astype(float), y, 6, rng=draw)
    model = LaplacianClassifier(random_state=0).fit(X, known)
    assert np.mean(model.predict(X) != y) <= 0.05


def test_automatic_features_are_the_constant_or_none_by_a_tenth():
    data = table(weights=False)
    for offset, free in ((0.0, None), (50.0, "constant")):
        y = data.y + offset
        fits = {
            unpenalized: LaplacianRegressor(
                Gaussian(WIDTH), ALPHA, unpenalized=unpenalized
            ).fit(data.X, y)
            for unpenalized in ("auto", "constant", None)
        }
        errors = {name: np.mean(fit.leave_one_out() ** 2) for name, fit in fits.items()}
        expected = None if errors[None] < 0.9 * errors["constant"] else "constant"
        assert expected == free
        assert_allclose(
            fits["auto"].predict(data.new), fits[expected].predict(data.new), rtol=1e-9
        )
        assert errors["auto"] == pytest.approx(errors[expected])


@pytest.mark.parametrize(
    "options", [{"energy": "graph"}, {"energy": None}, {"filter": "heat"}]
)
def test_automatic_features_are_else_the_constant(options):
    X, _, known = on_circles(80, 1, 0)
    auto, constant = (
        LaplacianRegressor(Gaussian(0.5), 0.1, unpenalized=each, **options)
        for each in ("auto", "constant")
    )
    assert_allclose(auto.fit(X, known).predict(X), constant.fit(X, known).predict(X))


def test_one_label_is_a_constant():
    y = np.full(30, np.nan)
    y[3] = 7.0
    model = LaplacianRegressor().fit(table().X, y)
    assert_allclose(model.predict(table().new), 7.0)
