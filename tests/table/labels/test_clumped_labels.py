"""Labels in clumps are found by the distances to the nearest label."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import halfmoon
from halfmoon._report.quality_scores import accuracy, mean_absolute_error
from halfmoon.table import TableModel
from halfmoon.table._labels.unrepresentative_labels import are_clumped, label_clumps


def visits(rng, patients=80, each=5, spread=0.1):
    """Return rows of patients, and the number of the patient of each."""
    own = rng.normal(size=(patients, 3))
    patient = np.repeat(np.arange(patients), each)
    return own[patient] + spread * rng.normal(size=(len(patient), 3)), patient


@pytest.mark.parametrize("unit", [1.0, 1000.0])
def test_whole_patients(rng, unit):
    X, patient = visits(rng)
    X[:, 0] *= unit  # columns have units of their own
    assert are_clumped(X, patient < 16)


def test_random_rows_are_not_clumped_whatever_the_table(rng):
    X, _ = visits(rng)
    tables = [X, np.repeat(X[:80], 5, axis=0), rng.lognormal(size=(400, 30)), X.round()]
    for table in tables:
        for share in (0.03, 0.2, 0.7):
            for _ in range(10):
                assert not are_clumped(table, rng.random(400) < share)


def test_rows_that_are_far_apart_are_not_clumped(rng):
    X, patient = visits(rng)
    first = np.diff(patient, prepend=-1) > 0
    assert not are_clumped(X, first & (patient < 40))


def test_one_label_and_no_blank(rng):
    X = rng.normal(size=(10, 2))
    assert not are_clumped(X, np.arange(10) < 1)
    assert not are_clumped(X, np.arange(10) < 10)


@pytest.mark.slow
def test_a_filled_table_has_a_note(rng):
    X, patient = visits(rng)
    frame = pd.DataFrame(X.round(3), columns=["a", "b", "c"])
    ill = np.isin(patient, np.flatnonzero(rng.random(80) < 0.5))
    frame["state"] = np.where(ill, "ill", "well")
    frame.loc[patient >= 16, "state"] = None
    result = halfmoon.fill(frame, "state", budget=1e-9)
    assert result.findings.clumped
    assert any("drawn at random" in str(note) for note in result.findings.notes)
    assert "Labels of similar rows were hidden together" in result.summary[0]
    assert "together with those of similar rows" in result.summary[1]
    right = (result.table["state"] == np.where(ill, "ill", "well"))[patient >= 16]
    claim = result.record["leave_one_out"]["accuracy"]
    assert claim["low"] <= right.mean() <= claim["high"]
    assert claim["tested"] == 80


def test_clumps_are_patients(rng):
    X, patient = visits(rng)
    clumps = label_clumps(X, patient < 16, seed=0)
    pairs = set(zip(patient[patient < 16], clumps, strict=True))
    assert len(pairs) == 16  # no patient is in two clumps
    assert set(clumps) == set(range(clumps.max() + 1))
    assert len(set(clumps)) > 12  # and few share one


def test_random_rows_have_no_clumps(rng):
    X, _ = visits(rng)
    assert label_clumps(X, rng.random(400) < 0.2, seed=0) is None


def test_few_clumps_and_many_labels_are_not_hidden(rng):
    X, patient = visits(rng, patients=12, each=40)
    assert len(label_clumps(X, patient < 3, seed=0)) == 0
    X, patient = visits(rng, patients=400, each=10)
    assert len(label_clumps(X, patient < 200, seed=0)) == 0


def labels_of(kind, own, rng):
    """Return a label for each patient, from the rows of their own."""
    score = own @ rng.normal(size=own.shape[1])
    if kind == "chance":
        return np.where(rng.random(len(own)) < 0.5, "ill", "well")
    if kind == "partly learnable":
        return np.where(score + 2 * rng.normal(size=len(own)) > 0, "ill", "well")
    return 3 * score + 2 * rng.normal(size=len(own))


@pytest.mark.parametrize(
    "kind",
    [
        "chance",
        pytest.param("partly learnable", marks=pytest.mark.slow),
        pytest.param("numbers", marks=pytest.mark.slow),
    ],
)
def test_claims_hold_for_other_patients(kind):
    held, too_hopeful = [], []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        own = rng.normal(size=(60, 5))
        patient = np.repeat(np.arange(60), 6)
        X = own[patient] + 0.25 * rng.normal(size=(360, 5))
        y = labels_of(kind, own, rng)[patient]
        labeled = patient < 18
        rows = pa.table({f"x{i}": x for i, x in enumerate(X.T)})
        given = [label if has else None for label, has in zip(y, labeled, strict=True)]
        task = "numbers" if kind == "numbers" else "classes"
        model = TableModel("y", task, budget=0.1).fit(rows, given)
        predicted = np.array(model.predict(rows).values)[~labeled]
        if kind == "numbers":
            score, truth = mean_absolute_error, np.abs(predicted - y[~labeled]).mean()
        else:
            score, truth = accuracy, (predicted == y[~labeled]).mean()
        claims = []
        for by_clump in (False, True):
            loo = model.left_out(by_clump)
            claim = score(loo.given, loo.predicted, len(predicted), loo.independent)
            claims.append(claim.low <= truth <= claim.high)
        too_hopeful.append(not claims[0])
        held.append(claims[1])
    assert np.mean(too_hopeful) == 1  # each label without its own only
    assert np.mean(held) >= 0.75


def patients(seed, classes):
    """60 patients with 6 similar visits each, of which 18 are labeled."""
    rng = np.random.default_rng(seed)
    own = rng.normal(size=(60, 5))
    patient = np.repeat(np.arange(60), 6)
    X = own[patient] + 0.25 * rng.normal(size=(360, 5))
    y = np.array(classes)[rng.integers(0, len(classes), 60)]
    rows = pa.table({f"x{i}": x for i, x in enumerate(X.T)})
    return rows, y, patient


def test_confidences_of_ordered_classes_are_those_without_the_clump():
    # The labels are chance, so that nobody can be sure of another patient's.
    rows, y, patient = patients(0, ["low", "medium", "high"])
    given = [y[p] if p < 18 else None for p in patient]
    order = ("low", "medium", "high")
    model = TableModel("y", "classes", budget=1e-9, order=order).fit(rows, given)
    assert model.hides_clumps
    sure = model.predict(rows).confidence[patient >= 18].mean()
    assert sure < 0.6  # by leave-one-out, 0.9


def test_a_class_that_is_hidden_whole_is_not_counted():
    rows, y, patient = patients(1, ["a", "b"])
    y[3] = "c"  # six visits of one patient
    given = [y[p] if p < 18 else None for p in patient]
    model = TableModel("y", "classes", budget=1e-9).fit(rows, given)
    assert model.hides_clumps
    assert set(model.left_out(by_clump=True).given) == {"a", "b"}
    assert set(model.left_out().given) == {"a", "b", "c"}
