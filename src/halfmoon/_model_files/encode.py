"""From an object to a flat list of nodes, and its arrays.

Each object that JSON cannot express becomes a numbered node, and what holds it refers
to it by ``{"ref": number}``. An object held twice is one node, so shared objects stay
shared; an array seen through two equal views is stored once. Lists, sets, dictionaries
and objects are numbered before their contents, all others after: cycles may only pass
through the former.
"""

from __future__ import annotations

import re
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halfmoon._model_files.codecs import CODECS, DTYPE
from halfmoon._model_files.errors import ModelFileError, in_one_line
from halfmoon._model_files.registry import name_of_class
from halfmoon._model_files.state import check_state, state_of
from halfmoon._model_files.tensors import ArrayLayout

__all__ = ["encode"]

MAX_INLINE_INT = 2**63  # beyond it other readers of JSON lose digits
SURROGATE = re.compile("[\ud800-\udfff]")
PENDING = -1  # number of a node whose parts are being encoded


def encode(model: Any) -> tuple[list[Any], Any, dict[str, NDArray[Any]]]:
    """Return the nodes of a model, its root, and arrays by the number of their node."""
    encoder = _Encoder()
    try:
        root = encoder.value(model, "model")
    except RecursionError as error:
        raise ModelFileError(
            "The model cannot be saved: it is nested too deeply, in more than some "
            "hundred layers."
        ) from error
    return encoder.nodes, root, encoder.arrays


class _Encoder:
    def __init__(self) -> None:
        self.nodes: list[dict[str, Any]] = []
        self.arrays: dict[str, NDArray[Any]] = {}
        self._numbers: dict[Any, int] = {}
        self._alive: list[Any] = []  # an id names an object only while it lives

    def value(self, value: Any, path: str) -> Any:
        """Return JSON for a value: itself, or the number of its node."""
        if _is_inline(value):
            return value
        key = _identity(value)
        if key not in self._numbers:
            self._alive.append(value)
            self._numbers[key] = PENDING
            self._numbers[key] = self._node(value, key, path)
        elif self._numbers[key] == PENDING:
            raise ModelFileError(f"{path} cannot be saved: it holds itself.")
        return {"ref": self._numbers[key]}

    def _add(self, node: dict[str, Any]) -> int:
        self.nodes.append(node)
        return len(self.nodes) - 1

    def _node(self, value: Any, key: Any, path: str) -> int:
        if type(value) in (list, set, dict):
            return self._container(value, key, path)
        if type(value) is tuple:
            return self._add({"kind": "tuple", "items": self._items(value, path)})
        if type(value) in (np.ndarray, np.memmap):
            return self._array(value, path)
        for kind, codec in CODECS.items():
            if codec.fits(value):
                parts = codec.parts(value)
                self._alive.append(parts)
                encoded = {k: self.value(v, f"{path}.{k}") for k, v in parts.items()}
                return self._add({"kind": kind, "parts": encoded})
        return self._object(value, key, path)

    def _items(self, values: Any, path: str) -> list[Any]:
        return [self.value(v, f"{path}[{i}]") for i, v in enumerate(values)]

    def _container(self, value: Any, key: Any, path: str) -> int:
        node: dict[str, Any] = {"kind": type(value).__name__, "items": []}
        self._numbers[key] = number = self._add(node)
        if isinstance(value, dict):
            for k, v in value.items():
                name = in_one_line(repr(k))
                node["items"].append(self.value(k, f"{path}.keys()"))
                node["items"].append(self.value(v, f"{path}[{name}]"))
        else:
            node["items"] = self._items(value, path)
        return number

    def _array(self, value: NDArray[Any], path: str) -> int:
        if value.dtype == object:
            flat = value.ravel(order="C").tolist()  # the objects themselves
            self._alive.append(flat)
            items, shape = self._items(flat, path), list(value.shape)
            return self._add({"kind": "objects", "shape": shape, "items": items})
        if DTYPE.fullmatch(value.dtype.str) is None:
            raise ModelFileError(
                f"{path} cannot be saved: it is an array of dtype {value.dtype}; "
                f"numbers, truth values, dates or text (dtype=str) are needed."
            )
        layout = ArrayLayout.of(value)
        node = {
            "kind": "array",
            "dtype": layout.dtype.str,
            "shape": list(layout.shape),
            "order": list(layout.order),
        }
        number = self._add(node)
        self.arrays[str(number)] = np.asarray(value)
        return number

    def _object(self, value: Any, key: Any, path: str) -> int:
        name = name_of_class(type(value))
        if name is None or not hasattr(value, "__dict__"):
            raise _refusal(value, path)
        state = state_of(value)
        self._alive.append(state)
        try:
            check_state(type(value), state)
        except ModelFileError as error:
            raise ModelFileError(f"{path} cannot be saved: {error}.") from error
        node: dict[str, Any] = {"kind": "object", "class": name, "state": {}}
        self._numbers[key] = number = self._add(node)
        for attribute, v in state.items():
            node["state"][attribute] = self.value(v, f"{path}.{attribute}")
        return number


def _is_inline(value: Any) -> bool:
    """Whether JSON can express this very value."""
    if type(value) is int:
        return -MAX_INLINE_INT < value < MAX_INLINE_INT
    if type(value) is float:
        return isfinite(value)
    if type(value) is str:  # JSON joins a pair of surrogates to one character
        return value.isascii() or SURROGATE.search(value) is None
    return value is None or type(value) is bool


def _identity(value: Any) -> Any:
    """Return a key that is equal for two references to the same thing."""
    if type(value) is np.ndarray and value.size and value.dtype != object:
        where = value.__array_interface__["data"][0]
        return where, value.dtype.str, value.shape, value.strides
    return id(value)


def _refusal(value: Any, path: str) -> ModelFileError:
    cls = type(value)
    if callable(value):
        what = in_one_line(getattr(value, "__qualname__", cls.__qualname__))
        return ModelFileError(
            f"{path} cannot be saved: it is code ({what}), which no model file holds. "
            f"Use an object of halfmoon or a transformer of scikit-learn instead."
        )
    name = in_one_line(f"{cls.__module__}.{cls.__qualname__}")
    return ModelFileError(
        f"{path} cannot be saved: it is of class {name}, which a halfmoon model file "
        f"may not hold. Use a scaler, an encoder, PCA or another common transformer of "
        f"scikit-learn instead, or save the model with skops.io."
    )
