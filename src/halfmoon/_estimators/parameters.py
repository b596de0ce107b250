"""Parameters of the estimators: what they may be, and what they mean.

**The basis** is exact if it fits in the memory limit, else landmarks. The peak memory
of a fit is counted before anything is allocated, in 8-byte numbers, for l labeled of n
rows and a basis of p functions:

========================================  =========================================
fit                                       numbers
========================================  =========================================
exact kernel, in the dual                 4 l^2: Gram matrix, its factors, a copy
smoothed exact kernel, in the dual        the same + 3 n l: weights of all rows
exact basis with an energy                6 n^2: norm, energy, factors, copies
landmarks, or random features             6 p^2
random features, by ridge, no energy      6 p min(l, p): their norm needs no matrix
smoothed landmarks or random features     the same + 3 n p: values at all rows
========================================  =========================================

Landmarks are copies of rows, at most of all, and their bytes count as well.

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

import logging
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import replace
from numbers import Integral
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import scipy.sparse as sp

from halfmoon._landmarks.methods import METHODS
from halfmoon._memory import format_bytes, parse_bytes
from halfmoon._rows import Rows
from halfmoon._sklearn_conventions import (
    WHOLE,
    Rule,
    is_bool,
    is_name,
    is_number,
    is_numbers,
    is_positive,
    is_whole,
)
from halfmoon.bases import Basis, Exact, Nystrom, RandomFeatures, WithDerivatives
from halfmoon.filters import FILTERS, Filter
from halfmoon.kernels import Kernel
from halfmoon.kernels._length_scales import WithLengthScale
from halfmoon.kernels._user_kernels import KERNELS, Precomputed, as_kernel
from halfmoon.losses import LOSSES, Loss
from halfmoon.problem._posed import DUAL_MATRICES
from halfmoon.unpenalized import (
    Constant,
    Features,
    HiddenLayer,
    Polynomials,
    Unpenalized,
)
from halfmoon.unpenalized._hidden_layer import is_network

if TYPE_CHECKING:
    from halfmoon._estimators.base import Estimator

__all__ = [
    "RULES",
    "as_unpenalized",
    "basis_for",
    "kernel_basis",
    "kernel_by_rule",
    "refuse_columns",
    "refuse_other_graph",
]

logger = logging.getLogger("halfmoon")

BASES = ("auto", "exact", "nystrom", "random_features", "derivatives")
NUMBER_BYTES = 8
PRIMAL, SMOOTHED = 6, 3  # matrices held at once; see the table
MAX_PARTITIONED_LANDMARKS = 1_000  # by default: work grows as p^2
DEGREES = {
    "constant": 0, "intercept": 0, "linear": 1, "quadratic": 2, "cubic": 3, "auto": 0,
}  # fmt: skip


def _is_memory(value: Any) -> bool:
    if is_bool(value):
        return False
    try:
        parse_bytes(value)
    except (TypeError, ValueError):
        return False
    return True


#: The rules of the parameters that several estimators have.
RULES: dict[str, Rule] = {
    "alpha": Rule(
        "'auto', a number, or a sequence of at least one,",
        lambda v: is_name(v, "auto") or is_numbers(v),
    ),
    "mu": Rule(
        "None, a number, or a sequence of at least one,",
        lambda v: v is None or is_numbers(v),
    ),
    "basis": Rule(
        f"one of {', '.join(map(repr, BASES))}, or a basis of halfmoon.bases,",
        lambda v: isinstance(v, Basis) or is_name(v, *BASES),
    ),
    "landmarks": Rule(
        f"one of {', '.join(map(repr, METHODS))}, or an array of row numbers or rows,",
        lambda v: is_name(v, *METHODS) or np.ndim(v) > 0,
    ),
    "loss": Rule(
        f"one of {', '.join(map(repr, LOSSES))}, or a loss of halfmoon.losses,",
        lambda v: isinstance(v, Loss) or is_name(v, *LOSSES),
    ),
    "n_neighbors": WHOLE,
    "n_components": Rule("None, or 1, 2, ...,", lambda v: v is None or is_whole(v)),
    "energy": Rule(
        "None, 'gradient', 'graph' or a sparse matrix",
        lambda v: v is None or sp.issparse(v) or is_name(v, "gradient", "graph"),
    ),
    "filter": Rule(
        "None, a filter of halfmoon.filters, or one of "
        + ", ".join(map(repr, FILTERS)),
        lambda v: v is None or isinstance(v, Filter) or is_name(v, *FILTERS),
    ),
    "covariance": Rule("'labeled' or 'all'", lambda v: is_name(v, "labeled", "all")),
    "normalize": Rule("True or False", is_bool),
    "normalized": Rule("True or False", is_bool),
    "safe": Rule("True or False", is_bool),
    "smoother": Rule(
        "None, or a smoother of halfmoon.smoothers,",
        lambda v: v is None or (hasattr(v, "fit") and not isinstance(v, type)),
    ),
    "budget": Rule("a positive number of seconds", is_positive),
    "length_scale": Rule(
        "a positive number, 'median', or None for self-tuned weights,",
        lambda v: v is None or is_name(v, "median") or (is_number(v) and v > 0),
    ),
    "memory_limit": Rule(
        "an amount such as '512MB' or a positive number of bytes", _is_memory
    ),
    "n_jobs": Rule(
        "None or a whole number other than 0",
        lambda v: v is None or (is_whole(v, -(2**31)) and v != 0),
    ),
    "verbose": Rule("0, 1 or 2", lambda v: is_bool(v) or is_whole(v, least=0)),
}


def basis_for(
    model: Estimator,
    kernel: Any,
    X: Rows,
    l: int,
    rng: np.random.Generator,
    *,
    in_dual: bool = True,
    smoothed: bool = False,
    length_scale: str = "median",
    parameter: str = "kernel",
) -> Basis:
    """Return the basis of a kernel that the parameters ask for; see `kernel_basis`."""
    return kernel_basis(
        kernel_by_rule(kernel, length_scale, parameter).resolve(X, rng),
        model.basis,
        model.n_components,
        model.landmarks,
        n=X.shape[0],
        l=l,
        in_dual=in_dual,
        smoothed=smoothed,
        by_ridge=model._solver() is None,
        all_at_hand=model._all_rows is None,
        landmark_bytes=int(X.dtype.itemsize * X.size // X.shape[0]),
        memory_limit=model.memory_limit,
    )


def kernel_by_rule(kernel: Any, rule: str, parameter: str = "kernel") -> Kernel:
    """Return a kernel; given by its name, with this rule for its length scale."""
    named = KERNELS.get(kernel) if isinstance(kernel, str) else None
    if named is not None and issubclass(named, WithLengthScale):
        return named(length_scale=rule)
    return as_kernel(kernel, parameter=parameter)


def kernel_basis(
    kernel: Kernel,
    basis: Any,
    n_components: int | None,
    landmarks: Any,
    *,
    n: int,
    l: int,
    in_dual: bool,
    smoothed: bool = False,
    by_ridge: bool = False,
    all_at_hand: bool = True,
    landmark_bytes: int = 0,
    memory_limit: int | str,
) -> Basis:
    """Return the basis that the parameters ask for, within the memory limit.

    "auto" is exact if `n_components` and `landmarks` have their defaults. `in_dual`
    says that a fit with the exact basis needs only the l-by-l matrix, `smoothed` that
    the basis will be averaged over all rows. A fit `by_ridge` without an energy needs
    random features only at the labeled rows. Where not `all_at_hand`, only a sample is
    in memory: with an energy, landmarks then replace the exact basis.
    """
    if isinstance(basis, Basis):
        return basis
    if basis == "derivatives":
        return WithDerivatives(kernel)
    limit = parse_bytes(memory_limit)
    by_default = n_components is None and isinstance(landmarks, str)
    possible = all_at_hand or in_dual
    if possible and (basis == "exact" or (basis == "auto" and by_default)):
        dual = DUAL_MATRICES * l * l + n * l * SMOOTHED * smoothed
        need = NUMBER_BYTES * (dual if in_dual else PRIMAL * n * n)
        if need <= limit:
            return Exact(kernel)
        if basis == "exact" or kernel.conditional_degree >= 0:
            raise MemoryError(
                f"The exact basis of {l:,} labeled among {n:,} rows needs "
                f"{format_bytes(need)}, beyond memory_limit={format_bytes(limit)}. "
                f"Raise memory_limit, or use a positive definite kernel and landmarks, "
                f"such as n_components=1000."
            )
    by_rows = basis == "random_features" and in_dual and by_ridge

    def needed(p: int) -> int:
        side = min(max(l, 1), p) if by_rows else p
        rows = 0 if basis == "random_features" else p * landmark_bytes
        return rows + NUMBER_BYTES * p * (PRIMAL * side + SMOOTHED * n * smoothed)

    if n_components is not None:
        if basis != "random_features":
            n_components = min(n_components, n)
        _refuse_too_many(n_components, needed, limit)
    elif isinstance(landmarks, str):
        n_components = _most_landmarks(n, needed, limit, possible)
    if basis == "random_features":
        return RandomFeatures(kernel, 500 if n_components is None else n_components)
    whole = n_components == n and possible
    if basis == "auto" and whole and isinstance(landmarks, str):
        return Exact(kernel)
    return Nystrom(kernel, n_components, landmarks, memory_limit)


def _refuse_too_many(
    n_components: int, needed: Callable[[int], int], limit: int
) -> None:
    need = needed(n_components)
    if need > limit:
        raise MemoryError(
            f"n_components={n_components} needs {format_bytes(need)}, beyond "
            f"memory_limit={format_bytes(limit)}; {_functions_within(limit, needed)} "
            f"functions would fit. Lower n_components or raise memory_limit."
        )


def _most_landmarks(
    n: int, needed: Callable[[int], int], limit: int, possible: bool
) -> int:
    """Return how many landmarks replace an exact basis that is too large."""
    p = min(_functions_within(limit, needed), n)
    if possible:
        logger.info(
            "An exact basis of %d rows does not fit memory_limit=%s: %d landmarks.",
            n,
            format_bytes(limit),
            p,
        )
    else:
        p = min(p, MAX_PARTITIONED_LANDMARKS)
        logger.info(
            "Rows in partitions have no exact basis with an energy: %d landmarks.", p
        )
    if p < 1:
        raise MemoryError(
            f"Not even one landmark for {n:,} rows fits memory_limit="
            f"{format_bytes(limit)}; {format_bytes(NUMBER_BYTES * SMOOTHED * n)} "
            f"are needed. Raise memory_limit."
        )
    return p


def _functions_within(limit: int, needed: Callable[[int], int]) -> int:
    return bisect_right(range(2**31 - 1), limit, key=needed) - 1


def as_unpenalized(
    unpenalized: Any, kernel: Kernel | None, column_names: Any = None
) -> list[Unpenalized | None]:
    """Return the features that the parameter stands for; several to choose from.

    `kernel` is the estimator's, `column_names` are those of the table.
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
    degree = DEGREES.get(unpenalized) if isinstance(unpenalized, str) else unpenalized
    if isinstance(degree, Integral) and is_whole(degree, least=0):
        return Constant() if degree == 0 else Polynomials(int(degree))
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


def refuse_other_graph(energy: Any, n: int) -> None:
    """Refuse an energy that is a graph of other rows than the n that are fitted."""
    if sp.issparse(energy) and energy.shape != (n, n):
        raise ValueError(
            f"energy is a graph of shape {energy.shape}, but {n} rows count; the "
            f"Laplacian over these rows is needed."
        )


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
