"""From nodes and arrays back to the object; nothing in a file is taken on trust.

In three rounds: first all lists, sets, dictionaries and objects, empty; then, in order,
whatever is built in one step from parts that are there; then the empty ones are filled,
dictionaries and sets last, because a key may be an object whose hash needs its
attributes. No `__init__`, `__setstate__` or `__reduce__` is called.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from halfmoon.model_files.encode import CODECS
from halfmoon.model_files.errors import ModelFileError, in_one_line
from halfmoon.model_files.leaves import as_dtype
from halfmoon.model_files.lookup import package_of
from halfmoon.model_files.state import bare, check_state
from halfmoon.model_files.tensors import Layout

__all__ = ["decode", "layouts_of"]

BY_KIND = {codec.kind: codec for codec in CODECS}
SHELLS = {"list": list, "set": set, "dict": dict}
ITEMS = {"kind", "items"}
LARGEST_KEY = 2**60  # whole numbers beyond it can be made to collide, all of them


def layouts_of(nodes: list[Any]) -> dict[str, Layout]:
    """The arrays that the nodes speak of, in the order of the file."""
    layouts = {}
    for number, node in enumerate(nodes):
        if node.get("kind") != "array":
            continue
        _expect(set(node) == {"kind", "dtype", "shape", "order"}, number)
        shape, order = node["shape"], node["order"]
        _expect(_whole_numbers(shape) and _whole_numbers(order), number)
        dtype = as_dtype(node["dtype"])
        _expect(dtype.kind != "O", number)
        layouts[str(number)] = Layout(dtype, tuple(shape), tuple(order))
    return layouts


def decode(
    nodes: list[Any], root: Any, arrays: dict[str, NDArray[Any]]
) -> tuple[Any, set[str]]:
    """The object, and the packages outside halfmoon that it holds objects of."""
    decoder = _Decoder(nodes, arrays)
    decoder.make_shells()
    decoder.build()
    decoder.fill()
    value = decoder.value(root)
    decoder.check_use(root)
    return value, decoder.packages


@dataclass
class _Unmade:
    """In the place of a node that has not been built yet."""


UNMADE = _Unmade()


class _Decoder:
    def __init__(self, nodes: list[Any], arrays: dict[str, NDArray[Any]]) -> None:
        self._nodes, self._arrays = nodes, arrays
        self._made: list[Any] = [UNMADE] * len(nodes)
        self._used: set[int] = set()
        self.packages: set[str] = set()

    def value(self, value: Any) -> Any:
        """The value that JSON stands for."""
        if not isinstance(value, (dict, list)):
            return value
        number = value.get("ref") if isinstance(value, dict) else None
        fair = isinstance(value, dict) and len(value) == 1 and type(number) is int
        if not fair or not 0 <= number < len(self._made):  # type: ignore[operator]
            raise ModelFileError("refers to something that is not in it")
        made = self._made[number]  # type: ignore[index]
        if made is UNMADE:
            raise ModelFileError(f"uses its part {number} before it is made")
        self._used.add(number)  # type: ignore[arg-type]
        return made

    def make_shells(self) -> None:
        """All that is filled later."""
        for number, node in enumerate(self._nodes):
            kind = node.get("kind")
            if isinstance(kind, str) and kind in SHELLS:
                _expect(set(node) == ITEMS and isinstance(node["items"], list), number)
                self._made[number] = SHELLS[kind]()
            elif kind == "object":
                _expect(set(node) == {"kind", "class", "state"}, number)
                _expect(isinstance(node["state"], dict), number)
                self._made[number] = bare(node["class"])
                self.packages.add(package_of(type(self._made[number])))

    def build(self) -> None:
        """All that is built from its parts."""
        for number, node in enumerate(self._nodes):
            if self._made[number] is not UNMADE:
                continue
            try:
                self._made[number] = self._built(number, node)
            except ModelFileError:
                raise
            except Exception as error:  # constructors refuse in ways of their own
                raise _broken(number, node) from error

    def _built(self, number: int, node: dict[str, Any]) -> Any:
        kind = node.get("kind")
        if kind == "array":
            return self._arrays[str(number)]
        if kind == "tuple":
            _expect(set(node) == ITEMS and isinstance(node["items"], list), number)
            return tuple(self.value(item) for item in node["items"])
        if kind == "objects":
            return self._objects(number, node)
        codec = BY_KIND.get(kind) if isinstance(kind, str) else None
        if codec is None:
            raise ModelFileError(
                f"holds a part of kind {in_one_line(kind)}, which this halfmoon does "
                f"not know"
            )
        _expect(set(node) == {"kind", "parts"}, number)
        parts = node["parts"]
        _expect(isinstance(parts, dict) and set(parts) == codec.names, number)
        if codec.package:
            self.packages.add(codec.package)
        return codec.build(**{name: self.value(part) for name, part in parts.items()})

    def _objects(self, number: int, node: dict[str, Any]) -> NDArray[Any]:
        _expect(set(node) == {"kind", "shape", "items"}, number)
        shape, items = node["shape"], node["items"]
        _expect(_whole_numbers(shape) and isinstance(items, list), number)
        layout = Layout(np.dtype(np.int8), tuple(shape), tuple(range(len(shape))))
        _expect(layout.nbytes == len(items), number)
        array = np.empty(len(items), dtype=object)
        for i, item in enumerate(items):
            array[i] = self.value(item)
        return array.reshape(layout.shape)

    def fill(self) -> None:
        """Put into objects and containers what they hold."""
        later = []
        for number, node in enumerate(self._nodes):
            made = self._made[number]
            if node["kind"] == "object":
                made.__dict__.update(
                    {name: self.value(v) for name, v in node["state"].items()}
                )
            elif node["kind"] == "list":
                made.extend(self.value(item) for item in node["items"])
            elif node["kind"] in ("dict", "set"):
                later.append((number, node, made))
        for number, node, made in later:
            try:
                self._fill_keys(node, made)
            except (TypeError, ValueError, RecursionError) as error:
                raise _broken(number, node) from error
        for node, made in zip(self._nodes, self._made, strict=True):
            if node["kind"] == "object":
                try:
                    check_state(type(made), made.__dict__)
                except ModelFileError as error:
                    raise ModelFileError(
                        f"cannot be loaded: {error}; get it from where it was written"
                    ) from error

    def _fill_keys(self, node: dict[str, Any], made: Any) -> None:
        values = [self.value(item) for item in node["items"]]
        keys = values[::2] if isinstance(made, dict) else values
        for key in keys:
            if isinstance(key, int) and abs(key) > LARGEST_KEY:
                raise ValueError("a key is too large a number")
        if isinstance(made, dict):
            made.update(zip(keys, values[1::2], strict=True))
        else:
            made.update(keys)
        if len(made) != len(keys):
            raise ValueError("a key stands twice")

    def check_use(self, root: Any) -> None:
        """Refuse what nothing refers to: it has no place in a file that we wrote."""
        self.value(root)
        if len(self._used) != len(self._nodes):
            raise ModelFileError("holds parts that belong to nothing")


def _whole_numbers(values: Any) -> bool:
    return isinstance(values, list) and all(type(each) is int for each in values)


def _expect(fair: bool, number: int) -> None:
    if not fair:
        raise ModelFileError(f"holds a part (number {number}) that is not well formed")


def _broken(number: int, node: dict[str, Any]) -> ModelFileError:
    kind = in_one_line(node.get("kind"))
    return ModelFileError(f"holds a {kind} (number {number}) that cannot be one")
