"""The cost of a whole path and of a single fit: thresholds, leave-one-out, ridge."""

import numpy as np
from sklearn.kernel_ridge import KernelRidge

from benchmarks.lines import Line, alternate
from halfmoon import ConditionalRegressor, Problem
from halfmoon._solvers.feature_path import hard_threshold
from halfmoon.bases import Exact, Nystrom
from halfmoon.kernels import NNGP, Gaussian

ALPHAS = np.logspace(-8, 0, 20)


def thresholds(quick):
    l, m, d = (500, 200, 20) if quick else (3_000, 1_000, 20)
    rng = np.random.default_rng(0)
    X, X_test = rng.standard_normal((l, d)), rng.standard_normal((m, d))
    kernel = NNGP("erf")
    y = np.tanh(X[:, :1]) + 0.1 * rng.standard_normal((l, 1))
    y_test = np.tanh(X_test[:, :1])
    K, K_x = kernel(X), kernel(X_test, X)
    whole, single = alternate(
        lambda: hard_threshold(K, y).errors(K_x, y_test, ALPHAS),
        lambda: np.linalg.eigh(K),
    )
    return Line(
        f"all k and 20 alphas of the hard threshold, l = {l:,}, {m:,} test rows",
        f"{whole / single:.2f}x",
        "<= 1.3x one eigendecomposition",
        whole / single <= 1.3,
        f"{whole:.2f} s and {single:.2f} s, {l + 1} x 20 test errors",
    )


def leave_one_out(quick):
    l, d = (500, 10) if quick else (3_000, 10)
    rng = np.random.default_rng(0)
    X = rng.standard_normal((l, d))
    y = np.sin(X[:, 0]) + 0.1 * rng.standard_normal(l)
    problem = Problem(Exact(Gaussian(3.0)))
    whole, single = alternate(
        lambda: problem.fit(X, y, ALPHAS), lambda: problem.pose(X, y).path.theta(1e-3)
    )
    return Line(
        f"leave-one-out over 20 alphas, exact kernel, l = {l:,}",
        f"{whole / single:.2f}x",
        "<= 1.5x one fit by the same factorization",
        whole / single <= 1.5,
        f"{whole:.2f} s and {single:.2f} s",
    )


def one_alpha(quick):
    l, d, alpha, width = (500 if quick else 3_000), 10, 1e-3, 3.0
    rng = np.random.default_rng(0)
    X = rng.standard_normal((l, d))
    y = np.sin(X[:, 0]) + 0.1 * rng.standard_normal(l)
    ours = ConditionalRegressor(Gaussian(width), unpenalized=None, alpha=alpha)
    theirs = KernelRidge(alpha=alpha * l, kernel="rbf", gamma=1 / (2 * width**2))
    one, other = alternate(lambda: ours.fit(X, y), lambda: theirs.fit(X, y))
    apart = np.abs(ours.predict(X) - theirs.predict(X)).max()
    return Line(
        f"one alpha, with leave-one-out and intervals, exact kernel, l = {l:,}",
        f"{one / other:.2f}x",
        "<= 2.5x scikit-learn's KernelRidge, which has neither",
        one / other <= 2.5,
        f"{one:.2f} s and {other:.2f} s; predictions {apart:.0e} apart",
    )


def leave_one_out_streamed(quick):
    l, p, d = (4_000, 200, 10) if quick else (100_000, 1_000, 10)
    rng = np.random.default_rng(0)
    X = rng.standard_normal((l, d))
    y = np.sin(X[:, 0]) + 0.1 * rng.standard_normal(l)
    problem = Problem(Nystrom(Gaussian(3.0), p, landmarks="uniform"))
    whole, single = alternate(
        lambda: problem.fit(X, y, ALPHAS, rng=0),
        lambda: problem.fit(X, y, 1e-3, rng=0),
    )
    return Line(
        f"the same, more rows than functions, l = {l:,}, p = {p:,}",
        f"{whole / single:.2f}x",
        "<= 1.5x one fit",
        whole / single <= 1.5,
        f"{whole:.2f} s and {single:.2f} s; 2,000 of the rows left out in turn",
    )


def run(quick=False):
    return [
        thresholds(quick),
        leave_one_out(quick),
        leave_one_out_streamed(quick),
        one_alpha(quick),
    ]
