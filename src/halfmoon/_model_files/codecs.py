"""Codecs: values that are stored as named parts, and built from them in one step.

A part is a value itself, or plain JSON. Loading passes the parts to `build` by name. A
file with other names is refused before that, and `build` trusts no value: it raises an
exception on parts that do not fit.

Sparse matrices, random generators and neighbor searches run compiled code on their
insides, where a wrong index would read outside an array. They are therefore built by
their own constructors, which check. A search tree is built again from its rows.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from inspect import signature
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.neighbors import NearestNeighbors

from halfmoon._model_files.registry import function_named, name_of_function

__all__ = ["CODECS", "DTYPE", "Codec", "as_dtype"]

DTYPE = re.compile(
    r"[<>|](?:b1|[iu][1248]|f(?:2|4|8|12|16)|c(?:8|16|24|32)|[SU]\d{1,9}"
    r"|[mM]8(?:\[\d{0,9}(?:Y|M|W|D|h|m|s|ms|us|ns|ps|fs|as)\])?|O)"
)
SPECIAL_FLOATS = {"nan": float("nan"), "inf": float("inf"), "-inf": float("-inf")}
TYPES: dict[str, Any] = {t.__name__: t for t in (bool, int, float, str, object)} | {
    f"numpy.{t.__name__}": t for t in np.sctypeDict.values()
}
TYPE_NAMES = {each: name for name, each in TYPES.items()}
SPARSE: dict[str, Any] = {
    f"{form}_{kind}": getattr(sp, f"{form}_{kind}")
    for form in ("csr", "csc", "coo")
    for kind in ("array", "matrix")
}
PCG64_LIMITS = (2**128, 2**128, 2, 2**32)  # of the numbers of its state
MT19937_WORDS = 624


class Codec(NamedTuple):
    """One kind of value."""

    fits: Callable[[Any], bool]  # whether a value is of this kind
    parts: Callable[[Any], dict[str, Any]]  # from a value to its parts, by name
    build: Callable[..., Any]  # from the parts, as keyword arguments, to the value

    @property
    def names(self) -> set[str]:
        """Names of the parts."""
        return set(signature(self.build).parameters)


def require(condition: bool, message: str) -> None:
    """Refuse parts that do not fit."""
    if not condition:
        raise ValueError(message)


def as_dtype(name: Any) -> np.dtype[Any]:
    """Return the NumPy dtype of a short name; structured dtypes are refused."""
    require(isinstance(name, str) and bool(DTYPE.fullmatch(name)), "unknown dtype")
    return np.dtype(name)


def _has_dtype(dtype: np.dtype[Any]) -> bool:
    return DTYPE.fullmatch(dtype.str) is not None


def _slice(start: Any, stop: Any, step: Any) -> slice:  # by name, unlike `slice`
    return slice(start, stop, step)


def _scalar(array: Any) -> Any:
    require(isinstance(array, np.ndarray) and array.shape == (), "not a scalar")
    return array[()]


def _partial_parts(value: partial[Any]) -> dict[str, Any]:
    keywords = tuple(each for pair in value.keywords.items() for each in pair)
    return {"function": value.func, "args": value.args, "keywords": keywords}


def _partial(
    function: Any, args: tuple[Any, ...], keywords: tuple[Any, ...]
) -> partial[Any]:
    require(name_of_function(function) is not None, "unknown function")
    require(type(args) is tuple and type(keywords) is tuple, "tuples are needed")
    named = dict(zip(keywords[::2], keywords[1::2], strict=True))
    require(all(type(name) is str for name in named), "keywords must be text")
    return partial(function, *args, **named)


def _sparse_parts(value: Any) -> dict[str, Any]:
    compressed = value.tocsr() if value.format == "coo" else value
    return {
        "cls": type(value).__name__,
        "shape": tuple(int(n) for n in value.shape),
        "data": compressed.data,
        "indices": compressed.indices,
        "indptr": compressed.indptr,
    }


def _sparse(cls: str, shape: Any, data: Any, indices: Any, indptr: Any) -> Any:
    valid = type(shape) is tuple and len(shape) == 2
    require(valid and all(type(n) is int and n >= 0 for n in shape), "wrong shape")
    for array, kinds in ((data, "biufc"), (indices, "i"), (indptr, "i")):
        valid = isinstance(array, np.ndarray) and array.dtype.kind in kinds
        require(valid and array.ndim == 1, "wrong array")
    constructor = SPARSE[cls.replace("coo", "csr")]
    matrix = constructor((data, indices, indptr), shape=shape, copy=False)
    matrix.check_format(full_check=True)  # every index within the shape
    # The constructor may have chosen shorter integers than the file has.
    matrix.data, matrix.indices, matrix.indptr = data, indices, indptr
    return matrix.tocoo() if cls.startswith("coo") else matrix


def _generator_parts(value: np.random.Generator) -> dict[str, Any]:
    state: Any = value.bit_generator.state
    inner = state["state"]
    numbers = (inner["state"], inner["inc"], state["has_uint32"], state["uinteger"])
    return {"numbers": tuple(map(int, numbers))}


def _generator(numbers: tuple[int, ...]) -> np.random.Generator:
    require(type(numbers) is tuple, "a tuple is needed")
    for n, limit in zip(numbers, PCG64_LIMITS, strict=True):
        require(type(n) is int and 0 <= n < limit, "not a state of this generator")
    state, inc, has_uint32, uinteger = numbers
    bits = np.random.PCG64(0)
    bits.state = {
        "bit_generator": "PCG64",
        "state": {"state": state, "inc": inc},
        "has_uint32": has_uint32,
        "uinteger": uinteger,
    }
    return np.random.Generator(bits)


def _random_state_parts(value: Any) -> dict[str, Any]:
    _, key, pos, has_gauss, gauss = value.get_state(legacy=True)
    return {"key": key, "pos": int(pos), "has_gauss": int(has_gauss), "gauss": gauss}


def _random_state(key: Any, pos: int, has_gauss: int, gauss: float) -> Any:
    valid = isinstance(key, np.ndarray) and key.dtype == np.uint32
    require(valid and key.shape == (MT19937_WORDS,), "not a state of this generator")
    valid = type(pos) is int and 0 <= pos <= MT19937_WORDS
    valid = valid and has_gauss in (0, 1) and type(gauss) is float
    require(valid, "not a state of this generator")
    state = np.random.RandomState(0)
    state.set_state(("MT19937", key, pos, int(has_gauss), gauss))
    return state


def _is_search(value: Any) -> bool:
    if type(value) is not NearestNeighbors or not hasattr(value, "_fit_X"):
        return False
    plain = NearestNeighbors(n_neighbors=value.n_neighbors).get_params()
    return bool(value.get_params() == plain)


def _search(rows: Any, n_neighbors: int) -> NearestNeighbors:
    require(rows.dtype.kind == "f" and rows.ndim == 2, "rows of numbers are needed")
    valid = type(n_neighbors) is int and 1 <= n_neighbors <= rows.shape[0]
    require(valid, "not a number of neighbors")
    return NearestNeighbors(n_neighbors=n_neighbors).fit(rows)


#: Kinds of values by their names in a file. The first that fits is used.
CODECS: dict[str, Codec] = {
    "integer": Codec(
        lambda v: type(v) is int,
        lambda v: {"digits": hex(v)},
        lambda digits: int(digits, 16),
    ),
    "float": Codec(
        lambda v: type(v) is float,
        lambda v: {"name": repr(v)},
        lambda name: SPECIAL_FLOATS[name],
    ),
    "text": Codec(
        lambda v: type(v) is str,
        lambda v: {"utf32": v.encode("utf-32-be", "surrogatepass").hex()},
        lambda utf32: bytes.fromhex(utf32).decode("utf-32-be", "surrogatepass"),
    ),
    "slice": Codec(
        lambda v: type(v) is slice,
        lambda v: {"start": v.start, "stop": v.stop, "step": v.step},
        _slice,
    ),
    "dtype": Codec(
        lambda v: isinstance(v, np.dtype) and _has_dtype(v),
        lambda v: {"name": v.str},
        as_dtype,
    ),
    "scalar": Codec(
        lambda v: isinstance(v, np.generic) and _has_dtype(v.dtype),
        lambda v: {"array": np.array(v)},
        _scalar,
    ),
    "type": Codec(
        lambda v: isinstance(v, type) and v in TYPE_NAMES,
        lambda v: {"name": TYPE_NAMES[v]},
        lambda name: TYPES[name],
    ),
    "function": Codec(
        lambda v: name_of_function(v) is not None,
        lambda v: {"name": name_of_function(v)},
        function_named,
    ),
    "partial": Codec(
        lambda v: type(v) is partial and name_of_function(v.func) is not None,
        _partial_parts,
        _partial,
    ),
    "sparse matrix": Codec(
        lambda v: type(v) in SPARSE.values() and v.ndim == 2, _sparse_parts, _sparse
    ),
    "generator": Codec(
        lambda v: (
            type(v) is np.random.Generator and type(v.bit_generator) is np.random.PCG64
        ),
        _generator_parts,
        _generator,
    ),
    "random state": Codec(
        lambda v: (
            type(v) is np.random.RandomState
            and type(v._bit_generator) is np.random.MT19937
        ),
        _random_state_parts,
        _random_state,
    ),
    "neighbor search": Codec(
        _is_search,
        lambda v: {"rows": v._fit_X, "n_neighbors": int(v.n_neighbors)},
        _search,
    ),
}
