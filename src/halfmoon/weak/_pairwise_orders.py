r"""Rankings of more items than can be listed: each pair of items is an output.

Kendall's loss is a sum over the pairs of items, so a ranking is one label for each:

.. math:: T_{ab} = 1 \text{ if a is above b, else } -1

Each pair is learned from the rows that order it (`halfmoon.weak._separate_outputs`).
This is the infimum loss over the orders of single pairs, which need not agree on one
ranking. Predictions do:

.. math:: f(x) = argmax_z \sum_{a \text{ above } b \text{ in } z} g_{ab}(x)          (1)

The best order of each set of top items follows from those of smaller sets,

.. math:: V(S) = max_{b \in S} \; V(S - b) + \sum_{a \in S - b} g_{ab}

which is exact and takes O(2^m m) time per row. More than 12 items are sorted by
sum_b g_ab, which is exact for Spearman's loss and an approximation of (1).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halfmoon._rows import Array, Indices
from halfmoon.weak._disambiguation import FAR, output_blocks
from halfmoon.weak._separate_outputs import SeparateOutputs

__all__ = ["ABOVE", "PairwiseOrders"]

MAX_EXACT_ITEMS = 12  # 4,096 sets of items
ABOVE = ">"  # separates items in text, the better one first


@dataclass(frozen=True)
class PairwiseOrders(SeparateOutputs):
    """All rankings of some items, without a list of them."""

    text: bool = False  # whether rankings are text such as "b>a>c"

    output = "ranking"
    elements = "items"
    least = "one order of two items"

    @property
    def exact(self) -> bool:
        return len(self.outputs) <= MAX_EXACT_ITEMS

    @property
    def n_parts(self) -> int:
        return len(self.pairs)

    @property
    def pairs(self) -> NDArray[np.intp]:
        """Numbers of the items of each pair, shape (P, 2)."""
        return np.array(list(combinations(range(len(self.outputs)), 2)))

    def completed(self, g: Array, labels: Array) -> NDArray[Any]:
        """Return the best of the rankings that agree with labels of shape (b, P)."""
        return self._named(self._ranked(g, labels))

    def signs(self, g: Array) -> Array:
        open_pairs = np.full((len(g), self.n_parts), np.nan)
        place = np.argsort(self._ranked(g, open_pairs), axis=1)
        above = place[:, self.pairs[:, 0]] < place[:, self.pairs[:, 1]]
        return np.where(above, 1.0, -1.0)

    def _named(self, ranking: Indices) -> NDArray[Any]:
        named = self.outputs[ranking]
        if not self.text:
            return named
        return np.array([ABOVE.join(map(str, each)) for each in named], dtype=object)

    def _ranked(self, g: Array, labels: Array) -> Indices:
        """Return item numbers from first to last, shape (b, m)."""
        values = np.where(np.isnan(labels), self._all_values(g), FAR * labels)
        m, (first, second) = len(self.outputs), self.pairs.T
        best = _best_orders if self.exact else _sorted
        out = np.empty((len(g), m), dtype=np.intp)
        for rows in output_blocks(len(g), m * 2**m if self.exact else m**2):
            G = np.zeros((len(values[rows]), m, m))
            G[:, first, second] = values[rows]
            G[:, second, first] = -values[rows]
            out[rows] = best(G)
        return out


def _best_orders(G: Array) -> Indices:  # (b, m, m) to (b, m)
    """Solve (1), G[:, a, b] being the gain of a above b; the first of equal orders."""
    b, m, _ = G.shape
    every, items = np.arange(b), np.arange(m)
    value, last = np.zeros((2**m, b)), np.zeros((2**m, b), dtype=np.intp)
    gain = np.zeros((2**m, b, m))  # of each item below all items of a set
    for top in range(1, 2**m):
        inside = items[top >> items & 1 == 1][::-1]
        gain[top] = gain[top & (top - 1)] + G[:, inside[-1]]
        others = top ^ (1 << inside)
        found = value[others] + gain[others, :, inside]  # (size of the set, b)
        best = found.argmax(axis=0)
        value[top], last[top] = found[best, every], inside[best]
    out, left = np.empty((b, m), dtype=np.intp), np.full(b, 2**m - 1)
    for place in range(m - 1, -1, -1):
        out[:, place] = last[left, every]
        left = left ^ (1 << out[:, place])
    return out


def _sorted(G: Array) -> Indices:
    """Sort items by their gains against all others.

    What a row knows is kept: an item above another one is also above all below it.
    """
    return np.argsort(-G.sum(axis=2), axis=1, kind="stable")
