"""Versions of the packages that wrote a file, compared with those installed here."""

from __future__ import annotations

import warnings
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from halfmoon._model_files.errors import ModelVersionWarning, in_one_line

__all__ = ["PACKAGES", "versions_here", "warn_of_versions"]

#: Packages by the names that they are imported under.
PACKAGES = {
    "halfmoon": "halfmoon",
    "numpy": "numpy",
    "scipy": "scipy",
    "sklearn": "scikit-learn",
}


@cache
def versions_here() -> dict[str, str]:
    """Return the installed version of each package."""
    import halfmoon

    others = [name for name in PACKAGES.values() if name != "halfmoon"]
    return {"halfmoon": halfmoon.__version__} | {name: version(name) for name in others}


def warn_of_versions(path: Path, written: dict[str, Any], used: set[str]) -> None:
    """Warn once if packages whose objects the file holds have other versions here."""
    here = versions_here()
    names = [PACKAGES[package] for package in sorted(used) if package in PACKAGES]
    other = [name for name in names if written[name] != here[name]]
    if other:
        then = ", ".join(f"{name} {in_one_line(written[name])}" for name in other)
        now = ", ".join(f"{name} {here[name]}" for name in other)
        warnings.warn(
            f"{in_one_line(path)} was written with {then}; installed here: {now}. "
            f"Predictions may differ or fail: use the same versions, or fit and save "
            f"the model again.",
            ModelVersionWarning,
            stacklevel=3,
        )
