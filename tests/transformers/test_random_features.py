"""Random features: products tend to the kernel at the rate of Monte Carlo."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from halfmoon import bases
from halfmoon._transformers import RandomFeatures
from halfmoon.kernels import NNGP, Gaussian, Laplace, Matern

KERNELS = [Gaussian(1.3), Laplace(2.0), Matern(1.5, 1.3), NNGP("erf"), NNGP("relu")]


@pytest.fixture
def X(rng):
    return rng.normal(size=(9, 3))


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_products_tend_to_the_kernel(X, kernel):
    errors = []
    for m in (100, 40_000):
        Phi = RandomFeatures(kernel, m, random_state=0).fit_transform(X)
        assert Phi.shape == (9, m)
        errors.append(np.abs(Phi @ Phi.T - kernel(X)).max())
    assert errors[1] < 0.04 * kernel.diag(X).max()
    assert errors[1] < errors[0] / 4  # 1 / 20 is to be expected


def test_the_features_are_those_of_the_basis(X, rng):
    new = rng.normal(size=(5, 3))
    model = RandomFeatures("matern", 12, random_state=3).fit(X)
    basis = bases.RandomFeatures(Matern(), 12).fit(X, 3)
    assert_array_equal(model.transform(new), basis.transform(new))
    u = new @ model.directions_.T + model.biases_
    expected = np.hstack([np.cos(u), np.sin(u)]) / np.sqrt(6)
    assert_allclose(model.transform(new), expected, rtol=1e-12, atol=1e-15)


def test_an_odd_number_of_cosines_and_sines_is_raised(X):
    model = RandomFeatures(n_components=9, random_state=0).fit(X)
    assert model.transform(X).shape == (9, 10)
    assert len(model.get_feature_names_out()) == 10
    assert_allclose((model.transform(X) ** 2).sum(axis=1), 1.0)  # cos^2 + sin^2
