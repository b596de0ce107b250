r"""Probabilities of the candidate classes, with a model of the false candidates.

The infimum loss prefers one class for many rows: where most sets with sheep also have
grass, calling every sheep grass costs least. What is missing is how likely a set is for
a class. So the sets are modeled too, candidates being independent given the class:

.. math:: P(S | y) = \prod_{c \ne y} theta_{yc}^{[c \in S]}
          (1 - theta_{yc})^{[c \notin S]}                                            (1)

and labels have probabilities p instead of one value. With M = I - H, H the smoother of
the rows, the expected loss of a fit to labels drawn from p, and the objective, are

.. math:: E = \sum_i w_i M_{ii} |T|^2 - \sum_{i \ne j} m_i'H_{ij} m_j, \quad
          m_i = \sum_y p_{iy} T_y

.. math:: F = E / (2 s^2) + (W r / 2) \log s^2 + \sum_i w_i \sum_{y \in S_i} p_{iy}
          (\log p_{iy} - omega \log P(S_i | y))                                      (2)

the free energy of a mean field; r is the dimension of the outputs, and all T_y are
equally long. Each kind of step decreases F:

1. p_iy proportional to exp(T_y'(sum over j != i of H_ij m_j) / s^2) P(S_i | y)^omega.
   The own label of a row has no part in it. All rows change at once, less far if F
   would increase.
2. s^2 = E / (W r): as labels become clear, the noise becomes less, and p more extreme.
3. theta, from the counts that p expects, shrunk to the rate of c as a false candidate;
   a Beta prior that does so is part of F.

With omega = 0 and s^2 to 0, labels change as single ones do for the infimum loss
(`halfmoon.weak._disambiguation`).
"""

from __future__ import annotations

import numpy as np
from scipy.special import log_softmax, xlogy

from halfmoon._rows import Array
from halfmoon.weak._disambiguation import Embedding, FoundLabels, best_candidates
from halfmoon.weak._row_smoother import RowSmoother

__all__ = ["chance_corrected_errors", "false_rates", "soft_labels"]

MAX_STEPS = 100
TOLERANCE = 1e-5  # least decrease of F, for each row
OMEGA = 0.5  # less than 1, because candidates are not independent
PSEUDO_ROWS = 20.0  # weight of the rates that theta is shrunk to
STEP_LENGTHS = (1.0, 0.5, 0.25, 0.125, 0.0625)
LEAST_VARIANCE = 1e-12  # where all labels are fitted exactly


def soft_labels(
    smoother: RowSmoother,
    within: Embedding,  # of the rows of the smoother
    start: Array,  # (r, t)
    root_w: Array,  # (r, 1)
) -> FoundLabels:
    """Take the three kinds of step from a start, until F hardly changes."""
    field = _MeanField(smoother, within, root_w, start)
    history = [field.objective]
    for _ in range(MAX_STEPS if within.open else 0):
        if not field.step():
            break
        history.append(field.objective)
        if history[-1] > history[-2] - TOLERANCE:
            break
    codes = np.where(within.sets, field.p, -1.0).argmax(axis=1)
    return FoundLabels(codes, field.p @ within.T, history)


class _MeanField:
    """The current probabilities, and the variance and the model that suit them."""

    p: Array  # (r, C)
    others: Array  # (r, t), the sum over j != i of H_ij m_j
    objective: float  # F / W

    def __init__(
        self, smoother: RowSmoother, within: Embedding, root_w: Array, start: Array
    ) -> None:
        self.smoother, self.within, self.root_w = smoother, within, root_w
        self.w = root_w[:, 0] ** 2 / np.mean(root_w**2)
        self.own = smoother.diagonal()[:, None]
        self.rank = np.linalg.matrix_rank(within.T - within.T.mean(axis=0))
        end = 0.5 / len(self.w)
        self.rates = np.clip(false_rates(within, self.w), end, 1.0 - end)
        others = self._from_others(start)
        self.s2 = self._variance(start, others)
        p = self._softmax(others @ within.T.T / self.s2)
        self._accept(p, self._from_others(p @ within.T))

    def step(self) -> bool:
        """Change p, then the variance and the model; return whether F decreased."""
        logits = self.others @ self.within.T.T / self.s2 + OMEGA * self.log_sets
        change = self._softmax(logits) - self.p
        for length in STEP_LENGTHS:
            p = self.p + length * change
            others = self._from_others(p @ self.within.T)
            if self._free_energy(p, others) < self.objective:
                self._accept(p, others)
                return True
        return False

    def _accept(self, p: Array, others: Array) -> None:
        self.p, self.others = p, others
        self.s2 = self._variance(p @ self.within.T, self.others)
        self._fit_model()
        self.objective = self._free_energy(p, self.others)

    def _from_others(self, m: Array) -> Array:
        values = self.smoother.values(self.root_w * m)[self.smoother.rows]
        return values / self.root_w - self.own * m

    def _loss(self, m: Array, others: Array) -> float:
        """Return E / W."""
        length = float((self.within.T[0] ** 2).sum())
        each = length * (1.0 - self.own[:, 0]) - (m * others).sum(axis=1)
        return float(np.mean(self.w * each))

    def _variance(self, m: Array, others: Array) -> float:
        return max(self._loss(m, others) / self.rank, LEAST_VARIANCE)

    def _softmax(self, logits: Array) -> Array:
        inside = np.where(self.within.sets, logits, -np.inf)
        return np.exp(log_softmax(inside, axis=1))

    def _fit_model(self) -> None:
        """Set log P(S_i | y) of (1), shape (r, C), and the penalty of theta."""
        sets, mass = self.within.sets, self.w[:, None] * self.p
        counts = mass.T @ sets + PSEUDO_ROWS * self.rates  # (C, C)
        theta = counts / (mass.sum(axis=0)[:, None] + PSEUDO_ROWS)
        inside, outside = np.log(theta), np.log1p(-theta)
        np.fill_diagonal(inside, 0.0)
        np.fill_diagonal(outside, 0.0)
        self.log_sets = sets @ inside.T + ~sets @ outside.T
        prior = inside @ self.rates + outside @ (1.0 - self.rates)
        self.penalty = -OMEGA * PSEUDO_ROWS * float(prior.sum()) / len(sets)

    def _free_energy(self, p: Array, others: Array) -> float:
        """Return F / W at the current variance and model."""
        fit = self._loss(p @ self.within.T, others) / (2 * self.s2)
        labels = (xlogy(p, p) - OMEGA * p * self.log_sets).sum(axis=1)
        noise = 0.5 * self.rank * np.log(self.s2)
        return float(fit + noise + np.mean(self.w * labels) + self.penalty)


def false_rates(within: Embedding, w: Array) -> Array:  # (C,)
    """Return how often each class is a candidate of rows of other classes.

    All candidates of a row count as equally likely.

    Examples
    --------
    >>> sets = np.array([[1, 1, 0], [1, 0, 0], [0, 1, 1]], dtype=bool)
    >>> false_rates(Embedding(np.eye(3), sets), np.ones(3))
    array([0.33333333, 0.5       , 0.2       ])
    """
    equal = within.sets / within.sets.sum(axis=1, keepdims=True)
    other = w @ (1.0 - equal)
    false = w @ (within.sets - equal)
    return np.divide(false, other, out=np.zeros_like(other), where=other > 0)


def chance_corrected_errors(values: Array, within: Embedding, w: Array) -> Array:
    r"""Return losses of predictions c of rows of which only sets are known.

    .. math:: [c \notin S_i] + rate_c

    with the rate of c as a false candidate. Without it, predicting the most common
    candidate would look good. For plain labels the rates are 0: this is the error.
    """
    every = Embedding(within.T, np.ones_like(within.sets))
    predicted = best_candidates(values, every)
    outside = ~within.sets[np.arange(len(predicted)), predicted]
    return outside + false_rates(within, w)[predicted]
