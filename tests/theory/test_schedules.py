"""Schedules of theorem 1: the powers, and the bound that they balance."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from halfmoon.theory import laplacian_schedule


@pytest.mark.parametrize(("a", "s"), [(1.0, 0.5), (0.5, 0.5), (0.25, 1.0)])
def test_powers(a, s):
    n = 10**6
    at, more = (laplacian_schedule(m, 2.0, 3.0, 0.01, a) for m in (n, 16 * n))
    assert_allclose([at.alpha, at.mu], [2 * n**-0.25, 3 * n**-0.25])
    assert_allclose([more.alpha, more.mu], [at.alpha / 2, at.mu / 2])
    ratio = 16**s * np.log(16 * n) / np.log(n)
    assert_allclose(more.n_components / at.n_components, ratio, rtol=0.02)


def test_the_terms_of_the_bound_fall_as_one_over_root_n():
    """(S1:10) without its constant and with labels in a fixed share of the rows."""
    for n in (10**3, 10**5, 10**7):
        lam, mu, p = laplacian_schedule(n)
        l = n / 10
        log = np.log(p) / p
        bound = lam**2 + lam * mu + (1 / l + l**-2 + 1 / n) / (lam * mu) + log
        bound += lam * log**0.5
        assert bound * np.sqrt(n) < 40


def test_no_more_landmarks_than_rows():
    assert laplacian_schedule(1).n_components == 1
    assert laplacian_schedule(50).n_components <= 50


@pytest.mark.parametrize(
    "wrong",
    [{"n_samples": 0}, {"n_samples": 2.5}, {"alpha": 0.0}, {"mu": -1.0},
     {"n_components": np.inf}, {"approximation": 0.0}, {"approximation": 2.0}],
    ids=str,
)  # fmt: skip
def test_bad_input(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        laplacian_schedule(**{"n_samples": 10, **wrong})
