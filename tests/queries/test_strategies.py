"""What to label next: rank-one updates against refits, and picks that make sense."""

import re
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import make_moons
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import halfmoon.queries
from halfmoon import (
    ConditionalClassifier,
    ConditionalRegressor,
    FredholmClassifier,
    HalfmoonClassifier,
    HalfmoonRegressor,
    LaplacianClassifier,
    LaplacianRegressor,
)
from halfmoon.kernels import Gaussian, Laplace
from halfmoon.problem import Fit, solve_ridge
from halfmoon.queries import (
    informative,
    margin,
    maximin,
    random,
    variance_reduction,
)
from halfmoon.queries._pool import Pool
from halfmoon.queries._pool_posterior import average_posterior, fit_posterior

EVERY = [informative, margin, maximin, random, variance_reduction]
N = 40
CASES = {
    "dual": ConditionalClassifier(kernel=Laplace(1.0), alpha=0.01),
    "dual, linear features": ConditionalClassifier(unpenalized="linear", alpha=0.01),
    "nothing free": ConditionalClassifier(unpenalized=None, alpha=0.1),
    "smoothed, in the dual": FredholmClassifier(alpha=1e-3),
    "energy": LaplacianClassifier(alpha=0.01, n_components=15, random_state=0),
    "graph, no norm": LaplacianClassifier(
        Laplace(1.0),
        energy="graph",
        alpha=0.01,
        mu=0.0,
        unpenalized=None,
    ),
    "landmarks": ConditionalClassifier(n_components=12, alpha=0.01, random_state=0),
    "more labels than landmarks": ConditionalClassifier(
        n_components=3, alpha=0.01, random_state=0
    ),
}


@pytest.fixture(params=CASES)
def model(request, rng):
    """A classifier of two or three classes, fitted to 6 labels of N rows."""
    X = rng.normal(size=(N, 2))
    classes = 2 + len(request.param) % 2
    y = np.full(N, np.nan)
    y[:6] = np.arange(6) % classes
    estimator = CASES[request.param].fit(X, y)
    return estimator, X


def refit(estimator, rows, targets):
    """A fit with more labels at the same lam, from nothing but its pieces."""
    fit = estimator.solution_
    posed, lam = fit.posed, fit.path.lam(fit.alpha)
    more = posed.with_labels(
        np.append(posed.labeled, rows).astype(int),
        np.vstack([posed.y, *targets]),
        np.ones(len(posed.labeled) + len(rows)),
    )
    return solve_ridge(more, lam / more.total_weight), lam


def variances(fit, X, lam):
    """v in units of the prior, without what landmarks leave out of it."""
    posed = fit.posed
    missing = 0.0
    if not posed.dual:
        share = 1.0 if posed.energy is None else posed.mu
        missing = posed.basis.missing_variance(X) / share if share else 0.0
    return fit.std(X, noise=lam).reshape(len(X), -1)[:, 0] ** 2 - missing


def classes_of(fit):
    t = fit.theta.shape[1]
    return np.array([[-1.0], [1.0]]) if t == 1 else np.eye(t)


def test_updates_equal_refits(model):
    estimator, X = model
    posterior = Pool.of(estimator, X, 1).posterior()
    posterior.weights = weights = np.linspace(0.5, 2.0, N)
    posterior.squared_columns()
    targets = classes_of(estimator.solution_)
    rows, labels = [], []
    for u, t in ((11, 0), (30, 1), (7, 0)):
        fit, lam = refit(estimator, rows, labels)
        assert posterior.noise == pytest.approx(lam, rel=1e-12)
        v = variances(fit, X, lam)
        assert_allclose(posterior.values, fit.predict(X).reshape(N, -1), atol=1e-8)
        assert_allclose(posterior.variance, v, atol=1e-8 * v.max())
        for other in (9, 20, 39):  # what a label there takes off all variances
            after, _ = refit(estimator, [*rows, other], [*labels, targets[0]])
            lost = weights @ (v - variances(after, X, lam))
            total = posterior.variance[other] + posterior.noise
            found = posterior.squared_columns()[other] / total
            assert found == pytest.approx(lost, rel=1e-7, abs=1e-8 * v.max())
        posterior.condition(u, targets[t])
        rows.append(u)
        labels.append(targets[t])


def test_variance_reduction_picks_as_refits_do(model):
    estimator, X = model
    rows, labels, t = [], [], classes_of(estimator.solution_)[0]
    for _ in range(3):
        totals = np.full(N, np.inf)
        for u in set(range(6, N)) - set(rows):
            fit, lam = refit(estimator, [*rows, u], [*labels, t])
            totals[u] = variances(fit, X, lam).sum()
        rows.append(int(totals.argmin()))
        labels.append(t)
    assert_array_equal(variance_reduction(estimator, X, 3), rows)


def test_informative_picks_as_refits_do(model):
    estimator, X = model
    rows, labels, t = [], [], classes_of(estimator.solution_)[0]
    p = np.sort(estimator.predict_proba(X), axis=1)
    doubt = 1 - (p[:, -1] - p[:, -2])
    for _ in range(4):
        before, lam = refit(estimator, rows, labels)
        v, saved = variances(before, X, lam), np.full(N, -np.inf)
        for u in set(range(6, N)) - set(rows):
            fit, lam = refit(estimator, [*rows, u], [*labels, t])
            lost = doubt * (v - variances(fit, X, lam))
            saved[u] = doubt[u] * (lost.sum() - lost[u])
        rows.append(int(saved.argmax()))
        labels.append(t)
    assert_array_equal(informative(estimator, X, 4), rows)


@pytest.mark.parametrize(
    ("strategy", "own"), [(variance_reduction, True), (informative, False)]
)
@pytest.mark.parametrize("lever", [ConditionalRegressor, LaplacianRegressor])
def test_numbers_are_picked_as_refits_do(strategy, own, lever, rng):
    """By the variance of all rows, or of all but the row itself."""
    X = rng.standard_t(2, size=(N, 2))  # has outlying rows
    y = np.where(np.arange(N) < 6, X[:, 0], np.nan)
    estimator = lever(alpha=0.01, random_state=0).fit(X, y)
    rows = []
    for _ in range(4):
        before, lam = refit(estimator, rows, [[0.0]] * len(rows))
        v, saved = variances(before, X, lam), np.full(N, -np.inf)
        for u in set(range(6, N)) - set(rows):
            fit, _ = refit(estimator, [*rows, u], [[0.0]] * (len(rows) + 1))
            lost = v - variances(fit, X, lam)
            saved[u] = lost.sum() - (0.0 if own else lost[u])
        rows.append(int(saved.argmax()))
    assert_array_equal(strategy(estimator, X, 4), rows)
    assert len(set(strategy(estimator, X, 34))) == 34  # all that are left


def test_maximin_picks_as_refits_do(model):
    estimator, X = model
    targets, rows, labels = classes_of(estimator.solution_), [], []

    def objective(fit, lam):
        """W J of (1) at its minimum, the penalty by Q itself."""
        y = fit.posed.y
        lost = ((y - fit.predict(fit.posed.X_l).reshape(y.shape)) ** 2).sum()
        Q = fit.posed.penalty
        return lost + lam * np.einsum("pt,pq,qt->", fit.theta, Q, fit.theta)

    for _ in range(3):
        before, lam = refit(estimator, rows, labels)
        scores, least = np.full(N, -np.inf), {}
        for u in set(range(6, N)) - set(rows):
            changes = []
            for t in targets:
                fit, _ = refit(estimator, [*rows, u], [*labels, t])
                changes.append(objective(fit, lam) - objective(before, lam))
            scores[u], least[u] = min(changes), targets[int(np.argmin(changes))]
        rows.append(int(scores.argmax()))
        labels.append(least[rows[-1]])
    assert_array_equal(maximin(estimator, X, 3), rows)


def test_margin_by_the_formula(rng):
    X, y = rng.normal(size=(N, 2)), np.full(N, np.nan)
    y[:6] = [0, 1, 2, 0, 1, 2]
    estimator = ConditionalClassifier(alpha=0.01).fit(X, y)
    fit = estimator.solution_
    p = np.sort(estimator.predict_proba(X), axis=1)
    doubt = 1 - (p[:, -1] - p[:, -2])
    doubt[:6] = -1
    K = fit.posed.basis.gram(np.arange(N))(X)
    lam, F = fit.path.lam(fit.alpha), np.ones((N, 1))
    system = np.block(
        [[K[:6, :6] + lam * np.eye(6), F[:6]], [F[:6].T, np.zeros((1, 1))]]
    )
    b = np.hstack([K[:, :6], F])
    C = K - b @ np.linalg.solve(system, b.T)
    r2 = C**2 / np.outer(np.diag(C), np.diag(C))
    expected = [int(doubt.argmax())]
    for _ in range(5):
        expected.append(int((doubt * (1 - r2[:, expected].max(axis=1))).argmax()))
    assert_array_equal(margin(estimator, X, 6), expected)
    one = margin(estimator, X, 1)
    assert one == np.argmax(doubt)


def test_another_pool_is_as_the_rows_of_the_table(model):
    estimator, X = model
    some = np.arange(6, N)
    values = Pool.of(estimator, X, 1).posterior()
    others = Pool.of(estimator, X[some], 1).posterior()
    assert_allclose(others.values, values.values[some], atol=1e-10)
    v = values.variance
    assert_allclose(others.variance, v[some], atol=1e-7 * v.max())
    assert_allclose(others.column(3), values.column(9)[some], atol=1e-7 * v.max())


@pytest.mark.parametrize("strategy", EVERY)
@pytest.mark.parametrize(
    "estimator",
    [
        LaplacianClassifier(random_state=0),
        LaplacianClassifier(filter="cutoff", alpha=0.1, random_state=0),
        ConditionalClassifier(loss="hinge", alpha=0.1),
        LaplacianRegressor(random_state=0),
        HalfmoonClassifier(budget=0.05, random_state=0),
        HalfmoonRegressor(budget=0.05, random_state=0),
        make_pipeline(StandardScaler(), ConditionalRegressor()),
    ],
)
def test_every_estimator(strategy, estimator):
    X, y = make_moons(60, noise=0.05, random_state=0)
    known = np.where(np.arange(60) % 6 == 0, y, np.nan)
    estimator.fit(X, known)
    picks = strategy(estimator, X, 12, random_state=0)
    assert len(set(picks.tolist())) == 12
    assert not (picks % 6 == 0).any()
    assert_array_equal(picks[:3], strategy(estimator, X, 12, random_state=0)[:3])


@pytest.mark.parametrize("strategy", [informative, margin, maximin, variance_reduction])
def test_near_copies_are_not_picked_twice(strategy, rng):
    places = rng.normal(size=(6, 2)) * 3
    X = np.repeat(places, 10, axis=0) + 1e-4 * rng.normal(size=(60, 2))
    y = np.full(60, np.nan)
    y[:2] = 0.0, 1.0
    X[:2] = [[-9.0, 9.0], [9.0, -9.0]]
    estimators = [
        ConditionalClassifier(alpha=10.0),  # so much noise that a copy would tell more
        ConditionalClassifier(loss="hinge", alpha=0.1),  # has a surrogate
    ]
    for estimator in estimators:
        picks = strategy(estimator.fit(X, y), X, 6)
        assert sorted(picks // 10) == [0, 1, 2, 3, 4, 5]
        assert len(set(strategy(estimator, X, 58).tolist())) == 58


def test_first_picks_on_two_moons():
    """Ten picks settle what two labels do not, from the tips of the moons inwards."""
    X, y = make_moons(300, noise=0.06, random_state=0)
    known = np.full(300, np.nan)
    start = [int(np.argmin(X[:, 0])), int(np.argmax(X[:, 0]))]
    known[start] = y[start]
    wide = {"kernel": Gaussian(), "unpenalized": "constant"}
    model = LaplacianClassifier(alpha=1e-3, random_state=0, **wide).fit(X, known)
    before = (model.predict(X) == y).mean()
    for strategy in (margin, variance_reduction):
        picks = strategy(model, X, 10)
        more = known.copy()
        more[picks] = y[picks]
        after = clone(model).fit(X, more)
        assert set(y[picks]) == {0, 1}
        assert (after.predict(X) == y).mean() > 0.97 > before
    narrow = clone(model).set_params(kernel=Gaussian(0.3))
    first = maximin(narrow.fit(X, known), X, 1)  # where the classes meet
    assert abs(narrow.decision_function(X[first])[0]) < 0.2


def test_numbers_take_variance_reduction_for_maximin(rng):
    X = rng.normal(size=(30, 1))
    y = np.where(np.arange(30) < 5, X[:, 0], np.nan)
    model = ConditionalRegressor(alpha=0.01).fit(X, y)
    assert_array_equal(maximin(model, X, 4), variance_reduction(model, X, 4))
    assert margin(model, X, 1) == 5 + np.argmax(
        model.predict(X[5:], return_std=True)[1]
    )


def test_rows_of_weight_zero_are_free(rng):
    X, y = rng.normal(size=(12, 1)), np.full(12, np.nan)
    y[[0, 3, 5, 7]] = 0, 1, 0, 1
    w = np.ones(12)
    w[[0, 4]] = 0
    model = ConditionalClassifier(alpha=0.1).fit(X, y, sample_weight=w)
    picks = random(model, X, 9, random_state=0)
    assert sorted(picks) == [0, 1, 2, 4, 6, 8, 9, 10, 11]
    assert sorted(variance_reduction(model, X, 9)) == sorted(picks)


def test_rows_that_are_labeled_can_be_named(rng):
    X, y = rng.normal(size=(10, 1)), np.full(10, np.nan)
    y[:4] = 0, 1, 0, 1
    model = ConditionalClassifier().fit(X, y)
    assert set(margin(model, X, 5, labeled=[0, 1, 2, 3, 9])) == {4, 5, 6, 7, 8}
    mask = np.arange(10) < 8
    assert set(random(model, X, 2, labeled=mask)) == {8, 9}
    assert sorted(random(model, X[4:], 6)) == [0, 1, 2, 3, 4, 5]  # a pool
    for wrong in (np.ones(3, bool), [0.5], [[1]], [10], [-11]):
        with pytest.raises(ValueError, match="labeled has"):
            random(model, X, 1, labeled=wrong)


def test_a_large_pool_is_thinned(rng):
    X, y = rng.normal(size=(400, 1)), np.full(400, np.nan)
    y[:4] = 0, 1, 0, 1
    for model in (
        ConditionalClassifier(memory_limit="200kB"),
        LaplacianClassifier(n_components=20, memory_limit="200kB"),
    ):
        pool = Pool.of(model.fit(X, y), X, 7, random_state=0)
        assert 7 <= len(pool.places) < 200
        assert_array_equal(pool.X, X[pool.places])
        picks = maximin(model, X, 7, random_state=0)
        assert (picks >= 4).all()
        assert len(set(picks.tolist())) == 7
        assert len(random(model, X, 396, random_state=0)) == 396


def test_estimators_of_other_libraries(rng):
    X = rng.normal(size=(50, 3))
    y = (X[:, 0] > 0).astype(int)
    model = LogisticRegression().fit(X[:10], y[:10])
    picks = margin(model, X, 5, labeled=np.arange(10))
    p = model.predict_proba(X[10:])
    assert picks[0] == 10 + np.abs(p[:, 0] - p[:, 1]).argmin()
    assert len(maximin(model, X, 5)) == len(variance_reduction(model, X, 5)) == 5


def test_a_kernel_matrix(rng):
    X, y = rng.normal(size=(20, 2)), np.full(20, np.nan)
    y[:6] = 0, 1, 0, 1, 0, 1
    kernel = Laplace(1.0)
    given = ConditionalClassifier(kernel="precomputed", alpha=0.1).fit(kernel(X), y)
    by_rows = ConditionalClassifier(kernel=kernel, alpha=0.1).fit(X, y)
    for strategy in (maximin, variance_reduction, margin):
        assert_array_equal(strategy(given, kernel(X), 4), strategy(by_rows, X, 4))


@pytest.mark.parametrize("strategy", EVERY)
def test_bad_input(strategy, rng):
    X, y = rng.normal(size=(10, 1)), np.full(10, np.nan)
    y[:4] = 0, 1, 0, 1
    with pytest.raises(NotFittedError):
        strategy(ConditionalClassifier(), X)
    model = ConditionalClassifier().fit(X, y)
    with pytest.raises(ValueError, match="n is 7, but only 6 of the 10 rows"):
        strategy(model, X, 7)
    for wrong in (0, -1, 2.5, True, "3"):
        with pytest.raises(ValueError, match="1 or more, is needed"):
            strategy(model, X, wrong)
    full = ConditionalClassifier().fit(X, np.arange(10) % 2)
    with pytest.raises(ValueError, match="All 10 rows of X are labeled already"):
        strategy(full, X, 1)
    assert len(strategy(full, X[:5], 5)) == 5  # a pool of its own
    alone = ConditionalClassifier().fit(X, np.where(np.arange(10) < 2, y, np.nan))
    assert len(set(strategy(alone, X, 8).tolist())) == 8  # one label a class
    equal = ConditionalClassifier(kernel=Laplace(1.0)).fit(np.ones((10, 1)), y)
    assert len(strategy(equal, np.ones((10, 1)), 3)) == 3


def test_public_names():
    for name in halfmoon.queries.__all__:
        assert callable(getattr(halfmoon.queries, name))


def one_member(X, y):
    """An average whose only member is kernel ridge with a constant."""
    model = HalfmoonRegressor(random_state=0, budget=20).fit(X, y)
    members = [
        m
        for m in model.solution_.members
        if isinstance(m.fit, Fit) and not m.target.suffix
    ]
    member = max(members, key=lambda m: m.weight)
    return replace(model.solution_, members=[replace(member, weight=1.0)])


def test_the_posterior_of_an_average_is_that_of_its_only_member(rng):
    X = rng.normal(size=(60, 3))
    y = np.where(np.arange(60) < 25, np.sin(X[:, 0]) + 0.1 * X[:, 1], np.nan)
    average = one_member(X, y)
    found = average_posterior(average, X)  # every row is a landmark
    fit = average.members[0].fit
    s2, tau = fit.path.scales(fit.alpha)
    exact = fit_posterior(fit, X)
    assert_allclose(found.values, exact.values, rtol=1e-8)
    expected = tau[0] * np.array([exact.column(u) for u in range(60)])
    actual = np.array([found.column(u) for u in range(60)])
    assert_allclose(actual, expected, atol=1e-7 * np.abs(expected).max())
    assert found.noise == pytest.approx(s2[0])


def test_members_that_differ_add_to_the_variance(rng):
    X = rng.normal(size=(60, 3))
    y = np.where(np.arange(60) < 25, np.sin(X[:, 0]) + 0.1 * X[:, 1], np.nan)
    average = one_member(X, y)
    (member,) = average.members
    other = replace(member.fit, theta=2.0 * member.fit.theta)
    both = [replace(member, weight=0.5), replace(member, fit=other, weight=0.5)]
    found = average_posterior(replace(average, members=both), X)
    alone = average_posterior(average, X)
    # Both are solved again at landmarks, so both give the same values there; they
    # differ from the average, which has those of `other`.
    values = member.fit.predict(X).reshape(60, -1)
    spread = (values - found.values)[:, 0]
    assert_allclose(found.variance, alone.variance + spread**2, rtol=1e-6)


def test_averages_without_a_covariance_have_a_surrogate(rng):
    X = rng.normal(size=(40, 2))
    y = np.where(np.arange(40) < 15, np.exp(X[:, 0]), np.nan)
    model = HalfmoonRegressor(random_state=0, budget=20).fit(X, y)
    logs = [m for m in model.solution_.members if m.target.suffix]
    only = replace(model.solution_, members=logs)
    assert average_posterior(only, X) is None
    model.solution_ = only
    assert len(set(variance_reduction(model, X, 5))) == 5


@pytest.mark.parametrize("strategy", [informative, margin, maximin, variance_reduction])
def test_a_constant_function_has_rows_that_differ(strategy, rng):
    """With one label a class, a search may end with a constant, equal at all rows."""
    X, y = rng.normal(size=(30, 2)), np.full(30, np.nan)
    y[:2] = 0, 1
    model = HalfmoonClassifier(random_state=0, budget=0.05).fit(X, y)
    zero = [
        replace(
            member, fit=solve_ridge(member.fit.posed.with_gram(np.zeros((2, 2))), 1.0)
        )
        for member in model.solution_.members[:1]
    ]
    model.solution_ = replace(model.solution_, members=zero)
    picks = strategy(model, X, 8)
    assert picks.tolist() != list(range(2, 10))


def test_docstrings_have_their_sections_in_order():
    for strategy in (informative, margin, maximin, random, variance_reduction):
        titles = re.findall(r"^(\w+)\n-+$", strategy.__doc__, flags=re.MULTILINE)
        assert titles[:2] == ["Parameters", "Returns"]
        assert titles[2:] in ([], ["Examples"])
