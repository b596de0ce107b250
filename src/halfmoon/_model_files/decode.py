"""From nodes and arrays back to the object; nothing in a file is trusted.

There are three rounds. First all lists, sets, dictionaries and objects are made, empty.
Then, in order, all other values are built from their parts. Then the empty ones are
filled, dictionaries and sets last, because a key may be an object whose hash needs its
attributes. No `__init__`, `__setstate__` or `__reduce__` is called.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from halfmoon._model_files.codecs import CODECS, as_dtype
from halfmoon._model_files.errors import ModelFileError, in_one_line
from halfmoon._model_files.registry import package_of
from halfmoon._model_files.state import check_state, empty_object
from halfmoon._model_files.tensors import ArrayLayout

__all__ = ["decode", "layouts_of"]

CONTAINERS = {"list": list, "set": set, "dict": dict}
MAX_KEY = 2**60  # larger whole numbers can all be made to collide
NOT_MADE = object()  # in the place of a node that has not been built yet


def layouts_of(nodes: list[Any]) -> dict[str, ArrayLayout]:
    """Return the layouts of all arrays, in the order of the file."""
    layouts = {}
    for number, node in enumerate(nodes):
        if node.get("kind") != "array":
            continue
        _expect(set(node) == {"kind", "dtype", "shape", "order"}, number)
        shape, order = node["shape"], node["order"]
        _expect(_are_integers(shape) and _are_integers(order), number)
        dtype = as_dtype(node["dtype"])
        _expect(dtype.kind != "O", number)
        layouts[str(number)] = ArrayLayout(dtype, tuple(shape), tuple(order))
    return layouts


def decode(
    nodes: list[Any], root: Any, arrays: dict[str, NDArray[Any]]
) -> tuple[Any, set[str]]:
    """Return the object, and the packages of all objects that it holds."""
    decoder = _Decoder(nodes, arrays)
    decoder.make_empty()
    decoder.build()
    decoder.fill()
    value = decoder.value(root)
    decoder.refuse_unused()
    return value, decoder.packages


class _Decoder:
    def __init__(self, nodes: list[Any], arrays: dict[str, NDArray[Any]]) -> None:
        self._nodes, self._arrays = nodes, arrays
        self._made: list[Any] = [NOT_MADE] * len(nodes)
        self._used: set[int] = set()
        self.packages: set[str] = set()

    def value(self, value: Any) -> Any:
        """Return the value that JSON stands for."""
        if not isinstance(value, (dict, list)):
            return value
        number = value.get("ref", -1) if isinstance(value, dict) else -1
        valid = type(number) is int and len(value) == 1
        if not valid or not 0 <= number < len(self._made):
            raise ModelFileError("refers to something that is not in it")
        if self._made[number] is NOT_MADE:
            raise ModelFileError(f"uses its part {number} before it is made")
        self._used.add(number)
        return self._made[number]

    def make_empty(self) -> None:
        """Make the values that are filled later."""
        for number, node in enumerate(self._nodes):
            kind = node.get("kind")
            if isinstance(kind, str) and kind in CONTAINERS:
                _expect_items(node, number)
                self._made[number] = CONTAINERS[kind]()
            elif kind == "object":
                _expect(set(node) == {"kind", "class", "state"}, number)
                _expect(isinstance(node["state"], dict), number)
                self._made[number] = empty_object(node["class"])
                self.packages.add(package_of(type(self._made[number])))

    def build(self) -> None:
        """Build all other values from their parts."""
        for number, node in enumerate(self._nodes):
            if self._made[number] is NOT_MADE:
                try:
                    self._made[number] = self._built(number, node)
                except ModelFileError:
                    raise
                except Exception as error:  # constructors refuse in their own ways
                    raise _invalid(number, node) from error

    def _built(self, number: int, node: dict[str, Any]) -> Any:
        kind = node.get("kind")
        if kind == "array":
            return self._arrays[str(number)]
        if kind == "tuple":
            _expect_items(node, number)
            return tuple(self.value(item) for item in node["items"])
        if kind == "objects":
            return self._object_array(number, node)
        codec = CODECS.get(kind) if isinstance(kind, str) else None
        if codec is None:
            raise ModelFileError(
                f"holds a part of kind {in_one_line(kind)}, which this halfmoon does "
                f"not know"
            )
        _expect(set(node) == {"kind", "parts"}, number)
        parts = node["parts"]
        _expect(isinstance(parts, dict) and set(parts) == codec.names, number)
        return codec.build(**{name: self.value(part) for name, part in parts.items()})

    def _object_array(self, number: int, node: dict[str, Any]) -> NDArray[Any]:
        _expect(set(node) == {"kind", "shape", "items"}, number)
        shape, items = node["shape"], node["items"]
        _expect(_are_integers(shape) and isinstance(items, list), number)
        layout = ArrayLayout(np.dtype(np.int8), tuple(shape), tuple(range(len(shape))))
        _expect(layout.nbytes == len(items), number)
        array = np.empty(len(items), dtype=object)
        for i, item in enumerate(items):
            array[i] = self.value(item)
        return array.reshape(layout.shape)

    def fill(self) -> None:
        """Fill objects and containers, then check the objects."""
        keyed = []
        for number, node in enumerate(self._nodes):
            made = self._made[number]
            if node["kind"] == "object":
                state = {name: self.value(v) for name, v in node["state"].items()}
                made.__dict__.update(state)
            elif node["kind"] == "list":
                made.extend(self.value(item) for item in node["items"])
            elif node["kind"] in ("dict", "set"):
                keyed.append((number, node, made))
        for number, node, made in keyed:
            try:
                self._fill_keyed(node, made)
            except (TypeError, ValueError, RecursionError) as error:
                raise _invalid(number, node) from error
        for node, made in zip(self._nodes, self._made, strict=True):
            if node["kind"] == "object":
                try:
                    check_state(type(made), made.__dict__)
                except ModelFileError as error:
                    raise ModelFileError(
                        f"cannot be loaded: {error}; get it again from its source"
                    ) from error

    def _fill_keyed(self, node: dict[str, Any], made: Any) -> None:
        values = [self.value(item) for item in node["items"]]
        keys = values[::2] if isinstance(made, dict) else values
        for key in keys:
            if isinstance(key, int) and abs(key) > MAX_KEY:
                raise ValueError("a key is too large a number")
        if isinstance(made, dict):
            made.update(zip(keys, values[1::2], strict=True))
        else:
            made.update(keys)
        if len(made) != len(keys):
            raise ValueError("two keys are equal")

    def refuse_unused(self) -> None:
        """Refuse nodes that nothing refers to: `save` writes none."""
        if len(self._used) != len(self._nodes):
            raise ModelFileError("holds parts that nothing refers to")


def _are_integers(values: Any) -> bool:
    return isinstance(values, list) and all(type(each) is int for each in values)


def _expect(valid: bool, number: int) -> None:
    if not valid:
        raise ModelFileError(f"holds a part (number {number}) that is not well formed")


def _expect_items(node: dict[str, Any], number: int) -> None:
    _expect(set(node) == {"kind", "items"} and isinstance(node["items"], list), number)


def _invalid(number: int, node: dict[str, Any]) -> ModelFileError:
    kind = in_one_line(node.get("kind"))
    return ModelFileError(f"holds an invalid {kind} (part {number})")
