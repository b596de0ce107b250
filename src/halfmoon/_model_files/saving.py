"""Save and load a model: one zip of JSON and arrays, without code."""

from __future__ import annotations

import json
import os
import warnings
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from halfmoon._model_files.container import (
    SCHEMA,
    opened,
    parsed,
    read_tensors,
    write_file,
    write_tensors,
)
from halfmoon._model_files.errors import (
    ModelFileError,
    ModelVersionWarning,
    in_one_line,
)
from halfmoon._model_files.nodes import decode, encode, layouts_of
from halfmoon._model_files.registry import package_of

__all__ = ["load", "save"]

FORMAT = "halfmoon model"
KEYS = {"format", "schema", "versions", "root", "nodes"}
#: Packages by the names that they are imported under.
PACKAGES = {
    "halfmoon": "halfmoon",
    "numpy": "numpy",
    "scipy": "scipy",
    "sklearn": "scikit-learn",
}


def save(model: Any, path: str | os.PathLike[str], *, overwrite: bool = True) -> None:
    """Write a model to a file that `load` reads, on this machine or another.

    The file holds data and no code. It appears complete or not at all. The model is
    not changed.

    Parameters
    ----------
    model : estimator, transformer, Problem, Fit, ...
        Fitted or not, alone or in a pipeline of scikit-learn.
    path : path-like
        Usually ends in ``.halfmoon``.
    overwrite : bool
        Whether an existing file may be replaced.

    Raises
    ------
    ModelFileError
        If the model holds a function of your own, a torch module, or an object of a
        class that a file may not hold. The message names the attribute.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from halfmoon import FredholmRegressor
    >>> X = np.linspace(0, 1, 20)[:, None]
    >>> y = np.where(np.arange(20) % 4 == 0, X[:, 0], np.nan)
    >>> model = FredholmRegressor(alpha=1e-3, random_state=0).fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(model, f"{folder}/line.halfmoon")
    ...     again = load(f"{folder}/line.halfmoon")
    >>> bool((again.predict(X) == model.predict(X)).all())
    True
    """
    nodes, root, arrays = encode(model)
    document = {
        "format": FORMAT,
        "schema": SCHEMA,
        "versions": versions_here(),
        "root": root,
        "nodes": nodes,
    }
    text = json.dumps(document, separators=(",", ":"), allow_nan=False).encode("ascii")
    write_file(Path(path), text, write_tensors(arrays), overwrite=overwrite)


def load(path: str | os.PathLike[str]) -> Any:
    """Load a model that `save` wrote.

    Loading runs no code from the file. It checks that the file is complete and that
    everything in it is allowed, and refuses anything else with one line.

    Parameters
    ----------
    path : path-like

    Raises
    ------
    ModelFileError
        If the file is truncated, altered, newer than this halfmoon, or not a model.
    FileNotFoundError
        If there is no such file.

    Warns
    -----
    ModelVersionWarning
        If packages whose objects the model holds have other versions here.
    """
    path = Path(path)
    try:
        with opened(path) as (text, stream, size):
            document = _document(text)
            nodes = document["nodes"]
            arrays = read_tensors(stream, size, layouts_of(nodes))
        model, packages = decode(nodes, document["root"], arrays)
        # Each part may be valid and still not fit the others: the class can check.
        check = getattr(type(model), "check_loaded", None)
        if check is not None and package_of(type(model)) == "halfmoon":
            check(model)
    except ModelFileError as error:
        raise ModelFileError(f"{in_one_line(path)} {error}.") from error
    except FileNotFoundError:
        raise
    except OSError as error:
        raise ModelFileError(
            f"{in_one_line(path)} cannot be read ({error.strerror})."
        ) from error
    except Exception as error:  # untrusted input: report any failure in one line
        raise ModelFileError(
            f"{in_one_line(path)} has been altered or damaged "
            f"({in_one_line(error) or type(error).__name__}); save the model again."
        ) from error
    warn_of_versions(path, document["versions"], packages | {"halfmoon"})
    return model


def _document(text: bytes) -> dict[str, Any]:
    """Return the document, if its form is right."""
    document = parsed(text)
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise ModelFileError("is not a halfmoon model file")
    nodes, versions = document.get("nodes"), document.get("versions")
    valid = document.get("schema") == SCHEMA and set(document) == KEYS
    valid = valid and isinstance(nodes, list) and isinstance(versions, dict)
    if not valid or set(versions or ()) != set(PACKAGES.values()):
        raise ModelFileError(
            "does not have the form that this halfmoon writes; save the model again"
        )
    if not all(isinstance(node, dict) for node in nodes or ()):
        raise ModelFileError("holds parts that are not well formed")
    return document


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
