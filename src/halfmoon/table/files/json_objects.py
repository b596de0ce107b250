"""JSON objects as they stand in a file: where each value is, and how to change one."""

from __future__ import annotations

import json
import re
from typing import Any

__all__ = ["changed_object", "json_text", "object_spans"]

SPACE = re.compile(r"[ \t\r\n]*")
_decode = json.JSONDecoder().raw_decode


def object_spans(text: str) -> dict[str, tuple[int, int]]:
    """Where the value of each key begins and ends in the text of an object.

    Examples
    --------
    >>> object_spans('{"a": 1.50, "b": [2]}')
    {'a': (6, 10), 'b': (17, 20)}
    """
    spans: dict[str, tuple[int, int]] = {}
    at = _skip(text, text.index("{") + 1)
    while text[at] != "}":
        key, at = _decode(text, at)
        at = _skip(text, _skip(text, at) + 1)  # behind the colon
        _, end = _decode(text, at)
        spans[key] = at, end
        at = _skip(text, end)
        if text[at] == ",":
            at = _skip(text, at + 1)
    return spans


def changed_object(text: str, values: dict[str, object]) -> str:
    """The text of an object with values replaced, or added behind the others.

    Everything else stays as it is written.

    Examples
    --------
    >>> changed_object('{"a": 1.50, "b": null}', {"b": "x", "c": 2})
    '{"a": 1.50, "b": "x", "c": 2}'
    """
    spans = object_spans(text)
    there = sorted((spans[key], key) for key in values if key in spans)
    for (start, end), key in reversed(there):
        text = text[:start] + json_text(values[key]) + text[end:]
    new = [
        f"{json_text(key)}: {json_text(value)}"
        for key, value in values.items()
        if key not in spans
    ]
    if not new:
        return text
    end = len(text[: text.rindex("}")].rstrip())
    comma = ", " if spans else ""
    return text[:end] + comma + ", ".join(new) + text[end:]


def json_text(value: Any) -> str:
    """A value as JSON; null for None and for what is not a number."""
    if hasattr(value, "item"):  # one of NumPy's
        value = value.item()
    if isinstance(value, float) and (value != value or value in (1e999, -1e999)):
        return "null"
    return json.dumps(value, ensure_ascii=False, default=str)


def _skip(text: str, at: int) -> int:
    found = SPACE.match(text, at)
    assert found is not None
    return found.end()
