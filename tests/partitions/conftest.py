"""Small tables of which, as of large ones, only a sample is at hand."""

import numpy as np
import pytest

from halfmoon._partitions import survey

N = 1_200


@pytest.fixture
def small_samples(monkeypatch):
    """Samples of some 100 rows."""
    monkeypatch.setattr(survey, "SAMPLE_ROWS", 100)
    monkeypatch.setattr(survey, "MIN_PARTITION_ROWS", 10)


@pytest.fixture
def table(rng):
    """Rows, numbers that follow from them, and which of them are known."""
    X = rng.normal(size=(N, 3))
    truth = np.sin(X[:, 0]) + X[:, 1]
    y = np.full(N, np.nan)
    known = rng.choice(N, 60, replace=False)
    y[known] = truth[known]
    return X, y
