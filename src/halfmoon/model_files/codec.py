"""A kind of value in the graph: how it is taken apart, and put together again.

The parts of a value are values themselves, or plain JSON. They are named by the
arguments of `build`, so a file that has others is refused before `build` is called.
`build` trusts nothing: it raises ValueError or TypeError on what cannot be.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from inspect import signature
from typing import Any

__all__ = ["Codec", "need"]


@dataclass(frozen=True)
class Codec:
    """One kind of value that is built in one step, from parts that are there before.

    Attributes
    ----------
    kind : str
        Its name in the file.
    fits : callable
        Whether a value is of this kind.
    parts : callable
        From a value to its parts, by name.
    build : callable
        From the parts, as keyword arguments, to the value.
    package : str
        The package outside halfmoon whose version matters to it, or nothing.
    """

    kind: str
    fits: Callable[[Any], bool]
    parts: Callable[[Any], dict[str, Any]]
    build: Callable[..., Any]
    package: str = ""

    @property
    def names(self) -> set[str]:
        """Names of the parts."""
        return set(signature(self.build).parameters)


def need(condition: bool, what: str) -> None:
    """Refuse parts that do not fit together."""
    if not condition:
        raise ValueError(what)
