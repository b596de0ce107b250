"""From an object to a flat list of nodes and its arrays, and back.

Each object that JSON cannot express becomes a numbered node, and what holds it refers
to it by ``{"ref": number}``. An object held twice is one node, so shared objects stay
shared; an array seen through two equal views is stored once. Lists, sets, dictionaries
and objects are numbered before their contents, all others after: cycles may only pass
through the former.

On the way back nothing in a file is trusted. There are three rounds. First all lists,
sets, dictionaries and objects are made, empty. Then, in order, all other values are
built from their parts. Then the empty ones are filled. No `__init__`, `__setstate__` or
`__reduce__` is called.

A small file must not take much time, memory or stack. So keys are single values or
tuples of these, because a hash visits all that a tuple holds, as often as it holds it.
Values are nested in at most some hundred layers, because Python hashes and frees
tuples, slices and arrays by recursion. And an array is part of few values that copy it.
"""

from __future__ import annotations

import re
from collections import Counter
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halfmoon._model_files.codecs import CODECS, DTYPE, as_dtype
from halfmoon._model_files.container import ArrayLayout
from halfmoon._model_files.errors import ModelFileError, in_one_line
from halfmoon._model_files.registry import name_of_class, package_of
from halfmoon._model_files.state import check_state, empty_object, state_of

__all__ = ["decode", "encode", "layouts_of"]

MAX_INLINE_INT = 2**63  # beyond it other readers of JSON lose digits
SURROGATE = re.compile("[\ud800-\udfff]")
PENDING = -1  # number of a node whose parts are being encoded
CONTAINERS = {"list": list, "set": set, "dict": dict}
MAX_KEY = 2**60  # larger whole numbers can all be made to collide
MAX_LAYERS = 500  # of values in values; `save` writes fewer
MAX_COPIES = 20  # values, such as searches for neighbors, that are made of one array
NOT_MADE = object()  # in the place of a node that has not been built yet


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
        if type(value) is not list and not all(map(_is_key, value)):
            raise ModelFileError(
                f"{path} cannot be saved: its keys must be texts, numbers up to 2^60 "
                f"or tuples of these."
            )
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


def _is_key(value: Any) -> bool:
    """Whether a file may hold a value as a key of a dictionary, or in a set."""
    if type(value) is tuple:
        return all(type(each) is not tuple and _is_key(each) for each in value)
    if isinstance(value, (int, np.integer)):
        return abs(int(value)) <= MAX_KEY
    return value is None or isinstance(
        value, (str, float, np.floating, np.bool_, np.str_, np.bytes_)
    )


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
        # NumPy has no array of empty texts: it would make room for one letter each.
        _expect(dtype.kind != "O" and dtype.itemsize > 0, number)
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
        self._layers = [0] * len(nodes)
        self._copies: Counter[int] = Counter()
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
                self._count_layers(number, node)

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

    def _count_layers(self, number: int, node: dict[str, Any]) -> None:
        """Count the layers of values in a value, and the values made of each array."""
        parts = node["parts"].values() if "parts" in node else node.get("items", ())
        inner = [part["ref"] for part in parts if isinstance(part, dict)]
        self._layers[number] = 1 + max(
            (self._layers[each] for each in inner), default=0
        )
        if self._layers[number] > MAX_LAYERS:
            raise ModelFileError("is nested too deeply to be a model")
        if "parts" in node:
            self._copies.update(each for each in inner if str(each) in self._arrays)
            if any(self._copies[each] > MAX_COPIES for each in inner):
                raise ModelFileError(f"makes more than {MAX_COPIES} values of an array")

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
        for number, node in enumerate(self._nodes):
            made = self._made[number]
            if node["kind"] == "object":
                state = {name: self.value(v) for name, v in node["state"].items()}
                made.__dict__.update(state)
            elif node["kind"] == "list":
                made.extend(self.value(item) for item in node["items"])
            elif node["kind"] in ("dict", "set"):
                try:
                    self._fill_keyed(node, made)
                except ValueError as error:
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
        if not all(map(_is_key, keys)):
            raise ValueError("a key is not a text, a number or a tuple of these")
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
