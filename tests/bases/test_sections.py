"""Nystrom: what landmarks do beyond the contract."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from halfmoon.bases import Exact, Nystrom
from halfmoon.kernels import Gaussian, Matern, ThinPlate


@pytest.fixture
def X(rng):
    return rng.normal(size=(15, 2))


@pytest.mark.parametrize("landmarks", ["uniform", "rpcholesky", "kmeans++", "leverage"])
@pytest.mark.parametrize("p", [None, 15, 40])
def test_every_row_a_landmark_is_the_exact_basis(X, rng, landmarks, p):
    new = rng.normal(size=(4, 2))
    exact = Exact(Matern(1.5)).fit(X, 0)
    basis = Nystrom(Matern(1.5), p, landmarks).fit(X, 0)
    assert basis.n_components_ == 15
    assert_array_equal(basis.transform(new), exact.transform(new))
    assert_array_equal(basis.penalty(), exact.penalty())
    assert_array_equal(basis.missing_variance(new), exact.missing_variance(new))


@pytest.mark.parametrize("landmarks", ["uniform", "rpcholesky", "kmeans++", "leverage"])
def test_landmarks_are_rows(X, landmarks):
    basis = Nystrom(Gaussian(0.5), 6, landmarks).fit(X, 0)
    Z = basis.sections.Z
    assert Z.shape == (6, 2)
    assert len(np.unique(Z, axis=0)) == 6
    assert all((z == X).all(axis=1).any() for z in Z)


def test_length_scale_is_by_all_rows_not_by_the_landmarks(X):
    X = np.vstack([X, X + 50])
    basis = Nystrom(Gaussian(), landmarks=[0, 1, 2]).fit(X, 0)
    assert_allclose(
        basis.sections.kernel.length_scale, Exact().fit(X, 0).kernel_.length_scale
    )


def test_more_landmarks_leave_less(X):
    new = X + 0.3
    left = [
        Nystrom(Gaussian(0.7), landmarks=np.arange(p)).fit(X).missing_variance(new)
        for p in (1, 5, 15)
    ]
    assert (left[0] >= left[1] - 1e-12).all()
    assert (left[1] >= left[2] - 1e-12).all()
    assert left[2].sum() < left[0].sum()


def test_conditional_kernels_say_so(X):
    basis = Nystrom(ThinPlate(), 5, "uniform").fit(X, 0)
    assert basis.conditional_degree == 1
    assert Exact(ThinPlate()).fit(X).conditional_degree == 1
    assert_array_equal(basis.missing_variance(X), np.zeros(15))
    assert Exact(Gaussian()).fit(X).conditional_degree == -1
