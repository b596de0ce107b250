"""All families on tables of many kinds: kernels that are kernels, finite answers."""

from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose
from scipy.spatial.distance import pdist

from halfmoon._selection.candidate import fit_at_all_alphas
from halfmoon._selection.criteria import ClassCriterion, NumberCriterion
from halfmoon._selection.families import candidates
from halfmoon._selection.refit import average_of_entries
from halfmoon._selection.row_preparation import Standardized
from halfmoon._selection.search import SearchOutcome
from halfmoon._selection.semi_supervised_families import walk_preparations
from halfmoon._selection.supervised_families import (
    additive_candidates,
    plain_preparations,
)
from halfmoon.unpenalized import Constant, Features
from selection.search_tables import bench_of

ALONE = {"additive", "constant", "plain", "relevance"}


def circles(rng):
    radius, angle = np.repeat([1.0, 2.0], 40), rng.uniform(0, 2 * np.pi, 80)
    X = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
    return rng.permutation(X + 0.05 * rng.normal(size=X.shape))


def text(rng):
    words = rng.poisson(0.15, size=(60, 200)).astype(float)
    words[:, 0] += 1.0  # no row is empty
    return sp.csr_array(words)


def with_constant_columns(rng):
    X = rng.normal(size=(50, 4))
    X[:, 1], X[:, 3] = 3.0, 0.0
    return X


TABLES = {
    "circles": circles,
    "13 columns": lambda rng: rng.lognormal(size=(60, 13)),
    "text": text,
    "241 columns": lambda rng: rng.normal(size=(60, 241)),
    "6 rows": lambda rng: rng.normal(size=(6, 3)),
    "constant columns": with_constant_columns,
    "duplicated rows": lambda rng: np.repeat(rng.normal(size=(12, 3)), 5, axis=0),
}


def tried(X, l, *, classes, auto=True, own=None, rng=0):
    """A workbench with l labels, its criterion and all candidates."""
    draw = np.random.default_rng(rng)
    if classes:
        y = np.where(np.arange(l) % 2, 1.0, -1.0)[:, None]
        shared = bench_of(X, y)
        m = X.shape[0]
        near = np.array([np.delete(np.arange(m), i)[: min(5, m - 1)] for i in range(m)])
        criterion = ClassCriterion((y[:, 0] > 0).astype(int), 2, near)
    else:
        shared = bench_of(X, draw.normal(size=(l, 1)))
        criterion = NumberCriterion()
    found = candidates(shared, criterion, own, auto=auto, classes=classes)
    return shared, criterion, found


# With classes or numbers, whichever is quick; the others take some seconds together.
ONLY_CLASSES = ("241 columns", "constant columns")
ONLY_NUMBERS = ("13 columns", "duplicated rows")


@pytest.mark.parametrize(
    ("name", "classes"),
    [
        pytest.param(name, classes, marks=[pytest.mark.slow] * (name in others))
        for classes, others in ((True, ONLY_NUMBERS), (False, ONLY_CLASSES))
        for name in TABLES
    ],
)
def test_every_candidate_is_a_kernel_with_finite_answers(rng, name, classes):
    X = TABLES[name](rng)
    shared, criterion, found = tried(X, min(12, X.shape[0] - 2), classes=classes)
    l, names, families, entries = shared.n_labeled, set(), set(), []
    for candidate in found:
        assert candidate.name not in names
        names.add(candidate.name)
        families.add(candidate.family)
        assert candidate.uses_unlabeled == (candidate.family not in ALONE)
        K = shared.gram(candidate.kernel)
        assert np.isfinite(K).all()
        # Of the kernel itself, not only of what is kept of it.
        rows = shared.points[: l + 2]
        whole = candidate.kernel(rows)
        assert_allclose(K[: l + 2], whole[:, :l], rtol=1e-6, atol=1e-7)
        eigenvalues = np.linalg.eigvalsh((whole + whole.T) / 2)
        assert eigenvalues[0] > -1e-8 * max(1.0, eigenvalues[-1])
        own = fit_at_all_alphas(candidate, shared, criterion)
        for entry in own:
            F = shared.features(candidate.unpenalized)
            assert np.isfinite(K @ entry.theta + F @ entry.beta).all()
            assert np.isfinite(entry.losses).all()
            assert np.isfinite(entry.held_out).all()
            assert np.isfinite(entry.prior).all()
        entries += own
    assert families >= {"plain", "constant", "walk", "long walk", "fredholm", "energy"}
    table = not sp.issparse(X) and X.shape[1] <= 100
    assert ("relevance" in families) == (table and l >= 4)
    outcome = SearchOutcome.of(entries, shared, criterion, safe=True)
    limits = criterion.limits(shared.data.y)
    for weights in outcome.weights.values():
        average = average_of_entries(entries, weights, shared.data, limits)
        assert np.isfinite(average.predict(X)).all()


@pytest.mark.parametrize("name", ["circles", "text", "6 rows"])
def test_kernels_have_a_mean_diagonal_of_one(rng, name):
    shared, _, found = tried(TABLES[name](rng), 4, classes=True)
    for candidate in found:
        mean = np.diagonal(shared.gram(candidate.kernel)).mean()
        if candidate.family == "constant":
            assert mean == 0.0
        elif candidate.family in (
            "plain",
            "relevance",
            "fredholm",
            "energy",
        ):
            assert mean == pytest.approx(1.0, rel=1e-9)
        else:  # walks with a share of a Gaussian, and less what is common to all rows
            assert mean > 1.0 - 1e-9


@pytest.mark.parametrize("classes", [True, False])
def test_the_users_features_are_in_every_candidate(rng, classes):
    X = rng.normal(size=(40, 3))
    own = Features([1]).fit(X)
    _, _, found = tried(X, 14, classes=classes, auto=False, own=own)
    found = list(found)
    assert {candidate.unpenalized for candidate in found} == {own}
    assert "constant" not in {candidate.family for candidate in found}


def test_only_classes_are_tried_without_a_constant(rng):
    X = rng.normal(size=(40, 3))
    for classes in (True, False):
        _, _, found = tried(X, 14, classes=classes)
        without = {c.family for c in found if c.unpenalized is None}
        assert without == ({"walk", "long walk", "energy"} if classes else set())


def test_families_come_in_the_order_of_their_gain(rng):
    _, _, found = tried(rng.normal(size=(40, 3)), 14, classes=True)
    families = [candidate.family for candidate in found]
    runs = families[:1] + [b for a, b in pairwise(families) if a != b]
    assert runs[0] == "plain"  # what a budget for one candidate is spent on
    assert len(runs) == len(set(families))


@pytest.mark.parametrize(
    ("l", "some"), [(3, False), (4, True), (300, True), (301, False)]
)
def test_columns_are_weighed_where_labels_are_few(rng, l, some):
    _, _, found = tried(rng.normal(size=(320, 2)), l, classes=False)
    families = set()
    for candidate in found:
        families.add(candidate.family)
        if candidate.family in ("relevance", "walk"):
            break
    assert ("relevance" in families) == some


def test_one_column_is_not_weighed(rng):
    _, _, found = tried(rng.normal(size=(30, 1)), 10, classes=False)
    assert "relevance" not in {candidate.family for candidate in found}


def test_two_rows_have_no_graph(rng):
    _, _, found = tried(rng.normal(size=(2, 2)), 2, classes=True)
    families = {candidate.family for candidate in found}
    assert families == {"plain", "constant", "additive"}


def test_the_constant_is_a_mean(rng):
    shared, criterion, found = tried(rng.normal(size=(30, 2)), 10, classes=False)
    (candidate,) = [each for each in found if each.family == "constant"]
    assert isinstance(candidate.unpenalized, Constant)
    y = shared.data.y
    for entry in fit_at_all_alphas(candidate, shared, criterion):
        assert_allclose(entry.beta, [[y.mean()]], rtol=1e-12)
        assert_allclose(entry.held_out, (y.sum() - y) / 9, rtol=1e-10)


def test_the_additive_kernel_is_a_sum_over_columns(rng):
    X = rng.normal(size=(40, 3))
    shared = bench_of(X, rng.normal(size=(20, 1)))
    prepare = next(plain_preparations(X, shared.rng))
    alone, *sums = additive_candidates(shared, None, prepare)
    assert [each.name for each in sums] == [
        f"standardized, additive + {kernel} {width}"
        for kernel in ("gaussian", "laplace")
        for width in (1, 2)
    ]
    Z = prepare(X)
    # Its slope in the sum of |x_c - z_c|, and the same of the scaled kernel.
    D = np.abs(Z[:, None] - Z).sum(axis=2)
    K = alone.kernel(X)
    slope = (K[0, 0] - K)[D > 0] / D[D > 0]
    # Terms of second order are D / (2 e), and e is 16 median distances.
    assert slope.max() / slope.min() < 1 + D.max() / (16 * np.median(D[D > 0]))
    # The variance of the part that is not constant is 1 over the labeled rows.
    K_l = K[:20, :20]
    assert_allclose(np.diagonal(K_l).mean() - K_l.mean(), 1.0)


def test_components_are_no_more_than_the_columns_that_vary(rng):
    X = np.zeros((80, 60))
    X[:, :20] = rng.normal(size=(80, 20)) * np.arange(1, 21)
    raw, standardized = walk_preparations(X, rng)
    assert raw.name == "20 components"
    assert standardized.name == "standardized, 20 components"
    centered = X - X.mean(axis=0)
    assert_allclose(pdist(raw(X)), pdist(centered), rtol=1e-9)
    assert_allclose(pdist(standardized(X)), pdist(Standardized().fit_transform(X)))
