"""The parameter ``unpenalized``: which features each of its values stands for.

===========================================  ========================================
``unpenalized``                              features
===========================================  ========================================
None                                         none
"constant", "linear", "quadratic", "cubic"   polynomials of degree 0, 1, 2, 3
"auto"                                       the constant; with an energy by
                                             gradients none, where this is better
a whole number                               polynomials of that degree
a list of column numbers or names, a mask    those columns, and the constant
a transformer or a function of the rows      its output, and the constant
a fitted MLP of scikit-learn, a pipeline     its last hidden layer, and the constant
that ends in one, a torch module
an object of `halfmoon.unpenalized`          the object, with the estimator's kernel
                                             if it needs one
a list of such objects, `Eigenfunctions` or  the best, chosen by folds in which the
`GaussianDraws` with several k               features are refitted
===========================================  ========================================

"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from numbers import Integral
from typing import Any, cast

import numpy as np

from halfmoon.kernels import Kernel
from halfmoon.kernels._user_kernels import Precomputed
from halfmoon.unpenalized import (
    Constant,
    Features,
    HiddenLayer,
    Polynomials,
    Unpenalized,
)
from halfmoon.unpenalized._hidden_layer import is_network

__all__ = ["as_unpenalized", "refuse_columns"]

DEGREES = {"constant": 0, "intercept": 0, "linear": 1, "quadratic": 2, "cubic": 3}
DEGREES["auto"] = 0


def as_unpenalized(
    unpenalized: Any, kernel: Kernel | None, column_names: Any = None
) -> list[Unpenalized | None]:
    """Return the features that the parameter stands for; several to choose from.

    Parameters
    ----------
    unpenalized : see the module's table
    kernel : Kernel or None
        The estimator's kernel.
    column_names : sequence of str or None
        Column names of the table.
    """
    several = isinstance(unpenalized, Sequence) and not isinstance(unpenalized, str)
    if several and any(isinstance(each, Unpenalized) for each in unpenalized):
        options = [as_unpenalized(each, kernel, column_names) for each in unpenalized]
        return [features for option in options for features in option]
    features = _features(unpenalized, column_names)
    if features is None or "kernel" not in features.get_params(deep=False):
        return [features]
    by_kernel = cast(Any, features)
    kernel = kernel if by_kernel.kernel is None else by_kernel.kernel
    return [
        cast(Unpenalized, replace(by_kernel, k=k, kernel=kernel))
        for k in np.atleast_1d(by_kernel.k).tolist()
    ]


def _features(unpenalized: Any, column_names: Any) -> Unpenalized | None:
    if unpenalized is None or isinstance(unpenalized, Unpenalized):
        return unpenalized
    if isinstance(unpenalized, str) and unpenalized in DEGREES:
        return _polynomials(DEGREES[unpenalized])
    if isinstance(unpenalized, Integral) and not isinstance(unpenalized, bool):
        return _polynomials(int(unpenalized))
    if is_network(unpenalized):
        return HiddenLayer(unpenalized)
    if hasattr(unpenalized, "transform") or callable(unpenalized):
        return Features(unpenalized)
    if isinstance(unpenalized, (Sequence, np.ndarray)) and not isinstance(
        unpenalized, str
    ):
        return Features(_columns(unpenalized, column_names))
    raise ValueError(
        f"unpenalized is {unpenalized!r}; None, one of "
        f"{', '.join(map(repr, DEGREES))}, a degree, a list of columns, a "
        f"transformer, a function of the rows, or an object of halfmoon.unpenalized "
        f"is needed."
    )


def _polynomials(degree: int) -> Unpenalized:
    return Constant() if degree == 0 else Polynomials(degree)


def _columns(columns: Any, names: Any) -> Any:
    """Return column numbers for names; numbers and masks stay."""
    if not all(isinstance(column, str) for column in columns) or len(columns) == 0:
        return columns
    if names is None:
        raise ValueError(
            f"unpenalized names columns {list(columns)!r}, but X has no column names; "
            f"give a data frame, or the numbers of the columns."
        )
    known = {str(name): number for number, name in enumerate(names)}
    missing = [column for column in columns if column not in known]
    if missing:
        raise ValueError(
            f"unpenalized names columns {missing!r}, which X does not have; it has "
            f"{list(known)!r}."
        )
    return [known[column] for column in columns]


def refuse_columns(options: list[Unpenalized | None]) -> None:
    """Refuse features that need columns, where X is a kernel matrix."""
    for features in options:
        by_kernel = isinstance(getattr(features, "kernel", None), Precomputed)
        if features is not None and not (isinstance(features, Constant) or by_kernel):
            raise ValueError(
                f"X is a kernel matrix, so there are no columns to make unpenalized "
                f"features such as {features!r} from. Use 'constant' or "
                f"Eigenfunctions(k), or give the table and the kernel as an object."
            )
