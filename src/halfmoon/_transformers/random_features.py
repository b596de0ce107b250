r"""Random features: random functions whose inner products approximate a kernel.

.. math:: phi_a(x) = sigma(w_a'x + b_a) / \sqrt m, \quad E \, phi(x)'phi(z) = k(x, z)

`halfmoon.bases.RandomFeatures` says which functions belong to which kernel.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from halfmoon import bases
from halfmoon._memory import MEMORY_LIMIT
from halfmoon._random_state import as_generator
from halfmoon._rows import Array, Rows
from halfmoon._transformers.base import KernelTransformer, features_kernel

__all__ = ["RandomFeatures"]


@dataclass(eq=False, repr=False)
class RandomFeatures(KernelTransformer):
    """Random features whose inner products approximate a kernel.

    ``transform(X) @ transform(Z).T`` is ``kernel(X, Z)`` with an error of the order
    1 / sqrt(n_components). O(d) time for each row and feature.

    Parameters
    ----------
    kernel : Kernel or str
        Gaussian, Laplace, Matern, or NNGP of depth 1.
    n_components : int
        Number of features. For the first three kernels they are pairs of a cosine and a
        sine, so an odd number is raised by one.
    memory_limit : int or str
        Memory for transforming, in addition to tables and features.
    random_state : int, Generator, RandomState or None

    Attributes
    ----------
    kernel_ : Kernel
        With its length scale as a number.
    directions_ : ndarray of shape (m, d)
        w, a row for each function or pair.
    biases_ : ndarray of shape (m,)
        b; 0 for cosines and sines.

    Examples
    --------
    >>> from halfmoon.kernels import Gaussian
    >>> Phi = RandomFeatures(Gaussian(1.0), 10_000, random_state=0).fit_transform(
    ...     [[0.0], [1.0]]
    ... )
    >>> (Phi @ Phi.T).round(1)  # exp(-1/2) off the diagonal
    array([[1. , 0.6],
           [0.6, 1. ]])
    """

    kernel: Any = "gaussian"
    n_components: int = 100
    memory_limit: int | str = MEMORY_LIMIT
    random_state: Any = None

    def _build(self, X: Rows) -> None:
        kernel = features_kernel(self.kernel)
        basis = bases.RandomFeatures(kernel, self.n_components)
        self.basis_ = basis.fit(X, as_generator(self.random_state))
        self.kernel_ = basis.kernel_
        self.directions_, self.biases_ = basis.directions_, basis.biases_
        self._n_features_out = self.basis_.n_components_

    def _function(self) -> Callable[[Rows], Array]:
        return self.basis_.transform
