"""Imports point to lower layers only; CONTRIBUTING and `halfmoon.table` list them."""

import re
from pathlib import Path

import pytest

import halfmoon

SOURCE = Path(halfmoon.__file__).parent
CONTRIBUTING = Path(__file__).parents[1] / "CONTRIBUTING.md"


def layers_of_halfmoon():
    if not CONTRIBUTING.exists():
        pytest.skip("CONTRIBUTING is not part of this distribution")
    rows = re.findall(r"^\| (`.*?) \|.*\|.*\|$", CONTRIBUTING.read_text("utf-8"), re.M)
    names = [re.findall(r"`(\w+)(?:/|\.py)`", row) for row in rows]
    return [layer for layer in names if layer]


def layers_of_table():
    text = (SOURCE / "table/__init__.py").read_text("utf-8")
    rows = re.findall(r"^(`_.*?)  ", text, re.M)
    return [re.findall(r"`(\w+)`", row) for row in rows]


@pytest.mark.parametrize(
    ("package", "layers"),
    [("", layers_of_halfmoon), ("table", layers_of_table)],
    ids=["halfmoon", "table"],
)
def test_imports_point_to_lower_layers(package, layers):
    level = {name: i for i, layer in enumerate(layers()) for name in layer}
    prefix = ".".join(filter(None, ["halfmoon", package]))
    imported = re.compile(rf"^from {re.escape(prefix)}\.(\w+)", re.M)
    found = set()
    for path in (SOURCE / package).rglob("*.py"):
        name = path.relative_to(SOURCE / package).parts[0].removesuffix(".py")
        if name in ("__init__", "__main__"):
            continue
        found.add(name)
        for other in imported.findall(path.read_text("utf-8")):
            assert level[other] <= level[name], f"{path} imports {other}"
    assert found == set(level)


def test_reading_a_file_needs_neither_models_nor_reports():
    allowed = {"_atomic_files", "_notes", "_number_format", "table"}
    imported = re.compile(r"^from halfmoon\.(\w+)", re.M)
    found = {
        other
        for path in (SOURCE / "table/_files").rglob("*.py")
        for other in imported.findall(path.read_text("utf-8"))
    }
    assert found <= allowed
