r"""Nystrom basis: kernel sections at p landmarks.

.. math:: phi(x) = (k(x, z_1), ..., k(x, z_p)), \quad Q = K_{ZZ}

If every row is a landmark, it is the exact basis.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from halfmoon._landmarks import select_landmarks
from halfmoon._memory import MEMORY_LIMIT
from halfmoon._rows import Array, Rows, as_table
from halfmoon.bases._base import Basis, GradientCoefficients, Sections
from halfmoon.bases._exact import Exact
from halfmoon.kernels import Gaussian, Kernel

__all__ = ["Nystrom"]


@dataclass(eq=False, repr=False)
class Nystrom(Basis):
    """Kernel sections at landmarks.

    Parameters
    ----------
    kernel : Kernel
    n_components : int or None
        p; None means all rows.
    landmarks : {"rpcholesky", "uniform", "kmeans++", "leverage"} or array
        How to choose the landmarks, or their indices, or the landmarks themselves.
    memory_limit : int or str
        Memory for choosing the landmarks.

    Attributes
    ----------
    sections_ : Exact
        The exact basis of the landmarks.
    """

    kernel: Kernel = field(default_factory=Gaussian)
    n_components: int | None = None
    landmarks: Any = "rpcholesky"
    memory_limit: int | str = MEMORY_LIMIT

    def fit(self, X: Rows, rng: np.random.Generator | int | None = None) -> Self:
        """Resolve the kernel on the rows and choose the landmarks."""
        rng = np.random.default_rng(rng)
        X = as_table(X)
        kernel = self.kernel.resolve(X, rng)
        Z = select_landmarks(
            X,
            self.n_components,
            self.landmarks,
            kernel=kernel,
            rng=rng,
            memory_limit=self.memory_limit,
        )
        self.sections_ = Exact(kernel).fit(Z)
        self.n_components_ = self.sections_.n_components_
        self.conditional_degree = kernel.conditional_degree
        return self

    def transform(self, X: Rows) -> Array:
        """Return k(x, z), shape (b, p)."""
        return self.sections_.transform(X)

    def penalty(self) -> Array:
        """Return K_ZZ, shape (p, p)."""
        return self.sections_.penalty()

    @property
    def row_bytes(self) -> int:
        return self.sections_.row_bytes

    @property
    def sections(self) -> Sections:
        return self.sections_.sections

    def gradient_coefficients(self, X: Rows) -> GradientCoefficients:
        return self.sections_.gradient_coefficients(X)

    def missing_variance(self, X: Rows) -> Array:
        """Return k(x, x) - k(x, Z) K_ZZ^+ k(Z, x), which is 0 at the landmarks."""
        return self.sections_.missing_variance(X)
