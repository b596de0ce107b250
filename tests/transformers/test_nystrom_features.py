"""Nystrom features against the kernel, its formula and scikit-learn's Nystroem."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.kernel_approximation import Nystroem

from halfmoon._transformers import NystromFeatures
from halfmoon.kernels import Gaussian, Matern, Polynomial
from halfmoon.kernels._length_scales import median_distance
from reference import gaussian


@pytest.fixture
def X(rng):
    return rng.normal(size=(30, 2))


@pytest.fixture
def new(rng):
    return rng.normal(size=(7, 2))


@pytest.mark.parametrize("landmarks", ["rpcholesky", "uniform", "kmeans++", "leverage"])
def test_products_are_the_formula(X, new, landmarks):
    model = NystromFeatures(Gaussian(0.8), 8, landmarks, random_state=0).fit(X)
    Z = model.landmarks_
    assert Z.shape == (8, 2)
    assert all((z == X).all(axis=1).any() for z in Z)
    K, inverse = gaussian(new, Z), np.linalg.inv(gaussian(Z, Z))
    Phi, Psi = model.transform(new), model.transform(X)
    assert_allclose(Phi @ Psi.T, K @ inverse @ gaussian(Z, X), rtol=1e-9, atol=1e-11)
    assert model.rank_ == Phi.shape[1] == 8


@pytest.mark.parametrize("n_components", [None, 30, 100])
def test_all_rows_are_the_kernel_itself(X, new, n_components):
    model = NystromFeatures(Matern(1.5, 0.7), n_components).fit(X)
    Phi, Psi = model.transform(X), model.transform(new)
    assert_allclose(Phi @ Phi.T, Matern(1.5, 0.7)(X), atol=1e-10)
    assert_allclose(Psi @ Phi.T, Matern(1.5, 0.7)(new, X), atol=1e-10)
    # Where no row is, features hold less than the kernel, never more.
    assert ((Psi**2).sum(axis=1) < 1 - 1e-6).all()


def test_as_scikit_learn_with_the_same_landmarks(X, new):
    gamma = 1 / (2 * 0.8**2)
    theirs = Nystroem(gamma=gamma, n_components=9, random_state=0).fit(X)
    ours = NystromFeatures(Gaussian(0.8), landmarks=theirs.component_indices_).fit(X)
    assert_array_equal(ours.landmarks_, theirs.components_)
    expected = theirs.transform(new) @ theirs.transform(X).T
    actual = ours.transform(new) @ ours.transform(X).T
    assert_allclose(actual, expected, rtol=1e-8, atol=1e-10)


def test_truncated_at_the_numerical_rank(X, new):
    # (x'z + 1)^2 of two columns has six features, for any landmarks.
    model = NystromFeatures(Polynomial(2, 1.0, 1.0), None).fit(X)
    assert model.rank_ == model.transform(new).shape[1] == 6
    assert model.landmarks_.shape == (30, 2)
    assert len(model.get_feature_names_out()) == 6
    products = model.transform(new) @ model.transform(X).T
    assert_allclose(products, (new @ X.T + 1) ** 2, rtol=1e-10, atol=1e-10)


def test_rows_given_twice_count_once(X, new):
    once = NystromFeatures(Gaussian(0.8), None).fit(X)
    twice = NystromFeatures(Gaussian(0.8), None).fit(np.vstack([X, X]))
    assert twice.rank_ <= 30
    expected = once.transform(new) @ once.transform(new).T
    actual = twice.transform(new) @ twice.transform(new).T
    assert_allclose(actual, expected, atol=1e-8)


def test_landmarks_given_as_rows(X, new):
    Z = np.array([[0.0, 0.0], [1.0, -1.0]])
    model = NystromFeatures(Gaussian(0.8), landmarks=Z).fit(X)
    assert_array_equal(model.landmarks_, Z)
    assert_allclose(
        model.transform(new) @ model.transform(Z).T, gaussian(new, Z), rtol=1e-12
    )


def test_length_scale_is_by_all_rows(X):
    model = NystromFeatures(landmarks=[0, 1]).fit(X)
    assert model.kernel_.length_scale == median_distance(X)


def test_a_function_as_kernel(X, new):
    model = NystromFeatures(lambda A, B: (1 + A @ B.T) ** 2, 20).fit(X)
    products = model.transform(new) @ model.transform(X).T
    assert_allclose(products, (new @ X.T + 1) ** 2, rtol=1e-10, atol=1e-10)


def test_more_landmarks_leave_less(X):
    left = [
        30 - (NystromFeatures(Gaussian(0.8), p).fit_transform(X) ** 2).sum()
        for p in (1, 5, 20, 30)
    ]
    assert left[0] > left[1] > left[2] > left[3] - 1e-12
    assert abs(left[3]) < 1e-10
