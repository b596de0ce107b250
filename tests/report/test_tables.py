from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.calibration import calibration_curve
from sklearn.metrics import confusion_matrix

from halfmoon._number_format import number
from halfmoon._report.findings import (
    Histogram,
    LooNumbers,
    confidence_edges,
    number_edges,
)
from halfmoon._report.quality_by_part import (
    confusion,
    errors_by_thirds,
    mix_ups,
    reliability,
)
from halfmoon._report.quality_charts import of_quality
from halfmoon._report.quality_scores import wilson_interval
from halfmoon._report.rows_to_review import least_sure, suspect_classes, suspect_numbers
from halfmoon._report.unlabeled_gain import Helped, UnlabeledGain
from report.made_up import made_up


def test_confusion_agrees_with_scikit_learn(rng):
    given, predicted = rng.choice(["a", "b", "c"], (2, 40))
    found = confusion(given.tolist(), predicted.tolist())
    assert found.classes == ("a", "b", "c")
    assert_array_equal(found.counts, confusion_matrix(given, predicted))
    assert found.lumped == 0


def test_numeric_classes_are_sorted_by_value():
    assert confusion(["10", "2", "x"], ["2", "1", "nan"]).classes == (
        *("1", "2", "10", "nan", "x"),
    )


def test_lumped_classes_are_not_on_the_diagonal(rng):
    given = np.repeat([f"c{i:02d}" for i in range(20)], np.arange(20) + 1)
    predicted = rng.permutation(given)
    found = confusion(given.tolist(), predicted.tolist())
    wrong = given != predicted
    mixed = {
        c: ((given == c) & wrong).sum() + ((predicted == c) & wrong).sum()
        for c in given
    }
    kept = sorted(sorted(mixed, key=lambda c: (-mixed[c], -int(c[1:])))[:11])
    assert found.classes == (*kept, "other classes")
    assert found.lumped == 9
    lump = [np.where(np.isin(some, kept), some, "z") for some in (given, predicted)]
    expected = confusion_matrix(*lump)
    both = ~np.isin(given, kept) & ~np.isin(predicted, kept)
    assert expected[-1, -1] == both.sum() == found.lumped_right + found.lumped_wrong
    assert found.lumped_wrong == (both & wrong).sum() > 0
    expected[-1, -1] = 0
    assert_array_equal(found.counts, expected)
    assert found.total == len(given)
    assert found.wrong == wrong.sum()


def test_mixed_up_classes_have_a_row_of_their_own():
    names = [f"{i}" for i in range(30)]
    given = names * 5
    predicted = list(given)
    predicted[28] = "29"  # class 28, taken for 29 once
    found = confusion(given, predicted)
    assert {"28", "29"} <= set(found.classes)
    assert found.classes[:2] == ("0", "1")
    i, j = found.classes.index("28"), found.classes.index("29")
    assert found.counts[i, j] == 1
    assert found.wrong == 1
    assert found.lumped_right == 5 * found.lumped


def test_mix_ups_are_sorted_by_frequency(rng):
    given, predicted = rng.choice(["a", "b", "10", "9"], (2, 60))
    found = mix_ups(given.tolist(), predicted.tolist(), 4)
    times = [each.times for each in found]
    assert times == sorted(times, reverse=True)
    for each in found:
        both = (given == each.given) & (predicted == each.predicted)
        assert each.times == both.sum()
        assert each.given != each.predicted
    assert mix_ups(["a"], ["a"]) == []


@pytest.mark.parametrize("bins", [2, 5, 10])
def test_reliability_agrees_with_the_calibration_curve(rng, bins):
    confidence = rng.uniform(0.3, 1, 200)
    right = rng.uniform(size=200) < confidence**2
    found = reliability(confidence, right, bins)
    accuracy, mean = calibration_curve(right, confidence, n_bins=bins)
    assert_allclose(found.accuracy, accuracy)
    assert_allclose(found.confidence, mean)
    assert found.counts.sum() == 200
    weights = found.counts / 200
    assert_allclose(found.error, weights @ np.abs(accuracy - mean))
    hits = np.round(found.accuracy * found.counts).astype(int)
    ends = [wilson_interval(k, n) for k, n in zip(hits, found.counts, strict=True)]
    assert_allclose(np.array([found.low, found.high]).T, ends)


def test_calibration_error_by_chance_is_that_of_right_confidences(rng):
    confidence = rng.uniform(0.3, 1, 40)
    rights = rng.uniform(size=(2_000, 40)) < confidence
    mean = np.mean([reliability(confidence, right).error for right in rights])
    found = reliability(confidence, rights[0]).error_by_chance
    assert_allclose(found, mean, rtol=0.03)
    assert np.isnan(reliability(np.empty(0), np.empty(0, bool)).error_by_chance)


def test_reliability_of_full_and_of_unknown_confidence():
    confidence = np.array([1.0, 0.95, np.nan])
    found = reliability(confidence, np.array([True, False, True]), 10)
    assert_allclose(found.confidence, [0.975])
    assert_array_equal(found.counts, [2])
    assert_allclose(found.error, 0.475)
    assert np.isnan(reliability(np.empty(0), np.empty(0, bool)).error)


def test_residuals_are_given_minus_predicted(rng):
    given, predicted = rng.normal(size=(2, 30))
    predicted[3] = np.nan
    loo = LooNumbers(given, predicted, predicted - 1, predicted + 1, 0.9)
    found = replace(made_up(["a", "b"]), kind="numbers", loo=loo)
    _, picture = of_quality(found)
    e = np.delete(given - predicted, 3)
    half, most = np.percentile(np.abs(e), [50, 90])
    assert f"no larger than {number(half)}, nine" in picture.caption
    assert f"no larger than {number(most)}." in picture.caption
    assert f"their mean, {number(e.mean())}." in picture.caption


def test_errors_by_thirds_of_the_predictions(rng):
    predicted = rng.permutation(np.arange(31.0))
    given = predicted + rng.normal(0, 1 + predicted / 10)
    given[3] = np.nan
    low, high = predicted - 1.5, predicted + 1.0
    loo = LooNumbers(given, predicted, low, high, 0.9)
    thirds = errors_by_thirds(loo)
    assert [third.name for third in thirds] == ["Lowest", "Middle", "Highest"]
    assert sum(third.labels for third in thirds) == 30
    assert thirds[0].high < thirds[1].low <= thirds[1].high < thirds[2].low
    for third in thirds:
        some = (predicted >= third.low) & (predicted <= third.high) & ~np.isnan(given)
        r = (given - predicted)[some]
        assert third.labels == some.sum() == 10
        assert_allclose(third.error, np.abs(r).mean())
        assert_allclose(third.bias, r.mean())
        assert_allclose(third.held, ((r >= -1.5) & (r <= 1.0)).mean())
    few = LooNumbers(given[:8], predicted[:8], low[:8], high[:8], 0.9)
    assert errors_by_thirds(few) == []


def test_batches_of_a_histogram_add_up(rng):
    values = rng.uniform(size=1000)
    edges = confidence_edges()
    whole = Histogram.of(values, edges)
    parts = [Histogram.of(part, edges) for part in np.array_split(values, 7)]
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    assert_array_equal(total.counts, whole.counts)
    assert_array_equal(whole.counts, np.histogram(values, 20, (0, 1))[0])
    with pytest.raises(ValueError, match="the same edges"):
        whole + Histogram.of(values, edges[:5])


def test_edges_exceed_the_labels_by_a_quarter():
    edges = number_edges(np.array([10.0, 30.0, 20.0] * 9))
    assert_allclose(edges[0], 10 - 20 * 2 / 6)
    assert_allclose(edges[-1], 30 + 20 * 2 / 6)
    assert_allclose(np.diff(edges), 20 / 6)
    assert Histogram.of([-1e9, 1e9, np.nan], edges).counts[[0, -1]].tolist() == [1, 1]
    assert_allclose(number_edges(np.ones(3))[[2, -3]], [0.5, 1.5])


def test_least_sure_rows_can_be_found_batch_by_batch(rng):
    confidence = rng.uniform(size=500).round(2)  # with ties
    whole = least_sure(confidence, 20)
    assert_allclose(confidence[whole], np.sort(confidence)[:20])
    batches = np.array_split(np.arange(500), 6)
    kept = np.concatenate([b[least_sure(confidence[b], 20)] for b in batches])
    kept = np.sort(kept)
    assert_array_equal(kept[least_sure(confidence[kept], 20)], whole)
    assert_array_equal(least_sure(np.array([np.nan, 0.5]), 5), [1])


def test_suspect_classes_are_unlikely_and_not_predicted():
    given, predicted = list("aabb"), list("abab")
    p = np.array([0.05, 0.15, 0.02, 0.01])
    assert_array_equal(suspect_classes(given, predicted, p), [2, 1])
    assert_array_equal(suspect_classes(given, predicted, p + 0.05), [2])


def test_wrong_labels_among_many_are_suspected():
    """A tenth of the labels is wrong, so no other label is more than 90 % likely."""
    given = ["b"] * 4 + ["a"] * 18 + ["b"] * 18
    predicted = ["a"] * 22 + ["b"] * 18
    p = np.where(np.array(given) == predicted, 0.88, 0.12)
    assert_array_equal(suspect_classes(given, predicted, p), [0, 1, 2, 3])


def test_the_only_label_of_a_class_is_not_suspected():
    given, predicted = list("aabbcd"), list("abbbaa")
    p = np.array([0.9, 0.05, 0.9, 0.9, 0.0, 0.0])
    assert_array_equal(suspect_classes(given, predicted, p), [1])


def test_labels_are_not_suspected_because_their_class_is_rare():
    """A model without a clue gives each class its share of the labels."""
    given, predicted = ["rare"] * 6 + ["common"] * 94, ["common"] * 100
    p = np.where(np.array(given) == "rare", 0.06, 0.94)
    assert len(suspect_classes(given, predicted, p)) == 0
    p[2] = 0.01
    assert_array_equal(suspect_classes(given, predicted, p), [2])


def test_labels_are_not_suspected_because_there_are_many_classes():
    given, predicted = list("abcdefghij") * 2, ["a"] * 20
    assert len(suspect_classes(given, predicted, np.full(20, 0.1))) == 0


def test_extreme_numbers_do_not_hide_each_other(rng):
    predicted = rng.normal(size=60)
    given = predicted + rng.normal(0, 0.1, 60)
    given[[7, 20, 33]] += [50.0, 90.0, -70.0]
    ends = predicted - 0.16, predicted + 0.16
    assert_array_equal(suspect_numbers(given, predicted, *ends), [20, 33, 7])
    assert len(suspect_numbers(predicted, predicted, *ends)) == 0
    no_ends = np.full(60, -np.inf), np.full(60, np.inf)
    assert len(suspect_numbers(given, predicted, *no_ends)) == 0
    two = (x[:2] for x in (given, predicted, *ends))
    assert len(suspect_numbers(*two)) == 0


def test_numbers_are_judged_by_their_own_interval(rng):
    """Errors grow with the prediction, and only one label looks wrong."""
    predicted = np.exp(rng.uniform(0, 8, 200))
    given = predicted * (1 + 0.1 * rng.uniform(-1, 1, 200))
    cheap, dear = predicted.argsort()[[20, -1]]
    given[cheap] = 1.5 * predicted[cheap]
    given[dear] = 1.12 * predicted[dear]
    assert abs(given - predicted)[dear] > 100 * abs(given - predicted)[cheap]
    ends = 0.91 * predicted, 1.09 * predicted
    assert_array_equal(suspect_numbers(given, predicted, *ends), [cheap])
    # Nothing inside its interval, or hardly outside, is listed however small the rest.
    small = predicted + 1e-6 * (given - predicted)
    small[dear] = 1.105 * predicted[dear]
    assert len(suspect_numbers(small, predicted, *ends)) == 0
    small[dear] = 1.11 * predicted[dear]
    assert_array_equal(suspect_numbers(small, predicted, *ends), [dear])


@pytest.mark.parametrize(("shift", "wrong"), [(0.0, 1.0), (5.0, 1.0), (5.0, 1.4)])
def test_small_errors_of_nearly_exact_predictions_are_not_suspected(rng, shift, wrong):
    predicted = shift + rng.uniform(-1, 1, 60)
    given = predicted + 1e-4 * rng.normal(size=60)
    given[:5] += 0.02  # ten times the interval, but a few percent of the spread
    ends = predicted - 2e-3, predicted + 2e-3
    assert len(suspect_numbers(given, predicted, *ends)) == 0
    given[9] += wrong
    assert_array_equal(suspect_numbers(given, predicted, *ends), [9])


def test_suspect_numbers_with_asymmetric_intervals():
    predicted, given = np.zeros(9), np.array([-2, -1, 0, 1, 2, -1, 1, 6.0, -6.0])
    low, high = np.full(9, -10.0), np.full(9, 2.0)
    assert_array_equal(suspect_numbers(given, predicted, low, high), [7])


def test_helped_from_comparison():
    table = {
        "candidate": ["supervised twin", "average of all", "plain", "walk", "unused"],
        "unlabeled": np.array([False, True, False, True, True]),
        "loo_error": np.array([0.5, 0.35, 0.6, 0.4, 0.2]),
        "difference": np.array([0.0, -0.15, 0.1, -0.1, -0.3]),
        "low": np.array([0.0, -0.2, -0.1, -0.3, -0.4]),
        "high": np.array([0.0, -0.1, 0.3, 0.1, -0.2]),
        "weight": np.array([0.0, 0.0, 0.3, 0.7, 0.0]),
    }
    gain = UnlabeledGain("classes", 9, 8, 7, 6, 0.1, -0.1, 0.3)
    helped = Helped.from_comparison(table, used_unlabeled=True, gain=gain)
    assert (helped.used_unlabeled, helped.gain) == (True, gain)
    assert [(each.unlabeled, each.weight) for each in helped.models] == [
        (True, 0.7),
        (False, 0.3),
    ]
