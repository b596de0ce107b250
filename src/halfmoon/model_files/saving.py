"""Save a model and load it: one zip of JSON and arrays, and no code in it."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from halfmoon.model_files.container import SCHEMA, opened, write_file
from halfmoon.model_files.decode import decode, layouts_of
from halfmoon.model_files.documents import parsed
from halfmoon.model_files.encode import encode
from halfmoon.model_files.errors import ModelFileError, in_one_line
from halfmoon.model_files.lookup import package_of
from halfmoon.model_files.tensors import read_tensors, write_tensors
from halfmoon.model_files.versions import PACKAGES, versions_here, warn_of_versions

__all__ = ["load", "save"]

FORMAT = "halfmoon model"
MEMBERS = {"format", "schema", "versions", "root", "nodes"}


def save(model: Any, path: str | os.PathLike[str], *, overwrite: bool = True) -> None:
    """Write a model to a file that `load` reads, here or elsewhere.

    The file holds data and no code. It appears in its place whole, or not at all; the
    model is left as it is.

    Parameters
    ----------
    model : estimator, transformer, Problem, Fit, ...
        Fitted or not; alone, or within a pipeline of scikit-learn.
    path : path-like
        By custom it ends in ``.halfmoon``.
    overwrite : bool
        False refuses a file that is there.

    Raises
    ------
    ModelFileError
        If the model holds a function of the user's own, a torch module, or an object
        of a class that is not among those a file may hold; the text says where.

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
    graph = encode(model)
    document = {
        "format": FORMAT,
        "schema": SCHEMA,
        "versions": versions_here(),
        "root": graph.root,
        "nodes": graph.nodes,
    }
    text = json.dumps(document, separators=(",", ":"), allow_nan=False)
    write_file(
        Path(path),
        text.encode("ascii"),
        write_tensors(graph.arrays),
        overwrite=overwrite,
    )


def load(path: str | os.PathLike[str]) -> Any:
    """The model that `save` wrote to a file.

    Loading runs no code from the file. It checks that the file is whole and that all
    in it is of a kind that it may be, and answers anything else with one line.

    Parameters
    ----------
    path : path-like

    Raises
    ------
    ModelFileError
        If the file is truncated, altered, newer than this halfmoon, or no model file.
    FileNotFoundError
        If there is none.

    Warns
    -----
    ModelVersionWarning
        If packages that the model has objects of have other versions here.
    """
    path = Path(path)
    try:
        with opened(path) as parts:
            document = _document(parts.model())
            nodes = document["nodes"]
            layouts = layouts_of(nodes)
            with parts.arrays() as stream:
                arrays = read_tensors(stream, parts.arrays_size, layouts)
        model, packages = decode(nodes, document["root"], arrays)
        # Parts may each be right and not fit together, of which a class can tell.
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
    except Exception as error:  # a file from anywhere: whatever it does, one line
        raise ModelFileError(
            f"{in_one_line(path)} has been altered or damaged "
            f"({in_one_line(error) or type(error).__name__}); save the model again."
        ) from error
    warn_of_versions(path, document["versions"], packages | {"halfmoon"})
    return model


def _document(text: bytes) -> dict[str, Any]:
    """The document, if it has the form that it must have."""
    document = parsed(text)
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise ModelFileError("is not a halfmoon model file")
    schema, nodes = document.get("schema"), document.get("nodes")
    if type(schema) is int and schema > SCHEMA:
        raise ModelFileError(
            f"was written by a newer halfmoon (schema {schema}); this one reads up to "
            f"{SCHEMA}: upgrade halfmoon"
        )
    versions = document.get("versions")
    fair = schema == SCHEMA and set(document) == MEMBERS
    fair = fair and isinstance(nodes, list) and isinstance(versions, dict)
    if not fair or set(versions or ()) != set(PACKAGES.values()):
        raise ModelFileError("is not as halfmoon writes a model")
    if not all(isinstance(node, dict) for node in nodes or ()):
        raise ModelFileError("holds parts that are not well formed")
    return document
