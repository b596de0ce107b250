r"""The posterior of a fitted estimator at the rows of a pool.

For a fit by ridge it is exact. With :math:`u` the whitened basis functions minus what
the unpenalized features f explain of them (see `halfmoon._solvers.ridge`),

.. math:: C(x, z) = u_x' \Bigl(I - V V' + V diag\Bigl(\frac{lam}{s^2 + lam}\Bigr) V'
                    \Bigr) u_z + lam \, f_x' T^{-1} T^{-T} f_z                      (1)

so C = Psi Psi' with p + k features. In the dual it is universal kriging, with the
smoother h of `halfmoon._solvers.cholesky_ridge`,

.. math:: C(x, z) = k(x, z) - k_x'h_z - h_x'k_z + h_x'(K + lam I) h_z               (2)

An average, such as `HalfmoonClassifier`, has
no exact update by one more label: it is a mixture of up to hundreds of posteriors,
which a label changes each in its own way, together with their weights. Before any pick
its covariance is that of the mixture, here of the heaviest members i with shares w_i,

.. math:: C(x, z) = \sum_i w_i \bigl(C_i(x, z) + (g_i(x) - g(x)) (g_i(z) - g(z))
                    \bigr)                                                           (3)

where each C_i is (1) at landmarks, exact at these; after a pick it is updated like that
of one Gaussian posterior. Members without a covariance, such as local fits and
logarithms, have the surrogate

.. math:: C(x, z) = sigma(x) sigma(z) \exp(-|x - z|^2 / (2 m^2))                    (4)

where columns are scaled to deviation 1 and m is the median distance between rows. Its
noise is the part of the leave-one-out errors that sigma does not explain. An estimator
without deviations (a hinge loss, or one of another library) has sigma = 1 and noise of
variance 0.1, and is conditioned on the labeled rows of the pool.

**One more label**, of row u with noise of variance lam, updates the posterior by

.. math:: C \leftarrow C - \frac{c_u c_u'}{v_u + lam}, \quad
          g \leftarrow g + \frac{t - g_u}{v_u + lam} c_u                            (5)

where :math:`c_u` is a column of C and :math:`v_u` its diagonal entry: a rank-one
update. C is not needed as a matrix, only its diagonal v, its columns, its products with
vectors, and the squares of its columns with some weights of the rows,
:math:`S_u = \sum_j w_j C_{ju}^2`. With :math:`a = c_u / \sqrt{v_u + lam}`,

.. math:: v \leftarrow v - a^2, \quad
          S \leftarrow S - 2 a * (C (w * a)) + a^2 \sum_j w_j a_j^2                 (6)

so that a pick costs one column and one product: O(n p) for rows given by p features.
The unit of C is that of the prior: tau is 1, and lam is the weight of the penalty
relative to the sum of squares.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np
import scipy.linalg as sla
import scipy.sparse as sp
from sklearn.preprocessing import StandardScaler

from halfmoon._rows import Array, Indices, Rows, as_dense_rows
from halfmoon._selection.average import Average
from halfmoon._solvers.cholesky_ridge import factor_of_path
from halfmoon.bases import Exact, Nystrom
from halfmoon.kernels import Gaussian
from halfmoon.kernels._user_kernels import Precomputed
from halfmoon.problem import Fit, solve_ridge

__all__ = [
    "Covariance",
    "Dense",
    "Factored",
    "Posterior",
    "average_posterior",
    "fit_posterior",
    "scaled",
    "surrogate_posterior",
]
MIN_NOISE_SHARE = 0.1  # of the mean square of leave-one-out errors
PLAIN_NOISE = 0.1  # variance, for a prior of variance 1
MAX_POSTERIOR_MEMBERS = 8  # of an average, the heaviest
ROUNDING = 1e-9
POSTERIOR_LANDMARKS = 200  # rows of the pool, and at most as many labeled rows
ALL_LANDMARKS = 800  # the same, of all members together


@dataclass(frozen=True)
class Factored:
    """C = Psi Psi'. O(n p) time, and O(n p^2) for `squared_columns`."""

    Psi: Array  # (n, p)

    def diagonal(self) -> Array:
        """Return the variances, shape (n,)."""
        return np.einsum("ij,ij->i", self.Psi, self.Psi)

    def column(self, u: int) -> Array:
        """Return one column of C, shape (n,)."""
        return self.Psi @ self.Psi[u]

    def product(self, a: Array) -> Array:
        """Return C a, shape (n,)."""
        return self.Psi @ (self.Psi.T @ a)

    def squared_columns(self, weights: Array) -> Array:
        """Return the weighted sums of the squares of each column, shape (n,)."""
        inner = self.Psi.T @ (weights[:, None] * self.Psi)
        return np.einsum("ij,ij->i", self.Psi @ inner, self.Psi)


@dataclass(frozen=True)
class Dense:
    """C as a matrix. O(n^2) time."""

    C: Array  # (n, n)

    def diagonal(self) -> Array:
        """Return the variances, shape (n,); 0 where rounding makes them negative."""
        return np.maximum(np.diagonal(self.C), 0.0)

    def column(self, u: int) -> Array:
        """Return one column of C, shape (n,)."""
        return self.C[:, u]

    def product(self, a: Array) -> Array:
        """Return C a, shape (n,)."""
        return self.C @ a

    def squared_columns(self, weights: Array) -> Array:
        """Return the weighted sums of the squares of each column, shape (n,)."""
        return weights @ self.C**2


#: A symmetric positive semi-definite matrix C, shape (n, n).
Covariance: TypeAlias = Factored | Dense


@dataclass
class Posterior:
    """Values and covariance of a fitted function at the rows of a pool."""

    values: Array  # (n, t), g
    covariance: Covariance  # before any pick
    noise: float  # lam
    weights: Array = field(init=False)  # (n,), w of (6); set them before the first pick
    variance: Array = field(init=False)  # (n,), v, after the picks so far
    _updates: list[Array] = field(init=False, default_factory=list)  # a of each pick
    _squares: Array | None = field(init=False, default=None)  # S

    def __post_init__(self) -> None:
        self.variance = self.covariance.diagonal()
        self.weights = np.ones(len(self.variance))

    def column(self, u: int) -> Array:
        """Return the covariance of every row with row u after the picks, (n,)."""
        column = np.array(self.covariance.column(u))
        for a in self._updates:
            column -= a[u] * a
        return column

    def squared_columns(self) -> Array:
        """Return S of (6), shape (n,)."""
        if self._squares is None:
            if self._updates:
                raise RuntimeError("Call squared_columns before the first pick.")
            self._squares = self.covariance.squared_columns(self.weights)
        return self._squares

    def condition(
        self,
        u: int,
        target: Array | None = None,  # (t,)
    ) -> None:
        """Update by a label of row u, (5); None leaves the values unchanged."""
        total = float(self.variance[u]) + self.noise
        if total <= 0:  # known already, without noise
            return
        column = self.column(u)
        a = column / np.sqrt(total)
        if self._squares is not None:
            weighted = self.weights * a
            Ca = self.covariance.product(weighted)
            for b in self._updates:
                Ca -= float(b @ weighted) * b
            self._squares = self._squares - 2 * a * Ca + a**2 * float(a @ weighted)
        if target is not None:
            step = (np.asarray(target) - self.values[u]) / total
            self.values = self.values + column[:, None] * step
        self.variance = np.maximum(self.variance - a**2, 0.0)
        self._updates.append(a)


def fit_posterior(
    fit: Fit,
    X: Rows,  # (n, d)
    places: Indices | None = None,  # (n,)
) -> Posterior:
    """Return the exact posterior (1) or (2) of a fit by ridge.

    `places` are row numbers in the fitted table; None if the rows are not from it.
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
        share = np.ones_like(total)  # of the prior variance; 1 without labels
        np.divide(lam, total, out=share, where=total > path.rounding)
        u += ((u @ path.V) * (np.sqrt(share) - 1.0)) @ path.V.T
        return np.hstack([u, np.sqrt(lam) * f])

    return posed.stream.map(features, X, row_bytes=4 * posed.basis.row_bytes)


def _in_dual(fit: Fit, X: Rows, places: Indices | None, lam: float) -> Array:  # (n, n)
    posed, prior = fit.posed, _prior(fit, X, places)
    k = posed.basis.gram(posed.labeled)(X) * posed.root_w[:, 0]  # (n, l)
    C = factor_of_path(fit.path, lam).covariance(k, prior, posed.features(X))
    return np.asarray((C + C.T) / 2)


def _prior(fit: Fit, X: Rows, places: Indices | None) -> Array:  # (n, n)
    """Return k(x, z) between all rows."""
    basis = fit.posed.basis
    if places is not None:
        return basis.gram(places)(X)
    sections = basis.sections
    if sections is not None and not isinstance(sections.kernel, Precomputed):
        return sections.kernel(X, X)
    whitened = fit.posed.whitening.whiten(basis.transform(X))
    return np.asarray(whitened @ whitened.T)


def average_posterior(
    average: Average,
    X: Rows,  # (n, d)
) -> Posterior | None:
    """Return the posterior (3) of an average.

    None if no member has a covariance, or if it is that of a constant: the surrogate
    still tells rows apart.

    O(n p) kernel values for p landmarks, so that the pool may be large.
    """
    heaviest = [
        (member.fit, member.weight)
        for member in sorted(average.members, key=lambda m: -m.weight)
        if isinstance(member.fit, Fit)
        and isinstance(member.fit.posed.basis, Exact)
        and not member.target.suffix
    ][:MAX_POSTERIOR_MEMBERS]
    if not heaviest:
        return None
    total = sum(weight for _, weight in heaviest)
    values = average.predict(X).reshape(X.shape[0], -1)
    Z = _landmarks(average.X_l, X, ALL_LANDMARKS // len(heaviest))
    features, noise = [], 0.0
    for fit, weight in heaviest:
        share, alpha = weight / total, float(fit.alpha or 0.0)
        basis = Nystrom(fit.posed.basis.kernel_, landmarks=Z).fit(Z)
        at_landmarks = solve_ridge(replace(fit.posed, basis=basis), alpha)
        posterior = fit_posterior(at_landmarks, X)
        s2, tau = (float(np.mean(scale)) for scale in fit.path.scales(alpha))
        covariance = posterior.covariance
        assert isinstance(covariance, Factored)
        features.append(np.sqrt(share * tau) * covariance.Psi)
        spread = (posterior.values - values) / np.sqrt(values.shape[1])
        features.append(np.sqrt(share) * spread)
        noise += share * s2
    Psi = np.hstack(features)
    if (np.ptp(Psi, axis=0) <= ROUNDING * np.abs(Psi).max()).all():  # a constant
        return None
    return Posterior(values, Factored(Psi), noise)


def _landmarks(X_l: Rows, X: Rows, most: int) -> Rows:
    """Return some labeled rows and some rows of the pool."""
    rng, most = np.random.default_rng(0), min(most, POSTERIOR_LANDMARKS)
    parts = [rows[np.sort(rng.permutation(rows.shape[0])[:most])] for rows in (X_l, X)]
    return sp.vstack(parts, "csr") if sp.issparse(X) else np.vstack(parts)


def surrogate_posterior(
    values: Array,  # (n, t)
    X: Rows,  # (n, d)
    std: Array | None = None,  # (n,), sigma(x); None is 1
    loo_errors: Array | None = None,  # (l,), of any number of targets
    labeled: Indices | None = None,  # to condition on, if there are no deviations
) -> Posterior:
    """Return the surrogate (4) for the values of any estimator."""
    K = Gaussian().resolve(rows := scaled(X), np.random.default_rng(0))(rows)
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
    if loo_errors is not None:
        known = loo_errors[np.isfinite(loo_errors)]
        if len(known):
            square = float((known**2).mean())
            noise = max(square - variance, MIN_NOISE_SHARE * square)
    return Posterior(values, Dense(K), noise)


def scaled(X: Rows) -> Any:
    """Scale dense columns to deviation 1; constant columns and CSR stay."""
    if not isinstance(X, np.ndarray):
        return X
    return StandardScaler(with_mean=False).fit_transform(as_dense_rows(X))
