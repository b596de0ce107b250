"""Every kind of value is the same after a round trip: type, bits, order, sharing."""

import json
import pickle
from math import copysign, isnan

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import settings as configured
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_array_equal

import halfmoon

VALUES = [
    None,
    True,
    0,
    -(2**62),
    2**63,
    -(2**63),
    10**400,
    -(10**400),
    0.1,
    1e308,
    5e-324,
    "",
    "ç\u0000\n\u2028",
    "\ud800 alone",
    [],
    (),
    {},
    set(),
    {1, 2.5, "x", None, (1, 2)},
    {1: "a", (2, "b"): [1], None: {}, 2.5: (), False: 2},
    slice(None, 3, -1),
    np.dtype("<f4"),
    np.dtype("<M8[us]"),
    np.dtype(">i2"),
    np.float64,
    np.str_,
    float,
    object,
    np.sqrt,
    np.float32(0.1),
    np.float64(-0.0),
    np.int8(-5),
    np.uint64(2**64 - 1),
    np.bool_(True),
    np.str_("ab"),
    np.str_(""),
    np.bytes_(b"ab"),
    np.datetime64("2024-02-29T01:02", "ns"),
    np.timedelta64(5, "D"),
    np.complex128(1 - 2j),
    np.longdouble("0.1"),
    np.float16(0.1),
]


# Not by their texts: a set of words has another order in each process.
@pytest.mark.parametrize(
    "value", VALUES, ids=[f"{i}-{type(v).__name__}" for i, v in enumerate(VALUES)]
)
def test_values(value, round_trip):
    loaded = round_trip(value)
    assert type(loaded) is type(value)
    assert loaded == value
    assert isinstance(value, set) or repr(loaded) == repr(value)


@pytest.mark.parametrize(
    "value", [float("nan"), np.float32("nan"), np.datetime64("NaT", "s")]
)
def test_values_that_do_not_equal_themselves(value, round_trip):
    loaded = round_trip([value])[0]
    assert type(loaded) is type(value)
    assert loaded != loaded


def test_signs_of_zero_and_infinity(round_trip):
    loaded = round_trip([-0.0, float("inf"), float("-inf"), np.float32(-0.0)])
    assert copysign(1, loaded[0]) == copysign(1, loaded[3]) == -1
    assert loaded[1:3] == [float("inf"), float("-inf")]


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize(
    "dtype",
    [
        *("?", "i1", "u2", "i4", "u8", "f2", "f4", "f8", "g", "c8", "c16"),
        *("<U3", ">U3", "S2", "M8[D]", "m8[ns]", ">f8", ">i4"),
    ],
)
def test_arrays(dtype, order, round_trip):
    numbers = np.arange(24).reshape(2, 3, 4) % 5
    array = np.array(numbers.astype(dtype), order=order)
    for view in (array, array[:, ::2], array[::-1], array.transpose(1, 0, 2), array[0]):
        loaded = round_trip(view)
        assert loaded.dtype == view.dtype
        assert_array_equal(loaded, view)
        again = np.copy(view, order="K")
        assert loaded.strides == again.strides
        assert loaded.flags.writeable
        assert loaded.flags.aligned


def test_odd_shapes(round_trip):
    for shape in [(), (0,), (3, 0, 2), (1, 1), (1, 5), (5, 1)]:
        for dtype in (float, "U4", object):
            loaded = round_trip(np.zeros(shape, dtype=dtype))
            assert loaded.shape == shape
            assert loaded.dtype == np.dtype(dtype)


def test_nan_keeps_its_bits(round_trip):
    array = np.array([0x7FF8DEADBEEF0001, 0xFFF0000000000001], dtype=np.uint64)
    loaded = round_trip(array.view(float))
    assert_array_equal(loaded.view(np.uint64), array)


def test_arrays_of_objects(round_trip, assert_same):
    array = np.array([["a", None], [2.5, float("nan")], [10**30, np.str_("b")]], object)
    loaded = round_trip(array)
    assert_same(loaded.ravel().tolist()[:3], array.ravel().tolist()[:3])
    assert isnan(loaded[1, 1])
    assert loaded[2, 0] == 10**30
    assert type(loaded[2, 1]) is np.str_


@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
@pytest.mark.parametrize("kind", ["array", "matrix"])
def test_sparse(form, kind, round_trip):
    dense = np.diag([1.0, 0.0, -2.0], 1)
    matrix = getattr(sp, f"{form}_{kind}")(dense)
    loaded = round_trip(matrix)
    assert type(loaded) is type(matrix)
    assert_array_equal(loaded.toarray(), dense)
    if form == "csr":
        assert loaded.indices.dtype == matrix.indices.dtype


def test_long_indices_of_a_sparse_matrix_stay_long(round_trip):
    matrix = sp.csr_array(np.eye(3))
    matrix.indices = matrix.indices.astype(np.int64)
    matrix.indptr = matrix.indptr.astype(np.int64)
    assert round_trip(matrix).indices.dtype == np.int64


@pytest.mark.parametrize(
    "source",
    [
        np.random.default_rng(5),
        np.random.RandomState(5),
    ],
    ids=["PCG64", "MT19937"],
)
def test_random_numbers_continue(source, round_trip):
    source = pickle.loads(pickle.dumps(source))  # the parameter is left alone
    source.normal(size=3)
    source.integers(5, dtype=np.int32) if hasattr(source, "integers") else None
    loaded = round_trip(source)
    assert_array_equal(loaded.normal(size=9), source.normal(size=9))


def test_sharing_and_cycles_are_kept(round_trip):
    array, inner = np.arange(5.0), [1]
    value = {"a": [array, array, array[:]], "b": (inner, inner)}
    value["self"] = value
    loaded = round_trip(value)
    first, second, view = loaded["a"]
    assert first is second is view
    assert loaded["b"][0] is loaded["b"][1]
    assert loaded["self"] is loaded


def test_different_views_stay_different(round_trip):
    array = np.arange(6.0)
    loaded = round_trip([array[:3], array[3:], array.reshape(2, 3), array.view("i8")])
    assert_array_equal(loaded[0], [0, 1, 2])
    assert_array_equal(loaded[1], [3, 4, 5])
    assert loaded[2].shape == (2, 3)
    assert loaded[3].dtype == np.int64


def test_the_same_model_gives_the_same_file(tmp_path):
    value = {"a": np.arange(3), "b": [1, 2]}
    for name in "xy":
        halfmoon.save(value, tmp_path / name)
    assert (tmp_path / "x").read_bytes() == (tmp_path / "y").read_bytes()


scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text()
    | st.text(st.characters(categories=["Cs", "Lu"]))
)
trees = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner)
        | st.tuples(inner, inner)
        | st.dictionaries(st.text() | st.integers(-(2**40), 2**40), inner)
    ),
    max_leaves=20,
)


@configured(deadline=None, max_examples=60, derandomize=True)
@given(trees)
def test_trees(round_trip, tree):
    loaded = round_trip(tree)
    assert loaded == tree
    assert repr(loaded) == repr(tree)


@configured(deadline=None, max_examples=60, derandomize=True)
@given(
    hnp.arrays(
        hnp.scalar_dtypes(),
        hnp.array_shapes(min_dims=0, min_side=0, max_dims=4),
    ),
    st.randoms(use_true_random=False),
)
def test_any_array(round_trip, array, random):
    axes = list(range(array.ndim))
    random.shuffle(axes)
    array = array.transpose(axes)
    loaded = round_trip(array)
    assert loaded.dtype == array.dtype
    assert loaded.shape == array.shape
    assert loaded.tobytes() == array.tobytes()


def test_json_is_plain(tmp_path, saved):
    halfmoon.save([float("nan"), "\ud800", 2**70], tmp_path / "file")
    document, _ = saved(tmp_path / "file")
    text = json.dumps(document, allow_nan=False)
    assert text.isascii()
