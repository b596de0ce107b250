"""Several kernels, or one with several length scales: which to compare.

================================  ====================================================
``kernel``                        compared
================================  ====================================================
``Gaussian([0.5, 1.0, 2.0])``     the kernel with each of the length scales
``Gaussian("auto")``              a quarter, a half, one, two and four times the median
                                  distance between rows
``[Gaussian(1.0), "linear"]``     each of them
================================  ====================================================

An estimator fits with each, and the one with the least leave-one-out error is used. A
kernel does not depend on labels, so this error is as exact as with one kernel.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import replace
from typing import Any, cast

import numpy as np

from halfmoon.kernels import Kernel
from halfmoon.kernels.length_scales import median_distance
from halfmoon.random_state import as_generator
from halfmoon.rows import Array, Rows

__all__ = ["WIDTHS", "fit_best_kernel", "kernel_choices", "kernel_ways"]

#: Of "auto", beside the median distance between rows.
WIDTHS = (0.25, 0.5, 1.0, 2.0, 4.0)


def kernel_choices(kernel: Any, X: Rows, rng: np.random.Generator) -> list[Any]:
    """The kernels that a parameter stands for; itself alone if it is one.

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
        each = [kernel_choices(one, X, rng) for one in kernel]
        return [one for some in each for one in some]
    scale = getattr(kernel, "length_scale", None)
    if not isinstance(kernel, Kernel) or scale is None:
        return [kernel]
    if isinstance(scale, str) and scale == "auto":
        scale = median_distance(X, rng) * np.array(WIDTHS)
    if np.ndim(scale) == 0:
        return [kernel]
    return [replace(cast(Any, kernel), length_scale=float(one)) for one in scale]


def kernel_ways(estimator: Any, X: Rows) -> list[dict[str, Any]]:
    """Parameters to set in each of the ways that are compared; [{}] if there is one."""
    rng = as_generator(estimator.random_state)
    ways: list[dict[str, Any]] = [{}]
    for name in ("kernel", "inner_kernel"):
        given = getattr(estimator, name, None)
        kernels = kernel_choices(given, X, rng)
        if len(kernels) > 1 or kernels[0] is not given:
            ways = [{**way, name: kernel} for way in ways for kernel in kernels]
    return ways


def fit_best_kernel(
    estimator: Any, ways: Sequence[dict[str, Any]], X: Rows, targets: Array, w: Array
) -> None:
    """Fit a copy of the estimator in each way, and take over the best of them."""
    models = [copy(estimator) for _ in ways]
    for model, way in zip(models, ways, strict=True):
        model.__dict__.update(way)
        model._fit_kernel(X, targets, w)
    errors = np.array([model.solution_.loo_score for model in models])
    if len(models) > 1 and np.isnan(errors).any():
        raise ValueError(
            "There are several kernels to choose from, but no leave-one-out error to "
            "choose by. Give one kernel, or several alphas."
        )
    best = models[int(np.argmin(errors))]
    own = estimator.get_params(deep=False)
    found = {name: value for name, value in vars(best).items() if name not in own}
    estimator.__dict__.update(found)
    estimator.kernel_errors_ = errors
    estimator.kernels_ = {name: vars(best)[name] for name in ways[0]}
