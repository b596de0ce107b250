"""Change values of a JSON object without changing the rest of its text."""

from __future__ import annotations

import json
import re
from typing import Any

__all__ = ["changed_object", "json_text", "object_spans", "skip_blanks"]

BLANKS = re.compile(r"[ \t\r\n]*")
_decode = json.JSONDecoder().raw_decode


def object_spans(text: str) -> dict[str, tuple[int, int]]:
    """Return where the value of each key begins and ends in the text of an object.

    Examples
    --------
    >>> object_spans('{"a": 1.50, "b": [2]}')
    {'a': (6, 10), 'b': (17, 20)}
    """
    spans: dict[str, tuple[int, int]] = {}
    at = skip_blanks(text, text.index("{") + 1)
    while text[at] != "}":
        key, at = _decode(text, at)
        at = skip_blanks(text, skip_blanks(text, at) + 1)  # after the colon
        _, end = _decode(text, at)
        spans[key] = at, end
        at = skip_blanks(text, end)
        if text[at] == ",":
            at = skip_blanks(text, at + 1)
    return spans


def changed_object(text: str, values: dict[str, object]) -> str:
    """Replace values in the text of an object, and add new keys at its end.

    Examples
    --------
    >>> changed_object('{"a": 1.50, "b": null}', {"b": "x", "c": 2})
    '{"a": 1.50, "b": "x", "c": 2}'
    """
    spans = object_spans(text)
    existing = sorted((spans[key], key) for key in values if key in spans)
    for (start, end), key in reversed(existing):
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
    """Return a value as JSON; None, NaN and infinity are null."""
    if hasattr(value, "item"):  # a NumPy scalar
        value = value.item()
    if isinstance(value, float) and (value != value or value in (1e999, -1e999)):
        return "null"
    return json.dumps(value, ensure_ascii=False, default=str)


def skip_blanks(text: str, at: int) -> int:
    """Return the position after any blanks."""
    found = BLANKS.match(text, at)
    assert found is not None
    return found.end()
