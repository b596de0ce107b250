"""Newton steps on rounded kinks end at the minimum of the interior point method."""

from __future__ import annotations

import numpy as np
import pytest

from halfmoon._solvers.box_program import _interior_point
from halfmoon._solvers.left_out_pivots import left_out_values
from halfmoon._solvers.rounded_newton import solve_rounded
from halfmoon.losses import Hinge, Huber, Quantile

L = 90
RNG = np.random.default_rng(0)
X = RNG.normal(size=(L, 2))
K = np.exp(-((X[:, None] - X[None]) ** 2).sum(-1) / 2)
NUMBERS = np.sin(2 * X[:, 0]) + 0.2 * RNG.standard_t(2, L)
SIGNS = np.where(X[:, 0] * X[:, 1] + 0.3 * RNG.normal(size=L) > 0, 1.0, -1.0)
W = RNG.uniform(0.5, 2.0, L)
FEATURES = {
    "none": X[:, :0],
    "constant": np.ones((L, 1)),
    "linear": np.c_[X, X[:, 0] > 0],
}
LOSSES = {"hinge": (Hinge(), SIGNS), "low": (Quantile(0.2), NUMBERS),
          "huber": (Huber(1.35, 0.2), NUMBERS)}  # fmt: skip


def program(name, features, alpha):
    (loss, y), F = LOSSES[name], FEATURES[features]
    Q = np.linalg.qr(F)[0]
    off = np.eye(L) - Q @ Q.T
    box = loss.box(y, W)
    box = box._replace(target=off @ y)
    return off @ (K / (2 * alpha * L)) @ off, F, box


@pytest.mark.parametrize("alpha", [1e-5, 1e-3, 1e-2])
@pytest.mark.parametrize("features", FEATURES)
@pytest.mark.parametrize("name", LOSSES)
def test_both_methods_find_the_minimum(name, features, alpha):
    M, F, box = program(name, features, alpha)
    point = solve_rounded(M, F, box)
    assert point is not None
    expected, converged = _interior_point(M, F, box, 1e-14)
    assert converged
    values = M @ point.v + F @ point.b
    np.testing.assert_allclose(
        values, M @ expected.v + F @ expected.b, atol=1e-7, rtol=0
    )
    assert np.abs(F.T @ point.v).max(initial=0.0) < 1e-9
    assert ((point.v >= box.low) & (point.v <= box.high)).all()


@pytest.mark.parametrize("features", FEATURES)
@pytest.mark.parametrize("name", LOSSES)
def test_left_out_values_are_those_of_refits(name, features):
    M, F, box = program(name, features, 1e-3)
    point = solve_rounded(M, F, box)
    found = left_out_values(M, F, box, point.v, point.b)
    for i in range(0, L, 6):
        rest = np.delete(np.arange(L), i)
        part = type(box)(*(each[rest] for each in box))
        other, _ = _interior_point(M[np.ix_(rest, rest)], F[rest], part, 1e-14)
        expected = M[i, rest] @ other.v + F[i] @ other.b
        assert abs(found[i] - expected) < 2e-4, i
