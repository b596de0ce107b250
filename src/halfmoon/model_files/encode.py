"""From an object to a flat list of nodes, and the arrays beside it.

Each object that JSON has no form for becomes a node, numbered, and whatever holds it
says ``{"ref": number}``. An object that is held twice is one node, so what was shared
stays shared; an array that is seen through two equal views is stored once. Lists, sets,
dictionaries and objects get their number before what they hold, all others after it:
cycles may only pass through the former.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halfmoon.model_files.codec import Codec
from halfmoon.model_files.errors import ModelFileError, in_one_line
from halfmoon.model_files.frames import FRAMES
from halfmoon.model_files.leaves import DTYPE, LEAVES, is_inline
from halfmoon.model_files.lookup import name_of_class
from halfmoon.model_files.machines import MACHINES
from halfmoon.model_files.references import REFERENCES
from halfmoon.model_files.state import check_state, state_of
from halfmoon.model_files.tensors import Layout

__all__ = ["CODECS", "Encoded", "encode"]

CODECS: tuple[Codec, ...] = (*LEAVES, *REFERENCES, *MACHINES, *FRAMES)
PENDING = -1  # number of a node whose parts are being encoded


@dataclass
class Encoded:
    """Nodes, the value that holds them all, and the arrays by the number of theirs."""

    nodes: list[dict[str, Any]] = field(default_factory=list)
    root: Any = None
    arrays: dict[str, NDArray[Any]] = field(default_factory=dict)


def encode(model: Any) -> Encoded:
    """The graph of a model, which is left as it is."""
    encoder = _Encoder()
    try:
        encoder.out.root = encoder.value(model, "model")
    except RecursionError as error:
        raise ModelFileError(
            "The model cannot be saved: it is nested too deeply, in more than some "
            "hundred layers."
        ) from error
    return encoder.out


class _Encoder:
    def __init__(self) -> None:
        self.out = Encoded()
        self._numbers: dict[Any, int] = {}
        self._kept: list[Any] = []  # an id names an object only while that lives

    def value(self, value: Any, path: str) -> Any:
        """JSON for a value: itself, or the number of its node."""
        if is_inline(value):
            return value
        key = _identity(value)
        if key not in self._numbers:
            self._kept.append(value)
            self._numbers[key] = PENDING
            self._numbers[key] = self._node(value, key, path)
        elif self._numbers[key] == PENDING:
            raise ModelFileError(f"{path} cannot be saved: it holds itself.")
        return {"ref": self._numbers[key]}

    def _add(self, node: dict[str, Any]) -> int:
        self.out.nodes.append(node)
        return len(self.out.nodes) - 1

    def _node(self, value: Any, key: Any, path: str) -> int:
        if type(value) in (list, set, dict):
            return self._container(value, key, path)
        if type(value) is tuple:
            items = [self.value(v, f"{path}[{i}]") for i, v in enumerate(value)]
            return self._add({"kind": "tuple", "items": items})
        if type(value) in (np.ndarray, np.memmap):
            return self._array(value, path)
        for codec in CODECS:
            if codec.fits(value):
                parts = codec.parts(value)
                self._kept.append(parts)
                encoded = {k: self.value(v, f"{path}.{k}") for k, v in parts.items()}
                return self._add({"kind": codec.kind, "parts": encoded})
        return self._object(value, key, path)

    def _container(self, value: Any, key: Any, path: str) -> int:
        node: dict[str, Any] = {"kind": type(value).__name__, "items": []}
        self._numbers[key] = number = self._add(node)
        if isinstance(value, dict):
            for k, v in value.items():
                name = in_one_line(repr(k))
                node["items"].append(self.value(k, f"{path}.keys()"))
                node["items"].append(self.value(v, f"{path}[{name}]"))
        else:
            for i, v in enumerate(value):
                node["items"].append(self.value(v, f"{path}[{i}]"))
        return number

    def _array(self, value: NDArray[Any], path: str) -> int:
        if value.dtype == object:
            flat = value.ravel(order="C").tolist()  # the objects themselves
            self._kept.append(flat)
            items = [self.value(v, f"{path}[{i}]") for i, v in enumerate(flat)]
            shape = list(value.shape)
            return self._add({"kind": "objects", "shape": shape, "items": items})
        if DTYPE.fullmatch(value.dtype.str) is None:
            raise ModelFileError(
                f"{path} cannot be saved: it is an array of dtype {value.dtype}; "
                f"numbers, truth values, dates or text (dtype=str) are needed."
            )
        layout = Layout.of(value)
        node = {
            "kind": "array",
            "dtype": layout.dtype.str,
            "shape": list(layout.shape),
            "order": list(layout.order),
        }
        number = self._add(node)
        self.out.arrays[str(number)] = np.asarray(value)
        return number

    def _object(self, value: Any, key: Any, path: str) -> int:
        name = name_of_class(type(value))
        if name is None or not hasattr(value, "__dict__"):
            raise _refusal(value, path)
        state = state_of(value)
        self._kept.append(state)
        try:
            check_state(type(value), state)
        except ModelFileError as error:
            raise ModelFileError(f"{path} cannot be saved: {error}.") from error
        node: dict[str, Any] = {"kind": "object", "class": name, "state": {}}
        self._numbers[key] = number = self._add(node)
        for attribute, v in state.items():
            node["state"][attribute] = self.value(v, f"{path}.{attribute}")
        return number


def _identity(value: Any) -> Any:
    """What two names of one thing have in common."""
    if type(value) is np.ndarray and value.size and value.dtype != object:
        where = value.__array_interface__["data"][0]
        return where, value.dtype.str, value.shape, value.strides
    return id(value)


def _refusal(value: Any, path: str) -> ModelFileError:
    cls = type(value)
    if hasattr(value, "__code__") or hasattr(value, "__func__") or callable(value):
        what = in_one_line(getattr(value, "__qualname__", cls.__qualname__))
        return ModelFileError(
            f"{path} cannot be saved: it is code ({what}), which no model file holds. "
            f"Use an object of halfmoon or a transformer of scikit-learn in its place."
        )
    name = in_one_line(f"{cls.__module__}.{cls.__qualname__}")
    return ModelFileError(
        f"{path} cannot be saved: it is of class {name}, which is not among those that "
        f"a model file may hold. Use a transformer of scikit-learn in its place."
    )
