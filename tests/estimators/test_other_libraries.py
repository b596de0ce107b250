"""The estimators give the numbers of scikit-learn and SciPy where they can be compared.

==========================  ==========================================================
GaussianProcessRegressor    alpha is ours times n_labeled, without a constant
RBFInterpolator             smoothing is alpha n_labeled, degree is `unpenalized`
Ridge, RidgeCV              the linear kernel and a constant; errors are leave-one-out
HuberRegressor              no kernel part: a large alpha; the threshold is its own
SVR(epsilon=0)              the median; C = 1 / (4 alpha n_labeled)
==========================  ==========================================================
"""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.interpolate import RBFInterpolator
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process import kernels as of_processes
from sklearn.linear_model import HuberRegressor, Ridge, RidgeCV
from sklearn.svm import SVR

from halfmoon import ConditionalRegressor
from halfmoon.kernels import (
    Gaussian,
    Laplace,
    Linear,
    Matern,
    Multiquadric,
    Polynomial,
    RationalQuadratic,
)
from halfmoon.losses import Huber, Quantile

N, LAM = 60, 0.1
RNG = np.random.default_rng(0)
X, NEW = RNG.normal(size=(N, 3)), 1.3 * RNG.normal(size=(20, 3))
Y = np.sin(X[:, 0]) + 0.3 * X[:, 1] + 0.1 * RNG.normal(size=N)
W = RNG.uniform(0.2, 3, N)


@pytest.mark.parametrize(
    ("kernel", "theirs"),
    [
        (Gaussian(0.9), of_processes.RBF(0.9)),
        (Laplace(0.9), of_processes.Matern(0.9, nu=0.5)),
        (Matern(1.5, 0.9), of_processes.Matern(0.9, nu=1.5)),
        (Matern(2.5, 0.9), of_processes.Matern(0.9, nu=2.5)),
        (RationalQuadratic(0.7, 0.9), of_processes.RationalQuadratic(0.9, alpha=0.7)),
        (Polynomial(2), of_processes.DotProduct(1.0) ** 2),
        (
            2.5 * Gaussian(0.9) + Linear() * Matern(1.5, 2.0),
            2.5 * of_processes.RBF(0.9)
            + of_processes.DotProduct(1e-12) * of_processes.Matern(2.0, nu=1.5),
        ),
    ],
    ids=repr,
)
def test_gaussian_process(kernel, theirs):
    peer = GaussianProcessRegressor(theirs, alpha=LAM, optimizer=None).fit(X, Y)
    mean, std = peer.predict(NEW, return_std=True)
    model = ConditionalRegressor(kernel, unpenalized=None, alpha=LAM / N).fit(X, Y)
    values, found = model.predict(NEW, return_std=True)
    assert_allclose(values, mean, rtol=1e-9, atol=1e-11)
    assert_allclose(model.solution_.std(NEW, noise=LAM), std, rtol=1e-9)
    # Ours has the variance of the noise by restricted likelihood, theirs is fixed.
    estimated = LAM * Y @ np.linalg.solve(theirs(X) + LAM * np.eye(N), Y) / N
    assert_allclose(found, std * np.sqrt(estimated / LAM), rtol=1e-9)


RADIAL = {
    "gaussian": Gaussian(1 / (1.3 * np.sqrt(2))),
    "inverse_quadratic": RationalQuadratic(1.0, 1 / (1.3 * np.sqrt(2))),
    "inverse_multiquadric": RationalQuadratic(0.5, 1 / 1.3),
    "multiquadric": Multiquadric(1 / 1.3),  # only conditionally positive definite
}


@pytest.mark.parametrize(
    ("name", "degree"),
    [
        (name, degree)
        for name in RADIAL
        for degree in (-1, 0, 1, 2)
        if degree >= 0 or name != "multiquadric"
    ],
)
def test_radial_basis_functions(name, degree):
    peer = RBFInterpolator(X, Y, smoothing=LAM, kernel=name, epsilon=1.3, degree=degree)
    unpenalized = None if degree < 0 else degree
    model = ConditionalRegressor(RADIAL[name], unpenalized, alpha=LAM / N).fit(X, Y)
    assert_allclose(model.predict(NEW), peer(NEW), rtol=1e-9, atol=1e-11)


def test_ridge_and_its_leave_one_out():
    alphas = np.array([0.01, 0.1, 1.0, 10.0, 100.0])
    model = ConditionalRegressor("linear", alpha=alphas / N).fit(X, Y)
    peer = RidgeCV(alphas, store_cv_results=True).fit(X, Y)
    assert_allclose(model.loo_errors_, peer.cv_results_.mean(axis=0), rtol=1e-9)
    assert_allclose(model.alpha_ * N, peer.alpha_)
    model = ConditionalRegressor("linear", alpha=2.0 / W.sum())
    model.fit(X, Y, sample_weight=W)
    peer = Ridge(2.0).fit(X, Y, sample_weight=W)
    assert_allclose(model.predict(NEW), peer.predict(NEW), rtol=1e-10)
    refits = [
        Y[i] - Ridge(2.0).fit(X[k], Y[k], sample_weight=W[k]).predict(X[[i]])[0]
        for i in range(N)
        for k in [np.arange(N) != i]
    ]
    assert_allclose(model.leave_one_out(), refits, rtol=1e-9)


def test_huber():
    peer = HuberRegressor(epsilon=1.35, alpha=1e-10, tol=1e-10, max_iter=10_000)
    peer.fit(X, Y)
    loss = Huber(1.35, scale=peer.scale_)
    model = ConditionalRegressor(unpenalized="linear", alpha=1e8, loss=loss).fit(X, Y)
    assert_allclose(model.predict(NEW), peer.predict(NEW), atol=1e-5)


@pytest.mark.parametrize("C", [0.1, 1.0, 30.0])
def test_support_vector_regression_is_the_median(C):
    peer = SVR(C=C, epsilon=0.0, gamma=0.5 / 0.8**2, tol=1e-10).fit(X, Y)
    model = ConditionalRegressor(
        Gaussian(0.8), alpha=1 / (4 * C * N), loss=Quantile(0.5)
    ).fit(X, Y)
    # libsvm holds the kernel in float32.
    assert_allclose(model.predict(NEW), peer.predict(NEW), atol=1e-5)
