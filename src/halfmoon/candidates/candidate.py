r"""A candidate: kernel ridge with a sum of parts, at every alpha at once.

.. math:: g(x) = \sum_j a_j k_j(x, X_l) c + f(x)'beta

One eigendecomposition gives the fit and the exact leave-one-out values at each alpha
(`solvers.ridge`), O(l^3).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from halfmoon.candidates.labeled import Labeled
from halfmoon.candidates.parts import Part
from halfmoon.rows import Array, Rows
from halfmoon.solvers import (
    Elimination,
    RidgePath,
    kriging_variance,
    ridge_dual,
    scaled_variances,
)
from halfmoon.unpenalized import Unpenalized

__all__ = ["ALPHAS", "Candidate", "NullSpace", "OwnFeatures", "weighted_path"]

#: Beside kernels whose mean diagonal is 1.
ALPHAS = tuple(10.0**e for e in (-5, -4, -3, -2.5, -2, -1.5, -1, -0.5, 0, 1))


def weighted_path(
    K: Array,  # (l, l)
    F: Array,  # (l, k)
    y: Array,  # (l, t)
    w: Array,  # (l,)
) -> RidgePath:
    """Kernel ridge at every alpha, with unpenalized features and weights of rows."""
    root = np.sqrt(w)[:, None]
    return ridge_dual(root * K * root.T, root * y, Elimination(root * F), w.sum())


@dataclass(eq=False)
class NullSpace:
    """Unpenalized features of rows as the user has them.

    Attributes
    ----------
    name : str
    features : callable
        From rows to f(x), shape (b, k).
    """

    name: str
    features: Callable[[Rows], Array]


@dataclass(eq=False)
class OwnFeatures(NullSpace):
    """The user's unpenalized features, fitted, or none at all."""

    unpenalized: Unpenalized | None

    def __init__(self, unpenalized: Unpenalized | None) -> None:
        self.unpenalized = unpenalized
        super().__init__("own", self._values)

    def _values(self, X: Rows) -> Array:
        if self.unpenalized is None:
            return np.zeros((X.shape[0], 0))
        return self.unpenalized.transform(X)


@dataclass(eq=False)
class Candidate:
    """Kernel ridge on labeled rows with a sum of parts.

    Attributes
    ----------
    name : str
    mix : tuple of (Part, float)
        The parts and how much of each.
    null_space : NullSpace
    data : Labeled
    by_folds : ndarray of shape (len(ALPHAS), l, t) or None
        Values at the labeled rows by fits without the labels of their fold, where
        leave-one-out does not hold because labels have shaped the parts.
    """

    name: str
    mix: tuple[tuple[Part, float], ...]
    null_space: NullSpace
    data: Labeled
    by_folds: Array | None = None

    @property
    def unlabeled(self) -> bool:
        """Rows without labels have a part in it."""
        return any(part.unlabeled for part, _ in self.mix)

    @cached_property
    def path(self) -> RidgePath:
        """The fit at every alpha."""
        data = self.data
        K = np.zeros((len(data.y), len(data.y)))
        for part, share in self.mix:
            K += share * part.gram
        return weighted_path(K, self.null_space.features(data.X_l), data.y, data.w)

    @property
    def label(self) -> str:
        """What to call it, with the scale of its targets."""
        return f"{self.name}{self.data.target.suffix}"

    @property
    def on_any_scale(self) -> bool:
        """The parts do not depend on the targets, so these may change their scale."""
        return not self.unlabeled and self.by_folds is None

    def with_data(self, data: Labeled) -> Candidate:
        """The same candidate with the same labeled rows on another scale."""
        return self if data is self.data else replace(self, data=data)

    def on(self, data: Labeled, parts: dict[Part, Part]) -> Candidate:
        """The same candidate for other labels; parts made before are used again."""
        for part, _ in self.mix:
            if part not in parts:
                parts[part] = part.on(data)
        mix = tuple((parts[part], share) for part, share in self.mix)
        return replace(self, mix=mix, data=data)

    def forget(self) -> None:
        """Let go of matrices of labels by labels, which can be made again."""
        self.__dict__.pop("path", None)
        for part, _ in self.mix:
            part.forget()

    def left_out(self) -> Array:
        """Values at the labeled rows without their own labels, (len(ALPHAS), l, t).

        What nothing is known of without its label is given the mean of the others.
        """
        data = self.data
        if self.by_folds is not None:
            return self.by_folds
        residuals = self.path.leave_one_out(ALPHAS) / data.root_w
        known = np.isfinite(residuals)
        values = data.y - np.where(known, residuals, 0.0)
        total = (data.w[:, None] * data.y).sum(axis=0)
        rest = np.maximum(data.total_weight - data.w, np.finfo(float).tiny)[:, None]
        mean = (total - data.w[:, None] * data.y) / rest
        return np.where(known, values, mean)

    def dual_coef(self, alpha: float) -> Array:
        """c, shape (l, t)."""
        return self.data.root_w * self.path.theta(alpha)

    def coef(self, alpha: float) -> Array:
        """beta, shape (k, t)."""
        return self.path.beta(alpha)

    def variance(self, alpha: float) -> Callable[[Rows], Array]:
        """Posterior variance of g at any rows, shape (b, t)."""
        noise, prior = self.path.scales(alpha)
        identity = np.eye(len(self.data.y))
        sections = [(part.function(identity), share) for part, share in self.mix]
        root_w = self.data.root_w[:, 0]

        def at(X: Rows) -> Array:
            k_x = np.sum([share * section(X) for section, share in sections], axis=0)
            k_xx = np.sum([a * part.diagonal(X) for part, a in self.mix], axis=0)
            by_noise, by_prior = kriging_variance(
                self.path, k_x * root_w, k_xx, self.null_space.features(X), alpha
            )
            return scaled_variances(by_noise, noise) + scaled_variances(by_prior, prior)

        return at
