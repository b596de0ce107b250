"""Labels of structured outputs: the outputs that each row may have.

==========  ==========================================================================
loss        a row of y
==========  ==========================================================================
any         an output, a set of outputs, or a row of a boolean matrix (n, k)
"hamming"   0 or 1 for each label, missing if it is unknown
"kendall"   a ranking of all or some items (``"b>a"``, or a list from first to last),
            or pairs: a set of (better, worse)
==========  ==========================================================================

A missing value, or the set of all outputs, is an unlabeled row.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Set
from itertools import pairwise
from numbers import Integral
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from halfmoon._labels import class_codes, is_missing, label_array, no_labels, require_y
from halfmoon.weak._output_space import (
    MAX_ITEMS,
    OutputSpace,
    hamming_space,
    kendall_space,
    label_sets,
    matrix_space,
    orders,
    zero_one_space,
)
from halfmoon.weak._pairwise_orders import ABOVE, PairwiseOrders
from halfmoon.weak._weak_labels import as_objects

__all__ = ["as_pairs", "items_in", "matching_orders", "pair_labels", "read_outputs"]

Mask = NDArray[np.bool_]
LOSSES = ("zero_one", "hamming", "kendall")
MAX_LISTED_LABELS = 8  # with more, only the sets in y are tried by default


def read_outputs(
    y: Any, loss: Any, outputs: Any
) -> tuple[OutputSpace | PairwiseOrders, NDArray[Any]]:
    """Return the output space and the labels of each row in it.

    These are a mask of shape (n, k); for rankings that are not listed, what each row
    says about each pair, of shape (n, P).
    """
    if isinstance(loss, str) and loss not in LOSSES:
        raise ValueError(
            f"loss is {loss!r}; one of {', '.join(map(repr, LOSSES))}, a matrix, or a "
            f"function of two outputs is needed."
        )
    require_y(y)
    if isinstance(y, str) or not (hasattr(y, "__len__") or hasattr(y, "__array__")):
        raise ValueError(f"y is {y!r}; one label for each row is needed.")
    if isinstance(loss, str) and loss == "hamming":
        return _label_sets(y, outputs)
    if isinstance(loss, str) and loss == "kendall":
        return _rankings(y, outputs)
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


def _label_sets(y: Any, outputs: Any) -> tuple[OutputSpace, Mask]:
    values = np.asarray(label_array(y.to_numpy() if hasattr(y, "columns") else y))
    values = y.toarray() if sp.issparse(y) else values
    if values.ndim != 2:
        raise ValueError(
            f"y has shape {values.shape}; loss='hamming' needs a column for each "
            f"label, 0 or 1, missing if it is unknown."
        )
    missing = is_missing(values)
    known = np.where(missing, 0, values)
    if not np.isin(known.astype(object), (0, 1)).all():
        raise ValueError("Labels other than 0 and 1; loss='hamming' needs these two.")
    known, q = known.astype(np.int8), values.shape[1]
    if outputs is None:
        listed = np.unique(known[~missing.any(axis=1)], axis=0).astype(np.intp)
        if len(listed) < 2 or q <= MAX_LISTED_LABELS:
            listed = label_sets(q)
    elif isinstance(outputs, Integral):
        listed = label_sets(int(outputs))
    else:
        listed = np.asarray(outputs, dtype=np.intp)
    if listed.ndim != 2 or listed.shape[1] != q:
        raise ValueError(
            f"outputs have shape {listed.shape}, but y has {q} labels; one column for "
            f"each label is needed."
        )
    mask = np.ones((len(known), len(listed)), dtype=bool)
    for label in range(q):
        same = known[:, label, None] == listed[:, label]
        mask &= same | missing[:, label, None]
    return hamming_space(listed), _not_empty(mask)


def _rankings(
    y: Any, outputs: Any
) -> tuple[OutputSpace | PairwiseOrders, NDArray[Any]]:
    cells = _cells(y)
    if isinstance(outputs, Integral):
        items: list[Any] = list(range(int(outputs)))
    elif outputs is None or _is_nested(outputs):
        named = outputs if outputs is not None else cells
        items = sorted({item for cell in named for item in items_in(cell)})
    else:
        items = [each.item() if hasattr(each, "item") else each for each in outputs]
    if len(items) < 2 or len(set(items)) < len(items):
        raise ValueError(f"The items are {items!r}; two or more are needed, each once.")
    named_items = np.array(items, dtype=object if isinstance(items[0], str) else None)
    text = any(isinstance(cell, str) for cell in cells)
    if len(items) > MAX_ITEMS and not _is_nested(outputs):
        return PairwiseOrders(named_items, text), pair_labels(cells, items)
    if _is_nested(outputs):
        number = {item: i for i, item in enumerate(items)}
        rows = [[number[item] for item in items_in(order)] for order in outputs]
        if {len(set(row)) for row in rows} != {len(items)}:
            raise ValueError("outputs must rank all items, each of them once.")
        ranking = np.array(rows, dtype=np.intp)
    else:
        ranking = orders(len(items))
    listed = named_items[ranking]
    if text:
        joined = [ABOVE.join(map(str, order)) for order in listed]
        listed = np.array(joined, dtype=object)
    return kendall_space(listed, ranking), matching_orders(cells, items, ranking)


def _is_nested(outputs: Any) -> bool:
    """Return whether outputs are rankings, and not items."""
    if outputs is None or isinstance(outputs, Integral) or len(outputs) == 0:
        return False
    first = outputs[0]
    return isinstance(first, (list, tuple, np.ndarray)) or (
        isinstance(first, str) and ABOVE in first
    )


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


def as_pairs(cell: Any, row: int) -> list[tuple[Any, Any]]:
    """Return the pairs (better, worse) of a cell; neighbors, if it is an order.

    Examples
    --------
    >>> as_pairs("b > a > c", 0)
    [('b', 'a'), ('a', 'c')]
    >>> as_pairs({(2, 0)}, 0)
    [(2, 0)]
    """
    if isinstance(cell, Set):
        pairs = list(cell)
        if not all(isinstance(pair, tuple) and len(pair) == 2 for pair in pairs):
            raise ValueError(
                f"Row {row} of y is the set {cell!r}; a set holds pairs (better, "
                f"worse). Give a ranking as a list, or as text such as 'b>a>c'."
            )
        return pairs
    order = _items(cell)
    if len(order) == 1 and (isinstance(cell, str) or len(cell) == 1):
        raise ValueError(
            f"Row {row} of y ranks only the item {order[0]!r}; two are needed for an "
            f"order. Give None if nothing is known."
        )
    return list(pairwise(order))


def items_in(cell: Any) -> list[Any]:
    """Return the items in a cell."""
    if isinstance(cell, Set):
        return [item for pair in cell for item in pair]
    return _items(cell)


def _items(cell: Any) -> list[Any]:
    if isinstance(cell, str):
        return [part.strip() for part in cell.split(ABOVE) if part.strip()]
    if isinstance(cell, (list, tuple, np.ndarray)):
        missing = is_missing(list(cell))
        known = [each for each, out in zip(cell, missing, strict=True) if not out]
        return [each.item() if isinstance(each, np.generic) else each for each in known]
    if bool(is_missing([cell])[0]):
        return []
    raise ValueError(
        f"{cell!r} is not a ranking; a list of items from first to last, text such as "
        f"'b>a>c', or a set of pairs (better, worse) is needed."
    )


def matching_orders(
    y: Any,
    items: list[Any],  # m
    ranking: NDArray[np.intp],  # (k, m), numbers of items from first to last
) -> NDArray[np.bool_]:  # (n, k)
    """Return which rankings agree with each row."""
    place = np.argsort(ranking, axis=1).astype(np.int8)
    sets = np.ones((len(y), len(ranking)), dtype=bool)
    for row, pairs in enumerate(_numbered_pairs(y, items)):
        for better, worse in pairs:
            sets[row] &= place[:, better] < place[:, worse]
        if not sets[row].any():
            raise _no_ranking(row, y[row])
    return sets


def pair_labels(y: Any, items: list[Any]) -> NDArray[np.float64]:  # (n, P)
    """Return 1 or -1 for each pair that a row orders, NaN for the others.

    Examples
    --------
    >>> pair_labels(["c>b>a", "a>c", None], ["a", "b", "c"])
    array([[-1., -1., -1.],
           [nan,  1., nan],
           [nan, nan, nan]])
    """
    m = len(items)
    above = np.zeros((len(y), m, m), dtype=bool)
    for row, pairs in enumerate(_numbered_pairs(y, items)):
        for better, worse in pairs:
            above[row, better, worse] = True
    for middle in range(m):  # a above b and b above c is a above c
        above |= above[:, :, middle, None] & above[:, None, middle]
    cycles = above[:, np.arange(m), np.arange(m)].any(axis=1)
    if cycles.any():
        row = int(cycles.argmax())
        raise _no_ranking(row, y[row])
    first, second = np.triu_indices(m, 1)
    labels = np.where(above[:, first, second], 1.0, np.nan)
    return np.where(above[:, second, first], -1.0, labels)


def _numbered_pairs(y: Any, items: list[Any]) -> Iterator[list[tuple[int, int]]]:
    """Yield the pairs (better, worse) of each row, as numbers of items."""
    number = {item: i for i, item in enumerate(items)}
    for row, cell in enumerate(y):
        pairs = as_pairs(cell, row)
        unknown = [each for pair in pairs for each in pair if each not in number]
        if unknown:
            raise ValueError(
                f"Row {row} of y ranks {unknown[0]!r}, which is not one of the items "
                f"{items!r}. Add it to outputs."
            )
        yield [(number[better], number[worse]) for better, worse in pairs]


def _no_ranking(row: int, cell: Any) -> ValueError:
    return ValueError(
        f"No ranking agrees with row {row} of y, {cell!r}: its order has a cycle, or "
        f"the outputs do not contain it. Check the row."
    )
