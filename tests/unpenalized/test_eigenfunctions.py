"""Eigenfunctions: the hard threshold as features of the one problem."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from halfmoon._solvers.feature_path import hard_threshold
from halfmoon.bases import Exact
from halfmoon.kernels import NNGP, Gaussian, Laplace, Linear, Matern, ThinPlate
from halfmoon.problem import Problem
from halfmoon.unpenalized import Eigenfunctions
from helpers import peak_bytes


@pytest.fixture
def X(rng):
    return rng.normal(size=(40, 3))


def same_span(F, E):
    """Largest sine between the spans of two matrices with orthogonal columns."""
    Q, P = np.linalg.qr(F)[0], np.linalg.qr(E)[0]
    return np.linalg.norm(Q - P @ (P.T @ Q), 2)


def test_values_on_and_off_the_rows(X, rng):
    kernel, new = Matern(1.5, 2.0), rng.normal(size=(7, 3))
    features = Eigenfunctions(30, kernel, constant=False).fit(X)  # all are computed
    s, U = np.linalg.eigh(kernel(X))
    s, U = s[::-1][:30], U[:, ::-1][:, :30]
    F = features.transform(X)
    sign = np.sign((F * U).sum(axis=0))
    assert_allclose(F, np.sqrt(40) * U * sign, atol=1e-10)
    assert_allclose(F.T @ F / 40, np.eye(30), atol=1e-10)
    expected = np.sqrt(40) * kernel(new, X) @ (U / s) * sign
    assert_allclose(features.transform(new), expected, atol=1e-9)
    assert_allclose(features.eigenvalues_, s / 40, rtol=1e-10)
    assert features.names_[:2] == ["eigenfunction 1", "eigenfunction 2"]
    assert features.degree_ == -1


def test_few_are_the_first_of_many(X):
    kernel = Matern(1.5, 2.0)
    many = Eigenfunctions(30, kernel, constant=False).fit(X)
    few = Eigenfunctions(5, kernel, constant=False).fit(X)
    assert_allclose(few.eigenvalues_, many.eigenvalues_[:5], rtol=1e-12)
    assert_allclose(
        np.abs(few.transform(X)), np.abs(many.transform(X)[:, :5]), atol=1e-10
    )


@pytest.mark.parametrize("k", [0, 1, 7, 39])
@pytest.mark.parametrize("alpha", [1e-3, 1.0])
def test_over_labeled_rows_alone_it_is_the_hard_threshold(X, rng, k, alpha):
    kernel, y, new = NNGP("erf"), rng.standard_normal((40, 2)), rng.normal(size=(9, 3))
    features = Eigenfunctions(k, kernel, constant=False)
    fit = Problem(Exact(kernel), unpenalized=features).fit(X, y, alpha)
    expected = kernel(new, X) @ hard_threshold(kernel(X), y).dual_coef(k, alpha)
    assert_allclose(fit.predict(new), expected, atol=1e-7 * np.abs(expected).max())


def test_unlabeled_rows_count(X, rng):
    """The decomposition is over all rows, and not over the labeled ones alone."""
    kernel = Gaussian(1.5)
    y = np.where(np.arange(40) < 12, X[:, 0], np.nan)
    problem = Problem(Exact(kernel), unpenalized=Eigenfunctions(3, kernel))
    posed = problem.pose(X, y)
    U = np.linalg.eigh(kernel(X))[1][:, ::-1][:12, :3]
    assert_allclose(np.abs(posed.F[:, 1:]), np.sqrt(40) * np.abs(U), atol=1e-10)
    assert_array_equal(posed.F[:, 0], np.ones(12))
    assert posed.unpenalized.names_[:2] == ["1", "eigenfunction 1"]
    assert posed.unpenalized.degree_ == 0


@pytest.mark.parametrize("n_components", [None, 2])
def test_k_is_capped_at_the_rank_with_a_warning(X, n_components):
    features = Eigenfunctions(5, Linear(), n_components=n_components)
    rank = n_components or 3
    message = rf"k is 5, but Linear\(\) has numerical rank {rank} on .*capped at {rank}"
    with pytest.warns(UserWarning, match=message):
        features.fit(X, rng=0)
    assert features.k_ == rank
    assert features.transform(X).shape == (40, rank + 1)
    assert len(features.names_) == rank + 1
    assert features.k == 5


def test_beyond_the_rank_of_a_smooth_kernel(rng):
    """Gaussian rows in the plane: rank about 75 of 400, and garbage beyond it."""
    X, new = rng.uniform(0, 1, (400, 2)), rng.uniform(0, 1, (50, 2))
    with pytest.warns(UserWarning, match="capped at"):
        features = Eigenfunctions(400, Gaussian(0.3)).fit(X)
    assert 50 < features.k_ < 250
    assert np.abs(features.transform(new)).max() < 100


@pytest.mark.parametrize(
    ("kernel", "digits"), [(Gaussian(1.5), 1e-6), (Matern(2.5, 1.5), 3e-2)], ids=repr
)
def test_landmarks_stand_for_many_rows(rng, kernel, digits):
    X = rng.normal(size=(600, 2))
    exact = Eigenfunctions(10, kernel, constant=False).fit(X)
    near = replace(exact, n_components=150).fit(X, rng=0)
    F = near.transform(X)
    assert near.expansion_.rows.shape[0] <= 150
    # Orthonormal over all rows, not over the landmarks.
    assert_allclose(F.T @ F / 600, np.eye(10), atol=1e-9)
    assert_allclose(near.eigenvalues_, exact.eigenvalues_, rtol=digits)
    assert (near.eigenvalues_ <= exact.eigenvalues_ * (1 + 1e-9)).all()
    assert same_span(F[:, :6], exact.transform(X)[:, :6]) < 10 * digits


def test_all_landmarks_give_the_exact_ones(X):
    """Equation (2) with every row a landmark is (1)."""
    from halfmoon.unpenalized._kernel_features import _of_landmarks, _of_rows

    kernel = Matern(1.5, 1.0)
    s, weights = _of_rows(kernel, X, 40)
    s_Z, weights_Z = _of_landmarks(kernel, X, X[::-1])
    assert_allclose(s_Z, s, rtol=1e-10)
    assert_allclose(np.abs(weights_Z[::-1]), np.abs(weights), atol=1e-8)


def test_no_square_matrix_of_many_rows(rng, monkeypatch):
    module = "halfmoon.unpenalized._kernel_features"
    monkeypatch.setattr(f"{module}.MAX_EXACT_ROWS", 200)
    monkeypatch.setattr(f"{module}.MIN_LANDMARKS", 50)
    X = rng.normal(size=(4_000, 2))
    features = Eigenfunctions(5, Gaussian(1.0), constant=False)
    peak = peak_bytes(lambda: features.fit(X, rng=0).transform(X))
    assert features.expansion_.rows.shape[0] == 50
    assert peak < 0.5 * 8 * 4_000**2
    values = features.transform(X)
    assert_allclose(values.T @ values / 4_000, np.eye(5), atol=1e-10)


def test_the_kernel_may_be_filled_in_later(X):
    alone = Eigenfunctions(4)
    assert_allclose(
        alone.fit(X, rng=0).transform(X),
        Eigenfunctions(4, Gaussian()).fit(X, rng=0).transform(X),
    )
    filled = replace(alone, kernel=Laplace(1.0)).fit(X)
    assert filled.kernel_.length_scale == 1.0
    assert alone.kernel is None


def test_csr_and_float32_rows(X):
    X = X.astype(np.float32)
    expected = Eigenfunctions(3, Gaussian(1.0)).fit(X.astype(np.float64)).transform(X)
    sparse = Eigenfunctions(3, Gaussian(1.0)).fit(sp.csr_array(X))
    assert_allclose(np.abs(sparse.transform(sp.csr_array(X))), np.abs(expected), 1e-9)


def test_equal_rows_do_not_disturb(X):
    doubled = np.vstack([X, X])
    once = Eigenfunctions(6, Gaussian(1.0)).fit(X)
    twice = Eigenfunctions(6, Gaussian(1.0)).fit(doubled)
    assert_allclose(twice.eigenvalues_, once.eigenvalues_, rtol=1e-12)
    assert_allclose(np.abs(twice.transform(X)), np.abs(once.transform(X)), atol=1e-10)


@pytest.mark.parametrize("k", [[1, 5], (2,), np.array([3])], ids=str)
def test_several_k_are_for_an_estimator(X, k):
    with pytest.raises(ValueError, match="among which an estimator chooses by K-fold"):
        Eigenfunctions(k).fit(X)


@pytest.mark.parametrize("k", [-1, 2.5, True, "3", None])
def test_k_is_a_whole_number(X, k):
    with pytest.raises(ValueError, match=r"k is .*; a whole number, 0 or more"):
        Eigenfunctions(k).fit(X)


def test_conditional_kernels_are_refused(X):
    with pytest.raises(
        ValueError, match=r"only conditionally positive definite \(degr"
    ):
        Eigenfunctions(2, ThinPlate()).fit(X[:, :2])


def test_a_kernel_of_zeros_has_none(X):
    with pytest.warns(UserWarning, match="rank 0"):
        features = Eigenfunctions(2, Linear(), constant=False).fit(0 * X)
    assert features.transform(X).shape == (40, 0)


def test_parameters(X):
    features = clone(Eigenfunctions(3, Gaussian(2.0)))
    assert features.get_params(deep=False)["k"] == 3
    assert not features.from_labels
    assert_array_equal(features.fit(X[:9]).fit(X).transform(X), features.transform(X))
