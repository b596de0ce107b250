import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import pdist, squareform

from halfmoon.kernels import Gaussian, Laplace, Linear, Matern, RationalQuadratic
from halfmoon.kernels import _length_scales as length_scales
from halfmoon.kernels._length_scales import (
    median_distance,
    neighbor_distance,
    squared_distances,
    squared_norms,
)


def exact(X, Z):
    return ((X[:, None, :] - Z[None, :, :]) ** 2).sum(axis=-1)


@pytest.mark.parametrize("d", [1, 2, 7, 100])
@pytest.mark.parametrize("offset", [0.0, 1e3, 1e6])
def test_equals_the_sum_of_squared_differences(d, offset):
    rng = np.random.default_rng(0)
    X, Z = offset + rng.normal(size=(20, d)), offset + rng.normal(size=(15, d))
    # Rows are centered, so an offset costs no digits.
    assert_allclose(squared_distances(X, Z), exact(X, Z), rtol=1e-11, atol=1e-13 * d)


@pytest.mark.parametrize("d", [1, 3, 50, 784])
@pytest.mark.parametrize("offset", [0.0, 1e3, 1e6])
def test_equal_rows_are_at_distance_exactly_zero(d, offset):
    rng = np.random.default_rng(1)
    X = offset + rng.normal(size=(60, d)) * rng.gamma(1.0, size=d)
    order = rng.permutation(60)
    q = squared_distances(X, X[order])
    assert_array_equal(q[order, np.arange(60)], 0.0)
    assert (q[q != 0] > 0).all()
    assert np.count_nonzero(q == 0) == 60


def test_the_diagonal_is_zero_for_the_same_rows():
    X = np.random.default_rng(2).uniform(size=(50, 300))
    assert_array_equal(np.diag(squared_distances(X, X)), 0.0)
    assert_allclose(squared_distances(X, X), exact(X, X), rtol=1e-11, atol=1e-12)


def test_sparse_rows():
    rng = np.random.default_rng(3)
    X, Z = rng.normal(size=(20, 30)), rng.normal(size=(15, 30))
    X[rng.uniform(size=X.shape) < 0.8] = 0.0
    expected = exact(X, Z)
    S, T = sp.csr_array(X), sp.csr_array(Z)
    for left, right in [(S, T), (S, Z), (X, T)]:
        actual = squared_distances(left, right)
        assert isinstance(actual, np.ndarray)
        assert_allclose(actual, expected, rtol=1e-11)
    assert_array_equal(np.diag(squared_distances(S, S.copy())), 0.0)
    assert_array_equal(np.diag(squared_distances(S, S)), 0.0)


def test_squared_norms():
    X = np.array([[3.0, 4.0], [0.0, 0.0], [-1.0, 2.0]])
    assert_array_equal(squared_norms(X), [25.0, 0.0, 5.0])
    assert_array_equal(squared_norms(sp.csr_array(X)), [25.0, 0.0, 5.0])


def test_far_rows_lose_no_more_than_rounding():
    X, Z = np.array([[0.0], [1e8]]), np.array([[1.0], [1e8 + 1.0]])
    assert_allclose(squared_distances(X, Z)[0, 1], (1e8 + 1.0) ** 2, rtol=1e-14)


def test_equals_the_median_of_all_pairs():
    X = np.random.default_rng(0).normal(size=(80, 4))
    expected = np.sqrt(np.median(pdist(X, "sqeuclidean")))
    assert median_distance(X) == pytest.approx(expected, rel=1e-12)
    assert median_distance(sp.csr_array(X)) == pytest.approx(expected, rel=1e-12)
    assert median_distance(X) == pytest.approx(np.median(pdist(X)), rel=1e-3)


def test_equal_rows_do_not_count():
    X = np.zeros((100, 2))
    X[-1] = [3.0, 4.0]
    assert median_distance(X) == pytest.approx(5.0, rel=1e-14)


@pytest.mark.parametrize("offset", [1e3, 1e6])
def test_an_offset_changes_nothing(offset):
    X = np.random.default_rng(1).integers(-50, 50, size=(60, 3)).astype(float)
    assert median_distance(X + offset) == pytest.approx(median_distance(X), rel=1e-12)


def test_a_sample_of_rows_is_close_and_repeats_with_the_seed():
    X = np.random.default_rng(2).normal(size=(1500, 3))
    everything = np.median(pdist(X))
    sampled = median_distance(X, 0)
    assert sampled == pytest.approx(everything, rel=0.05)
    assert sampled != everything
    assert sampled == median_distance(X, 0)
    assert sampled == median_distance(X, np.random.default_rng(0))


@pytest.mark.parametrize("container", [list, sp.csr_array, sp.coo_array, sp.csc_matrix])
def test_a_sample_of_any_container(container):
    X = np.random.default_rng(3).normal(size=(1200, 2))
    given = X.tolist() if container is list else container(X)
    assert median_distance(given, 0) == pytest.approx(median_distance(X, 0), rel=1e-9)


@pytest.mark.parametrize("X", [[[1.0]], [[2.0, 1.0]] * 3])
def test_rows_without_a_distance_are_refused(X):
    with pytest.raises(
        ValueError, match=rf"two rows that differ; got n_samples = {len(X)}"
    ):
        median_distance(X)


@pytest.mark.parametrize(
    "kernel", [Gaussian(), Laplace(), Matern(2.5), RationalQuadratic(0.5)], ids=repr
)
def test_resolve_puts_the_median_in_a_new_kernel(kernel):
    X = np.random.default_rng(4).normal(size=(50, 2))
    resolved = kernel.resolve(X)
    assert resolved.length_scale == median_distance(X)
    assert kernel.length_scale == "median"
    assert type(resolved) is type(kernel)
    assert resolved.resolve(2 * X) is resolved
    with pytest.raises(ValueError, match=r"'median' is not a number yet.*resolve\(X\)"):
        kernel(X)
    with pytest.raises(ValueError, match="is not a number yet"):
        kernel.gradient_coefficients(X)


def test_resolve_reaches_into_combinations():
    X = np.random.default_rng(5).normal(size=(50, 2))
    e = median_distance(X)
    kernel = (2.0 * Gaussian() + Linear() * Laplace()).resolve(X)
    expected = 2.0 * Gaussian(e)(X) + Linear()(X) * Laplace(e)(X)
    np.testing.assert_allclose(kernel(X), expected, rtol=1e-13)


# ---- the distance to a neighbor ------------------------------------------------------


@pytest.mark.parametrize("neighbor", [1, 3, 10])
def test_equals_the_median_distance_to_the_kth_neighbor(neighbor):
    X = np.random.default_rng(6).normal(size=(80, 3))
    distances = np.sort(squareform(pdist(X, "sqeuclidean")), axis=1)
    expected = np.sqrt(np.median(distances[:, neighbor]))
    assert neighbor_distance(X, neighbor=neighbor) == pytest.approx(expected, rel=1e-9)
    sparse = neighbor_distance(sp.csr_array(X), neighbor=neighbor)
    assert sparse == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("entries", [1, 200 * 7, 200 * 1_000])
def test_slices_of_the_table_add_up(entries, monkeypatch):
    # Single rows, a ragged last slice, a few slices.
    X = np.random.default_rng(7).normal(size=(1_500, 2))[: 40 if entries == 1 else None]
    expected = neighbor_distance(X, 0)
    monkeypatch.setattr(length_scales, "SLICE_ENTRIES", entries)
    assert neighbor_distance(X, 0) == pytest.approx(expected, rel=1e-9)


def test_few_rows_look_at_the_farthest():
    X = np.array([[0.0], [1.0], [5.0]])  # farthest at 5, 4 and 5
    assert neighbor_distance(X) == pytest.approx(5.0, rel=1e-14)


def test_rows_with_as_many_equal_ones_do_not_count():
    X = np.vstack([np.zeros((50, 2)), [[3.0, 4.0]]])
    assert neighbor_distance(X, neighbor=10) == pytest.approx(5.0, rel=1e-14)
    # All rows repeat often: the rule falls back on the distances that there are.
    X = np.repeat([[0.0, 0.0], [3.0, 4.0]], 50, axis=0)
    assert neighbor_distance(X, neighbor=10) == pytest.approx(5.0, rel=1e-14)


def test_a_sample_of_rows_looks_for_neighbors_among_all():
    X = np.random.default_rng(8).normal(size=(2_000, 2))
    distances = np.sort(squareform(pdist(X)), axis=1)[:, 10]
    sampled = neighbor_distance(X, 0)
    # Among the 200 rows alone the tenth neighbor would be about three times as far.
    assert sampled == pytest.approx(np.median(distances), rel=0.15)
    assert sampled == neighbor_distance(X, 0)


@pytest.mark.parametrize("kernel", [Gaussian, Laplace, Matern], ids=repr)
def test_the_rule_of_neighbors_is_a_third_of_it(kernel):
    X = np.random.default_rng(9).normal(size=(60, 2))
    resolved = kernel(length_scale="neighbors").resolve(X)
    assert resolved.length_scale == neighbor_distance(X) / 3


def test_a_rule_that_is_not_known():
    X = np.random.default_rng(9).normal(size=(6, 2))
    with pytest.raises(ValueError, match="length_scale"):
        Gaussian("mean").resolve(X)


def test_the_local_rule_is_three_times_the_distance_of_the_third_row():
    X = np.random.default_rng(0).uniform(size=(150, 2))
    nearest = np.sort(squareform(pdist(X)), axis=1)[:, 3]
    expected = 3 * np.sqrt(np.median(nearest**2))
    assert Gaussian("local").resolve(X).length_scale == pytest.approx(expected)
    assert expected < median_distance(X)


@pytest.mark.parametrize("shape", [(4, 2), (80, 300)])
def test_the_local_rule_is_at_most_the_median(shape):
    # Of few rows the third is the farthest; in many columns all are about as far.
    X = np.random.default_rng(0).standard_normal(shape)
    assert 3 * neighbor_distance(X, neighbor=3) > median_distance(X)
    assert Laplace("local").resolve(X).length_scale == median_distance(X)
