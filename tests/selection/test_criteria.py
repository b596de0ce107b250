"""Losses compared with scikit-learn's, and the charges of classes by hand."""

from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import softmax
from scipy.stats import multinomial
from sklearn.metrics import log_loss, mean_squared_error

from halfmoon._estimators import HalfmoonClassifier, halfmoon
from halfmoon._selection import criteria, families
from halfmoon._selection.criteria import (
    TEMPERATURES,
    ClassCriterion,
    NumberCriterion,
    class_scores,
    cluster_share,
    explained_share,
    log_losses,
    mean_and_standard_error,
    share_costs,
    squared_losses,
)
from halfmoon._selection.target_transforms import IDENTITY
from selection.search_tables import bench_of


def no_neighbors(m):
    return np.zeros((m, 0), dtype=np.intp)


@pytest.mark.parametrize("n_classes", [2, 5])
def test_log_loss_at_the_best_temperature_with_a_row_of_doubt(rng, n_classes):
    scores = rng.normal(size=(4, 30, n_classes))
    codes, w = rng.integers(0, n_classes, size=30), rng.uniform(0.1, 2.0, size=30)
    for e, factor in enumerate((0.1, 1.0, 3.0)):  # of scores that know something
        scores[e] += factor * (codes[:, None] == np.arange(n_classes))
    losses = log_losses(scores, codes, w)
    assert losses.shape == (4, 30)
    best = []
    for each, own in zip(scores, losses, strict=True):
        at = {}
        for T in TEMPERATURES:
            # A 31st row is in each class with the same chance.
            p = (30 * softmax(T * each, axis=1) + 1 / n_classes) / 31
            labels = np.arange(n_classes)
            at[T] = log_loss(codes, p, sample_weight=w, labels=labels), p
        best.append(min(at, key=lambda T: at[T][0]))
        mean, p = at[best[-1]]
        assert_allclose(np.average(own, weights=w), mean, rtol=1e-12)
        assert_allclose(own, -np.log(p[np.arange(30), codes]), rtol=1e-10)
    assert len(set(best)) > 1


def test_four_right_labels_are_no_certainty():
    scores = np.array([[[1e9, 0.0], [0.0, 1e9], [1e9, 0.0], [0.0, 1e9]]])
    right, wrong = np.array([0, 1, 0, 1]), np.array([1, 1, 0, 1])
    losses = log_losses(scores, right, np.ones(4))
    assert_allclose(losses, np.full((1, 4), -np.log(4.5 / 5)))
    # Nor is one wrong label the end.
    losses = log_losses(scores, wrong, np.ones(4))
    assert_allclose(losses[0, 0], -np.log(0.5 / 5))


def test_log_loss_does_not_mind_large_scores_or_offsets(rng):
    scores, codes = rng.normal(size=(1, 9, 3)), rng.integers(0, 3, size=9)
    expected = log_losses(scores, codes, np.ones(9))
    moved = log_losses(scores + 1e6 * rng.normal(size=(1, 9, 1)), codes, np.ones(9))
    assert_allclose(moved, expected, rtol=1e-8)
    assert np.isfinite(log_losses(1e5 * scores, codes, np.ones(9))).all()


def test_squared_losses(rng):
    values, y = rng.normal(size=(3, 8, 2)), rng.normal(size=(8, 2))
    losses = squared_losses(values, y)
    for e in range(3):
        expected = mean_squared_error(y.T, values[e].T, multioutput="raw_values")
        assert_allclose(losses[e], expected, rtol=1e-12)


def test_two_classes_have_scores_of_both():
    values = np.array([[[-1.0], [1.0], [0.5]]])
    assert_array_equal(class_scores(values), [[[1.0, 0.0], [0.0, 1.0], [0.25, 0.75]]])
    three = np.zeros((2, 4, 3))
    assert class_scores(three) is three


def test_mean_and_standard_error(rng):
    values = rng.normal(size=20)
    mean, error = mean_and_standard_error(values, np.ones(20))
    assert mean == pytest.approx(values.mean())
    assert error == pytest.approx(values.std(ddof=1) / np.sqrt(20))
    assert mean_and_standard_error(values, np.full(20, 7.0)) == pytest.approx(
        (mean, error)
    )
    assert mean_and_standard_error(np.array([3.0]), np.ones(1)) == (3.0, 0.0)


# ---- classes -------------------------------------------------------------------------


def test_classes_are_judged_by_the_class_of_the_target(rng):
    values = rng.normal(size=(2, 6, 1))
    signs, w = np.array([[1.0], [-1], [1], [-1], [-1], [1]]), rng.uniform(1, 2, size=6)
    codes = (signs[:, 0] > 0).astype(int)
    criterion = ClassCriterion(codes, 2, no_neighbors(6))
    both = np.concatenate([-values, values], axis=2) / 2
    actual = criterion.losses(values, signs, w)
    assert_allclose(actual, log_losses(both, codes, w), rtol=1e-12)
    codes = rng.integers(0, 3, size=6)
    scores, y = rng.normal(size=(2, 6, 3)), np.eye(3)[codes]
    criterion = ClassCriterion(codes, 3, no_neighbors(6))
    assert_allclose(criterion.losses(scores, y, w), log_losses(scores, codes, w))
    assert criterion.limits(y) is None
    assert criterion.scales(y) == [IDENTITY]
    assert criterion.needs_predictions


def slow_share_cost(answers, codes, n_classes, given_first=0.01):
    """Cost of the shares of the answers, one possible k after the other."""
    n = np.bincount(codes, minlength=n_classes)
    ways = [(1.0 if n.min() == 0 else 1.0 - given_first, n)]
    ways += [(given_first / n.min(), n - k) for k in range(1, n.min() + 1)]

    def cost(s):
        total = sum(p * multinomial(sum(v), s).pmf(v) for p, v in ways)
        return -np.log(total) - np.log(s).mean()

    best = [(v + 1 / n_classes) / (sum(v) + 1) for _, v in ways]
    # One more answer, spread as the labels are, so that no share is 0.
    s = [(sum(answers == c) + best[0][c]) / (len(answers) + 1) for c in range(len(n))]
    return cost(np.array(s)) - min(map(cost, best))


def slow_prior(answers, codes, n_classes, neighbors, B=12.0, half=0.03, at=20):
    """min(S, B at / (at + l)), and B half / (cut + half), by points."""
    m, l = len(answers), len(codes)
    shares = slow_share_cost(answers, codes, n_classes)
    costs = []
    for i in range(m):
        alike = sum(answers[j] == answers[i] for j in neighbors[i])
        k = len(neighbors[i])
        costs.append(-np.log((alike + 0.5) / (k + 1)) + np.log((k + 0.5) / (k + 1)))
    cut = np.mean(costs)
    return min(shares, B * at / (at + l)), B * half / (cut + half)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_priors_are_charges_of_shares_and_cuts(rng, n_classes):
    m, codes = 40, np.r_[np.arange(n_classes), rng.integers(0, n_classes, 5)]
    neighbors = np.array(
        [rng.permutation(np.delete(np.arange(m), i))[:6] for i in range(m)]
    )
    criterion = ClassCriterion(codes, n_classes, neighbors)
    if n_classes == 2:
        values = rng.normal(size=(5, m, 1))
        answers = (values[:, :, 0] > 0).astype(int)
    else:
        values = rng.normal(size=(5, m, 4)) + np.array([0.0, 0.5, 1.0, -1.0])
        answers = values.argmax(axis=2)
    expected = [slow_prior(each, codes, n_classes, neighbors) for each in answers]
    assert_allclose(criterion.priors(values), expected, rtol=1e-10)
    fewer = ClassCriterion(codes, n_classes, neighbors, clusters=0.25)
    assert_allclose(fewer.priors(values), np.multiply(expected, 0.25), rtol=1e-10)


def test_clusters_are_supposed_as_far_as_pairs_of_columns_are_numbers(rng):
    numbers, grades = rng.normal(size=(600, 3)), rng.integers(10, size=(600, 1))
    assert cluster_share(numbers) == cluster_share(numbers[:8]) == 1.0
    assert cluster_share(grades) == cluster_share(grades[:8] % 4) == 0.0
    same = np.ones((600, 2))
    assert cluster_share(np.hstack([numbers, grades, same])) == 9 / 16
    assert cluster_share(same) == 1.0
    eleven = np.arange(600.0)[:, None] % 11
    assert cluster_share(np.hstack([eleven, grades])) == 1 / 4
    assert cluster_share(sp.csr_array(grades * 1.0)) == 1.0  # words
    found = (bench_of(X, np.ones(9)) for X in (numbers, grades * 1.0))
    supposed = [HalfmoonClassifier()._criterion(each).clusters for each in found]
    assert supposed == [1.0, 0.0]
    in_order = np.sort(np.hstack([numbers, grades]), axis=0)
    assert cluster_share(np.repeat(in_order, 4, axis=0)) == 9 / 16


@pytest.mark.slow
def test_grades_that_say_nothing_get_the_larger_class():
    rng = np.random.default_rng(9)
    X, y = rng.integers(3, size=(100, 4)) * 1.0, rng.random(100) < 0.15
    known = np.where(np.arange(100) < 20, y, np.nan)
    model = HalfmoonClassifier(random_state=0).fit(X, known)
    # With clusters supposed: 14 % of them, and 28 % wrong instead of 16 %.
    assert not model.predict(X[20:]).any()
    assert not model.used_unlabeled_


def test_labels_given_first_do_not_tell_the_shares():
    # Class 1 has 9 of 10 rows, or all classes are about as large.
    predicted = np.array([[20, 920, 10, 10, 10, 20, 10], [140, 160, *[140] * 5]])
    # Two labels of each class, then six at random.
    first = share_costs(predicted, np.array([2, 8, 2, 2, 2, 2, 2]))
    assert first[0] < first[1] - 3
    # As many labels that look as if drawn at random.
    drawn = share_costs(predicted, np.array([3, 6, 1, 2, 3, 4, 1]))
    assert drawn[1] < drawn[0] - 10
    # A class without a label: nobody gave labels of each first.
    none = share_costs(predicted, np.array([0, 20, 0, 0, 0, 0, 0]))
    assert none[0] < none[1] - 20


@pytest.fixture
def groups():
    """Two groups of 20 points, neighbors within the group, and four labels."""
    neighbors = np.array(
        [
            [j for j in range(i // 20 * 20, i // 20 * 20 + 20) if j != i][:10]
            for i in range(40)
        ]
    )
    return ClassCriterion(np.array([0, 0, 1, 1]), 2, neighbors)


def signs_of(answers):
    return np.where(np.asarray(answers) == 1, 1.0, -1.0)[:, None]


def test_an_answer_of_one_class_is_charged(groups):
    apart = signs_of(np.repeat([0, 1], 20))
    one = signs_of(np.zeros(40))
    mixed = signs_of(np.tile([0, 1], 20))
    by_group, whole, torn = groups.priors(np.array([apart, one, mixed]))
    assert by_group == pytest.approx([0.0, 12.0], abs=1e-12)
    # All answers but half a one are of one class. Two labels of each were drawn at
    # random, or one or both of them were given first.
    s, empty, gain = 0.5 / 41, *whole
    by_drawing = 0.99 * 6 * (s * (1 - s)) ** 2 + 0.005 * 2 * s * (1 - s) + 0.005
    at_best = 0.99 * 6 / 16 + 0.005 * 2 / 4 + 0.005
    prior = np.log(s * (1 - s)) / 2 - np.log(1 / 4) / 2
    assert empty == pytest.approx(-np.log(by_drawing / at_best) - prior)
    assert empty > 3.0
    assert gain == pytest.approx(12.0)
    # Cuts everywhere leave hardly anything of the 12 nats.
    assert torn[0] == pytest.approx(0.0, abs=1e-12)
    assert 0.0 < torn[1] < 1.0


def test_no_neighbors_no_cut():
    criterion = ClassCriterion(np.array([0, 1]), 2, no_neighbors(4))
    priors = criterion.priors(np.array([signs_of([0, 1, 0, 1])]))
    assert_allclose(priors, [[0.0, 12.0]], atol=1e-12)


def test_with_one_label_a_class_tidy_borders_count_by_the_classes_predicted():
    criterion = ClassCriterion(np.arange(4), 4, no_neighbors(8))
    answers = np.array([[0] * 8, [0] * 6 + [1, 2], [0, 1] * 4, [0, 1, 2, 3] * 2])
    gains = criterion.priors(np.eye(4)[answers])[:, 1]
    some = (4 / 3) ** 0.75 * 8**0.25  # e^H of shares 3/4, 1/8, 1/8
    assert_allclose(gains, [0.0, 12.0 * (some - 1) / 3, 4.0, 12.0], atol=1e-12)


@pytest.mark.parametrize("counts", [(5, 1), (9, 1), (4, 1, 1)])
def test_labels_of_one_class_do_not_make_that_class_a_tidy_answer(counts):
    codes, C = np.repeat(np.arange(len(counts)), counts), len(counts)
    criterion = ClassCriterion(codes, C, no_neighbors(10))
    shares = np.array([[10, 0], [9, 1], [5, 5]])
    answers = np.array([np.repeat([0, 1], each) for each in shares])
    values = np.where(answers == 1, 1.0, -1.0)[:, :, None]
    gains = criterion.priors(values if C == 2 else np.eye(C)[answers])[:, 1]
    g = np.array(counts) / sum(counts)
    most = np.prod(g**-g) - 1  # e^G - 1
    of_tenth = 0.9**-0.9 * 0.1**-0.1 - 1
    expected = [0.0, min(1.0, of_tenth / most), min(1.0, 1.0 / most)]
    assert_allclose(gains, 12.0 * np.array(expected), atol=1e-12)
    # Held-out labels of one class, which the constant explains, do not count.
    y = np.eye(C)[codes] if C > 2 else signs_of(codes)
    entries = [entry(np.full(len(y), loss), (1.0, 12.0)) for loss in (0.01, 0.5)]
    expected = [len(y) * loss + 1.0 - 12.0 for loss in (0.01, 0.5)]
    assert_allclose(criterion.costs(entries, y, np.ones(len(y))), expected, rtol=1e-12)


def test_labels_all_of_one_class_allow_any_prediction():
    criterion = ClassCriterion(np.zeros(9, dtype=int), 2, no_neighbors(4))
    answers = np.array([signs_of([0, 0, 0, 0]), signs_of([0, 0, 0, 1])])
    assert_allclose(criterion.priors(answers)[:, 1], [0.0, 12.0], atol=1e-12)


def test_borders_in_sparse_regions_count_as_far_as_labels_are_explained():
    # Three labels of one class, two of another, one of a third, in six rows.
    codes = np.array([0, 0, 0, 1, 1, 2])
    scores, w = np.eye(3)[codes], np.array([1.0, 1.0, 2.0, 1.0, 1.0, 5.0])
    by_shares = -np.log(np.array([3, 3, 3, 2, 2, 1]) / 8)
    losses = np.array([by_shares, 0.5 * by_shares, 0 * by_shares, 2 * by_shares])
    losses[:, 5] = 9.0  # the label that is alone does not count
    assert_allclose(
        explained_share(losses, scores, w), [0.0, 0.5, 1.0, 0.0], atol=1e-12
    )
    # Where each is alone nothing is known, and the borders are believed.
    alone = explained_share(losses[:, [0, 3, 5]], np.eye(3), np.ones(3))
    assert_array_equal(alone, np.ones(4))


def test_a_tidy_answer_that_explains_no_label_gains_nothing():
    codes = np.array([0, 0, 1, 1])
    criterion = ClassCriterion(codes, 2, no_neighbors(4))
    y, w = signs_of(codes), np.ones(4)
    guess, known = np.full(4, -np.log(2 / 5)), np.full(4, 0.1)
    entries = [entry(guess, (0.0, 12.0)), entry(known, (1.0, 12.0)), entry(known)]
    part = 1 - 0.1 / guess[0]
    expected = [4 * guess[0], 0.4 + 1.0 - 12.0 * part, 0.4]
    assert_allclose(criterion.costs(entries, y, w), expected, rtol=1e-12)


def entry(losses, prior=(0.0, 0.0), family="a", uses_unlabeled=False):
    candidate = SimpleNamespace(family=family, uses_unlabeled=uses_unlabeled)
    return SimpleNamespace(losses=np.asarray(losses), prior=prior, candidate=candidate)


def test_weights_of_classes_are_posteriors_of_losses_and_priors(groups):
    entries = [
        entry([0.1, 0.2, 0.3, 0.4], (0.5, 0.0)),
        entry([0.3, 0.1, 0.1, 0.9], (0.0, 1.0)),
        entry([0.1, 0.1, 0.1, 0.1], (2.0, 0.5), "b"),
    ]
    w = np.array([1.0, 2.0, 0.5, 0.5])
    y = signs_of([0, 0, 1, 1])
    guess = -np.log(2 / 5)
    costs = [
        e.losses @ w + e.prior[0] - e.prior[1] * (1 - e.losses @ w / (4 * guess))
        for e in entries
    ]
    expected = np.exp(-np.array(costs)) / [2, 2, 1]
    actual = groups.weights(entries, y, w)
    assert_allclose(actual, expected / expected.sum(), rtol=1e-12)
    # A common factor of the weights is no more knowledge.
    again = groups.weights(entries, y, 9 * w)
    assert_allclose(again, actual, rtol=1e-12)


def test_mixtures_of_classes_are_judged_by_log_loss(rng):
    # Scores that are often next to the truth, and at times far from it on the wrong
    # side, have a smaller squared error than cautious ones that are always right.
    codes = rng.integers(0, 3, size=60)
    y, w = np.eye(3)[codes], rng.uniform(0.5, 2.0, size=60)
    bold = np.eye(3)[np.where(np.arange(60) % 10 == 0, (codes + 1) % 3, codes)]
    cautious = 1 / 3 + 0.1 * (y - 1 / 3)
    criterion = ClassCriterion(codes, 3, no_neighbors(60))
    values = np.array([bold, cautious])
    losses = criterion.losses(values, y, w)
    entries = [
        SimpleNamespace(values=v, losses=each)
        for v, each in zip(values, losses, strict=True)
    ]
    squares = squared_losses(values, y) @ w
    assert squares[0] < squares[1]
    assert losses[0] @ w > losses[1] @ w
    assert NumberCriterion().mixture(entries, y, w)[0] > 0.5
    found = criterion.mixture(entries, y, w)
    assert found[0] < 0.1
    assert_allclose(found, np.round(20 * found) / 20, rtol=1e-12)
    mixed = criterion.losses(np.tensordot(found, values, 1)[None], y, w)[0] @ w
    assert mixed <= losses[1] @ w
    # No other pair of parts is better.
    for part in np.linspace(0, 1, 21):
        other = part * bold + (1 - part) * cautious
        assert mixed <= criterion.losses(other[None], y, w)[0] @ w + 1e-12


@pytest.mark.parametrize(("gain", "helped"), [(-0.001, False), (0.001, True)])
def test_unlabeled_rows_must_have_more_evidence_of_classes(groups, gain, helped):
    y, w = np.zeros((4, 1)), np.ones(4)
    plain = [entry(np.full(4, 1.0), (1.0, 0.0)), entry(np.full(4, 2.0), family="b")]
    # A family is as good as the mean of exp(-charge) over its entries.
    spread = -np.log((np.exp(-(5.0 - gain)) * 2 - np.exp(-6.0)) / 1)
    walks = [
        entry(np.full(4, 1.0), (2.0, 0.0), "walk", uses_unlabeled=True),
        entry(np.full(4, spread / 4), family="walk", uses_unlabeled=True),
    ]
    assert groups.prefers_unlabeled(plain + walks, y, w) == helped
    assert not groups.prefers_unlabeled(plain, y, w)


# ---- numbers -------------------------------------------------------------------------


def test_numbers_are_judged_on_the_users_scale(rng, monkeypatch):
    y, w = rng.uniform(1, 9, size=(12, 1)), np.ones(12)
    criterion = NumberCriterion()
    plain, logs = criterion.scales(y)
    assert plain is IDENTITY
    assert_allclose(logs.forward(y), np.log(y + logs.shift))
    values = rng.normal(size=(2, 12, 1))
    assert_allclose(criterion.losses(values, y, w), squared_losses(values, y))
    monkeypatch.setattr(criteria, "LOG_LABELS", 13)
    assert len(criterion.scales(y)) == 2
    monkeypatch.setattr(criteria, "LOG_LABELS", 12)
    assert criterion.scales(y) == [IDENTITY]
    assert NumberCriterion().scales(rng.normal(size=(12, 1))) == [IDENTITY]
    assert not criterion.needs_predictions
    assert_array_equal(criterion.priors(values), np.zeros((2, 2)))


def test_what_goes_on_to_more_labels_was_not_compared_with_logarithms():
    # Only candidates for targets as given can be fitted to all labels later.
    assert criteria.LOG_LABELS <= halfmoon.SEARCH_LABELS
    assert families.RELEVANCE_LABELS[1] < halfmoon.SEARCH_LABELS


def test_an_answer_may_go_a_quarter_beyond_the_labels():
    y = np.array([[0.0, -3.0], [8.0, 1.0], [5.0, 0.0]])
    low, high = NumberCriterion().limits(y)
    assert_array_equal(low, [-2.0, -4.0])
    assert_array_equal(high, [10.0, 2.0])
    assert NumberCriterion(limited=False).limits(y) is None


@pytest.mark.parametrize(("factor", "helped"), [(1 - 1e-6, False), (1 + 1e-6, True)])
def test_unlabeled_rows_must_help_numbers_by_two_standard_errors(factor, helped):
    # One entry on either side, and an average that is all of the walk.
    class Walk(NumberCriterion):
        def weights(self, entries, y, w):
            return np.eye(len(entries))[-1]

    y, w = np.zeros((18, 1)), np.ones(18)
    spread = 0.3 * np.tile([-1.0, 1.0], 9)
    by_twin = np.linspace(1, 2, 18)
    gain = factor * 2.0 * 0.3 / np.sqrt(17)
    entries = []
    for losses, uses in ((by_twin, False), (by_twin - gain - spread, True)):
        each = entry(losses, uses_unlabeled=uses)
        each.held_out, each.y, each.target = np.sqrt(losses)[:, None], y, IDENTITY
        entries.append(each)
    assert Walk().prefers_unlabeled(entries, y, w) == helped
    entries[1].held_out = entries[0].held_out
    assert not Walk().prefers_unlabeled(entries, y, w)  # equal losses are no help


def test_a_class_that_is_never_answered_costs_less_the_more_labels_there_are():
    # 200 labels, 40 of them of a class that no point is answered with.
    codes = np.repeat([0, 1], [160, 40])
    neighbors = np.arange(400)[:, None] ^ 1
    criterion = ClassCriterion(codes, 2, neighbors)
    answers = np.full((1, 400, 1), -1.0)
    assert_allclose(criterion.priors(answers), [[12.0 * 20 / 220, 12.0]])
    # With 20 labels, of which 10 are missed, the bound is half of B.
    few = ClassCriterion(np.repeat([0, 1], 10), 2, neighbors)
    assert_allclose(few.priors(answers), [[6.0, 12.0]])
