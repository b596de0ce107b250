"""The circle of S2's section 6: kernel, waves, target functions and their modes.

Rows are angles, uniform on [0, 2 pi]. The kernel 1 + sum_i i^(-2s) cos(i (x - z)) has
the orthonormal eigenfunctions 1, sqrt(2) cos(ix), sqrt(2) sin(ix), with eigenvalues 1
and i^(-2s) / 2, twice each. A grid of equal steps stands for the distribution: means
over it are integrals, but for waves faster than half its rows.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from halfmoon._rows import Array
from halfmoon.kernels import Kernel, PeriodicSobolev
from halfmoon.kernels._user_kernels import FromFunction
from halfmoon.theory import eigenlearning
from halfmoon.theory._eigenlearning import Eigenlearning
from halfmoon.unpenalized import Features

__all__ = [
    "ALPHA",
    "FLAT",
    "KERNEL",
    "TARGETS",
    "coefficients",
    "free_waves",
    "grid",
    "predict",
    "sample_rows",
    "spectrum",
    "waves",
]

FLAT_WAVES = 300


def _flat(X: Array, Z: Array) -> Array:
    """1 + cos t + ... + cos 300 t, t = x - z: S2's artificial kernel."""
    t = X - Z.T
    sine = np.sin(t / 2)
    at_0 = np.abs(sine) < NEAR_0
    ratio = np.sin((FLAT_WAVES + 0.5) * t) / np.where(at_0, 1.0, 2 * sine)
    return 0.5 + np.where(at_0, FLAT_WAVES + 0.5, ratio)


KERNEL = PeriodicSobolev(1.0)
FLAT = FromFunction(_flat)
ALPHA = 0.01
NEAR_0 = 1e-9  # of a sine that divides; beyond, its quotient has digits enough
MODES = 2001  # 1, and a thousand cosines and sines

TARGETS: dict[str, Callable[[Array], Array]] = {
    "sum of n cos nx, n ≤ 5": lambda x: np.cos(x * np.arange(6)) @ np.arange(6.0),
    "cos 3x + sin 12x": lambda x: np.cos(3 * x[:, 0]) + np.sin(12 * x[:, 0]),
    "triangle, the distance of x from π": lambda x: np.abs(x[:, 0] - np.pi),
    "step, the sign of sin x": lambda x: np.sign(np.sin(x[:, 0])),
}


def grid(m: int) -> Array:
    """Equal steps around the circle, shape (m, 1); none of them at 0 or pi."""
    return 2 * np.pi * (np.arange(m)[:, None] + 0.5) / m


def sample_rows(rng: np.random.Generator, n: int) -> Array:
    return rng.uniform(0, 2 * np.pi, (n, 1))


def waves(X: Array, k: int) -> Array:
    """1, cos x, sin x, ..., cos kx, sin kx, shape (b, 2k + 1)."""
    angle = X * np.arange(1, k + 1)  # (b, k)
    pairs = np.stack([np.cos(angle), np.sin(angle)], axis=2)
    return np.hstack([np.ones((len(X), 1)), pairs.reshape(len(X), 2 * k)])


def free_waves(k: int) -> Features:
    """The waves as unpenalized features."""
    return Features(lambda X: waves(X, k), constant=False)


def spectrum(kernel: Kernel = KERNEL) -> Array:
    """Eigenvalues in the order of the waves."""
    i = np.arange(1.0, MODES // 2 + 1)
    if kernel is FLAT:
        s = np.where(i <= FLAT_WAVES, 0.5, 0.0)
    else:
        s = i ** (-2 * KERNEL.smoothness) / 2
    return np.append(1.0, np.repeat(s, 2))


def coefficients(target: Callable[[Array], Array]) -> Array:
    """Of a function in the orthonormal waves, in their order."""
    x = grid(8 * MODES)
    moments = np.exp(1j * np.pi / len(x)) ** -np.arange(MODES // 2 + 1)
    half = np.fft.rfft(target(x))[: MODES // 2 + 1] * moments / len(x)
    pairs = np.sqrt(2) * np.column_stack([half.real, -half.imag])[1:]
    return np.append(half[0].real, pairs.ravel())


def predict(
    target: Callable[[Array], Array],
    n: int,
    noise: float,
    *,
    free: int = 0,
    alpha: float = ALPHA,
    kernel: Kernel = KERNEL,
) -> Eigenlearning:
    """What theory says of a fit with the first `free` waves unpenalized."""
    s = spectrum(kernel)
    rest = float(kernel.diag(np.zeros((1, 1)))[0] - s.sum())
    return eigenlearning(
        s,
        n,
        alpha,
        target=coefficients(target),
        noise_variance=noise,
        n_unpenalized=free,
        tail=max(rest, 0.0),
    )
