"""Fixtures: a round trip, outputs of a model, and forged files with valid checksums."""

from __future__ import annotations

import json
import warnings
import zipfile
from hashlib import sha256

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal

import halfmoon

METHODS = (
    "predict",
    "predict_proba",
    "decision_function",
    "transform",
    "smoother_matrix",
    "residual_kernel",
    "std",
)
NO_ARGUMENT_METHODS = ("leave_one_out", "dirichlet_energy", "dual_coef")
ATTRIBUTES = ("dual_coef_", "coef_", "rank_", "primal_coef_", "twin_")


@pytest.fixture(scope="session")
def round_trip(tmp_path_factory):
    path = tmp_path_factory.mktemp("models") / "model.halfmoon"

    def there_and_back(model):
        halfmoon.save(model, path)
        return halfmoon.load(path)

    return there_and_back


def _result(function, *args, **kwargs):
    """Return the result, or the error as text."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return function(*args, **kwargs)
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def _plain(value):
    return isinstance(value, (int, float, str, np.ndarray, np.generic, list, dict))


def _outputs(model, X):
    outputs = {}
    for name in METHODS:
        if hasattr(model, name):
            outputs[name] = _result(getattr(model, name), X)
    if hasattr(model, "predict"):
        outputs["std"] = _result(model.predict, X, return_std=True)
    for name in NO_ARGUMENT_METHODS:
        if hasattr(model, name):
            outputs[name] = _result(getattr(model, name))
    for name in ATTRIBUTES:
        value = _result(getattr, model, name, None)
        if name == "twin_" and value is not None:
            value = _result(value.predict, X) if hasattr(value, "predict") else value
        outputs[name] = value
    for name, value in vars(model).items():
        if name.endswith("_") and _plain(value):
            outputs[name] = value
    return outputs


@pytest.fixture(scope="session")
def answers():
    return _outputs


def _assert_same(actual, expected):
    """Equal to the last bit, in dtype and in shape."""
    assert type(actual) is type(expected)
    if isinstance(expected, dict):
        assert list(actual) == list(expected)
        for name in expected:
            _assert_same(actual[name], expected[name])
    elif isinstance(expected, (list, tuple)):
        assert len(actual) == len(expected)
        for one, other in zip(actual, expected, strict=True):
            _assert_same(one, other)
    elif sp.issparse(expected):
        _assert_same(actual.toarray(), expected.toarray())
    elif isinstance(expected, (np.ndarray, np.generic, float)):
        actual, expected = np.asarray(actual), np.asarray(expected)
        assert actual.dtype == expected.dtype
        assert_array_equal(actual, expected)
        if expected.dtype.kind == "f":
            assert_array_equal(np.signbit(actual), np.signbit(expected))
    else:
        assert actual == expected


@pytest.fixture(scope="session")
def assert_same():
    return _assert_same


@pytest.fixture(scope="session")
def saved():
    """Read a file: the document, and the bytes of the arrays."""

    def parts(path):
        with zipfile.ZipFile(path) as archive:
            document = json.loads(archive.read("model.json"))
            return document, archive.read("arrays.safetensors")

    return parts


@pytest.fixture(scope="session")
def forge():
    """Write a file with any contents and valid checksums."""

    def write(path, document, arrays, comment=None, extra=()):
        if isinstance(document, (dict, list)):
            document = json.dumps(document).encode()
        sums = f"{sha256(document).hexdigest()} {sha256(arrays).hexdigest()}"
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("model.json", document)
            archive.writestr("arrays.safetensors", arrays)
            for name, data in extra:
                archive.writestr(name, data)
            valid = f"halfmoon model, schema 1, sha256 {sums}"
            archive.comment = valid.encode() if comment is None else comment
        return path

    return write
