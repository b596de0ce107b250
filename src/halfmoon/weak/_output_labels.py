"""Labels of structured outputs: the outputs that each row may have.

==========  ==========================================================================
loss        a row of y
==========  ==========================================================================
any         an output, a set of outputs, or a row of a boolean matrix (n, k)
"hamming"   0 or 1 for each label, missing if it is unknown
"kendall"   a ranking of all or some items (`halfmoon.weak._ranking_labels`)
==========  ==========================================================================

A missing value, or the set of all outputs, is an unlabeled row.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Set
from numbers import Integral
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from halfmoon._labels import class_codes, is_missing, label_array, no_labels
from halfmoon._memory import MEMORY_LIMIT
from halfmoon.weak._output_space import (
    MAX_LABELS,
    OutputSpace,
    hamming_space,
    label_sets,
    matrix_space,
    zero_one_space,
)
from halfmoon.weak._ranking_labels import read_rankings
from halfmoon.weak._separate_outputs import SeparateLabels, SeparateOutputs
from halfmoon.weak._weak_labels import as_objects, require_rows

__all__ = ["read_outputs"]

Mask = NDArray[np.bool_]
LOSSES = ("zero_one", "hamming", "kendall")


def read_outputs(
    y: Any, loss: Any, outputs: Any, memory_limit: int | str = MEMORY_LIMIT
) -> tuple[OutputSpace | SeparateOutputs, NDArray[Any]]:
    """Return the output space and the labels of each row in it.

    These are a mask of shape (n, k); for outputs that are not listed, what each row
    says about each part of them, of shape (n, P).
    """
    if isinstance(loss, str) and loss not in LOSSES:
        raise ValueError(
            f"loss is {loss!r}; one of {', '.join(map(repr, LOSSES))}, a matrix, or a "
            f"function of two outputs is needed."
        )
    require_rows(y)
    if not (outputs is None or isinstance(outputs, (Integral, Iterable))):
        raise ValueError(
            f"outputs is {outputs!r}; a list of outputs, their number, or None is "
            f"needed."
        )
    if isinstance(loss, str) and loss == "hamming":
        return _label_sets(y, outputs)
    if isinstance(loss, str) and loss == "kendall":
        return read_rankings(_cells(y), outputs, memory_limit)
    return _listed(y, loss, outputs)


def _listed(y: Any, loss: Any, outputs: Any) -> tuple[OutputSpace, Mask]:
    """Read labels for outputs that are given, or found in y."""
    if outputs is None:
        outputs = _found(y)
        is_matrix = hasattr(loss, "__len__") and not isinstance(loss, str)
        k = len(loss) if is_matrix else len(outputs)
        if len(outputs) != k and set(map(_key, outputs)) <= set(range(k)):
            outputs = list(range(k))
    elif isinstance(outputs, Integral):
        outputs = list(range(int(outputs)))
    outputs = list(outputs)
    if len(set(map(_key, outputs))) < len(outputs):
        raise ValueError(f"The outputs are {outputs!r}; give each of them once.")
    if len(outputs) < 2:
        raise ValueError(
            f"There is {len(outputs)} output, {outputs!r}; with one class or output "
            f"there is nothing to learn. At least two are needed."
        )
    listed = _as_array(outputs)
    if isinstance(loss, str):
        space = zero_one_space(listed)
    elif callable(loss):
        L = [[_cost(loss, z, each) for each in outputs] for z in outputs]
        space = matrix_space(listed, L)
    else:
        space = matrix_space(listed, loss)
    return space, _candidates(y, outputs)


def _cost(loss: Callable[[Any, Any], Any], z: Any, y: Any) -> float:
    try:
        return float(loss(z, y))
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"loss({z!r}, {y!r}) is not a number ({error}); a function of the "
            f"predicted and the true output that returns a number is needed."
        ) from error


def _candidates(y: Any, outputs: list[Any]) -> Mask:
    k = len(outputs)
    mask = y.toarray() != 0 if sp.issparse(y) else None
    if mask is None and _is_mask(y):
        mask = np.asarray(y)
    if mask is not None:
        if mask.shape[1] != k:
            raise ValueError(
                f"y is a matrix of shape {mask.shape}, but there are {k} outputs; one "
                f"column for each output is needed."
            )
        return _not_empty(mask)
    code = {_key(each): number for number, each in enumerate(outputs)}
    cells = _cells(y)
    mask = np.zeros((len(cells), k), dtype=bool)
    for row, cell in enumerate(cells):
        if _is_unknown(cell):
            mask[row] = True
            continue
        several = isinstance(cell, Set) or (
            isinstance(cell, (list, tuple)) and _key(cell) not in code
        )
        for each in cell if several else [cell]:
            if _key(each) not in code:
                raise ValueError(
                    f"Row {row} of y has {each!r}, which is not one of the {k} "
                    f"outputs. Add it to outputs."
                )
            mask[row, code[_key(each)]] = True
    return _not_empty(mask)


def _found(y: Any) -> list[Any]:
    """Return the outputs in y, sorted if possible."""
    if sp.issparse(y) or _is_mask(y):
        return list(range(y.shape[1]))
    every: dict[Hashable, Any] = {}
    plain, cells = True, _cells(y)
    for cell in cells:
        if _is_unknown(cell):
            continue
        for each in cell if isinstance(cell, Set) else [cell]:
            every.setdefault(_key(each), each)
            plain = plain and not isinstance(each, (list, tuple, np.ndarray))
    if not every:
        raise no_labels(len(cells), "one output of each of two kinds")
    found = list(every.values())
    if plain and len(found) > 1:
        return list(class_codes(label_array(found))[0])
    return [every[key] for key in sorted(every, key=repr)]


def _label_sets(
    y: Any, outputs: Any
) -> tuple[OutputSpace | SeparateLabels, NDArray[Any]]:
    cells = y.toarray() if sp.issparse(y) else y
    cells = cells.to_numpy() if hasattr(cells, "columns") else cells
    try:
        values = label_array(cells)
    except ValueError:  # rows of unequal length
        values = as_objects(cells)
    if values.ndim != 2:
        raise ValueError(
            f"y has shape {values.shape}; loss='hamming' needs a column for each "
            f"label, 0 or 1, missing if it is unknown."
        )
    missing = is_missing(values)
    known = np.where(missing, 0, values.astype(object))
    if not np.isin(known, (0, 1)).all():
        raise ValueError("Labels other than 0 and 1; loss='hamming' needs these two.")
    known, q = known.astype(np.int8), values.shape[1]
    if outputs is None or isinstance(outputs, Integral):
        outputs = range(q if outputs is None else int(outputs))
    listed = np.asarray(outputs)
    if listed.shape[-1:] != (q,) or listed.ndim > 2:
        raise ValueError(
            f"outputs have shape {listed.shape}, but y has {q} labels; one column for "
            f"each label is needed."
        )
    if listed.ndim == 1:  # the labels, not a list of sets
        if q > MAX_LABELS:
            return SeparateLabels(listed), np.where(missing, np.nan, 2.0 * known - 1.0)
        listed = label_sets(q)
    mask = np.ones((len(known), len(listed)), dtype=bool)
    for label in range(q):
        same = known[:, label, None] == listed[:, label]
        mask &= same | missing[:, label, None]
    return hamming_space(listed.astype(np.intp)), _not_empty(mask)


def _is_mask(y: Any) -> bool:
    return isinstance(y, np.ndarray) and y.ndim == 2 and y.dtype.kind == "b"


def _cells(y: Any) -> list[Any]:
    if hasattr(y, "columns") and hasattr(y, "to_numpy"):
        y = y.to_numpy()
    if hasattr(y, "__array__") and not hasattr(y, "__iter__"):
        y = np.asarray(y)
    cells = list(y.to_list() if hasattr(y, "to_list") else y)
    return [each.item() if isinstance(each, np.generic) else each for each in cells]


def _is_unknown(cell: Any) -> bool:
    if isinstance(cell, (Set, list, tuple, str)):
        return False
    return bool(np.all(is_missing(np.atleast_1d(np.asarray(cell, dtype=object)))))


def _key(output: Any) -> Hashable:
    """Return a hashable value that is the same for equal outputs."""
    if isinstance(output, np.ndarray):
        output = output.tolist()
    if isinstance(output, (list, tuple)):
        return tuple(map(_key, output))
    return output.item() if isinstance(output, np.generic) else output


def _as_array(outputs: list[Any]) -> NDArray[Any]:
    """Return outputs as an array; as rows if they are sequences of one length."""
    lengths = {len(each) if isinstance(each, (list, tuple, np.ndarray)) else -1
               for each in outputs}  # fmt: skip
    if len(lengths) == 1:
        if lengths != {-1}:
            return np.array([list(each) for each in outputs])
        if not any(isinstance(each, str) for each in outputs):
            return np.array(outputs)
    return as_objects(outputs)


def _not_empty(mask: Mask) -> Mask:
    empty = ~mask.any(axis=1)
    if empty.any():
        raise ValueError(
            f"{int(empty.sum())} row(s) of y agree with none of the outputs, the first "
            f"is row {int(empty.argmax())}. Add their outputs, or give None for "
            f"unlabeled rows."
        )
    return mask
