"""Losses other than squares with every lever, against twins and other libraries."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import lsq_linear, minimize
from sklearn.linear_model import QuantileRegressor
from sklearn.svm import SVC

from halfmoon.bases import Exact, Nystrom
from halfmoon.blocks import Stream
from halfmoon.kernels import Gaussian, Linear, ThinPlate
from halfmoon.losses import Hinge, Huber, Logistic, Quantile, Softmax
from halfmoon.problem import (
    Problem,
    solve_loss,
    solve_ridge,
)
from halfmoon.problem._convex_loss import search_loss
from halfmoon.unpenalized import Constant, Features, Polynomials
from reference import (
    LEVERS,
    UNPENALIZED,
    gaussian,
    problem,
    ring_laplacian,
    table,
    twin,
)

ALPHA = 0.03


def two_classes(l=20, t=1, seed=2):
    data = table(n=30, l=l, t=t, seed=seed)
    data.y = np.where(np.isnan(data.y), np.nan, np.where(data.y > 1.2, 1.0, -1.0))
    return data


def posed(stated, data, loss, **options):
    return stated.set_params(loss=loss).pose(data.X, data.y, **options)


def test_the_hinge_loss_as_the_paper_prints_it():
    # Equation (7) of the first paper: no bias. Its dual has bounds alone, which
    # scipy's active-set least squares solves exactly.
    data = two_classes()
    rows, y = data.X[data.labeled], data.y[data.labeled]
    K, C = gaussian(rows, rows), 1 / (2 * ALPHA * 20)
    s, U = np.linalg.eigh(K * np.outer(y, y))
    root = np.sqrt(s)
    a = lsq_linear(
        *(root[:, None] * U.T, (U.T @ np.ones(20)) / root, (0.0, C)),
        method="bvls",
        tol=1e-15,
    ).x
    fit = solve_loss(
        posed(Problem(Exact(Gaussian(0.8)), unpenalized=None), data, "hinge"), ALPHA
    )
    expected = gaussian(data.new, rows) @ (y * a)
    assert_allclose(fit.predict(data.new), expected, atol=1e-6)
    assert_allclose(fit.dual_coef()[:, 0], y * a, atol=1e-6)


def test_equals_svc():
    # C = 1 / (2 alpha l) without weights, C_i = w_i / (2 alpha W) with them
    data = two_classes()
    rows, y, w = data.X[data.labeled], data.y[data.labeled], data.w[data.labeled]
    for weights in (None, data.w):
        peer = SVC(C=1 / (2 * ALPHA), kernel="precomputed", tol=1e-10)
        share = np.full(20, 1 / 20) if weights is None else w / w.sum()
        peer.fit(gaussian(rows, rows), y, sample_weight=share)
        fit = solve_loss(
            posed(Problem(Exact(Gaussian(0.8))), data, "hinge", sample_weight=weights),
            ALPHA,
        )
        expected = peer.decision_function(gaussian(data.new, rows))
        assert_allclose(fit.predict(data.new), expected, atol=1e-6)


def test_equals_svc_where_no_row_determines_the_constant():
    # With equally many labels of both classes and a large alpha, every row is at a
    # bound, and any constant of an interval is optimal.
    data = two_classes()
    rows, y = data.X[data.labeled], np.repeat([-1.0, 1.0], 10)
    svc = SVC(C=1 / (2 * 10 * 20), gamma=0.5, tol=1e-12).fit(rows, y)
    stated = Problem(Exact(Gaussian(1.0)), unpenalized=Constant(), loss=Hinge())
    fit = solve_loss(stated.pose(rows, y), 10.0)
    expected = svc.decision_function(data.X)
    assert_allclose(fit.predict(data.X), expected, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_median_of_an_even_number_is_in_the_middle(sign):
    rows, y = np.arange(4.0)[:, None], np.array([0.0, 1.0, 2.0, 100.0])
    stated = Problem(
        Exact(Gaussian(1.0)),
        unpenalized=Features(lambda X: np.full(X.shape[0], 3.0 * sign), constant=False),
        loss=Quantile(0.5),
    )
    for X in (rows, sp.csr_array(rows + 1.0)):
        values = solve_loss(stated.pose(X, y), 1e8).predict(X)
        assert_allclose(values, 1.5, rtol=1e-7)
    # A heavier label decides by itself.
    weighted = stated.pose(rows, y, sample_weight=[1.0, 3.0, 1.0, 1.0])
    assert_allclose(solve_loss(weighted, 1e8).predict(rows), 1.0, rtol=1e-6)


def test_the_median_of_a_line_is_that_of_scikit_learn():
    # Nothing penalized but a kernel that a huge alpha takes away: a plain quantile fit.
    data = table(l=20, weights=False)
    rows, y = data.X[data.labeled], data.y[data.labeled]
    for level in (0.3, 0.8):
        peer = QuantileRegressor(quantile=level, alpha=0.0).fit(rows, y)
        stated = Problem(Exact(Gaussian(0.8)), unpenalized=Polynomials(1))
        fit = solve_loss(posed(stated, data, Quantile(level)), 1e6)
        values = [
            np.sum(Quantile(level).values(y, each))
            for each in (fit.predict(rows), peer.predict(rows))
        ]
        assert_allclose(values[0], values[1], rtol=1e-5)


@pytest.mark.parametrize("unpenalized", UNPENALIZED)
@pytest.mark.parametrize("lever", LEVERS)
@pytest.mark.parametrize("basis", ["exact", "nystrom"])
def test_every_lever_and_null_space_against_a_dense_twin(basis, lever, unpenalized):
    data = two_classes(l=20)
    stated = problem(basis, lever, UNPENALIZED[unpenalized], data)
    dense = twin(basis, lever, unpenalized, data)
    rows, y, w = data.X[data.labeled], data.y[data.labeled], data.w[data.labeled]
    Phi, F, Q = dense.phi(rows), dense.f(rows), dense.Q
    p, k = Phi.shape[1], F.shape[1]
    # The dense twin whitens by eigenvectors, so that SciPy has an easy task.
    s, U = np.linalg.eigh(Q)
    kept = s > 1e-12 * s.max()
    R = U[:, kept] / np.sqrt(s[kept])

    def objective(x):
        m = R.shape[1]
        g = Phi @ (R @ x[:m]) + F @ x[m:]
        return w @ np.logaddexp(0, -y * g) / w.sum() + ALPHA * x[:m] @ x[:m]

    x = minimize(
        objective,
        np.zeros(R.shape[1] + k),
        options={"gtol": 1e-10, "maxiter": 50_000},
    ).x
    theta, beta = R @ x[: R.shape[1]], x[R.shape[1] :]
    expected = dense.phi(data.new) @ theta + dense.f(data.new) @ beta
    fit = solve_loss(posed(stated, data, Logistic(), sample_weight=data.w), ALPHA)
    assert_allclose(fit.predict(data.new), expected, atol=3e-5)
    assert p > 0
    # And the objective is at least as low, to rounding.
    g = fit.predict(rows)
    of_fit = w @ np.logaddexp(0, -y * g) / w.sum()
    of_fit += ALPHA * fit.theta[:, 0] @ Q @ fit.theta[:, 0]
    assert of_fit <= objective(x) + 1e-9


@pytest.mark.parametrize("unpenalized", UNPENALIZED)
@pytest.mark.parametrize("lever", LEVERS)
@pytest.mark.parametrize("loss", [Hinge(), Quantile(0.7), Huber(1.0, 0.3)], ids=str)
def test_no_perturbed_solution_is_better(loss, lever, unpenalized, rng):
    data = two_classes(l=20) if loss.of_classes else table(l=20)
    stated = problem("nystrom", lever, UNPENALIZED[unpenalized], data)
    fit = solve_loss(posed(stated, data, loss, sample_weight=data.w), ALPHA)
    dense = twin("nystrom", lever, unpenalized, data)
    rows, y, w = data.X[data.labeled], data.y[data.labeled], data.w[data.labeled]
    Phi, F = dense.phi(rows), dense.f(rows)

    def objective(theta, beta):
        loss_ = w @ loss.values(y, Phi @ theta + F @ beta) / w.sum()
        return loss_ + ALPHA * theta @ dense.Q @ theta

    theta, beta = fit.theta[:, 0], fit.beta[:, 0]
    lowest = objective(theta, beta)
    for size in [1e-4, 1e-2, 1.0]:
        for _ in range(20):
            moved = theta + size * rng.standard_normal(len(theta))
            shifted = beta + size * rng.standard_normal(len(beta))
            assert objective(moved, shifted) > lowest - 1e-10
    for factor in [0.8, 1.25]:
        assert objective(factor * theta, beta) > lowest + 1e-6


def test_primal_equals_dual_and_outputs_are_alone():
    data = two_classes(t=2)
    stated = Problem(Exact(Gaussian(0.8)))
    for loss in (Hinge(), Logistic()):
        dual = solve_loss(posed(stated, data, loss, sample_weight=data.w), ALPHA)
        primal = solve_loss(
            posed(Problem(Nystrom(Gaussian(0.8))), data, loss, sample_weight=data.w),
            ALPHA,
        )
        assert_allclose(primal.predict(data.new), dual.predict(data.new), atol=1e-6)
        assert_allclose(primal.left_out_values, dual.left_out_values, atol=1e-5)
        for j in range(2):
            one = Problem(Exact(Gaussian(0.8)), loss=loss).fit(
                data.X, data.y[:, j], ALPHA, sample_weight=data.w
            )
            assert_allclose(one.predict(data.new), dual.predict(data.new)[:, j])


def test_dual_coefficients_make_the_function():
    data = two_classes()
    rows = data.X[data.labeled]
    for loss in (Hinge(), Logistic()):
        fit = solve_loss(posed(Problem(Exact(Gaussian(0.8))), data, loss), ALPHA)
        values = gaussian(data.new, rows) @ fit.dual_coef()[:, 0] + fit.beta[0, 0]
        assert_allclose(fit.predict(data.new), values, atol=1e-9)


def test_a_conditionally_positive_definite_kernel():
    data = table(l=20, weights=False)
    stated = Problem(Exact(ThinPlate()), unpenalized=Polynomials(1))
    # With a threshold beyond all residuals it is the thin plate spline of ridge.
    fit = solve_loss(posed(stated, data, Huber(1.0, 1e5)), 0.01)
    expected = solve_ridge(posed(stated, data, "squared"), 0.01)
    assert_allclose(fit.predict(data.new), expected.predict(data.new), atol=1e-6)
    assert_allclose(fit.leave_one_out(), expected.leave_one_out(), atol=1e-5)


def test_directions_that_the_penalty_does_not_see_are_free():
    # Constants on each of two rings: shifting the targets of one shifts the fit there.
    ring = np.zeros((30, 30))
    ring[:15, :15], ring[15:, 15:] = ring_laplacian(15), ring_laplacian(15)
    data = table(l=18)
    fits = []
    for shift in (0.0, 5.0):
        other = data.y + shift * (np.arange(30) < 15)
        stated = Problem(
            Exact(Gaussian(0.2)), sp.csr_array(ring), 0.0, None, Quantile(0.5)
        )
        fits.append(solve_loss(stated.pose(data.X, other), 0.1).predict(data.X))
    moved = fits[0] + 5.0 * (np.arange(30) < 15)
    assert_allclose(fits[1], moved, atol=1e-5)


def test_a_constant_of_another_size_is_a_constant():
    data = two_classes()
    twos = Features(lambda x: np.full(len(x), 2.0), constant=False)
    expected = solve_loss(posed(Problem(Exact(Gaussian(0.8))), data, "hinge"), ALPHA)
    stated = Problem(Exact(Gaussian(0.8)), unpenalized=twos)
    fit = solve_loss(posed(stated, data, "hinge"), ALPHA)
    assert_allclose(fit.predict(data.new), expected.predict(data.new), atol=1e-8)


def test_the_search_minimizes_the_leave_one_out_loss():
    data = two_classes()
    stated = Problem(Exact(Gaussian(0.8)), loss="logistic")
    alphas = [1e-5, 1e-3, 1e-1, 10.0]
    fit = stated.fit(data.X, data.y, alphas, sample_weight=data.w)
    each = [stated.fit(data.X, data.y, alpha, sample_weight=data.w) for alpha in alphas]
    y, w = data.y[data.labeled], data.w[data.labeled]
    losses = [
        np.average(np.logaddexp(0, -y * one.left_out_values[:, 0]), weights=w)
        for one in each
    ]
    assert_allclose(fit.loo_scores, losses)
    assert fit.alpha == alphas[int(np.argmin(losses))]
    assert_allclose(fit.leave_one_out(), y - fit.left_out_values[:, 0])
    both = search_loss([each[0].posed, each[1].posed], [[1e-5], [alphas[2]]])
    assert both.alpha in (1e-5, alphas[2])


def test_the_scale_of_huber():
    data = table(n=200, l=150, t=2, weights=False, seed=3)
    data.y[:, 1] *= 100.0
    stated = Problem(Exact(Gaussian(0.8)), loss="huber")
    fit = stated.fit(data.X, data.y, [1e-4, 1e-3, 1e-2])
    scale = np.array(fit.posed.loss.scale)
    # The deviation of the noise, and a little of what the fit is not sure of.
    assert (np.array([0.27, 27.0]) < scale).all()
    assert (scale < np.array([0.45, 45.0])).all()
    # Units of the labels do not matter: neither for the scale nor for the fit.
    large = stated.fit(data.X, data.y[:, 1], fit.alpha)
    small = stated.fit(data.X, data.y[:, 1] / 100, fit.alpha)
    assert_allclose(large.posed.loss.scale[0], 100 * small.posed.loss.scale[0])
    assert_allclose(large.predict(data.new), 100 * small.predict(data.new), rtol=1e-6)


def test_outliers_hardly_move_huber():
    data = table(n=100, l=80, weights=False, seed=5)
    spoiled = data.y.copy()
    spoiled[np.flatnonzero(data.labeled)[::8]] += 50.0
    for loss, least, most in (("squared", 1.0, 1e9), ("huber", 0.0, 0.35)):
        stated = Problem(Exact(Gaussian(0.8)), loss=loss)
        clean = stated.fit(data.X, data.y, [1e-3, 1e-2]).predict(data.new)
        moved = stated.fit(data.X, spoiled, [1e-3, 1e-2]).predict(data.new)
        assert least < np.abs(moved - clean).mean() < most


def test_refusals():
    data = two_classes()
    stated = Problem(Exact(Gaussian(0.8)), loss="hinge")
    ready = stated.pose(data.X, data.y)
    for alpha in [0.0, -1.0, np.nan]:
        with pytest.raises(ValueError, match=f"alpha is {alpha}; the hinge loss needs"):
            solve_loss(ready, alpha)
    with pytest.raises(ValueError, match="needs targets that are -1 or 1"):
        solve_loss(stated.pose(data.X, (data.y + 1) / 2), ALPHA)
    ones = np.where(np.isnan(data.y), np.nan, 1.0)
    with pytest.raises(ValueError, match="Target 0 is 1 in every labeled row"):
        solve_loss(stated.pose(data.X, ones), ALPHA)
    # Without a free feature one class will do, as in the paper.
    alone = Problem(Exact(Gaussian(0.8)), unpenalized=None, loss="hinge")
    assert (solve_loss(alone.pose(data.X, ones), ALPHA).predict(data.X) > 0).all()
    small = stated.pose(data.X, data.y, stream=Stream("10kB"))
    with pytest.raises(MemoryError, match=r"hinge loss with 20 labels needs 19\.2 kB"):
        solve_loss(small, ALPHA)
    with pytest.raises(ValueError, match="no smoother matrix"):
        solve_loss(ready, ALPHA).smoother_matrix(data.new)
    with pytest.raises(ValueError, match="posterior variance in closed form"):
        solve_loss(ready, ALPHA).std(data.new)
    with pytest.raises(ValueError, match="loss is 'cubic'"):
        Problem(loss="cubic").pose(data.X, data.y)
    apart = np.where(np.isnan(data.y), np.nan, np.sign(data.X[:, 0]))
    logistic = Problem(
        Exact(Gaussian(0.8)), unpenalized=Polynomials(1), loss="logistic"
    )
    with pytest.raises(ValueError, match="the logistic loss has no minimum"):
        solve_loss(logistic.pose(data.X, apart), ALPHA)
    # Of three classes, it is enough that one is told from the others.
    below = data.X[:, 0] < 0
    three = np.column_stack([below, ~below & (data.y > 0), ~below & (data.y < 0)])
    three = np.where(np.isnan(data.y)[:, None], np.nan, three)
    softmax = Problem(Exact(Gaussian(0.8)), unpenalized=Polynomials(1), loss=Softmax())
    with pytest.raises(ValueError, match="the logistic loss has no minimum"):
        solve_loss(softmax.pose(data.X, three), ALPHA)


def test_softmax_of_a_linear_kernel_sums_to_zero_over_classes():
    data = table(l=25, n=30, weights=False)
    codes = np.digitize(data.y, [0.8, 1.3])
    y = np.where(data.labeled[:, None], np.eye(3)[codes], np.nan)
    fit = solve_loss(
        Problem(Exact(Linear()), unpenalized=Constant(), loss=Softmax()).pose(
            data.X, y
        ),
        ALPHA,
    )
    assert_allclose(fit.dual_coef().sum(axis=1), 0, atol=1e-9)
    assert_allclose(fit.beta.sum(axis=1), 0, atol=1e-9)
    assert_array_equal(fit.left_out_values.shape, (25, 3))


def test_the_score_is_infinite_if_a_label_cannot_be_left_out():
    data = two_classes()
    posed = Problem(Exact(Gaussian(1.0)), loss=Logistic()).pose(data.X, data.y)
    fit = solve_loss(posed, ALPHA)
    assert 0 < fit.loo_score < 1
    values = fit.left_out_values.copy()
    values[3] = np.nan
    assert replace(fit, left_out_values=values).loo_score == np.inf


@pytest.mark.parametrize("loss", [Hinge(), Logistic(), Quantile(0.5), Huber(1.0, 1.0)])
def test_equal_rows_are_fitted_by_the_constant(loss):
    """Nothing is left of the kernel but rounding, which was called indefinite."""
    X, y = np.ones((21, 2)), np.where(np.arange(21) % 3 == 0, -1.0, 1.0)
    ready = Problem(Exact(Gaussian(1.0)), loss=loss).pose(X, y)
    expected = np.log(2.0) if isinstance(loss, Logistic) else 1.0
    if isinstance(loss, Huber):  # 14 pulls of (1 - b) against 7 that are cut at 1
        expected = 0.5
    for alpha in 10.0 ** np.arange(-8, 2):
        assert_allclose(solve_loss(ready, alpha).predict(X), expected, atol=1e-6)


@pytest.mark.parametrize("unit", [1e-100, 1e-60, 1e100])
def test_the_unit_of_the_labels_does_not_matter(unit):
    """Far below 1 an absolute constant kept the quantile loss from its minimum."""
    data = table(n=30, l=19, seed=2)  # an odd number has one median
    stated = Problem(Exact(Gaussian(0.8)), loss=Quantile(0.5))
    for alpha in 10.0 ** np.arange(-8, 2):
        expected = solve_loss(stated.pose(data.X, data.y), alpha).predict(data.new)
        other = solve_loss(stated.pose(data.X, unit * data.y), alpha / unit)
        assert_allclose(other.predict(data.new) / unit, expected, atol=1e-9)
