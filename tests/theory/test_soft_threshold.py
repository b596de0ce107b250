"""The soft-threshold spectrum, against draws of theorem 5.2 and closed forms."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import zeta

from halfmoon.theory import soft_threshold_spectrum


def simulated(s, k, rng, repeats):
    """1 - 2 s_i E[M_ii] + sum_j s_j^2 E[M_ij^2] by draws, written out."""
    total = np.zeros(len(s))
    for _ in range(repeats):
        xi = rng.standard_normal((k, len(s)))
        G = (xi * s) @ xi.T
        M = xi.T @ np.linalg.solve(G, xi)
        total += 1 - 2 * s * np.diag(M) + (M**2) @ s**2
    return total / repeats


@pytest.mark.parametrize("a", [4.0, 2.0, 1.1])
def test_draws(rng, a):
    """Within 6 percent, where the mean of 30 draws is known to 2 or better.

    Modes far above kappa vary more from draw to draw, and are 10 percent above theory.
    """
    s, k = np.arange(1, 301) ** -a, 40
    theory = soft_threshold_spectrum(s, k)
    mean = simulated(s, k, rng, repeats=30)
    for low, high in [(30, 50), (50, 100), (100, 300)]:
        block = slice(low, high)
        assert_allclose(theory.ratio[block].mean(), mean[block].mean(), rtol=0.06)
    assert_allclose(theory.ratio[15:30].mean(), mean[15:30].mean(), rtol=0.25)
    # Without c the last modes would be off by its whole size.
    assert theory.c > {4.0: 3.5, 2.0: 1.8, 1.1: 1.1}[a]


def test_residual_of_a_draw_of_functions(rng):
    """The same quantity from projections: the diagonal of (I - Pi) S (I - Pi)."""
    s, k = np.arange(1, 41) ** -2.0, 5
    one = np.random.default_rng(0).standard_normal((k, 40))
    Q = np.linalg.qr((one * np.sqrt(s)).T)[0]
    rest = np.eye(40) - Q @ Q.T
    expected = np.diag(rest @ np.diag(s) @ rest) / s
    ratio = simulated(s, k, np.random.default_rng(0), repeats=1)
    assert_allclose(ratio, expected, rtol=1e-9)


def test_defining_equations(rng):
    s = rng.exponential(size=50) ** 3
    soft = soft_threshold_spectrum(s, 8)
    L = s / (s + soft.kappa)
    assert_allclose(L.sum(), 8, rtol=1e-12)
    assert_allclose(soft.learnability, L)
    assert_allclose(soft.c, 8 / (8 - (L**2).sum()), rtol=1e-10)
    assert_allclose(soft.ratio, soft.c * (1 - L) ** 2, rtol=1e-10)
    assert_allclose(soft.spectrum, s * soft.ratio)


@pytest.mark.parametrize("a", [4.0, 2.0, 1.5])
def test_c_tends_to_the_power_of_the_decay(a):
    n = np.arange(1, 100_001)
    tail = zeta(a, n[-1] + 1)
    errors = [
        abs(soft_threshold_spectrum(n**-a, k, tail=tail).c - a) for k in (10, 100, 1000)
    ]
    assert errors[0] > 5 * errors[1] > 20 * errors[2]
    assert errors[2] < 0.003 * a
    # kappa^(-1/a) pi / (a sin(pi / a)) = k + 1/2, by the integral of L
    kappa = soft_threshold_spectrum(n**-a, 100, tail=tail).kappa
    assert_allclose(kappa, (np.pi / a / np.sin(np.pi / a) / 100.5) ** a, rtol=1e-3)


def test_c_of_an_exponential_is_k_times_its_rate():
    """Only the few modes near kappa are partly removed: sum L (1 - L) = 10."""
    s = np.exp(-0.1 * np.arange(1, 3001))
    for k in (100, 300):
        soft = soft_threshold_spectrum(s, k)
        assert_allclose(soft.c, 0.1 * k, rtol=0.01)
        assert_allclose(np.log(soft.kappa), -0.1 * (k + 0.5), atol=0.01)


def test_tail_replaces_missing_modes():
    n = np.arange(1, 200_001)
    whole = soft_threshold_spectrum(n**-1.5, 50)
    few = soft_threshold_spectrum(n[:3000] ** -1.5, 50, tail=(n[3000:] ** -1.5).sum())
    cut = soft_threshold_spectrum(n[:3000] ** -1.5, 50)
    assert_allclose(few.c, whole.c, rtol=1e-3)
    assert_allclose(few.spectrum, whole.spectrum[:3000], rtol=2e-3)
    assert abs(cut.c / whole.c - 1) > 0.03


def test_equal_modes_and_no_draws():
    """k of m equal modes: the draws span a random subspace, and (1 - k/m) is left."""
    equal = soft_threshold_spectrum(np.full(10, 3.0), 4)
    assert_allclose(equal.ratio, np.full(10, 0.6), rtol=1e-12)
    none = soft_threshold_spectrum([2.0, 1.0, 0.0], 0)
    assert none.kappa == np.inf
    assert_allclose(none.ratio, 1.0)
    assert_allclose(none.spectrum, [2.0, 1.0, 0.0])


@pytest.mark.parametrize(
    ("spectrum", "k", "says"),
    [
        ([1.0, 0.5, 0.0], 2, r"k is 2, but the spectrum has only 2 mode\(s\) above 0"),
        ([1.0, 0.5], -1, "k is -1"),
        ([1.0, 0.5], 1.5, "k is 1.5"),
        ([1.0, np.nan], 1, r"1 value\(s\) that are negative or not finite"),
        ([], 1, r"shape \(0,\)"),
    ],
)
def test_errors_say_what_to_do(spectrum, k, says):
    with pytest.raises(ValueError, match=says):
        soft_threshold_spectrum(spectrum, k)
