"""Parts of a kernel against the kernels, walks and problems that they stand for."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from halfmoon.bases import Exact, Nystrom, Smoothed
from halfmoon.candidates import Candidate, Labeled
from halfmoon.candidates import parts as module
from halfmoon.candidates.parts import functions_of
from halfmoon.kernels import Gaussian, Linear, ProductLaplace
from halfmoon.problem import Problem
from halfmoon.smoothers import KernelWeights, Neighbors
from helpers import squared_distances
from reference import gaussian

NAMES = ["gaussian", "laplace", "linear", "walk", "averaged", "energy"]
KERNELS = {
    "gaussian": Gaussian(1.2),
    "laplace": ProductLaplace(2.0),
    "linear": Linear(),
}


def dense_walk(Z, restart=0.1, repeats=2, k=5):
    """D of MATH, section 4, from all pairs of rows and an inverse."""
    n, d = len(Z), np.sqrt(squared_distances(Z, Z))
    np.fill_diagonal(d, np.inf)
    near = np.argsort(d, axis=1)[:, :k]
    s = d[np.arange(n), near[:, -1]]
    W = np.zeros((n, n))
    for i in range(n):
        W[i, near[i]] = np.exp(-(d[i, near[i]] ** 2) / (s[i] * s[near[i]]))
    W = np.maximum(W, W.T)
    S = W / np.sqrt(np.outer(W.sum(axis=1), W.sum(axis=1)))
    resolvent = restart * np.linalg.inv(np.eye(n) - (1 - restart) * S)
    return np.linalg.matrix_power(resolvent, repeats)


@pytest.fixture(params=NAMES)
def part(request, parts):
    return parts[request.param]


def test_only_kernels_do_without_unlabeled_rows(part):
    assert part.unlabeled == (part.name not in KERNELS)


def test_the_mean_diagonal_is_one_and_the_gram_a_kernel_matrix(part, data):
    assert_allclose(np.diagonal(part.gram).mean(), 1.0, rtol=1e-12)
    assert_allclose(part.gram, part.gram.T, rtol=0, atol=1e-12)
    assert np.linalg.eigvalsh(part.gram)[0] > -1e-12
    # The functions and the diagonal are of the same kernel, on the same scale.
    identity = np.eye(18)
    assert_allclose(part.function(identity)(data.X_l), part.gram, atol=1e-8)
    if part.name != "energy":  # whose landmarks leave something out
        diagonal = np.diagonal(part.gram)
        assert_allclose(part.diagonal(data.X_l), diagonal, atol=1e-8)


@pytest.mark.parametrize("name", KERNELS)
def test_a_kernel_on_prepared_rows(parts, name, data, prepare, new, rng):
    part, kernel = parts[name], KERNELS[name]
    Z, Z_l = prepare(new), prepare(data.X_l)
    scale = 1 / np.diag(kernel(Z_l)).mean()
    C = rng.normal(size=(18, 2))
    assert_allclose(part.gram, scale * kernel(Z_l), rtol=1e-12)
    assert_allclose(part.function(C)(new), scale * kernel(Z, Z_l) @ C, rtol=1e-12)
    assert_allclose(part.diagonal(new), scale * np.diag(kernel(Z)), rtol=1e-12)


def test_a_walk_is_the_dense_resolvent_between_neighborhoods(
    parts, X, data, prepare, new, rng
):
    part, C = parts["walk"], rng.normal(size=(18, 2))
    Z = prepare(X)
    A = Neighbors(5).fit(Z).weights(np.vstack([prepare(data.X_l), prepare(new)]))
    K = A.toarray() @ dense_walk(Z) @ A.toarray().T
    K /= np.diagonal(K[:18, :18]).mean()
    assert_allclose(part.gram, K[:18, :18], rtol=0, atol=1e-7)
    assert_allclose(part.function(C)(new), K[18:, :18] @ C, rtol=0, atol=1e-6)
    assert_allclose(part.diagonal(new), np.diagonal(K)[18:], rtol=0, atol=1e-6)


def test_the_diagonal_of_a_walk_does_not_depend_on_how_many_rows(parts, X, monkeypatch):
    part = parts["walk"]
    part.gram  # noqa: B018 - which sets the scale
    expected = part.diagonal(X)
    for rows in (1, 7, 40):  # single, ragged, exact
        monkeypatch.setattr(module, "SPREAD_ROWS", rows)
        assert_allclose(part.diagonal(X), expected, rtol=0, atol=1e-12)


def test_an_average_is_the_fredholm_kernel(parts, X, data, prepare, new, rng):
    Z, part = prepare(X), parts["averaged"]
    rows = np.vstack([prepare(data.X_l), prepare(new)])
    A = gaussian(rows, Z, 0.6)
    A /= A.sum(axis=1, keepdims=True)
    K = A @ gaussian(Z, Z, 1.5) @ A.T  # (5) of MATH, section 4
    K /= np.diagonal(K[:18, :18]).mean()
    C = rng.normal(size=(18, 2))
    assert_allclose(part.gram, K[:18, :18], rtol=1e-9)
    assert_allclose(part.function(C)(new), K[18:, :18] @ C, atol=1e-9)
    assert_allclose(part.diagonal(new), np.diagonal(K)[18:], rtol=1e-9)


@pytest.mark.parametrize("alpha", [1e-4, 1e-2, 1.0])
@pytest.mark.parametrize("name", ["averaged", "energy"])
def test_ridge_with_the_kernel_of_a_problem_is_its_fit(
    parts, name, alpha, X, data, prepare, new, constant
):
    problem = {
        "averaged": Problem(
            Smoothed(Exact(Gaussian(1.5)), KernelWeights(Gaussian(0.6)))
        ),
        "energy": Problem(Nystrom(Gaussian(1.5), 12), "gradient", 0.1),
    }[name]
    part = parts[name]
    candidate = Candidate(name, ((part, 1.0),), constant, data)
    C, beta = candidate.dual_coef(alpha), candidate.coef(alpha)
    values = part.function(C)(new) + beta
    fit = problem.fit(
        prepare(X),
        data.on_table,
        alpha=alpha / part.scale,  # beside the kernel before it was scaled
        sample_weight=data.weight_on_table,
        rng=0,
    )
    assert_allclose(values, fit.predict(prepare(new)), rtol=1e-6, atol=1e-8)
    std = np.sqrt(candidate.variance(alpha)(new))
    assert_allclose(std, fit.std(prepare(new)), rtol=1e-5)


def test_the_same_part_for_other_labels(part, data, X, new, rng):
    chosen = np.array([0, 3, 5, 22, 39, 11, 30])
    other = Labeled(X, chosen, rng.normal(size=(7, 2)), np.ones(7))
    moved = part.on(other)
    assert type(moved) is type(part)
    assert moved.name == part.name
    part.gram, moved.gram  # noqa: B018 - which set the scales
    C = np.zeros((18, 7))  # sections at labeled rows that both have
    both = np.array([1, 2, 5])  # of the others: rows 3, 5, 11
    C[[0, 2, 8], both] = 1.0
    ratio = part.scale / moved.scale
    expected = part.function(C)(np.vstack([X[chosen], new]))[:, both]
    actual = np.vstack([moved.gram, moved.function(np.eye(7))(new)])[:, both]
    assert_allclose(ratio * actual, expected, rtol=1e-7, atol=1e-8)
    assert len(part.gram) == 18  # as it was


def test_walks_on_one_graph_take_their_step_together(parts, data, prepare, new, rng):
    first = parts["walk"]
    walk = first.walk.variant(restart=0.3)
    other = module.WalkPart(
        "other", prepare, walk, first.Z_l, module.diffused_grams([walk], first.Z_l)[0]
    )
    own = module.WalkPart(
        "fewer", prepare, first.walk.variant(n_neighbors=3), first.Z_l, np.eye(18)
    )
    by_part = {
        part: rng.normal(size=(18, 2)) for part in (first, parts["linear"], other, own)
    }
    for part in by_part:
        part.gram  # noqa: B018 - which sets the scale
    functions = functions_of(by_part)
    assert len(functions) == 3
    expected = sum(part.function(C)(new) for part, C in by_part.items())
    actual = sum(function(new) for function in functions)
    assert_allclose(actual, expected, rtol=1e-9, atol=1e-10)


def test_a_gram_is_computed_once_and_not_changed(parts):
    part = parts["walk"]
    values = part.values.copy()
    assert part.gram is part.gram
    assert_array_equal(part.values, values)
