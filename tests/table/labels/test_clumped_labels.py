"""Labels in clumps are found by the distances to the nearest label."""

import numpy as np
import pandas as pd
import pytest

import halfmoon
from halfmoon.table._labels.clumped_labels import are_clumped


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


def test_a_filled_table_has_a_note(rng):
    X, patient = visits(rng)
    frame = pd.DataFrame(X.round(3), columns=["a", "b", "c"])
    ill = np.isin(patient, np.flatnonzero(rng.random(80) < 0.5))
    frame["state"] = np.where(ill, "ill", "well")
    frame.loc[patient >= 16, "state"] = None
    result = halfmoon.fill(frame, "state", budget=1)
    assert result.findings.clumped
    assert any("drawn at random" in str(note) for note in result.findings.notes)
