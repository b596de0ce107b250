r"""Smooth losses by Newton steps: logistic regression with two or more classes.

.. math:: min_{v, b} \; \sum_i w_i loss(y_i, g_i) + \tfrac12 v'M v, \quad g = M v + F b

At the minimum v = -w loss'(g) and F'v = 0. Around values g_0 with the curvatures h, and
v_0 = -w loss'(g_0), a Newton step asks for

.. math:: v = v_0 - h (g - g_0), \quad so \; that \quad
          (M + h^{-1}) v + F b = g_0 + v_0 / h, \quad F'v = 0

which is `bordered_system.py`. A line search makes sure that the objective falls.

**Several classes.** With probabilities p and D_c = w p_c, the curvature of a row is
:math:`w (diag(p) - p p')`, and the step is :math:`v_c = D_c (a_c - g_c + m)`, where
:math:`a_c = g_{0c} + v_{0c} / D_c` minus what all classes have in common. Here m, the
same for all classes, is such that the v_c sum to 0 over the classes. With G_c the
matrix of `bordered_system.py` for D_c, :math:`v_c = G_c (a_c + m)` and

.. math:: \Bigl(\sum_c G_c\Bigr) m = -\sum_c G_c a_c

(C. Rasmussen, C. Williams, "Gaussian processes for machine learning", 2006, algorithm
3.3, with unpenalized features). Leave-one-out is as in `bordered_system.py`, with
blocks

.. math:: \Gamma_i = diag(G_{c,ii}) - \bigl( G_c (\textstyle\sum G)^{+} G_{c'}
          \bigr)_{ii}, \quad
          g_i^{(-i)} = g_i + W_i^{+} v_i - \Gamma_i^{+} v_i
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.linalg as sla

from halfmoon._rows import EPS, Array
from halfmoon._solvers.bordered_system import Bordered, loo_values
from halfmoon._solvers.box_program import LossPoint
from halfmoon.losses import Logistic, Softmax

__all__ = ["solve_logistic", "solve_softmax"]

MAX_STEPS = 100
TOLERANCE = 1e-8  # of the last step; the error after it is about the square
MIN_CURVATURE = 1e-14  # relative to the weight of a row
MIN_PROBABILITY = 1e-8  # where curvatures are inverted
MAX_HALVINGS = 40


def solve_logistic(
    M: Array,  # (l, l)
    F: Array,  # (l, k)
    y: Array,  # (l,)
    w: Array,  # (l,)
) -> LossPoint:
    """Minimize the logistic loss of two classes, -1 and 1; O(l^3) for each step."""
    loss, Y = Logistic(), y[:, None]

    def curvatures(g: Array) -> Array:
        return np.maximum(w * loss.curvature(Y, g)[:, 0], MIN_CURVATURE * w)

    def step(g: Array) -> tuple[Array, Array]:
        factor = Bordered(M, F, curvatures(g))
        v_0 = -w * loss.slope(Y, g)[:, 0]
        v, b = factor.solve(factor.root * g[:, 0] + v_0 / factor.root)
        return v[:, None], b[:, None]

    v, b, g, converged = _newton(M, F, Y, w, loss, step)
    h = curvatures(g)
    q = Bordered(M, F, h).shares()
    values = loo_values(g[:, 0], v[:, 0], h, q)
    return LossPoint(v[:, 0], b[:, 0], values, converged)


def solve_softmax(
    M: Array,  # (l, l)
    F: Array,  # (l, k)
    y: Array,  # (l, C), a column of 0 and 1 for each class
    w: Array,  # (l,)
) -> LossPoint:
    """Minimize the softmax loss of several classes; O(C l^3) for each step."""
    loss = Softmax()

    def step(g: Array) -> tuple[Array, Array]:
        p = loss.probabilities(g)
        return _softmax_step(M, F, g, p, w[:, None] * (y - p), w)

    v, b, g, converged = _newton(M, F, y, w, loss, step)
    return LossPoint(v, b, _softmax_loo_values(M, F, g, v, w), converged)


def _newton(
    M: Array,
    F: Array,
    y: Array,  # (l, C)
    w: Array,
    loss: Logistic | Softmax,
    step: Callable[[Array], tuple[Array, Array]],
) -> tuple[Array, Array, Array, bool]:
    """Return v, b and g at the minimum, and whether it was reached."""
    v, b = np.zeros_like(y), np.zeros((F.shape[1], y.shape[1]))
    Mv, g = np.zeros_like(y), np.zeros_like(y)

    def objective(g: Array, v: Array, Mv: Array) -> float:
        return float((w @ loss.values(y, g)).sum()) + 0.5 * float((v * Mv).sum())

    now = objective(g, v, Mv)
    for _ in range(MAX_STEPS):
        new_v, new_b = step(g)
        dv, db = new_v - v, new_b - b
        dMv = M @ dv
        dg = dMv + F @ db
        length = 1.0
        for _ in range(MAX_HALVINGS):
            after = objective(g + length * dg, v + length * dv, Mv + length * dMv)
            if after <= now * (1 + 4 * EPS):
                break
            length /= 2
        v, b, now = v + length * dv, b + length * db, after
        Mv, g = Mv + length * dMv, g + length * dg
        if length == 1 and np.abs(dg).max() <= TOLERANCE * max(1.0, np.abs(g).max()):
            return v, b, g, True
    return v, b, g, False


def _softmax_step(
    M: Array, F: Array, g: Array, p: Array, v_0: Array, w: Array
) -> tuple[Array, Array]:
    centered = g - (p * g).sum(axis=1, keepdims=True)
    factors = _factors(M, F, p, w)
    common = np.add.reduce([_G(factor) for factor in factors])
    right = [
        factor.root * centered[:, c] + v_0[:, c] / factor.root
        for c, factor in enumerate(factors)
    ]
    alone = np.add.reduce(
        [factor.solve(Sa)[0] for factor, Sa in zip(factors, right, strict=True)]
    )
    m = -_pseudo_solve(common, F, alone)
    found = [
        factor.solve(Sa + factor.root * m)
        for factor, Sa in zip(factors, right, strict=True)
    ]
    v, b = (np.column_stack(each) for each in zip(*found, strict=True))
    b -= b.mean(axis=1, keepdims=True)  # a shift of all classes changes nothing
    return v, b


def _softmax_loo_values(M: Array, F: Array, g: Array, v: Array, w: Array) -> Array:
    l, C = g.shape
    p = np.maximum(Softmax().probabilities(g), MIN_PROBABILITY)
    p /= p.sum(axis=1, keepdims=True)
    G = [_G(factor) for factor in _factors(M, F, p, w)]
    blocks = np.zeros((l, C, C))
    common = np.add.reduce(G)
    solved = [_pseudo_solve(common, F, each) for each in G]  # (sum G)^+ G_c
    for c in range(C):
        blocks[:, c, c] = np.diag(G[c])
        for d in range(C):
            blocks[:, c, d] -= np.einsum("ij,ji->i", G[c], solved[d])
    W = w[:, None, None] * (np.eye(C) * p[:, None] - p[:, :, None] * p[:, None, :])
    # Both act on vectors that sum to 0 over the classes: 11' / C makes them regular.
    one = np.full((C, C), 1.0 / C)
    size = np.einsum("icc->i", W)[:, None, None]
    by_curvature = np.linalg.solve(W + size * one, v[:, :, None])[:, :, 0]
    out = np.full((l, C), np.nan)
    trace = np.einsum("icc->i", blocks)
    known = trace > 10 * EPS * l * size[:, 0, 0]
    regular = blocks[known] + trace[known, None, None] * one
    step = np.linalg.solve(regular, v[known][:, :, None])[:, :, 0]
    out[known] = g[known] + by_curvature[known] - step
    return out


def _factors(M: Array, F: Array, p: Array, w: Array) -> list[Bordered]:
    return [Bordered(M, F, np.maximum(w * each, MIN_CURVATURE * w)) for each in p.T]


def _G(factor: Bordered) -> Array:
    X = factor.projected()
    return np.asarray(X.T @ X)


def _pseudo_solve(A: Array, F: Array, right: Array) -> Array:
    """Return A^+ right for a positive semi-definite A with the null space F."""
    size = float(np.trace(A)) / len(A)
    if F.shape[1]:
        Q = sla.qr(F, mode="economic", check_finite=False)[0]
        A = A + size * (Q @ Q.T)
    return np.asarray(sla.solve(A, right, assume_a="pos", check_finite=False))
