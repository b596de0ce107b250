"""Convex losses: the minimum against generic solvers, leave-one-out against refits."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import lsq_linear, minimize
from scipy.special import log_softmax

from halfmoon._solvers.bordered_system import Bordered
from halfmoon._solvers.box_program import solve_box
from halfmoon._solvers.elimination import Elimination
from halfmoon._solvers.ridge import ridge_dual
from halfmoon._solvers.smooth_loss import solve_logistic, solve_softmax
from halfmoon.losses import Hinge, Huber, Logistic, Quantile, Softmax

L = 24
RNG = np.random.default_rng(0)
X = RNG.normal(size=(L, 2))
K = np.exp(-((X[:, None] - X[None]) ** 2).sum(-1))
W = RNG.uniform(0.4, 2.0, L)
NUMBERS = np.sin(2 * X[:, 0]) + 0.3 * RNG.standard_t(2, L)
SIGNS = np.where(X[:, 0] * X[:, 1] + 0.5 * RNG.normal(size=L) > 0, 1.0, -1.0)
CLASSES = np.eye(3)[np.digitize(X[:, 0] + 0.5 * RNG.normal(size=L), [-0.4, 0.4])]
FEATURES = {
    "none": np.zeros((L, 0)),
    "constant": np.ones((L, 1)),
    "linear": np.column_stack([np.ones(L), X]),
}
BOXES = {
    "hinge": (Hinge(), SIGNS),
    "huber": (Huber(1.35, 0.3), NUMBERS),
    "median": (Quantile(0.5), NUMBERS),
    "high": (Quantile(0.9), NUMBERS),
}


def values(M, F, point):
    return M @ point.v + F @ point.b


def generic(M, F, box):
    """v of the quadratic program by SciPy: active sets, or sequential programs."""
    A = M + np.diag(box.e)
    if F.shape[1] == 0:
        s, U = np.linalg.eigh(A)
        root = np.sqrt(np.maximum(s, 1e-300))
        right = (U.T @ box.target) / root
        bounds = (box.low, box.high)
        return lsq_linear(
            root[:, None] * U.T, right, bounds, method="bvls", tol=1e-15
        ).x
    found = minimize(
        lambda v: 0.5 * v @ A @ v - box.target @ v,
        np.zeros(L),
        jac=lambda v: A @ v - box.target,
        bounds=list(zip(box.low, box.high, strict=True)),
        constraints={"type": "eq", "fun": lambda v: F.T @ v, "jac": lambda v: F.T},
        method="SLSQP",
        options={"ftol": 1e-16, "maxiter": 2_000},
    )
    return found.x


@pytest.mark.filterwarnings("ignore:Values in x were outside bounds")  # SciPy 1.15
@pytest.mark.parametrize("alpha", [1e-3, 0.1])
@pytest.mark.parametrize("features", FEATURES)
@pytest.mark.parametrize("name", BOXES)
def test_quadratic_programs_agree_with_scipy(name, features, alpha):
    (loss, y), F = BOXES[name], FEATURES[features]
    M = K / (2 * alpha * W.sum())
    box = loss.box(y, W)
    point = solve_box(M, F, box)
    assert point.converged
    expected = generic(M, F, box)
    # Only the penalized part is unique, so values are compared without F.
    Q = np.linalg.qr(F)[0] if F.shape[1] else F
    difference = M @ (point.v - expected)
    difference -= Q @ (Q.T @ difference)
    assert np.abs(difference).max() < 1e-6
    assert np.abs(F.T @ point.v).max(initial=0.0) < 1e-9


@pytest.mark.parametrize("alpha", [1e-8, 1e-5, 1e-2, 10.0])
@pytest.mark.parametrize("features", FEATURES)
@pytest.mark.parametrize("name", BOXES)
def test_no_duality_gap(name, features, alpha):
    (loss, y), F = BOXES[name], FEATURES[features]
    M, box = K / (2 * alpha * W.sum()), loss.box(y, W)
    point = solve_box(M, F, box)
    g, v = values(M, F, point), point.v
    primal = W @ loss.values(y, g) + 0.5 * v @ M @ v
    dual = box.target @ v - 0.5 * v @ (M @ v + box.e * v)
    # Residuals are known to the rounding of the labels.
    assert primal - dual < 1e-9 * primal + 1e-12 * W @ np.abs(y)
    assert (v >= box.low - 1e-12).all()
    assert (v <= box.high + 1e-12).all()


@pytest.mark.parametrize("features", FEATURES)
def test_logistic_regressions_agree_with_scipy(features):
    F, alpha = FEATURES[features], 0.01
    lam = alpha * W.sum()
    M = K / (2 * lam)
    root = np.linalg.cholesky(K + 1e-12 * np.eye(L))
    p = L + F.shape[1]

    def two(x):
        g = root @ x[:L] + F @ x[L:]
        return W @ Logistic().values(SIGNS, g) + lam * x[:L] @ x[:L]

    def three(x):
        x = x.reshape(p, 3)
        g = root @ x[:L] + F @ x[L:]
        own = (CLASSES * log_softmax(g, axis=1)).sum(axis=1)
        return -W @ own + lam * (x[:L] ** 2).sum()

    options = {"gtol": 1e-9, "maxiter": 20_000}
    x = minimize(two, np.zeros(p), options=options).x
    expected = root @ x[:L] + F @ x[L:]
    point = solve_logistic(M, F, SIGNS, W)
    assert_allclose(values(M, F, point), expected, atol=2e-6)
    x = minimize(three, np.zeros(3 * p), options=options).x.reshape(p, 3)
    expected = root @ x[:L] + F @ x[L:]
    expected -= expected.mean(axis=1, keepdims=True)
    point = solve_softmax(M, F, CLASSES, W)
    assert_allclose(values(M, F, point), expected, atol=5e-6)
    assert_allclose(point.v.sum(axis=1), 0, atol=1e-10)


@pytest.mark.parametrize("features", FEATURES)
def test_the_optimality_of_logistic_regressions_is_to_rounding(features):
    F = FEATURES[features]
    for alpha in (1e-7, 1e-4, 0.1):
        M = K / (2 * alpha * W.sum())
        point = solve_logistic(M, F, SIGNS, W)
        wanted = -W * Logistic().slope(SIGNS, values(M, F, point))
        assert point.converged
        assert_allclose(point.v, wanted, atol=1e-9)
        point = solve_softmax(M, F, CLASSES, W)
        p = Softmax().probabilities(values(M, F, point))
        assert_allclose(point.v, W[:, None] * (CLASSES - p), atol=1e-8)
        assert np.abs(F.T @ point.v).max(initial=0.0) < 1e-8


def test_two_classes_are_the_same_either_way():
    # Of two columns, g and -g: twice the norm, so half the alpha of one of 2 g.
    F, lam = FEATURES["constant"], 0.02 * W.sum()
    both = np.column_stack([SIGNS < 0, SIGNS > 0]).astype(float)
    one = solve_logistic(K / (2 * lam), F, SIGNS, W)
    two = solve_softmax(K / (4 * lam), F, both, W)
    g, scores = values(K / (2 * lam), F, one), values(K / (4 * lam), F, two)
    assert_allclose(scores[:, 1] - scores[:, 0], g, atol=1e-8)
    loo = two.loo_values[:, 1] - two.loo_values[:, 0]
    assert_allclose(loo, one.loo_values, atol=1e-7)


@pytest.mark.parametrize("features", FEATURES)
def test_bordered_systems(features):
    F, h = FEATURES[features], RNG.uniform(1e-3, 10, L)
    a, r = RNG.normal(size=L), RNG.normal(size=F.shape[1])
    k = F.shape[1]
    whole = np.block([[K + np.diag(1 / h), F], [F.T, np.zeros((k, k))]])
    expected = np.linalg.solve(whole, np.r_[a, r])
    factor = Bordered(K, F, h)
    v, b = factor.solve(factor.root * a, r)
    assert_allclose(np.r_[v, b], expected, rtol=1e-9, atol=1e-10)
    G = np.linalg.inv(whole)[:L, :L]
    assert_allclose(factor.projected().T @ factor.projected(), G, atol=1e-10)
    assert_allclose(h * factor.shares(), np.diag(G), rtol=1e-9)


def test_an_infinite_threshold_is_ridge_and_its_leave_one_out():
    F, lam = FEATURES["linear"], 0.01 * W.sum()
    point = solve_box(K / (2 * lam), F, Huber(1.0, 1e6).box(NUMBERS, W))
    root = np.sqrt(W)[:, None]
    path = ridge_dual(
        root * K * root.T, root * NUMBERS[:, None], Elimination(root * F), W.sum()
    )
    e = path.leave_one_out([0.01])[0, :, 0] / root[:, 0]
    assert_allclose(NUMBERS - point.loo_values, e, atol=1e-7)


def refits(solve, M, F, y):
    """Values of each row by the fit without it, at the same M."""
    out = np.empty_like(y)
    for i in range(len(y)):
        kept = np.delete(np.arange(len(y)), i)
        point = solve(M[np.ix_(kept, kept)], F[kept], y[kept], np.ones(len(kept)))
        out[i] = M[i, kept] @ point.v + F[i] @ point.b
    return out


@pytest.mark.parametrize(
    ("solve", "loss", "share"),
    [
        (solve_logistic, Logistic(), 0.05),
        (solve_softmax, Softmax(), 0.05),
        (None, Huber(1.35, 0.3), 1e-6),
        (None, Quantile(0.5), 1e-3),
        (None, Hinge(), 1e-3),
    ],
)
def test_leave_one_out_is_near_the_refits(solve, loss, share):
    # The error of a leave-one-out value, relative to the change without the label.
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    K = np.exp(-((X[:, None] - X[None]) ** 2).sum(-1) / 2)
    sign = np.where(X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=60) > 0, 1.0, -1.0)
    number = np.sin(2 * X[:, 0]) + 0.2 * rng.standard_t(2, 60)
    classes = np.eye(3)[np.digitize(X[:, 0] + 0.3 * rng.normal(size=60), [-0.5, 0.5])]
    y = classes if loss.joint else (sign if loss.of_classes else number)

    def alone(M, F, y, w):
        return solve_box(M, F, loss.box(y, w), leave_one_out=False)

    def box(M, F, y, w):
        return solve_box(M, F, loss.box(y, w))

    F, M = np.ones((60, 1)), K / (2 * 0.01 * 60)
    point = (solve or box)(M, F, y, np.ones(60))
    expected, g, loo = (
        refits(solve or alone, M, F, y),
        values(M, F, point),
        point.loo_values,
    )
    if loss.joint:  # what all classes have in common says nothing
        expected, g, loo = (
            each - each.mean(axis=1, keepdims=True) for each in (expected, g, loo)
        )
    moved = np.sqrt(np.mean((expected - g) ** 2))
    off = np.sqrt(np.mean((expected - loo) ** 2))
    assert off < share * moved
    columns = [each.reshape(60, -1) for each in (y, expected, loo, g)]
    truth, found, of_fit = (
        loss.values(columns[0], each).mean() for each in columns[1:]
    )
    assert_allclose(found, truth, rtol=0.05)
    assert of_fit < 0.95 * truth  # which the loss of the fit itself is not near to


def test_a_row_that_nothing_tells_of():
    F = np.zeros((L, 1))
    F[0] = 1.0  # a feature of one row alone
    y = NUMBERS
    point = solve_box(np.eye(L), F, Huber(1.0, 1.0).box(y, W))
    assert np.isnan(point.loo_values[0])
    assert np.isfinite(point.loo_values[1:]).all()


def test_free_features_that_tell_the_classes_apart():
    F = FEATURES["linear"]
    y = np.where(X[:, 0] + X[:, 1] > 0, 1.0, -1.0)
    M = K / (2 * 0.01 * W.sum())
    assert not solve_logistic(M, F, y, W).converged  # there is no minimum
    machine = solve_box(M, F, Hinge().box(y, W))
    margin = y * values(M, F, machine)
    assert (margin > 1 - 1e-6).all()
    assert np.abs(machine.v).max() < 1e-6


SLOWLY = [pytest.param(alpha, marks=pytest.mark.slow) for alpha in (1e-8, 1e-4)]


@pytest.mark.parametrize("alpha", [*SLOWLY, 1e-6, 1e-2, 1.0])
@pytest.mark.parametrize("loss", [Quantile(0.5), Quantile(0.9), Huber(1.35, 0.001)])
def test_the_leave_one_out_loss_is_that_of_refits_at_any_alpha(loss, alpha):
    # At small alphas it fell to 0 with alpha, and so alpha="auto" chose those.
    # With a tiny threshold it was a thousand times too large at large ones.
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 2))
    y = np.sin(2 * X[:, 0]) + X[:, 1] + 0.1 * rng.normal(size=30)
    K = np.exp(-((X[:, None] - X[None]) ** 2).sum(-1) / 2)
    F = np.ones((30, 1))

    def solve(M, F, y, w, leave_one_out=False):
        # As `solve_loss`: without what F explains.
        Q, R = np.linalg.qr(F)
        P = M - Q @ (Q.T @ M)
        P -= (P @ Q) @ Q.T
        box = loss.box(y, w)
        point = solve_box((P + P.T) / 2, F, box, leave_one_out=leave_one_out)
        return point._replace(b=point.b - np.linalg.solve(R, Q.T @ M @ point.v))

    M = K / (2 * alpha * 30)
    truth = loss.values(y, refits(solve, M, F, y)).mean()
    found = loss.values(y, solve(M, F, y, np.ones(30), True).loo_values).mean()
    assert 0.85 * truth < found < 1.1 * truth
