r"""Sums of Gaussian kernels at many rows, without the matrix of their values.

.. math:: g(x) = \sum_e \sum_j exp(-|x - z_j|^2 / (2 e^2)) \, C_{e,j}

A few rows are compared with all z at a time, so that their values stay in the cache of
a core: O(p) memory for each of them, and no pass over values in memory. A kernel of
width e / 2 is the fourth power of that of width e: two products in place of an
exponential.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from halfmoon._rows import Array, Rows
from halfmoon.kernels._length_scales import DistancesTo

__all__ = ["gaussian_sum"]

MAX_SQUARINGS = 4  # each doubles the relative error of a value


def gaussian_sum(
    Z: Array,  # (p, d), dense
    terms: Sequence[tuple[float, Array]],  # widths e and coefficients, (p, t)
) -> Callable[[Rows], Array]:
    """Return the function from rows to the sum, shapes (b, d) and (b, t).

    Examples
    --------
    >>> Z, C = np.array([[0.0], [1.0]]), np.array([[1.0], [2.0]])
    >>> gaussian_sum(Z, [(1.0, C), (0.5, -C)])(np.array([[0.0]])).round(4)
    array([[0.9424]])
    """
    distances, t = DistancesTo(Z), terms[0][1].shape[1]
    chains: list[tuple[float, list[tuple[int, Array]]]] = []
    before = np.inf
    for width, C in sorted(terms, key=lambda term: -term[0]):
        squarings = 2 * np.log2(before / width)
        if not (chains and squarings.is_integer() and squarings <= MAX_SQUARINGS):
            squarings = 0
            chains.append((-0.5 / width**2, []))
        chains[-1][1].append((int(squarings), C))
        before = width

    def total(X: Rows) -> Array:
        found = np.zeros((X.shape[0], t))
        for rows, q in distances.blocks(X):
            for factor, powers in chains:
                values = np.multiply(q, factor)
                np.exp(values, out=values)
                for squarings, C in powers:
                    for _ in range(squarings):
                        np.multiply(values, values, out=values)
                    found[rows] += values @ C
        return found

    return total
