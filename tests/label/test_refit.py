"""Near-copies come last."""

import numpy as np
import pytest
import scipy.sparse as sp

from halfmoon._label.refit import NEAR, copies_last


def one_by_one(X, picks, labeled, near):
    """The obvious way."""
    kept, copies = [], []
    for pick in picks:
        others = [*np.flatnonzero(labeled), *kept]
        is_copy = any(np.linalg.norm(X[pick] - X[other]) < near for other in others)
        (copies if is_copy else kept).append(int(pick))
    return [*kept, *copies]


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_as_one_by_one(seed, form):
    rng = np.random.default_rng(seed)
    some = rng.normal(size=(20, 3))
    X = np.vstack([some, some + 1e-3 * rng.normal(size=some.shape), some, some[:5]])
    labeled = np.zeros(len(X), dtype=bool)
    labeled[rng.permutation(len(X))[:8]] = True
    picks = rng.permutation(np.flatnonzero(~labeled))[:30]
    near = NEAR * np.median(np.linalg.norm(X[picks][:, None] - X, axis=2))
    expected = one_by_one(X, picks, labeled, near)
    assert expected != picks.tolist()
    assert copies_last(form(X), picks, labeled) == expected


def test_different_rows_keep_their_order():
    X = np.random.default_rng(0).normal(size=(50, 4))
    picks = np.arange(40)[::-1]
    labeled = np.arange(50) >= 45
    assert copies_last(X, picks, labeled) == picks.tolist()
    assert copies_last(X, picks, np.zeros(50, dtype=bool)) == picks.tolist()
