"""Dense, slow, obvious twins of the one problem, written from its equations.

Everything here works on whole matrices and shares no code with the library. Kernels
are Gaussian: all that is tested with them is linear algebra.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from halfmoon.bases import Exact, Nystrom, RandomFeatures, Smoothed
from halfmoon.kernels import Gaussian
from halfmoon.problem import Problem
from halfmoon.smoothers import KernelWeights
from halfmoon.unpenalized import Constant, Features, Polynomials

WIDTH, OUTER, MU = 0.8, 0.5, 0.3
BASES = ["exact", "nystrom", "features"]
LEVERS = ["none", "smoothed", "gradient", "graph", "smoothed gradient"]
UNPENALIZED = {
    "no features": None,
    "constant": Constant(),
    "linear": Polynomials(1),
    "own": Features(np.sin),
}


def gaussian(X, Z, e=WIDTH):
    return np.exp(-((X[:, None] - Z[None]) ** 2).sum(-1) / (2 * e**2))


def ring_laplacian(n):
    """Laplacian of a ring of n nodes with unequal weights, and a chord."""
    W = np.zeros((n, n))
    for i in range(n):
        W[i, (i + 1) % n] = 1.0 + i / n
    W[0, n // 2] = 0.5
    W += W.T
    return np.diag(W.sum(axis=1)) - W


@dataclass
class Table:
    """Rows, landmarks, targets and weights of a small problem."""

    X: np.ndarray  # (n, d)
    Z: np.ndarray  # (p, d)
    y: np.ndarray  # (n,) or (n, t), NaN where there is no label
    w: np.ndarray  # (n,)
    new: np.ndarray  # (b, d)

    @property
    def labeled(self):
        return ~np.isnan(self.y.reshape(len(self.y), -1)[:, 0])


def table(n=30, p=8, l=18, t=1, d=2, weights=True, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, (n, d))
    Y = np.column_stack([np.sin(X.sum(axis=1)), X[:, 0] ** 2, X[:, -1]])[:, :t]
    Y = Y + 0.3 * rng.standard_normal((n, t)) + 1.0
    Y[rng.permutation(n)[l:]] = np.nan
    return Table(
        X=X,
        Z=rng.uniform(-2, 2, (p, d)),
        y=Y[:, 0] if t == 1 else Y,
        w=rng.uniform(0.2, 3.0, n) if weights else np.ones(n),
        new=rng.uniform(-2.5, 2.5, (11, d)),
    )


def problem(basis, lever, unpenalized, data):
    """The problem as the library states it."""
    phi = {
        "exact": Exact(Gaussian(WIDTH)),
        "nystrom": Nystrom(Gaussian(WIDTH), landmarks=data.Z),
        "features": RandomFeatures(Gaussian(WIDTH), len(data.Z)),
    }[basis]
    if "smoothed" in lever:
        phi = Smoothed(phi, KernelWeights(Gaussian(OUTER)))
    energy = "gradient" if "gradient" in lever else None
    if lever == "graph":
        energy = sp.csr_array(ring_laplacian(len(data.X)))
    return Problem(phi, energy=energy, mu=MU, unpenalized=unpenalized)


@dataclass
class Twin:
    """phi and f as functions of rows, and Q."""

    phi: Callable
    Q: np.ndarray
    f: Callable


def twin(basis, lever, unpenalized, data, posed=None):
    """The same problem by its definitions; `posed` tells what was drawn at random."""
    X, Z = data.X, data.X if basis == "exact" else data.Z
    if basis == "features":
        inner = posed.basis.basis_ if "smoothed" in lever else posed.basis
        D = inner.directions_

        def phi(x):
            return np.hstack([np.cos(x @ D.T), np.sin(x @ D.T)]) / np.sqrt(len(D))

        def gradient(x):
            u = x @ D.T
            B = np.hstack([-np.sin(u), np.cos(u)]) / np.sqrt(len(D))
            return B[:, :, None] * np.vstack([D, D])[None]

        norm = np.eye(2 * len(D))
    else:

        def phi(x):
            return gaussian(x, Z)

        def gradient(x):
            return -gaussian(x, Z)[:, :, None] * (x[:, None] - Z[None]) / WIDTH**2

        norm = gaussian(Z, Z)
    inner_phi = phi
    if "smoothed" in lever:

        def weights(x):
            k = gaussian(x, X, OUTER)
            return k / k.sum(axis=1, keepdims=True)

        def phi(x):
            return weights(x) @ inner_phi(X)

        def gradient(x):
            a = weights(x)
            g = -(x[:, None] - X[None]) / OUTER**2  # of the log of the kernel
            g = g - np.einsum("bn,bnd->bd", a, g)[:, None]
            return np.einsum("bn,bnd,np->bpd", a, g, inner_phi(X))

    Q = norm
    if "gradient" in lever:
        G = gradient(X)
        Q = np.einsum("npd,nqd->pq", G, G) / len(X) + MU * norm
    elif lever == "graph":
        Q = phi(X).T @ ring_laplacian(len(X)) @ phi(X) / len(X) ** 2 + MU * norm

    def f(x):
        columns = {
            "no features": [],
            "constant": [np.ones(len(x))],
            "linear": [np.ones(len(x)), *(x - X.mean(axis=0)).T],
            "own": [np.ones(len(x)), *np.sin(x).T],
        }[unpenalized]
        return np.column_stack(columns) if columns else np.zeros((len(x), 0))

    return Twin(phi, Q, f)


def objective(theta, beta, Phi, F, Q, y, w, alpha):
    """J of equation (1), summed over targets."""
    r = y - Phi @ theta - F @ beta
    return (w[:, None] * r**2).sum() / w.sum() + alpha * (theta * (Q @ theta)).sum()


def minimizer(Phi, F, Q, y, w, alpha):
    """theta and beta of (1), as least squares on the labels and on a root of Q."""
    p, k = Phi.shape[1], F.shape[1]
    root = np.sqrt(w / w.sum())[:, None]
    values, vectors = np.linalg.eigh(alpha * Q)
    R = np.sqrt(np.maximum(values, 0))[:, None] * vectors.T  # R'R = alpha Q
    A = np.block([[root * Phi, root * F], [R, np.zeros((p, k))]])
    b = np.vstack([root * y, np.zeros((p, y.shape[1]))])
    solution = np.linalg.lstsq(A, b, rcond=None)[0]
    return solution[:p], solution[p:]


def smoother_matrix(Phi, F, Q, w, alpha):
    """H with fitted = H y, of unweighted rows and targets, shape (l, l)."""
    theta, beta = minimizer(Phi, F, Q, np.eye(len(Phi)), w, alpha)
    return Phi @ theta + F @ beta


def posterior_covariance(Phi, F, Q, w, alpha):
    """M, the inverse of [[Phi'W Phi + lam Q, Phi'W F], [F'W Phi, F'W F]]."""
    A = np.hstack([Phi, F])
    system = A.T @ (w[:, None] * A)
    p = Phi.shape[1]
    system[:p, :p] += alpha * w.sum() * Q
    return np.linalg.inv(system)


def columns(y):
    return y.reshape(len(y), -1)
