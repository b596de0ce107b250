"""What is tried on which table."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from halfmoon.candidates import (
    Labeled,
    OwnFeatures,
    lever_candidates,
    menu,
    plain_candidates,
    walk_candidates,
    weighed_candidates,
)
from halfmoon.kernels import Gaussian, Laplace, Linear, ProductLaplace
from halfmoon.unpenalized import Features

TABLE = {"standardized", "normal scores"}
COMPONENTS = {"44 components", "standardized, 44 components"}  # of 45 rows
FAMILIES = [plain_candidates, weighed_candidates, walk_candidates, lever_candidates]


def labeled(X, l=20, t=1, seed=0):
    rng = np.random.default_rng(seed)
    y = np.full((X.shape[0], t), np.nan)
    y[:l] = rng.normal(size=(l, t))
    return Labeled.of(X, y, np.ones(X.shape[0]))


def tried(family, data, own=None):
    return list(family(data, own, np.random.default_rng(0)))


@pytest.fixture
def table(rng):
    return labeled(rng.lognormal(size=(45, 3)))


def test_names_tell_candidates_apart(table):
    names = [c.name for family in FAMILIES for c in tried(family, table)]
    assert len(names) == len(set(names)) > 100


def test_unlabeled_rows_have_a_part_in_walks_and_levers_only(table):
    for family in FAMILIES:
        expected = family in (walk_candidates, lever_candidates)
        assert {c.unlabeled for c in tried(family, table)} == {expected}


def test_plain_candidates_of_a_table(table):
    candidates = tried(plain_candidates, table)
    # Two preparations: the linear kernel; six kernels alone, with the linear one, and
    # with the columns unpenalized.
    assert len(candidates) == 2 * (1 + 3 * 6)
    kinds = {type(part.kernel) for c in candidates for part, _ in c.mix}
    assert kinds == {Linear, Gaussian, ProductLaplace}
    names = {c.name.split(",")[0] for c in candidates}
    assert names == {"standardized", "normal scores"}
    free = [c for c in candidates if c.name.endswith("columns unpenalized")]
    assert len(free) == 12
    for c in free:
        F = c.null_space.features(table.X_l)
        assert_array_equal(F[:, 0], 1.0)
        Z = c.mix[0][0].prepare(table.X_l)
        assert F.shape == (20, 4)
        # The other columns are the prepared ones, moved.
        assert_allclose(np.ptp(F[:, 1:] - Z, axis=0), 0.0, atol=1e-12)


@pytest.mark.parametrize(("l", "free"), [(10, False), (11, True)])
def test_columns_are_unpenalized_only_beside_enough_labels(rng, l, free):
    data = labeled(rng.normal(size=(45, 3)), l)  # 2.5 labels for each of 4 columns
    names = [c.name for c in tried(plain_candidates, data)]
    assert any("unpenalized" in name for name in names) == free


def test_columns_that_depend_on_each_other_stay_penalized(rng):
    X = rng.normal(size=(45, 2))
    data = labeled(np.column_stack([X, X[:, 0]]))
    names = [c.name for c in tried(plain_candidates, data)]
    assert not any("unpenalized" in name for name in names)


@pytest.mark.parametrize("family", FAMILIES)
def test_the_users_features_are_in_every_candidate(table, family):
    own = OwnFeatures(Features([1]).fit(table.X))
    candidates = tried(family, table, own)
    assert len(candidates) > 0
    assert all(candidate.null_space is own for candidate in candidates)
    F = own.features(table.X_l)
    assert any(np.ptp(f - table.X_l[:, 1]) < 1e-12 for f in F.T)


@pytest.mark.parametrize(
    ("d", "plain", "walks"),
    [
        (50, TABLE, TABLE),
        (60, TABLE | {"as they are"}, COMPONENTS),
        (101, {"standardized", "as they are"}, COMPONENTS),
    ],
)
def test_preparations_by_the_number_of_columns(rng, d, plain, walks):
    data = labeled(rng.normal(size=(45, d)))
    names = {c.name.split(",")[0] for c in tried(plain_candidates, data)}
    assert names == plain
    names = {c.name.split(", walk")[0] for c in tried(walk_candidates, data)}
    assert names == walks
    kinds = {
        type(part.kernel) for c in tried(plain_candidates, data) for part, _ in c.mix
    }
    assert (Laplace in kinds) == (d > 100)


def test_text_is_taken_at_unit_length(rng):
    X = sp.csr_array(rng.poisson(0.3, size=(45, 70)).astype(float))
    data = labeled(X)
    names = {c.name.split(",")[0] for c in tried(plain_candidates, data)}
    assert names == {"unit rows", "44 components"}
    assert tried(weighed_candidates, data) == []
    assert {c.name.split(",")[0] for c in tried(walk_candidates, data)} == {
        "44 components"
    }
    part = tried(plain_candidates, data)[0].mix[0][0]
    lengths = np.linalg.norm(part.prepare(X).toarray(), axis=1)
    assert_allclose(lengths, np.ones(45), rtol=1e-12)


@pytest.mark.parametrize(("l", "some"), [(3, False), (4, True), (300, True)])
def test_columns_are_weighed_where_labels_are_few(rng, l, some):
    data = labeled(rng.normal(size=(320, 2)), l)
    first = next(weighed_candidates(data, None, np.random.default_rng(0)), None)
    assert (first is not None) == some
    one_column = labeled(rng.normal(size=(20, 1)))
    assert tried(weighed_candidates, one_column) == []


def test_more_labels_than_that_are_too_many(rng):
    data = labeled(rng.normal(size=(320, 2)), 301)
    assert tried(weighed_candidates, data) == []


def test_walks_go_over_the_labeled_rows_and_some_others(rng, monkeypatch):
    monkeypatch.setattr(menu, "GRAPH_ROWS", 30)
    data = labeled(rng.normal(size=(45, 3)))
    first = tried(walk_candidates, data)[0].mix[0][0]
    rows = first.walk.rows_
    assert rows.shape == (30, 3)
    Z = first.prepare(data.X)
    found = np.array([np.flatnonzero((row == Z).all(axis=1))[0] for row in rows])
    assert set(range(20)) <= set(found)
    assert len(set(found)) == 30


def test_two_rows_have_no_graph(rng):
    data = labeled(rng.normal(size=(2, 2)), 2)
    assert tried(walk_candidates, data) == []
    assert len(tried(plain_candidates, data)) > 0


def test_averages_over_all_pairs_of_rows_have_a_limit(table, monkeypatch):
    names = [c.name for c in tried(lever_candidates, table)]
    for kind, of_each in (("averaged", 1), ("energy mu=0.001", 1), ("energy", 2)):
        assert sum(kind in name for name in names) == of_each * len(TABLE)
    monkeypatch.setattr(menu, "AVERAGED_ROWS", 44)
    names = [c.name for c in tried(lever_candidates, table)]
    assert len(names) == 2 * len(TABLE)
    assert not any("averaged" in name for name in names)
