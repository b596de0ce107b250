"""Versions of what wrote a file, beside those of what reads it."""

from __future__ import annotations

import warnings
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from halfmoon.model_files.errors import ModelVersionWarning, in_one_line

__all__ = ["versions_here", "warn_of_versions"]

#: Packages by the names that they are imported under.
PACKAGES = {
    "halfmoon": "halfmoon",
    "numpy": "numpy",
    "scipy": "scipy",
    "sklearn": "scikit-learn",
    "skrub": "skrub",
    "pandas": "pandas",
}


def versions_here() -> dict[str, str | None]:
    """Version of each package; None where it is not installed."""
    return {name: _version(package) for package, name in PACKAGES.items()}


def warn_of_versions(path: Path, told: dict[str, Any], used: set[str]) -> None:
    """Warn once if packages that the file has objects of have other versions here."""
    here = versions_here()
    names = [PACKAGES[package] for package in sorted(used) if package in PACKAGES]
    other = [name for name in names if told[name] != here[name]]
    if other:
        then = ", ".join(f"{name} {in_one_line(told[name])}" for name in other)
        now = ", ".join(f"{name} {here[name]}" for name in other)
        warnings.warn(
            f"{in_one_line(path)} was written with {then}; here is {now}. Predictions "
            f"may differ or fail: use the same versions, or fit and save anew.",
            ModelVersionWarning,
            stacklevel=3,
        )


@cache
def _version(package: str) -> str | None:
    if package == "halfmoon":  # of the code itself, installed or not
        import halfmoon

        return halfmoon.__version__
    try:
        return version(PACKAGES[package])
    except PackageNotFoundError:
        return None
