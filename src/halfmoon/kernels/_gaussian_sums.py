r"""Sums of Gaussian kernels at many rows, without the matrix of their values.

.. math:: g(x) = \sum_e \sum_j exp(-|x - z_j|^2 / (2 e^2)) \, C_{e,j}

A few rows are compared with all z at a time, so that their values stay in the cache of
a core: O(p) memory for each of them, and no pass over values in memory. The exponents
are one product of matrices, as in `_length_scales.py`. A kernel of width e / 2 is the
fourth power of that of width e: two products in place of a distance and an exponential.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from halfmoon._rows import Array
from halfmoon.kernels._length_scales import CACHED_ENTRIES, squared_norms

__all__ = ["gaussian_sum"]

MAX_SQUARINGS = 4  # each doubles the relative error of a value


def gaussian_sum(
    Z: Array,  # (p, d), dense
    terms: Sequence[tuple[float, Array]],  # widths e and coefficients, (p, t)
) -> Callable[[Array], Array]:
    """Return the function from dense rows to the sum, shapes (b, d) and (b, t).

    Examples
    --------
    >>> Z, C = np.array([[0.0], [1.0]]), np.array([[1.0], [2.0]])
    >>> gaussian_sum(Z, [(1.0, C), (0.5, -C)])(np.array([[0.0]])).round(4)
    array([[0.9424]])
    """
    middle = Z.mean(axis=0)
    (p, d), t = Z.shape, terms[0][1].shape[1]
    chains: list[tuple[Array, list[tuple[int, Array]]]] = []
    before = np.inf
    for width, C in sorted(terms, key=lambda term: -term[0]):
        squarings = 2 * np.log2(before / width)
        if not (chains and squarings.is_integer() and squarings <= MAX_SQUARINGS):
            squarings = 0
            chains.append((_right(Z - middle, width), []))
        chains[-1][1].append((int(squarings), C))
        before = width

    def total(X: Array) -> Array:
        left = np.ones((len(X), d + 2))
        np.subtract(X, middle, out=left[:, :d])
        left[:, d] = squared_norms(left[:, :d])
        step = max(1, CACHED_ENTRIES // p)
        found, held = np.zeros((len(X), t)), np.empty((min(step, len(X)), p))
        for start in range(0, len(X), step):
            rows = left[start : start + step]
            values, sums = held[: len(rows)], found[start : start + step]
            for right, powers in chains:
                np.matmul(rows, right, out=values)
                np.minimum(values, 0.0, out=values)  # rounding may exceed it
                np.exp(values, out=values)
                for squarings, C in powers:
                    for _ in range(squarings):
                        np.multiply(values, values, out=values)
                    sums += values @ C
        return found

    return total


def _right(Z: Array, width: float) -> Array:
    """Return the factor of (x, |x|^2, 1) that gives the exponents, (d + 2, p)."""
    right = np.empty((len(Z), Z.shape[1] + 2))
    right[:, :-2] = Z / width**2
    right[:, -2] = -0.5 / width**2
    right[:, -1] = -0.5 / width**2 * squared_norms(Z)
    return right.T
