"""Laplacian eigenmaps, against dense eigenproblems and known eigenfunctions."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg as sla
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from halfmoon import bases
from halfmoon._graphs import graph_laplacian, neighbor_graph
from halfmoon._transformers import LaplacianEigenmaps
from halfmoon.kernels import Gaussian, Polynomial
from halfmoon.smoothers import KernelWeights
from reference import gaussian, ring_laplacian

E = 0.8  # length scale


@pytest.fixture
def X(rng):
    return rng.normal(size=(30, 2))


@pytest.fixture
def new(rng):
    return rng.normal(size=(7, 2))


def twin(X, Z, mu, k, graph=None):
    """s, and the functions as weights of k(., z) and an offset, by whole matrices."""
    n, K = len(X), gaussian(X, Z, E)
    if graph is None:
        G = -K[:, :, None] * (X[:, None] - Z[None]) / E**2
        L = np.einsum("npd,nqd->pq", G, G) / n
    else:
        L = K.T @ graph @ K / n**2
    centered = K - K.mean(axis=0)
    s, U = sla.eigh(centered.T @ centered / n, L + mu * gaussian(Z, Z, E))
    s, U = s[::-1][:k], U[:, ::-1][:, :k] / np.sqrt(s[::-1][:k])
    values = centered @ U
    largest = np.abs(values).argmax(axis=0)
    U = U * np.sign(values[largest, np.arange(k)])
    return s, lambda x: (gaussian(x, Z, E) - K.mean(axis=0)) @ U


@pytest.mark.parametrize("energy", ["gradient", "graph", "given graph"])
@pytest.mark.parametrize("mu", [None, 0.2])
def test_against_the_dense_eigenproblem(X, new, energy, mu):
    Z = X[:12]
    graph = {
        "gradient": None,
        "graph": graph_laplacian(neighbor_graph(X, 10)).toarray(),
        "given graph": ring_laplacian(30),
    }[energy]
    option = sp.csr_array(graph) if energy == "given graph" else energy
    model = LaplacianEigenmaps(
        4, Gaussian(E), mu=mu, energy=option, landmarks=np.arange(12)
    ).fit(X)
    s, functions = twin(X, Z, 1 / 30 if mu is None else mu, 4, graph)
    assert model.mu_ == (1 / 30 if mu is None else mu)
    assert_allclose(model.eigenvalues_, s, rtol=1e-8)
    assert_allclose(model.transform(new), functions(new), rtol=1e-6, atol=1e-8)
    assert_allclose(model.transform(X), functions(X), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("energy", ["gradient", "graph"])
@pytest.mark.parametrize("basis", ["landmarks", "derivatives"])
def test_unit_variance_no_mean_no_correlation(X, energy, basis):
    if basis == "derivatives" and energy == "graph":
        X = X[:15]
    Phi = LaplacianEigenmaps(5, energy=energy, basis=basis, random_state=0).fit(X)
    V = Phi.transform(X)
    assert_allclose(V.mean(axis=0), 0, atol=1e-10)
    assert_allclose(V.T @ V / len(X), np.eye(5), atol=1e-7)
    assert (np.diff(Phi.eigenvalues_) <= 0).all()
    largest = np.abs(V).argmax(axis=0)
    assert (V[largest, np.arange(5)] > 0).all()


def test_an_interval_has_cosines():
    # Free ends: cos(m pi x), whose energy over their variance is (m pi)^2.
    n = 200
    x = (np.arange(n) + 0.5) / n
    model = LaplacianEigenmaps(4, Gaussian(0.15), mu=1e-10, random_state=0)
    V = model.fit_transform(x[:, None])
    m = np.arange(1, 5)
    assert_allclose(1 / model.eigenvalues_, (m * np.pi) ** 2, rtol=2e-3)
    cosines = np.sqrt(2) * np.cos(np.pi * np.outer(x, m))
    assert_allclose(V * np.sign(V[0]), cosines, atol=0.05)
    # and between the rows, with the same sign
    between = model.transform(np.array([[0.123456]])) * np.sign(V[0])
    assert_allclose(between, [np.sqrt(2) * np.cos(0.123456 * np.pi * m)], atol=0.03)


@pytest.mark.parametrize("basis", ["landmarks", "derivatives"])
def test_a_circle_has_cosines_and_sines(basis):
    n = 40
    t = 2 * np.pi * np.arange(n) / n
    X = np.column_stack([np.cos(t), np.sin(t)])
    model = LaplacianEigenmaps(4, Gaussian(0.5), mu=1e-6, basis=basis).fit(X)
    V = model.transform(X)
    for rate, pair in ((1, V[:, :2]), (2, V[:, 2:])):
        waves = np.sqrt(2) * np.column_stack([np.cos(rate * t), np.sin(rate * t)])
        turn = waves.T @ pair / n  # a rotation: the pair is known up to one
        assert_allclose(turn @ turn.T, np.eye(2), atol=1e-6)
    assert_allclose(model.eigenvalues_[::2], model.eigenvalues_[1::2], rtol=1e-6)
    if basis == "derivatives":  # which can be flat across the circle
        assert_allclose(1 / model.eigenvalues_[::2], [1, 4], rtol=0.01)


def circles():
    """Four circles of radius 1 to 4 with 8, 16, 24, 32 rows, evenly spread."""
    rows = [8, 16, 24, 32]
    circle = np.repeat(np.arange(4), rows)
    t = np.concatenate([2 * np.pi * np.arange(m) / m + m for m in rows])
    return (circle + 1.0)[:, None] * np.column_stack([np.cos(t), np.sin(t)]), circle


def within(V, circle):
    """The part of the variance of each column that is not between circles."""
    means = np.array([V[circle == c].mean(axis=0) for c in range(4)])
    return ((V - means[circle]) ** 2).mean(axis=0)


def test_four_circles_come_first_with_derivatives_only():
    # Cabannes et al., figure 2: the first functions are constant on each circle. There
    # are four with the constant among them, so three without it.
    X, circle = circles()
    model = LaplacianEigenmaps(5, Gaussian(0.5), mu=1e-4, basis="derivatives").fit(X)
    V = model.transform(X)
    assert_allclose(within(V, circle), [0, 0, 0, 1, 1], atol=1e-3)
    # They separate the four circles, between the rows as well.
    t = np.linspace(0, 2 * np.pi, 50)
    new = np.vstack([r * np.column_stack([np.cos(t), np.sin(t)]) for r in range(1, 5)])
    centers = np.array([V[circle == c, :3].mean(axis=0) for c in range(4)])
    distances = ((model.transform(new)[:, None, :3] - centers) ** 2).sum(axis=2)
    assert_array_equal(distances.argmin(axis=1), np.repeat(np.arange(4), 50))

    landmarks = LaplacianEigenmaps(5, Gaussian(0.5), mu=1e-4).fit(X)
    assert (within(landmarks.transform(X), circle)[:3] > 0.9).all()


def test_the_first_function_separates_two_groups(rng):
    X = np.vstack([rng.normal(size=(20, 3)), rng.normal(size=(40, 3)) + 8])
    V = LaplacianEigenmaps(1, Gaussian(1.5), mu=1e-4).fit_transform(X)
    # Two values with mean 0 and variance 1 on 20 and 40 rows: sqrt 2 and -1/sqrt 2.
    assert_allclose(V[:20, 0], np.sqrt(2), atol=0.2)
    assert_allclose(V[20:, 0], -np.sqrt(0.5), atol=0.2)


def test_signs_do_not_depend_on_rounding():
    # Odd functions on even rows: the largest values tie with their mirror images.
    x = np.linspace(-1, 1, 41)
    V = LaplacianEigenmaps(5, Gaussian(0.4), mu=1e-3).fit_transform(x[:, None])
    odd = V[:, ::2]
    assert_allclose(odd, -odd[::-1], atol=1e-8)
    first = np.abs(odd[:20]).argmax(axis=0)
    assert (odd[first, np.arange(3)] > 0).all()


def test_any_basis_will_do(X, new):
    given = LaplacianEigenmaps(3, Gaussian(E), landmarks=[1, 5, 9, 11]).fit(X)
    basis = bases.Nystrom(Gaussian(E), landmarks=[1, 5, 9, 11])
    by_basis = LaplacianEigenmaps(3, "linear", basis=basis).fit(X)
    assert_allclose(by_basis.transform(new), given.transform(new), rtol=1e-10)
    assert not hasattr(basis, "sections_")  # a copy is fitted

    smoothed = bases.Smoothed(bases.Exact(Gaussian(E)), KernelWeights(Gaussian(0.3)))
    model = LaplacianEigenmaps(3, basis=smoothed).fit(X)
    fitted = model.basis_
    Phi, G = fitted.transform(X), fitted.gradient(X)
    L = np.einsum("npd,nqd->pq", G, G) / 30
    s = sla.eigh(np.cov(Phi.T, bias=True), L + fitted.penalty() / 30)[0]
    assert_allclose(model.eigenvalues_, s[::-1][:3], rtol=1e-6)


def test_landmarks_beyond_a_thousand_rows(monkeypatch, X):
    monkeypatch.setattr("halfmoon._transformers.eigenmaps.EIGENMAP_LANDMARKS", 10)
    model = LaplacianEigenmaps(random_state=0).fit(X)
    assert model.basis_.n_components_ == 10
    assert LaplacianEigenmaps(n_landmarks=25).fit(X).basis_.n_components_ == 25
    assert LaplacianEigenmaps().fit(X[:9]).basis_.n_components_ == 9


def test_no_more_functions_than_vary(X):
    # (x'z + 1)^2 in two columns: six functions, one of them the constant.
    with pytest.warns(UserWarning, match="Only 5 function.s. .* from 9 to 5"):
        model = LaplacianEigenmaps(9, Polynomial(2, 1.0, 1.0)).fit(X)
    assert model.transform(X).shape == (30, 5)
    assert model.eigenvalues_.shape == (5,)
    with pytest.raises(ValueError, match="No function of the basis varies"):
        LaplacianEigenmaps(1, Gaussian(1.0)).fit(np.ones((5, 2)))


@pytest.mark.parametrize("width", [10.0, 100.0])
def test_wide_kernels_keep_their_digits(X, width):
    # All values are near 1. What varies is <x, z> / width^2, so that s is known to
    # first order: a linear function has variance v'Cv, energy v'v and a squared norm
    # of width^2 v'v.
    model = LaplacianEigenmaps(2, Gaussian(width), mu=0.5).fit(X)
    V = model.transform(X)
    assert_allclose(V.T @ V / 30, np.eye(2), atol=1e-6)
    C = np.cov(X.T, bias=True)
    expected = np.linalg.eigvalsh(C)[::-1] / (1 + 0.5 * width**2)
    assert_allclose(model.eigenvalues_, expected, rtol=20 / width**2)


def test_mu_of_no_weight_is_refused():
    # Far groups on a graph: the difference of the groups has no energy at all.
    x = np.concatenate([np.arange(20.0), np.arange(20.0) + 1e3])[:, None]
    with pytest.raises(ValueError, match="mu=1e-30 is 0 to rounding"):
        LaplacianEigenmaps(1, Gaussian(3.0), mu=1e-30, energy="graph").fit(x)
    V = LaplacianEigenmaps(1, Gaussian(3.0), mu=1e-8, energy="graph").fit_transform(x)
    assert_allclose(np.abs(V), 1, atol=1e-3)
    assert_allclose(V[:20], -V[20:], atol=1e-6)
