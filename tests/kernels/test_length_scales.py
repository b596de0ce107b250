import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import pdist

from halfmoon.kernels import (
    Gaussian,
    Laplace,
    Linear,
    Matern,
    RationalQuadratic,
    median_distance,
)


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
    X = np.random.default_rng(2).normal(size=(3000, 3))
    everything = median_distance(X, sample_rows=3000)
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
    with pytest.raises(ValueError, match=rf"two rows that differ; got n_samples = {len(X)}"):
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
