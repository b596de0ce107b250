"""Verdicts by their rules, on trials whose answer is known."""

import numpy as np
import pytest
from experiments.experiment import Run
from experiments.fredholm.claims import (
    complete,
    honest_level,
    learned,
    level,
    near,
    no_worse,
)
from experiments.fredholm.comparison import Comparison
from experiments.fredholm.estimator_trials import levers
from experiments.fredholm.toys import Validated, draw_toy

from halfmoon.datasets import noisy_line

PRINTED = {"a": {"old": (20.0, 1.0), "new": (10.0, 1.0)}}


def _trial(method, split, test, loo=(0.0, 1.0), **more):
    about = {"row": "a", "method": method, "split": split, "setting": {}}
    weights = {"weight": [0.1, 1.0], "test": list(test), "loo": list(loo)}
    return {**about, **weights, "square": [0.0, 0.0], **more}


def _seen(errors, kind=Comparison, constant=30.0):
    """Trials in which each method has the given errors at its better weight."""
    trials = [
        _trial(method, split, (error, 99.0), validation=[5.0, 6.0])
        for method, each in errors.items()
        for split, error in enumerate(each)
    ]
    return kind(
        [Run({}, {"trials": trials, "constant": {"a": constant}}, 1.0)], PRINTED
    )


@pytest.mark.parametrize(
    ("new", "verdict"),
    [
        ([9.0, 11.0, 10.0], "reproduced"),
        ([9.9, 12.0, 9.8], "reproduced in part"),  # above by 0.57 +- 0.67
        ([12.0, 12.1, 11.9], "not reproduced"),
        ([12.0], "not testable"),
    ],
)
def test_no_worse(new, verdict):
    seen = _seen({"new": new, "old": [10.0, 10.0, 10.0][: len(new)]})
    assert no_worse(seen, "a", "new", "old", "").verdict == verdict


@pytest.mark.parametrize(
    ("new", "verdict"),
    [
        ([9.0, 11.0, 9.9], "reproduced"),  # gains 0.03 +- 0.6
        ([9.0, 9.1, 8.9], "reproduced in part"),  # gains a tenth, surely
        ([7.0, 7.1, 6.9], "not reproduced"),
    ],
)
def test_near(new, verdict):
    seen = _seen({"new": new, "old": [10.0, 10.0, 10.0]})
    assert near(seen, "a", "new", "old", "").verdict == verdict


@pytest.mark.parametrize(
    ("mean", "verdict"),
    [
        (5.0, "reproduced"),
        (10.9, "reproduced"),
        (11.9, "reproduced in part"),
        (12.1, "not reproduced"),
    ],
)
def test_level_is_by_printed_deviations(mean, verdict):
    assert level(_seen({"new": [mean, mean]}), "a", "new", "").verdict == verdict


@pytest.mark.parametrize(
    ("errors", "verdict"),
    [
        ([28.0, 28.1], "reproduced"),
        ([25.0, 34.0], "reproduced in part"),
        ([31.0, 31.0], "not reproduced"),
    ],
)
def test_learned_beats_the_constant(errors, verdict):
    assert learned(_seen({"new": errors}), "a", ["new"], "").verdict == verdict


def test_complete_needs_the_same_splits():
    seen = _seen({"new": [1.0, 2.0], "old": [1.0]})
    assert complete(seen, "a", "new")
    assert not complete(seen, "a", "new", "old")
    assert not complete(seen, "a", "new", "other")


def test_honest_level_is_at_what_leave_one_out_prefers():
    trials = [_trial("new", s, (11.0, 9.0), loo=(5.0, 4.0)) for s in (0, 1)]
    seen = Comparison([Run({}, {"trials": trials}, 1.0)], PRINTED)
    assert honest_level(seen, "a", "new").verdict == "reproduced"
    assert "9.0" in honest_level(seen, "a", "new").because


def test_validated_is_tuned_on_validation_rows_of_each_split():
    trials = [
        _trial("new", 0, (1.0, 7.0), validation=[4.0, 3.0]),
        _trial("new", 1, (2.0, 8.0), validation=[3.0, 4.0]),
    ]
    cell = {"method": "kernels", "labels": 3, "n": 40, "split": 0}
    seen = Validated([Run(cell, {"trials": trials}, 1.0)], PRINTED, noisy_line)
    share = (draw_toy(noisy_line, 3, 40, 0).X_test[:, 0] >= 0).mean()
    assert seen.constant == {"3": 100 * min(share, 1 - share)}
    np.testing.assert_array_equal(seen.tuned("a", "new").errors, [7.0, 2.0])


def test_levers_are_named_by_their_share():
    comparison = {
        "candidate": [
            "average of all",
            "50 components, walk k=5",
            "standardized, linear",
        ],
        "weight": [0.0, 0.3, 0.7],
    }
    assert levers(comparison) == "plain kernels, walks"
    comparison["weight"] = [0.0, 0.9, 0.1]
    assert levers(comparison) == "walks"
