import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import erf

from halfmoon.kernels import NNGP, NTK

ACTIVATIONS = {"erf": erf, "relu": lambda u: np.maximum(u, 0), "tanh": np.tanh}
STANDARD_ERRORS = 5.0


@pytest.fixture
def X():
    return np.random.default_rng(0).normal(size=(4, 3))


def assert_mean(samples, expected, bias=0.0):
    """The mean over the first axis is as expected, up to its standard error."""
    error = samples.std(axis=0, ddof=1) / np.sqrt(len(samples))
    deviation = np.abs(samples.mean(axis=0) - expected)
    assert (error < 0.05 * np.abs(expected).max()).all()
    assert (deviation < STANDARD_ERRORS * error + bias).all()


def bivariate_mean(f, s_xx, s_zz, s_xz, nodes=161, end=10.0):
    """E[f(u) f(v)] by the trapezoidal rule in the plane: slow and obvious."""
    g = np.linspace(-end, end, nodes)
    density = np.exp(-(g**2) / 2)
    density /= density.sum()
    rho = s_xz / np.sqrt(s_xx * s_zz)
    u = np.sqrt(s_xx) * g[:, None]
    v = np.sqrt(s_zz) * (rho * g[:, None] + np.sqrt(1 - rho**2) * g)
    return density @ (f(u) * f(v)) @ density


@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize(("weight", "bias"), [(1.0, 1.0), (1.7, 0.0), (0.5, 0.3)])
def test_one_layer_is_the_mean_over_random_units(X, activation, weight, bias):
    rng = np.random.default_rng(1)
    W, b = rng.normal(size=(3, 200_000)), rng.normal(size=200_000)
    H = ACTIVATIONS[activation](weight / np.sqrt(3) * X @ W + bias * b)  # (4, units)
    K = NNGP(activation, 1, weight, bias)(X)
    i, j = np.triu_indices(4)
    assert_mean((H[i] * H[j]).T, K[i, j])


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_two_layers_are_the_mean_over_wide_networks(X, activation):
    width, networks, weight, bias = 300, 200, 1.2, 0.4
    f, rng = ACTIVATIONS[activation], np.random.default_rng(2)
    i, j = np.triu_indices(4)
    samples = []
    for _ in range(networks):
        W1, b1 = rng.normal(size=(3, width)), rng.normal(size=width)
        W2, b2 = rng.normal(size=(width, width)), rng.normal(size=width)
        H1 = f(weight / np.sqrt(3) * X @ W1 + bias * b1)
        H2 = f(weight / np.sqrt(width) * H1 @ W2 + bias * b2)
        samples.append((H2[i] * H2[j]).mean(axis=1))
    K = NNGP(activation, 2, weight, bias)(X)
    assert_mean(np.array(samples), K[i, j], bias=1.0 / width)


@pytest.mark.parametrize("activation", ["erf", "tanh"])
@pytest.mark.parametrize("weight", [0.5, 1.0, 2.0])
def test_each_layer_is_a_gaussian_mean_by_quadrature(X, activation, weight):
    f, bias = ACTIVATIONS[activation], 0.7
    s = bias**2 + weight**2 * X @ X.T / 3
    for depth in (1, 2):
        K = NNGP(activation, depth, weight, bias)(X)
        for i in range(4):
            for j in range(i):
                expected = bivariate_mean(f, s[i, i], s[j, j], s[i, j])
                assert_allclose(K[i, j], expected, atol=1e-10)
        s = bias**2 + weight**2 * K


@pytest.mark.parametrize("deviation", [0.1, 1.0, 3.0, 4.9])
def test_tanh_on_the_diagonal_by_quadrature(deviation):
    x = np.linspace(-12, 12, 20_001)
    density = np.exp(-(x**2) / 2)
    expected = (density * np.tanh(deviation * x) ** 2).sum() / density.sum()
    kernel = NNGP("tanh", weight=deviation, bias=0.0)
    ones = np.ones((1, 2))
    assert_allclose(kernel.diag(ones), expected, rtol=1e-11)
    assert_allclose(kernel(ones, ones.copy()), [[expected]], rtol=1e-10)


def test_tanh_is_nearly_erf_for_small_weights(X):
    # tanh u = u - u^3/3, erf(u sqrt(pi)/2) = u - ...: both are linear near 0.
    K = NNGP("tanh", weight=1e-3, bias=0.0)(X)
    assert_allclose(K, 1e-6 * X @ X.T / 3, rtol=1e-4, atol=1e-12)


def test_erf_equals_the_formula(X):
    s = 0.25 + 1.44 * X @ X.T / 3
    a = 1 + 2 * np.diag(s)
    expected = 2 / np.pi * np.arcsin(2 * s / np.sqrt(np.outer(a, a)))
    assert_allclose(NNGP("erf", 1, 1.2, 0.5)(X), expected, rtol=1e-12)


def test_relu_equals_the_formula(X):
    s = 0.25 + 1.44 * X @ X.T / 3
    norms = np.sqrt(np.outer(np.diag(s), np.diag(s)))
    t = np.arccos(np.clip(s / norms, -1, 1))
    expected = norms * (np.sin(t) + (np.pi - t) * np.cos(t)) / (2 * np.pi)
    assert_allclose(NNGP("relu", 1, 1.2, 0.5)(X), expected, rtol=1e-12)


def test_relu_without_bias_is_homogeneous(X):
    for kernel in (NNGP("relu", 3, bias=0.0), NTK(3, bias=0.0)):
        assert_allclose(kernel(2.0 * X, 3.0 * X), 6.0 * kernel(X, X), rtol=1e-12)


@pytest.mark.parametrize("activation", ["erf", "tanh"])
def test_without_bias_odd_activations_make_an_odd_kernel(X, activation):
    odd = NNGP(activation, bias=0.0)
    assert_allclose(odd(-X, X), -odd(X, X), rtol=1e-12, atol=1e-14)
    default = NNGP(activation)  # the default has a bias
    assert (np.diag(default(-X, X)) > 0.1 - np.diag(default(X, X))).all()
    assert default.bias != 0


def test_tangent_kernel_of_one_layer_is_the_mean_over_units(X):
    # f(x) = w / sqrt(m) sum_i a_i relu(u_i) + b c: squared gradients, unit by unit
    w, b, units = 1.3, 0.6, 200_000
    rng = np.random.default_rng(3)
    U = w / np.sqrt(3) * X @ rng.normal(size=(3, units)) + b * rng.normal(size=units)
    a = rng.normal(size=units)
    s = b**2 + w**2 * X @ X.T / 3
    i, j = np.triu_indices(4)
    H, on = np.maximum(U, 0), (U > 0).astype(float)
    samples = b**2 + w**2 * H[i] * H[j]
    samples += w**2 * a**2 * on[i] * on[j] * s[i, j, None]
    assert_mean(samples.T, NTK(1, w, b)(X)[i, j])


def test_tangent_kernel_of_two_layers_is_the_mean_over_wide_networks(X):
    w, b, width, networks = 1.2, 0.4, 256, 200
    rng = np.random.default_rng(4)
    i, j = np.triu_indices(4)
    s = b**2 + w**2 * X @ X.T / 3
    samples = []
    for _ in range(networks):
        W1, b1 = rng.normal(size=(3, width)), rng.normal(size=width)
        W2, b2 = rng.normal(size=(width, width)), rng.normal(size=width)
        U1 = w / np.sqrt(3) * X @ W1 + b * b1
        H1 = np.maximum(U1, 0)
        U2 = w / np.sqrt(width) * H1 @ W2 + b * b2
        H2 = np.maximum(U2, 0)
        back2 = w / np.sqrt(width) * rng.normal(size=width) * (U2 > 0)  # df / dU2
        back1 = w / np.sqrt(width) * back2 @ W2.T * (U1 > 0)
        theta = b**2 + w**2 / width * H2 @ H2.T
        theta += (back2 @ back2.T) * (b**2 + w**2 / width * H1 @ H1.T)
        theta += (back1 @ back1.T) * s
        samples.append(theta[i, j])
    expected = NTK(2, w, b)(X)[i, j]
    assert_mean(np.array(samples), expected, bias=3.0 / width)


def test_tangent_kernel_equals_the_recursion(X):
    w, b, depth = 1.3, 0.6, 4
    s = b**2 + w**2 * X @ X.T / 3
    theta = s.copy()
    for _ in range(depth):
        norms = np.sqrt(np.outer(np.diag(s), np.diag(s)))
        t = np.arccos(np.clip(s / norms, -1, 1))
        np.fill_diagonal(t, 0.0)
        k = norms * (np.sin(t) + (np.pi - t) * np.cos(t)) / (2 * np.pi)
        s = b**2 + w**2 * k
        theta = s + theta * w**2 * (np.pi - t) / (2 * np.pi)
    assert_allclose(NTK(depth, w, b)(X), theta, rtol=1e-12)
    assert_allclose(NTK(depth, w, b).diag(X), np.diag(theta), rtol=1e-12)


@pytest.mark.parametrize("d", [1, 3, 100, 784])
@pytest.mark.parametrize("offset", [0.0, 10.0])
def test_the_angle_of_equal_rows_is_exactly_zero(d, offset):
    # An angle of sqrt(eps) instead would show as an error of 1e-8 in the NTK.
    rows = offset + np.random.default_rng(5).normal(size=(50, d))
    for kernel in (NTK(), NTK(3), NTK(2, bias=0.0), NNGP("relu", 3)):
        K = kernel(rows, rows.copy())
        assert_allclose(np.diag(K), kernel.diag(rows), rtol=1e-13)


@pytest.mark.parametrize("offset", [1e3, 1e6])
def test_offset_rows_give_finite_values_and_gradients(offset):
    rows = offset + np.random.default_rng(6).normal(size=(10, 3))
    for kernel in (NNGP("erf"), NNGP("relu", 2), NTK(2)):
        for result in (kernel(rows), *kernel.gradient_coefficients(rows, rows[::-1])):
            assert np.isfinite(result).all()
    K = NNGP("relu", bias=0.0)(rows)
    s = rows @ rows.T / 3
    # relu units are then all on or all off, so k tends to s / 2, by order t^3.
    assert_allclose(K, s / 2, rtol=1e-6)


@pytest.mark.parametrize(
    "kernel",
    [NNGP("erf", 2, bias=0.0), NNGP("relu", 2, bias=0.0), NTK(2, bias=0.0)],
    ids=repr,
)
def test_rows_of_zeros_without_bias_give_zero(kernel):
    rows = np.array([[0.0, 0.0], [1.0, -2.0], [0.0, 0.0]])
    K = kernel(rows)
    assert_array_equal(K[0], 0.0)
    assert_array_equal(K[:, 2], 0.0)
    assert K[1, 1] > 0
    assert_array_equal(kernel.diag(rows)[[0, 2]], 0.0)
    A, B = kernel.gradient_coefficients(rows)
    assert np.isfinite(A).all()
    assert np.isfinite(B).all()
    # k(x, 0) = 0 for all x, so its gradient is 0 as well.
    assert_array_equal(A[:, 0, None] * rows + B[:, 0, None] * rows[0], 0.0)


def test_rows_of_zeros_without_bias_give_zero_for_tanh():
    rows = np.array([[0.0, 0.0], [1.0, -2.0]])
    kernel = NNGP("tanh", 2, bias=0.0)
    assert_array_equal(kernel(rows)[0], 0.0)
    assert_array_equal(kernel.diag(rows)[0], 0.0)


def test_opposite_rows_share_no_relu_unit(X):
    assert_allclose(np.diag(NNGP("relu", bias=0.0)(X, -X)), 0.0, atol=1e-15)
    assert_allclose(np.diag(NTK(bias=0.0)(X, -X)), 0.0, atol=1e-15)


def test_the_derivative_of_the_angle_is_zero_at_the_kink(X):
    # At x = z only the smooth part is left: half of the gradient of k(x, x).
    kernel = NTK(2, 1.3, 0.5)
    A, B = kernel.gradient_coefficients(X, X.copy())
    h = 1e-6
    half = (kernel.diag((1 + h) * X) - kernel.diag((1 - h) * X)) / (4 * h)
    along = np.diag(A + B) * (X**2).sum(axis=1)
    assert_allclose(along, half, rtol=1e-8)


def test_tanh_units_that_saturate_are_refused():
    kernel = NNGP("tanh")
    for call in (kernel, kernel.diag):
        with pytest.raises(
            ValueError, match=r"deviation of 100 on these rows; at most 5.*Standardi"
        ):
            call(np.full((2, 2), np.sqrt(9999.0)))


def test_an_unknown_activation_is_refused():
    with pytest.raises(ValueError, match="'gelu'; 'erf', 'relu' or 'tanh' is needed"):
        NNGP("gelu")([[1.0]])


@pytest.mark.parametrize("make", [NNGP, NTK])
@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"depth": 0}, "depth is 0; 1, 2, 3, ... is needed"),
        ({"depth": 1.5}, "depth is 1.5; 1, 2, 3"),
        ({"depth": True}, "depth is True; 1, 2, 3"),
        ({"weight": 0.0}, "weight is 0.0; a positive number is needed"),
        ({"weight": np.nan}, "weight is nan; a positive number"),
        ({"bias": -1.0}, "bias is -1.0; a finite number, 0 or more"),
        ({"bias": np.inf}, "bias is inf; a finite number"),
    ],
)
def test_parameters_out_of_range_are_refused(make, parameters, message):
    kernel = make(**parameters)  # nothing is checked before it is used
    for call in (kernel, kernel.diag, kernel.gradient_coefficients):
        with pytest.raises(ValueError, match=message):
            call([[1.0]])


def test_numpy_integers_are_depths(X):
    assert_array_equal(NTK(np.int64(2))(X), NTK(2)(X))
