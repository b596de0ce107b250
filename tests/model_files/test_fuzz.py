"""Thousands of damaged and forged files: a model or a one-line error; no code runs."""

import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import HealthCheck, given
from hypothesis import settings as configured
from hypothesis import strategies as st
from sklearn.preprocessing import QuantileTransformer

import halfmoon
from halfmoon._model_files import ModelFileError, registry
from halfmoon._model_files.codecs import CODECS
from halfmoon.smoothers import Neighbors
from model_files import mutations

SECONDS = 20.0  # for one file, on a busy machine; they take some milliseconds


def everything():
    """A model with a search, matrices, texts and random numbers."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(12, 2))
    y = np.where(np.arange(12) < 8, X[:, 0], np.nan)
    model = halfmoon.FredholmRegressor(smoother=Neighbors(3), alpha=1e-3).fit(X, y)
    quantiles = QuantileTransformer(n_quantiles=5).fit(X)
    words = np.array(["a", None, 2.5], dtype=object)
    return {
        "model": model,
        "quantiles": quantiles,
        ("a", 1): [words, rng, {1, "b"}, slice(1, 2), np.float32(1), 2**70],
        "others": (np.random.RandomState(0), sp.coo_array(X), np.exp),
        "time": np.array(["2024-01-01"], dtype="M8[D]"),
    }


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    path = tmp_path_factory.mktemp("fuzz") / "source.halfmoon"
    halfmoon.save(everything(), path)
    return path


@pytest.fixture(scope="module")
def try_file(source):
    target = source.with_name("target.halfmoon")

    def attempt(data):
        target.write_bytes(data)
        start = time.perf_counter()
        try:
            value = halfmoon.load(target)
        except ModelFileError as error:
            value, message = None, str(error)
            if "\n" in message or not message.startswith(str(target)[:50]):
                raise
        assert time.perf_counter() - start < SECONDS
        return value

    return attempt


def is_allowed(value):
    cls = type(value)
    plain = cls in (dict, list, set, tuple, str, int, float, bool, type(None))
    known = plain or registry.name_of_class(cls) is not None or cls is np.ndarray
    return known or any(codec.fits(value) for codec in CODECS.values())


versions = pytest.mark.filterwarnings(
    "ignore::halfmoon._model_files.ModelVersionWarning"
)


def fuzz(examples):
    return configured(
        deadline=None,
        max_examples=examples,
        derandomize=True,
        suppress_health_check=list(HealthCheck),
    )


@versions
@fuzz(400)
@given(seed=st.integers(0, 2**32))
def test_damaged_and_forged_files(source, try_file, seed):
    assert is_allowed(try_file(mutations.mutated(source.read_bytes(), seed)))


@versions
@fuzz(200)
@given(data=st.binary(max_size=2_000))
def test_any_bytes(try_file, data):
    assert try_file(data) is None


values = st.recursive(
    st.sampled_from(mutations.POOL) | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["kind", "items", "parts", "class", "state", "ref", "x"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=8,
)


@versions
@fuzz(200)
@given(nodes=st.lists(values, max_size=4), root=values)
def test_any_document(source, saved, try_file, nodes, root):
    document, _ = saved(source)
    document |= {"nodes": nodes, "root": root}
    assert is_allowed(
        try_file(mutations.sealed(document, b"\x08" + 7 * b"\0" + b"{}      "))
    )


def watched(source, first, count):
    script = Path(mutations.__file__)
    target = source.with_name("watched.halfmoon")
    command = [sys.executable, str(script), str(source), str(target)]
    done = subprocess.run(
        [*command, str(first), str(count)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert "nothing run" in done.stdout


@pytest.mark.slow
def test_nothing_is_run_and_nothing_imported_early(source):
    watched(source, 0, 150)


@pytest.mark.slow
def test_nothing_is_run_in_thousands_of_files(source):
    watched(source, 1_000, 6_000)


@pytest.mark.slow
@versions
@fuzz(5_000)
@given(seed=st.integers(2**32, 2**40))
def test_many_more_files(source, try_file, seed):
    assert is_allowed(try_file(mutations.mutated(source.read_bytes(), seed)))
