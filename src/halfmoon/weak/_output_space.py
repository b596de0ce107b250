r"""Output spaces: a list of outputs, with a loss that is an inner product.

.. math:: loss(z, y) = c + psi_z'T_y                                                 (1)

Any finite loss matrix L has this form, by its singular vectors. The estimated loss of
an output z at a row is then c + psi_z'g(x) with g(x) = sum_i H_i(x) T_{y_i}. If the
weights H_i(x) sum to 1, it is sum_i H_i(x) loss(z, y_i): the loss trick (S1:15).

===========  ==========================  ============================================
loss         outputs                     T
===========  ==========================  ============================================
zero_one     any                         rows of the identity
hamming      sets of up to 8 labels      -1 or 1 for each label; share of wrong ones
kendall      rankings of up to 8 items   -1 or 1 for each pair; share of wrong ones
a matrix     any                         columns of L, rotated to as few as its rank
===========  ==========================  ============================================

"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations, permutations, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halfmoon._rows import EPS, Array, Indices
from halfmoon.weak._disambiguation import output_blocks

__all__ = [
    "MAX_ITEMS",
    "MAX_LABELS",
    "OutputSpace",
    "hamming_space",
    "kendall_space",
    "label_sets",
    "matrix_space",
    "orders",
    "zero_one_space",
]

MAX_ITEMS = 8  # 40,320 rankings; more are not listed
MAX_LABELS = 8  # 256 sets of labels; more are not listed


@dataclass(frozen=True)
class OutputSpace:
    """Outputs, and the loss (1) between them."""

    outputs: NDArray[Any]  # (k,) or (k, q)
    T: Array  # (k, t)
    psi: Array  # (k, t)
    constant: float

    def losses(self, g: Array) -> Array:
        """Return the estimated loss of every output at values g, shape (b, k)."""
        return np.asarray(self.constant + g @ self.psi.T)

    def decode(self, g: Array) -> Indices:  # (b,)
        """Return the output with the least estimated loss; the first of equal ones."""
        out = np.empty(len(g), dtype=np.intp)
        for rows in output_blocks(len(g), len(self.T)):
            out[rows] = (g[rows] @ self.psi.T).argmin(axis=1)
        return out

    def predicted(self, g: Array) -> NDArray[Any]:
        """Return the outputs with the least estimated loss."""
        return self.outputs[self.decode(g)]

    def infimum_losses(self, g: Array, sets: NDArray[np.bool_]) -> Array:
        """Return the least loss of predictions over each row's candidates, (b,)."""
        codes = self.decode(g)
        out = np.empty(len(codes))
        for rows in output_blocks(len(codes), len(self.T)):
            loss = self.constant + self.psi[codes[rows]] @ self.T.T
            out[rows] = np.where(sets[rows], loss, np.inf).min(axis=1)
        return out


def zero_one_space(outputs: NDArray[Any]) -> OutputSpace:
    """Return the space with loss 1 for every wrong output."""
    identity = np.eye(len(outputs))
    return OutputSpace(outputs, identity, -identity, 1.0)


def matrix_space(outputs: NDArray[Any], L: Any) -> OutputSpace:
    """Return the space with any loss: L[z, y] is the cost of z where y is true."""
    try:
        L = np.asarray(L, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"loss is not a matrix of numbers: {error}") from error
    k = len(outputs)
    if L.shape != (k, k):
        raise ValueError(
            f"loss has shape {L.shape}, but there are {k} outputs; a matrix of shape "
            f"({k}, {k}) is needed, loss[z, y] being the cost of z where y is true."
        )
    if not np.isfinite(L).all():
        raise ValueError("loss contains NaN or infinity; finite costs are needed.")
    if not L.any():
        raise ValueError("loss is 0 everywhere, so all outputs are equally good.")
    U, s, Vt = np.linalg.svd(L, full_matrices=False)
    kept = s > EPS * k * s[0]
    # Psi T' = L, and rows of T have the same distances as columns of L.
    return OutputSpace(outputs, (Vt[kept].T) * s[kept], U[:, kept], 0.0)


def hamming_space(outputs: NDArray[Any]) -> OutputSpace:
    """Return the space with the share of wrong labels; outputs (k, q) of 0 or 1."""
    T = 2.0 * np.asarray(outputs, dtype=np.float64) - 1.0
    return OutputSpace(outputs, T, -T / (2 * T.shape[1]), 0.5)


def label_sets(q: int) -> NDArray[np.intp]:
    """Return all sets of q labels, as rows of 0 and 1."""
    return np.array(list(product((0, 1), repeat=q)), dtype=np.intp)


def orders(m: int) -> NDArray[np.intp]:
    """Return all rankings of m items, as item numbers from first to last."""
    return np.array(list(permutations(range(m))), dtype=np.intp)


def kendall_space(outputs: NDArray[Any], ranking: NDArray[np.intp]) -> OutputSpace:
    """Return the space with the share of pairs in the wrong order.

    The rows of `ranking`, shape (k, m), are item numbers from first to last.
    """
    m = ranking.shape[1]
    place = np.argsort(ranking, axis=1)
    pairs = np.array(list(combinations(range(m), 2)))
    T = np.where(place[:, pairs[:, 0]] < place[:, pairs[:, 1]], 1.0, -1.0)
    return OutputSpace(outputs, T, -T / (2 * len(pairs)), 0.5)
