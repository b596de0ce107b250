"""JSON from an untrusted file, read strictly."""

from __future__ import annotations

import json
from typing import Any, NoReturn

from halfmoon._model_files.errors import ModelFileError

__all__ = ["parsed"]


def parsed(text: bytes) -> Any:
    """Return the document; refuse NaN and repeated names, which JSON does not have.

    >>> parsed(b'{"a": [1, 2.5, null]}')
    {'a': [1, 2.5, None]}
    """
    try:
        return json.loads(text, parse_constant=_refuse, object_pairs_hook=_unique)
    except RecursionError as error:
        raise ModelFileError("is nested too deeply to be a model") from error


def _refuse(name: str) -> NoReturn:
    raise ModelFileError(f"holds the bare number {name}, which JSON does not have")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ModelFileError("holds a name twice")
    return members
