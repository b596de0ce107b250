"""Kernels to compare: several kernels, or one with several length scales.

================================  ====================================================
``kernel``                        compared
================================  ====================================================
``Gaussian([0.5, 1.0, 2.0])``     the kernel with each of the length scales
``Gaussian("auto")``              a quarter, a half, one, two and four times the median
                                  distance between rows
``[Gaussian(1.0), "linear"]``     each of them
================================  ====================================================

The estimator fits with each, and uses the one with the least leave-one-out error. A
kernel does not depend on labels, so this error is as exact as with one kernel.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import numpy as np

from halfmoon._rows import Rows
from halfmoon._sklearn_conventions import as_generator
from halfmoon.kernels import Kernel
from halfmoon.kernels._length_scales import median_distance

__all__ = ["AUTO_WIDTHS", "kernel_choices", "kernel_settings"]

#: Length scales of "auto", relative to the median distance between rows.
AUTO_WIDTHS = (0.25, 0.5, 1.0, 2.0, 4.0)


def kernel_choices(kernel: Any, X: Rows, rng: np.random.Generator) -> list[Any]:
    """Return the kernels that a parameter stands for.

    Parameters
    ----------
    kernel : see the module's table
    X : array or CSR of shape (n, d)
    rng : Generator

    Examples
    --------
    >>> from halfmoon.kernels import Gaussian
    >>> rng = np.random.default_rng(0)
    >>> kernel_choices([Gaussian((1.0, 2.0)), "linear"], np.eye(3), rng)
    [Gaussian(length_scale=1.0), Gaussian(length_scale=2.0), 'linear']
    """
    if isinstance(kernel, (list, tuple)):
        if not kernel:
            raise ValueError("kernel is empty; at least one kernel is needed.")
        return [each for one in kernel for each in kernel_choices(one, X, rng)]
    scale = getattr(kernel, "length_scale", None)
    if not isinstance(kernel, Kernel) or scale is None:
        return [kernel]
    if isinstance(scale, str) and scale == "auto":
        scale = median_distance(X, rng) * np.array(AUTO_WIDTHS)
    if np.ndim(scale) == 0:
        return [kernel]
    return [replace(cast(Any, kernel), length_scale=float(one)) for one in scale]


def kernel_settings(estimator: Any, X: Rows) -> list[dict[str, Any]]:
    """Return the parameters to set for each combination of kernels to compare.

    [{}] if there is one, which the parameters give already.
    """
    rng = as_generator(estimator.random_state)
    settings: list[dict[str, Any]] = [{}]
    for name in ("kernel", "inner_kernel"):
        given = getattr(estimator, name)
        kernels = kernel_choices(given, X, rng)
        if len(kernels) > 1 or kernels[0] is not given:
            settings = [
                {**each, name: kernel} for each in settings for kernel in kernels
            ]
    return settings
