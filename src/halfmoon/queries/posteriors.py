r"""The posterior of a fitted estimator at the rows of a pool.

Of a fit by ridge it is exact. With :math:`u` the whitened basis functions less what the
unpenalized features f explain of them (see `halfmoon.solvers.ridge`),

.. math:: C(x, z) = u_x' \Bigl(I - V V' + V diag\Bigl(\frac{lam}{s^2 + lam}\Bigr) V'
                    \Bigr) u_z + lam \, f_x' T^{-1} T^{-T} f_z                      (1)

so C = Psi Psi' with p + k features; at lam = 0 it is what interpolation leaves open. In
the dual it is universal kriging,

.. math:: C(x, z) = k(x, z) - k_x'c_z - c_x'k_z + c_x'(K + lam I) c_z               (2)

with c of `halfmoon.solvers.kriging`. An average of many candidates, as
`HalfmoonClassifier` fits it, has deviations sigma but no covariance in closed form.
There a surrogate stands in,

.. math:: C(x, z) = sigma(x) sigma(z) \exp(-|x - z|^2 / (2 m^2))                    (3)

where columns are scaled to deviation 1 and m is the median distance between rows; its
noise is what leave-one-out errors show beyond sigma. An estimator without deviations (a
hinge loss, or one of another library) gets sigma = 1 and noise of variance 0.1, and is
then conditioned on the labeled rows that the pool holds.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg as sla

from halfmoon.kernels import Gaussian, Precomputed
from halfmoon.problem import Fit
from halfmoon.queries.covariance import Dense, Factored, Posterior
from halfmoon.rows import Array, Indices, Rows, as_dense_rows

__all__ = ["fit_posterior", "surrogate_posterior"]

LEAST_NOISE = 0.1  # of the mean square of leave-one-out errors
PLAIN_NOISE = 0.1  # beside a prior of variance 1


def fit_posterior(
    fit: Fit,
    X: Rows,  # (n, d)
    places: Indices | None = None,  # (n,)
) -> Posterior:
    """The exact posterior (1) or (2) of a fit by ridge.

    Parameters
    ----------
    fit : Fit
    X : array or CSR of shape (n, d)
    places : ndarray of shape (n,) or None
        Where the rows stand in the fitted table; None if they are other rows.
    """
    values = fit.predict(X).reshape(X.shape[0], -1)
    lam = fit.path.lam(float(fit.alpha or 0.0))
    if fit.posed.dual:
        return Posterior(values, Dense(_in_dual(fit, X, places, lam)), lam)
    return Posterior(values, Factored(_in_primal(fit, X, lam)), lam)


def _in_primal(fit: Fit, X: Rows, lam: float) -> Array:  # (n, p + k)
    posed, path = fit.posed, fit.path

    def features(rows: Rows) -> Array:
        Phi = posed.basis.transform(rows)
        F = np.hstack([posed.features(rows), Phi @ posed.free])
        f = path.elimination.solve_adjoint(F)
        u = posed.whitening.whiten(Phi) - f @ path.cross
        total = path.s2 + lam
        left = np.ones_like(total)  # where labels have not moved anything
        np.divide(lam, total, out=left, where=total > path.rounding)
        u += ((u @ path.V) * (np.sqrt(left) - 1.0)) @ path.V.T
        return np.hstack([u, np.sqrt(lam) * f])

    return posed.stream.map(features, X, row_bytes=4 * posed.basis.row_bytes)


def _in_dual(fit: Fit, X: Rows, places: Indices | None, lam: float) -> Array:  # (n, n)
    posed, path = fit.posed, fit.path
    U = path.V
    k = posed.basis.gram(posed.chosen)(X) * posed.root_w[:, 0]  # (n, l)
    f = path.elimination.solve_adjoint(posed.features(X))
    c_0 = f @ path.elimination.Q1.T  # (n, l)
    K_0 = f @ path.cross  # K c0
    by_modes = ((k - K_0 - lam * c_0) @ U) * path.inverse(lam)
    c = c_0 + by_modes @ U.T
    # c'K c by the modes, as in `kriging_variance`: K need not be formed again.
    half = K_0 @ c_0.T + (K_0 @ U) @ by_modes.T
    cKc = half + by_modes @ (K_0 @ U).T + (by_modes * path.s2) @ by_modes.T
    kc = k @ c.T
    C = _prior(fit, X, places) - kc - kc.T + cKc + lam * (c @ c.T)
    return np.asarray((C + C.T) / 2)


def _prior(fit: Fit, X: Rows, places: Indices | None) -> Array:  # (n, n)
    """k(x, z) between all rows."""
    basis = fit.posed.basis
    if places is not None:
        return basis.gram(places)(X)
    sections = basis.sections
    if sections is not None and not isinstance(sections.kernel, Precomputed):
        return sections.kernel(X, X)
    whitened = fit.posed.whitening.whiten(basis.transform(X))
    return np.asarray(whitened @ whitened.T)


def surrogate_posterior(
    values: Array,  # (n, t)
    X: Rows,  # (n, d)
    std: Array | None = None,  # (n,)
    left_out: Array | None = None,  # (l,)
    labeled: Indices | None = None,
) -> Posterior:
    """The surrogate (3), of values that come from anywhere.

    Parameters
    ----------
    values : ndarray of shape (n, t)
    X : array or CSR of shape (n, d)
    std : ndarray of shape (n,) or None
        sigma(x); None is 1.
    left_out : ndarray of shape (l,) or None
        Leave-one-out errors, of any number of targets.
    labeled : ndarray of int or None
        Rows to condition on where there are no deviations, which tell of them.
    """
    K = Gaussian().resolve(scaled := _scaled(X), np.random.default_rng(0))(scaled)
    if std is None:
        if labeled is not None and len(labeled):
            A = K[np.ix_(labeled, labeled)] + PLAIN_NOISE * np.eye(len(labeled))
            K -= K[:, labeled] @ sla.solve(A, K[labeled], assume_a="pos")
        return Posterior(values, Dense(K), PLAIN_NOISE)
    std = np.where(np.isfinite(std), std, 1.0)
    K *= std
    K *= std[:, None]
    variance = float((std**2).mean())
    noise = variance
    if left_out is not None:
        known = left_out[np.isfinite(left_out)]
        if len(known):
            square = float((known**2).mean())
            noise = max(square - variance, LEAST_NOISE * square)
    return Posterior(values, Dense(K), noise)


def _scaled(X: Rows) -> Any:
    """Columns of deviation 1, dense ones; constant columns and CSR stay."""
    if not isinstance(X, np.ndarray):
        return X
    X = as_dense_rows(X)
    spread = X.std(axis=0)
    return X / np.where(spread > 0, spread, 1.0)
