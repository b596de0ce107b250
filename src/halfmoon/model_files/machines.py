"""Objects with insides of their own, made again from what they were made from.

Sparse matrices, generators of random numbers, searches for neighbors and splines run
compiled code on their insides, where a wrong index would read beyond an array. They are
therefore built by their own constructors, which check, and not by their attributes. A
search tree is not stored at all: it is built again from its rows, and is the same.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.interpolate import BSpline
from sklearn.neighbors import NearestNeighbors

from halfmoon.model_files.codec import Codec, need

__all__ = ["MACHINES"]

SPARSE: dict[str, type] = {
    each.__name__: each
    for each in (
        *(sp.csr_array, sp.csc_array, sp.coo_array, sp.dia_array),
        *(sp.csr_matrix, sp.csc_matrix, sp.coo_matrix, sp.dia_matrix),
    )
}
MERSENNE = 624  # words of the state of MT19937
PCG = {"PCG64": np.random.PCG64, "PCG64DXSM": np.random.PCG64DXSM}


def _array(value: Any, kinds: str, ndim: int) -> None:
    fair = isinstance(value, np.ndarray) and value.dtype.kind in kinds
    need(fair and value.ndim == ndim, "an array of another kind is needed")


def _shape(shape: Any) -> None:
    fair = type(shape) is tuple and len(shape) == 2
    need(fair and all(type(n) is int and n >= 0 for n in shape), "no shape")


def _compressed(
    cls: str, shape: tuple[int, int], data: Any, indices: Any, indptr: Any
) -> Any:
    need(cls in SPARSE and cls.startswith(("csr", "csc")), "no such matrix")
    _shape(shape)
    _array(data, "biufc", 1)
    _array(indices, "i", 1)
    _array(indptr, "i", 1)
    matrix = SPARSE[cls]((data, indices, indptr), shape=shape, copy=False)
    matrix.check_format(full_check=True)  # every index within the shape
    # The constructor may have chosen shorter integers than the file has.
    matrix.data, matrix.indices, matrix.indptr = data, indices, indptr
    return matrix


def _coordinates(
    cls: str, shape: tuple[int, int], data: Any, row: Any, col: Any
) -> Any:
    need(cls in SPARSE and cls.startswith("coo"), "no such matrix")
    _shape(shape)
    _array(data, "biufc", 1)
    _array(row, "i", 1)
    _array(col, "i", 1)
    return SPARSE[cls]((data, (row, col)), shape=shape, copy=False)  # which checks


def _diagonals(cls: str, shape: tuple[int, int], data: Any, offsets: Any) -> Any:
    need(cls in SPARSE and cls.startswith("dia"), "no such matrix")
    _shape(shape)
    _array(data, "biufc", 2)
    _array(offsets, "i", 1)
    return SPARSE[cls]((data, offsets), shape=shape, copy=False)


def _fits_sparse(*formats: str) -> Any:
    return lambda value: (
        type(value) in SPARSE.values() and value.format in formats and value.ndim == 2
    )


def _shape_of(matrix: Any) -> tuple[int, ...]:
    return tuple(int(n) for n in matrix.shape)


def _generator(name: str, numbers: tuple[int, ...]) -> np.random.Generator:
    need(name in PCG and type(numbers) is tuple and len(numbers) == 4, "no generator")
    need(all(type(n) is int for n in numbers), "whole numbers are needed")
    state, inc, has_uint32, uinteger = numbers
    need(0 <= state < 2**128 and 0 <= inc < 2**128, "no state of this generator")
    need(has_uint32 in (0, 1) and 0 <= uinteger < 2**32, "no state of this generator")
    bits = PCG[name](0)
    bits.state = {
        "bit_generator": name,
        "state": {"state": state, "inc": inc},
        "has_uint32": has_uint32,
        "uinteger": uinteger,
    }
    return np.random.Generator(bits)


def _generator_parts(value: np.random.Generator) -> dict[str, Any]:
    state: Any = value.bit_generator.state
    inner = state["state"]
    numbers = (inner["state"], inner["inc"], state["has_uint32"], state["uinteger"])
    return {"name": state["bit_generator"], "numbers": tuple(map(int, numbers))}


def _random_state(key: Any, pos: int, has_gauss: int, gauss: float) -> Any:
    _array(key, "u", 1)
    need(key.dtype == np.uint32 and len(key) == MERSENNE, "no state of a generator")
    need(type(pos) is int and 0 <= pos <= MERSENNE, "no state of a generator")
    need(has_gauss in (0, 1) and type(gauss) is float, "no state of a generator")
    state = np.random.RandomState(0)
    state.set_state(("MT19937", key, pos, int(has_gauss), gauss))
    return state


def _random_state_parts(value: Any) -> dict[str, Any]:
    state = value.get_state(legacy=False)
    inner = state["state"]
    return {
        "key": inner["key"],
        "pos": int(inner["pos"]),
        "has_gauss": int(state["has_gauss"]),
        "gauss": float(state["gauss"]),
    }


def _search(rows: Any, n_neighbors: int) -> NearestNeighbors:
    need(type(n_neighbors) is int, "a number of neighbors is needed")
    need(rows.dtype.kind == "f" and rows.ndim == 2, "rows of numbers are needed")
    need(1 <= n_neighbors <= rows.shape[0], "more neighbors than rows")
    return NearestNeighbors(n_neighbors=n_neighbors).fit(rows)


def _fits_search(value: Any) -> bool:
    if type(value) is not NearestNeighbors or not hasattr(value, "_fit_X"):
        return False
    plain = NearestNeighbors(n_neighbors=value.n_neighbors).get_params()
    return bool(value.get_params() == plain)


def _spline(t: Any, c: Any, k: int, extrapolate: Any, axis: int) -> BSpline:
    _array(t, "f", 1)
    need(isinstance(c, np.ndarray) and c.dtype.kind == "f", "coefficients are needed")
    need(type(k) is int and type(axis) is int, "whole numbers are needed")
    need(extrapolate in (True, False, None, "periodic"), "no such extrapolation")
    return BSpline(t, c, k, extrapolate, axis)


MACHINES = (
    Codec(
        "compressed matrix",
        _fits_sparse("csr", "csc"),
        lambda v: {
            "cls": type(v).__name__,
            "shape": _shape_of(v),
            "data": v.data,
            "indices": v.indices,
            "indptr": v.indptr,
        },
        _compressed,
    ),
    Codec(
        "coordinate matrix",
        _fits_sparse("coo"),
        lambda v: {
            "cls": type(v).__name__,
            "shape": _shape_of(v),
            "data": v.data,
            "row": v.coords[0],
            "col": v.coords[1],
        },
        _coordinates,
    ),
    Codec(
        "diagonal matrix",
        _fits_sparse("dia"),
        lambda v: {
            "cls": type(v).__name__,
            "shape": _shape_of(v),
            "data": v.data,
            "offsets": v.offsets,
        },
        _diagonals,
    ),
    Codec(
        "generator",
        lambda v: (
            type(v) is np.random.Generator and type(v.bit_generator).__name__ in PCG
        ),
        _generator_parts,
        _generator,
    ),
    Codec(
        "random state",
        lambda v: (
            type(v) is np.random.RandomState
            and v.get_state(legacy=False)["bit_generator"] == "MT19937"
        ),
        _random_state_parts,
        _random_state,
    ),
    Codec(
        "neighbor search",
        _fits_search,
        lambda v: {"rows": v._fit_X, "n_neighbors": int(v.n_neighbors)},
        _search,
        package="sklearn",
    ),
    Codec(
        "spline",
        lambda v: type(v) is BSpline,
        lambda v: {
            "t": v.t,
            "c": v.c,
            "k": int(v.k),
            "extrapolate": v.extrapolate,
            "axis": int(v.axis),
        },
        _spline,
        package="scipy",
    ),
)
