"""Notes on a run, and what `predict` says: each of them, word by word."""

from collections import Counter
from types import SimpleNamespace

import numpy as np
import pytest

from halfmoon.table import notes
from halfmoon.table.column_choice import ColumnChoice
from halfmoon.table.model import TableModel
from halfmoon.table.notes import common_notes, learning_notes
from halfmoon.table.record import predicted_record
from halfmoon.table.scored_rows import ScoredRows, Sums


def model(kind="classes", *, columns=(), unread=None, **learned):
    """A model as if it had been fitted."""
    made = TableModel("species", kind)
    made.table_ = SimpleNamespace(uses=[*columns], used=[], unread=unread or {})
    for name, value in learned.items():
        setattr(made, name, value)
    return made


def run(fitted=None, *, labels=30, learned=30, blank=90, unlabeled=90, **changes):
    scan = SimpleNamespace(
        notes=(),
        n_labeled=labels,
        learned_labels=learned,
        n_blank=blank,
        learned_unlabeled=unlabeled,
    )
    tally = SimpleNamespace(n=90, mean=0.93, classes=Counter(Adelie=60, Gentoo=30))
    usual = {
        "model": fitted or model(),
        "scan": scan,
        "tally": tally,
        "notes": (),
        "escaped": 0,
        "sha256": "",
        "seconds": 1.0,
        "scored": None,
    }
    return SimpleNamespace(**usual | changes)


def left_out(name, why):
    return SimpleNamespace(name=name, role="left out", why=why, kind="text")


@pytest.fixture(autouse=True)
def no_giveaways(monkeypatch):
    """These read cells, and have tests of their own."""
    monkeypatch.setattr(notes, "giveaway_notes", lambda *_: iter(()))


LEARNING = [
    (run(), []),
    (
        run(labels=9_000, learned=5_000),
        [
            (
                "Learned from 5,000 of the 9,000 labels, drawn at random. To learn "
                "from more, allow more memory (--memory)."
            )
        ],
    ),
    (
        run(blank=900_000, unlabeled=20_000),
        [
            (
                "Of the 900,000 rows without a label, 20,000 drawn at random were "
                "learned from; all are filled in."
            )
        ],
    ),
    (
        run(model(choice_=ColumnChoice(("day",), 0.7, 0.9))),
        [
            (
                "'day' was left out: without it, leave-one-out accuracy rose from "
                "70 % to 90 %. Columns that you name as features are never left out "
                "like this."
            )
        ],
    ),
    (
        run(
            model(doubtful_=("day", "hour"), estimator_=SimpleNamespace(loo_score_=0.8))
        ),
        [
            (
                "Predictions may be better without 'day', 'hour': in "
                "cross-validation the error is lower, but this could be chance. Try to "
                "leave them out."
            )
        ],
    ),
    (
        run(model(columns=[left_out("id", "it numbers the rows")])),
        ["'id' was not learned from: it numbers the rows."],
    ),
    (
        run(model(columns=[left_out(f"c{i}", "") for i in range(6)])),
        [f"'c{i}' was not learned from: text." for i in range(5)]
        + ["1 more column not learned from."],
    ),
]

COMMON = [
    (run(), []),
    (
        run(model(unread={"age": 1, "size": 0})),
        [
            (
                "1 cell of 'age' did not read as the rest of the column does and "
                "counted as missing."
            )
        ],
    ),
    (
        run(escaped=2),
        [
            (
                "2 cells that a spreadsheet would take for a formula got an "
                "apostrophe in front. To leave it out, use formulas='keep' "
                "(--formulas keep)."
            )
        ],
    ),
]


def plain(texts):
    return [str(text).replace("\u00a0", " ") for text in texts]


@pytest.mark.parametrize(("filled", "expected"), LEARNING)
def test_what_was_learned_from(filled, expected):
    assert plain(learning_notes(filled)) == expected


@pytest.mark.parametrize(("filled", "expected"), COMMON)
def test_what_was_read_and_written(filled, expected):
    assert plain(common_notes(filled)) == expected


def test_what_predict_says():
    def said(filled):
        return plain(predicted_record(filled, "new.csv")["summary"])

    start = "Predicted 'species' in"
    assert said(run()) == [f"{start} 90 rows of new.csv. The mean confidence is 93 %."]
    numbers = run(model("numbers"), tally=SimpleNamespace(n=1, mean=12.5, classes={}))
    assert said(numbers) == [
        f"{start} 1 row of new.csv. The intervals are 12.5 wide on average."
    ]
    nothing = SimpleNamespace(n=0, mean=np.nan, classes=Counter())
    scored = ScoredRows(model(), Sums(n=0), Sums(n=0))
    assert said(run(tally=nothing)) == [f"{start} 0 rows of new.csv."]
    assert said(run(tally=nothing, scored=scored))[0] == f"{start} 0 rows of new.csv."
