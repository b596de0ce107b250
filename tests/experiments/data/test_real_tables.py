"""Tables of numbers: tiny files in the formats of the real ones, value by value."""

import gzip
import os
import struct

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from experiments import data as datasets


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("HALFMOON_DATA", str(tmp_path))
    return tmp_path


def write(path, content):
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(gzip.compress(content))


def write_arrays(path, **arrays):
    path.parent.mkdir(exist_ok=True)
    np.savez_compressed(path, **arrays)


def write_mnist(folder, stem, images, labels):
    n = len(images)
    head = struct.pack(">4B3i", 0, 0, 8, 3, n, 28, 28)
    write(folder / f"mnist/{stem}-images-idx3-ubyte.gz", head + images.tobytes())
    head = struct.pack(">4Bi", 0, 0, 8, 1, n)
    write(folder / f"mnist/{stem}-labels-idx1-ubyte.gz", head + bytes(labels))


def test_mnist_reads_shapes_and_bytes_from_the_idx_header(folder):
    images = np.random.default_rng(0).integers(0, 256, (5, 28, 28), dtype=np.uint8)
    write_mnist(folder, "train", images[:3], [7, 0, 9])
    write_mnist(folder, "t10k", images[3:], [1, 8])
    for part, rows, digits in (
        ("train", slice(0, 3), [7, 0, 9]),
        ("test", slice(3, 5), [1, 8]),
        ("all", slice(0, 5), [7, 0, 9, 1, 8]),
    ):
        X, y = datasets.load_mnist(part)
        assert_array_equal(X, images[rows].reshape(-1, 784))
        assert_array_equal(y, digits)
        assert X.dtype == np.uint8
        assert y.dtype == np.int64


def test_mnist_refuses_what_is_not_idx(folder):
    write_mnist(folder, "train", np.zeros((1, 28, 28), np.uint8), [1])
    write(folder / "mnist/train-images-idx3-ubyte.gz", b"<html>no such page</html>")
    with pytest.raises(ValueError, match=r"begins with the bytes b'<ht'.*download mn"):
        datasets.load_mnist()


def test_usps_is_thousandths(folder):
    train = np.array([[-1000, 0, 1000], [-999, 37, 1]], np.int16)
    test = np.array([[5, -5, 250]], np.int16)
    write_arrays(
        folder / "usps/usps.npz",
        X_train=train,
        y_train=np.array([3, 9], np.uint8),
        X_test=test,
        y_test=np.array([0], np.uint8),
    )
    X, y = datasets.load_usps("all")
    assert_allclose(X, [[-1, 0, 1], [-0.999, 0.037, 0.001], [0.005, -0.005, 0.25]])
    assert_array_equal(y, [3, 9, 0])
    assert y.dtype == np.int64
    assert_array_equal(datasets.load_usps("test")[0], X[2:])
    assert_array_equal(datasets.load_usps("train")[1], [3, 9])


def test_ssl_book_gives_splits_by_their_number_of_labels(folder):
    X = np.arange(6.0).reshape(3, 2)
    write_arrays(
        folder / "ssl_book/digit1.npz",
        X=X,
        y=np.array([-1, 1, 1], np.int8),
        lab10=np.array([[0, 1], [2, 0]], np.uint16),
        lab100=np.array([[0, 1, 2]], np.uint16),
    )
    rows, y, splits = datasets.load_ssl_book("digit1")
    assert_array_equal(rows, X)
    assert_array_equal(y, [-1, 1, 1])
    assert sorted(splits) == [10, 100]
    assert_array_equal(y[splits[10]], [[-1, 1], [1, -1]])
    assert splits[100].dtype == np.intp


def test_ssl_book_keeps_words_sparse(folder):
    write_arrays(
        folder / "ssl_book/text1.npz",
        data=np.array([0.5, 2.0]),
        indices=np.array([2, 0]),
        indptr=np.array([0, 1, 1, 2]),
        shape=np.array([3, 4]),
        y=np.array([1, -1, 1], np.int8),
        lab50=np.array([[1]], np.uint16),
    )
    X, _, splits = datasets.load_ssl_book("text1")
    assert X.format == "csr"
    assert_array_equal(X.toarray(), [[0, 0, 0.5, 0], [0, 0, 0, 0], [2, 0, 0, 0]])
    assert list(splits) == [50]


def test_covtype_unfolds_its_codes(folder):
    quant = np.array([range(10), range(-10, 0), [7173] * 10], np.int16)
    write_arrays(
        folder / "covtype/covtype.npz",
        quant=quant,
        wilderness=np.array([0, 3, 1], np.uint8),
        soil=np.array([39, 0, 17], np.uint8),
        y=np.array([1, 7, 2], np.uint8),
    )
    X, y = datasets.load_covtype()
    expected = np.hstack([quant, np.eye(4)[[0, 3, 1]], np.eye(40)[[39, 0, 17]]])
    assert_array_equal(X, expected)
    assert X.dtype == np.float32
    assert_array_equal(y, [1, 7, 2])


def test_protein_and_housing_have_the_target_last(folder):
    write(folder / "uci_regression/protein.csv.gz", b"1,2.5,-3\n4e2,5,6\n")
    write(folder / "uci_regression/protein-test_mask.csv.gz", b"0,1\n1,0\n")
    X, y, test = datasets.load_protein()
    assert_allclose(X, [[1, 2.5], [400, 5]])
    assert_allclose(y, [-3, 6])
    assert_array_equal(test, [[False, True], [True, False]])
    write(
        folder / "california_housing/california_housing.csv.gz",
        b"MedInc,HouseAge,target\r\n8.3,41.0,4.5\r\n1.5,20,0.6\r\n",
    )
    X, y = datasets.load_california_housing()
    assert_allclose(X, [[8.3, 41], [1.5, 20]])
    assert_allclose(y, [4.5, 0.6])


def test_unknown_names_are_told(folder):
    with pytest.raises(ValueError, match="part is 'dev'; choose one of train, test or"):
        datasets.load_mnist("dev")
    with pytest.raises(ValueError, match=r"name is 'bci'; .*coil2, digit1, g241c"):
        datasets.load_ssl_book("bci")


@pytest.mark.slow
@pytest.mark.skipif(not os.environ.get("HALFMOON_DATA"), reason="needs HALFMOON_DATA")
def test_real_files_have_the_known_sizes_and_errors():
    from sklearn.neighbors import KNeighborsClassifier

    X, y = datasets.load_mnist("all")
    assert X.shape == (70_000, 784)
    assert_array_equal(np.bincount(y[60_000:])[:3], [980, 1135, 1032])
    nearest = KNeighborsClassifier(1).fit(*datasets.load_usps("train"))
    error = 1 - nearest.score(*datasets.load_usps("test"))
    assert_allclose(error, 0.0563, atol=5e-5)
    for name, expected in (("g241c", 0.4405), ("digit1", 0.2347), ("usps", 0.1982)):
        X, y, splits = datasets.load_ssl_book(name)
        assert_allclose(error_over_splits(X, y, splits[10]), expected, atol=5e-5)
    X, y = datasets.load_covtype()
    assert X.shape == (581_012, 54)
    assert_array_equal(X[:, 10:14].sum(axis=1), 1)
    assert_array_equal(X[:, 14:].sum(axis=1), 1)
    assert_array_equal(np.bincount(y[:15_120])[1:], 2_160)  # UCI: as many of each
    X, y, test = datasets.load_protein()
    assert X.shape == (45_730, 9)
    assert_allclose(X.mean(axis=0) / X.std(axis=0), 0, atol=1e-3)
    assert_array_equal(test.sum(axis=1), 1)  # each row is tested once
    X, y = datasets.load_california_housing()
    assert X.shape == (20_640, 8)
    assert_allclose(y.mean(), 2.0685, atol=5e-4)


def error_over_splits(X, y, splits):
    from sklearn.neighbors import KNeighborsClassifier

    errors = []
    for labeled in splits:
        rest = np.setdiff1d(np.arange(len(y)), labeled)
        nearest = KNeighborsClassifier(1).fit(X[labeled], y[labeled])
        errors.append(1 - nearest.score(X[rest], y[rest]))
    return np.mean(errors)
