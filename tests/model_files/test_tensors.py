"""The arrays are a safetensors file, for us and for the library of that name."""

import io
import tracemalloc

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import halfmoon
from halfmoon._model_files.container import ArrayLayout, read_tensors, write_tensors

ARRAYS = {
    "0": np.arange(6.0).reshape(2, 3),
    "1": np.asfortranarray(np.arange(6).reshape(2, 3)),
    "2": np.array([True, False]),
    "3": np.array(["ab", "ç"]),
    "4": np.zeros((0, 3), dtype=np.float32),
    "5": np.array(3, dtype=np.uint8),
    "6": np.array(["2024-02-29"], dtype="M8[D]"),
}


def written(arrays):
    return b"".join(bytes(piece) for piece in write_tensors(arrays))


def layouts(arrays):
    return {name: ArrayLayout.of(array) for name, array in arrays.items()}


def test_round_trip():
    data = written(ARRAYS)
    loaded = read_tensors(io.BytesIO(data), len(data), layouts(ARRAYS))
    for name, array in ARRAYS.items():
        assert loaded[name].dtype == array.dtype
        assert loaded[name].strides == array.strides
        assert_array_equal(loaded[name], array)


def test_the_library_reads_our_files(tmp_path, saved):
    numpy = pytest.importorskip("safetensors.numpy")
    loaded = numpy.load(written(ARRAYS))
    assert_array_equal(loaded["0"], ARRAYS["0"])
    assert_array_equal(loaded["1"], ARRAYS["1"].T)  # as it lies in memory
    assert_array_equal(loaded["2"], ARRAYS["2"])
    assert loaded["3"].tobytes() == ARRAYS["3"].tobytes()
    X = np.random.default_rng(0).normal(size=(20, 2))
    model = halfmoon.NystromFeatures(n_components=5, random_state=0).fit(X)
    halfmoon.save(model, tmp_path / "file")
    arrays = numpy.load(saved(tmp_path / "file")[1])
    assert any(each.shape == (5, 2) for each in arrays.values())


def test_we_read_files_of_the_library():
    numpy = pytest.importorskip("safetensors.numpy")
    arrays = {name: np.ascontiguousarray(ARRAYS[name]) for name in "0"}
    data = numpy.save(arrays)
    loaded = read_tensors(io.BytesIO(data), len(data), layouts(arrays))
    assert_array_equal(loaded["0"], arrays["0"])


def test_no_copies_while_writing():
    array = np.arange(1000.0)
    pieces = list(write_tensors({"0": array}))
    assert np.shares_memory(np.frombuffer(pieces[1]), array)


CHANGES = {
    "cut in the length": (lambda data: data[:4], "ends too early"),
    "cut": (lambda data: data[:-1], "the size of the arrays is wrong"),
    "longer": (lambda data: data + b"x", "the size of the arrays is wrong"),
    "long header": (
        lambda data: b"\xff" * 8 + data[8:],
        "the size of the arrays is wrong",
    ),
    "a gap": (
        lambda data: data.replace(b"[0,48]", b"[8,48]"),
        "not those that model.json lists",
    ),
    "overlap": (
        lambda data: data.replace(b"[48,96]", b"[0, 48]"),
        "not those that model.json lists",
    ),
    "dtype": (
        lambda data: data.replace(b'"F64"', b'"I64"'),
        "not those that model.json lists",
    ),
    "doubled": (lambda data: data.replace(b'"1":', b'"0":'), "holds a name twice"),
}


@pytest.mark.parametrize("case", CHANGES)
def test_contradictions_are_refused(case):
    change, text = CHANGES[case]
    arrays = {name: ARRAYS[name] for name in "01"}
    data = change(written(arrays))
    with pytest.raises(ValueError, match=text):
        read_tensors(io.BytesIO(data), len(data), layouts(arrays))


def test_truth_values_and_characters_are_checked():
    for array in (ARRAYS["2"], ARRAYS["3"]):
        data = written({"0": array})[: -array.nbytes] + b"\x77" * array.nbytes
        with pytest.raises(ValueError, match=r"holds (other values|an invalid char)"):
            read_tensors(io.BytesIO(data), len(data), layouts({"0": array}))


@pytest.mark.parametrize("order", ["C", "F"])
def test_memory(order, tmp_path):
    array = np.ones((1_000_000, 4), order=order)
    tracemalloc.start()
    halfmoon.save({"a": array}, tmp_path / "file")
    saving = tracemalloc.get_traced_memory()[1]
    tracemalloc.reset_peak()
    loaded = halfmoon.load(tmp_path / "file")
    loading = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert_array_equal(loaded["a"], array)
    assert saving < 0.25 * array.nbytes  # no copy
    assert loading < 1.25 * array.nbytes  # the array itself
