"""Fredholm features against the triple sum of the Fredholm kernel."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from halfmoon._transformers import FredholmFeatures, NystromFeatures
from halfmoon.kernels import Gaussian, Linear, Matern
from halfmoon.smoothers import Diffusion, KernelWeights, Neighbors
from reference import gaussian


@pytest.fixture
def X(rng):
    return rng.normal(size=(20, 2))


@pytest.fixture
def new(rng):
    return rng.normal(size=(7, 2))


def weights(x, X, normalize):
    k = gaussian(x, X, 0.6)
    return k / k.sum(axis=1, keepdims=True) if normalize else k / len(X)


@pytest.mark.parametrize("normalize", [True, False])
def test_all_rows_are_the_triple_sum(X, new, normalize):
    model = FredholmFeatures(Gaussian(0.6), Gaussian(0.5), normalize).fit(X)
    assert_array_equal(model.landmarks_, X)
    a, b = weights(new, X, normalize), weights(X, X, normalize)
    expected = np.einsum("xi,ij,zj->xz", a, gaussian(X, X, 0.5), b)
    actual = model.transform(new) @ model.transform(X).T
    assert_allclose(actual, expected, rtol=1e-9, atol=1e-12)


def test_landmarks_replace_the_inner_kernel_by_its_approximation(X, new):
    model = FredholmFeatures(Gaussian(0.6), Gaussian(1.5), n_components=5).fit(X)
    Z = model.landmarks_
    assert model.rank_ == 5
    H = gaussian(X, Z, 1.5) @ np.linalg.inv(gaussian(Z, Z, 1.5)) @ gaussian(Z, X, 1.5)
    a = weights(new, X, True)
    assert_allclose(
        model.transform(new) @ model.transform(new).T, a @ H @ a.T, rtol=1e-8
    )


def test_linear_outer_kernel(X, new):
    # FredLin1: k linear, h Gaussian; its weights may be negative.
    model = FredholmFeatures("linear", Gaussian(0.5), False, n_components=None).fit(X)
    expected = new @ X.T @ gaussian(X, X, 0.5) @ X @ new.T / 20**2
    actual = model.transform(new) @ model.transform(new).T
    assert_allclose(actual, expected, rtol=1e-8, atol=1e-12)


def test_linear_inner_kernel_has_as_many_features_as_columns(X, new):
    # FredLin2: k Gaussian, h linear, so that features are averages of rows.
    model = FredholmFeatures(Gaussian(0.6), Linear(), n_components=None).fit(X)
    assert model.rank_ == 2
    averages = weights(new, X, True) @ X
    actual = model.transform(new) @ model.transform(new).T
    assert_allclose(actual, averages @ averages.T, rtol=1e-9, atol=1e-12)


def test_a_narrow_outer_kernel_leaves_the_inner_one(X):
    fredholm = FredholmFeatures(Gaussian(1e-3), Gaussian(0.5)).fit(X)
    plain = NystromFeatures(Gaussian(0.5)).fit(X)
    assert_allclose(fredholm.transform(X), plain.transform(X), rtol=1e-9, atol=1e-12)


def test_smoother_none_is_kernel_weights(X, new):
    expected = FredholmFeatures(Matern(), Gaussian(1.0), False).fit(X).transform(new)
    smoother = KernelWeights(Matern(), normalize=False)
    model = FredholmFeatures("linear", Gaussian(1.0), True, smoother).fit(X)
    assert_allclose(model.transform(new), expected, rtol=1e-12)
    assert not hasattr(smoother, "rows_")  # a copy is fitted


@pytest.mark.parametrize(
    "smoother", [Neighbors(4, steps=3), Diffusion(4, restart=0.2)], ids=repr
)
def test_other_smoothers(X, new, smoother):
    model = FredholmFeatures(inner_kernel=Gaussian(0.5), smoother=smoother).fit(X)
    fitted = model.smoother_
    A = fitted.weights(new).toarray() @ fitted.spread(np.eye(20))
    actual = model.transform(new) @ model.transform(new).T
    assert_allclose(actual, A @ gaussian(X, X, 0.5) @ A.T, rtol=1e-8, atol=1e-11)
    assert model.inner_kernel_.length_scale == 0.5


def test_rows_far_away(X):
    model = FredholmFeatures(Gaussian(0.6), Gaussian(0.5)).fit(X)
    assert np.isfinite(model.transform([[1e100, 0.0]])).all()
    with pytest.raises(ValueError, match=r"The largest entry of X is 1e\+200"):
        model.transform([[1e200, 0.0]])  # its squared distances are infinite
