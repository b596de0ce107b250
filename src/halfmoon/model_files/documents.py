"""JSON from a file that nobody vouches for, read strictly."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, NoReturn

from halfmoon.model_files.errors import ModelFileError

__all__ = ["parsed"]


def parsed(text: bytes) -> Any:
    """The document, without what JSON does not have: NaN, and names that stand twice.

    >>> parsed(b'{"a": [1, 2.5, null]}')
    {'a': [1, 2.5, None]}
    """
    try:
        return json.loads(
            text, parse_constant=_refuse, object_pairs_hook=_without_doubles
        )
    except RecursionError as error:
        raise ModelFileError("is nested too deeply to be a model") from error


def _refuse(name: str) -> NoReturn:
    raise ModelFileError(f"holds the bare number {name}, which JSON does not have")


def _without_doubles(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    pairs = list(pairs)
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ModelFileError("says two things under one name")
    return members
