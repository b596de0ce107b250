"""The same numbers as scikit-learn, SciPy and PyKrige where they solve a special case.

=================  ====================================================================
KernelRidge        alpha of theirs is alpha W of ours, without a constant
RBFInterpolator    smoothing is alpha n_labeled
PyKrige            nugget is alpha n_labeled in units of the kernel; its variance has
                   the nugget in it, that of `Fit.std` is the latent function's
=================  ====================================================================
"""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.interpolate import RBFInterpolator
from sklearn.kernel_ridge import KernelRidge

from halfmoon.bases import Exact, Nystrom, RandomFeatures, Smoothed
from halfmoon.kernels import Gaussian, Laplace, Polyharmonic, ThinPlate
from halfmoon.problem import Problem
from halfmoon.smoothers import KernelWeights
from halfmoon.unpenalized import Constant, Polynomials
from optional_modules import optional

pykrige = optional("pykrige.uk")

SPLINES = {
    "thin_plate_spline": (ThinPlate(), 1),
    "linear": (Polyharmonic(1), 0),
    "cubic": (Polyharmonic(3), 1),
    "quintic": (Polyharmonic(5), 2),
}


@pytest.fixture
def X(rng):
    return rng.uniform(-1, 1, (60, 2))


@pytest.fixture
def new(rng):
    return rng.uniform(-1.3, 1.3, (25, 2))


@pytest.fixture
def Y(X, rng):
    return np.c_[np.sin(3 * X[:, 0]), X[:, 1] ** 2] + 0.1 * rng.normal(size=(60, 2))


@pytest.mark.parametrize("alpha", [1e-4, 1e-2, 3.0])
@pytest.mark.parametrize("weighted", [True, False])
def test_kernel_ridge(X, Y, new, rng, alpha, weighted):
    w = rng.uniform(0.1, 4, 60) if weighted else np.ones(60)
    labeled = np.arange(60) % 3 > 0
    peer = KernelRidge(alpha=alpha * w[labeled].sum(), kernel="rbf", gamma=1 / 0.5)
    peer.fit(X[labeled], Y[labeled], sample_weight=w[labeled])
    stated = Problem(Exact(Gaussian(0.5)), unpenalized=None)
    y = np.where(labeled[:, None], Y, np.nan)
    fit = stated.fit(X, y, alpha, sample_weight=w if weighted else None)
    assert_allclose(fit.predict(new), peer.predict(new), rtol=1e-9, atol=1e-10)
    # scikit-learn's dual coefficients carry the root weights as ours do.
    assert_allclose(fit.theta[labeled], peer.dual_coef_, rtol=1e-7, atol=1e-9)
    assert_allclose(fit.theta[~labeled], 0, atol=0)


def test_kernel_ridge_on_every_row_as_landmark(X, Y, new):
    peer = KernelRidge(alpha=60 * 1e-3, kernel="rbf", gamma=1 / 0.5).fit(X, Y)
    fit = Problem(Nystrom(Gaussian(0.5)), unpenalized=None).fit(X, Y, 1e-3)
    assert_allclose(fit.predict(new), peer.predict(new), rtol=1e-7, atol=1e-8)


def test_kernel_ridge_with_the_fredholm_kernel(X, Y, new):
    # Equation (5), dense: K_F = A H A'.
    def weights(x):
        k = np.exp(-((x[:, None] - X[None]) ** 2).sum(-1) / (2 * 0.2**2))
        return k / k.sum(axis=1, keepdims=True)

    H = np.exp(-((X[:, None] - X[None]) ** 2).sum(-1) / (2 * 0.5**2))
    A = weights(X[:20])
    peer = KernelRidge(alpha=20 * 1e-3, kernel="precomputed").fit(A @ H @ A.T, Y[:20])
    expected = peer.predict(weights(new) @ H @ A.T)
    y = np.where(np.arange(60)[:, None] < 20, Y, np.nan)
    basis = Smoothed(Exact(Gaussian(0.5)), KernelWeights(Gaussian(0.2)))
    fit = Problem(basis, unpenalized=None).fit(X, y, 1e-3)
    assert_allclose(fit.predict(new), expected, rtol=1e-9, atol=1e-10)


def test_kernel_ridge_on_random_features(X, Y, new):
    # The kernel of the features is their product: ridge with a linear kernel.
    fit = Problem(RandomFeatures(Gaussian(0.5), 40), unpenalized=None).fit(
        X, Y, 1e-2, rng=3
    )
    phi = fit.posed.basis.transform
    peer = KernelRidge(alpha=60 * 1e-2).fit(phi(X), Y)
    assert_allclose(fit.predict(new), peer.predict(phi(new)), rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("d", [1, 2, 3])
@pytest.mark.parametrize("alpha", [0.0, 1e-4, 1e-1])
@pytest.mark.parametrize("name", SPLINES)
def test_rbf_interpolator(name, alpha, d, rng):
    X, new = rng.uniform(-1, 1, (50, d)), rng.uniform(-1.2, 1.2, (30, d))
    Y = np.c_[np.sin(3 * X).sum(axis=1), X[:, 0] ** 3, np.cos(4 * X).prod(axis=1)]
    Y[40:] = np.nan  # ten rows without labels, which a spline must ignore
    kernel, degree = SPLINES[name]
    peer = RBFInterpolator(X[:40], Y[:40], kernel=name, smoothing=alpha * 40)
    stated = Problem(Exact(kernel), unpenalized=Polynomials(degree))
    fit = stated.fit(X, Y, alpha)
    scale = np.abs(peer(new)).max()
    # Both solvers lose the digits that the kernel matrix costs; at alpha = 0 many.
    tolerance = 1e-9 if alpha else 1e-7
    assert_allclose(fit.predict(new), peer(new), atol=tolerance * scale)
    single = stated.fit(X, Y[:, 1], alpha)
    assert_allclose(single.predict(new), peer(new)[:, 1], atol=tolerance * scale)


def test_a_spline_with_weights_solves_its_saddle_system(rng):
    # A c + F beta = y with A = K + lam W^-1, F'c = 0.
    X, new = rng.uniform(-1, 1, (30, 2)), rng.uniform(-1, 1, (9, 2))
    y, w, alpha = rng.normal(size=30), rng.uniform(0.2, 4, 30), 0.01

    def kernel(A, B):
        r = np.linalg.norm(A[:, None] - B[None], axis=-1)
        return r**2 * np.log(np.where(r > 0, r, 1.0))

    def features(x):
        return np.c_[np.ones(len(x)), x]

    A = kernel(X, X) + alpha * w.sum() * np.diag(1 / w)
    F = features(X)
    saddle = np.block([[A, F], [F.T, np.zeros((3, 3))]])
    solution = np.linalg.solve(saddle, np.r_[y, np.zeros(3)])
    c, beta = solution[:30], solution[30:]
    fit = Problem(Exact(ThinPlate()), unpenalized=Polynomials(1)).fit(
        X, y, alpha, sample_weight=w
    )
    expected = kernel(new, X) @ c + features(new) @ beta
    assert_allclose(fit.predict(new), expected, rtol=1e-9, atol=1e-10)
    assert_allclose(fit.theta[:, 0], c, rtol=1e-8, atol=1e-9)
    assert_allclose(fit.beta[1:, 0], beta[1:], rtol=1e-8)  # slopes: not of the center


@pytest.mark.parametrize("drift", [True, False])
@pytest.mark.parametrize(
    ("variogram", "kernel", "range_of_e"),
    [
        # theirs: exp(-(d / (4/7 range))^2) and exp(-d / (range / 3))
        ("gaussian", Gaussian(0.4), np.sqrt(2) * 7 / 4),
        ("exponential", Laplace(0.4), 3.0),
    ],
)
def test_universal_kriging_with_its_variance(
    variogram, kernel, range_of_e, drift, X, Y, new
):
    sill, nugget = 2.5, 0.2
    peer = pykrige.UniversalKriging(
        *X.T,
        Y[:, 0],
        variogram_model=variogram,
        variogram_parameters={
            "psill": sill,
            "range": 0.4 * range_of_e,
            "nugget": nugget,
        },
        drift_terms=["regional_linear"] if drift else [],
        pseudo_inv=False,
    )
    mean, variance = peer.execute("points", *new.T)
    stated = Problem(Exact(kernel), unpenalized=Polynomials(1) if drift else Constant())
    fit = stated.fit(X, Y[:, 0], nugget / sill / 60)
    assert_allclose(fit.predict(new), mean.data, rtol=1e-9, atol=1e-10)
    latent = fit.std(new, noise=nugget) ** 2
    assert_allclose(latent, variance.data - nugget, rtol=1e-8, atol=1e-10)
    # Landmarks at every row: the same by the primal way.
    primal = Problem(Nystrom(kernel), unpenalized=stated.unpenalized).fit(
        X, Y[:, 0], nugget / sill / 60
    )
    assert_allclose(primal.predict(new), mean.data, rtol=1e-6, atol=1e-7)
    assert_allclose(primal.std(new, noise=nugget) ** 2, latent, rtol=1e-6, atol=1e-8)
