"""Models that `save` refuses, and damaged files."""

import os
import zipfile
from datetime import date

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, SplineTransformer, StandardScaler

import halfmoon as hm
from halfmoon._model_files import ModelFileError
from halfmoon._model_files import container as container_module
from halfmoon.kernels import Gaussian
from halfmoon.unpenalized import Features

X = np.random.default_rng(0).normal(size=(30, 2))
Y = np.where(np.arange(30) < 12, X[:, 0], np.nan)


class OwnTransformer(TransformerMixin, BaseEstimator):
    def fit(self, X, y=None):
        return self

    def transform(self, X):
        return X


class OwnKernel(Gaussian):
    pass


def own_function(X):
    return X[:, :1]


def holding_itself():
    inner = []
    outer = (inner,)
    inner.append(outer)
    return outer


def nested(depth):
    value = ()
    for _ in range(depth):
        value = (value,)
    return value


REFUSED = {
    "a function": (
        lambda: hm.ConditionalRegressor("gaussian", own_function, 1e-3).fit(X, Y),
        r"^model\.unpenalized cannot be saved: it is code \(own_function\)",
    ),
    "a lambda": (
        lambda: hm.ConditionalRegressor(unpenalized=Features(lambda X: X)),
        r"^model\.unpenalized\.transformer cannot be saved: it is code",
    ),
    "a kernel by function": (
        lambda: hm.ConditionalRegressor(lambda X, Z: X @ Z.T, alpha=1e-3).fit(X, Y),
        r"^model\.kernel cannot be saved: it is code .* Use an object of halfmoon",
    ),
    "an unknown class": (
        lambda: hm.ConditionalRegressor(unpenalized=OwnTransformer()),
        r"^model\.unpenalized cannot be saved: it is of class .*OwnTransformer.*skops",
    ),
    "another class of scikit-learn": (
        lambda: hm.ConditionalRegressor(unpenalized=SplineTransformer()),
        r"it is of class sklearn\..*SplineTransformer, which .* with skops\.io\.$",
    ),
    "a subclass": (
        lambda: hm.ConditionalRegressor(OwnKernel()),
        r"^model\.kernel cannot be saved: it is (code|of class) .*OwnKernel",
    ),
    "a place in a list": (
        lambda: {"a": [1, (2, OwnTransformer())]},
        r"^model\['a'\]\[1\]\[1\] cannot be saved: it is of class",
    ),
    "joblib's memory": (
        lambda: make_pipeline(StandardScaler(), memory="folder"),
        r"^model cannot be saved: Pipeline\.memory must be None in a model file",
    ),
    "file names": (
        lambda: TfidfVectorizer(input="filename"),
        r"TfidfVectorizer\.input must be 'content' in a model file",
    ),
    "own function in a transformer": (
        lambda: FunctionTransformer(own_function),
        r"FunctionTransformer\.func must be None or a function of numpy",
    ),
    "a module": (lambda: [os], r"^model\[0\] cannot be saved: .* builtins\.module"),
    "a class": (lambda: [OwnKernel], r"^model\[0\] cannot be saved: it is code"),
    "eval": (lambda: [eval], r"^model\[0\] cannot be saved: it is code \(eval\)"),
    "a method": (lambda: [X.sum], r"^model\[0\] cannot be saved: it is code"),
    "structured": (
        lambda: np.zeros(2, dtype=[("a", float)]),
        r"^model cannot be saved: it is an array of dtype \[\('a', '<f8'\)\]",
    ),
    "masked": (lambda: np.ma.array(X), r"it is of class numpy\.ma"),
    "lil": (lambda: sp.lil_array(X), r"it is of class scipy\.sparse"),
    "dia": (lambda: sp.dia_array(np.eye(3)), r"it is of class scipy\.sparse"),
    "own ufunc": (lambda: [np.frompyfunc(own_function, 1, 1)], r"it is code"),
    "a ufunc of two": (lambda: FunctionTransformer(np.add), r"a function of numpy"),
    "bytes": (lambda: [b"x"], r"^model\[0\] cannot be saved: it is of class builtins"),
    "a date": (lambda: [date.today()], r"it is of class datetime\.date"),
    "philox": (
        lambda: np.random.Generator(np.random.Philox(0)),
        r"it is of class numpy\.random",
    ),
    "holds itself": (holding_itself, r"model\[0\]\[0\] cannot be saved: it holds its"),
    "an object as a key": (
        lambda: [{Gaussian(1.0): 1}],
        r"^model\[0\] cannot be saved: its keys must be texts, numbers up to 2\^60",
    ),
    "a large key": (lambda: {2**60 + 1: 1}, r"^model cannot be saved: its keys must"),
    "a large number in a key": (lambda: {(2**70,)}, r"its keys must be"),
    "a tuple in a key": (lambda: {((1, 2), 3)}, r"its keys must be"),
    "deep": (lambda: nested(100_000), r"it is nested too deeply"),
    "kind of a parameter": (
        lambda: hm.ConditionalRegressor(n_jobs="two"),
        r"ConditionalRegressor\.n_jobs is str, where int or None is needed",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_save_refuses(case, tmp_path):
    build, text = REFUSED[case]
    with pytest.raises(ModelFileError, match=text) as caught:
        hm.save(build(), tmp_path / "file")
    assert "\n" not in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_a_failed_save_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "model.halfmoon"
    hm.save("old", path)

    def no_space(handle):
        raise OSError("No space left on device")

    monkeypatch.setattr(os, "fsync", no_space)
    with pytest.raises(OSError, match="No space left"):
        hm.save("new", path)
    monkeypatch.undo()
    assert hm.load(path) == "old"
    assert [each.name for each in tmp_path.iterdir()] == ["model.halfmoon"]


def test_paths_of_new_files(tmp_path):
    with pytest.raises(ModelFileError, match="is a folder; give the name of a file"):
        hm.save(1, tmp_path)
    with pytest.raises(ModelFileError, match="missing does not exist; make it first"):
        hm.save(1, tmp_path / "missing" / "file")
    hm.save(1, tmp_path / "file", overwrite=False)
    with pytest.raises(ModelFileError, match="give another name, or `overwrite=True`"):
        hm.save(2, tmp_path / "file", overwrite=False)
    assert hm.load(tmp_path / "file") == 1
    hm.save(3, tmp_path / "file")
    assert hm.load(str(tmp_path / "file")) == 3
    assert [each.name for each in tmp_path.iterdir()] == ["file"]


@pytest.mark.skipif(os.name == "nt", reason="needs pipes")
def test_a_device_or_pipe_is_not_replaced_by_a_model(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ModelFileError, match="pipe is a device or pipe; give the name"):
        hm.save(1, tmp_path / "pipe")
    assert (tmp_path / "pipe").is_fifo()


def test_too_much_json_when_saving(tmp_path, monkeypatch):
    monkeypatch.setattr(container_module, "MAX_JSON_BYTES", 1000)
    with pytest.raises(ModelFileError, match="at most 1,000 are allowed"):
        hm.save("x" * 2000, tmp_path / "file")


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    path = tmp_path_factory.mktemp("good") / "model.halfmoon"
    hm.save(hm.FredholmRegressor(alpha=1e-3).fit(X, Y), path)
    return path.read_bytes()


def refused(path, text):
    with pytest.raises(ModelFileError, match=text) as caught:
        hm.load(path)
    message = str(caught.value)
    assert "\n" not in message
    assert message.startswith(str(path)[:40])


def test_missing_folder_or_empty_file(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"There is no file .*nothing"):
        hm.load(tmp_path / "nothing.halfmoon")
    refused(tmp_path, "is a folder; give the model file itself")
    (tmp_path / "empty").touch()
    refused(tmp_path / "empty", "is empty; save the model again")


def test_a_file_that_is_not_a_zip(tmp_path):
    (tmp_path / "text").write_text("a,b\n1,2\n")
    refused(tmp_path / "text", "is not a halfmoon model file, or only the beginning")


def test_another_zip(tmp_path):
    with zipfile.ZipFile(tmp_path / "file", "w") as archive:
        archive.writestr("model.json", "{}")
    refused(tmp_path / "file", "is a zip, but not a halfmoon model file")


@pytest.mark.parametrize("share", [0.01, 0.3, 0.9, 0.97])
def test_truncated(share, good, tmp_path):
    (tmp_path / "file").write_bytes(good[: int(share * len(good))])
    refused(tmp_path / "file", "not a halfmoon model file, or (only|not all)")


@pytest.mark.parametrize("part", [b'"alpha"', b"F64", b"sha256"])
def test_altered(part, good, tmp_path):
    at = good.index(part) + 1
    (tmp_path / "file").write_bytes(good[:at] + b"X" + good[at + 1 :])
    refused(tmp_path / "file", "has been altered or damaged")


def test_newer(good, tmp_path, saved, forge):
    (tmp_path / "file").write_bytes(good.replace(b"schema 1,", b"schema 2,"))
    newer = r"newer halfmoon \(schema 2\); this one reads up to 1: upgrade halfmoon"
    refused(tmp_path / "file", newer)
    (tmp_path / "file").write_bytes(good)
    document, arrays = saved(tmp_path / "file")
    forged = forge(tmp_path / "two", document | {"schema": 2}, arrays)
    refused(
        forged, "does not have the form that this halfmoon writes; save the model again"
    )
    comment = b"halfmoon model, schema 2, in some new way"
    refused(forge(tmp_path / "three", {}, b"", comment), newer)


def test_a_line_break_in_the_path_is_escaped(tmp_path):
    path = tmp_path / "two\nlines"
    path.write_text("x")
    with pytest.raises(ModelFileError) as caught:
        hm.load(path)
    assert "\n" not in str(caught.value)
