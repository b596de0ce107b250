"""Eigenlearning, against simulations on the circle and limits known in closed form."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from halfmoon._solvers.feature_path import nested_features
from halfmoon.kernels import PeriodicSobolev
from halfmoon.theory import eigenlearning


def circle(modes, smoothness=1.0):
    """Spectrum of the periodic kernel, and n cos(n x), n = 0, ..., 5, in its modes.

    The orthonormal functions are 1, sqrt(2) cos(ix) and sqrt(2) sin(ix).
    """
    i = np.repeat(np.arange(1, modes + 1.0), 2)
    spectrum = np.append(1.0, i ** (-2 * smoothness) / 2)
    target = np.zeros(spectrum.size)
    target[1:11:2] = np.arange(1, 6) / np.sqrt(2)
    return spectrum, target


TRACE = 1 + np.pi**2 / 6  # k(x, x) of smoothness 1

# N = 100, alpha = .01, noise of variance 1; simulated 4.220, 4.252, 1.147 and 1.287.
KNOWN = [(0, 4.068), (5, 4.080), (11, 1.152), (21, 1.275)]


@pytest.mark.parametrize(("f", "risk"), KNOWN)
def test_known_risks(f, risk):
    s, v = circle(20_000)
    settings = {"target": v, "noise_variance": 1.0, "n_unpenalized": f}
    whole = eigenlearning(s, 100, 0.01, **settings)
    assert_allclose(whole.risk, risk, atol=0.002)
    few = eigenlearning(s[:201], 100, 0.01, target=v[:201], noise_variance=1.0,
                        n_unpenalized=f, tail=TRACE - s[:201].sum())  # fmt: skip
    assert_allclose(few.risk, whole.risk, rtol=1e-3)
    cut = eigenlearning(s[:201], 100, 0.01, target=v[:201], noise_variance=1.0,
                        n_unpenalized=f)  # fmt: skip
    assert abs(cut.risk - whole.risk) > 5 * abs(few.risk - whole.risk)


def test_simulated(rng):
    """The four risks above, each within 6 percent of a mean over 60 fits.

    The standard error of the means is 2 percent. At f = 0 the theory is known to be
    4 percent low, as cosines are not normal numbers.
    """
    N, s = 100, circle(2000)[0]
    grid = 2 * np.pi * np.arange(256)[:, None] / 256
    n = np.arange(1, 11)

    def waves(X):
        pairs = np.stack([np.cos(X * n), np.sin(X * n)], axis=2)
        return np.hstack([np.ones((len(X), 1)), pairs.reshape(len(X), 20)])

    def truth(X):
        return np.cos(X * n[:5]) @ n[:5, None]

    kernel, risks = PeriodicSobolev(1.0), []
    for _ in range(60):
        X = rng.uniform(0, 2 * np.pi, (N, 1))
        y = truth(X) + rng.standard_normal((N, 1))
        path = nested_features(kernel(X), waves(X), y, lam=0.01 * N)
        risks.append(1 + path.errors(kernel(grid, X), waves(grid), truth(grid)))
    mean = np.mean(risks, axis=0)
    for f, _ in KNOWN:
        v = circle(2000)[1]
        theory = eigenlearning(
            s, N, 0.01, target=v, noise_variance=1.0, n_unpenalized=f
        )
        assert_allclose(theory.risk, mean[f], rtol=0.06)


def test_defining_equations(rng):
    """(1) and (2) written out, for modes in any order."""
    s, v = rng.exponential(size=30) ** 4, rng.normal(size=30)
    N, alpha, f, tail = 20, 0.03, 4, 0.2
    e = eigenlearning(
        s, N, alpha, target=v, noise_variance=0.5, n_unpenalized=f, tail=tail
    )
    L = s[f:] / (s[f:] + e.kappa)
    assert_allclose(L.sum() + (alpha * N + tail) / e.kappa, N - f, rtol=1e-12)
    assert_allclose(e.learnability, np.append(np.ones(f), L))
    assert_allclose(e.overfitting, N / (N - f - (L**2).sum()))
    assert_allclose(e.missed, ((1 - L) ** 2 * v[f:] ** 2).sum())
    assert_allclose(e.risk, e.overfitting * (0.5 + e.missed), rtol=1e-12)
    other = np.append(np.arange(f), f + rng.permutation(30 - f))
    again = eigenlearning(s[other], N, alpha, target=v[other], noise_variance=0.5,
                          n_unpenalized=f, tail=tail)  # fmt: skip
    assert_allclose(again.risk, e.risk)


def test_one_mode_in_closed_form():
    """s / (s + k) + alpha N / k = N is a quadratic equation."""
    s, N, alpha = 2.0, 5, 0.3
    b = alpha * N + s - N * s
    kappa = (b + np.sqrt(b**2 + 4 * N * s * alpha * N)) / (2 * N)
    e = eigenlearning([s], N, alpha)
    assert_allclose(e.kappa, kappa, rtol=1e-12)
    assert e.risk == 0  # nothing to learn, no noise


def test_a_large_penalty_leaves_least_squares():
    s, v = circle(50)
    e = eigenlearning(s, 40, 1e12, target=v, noise_variance=2.0, n_unpenalized=5)
    # The five free modes are fitted, and the other waves act as noise.
    assert_allclose(e.risk, 40 / 35 * (2.0 + (v[5:] ** 2).sum()), rtol=1e-6)
    assert_allclose(e.kappa, 40 * 1e12 / 35, rtol=1e-6)


def test_without_a_penalty():
    few = eigenlearning(np.ones(10), 40, 0.0, noise_variance=3.0, target=1.0)
    assert few.kappa == 0
    assert_allclose(few.risk, 3.0 * 40 / 30)  # least squares on ten modes
    assert eigenlearning(np.ones(40), 40, 0.0, noise_variance=3.0).risk == np.inf
    # 80 equal modes: half of each is learned, and interpolation costs a factor 2.
    many = eigenlearning(np.ones(80), 40, 0.0, noise_variance=3.0)
    assert_allclose([many.kappa, many.risk], [1.0, 6.0], rtol=1e-12)
    dead = eigenlearning([1.0, 0.0], 40, 0.0, noise_variance=3.0, target=1.0)
    assert_allclose(dead.risk, 40 / 39 * (3.0 + 1.0))  # s = 0 cannot be learned


def test_modes_over_many_decades():
    """exp(-i) to 1e-300: as many modes as labels are learned, the next hardly."""
    s = np.exp(-np.arange(690.0))
    e = eigenlearning(s, 400, 0.0, noise_variance=1.0)
    assert_allclose((e.learnability).sum(), 400, rtol=1e-12)
    assert -400.5 < np.log(e.kappa) < -399
    assert e.learnability[395] > 0.9
    assert e.learnability[405] < 0.1


def test_more_labels_and_less_noise_are_better():
    s, v = circle(500)
    risks = [
        eigenlearning(s, N, 0.01, target=v, noise_variance=1.0).risk
        for N in (20, 50, 100, 1000)
    ]
    assert (np.diff(risks) < 0).all()
    assert eigenlearning(s, 50, 0.01, target=v).risk < risks[1]


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"n_unpenalized": 20}, "n_unpenalized is 20 with 20 labels.*fewer than 20"),
        ({"n_unpenalized": 31}, "31 and the spectrum has 30 modes"),
        ({"n_unpenalized": -1}, "n_unpenalized is -1"),
        ({"n_samples": 0}, "n_samples is 0"),
        ({"alpha": -1.0}, "alpha is -1.0; a number of 0 or more"),
        ({"noise_variance": np.nan}, "noise_variance is nan"),
        ({"target": [1.0, 2.0]}, r"shape \(2,\) and the spectrum 30 modes"),
        ({"target": np.inf}, "target has NaN or infinity"),
        ({"spectrum": [1.0, -1e-9]}, r"has 1 value\(s\) that are negative"),
        ({"spectrum": np.eye(2)}, r"spectrum has shape \(2, 2\)"),
        ({"tail": -1.0}, "tail is -1.0"),
    ],
)
def test_errors_say_what_to_do(settings, says):
    usual = {"spectrum": np.ones(30), "n_samples": 20, "alpha": 0.1}
    with pytest.raises(ValueError, match=says):
        eigenlearning(**(usual | settings))
