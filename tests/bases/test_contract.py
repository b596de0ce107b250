"""What every basis must do, run through the table of bases in `helpers.py`."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from halfmoon.bases import Exact, Nystrom
from helpers import BASES, central_differences

every_basis = pytest.mark.parametrize("case", BASES, ids=[case.name for case in BASES])


@pytest.fixture
def X(rng):
    # Multiples of 2^-20, which stay exact when 1024 is added.
    return np.round(rng.normal(size=(12, 3)) * 2**20) / 2**20


@pytest.fixture
def new(rng):
    rng.normal(size=(12, 3))
    return np.round(rng.normal(size=(5, 3)) * 2**20) / 2**20


@pytest.fixture
def theta(rng):
    return lambda basis: np.random.default_rng(8).normal(size=(basis.n_components_, 2))


def pseudo_inverse(Q):
    return np.linalg.pinv(Q, rcond=1e-13, hermitian=True)


@every_basis
def test_values_have_a_column_for_each_function(case, X, new):
    basis = case.build().fit(X, 0)
    for rows in (X, new, new[:1]):
        Phi = basis.transform(rows)
        assert Phi.shape == (len(rows), basis.n_components_)
        assert Phi.dtype == np.float64
        assert np.isfinite(Phi).all()
    assert isinstance(basis.n_components_, int)
    assert basis.row_bytes >= 8 * basis.n_components_


@every_basis
def test_rows_do_not_affect_each_other(case, X, new):
    basis = case.build().fit(X, 0)
    rows = np.vstack([X[:3], new])
    together = basis.transform(rows)
    alone = np.vstack([basis.transform(row[None]) for row in rows])
    assert_allclose(alone, together, rtol=1e-11, atol=1e-13)
    backwards = basis.transform(rows[::-1])[::-1]
    assert_allclose(backwards, together, rtol=1e-11, atol=1e-13)


@every_basis
def test_penalty_is_symmetric_and_positive(case, X):
    basis = case.build().fit(X, 0)
    Q = basis.penalty()
    assert Q.shape == (basis.n_components_,) * 2
    assert_allclose(Q, Q.T, rtol=1e-12, atol=1e-14)
    values = np.linalg.eigvalsh(Q)
    assert values[0] > -1e-13 * values[-1]
    assert values[-1] > 0


@every_basis
def test_function_is_values_times_coefficients(case, X, new, theta):
    basis = case.build().fit(X, 0)
    coefficients = theta(basis)
    for rows in (X, new):
        expected = basis.transform(rows) @ coefficients
        actual = basis.function(coefficients)(rows)
        assert_allclose(actual, expected, rtol=1e-11, atol=1e-12)
    sparse = coefficients * (np.arange(len(coefficients)) % 3 == 0)[:, None]
    expected = basis.transform(new) @ sparse
    assert_allclose(basis.function(sparse)(new), expected, rtol=1e-11, atol=1e-12)
    nothing = basis.function(0 * coefficients)(new)
    assert_array_equal(nothing, np.zeros((5, 2)))


@every_basis
def test_gradient_is_the_limit_of_differences(case, X, new):
    basis = case.build().fit(X, 0)
    if not case.smooth:
        with pytest.raises(TypeError, match=r"energy of a graph"):
            basis.gradient(new)
        return
    expected = central_differences(basis.transform, new)
    actual = basis.gradient(new)
    assert actual.shape == (5, basis.n_components_, 3)
    scale = np.abs(expected).max()
    assert_allclose(actual, expected, rtol=1e-6, atol=3e-8 * scale)


@every_basis
def test_gradient_coefficients_give_the_gradient(case, X, new):
    basis = case.build().fit(X, 0)
    if not case.smooth and not isinstance(basis, Exact):
        assert basis.gradient_coefficients(new) is None
        return
    if not case.smooth:
        with pytest.raises(TypeError, match="has no gradient"):
            basis.gradient_coefficients(new)
        return
    coefficients = basis.gradient_coefficients(new)
    if coefficients is None:
        return
    A, B, Z = coefficients
    A = np.zeros_like(B) if A is None else A
    G = A[:, :, None] * new[:, None, :] + B[:, :, None] * np.asarray(Z)
    assert_allclose(basis.gradient(new), G, rtol=1e-13, atol=1e-15)


@every_basis
def test_sections_are_kernel_sections(case, X, new):
    basis = case.build().fit(X, 0)
    assert (basis.sections is None) == (not isinstance(basis, (Exact, Nystrom)))
    if basis.sections is not None:
        kernel, Z = basis.sections
        assert_allclose(basis.transform(new), kernel(new, Z), rtol=1e-13)
        assert_allclose(basis.penalty(), kernel(Z), rtol=1e-13, atol=1e-15)


@every_basis
def test_gram_is_the_kernel_of_basis_and_penalty(case, X, new, rng):
    basis = case.build().fit(X, 0)
    chosen = np.array([7, 0, 4])
    if not basis.has_gram:
        for call in (
            lambda: basis.gram(chosen)(new),
            lambda: basis.lift(chosen, np.ones((3, 1))),
            lambda: basis.prior_variance(new),
        ):
            with pytest.raises(TypeError, match="no kernel in closed form"):
                call()
        return
    inverse = pseudo_inverse(basis.penalty())
    expected = basis.transform(new) @ inverse @ basis.transform(X[chosen]).T
    actual = basis.gram(chosen)(new)
    scale = np.abs(expected).max()
    assert_allclose(actual, expected, rtol=1e-9, atol=1e-10 * scale)

    # lift turns weights on the chosen rows into weights of the basis.
    c = rng.normal(size=(3, 2))
    lifted = basis.lift(chosen, c)
    assert lifted.shape == (basis.n_components_, 2)
    assert_allclose(
        basis.transform(new) @ lifted, actual @ c, rtol=1e-10, atol=1e-12 * scale
    )

    diagonal = np.diag(basis.gram(np.arange(12))(X))
    assert_allclose(basis.prior_variance(X), diagonal, rtol=1e-11)
    if not isinstance(basis, Exact):  # whose kernel reaches beyond its span
        Phi = basis.transform(new)
        expected = np.einsum("ip,pq,iq->i", Phi, inverse, Phi)
        assert_allclose(basis.prior_variance(new), expected, rtol=1e-8)


@every_basis
def test_missing_variance_is_what_the_span_leaves(case, X, new):
    basis = case.build().fit(X, 0)
    if basis.sections is None:
        assert_array_equal(basis.missing_variance(new), np.zeros(5))
        return
    kernel, Z = basis.sections
    k = kernel(new, Z)
    prior = np.diag(kernel(new))
    expected = prior - np.einsum("ip,pq,iq->i", k, pseudo_inverse(kernel(Z)), k)
    actual = basis.missing_variance(new)
    assert_allclose(actual, np.maximum(expected, 0), rtol=1e-8, atol=1e-9 * prior.max())
    assert (actual >= 0).all()
    at_landmarks = basis.missing_variance(Z)
    assert_allclose(at_landmarks, np.zeros(len(Z)), atol=1e-10 * prior.max())
    if kernel.radial:  # far from all rows nothing is known: it is the prior's
        far = basis.missing_variance(new + 1e6)
        assert_allclose(far, prior, rtol=1e-6)


@every_basis
def test_a_refit_forgets(case, X, new):
    other = np.random.default_rng(9).normal(size=(9, 3)) * 3
    basis = case.build().fit(other, 0)
    basis.missing_variance(new)  # may store something
    basis.transform(new)
    basis.fit(X, 0)
    fresh = case.build().fit(X, 0)
    assert basis.n_components_ == fresh.n_components_
    assert_array_equal(basis.transform(new), fresh.transform(new))
    assert_array_equal(basis.penalty(), fresh.penalty())
    assert_array_equal(basis.missing_variance(new), fresh.missing_variance(new))


@every_basis
def test_fit_keeps_parameters_and_rows_as_they_are(case, X):
    basis, before = case.build(), X.copy()
    copy, parameters = clone(basis), repr(basis.get_params(deep=True))
    assert basis.fit(X, 0) is basis
    assert_array_equal(X, before)
    assert repr(basis.get_params(deep=True)) == parameters
    assert repr(copy.get_params(deep=True)) == parameters
    assert not hasattr(clone(basis), "n_components_")


@every_basis
def test_float32_rows_are_lifted(case, X, new):
    X, new = X.astype(np.float32), new.astype(np.float32)
    expected = case.build().fit(X.astype(np.float64), 0)
    actual = case.build().fit(X, 0)
    wide = new.astype(np.float64)
    assert actual.transform(new).dtype == np.float64
    assert_allclose(actual.transform(new), expected.transform(wide), rtol=1e-12)
    assert_allclose(actual.penalty(), expected.penalty(), rtol=1e-12)
    if case.smooth:
        assert_allclose(actual.gradient(new), expected.gradient(wide), rtol=1e-12)


@every_basis
def test_csr_rows_are_rows(case, X, new):
    expected = case.build().fit(X, 0)
    actual = case.build().fit(sp.csr_array(X), 0)
    sparse = sp.csr_array(new)
    for dense, other in [
        (expected.transform(new), actual.transform(sparse)),
        (expected.penalty(), actual.penalty()),
        (expected.missing_variance(new), actual.missing_variance(sparse)),
    ]:
        assert type(other) is np.ndarray
        assert_allclose(other, dense, rtol=1e-9, atol=1e-10)
    if case.smooth:
        G = expected.gradient(new)
        assert_allclose(actual.gradient(sparse), G, rtol=1e-8, atol=1e-9)
    if expected.has_gram:
        chosen = np.array([3, 1])
        dense = expected.gram(chosen)(new)
        assert_allclose(actual.gram(chosen)(sparse), dense, rtol=1e-9)


@pytest.mark.parametrize(
    "case", [case for case in BASES if case.invariant], ids=lambda case: case.name
)
def test_an_offset_costs_no_digits(case, X, new):
    near, far = case.build().fit(X, 0), case.build().fit(X + 1024, 0)
    Phi, moved = near.transform(new), far.transform(new + 1024)
    # A feature by itself changes its phase; products do not change.
    assert_allclose(moved @ moved.T, Phi @ Phi.T, rtol=1e-9, atol=1e-11)
