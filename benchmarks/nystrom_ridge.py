"""Nystrom ridge, compared with scikit-learn's Nystroem and Ridge in a pipeline."""

import numpy as np
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline

from benchmarks.lines import Line, alternate
from halfmoon import Problem
from halfmoon.bases import Nystrom
from halfmoon.kernels import Gaussian


def run(quick=False):
    n, p, d = (10_000, 200, 10) if quick else (100_000, 1_000, 10)
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (n + 5_000, d))
    y = np.sin(3 * X[:, 0]) * np.cos(2 * X[:, 1]) + X[:, 2] ** 2
    noisy = y + 0.1 * rng.standard_normal(len(y))
    train, test = slice(0, n), slice(n, None)
    alpha, scale = 1e-6, 1.5
    problem = Problem(Nystrom(Gaussian(scale), p, landmarks="uniform"))
    peer = make_pipeline(
        Nystroem(gamma=0.5 / scale**2, n_components=p, random_state=0),
        Ridge(alpha=alpha * n),
    )

    def ours():
        return problem.fit(X[train], noisy[train], alpha=alpha, rng=0)

    mine, other = alternate(ours, lambda: peer.fit(X[train], noisy[train]), repeats=5)
    error = np.sqrt(np.mean((ours().predict(X[test]) - y[test]) ** 2))
    error_peer = np.sqrt(np.mean((peer.predict(X[test]) - y[test]) ** 2))
    met = bool(other / mine >= 3 and error <= 1.02 * error_peer)
    return [
        Line(
            f"Nystrom ridge, n = {n:,}, p = {p:,}, against scikit-learn",
            f"{other / mine:.1f}x",
            ">= 3x at equal test error",
            met,
            f"{mine:.2f} s and {other:.2f} s; test error {error:.5f} and "
            f"{error_peer:.5f}",
        )
    ]
