from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from halfmoon import (
    ConditionalClassifier,
    ConditionalRegressor,
    FredholmClassifier,
    FredholmRegressor,
    HalfmoonClassifier,
    HalfmoonRegressor,
    LaplacianClassifier,
    LaplacianRegressor,
    load,
    save,
)
from halfmoon._selection.target_transforms import IDENTITY

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 2))
SIDE = np.where(X[:, 0] > 0, "right", "left")
THIRD = np.digitize(X[:, 0], [-0.5, 0.5])
NUMBER = X[:, 0] - X[:, 1] ** 2
SEARCHED = {"budget": 1e-9, "random_state": 0}


def some(y, labels=20):
    """The labels of every other row, as far as they go."""
    known = np.full(len(y), np.nan, dtype=object)
    known[: 2 * labels : 2] = y[: 2 * labels : 2]
    return known


CLASSIFIERS = [
    ConditionalClassifier(random_state=0),
    FredholmClassifier(random_state=0),
    LaplacianClassifier(random_state=0),
    HalfmoonClassifier(**SEARCHED),
    HalfmoonClassifier(budget=0.2, random_state=0),
]
REGRESSORS = [
    ConditionalRegressor(random_state=0),
    FredholmRegressor(random_state=0),
    LaplacianRegressor(random_state=0),
    HalfmoonRegressor(**SEARCHED),
    HalfmoonRegressor(budget=0.2, random_state=0),
]


def named(models):
    return [f"{type(m).__name__}{i}" for i, m in enumerate(models)]


@pytest.mark.parametrize("model", CLASSIFIERS, ids=named(CLASSIFIERS))
@pytest.mark.parametrize("y", [SIDE, THIRD], ids=["two", "three"])
def test_classes_are_taken_apart_exactly(model, y):
    model.fit(X, some(y))
    found = model.explain(X[40:])
    scores = model.decision_function(X[40:]).reshape(20, -1)
    assert_allclose(found.weights @ found.targets, scores, atol=1e-8)
    assert_allclose(found.rest, np.zeros(scores.shape), atol=1e-8)
    assert_array_equal(found.answers, model.predict(X[40:]))
    assert_array_equal(found.rows, np.arange(0, 40, 2))
    assert_array_equal(found.labels, y[:40:2])
    # The score of the predicted class is the mean of the labels and all that pulls.
    if scores.shape[1] == 1:
        sign = np.where(found.answers == "right", 1.0, -1.0)
        own, mean = sign * scores[:, 0], sign * found.targets.mean()
    else:
        own, mean = scores[np.arange(20), found.answers], found.targets.mean(axis=0)
        mean = mean[found.answers]
    assert_allclose(found.weights.sum(axis=1), 1.0, atol=1e-8)
    assert_allclose(found.pulls.sum(axis=1), own - mean, atol=1e-8)


@pytest.mark.parametrize("model", REGRESSORS, ids=named(REGRESSORS))
def test_numbers_are_taken_apart_exactly(model):
    model.fit(X, some(NUMBER))
    found = model.explain(X[40:])
    assert found.scale == "as given"
    limits = NUMBER[:40:2].min(), NUMBER[:40:2].max()
    room = 0.25 * (limits[1] - limits[0])
    values, predicted = found.weights @ found.targets[:, 0], model.predict(X[40:])
    inside = (values > limits[0] - room) & (values < limits[1] + room)
    assert_allclose(values[inside], predicted[inside], atol=1e-8)
    assert_allclose(found.rest[inside], np.zeros((inside.sum(), 1)), atol=1e-8)
    assert_allclose(values + found.rest[:, 0], predicted, rtol=1e-14)
    assert_array_equal(found.labels, NUMBER[:40:2])
    mean = found.targets.mean()
    assert_allclose(found.pulls.sum(axis=1), np.abs(values - mean), atol=1e-8)


def test_two_labels_by_hand():
    # With the nearest label far nearer, it has the weight; the other speaks against.
    Z = np.array([[0.0], [1.0], [0.1]])
    model = LaplacianClassifier(alpha=1e-3, unpenalized="constant", random_state=0)
    model.fit(Z, ["a", "b", None])
    found = model.explain([[0.1]])
    assert found.answers.tolist() == ["a"]
    (nearest,), (far,) = found.speaks_for(0), found.speaks_against(0)
    assert (nearest.row, nearest.label, far.row, far.label) == (0, "a", 1, "b")
    assert nearest.weight > far.weight > 0
    assert_allclose(nearest.weight + far.weight, 1.0)
    assert_allclose([nearest.pull, far.pull], [nearest.weight, -far.weight])
    assert repr(found) == (
        f"a  for: row 0 (a, {nearest.weight:+.0%}); "
        f"against: row 1 (b, {far.weight:+.0%})"
    )


def test_logarithms_are_explained_on_their_scale():
    y = np.exp(2 * X[:, 0])
    model = HalfmoonRegressor(budget=0.5, random_state=0).fit(X, some(y))
    # Keep the members that take the logarithm.
    logs = [m for m in model.solution_.members if m.target.suffix]
    total = sum(member.weight for member in logs)
    logs = [replace(member, weight=member.weight / total) for member in logs]
    model.solution_ = replace(model.solution_, members=logs)
    found = model.explain(X[40:])
    assert found.scale == "log"
    target = logs[0].target
    assert_allclose(found.targets[:, 0], np.log(y[:40:2] + target.shift))
    assert_array_equal(found.labels, y[:40:2])
    residuals = logs[0].y - sum(m.weight * m.held_out for m in logs)
    values = target.inverse(found.weights @ found.targets, residuals)
    assert_allclose(np.clip(values[:, 0], *_limits(y)), model.predict(X[40:]))
    logarithms = found.weights @ found.targets + found.rest
    values = np.exp(logarithms[:, 0]) - target.shift
    assert_allclose(values, model.predict(X[40:]))
    with pytest.raises(ValueError, match="explain"):
        model.smoother_matrix(X[40:])
    # Next to a member that does not, the rest is the difference to the prediction.
    plain = replace(logs[0], target=IDENTITY, weight=1.0)
    model.solution_ = replace(model.solution_, members=[*logs, plain])
    found = model.explain(X[40:])
    assert found.scale == "mixed"
    values = (found.weights @ found.targets + found.rest)[:, 0]
    assert_allclose(values, model.predict(X[40:]), rtol=1e-14)
    assert np.abs(found.rest).max() > 0.1


def _limits(y):
    low, high = y[:40:2].min(), y[:40:2].max()
    return low - 0.25 * (high - low), high + 0.25 * (high - low)


@pytest.mark.slow
def test_more_labels_than_are_compared():
    rng = np.random.default_rng(1)
    Z = rng.normal(size=(700, 3))
    y = np.sin(Z[:, 0]) + Z[:, 1]
    y[600:] = np.nan
    model = HalfmoonRegressor(budget=2.0, random_state=0).fit(Z, y)
    found = model.explain(Z[600:])
    values = found.weights @ found.targets[:, 0]
    assert_allclose(values, model.predict(Z[600:]), atol=1e-8)


def test_rows_of_weight_0_do_not_shift_the_numbers():
    w = np.ones(60)
    w[:7] = 0.0
    model = LaplacianClassifier(random_state=0).fit(X, some(SIDE), sample_weight=w)
    found = model.explain(X[40:])
    assert_array_equal(found.rows, np.arange(8, 40, 2))
    assert_array_equal(found.labels, SIDE[8:40:2])


def test_unsupported_explanations_are_refused():
    hinge = LaplacianClassifier(loss="hinge", alpha=0.1).fit(X, some(SIDE))
    with pytest.raises(ValueError, match="hinge"):
        hinge.explain(X)
    y = np.column_stack([NUMBER, NUMBER])
    both = LaplacianRegressor(random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="2 targets"):
        both.explain(X)
    with pytest.raises(ValueError, match="2 targets"):
        both.explain(X[:2], [1.0, 2.0])
    small = LaplacianRegressor(random_state=0).fit(X, NUMBER)
    object.__setattr__(small.solution_.posed.stream, "memory_limit", 50_000)
    with pytest.raises(MemoryError, match="60 labels"):
        small.explain(X)


def test_explaining_answers_other_than_the_predictions():
    model = LaplacianClassifier(random_state=0).fit(X, some(SIDE))
    own, other = model.explain(X[:1]), model.explain(X[:1], ["left"])
    flipped = own.answers[0] == "right"
    assert_allclose(other.pulls, -own.pulls if flipped else own.pulls)
    with pytest.raises(ValueError, match="'up' that was not fitted"):
        model.explain(X[:1], ["up"])
    numbers = LaplacianRegressor(random_state=0).fit(X, some(NUMBER))
    high, low = (numbers.explain(X[:1], [value]) for value in (9.0, -9.0))
    assert_allclose(high.pulls, -low.pulls)
    assert_allclose(high.pulls, high.weights * (high.labels - high.labels.mean()))


@pytest.mark.parametrize(
    ("answers", "message"),
    [
        (["left"], r"answers has shape \(1,\), but X has 3 row"),
        (["left"] * 4, r"answers has shape \(4,\), but X has 3 row"),
        ("left", r"answers has shape \(\), but X has 3 row"),
        (["left", None, "right"], "The answer for row 1 is missing; a class or number"),
    ],
)
def test_answers_are_one_for_each_row(answers, message):
    model = LaplacianClassifier(random_state=0).fit(X, some(SIDE))
    with pytest.raises(ValueError, match=message):
        model.explain(X[:3], answers)


def test_answers_of_a_regression_are_numbers():
    model = LaplacianRegressor(random_state=0).fit(X, some(NUMBER))
    with pytest.raises(ValueError, match=r"be read as numbers .* float: 'left'\)"):
        model.explain(X[:1], ["left"])
    column = LaplacianRegressor(random_state=0).fit(X, some(NUMBER)[:, None])
    assert_allclose(column.explain(X[:3]).pulls, model.explain(X[:3]).pulls)


def test_a_saved_model_gives_the_same_explanations(tmp_path):
    model = HalfmoonClassifier(**SEARCHED).fit(X, some(SIDE))
    save(model, tmp_path / "m.halfmoon")
    found, again = model.explain(X), load(tmp_path / "m.halfmoon").explain(X)
    assert_allclose(found.weights, again.weights, atol=1e-10)
    assert_array_equal(found.labels, again.labels)
    assert repr(found).endswith("... and 50 more")


def test_a_class_that_ends_in_a_null_character():
    # Arrays of text, unlike those of objects, drop such characters.
    y = np.array(["q\0" if i % 2 else "q" for i in range(10)], dtype=object)
    rows = np.arange(10.0)[:, None]
    model = LaplacianClassifier(random_state=0).fit(rows, y)
    answers = ["q\0", "q"]
    found = model.explain(rows[:2], answers)
    assert list(found.answers) == answers
